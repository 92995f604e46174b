// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>
#include <cstring>

// bfloat16 as a type of its own, for compilers without one: stored as the upper half of a float, rounded to nearest
// even on the way in.
class bfloat16_t {
 public:
  bfloat16_t() = default;
  bfloat16_t(float value) {  // NOLINT(google-explicit-constructor): as the built-in type
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    bits_ = static_cast<uint16_t>(nan ? (bits >> 16 | 0x40u) : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  operator float() const {  // NOLINT(google-explicit-constructor)
    const uint32_t bits = uint32_t{bits_} << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }

 private:
  uint16_t bits_;  // trivial, so that a union can have one
};
static_assert(sizeof(bfloat16_t) == 2);
