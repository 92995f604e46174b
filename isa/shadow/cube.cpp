// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/shadow/cube.h"

#include <algorithm>
#include <cstring>

#include "isa/numeric/bfloat16.h"
#include "isa/numeric/float16.h"
#include "isa/numeric/hf32.h"
#include "isa/sem/fractal_kernel.h"
#include "isa/shadow/kernels.h"

namespace vinci::isa {
namespace {

constexpr u64 kPanel = 16;       // columns of a panel of B and C
constexpr u64 kFractalRow = 32;  // bytes
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
  return std::bit_cast<float>(round_to_hf32(word, hf32));
}

std::vector<float> widened(MatmulType type, const std::byte* from, u64 count, Hf32 hf32) {
  std::vector<float> to(count);
  if (type == MatmulType::f16) {
    widen_f16(from, to.data(), count);
  } else {
    for (u64 i = 0; i < count; ++i)
      to[i] = element(type, from + i * element_bits(type) / 8, hf32);
  }
  return to;
}

}  // namespace

namespace {

// The products added to what `sums` hold, in f32 with a rounding each.
void add_in_order(const shadow_kernels::RowsTimesPanel& job, SumOrder order, float* sums) {
  std::vector<float> products(job.k);
  for (usize row = 0; row < job.rows; ++row) {
    for (usize column = 0; column < kPanel; ++column) {
      float& sum = sums[row * kPanel + column];
      if (order == SumOrder::pairwise) {
        for (usize k = 0; k < job.k; ++k)
          products[k] = job.a[row * job.k + k] * job.b[k * kPanel + column];
        sum += ordered_sum(std::span(products), order, [](float partial) { return partial; });
        continue;
      }
      for (usize k = job.k; k-- > 0;)
        sum += job.a[row * job.k + k] * job.b[k * kPanel + column];
    }
  }
}

}  // namespace

// A by rows, B by panels of 16 columns: [panel][k][16].
struct MadShadow::Operands {
  std::vector<float> a, b;
  bool zeros = true;  // products may be zero
};

MadShadow::MadShadow(const MatmulTile& tile, MatmulType type, bool f16_result, const MatmulMode& mode,
                     const MadPlaces& places)
    : tile_(tile), type_(type), f16_result_(f16_result), mode_(mode), places_(places) {
  const u64 panels = ceil_div<u64>(tile.n, kPanel), rows = align_up<u64>(tile.m, kPanel);
  old_.resize(panels * rows * kPanel);
  if (tile.init) return;
  if (f16_result) {
    widen_f16(tile.c, old_.data(), old_.size());
  } else {
    std::memcpy(old_.data(), tile.c, old_.size() * sizeof(float));
  }
}

void MadShadow::count(ShadowPoint* first) const {
  const u64 k0 = matmul_k0(type_), n1 = ceil_div<u64>(tile_.n, kPanel);
  const u64 a_rows = tile_.gemv ? 1 : align_up<u64>(tile_.m, kPanel);
  const std::vector<float> a =
      widened(type_, tile_.a, tile_.gemv ? u64{tile_.k} : a_rows * tile_.a_k1 * k0, mode_.hf32);
  const std::vector<float> b = widened(type_, tile_.b, ceil_div<u64>(tile_.k, k0) * n1 * kPanel * k0, mode_.hf32);
  Operands simulated;
  simulated.a.resize(u64{tile_.m} * tile_.k);
  simulated.b.resize(n1 * tile_.k * kPanel);
  for (u64 row = 0; row < tile_.m; ++row) {
    float* to = &simulated.a[row * tile_.k];
    for (u64 k = 0; k < tile_.k; k += k0) {
      const float* from = tile_.gemv ? &a[k] : &a[((row / 16 * tile_.a_k1 + k / k0) * 16 + row % 16) * k0];
      std::copy_n(from, std::min<u64>(k0, tile_.k - k), to + k);
    }
  }
  for (u64 k = 0; k < tile_.k; ++k) {
    for (u64 p = 0; p < n1; ++p) {
      const u64 fractal = k / k0 * n1 + p, columns = std::min<u64>(kPanel, tile_.n - p * kPanel);
      const bool turned = tile_.b_turned != nullptr && tile_.b_turned[fractal] != 0;
      const float* from = &b[fractal * kPanel * k0] + (turned ? k % k0 * kPanel : k % k0);
      const u64 step = turned ? 1 : k0;
      float* to = &simulated.b[(p * tile_.k + k) * kPanel];
      for (u64 i = 0; i < columns; ++i)
        to[i] = from[i * step];
    }
  }
  const auto has_zero = [](const std::vector<float>& v) { return std::ranges::find(v, 0.0f) != v.end(); };
  simulated.zeros = type_ != MatmulType::f16 || has_zero(simulated.a) || has_zero(simulated.b);
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
        const u64 place =
            tile_.gemv ? at * size : (row / 16 * tile_.a_k1 + at / k0) * kFractal + row % 16 * kFractalRow;
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
        ended +=
            l0b.load(input, places_.b + (at / k0 * panels + column / kPanel) * kFractal + column % 16 * kFractalRow,
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
  constexpr u64 kRows = kernels::RowsTimesPanel::kRows;
  using Block = std::array<double, kRows * kPanel>;
  Block old, value, exact, old_reference, reference;
  std::array<float, kRows * kPanel> sums{};
  kernels::Absorbed absorbed;
  for (u64 p = 0; p < panels; ++p) {
    const u64 columns = std::min(kPanel, n - p * kPanel);
    const u64 at_once = columns == kPanel ? kRows : 1;
    std::array<double, kPanel> bias{}, bias_reference{};
    if (places_.from_bias) {
      std::copy_n(&old_[p * rows * kPanel], kPanel, bias.begin());
      point.space(BufId::BT).load(LaneType::f32, places_.bias + p * kPanel * 4, std::span(bias).first(columns),
                                  bias_reference);
    }
    for (u64 row = 0; row < m; row += at_once) {
      const u64 count = std::min(at_once, m - row), element_count = (count - 1) * kPanel + columns;
      const u64 first = (p * rows + row) * kPanel, at = places_.c + first * out_size;
      const auto some = [element_count](auto& of) { return std::span(of).first(element_count); };
      std::memcpy(sums.data(), &old_[first], count * kPanel * sizeof(float));
      for (u64 i = 0; i < sums.size(); ++i)
        old[i] = sums[i];
      exact = old_reference = old;
      if (places_.from_bias) {
        for (u64 i = 0; i < count * kPanel; ++i)
          old_reference[i] = bias_reference[i % kPanel];
      } else if (!tile_.init) {
        point.add_restarted(l0c.load(output, at, some(old), some(old_reference)));
      }
      const kernels::RowsTimesPanel job{.a = &simulated.a[row * k],
                                        .b = &simulated.b[p * k * kPanel],
                                        .k = k,
                                        .rows = count,
                                        .exact_products = type_ != MatmulType::f32,
                                        .zeros = simulated.zeros};
      const kernels::Absorbed now = kernels::accumulate(job, exact.data(), sums.data());
      absorbed.absorbed += now.absorbed;
      absorbed.addends += now.addends;
      if (in_f32) {
        std::ranges::copy(old_reference, sums.begin());
        kernels::RowsTimesPanel other = job;
        if (referenced) other.a = &narrow_a[row * k], other.b = &narrow_b[p * k * kPanel];
        if (point.order() == SumOrder::own || point.order() == SumOrder::sequential) {
          Block unused = old_reference;
          kernels::accumulate(other, unused.data(), sums.data());
        } else {
          add_in_order(other, point.order(), sums.data());
        }
        std::ranges::copy(sums, reference.begin());
      } else if (referenced) {
        reference = old_reference;
        kernels::add_products(&a[row * k], &b[p * k * kPanel], k, count, reference.data());
      } else {
        for (u64 i = 0; i < reference.size(); ++i)
          reference[i] = exact[i] + (old_reference[i] - old[i]);
      }
      if (f16_result_) {
        widen_f16(tile_.c + first * 2, sums.data(), element_count);
      } else {
        std::memcpy(sums.data(), tile_.c + first * 4, element_count * 4);
      }
      for (u64 i = 0; i < sums.size(); ++i)
        value[i] = sums[i];
      point.count(output, some(value), some(exact), some(reference), row * n + p * kPanel);
      l0c.store(output, at, some(reference));
    }
  }
  if (mode_.accumulation != Accumulation::sequential || point.rounds()) absorbed = {};  // its order is another
  point.add_absorbed(absorbed.absorbed, absorbed.addends);
}

}  // namespace vinci::isa
