// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/base/types.h"

namespace vinci {

constexpr u64 kFnv1aBasis = 0xcbf29ce484222325;

// FNV-1a of 64 bits over bytes or characters; `hash` is that of what precedes them.
template <class Bytes>
constexpr u64 fnv1a(const Bytes& bytes, u64 hash = kFnv1aBasis) {
  for (const auto b : bytes)
    hash = (hash ^ static_cast<u8>(b)) * 0x100000001b3;
  return hash;
}

}  // namespace vinci
