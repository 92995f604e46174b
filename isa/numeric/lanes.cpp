// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/numeric/lanes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "isa/numeric/exp.h"

namespace vinci::isa {
namespace {

template <class T>
T lane(const LaneBuffer& buffer, usize i) {
  T value;
  std::memcpy(&value, buffer.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void set_lane(LaneBuffer& buffer, usize i, T value) {
  std::memcpy(buffer.bytes.data() + i * sizeof(T), &value, sizeof(T));
}

// What a lane type is to a kernel: its bits, and the tests and rules that depend on the format.
struct F16 {
  using Bits = u16;
  static bool finite(Bits x) { return f16_finite(x); }
  static bool zero(Bits x) { return f16_zero(x); }
  static Bits finish(Bits x, OverflowMode m) { return saturate_f16(x, m); }
};
struct F32 {
  using Bits = u32;
  static bool finite(Bits x) { return f32_finite(x); }
  static bool zero(Bits x) { return f32_zero(x); }
  static Bits finish(Bits x, OverflowMode) { return x; }
};

template <class F>
u32 on_f32(u32 a, u32 b, F f) {
  return std::bit_cast<u32>(canonical_f32(f(std::bit_cast<float>(a), std::bit_cast<float>(b))));
}

template <BinaryOp Op>
u16 apply(F16, u16 a, u16 b) {
  switch (Op) {
    case BinaryOp::add: return f16_add(a, b);
    case BinaryOp::sub: return f16_sub(a, b);
    case BinaryOp::mul: return f16_mul(a, b);
    case BinaryOp::div: return f16_div(a, b);
    case BinaryOp::max: return f16_max(a, b);
    case BinaryOp::min: return f16_min(a, b);
    default: return 0;
  }
  return 0;
}
template <BinaryOp Op>
u32 apply(F32, u32 a, u32 b) {
  switch (Op) {
    case BinaryOp::add: return on_f32(a, b, [](float x, float y) { return x + y; });
    case BinaryOp::sub: return on_f32(a, b, [](float x, float y) { return x - y; });
    case BinaryOp::mul: return on_f32(a, b, [](float x, float y) { return x * y; });
    case BinaryOp::div: return on_f32(a, b, [](float x, float y) { return x / y; });
    case BinaryOp::max: return f32_max(a, b);
    case BinaryOp::min: return f32_min(a, b);
    default: return 0;
  }
  return 0;
}

template <class Format, BinaryOp Op>
u64 binary_float(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  using Bits = typename Format::Bits;
  constexpr bool kCanVanish = Op == BinaryOp::mul || Op == BinaryOp::div;
  u64 raised = 0;
  for (usize i = 0; i < kRepeatBytes / sizeof(Bits); ++i) {
    const Bits x = lane<Bits>(a, i);
    const Bits y = lane<Bits>(b, i);
    const Bits r = apply<Op>(Format{}, x, y);
    if (!Format::finite(x) || !Format::finite(y)) {
      raised |= status::kVectorNanInf;
    } else if (!Format::finite(r)) {
      raised |= status::kFloatOverflow;
    } else if (kCanVanish && Format::zero(r) && !Format::zero(x) && (Op == BinaryOp::div || !Format::zero(y))) {
      raised |= status::kFloatUnderflow;
    }
    set_lane(out, i, Format::finish(r, mode.overflow));
  }
  return raised;
}

// s16 and s32 in 64 bits, where nothing overflows.
template <class T, BinaryOp Op>
u64 binary_int(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  using Limits = std::numeric_limits<T>;
  u64 raised = 0;
  for (usize i = 0; i < kRepeatBytes / sizeof(T); ++i) {
    const i64 x = lane<T>(a, i);
    const i64 y = lane<T>(b, i);
    i64 exact = 0;
    switch (Op) {
      case BinaryOp::add: exact = x + y; break;
      case BinaryOp::sub: exact = x - y; break;
      case BinaryOp::mul: exact = x * y; break;
      case BinaryOp::div: break;
      case BinaryOp::max: exact = std::max(x, y); break;
      case BinaryOp::min: exact = std::min(x, y); break;
      default: break;
    }
    if (exact < Limits::min() || exact > Limits::max()) {
      raised |= status::kFloatOverflow;
      if (mode.saturate_int) exact = std::clamp<i64>(exact, Limits::min(), Limits::max());
    }
    set_lane(out, i, static_cast<T>(exact));
  }
  return raised;
}

// All 65536 exponentials; filled once, then only read.
const std::array<u16, 65536>& f16_exp_table() {
  static const auto table = [] {
    auto t = std::make_unique<std::array<u16, 65536>>();
    for (usize i = 0; i < t->size(); ++i)
      (*t)[i] = f16_exp(static_cast<u16>(i));
    return t;
  }();
  return *table;
}

template <UnaryOp Op>
u16 apply(F16, u16 x, const u16* exponentials) {
  switch (Op) {
    case UnaryOp::relu: return f16_relu(x);
    case UnaryOp::abs: return f16_abs(x);
    case UnaryOp::exp: return exponentials[x];
    default: return 0;
  }
  return 0;
}
template <UnaryOp Op>
u32 apply(F32, u32 x, const u16*) {
  switch (Op) {
    case UnaryOp::relu: return f32_relu(x);
    case UnaryOp::abs: return f32_abs(x);
    case UnaryOp::exp: return f32_exp(x);
    default: return 0;
  }
  return 0;
}

template <class Format, UnaryOp Op>
u64 unary_float(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  using Bits = typename Format::Bits;
  const u16* exponentials = nullptr;
  if constexpr (Op == UnaryOp::exp && std::is_same_v<Format, F16>) exponentials = f16_exp_table().data();
  u64 raised = 0;
  for (usize i = 0; i < kRepeatBytes / sizeof(Bits); ++i) {
    const Bits x = lane<Bits>(a, i);
    const Bits r = apply<Op>(Format{}, x, exponentials);
    if (!Format::finite(x)) {
      raised |= status::kVectorNanInf;
    } else if (!Format::finite(r)) {
      raised |= status::kFloatOverflow;
    } else if (Op == UnaryOp::exp && Format::zero(r)) {
      raised |= status::kFloatUnderflow;
    }
    set_lane(out, i, Format::finish(r, mode.overflow));
  }
  return raised;
}

u64 relu_s32(const LaneBuffer& a, LaneBuffer& out, LaneMode) {
  for (usize i = 0; i < kRepeatBytes / sizeof(i32); ++i)
    set_lane(out, i, std::max(lane<i32>(a, i), 0));
  return 0;
}

u64 widen(const LaneBuffer& a, LaneBuffer& out, LaneMode) {
  u64 raised = 0;
  for (usize i = 0; i < kRepeatBytes / sizeof(u32); ++i) {
    const u16 x = lane<u16>(a, i);
    if (!f16_finite(x)) raised |= status::kVectorNanInf;
    set_lane(out, i, f16_to_f32(x));
  }
  return raised;
}

template <RoundMode Round>
u64 narrow(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  u64 raised = 0;
  for (usize i = 0; i < kRepeatBytes / sizeof(u32); ++i) {
    const u32 x = lane<u32>(a, i);
    const RoundedF16 r = round_f32_to_f16(x, Round);
    if (!f32_finite(x)) raised |= status::kVectorNanInf;
    if (r.overflow) raised |= status::kFloatOverflow;
    if (r.underflow) raised |= status::kFloatUnderflow;
    set_lane(out, i, saturate_f16(r.bits, mode.overflow));
  }
  return raised;
}

template <BinaryOp Op>
BinaryKernel portable_binary(LaneType type) {
  switch (type) {
    case LaneType::f16: return binary_float<F16, Op>;
    case LaneType::f32: return binary_float<F32, Op>;
    case LaneType::s16: return Op == BinaryOp::div ? nullptr : binary_int<i16, Op>;
    case LaneType::s32: return Op == BinaryOp::div ? nullptr : binary_int<i32, Op>;
    default: return nullptr;
  }
}

template <UnaryOp Op>
UnaryKernel portable_unary(LaneType type) {
  switch (type) {
    case LaneType::f16: return unary_float<F16, Op>;
    case LaneType::f32: return unary_float<F32, Op>;
    case LaneType::s32: return Op == UnaryOp::relu ? relu_s32 : nullptr;
    default: return nullptr;
  }
}

}  // namespace

BinaryKernel binary_kernel(BinaryOp op, LaneType type, Path path) {
  if (path == Path::fastest) {
    if (const BinaryKernel simd = detail::simd_binary_kernel(op, type)) return simd;
  }
  switch (op) {
    case BinaryOp::add: return portable_binary<BinaryOp::add>(type);
    case BinaryOp::sub: return portable_binary<BinaryOp::sub>(type);
    case BinaryOp::mul: return portable_binary<BinaryOp::mul>(type);
    case BinaryOp::div: return portable_binary<BinaryOp::div>(type);
    case BinaryOp::max: return portable_binary<BinaryOp::max>(type);
    case BinaryOp::min: return portable_binary<BinaryOp::min>(type);
    default: return nullptr;
  }
}

UnaryKernel unary_kernel(UnaryOp op, LaneType type, Path path) {
  if (path == Path::fastest) {
    if (const UnaryKernel simd = detail::simd_unary_kernel(op, type)) return simd;
  }
  switch (op) {
    case UnaryOp::relu: return portable_unary<UnaryOp::relu>(type);
    case UnaryOp::abs: return portable_unary<UnaryOp::abs>(type);
    case UnaryOp::exp: return portable_unary<UnaryOp::exp>(type);
    default: return nullptr;
  }
}

UnaryKernel convert_kernel(LaneType from, LaneType to, RoundMode round, Path path) {
  if (path == Path::fastest) {
    if (const UnaryKernel simd = detail::simd_convert_kernel(from, to, round)) return simd;
  }
  if (from == LaneType::f16 && to == LaneType::f32) return widen;
  if (from != LaneType::f32 || to != LaneType::f16) return nullptr;
  switch (round) {
    case RoundMode::rint: return narrow<RoundMode::rint>;
    case RoundMode::floor: return narrow<RoundMode::floor>;
    case RoundMode::ceil: return narrow<RoundMode::ceil>;
    case RoundMode::round: return narrow<RoundMode::round>;
    case RoundMode::trunc: return narrow<RoundMode::trunc>;
    case RoundMode::odd: return narrow<RoundMode::odd>;
  }
  return nullptr;
}

}  // namespace vinci::isa
