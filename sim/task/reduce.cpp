// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/reduce.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "isa/numeric/bfloat16.h"
#include "isa/numeric/float16.h"

namespace vinci::task {
namespace {

// A sum or product in f32 of f16 or bf16 is rounded once more without harm: 24 >= 2 * 11 + 2.
struct F16 : isa::Binary16 {
  static float value(u16 b) { return isa::f16_value(b); }
  static u16 round(float v) { return isa::f32_to_f16(std::bit_cast<u32>(v)); }
};
struct Bf16 : isa::Bfloat16 {
  static float value(u16 b) { return isa::bf16_value(b); }
  static u16 round(float v) { return isa::f32_to_bf16(std::bit_cast<u32>(v)); }
};
struct F32 : isa::Binary32 {
  static float value(u32 b) { return std::bit_cast<float>(b); }
  static u32 round(float v) { return std::bit_cast<u32>(v); }
};

template <class F>
typename F::Bits combine_float(Hccl::Reduce op, typename F::Bits a, typename F::Bits b) {
  if (F::nan(a) || F::nan(b)) return F::kNan;
  if (op == Hccl::Reduce::max) return isa::max_of<F>(a, b);
  if (op == Hccl::Reduce::min) return isa::min_of<F>(a, b);
  const float r = op == Hccl::Reduce::sum ? F::value(a) + F::value(b) : F::value(a) * F::value(b);
  return r != r ? typename F::Bits{F::kNan} : F::round(r);
}

template <class T>
T combine_int(Hccl::Reduce op, T a, T b) {
  switch (op) {
    case Hccl::Reduce::sum: return static_cast<T>(u64{static_cast<std::make_unsigned_t<T>>(a)} + static_cast<u64>(b));
    case Hccl::Reduce::prod: return static_cast<T>(u64{static_cast<std::make_unsigned_t<T>>(a)} * static_cast<u64>(b));
    case Hccl::Reduce::max: return std::max(a, b);
    case Hccl::Reduce::min: return std::min(a, b);
  }
  return a;
}

template <class T, class Combine>
void each(std::span<std::byte> dst, std::span<const std::byte> src, Combine combine) {
  for (usize i = 0; i < dst.size(); i += sizeof(T)) {
    T d, s;
    std::memcpy(&d, &dst[i], sizeof d);
    std::memcpy(&s, &src[i], sizeof s);
    const T r = combine(d, s);
    std::memcpy(&dst[i], &r, sizeof r);
  }
}

}  // namespace

void reduce(Hccl::Reduce op, ElementType type, std::span<std::byte> dst, std::span<const std::byte> src) {
  const auto floats = [&]<class F>(F) {
    using Bits = typename F::Bits;
    each<Bits>(dst, src, [&](Bits a, Bits b) { return combine_float<F>(op, a, b); });
  };
  const auto integers = [&]<class T>(T) { each<T>(dst, src, [&](T a, T b) { return combine_int<T>(op, a, b); }); };
  switch (type) {
    case ElementType::int8: return integers(i8{});
    case ElementType::int16: return integers(i16{});
    case ElementType::int32: return integers(i32{});
    case ElementType::uint8: return integers(u8{});
    case ElementType::uint16: return integers(u16{});
    case ElementType::uint32: return integers(u32{});
    case ElementType::float16: return floats(F16{});
    case ElementType::float32: return floats(F32{});
    case ElementType::bfloat16: return floats(Bf16{});
  }
}

}  // namespace vinci::task
