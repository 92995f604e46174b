// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S01: window attention of the Swin transformer as ten kernels and as one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "isa/base/random.h"
#include "isa/numeric/float16.h"
#include "tools/studies/entries.h"
#include "tools/studies/swin_kernels.h"

namespace vinci::studies {
namespace {

using namespace swin;

constexpr u64 kTasks = 10, kRow = kRowBytes / 2, kOutRow = kHeads * kDepth;  // elements of a token in qkv and out

double f16(u16 v) { return isa::f16_value(v); }
u16 to_f16(double v) { return isa::f32_to_f16(std::bit_cast<u32>(static_cast<float>(v))); }

// 1 / sqrt(32), as f16.
u16 factor() { return to_f16(0.17677669529663687); }

struct Data {
  Shape shape;
  std::vector<u16> qkv, table, mask;

  double q(u64 token, u64 part, u64 head, u64 channel) const {
    return f16(qkv[token * kRow + (part * kHeads + head) * kDepth + channel]);
  }
};

// Where key j and query i of a pair stand in S.
u64 score_at(u64 i, u64 j) { return (i / 16 * kPadded + j) * 16 + i % 16; }

// The regions of a shifted window: the last window of a row or of an image holds 4 and 3 rows that were apart.
u64 region(u64 window, u64 token) {
  constexpr u64 kKept = 4;
  const u64 x = window % kWindowsOfRow, y = window % kWindowsOfImage / kWindowsOfRow;
  const bool right = x == kWindowsOfRow - 1 && token % kEdge >= kKept,
             below = y == kWindowsOfRow - 1 && token / kEdge >= kKept;
  return (right ? 1u : 0u) + (below ? 2u : 0u);
}

Data make_data(u64 images) {
  Data d{.shape = {images * kWindowsOfImage}, .qkv = {}, .table = {}, .mask = {}};
  Random random(1);
  d.qkv.resize(d.shape.windows * kTokens * kRow);
  for (u16& v : d.qkv)
    v = to_f16(random.uniform());
  d.table.resize(kTableEdge * kTableEdge * 16);
  for (usize i = 0; i < d.table.size(); ++i)
    if (i % 16 < kHeads) d.table[i] = to_f16(0.5 * random.uniform());
  d.mask.resize(kWindowsOfImage * kScoreBytes / 2);
  for (u64 w = 0; w < kWindowsOfImage; ++w)
    for (u64 i = 0; i < kTokens; ++i)
      for (u64 j = 0; j < kTokens; ++j)
        if (region(w, i) != region(w, j)) d.mask[w * kScoreBytes / 2 + score_at(i, j)] = to_f16(-100);
  return d;
}

// The largest error of the outputs in ulps of f16 at the size of the addends, sum of P |v|. Windows of a few images.
std::pair<double, double> largest_errors(const Data& d, const std::vector<u16>& ten, const std::vector<u16>& one) {
  std::pair<double, double> largest{0, 0};
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
          const usize at = query * kOutRow + h * kDepth + c;
          largest.first = std::max(largest.first, std::fabs(f16(ten[at]) - exact) / ulp);
          largest.second = std::max(largest.second, std::fabs(f16(one[at]) - exact) / ulp);
        }
      }
    }
  }
  return largest;
}

gen::StreamFolder task_stream(const config::ChipConfig& chip, const Data& d, bool one) {
  const Shape& s = d.shape;
  const u64 scores_bytes = s.pairs() * kScoreBytes, part = s.pairs() * kPairBytes;
  gen::StreamFolder f(one ? "fused" : "unfused", chip, "Window attention of Swin-T, stage 1");
  f.input<u16>("qkv", "f2", d.qkv);
  f.input<u16>("table", "f2", d.table);
  f.input<u16>("mask", "f2", d.mask);
  f.output("out", "f2", s.windows * kTokens * kOutRow);
  const auto cores = static_cast<u32>(chip.ai_cores);
  if (one) {
    u32 blocks = cores;
    while (s.batches() % blocks != 0)
      --blocks;
    f.task("window_attention", fused(s, blocks, factor()), blocks, {"qkv", "table", "mask", "out"});
    return f;
  }
  f.intermediate("parts", "f2", 3 * part / 2);  // q, k, v
  f.intermediate("bias", "f2", kHeads * kScoreBytes / 2);
  f.intermediate("s", "f2", scores_bytes / 2);
  f.intermediate("o", "f2", part / 2);
  const auto task = [&](std::string_view name, const std::string& kernel, const std::vector<std::string>& args) {
    f.kernel(name, kernel);
    f.launch(name, name, cores, args);
  };
  const std::string q = f.slice("parts", 0), k = f.slice("parts", part), v = f.slice("parts", 2 * part);
  task("permute", permute(s), {"qkv_dev", "parts_dev"});
  task("scale_q", scale(part, factor()), {q});
  task("scores", scores(s), {k, q, "s_dev"});
  task("gather_bias", gather_bias(), {"table_dev", "bias_dev"});
  task("add_bias", add_bias(s), {"s_dev", "bias_dev"});
  task("add_mask", add_mask(s), {"s_dev", "mask_dev"});
  task("softmax", softmax(s), {"s_dev"});
  task("dropout", scale(scores_bytes, to_f16(1)), {"s_dev"});
  task("weighted_sum", weighted_sum(s), {"s_dev", v, "o_dev"});
  task("merge_heads", merge_heads(s), {"o_dev", "out_dev"});
  return f;
}

}  // namespace

void swin_attention(Study& study) {
  const config::ChipConfig& chip = study.chip();
  if (chip.vector_cores != 0) {
    fail(Fault::Unsupported,
         "S01 needs a joint core, on which S can stay; the cube of {} reaches UB through memory only", chip.name);
  }
  const Data d = make_data(study.whole("batch"));
  const gen::StreamFolder ten = task_stream(chip, d, false), one = task_stream(chip, d, true);
  const Run ten_bits = study.run("unfused", ten.files()), one_bits = study.run("fused", one.files());
  const auto [ten_error, one_error] = largest_errors(d, ten_bits.values<u16>("out"), one_bits.values<u16>("out"));

  // The host's time of a launch such that the ten kernels take as long as published: nine launches and the last kernel.
  const double published = study.number("unfused_us");
  const double last = ten_bits.us(ten_bits.result.tasks[kTasks + 2].end - ten_bits.result.tasks[kTasks + 2].start);
  const double launch = (published - last) / (kTasks - 1);
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
  // S is written and read by five pairs of kernels; the fused kernel has neither it nor q, k, v and o in memory.
  const auto inputs = static_cast<double>((d.qkv.size() + d.shape.windows * kTokens * kOutRow) * 2);
  const double small = static_cast<double>(chip.ai_cores * (d.table.size() * 2 + 3 * kScoreBytes));
  study.measured("launches", static_cast<double>(a.kernels()));
  study.measured("fused_launches", static_cast<double>(b.kernels()));
  study.measured("bytes_beside_in_and_out", std::max(0.0, static_cast<double>(b.gm_bytes()) - inputs - small));
  study.measured("unfused_us", a.kernel_span_us());
  study.measured("gap_share", 100 * (1 - a.kernel_us() / a.kernel_span_us()));
  study.measured("speedup", a.kernel_span_us() / b.kernel_span_us());
  study.measured("fused_us", b.kernel_span_us());
  study.measured("unfused_error", ten_error);
  study.measured("fused_error", one_error);
}

}  // namespace vinci::studies
