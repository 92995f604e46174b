// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>

#include "tests/unit/isa/numeric_oracle.h"

// What scaling on the way out of L0C means, with MPFR where something is rounded and with division where bits move.
namespace vinci::isa::oracle {

class Quantiser {
 public:
  // An s32 as f32, or shifted right and cut to s16 first (shift 0: no shift).
  double input(i32 value, unsigned shift) { return f32_.value(shift != 0 ? shifted(value, shift) : value, MPFR_RNDN); }
  static double shifted(i32 value, unsigned shift) {
    return std::clamp(std::floor(value / std::ldexp(1.0, static_cast<int>(shift))), -32768.0, 32767.0);
  }
  double product(double value, double factor) { return f32_.binary(mpfr_mul, value, factor); }
  // f16 bits; `saturate`: infinity becomes the largest value, NaN 0.
  u16 f16(double value, bool saturate) {
    const u16 bits = f16_encode(f16_.value(value, MPFR_RNDN));
    if (!saturate || (bits & 0x7c00) != 0x7c00) return bits;
    return (bits & 0x3ff) != 0 ? 0 : static_cast<u16>((bits & 0x8000) | 0x7bff);
  }
  // The upper half of the f32 with 8 bits of precision.
  u16 bf16(double value) {
    const double rounded = bf16_.value(value, MPFR_RNDN);
    return static_cast<u16>(std::bit_cast<u32>(static_cast<float>(rounded)) >> 16);
  }
  static i64 integer(double value, i64 offset, i64 least, i64 most) {
    if (std::isnan(value)) value = 0;
    value = std::clamp(value, -300.0, 300.0);
    double rounded = std::floor(value);
    const double cut = value - rounded;
    if (cut > 0.5 || (cut == 0.5 && std::fmod(rounded, 2) != 0)) rounded += 1;
    const i64 bounded = std::clamp<i64>(static_cast<i64>(rounded), -256, 255);
    return std::clamp(bounded + offset, least, most);
  }

 private:
  Rounder f32_ = Rounder::to_f32();
  Rounder f16_ = Rounder::to_f16();
  Rounder bf16_ = Rounder::to_bf16();
};

// A quantisation parameter as software packs it.
inline u64 pack_quant(float scale, unsigned shift = 1, bool shift_first = false, int offset = 0, bool is_signed = false,
                      bool relu = false) {
  return std::bit_cast<u32>(scale) | u64{shift - 1} << 32 | u64{shift_first} << 36 |
         (static_cast<u64>(offset) & 0x1ff) << 37 | u64{is_signed} << 46 | u64{relu} << 47;
}

}  // namespace vinci::isa::oracle
