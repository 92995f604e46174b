// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>

#include "isa/base/types.h"

namespace vinci::models {

using PhiloxBlock = std::array<u32, 4>;

// Philox4x32 with 10 rounds: random words by number, without a state (Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011). The upper half of the counter is 0.
constexpr PhiloxBlock philox4x32(u64 counter, u64 key) {
  PhiloxBlock c{static_cast<u32>(counter), static_cast<u32>(counter >> 32), 0, 0};
  auto k0 = static_cast<u32>(key), k1 = static_cast<u32>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    const u64 a = u64{0xD2511F53} * c[0], b = u64{0xCD9E8D57} * c[2];
    c = {static_cast<u32>(b >> 32) ^ c[1] ^ k0, static_cast<u32>(b), static_cast<u32>(a >> 32) ^ c[3] ^ k1,
         static_cast<u32>(a)};
  }
  return c;
}
static_assert(philox4x32(0, 0) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});

}  // namespace vinci::models
