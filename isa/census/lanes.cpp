// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/lanes.h"

#include <bit>
#include <cmath>

#include "isa/census/integers.h"
#include "isa/census/lane_masks.h"
#include "isa/numeric/lane_access.h"
#include "isa/sem/fractal_kernel.h"

namespace vinci::isa {
namespace {

using Words = LaneBits;

u32 sign_bit(LaneType type) { return type == LaneType::f32 ? 0x80000000u : 0x8000u; }

bool adds(LaneRule rule) { return rule == LaneRule::sum || rule == LaneRule::sub; }

// The bits of the second addend that the sum is compared with: of a difference, with the other sign.
u32 flipped(const LaneResults& r) { return r.rule == LaneRule::sub ? sign_bit(r.dst) : 0; }

// A cast whose rounding mode may return the largest value for a larger one, and did for some lane, or overflowed.
bool may_return_largest(const LaneResults& r) {
  const bool directed = r.round != RoundMode::rint && r.round != RoundMode::round;
  return directed && r.rule == LaneRule::convert && (r.raised & kVectorStatus.overflow) != 0;
}

bool has_zero_events(LaneRule rule) {
  return rule == LaneRule::product || rule == LaneRule::quotient || rule == LaneRule::nonzero ||
         rule == LaneRule::convert || is_fused(rule);
}

// Whether a result is infinite or NaN. Where none is, all operands are finite, or what they are does not matter; only
// quotients and exponentials make a finite result of an infinity.
bool any_special(const LaneResults& r, const LaneClasses& result) {
  if (r.rule == LaneRule::quotient || r.rule == LaneRule::nonzero) return true;
  return ((result[0].special() & r.active[0]) | (result[1].special() & r.active[1])) != 0;
}

// Of an integer nothing but zero matters.
LaneClasses classes_of(LaneType type, const LaneBuffer* lanes, u32 count, bool special) {
  if (lanes == nullptr) return {};
  if (is_float(type)) return special ? classify_lanes(type, *lanes) : zero_lanes(type, *lanes);
  LaneClasses out{};
  for (u32 i = 0; i < count; ++i)
    out[i / 64].zero |= static_cast<u64>(lane_value(type, *lanes, i) == 0) << (i % 64);
  return out;
}

// A fused form is x * y + z; which operands these are.
struct Fused {
  const LaneBuffer& x;
  const LaneBuffer& y;
  const LaneBuffer& z;
};
Fused fused_of(const LaneResults& r) {
  return r.rule == LaneRule::mla ? Fused{*r.a, *r.b, *r.old} : Fused{*r.old, *r.a, *r.b};
}

// f16 operands of f32 results as f32.
struct Widened {
  LaneBuffer a, b;
};
LaneResults widened(const LaneResults& r, Widened& to) {
  LaneResults wide = r;
  widen_f16(r.a->bytes.data(), reinterpret_cast<float*>(to.a.bytes.data()), r.lanes);
  widen_f16(r.b->bytes.data(), reinterpret_cast<float*>(to.b.bytes.data()), r.lanes);
  wide.a = &to.a;
  wide.b = &to.b;
  wide.src = wide.second = LaneType::f32;
  return wide;
}

// Calls f(lane) for the bits of a mask.
template <class F>
void each_bit(u64 mask, usize word, F f) {
  for (; mask != 0; mask &= mask - 1)
    f(static_cast<u32>(word * 64) + static_cast<u32>(std::countr_zero(mask)));
}

LaneEvents fused_events(const LaneResults& r) {
  const Fused f = fused_of(r);
  const Words addend = equal_lanes(r.dst, *r.ieee, f.z);
  Words product = equal_products(r.dst, f.x, f.y, *r.ieee);
  LaneEvents out{};
  const auto value = [&](const LaneBuffer& lanes, u32 i) { return lane_value(r.dst, lanes, i); };
  const LaneClasses result = classify_lanes(r.dst, *r.ieee);
  const bool special = any_special(r, result);
  const LaneClasses a = classes_of(r.dst, r.a, r.lanes, special), b = classes_of(r.dst, r.b, r.lanes, special),
                    old = classes_of(r.dst, r.old, r.lanes, special);
  for (usize w = 0; w < out.size(); ++w) {
    if (r.active[w] == 0) continue;
    u64 is_exact = ~u64{0};
    // Products of f16 and f32 are exact in binary64.
    each_bit(product[w] & r.active[w], w, [&](u32 i) {
      if (value(f.x, i) * value(f.y, i) != value(*r.ieee, i)) product[w] &= ~(u64{1} << (i % 64));
    });
    each_bit(result[w].zero & r.active[w], w, [&](u32 i) {
      if (value(f.x, i) * value(f.y, i) != -value(f.z, i)) is_exact &= ~(u64{1} << (i % 64));
    });
    u64 to_zero = 0;
    each_bit(r.relu ? result[w].inf : 0, w, [&](u32 i) {
      if (value(*r.ieee, i) < 0) to_zero |= u64{1} << (i % 64);
    });
    out[w] = classify({.rule = r.rule,
                       .saturates = r.saturates,
                       .a = a[w],
                       .b = b[w],
                       .old = old[w],
                       .r = result[w],
                       .to_zero = to_zero,
                       .is_addend = addend[w],
                       .is_product = product[w],
                       .is_exact = is_exact});
  }
  return out;
}

LaneEvents float_events(const LaneResults& r) {
  const bool to_largest = may_return_largest(r);
  LaneEvents out{};
  const LaneClasses result = classify_lanes(r.dst, *r.ieee);
  const bool special = any_special(r, result) || to_largest;
  const LaneClasses a = classes_of(r.src, r.a, r.lanes, special), b = classes_of(r.second, r.b, r.lanes, special);
  Words is_a{}, is_b{};
  if (adds(r.rule)) {
    is_a = equal_lanes(r.dst, *r.ieee, *r.a);
    is_b = equal_lanes(r.dst, *r.ieee, *r.b, flipped(r));
  }
  const LaneEvents raised = to_largest ? raised_cast_events(r) : LaneEvents{};
  for (usize w = 0; w < out.size(); ++w) {
    if (r.active[w] == 0) continue;
    u64 to_zero = 0;
    each_bit(r.relu ? result[w].inf & r.active[w] : 0, w, [&](u32 i) {
      if (lane_value(r.dst, *r.ieee, i) < 0) to_zero |= u64{1} << (i % 64);
    });
    out[w] = classify({.rule = r.rule,
                       .saturates = r.saturates,
                       .a = a[w],
                       .b = b[w],
                       .r = result[w],
                       .to_zero = to_zero,
                       .to_largest = raised[w][NumericEvent::overflow],
                       .is_addend = is_a[w] | is_b[w]});
  }
  return out;
}

LaneEvents all_events(const LaneResults& r) {
  if (!is_float(r.dst)) {
    if (r.raised == 0) return {};
    if (r.rule == LaneRule::convert) return raised_cast_events(r);
    const bool computes = r.rule == LaneRule::sum || r.rule == LaneRule::sub || r.rule == LaneRule::product;
    return computes ? integer_events(r) : LaneEvents{};
  }
  if (!is_fused(r.rule)) return float_events(r);
  if (r.src == r.dst) return fused_events(r);
  Widened wide;
  return fused_events(widened(r, wide));
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
    case BinaryOp::add:
    case BinaryOp::add_relu: return LaneRule::sum;
    case BinaryOp::sub:
    case BinaryOp::sub_relu: return LaneRule::sub;
    case BinaryOp::mul:
    case BinaryOp::lrelu: return LaneRule::product;  // lrelu of a positive value is that value: never zero
    case BinaryOp::div: return LaneRule::quotient;
    default: return LaneRule::moved;
  }
}

LaneRule lane_rule(TernaryOp op) { return op == TernaryOp::mla ? LaneRule::mla : LaneRule::madd; }

namespace {

Screen screen_of(const LaneResults& r) {
  const auto lanes = [](const LaneBuffer* b) {
    return Repeats::Source{b == nullptr ? nullptr : b->bytes.data(), kRepeatBytes};
  };
  Screen s{.type = r.dst,
           .bytes = kRepeatBytes,
           .zeros = has_zero_events(r.rule),
           .flip = flipped(r),
           .r = lanes(r.ieee),
           .x = {},
           .y = {}};
  if (adds(r.rule)) {
    s.x = lanes(r.a);
    s.y = lanes(r.b);
  }
  if (is_fused(r.rule)) s.x = lanes(&fused_of(r).z);
  return s;
}

}  // namespace

bool may_have_events(const LaneResults& r) {
  if (!is_float(r.dst)) return r.raised != 0;
  if (may_return_largest(r)) return true;
  if (is_fused(r.rule)) {
    if (r.src != r.dst) return true;
    const Fused f = fused_of(r);
    const Words product = equal_products(r.dst, f.x, f.y, *r.ieee);
    if (((product[0] & r.active[0]) | (product[1] & r.active[1])) != 0) return true;
  }
  return next_with_events(screen_of(r), 0) == 0;
}

std::optional<Screen> screen_of(LaneRule rule, LaneType dst, RoundMode round, u64 raised, const Repeats& job,
                                usize bytes) {
  const LaneResults r{.rule = rule, .dst = dst, .round = round, .raised = raised};
  if (may_return_largest(r)) return {};
  Screen s{.type = dst,
           .bytes = bytes,
           .zeros = has_zero_events(rule),
           .flip = flipped(r),
           .r = {job.out, job.out_stride},
           .x = {},
           .y = {},
           .count = static_cast<u32>(job.count)};
  if (adds(rule)) {
    s.x = job.a;
    s.y = job.b;
  }
  return s;
}

LaneEvents events_of(const LaneResults& r) {
  LaneEvents events = all_events(r);
  for (usize w = 0; w < events.size(); ++w) {
    for (u64& mask : events[w])
      mask &= r.active[w];
  }
  return events;
}

namespace {

// The lanes of a word that exist.
u64 existing(u32 lanes, usize word) {
  return lanes >= 64 * (word + 1) ? ~u64{0} : lanes <= 64 * word ? 0 : (u64{1} << (lanes - 64 * word)) - 1;
}

}  // namespace

u64 count_active(u32 lanes, const LaneBits& active) {
  const u64 low = active[0] & existing(lanes, 0), high = active[1] & existing(lanes, 1);
  const bool all = low == existing(lanes, 0) && high == existing(lanes, 1);
  return all ? lanes : static_cast<u64>(std::popcount(low) + std::popcount(high));
}

void report(CensusPoint& point, const LaneEvents& events, u32 lanes, const LaneBits& active, u64 first_element,
            std::span<const NamedLanes> operands, const NamedLanes& result) {
  point.add_results(count_active(lanes, active));
  u64 any = 0;
  for (usize e = 0; e < kNumericEvents; ++e)
    any |= events[0].at(e) | events[1].at(e);
  if (any == 0) return;
  for (usize e = 0; e < kNumericEvents; ++e) {
    const u64 low = events[0].at(e) & existing(lanes, 0), high = events[1].at(e) & existing(lanes, 1);
    if ((low | high) == 0) continue;
    const auto lane = static_cast<u32>(low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(high));
    const int count = std::popcount(low) + std::popcount(high);
    point.add(static_cast<NumericEvent>(e), static_cast<u64>(count), first_element + lane, [&] {
      Result out{.result = lane_value(result.type, *result.lanes, lane)};
      for (const NamedLanes& o : operands)
        out.operands[out.operand_count++] = {o.name, lane_value(o.type, *o.lanes, lane)};
      return out;
    });
  }
}

FloatClass class_of(double value, LaneType type) {
  const double magnitude = std::fabs(value);
  const double normal = type == LaneType::f16 ? 0x1p-14 : 0x1p-126;
  return {.nan = std::isnan(value),
          .inf = std::isinf(value),
          .zero = value == 0,
          .subnormal = magnitude > 0 && magnitude < normal};
}

NumericEvents sum_events(double a, double b, double sum, LaneType type, bool saturates) {
  return classify({.rule = LaneRule::sum,
                   .saturates = saturates,
                   .a = class_of(a, type),
                   .b = class_of(b, type),
                   .r = class_of(sum, type),
                   .is_addend = sum == a || sum == b})
      .of(0);
}

NumericEvents product_events(double a, double b, double product, LaneType type, bool saturates) {
  return classify({.rule = LaneRule::product,
                   .saturates = saturates,
                   .a = class_of(a, type),
                   .b = class_of(b, type),
                   .r = class_of(product, type)})
      .of(0);
}

NumericEvents moved_events(double value, LaneType type, bool saturates) {
  const FloatClass only = class_of(value, type);
  return classify({.rule = LaneRule::moved, .saturates = saturates, .a = only, .r = only}).of(0);
}

NumericEvents cast_events(double value, double result, LaneType to, bool saturates) {
  return classify({.rule = LaneRule::convert,
                   .saturates = saturates,
                   .a = class_of(value, LaneType::f32),
                   .r = class_of(result, to)})
      .of(0);
}

double lane_value(LaneType type, const LaneBuffer& lanes, u32 i) {
  switch (type) {
    case LaneType::f16: return f16_value(lane<u16>(lanes, i));
    case LaneType::bf16: return bf16_value(lane<u16>(lanes, i));
    case LaneType::f32: return std::bit_cast<float>(lane<u32>(lanes, i));
    case LaneType::s8: return lane<i8>(lanes, i);
    case LaneType::u8: return lane<u8>(lanes, i);
    case LaneType::s16: return lane<i16>(lanes, i);
    case LaneType::u16: return lane<u16>(lanes, i);
    case LaneType::s32: return lane<i32>(lanes, i);
    case LaneType::u32: return lane<u32>(lanes, i);
    case LaneType::s64: return static_cast<double>(lane<i64>(lanes, i));
    case LaneType::s4: return typed_lane<LaneType::s4>(lanes, i);
  }
  return 0;
}

}  // namespace vinci::isa
