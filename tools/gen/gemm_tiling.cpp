// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm_tiling.h"

#include <algorithm>
#include <cmath>

#include "isa/base/error.h"

namespace vinci::gen {
namespace {

constexpr u32 kUnit = 16;       // edge of a fractal
constexpr u32 kInputBytes = 2;  // FP16
constexpr u32 kAccBytes = 4;    // FP32 in L0C
constexpr u32 kMaxTile = 512;
constexpr u32 kMaxL1K = 512;  // beyond, a longer step through L1 gains nothing but a longer start

u32 round_down(u64 value, u64 unit) { return static_cast<u32>(value / unit * unit); }

// Fills in what follows from tile_m and tile_n; false when they do not fit the buffers.
bool complete(GemmTiling& t, const GemmProblem& p, const config::ChipConfig& chip) {
  const config::BufferSizes& b = chip.core.buffers;
  const bool joint = chip.vector_cores == 0;
  const u64 acc = u64{t.tile_m} * t.tile_n * kAccBytes;
  if (acc > b.l0c) return false;
  t.l0c_slots = p.double_buffer && 2 * acc <= b.l0c ? 2 : 1;
  if (joint) {
    const u64 out = u64{t.tile_m} * t.tile_n * (p.out_f32 ? 4 : 2);
    if (out > b.ub) return false;
    t.ub_slots = p.double_buffer && 2 * out <= b.ub ? 2 : 1;
  }
  t.l1_slots = t.l0_slots = p.double_buffer ? 2 : 1;
  const u64 k_padded = align_up<u64>(p.k, kUnit);
  const u64 l0_fit =
      std::min(b.l0a / (u64{t.tile_m} * kInputBytes * t.l0_slots), b.l0b / (u64{t.tile_n} * kInputBytes * t.l0_slots));
  t.l0_k = round_down(std::min({l0_fit, k_padded, u64{4080}}), kUnit);  // 4080: mad's k has 12 bits
  if (t.l0_k == 0) return false;
  const u64 l1_fit = b.l1 / ((u64{t.tile_m} + t.tile_n) * kInputBytes * t.l1_slots);
  t.l1_k = round_down(std::min({l1_fit, u64{std::max(kMaxL1K, t.l0_k)}, align_up<u64>(k_padded, t.l0_k)}), t.l0_k);
  if (t.l1_k == 0) return false;
  t.m_tiles = static_cast<u32>(ceil_div<u64>(p.m, t.tile_m));
  t.n_tiles = static_cast<u32>(ceil_div<u64>(p.n, t.tile_n));
  t.blocks = static_cast<u32>(std::min<u64>(t.tiles(), chip.ai_cores));
  return true;
}

double estimate(const GemmTiling& t, const GemmProblem& p, const config::ChipConfig& chip) {
  const config::MoveCosts& move = chip.core.move;
  const bool joint = chip.vector_cores == 0;
  const auto rate = [](const config::CostLine& line) {
    return line.bytes_per_cycle > 0 ? line.bytes_per_cycle.value : 1e9;
  };
  const double m = t.tile_m, n = t.tile_n;
  const double k = static_cast<double>(align_up<u64>(p.k, kUnit));
  const double cube = m * n * k / 4096 * std::max(chip.core.cube.per_step, 1e-3);
  const config::CostLine& in = joint ? move.gm_to_l1 : move.gm_to_l1_nd2nz;
  const double load = std::max((m + n) * k * kInputBytes / rate(in),
                               joint ? (m + n) * k / kUnit * in.per_burst : (m * k / t.l1_k + k) * in.per_burst) +
                      2 * in.startup * std::ceil(k / t.l1_k);
  const double l0 = m * k * kInputBytes / rate(move.l1_to_l0a) + n * k * kInputBytes / rate(move.l1_to_l0b);
  const double out = m * n * (p.out_f32 ? 4 : 2) / rate(joint ? move.ub_to_gm : move.l0c_to_gm_nz2nd);
  const double steady = std::max({cube, load, l0, t.l0c_slots == 2 ? out : 0});
  const double exposed = (t.l0c_slots == 2 ? 0 : out) + 300;  // hand-over of a tile
  const double waves = std::ceil(static_cast<double>(t.tiles()) / chip.ai_cores);
  return waves * (steady + exposed) + out;
}

}  // namespace

GemmTiling choose_tiling(const GemmProblem& p, const config::ChipConfig& chip) {
  GemmTiling best;
  double best_time = 0;
  const auto limit = [](u64 extent) { return static_cast<u32>(std::min<u64>(align_up<u64>(extent, kUnit), kMaxTile)); };
  for (u32 tm = kUnit; tm <= limit(p.m); tm += kUnit) {
    for (u32 tn = kUnit; tn <= limit(p.n); tn += kUnit) {
      GemmTiling t{.tile_m = tm, .tile_n = tn};
      if (!complete(t, p, chip)) continue;
      const double time = estimate(t, p, chip);
      if (best_time == 0 || time < best_time) {
        best_time = time;
        best = t;
      }
    }
  }
  if (best_time == 0) fail(Fault::Unsupported, "{}: the buffers are too small for a 16 x 16 tile", chip.name);
  return best;
}

}  // namespace vinci::gen
