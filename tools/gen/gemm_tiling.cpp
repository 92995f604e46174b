// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm_tiling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "isa/base/error.h"

namespace vinci::gen {
namespace {

constexpr u32 kUnit = 16;     // edge of a fractal
constexpr u32 kAccBytes = 4;  // FP32 or S32 in L0C
constexpr u32 kMaxTile = 512;
constexpr u32 kMaxL0K = 4080;  // mad's k has 12 bits
constexpr u32 kMaxL1K = 2048;
constexpr u64 kStage = 64 * 1024;  // of rows in UB, where there is room

// What the estimate takes from measured runs.
constexpr double kL2Share = 0.8;                     // of what L2 could serve, when all cores ask for few lines
constexpr double kShown = 0.1;                       // of the loads: the cube waits for one now and then
constexpr double kAnswer = 40;                       // cycles of a request besides network and L2
constexpr double kHandOver = 100, kUnitFlags = 200;  // cycles between two tiles, with two slots of L0C or one

u32 round_down(u64 value, u64 unit) { return static_cast<u32>(value / unit * unit); }

bool joint(const config::ChipConfig& chip) { return chip.vector_cores == 0; }

// Joint core: fills in what the epilogue takes, as much at a time as leaves room for the rest; bytes of UB, or none
// where it does not fit.
std::optional<u64> fit_epilogue(GemmTiling& t, const GemmProblem& p, u64 ub) {
  if (p.epilogue == nullptr) return 0;
  constexpr u64 kEnough = 8192;  // results that an instruction of each pass should work on
  const u64 bias = gemm_table_bytes(p), out = u64{t.tile_m} * t.tile_n * p.out_bytes();
  const u32 most = std::clamp(round_down(kEnough / t.tile_m, kUnit), kUnit, t.tile_n);
  for (const u64 stage : {kStage * 3 / 4, kStage / 2, kStage / 4}) {
    // Two slots are worth more than few instructions: V then works on a tile while the one before goes out.
    for (u32 slots = p.double_buffer ? 2 : 1; slots > 0; --slots) {
      for (u32 chunk = most; chunk > 0; chunk -= kUnit) {
        const u64 bytes = epilogue_bytes(*p.epilogue, t.tile_m, chunk);
        if (t.tile_n % chunk != 0 || bias + bytes + slots * out + t.stage_slots * stage > ub) continue;
        t.ub_slots = slots;
        t.chunk = chunk;
        return bytes;
      }
    }
  }
  return std::nullopt;
}

// Fills in what follows from tile_m and tile_n, but for k; false when they do not fit the buffers.
bool fits(GemmTiling& t, const GemmProblem& p, const config::ChipConfig& chip) {
  const config::BufferSizes& b = chip.core.buffers;
  const u64 acc = u64{t.tile_m} * t.tile_n * kAccBytes;
  if (acc > b.l0c) return false;
  t.l0c_slots = p.double_buffer && 2 * acc <= b.l0c ? 2 : 1;
  if (joint(chip)) {
    t.stage_slots = p.double_buffer ? 2 : 1;
    const std::optional<u64> epilogue = fit_epilogue(t, p, b.ub);
    if (!epilogue) return false;
    const u64 out = u64{t.tile_m} * t.tile_n * p.out_bytes(),
              ub = b.ub - std::min<u64>(b.ub, gemm_table_bytes(p) + *epilogue);
    if (p.epilogue == nullptr) t.ub_slots = p.double_buffer && 2 * out + t.stage_slots * kStage <= ub ? 2 : 1;
    if (out * t.ub_slots > ub) return false;
    t.stage_bytes = round_down(std::min((ub - out * t.ub_slots) / t.stage_slots, kStage), 512);
    if (t.stage_bytes < kStage / 4) return false;
  } else if (p.bias && (p.double_buffer ? 2 : 1) * u64{t.tile_n} * kAccBytes > b.bt) {
    return false;
  }
  t.l1_slots = t.l0_slots = p.double_buffer ? 2 : 1;
  t.m_tiles = static_cast<u32>(ceil_div<u64>(p.m, t.tile_m));
  t.n_tiles = static_cast<u32>(ceil_div<u64>(p.n, t.tile_n));
  t.matrices = static_cast<u32>(p.matrices);
  t.blocks = static_cast<u32>(std::min<u64>(t.tiles(), chip.ai_cores));
  return true;
}

// The steps of k through L1 that are worth a look: all of k, whole lines of A, what fits where that is less. The steps
// through L0 that a step through L1 consists of are as long as L0 allows and all the same.
std::vector<GemmTiling> steps_of_k(GemmTiling t, const GemmProblem& p, const config::ChipConfig& chip) {
  const config::BufferSizes& b = chip.core.buffers;
  const u32 in = p.in_bytes(), unit = p.k_unit();
  const u32 line = static_cast<u32>(chip.memory.l2.line) / in;
  const u64 k = align_up<u64>(p.k, unit);
  const u32 l0_fit = round_down(
      std::min({b.l0a / (u64{t.tile_m} * in * t.l0_slots), b.l0b / (u64{t.tile_n} * in * t.l0_slots), u64{kMaxL0K}}),
      unit);
  const u64 l1 = b.l1 - (joint(chip) ? 0 : std::min<u64>(b.l1, gemm_table_bytes(p)));
  const u64 l1_fit = std::min<u64>(l1 / ((u64{t.tile_m} + t.tile_n) * in * t.l1_slots), std::max(kMaxL1K, l0_fit));
  std::vector<GemmTiling> out;
  const auto add = [&](u64 l1_k) {
    if (l0_fit == 0 || l1_k == 0) return;
    u64 steps = ceil_div<u64>(l1_k, l0_fit);
    if (l1_k > unit) steps = align_up<u64>(steps, t.l0_slots);
    t.l0_k = static_cast<u32>(align_up<u64>(ceil_div(l1_k, steps), unit));
    if (t.l0_k * steps > l1_fit) steps = std::max<u64>(steps, t.l0_slots) - t.l0_slots;
    t.l1_k = static_cast<u32>(t.l0_k * steps);
    if (t.l1_k > 0 && t.l1_k <= l1_fit) out.push_back(t);
  };
  if (k <= l1_fit) add(k);
  for (u64 l1_k = line / 2; l1_k < std::min(k, l1_fit + 1); l1_k += line / 2)
    add(l1_k);
  if (l1_fit < std::min<u64>(k, line / 2)) add(round_down(l1_fit, unit));
  return out;
}

// What MTE2 takes for a part of a row-major matrix: `rows` of `bytes` each, `pitch` bytes apart.
struct Reads {
  double requests = 0;  // of lines
  double port = 0;      // cycles of the copies alone
};

// Rows that follow each other without a gap are one piece, others may begin anywhere in a unit.
double requests_of_row(u64 bytes, u64 pitch, u64 unit) {
  const auto n = static_cast<double>(bytes), u = static_cast<double>(unit);
  if (bytes == pitch || (pitch % unit == 0 && bytes % unit == 0)) return n / u;
  if (pitch % unit == 0 && unit % bytes == 0) return 1;
  return (n - 2) / u + 1;
}

Reads reads(u64 rows, u64 bytes, u64 pitch, const GemmTiling& t, const config::ChipConfig& chip) {
  const config::CostLine& line = chip.core.line(joint(chip) ? "move.gm_to_ub"_cost : "move.gm_to_l1_nd2nz"_cost);
  const auto n = static_cast<double>(rows);
  const u64 unit =
      pitch % 32 == 0 || chip.core.dma_unaligned == 0 ? u64{chip.memory.l2.line} : u64{chip.core.dma_unaligned};
  const double copies =
      joint(chip) ? std::ceil(n * static_cast<double>(bytes) / static_cast<double>(t.stage_bytes)) : 1;
  return {.requests = n * requests_of_row(bytes, pitch, unit),
          .port = line.startup * copies + line.body({.bytes = rows * bytes, .bursts = rows})};
}

// Elements along k of a step of the cube.
double cube_depth(const GemmProblem& p, const config::CoreRates& rates) {
  const double depth = static_cast<double>(rates.k) * 2 / p.in_bytes();
  return p.input == GemmInput::f32 && !p.hf32 ? depth / 2 : depth;
}

// Cycles of the kernel. A tile takes what the busiest part of the core takes, and what does not overlap.
double estimate(const GemmTiling& t, const GemmProblem& p, const config::ChipConfig& chip) {
  const auto start = [&](isa::CostClass c) { return chip.core.line(c).startup; };
  const auto rate = [&](isa::CostClass c) {
    const config::BytesPerCycle given = chip.core.line(c).bytes_per_cycle();
    return given > 0 ? given.value : 1e9;
  };
  const double m = t.tile_m, n = t.tile_n;
  const double in_bytes = p.in_bytes();
  const auto k = static_cast<double>(align_up<u64>(p.k, p.k_unit()));
  const double l1_steps = static_cast<double>(ceil_div<u64>(p.k, t.l1_k));
  const double l0_steps = static_cast<double>(ceil_div<u64>(p.k, t.l0_k));

  const config::CoreRates& rates = chip.core.rates;
  const double steps = std::ceil(m / rates.m) * std::ceil(n / rates.n) * std::ceil(k / cube_depth(p, rates));
  const double cube = steps * std::max(chip.core.line("cube"_cost).per_step(), 1e-3) + l0_steps * start("cube"_cost);
  const double l0 = m * k * in_bytes / rate("move.l1_to_l0a"_cost) + n * k * in_bytes / rate("move.l1_to_l0b"_cost) +
                    k / p.c0() * (start("move.l1_to_l0a"_cost) + start("move.l1_to_l0b"_cost));
  double out = m * n * static_cast<double>(p.out_bytes()) /
                   rate(joint(chip) ? "move.ub_to_gm"_cost : "move.l0c_to_gm_nz2nd"_cost) +
               (joint(chip) ? n / kUnit * start("move.ub_to_gm"_cost) : 0);

  // One step of k to L1: by the port of the core, by its requests under way, by all cores at L2.
  const u64 l1_k = std::min<u64>(t.l1_k, p.k);
  const u64 in = p.in_bytes();
  const Reads a = reads(std::min<u64>(t.tile_m, p.m), l1_k * in, p.k * in, t, chip);
  const u64 columns = std::min<u64>(t.tile_n, p.n);
  const Reads b =
      p.b_transposed ? reads(columns, l1_k * in, p.k * in, t, chip) : reads(l1_k, columns * in, p.n * in, t, chip);
  const config::L2Config& l2 = chip.memory.l2;
  const double hit =
      static_cast<double>(u64{chip.memory.noc.latency}) + static_cast<double>(u64{l2.hit_latency}) + kAnswer;
  const double miss = static_cast<double>(u64{chip.memory.hbm.latency});
  // Tiles of a wave read the same rows and columns at the same time, of which the first wave finds none in L2.
  const double waves = std::ceil(static_cast<double>(t.tiles()) / chip.ai_cores);
  const double cold = static_cast<double>(p.m + p.n) / (waves * 2 * std::sqrt(m * n * t.blocks));
  const double latency = hit + miss * std::min(cold, 1.0);
  const double requests = a.requests + b.requests;
  const double l2_bytes =
      std::max((m + n) * static_cast<double>(l1_k * in), requests * static_cast<double>(u64{l2.min_request}));
  const double step = std::max({a.port + b.port, requests * latency / chip.core.dma_requests,
                                l2_bytes * t.blocks / (kL2Share * l2.slices * l2.slice_read.value)});
  double load = step * l1_steps;
  // Lines that a row of C covers in part are fetched first.
  const u64 c_row = std::min<u64>(t.tile_n, p.n) * p.out_bytes(), c_pitch = p.n * p.out_bytes();
  if (!joint(chip) && c_row != c_pitch && (c_row % u64{l2.line} != 0 || c_pitch % u64{l2.line} != 0))
    out = std::max(out, m * (hit + miss) * t.blocks / (l2.slices * l2.fetches));

  // The joint core: through UB, where MTE3 brings what goes in and what comes out.
  double drain = 0, mte3 = 0, vector = 0;
  if (joint(chip)) {
    drain = m * n * kAccBytes / rate("move.l0c_to_ub"_cost);
    mte3 = (m + n) * k * in_bytes / rate("move.ub_to_l1"_cost) +
           l1_steps * (static_cast<double>(l1_k) + n) / p.c0() * start("move.ub_to_l1"_cost) + drain + out;
    if (p.epilogue != nullptr) {
      const double chunks = std::ceil(n / t.chunk), operands = static_cast<double>(p.epilogue->operands.size());
      vector = drain + m * n / 128 * (p.epilogue->cycles + operands) + chunks * p.epilogue->once;
      if (t.ub_slots == 1) vector += out;
      load += static_cast<double>(p.epilogue->whole_operands()) *
              (start("move.gm_to_ub"_cost) + m * n * in_bytes / rate("move.gm_to_ub"_cost));
    }
  }

  const double first = step + miss + hit + (l0 + cube) / l0_steps;
  if (!p.double_buffer) return waves * (load + l1_steps * latency + l0 + cube + vector + (joint(chip) ? mte3 : out));
  // With one slot of L0C the next tile waits until it is empty, or with unit flags nearly.
  const double exposed = t.l0c_slots == 2 ? kHandOver
                         : joint(chip)    ? kHandOver + drain
                                          : kUnitFlags + std::max(0.0, out - cube / l0_steps);
  return first + waves * (std::max({cube, load, l0, mte3, out, vector}) + kShown * load + exposed) + vector + out;
}

}  // namespace

bool fits_epilogue(const GemmProblem& p, const config::ChipConfig& chip) {
  constexpr u64 kEdge = 128;
  GemmTiling tile{.tile_m = static_cast<u32>(std::min(align_up<u64>(p.m, kUnit), kEdge)),
                  .tile_n = static_cast<u32>(std::min(align_up<u64>(p.n, kUnit), kEdge))};
  return fits(tile, p, chip);
}

std::vector<GemmTiling> choose_tilings(const GemmProblem& p, const config::ChipConfig& chip, usize most) {
  struct Choice {
    double time = 0;
    GemmTiling tiling;
  };
  std::vector<Choice> choices;  // the best one of each tile
  const auto limit = [](u64 extent) { return static_cast<u32>(std::min<u64>(align_up<u64>(extent, kUnit), kMaxTile)); };
  for (u32 tm = kUnit; tm <= limit(p.m); tm += kUnit) {
    for (u32 tn = kUnit; tn <= limit(p.n); tn += kUnit) {
      GemmTiling tile{.tile_m = tm, .tile_n = tn};
      if (!fits(tile, p, chip)) continue;
      std::optional<Choice> best;
      for (const GemmTiling& t : steps_of_k(tile, p, chip)) {
        const double time = estimate(t, p, chip);
        if (!best || time < best->time) best = Choice{.time = time, .tiling = t};
      }
      if (best) choices.push_back(*best);
    }
  }
  if (choices.empty()) fail(Fault::Unsupported, "{}: the buffers are too small for a 16 x 16 tile", chip.name);
  std::ranges::stable_sort(choices, {}, &Choice::time);
  std::vector<GemmTiling> out;
  for (usize i = 0; i < std::min(most, choices.size()); ++i) {
    GemmTiling t = choices[i].tiling;
    // The tiles under way together are about a square of C.
    const double square = std::sqrt(static_cast<double>(t.blocks) * t.tile_n / t.tile_m);
    t.strip = std::min(std::bit_floor(static_cast<u32>(std::max(square, 1.0))), t.m_tiles);
    out.push_back(t);
  }
  return out;
}

GemmTiling choose_tiling(const GemmProblem& p, const config::ChipConfig& chip) { return choose_tilings(p, chip, 1)[0]; }

}  // namespace vinci::gen
