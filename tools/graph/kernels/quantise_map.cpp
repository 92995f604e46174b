// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/vector_ops.h"

// AscendQuant and AscendAntiQuant of maps in NC1HWC0: f16 in blocks of 16 channels to bytes in blocks of 32, and back.
// Two blocks of f16 alternate in UB, position by position, so that bytes are in order when they are converted. A tile
// is a range of positions of a block of 32 channels.
namespace vinci::graph {
namespace {

using isa::Reg, isa::Type;

constexpr u64 kMaxPositions = 1024;                // of a tile
constexpr u64 kWideBytes = 64, kNarrowBytes = 32;  // of a position

struct Map {
  explicit Map(const Group& group) {
    const Node& node = group.node();
    const Shape& s = node.input(0)->shape;
    images = static_cast<u64>(s[0]);
    positions = static_cast<u64>(s[2] * s[3]);
    pieces = ceil_div(static_cast<u64>(s[1]), kC0);
    to_bytes = node.type == "AscendQuant";
    bytes = (to_bytes ? node.output() : node.input(0))->type;
  }
  u64 images, positions;
  u64 pieces;  // blocks of 16 channels
  bool to_bytes;
  DataType bytes;
  u64 blocks() const { return ceil_div<u64>(pieces, 2); }
};

std::string quantise_refuses(const Group& group, const config::ChipConfig&) {
  const Node& node = group.node();
  if (node.type != "AscendQuant" && node.type != "AscendAntiQuant") return "it is no AscendQuant";
  const Value &in = *node.input(0), &out = *node.output();
  if (!in.shape.known() || in.shape.rank() != 4) return "its input is no map of four axes";
  const Value &wide = node.type == "AscendQuant" ? in : out, &narrow = node.type == "AscendQuant" ? out : in;
  if (wide.type != DataType::f16 || (narrow.type != DataType::i8 && narrow.type != DataType::u8))
    return "it is not between f16 and bytes";
  return "";
}

Formats quantise_formats(const Group&, const config::ChipConfig&) {
  return {.inputs = {isa::Format::NC1HWC0}, .outputs = {isa::Format::NC1HWC0}};
}

std::vector<Tiling> quantise_tilings(const Group& group, const config::ChipConfig& chip) {
  const Map x(group);
  // So that each core has a tile, if there is enough.
  const u64 each = ceil_div(x.images * x.blocks() * x.positions, u64{vector_cores(chip)});
  const u64 room = chip.core.buffers.ub / (2 * (kWideBytes + kNarrowBytes)) / 16 * 16;
  return {{{"tile", static_cast<i64>(std::clamp<u64>(align_up<u64>(each, 16), 16, std::min(kMaxPositions, room)))}}};
}

Footprint quantise_footprint(const Group&, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = 2 * static_cast<u64>(tiling.at("tile")) * (kWideBytes + kNarrowBytes)};
}

KernelProgram quantise_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const Map x(group);
  const Node& node = group.node();
  const u64 tile = static_cast<u64>(tiling.at("tile")), ranges = ceil_div(x.positions, tile);
  const u64 tiles = x.images * x.blocks() * ranges;
  isa::ProgramBuilder p(node.name, chip.arch);
  Reg in, out, wide, narrow, count, block, t;
  const auto wide_at = [&](u64 slot) { return slot * tile * kWideBytes; };
  const auto narrow_at = [&](u64 slot) { return 2 * tile * kWideBytes + slot * tile * kNarrowBytes; };
  gen::TilePipeline pipeline{.tiles = tiles};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    in = p.arg("in");
    out = p.arg("out");
    for (Reg* const r : {&wide, &narrow, &count, &block, &t})
      *r = p.reg("t");
    // Positions behind the last one are computed, too.
    in_repeats(p, false, tile * (kWideBytes + kNarrowBytes),
               [&](u64 e, u64 n) { p.vector_dup(Type::f16, e * 2, 0, n, 1, 1, 8, 8); });
  };
  pipeline.locate = [&](isa::ProgramBuilder&, Reg number) {
    p.rem(t, number, ranges);
    p.div(block, number, ranges);
    p.mul(t, t, tile);
    p.sub(count, x.positions, t);
    p.min(count, count, tile);
    p.mul(narrow, block, x.positions);
    p.add(narrow, narrow, t);
    p.shl(narrow, narrow, 5);
    p.add(narrow, narrow, x.to_bytes ? out : in);
    p.div(wide, block, x.blocks());
    p.rem(block, block, x.blocks());
    p.mul(wide, wide, x.pieces);
    p.shl(block, block, 1);
    p.add(wide, wide, block);
    p.mul(wide, wide, x.positions);
    p.add(wide, wide, t);
    p.shl(wide, wide, 5);
    p.add(wide, wide, x.to_bytes ? in : out);
  };
  // Each piece of 16 channels of the block; of one that does not exist, bytes are those of the other one.
  const auto each_piece = [&](u64 slot, bool load) {
    const auto copy = [&](u64 half) {
      const u64 at = wide_at(slot) + half * 32;
      if (load) return p.copy_gm_to_ubuf(at, wide, 0, count, 1, 0, 1);
      p.copy_ubuf_to_gm(wide, at, 0, count, 1, 1, 0);
    };
    copy(0);
    p.if_(isa::Value(block) < x.pieces - 1, [&] { p.add(wide, wide, x.positions * 32); });
    if (load) return copy(1);
    p.if_(isa::Value(block) < x.pieces - 1, [&] { copy(1); });
  };
  pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
    if (x.to_bytes) return each_piece(slot, true);
    p.copy_gm_to_ubuf(narrow_at(slot), narrow, 0, 1, count, 0, 0);
  };
  pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) {
    const u64 elements = tile * 32, at = wide_at(slot);
    const auto scale = isa::f16(static_cast<float>(node.number("scale", 1)));
    const auto offset = isa::f16(static_cast<float>(node.number("offset")));
    const auto times = [&] {
      in_repeats(p, false, elements,
                 [&](u64 e, u64 n) { p.vmuls(Type::f16, at + e * 2, at + e * 2, scale, n, 1, 1, 8, 8); });
    };
    const auto plus = [&] {
      if (node.number("offset") == 0) return;
      in_repeats(p, false, elements,
                 [&](u64 e, u64 n) { p.vadds(Type::f16, at + e * 2, at + e * 2, offset, n, 1, 1, 8, 8); });
    };
    if (x.to_bytes) {
      times();
      plus();
      narrow_bytes(p, x.bytes, narrow_at(slot), at, elements);
    } else {
      widen_bytes(p, x.bytes, at, narrow_at(slot), elements);
      plus();
      times();
    }
  };
  pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
    if (!x.to_bytes) return each_piece(slot, false);
    p.copy_ubuf_to_gm(narrow, narrow_at(slot), 0, 1, count, 0, 0);
  };
  gen::write_tile_pipeline(p, pipeline);
  return vector_program(p.finish(), tiles, chip);
}

}  // namespace

const Kernel kQuantiseMapKernel{"quantise",       quantise_refuses,   quantise_formats,
                                quantise_tilings, quantise_footprint, quantise_build};

}  // namespace vinci::graph
