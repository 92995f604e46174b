// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/launch_arguments.h"
#include "tools/graph/kernels/strided_copy.h"

// Moves of rows that are contiguous in both tensors: copies to UB and back, without arithmetic.
namespace vinci::graph {
namespace {

using isa::Reg;

// A tensor with fewer elements is loaded for each of its repetitions: its tiles would not give each core one.
constexpr u64 kWorthRepeating = u64{1} << 14;

// What is stored several times: so often, so many elements apart.
struct Repetition {
  i64 times, apart;
};

struct Part {
  StridedCopy copy;
  Rows rows;  // from, to
  std::vector<Repetition> repetitions = {};
};

Rows rows_of(const StridedCopy& copy) {
  const std::vector<StridedTensor> tensors{copy.from, copy.to};
  Rows rows = as_rows(copy.dims, tensors);
  // A column of one element: rows of one element each.
  if ((rows.views[0].step != 1 || rows.views[1].step != 1) && copy.dims.back() == 1)
    rows = as_rows(copy.dims, tensors, 1);
  return rows;
}

// The copy without the axes along which it reads the same elements; those become `repetitions`.
StridedCopy without_repetitions(StridedCopy copy, std::vector<Repetition>& repetitions) {
  for (usize a = 0; a + 1 < copy.dims.size(); ++a) {
    if (copy.from.strides[a] != 0 || copy.to.strides[a] == 0 || copy.dims[a] == 1) continue;
    repetitions.push_back({.times = copy.dims[a], .apart = copy.to.strides[a]});
    copy.dims[a] = 1;
  }
  return copy;
}

std::vector<Part> parts_of(const Group& group) {
  std::vector<Part> out;
  for (StridedCopy& copy : strided_copies(group).value_or(std::vector<StridedCopy>{})) {
    std::vector<Repetition> repetitions;
    const StridedCopy once = without_repetitions(copy, repetitions);
    const Rows rows = rows_of(once);
    // Rows that fill no blocks are stored in the order of memory.
    const bool blocks = rows.space.width * rows.views[0].bytes % 32 == 0;
    if (!repetitions.empty() && blocks && element_count(once.dims) >= kWorthRepeating) {
      out.push_back({.copy = once, .rows = rows, .repetitions = std::move(repetitions)});
    } else {
      out.push_back({.copy = copy, .rows = rows_of(copy)});
    }
  }
  return out;
}

// store(at) for each repetition from `next` on; `pointer` is where the first one goes.
void repeat(isa::ProgramBuilder& p, std::span<const Repetition> repetitions, u64 bytes, Reg pointer,
            const std::function<void()>& store) {
  if (repetitions.empty()) return store();
  const i64 apart = repetitions[0].apart * static_cast<i64>(bytes);
  p.loop(repetitions[0].times, [&](Reg) {
    repeat(p, repetitions.subspan(1), bytes, pointer, store);
    p.add(pointer, pointer, apart);
  });
  p.sub(pointer, pointer, apart * repetitions[0].times);
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

bool stored_in_order(const std::vector<Part>& parts) { return parts.size() == 1 && in_order_of_memory(parts[0]); }

// Whether the last block of each row is copied by itself: on a joint core, where rows fill no blocks and may be stored
// in any order.
bool has_ends(const std::vector<Part>& parts, const Part& part, const config::ChipConfig& chip) {
  return is_joint(chip) && part.rows.space.width * part.rows.views[0].bytes % RowTiles::kEndBytes != 0 &&
         !stored_in_order(parts);
}

// body(part) for the part among `first` to `end` - 1 whose tiles have `number`; leaves to `done` where others follow.
void choose(isa::ProgramBuilder& p, Reg number, std::span<const u64> begin, usize first, usize end, isa::Target done,
            const std::function<void(usize part)>& body) {
  if (end - first == 1) return body(first);
  const usize middle = first + (end - first) / 2;
  const isa::Target later = p.label("later");
  p.bge(number, begin[middle], later);
  choose(p, number, begin, first, middle, done, body);
  p.b(done);
  p.bind(later);
  choose(p, number, begin, middle, end, done, body);
}

std::string move_refuses(const Group& group, const config::ChipConfig& chip) {
  if (group.nodes().size() != 1) return "it has several nodes";
  const auto copies = strided_copies(group);
  if (!copies) return "it is no move with known positions";
  const std::vector<Part> parts = parts_of(group);
  if (parts.empty()) return "it moves nothing";
  if (parts.size() > kMostPieces) return fmt::format("it has more than {} pieces", kMostPieces);
  for (const Part& part : parts) {
    const u32 bytes = part.rows.views[0].bytes;
    if (bytes != 2 && bytes != 4) return "its elements have neither 2 nor 4 bytes";
    if (part.copy.input >= group.inputs().size()) return "an operand is a number";
    if (part.rows.views[0].step != 1 || part.rows.views[1].step != 1) return "its last axis is not contiguous";
    if (is_joint(chip) && part.rows.space.width * bytes < RowTiles::kEndBytes && !stored_in_order(parts))
      return "a joint core copies whole blocks, and its rows are shorter";
  }
  return "";
}

// UB for the ends of the rows of a tile, of whatever part.
constexpr u64 kEndsOfTile = RowTiling::kMostRows * RowTiles::kEndBytes;

// The same for two tiles.
u64 room_for_ends(const std::vector<Part>& parts, const config::ChipConfig& chip) {
  const bool any = std::ranges::any_of(parts, [&](const Part& part) { return has_ends(parts, part, chip); });
  return any ? 2 * kEndsOfTile : 0;
}

RowTiling part_tiling(const std::vector<Part>& parts, const Part& part, const config::ChipConfig& chip,
                      const Tiling& tiling) {
  const u64 room = chip.core.buffers.ub - RowTiles::kTailBytes - room_for_ends(parts, chip);
  const std::vector<RowTiling> all = row_tilings(part.rows.space, chip, room, 2 * part.rows.views[0].bytes, 0);
  RowTiling out = all[std::min(static_cast<usize>(tiling.at("finer")), all.size() - 1)];
  const u64 width = part.rows.space.width;
  if (!has_ends(parts, part, chip) || out.rows > 1) return out;
  // A long row is cut for all cores into pieces of whole blocks, the last one of which has a block at least.
  constexpr u64 kStep = 128;
  const u64 share = align_up(ceil_div(width * part.rows.space.rows(), u64{vector_cores(chip)}), kStep);
  for (u64 columns = std::min(out.columns / kStep * kStep, share); columns > 0; columns -= kStep) {
    if (width % columns >= kC0) return {.rows = 1, .columns = columns};
  }
  return out;
}

std::vector<Tiling> move_tilings(const Group&, const config::ChipConfig&) { return {{{"finer", 0}}, {{"finer", 1}}}; }

u64 slot_bytes(const std::vector<Part>& parts, const config::ChipConfig& chip, const Tiling& tiling) {
  u64 most = 0;
  for (const Part& part : parts) {
    const RowTiling t = part_tiling(parts, part, chip, tiling);
    most = std::max(most, t.rows * align_up<u64>(t.columns, 16) * part.rows.views[0].bytes);
  }
  return most;
}

Footprint move_footprint(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const std::vector<Part> parts = parts_of(group);
  return {.ub = 2 * slot_bytes(parts, chip, tiling) + RowTiles::kTailBytes + room_for_ends(parts, chip)};
}

KernelProgram move_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const std::vector<Part> parts = parts_of(group);
  std::vector<RowTiles> tiles;
  std::vector<u64> begin{0};  // number of the first tile of a part
  u32 blocks = vector_cores(chip);
  for (const Part& part : parts) {
    RowTiles& made = tiles.emplace_back(part.rows.space, chip, part_tiling(parts, part, chip, tiling));
    const u64 behind = 2 * slot_bytes(parts, chip, tiling);
    begin.push_back(begin.back() + made.tiles());
    if (has_ends(parts, part, chip)) {
      made.use_ends(behind + RowTiles::kTailBytes, kEndsOfTile);
    } else {
      made.use_tails(behind);
      blocks = std::min(blocks, made.blocks(part.rows.views[1]));
    }
  }
  const u64 slot_size = slot_bytes(parts, chip, tiling);
  isa::ProgramBuilder p(group.node().name, chip.arch);
  LaunchArguments addresses(p, group.inputs().size() + group.outputs().size());
  Reg number;
  // body(part) for the part of the tile.
  const auto of_tile = [&](const auto& body) {
    const isa::Target done = p.label("done");
    choose(p, number, begin, 0, parts.size(), done, body);
    p.bind(done);
  };
  gen::TilePipeline pipeline{.tiles = begin.back(), .in_place = true};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    addresses.load_all();
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
    of_tile([&](usize i) {
      const Reg input = addresses.of(parts[i].copy.input);
      tiles[i].load(p, parts[i].rows.views[0], input, slot * slot_size);
      if (has_ends(parts, parts[i], chip)) tiles[i].load_ends(p, parts[i].rows.views[0], input, slot);
    });
  };
  pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
    of_tile([&](usize i) {
      const Reg output = addresses.of(group.inputs().size() + parts[i].copy.output);
      const RowView& to = parts[i].rows.views[1];
      if (has_ends(parts, parts[i], chip)) return tiles[i].store_with_ends(p, to, output, slot * slot_size, slot);
      repeat(p, parts[i].repetitions, to.bytes, output, [&] { tiles[i].store(p, to, output, slot * slot_size, slot); });
    });
  };
  gen::write_tile_pipeline(p, pipeline);
  return {.program = p.finish(),
          .type = vector_kernel_type(chip),
          .blocks = static_cast<u32>(std::min<u64>(begin.back(), blocks))};
}

}  // namespace

const Kernel kMoveKernel{"move", move_refuses, present_formats, move_tilings, move_footprint, move_build};

}  // namespace vinci::graph
