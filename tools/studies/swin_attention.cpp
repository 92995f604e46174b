// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S01: window attention of the Swin transformer as ten kernels and as one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/config/load.h"
#include "sim/config/ranges.h"
#include "tools/studies/study.h"
#include "tools/studies/swin_split.h"
#include "tools/studies/swin_streams.h"

namespace vinci::studies {
namespace {

using namespace swin;

double f16(u16 v) { return isa::f16_value(v); }

// In ulps of f16 at the size of the addends, sum of P |v|.
struct Errors {
  double unfused = 0, fused = 0, split = 0, difference = 0;
};

// The largest of the outputs, of windows of a few images.
Errors largest_errors(const Data& d, const std::vector<u16>& ten, const std::vector<u16>& one,
                      const std::vector<u16>& split) {
  Errors largest;
  const double scale = f16(factor());
  for (u64 w = 0; w < d.shape.windows; w += w % kWindowsOfImage >= 56 ? 1 : 5) {
    for (u64 h = 0; h < kHeads; ++h) {
      for (u64 i = 0; i < kTokens; ++i) {
        const u64 query = w * kTokens + i;
        std::array<double, kTokens> p{};
        double sum = 0;
        for (u64 j = 0; j < kTokens; ++j) {
          double s = 0;
          for (u64 c = 0; c < kDepth; ++c)
            s += d.q(query, 0, h, c) * d.q(w * kTokens + j, 1, h, c);
          const u64 entry = (i / kEdge + 6 - j / kEdge) * kTableEdge + i % kEdge + 6 - j % kEdge;
          const double mask = f16(d.mask[w % kWindowsOfImage * kScoreBytes / 2 + score_at(i, j)]);
          p[j] = std::exp(s * scale + f16(d.table[entry * 16 + h]) + mask);
          sum += p[j];
        }
        for (u64 c = 0; c < kDepth; ++c) {
          double exact = 0, size = 0;
          for (u64 j = 0; j < kTokens; ++j) {
            const double addend = p[j] / sum * d.q(w * kTokens + j, 2, h, c);
            exact += addend;
            size += std::fabs(addend);
          }
          const double ulp = std::ldexp(1, std::ilogb(size) - 10);
          const usize at = query * kHeads * kDepth + h * kDepth + c;
          const auto note = [&](double& most, const std::vector<u16>& output) {
            most = std::max(most, std::fabs(f16(output[at]) - exact) / ulp);
          };
          note(largest.unfused, ten);
          note(largest.fused, one);
          note(largest.split, split);
          largest.difference = std::max(largest.difference, std::fabs(f16(ten[at]) - f16(one[at])) / ulp);
        }
      }
    }
  }
  return largest;
}

// The chip with its assumed costs times a factor: starts, ends and least occupancies of the cube, of vector
// instructions and of moves whose source says so.
config::ChipConfig scaled_costs(config::ChipConfig chip, double factor) {
  constexpr std::array kLines{
      "core.vector.unary",   "core.vector.binary",    "core.vector.scalar", "core.vector.dup",    "core.vector.convert",
      "core.vector.compare", "core.vector.select",    "core.vector.reduce", "core.cube",          "core.move.gm_to_ub",
      "core.move.gm_to_l1",  "core.vector.transpose", "core.move.ub_to_gm", "core.move.ub_to_l1", "core.move.l1_to_l0a",
      "core.move.l1_to_l0b", "core.move.l0c_to_ub"};
  for (const config::AssumedCost& cost : config::assumed_costs(chip))
    if (std::ranges::find(kLines, cost.key) != kLines.end())
      chip = config::scaled(chip, cost.key, factor, config::Part::starts);
  return chip;
}

// What the two narrow criteria would be.
struct Margin {
  double gap_share = 0, speedup = 0;
};
Margin margin(const Study& study, const gen::StreamFolder& ten, const gen::StreamFolder& one, double factor) {
  const std::string name = fmt::format("costs_{:.3f}", factor);
  const config::ChipConfig chip = scaled_costs(study.chip(), factor);
  const double launch =
      calibrated_launch_us(study.time(name + "-calibration", ten.resident_files(), chip), study.number("unfused_us"));
  const config::ChipConfig slow = scaled_costs(study.chip_with({fmt::format("host.launch={:.4f}us", launch)}), factor);
  const Run a = study.time(name + "-unfused", ten.resident_files(), slow),
            b = study.time(name + "-fused", one.resident_files(), slow);
  return {.gap_share = 100 * (1 - a.kernel_us() / a.kernel_span_us()),
          .speedup = a.kernel_span_us() / b.kernel_span_us()};
}

}  // namespace

void swin_attention(Study& study) {
  require_joint_core(study);
  const config::ChipConfig& chip = study.chip();
  const Data d = make_data(study.whole("batch"));
  const gen::StreamFolder ten = unfused(chip, d), one = fused(chip, d);
  const Run ten_bits = study.run("unfused", ten.files()), one_bits = study.run("fused", one.files());
  const config::ChipConfig split_chip = config::load_chip(study.choice("split_chip"));
  const Run mix = study.run("split", split(split_chip, d), split_chip);
  const Errors errors =
      largest_errors(d, ten_bits.values<u16>("out"), one_bits.values<u16>("out"), mix.values<u16>("out"));

  const double launch = calibrated_launch_us(ten_bits, study.number("unfused_us"));
  const config::ChipConfig slow = study.chip_with({fmt::format("host.launch={:.4f}us", launch)});
  const Run a = study.time("unfused-resident", ten.resident_files(), slow);
  const Run b = study.time("fused-resident", one.resident_files(), slow);
  for (const models::TaskTime& t : a.result.tasks)
    study.fact(t.name, a.us(t.end - t.start), "us");
  study.fact("ten kernels: sum", a.kernel_us(), "us");
  study.fact("ten kernels: bytes", static_cast<double>(a.gm_bytes()) * 1e-6, "MB");
  study.fact("one kernel: bytes", static_cast<double>(b.gm_bytes()) * 1e-6, "MB");
  study.fact("one kernel: MTE2", 100 * b.us(b.busy_cycles(isa::PipeId::MTE2)) / chip.ai_cores / b.kernel_us(), "%");
  study.fact("one kernel: vector unit", 100 * b.us(b.busy_cycles(isa::PipeId::V)) / chip.ai_cores / b.kernel_us(), "%");
  study.fact("launch of the host", launch, "us");
  study.fact("from the first to the last kernel", a.kernel_span_us(), "us");
  study.fact("largest difference of the outputs", errors.difference, "ulp");
  study.fact("split core, MIX: kernel", mix.kernel_us(), "us");
  study.fact("split core, MIX: bytes", static_cast<double>(mix.gm_bytes()) * 1e-6, "MB");
  // The margins are narrow, and many costs of the chip are assumed.
  const double more = 1 + study.number("assumed") / 100;
  const auto margins = study.variants(2, [&](usize i) { return margin(study, ten, one, i == 0 ? 1 / more : more); });
  for (usize i = 0; i < margins.size(); ++i) {
    const char* what = i == 0 ? "smaller" : "larger";
    study.fact(fmt::format("assumed costs {}: gap share", what), margins[i].gap_share, "%");
    study.fact(fmt::format("assumed costs {}: speed-up", what), margins[i].speedup, "x");
  }
  // S is written and read by five pairs of kernels; the fused kernel has neither it nor q, k, v and o in memory.
  const auto inputs = static_cast<double>((d.qkv.size() + d.shape.windows * kTokens * kHeads * kDepth) * 2);
  const double small = static_cast<double>(chip.ai_cores * (d.table.size() * 2 + 3 * kScoreBytes));
  const u64 pairs = d.shape.windows * kHeads;
  const double split_constants =
      static_cast<double>(std::min<u64>(split_chip.ai_cores, d.shape.windows / 2) * 2 * kSplitConstants);
  study.measured("launches", static_cast<double>(a.kernels()));
  study.measured("fused_launches", static_cast<double>(b.kernels()));
  study.measured("bytes_beside_in_and_out", std::max(0.0, static_cast<double>(b.gm_bytes()) - inputs - small));
  study.measured("unfused_us", a.kernel_span_us());
  study.measured("gap_share", 100 * (1 - a.kernel_us() / a.kernel_span_us()));
  study.measured("speedup", a.kernel_span_us() / b.kernel_span_us());
  study.measured("fused_us", b.kernel_span_us());
  study.measured("unfused_error", errors.unfused);
  study.measured("fused_error", errors.fused);
  study.measured("split_launches", static_cast<double>(mix.kernels()));
  study.measured("split_bytes_of_pair",
                 (static_cast<double>(mix.gm_bytes()) - inputs - split_constants) / static_cast<double>(pairs));
  study.measured("split_error", errors.split);
}

}  // namespace vinci::studies
