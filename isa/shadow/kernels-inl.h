// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors

// What the loops of shadow execution have in common: references from planes and back, errors, decisions. Compiled once
// for each instruction set of the host.
#if defined(VINCI_ISA_SHADOW_KERNELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VINCI_ISA_SHADOW_KERNELS_INL_H
#undef VINCI_ISA_SHADOW_KERNELS_INL_H
#else
#define VINCI_ISA_SHADOW_KERNELS_INL_H
#endif

#include <cmath>
#include <limits>

#include "isa/sem/fractal_kernel-inl.h"
#include "isa/shadow/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa::shadow_kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Vectors of words are turned into doubles and back by interleaving, which works in blocks of 128 bits. Vectors of more
// than 256 bits are not used: their blocks would need another order.
using Words = hn::CappedTag<u16, 16>;
using Pairs = hn::Repartition<u32, Words>;
using Quads = hn::Repartition<u64, Words>;
using WordDoubles = hn::Repartition<double, Words>;

// The references of as many elements of 2 or 4 B as a vector of their words has, in vectors of doubles.
template <u32 kBytes>
struct Block {
  static constexpr usize kVectors = kBytes == 2 ? 4 : 2, kLanes = kVectors * hn::MaxLanes(WordDoubles());
  using V = hn::Vec<WordDoubles>;
  V v[kVectors];

  // False if one of them has no reference; of elements of 2 B also if one is infinite.
  HWY_INLINE bool load(const PlanesFrom& planes, usize i) {
    const Pairs pairs;
    if constexpr (kBytes == 2) {
      const Words w;
      const auto words = [&](usize p) { return hn::LoadU(w, reinterpret_cast<const u16*>(planes[p]) + i); };
      const auto top = words(3);
      // What says that there is none, and infinity, are below 8 in plane 3.
      static_assert(reference::kEnded < 8 && reference::kWide < 8);
      if (!hn::AllFalse(w, hn::Eq(hn::And(top, hn::Set(w, 0xfff8)), hn::Zero(w)))) return false;
      const auto w0 = words(0), w1 = words(1), w2 = words(2), w3 = hn::Xor(top, hn::Set(w, reference::kFlip));
      const auto low_a = hn::BitCast(pairs, hn::InterleaveLower(w, w0, w1)),
                 low_b = hn::BitCast(pairs, hn::InterleaveUpper(w, w0, w1)),
                 high_a = hn::BitCast(pairs, hn::InterleaveLower(w, w2, w3)),
                 high_b = hn::BitCast(pairs, hn::InterleaveUpper(w, w2, w3));
      unturn<0, 2>(hn::InterleaveLower(pairs, low_a, high_a), hn::InterleaveUpper(pairs, low_a, high_a));
      unturn<1, 3>(hn::InterleaveLower(pairs, low_b, high_b), hn::InterleaveUpper(pairs, low_b, high_b));
    } else {
      const auto words = [&](usize p) { return hn::LoadU(pairs, reinterpret_cast<const u32*>(planes[p]) + i); };
      if (!hn::AllTrue(pairs, hn::Eq(words(3), hn::Set(pairs, reference::kWideMark)))) return false;
      const auto low = words(0), high = words(1);
      unturn<0, 1>(hn::InterleaveLower(pairs, low, high), hn::InterleaveUpper(pairs, low, high));
    }
    return true;
  }

  HWY_INLINE void store(const PlanesTo& planes, usize i) const {
    const Pairs pairs;
    if constexpr (kBytes == 2) {
      const Words w;
      const Quads quads;
      // The words of elements 0 and 2, 1 and 3, and so on; then those of 0 to 3.
      const auto turned = [&](const Turned& of, auto upper) {
        const auto x = hn::BitCast(w, of.a), y = hn::BitCast(w, of.b);
        const auto even = hn::InterleaveLower(w, x, y), odd = hn::InterleaveUpper(w, x, y);
        return hn::BitCast(quads, upper ? hn::InterleaveUpper(w, even, odd) : hn::InterleaveLower(w, even, odd));
      };
      const Turned first = turn<0, 2>(), second = turn<1, 3>();
      const auto low_a = turned(first, std::false_type()), low_b = turned(second, std::false_type()),
                 high_a = turned(first, std::true_type()), high_b = turned(second, std::true_type());
      const auto put = [&](usize p, auto words) {
        hn::StoreU(hn::BitCast(w, words), w, reinterpret_cast<u16*>(planes[p]) + i);
      };
      put(0, hn::InterleaveLower(quads, low_a, low_b));
      put(1, hn::InterleaveUpper(quads, low_a, low_b));
      put(2, hn::InterleaveLower(quads, high_a, high_b));
      put(3, hn::Xor(hn::BitCast(w, hn::InterleaveUpper(quads, high_a, high_b)), hn::Set(w, reference::kFlip)));
    } else {
      const Turned all = turn<0, 1>();
      const auto x = hn::BitCast(pairs, all.a), y = hn::BitCast(pairs, all.b);
      const auto even = hn::InterleaveLower(pairs, x, y), odd = hn::InterleaveUpper(pairs, x, y);
      const auto put = [&](usize p, auto words) { hn::StoreU(words, pairs, reinterpret_cast<u32*>(planes[p]) + i); };
      put(0, hn::InterleaveLower(pairs, even, odd));
      put(1, hn::InterleaveUpper(pairs, even, odd));
      put(2, hn::Zero(pairs));
      put(3, hn::Set(pairs, reference::kWideMark));
    }
  }

  HWY_INLINE void load(const double* from) {
    for (usize j = 0; j < kVectors; ++j)
      v[j] = hn::LoadU(WordDoubles(), from + j * hn::Lanes(WordDoubles()));
  }
  HWY_INLINE void store(double* to) const {
    for (usize j = 0; j < kVectors; ++j)
      hn::StoreU(v[j], WordDoubles(), to + j * hn::Lanes(WordDoubles()));
  }

 private:
  // Two vectors in which the blocks of 128 bits of two others take turns. Of vectors of one block: these themselves.
  struct Turned {
    V a, b;
  };
  static constexpr bool kTwoBlocks = hn::MaxLanes(WordDoubles()) == 4;
  template <usize kFirst, usize kSecond, class W>
  HWY_INLINE void unturn(W first, W second) {
    const WordDoubles d;
    const auto a = hn::BitCast(d, first), b = hn::BitCast(d, second);
    if constexpr (kTwoBlocks) {
      v[kFirst] = hn::ConcatLowerLower(d, b, a);
      v[kSecond] = hn::ConcatUpperUpper(d, b, a);
    } else {
      v[kInOrder<kFirst>] = a;
      v[kInOrder<kSecond>] = b;
    }
  }
  template <usize kFirst, usize kSecond>
  HWY_INLINE Turned turn() const {
    const WordDoubles d;
    if constexpr (kTwoBlocks) {
      return {hn::ConcatLowerLower(d, v[kSecond], v[kFirst]), hn::ConcatUpperUpper(d, v[kSecond], v[kFirst])};
    } else {
      return {v[kInOrder<kFirst>], v[kInOrder<kSecond>]};
    }
  }
  // Vectors of one block do not take turns: 0, 2 and 1, 3 are 0, 1 and 2, 3.
  template <usize kAt>
  static constexpr usize kInOrder = kBytes == 4 ? kAt
                                    : kAt == 1  ? 2
                                    : kAt == 2  ? 1
                                                : kAt;
};
#endif

// 2^(fraction - exponent) for the exponent of a value, limited to those of the range: 1 / ulp.
template <class V, class D = hn::DFromV<V>>
HWY_INLINE V inverse_ulp(FloatRange range, V value) {
  const D d;
  const hn::RebindToSigned<D> i;
  auto exponent = hn::And(hn::ShiftRight<52>(hn::BitCast(i, value)), hn::Set(i, 0x7ff));
  exponent = hn::Min(hn::Max(exponent, hn::Set(i, range.least + 1023)), hn::Set(i, range.most + 1023));
  return hn::BitCast(d, hn::ShiftLeft<52>(hn::Sub(hn::Set(i, 2046 + range.fraction), exponent)));
}

// 2^exponent.
constexpr double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<u64>(1023 + exponent) << 52); }

// Sums of one kind of error.
template <class D>
struct ErrorVectors {
  using V = hn::Vec<D>;
  V max_ulp, max_relative, ulps, relatives;

  HWY_INLINE ErrorVectors()
      : max_ulp(hn::Zero(D())), max_relative(hn::Zero(D())), ulps(hn::Zero(D())), relatives(hn::Zero(D())) {}
  // inverse: 1 / ulp; share: 1 / reference.
  HWY_INLINE void add(V error, V inverse, V share) {
    const auto ulp = hn::Mul(error, inverse), relative = hn::Mul(error, share);
    max_ulp = hn::Max(max_ulp, ulp);
    max_relative = hn::Max(max_relative, relative);
    ulps = hn::MulAdd(ulp, ulp, ulps);
    relatives = hn::MulAdd(relative, relative, relatives);
  }
  HWY_INLINE void add(const ErrorVectors& o) {
    max_ulp = hn::Max(max_ulp, o.max_ulp);
    max_relative = hn::Max(max_relative, o.max_relative);
    ulps = hn::Add(ulps, o.ulps);
    relatives = hn::Add(relatives, o.relatives);
  }
  HWY_INLINE ErrorSums sums() const {
    const D d;
    return {.max_ulp = hn::GetLane(hn::MaxOfLanes(d, max_ulp)),
            .squares_ulp = hn::GetLane(hn::SumOfLanes(d, ulps)),
            .max_relative = hn::GetLane(hn::MaxOfLanes(d, max_relative)),
            .squares_relative = hn::GetLane(hn::SumOfLanes(d, relatives))};
  }
};

// Of results.
template <class D>
struct ErrorKinds {
  ErrorVectors<D> total, made, come_in;

  HWY_INLINE ErrorKinds() {}  // NOLINT(modernize-use-equals-default): a defaulted one is not compiled for the target
  HWY_INLINE bool finite() const {
    const auto squares = [](const ErrorVectors<D>& of) { return hn::Add(of.ulps, of.relatives); };
    const auto sum = hn::Add(squares(total), hn::Add(squares(made), squares(come_in)));
    return hn::AllTrue(D(), hn::Lt(sum, hn::Set(D(), std::numeric_limits<double>::infinity())));
  }
  HWY_INLINE void add_to(Tally& to) const {
    const ErrorSums sums = total.sums();
    to.worst_ulp = sums.max_ulp;
    to.errors[0].add(sums);
    to.errors[1].add(made.sums());
    to.errors[2].add(come_in.sums());
  }
};

// Whether doubles are equal to others, of which none is a NaN; the first that differ end the search.
template <class D>
HWY_INLINE bool all_equal(const double* x, const double* y, usize count) {
  const D d;
  for (usize i = 0; i < count; i += hn::Lanes(d)) {
    if (!hn::AllTrue(d, hn::Eq(hn::LoadU(d, x + i), hn::LoadU(d, y + i)))) return false;
  }
  return true;
}

// The errors of some results: of what was computed, what is exact, and the references. One kind of error is added after
// the other, so that its sums stay in registers.
template <class D>
class Errors {
 public:
  static constexpr usize kUnrolled = 4 * hn::MaxLanes(D());

  // Errors that are not finite are seen in ErrorKinds::finite(). `count` is a multiple of kUnrolled.
  HWY_INLINE void add(FloatRange range, const double* value, const double* exact, const double* reference, usize count,
                      ErrorKinds<D>& to) {
    const bool nothing_made = all_equal<D>(value, exact, count),
               nothing_comes_in = all_equal<D>(exact, reference, count);
    if (nothing_made && nothing_comes_in) return;
    if (nothing_made || nothing_comes_in) {  // all of it is the other kind
      ErrorVectors<D> all;
      measure<false>(range, value, reference, count, all);
      to.total.add(all);
      (nothing_made ? to.come_in : to.made).add(all);
      return;
    }
    measure<true>(range, value, reference, count, to.total);
    add_kind(value, exact, count, to.made);
    add_kind(exact, reference, count, to.come_in);
  }

 private:
  using V = hn::Vec<D>;
  template <class F>
  static HWY_INLINE void each(usize count, ErrorVectors<D>& kind, F&& f) {
    ErrorVectors<D> sums = kind;
    for (usize i = 0; i < count; i += kUnrolled) {
      for (usize at = i; at < i + kUnrolled; at += hn::Lanes(D()))
        f(at, sums);
    }
    kind = sums;
  }
  // Adds total errors, and keeps how errors of these results count.
  template <bool kKeeps>
  HWY_INLINE void measure(FloatRange range, const double* value, const double* reference, usize count,
                          ErrorVectors<D>& total) {
    const D d;
    const hn::RebindToUnsigned<D> u;
    const auto least = hn::Set(d, power_of_two(range.least)), most = hn::Set(d, power_of_two(range.most));
    const auto bias = hn::Set(u, static_cast<u64>(2046 + range.fraction) << 52),
               exponents = hn::Set(u, u64{0x7ff} << 52);
    each(count, total, [&](usize at, ErrorVectors<D>& sums) {
      const V r = hn::LoadU(d, reference + at), magnitude = hn::Abs(r);
      const auto normal = hn::BitCast(u, hn::Min(hn::Max(magnitude, least), most));
      const V inverse = hn::BitCast(d, hn::Sub(bias, hn::And(normal, exponents)));
      const auto is_relative = hn::Ge(magnitude, hn::Set(d, kLeastRelative));
      const V share = hn::IfThenElseZero(is_relative, hn::Div(hn::Set(d, 1), magnitude));
      if constexpr (kKeeps) {
        hn::Store(inverse, d, inverse_.data() + at);
        hn::Store(share, d, share_.data() + at);
      }
      sums.add(hn::Abs(hn::Sub(hn::LoadU(d, value + at), r)), inverse, share);
    });
  }
  HWY_INLINE void add_kind(const double* x, const double* y, usize count, ErrorVectors<D>& kind) const {
    const D d;
    each(count, kind, [&](usize at, ErrorVectors<D>& sums) {
      const V error = hn::Abs(hn::Sub(hn::LoadU(d, x + at), hn::LoadU(d, y + at)));
      sums.add(error, hn::Load(d, inverse_.data() + at), hn::Load(d, share_.data() + at));
    });
  }

  // 1 / ulp and 1 / reference.
  alignas(64) std::array<double, kShadowLanes> inverse_, share_;
};

// Sums of x and y that lost at least half of their bits, ...
template <class V, class D = hn::DFromV<V>>
HWY_INLINE hn::Mask<D> loses_bits(FloatRange range, V x, V y, V sum) {
  const D d;
  const auto most = hn::Max(hn::Abs(x), hn::Abs(y));
  const auto left = hn::Mul(most, hn::Set(d, power_of_two(-((range.fraction + 1) / 2))));
  return hn::And(hn::Le(hn::Abs(sum), left), hn::Gt(most, hn::Zero(d)));
}
// ... and finite ones into which more than an ulp comes.
template <class V, class D = hn::DFromV<V>>
HWY_INLINE hn::Mask<D> has_incoming_error(FloatRange range, V sum, V reference) {
  const D d;
  const auto come_in = hn::Mul(hn::Abs(hn::Sub(sum, reference)), inverse_ulp(range, sum));
  const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  return hn::And(hn::Lt(hn::Abs(sum), infinity), hn::Gt(come_in, hn::Set(d, 1)));
}

// The larger or the smaller of two operands: of equal ones the first, of their references the larger or smaller; a NaN
// wins. `otherwise`: the references would choose the other one.
template <class V, class D = hn::DFromV<V>>
struct Choice {
  V exact, reference;
  hn::Mask<D> otherwise;

  HWY_INLINE Choice(bool largest, V a, V b, V ra, V rb) {
    const auto more = [&](V x, V y) { return largest ? hn::Gt(x, y) : hn::Lt(x, y); };
    const auto a_more = more(a, b), b_more = more(b, a), rb_more = more(rb, ra);
    exact = hn::IfThenElse(hn::Or(b_more, hn::IsNaN(b)), b, a);
    const auto of_equal = hn::AndNot(a_more, hn::Or(rb_more, hn::IsNaN(rb)));
    reference = hn::IfThenElse(hn::Or(b_more, of_equal), rb, ra);
    otherwise = hn::Or(hn::And(a_more, rb_more), hn::And(b_more, more(ra, rb)));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace vinci::isa::shadow_kernels
HWY_AFTER_NAMESPACE();

#endif
