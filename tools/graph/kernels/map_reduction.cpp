// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/vector_ops.h"

// The mean over height and width of an NC1HWC0 map: a tile is the map of one block of channels, added up in f32 by
// halves.
namespace vinci::graph {
namespace {

using isa::Type;

std::string reduction_refuses(const Group& group, const config::ChipConfig& chip) {
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
  const u64 map = static_cast<u64>(in.shape[2] * in.shape[3]) * kC0;
  if (map * (2 * 2 + 4) + 2 * 64 > chip.core.buffers.ub) return "the map of a block of channels does not fit UB";
  return "";
}

Formats reduction_formats(const Group&, const config::ChipConfig&) {
  return {.inputs = {isa::Format::NC1HWC0}, .outputs = {isa::Format::NC1HWC0}};
}

std::vector<Tiling> reduction_tilings(const Group&, const config::ChipConfig&) { return {{}}; }

u64 map_elements(const Group& group) {
  const Shape& s = group.node().input(0)->shape;
  return static_cast<u64>(s[2] * s[3]) * kC0;
}

Footprint reduction_footprint(const Group& group, const config::ChipConfig&, const Tiling&) {
  return {.ub = map_elements(group) * 8 + 128};
}

KernelProgram reduction_build(const Group& group, const config::ChipConfig& chip, const Tiling&) {
  const u64 map = map_elements(group), tiles = stored_elements(*group.node().input(0)) / map;
  const u64 wide_at = map * 4, out_at = wide_at + map * 4;
  isa::ProgramBuilder p(group.node().name, chip.arch);
  isa::Reg in, out, from, to;
  gen::TilePipeline pipeline{.tiles = tiles};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    in = p.arg("in");
    out = p.arg("out");
    from = p.reg("from");
    to = p.reg("to");
  };
  pipeline.locate = [&](isa::ProgramBuilder&, isa::Reg tile) {
    p.set(from, tile * (map * 2) + in);
    p.set(to, tile * (kC0 * 2) + out);
  };
  pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
    p.copy_gm_to_ubuf(slot * map * 2, from, 0, 1, map / 16, 0, 0);
  };
  pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) {
    in_repeats(p, true, map,
               [&](u64 e, u64 n) { p.vconv_f162f32(wide_at + e * 4, slot * map * 2 + e * 2, n, 1, 1, 8, 4); });
    for (u64 rows = map / kC0; rows > 1;) {
      const u64 half = rows / 2, behind = wide_at + (rows - half) * kC0 * 4;
      in_repeats(p, true, half * kC0, [&](u64 e, u64 n) {
        p.vadd(Type::f32, wide_at + e * 4, wide_at + e * 4, behind + e * 4, n, 1, 1, 1, 8, 8, 8);
      });
      rows -= half;
    }
    const float factor = 1 / static_cast<float>(map / kC0);
    in_repeats(p, true, kC0,
               [&](u64, u64 n) { p.vmuls(Type::f32, wide_at, wide_at, isa::f32(factor), n, 1, 1, 8, 8); });
    in_repeats(p, true, kC0, [&](u64, u64 n) { p.vconv_f322f16(out_at + slot * 64, wide_at, n, 1, 1, 4, 8); });
  };
  pipeline.store = [&](isa::ProgramBuilder&, u32 slot) { p.copy_ubuf_to_gm(to, out_at + slot * 64, 0, 1, 1, 0, 0); };
  gen::write_tile_pipeline(p, pipeline);
  return {.program = p.finish(),
          .type = vector_kernel_type(chip),
          .blocks = static_cast<u32>(std::min<u64>(tiles, vector_cores(chip)))};
}

}  // namespace

const Kernel kMapReductionKernel{"map_reduction",   reduction_refuses,   reduction_formats,
                                 reduction_tilings, reduction_footprint, reduction_build};

}  // namespace vinci::graph
