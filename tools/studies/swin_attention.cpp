// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S01: window attention of the Swin transformer as ten kernels and as one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/studies/entries.h"
#include "tools/studies/swin_streams.h"

namespace vinci::studies {
namespace {

using namespace swin;

double f16(u16 v) { return isa::f16_value(v); }

// In ulps of f16 at the size of the addends, sum of P |v|.
struct Errors {
  double unfused = 0, fused = 0, difference = 0;
};

// The largest of the outputs, of windows of a few images.
Errors largest_errors(const Data& d, const std::vector<u16>& ten, const std::vector<u16>& one) {
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
          largest.unfused = std::max(largest.unfused, std::fabs(f16(ten[at]) - exact) / ulp);
          largest.fused = std::max(largest.fused, std::fabs(f16(one[at]) - exact) / ulp);
          largest.difference = std::max(largest.difference, std::fabs(f16(ten[at]) - f16(one[at])) / ulp);
        }
      }
    }
  }
  return largest;
}

}  // namespace

void swin_attention(Study& study) {
  require_joint_core(study);
  const config::ChipConfig& chip = study.chip();
  const Data d = make_data(study.whole("batch"));
  const gen::StreamFolder ten = unfused(chip, d), one = fused(chip, d);
  const Run ten_bits = study.run("unfused", ten.files()), one_bits = study.run("fused", one.files());
  const Errors errors = largest_errors(d, ten_bits.values<u16>("out"), one_bits.values<u16>("out"));

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
  // S is written and read by five pairs of kernels; the fused kernel has neither it nor q, k, v and o in memory.
  const auto inputs = static_cast<double>((d.qkv.size() + d.shape.windows * kTokens * kHeads * kDepth) * 2);
  const double small = static_cast<double>(chip.ai_cores * (d.table.size() * 2 + 3 * kScoreBytes));
  study.measured("launches", static_cast<double>(a.kernels()));
  study.measured("fused_launches", static_cast<double>(b.kernels()));
  study.measured("bytes_beside_in_and_out", std::max(0.0, static_cast<double>(b.gm_bytes()) - inputs - small));
  study.measured("unfused_us", a.kernel_span_us());
  study.measured("gap_share", 100 * (1 - a.kernel_us() / a.kernel_span_us()));
  study.measured("speedup", a.kernel_span_us() / b.kernel_span_us());
  study.measured("fused_us", b.kernel_span_us());
  study.measured("unfused_error", errors.unfused);
  study.measured("fused_error", errors.fused);
}

}  // namespace vinci::studies
