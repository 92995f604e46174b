// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/rows.h"
#include "tools/graph/kernels/scalar_writer.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"

// GatherV2 and GatherNd of whole rows, such as of a table of embeddings: the scalar unit reads the index of a row, and
// the row is copied to UB and from there to the result.
namespace vinci::graph {
namespace {

using isa::Reg;

constexpr u64 kBlock = 32;

// The result as rows that are contiguous in the input, too.
struct GatheredRows {
  u64 rows, width;
  u32 bytes;  // of an element; those of 8 bytes are two
};

GatheredRows gathered_rows(const Node& node) {
  const Shape& in = node.input(0)->shape;
  GatheredRows out{.rows = node.output()->shape.elements(), .width = 1, .bytes = info(node.output()->type).bytes};
  if (node.type == "GatherV2") {
    out.width = around_axis(in.dims(), axis_of(node, node.integer("axis"), in.rank())).inner;
  } else {
    const auto before = static_cast<usize>(node.integer("batch_dims") + node.input(1)->shape.dims().back());
    out.width = element_count(std::span(in.dims()).subspan(before));
  }
  out.rows /= std::max<u64>(out.width, 1);
  if (out.bytes == 8) {
    out.bytes = 4;
    out.width *= 2;
  }
  return out;
}

std::string gather_refuses(const Group& group, const config::ChipConfig& chip) {
  if (group.nodes().size() != 1) return "it has several nodes";
  const Node& node = group.node();
  if (node.type != "GatherV2" && node.type != "GatherNd") return "it gathers nothing";
  for (const auto* const list : {&group.inputs(), &group.outputs()}) {
    for (const Value* const v : *list) {
      if (!v->shape.known()) return fmt::format("the extents of {} are not known", v->name);
      if (v->format != isa::Format::ND) return fmt::format("{} is not in ND", v->name);
    }
  }
  if (std::ranges::find(group.inputs(), node.input(0)) == group.inputs().end()) return "it gathers a number";
  const GatheredRows r = gathered_rows(node);
  if (r.rows == 0 || r.width == 0) return "it gathers nothing";
  if (r.bytes == 1) return "its elements have one byte";
  if (r.width * r.bytes < kBlock) return "its rows are shorter than a block of 32 B";
  if (is_joint(chip) && r.width * r.bytes % kBlock != 0)
    return "a joint core copies whole blocks, and its rows are no whole blocks";
  return "";
}

// Parts of a row where there are fewer rows than cores, or where UB has no room for two.
std::vector<Tiling> gather_tilings(const Group& group, const config::ChipConfig& chip) {
  constexpr u64 kGrain = 128;
  const GatheredRows r = gathered_rows(group.node());
  const u64 room = chip.core.buffers.ub / 2 / r.bytes / kGrain * kGrain;
  const u64 share = align_up(ceil_div(r.rows * r.width, u64{vector_cores(chip)}), kGrain);
  return {{{"columns", static_cast<i64>(std::min({r.width, room, std::max(share, 2 * kGrain)}))}}};
}

u64 slot_bytes(const Group& group, const Tiling& tiling) {
  return align_up<u64>(static_cast<u64>(tiling.at("columns")), 16) * gathered_rows(group.node()).bytes;
}

Footprint gather_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = 2 * slot_bytes(group, tiling)};
}

// to = the number of the row of the input that this row of the result is.
void write_source(ScalarWriter& w, Reg to, Reg row) {
  const Node& node = w.node();
  const Dims& in = node.input(0)->shape.dims();
  const isa::ProgramBuilder::Scope scope(w.p().scope());
  const Reg t = w.reg();
  if (node.type == "GatherV2") {
    const AroundAxis a = around_axis(in, axis_of(node, node.integer("axis"), in.size()));
    const u64 indices = node.input(1)->shape.elements();
    w.digit(t, row, 1, indices, a.outer > 1);
    w.load(to, node.input(1), t);
    w.place(to, static_cast<i64>(a.extent));
    if (a.outer == 1) return;
    w.p().div(t, row, indices);
    w.p().mul(t, t, a.extent);
    return w.p().add(to, to, t);
  }
  const auto batch = static_cast<usize>(node.integer("batch_dims"));
  const auto depth = static_cast<usize>(node.input(1)->shape.dims().back());
  const u64 each = node.input(1)->shape.elements() / depth / element_count(std::span(in).first(batch));
  w.p().mov(to, 0);
  if (batch > 0) w.p().div(to, row, each);
  w.p().mul(t, row, depth);
  const Reg index = w.reg();
  for (usize d = 0; d < depth; ++d) {
    w.load(index, node.input(1), t);
    w.place(index, in[batch + d]);
    w.p().mul(to, to, in[batch + d]);
    w.p().add(to, to, index);
    w.p().add(t, t, 1);
  }
}

KernelProgram gather_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const GatheredRows r = gathered_rows(group.node());
  const u64 slot = slot_bytes(group, tiling);
  RowTiles tiles({.outer = {r.rows}, .width = r.width}, chip,
                 {.rows = 1, .columns = static_cast<u64>(tiling.at("columns"))});
  const RowView from{.strides = {0}, .bytes = r.bytes};
  const RowView to{.strides = {static_cast<i64>(r.width)}, .bytes = r.bytes};
  isa::ProgramBuilder p(group.node().name, chip.arch);
  std::optional<ScalarWriter> w;
  Reg source, result;
  gen::TilePipeline pipeline{.tiles = tiles.tiles(), .in_place = true};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    w.emplace(group, p);
    tiles.prepare(p);
    source = p.reg("source");
    result = p.reg("result");
    w->address(result, group.node().output(), 0);
  };
  pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) {
    tiles.locate(p, tile);
    write_source(*w, source, tiles.row());
    p.mul(source, source, r.width * r.bytes / info(group.node().output()->type).bytes);
    w->address(source, group.node().input(0), source);
  };
  pipeline.load = [&](isa::ProgramBuilder&, u32 which) { tiles.load(p, from, source, which * slot); };
  pipeline.store = [&](isa::ProgramBuilder&, u32 which) { tiles.store(p, to, result, which * slot, which); };
  gen::write_tile_pipeline(p, pipeline);
  return vector_program(p.finish(), tiles.tiles(), chip);
}

}  // namespace

const Kernel kGatherRowsKernel{"gather_rows",  gather_refuses,   present_formats,
                               gather_tilings, gather_footprint, gather_build};

}  // namespace vinci::graph
