// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/vector_ops.h"

// The mean over height and width of an NC1HWC0 map: a tile is the map of one block of channels, or a part of it. Parts
// are added up in f32, and the sum by halves.
namespace vinci::graph {
namespace {

using isa::Type;

std::string reduction_refuses(const Group& group, const config::ChipConfig&) {
  const Node& node = group.node();
  if (node.type != "ReduceMean") return "it is no ReduceMean";
  const Value& in = *node.input(0);
  if (!in.shape.known() || in.shape.rank() != 4 || in.type != DataType::f16)
    return "its input is no f16 map of four axes";
  if (node.input(1) == nullptr || !node.input(1)->constant || node.integer("keepdims", 1) == 0)
    return "its axes are no constant, or not kept";
  std::vector<i64> axes = node.input(1)->constant->array().integers();
  for (i64& a : axes)
    a = a < 0 ? a + 4 : a;
  std::ranges::sort(axes);
  if (axes != std::vector<i64>{2, 3}) return "its axes are not height and width";
  if (in.shape.elements() == 0) return "its input has no elements";
  return "";
}

Formats reduction_formats(const Group&, const config::ChipConfig&) {
  return {.inputs = {isa::Format::NC1HWC0}, .outputs = {isa::Format::NC1HWC0}};
}

u64 map_elements(const Group& group) {
  const Shape& s = group.node().input(0)->shape;
  return static_cast<u64>(s[2] * s[3]) * kC0;
}

// Bytes of an element of a part: two slots, the part in f32, and where there are several parts their sum.
constexpr u64 kWholeBytes = 2 * 2 + 4, kPartBytes = kWholeBytes + 4, kMeanBytes = 128;

std::vector<Tiling> reduction_tilings(const Group& group, const config::ChipConfig& chip) {
  const u64 map = map_elements(group), room = chip.core.buffers.ub - kMeanBytes;
  if (map * kWholeBytes <= room) return {{}};
  constexpr u64 kGrain = 128;
  const u64 parts = ceil_div(map, room / kPartBytes / kGrain * kGrain);
  return {{{"part", static_cast<i64>(align_up(ceil_div(map, parts), kGrain))}}};
}

u64 part_elements(const Group& group, const Tiling& tiling) {
  const auto at = tiling.find("part");
  return at == tiling.end() ? map_elements(group) : static_cast<u64>(at->second);
}

Footprint reduction_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = part_elements(group, tiling) * (tiling.empty() ? kWholeBytes : kPartBytes) + kMeanBytes};
}

// The places in UB, and the parts of a map.
struct MeanPlan {
  MeanPlan(const Group& group, const Tiling& tiling)
      : map(map_elements(group)), part(part_elements(group, tiling)), whole(map / part), last(map % part) {
    wide = part * 4;
    sum = wide + (part == map ? 0 : part * 4);
    out = sum + part * 4;
  }
  u64 in(u32 slot) const { return slot * part * 2; }

  u64 map, part, whole, last;  // elements; whole parts, and what is left
  u64 wide = 0, sum = 0, out = 0;
};

void widen_part(isa::ProgramBuilder& p, const MeanPlan& x, u32 slot, u64 elements) {
  in_repeats(p, true, elements,
             [&](u64 e, u64 n) { p.vconv_f162f32(x.wide + e * 4, x.in(slot) + e * 2, n, 1, 1, 8, 4); });
}

// The parts of a map, added up: the vector unit adds one while the next one comes.
void add_parts(isa::ProgramBuilder& p, const MeanPlan& x, isa::Reg from) {
  using isa::PipeId;
  constexpr u32 kFlags = 2;  // the pipeline has those before
  const auto each_slot = [&](const auto& flag) {
    for (u32 slot = 0; slot < 2; ++slot)
      flag(PipeId::V, PipeId::MTE2, kFlags + slot);
  };
  const auto add = [&](u32 slot, u64 elements) {
    p.wait_flag(PipeId::V, PipeId::MTE2, kFlags + slot);
    p.copy_gm_to_ubuf(x.in(slot), from, 0, 1, elements / 16, 0, 0);
    p.hand_over(PipeId::MTE2, PipeId::V, kFlags + slot);
    widen_part(p, x, slot, elements);
    p.set_flag(PipeId::V, PipeId::MTE2, kFlags + slot);
    in_repeats(p, true, elements, [&](u64 e, u64 n) {
      p.vadd(Type::f32, x.sum + e * 4, x.sum + e * 4, x.wide + e * 4, n, 1, 1, 1, 8, 8, 8);
    });
    p.add(from, from, elements * 2);
  };
  in_repeats(p, true, x.part,
             [&](u64 e, u64 n) { p.vector_dup(Type::f32, x.sum + e * 4, isa::f32(0), n, 1, 1, 8, 8); });
  each_slot([&](PipeId a, PipeId b, u32 flag) { p.set_flag(a, b, flag); });
  if (x.whole > 1) {
    p.loop(x.whole / 2, [&](isa::Reg) {
      add(0, x.part);
      add(1, x.part);
    });
  }
  if (x.whole % 2 != 0) add(0, x.part);
  if (x.last != 0) add(static_cast<u32>(x.whole % 2), x.last);
  each_slot([&](PipeId a, PipeId b, u32 flag) { p.wait_flag(a, b, flag); });
}

KernelProgram reduction_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const MeanPlan x(group, tiling);
  const u64 tiles = stored_elements(*group.node().input(0)) / x.map;
  const bool parts = x.part != x.map;
  isa::ProgramBuilder p(group.node().name, chip.arch);
  isa::Reg in, out, from, to;
  gen::TilePipeline pipeline{.tiles = tiles, .slots = parts ? 1U : 2U};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    in = p.arg("in");
    out = p.arg("out");
    from = p.reg("from");
    to = p.reg("to");
  };
  pipeline.locate = [&](isa::ProgramBuilder&, isa::Reg tile) {
    p.set(from, tile * (x.map * 2) + in);
    p.set(to, tile * (kC0 * 2) + out);
  };
  pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
    if (!parts) p.copy_gm_to_ubuf(x.in(slot), from, 0, 1, x.map / 16, 0, 0);
  };
  pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) {
    if (parts) {
      add_parts(p, x, from);
    } else {
      widen_part(p, x, slot, x.map);
    }
    for (u64 rows = x.part / kC0; rows > 1;) {
      const u64 half = rows / 2, behind = x.sum + (rows - half) * kC0 * 4;
      in_repeats(p, true, half * kC0, [&](u64 e, u64 n) {
        p.vadd(Type::f32, x.sum + e * 4, x.sum + e * 4, behind + e * 4, n, 1, 1, 1, 8, 8, 8);
      });
      rows -= half;
    }
    const auto elements = x.map / kC0;
    const float factor = 1 / static_cast<float>(elements);
    in_repeats(p, true, kC0, [&](u64, u64 n) { p.vmuls(Type::f32, x.sum, x.sum, isa::f32(factor), n, 1, 1, 8, 8); });
    in_repeats(p, true, kC0, [&](u64, u64 n) { p.vconv_f322f16(x.out + slot * 64, x.sum, n, 1, 1, 4, 8); });
  };
  pipeline.store = [&](isa::ProgramBuilder&, u32 slot) { p.copy_ubuf_to_gm(to, x.out + slot * 64, 0, 1, 1, 0, 0); };
  gen::write_tile_pipeline(p, pipeline);
  return vector_program(p.finish(), tiles, chip);
}

}  // namespace

const Kernel kMapReductionKernel{"map_reduction",   reduction_refuses,   reduction_formats,
                                 reduction_tilings, reduction_footprint, reduction_build};

}  // namespace vinci::graph
