// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <string>

#include "isa/base/types.h"

namespace vinci::gen {

// A kernel that works tile by tile: MTE2 loads a tile into UB, a pipe computes, MTE3 stores. Tiles are dealt out to the
// blocks in turn. There are two slots, so that the three overlap, or one. What a tile does is assembly text for a slot;
// slots are unrolled, so that addresses in UB are numbers. Registers X0 to X2 are taken: X0 the tile.
struct TilePipeline {
  u64 tiles = 0;
  u32 slots = 2;          // 1 or 2
  bool in_place = false;  // MTE3 stores from where MTE2 loads: a slot is free when it is stored
  std::string load_pipe = "PIPE_MTE2", compute_pipe = "PIPE_V";
  std::string prologue = {};  // once for each block: arguments, constants
  std::string locate = {};    // for each tile: its addresses, from X0
  std::function<std::string(u32 slot)> load = {}, compute = {}, store = {};
};

std::string tile_pipeline_assembly(const TilePipeline& pipeline);

}  // namespace vinci::gen
