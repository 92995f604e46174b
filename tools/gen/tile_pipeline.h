// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>

#include "isa/builder/program_builder.h"

namespace vinci::gen {

// A kernel that works tile by tile: MTE2 loads a tile into UB, a pipe computes, MTE3 stores. Tiles are dealt out to the
// blocks in turn. There are two slots, so that the three overlap, or one. Slots are unrolled, so that addresses in UB
// are numbers. Registers X0 to X2 are taken.
struct TilePipeline {
  using Write = std::function<void(isa::ProgramBuilder& p)>;
  using WriteSlot = std::function<void(isa::ProgramBuilder& p, u32 slot)>;

  u64 tiles = 0;
  u32 slots = 2;          // 1 or 2
  bool in_place = false;  // MTE3 stores from where MTE2 loads: a slot is free when it is stored
  isa::PipeId load_pipe = isa::PipeId::MTE2, compute_pipe = isa::PipeId::V;
  Write prologue = {};                                                     // once for each block: arguments, constants
  std::function<void(isa::ProgramBuilder& p, isa::Reg tile)> locate = {};  // for each tile: its addresses
  WriteSlot load = {}, compute = {}, store = {};
};

// Writes all of the program, with its `end`.
void write_tile_pipeline(isa::ProgramBuilder& p, const TilePipeline& pipeline);

}  // namespace vinci::gen
