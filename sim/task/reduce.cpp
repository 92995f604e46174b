// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/reduce.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "isa/census/lanes.h"
#include "isa/numeric/bfloat16.h"
#include "isa/numeric/float16.h"

namespace vinci::task {
namespace {

// A sum or product in f32 of f16 or bf16 is rounded once more without harm: 24 >= 2 * 11 + 2.
struct F16 : isa::Binary16 {
  static constexpr isa::LaneType type = isa::LaneType::f16;
  static float value(u16 b) { return isa::f16_value(b); }
  static u16 round(float v) { return isa::f32_to_f16(std::bit_cast<u32>(v)); }
};
struct Bf16 : isa::Bfloat16 {
  static constexpr isa::LaneType type = isa::LaneType::bf16;
  static float value(u16 b) { return isa::bf16_value(b); }
  static u16 round(float v) { return isa::f32_to_bf16(std::bit_cast<u32>(v)); }
};
struct F32 : isa::Binary32 {
  static constexpr isa::LaneType type = isa::LaneType::f32;
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

// The events of one result. SDMA saturates nothing: the overflow mode is of the cores.
template <class F>
isa::NumericEvents events_of_float(Hccl::Reduce op, typename F::Bits a, typename F::Bits b, typename F::Bits r) {
  const double x = F::value(a), y = F::value(b), result = F::value(r);
  switch (op) {
    case Hccl::Reduce::sum: return isa::sum_events(x, y, result, F::type, false);
    case Hccl::Reduce::prod: return isa::product_events(x, y, result, F::type, false);
    case Hccl::Reduce::max:
    case Hccl::Reduce::min: break;
  }
  return isa::moved_events(result, F::type, false);
}

template <class T>
isa::NumericEvents events_of_int(Hccl::Reduce op, T a, T b, T r) {
  if (op != Hccl::Reduce::sum && op != Hccl::Reduce::prod) return 0;
  const double x = static_cast<double>(a), y = static_cast<double>(b);  // exact, and so is a sum
  const double exact = op == Hccl::Reduce::sum ? x + y : x * y;         // a product that fits is, too
  return exact == static_cast<double>(r) ? isa::NumericEvents{0} : bit(isa::NumericEvent::wrapped);
}

template <class T, class Combine, class Events, class Value>
void each(std::span<std::byte> dst, std::span<const std::byte> src, isa::ReductionCensus* census, Combine combine,
          Events events, Value value) {
  for (usize i = 0; i < dst.size(); i += sizeof(T)) {
    T d, s;
    std::memcpy(&d, &dst[i], sizeof d);
    std::memcpy(&s, &src[i], sizeof s);
    const T r = combine(d, s);
    if (census != nullptr) {
      if (const isa::NumericEvents found = events(d, s, r); found != 0) {
        census->point.add(found, census->element + i / sizeof(T),
                          std::array{isa::NumericOperand{"dst", value(d)}, isa::NumericOperand{"src", value(s)}},
                          value(r));
      }
    }
    std::memcpy(&dst[i], &r, sizeof r);
  }
  if (census != nullptr) census->point.add_results(dst.size() / sizeof(T));
}

}  // namespace

void reduce(Hccl::Reduce op, ElementType type, std::span<std::byte> dst, std::span<const std::byte> src,
            isa::ReductionCensus* census) {
  const auto floats = [&]<class F>(F) {
    using Bits = typename F::Bits;
    each<Bits>(
        dst, src, census, [&](Bits a, Bits b) { return combine_float<F>(op, a, b); },
        [&](Bits a, Bits b, Bits r) { return events_of_float<F>(op, a, b, r); },
        [](Bits v) { return double{F::value(v)}; });
  };
  const auto integers = [&]<class T>(T) {
    each<T>(
        dst, src, census, [&](T a, T b) { return combine_int<T>(op, a, b); },
        [&](T a, T b, T r) { return events_of_int<T>(op, a, b, r); }, [](T v) { return static_cast<double>(v); });
  };
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
