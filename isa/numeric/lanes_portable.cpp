// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "isa/numeric/approx.h"
#include "isa/numeric/lane_access.h"
#include "isa/numeric/odd.h"

namespace vinci::isa {
namespace {

// What a float lane is to a kernel: its bits, its value, and the rules that depend on the format.
struct F16 : Binary16 {
  static double value(u16 x) { return f16_value(x); }
  static u16 round(double x) { return f16_bits(x); }
  static u16 finish(u16 x, OverflowMode m) { return saturate_f16(x, m); }
};
struct F32 : Binary32 {
  static double value(u32 x) { return std::bit_cast<float>(x); }
  static u32 round(double x) { return std::bit_cast<u32>(canonical_f32(static_cast<float>(x))); }
  static u32 finish(u32 x, OverflowMode) { return x; }
};

// STATUS of a lane that went from finite or other inputs to `r`; `vanished`: r is zero, but the exact result is not.
template <class F>
u64 status_of(bool finite_inputs, typename F::Bits r, bool vanished) {
  if (!finite_inputs) return status::kVectorNanInf;
  if (!F::finite(r)) return status::kFloatOverflow;
  return vanished ? status::kFloatUnderflow : 0;
}

template <class F>
u32 on_f32(u32 a, u32 b, F f) {
  return std::bit_cast<u32>(canonical_f32(f(std::bit_cast<float>(a), std::bit_cast<float>(b))));
}

// ---------------------------------------------------------------------------------------------------------------------
// Binary

template <BinaryOp Op>
u16 apply(F16, u16 a, u16 b) {
  switch (Op) {
    case BinaryOp::add:
    case BinaryOp::add_relu: return f16_add(a, b);
    case BinaryOp::sub:
    case BinaryOp::sub_relu: return f16_sub(a, b);
    case BinaryOp::mul:
    case BinaryOp::lrelu: return f16_mul(a, b);
    case BinaryOp::div: return f16_div(a, b);
    case BinaryOp::max: return f16_max(a, b);
    default: return f16_min(a, b);
  }
}
template <BinaryOp Op>
u32 apply(F32, u32 a, u32 b) {
  switch (Op) {
    case BinaryOp::add:
    case BinaryOp::add_relu: return on_f32(a, b, [](float x, float y) { return x + y; });
    case BinaryOp::sub:
    case BinaryOp::sub_relu: return on_f32(a, b, [](float x, float y) { return x - y; });
    case BinaryOp::mul:
    case BinaryOp::lrelu: return on_f32(a, b, [](float x, float y) { return x * y; });
    case BinaryOp::div: return on_f32(a, b, [](float x, float y) { return x / y; });
    case BinaryOp::max: return f32_max(a, b);
    default: return f32_min(a, b);
  }
}

template <class F, BinaryOp Op>
u64 binary_float(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  using Bits = typename F::Bits;
  constexpr bool kRelu = Op == BinaryOp::add_relu || Op == BinaryOp::sub_relu;
  u64 raised = 0;
  for (usize i = 0; i < kRepeatBytes / sizeof(Bits); ++i) {
    const Bits x = lane<Bits>(a, i);
    const Bits y = lane<Bits>(b, i);
    const bool positive = F::zero(x) || (!F::negative(x) && !F::nan(x));
    Bits r = Op == BinaryOp::lrelu && positive ? x : apply<Op>(F{}, x, y);
    bool vanished = false;
    if constexpr (Op == BinaryOp::mul || Op == BinaryOp::div || Op == BinaryOp::lrelu) {
      vanished = F::zero(r) && !F::zero(x) && (Op == BinaryOp::div || !F::zero(y));
    }
    raised |= status_of<F>(F::finite(x) && F::finite(y), r, vanished);
    if constexpr (kRelu) r = relu_of<F>(r);
    set_lane(out, i, F::finish(r, mode.overflow));
  }
  return raised;
}

// In 64 bits, where nothing overflows.
template <class T, BinaryOp Op>
u64 binary_int(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  using Limits = std::numeric_limits<T>;
  u64 raised = 0;
  for (usize i = 0; i < kRepeatBytes / sizeof(T); ++i) {
    const i64 x = lane<T>(a, i);
    const i64 y = lane<T>(b, i);
    i64 exact = 0;
    switch (Op) {
      case BinaryOp::add:
      case BinaryOp::add_relu: exact = x + y; break;
      case BinaryOp::sub:
      case BinaryOp::sub_relu: exact = x - y; break;
      case BinaryOp::mul: exact = x * y; break;
      case BinaryOp::max: exact = std::max(x, y); break;
      default: exact = std::min(x, y); break;
    }
    if (exact < Limits::min() || exact > Limits::max()) {
      raised |= status::kFloatOverflow;
      if (mode.saturate_int) exact = std::clamp<i64>(exact, Limits::min(), Limits::max());
    }
    T r = static_cast<T>(exact);
    if constexpr (Op == BinaryOp::add_relu || Op == BinaryOp::sub_relu) r = std::max(r, T{0});
    set_lane(out, i, r);
  }
  return raised;
}

template <BinaryOp Op>
u64 binary_bits(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode) {
  for (usize i = 0; i < kRepeatBytes / sizeof(u64); ++i) {
    const u64 x = lane<u64>(a, i);
    const u64 y = lane<u64>(b, i);
    set_lane(out, i, Op == BinaryOp::and_ ? x & y : x | y);
  }
  return 0;
}

// Left shifts drop bits; right shifts are arithmetic on signed types, and only there round, by the last bit cut off.
// Source: CANN documentation of vshr.
template <class T, BinaryOp Op>
u64 shift(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode) {
  using U = std::make_unsigned_t<T>;
  for (usize i = 0; i < kRepeatBytes / sizeof(T); ++i) {
    const i64 x = lane<T>(a, i);
    const u32 distance = std::min<u32>(lane<U>(b, i), 8 * sizeof(T));
    if constexpr (Op == BinaryOp::shl) {
      set_lane(out, i, static_cast<U>(static_cast<u64>(x) << distance));
    } else {
      const bool up =
          Op == BinaryOp::shr_round && std::is_signed_v<T> && distance > 0 && (x >> (distance - 1) & 1) != 0;
      set_lane(out, i, static_cast<U>((x >> distance) + up));
    }
  }
  return 0;
}

template <BinaryOp Op>
BinaryKernel select_binary(LaneType type) {
  constexpr bool kShift = Op == BinaryOp::shl || Op == BinaryOp::shr || Op == BinaryOp::shr_round;
  if constexpr (Op == BinaryOp::and_ || Op == BinaryOp::or_) {
    return type == LaneType::s16 || type == LaneType::u16 ? binary_bits<Op> : nullptr;
  } else if constexpr (kShift) {
    switch (type) {
      case LaneType::s16: return shift<i16, Op>;
      case LaneType::u16: return shift<u16, Op>;
      case LaneType::s32: return shift<i32, Op>;
      case LaneType::u32: return shift<u32, Op>;
      default: return nullptr;
    }
  } else {
    if (type == LaneType::f16) return binary_float<F16, Op>;
    if (type == LaneType::f32) return binary_float<F32, Op>;
    if constexpr (Op != BinaryOp::div && Op != BinaryOp::lrelu) {
      if (type == LaneType::s16) return binary_int<i16, Op>;
      if (type == LaneType::s32) return binary_int<i32, Op>;
    }
    return nullptr;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Unary

template <UnaryOp Op>
u16 apply(F16, u16 x, Precision precision) {
  switch (Op) {
    case UnaryOp::relu: return f16_relu(x);
    case UnaryOp::abs: return f16_abs(x);
    case UnaryOp::exp: return f16_exp(x);
    case UnaryOp::ln: return f16_ln(x);
    case UnaryOp::rec: return f16_rec(x, precision);
    case UnaryOp::sqrt: return f16_sqrt(x);
    default: return f16_rsqrt(x, precision);
  }
}
template <UnaryOp Op>
u32 apply(F32, u32 x, Precision precision) {
  switch (Op) {
    case UnaryOp::relu: return f32_relu(x);
    case UnaryOp::abs: return f32_abs(x);
    case UnaryOp::exp: return f32_exp(x);
    case UnaryOp::ln: return f32_ln(x);
    case UnaryOp::rec: return f32_rec(x, precision);
    case UnaryOp::sqrt: return f32_sqrt(x);
    default: return f32_rsqrt(x, precision);
  }
}

// All 65536 results of a function; filled at the first use, then only read, and never destroyed: programs in Ascend C
// are simulated in time by an exit handler.
template <UnaryOp Op, Precision P>
const u16* f16_table() {
  static const auto table = [] {
    auto t = std::make_unique<std::array<u16, 65536>>();
    for (usize i = 0; i < t->size(); ++i)
      (*t)[i] = apply<Op>(F16{}, static_cast<u16>(i), P);
    return t.release();
  }();
  return table->data();
}

template <class F, UnaryOp Op>
u64 unary_float(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  using Bits = typename F::Bits;
  constexpr bool kTable = std::is_same_v<F, F16> && Op != UnaryOp::relu && Op != UnaryOp::abs;
  [[maybe_unused]] const u16* table = nullptr;
  if constexpr (kTable) {
    table = mode.precision == Precision::high_performance ? f16_table<Op, Precision::high_performance>()
                                                          : f16_table<Op, Precision::high_precision>();
  }
  u64 raised = 0;
  for (usize i = 0; i < kRepeatBytes / sizeof(Bits); ++i) {
    const Bits x = lane<Bits>(a, i);
    Bits r;
    if constexpr (kTable) {
      r = table[x];
    } else {
      r = apply<Op>(F{}, x, mode.precision);
    }
    raised |= status_of<F>(F::finite(x), r, Op == UnaryOp::exp && F::zero(r));
    set_lane(out, i, F::finish(r, mode.overflow));
  }
  return raised;
}

u64 relu_s32(const LaneBuffer& a, LaneBuffer& out, LaneMode) {
  for (usize i = 0; i < kRepeatBytes / sizeof(i32); ++i)
    set_lane(out, i, std::max(lane<i32>(a, i), 0));
  return 0;
}

u64 not_bits(const LaneBuffer& a, LaneBuffer& out, LaneMode) {
  for (usize i = 0; i < kRepeatBytes / sizeof(u64); ++i)
    set_lane(out, i, ~lane<u64>(a, i));
  return 0;
}

template <UnaryOp Op>
UnaryKernel select_unary(LaneType type) {
  if (type == LaneType::f16) return unary_float<F16, Op>;
  if (type == LaneType::f32) return unary_float<F32, Op>;
  return Op == UnaryOp::relu && type == LaneType::s32 ? relu_s32 : nullptr;
}

// ---------------------------------------------------------------------------------------------------------------------
// Ternary: x * y + z with one rounding. The product of two f32 (or f16) is exact in binary64, the sum is rounded to
// odd.

template <class D, class S, TernaryOp Op>
u64 ternary(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  using Bits = typename D::Bits;
  using Source = typename S::Bits;
  u64 raised = 0;
  for (usize i = 0; i < kRepeatBytes / sizeof(Bits); ++i) {
    const Source p = lane<Source>(a, i);
    const Source q = lane<Source>(b, i);
    const Bits held = lane<Bits>(out, i);
    double exact = 0;
    if constexpr (Op == TernaryOp::mla) {
      exact = add_to_odd(S::value(p) * S::value(q), D::value(held));
    } else {
      exact = add_to_odd(D::value(held) * S::value(p), S::value(q));
    }
    Bits r = D::round(exact);
    raised |= status_of<D>(S::finite(p) && S::finite(q) && D::finite(held), r, D::zero(r) && exact != 0);
    if constexpr (Op == TernaryOp::madd_relu) r = relu_of<D>(r);
    set_lane(out, i, D::finish(r, mode.overflow));
  }
  return raised;
}

template <TernaryOp Op>
TernaryKernel select_ternary(LaneType dst, LaneType src) {
  if (dst == LaneType::f16 && src == LaneType::f16) return ternary<F16, F16, Op>;
  if (dst == LaneType::f32 && src == LaneType::f32) return ternary<F32, F32, Op>;
  if (Op == TernaryOp::mla && dst == LaneType::f32 && src == LaneType::f16) return ternary<F32, F16, TernaryOp::mla>;
  return nullptr;
}

// ---------------------------------------------------------------------------------------------------------------------
// Comparison

template <CompareOp Op, class T>
bool compare(T x, T y) {
  switch (Op) {
    case CompareOp::eq: return x == y;
    case CompareOp::ne: return x != y;
    case CompareOp::lt: return x < y;
    case CompareOp::le: return x <= y;
    case CompareOp::gt: return x > y;
    case CompareOp::ge: return x >= y;
  }
  return false;
}

template <LaneType Type, CompareOp Op>
u64 compare_lanes(const LaneBuffer& a, const LaneBuffer& b, LaneBits& out) {
  using T = LaneValue<Type>;
  out = {};
  bool finite = true;
  for (usize i = 0; i < kRepeatBytes / sizeof(T); ++i) {
    const T x = lane<T>(a, i);
    const T y = lane<T>(b, i);
    bool r = false;
    if constexpr (Type == LaneType::f16) {
      finite = finite && f16_finite(x) && f16_finite(y);
      r = !f16_nan(x) && !f16_nan(y) && compare<Op>(f16_value(x), f16_value(y));
    } else if constexpr (Type == LaneType::f32) {
      finite = finite && f32_finite(x) && f32_finite(y);
      r = !f32_nan(x) && !f32_nan(y) && compare<Op>(std::bit_cast<float>(x), std::bit_cast<float>(y));
    } else {
      r = compare<Op>(x, y);
    }
    out[i / 64] |= static_cast<u64>(r) << (i % 64);
  }
  return finite ? 0 : status::kVectorNanInf;
}

template <LaneType Type>
CompareKernel select_compare(CompareOp op) {
  switch (op) {
    case CompareOp::eq: return compare_lanes<Type, CompareOp::eq>;
    case CompareOp::ne: return compare_lanes<Type, CompareOp::ne>;
    case CompareOp::lt: return compare_lanes<Type, CompareOp::lt>;
    case CompareOp::le: return compare_lanes<Type, CompareOp::le>;
    case CompareOp::gt: return compare_lanes<Type, CompareOp::gt>;
    case CompareOp::ge: return compare_lanes<Type, CompareOp::ge>;
  }
  return nullptr;
}

}  // namespace

namespace detail {

BinaryKernel portable_binary_kernel(BinaryOp op, LaneType type) {
  switch (op) {
    case BinaryOp::add: return select_binary<BinaryOp::add>(type);
    case BinaryOp::sub: return select_binary<BinaryOp::sub>(type);
    case BinaryOp::mul: return select_binary<BinaryOp::mul>(type);
    case BinaryOp::div: return select_binary<BinaryOp::div>(type);
    case BinaryOp::max: return select_binary<BinaryOp::max>(type);
    case BinaryOp::min: return select_binary<BinaryOp::min>(type);
    case BinaryOp::and_: return select_binary<BinaryOp::and_>(type);
    case BinaryOp::or_: return select_binary<BinaryOp::or_>(type);
    case BinaryOp::add_relu: return select_binary<BinaryOp::add_relu>(type);
    case BinaryOp::sub_relu: return select_binary<BinaryOp::sub_relu>(type);
    case BinaryOp::lrelu: return select_binary<BinaryOp::lrelu>(type);
    case BinaryOp::shl: return select_binary<BinaryOp::shl>(type);
    case BinaryOp::shr: return select_binary<BinaryOp::shr>(type);
    case BinaryOp::shr_round: return select_binary<BinaryOp::shr_round>(type);
  }
  return nullptr;
}

UnaryKernel portable_unary_kernel(UnaryOp op, LaneType type) {
  switch (op) {
    case UnaryOp::relu: return select_unary<UnaryOp::relu>(type);
    case UnaryOp::abs: return select_unary<UnaryOp::abs>(type);
    case UnaryOp::exp: return select_unary<UnaryOp::exp>(type);
    case UnaryOp::ln: return select_unary<UnaryOp::ln>(type);
    case UnaryOp::rec: return select_unary<UnaryOp::rec>(type);
    case UnaryOp::sqrt: return select_unary<UnaryOp::sqrt>(type);
    case UnaryOp::rsqrt: return select_unary<UnaryOp::rsqrt>(type);
    case UnaryOp::not_: return type == LaneType::s16 || type == LaneType::u16 ? not_bits : nullptr;
  }
  return nullptr;
}

TernaryKernel portable_ternary_kernel(TernaryOp op, LaneType dst, LaneType src) {
  switch (op) {
    case TernaryOp::madd: return select_ternary<TernaryOp::madd>(dst, src);
    case TernaryOp::madd_relu: return select_ternary<TernaryOp::madd_relu>(dst, src);
    case TernaryOp::mla: return select_ternary<TernaryOp::mla>(dst, src);
  }
  return nullptr;
}

CompareKernel portable_compare_kernel(CompareOp op, LaneType type) {
  switch (type) {
    case LaneType::f16: return select_compare<LaneType::f16>(op);
    case LaneType::f32: return select_compare<LaneType::f32>(op);
    case LaneType::s16: return select_compare<LaneType::s16>(op);
    case LaneType::s32: return select_compare<LaneType::s32>(op);
    default: return nullptr;
  }
}

}  // namespace detail
}  // namespace vinci::isa
