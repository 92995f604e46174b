// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/shadow/cube.h"

#include <algorithm>
#include <cstring>

#include "isa/numeric/bfloat16.h"
#include "isa/numeric/float16.h"
#include "isa/numeric/hf32.h"
#include "isa/shadow/kernels.h"

namespace vinci::isa {
namespace {

constexpr u64 kPanel = 16;         // columns of a panel of B and C
constexpr u64 kFractalRow = 32;    // bytes
constexpr u64 kFractal = 16 * kFractalRow;

LaneType lane_of(MatmulType type) {
  return type == MatmulType::f16 ? LaneType::f16 : type == MatmulType::bf16 ? LaneType::bf16 : LaneType::f32;
}

float element(MatmulType type, const std::byte* at, Hf32 hf32) {
  u16 half = 0;
  u32 word = 0;
  switch (type) {
    case MatmulType::f16: std::memcpy(&half, at, sizeof half); return f16_value(half);
    case MatmulType::bf16: std::memcpy(&half, at, sizeof half); return bf16_value(half);
    default: break;
  }
  std::memcpy(&word, at, sizeof word);
  return std::bit_cast<float>(hf32 == Hf32::off ? word : round_to_hf32(word, hf32 == Hf32::ties_to_zero));
}

}  // namespace

// A by rows, B by panels of 16 columns: [panel][k][16].
struct MadShadow::Operands {
  std::vector<float> a, b;
};

MadShadow::MadShadow(const MatmulTile& tile, MatmulType type, bool f16_result, const MatmulMode& mode,
                     const MadPlaces& places)
    : tile_(tile), type_(type), f16_result_(f16_result), mode_(mode), places_(places) {
  const u64 panels = ceil_div<u64>(tile.n, kPanel), rows = align_up<u64>(tile.m, kPanel);
  old_.resize(u64{tile.m} * panels * kPanel);
  if (tile.init) return;
  for (u64 row = 0; row < tile.m; ++row) {
    for (u64 p = 0; p < panels; ++p) {
      for (u64 i = 0; i < kPanel && p * kPanel + i < tile.n; ++i) {
        const u64 at = (p * rows + row) * kPanel + i;
        double& old = old_[(row * panels + p) * kPanel + i];
        old = f16_result ? element(MatmulType::f16, tile.c + at * 2, Hf32::off)
                         : element(MatmulType::f32, tile.c + at * 4, Hf32::off);
      }
    }
  }
}

void MadShadow::count(ShadowPoint* first) const {
  const u64 bits = element_bits(type_), size = bits / 8, k0 = matmul_k0(type_), n1 = ceil_div<u64>(tile_.n, kPanel);
  Operands simulated;
  simulated.a.resize(u64{tile_.m} * tile_.k);
  simulated.b.resize(n1 * tile_.k * kPanel);
  for (u64 row = 0; row < tile_.m; ++row) {
    for (u64 k = 0; k < tile_.k; ++k) {
      const u64 at = tile_.gemv ? k * size
                                : (row / 16 * tile_.a_k1 + k / k0) * kFractal + row % 16 * kFractalRow + k % k0 * size;
      simulated.a[row * tile_.k + k] = element(type_, tile_.a + at, mode_.hf32);
    }
  }
  for (u64 k = 0; k < tile_.k; ++k) {
    for (u64 n = 0; n < tile_.n; ++n) {
      const u64 fractal = k / k0 * n1 + n / kPanel;
      const bool turned = tile_.b_turned != nullptr && tile_.b_turned[fractal] != 0;
      const u64 line = turned ? k % k0 : n % kPanel, place = turned ? n % kPanel : k % k0;
      simulated.b[(n / kPanel * tile_.k + k) * kPanel + n % kPanel] =
          element(type_, tile_.b + fractal * kFractal + line * kFractalRow + place * size, mode_.hf32);
    }
  }
  for (ShadowPoint* point = first; point != nullptr; point = point->next)
    count_one(*point, simulated);
}

void MadShadow::count_one(ShadowPoint& point, const Operands& simulated) const {
  namespace kernels = shadow_kernels;
  const u64 m = tile_.m, k = tile_.k, n = tile_.n, size = element_bits(type_) / 8, k0 = matmul_k0(type_);
  const u64 panels = ceil_div<u64>(n, kPanel), rows = align_up<u64>(m, kPanel);
  const LaneType input = lane_of(type_), output = f16_result_ ? LaneType::f16 : LaneType::f32;
  const u64 out_size = lane_bytes(output);
  RefSpace &l0a = point.space(BufId::L0A), &l0b = point.space(BufId::L0B), &l0c = point.space(BufId::L0C);

  // The references of A and B where there are some.
  std::vector<double> a, b;
  u64 ended = 0;
  const u64 a_row_fractals = tile_.gemv ? ceil_div<u64>(k * size, kFractal) : tile_.a_k1;
  if (l0a.type(places_.a, a_row_fractals * ceil_div<u64>(m, 16) * kFractal) != RefType::none) {
    a.resize(m * k);
    for (u64 row = 0; row < m; ++row) {
      for (u64 at = 0; at < k;) {
        const u64 count = tile_.gemv ? k : std::min(k0, k - at);
        std::vector<double> own(simulated.a.begin() + static_cast<std::ptrdiff_t>(row * k + at),
                                simulated.a.begin() + static_cast<std::ptrdiff_t>(row * k + at + count));
        const u64 place = tile_.gemv ? at * size : (row / 16 * tile_.a_k1 + at / k0) * kFractal + row % 16 * kFractalRow;
        ended += l0a.load(input, places_.a + place, own, std::span(a).subspan(row * k + at, count));
        at += count;
      }
    }
  }
  if (l0b.type(places_.b, ceil_div<u64>(k, k0) * panels * kFractal) != RefType::none) {
    b.resize(panels * k * kPanel);
    std::vector<double> own(k0), references(k0);
    // The planes are settled as nZ where they are read.
    for (u64 column = 0; column < n; ++column) {
      for (u64 at = 0; at < k; at += k0) {
        const u64 count = std::min(k0, k - at);
        const auto index = [&](u64 i) { return (column / kPanel * k + at + i) * kPanel + column % kPanel; };
        for (u64 i = 0; i < count; ++i)
          own[i] = simulated.b[index(i)];
        ended += l0b.load(input, places_.b + (at / k0 * panels + column / kPanel) * kFractal + column % 16 * kFractalRow,
                          std::span(own).first(count), std::span(references).first(count));
        for (u64 i = 0; i < count; ++i)
          b[index(i)] = references[i];
      }
    }
  }
  const bool referenced = !a.empty() || !b.empty();
  if (referenced && a.empty()) a.assign(simulated.a.begin(), simulated.a.end());
  if (referenced && b.empty()) b.assign(simulated.b.begin(), simulated.b.end());
  point.add_restarted(std::min(ended, m * n));

  const bool in_f32 = point.rounds() && !point.in_double();
  std::vector<float> narrow_a, narrow_b;
  if (in_f32 && referenced) {
    narrow_a.assign(a.begin(), a.end());
    narrow_b.assign(b.begin(), b.end());
  }
  std::array<double, kPanel> value{}, exact, reference;
  kernels::Absorbed absorbed;
  for (u64 p = 0; p < panels; ++p) {
    const u64 columns = std::min(kPanel, n - p * kPanel);
    for (u64 row = 0; row < m; ++row) {
      const double* old = &old_[(row * panels + p) * kPanel];
      const kernels::RowTimesPanel job{.a = &simulated.a[row * k],
                                       .b = &simulated.b[p * k * kPanel],
                                       .k = k,
                                       .exact_products = type_ != MatmulType::f32};
      const u64 at = places_.c + ((p * rows + row) * kPanel) * out_size;
      std::array<double, kPanel> old_reference;
      std::copy_n(old, kPanel, old_reference.begin());
      if (places_.from_bias) {
        point.space(BufId::BT).load(LaneType::f32, places_.bias + p * kPanel * 4, std::span(old, columns), old_reference);
      } else if (!tile_.init) {
        point.add_restarted(l0c.load(output, at, std::span(old, columns), old_reference));
      }
      std::copy_n(old, kPanel, exact.begin());
      kernels::add_products(job, exact.data());
      if (in_f32) {
        std::array<float, kPanel> sum;
        std::ranges::copy(old_reference, sum.begin());
        kernels::RowTimesPanel other = job;
        if (referenced) other.a = &narrow_a[row * k], other.b = &narrow_b[p * k * kPanel];
        kernels::accumulate(other, sum.data());
        std::ranges::copy(sum, reference.begin());
      } else if (referenced) {
        reference = old_reference;
        kernels::add_double_products(&a[row * k], &b[p * k * kPanel], k, reference.data());
      } else {
        for (u64 i = 0; i < kPanel; ++i)
          reference[i] = exact[i] + (old_reference[i] - old[i]);
      }
      if (mode_.accumulation == Accumulation::sequential && !point.rounds()) {
        std::array<float, kPanel> sum;
        std::copy_n(old, kPanel, sum.begin());
        const kernels::Absorbed now = kernels::accumulate(job, sum.data());
        absorbed.absorbed += now.absorbed;
        absorbed.addends += now.addends;
      }
      for (u64 i = 0; i < columns; ++i) {
        value[i] = f16_result_ ? element(MatmulType::f16, tile_.c + ((p * rows + row) * kPanel + i) * 2, Hf32::off)
                               : element(MatmulType::f32, tile_.c + ((p * rows + row) * kPanel + i) * 4, Hf32::off);
      }
      point.count(output, std::span(value).first(columns), std::span(exact).first(columns),
                  std::span(reference).first(columns), row * n + p * kPanel);
      l0c.store(output, at, std::span(reference).first(columns));
    }
  }
  point.add_absorbed(absorbed.absorbed, absorbed.addends);
}

}  // namespace vinci::isa
