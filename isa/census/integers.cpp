// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/integers.h"

#include <limits>

#include "isa/numeric/lane_access.h"

namespace vinci::isa {
namespace {

struct Limits {
  i64 least, most;
};
Limits limits_of(LaneType type) {
  switch (type) {
    case LaneType::s4: return {-8, 7};
    case LaneType::s8: return {-0x80, 0x7f};
    case LaneType::u8: return {0, 0xff};
    case LaneType::s16: return {-0x8000, 0x7fff};
    case LaneType::u16: return {0, 0xffff};
    case LaneType::s32: return {std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()};
    case LaneType::u32: return {0, std::numeric_limits<u32>::max()};
    default: return {std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()};
  }
}

i64 integer_lane(LaneType type, const LaneBuffer& lanes, u32 i) {
  switch (type) {
    case LaneType::s4: return typed_lane<LaneType::s4>(lanes, i);
    case LaneType::s8: return lane<i8>(lanes, i);
    case LaneType::u8: return lane<u8>(lanes, i);
    case LaneType::s16: return lane<i16>(lanes, i);
    case LaneType::u16: return lane<u16>(lanes, i);
    case LaneType::s32: return lane<i32>(lanes, i);
    case LaneType::u32: return lane<u32>(lanes, i);
    default: return lane<i64>(lanes, i);
  }
}

// The exact value of a lane that is a finite float or an integer.
struct Source {
  bool nan = false, special = false;
  Exact exact;
};
template <class F>
Source float_source(typename F::Bits bits) {
  if (!F::finite(bits)) return {.nan = F::nan(bits), .special = true, .exact = {F::negative(bits), 1, 1 << 20}};
  return {.exact = exact_of<F>(bits)};
}
Source source_of(LaneType type, const LaneBuffer& lanes, u32 i) {
  switch (type) {
    case LaneType::f16: return float_source<Binary16>(lane<u16>(lanes, i));
    case LaneType::bf16: return float_source<Bfloat16>(lane<u16>(lanes, i));
    case LaneType::f32: return float_source<Binary32>(lane<u32>(lanes, i));
    default: return {.exact = exact_of_int(integer_lane(type, lanes, i))};
  }
}

bool too_large(const Exact& x, LaneType to, RoundMode mode) {
  switch (to) {
    case LaneType::f16: return round_to<Binary16>(x, mode).overflow;
    case LaneType::bf16: return round_to<Bfloat16>(x, mode).overflow;
    default: return round_to<Binary32>(x, mode).overflow;
  }
}

template <class F>
LaneEvents by_lane(const LaneResults& r, F events) {
  LaneEvents out{};
  for (u32 i = 0; i < r.lanes; ++i) {
    if ((r.active[i / 64] >> (i % 64) & 1) == 0) continue;
    const NumericEvents found = events(i);
    for (usize e = 0; e < kNumericEvents; ++e)
      out[i / 64].at(e) |= static_cast<u64>(found >> e & 1) << (i % 64);
  }
  return out;
}

}  // namespace

LaneEvents integer_events(const LaneResults& r) {
  const Limits limits = limits_of(r.dst);
  return by_lane(r, [&](u32 i) -> NumericEvents {
    const i64 a = integer_lane(r.src, *r.a, i), b = integer_lane(r.src, *r.b, i);
    const i64 exact = r.rule == LaneRule::sum ? a + b : r.rule == LaneRule::sub ? a - b : a * b;
    if (exact >= limits.least && exact <= limits.most) return 0;
    return bit(r.saturates ? NumericEvent::saturated : NumericEvent::wrapped);
  });
}

LaneEvents raised_cast_events(const LaneResults& r) {
  if (is_float(r.dst)) {
    return by_lane(r, [&](u32 i) -> NumericEvents {
      const Source x = source_of(r.src, *r.a, i);
      return !x.special && too_large(x.exact, r.dst, r.round) ? bit(NumericEvent::overflow) : NumericEvents{0};
    });
  }
  const Limits limits = limits_of(r.dst);
  return by_lane(r, [&](u32 i) -> NumericEvents {
    const Source x = source_of(r.src, *r.a, i);
    if (x.nan) return bit(NumericEvent::saturated);
    if (!round_to_int(x.exact, r.round, limits.least, limits.most).clamped) return 0;
    return bit(r.wraps ? NumericEvent::wrapped : NumericEvent::saturated);
  });
}

}  // namespace vinci::isa
