// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/base/types.h"

namespace vinci::models {

// What L2 does with a line. Ascend C gives it with GlobalTensor::SetL2CacheHint; what the hardware does in detail with
// CACHE_MODE_DISABLE is not public: here a line that L2 holds already leaves it, written back where it is dirty.
enum class CacheHint : u8 {
  normal,       // allocate on read and on write (CACHE_MODE_NORMAL)
  no_allocate,  // a line that is there serves the request; what is not there stays outside
  bypass,       // past L2 (CACHE_MODE_DISABLE)
};

// One request inside one L2 line.
struct Request {
  u32 port = 0;  // of the core that makes it, see MemorySystem
  u32 bytes = 0;
  u64 address = 0;
  bool write = false;
  CacheHint hint = CacheHint::normal;
};

}  // namespace vinci::models
