// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "opdev/fp16_t.h"

namespace op {

// The upper half of a float. Each operation rounds to nearest even.
struct bfloat16 {
  uint16_t value = 0;  // the bits

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }

  bfloat16() = default;
  constexpr bfloat16(uint16_t bits, from_bits_t) : value(bits) {}
  template <class T>
  bfloat16(T number) : value(Round(static_cast<float>(number))) {}  // NOLINT(google-explicit-constructor)
  operator float() const {                                          // NOLINT(google-explicit-constructor)
    const uint32_t bits = uint32_t{value} << 16;
    float out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
  }

  friend bfloat16 operator+(bfloat16 a, bfloat16 b) { return float(a) + float(b); }
  friend bfloat16 operator-(bfloat16 a, bfloat16 b) { return float(a) - float(b); }
  friend bfloat16 operator*(bfloat16 a, bfloat16 b) { return float(a) * float(b); }
  friend bfloat16 operator/(bfloat16 a, bfloat16 b) { return float(a) / float(b); }
  bfloat16& operator+=(bfloat16 other) { return *this = *this + other; }
  bfloat16& operator-=(bfloat16 other) { return *this = *this - other; }
  bfloat16& operator*=(bfloat16 other) { return *this = *this * other; }
  bfloat16& operator/=(bfloat16 other) { return *this = *this / other; }

 private:
  static uint16_t Round(float number) {
    if (std::isnan(number)) return 0x7fc0;
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

}  // namespace op
