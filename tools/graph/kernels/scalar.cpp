// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>

#include "tools/graph/kernels/scalar_writer.h"

// Nodes on the scalar unit: for types and for positions that the other kernels have no instructions for.
namespace vinci::graph {
namespace {

using isa::Reg;

constexpr usize kMostScalarTensors = 8;  // the other registers compute

const ScalarOp* find_scalar_op(std::string_view type) {
  for (const std::span<const ScalarOp> part : {scalar_lane_ops(), scalar_index_ops(), scalar_row_ops()}) {
    if (const auto at = std::ranges::find(part, type, &ScalarOp::type); at != part.end()) return &*at;
  }
  return nullptr;
}

std::string scalar_refuses(const Group& group, const config::ChipConfig&) {
  if (group.nodes().size() != 1) return "it has several nodes";
  const ScalarOp* const op = find_scalar_op(group.node().type);
  if (op == nullptr) return fmt::format("the scalar unit does not compute {}", group.node().type);
  if (group.inputs().size() + group.outputs().size() > kMostScalarTensors) return "it has more than 8 tensors";
  for (const auto* const list : {&group.inputs(), &group.outputs()}) {
    for (const Value* const v : *list) {
      if (!v->shape.known()) return fmt::format("the extents of {} are not known", v->name);
      if (v->format != isa::Format::ND) return fmt::format("{} is not in ND", v->name);
      if (v->type == DataType::f64) return fmt::format("{} is of type f64", v->name);
    }
  }
  return op->refuses(group);
}

Formats scalar_formats(const Group& group, const config::ChipConfig&) {
  return {.inputs = std::vector(group.inputs().size(), isa::Format::ND),
          .outputs = std::vector(group.outputs().size(), isa::Format::ND)};
}

std::vector<Tiling> scalar_tilings(const Group&, const config::ChipConfig&) { return {{}}; }
Footprint scalar_footprint(const Group& group, const config::ChipConfig&, const Tiling&) {
  return {.ub = find_scalar_op(group.node().type)->one_core ? kScatterBuffer : 0};
}

KernelProgram scalar_build(const Group& group, const config::ChipConfig& chip, const Tiling&) {
  const ScalarOp& op = *find_scalar_op(group.node().type);
  const u64 items = op.items(group);
  const u64 blocks = op.one_core ? 1 : std::min<u64>(items, vector_cores(chip));
  isa::ProgramBuilder p(group.node().name, chip.arch);
  ScalarWriter w(group, p);
  const Reg item = p.reg("item"), end = p.reg("end");
  p.comment("each block has items that follow each other");
  p.get_block_idx(item);
  p.add(end, item, 1);
  p.mul(item, item, items);
  p.div(item, item, blocks);
  p.mul(end, end, items);
  p.div(end, end, blocks);
  p.loop(item, end, 1, [&] {
    const isa::ProgramBuilder::Scope scope(p.scope());
    op.write(w, item);
  });
  p.pipe_barrier(isa::PipeId::ALL);
  p.end();
  return {.program = p.finish(), .type = vector_kernel_type(chip), .blocks = static_cast<u32>(blocks)};
}

}  // namespace

const Kernel kScalarKernel{"scalar", scalar_refuses, scalar_formats, scalar_tilings, scalar_footprint, scalar_build};

}  // namespace vinci::graph
