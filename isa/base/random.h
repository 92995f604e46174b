// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/base/types.h"

namespace vinci {

// SplitMix64 (Steele, Lea, Flood 2014): the same sequence for a seed on every machine. For data, not for secrets.
class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}

  u64 next() {
    u64 z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Uniform in [-1, 1), in steps of 2^-23.
  float uniform() { return static_cast<float>(static_cast<i64>(next() >> 40) - (i64{1} << 23)) * 0x1p-23f; }

 private:
  u64 state_;
};

}  // namespace vinci
