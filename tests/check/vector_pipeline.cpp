// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/check/vector_pipeline.h"

#include <fmt/format.h>

namespace vinci::test {

VectorPipeline VectorPipeline::random(std::mt19937_64& random) {
  return {.tiles = static_cast<u32>(4 + random() % 4),
          .repeats = static_cast<u32>(2 + random() % 6),
          .ops = static_cast<u32>(2 + random() % 3),
          .blocks = static_cast<u32>(2 + random() % 3)};
}

std::vector<DeviceBuffer> VectorPipeline::buffers() const {
  return {{"in", in_bytes(), true, true}, {"bias", tile_bytes()}, {"out", in_bytes(), false}};
}

std::string VectorPipeline::op_text(u32 op, u32 dst, u32 src) const {
  if (op == 0) return fmt::format("vadd.f16 {:#x}, {:#x}, {:#x}, {}, 1, 1, 1, 8, 8, 8", dst, src, bias(), repeats);
  return fmt::format("vadds.f16 {:#x}, {:#x}, 0x3c00, {}, 1, 1, 8, 8", dst, src, repeats);
}

Lines VectorPipeline::program() const {
  Lines p;
  const auto flag = [&](std::string_view what, std::string_view src, std::string_view dst, u32 event, std::string tag) {
    p.add(fmt::format("{} PIPE_{}, PIPE_{}, EVENT_ID{}", what, src, dst, event), std::move(tag));
  };
  for (const u32 address : {in(0), in(1), bias(), out(0), out(1)})
    p.add(fmt::format("local_buffer 5, {:#x}, {}", address, tile_bytes()));
  p.add("ld_arg X0, 0");
  p.add("ld_arg X1, 1");
  p.add("ld_arg X2, 2");
  p.add("get_block_idx X3", "block");
  p.add(fmt::format("mul X3, X3, {}", tiles * tile_bytes()));
  p.add("add X0, X0, X3", "in of block");
  p.add("add X2, X2, X3", "out of block");
  p.add(fmt::format("copy_gm_to_ubuf {:#x}, X1, 0, 1, {}, 0, 0", bias(), repeats * 8), "load bias");
  flag("set_flag", "MTE2", "V", 3, "bias set");
  flag("wait_flag", "MTE2", "V", 3, "bias wait");
  for (u32 t = 0; t < tiles; ++t) {
    const u32 s = t % 2;
    const bool again = t + 2 < tiles;
    if (t >= 2) flag("wait_flag", "V", "MTE2", s, fmt::format("free in {}", t));
    p.add(fmt::format("add X10, X0, {}", t * tile_bytes()), fmt::format("from {}", t));
    p.add(fmt::format("copy_gm_to_ubuf {:#x}, X10, 0, 1, {}, 0, 0", in(t), repeats * 8), fmt::format("load {}", t));
    flag("set_flag", "MTE2", "V", s, fmt::format("loaded set {}", t));
    flag("wait_flag", "MTE2", "V", s, fmt::format("loaded wait {}", t));
    if (t >= 2) flag("wait_flag", "MTE3", "V", s, fmt::format("free out {}", t));
    for (u32 i = 0; i < ops; ++i) {
      if (i > 0) p.add("pipe_barrier PIPE_V", fmt::format("barrier {} {}", t, i));
      p.add(op_text(i, op_dst(t, i), op_src(t, i)), fmt::format("op {} {}", t, i));
    }
    if (again) flag("set_flag", "V", "MTE2", s, fmt::format("used {}", t));
    flag("set_flag", "V", "MTE3", s, fmt::format("done set {}", t));
    flag("wait_flag", "V", "MTE3", s, fmt::format("done wait {}", t));
    p.add(fmt::format("add X11, X2, {}", t * tile_bytes()), fmt::format("to {}", t));
    p.add(fmt::format("copy_ubuf_to_gm X11, {:#x}, 0, 1, {}, 0, 0", out(t), repeats * 8), fmt::format("store {}", t));
    if (again) flag("set_flag", "MTE3", "V", s, fmt::format("stored {}", t));
  }
  p.add("end", "end");
  return p;
}

}  // namespace vinci::test
