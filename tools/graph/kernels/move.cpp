// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/strided_copy.h"

// Moves of rows that are contiguous in both tensors: copies to UB and back, without arithmetic.
namespace vinci::graph {
namespace {

using isa::Reg;

struct Part {
  StridedCopy copy;
  Rows rows;  // from, to
};

std::vector<Part> parts_of(const Group& group) {
  std::vector<Part> out;
  for (StridedCopy& copy : strided_copies(group).value_or(std::vector<StridedCopy>{})) {
    const std::vector<StridedTensor> tensors{copy.from, copy.to};
    Rows rows = as_rows(copy.dims, tensors);
    out.push_back({.copy = std::move(copy), .rows = std::move(rows)});
  }
  return out;
}

// Rows follow each other in the order in which they are stored, so that the end of a block may go over the next one.
bool in_order_of_memory(const Part& part) {
  i64 rows = static_cast<i64>(part.rows.space.width);
  const RowView& to = part.rows.views[1];
  for (usize a = to.strides.size(); a-- > 0;) {
    if (part.rows.space.outer[a] != 1 && to.strides[a] != rows) return false;
    rows *= static_cast<i64>(part.rows.space.outer[a]);
  }
  return true;
}

std::string move_refuses(const Group& group, const config::ChipConfig& chip) {
  if (group.nodes().size() != 1) return "it has several nodes";
  const auto copies = strided_copies(group);
  if (!copies) return "it is no move with known positions";
  const std::vector<Part> parts = parts_of(group);
  if (parts.empty()) return "it moves nothing";
  if (parts.size() > kMostTensors) return "it has more pieces than there are registers for addresses";
  for (const Part& part : parts) {
    const u32 bytes = part.rows.views[0].bytes;
    if (bytes != 2 && bytes != 4) return "its elements have neither 2 nor 4 bytes";
    if (part.copy.input >= group.inputs().size()) return "an operand is a number";
    if (part.rows.views[0].step != 1 || part.rows.views[1].step != 1) return "its last axis is not contiguous";
    if (is_joint(chip) && part.rows.space.width * bytes % 32 != 0 && (parts.size() > 1 || !in_order_of_memory(part)))
      return "a joint core copies whole blocks, and its rows are no whole blocks";
  }
  return "";
}

Formats move_formats(const Group& group, const config::ChipConfig&) {
  return {.inputs = std::vector(group.inputs().size(), isa::Format::ND),
          .outputs = std::vector(group.outputs().size(), isa::Format::ND)};
}

RowTiling part_tiling(const Part& part, const config::ChipConfig& chip, const Tiling& tiling) {
  const std::vector<RowTiling> all =
      row_tilings(part.rows.space, chip, chip.core.buffers.ub, 2 * part.rows.views[0].bytes, 0);
  return all[std::min(static_cast<usize>(tiling.at("finer")), all.size() - 1)];
}

std::vector<Tiling> move_tilings(const Group&, const config::ChipConfig&) { return {{{"finer", 0}}, {{"finer", 1}}}; }

u64 slot_bytes(const std::vector<Part>& parts, const config::ChipConfig& chip, const Tiling& tiling) {
  u64 most = 0;
  for (const Part& part : parts) {
    const RowTiling t = part_tiling(part, chip, tiling);
    most = std::max(most, t.rows * align_up<u64>(t.columns, 16) * part.rows.views[0].bytes);
  }
  return most;
}

Footprint move_footprint(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  return {.ub = 2 * slot_bytes(parts_of(group), chip, tiling)};
}

KernelProgram move_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const std::vector<Part> parts = parts_of(group);
  std::vector<RowTiles> tiles;
  std::vector<u64> begin{0};  // number of the first tile of a part
  u32 blocks = vector_cores(chip);
  for (const Part& part : parts) {
    const RowTiles& made = tiles.emplace_back(part.rows.space, chip, part_tiling(part, chip, tiling));
    begin.push_back(begin.back() + made.tiles());
    blocks = std::min(blocks, made.blocks());
  }
  const u64 slot_size = slot_bytes(parts, chip, tiling);
  isa::ProgramBuilder p(group.node().name, chip.arch);
  std::vector<Reg> pointers;
  Reg number;
  // body(part) for the part of the tile.
  const auto of_tile = [&](const auto& body) {
    const isa::Target done = p.label("done");
    for (usize i = 0; i < parts.size(); ++i) {
      const isa::Target other = p.label("other");
      if (i + 1 < parts.size()) p.bge(number, begin[i + 1], other);
      body(i);
      if (i + 1 < parts.size()) p.b(done);
      p.bind(other);
    }
    p.bind(done);
  };
  gen::TilePipeline pipeline{.tiles = begin.back(), .in_place = true};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    for (usize i = 0; i < group.inputs().size() + group.outputs().size(); ++i)
      pointers.push_back(p.arg("tensor"));
    number = p.reg("number");
    tiles[0].prepare(p);
    for (usize i = 1; i < tiles.size(); ++i)
      tiles[i].share(tiles[0]);
  };
  pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) {
    p.mov(number, tile);
    of_tile([&](usize i) {
      if (begin[i] == 0) return tiles[i].locate(p, number);
      p.sub(number, number, begin[i]);
      tiles[i].locate(p, number);
      p.add(number, number, begin[i]);
    });
  };
  pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
    of_tile(
        [&](usize i) { tiles[i].load(p, parts[i].rows.views[0], pointers[parts[i].copy.input], slot * slot_size); });
  };
  pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
    of_tile([&](usize i) {
      const usize output = group.inputs().size() + parts[i].copy.output;
      tiles[i].store(p, parts[i].rows.views[1], pointers[output], slot * slot_size);
    });
  };
  gen::write_tile_pipeline(p, pipeline);
  return {.program = p.finish(),
          .type = vector_kernel_type(chip),
          .blocks = static_cast<u32>(std::min<u64>(begin.back(), blocks))};
}

}  // namespace

const Kernel kMoveKernel{"move", move_refuses, move_formats, move_tilings, move_footprint, move_build};

}  // namespace vinci::graph
