// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/tile_pipeline.h"

#include <fmt/format.h>

#include "isa/base/error.h"

namespace vinci::gen {

using isa::PipeId;

void write_tile_pipeline(isa::ProgramBuilder& p, const TilePipeline& t) {
  VINCI_CHECK(t.slots == 1 || t.slots == 2);
  const PipeId reader = t.in_place ? PipeId::MTE3 : t.compute_pipe;  // of what has been loaded
  // Every slot is free at the start, and at the end again.
  const auto each_free = [&](const auto& flag) {
    for (u32 slot = 0; slot < t.slots; ++slot) {
      flag(reader, t.load_pipe, slot);
      if (!t.in_place) flag(PipeId::MTE3, t.compute_pipe, slot);
    }
  };
  const isa::Const tiles = p.constant("TILES", static_cast<i64>(t.tiles));
  const isa::Reg tile = p.reg("tile", 0), step = p.reg("step", 1);
  p.x(2);
  p.get_block_idx(tile);
  p.get_block_num(step);
  if (t.prologue) t.prologue(p);
  each_free([&](PipeId from, PipeId to, u32 slot) { p.set_flag(from, to, slot); });
  const isa::Target loop = p.here("loop"), finish = p.label("finish");
  for (u32 slot = 0; slot < t.slots; ++slot) {
    p.comment(fmt::format("slot {}", slot));
    p.bge(tile, tiles, finish);
    if (t.locate) t.locate(p, tile);
    p.wait_flag(reader, t.load_pipe, slot);
    t.load(p, slot);
    p.hand_over(t.load_pipe, t.compute_pipe, slot);
    if (!t.in_place) p.wait_flag(PipeId::MTE3, t.compute_pipe, slot);
    if (t.compute) t.compute(p, slot);
    if (!t.in_place) p.set_flag(t.compute_pipe, t.load_pipe, slot);
    p.hand_over(t.compute_pipe, PipeId::MTE3, slot);
    t.store(p, slot);
    p.set_flag(PipeId::MTE3, t.in_place ? t.load_pipe : t.compute_pipe, slot);
    p.add(tile, tile, step);
  }
  p.b(loop);
  p.bind(finish);
  each_free([&](PipeId from, PipeId to, u32 slot) { p.wait_flag(from, to, slot); });
  p.pipe_barrier(PipeId::ALL);
  p.end();
}

}  // namespace vinci::gen
