// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "isa/numeric/float16.h"

// MPFR as the second opinion: correctly rounded f16 and f32 results that share no code with isa/numeric.
namespace vinci::isa::oracle {

inline float f32(u32 bits) { return std::bit_cast<float>(bits); }

// The definition of binary16, spelled with ldexp.
inline double f16(u16 bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int field = bits >> 10 & 31;
  const int fraction = bits & 1023;
  if (field == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  return sign * (field == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, field - 25));
}

// Rounds values to the precision and the exponent range of one format.
class Rounder {
 public:
  static Rounder to_f16() { return {11, -23, 16}; }
  static Rounder to_f32() { return {24, -148, 128}; }
  static Rounder to_bf16() { return {8, -132, 128}; }
  static Rounder to_hf32() { return {12, -136, 128}; }
  ~Rounder() { mpfr_clears(x_, y_, z_, r_, static_cast<mpfr_ptr>(nullptr)); }
  Rounder(const Rounder&) = delete;
  Rounder& operator=(const Rounder&) = delete;

  double value(double x, mpfr_rnd_t round) {
    mpfr_set_d(x_, x, MPFR_RNDN);  // 53 bits: exact
    return finish(mpfr_set(r_, x_, round), round);
  }
  double value(mpfr_srcptr x, mpfr_rnd_t round) { return finish(mpfr_set(r_, x, round), round); }
  using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  double unary(Function f, double x) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    return finish(f(r_, x_, MPFR_RNDN), MPFR_RNDN);
  }
  double exp(double x) { return unary(mpfr_exp, x); }
  using Operation = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
  double binary(Operation op, double x, double y) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_set_d(y_, y, MPFR_RNDN);
    return finish(op(r_, x_, y_, MPFR_RNDN), MPFR_RNDN);
  }

  double fma(double x, double y, double z) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_set_d(y_, y, MPFR_RNDN);
    mpfr_set_d(z_, z, MPFR_RNDN);
    return finish(mpfr_fma(r_, x_, y_, z_, MPFR_RNDN), MPFR_RNDN);
  }

 private:
  Rounder(mpfr_prec_t precision, mpfr_exp_t least, mpfr_exp_t most) : least_(least), most_(most) {
    mpfr_inits2(53, x_, y_, z_, static_cast<mpfr_ptr>(nullptr));
    mpfr_init2(r_, precision);
  }
  double finish(int inexact, mpfr_rnd_t round) {
    const mpfr_exp_t least = mpfr_get_emin();
    const mpfr_exp_t most = mpfr_get_emax();
    mpfr_set_emin(least_);
    mpfr_set_emax(most_);
    inexact = mpfr_check_range(r_, inexact, round);
    mpfr_subnormalize(r_, inexact, round);
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    return mpfr_get_d(r_, MPFR_RNDN);
  }

  mpfr_t x_, y_, z_, r_;
  mpfr_exp_t least_, most_;
};

// The bits of a value that is an f16, by search-free construction from its multiple of 2^-24.
inline u16 f16_encode(double value) {
  if (std::isnan(value)) return 0x7e00;
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isinf(value)) return static_cast<u16>(sign | 0x7c00);
  const u64 units = static_cast<u64>(std::ldexp(std::fabs(value), 24));
  if (units < 1024) return static_cast<u16>(sign | units);
  const unsigned drop = static_cast<unsigned>(std::bit_width(units)) - 11;
  return static_cast<u16>(sign | (((drop + 1) << 10) + (units >> drop) - 1024));
}

// x rounded to f16 in any of the six modes; the two that MPFR lacks are chosen between the neighbours of x.
inline u16 round_f16(Rounder& rounder, double x, RoundMode mode) {
  switch (mode) {
    case RoundMode::rint: return f16_encode(rounder.value(x, MPFR_RNDN));
    case RoundMode::floor: return f16_encode(rounder.value(x, MPFR_RNDD));
    case RoundMode::ceil: return f16_encode(rounder.value(x, MPFR_RNDU));
    case RoundMode::trunc: return f16_encode(rounder.value(x, MPFR_RNDZ));
    case RoundMode::round:
    case RoundMode::odd: break;
  }
  const double inner = rounder.value(x, MPFR_RNDZ);
  const double outer = rounder.value(x, MPFR_RNDA);
  if (inner == outer || std::isnan(x)) return f16_encode(inner);
  const u16 inner_bits = f16_encode(inner);
  if (mode == RoundMode::odd) return (inner_bits & 1) != 0 ? inner_bits : f16_encode(outer);
  const double outer_or_next = std::isinf(outer) ? std::copysign(65536.0, x) : outer;
  return std::fabs(x - inner) >= std::fabs(outer_or_next - x) ? f16_encode(outer) : inner_bits;
}

// f16 operands that every binary operation meets in all pairs: zeros, subnormals, powers of two, neighbours of one,
// the limits, infinities, several NaNs.
inline std::vector<u16> f16_specials() {
  std::vector<u16> out;
  for (const unsigned magnitude :
       {0x0000, 0x0001, 0x0002, 0x0003, 0x01ff, 0x0200, 0x0201, 0x03fe, 0x03ff, 0x0400, 0x0401, 0x0402, 0x0800,
        0x1000, 0x1400, 0x1bff, 0x1c00, 0x2bff, 0x2c00, 0x3555, 0x37ff, 0x3800, 0x3801, 0x3bff, 0x3c00, 0x3c01,
        0x3c02, 0x3fff, 0x4000, 0x4001, 0x4200, 0x4248, 0x4900, 0x4bff, 0x5000, 0x5bff, 0x6400, 0x6fff, 0x7000,
        0x73ff, 0x7800, 0x7801, 0x7bfe, 0x7bff, 0x7c00, 0x7c01, 0x7dff, 0x7e00, 0x7e01, 0x7fff}) {
    out.push_back(static_cast<u16>(magnitude));
    out.push_back(static_cast<u16>(magnitude | 0x8000));
  }
  return out;
}

inline u32 f32_encode(double value) {
  return std::isnan(value) ? 0x7fc00000 : std::bit_cast<u32>(static_cast<float>(value));
}

// The seed of a random test: its own, or VINCI_SEED. It is printed, so that a failure can be repeated.
inline u64 seed(u64 own) {
  const char* given = std::getenv("VINCI_SEED");
  const u64 value = given != nullptr ? std::strtoull(given, nullptr, 0) : own;
  std::cout << "seed " << value << " (VINCI_SEED)\n";
  return value;
}
// VINCI_EXHAUSTIVE=1: all inputs instead of a slice; takes hours.
inline bool exhaustive() { return std::getenv("VINCI_EXHAUSTIVE") != nullptr; }

// A small generator with a fixed meaning (splitmix64): the same sample on every machine.
class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}
  u64 next() {
    u64 z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  u64 state_;
};

}  // namespace vinci::isa::oracle
