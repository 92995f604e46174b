// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
//
// SIMD kernels that work on repeats where they lie, compiled once for each instruction set that Highway knows and
// chosen at run time. The results of a repeat stay in registers until it is known that nothing in it is special; else
// the repeat goes to the kernel that treats every case.
#include "isa/numeric/lanes.h"
#include "isa/sem/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/numeric/repeats_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "isa/numeric/lanes_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa::HWY_NAMESPACE {

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* repeat, usize vector) {
  return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(repeat) + vector * hn::MaxLanes(d));
}
template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, std::byte* repeat, usize vector) {
  hn::StoreU(v, d, reinterpret_cast<hn::TFromD<D>*>(repeat) + vector * hn::MaxLanes(d));
}

// A kernel from a struct K: K::D, a vector of results; K::kVectors, how many there are in a repeat; K::compute, which
// fills them and says whether they stand; K::careful, for a repeat where they do not.
template <class K>
u64 repeats(const Repeats& job) {
  const typename K::D d;
  u64 raised = 0;
  for (usize n = 0; n < job.count; ++n) {
    hn::Vec<typename K::D> result[K::kVectors];
    if (!K::compute(job.a.at(n), job.b.at(n), result)) [[unlikely]] {
      raised |= K::careful(job, n);
      continue;
    }
    std::byte* out = job.out + n * job.out_stride;
    for (usize i = 0; i < K::kVectors; ++i)
      store(result[i], d, out, i);
  }
  return raised;
}

template <BinaryOp Op, class V>
HWY_INLINE V apply(V x, V y) {
  switch (Op) {
    case BinaryOp::add: return hn::Add(x, y);
    case BinaryOp::sub: return hn::Sub(x, y);
    default: return hn::Mul(x, y);
  }
}

template <BinaryOp Op>
struct BinaryF32 {
  using D = DF;
  static constexpr usize kVectors = kLanes32 / hn::MaxLanes(D());

  static HWY_INLINE bool compute(const std::byte* a, const std::byte* b, hn::Vec<D>* result) {
    const D d;
    const Extremes::D du;
    // Twice the bits are twice the magnitude; less 2, zero is the largest number.
    const auto offset = hn::Set(du, Op == BinaryOp::mul ? 2u : 0u);
    auto most = hn::Zero(du);
    for (usize i = 0; i < kVectors; ++i) {
      result[i] = apply<Op>(load(d, a, i), load(d, b, i));
      const auto bits = hn::BitCast(du, result[i]);
      most = hn::Max(most, hn::Sub(hn::Add(bits, bits), offset));
    }
    if (hn::AllTrue(du, hn::Lt(most, hn::Sub(hn::Set(du, 2 * u32{kF32Inf}), offset)))) return true;
    return Op == BinaryOp::mul && plain_products(a, b, result);
  }
  // Whether no product is infinite, NaN, or zero without a factor that is.
  static HWY_NOINLINE bool plain_products(const std::byte* a, const std::byte* b, const hn::Vec<D>* result) {
    const D d;
    const Extremes::D du;
    Extremes results, vanished;
    for (usize i = 0; i < kVectors; ++i) {
      results.see(hn::BitCast(du, result[i]));
      const auto factors = hn::Min(hn::Abs(load(d, a, i)), hn::Abs(load(d, b, i)));
      vanished.see(hn::BitCast(du, hn::IfThenElseZero(hn::Eq(result[i], hn::Zero(d)), factors)));
    }
    return results.below(kF32Inf) && vanished.below(1);
  }
  static u64 careful(const Repeats& job, usize n) {
    return detail::binary_repeat(binary_kernel(Op, LaneType::f32), job, n);
  }
};

// The sum or product as f32 is exact or rounds to the same f16.
template <BinaryOp Op>
struct BinaryF16 {
  using D = DI16;
  static constexpr usize kVectors = kLanes16 / hn::MaxLanes(D());

  static HWY_INLINE bool compute(const std::byte* a, const std::byte* b, hn::Vec<D>* result) {
    const D d;
    const DF df;
    const Extremes::D du;
    Extremes results;
    for (usize i = 0; i < kVectors; ++i) {
      const auto r = apply<Op>(widen_lanes(df, load(d, a, i)), widen_lanes(df, load(d, b, i)));
      result[i] = narrow_lanes(df, r);
      if constexpr (Op == BinaryOp::mul) {
        results.see_small(hn::BitCast(du, r));
      } else {
        results.see(hn::BitCast(du, r));
      }
    }
    return results.below(kF16Overflows) && (Op != BinaryOp::mul || results.none_up_to(kF16Vanishes));
  }
  static u64 careful(const Repeats& job, usize n) {
    return detail::binary_repeat(binary_kernel(Op, LaneType::f16), job, n);
  }
};

template <UnaryOp Op, LaneType Type>
struct Sign {
  using D = std::conditional_t<Type == LaneType::f16, DI16Full, DI32>;
  using T = hn::TFromD<D>;
  static constexpr usize kVectors = kRepeatBytes / sizeof(T) / hn::MaxLanes(D());

  static HWY_INLINE bool compute(const std::byte* a, const std::byte*, hn::Vec<D>* result) {
    const D d;
    auto most = hn::Zero(d);
    for (usize i = 0; i < kVectors; ++i) {
      const auto x = load(d, a, i);
      const auto magnitude = magnitude_of(d, x);
      most = hn::Max(most, magnitude);
      result[i] = Op == UnaryOp::relu ? hn::Max(x, hn::Zero(d)) : magnitude;
    }
    return hn::AllTrue(d, hn::Lt(most, hn::Set(d, Format<hwy::MakeUnsigned<T>>::kInf)));
  }
  static u64 careful(const Repeats& job, usize n) {
    return detail::unary_repeat(unary_kernel(Op, Type), job, n, Type, Type);
  }
};

struct Widen {
  using D = DF;
  static constexpr usize kVectors = kLanes32 / hn::MaxLanes(D());

  static HWY_INLINE bool compute(const std::byte* a, const std::byte*, hn::Vec<D>* result) {
    const DI16 d;
    auto most = hn::Zero(d);
    for (usize i = 0; i < kVectors; ++i) {
      const auto x = load(d, a, i);
      most = hn::Max(most, magnitude_of(d, x));
      result[i] = widen_lanes(DF(), x);
    }
    return hn::AllTrue(d, hn::Lt(most, hn::Set(d, i16{kF16Inf})));
  }
  static u64 careful(const Repeats& job, usize n) {
    using enum LaneType;
    return detail::unary_repeat(convert_kernel(f16, f32, RoundMode::rint), job, n, f16, f32);
  }
};

struct Narrow {
  using D = DI16;
  static constexpr usize kVectors = kLanes32 / hn::MaxLanes(D());

  static HWY_INLINE bool compute(const std::byte* a, const std::byte*, hn::Vec<D>* result) {
    const DF d;
    const Extremes::D du;
    Extremes operands;
    for (usize i = 0; i < kVectors; ++i) {
      const auto x = load(d, a, i);
      operands.see_small(hn::BitCast(du, x));
      result[i] = narrow_lanes(d, x);
    }
    return operands.below(kF16Overflows) && operands.none_up_to(kF16Vanishes);
  }
  static u64 careful(const Repeats& job, usize n) {
    using enum LaneType;
    return detail::unary_repeat(convert_kernel(f32, f16, RoundMode::rint), job, n, f32, f16);
  }
};

RepeatsKernel find_unary_repeats(UnaryOp op, LaneType type) {
  const bool f16 = type == LaneType::f16;
  if (!f16 && type != LaneType::f32) return nullptr;
  switch (op) {
    case UnaryOp::relu:
      return f16 ? repeats<Sign<UnaryOp::relu, LaneType::f16>> : repeats<Sign<UnaryOp::relu, LaneType::f32>>;
    case UnaryOp::abs:
      return f16 ? repeats<Sign<UnaryOp::abs, LaneType::f16>> : repeats<Sign<UnaryOp::abs, LaneType::f32>>;
    default: return nullptr;
  }
}

RepeatsKernel find_binary_repeats(BinaryOp op, LaneType type) {
  const bool f16 = type == LaneType::f16;
  if (!f16 && type != LaneType::f32) return nullptr;
  switch (op) {
    case BinaryOp::add: return f16 ? repeats<BinaryF16<BinaryOp::add>> : repeats<BinaryF32<BinaryOp::add>>;
    case BinaryOp::sub: return f16 ? repeats<BinaryF16<BinaryOp::sub>> : repeats<BinaryF32<BinaryOp::sub>>;
    case BinaryOp::mul: return f16 ? repeats<BinaryF16<BinaryOp::mul>> : repeats<BinaryF32<BinaryOp::mul>>;
    default: return nullptr;
  }
}

RepeatsKernel find_convert_repeats(LaneType from, LaneType to, RoundMode round) {
  using enum LaneType;
  if (from == f16 && to == f32) return repeats<Widen>;
  if (from == f32 && to == f16 && round == RoundMode::rint) return repeats<Narrow>;
  return nullptr;
}

bool is_avx512() { return HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL; }

}  // namespace vinci::isa::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace vinci::isa {

HWY_EXPORT(find_unary_repeats);
HWY_EXPORT(find_binary_repeats);
HWY_EXPORT(find_convert_repeats);
HWY_EXPORT(is_avx512);

namespace detail {

RepeatsKernel simd_unary_repeats(UnaryOp op, LaneType type) {
  return HWY_DYNAMIC_DISPATCH(find_unary_repeats)(op, type);
}
RepeatsKernel simd_binary_repeats(BinaryOp op, LaneType type) {
  return HWY_DYNAMIC_DISPATCH(find_binary_repeats)(op, type);
}
RepeatsKernel simd_convert_repeats(LaneType from, LaneType to, RoundMode round) {
  return HWY_DYNAMIC_DISPATCH(find_convert_repeats)(from, to, round);
}

bool host_has_avx512fp16() {
#if defined(__x86_64__)
  static const bool in_cpu = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx >> 23 & 1) != 0;
  }();
  return in_cpu && HWY_DYNAMIC_DISPATCH(is_avx512)();  // Highway knows whether the system keeps the wide registers
#else
  return false;
#endif
}

}  // namespace detail
}  // namespace vinci::isa
#endif  // HWY_ONCE
