// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/sem/fractal_kernel.h"

#include <cstring>

#include "isa/sem/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/sem/fractal_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target

#include "isa/sem/fractal_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa {
namespace {  // of this file: other kernels may use the same names
namespace HWY_NAMESPACE {

using Floats = hn::CappedTag<float, 16>;

void widen_run(const std::byte* from, float* into, usize count) {
  const Floats d;
  const usize lanes = hn::Lanes(d);
  usize i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(widen_lanes(d, from + 2 * i), d, into + i);
  if (i == count) return;
  alignas(64) std::byte in[32] = {};
  alignas(64) float out[16];
  std::memcpy(in, from + 2 * i, 2 * (count - i));
  hn::StoreU(widen_lanes(d, in), d, out);
  std::memcpy(into + i, out, sizeof(float) * (count - i));
}

// One pass over whole vectors; what happened is kept in vectors and looked at once, at the end.
template <bool kSaturate, bool kRelu>
Narrowed narrow_vectors(const std::byte* from, std::byte* into, usize count) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  const hn::Rebind<std::uint16_t, Floats> d16;
  const auto limit = hn::Set(d, 65520.0f);                // the least that rounds beyond 65504
  const auto tiny = hn::Set(d, 2.98023223876953125e-8f);  // 2^-25: what still rounds to zero
  const auto infinite = hn::BitCast(d, hn::Set(du, 0x7f800000u));
  auto overflow = hn::Zero(du);
  auto underflow = hn::Zero(du);
  for (usize i = 0; i < count; i += hn::Lanes(d)) {
    auto v = hn::LoadU(d, reinterpret_cast<const float*>(from + 4 * i));
    // Comparisons are false for a NaN, which therefore stays.
    if constexpr (kRelu) v = hn::IfThenElse(hn::Le(v, hn::Zero(d)), hn::Zero(d), v);
    const auto magnitude = hn::Abs(v);
    overflow = hn::Or(
        overflow, hn::BitCast(du, hn::VecFromMask(d, hn::And(hn::Ge(magnitude, limit), hn::Lt(magnitude, infinite)))));
    underflow =
        hn::Or(underflow,
               hn::BitCast(du, hn::VecFromMask(d, hn::And(hn::Le(magnitude, tiny), hn::Gt(magnitude, hn::Zero(d))))));
    if constexpr (kSaturate) {
      v = hn::IfThenElse(hn::IsNaN(v), hn::Zero(d), v);
      v = hn::Min(hn::Max(v, hn::Set(d, -65504.0f)), hn::Set(d, 65504.0f));
    }
    hn::StoreU(narrow_lanes(d, v), d16, reinterpret_cast<std::uint16_t*>(into + 2 * i));
  }
  return {.overflow = !hn::AllTrue(du, hn::Eq(overflow, hn::Zero(du))),
          .underflow = !hn::AllTrue(du, hn::Eq(underflow, hn::Zero(du)))};
}

template <bool kSaturate, bool kRelu>
Narrowed narrow_run(const std::byte* from, std::byte* into, usize count) {
  const usize lanes = hn::Lanes(Floats());
  const usize whole = count / lanes * lanes;
  Narrowed n = narrow_vectors<kSaturate, kRelu>(from, into, whole);
  if (whole == count) return n;
  alignas(64) std::byte in[64] = {};
  alignas(64) std::byte out[32];
  std::memcpy(in, from + 4 * whole, 4 * (count - whole));
  const Narrowed tail = narrow_vectors<kSaturate, kRelu>(in, out, lanes);
  std::memcpy(into + 2 * whole, out, 2 * (count - whole));
  return {.overflow = n.overflow || tail.overflow, .underflow = n.underflow || tail.underflow};
}

Narrowed narrow_any(const std::byte* from, std::byte* into, usize count, NarrowMode mode) {
  if (mode.saturate)
    return mode.relu ? narrow_run<true, true>(from, into, count) : narrow_run<true, false>(from, into, count);
  return mode.relu ? narrow_run<false, true>(from, into, count) : narrow_run<false, false>(from, into, count);
}

void transpose_any(const std::byte* from, std::byte* into) { transpose_fractal(from, into); }

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace vinci::isa
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vinci::isa {

namespace {
HWY_EXPORT(widen_run);
HWY_EXPORT(narrow_any);
HWY_EXPORT(transpose_any);
}  // namespace

void widen_f16(const std::byte* from, float* into, usize count) { HWY_DYNAMIC_DISPATCH(widen_run)(from, into, count); }

Narrowed narrow_f32(const std::byte* from, std::byte* into, usize count, NarrowMode mode) {
  return HWY_DYNAMIC_DISPATCH(narrow_any)(from, into, count, mode);
}

void transpose_b16(const std::byte* from, std::byte* into) { HWY_DYNAMIC_DISPATCH(transpose_any)(from, into); }

}  // namespace vinci::isa
#endif
