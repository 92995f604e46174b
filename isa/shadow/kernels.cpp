// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/shadow/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "isa/census/lanes.h"
#include "isa/sem/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/shadow/kernels.cpp"
#include <hwy/foreach_target.h>
// They must come after foreach_target.h.
#include <hwy/highway.h>

#include "isa/shadow/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa::shadow_kernels {
namespace HWY_NAMESPACE {

using D = hn::CappedTag<double, 8>;
using U = hn::RebindToUnsigned<D>;
using I = hn::RebindToSigned<D>;
using U32 = hn::Rebind<u32, D>;
using U16 = hn::Rebind<u16, D>;

HWY_INLINE auto load16(const std::byte* plane, usize i) {
  return hn::PromoteTo(U(), hn::PromoteTo(U32(), hn::LoadU(U16(), reinterpret_cast<const u16*>(plane) + i)));
}
HWY_INLINE auto load32(const std::byte* plane, usize i) {
  return hn::PromoteTo(U(), hn::LoadU(U32(), reinterpret_cast<const u32*>(plane) + i));
}

// Lanes from `first` to before `end`, whatever their planes hold.
u64 decode_any(u32 element_bytes, const PlanesFrom& planes, const double* values, double* to, usize first, usize end) {
  const D d;
  const U u;
  u64 ended = 0;
  for (usize i = first; i < end; i += hn::Lanes(d)) {
    const auto top = element_bytes == 2 ? load16(planes[3], i) : load32(planes[3], i);
    const auto is_none = hn::Eq(top, hn::Zero(u));
    const auto value = hn::LoadU(d, values + i);
    if (hn::AllTrue(u, is_none)) {
      hn::StoreU(value, d, to + i);
      continue;
    }
    if (element_bytes == 2) {
      const auto bits = hn::Or(hn::Or(load16(planes[0], i), hn::ShiftLeft<16>(load16(planes[1], i))),
                               hn::Or(hn::ShiftLeft<32>(load16(planes[2], i)),
                                      hn::ShiftLeft<48>(hn::Xor(top, hn::Set(u, reference::kFlip)))));
      const auto is_ended =
          hn::Or(hn::Eq(top, hn::Set(u, reference::kEnded)), hn::Eq(top, hn::Set(u, reference::kWide)));
      ended += hn::CountTrue(u, is_ended);
      hn::StoreU(hn::IfThenElse(hn::RebindMask(d, hn::Or(is_none, is_ended)), value, hn::BitCast(d, bits)), d, to + i);
    } else {
      const auto bits = hn::Or(load32(planes[0], i), hn::ShiftLeft<32>(load32(planes[1], i)));
      const auto has = hn::Eq(top, hn::Set(u, reference::kWideMark));
      ended += hn::Lanes(d) - hn::CountTrue(u, hn::Or(is_none, has));
      hn::StoreU(hn::IfThenElse(hn::RebindMask(d, has), hn::BitCast(d, bits), value), d, to + i);
    }
  }
  return ended;
}

void encode_any(u32 element_bytes, const double* from, const PlanesTo& planes, usize first, usize end) {
  const D d;
  const U u;
  for (usize i = first; i < end; i += hn::Lanes(d)) {
    const auto bits = hn::BitCast(u, hn::LoadU(d, from + i));
    if (element_bytes == 2) {
      const auto put = [&](usize p, auto word) {
        hn::StoreU(hn::TruncateTo(U16(), word), U16(), reinterpret_cast<u16*>(planes[p]) + i);
      };
      const auto low = hn::Set(u, 0xffff);
      put(0, hn::And(bits, low));
      put(1, hn::And(hn::ShiftRight<16>(bits), low));
      put(2, hn::And(hn::ShiftRight<32>(bits), low));
      put(3, hn::Xor(hn::ShiftRight<48>(bits), hn::Set(u, reference::kFlip)));
    } else {
      const auto put = [&](usize p, auto word) {
        hn::StoreU(hn::TruncateTo(U32(), word), U32(), reinterpret_cast<u32*>(planes[p]) + i);
      };
      put(0, hn::And(bits, hn::Set(u, 0xffffffff)));
      put(1, hn::ShiftRight<32>(bits));
      put(2, hn::Zero(u));
      put(3, hn::Set(u, reference::kWideMark));
    }
  }
}

#if HWY_TARGET == HWY_SCALAR
u64 decode(u32 element_bytes, const PlanesFrom& planes, const double* values, double* to, usize count) {
  return decode_any(element_bytes, planes, values, to, 0, count);
}
void encode(u32 element_bytes, const double* from, const PlanesTo& planes, usize count) {
  encode_any(element_bytes, from, planes, 0, count);
}
#else
template <u32 kBytes>
u64 decode_blocks(const PlanesFrom& planes, const double* values, double* to, usize count) {
  u64 ended = 0;
  usize i = 0;
  for (Block<kBytes> block; i + block.kLanes <= count; i += block.kLanes) {
    if (block.load(planes, i)) {
      block.store(to + i);
    } else {
      ended += decode_any(kBytes, planes, values, to, i, i + block.kLanes);
    }
  }
  return ended + decode_any(kBytes, planes, values, to, i, count);
}
u64 decode(u32 element_bytes, const PlanesFrom& planes, const double* values, double* to, usize count) {
  return element_bytes == 2 ? decode_blocks<2>(planes, values, to, count) : decode_blocks<4>(planes, values, to, count);
}

template <u32 kBytes>
void encode_blocks(const double* from, const PlanesTo& planes, usize count) {
  usize i = 0;
  for (Block<kBytes> block; i + block.kLanes <= count; i += block.kLanes) {
    block.load(from + i);
    block.store(planes, i);
  }
  encode_any(kBytes, from, planes, i, count);
}
void encode(u32 element_bytes, const double* from, const PlanesTo& planes, usize count) {
  element_bytes == 2 ? encode_blocks<2>(from, planes, count) : encode_blocks<4>(from, planes, count);
}
#endif

// Floats, and the doubles of their halves.
#if HWY_TARGET == HWY_SCALAR
using F = hn::CappedTag<float, 1>;
template <class V>
HWY_INLINE auto lower(V v) {
  return hn::PromoteTo(D(), v);
}
template <class V>
HWY_INLINE auto upper(V v) {
  return lower(v);  // never used
}
constexpr bool kHasUpper = false;
#else
using F = hn::Repartition<float, D>;
template <class V>
HWY_INLINE auto lower(V v) {
  return hn::PromoteTo(D(), hn::LowerHalf(v));
}
template <class V>
HWY_INLINE auto upper(V v) {
  return hn::PromoteTo(D(), hn::UpperHalf(hn::Half<F>(), v));
}
constexpr bool kHasUpper = true;
#endif

void widen(LaneType type, const std::byte* from, double* to, usize count) {
  const F f;
  const D d;
  for (usize i = 0; i < count; i += hn::Lanes(f)) {
    const auto floats = [&] {
      if (type == LaneType::f16) return isa::HWY_NAMESPACE::widen_lanes(f, from + 2 * i);
      if (type == LaneType::f32) return hn::LoadU(f, reinterpret_cast<const float*>(from) + i);
      const hn::Rebind<u16, F> words;
      const hn::RebindToUnsigned<F> bits;
      return hn::BitCast(
          f, hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(words, reinterpret_cast<const u16*>(from) + i))));
    }();
    hn::StoreU(lower(floats), d, to + i);
    if (kHasUpper) hn::StoreU(upper(floats), d, to + i + hn::Lanes(d));
  }
}

void round_to(FloatRange range, int scale, double* values, usize count) {
  const D d;
  const auto up = hn::Set(d, std::ldexp(1.0, scale)), down = hn::Set(d, std::ldexp(1.0, -scale));
  const auto limit = hn::Set(d, std::ldexp(2.0 - std::ldexp(1.0, -range.fraction), range.most));
  const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const auto magic = hn::Set(d, 0x1.8p52);
  const auto rounded = [&](const auto given) {
    const auto x = hn::Mul(given, up);
    const auto inverse = inverse_ulp(range, x);
    // Below 2^(fraction + 1) ulp: the sum with the constant rounds to an integer.
    const auto integer = hn::Sub(hn::Add(hn::Mul(x, inverse), magic), magic);
    auto r = hn::Div(integer, inverse);
    r = hn::CopySign(hn::IfThenElse(hn::Gt(hn::Abs(r), limit), infinity, hn::Abs(r)), x);
    r = hn::IfThenElse(hn::Lt(hn::Abs(x), infinity), r, x);
    return hn::Mul(r, down);
  };
  usize i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(rounded(hn::LoadU(d, values + i)), d, values + i);
  if (i == count) return;
  // Of the last ones, nothing beyond is touched.
  std::array<double, HWY_MAX_BYTES / sizeof(double)> last{};
  std::copy_n(values + i, count - i, last.begin());
  hn::StoreU(rounded(hn::LoadU(d, last.data())), d, last.data());
  std::copy_n(last.begin(), count - i, values + i);
}

// Whole vectors of finite numbers. False, and nothing is added, if an error is not finite.
bool tally_finite(FloatRange range, const double* value, const double* exact, const double* reference, usize count,
                  Tally& to) {
  ErrorKinds<D> kinds;
  Errors<D> errors;
  errors.add(range, value, exact, reference, count, kinds);
  if (!kinds.finite()) return false;
  kinds.add_to(to);
  return true;
}

void tally_any(FloatRange range, const double* value, const double* exact, const double* reference, usize count,
               Tally& to) {
  const D d;
  const auto one = hn::Set(d, 1), infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  ErrorKinds<D> kinds;
  u64 wrong = 0;
  for (usize i = 0; i < count; i += hn::Lanes(d)) {
    const auto in = hn::FirstN(d, std::min(hn::Lanes(d), count - i));
    const auto load = [&](const double* from) { return hn::IfThenElse(in, hn::LoadU(d, from + i), one); };
    const auto v = load(value), e = load(exact), r = load(reference);
    const auto inverse = inverse_ulp(range, r);
    const auto magnitude = hn::Abs(r);
    const auto relative = hn::And(hn::Ge(magnitude, hn::Set(d, kLeastRelative)), hn::Lt(magnitude, infinity));
    const auto share = hn::IfThenElseZero(relative, hn::Div(one, magnitude));
    const auto add = [&](ErrorVectors<D>& kind, auto difference) {
      const auto error = hn::Abs(difference);
      kind.add(hn::IfThenElseZero(hn::Lt(error, infinity), error), inverse, share);
    };
    const auto total = hn::Sub(v, r);
    const auto same = hn::Or(hn::Eq(v, r), hn::And(hn::IsNaN(v), hn::IsNaN(r)));
    wrong += hn::Lanes(d) - hn::CountTrue(d, hn::Or(same, hn::Lt(hn::Abs(total), infinity)));
    add(kinds.total, total);
    add(kinds.made, hn::Sub(v, e));
    add(kinds.come_in, hn::Sub(e, r));
  }
  to.wrong += wrong;
  kinds.add_to(to);
}

void tally(FloatRange range, const double* value, const double* exact, const double* reference, usize count,
           Tally& to) {
  if (count % Errors<D>::kUnrolled == 0 && tally_finite(range, value, exact, reference, count, to)) return;
  tally_any(range, value, exact, reference, count, to);
}

u64 cancellations(FloatRange range, const Sums& sums, usize count) {
  const D d;
  u64 out = 0;
  for (usize i = 0; i < count; i += hn::Lanes(d)) {
    const auto load = [&](const double* from) { return hn::LoadU(d, from + i); };
    const auto sum = load(sums.exact);
    const auto lost = loses_bits(range, load(sums.x), load(sums.y), sum);
    if (hn::AllFalse(d, lost)) continue;
    const auto which = hn::And(lost, hn::FirstN(d, std::min(hn::Lanes(d), count - i)));
    out += hn::CountTrue(d, hn::And(which, has_incoming_error(range, sum, load(sums.reference))));
  }
  return out;
}

void add_products(const double* a, const double* b, usize k, usize rows, double* c) {
  const D d;
  for (usize row = 0; row < rows; ++row) {
    for (usize at = 0; at < 16; at += hn::Lanes(d)) {
      auto sum = hn::LoadU(d, c + row * 16 + at), other = hn::Zero(d);
      const double* of_row = a + row * k;
      usize i = 0;
      for (; i + 1 < k; i += 2) {
        sum = hn::MulAdd(hn::Set(d, of_row[i]), hn::LoadU(d, b + i * 16 + at), sum);
        other = hn::MulAdd(hn::Set(d, of_row[i + 1]), hn::LoadU(d, b + (i + 1) * 16 + at), other);
      }
      if (i < k) sum = hn::MulAdd(hn::Set(d, of_row[i]), hn::LoadU(d, b + i * 16 + at), sum);
      hn::StoreU(hn::Add(sum, other), d, c + row * 16 + at);
    }
  }
}

template <bool kExact, bool kZeros, usize kRows>
Absorbed accumulate_rows(const RowsTimesPanel& job, double* exact, float* sums) {
  const F f;
  const D d;
  const usize half = hn::Lanes(d);
  u64 same = 0, none = 0;
  for (usize at = 0; at < 16; at += hn::Lanes(f)) {
    decltype(hn::Zero(f)) sum[kRows];
    decltype(hn::Zero(d)) low[kRows], high[kRows];
    for (usize row = 0; row < kRows; ++row) {
      sum[row] = hn::LoadU(f, sums + row * 16 + at);
      low[row] = hn::LoadU(d, exact + row * 16 + at);
      high[row] = kHasUpper ? hn::LoadU(d, exact + row * 16 + at + half) : low[row];
    }
    for (usize k = 0; k < job.k; ++k) {
      const auto b = hn::LoadU(f, job.b + k * 16 + at);
      for (usize row = 0; row < kRows; ++row) {
        const auto a = hn::Set(f, job.a[row * job.k + k]);
        const auto product = hn::Mul(a, b);
        const auto next = hn::Add(sum[row], product);
        same += hn::CountTrue(f, hn::Eq(next, sum[row]));
        if (kZeros) none += hn::CountTrue(f, hn::Eq(product, hn::Zero(f)));
        sum[row] = next;
        if constexpr (kExact) {
          low[row] = hn::Add(low[row], lower(product));
          if constexpr (kHasUpper) high[row] = hn::Add(high[row], upper(product));
        } else {
          low[row] = hn::MulAdd(lower(a), lower(b), low[row]);
          if constexpr (kHasUpper) high[row] = hn::MulAdd(upper(a), upper(b), high[row]);
        }
      }
    }
    for (usize row = 0; row < kRows; ++row) {
      hn::StoreU(sum[row], f, sums + row * 16 + at);
      hn::StoreU(low[row], d, exact + row * 16 + at);
      if (kHasUpper) hn::StoreU(high[row], d, exact + row * 16 + at + half);
    }
  }
  // A product that is zero changes nothing either.
  return {.absorbed = same - std::min(same, none), .addends = job.k * kRows * 16 - none};
}

Absorbed accumulate(const RowsTimesPanel& job, double* exact, float* sums) {
  const auto run = [&]<usize kRows>(std::integral_constant<usize, kRows>, const RowsTimesPanel& some, double* e,
                                    float* s) {
    if (some.exact_products)
      return some.zeros ? accumulate_rows<true, true, kRows>(some, e, s)
                        : accumulate_rows<true, false, kRows>(some, e, s);
    return accumulate_rows<false, true, kRows>(some, e, s);
  };
  if (job.rows == RowsTimesPanel::kRows)
    return run(std::integral_constant<usize, RowsTimesPanel::kRows>(), job, exact, sums);
  Absorbed out;
  for (usize row = 0; row < job.rows; ++row) {
    RowsTimesPanel one = job;
    one.a += row * job.k;
    const Absorbed now = run(std::integral_constant<usize, 1>(), one, exact + row * 16, sums + row * 16);
    out.absorbed += now.absorbed;
    out.addends += now.addends;
  }
  return out;
}

template <class F>
HWY_INLINE void each(const double* a, const double* b, const double* c, double* to, usize count, F f) {
  const D d;
  for (usize i = 0; i < count; i += hn::Lanes(d))
    hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i)), d, to + i);
}

void apply(Math op, const double* a, const double* b, const double* c, double* to, usize count) {
  const D d;
  if (b == nullptr) b = a;
  if (c == nullptr) c = a;
  const auto run = [&](auto f) { each(a, b, c, to, count, f); };
  switch (op) {
    case Math::add: return run([](auto x, auto y, auto) { return hn::Add(x, y); });
    case Math::sub: return run([](auto x, auto y, auto) { return hn::Sub(x, y); });
    case Math::mul: return run([](auto x, auto y, auto) { return hn::Mul(x, y); });
    case Math::div: return run([](auto x, auto y, auto) { return hn::Div(x, y); });
    case Math::mul_add: return run([](auto x, auto y, auto z) { return hn::Add(hn::Mul(x, y), z); });
    case Math::rec: return run([d](auto x, auto, auto) { return hn::Div(hn::Set(d, 1), x); });
    case Math::sqrt: return run([](auto x, auto, auto) { return hn::Sqrt(x); });
    case Math::rsqrt: return run([d](auto x, auto, auto) { return hn::Div(hn::Set(d, 1), hn::Sqrt(x)); });
    case Math::abs: return run([](auto x, auto, auto) { return hn::Abs(x); });
    case Math::exp:
      for (usize i = 0; i < count; ++i)
        to[i] = std::exp(a[i]);
      return;
    case Math::ln:
      for (usize i = 0; i < count; ++i)
        to[i] = std::log(a[i]);
      return;
  }
}

// Calls body(i) for vectors; it returns the lanes in which the references decide otherwise.
template <class Body>
HWY_INLINE u64 decide(usize count, Body body) {
  const D d;
  u64 otherwise = 0;
  for (usize i = 0; i < count; i += hn::Lanes(d)) {
    const auto which = body(i);
    otherwise += hn::CountTrue(d, hn::And(which, hn::FirstN(d, std::min(hn::Lanes(d), count - i))));
  }
  return otherwise;
}

u64 keep_positive(double* exact, double* reference, usize count) {
  const D d;
  const auto zero = hn::Zero(d);
  return decide(count, [&](usize i) {
    const auto e = hn::LoadU(d, exact + i), r = hn::LoadU(d, reference + i);
    const auto above = hn::Gt(e, zero), below = hn::Lt(e, zero), r_below = hn::Lt(r, zero);
    // Where the simulated sum is zero, the reference decides.
    const auto none = hn::Or(below, hn::And(hn::Eq(e, zero), r_below));
    hn::StoreU(hn::IfThenZeroElse(none, r), d, reference + i);
    hn::StoreU(hn::IfThenElse(hn::Or(above, hn::IsNaN(e)), e, zero), d, exact + i);
    return hn::Or(hn::And(above, r_below), hn::And(below, hn::Gt(r, zero)));
  });
}

u64 scale_negative(const Terms& v, double* exact, double* reference, usize count) {
  const D d;
  const auto zero = hn::Zero(d);
  return decide(count, [&](usize i) {
    const auto a = hn::LoadU(d, v.a + i), r = hn::LoadU(d, v.ra + i);
    const auto above = hn::Gt(a, zero), below = hn::Lt(a, zero), r_below = hn::Lt(r, zero);
    const auto scaled = hn::Or(below, hn::And(hn::Eq(a, zero), r_below));
    hn::StoreU(hn::IfThenElse(below, hn::Mul(a, hn::LoadU(d, v.b + i)), a), d, exact + i);
    hn::StoreU(hn::IfThenElse(scaled, hn::Mul(r, hn::LoadU(d, v.rb + i)), r), d, reference + i);
    return hn::Or(hn::And(below, hn::Gt(r, zero)), hn::And(above, r_below));
  });
}

u64 choose(bool largest, const Terms& v, double* exact, double* reference, usize count) {
  const D d;
  return decide(count, [&](usize i) {
    const auto load = [&](const double* from) { return hn::LoadU(d, from + i); };
    const Choice<hn::Vec<D>> chosen(largest, load(v.a), load(v.b), load(v.ra), load(v.rb));
    hn::StoreU(chosen.exact, d, exact + i);
    hn::StoreU(chosen.reference, d, reference + i);
    return chosen.otherwise;
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace vinci::isa::shadow_kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vinci::isa::shadow_kernels {

HWY_EXPORT(decode);
HWY_EXPORT(encode);
HWY_EXPORT(widen);
HWY_EXPORT(cancellations);
HWY_EXPORT(keep_positive);
HWY_EXPORT(scale_negative);
HWY_EXPORT(choose);
HWY_EXPORT(round_to);
HWY_EXPORT(tally);
HWY_EXPORT(apply);
HWY_EXPORT(add_products);
HWY_EXPORT(accumulate);

u64 decode(u32 element_bytes, const PlanesFrom& planes, const double* values, double* to, usize count) {
  return HWY_DYNAMIC_DISPATCH(decode)(element_bytes, planes, values, to, count);
}
void encode(u32 element_bytes, const double* from, const PlanesTo& planes, usize count) {
  HWY_DYNAMIC_DISPATCH(encode)(element_bytes, from, planes, count);
}
void lane_doubles(LaneType type, const LaneBuffer& lanes, u32 count, DoubleLanes& to) {
  if (is_float(type)) return HWY_DYNAMIC_DISPATCH(widen)(type, lanes.bytes.data(), to.v.data(), count);
  for (u32 i = 0; i < count; ++i)
    to.v[i] = lane_value(type, lanes, i);
}
u64 cancellations(FloatRange range, const Sums& sums, usize count) {
  return HWY_DYNAMIC_DISPATCH(cancellations)(range, sums, count);
}
u64 keep_positive(double* exact, double* reference, usize count) {
  return HWY_DYNAMIC_DISPATCH(keep_positive)(exact, reference, count);
}
u64 scale_negative(const Terms& v, double* exact, double* reference, usize count) {
  return HWY_DYNAMIC_DISPATCH(scale_negative)(v, exact, reference, count);
}
u64 choose(bool largest, const Terms& v, double* exact, double* reference, usize count) {
  return HWY_DYNAMIC_DISPATCH(choose)(largest, v, exact, reference, count);
}
void round_to(FloatRange range, int scale, double* values, usize count) {
  HWY_DYNAMIC_DISPATCH(round_to)(range, scale, values, count);
}
void tally(FloatRange range, const double* value, const double* exact, const double* reference, usize count,
           Tally& to) {
  HWY_DYNAMIC_DISPATCH(tally)(range, value, exact, reference, count, to);
}
void add_products(const double* a, const double* b, usize k, usize rows, double* c) {
  HWY_DYNAMIC_DISPATCH(add_products)(a, b, k, rows, c);
}
Absorbed accumulate(const RowsTimesPanel& job, double* exact, float* sums) {
  return HWY_DYNAMIC_DISPATCH(accumulate)(job, exact, sums);
}
void apply(Math op, const double* a, const double* b, const double* c, double* to, usize count) {
  HWY_DYNAMIC_DISPATCH(apply)(op, a, b, c, to, count);
}

}  // namespace vinci::isa::shadow_kernels
#endif
