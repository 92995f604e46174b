// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>
#include <cstring>

// Numbers of 16 bits in host code, as operators of CANN name them.
namespace op {

// IEEE 754 binary16. Each operation rounds to nearest even.
struct fp16_t {
  uint16_t val = 0;  // the bits

  fp16_t() = default;
  // Of the bits, as published; assignment converts the number.
  constexpr fp16_t(uint16_t bits) : val(bits) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  fp16_t(T number) {  // NOLINT(google-explicit-constructor)
    *this = number;
  }
  template <class T>
  fp16_t& operator=(T number) {
    const auto half = static_cast<_Float16>(static_cast<float>(number));
    std::memcpy(&val, &half, sizeof val);
    return *this;
  }
  operator float() const {  // NOLINT(google-explicit-constructor)
    _Float16 half;
    std::memcpy(&half, &val, sizeof val);
    return static_cast<float>(half);
  }
  float toFloat() const { return *this; }

  friend fp16_t operator+(fp16_t a, fp16_t b) { return float(a) + float(b); }
  friend fp16_t operator-(fp16_t a, fp16_t b) { return float(a) - float(b); }
  friend fp16_t operator*(fp16_t a, fp16_t b) { return float(a) * float(b); }
  friend fp16_t operator/(fp16_t a, fp16_t b) { return float(a) / float(b); }
  fp16_t& operator+=(fp16_t other) { return *this = *this + other; }
  fp16_t& operator-=(fp16_t other) { return *this = *this - other; }
  fp16_t& operator*=(fp16_t other) { return *this = *this * other; }
  fp16_t& operator/=(fp16_t other) { return *this = *this / other; }
};

}  // namespace op
