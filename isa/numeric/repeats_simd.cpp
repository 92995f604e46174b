// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
//
// SIMD kernels that work on repeats in place, compiled once for each instruction set that Highway knows and
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
// fills them from a, b and what the destination holds, and says whether they are right; K::careful, for a repeat where
// they do not.
template <class K>
u64 repeats(const Repeats& job) {
  const typename K::D d;
  u64 raised = 0;
  for (usize n = 0; n < job.count; ++n) {
    std::byte* const out = job.out + n * job.out_stride;
    hn::Vec<typename K::D> result[K::kVectors];
    if (!K::compute(job.a.at(n), job.b.at(n), out, result)) [[unlikely]] {
      raised |= K::careful(job, n);
      continue;
    }
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

// Results in f32, as integers: twice the bits are twice the magnitude. Less 2, zero is the largest number.
template <bool ZeroToo>
class Plain {
 public:
  using D = Extremes::D;

  HWY_INLINE Plain() : most_(hn::Zero(D())) {}
  HWY_INLINE void see(hn::Vec<DF> result) {
    const D d;
    const auto bits = hn::BitCast(d, result);
    most_ = hn::Max(most_, hn::Sub(hn::Add(bits, bits), hn::Set(d, kOffset)));
  }
  // Every result was finite and, with ZeroToo, not zero.
  HWY_INLINE bool all() const {
    const D d;
    return hn::AllTrue(d, hn::Lt(most_, hn::Set(d, 2 * u32{kF32Inf} - kOffset)));
  }

 private:
  static constexpr u32 kOffset = ZeroToo ? 2 : 0;
  hn::Vec<D> most_;
};

// Whether no result in f32 is infinite, NaN, or zero though neither x nor y, the factors of its product, is.
HWY_NOINLINE bool plain_products(const std::byte* x, const std::byte* y, const hn::Vec<DF>* result) {
  const DF d;
  const Extremes::D du;
  Extremes results, vanished;
  for (usize i = 0; i < kLanes32 / hn::MaxLanes(d); ++i) {
    results.see(hn::BitCast(du, result[i]));
    const auto factors = hn::Min(hn::Abs(load(d, x, i)), hn::Abs(load(d, y, i)));
    vanished.see(hn::BitCast(du, hn::IfThenElseZero(hn::Eq(result[i], hn::Zero(d)), factors)));
  }
  return results.below(kF32Inf) && vanished.below(1);
}

template <BinaryOp Op>
struct BinaryF32 {
  using D = DF;
  static constexpr usize kVectors = kLanes32 / hn::MaxLanes(D());

  static HWY_INLINE bool compute(const std::byte* a, const std::byte* b, const std::byte*, hn::Vec<D>* result) {
    const D d;
    Plain<Op == BinaryOp::mul> seen;
    for (usize i = 0; i < kVectors; ++i) {
      result[i] = apply<Op>(load(d, a, i), load(d, b, i));
      seen.see(result[i]);
    }
    return seen.all() || (Op == BinaryOp::mul && plain_products(a, b, result));
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

  static HWY_INLINE bool compute(const std::byte* a, const std::byte* b, const std::byte*, hn::Vec<D>* result) {
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

// max and min as integers, of finite numbers: flipping the magnitude bits of negative values makes the order of the
// bits the order of the values, with -0 < +0.
template <BinaryOp Op, LaneType Type>
struct Extreme {
  using D = std::conditional_t<Type == LaneType::f16, DI16Full, DI32>;
  using T = hn::TFromD<D>;
  static constexpr usize kVectors = kRepeatBytes / sizeof(T) / hn::MaxLanes(D());

  static HWY_INLINE hn::Vec<D> flip(hn::Vec<D> x) { return hn::Xor(x, magnitude_of(D(), hn::BroadcastSignBit(x))); }
  static HWY_INLINE bool compute(const std::byte* a, const std::byte* b, const std::byte*, hn::Vec<D>* result) {
    const D d;
    auto most = hn::Zero(d);
    for (usize i = 0; i < kVectors; ++i) {
      const auto x = load(d, a, i), y = load(d, b, i);
      most = hn::Max(most, hn::Max(magnitude_of(d, x), magnitude_of(d, y)));
      result[i] = flip(Op == BinaryOp::max ? hn::Max(flip(x), flip(y)) : hn::Min(flip(x), flip(y)));
    }
    return hn::AllTrue(d, hn::Lt(most, hn::Set(d, Format<hwy::MakeUnsigned<T>>::kInf)));
  }
  static u64 careful(const Repeats& job, usize n) { return detail::binary_repeat(binary_kernel(Op, Type), job, n); }
};

#if HWY_NATIVE_FMA
// out * a + b or out + a * b, rounded once.
template <TernaryOp Op>
struct TernaryF32 {
  using D = DF;
  static constexpr usize kVectors = kLanes32 / hn::MaxLanes(D());

  static HWY_INLINE bool compute(const std::byte* a, const std::byte* b, const std::byte* out, hn::Vec<D>* result) {
    const D d;
    const std::byte* factor = Op == TernaryOp::mla ? b : out;
    const std::byte* addend = Op == TernaryOp::mla ? out : b;
    Plain<true> seen;
    for (usize i = 0; i < kVectors; ++i) {
      result[i] = hn::MulAdd(load(d, a, i), load(d, factor, i), load(d, addend, i));
      seen.see(result[i]);
    }
    return seen.all() || plain_products(a, factor, result);
  }
  static u64 careful(const Repeats& job, usize n) {
    constexpr LaneType kType = LaneType::f32;
    return detail::ternary_repeat(ternary_kernel(Op, kType, kType), job, n, kType, kType);
  }
};
#endif

// out (f32) + a * b (f16): the product is exact, and a sum of two f32 is rounded once and never vanishes.
struct MlaF32F16 {
  using D = DF;
  static constexpr usize kVectors = kLanes32 / hn::MaxLanes(D());

  static HWY_INLINE bool compute(const std::byte* a, const std::byte* b, const std::byte* out, hn::Vec<D>* result) {
    const D d;
    const DI16 d16;
    Plain<false> seen;
    for (usize i = 0; i < kVectors; ++i) {
      const auto product = hn::Mul(widen_lanes(d, load(d16, a, i)), widen_lanes(d, load(d16, b, i)));
      result[i] = hn::Add(product, load(d, out, i));
      seen.see(result[i]);
    }
    return seen.all();
  }
  static u64 careful(const Repeats& job, usize n) {
    constexpr LaneType kDst = LaneType::f32, kSrc = LaneType::f16;
    return detail::ternary_repeat(ternary_kernel(TernaryOp::mla, kDst, kSrc), job, n, kDst, kSrc);
  }
};

template <UnaryOp Op, LaneType Type>
struct Sign {
  using D = std::conditional_t<Type == LaneType::f16, DI16Full, DI32>;
  using T = hn::TFromD<D>;
  static constexpr usize kVectors = kRepeatBytes / sizeof(T) / hn::MaxLanes(D());

  static HWY_INLINE bool compute(const std::byte* a, const std::byte*, const std::byte*, hn::Vec<D>* result) {
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

  static HWY_INLINE bool compute(const std::byte* a, const std::byte*, const std::byte*, hn::Vec<D>* result) {
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

  static HWY_INLINE bool compute(const std::byte* a, const std::byte*, const std::byte*, hn::Vec<D>* result) {
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

template <BinaryOp Op>
RepeatsKernel extreme(LaneType type) {
  return type == LaneType::f16 ? repeats<Extreme<Op, LaneType::f16>> : repeats<Extreme<Op, LaneType::f32>>;
}

RepeatsKernel find_binary_repeats(BinaryOp op, LaneType type) {
  const bool f16 = type == LaneType::f16;
  if (!f16 && type != LaneType::f32) return nullptr;
  switch (op) {
    case BinaryOp::add: return f16 ? repeats<BinaryF16<BinaryOp::add>> : repeats<BinaryF32<BinaryOp::add>>;
    case BinaryOp::sub: return f16 ? repeats<BinaryF16<BinaryOp::sub>> : repeats<BinaryF32<BinaryOp::sub>>;
    case BinaryOp::mul: return f16 ? repeats<BinaryF16<BinaryOp::mul>> : repeats<BinaryF32<BinaryOp::mul>>;
    case BinaryOp::max: return extreme<BinaryOp::max>(type);
    case BinaryOp::min: return extreme<BinaryOp::min>(type);
    default: return nullptr;
  }
}

RepeatsKernel find_ternary_repeats(TernaryOp op, LaneType dst, LaneType src) {
  if (dst != LaneType::f32) return nullptr;
  if (src == LaneType::f16) return op == TernaryOp::mla ? repeats<MlaF32F16> : nullptr;
#if HWY_NATIVE_FMA
  if (src == LaneType::f32 && op == TernaryOp::madd) return repeats<TernaryF32<TernaryOp::madd>>;
  if (src == LaneType::f32 && op == TernaryOp::mla) return repeats<TernaryF32<TernaryOp::mla>>;
#endif
  return nullptr;
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
HWY_EXPORT(find_ternary_repeats);
HWY_EXPORT(find_convert_repeats);
HWY_EXPORT(is_avx512);

namespace detail {

RepeatsKernel simd_unary_repeats(UnaryOp op, LaneType type) {
  return HWY_DYNAMIC_DISPATCH(find_unary_repeats)(op, type);
}
RepeatsKernel simd_binary_repeats(BinaryOp op, LaneType type) {
  return HWY_DYNAMIC_DISPATCH(find_binary_repeats)(op, type);
}
RepeatsKernel simd_ternary_repeats(TernaryOp op, LaneType dst, LaneType src) {
  return HWY_DYNAMIC_DISPATCH(find_ternary_repeats)(op, dst, src);
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
