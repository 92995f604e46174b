// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/classify.h"

namespace vinci::isa {
namespace {

// Zero results whose exact value is not zero.
u64 flushed(const FloatResults& x) {
  switch (x.rule) {
    case LaneRule::product: return x.r.zero & ~x.a.zero & ~x.b.zero;
    case LaneRule::quotient: return x.r.zero & ~x.a.zero & ~x.b.inf;
    case LaneRule::nonzero: return x.r.zero & ~x.a.inf;
    case LaneRule::convert: return x.r.zero & ~x.a.zero;
    case LaneRule::madd:
    case LaneRule::mla: return x.r.zero & ~x.is_exact;
    case LaneRule::moved:
    case LaneRule::sum:  // the sum of two values of a format is exact where it is subnormal
    case LaneRule::sub:
    case LaneRule::function: break;
  }
  return 0;
}

u64 absorbed(const FloatResults& x) {
  switch (x.rule) {
    case LaneRule::sum:
    case LaneRule::sub: return ~x.a.zero & ~x.b.zero & x.is_addend;
    case LaneRule::madd:
    case LaneRule::mla: return ~x.a.zero & ~x.b.zero & ~x.old.zero & (x.is_addend | x.is_product);
    default: return 0;
  }
}

}  // namespace

EventMasks classify(const FloatResults& x) {
  const u64 special_operand = x.a.special() | x.b.special() | x.old.special();
  const u64 finite = ~x.r.special();
  EventMasks events{};
  events[NumericEvent::overflow] = (x.r.inf | x.to_largest) & ~special_operand;
  events[NumericEvent::nan] = x.r.nan & ~(x.a.nan | x.b.nan | x.old.nan);
  if (x.saturates) events[NumericEvent::saturated] = x.r.special() & ~x.to_zero;
  events[NumericEvent::subnormal] = x.r.subnormal;
  events[NumericEvent::flushed] = flushed(x);
  events[NumericEvent::absorbed] = absorbed(x) & finite;
  return events;
}

}  // namespace vinci::isa
