// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/convolution_tiling.h"

#include <algorithm>
#include <cmath>

#include "isa/base/error.h"
#include "tools/graph/kernels/vector_ops.h"

namespace vinci::graph {
namespace {

constexpr u64 kMaxBursts = 4095;    // pieces of a copy
constexpr u64 kMaxMapEdge = 32767;  // of a map in L1
constexpr u64 kMaxDepth = 4095;     // k of a mad

bool fits(const Footprint& f, const config::BufferSizes& b) {
  return f.l1 <= b.l1 && f.l0a <= b.l0a && f.l0b <= b.l0b && f.l0c <= b.l0c && f.ub <= b.ub;
}

double rate(const config::CostLine& line) {
  const config::BytesPerCycle rate = line.bytes_per_cycle();
  return rate > 0 ? rate.value : 1e9;
}

// Cycles of the slowest core: tiles in turn, each as long as its slowest part.
double estimate(const ConvProblem& x, const ConvSizes& s, const config::ChipConfig& chip) {
  const auto n = [](u64 v) { return static_cast<double>(v); };
  const u64 m_tiles = s.m_tiles(x), n_tiles = x.n_tiles(s.n);
  const double waves = n(ceil_div(x.images * m_tiles * n_tiles, u64{chip.ai_cores}));
  const double m = n(std::min(s.m, align_up(x.positions, kC0))), columns = n(std::min(s.n, x.group_n1() * kC0));
  const double depth = n(x.depth());
  const u64 strips = s.strip ? static_cast<u64>(x.window.kernel[0]) : 1;
  const u64 l0_steps = s.strip ? x.c1 * strips * ceil_div(x.kernel_width() * x.c0, s.k) : ceil_div(x.depth(), s.k);
  const config::CoreRates& rates = chip.core.rates;
  const double steps = std::ceil(m / rates.m) * std::ceil(columns / rates.n) *
                       std::ceil(depth * n(x.element()) * (x.element() == 4 ? 2 : 1) / (2 * rates.k));
  const config::CostLine &mad = chip.core.line("cube"_cost), &to_l1 = chip.core.line("move.gm_to_l1"_cost);
  const double cube = steps * mad.per_step() + n(l0_steps) * mad.startup;
  const double l1_steps = n(ceil_div(x.c1, s.c1) * strips);
  // Weights that stay are loaded when the filters change, and products wait for them.
  const double weights = depth * columns * n(x.element()) / rate(to_l1);
  const double before = s.resident ? (n(n_tiles) / n(chip.ai_cores) + 1) * (weights + to_l1.startup) : 0;
  const double load = n(x.c1 * strips * s.map_rows(x) * s.map_columns(x)) * 32 / rate(to_l1) +
                      (s.resident ? 0 : weights) + (s.resident ? 1 : 2) * l1_steps * to_l1.startup;
  const double l0 = (m * depth / rate(chip.core.line("move.l1_to_l0a"_cost)) +
                     columns * depth / rate(chip.core.line("move.l1_to_l0b"_cost))) *
                    n(x.element());
  const double out =
      m * columns * n(x.out_bytes) / (is_joint(chip) ? rate(chip.core.line("move.ub_to_gm"_cost)) : rate(to_l1));
  return before + waves * (std::max({cube, load, l0, out}) + 0.1 * (load + out) + 200);
}

struct Choice {
  double time;
  Tiling tiling;
};

// Where the rows of a map go through L1: as many as a tile needs, or those under one row of the window at a time.
enum class Way : u8 { whole, strips, row };

void add_choices(const Group& group, const config::ChipConfig& chip, const ConvProblem& x, Way way,
                 std::vector<Choice>& choices) {
  const u64 extent = way == Way::row ? x.out_width : x.positions;
  const u64 points = way == Way::whole ? x.points : x.kernel_width();
  for (u64 m = kC0; m <= std::min<u64>(512, align_up(extent, kC0)); m += kC0) {
    for (u64 n1 = x.out_bytes == 1 ? 2 : 1; n1 <= std::min<u64>(16, x.group_n1()); n1 *= 2) {
      const u64 n = n1 * kC0;
      // The bias table holds two tiles; a vector instruction takes a whole tile.
      if (!is_joint(chip) && x.biased && 2 * n * 4 > chip.core.buffers.bt) continue;
      if (is_joint(chip) && m * n / 128 > kMaxRepeat) continue;
      const u64 e = 2 * x.element(), c0 = x.c0;
      const u64 k_fit =
          std::min({chip.core.buffers.l0a / (e * m), chip.core.buffers.l0b / (e * n), kMaxDepth}) / c0 * c0;
      const u64 k_limit = std::min(k_fit, kMaxRepeat / n1 * c0);
      if (k_limit == 0) continue;
      for (const bool resident : {false, true}) {
        if (resident && x.c1 * x.points > kMaxBursts) continue;
        for (u64 c1 = way == Way::whole ? std::min<u64>(x.c1, 16) : 1; c1 > 0; --c1) {
          const u64 chunk = c1 * points * c0;
          if (c1 * points > kMaxBursts) continue;
          const u64 steps = ceil_div(chunk, k_limit), k = align_up(ceil_div(chunk, steps), c0);
          Tiling t{{"m", static_cast<i64>(m)},
                   {"n", static_cast<i64>(n)},
                   {"c1", static_cast<i64>(c1)},
                   {"k", static_cast<i64>(k)}};
          if (resident) t["resident"] = 1;
          if (way != Way::whole) t["strip"] = 1;
          if (way == Way::row) t["row"] = 1;
          if (!fits(conv_footprint(group, chip, t), chip.core.buffers)) continue;
          choices.push_back({estimate(x, ConvSizes(t), chip), std::move(t)});
          break;
        }
      }
    }
  }
}

// Whether each row of the output meets the map with some row of its windows.
bool meets_map(const ConvProblem& x) {
  const Window& w = x.window;
  for (i64 out = 0; out < w.out[0]; ++out) {
    bool any = false;
    for (i64 k = 0; k < w.kernel[0] && !any; ++k) {
      const i64 row = out * w.stride[0] - w.pad_begin[0] + k * w.dilation[0];
      any = row >= 0 && row < static_cast<i64>(x.height);
    }
    if (!any) return false;
  }
  return true;
}

}  // namespace

ConvProblem::ConvProblem(const Group& group) {
  const Node& conv = *group.nodes()[0];
  const Shape &in = group.resolve(conv.input(0))->shape, &weights = group.resolve(conv.input(1))->shape;
  window = window_of(conv, {in[2], in[3]}, {weights[2], weights[3]});
  images = static_cast<u64>(in[0]);
  height = static_cast<u64>(in[2]);
  width = static_cast<u64>(in[3]);
  groups = static_cast<u64>(conv.integer("group", 1));
  c0 = c0_of(group.resolve(conv.input(0))->type);
  c1 = ceil_div<u64>(static_cast<u64>(weights[1]), c0);
  n1 = ceil_div<u64>(static_cast<u64>(weights[0]), kC0);
  out_width = static_cast<u64>(window.out[1]);
  positions = static_cast<u64>(window.out[0]) * out_width;
  points = static_cast<u64>(window.kernel[0] * window.kernel[1]);
  biased = conv.input(2) != nullptr;
  scaling = conv_scaling(group);
  const Value& out = *group.outputs()[0];
  out_bytes = info(out.type).bytes;
  out_c0 = c0_of(out.type);
  out_c1 = ceil_div<u64>(static_cast<u64>(weights[0]), out_c0);
}

const Node* conv_scaling(const Group& group) {
  if (group.nodes().size() < 2) return nullptr;
  const Node* const node = group.nodes()[1];
  return node->type == "AscendDequant" || node->type == "AscendRequant" ? node : nullptr;
}

std::vector<const Value*> conv_residuals(const Group& group) {
  std::vector<const Value*> out;
  for (usize i = conv_epilogue(group); i < group.nodes().size(); ++i) {
    for (const Value* const operand : group.nodes()[i]->inputs()) {
      const Value* const v = group.resolve(operand);
      const bool tensor = std::ranges::find(group.inputs(), v) != group.inputs().end();
      if (tensor && std::ranges::find(out, v) == out.end()) out.push_back(v);
    }
  }
  return out;
}

Footprint conv_footprint(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const ConvProblem x(group);
  const ConvSizes s(tiling);
  Footprint f{.l1 = 2 * s.map_bytes(x) + s.weight_bytes(x),
              .l0a = 2 * s.m * s.k * x.element(),
              .l0b = 2 * s.n * s.k * x.element(),
              .l0c = 2 * s.m * s.n * 4};
  if (is_joint(chip)) {
    const usize first = conv_epilogue(group);
    f.ub = x.table_bytes() +
           s.m * s.n * x.out_bytes * (2 + 2 * conv_residuals(group).size() + temporaries(group, first).count) +
           scratch_bytes(group, first, s.m * s.n);
  } else {
    f.l1 += align_up(x.table_bytes(), u64{64});
  }
  return f;
}

std::vector<Tiling> conv_tilings(const Group& group, const config::ChipConfig& chip) {
  const ConvProblem x(group);
  std::vector<Choice> choices;
  if (x.width <= kMaxMapEdge && x.height <= kMaxMapEdge) add_choices(group, chip, x, Way::whole, choices);
  // Tiles of few positions load the weights again and again.
  constexpr i64 kFewPositions = 64;
  const i64 enough = std::min<i64>(kFewPositions, static_cast<i64>(align_up(x.positions, kC0)));
  const bool cramped = std::ranges::none_of(choices, [&](const Choice& c) { return c.tiling.at("m") >= enough; });
  if (cramped && meets_map(x)) {
    if (x.width <= kMaxMapEdge) add_choices(group, chip, x, Way::strips, choices);
    add_choices(group, chip, x, Way::row, choices);
  }
  std::ranges::stable_sort(choices, {}, &Choice::time);
  std::vector<Tiling> out;
  for (usize i = 0; i < std::min<usize>(choices.size(), 8); ++i)
    out.push_back(std::move(choices[i].tiling));
  if (out.empty()) fail(Fault::Unsupported, "{}: no tile of the convolution fits {}", group.node().name, chip.name);
  return out;
}

}  // namespace vinci::graph
