// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/swin_streams.h"

#include <algorithm>
#include <bit>

#include "isa/base/random.h"

namespace vinci::studies::swin {
namespace {

u16 to_f16(double v) { return isa::f32_to_f16(std::bit_cast<u32>(static_cast<float>(v))); }

// The regions of a shifted window: the last window of a row or of an image holds 4 and 3 rows that were apart.
u64 region(u64 window, u64 token) {
  constexpr u64 kKept = 4;
  const u64 x = window % kWindowsOfRow, y = window % kWindowsOfImage / kWindowsOfRow;
  const bool right = x == kWindowsOfRow - 1 && token % kEdge >= kKept,
             below = y == kWindowsOfRow - 1 && token / kEdge >= kKept;
  return (right ? 1u : 0u) + (below ? 2u : 0u);
}

// The inputs and the output, which both have.
gen::StreamFolder with_buffers(std::string name, const config::ChipConfig& chip, const Data& d) {
  gen::StreamFolder f(std::move(name), chip, "Window attention of Swin-T, stage 1");
  f.input<u16>("qkv", "f2", d.qkv);
  f.input<u16>("table", "f2", d.table);
  f.input<u16>("mask", "f2", d.mask);
  f.output("out", "f2", d.shape.windows * kTokens * kHeads * kDepth);
  return f;
}

}  // namespace

u16 factor() { return to_f16(0.17677669529663687); }

Data make_data(u64 images) {
  Data d{.shape = {images * kWindowsOfImage}, .qkv = {}, .table = {}, .mask = {}};
  Random random(1);
  d.qkv.resize(d.shape.windows * kTokens * kRowBytes / 2);
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

void require_joint_core(const Study& study) {
  if (study.chip().vector_cores == 0) return;
  fail(Fault::Unsupported, "{} needs a joint core, on which S can stay; the cube of {} reaches UB through memory only",
       study.definition().id, study.chip().name);
}

gen::StreamFolder fused(const config::ChipConfig& chip, const Data& d) {
  gen::StreamFolder f = with_buffers("fused", chip, d);
  auto blocks = static_cast<u32>(chip.ai_cores);
  while (d.shape.fused_batches() % blocks != 0)
    --blocks;
  f.task("window_attention", fused(chip.arch, d.shape, blocks, factor(), to_f16(1 / isa::f16_value(factor()))), blocks,
         {"qkv", "table", "mask", "out"});
  return f;
}

gen::StreamFolder unfused(const config::ChipConfig& chip, const Data& d) {
  const Shape& s = d.shape;
  gen::StreamFolder f = with_buffers("unfused", chip, d);
  f.intermediate("parts", "f2", 3 * s.tiles() * kTilePartBytes / 2);
  f.intermediate("bias", "f2", kBiasBytes / 2);
  const auto task = [&](std::string_view name, const Program& kernel, const std::vector<gen::Arg>& args) {
    f.kernel(name, kernel);
    f.launch(name, name, static_cast<u32>(chip.ai_cores), args);
  };
  // S and o take the memory of qkv, as a planner of memory would put them: all live data fit L2.
  VINCI_CHECK(s.tiles() * (kTileBytes + kTileOutBytes) <= d.qkv.size() * 2);
  const gen::Arg v = f.slice("parts", 2 * kTilePartBytes), o = f.slice("qkv", s.tiles() * kTileBytes);
  task("permute", permute(chip.arch, s), {"qkv_dev", "parts_dev"});
  task("scale_q", scale_q(chip.arch, s, factor()), {"parts_dev"});
  task("scores", scores(chip.arch, s), {"parts_dev", "qkv_dev"});
  task("gather_bias", gather_bias(chip.arch), {"table_dev", "bias_dev"});
  task("add_bias", add_bias(chip.arch, s), {"qkv_dev", "bias_dev"});
  task("add_mask", add_mask(chip.arch, s, chip.ai_cores), {"qkv_dev", "mask_dev"});
  task("softmax", softmax(chip.arch, s), {"qkv_dev"});
  task("dropout", dropout(chip.arch, s), {"qkv_dev"});
  task("weighted_sum", weighted_sum(chip.arch, s), {"qkv_dev", v, o});
  task("merge_heads", merge_heads(chip.arch, s), {o, "out_dev"});
  return f;
}

double calibrated_launch_us(const Run& run, double published_us) {
  const auto last = std::ranges::find(run.result.tasks, std::string_view("merge_heads"), &models::TaskTime::name);
  VINCI_CHECK(last != run.result.tasks.end());
  return (published_us - run.us(last->end - last->start)) / (kTasks - 1);
}

}  // namespace vinci::studies::swin
