// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/check/mix_pipeline.h"

#include <fmt/format.h>

namespace vinci::test {
namespace {

constexpr u32 kPart = 256;  // bytes of a tile that one AIV writes

}  // namespace

MixPipeline MixPipeline::random(std::mt19937_64& random) {
  return {.tiles = static_cast<u32>(2 + random() % 4),
          .aivs = static_cast<u32>(1 + random() % 2),
          .blocks = static_cast<u32>(1 + random() % 3)};
}

Lines MixPipeline::program() const {
  Lines p;
  const u32 slot = kPart * aivs;
  p.add("set_ffts_base_addr 1", "base c");
  p.add("ld_arg X0, 0");
  p.add("get_block_idx X1");
  p.add(fmt::format("mul X1, X1, {}", slot));
  p.add("add X0, X0, X1");
  for (u32 t = 0; t < tiles; ++t) {
    p.add("wait_flag_dev 0", fmt::format("full wait {}", t));
    p.add(fmt::format("copy_gm_to_cbuf {:#x}, X0, 0, 1, {}, 0, 0", slot * t, slot / 32), fmt::format("load {}", t));
    if (t + 1 < tiles) p.add("ffts_cross_core_sync PIPE_MTE2, 0x121", fmt::format("free set {}", t));
  }
  p.add("end");
  p.add("", "vector");
  p.add("set_ffts_base_addr 1", "base v");
  p.add("ld_arg X0, 0");
  p.add("get_block_idx X1");
  p.add(fmt::format("mul X1, X1, {}", slot));
  p.add("add X0, X0, X1");
  p.add("get_subblockid X1");
  p.add(fmt::format("mul X1, X1, {}", kPart));
  p.add("add X0, X0, X1");
  for (u32 t = 0; t < tiles; ++t) {
    const u32 at = kPart * t;
    p.add(fmt::format("vector_dup.f16 {:#x}, 0x3c00, 1, 1, 1, 8, 8", at), fmt::format("fill {}", t));
    p.add(fmt::format("set_flag PIPE_V, PIPE_MTE3, EVENT_ID{}", t % 4), fmt::format("filled set {}", t));
    p.add(fmt::format("wait_flag PIPE_V, PIPE_MTE3, EVENT_ID{}", t % 4), fmt::format("filled wait {}", t));
    if (t > 0) p.add("wait_flag_dev 1", fmt::format("free wait {}", t));
    p.add(fmt::format("copy_ubuf_to_gm X0, {:#x}, 0, 1, {}, 0, 0", at, kPart / 32), fmt::format("store {}", t));
    p.add("ffts_cross_core_sync PIPE_MTE3, 0x21", fmt::format("full set {}", t));
    if (t + 1 < tiles) p.add("pipe_barrier PIPE_MTE3");  // before the next store into the slot
  }
  p.add("end");
  return p;
}

// The lines of the AIVs keep their numbers, behind as many empty ones.
task::TaskStream MixPipeline::stream(const Lines& program) const {
  const usize split = program.at("vector");
  Lines cube, vector;
  cube.lines.assign(program.lines.begin(), program.lines.begin() + static_cast<std::ptrdiff_t>(split));
  vector.lines.assign(split, {});
  vector.lines.insert(vector.lines.end(), program.lines.begin() + static_cast<std::ptrdiff_t>(split),
                      program.lines.end());
  return mix_stream(chip(), cube.text(), vector.text(), {{"work", u64{kPart} * aivs * blocks}}, blocks, aivs);
}

}  // namespace vinci::test
