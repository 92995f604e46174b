// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/vector_ops.h"

// Element-wise nodes in one pass over memory: tiles of the tensors as they lie there, in two slots.
namespace vinci::graph {
namespace {

using isa::PipeId;

constexpr u64 kGrain = 128;  // elements; tiles are multiples

std::string elementwise_refuses(const Group& group, const config::ChipConfig& chip) {
  if (group.outputs().size() != 1) return "it has more than one output";
  return vector_refuses(group, 0, chip);
}

Formats elementwise_formats(const Group& group, const config::ChipConfig&) {
  // The format of the first tensor: nothing depends on where an element lies.
  const isa::Format format = group.inputs().at(0)->format;
  return {.inputs = std::vector(group.inputs().size(), format), .outputs = {format}};
}

// Bytes in UB for each element of a tile.
u64 bytes_per_element(const Group& group) {
  u64 bytes = 0;
  for (const Value* const v : group.inputs())
    bytes += 2 * info(v->type).bytes;
  for (const Value* const v : group.outputs())
    bytes += 2 * info(v->type).bytes;
  return bytes + 4 * temporaries(group, 0).count;
}

// Half and a quarter of the room too: small tensors should give each core some tiles.
std::vector<Tiling> elementwise_tilings(const Group& group, const config::ChipConfig& chip) {
  const u64 elements = stored_elements(*group.outputs()[0]);
  const u64 room = chip.core.buffers.ub / bytes_per_element(group) / kGrain * kGrain;
  const u64 share = align_up<u64>(ceil_div<u64>(elements, vector_cores(chip)), kGrain);
  std::vector<Tiling> out;
  for (const u64 parts : {u64{1}, u64{2}, u64{4}}) {
    const u64 tile = std::clamp(align_up<u64>(ceil_div(share, parts), kGrain), kGrain, room);
    if (out.empty() || out.back().at("tile") != static_cast<i64>(tile))
      out.push_back({{"tile", static_cast<i64>(tile)}});
  }
  return out;
}

Footprint elementwise_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = static_cast<u64>(tiling.at("tile")) * bytes_per_element(group)};
}

KernelProgram elementwise_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const u64 elements = stored_elements(*group.outputs()[0]), tile = static_cast<u64>(tiling.at("tile"));
  const u64 tiles = ceil_div(elements, tile), last = elements - (tiles - 1) * tile;
  isa::ProgramBuilder p(group.node().name, chip.arch);
  // Two slots for each tensor in memory, then what lies in between.
  std::map<const Value*, u64> place;
  u64 end = 0;
  const auto bytes = [](const Value* v) { return u64{info(v->type).bytes}; };
  for (const auto* const list : {&group.inputs(), &group.outputs()}) {
    for (const Value* const v : *list) {
      place[v] = end;
      end += 2 * tile * bytes(v);
    }
  }
  const Temporaries between = temporaries(group, 0);
  std::vector<isa::Reg> pointers;
  isa::Reg offset, at, size, count;
  gen::TilePipeline pipeline{.tiles = tiles};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    for (usize i = 0; i < group.inputs().size() + 1; ++i)
      pointers.push_back(p.arg(i < group.inputs().size() ? fmt::format("in{}", i) : "out"));
    offset = p.reg("offset");
    at = p.reg("at");
    size = p.reg("size");
    count = p.reg("blocks");
  };
  isa::Reg now;
  pipeline.locate = [&](isa::ProgramBuilder&, isa::Reg number) {
    now = number;
    p.mul(offset, number, tile);
    p.mov(size, tile);
    if (last != tile) p.if_(isa::Value(number) == tiles - 1, [&] { p.mov(size, last); });
  };
  const auto piece = [&](const Value* v, isa::Reg pointer) {  // at: address in memory; size: elements
    p.set(at, offset * bytes(v) + pointer);
  };
  const auto blocks = [&](const Value* v, isa::Reg out) { p.set(out, (size * bytes(v) + 31) >> 5); };
  pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
    for (usize i = 0; i < group.inputs().size(); ++i) {
      const Value* const v = group.inputs()[i];
      piece(v, pointers[i]);
      blocks(v, count);
      p.copy_gm_to_ubuf(place[v] + slot * tile * bytes(v), at, 0, 1, count, 0, 0);
    }
  };
  pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) {
    const Addresses where = [&](const Value* v) {
      const Value* const outer = group.resolve(v);
      if (const auto found = place.find(outer); found != place.end()) return found->second + slot * tile * bytes(outer);
      return end + between.of.at(v) * tile * 4;
    };
    if (last == tile) return write_vector_nodes(p, group, 0, where, tile);
    p.if_(
        isa::Value(now) == tiles - 1, [&] { write_vector_nodes(p, group, 0, where, last); },
        [&] { write_vector_nodes(p, group, 0, where, tile); });
  };
  pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
    const Value* const v = group.outputs()[0];
    piece(v, pointers.back());
    blocks(v, count);
    p.copy_ubuf_to_gm(at, place[v] + slot * tile * bytes(v), 0, 1, count, 0, 0);
  };
  gen::write_tile_pipeline(p, pipeline);
  return {.program = p.finish(),
          .type = vector_kernel_type(chip),
          .blocks = static_cast<u32>(std::min<u64>(tiles, vector_cores(chip)))};
}

}  // namespace

const Kernel kElementwiseKernel{"elementwise",       elementwise_refuses,   elementwise_formats,
                                elementwise_tilings, elementwise_footprint, elementwise_build};

}  // namespace vinci::graph
