// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/cube.h"

#include <cmath>
#include <cstring>

#include "isa/numeric/float16.h"

namespace vinci::isa {
namespace {

template <class T>
T element(const std::byte* c, u64 i) {
  T v;
  std::memcpy(&v, c + i * sizeof(T), sizeof v);
  return v;
}

}  // namespace

MadCensus::MadCensus(const MatmulTile& tile, MatmulType type, bool f16_result, const MatmulMode& mode)
    : tile_(tile), f16_result_(f16_result), mode_(mode) {
  const u64 elements = align_up<u64>(tile.m, 16) * align_up<u64>(tile.n, 16);
  old_.assign(elements, 0);
  if (!tile.init) {
    for (u64 i = 0; i < elements; ++i)
      old_[i] = f16_result ? f16_value(element<u16>(tile.c, i)) : element<float>(tile.c, i);
  }
  products_.assign(elements, 0);
  MatmulTile alone = tile;
  alone.c = reinterpret_cast<std::byte*>(products_.data());
  alone.init = true;
  MatmulMode unsaturated = mode;
  unsaturated.saturate = false;
  matmul(alone, type, unsaturated);
}

void MadCensus::count(const MatmulResult& result, CensusPoint& point) const {
  const u64 m1 = ceil_div<u64>(tile_.m, 16);
  const double smallest_normal = f16_result_ ? 0x1p-14 : 0x1p-126;
  for (u64 m = 0; m < tile_.m; ++m) {
    for (u64 n = 0; n < tile_.n; ++n) {
      const u64 i = ((n / 16 * m1 + m / 16) * 16 + m % 16) * 16 + n % 16;
      const double old = old_[i], products = products_[i];
      // The IEEE 754 result: of f16, what one rounding of the sum in f32 gives, without saturation.
      const double sum = f16_result_ ? static_cast<double>(old_[i] + products_[i]) : element<float>(tile_.c, i);
      const double r = f16_result_ ? f16_value(f32_to_f16(std::bit_cast<u32>(static_cast<float>(sum)))) : sum;
      NumericEvents events = 0;
      if (!std::isfinite(r)) {
        // With an infinity or a NaN in A, B or C, which element came from it is not known: nothing is blamed on it.
        if (!result.non_finite) events |= bit(std::isnan(r) ? NumericEvent::nan : NumericEvent::overflow);
        if (f16_result_ && mode_.saturate) events |= bit(NumericEvent::saturated);
      } else {
        if (r == 0 && sum != 0) events |= bit(NumericEvent::flushed);
        if (r != 0 && std::fabs(r) < smallest_normal) events |= bit(NumericEvent::subnormal);
        if (old != 0 && products != 0 && r == old) events |= bit(NumericEvent::absorbed);
      }
      if (events == 0) continue;
      const std::array<NumericOperand, 2> operands{NumericOperand{"c", old}, NumericOperand{"a * b", products}};
      point.add(events, m * tile_.n + n, operands, r);
    }
  }
  point.add_results(u64{tile_.m} * tile_.n);
}

}  // namespace vinci::isa
