// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>

#include "isa/shadow/kernels.h"
#include "isa/shadow/lanes.h"

namespace vinci::isa {

bool ShadowPoint::computes_repeats(const LaneOp& op, LaneType type) const {
  return op.kind == LaneOp::Kind::binary && !rounds() &&
         shadow_kernels::repeats_function(static_cast<BinaryOp>(op.op), type) != nullptr;
}

void ShadowPoint::compute(const ShadowRepeats& s) {
  const BinaryOp op = static_cast<BinaryOp>(s.op.op);
  const u32 lanes = kRepeatBytes / lane_bytes(s.type);
  LocalRefs& ub = core_->buffers[index(BufId::UB)];
  const u64 count = s.values.count;
  // From the first repeat to the last.
  const auto bytes = [count](const ShadowRepeats::Place& at) { return (count - 1) * at.stride + kRepeatBytes; };
  const auto planes = [&](const ShadowRepeats::Place& at) {
    if (ub.type(at.address, bytes(at)) == RefType::none) return std::optional<PlanesFrom>();
    return std::optional(read_only(ub.places(at.address, bytes(at))));
  };
  shadow_kernels::RepeatsJob job{.values = s.values, .out = ub.places(s.out.address, bytes(s.out))};
  if (!ub.clean()) {
    job.a = planes(s.a);
    job.a_stride = s.a.stride;
    if (s.b) {
      job.b = planes(*s.b);
      job.b_stride = s.b->stride;
    }
  }
  shadow_kernels::RepeatsResult result;
  shadow_kernels::repeats_function(op, s.type)(job, result);
  if (s.out.stride == kRepeatBytes) {
    ub.set_type(s.out.address, bytes(s.out), ref_type(s.type));
  } else {
    for (u64 r = 0; r < count; ++r)
      ub.set_type(s.out.address + r * s.out.stride, kRepeatBytes, ref_type(s.type));
  }
  add_restarted(result.restarted);
  add_decided(result.decided);
  add_cancelled(result.cancelled);
  if (result.finite && result.tally.worst_ulp <= site().worst.ulp) return add_tally(result.tally, count * lanes);
  // The results are there, one repeat after the other: which one is the worst, and which are not finite.
  for (u64 r = 0; r < count; ++r) {
    std::array<LaneBuffer, 3> lanes_of;
    const std::array<const std::byte*, 3> from{s.values.a.at(r), s.values.b.at(r),
                                               s.values.out + r * s.values.out_stride};
    for (usize i = 0; i < from.size(); ++i)
      std::copy_n(from[i], kRepeatBytes, lanes_of[i].bytes.begin());
    ShadowLanes repeat{.op = s.op, .dst = s.type, .lanes = lanes};
    repeat.a = {s.type, &lanes_of[0], nullptr};
    repeat.b = {s.type, &lanes_of[1], nullptr};
    DoubleLanes value, exact, reference;
    exact_results(repeat, exact);
    shadow_kernels::lane_doubles(s.type, lanes_of[2], lanes, value);
    ub.load(s.type, s.out.address + r * s.out.stride, std::span(value.v).first(lanes),
            std::span(reference.v).first(lanes));
    this->count(s.type, std::span(value.v).first(lanes), std::span(exact.v).first(lanes),
                std::span(reference.v).first(lanes), (s.first + r) * lanes);
  }
}

}  // namespace vinci::isa
