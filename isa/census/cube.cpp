// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/cube.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "isa/census/lanes.h"
#include "isa/numeric/float16.h"
#include "isa/sem/fractal_kernel.h"

namespace vinci::isa {
namespace {

constexpr u64 kFractalEdge = 16;

template <class T>
T element(const std::byte* c, u64 i) {
  T v;
  std::memcpy(&v, c + i * sizeof(T), sizeof v);
  return v;
}

// Which of the 16 elements of a row of a fractal may have an event, from their bits alone: not finite or the largest
// value, subnormal or zero, or what the element was before. A zero that stays zero has none.
template <class Bits>
struct RowScreen {
  Bits largest, normal;
  bool zero;  // is of interest

  // 1 or 0, without branches: compilers make vector code of any().
  Bits operator()(Bits now, Bits before) const {
    constexpr Bits kMagnitude = static_cast<Bits>(std::numeric_limits<Bits>::max() >> 1);
    const Bits magnitude = now & kMagnitude;
    const Bits is_zero = magnitude == 0, is_large = magnitude >= largest, is_small = magnitude < normal,
               stays = now == before;
    return static_cast<Bits>(is_large | (is_zero & Bits{zero}) | ((is_zero ^ 1) & (is_small | stays)));
  }
  bool any(const std::byte* now, const std::byte* before) const {
    std::array<Bits, kFractalEdge> a, b;
    std::memcpy(a.data(), now, sizeof a);
    std::memcpy(b.data(), before, sizeof b);
    Bits found = 0;
    for (u64 i = 0; i < kFractalEdge; ++i)
      found |= (*this)(a[i], b[i]);
    return found != 0;
  }
};

}  // namespace

// What the screen cannot know: the sums of products alone, the sums before they are rounded to f16, and which results
// have an operand that is infinite or NaN.
struct MadCensus::Recomputed {
  std::vector<float> products, sums;
  std::vector<bool> special;  // by row and column

  Recomputed(const MadCensus& mad, const MatmulResult& result) : products(mad.elements_), sums(mad.elements_) {
    MatmulMode mode = mad.mode_;
    mode.saturate = false;
    MatmulTile tile = mad.tile_;
    tile.c = reinterpret_cast<std::byte*>(products.data());
    tile.init = true;
    matmul(tile, mad.type_, mode);
    tile.c = reinterpret_cast<std::byte*>(sums.data());
    tile.init = mad.tile_.init;
    if (!tile.init) {
      if (mad.f16_result_) {
        widen_f16(mad.old_.data(), sums.data(), mad.elements_);
      } else {
        std::memcpy(sums.data(), mad.old_.data(), mad.old_.size());
      }
    }
    if (result.non_finite) special = special_results(tile, mad.type_, mode);
    matmul(tile, mad.type_, mode);
  }
};

MadCensus::MadCensus(const MatmulTile& tile, MatmulType type, bool f16_result, const MatmulMode& mode)
    : tile_(tile),
      type_(type),
      f16_result_(f16_result),
      mode_(mode),
      elements_(align_up<u64>(tile.m, kFractalEdge) * align_up<u64>(tile.n, kFractalEdge)) {
  if (!tile.init) old_.assign(tile.c, tile.c + elements_ * (f16_result ? 2 : 4));
}

u64 MadCensus::index(u64 row, u64 column) const {
  return (column / kFractalEdge * align_up<u64>(tile_.m, kFractalEdge) + row) * kFractalEdge + column % kFractalEdge;
}

double MadCensus::old_value(u64 i) const {
  if (old_.empty()) return 0;
  if (!is_float(type_)) {
    return mode_.unsigned_sums ? static_cast<double>(element<u32>(old_.data(), i))
                               : static_cast<double>(element<i32>(old_.data(), i));
  }
  return f16_result_ ? f16_value(element<u16>(old_.data(), i)) : element<float>(old_.data(), i);
}

std::vector<MadCensus::Candidate> MadCensus::float_candidates() const {
  constexpr RowScreen<u16> kHalf{kF16Max, 0x400, true};
  constexpr RowScreen<u32> kSingle{kF32Inf, 0x800000, false};
  std::array<std::byte, 64> zeros{};
  std::vector<Candidate> out;
  const u64 bytes = f16_result_ ? 2 : 4;
  for (u32 first = 0; first < tile_.n; first += kFractalEdge) {
    for (u32 row = 0; row < tile_.m; ++row) {
      const u64 begin = index(row, first);
      const std::byte* now = tile_.c + begin * bytes;
      const std::byte* before = old_.empty() ? zeros.data() : old_.data() + begin * bytes;
      if (!(f16_result_ ? kHalf.any(now, before) : kSingle.any(now, before))) continue;
      for (u32 i = 0; i < std::min<u64>(kFractalEdge, tile_.n - first); ++i) {
        const bool found = f16_result_ ? kHalf(element<u16>(now, i), element<u16>(before, i)) != 0
                                       : kSingle(element<u32>(now, i), element<u32>(before, i)) != 0;
        if (found) out.push_back({row, first + i, begin + i});
      }
    }
  }
  return out;
}

void MadCensus::count_floats(const MatmulResult& result, CensusPoint& point) const {
  const std::vector<Candidate> candidates = float_candidates();
  if (candidates.empty()) return;
  const Recomputed again(*this, result);
  const LaneType type = f16_result_ ? LaneType::f16 : LaneType::f32;
  for (const Candidate& e : candidates) {
    const u64 number = u64{e.row} * tile_.n + e.column;
    const double old = old_value(e.index), products = again.products[e.index], sum = again.sums[e.index];
    const double r = f16_result_ ? f16_value(f32_to_f16(std::bit_cast<u32>(again.sums[e.index]))) : sum;
    FloatResults x{.rule = LaneRule::sum,
                   .saturates = f16_result_ && mode_.saturate,
                   .a = class_of(old, type),
                   .b = class_of(products, LaneType::f32),
                   .r = class_of(r, type),
                   .is_addend = r == old};
    // Infinities that finite elements made are no operands.
    x.b.inf = x.b.nan = !again.special.empty() && again.special[number] ? 1 : 0;
    if (x.b.inf != 0) x.a.nan = 1;
    NumericEvents events = classify(x).of(0);
    if (r == 0 && sum != 0) events |= bit(NumericEvent::flushed);
    if (events == 0) continue;
    point.add(events, number, std::array{NumericOperand{"c", old}, NumericOperand{"a * b", products}}, r);
  }
}

void MadCensus::count_integers(CensusPoint& point) const {
  std::vector<i32> products(elements_);
  MatmulTile alone = tile_;
  alone.c = reinterpret_cast<std::byte*>(products.data());
  alone.init = true;
  matmul(alone, type_, mode_);
  const bool is_signed = !mode_.unsigned_sums;
  const double least = is_signed ? -0x1p31 : 0, most = is_signed ? 0x1p31 - 1 : 0x1p32 - 1;
  const NumericEvents event = bit(mode_.saturate ? NumericEvent::saturated : NumericEvent::wrapped);
  for (u32 row = 0; row < tile_.m; ++row) {
    for (u32 column = 0; column < tile_.n; ++column) {
      const u64 i = index(row, column);
      const double product = is_signed ? products[i] : static_cast<double>(static_cast<u32>(products[i]));
      const double sum = old_value(i) + product;
      if (sum >= least && sum <= most) continue;
      const double r = is_signed ? element<i32>(tile_.c, i) : static_cast<double>(element<u32>(tile_.c, i));
      point.add(event, u64{row} * tile_.n + column,
                std::array{NumericOperand{"c", old_value(i)}, NumericOperand{"a * b", product}}, r);
    }
  }
}

void MadCensus::count(const MatmulResult& result, CensusPoint& point) const {
  point.add_results(u64{tile_.m} * tile_.n);
  if (is_float(type_)) return count_floats(result, point);
  if (result.overflow) count_integers(point);
}

}  // namespace vinci::isa
