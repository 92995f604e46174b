// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>

#include "isa/sem/hwy_targets.h"
#include "isa/shadow/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/shadow/repeats_kernel.cpp"
#include <hwy/foreach_target.h>
// They must come after foreach_target.h.
#include <hwy/highway.h>

#include "isa/shadow/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa::shadow_kernels {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
RepeatsFunction function_of(BinaryOp, LaneType) { return nullptr; }
#else
using V = hn::Vec<WordDoubles>;

// What the program has, as doubles.
template <u32 kBytes>
HWY_INLINE Block<kBytes> widened(const std::byte* from) {
  const WordDoubles d;
  const hn::Repartition<float, WordDoubles> floats;
  Block<kBytes> out;
  for (usize j = 0; j < out.kVectors; j += 2) {
    const std::byte* at = from + j * hn::Lanes(d) * kBytes;
    hn::Vec<decltype(floats)> both;
    if constexpr (kBytes == 2) {
      both = isa::HWY_NAMESPACE::widen_lanes(floats, at);
    } else {
      both = hn::LoadU(floats, reinterpret_cast<const float*>(at));
    }
    out.v[j] = hn::PromoteTo(d, hn::LowerHalf(both));
    out.v[j + 1] = hn::PromoteTo(d, hn::UpperHalf(hn::Half<decltype(floats)>(), both));
  }
  return out;
}

// Planes some bytes further on.
template <class Planes>
HWY_INLINE Planes moved(Planes planes, usize bytes) {
  for (auto& p : planes)
    p += bytes;
  return planes;
}
template <class Planes>
HWY_INLINE std::optional<Planes> moved(const std::optional<Planes>& planes, usize bytes) {
  return planes ? std::optional(moved(*planes, bytes)) : std::nullopt;
}

// The references of elements from `i` on; where there is none, the value. Returns how many have ended.
template <u32 kBytes>
HWY_NOINLINE u64 load_some_references(const PlanesFrom& planes, usize i, const std::byte* from, Block<kBytes>& to) {
  std::array<double, Block<kBytes>::kLanes> own, references;
  widened<kBytes>(from).store(own.data());
  const u64 ended =
      shadow_kernels::decode(kBytes, moved(planes, i * kBytes), own.data(), references.data(), own.size());
  to.load(references.data());
  return ended;
}
// `from`: the place of the values.
template <u32 kBytes>
HWY_INLINE u64 load_references(const std::optional<PlanesFrom>& planes, usize i, const std::byte* from,
                               Block<kBytes>& to) {
  if (!planes) {
    to = widened<kBytes>(from);
    return 0;
  }
  if (to.load(*planes, i)) return 0;
  Block<kBytes> some;  // only it has an address
  const u64 ended = load_some_references(*planes, i, from, some);
  to = some;
  return ended;
}

template <BinaryOp kOp>
HWY_INLINE V operation(V x, V y) {
  if constexpr (kOp == BinaryOp::add) return hn::Add(x, y);
  if constexpr (kOp == BinaryOp::sub) return hn::Sub(x, y);
  if constexpr (kOp == BinaryOp::mul) return hn::Mul(x, y);
  if constexpr (kOp == BinaryOp::div) return hn::Div(x, y);
}

template <u32 kBytes, BinaryOp kOp>
void compute(const RepeatsJob& job, RepeatsResult& result) {
  constexpr FloatRange kRange = range_of(kBytes == 2 ? LaneType::f16 : LaneType::f32);
  constexpr usize kLanes = kRepeatBytes / kBytes, kVectors = Block<kBytes>::kVectors;
  constexpr bool kChooses = kOp == BinaryOp::max || kOp == BinaryOp::min;
  constexpr bool kSums = kOp == BinaryOp::add || kOp == BinaryOp::sub;
  const WordDoubles d;
  const Repeats& values = job.values;
  ErrorKinds<WordDoubles> kinds;
  Errors<WordDoubles> errors;
  alignas(64) std::array<double, kLanes> all_values, all_exact, all_references;
  for (usize repeat = 0; repeat < values.count; ++repeat) {
    const std::byte *a_at = values.a.at(repeat), *b_at = values.b.at(repeat);
    const std::byte* out_at = values.out + repeat * values.out_stride;
    const std::optional<PlanesFrom> a_planes = moved(job.a, repeat * job.a_stride),
                                    b_planes = moved(job.b, repeat * job.b_stride);
    const PlanesTo out_planes = moved(job.out, repeat * values.out_stride);
    u64 ended = 0, decided = 0, cancelled = 0;
    for (usize i = 0; i < kLanes; i += Block<kBytes>::kLanes) {
      const Block<kBytes> a = widened<kBytes>(a_at + i * kBytes), b = widened<kBytes>(b_at + i * kBytes);
      hn::Mask<WordDoubles> lost[kVectors], any_lost = hn::FirstN(d, 0);
      if constexpr (!kChooses) {
        for (usize j = 0; j < kVectors; ++j) {
          const V exact = operation<kOp>(a.v[j], b.v[j]);
          hn::Store(exact, d, all_exact.data() + i + j * hn::Lanes(d));
          if constexpr (kSums) any_lost = hn::Or(any_lost, lost[j] = loses_bits(kRange, a.v[j], b.v[j], exact));
        }
      }
      Block<kBytes> ra, rb, r;
      ended += load_references(a_planes, i, a_at + i * kBytes, ra);
      ended += load_references(b_planes, i, b_at + i * kBytes, rb);
      const Block<kBytes> value = widened<kBytes>(out_at + i * kBytes);
      for (usize j = 0; j < kVectors; ++j) {
        if constexpr (kChooses) {
          const Choice<V> choice(kOp == BinaryOp::max, a.v[j], b.v[j], ra.v[j], rb.v[j]);
          hn::Store(choice.exact, d, all_exact.data() + i + j * hn::Lanes(d));
          r.v[j] = choice.reference;
          decided += hn::CountTrue(d, choice.otherwise);
        } else {
          r.v[j] = operation<kOp>(ra.v[j], rb.v[j]);
        }
      }
      value.store(all_values.data() + i);
      r.store(all_references.data() + i);
      r.store(out_planes, i);
      if constexpr (kSums) {
        if (hn::AllFalse(d, any_lost)) continue;
        for (usize j = 0; j < kVectors; ++j) {
          const V exact = operation<kOp>(a.v[j], b.v[j]);
          cancelled += hn::CountTrue(d, hn::And(lost[j], has_incoming_error(kRange, exact, r.v[j])));
        }
      }
    }
    errors.add(kRange, all_values.data(), all_exact.data(), all_references.data(), kLanes, kinds);
    result.restarted += std::min<u64>(ended, kLanes);
    result.decided += decided;
    result.cancelled += cancelled;
  }
  result.finite = kinds.finite();
  if (result.finite) kinds.add_to(result.tally);
}

RepeatsFunction function_of(BinaryOp op, LaneType type) {
  const auto of = [type]<BinaryOp kOp>(std::integral_constant<BinaryOp, kOp>) {
    return type == LaneType::f16 ? compute<2, kOp> : type == LaneType::f32 ? compute<4, kOp> : RepeatsFunction();
  };
  switch (op) {
    case BinaryOp::add: return of(std::integral_constant<BinaryOp, BinaryOp::add>());
    case BinaryOp::sub: return of(std::integral_constant<BinaryOp, BinaryOp::sub>());
    case BinaryOp::mul: return of(std::integral_constant<BinaryOp, BinaryOp::mul>());
    case BinaryOp::div: return of(std::integral_constant<BinaryOp, BinaryOp::div>());
    case BinaryOp::max: return of(std::integral_constant<BinaryOp, BinaryOp::max>());
    case BinaryOp::min: return of(std::integral_constant<BinaryOp, BinaryOp::min>());
    default: return nullptr;
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace vinci::isa::shadow_kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vinci::isa::shadow_kernels {

HWY_EXPORT(function_of);
RepeatsFunction repeats_function(BinaryOp op, LaneType type) { return HWY_DYNAMIC_DISPATCH(function_of)(op, type); }

}  // namespace vinci::isa::shadow_kernels
#endif
