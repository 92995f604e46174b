// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/graph/kernels/row_selection.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"

// TopKV2, and ArgMaxV2 and ArgMin as its case of one element, along the last axis, by sorting instructions.
namespace vinci::graph {
namespace {

Selection selection(const Node& node, const config::ChipConfig& chip) {
  const Value* const in = node.input(0);
  const u64 width = static_cast<u64>(in->shape.dims().back());
  const bool top_k = node.type == "TopKV2";
  return {.unit = chip.arch == isa::Arch::c220 ? kRecords : kProposals,
          .rows = in->shape.elements() / width,
          .width = width,
          .best = top_k ? static_cast<u64>(node.output()->shape.dims().back()) : 1,
          .largest = top_k ? node.integer("largest", 1) != 0 : node.type == "ArgMaxV2",
          .scores = top_k,
          .positions = !top_k || node.outputs().size() > 1,
          .type = in->type};
}

std::unique_ptr<SelectionWriter> writer(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const Selection s = selection(group.node(), chip);
  const u64 rows = static_cast<u64>(tiling.at("rows"));
  return chip.arch == isa::Arch::c220 ? record_writer(group.node(), s, rows)
                                      : proposal_writer(group.node(), s, chip.arch, rows);
}

std::string top_k_refuses(const Group& group, const config::ChipConfig& chip) {
  constexpr u64 kTiles = 2048;  // that f16 counts
  if (group.nodes().size() != 1) return "it has several nodes";
  const Node& node = group.node();
  if (node.type != "TopKV2" && node.type != "ArgMaxV2" && node.type != "ArgMin") return "it selects nothing";
  const Value* const in = node.input(0);
  for (const auto* const list : {&group.inputs(), &group.outputs()}) {
    for (const Value* const v : *list) {
      if (!v->shape.known()) return fmt::format("the extents of {} are not known", v->name);
      if (v->format != isa::Format::ND) return fmt::format("{} is not in ND", v->name);
    }
  }
  if (in->type != DataType::f16 && (in->type != DataType::f32 || is_joint(chip)))
    return fmt::format("the chip does not sort {}", info(in->type).name);
  const usize rank = in->shape.rank();
  if (rank == 0 || in->shape.elements() == 0 || node.output()->shape.elements() == 0) return "it selects nothing";
  if (axis_of(node, node.integer("axis", node.type == "TopKV2" ? -1 : 0), rank) + 1 != rank)
    return "its axis is not the last one";
  if (node.integer("select_last_index") != 0) return "of equal elements it takes the last one";
  const Selection s = selection(node, chip);
  if (s.best > s.unit.tile) return fmt::format("it takes more than {} elements of a row", s.unit.tile);
  if (is_joint(chip) && s.width > kTiles * s.unit.tile) return "its rows have more tiles than f16 counts";
  return "";
}

// Rows that are sorted together: as many as a tile holds, or as give each core some.
std::vector<Tiling> top_k_tilings(const Group& group, const config::ChipConfig& chip) {
  const Selection s = selection(group.node(), chip);
  const u64 share = ceil_div(s.rows, u64{vector_cores(chip)});
  return {{{"rows", static_cast<i64>(s.long_rows() ? 1 : std::min(s.unit.tile / s.tile(), share))}}};
}

Footprint top_k_footprint(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  return {.ub = writer(group, chip, tiling)->ub_bytes()};
}

KernelProgram top_k_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const auto w = writer(group, chip, tiling);
  return vector_program(w->write(), w->batches(), chip);
}

}  // namespace

const Kernel kTopKKernel{"top_k", top_k_refuses, present_formats, top_k_tilings, top_k_footprint, top_k_build};

}  // namespace vinci::graph
