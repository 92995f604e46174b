// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/base/types.h"
#include "sim/task/cache_hint.h"

namespace vinci::models {

using task::CacheHint;

// One request inside one L2 line.
struct Request {
  u32 port = 0;  // of the core that makes it, see MemorySystem
  u32 bytes = 0;
  u64 address = 0;
  bool write = false;
  bool atomic = false;  // a write that adds or compares: its line takes one after the other
  CacheHint hint = CacheHint::normal;
};

}  // namespace vinci::models
