// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/lanes.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace vinci::isa {
namespace {

template <class T>
T load(const LaneBuffer& lanes, u32 i) {
  T v;
  std::memcpy(&v, lanes.bytes.data() + usize{i} * sizeof(T), sizeof v);
  return v;
}

// The smallest normal number of a float type.
double smallest_normal(LaneType type) { return type == LaneType::f16 ? 0x1p-14 : 0x1p-126; }

// First and last value of an integer type.
struct Limits {
  double low, high;
};
Limits limits(LaneType type) {
  const int bits = static_cast<int>(lane_bits(type));
  if (!is_signed_int(type)) return {0, std::ldexp(1.0, bits) - 1};
  return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
}

// Whether adding y to x, with this result, changed nothing although y is not zero.
bool absorbed(double x, double y, double sum) { return y != 0 && x != 0 && sum == x && std::isfinite(x); }

// The operands of one result.
struct Lane {
  double a = 0, b = 0, old = 0, result = 0;
};

// The exact value, or one that is zero, and out of the range of an integer type, exactly where the exact one is: sums
// and products of f16 are exact in binary64, and so are products of f32 and their being zero.
double exact(LaneRule rule, const Lane& v) {
  switch (rule) {
    case LaneRule::sum: return v.a + v.b;
    case LaneRule::sub: return v.a - v.b;
    case LaneRule::product: return v.a * v.b;
    case LaneRule::quotient: return std::isinf(v.b) ? 0 : v.a;
    case LaneRule::nonzero: return std::isinf(v.a) ? 0 : 1;
    case LaneRule::madd: return v.old * v.a + v.b;
    case LaneRule::mla: return v.old + v.a * v.b;
    case LaneRule::convert: return v.a;
    case LaneRule::moved:
    case LaneRule::function: break;
  }
  return 0;
}

bool swallows(LaneRule rule, const Lane& v) {
  switch (rule) {
    case LaneRule::sum: return absorbed(v.a, v.b, v.result) || absorbed(v.b, v.a, v.result);
    case LaneRule::sub: return absorbed(v.a, v.b, v.result) || absorbed(-v.b, v.a, v.result);
    case LaneRule::madd: return absorbed(v.b, v.old * v.a, v.result) || absorbed(v.old * v.a, v.b, v.result);
    case LaneRule::mla: return absorbed(v.old, v.a * v.b, v.result) || absorbed(v.a * v.b, v.old, v.result);
    default: return false;
  }
}

NumericEvents float_events(const LaneResults& r, const Lane& v) {
  NumericEvents events = 0;
  const bool finite = std::isfinite(v.a) && std::isfinite(v.b) && std::isfinite(v.old);
  if (std::isnan(v.result)) {
    if (!std::isnan(v.a) && !std::isnan(v.b) && !std::isnan(v.old)) events |= bit(NumericEvent::nan);
  } else if (std::isinf(v.result)) {
    if (finite) events |= bit(NumericEvent::overflow);
  }
  if (!std::isfinite(v.result)) {
    return r.saturate ? static_cast<NumericEvents>(events | bit(NumericEvent::saturated)) : events;
  }
  if (v.result == 0) {
    if (exact(r.rule, v) != 0) events |= bit(NumericEvent::flushed);
  } else if (std::fabs(v.result) < smallest_normal(r.dst)) {
    events |= bit(NumericEvent::subnormal);
  }
  if (swallows(r.rule, v)) events |= bit(NumericEvent::absorbed);
  return events;
}

double rounded(double value, RoundMode mode) {
  switch (mode) {
    case RoundMode::rint: return std::nearbyint(value);
    case RoundMode::floor: return std::floor(value);
    case RoundMode::ceil: return std::ceil(value);
    case RoundMode::round: return std::round(value);
    case RoundMode::trunc:
    case RoundMode::odd: break;
  }
  return std::trunc(value);
}

NumericEvents int_events(const LaneResults& r, const Lane& v) {
  const bool from_float = is_float(r.src);
  if (r.rule == LaneRule::function || r.rule == LaneRule::moved) return 0;
  if (from_float && std::isnan(v.a)) return bit(NumericEvent::saturated);  // casts turn NaN into 0
  const Limits limit = limits(r.dst);
  const double value = from_float ? rounded(v.a, r.round) : exact(r.rule, v);
  if (value >= limit.low && value <= limit.high) return 0;
  return bit(from_float || r.saturate ? NumericEvent::saturated : NumericEvent::overflow);
}

}  // namespace

LaneRule lane_rule(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp: return LaneRule::nonzero;
    case UnaryOp::relu:
    case UnaryOp::abs:
    case UnaryOp::not_: return LaneRule::moved;
    default: return LaneRule::function;
  }
}

LaneRule lane_rule(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return LaneRule::sum;
    case BinaryOp::sub: return LaneRule::sub;
    case BinaryOp::mul: return LaneRule::product;
    case BinaryOp::div: return LaneRule::quotient;
    default: return LaneRule::moved;
  }
}

LaneRule lane_rule(TernaryOp op) { return op == TernaryOp::mla ? LaneRule::mla : LaneRule::madd; }

NumericEvents sum_events(double a, double b, double sum, LaneType type, bool saturate) {
  return float_events({.rule = LaneRule::sum, .dst = type, .saturate = saturate}, {.a = a, .b = b, .result = sum});
}

NumericEvents cast_events(double value, double result, LaneType to, bool saturate) {
  return float_events({.rule = LaneRule::convert, .dst = to, .saturate = saturate}, {.a = value, .result = result});
}

double lane_value(LaneType type, const LaneBuffer& lanes, u32 i) {
  switch (type) {
    case LaneType::f16: return f16_value(load<u16>(lanes, i));
    case LaneType::bf16: return std::bit_cast<float>(u32{load<u16>(lanes, i)} << 16);
    case LaneType::f32: return load<float>(lanes, i);
    case LaneType::s8: return load<i8>(lanes, i);
    case LaneType::u8: return load<u8>(lanes, i);
    case LaneType::s16: return load<i16>(lanes, i);
    case LaneType::u16: return load<u16>(lanes, i);
    case LaneType::s32: return load<i32>(lanes, i);
    case LaneType::u32: return load<u32>(lanes, i);
    case LaneType::s64: return static_cast<double>(load<i64>(lanes, i));
    case LaneType::s4: {
      const u32 nibble = load<u8>(lanes, i / 2) >> (i % 2 * 4) & 15u;
      return nibble < 8 ? nibble : static_cast<double>(nibble) - 16;
    }
  }
  return 0;
}

void census_of(const LaneResults& r, CensusPoint& point) {
  u64 results = 0;
  for (u32 i = 0; i < r.lanes; ++i) {
    if ((r.active[i / 64] >> (i % 64) & 1) == 0) continue;
    ++results;
    Lane v{.a = r.a != nullptr ? lane_value(r.src, *r.a, i) : 0, .result = lane_value(r.dst, *r.ieee, i)};
    if (r.b != nullptr) v.b = lane_value(r.src, *r.b, i);
    if (r.old != nullptr) v.old = lane_value(r.dst, *r.old, i);
    const NumericEvents events = is_float(r.dst) ? float_events(r, v) : int_events(r, v);
    if (events == 0) continue;
    std::array<NumericOperand, 3> operands;
    usize count = 0;
    if (r.a != nullptr) operands[count++] = {r.names[0], v.a};
    if (r.b != nullptr) operands[count++] = {r.names[1], v.b};
    if (r.old != nullptr) operands[count++] = {"dst", v.old};
    point.add(events, r.first_element + i, std::span(operands).first(count), v.result);
  }
  point.add_results(results);
}

}  // namespace vinci::isa
