// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <cstring>

#include "isa/numeric/lanes.h"
#include "tests/unit/isa/numeric_oracle.h"

namespace vinci::isa::oracle {

// Any cast of isa/numeric/convert.h by MPFR, with the STATUS that it raises; shares no code with it.
class Cast {
 public:
  struct Result {
    u64 bits = 0;  // as many as the type has
    u64 status = 0;
  };

  Cast() { mpfr_inits2(64, x_, r_, static_cast<mpfr_ptr>(nullptr)); }
  ~Cast() { mpfr_clears(x_, r_, static_cast<mpfr_ptr>(nullptr)); }
  Cast(const Cast&) = delete;
  Cast& operator=(const Cast&) = delete;

  Result operator()(LaneType from, u64 bits, LaneType to, RoundMode mode) {
    set(from, bits);
    switch (to) {
      case LaneType::f16: return to_float(f16_, mode, 16, [](double v) -> u64 { return f16_encode(v); });
      case LaneType::bf16: return to_float(bf16_, mode, 128, [](double v) -> u64 { return f32_encode(v) >> 16; });
      case LaneType::f32:
        if (from == LaneType::f32) return to_integral(mode);
        return to_float(f32_, mode, 128, [](double v) -> u64 { return f32_encode(v); });
      default: return to_int(to, mode);
    }
  }

 private:
  void set(LaneType from, u64 bits) {
    const unsigned shift = 64 - lane_bits(from);
    switch (from) {
      case LaneType::f16: mpfr_set_d(x_, f16(static_cast<u16>(bits)), MPFR_RNDN); break;
      case LaneType::f32: mpfr_set_flt(x_, f32(static_cast<u32>(bits)), MPFR_RNDN); break;
      case LaneType::bf16: mpfr_set_flt(x_, f32(static_cast<u32>(bits << 16)), MPFR_RNDN); break;
      case LaneType::u8: mpfr_set_ui(x_, bits, MPFR_RNDN); break;
      default: mpfr_set_si(x_, static_cast<i64>(bits << shift) >> shift, MPFR_RNDN); break;
    }
  }

  // x_ as an integral value in r_.
  void round_to_integer(RoundMode mode) {
    switch (mode) {
      case RoundMode::rint: mpfr_rint(r_, x_, MPFR_RNDN); return;
      case RoundMode::floor: mpfr_floor(r_, x_); return;
      case RoundMode::ceil: mpfr_ceil(r_, x_); return;
      case RoundMode::round: mpfr_round(r_, x_); return;
      case RoundMode::trunc: mpfr_trunc(r_, x_); return;
      case RoundMode::odd: break;
    }
    mpfr_trunc(r_, x_);
    if (mpfr_equal_p(r_, x_) == 0 && std::fmod(mpfr_get_d(r_, MPFR_RNDN), 2) == 0) {
      mpfr_sgn(x_) < 0 ? mpfr_sub_ui(r_, r_, 1, MPFR_RNDN) : mpfr_add_ui(r_, r_, 1, MPFR_RNDN);
    }
  }

  Result to_int(LaneType to, RoundMode mode) {
    if (mpfr_nan_p(x_) != 0) return {0, status::kVectorNanInf};
    const unsigned bits = lane_bits(to);
    const bool is_unsigned = to == LaneType::u8;
    const i64 most = is_unsigned ? 255 : static_cast<i64>((u64{1} << (bits - 1)) - 1);
    const i64 least = is_unsigned ? 0 : -most - 1;
    const u64 mask = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
    if (mpfr_inf_p(x_) != 0) return {static_cast<u64>(mpfr_sgn(x_) < 0 ? least : most) & mask, status::kVectorNanInf};
    round_to_integer(mode);
    const bool below = mpfr_cmp_si(r_, least)<0, above = mpfr_cmp_si(r_, most)> 0;
    const u64 value = static_cast<u64>(below ? least : above ? most : mpfr_get_si(r_, MPFR_RNDN)) & mask;
    if (is_unsigned && mpfr_sgn(x_) < 0) return {value, status::kNegativeToUnsigned};
    return {value, below || above ? status::kFloatOverflow : 0};
  }

  Result to_integral(RoundMode mode) {
    if (mpfr_number_p(x_) == 0) return {f32_encode(mpfr_get_d(x_, MPFR_RNDN)), status::kVectorNanInf};
    round_to_integer(mode);
    return {mpfr_zero_p(r_) != 0 ? 0 : f32_encode(mpfr_get_d(r_, MPFR_RNDN)), 0};
  }

  template <class Encode>
  Result to_float(Rounder& rounder, RoundMode mode, int beyond, Encode encode) {
    if (mpfr_number_p(x_) == 0) return {encode(mpfr_get_d(x_, MPFR_RNDN)), status::kVectorNanInf};
    double r = 0;
    switch (mode) {
      case RoundMode::rint: r = rounder.value(x_, MPFR_RNDN); break;
      case RoundMode::floor: r = rounder.value(x_, MPFR_RNDD); break;
      case RoundMode::ceil: r = rounder.value(x_, MPFR_RNDU); break;
      case RoundMode::trunc: r = rounder.value(x_, MPFR_RNDZ); break;
      case RoundMode::round:
      case RoundMode::odd: {
        // The two neighbours; x_ is on one side of their middle, which double holds.
        const double inner = rounder.value(x_, MPFR_RNDZ);
        const double outer = rounder.value(x_, MPFR_RNDA);
        const double finite_outer = std::isinf(outer) ? std::copysign(std::ldexp(1, beyond), inner) : outer;
        mpfr_set_d(r_, inner / 2 + finite_outer / 2, MPFR_RNDN);
        const bool away =
            mode == RoundMode::odd ? (encode(inner) & 1) == 0 && std::isfinite(outer) : mpfr_cmpabs(x_, r_) >= 0;
        r = inner == outer || !away ? inner : outer;
        break;
      }
    }
    mpfr_set_ui_2exp(r_, 1, beyond, MPFR_RNDN);
    const bool overflow = std::isinf(r) || mpfr_cmpabs(x_, r_) >= 0;
    const bool underflow = r == 0 && mpfr_zero_p(x_) == 0;
    // An integer 0 has no sign in MPFR either: mpfr_set_si(0) is +0.
    return {encode(r), (overflow ? status::kFloatOverflow : 0) | (underflow ? status::kFloatUnderflow : 0)};
  }

  mpfr_t x_, r_;
  Rounder f16_ = Rounder::to_f16(), bf16_ = Rounder::to_bf16(), f32_ = Rounder::to_f32();
};

// Bits of lane i; s4 is packed, the lower nibble first.
inline u64 lane_bits_at(const LaneBuffer& buffer, LaneType type, usize i) {
  if (type == LaneType::s4) return static_cast<u64>(buffer.bytes[i / 2]) >> (i % 2 * 4) & 15;
  u64 bits = 0;
  std::memcpy(&bits, buffer.bytes.data() + i * lane_bytes(type), lane_bytes(type));
  return bits;
}
inline void set_lane_bits(LaneBuffer& buffer, LaneType type, usize i, u64 bits) {
  if (type == LaneType::s4) {
    const unsigned shift = i % 2 * 4;
    const u64 rest = static_cast<u64>(buffer.bytes[i / 2]) & (0xf0 >> shift);
    buffer.bytes[i / 2] = static_cast<std::byte>(rest | (bits & 15) << shift);
  } else {
    std::memcpy(buffer.bytes.data() + i * lane_bytes(type), &bits, lane_bytes(type));
  }
}

}  // namespace vinci::isa::oracle
