// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/tile_pipeline.h"

#include <fmt/format.h>

#include "isa/base/error.h"

namespace vinci::gen {

std::string tile_pipeline_assembly(const TilePipeline& p) {
  VINCI_CHECK(p.slots == 1 || p.slots == 2);
  const std::string &compute = p.compute_pipe, &load = p.load_pipe;
  const std::string reader = p.in_place ? "PIPE_MTE3" : compute;  // of what has been loaded
  const auto flag = [](std::string_view what, std::string_view from, std::string_view to, u32 slot) {
    return fmt::format("  {} {}, {}, EVENT_ID{}\n", what, from, to, slot);
  };
  // Every slot is free at the start, and at the end again.
  const auto all_free = [&](std::string_view what) {
    std::string s;
    for (u32 slot = 0; slot < p.slots; ++slot) {
      s += flag(what, reader, load, slot);
      if (!p.in_place) s += flag(what, "PIPE_MTE3", compute, slot);
    }
    return s;
  };
  std::string s = fmt::format(".const TILES = {}\n  get_block_idx X0\n  get_block_num X1\n", p.tiles);
  s += p.prologue + all_free("set_flag") + "loop:\n";
  for (u32 slot = 0; slot < p.slots; ++slot) {
    s += fmt::format("; slot {}\n  bge X0, TILES, finish\n", slot) + p.locate;
    s += flag("wait_flag", reader, load, slot) + p.load(slot) + flag("set_flag", load, compute, slot);
    s += flag("wait_flag", load, compute, slot);
    if (!p.in_place) s += flag("wait_flag", "PIPE_MTE3", compute, slot);
    s += p.compute(slot);
    if (!p.in_place) s += flag("set_flag", compute, load, slot);
    s += flag("set_flag", compute, "PIPE_MTE3", slot) + flag("wait_flag", compute, "PIPE_MTE3", slot) + p.store(slot);
    s += flag("set_flag", "PIPE_MTE3", p.in_place ? load : compute, slot);
    s += "  add X0, X0, X1\n";
  }
  return s + "  b loop\nfinish:\n" + all_free("wait_flag") + "  pipe_barrier PIPE_ALL\n  end\n";
}

}  // namespace vinci::gen
