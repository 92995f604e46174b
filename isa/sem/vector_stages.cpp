// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/sem/vector_stages.h"

namespace vinci::isa::insn {
namespace {

template <class T>
T element(const LaneBuffer& lanes, usize i) {
  T value;
  std::memcpy(&value, lanes.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class F>
void finite_middle(const LaneBuffer& a, const LaneBuffer& b, const LaneBuffer& middle, LaneBuffer& out) {
  using Bits = typename F::Bits;
  for (usize i = 0; i < kRepeatBytes / sizeof(Bits); ++i) {
    const Bits m = element<Bits>(middle, i);
    const bool finite = F::finite(element<Bits>(a, i)) && F::finite(element<Bits>(b, i));
    const Bits bits = !finite ? Bits{F::kOne} : F::finite(m) ? m : static_cast<Bits>((m & F::kSign) | F::kMax);
    std::memcpy(out.bytes.data() + i * sizeof bits, &bits, sizeof bits);
  }
}

}  // namespace

LaneMode unsaturated(LaneMode mode) {
  mode.overflow = OverflowMode::inf_nan;
  return mode;
}

LaneEvents stage_events(const ExecContext& c, const Stage& stage, const LaneBuffer& a, const LaneBuffer* b,
                        const LaneBuffer& ieee, u64 raised, u32 lanes, const LaneBits& active) {
  const bool replaces = stage.dst != LaneType::f32 && c.overflow == OverflowMode::saturation;
  return events_of({.rule = stage.rule,
                    .src = stage.src,
                    .dst = stage.dst,
                    .a = &a,
                    .b = b,
                    .second = stage.rule == LaneRule::product && stage.src == LaneType::s32 ? LaneType::f16 : stage.src,
                    .ieee = &ieee,
                    .relu = stage.before_relu != nullptr,
                    .saturates = is_float(stage.dst) ? replaces : lane_mode(c).saturate_int,
                    .raised = raised,
                    .lanes = lanes,
                    .active = active});
}

LaneEvents first_stage_events(const ExecContext& c, const Stage& stage, BinaryKernel compute, const LaneBuffer& a,
                              const LaneBuffer& b, u32 lanes, const LaneBits& active) {
  LaneBuffer result;
  const u64 raised =
      (stage.before_relu != nullptr ? stage.before_relu : compute)(a, b, result, unsaturated(lane_mode(c)));
  return stage_events(c, stage, a, &b, result, raised, lanes, active);
}

LaneEvents operator|(LaneEvents a, const LaneEvents& b) {
  for (usize w = 0; w < a.size(); ++w)
    a[w] |= b[w];
  return a;
}

LaneBuffer finite_between(LaneType type, const LaneBuffer& a, const LaneBuffer& b, const LaneBuffer& middle) {
  LaneBuffer out;
  if (type == LaneType::f16) {
    finite_middle<Binary16>(a, b, middle, out);
  } else {
    finite_middle<Binary32>(a, b, middle, out);
  }
  return out;
}

}  // namespace vinci::isa::insn
