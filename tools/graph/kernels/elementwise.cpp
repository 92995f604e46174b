// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/elementwise_rows.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/vector_ops.h"

// Element-wise nodes in one pass over memory: tiles of the tensors as stored there, in two slots.
namespace vinci::graph {
namespace {

using isa::PipeId;

constexpr u64 kTileGrain = 128;  // elements; tiles are multiples

std::string elementwise_refuses(const Group& group, const config::ChipConfig& chip) {
  if (group.outputs().size() != 1) return "it has more than one output";
  if (!group.outputs()[0]->shape.known()) return "its extents are not known";
  if (std::string reason = vector_refuses(group, 0, chip); !reason.empty()) return reason;
  if (group.outputs()[0]->shape.elements() == 0) return "it has no elements";
  if (group.inputs().empty()) return "it reads no tensor";
  if (group.inputs().size() > kMostTensors) return "it reads more tensors than there are registers for addresses";
  return in_rows(group) ? rows_refuse(group) : "";
}

Formats elementwise_formats(const Group& group, const config::ChipConfig&) {
  // The format of the first tensor: nothing depends on the position of an element.
  const isa::Format format = group.inputs().at(0)->format;
  return {.inputs = std::vector(group.inputs().size(), format), .outputs = {format}};
}

// Where an operand has a number for each channel, a tile is in one block of channels: the tensors are so many rows.
bool by_channel(const Group& group, const Value* v) { return is_by_channel(*v, *group.outputs()[0]); }
u64 row_elements(const Group& group) {
  const Value& out = *group.outputs()[0];
  const bool any = std::ranges::any_of(group.inputs(), [&](const Value* v) { return by_channel(group, v); });
  return any ? static_cast<u64>(out.shape[2] * out.shape[3]) * kC0 : stored_elements(out);
}

// Bytes in UB for each element of a tile; blocks of channels come on top.
u64 bytes_per_element(const Group& group) {
  u64 bytes = 0;
  const auto as_f16 = [](const Value* v) { return u64{is_byte(v->type) ? 2U : 0U}; };
  for (const Value* const v : group.inputs())
    bytes += by_channel(group, v) ? 0 : 2 * info(v->type).bytes + as_f16(v);
  for (const Value* const v : group.outputs())
    bytes += 2 * info(v->type).bytes + as_f16(v);
  return bytes + 4 * temporaries(group, 0).count +
         (scratch_bytes(group, 0, kTileGrain) - scratch_bytes(group, 0, 0)) / kTileGrain;
}

u64 block_bytes(const Group& group) {
  return static_cast<u64>(std::ranges::count_if(group.inputs(), [&](const Value* v) { return by_channel(group, v); })) *
             64 +
         scratch_bytes(group, 0, 0);
}

// Half and a quarter of the room too: small tensors should give each core some tiles.
std::vector<Tiling> elementwise_tilings(const Group& group, const config::ChipConfig& chip) {
  if (in_rows(group)) return row_elementwise_tilings(group, chip);
  const u64 elements = stored_elements(*group.outputs()[0]), row = row_elements(group);
  const u64 room = (chip.core.buffers.ub - block_bytes(group)) / bytes_per_element(group) / kTileGrain * kTileGrain;
  const u64 share = align_up<u64>(ceil_div<u64>(elements, vector_cores(chip)), kTileGrain);
  std::vector<Tiling> out;
  for (const u64 parts : {u64{1}, u64{2}, u64{4}}) {
    const u64 tile = std::min(std::clamp(align_up<u64>(ceil_div(share, parts), kTileGrain), kTileGrain, room),
                              align_up<u64>(row, kTileGrain));
    if (out.empty() || out.back().at("tile") != static_cast<i64>(tile))
      out.push_back({{"tile", static_cast<i64>(tile)}});
  }
  return out;
}

Footprint elementwise_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  if (in_rows(group)) return row_elementwise_footprint(group, tiling);
  return {.ub = static_cast<u64>(tiling.at("tile")) * bytes_per_element(group) + block_bytes(group)};
}

KernelProgram elementwise_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  if (in_rows(group)) return row_elementwise_build(group, chip, tiling);
  const u64 all = stored_elements(*group.outputs()[0]), tile = static_cast<u64>(tiling.at("tile"));
  const u64 row = row_elements(group), rows = all / row, in_row = ceil_div(row, tile);
  const u64 tiles = rows * in_row, last = row - (in_row - 1) * tile;
  isa::ProgramBuilder p(group.node().name, chip.arch);
  // Two slots for each tensor in memory, then the intermediate values.
  std::map<const Value*, u64> place, bytes_as_f16;
  u64 end = 0;
  const auto bytes = [](const Value* v) { return u64{info(v->type).bytes}; };
  for (const auto* const list : {&group.inputs(), &group.outputs()}) {
    for (const Value* const v : *list) {
      place[v] = end;
      end += by_channel(group, v) ? 64 : 2 * tile * bytes(v);
    }
  }
  for (const auto* const list : {&group.inputs(), &group.outputs()}) {
    for (const Value* const v : *list) {
      if (!is_byte(v->type)) continue;
      bytes_as_f16[v] = end;
      end += 2 * tile;
    }
  }
  const Temporaries between = temporaries(group, 0);
  std::vector<isa::Reg> pointers;
  isa::Reg offset, at, size, count, plane;
  gen::TilePipeline pipeline{.tiles = tiles};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    for (usize i = 0; i < group.inputs().size() + 1; ++i)
      pointers.push_back(p.arg(i < group.inputs().size() ? fmt::format("in{}", i) : "out"));
    offset = p.reg("offset");
    at = p.reg("at");
    size = p.reg("size");
    count = p.reg("blocks");
    plane = p.reg("plane");
  };
  pipeline.locate = [&](isa::ProgramBuilder&, isa::Reg number) {
    p.mov(size, tile);
    if (rows == 1) {
      p.mul(offset, number, tile);
      if (last != tile) p.if_(isa::Value(number) == tiles - 1, [&] { p.mov(size, last); });
      return;
    }
    p.div(plane, number, in_row);
    p.rem(at, number, in_row);
    if (last != tile) p.if_(isa::Value(at) == in_row - 1, [&] { p.mov(size, last); });
    p.mul(offset, plane, row);
    p.mul(at, at, tile);
    p.add(offset, offset, at);
  };
  const auto piece = [&](const Value* v, isa::Reg pointer) {  // at: address in memory; size: elements
    p.set(at, offset * bytes(v) + pointer);
  };
  const auto blocks = [&](const Value* v, isa::Reg out) { p.set(out, (size * bytes(v) + 31) >> 5); };
  pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
    for (usize i = 0; i < group.inputs().size(); ++i) {
      const Value* const v = group.inputs()[i];
      if (by_channel(group, v)) {
        // Planes of one block of channels follow each other for each image; operands may have one image.
        p.rem(at, plane, stored_elements(*v) / kC0);
        p.set(at, at * (kC0 * bytes(v)) + pointers[i]);
        p.copy_gm_to_ubuf(place[v] + slot * 32, at, 0, 1, 1, 0, 0);
        continue;
      }
      piece(v, pointers[i]);
      blocks(v, count);
      p.copy_gm_to_ubuf(place[v] + slot * tile * bytes(v), at, 0, 1, count, 0, 0);
    }
  };
  pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) {
    const Addresses where = [&](const Value* v) {
      const Value* const outer = group.resolve(v);
      if (const auto wide = bytes_as_f16.find(outer); wide != bytes_as_f16.end()) return wide->second;
      const auto found = place.find(outer);
      if (found == place.end()) return end + between.of.at(v) * tile * 4;
      return found->second + slot * (by_channel(group, outer) ? 32 : tile * bytes(outer));
    };
    const VectorPlace at_slot{.at = where, .scratch = end + between.count * tile * 4};
    const auto write = [&](u64 elements) {
      for (const Value* const v : group.inputs()) {
        if (bytes_as_f16.contains(v)) widen_bytes(p, v->type, bytes_as_f16[v], place[v] + slot * tile, elements);
      }
      write_vector_nodes(p, group, 0, at_slot, elements);
      const Value* const out = group.outputs()[0];
      if (bytes_as_f16.contains(out)) narrow_bytes(p, out->type, place[out] + slot * tile, bytes_as_f16[out], elements);
    };
    if (last == tile) return write(tile);
    p.if_(
        isa::Value(size) == last, [&] { write(last); }, [&] { write(tile); });
  };
  pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
    const Value* const v = group.outputs()[0];
    piece(v, pointers.back());
    blocks(v, count);
    p.copy_ubuf_to_gm(at, place[v] + slot * tile * bytes(v), 0, 1, count, 0, 0);
  };
  gen::write_tile_pipeline(p, pipeline);
  return vector_program(p.finish(), tiles, chip);
}

}  // namespace

const Kernel kElementwiseKernel{"elementwise",       elementwise_refuses,   elementwise_formats,
                                elementwise_tilings, elementwise_footprint, elementwise_build};

}  // namespace vinci::graph
