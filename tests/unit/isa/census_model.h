// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "isa/numeric/events.h"
#include "isa/numeric/lane_type.h"

// The table of events in docs/numerics.md as plain code: one result after the other, in wide host arithmetic. It shares
// nothing with the classification that it tests but the names of events and types.
namespace vinci::isa::model {

// Products of two f32 and their sums with an f32 are exact here but for bits far below the last one, which change
// neither a sign nor a comparison.
__extension__ typedef __float128 Wide;

struct Format {
  int fraction, most_exponent, least_exponent;  // least_exponent: of a normal number
  int bits;
};
inline Format format_of(LaneType t) {
  if (t == LaneType::f16) return {10, 15, -14, 16};
  if (t == LaneType::bf16) return {7, 127, -126, 16};
  return {23, 127, -126, 32};
}
inline double largest(LaneType t) {
  const Format f = format_of(t);
  return std::ldexp(2 - std::ldexp(1.0, -f.fraction), f.most_exponent);
}
inline double smallest_normal(LaneType t) { return std::ldexp(1.0, format_of(t).least_exponent); }

// The value of bits; integers too. s64 needs 64 bits of fraction.
inline long double decode(LaneType t, u64 bits) {
  switch (t) {
    case LaneType::s4: return static_cast<long double>(static_cast<i64>(bits << 60) >> 60);
    case LaneType::s8: return static_cast<i8>(bits);
    case LaneType::u8: return static_cast<u8>(bits);
    case LaneType::s16: return static_cast<i16>(bits);
    case LaneType::u16: return static_cast<u16>(bits);
    case LaneType::s32: return static_cast<i32>(bits);
    case LaneType::u32: return static_cast<u32>(bits);
    case LaneType::s64: return static_cast<long double>(static_cast<i64>(bits));
    default: break;
  }
  const Format f = format_of(t);
  const bool negative = (bits >> (f.bits - 1) & 1) != 0;
  const int field = static_cast<int>(bits >> f.fraction) & (2 * f.most_exponent + 1);
  const u64 fraction = bits & ((u64{1} << f.fraction) - 1);
  long double v = 0;
  if (field == 2 * f.most_exponent + 1) {
    v = fraction != 0 ? std::numeric_limits<long double>::quiet_NaN() : std::numeric_limits<long double>::infinity();
  } else if (field == 0) {
    v = std::ldexp(static_cast<long double>(fraction), f.least_exponent - f.fraction);
  } else {
    v = std::ldexp(static_cast<long double>(fraction | u64{1} << f.fraction), field - f.most_exponent - f.fraction);
  }
  return negative ? -v : v;
}

inline long double round_whole(long double x, char mode) {
  const long double down = std::floor(x), up = std::ceil(x);
  if (down == up) return x;
  switch (mode) {
    case 'f': return down;
    case 'c': return up;
    case 'z': return x < 0 ? up : down;
    case 'o': return std::fmod(down, 2.0L) != 0 ? down : up;
    case 'a': return x - down == up - x ? (x < 0 ? down : up) : x - down < up - x ? down : up;
    default: return x - down == up - x ? (std::fmod(down, 2.0L) == 0 ? down : up) : x - down < up - x ? down : up;
  }
}

// Whether x, rounded without a limit of the exponent, is beyond the largest value.
inline bool beyond(LaneType t, long double x, char mode) {
  if (x == 0) return false;
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| in [2^(exponent - 1), 2^exponent)
  const int last = exponent - 1 - format_of(t).fraction;
  return std::fabs(std::ldexp(round_whole(std::ldexp(x, -last), mode), last)) > largest(t);
}

// x, rounded to a value of the type; |x| beyond the largest one becomes infinite.
inline long double rounded(LaneType t, long double x, char mode = 'r') {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const Format f = format_of(t);
  const int last = std::max(exponent - 1, f.least_exponent) - f.fraction;
  const long double y = std::ldexp(round_whole(std::ldexp(x, -last), mode), last);
  return std::fabs(y) > largest(t) ? std::copysign(std::numeric_limits<long double>::infinity(), y) : y;
}
// What the overflow mode makes of it.
inline long double saturated_value(LaneType t, long double x) {
  if (std::isnan(x)) return 0;
  return std::isinf(x) ? std::copysign(static_cast<long double>(largest(t)), x) : x;
}

struct Verdict {
  NumericEvents events = 0;
  u64 status = 0;
  void add(NumericEvent e) { events |= bit(e); }
};

struct Switches {
  bool saturation = false;    // the overflow mode
  bool saturate_int = false;  // CTRL[53]
  bool wrap_casts = false;    // CTRL[59]
};

inline bool special(long double v) { return !std::isfinite(v); }

// STATUS of the vector unit, from the events.
inline void raise(Verdict& v, bool special_operand) {
  if (special_operand) {
    v.status = u64{1} << 14;
    return;
  }
  const auto any = [&](std::initializer_list<NumericEvent> list) {
    bool out = false;
    for (const NumericEvent e : list)
      out = out || has(v.events, e);
    return out;
  };
  using enum NumericEvent;
  if (any({overflow, nan, saturated, wrapped, clipped})) v.status |= u64{1} << 5;
  if (any({flushed})) v.status |= u64{1} << 6;
}

enum class Kind { moved, sum, sub, product, quotient, exponential, function, fused };

// A float result `r`, before relu and saturation, of finite or other operands; `exact` is the exact result where it is
// finite, or has its sign and its being zero.
struct FloatCase {
  Kind kind;
  LaneType type;
  std::vector<long double> operands;
  long double r;
  Wide x = 0, y = 0;  // addends of sum, sub (y negated), fused
  bool exact_zero = false;
  bool relu = false;
};
inline Verdict float_result(const FloatCase& c, const Switches& s) {
  using enum NumericEvent;
  Verdict v;
  bool any_special = false, any_nan = false;
  for (const long double o : c.operands) {
    any_special |= special(o);
    any_nan |= std::isnan(o);
  }
  const double smallest = smallest_normal(c.type);
  if (std::isinf(c.r) && !any_special) v.add(overflow);
  if (std::isnan(c.r) && !any_nan) v.add(nan);
  const long double kept = c.relu && c.r < 0 ? 0 : c.r;
  if (special(kept) && s.saturation && c.type != LaneType::f32) v.add(saturated);
  if (std::isfinite(c.r)) {
    if (c.r != 0 && std::fabs(c.r) < smallest) v.add(subnormal);
    if (c.r == 0 && !c.exact_zero) v.add(flushed);
    if ((c.kind == Kind::sum || c.kind == Kind::sub || c.kind == Kind::fused) && c.x != 0 && c.y != 0 &&
        (static_cast<Wide>(c.r) == c.x || static_cast<Wide>(c.r) == c.y)) {
      v.add(absorbed);
    }
  }
  raise(v, any_special);
  return v;
}

inline Verdict integer_result(LaneType type, long double exact, const Switches& s) {
  Verdict v;
  const long double high = type == LaneType::s16 ? 32767.0L : 2147483647.0L;
  if (exact > high || exact < -high - 1) v.add(s.saturate_int ? NumericEvent::saturated : NumericEvent::wrapped);
  raise(v, false);
  return v;
}

struct Range {
  long double low, high;
};
inline Range range_of(LaneType t) {
  const int bits = static_cast<int>(lane_bits(t));
  if (!is_signed_int(t)) return {0, std::ldexp(1.0L, bits) - 1};
  return {-std::ldexp(1.0L, bits - 1), std::ldexp(1.0L, bits - 1) - 1};
}

// A cast of `x`; `r` is the result before saturation of floats.
inline Verdict cast_result(LaneType from, LaneType to, long double x, long double r, char mode, const Switches& s) {
  using enum NumericEvent;
  Verdict v;
  if (is_float(to)) {
    if (from == to) return float_result({Kind::moved, to, {x}, r, 0, 0, true}, s);
    v = float_result({Kind::moved, to, {x}, r, 0, 0, x == 0}, s);
    if (std::isfinite(x) && beyond(to, x, mode)) v.add(overflow);
    raise(v, special(x));
    return v;
  }
  const Range range = range_of(to);
  const long double whole = special(x) ? x : round_whole(x, mode);
  const bool drops = from == LaneType::f16   ? to == LaneType::s16 || to == LaneType::s8 || to == LaneType::u8
                     : from == LaneType::f32 ? to == LaneType::s16
                     : from == LaneType::s32 ? to == LaneType::s16
                                             : from == LaneType::s64 && to == LaneType::s32;
  if (std::isnan(x)) {
    v.add(saturated);
  } else if (whole < range.low || whole > range.high) {
    v.add(drops && s.wrap_casts ? wrapped : saturated);
  }
  raise(v, special(x));
  if (range.low == 0 && x < 0 && !special(x)) v.status = u64{1} << 7;
  return v;
}

}  // namespace vinci::isa::model
