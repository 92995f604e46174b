// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/network.h"

#include <algorithm>
#include <array>

#include "isa/base/error.h"
#include "sim/task/load.h"
#include "tools/graph/compile/partition.h"
#include "tools/graph/compile/storage.h"
#include "tools/graph/compile/streams.h"

namespace vinci::graph {
namespace {

// Without the pass that selects formats, a tensor may be in memory in another format than the kernel reads.
void check_formats(const Group& group, const Kernel& kernel, const config::ChipConfig& chip) {
  const Formats formats = kernel.formats(group, chip);
  const auto check = [&](const std::vector<const Value*>& values, const std::vector<isa::Format>& wanted) {
    for (usize i = 0; i < std::min(values.size(), wanted.size()); ++i) {
      if (values[i]->format == wanted[i]) continue;
      fail(Fault::Unsupported, "{} ({}): the kernel {} needs {} in {}, but it is in {}", group.node().name,
           group.node().type, kernel.name, values[i]->name, isa::name(wanted[i]), isa::name(values[i]->format));
    }
  };
  check(group.inputs(), formats.inputs);
  check(group.outputs(), formats.outputs);
}

// Buffers of a chip file may be too small for any tiling of a kernel.
void check_room(const Group& group, const Kernel& kernel, const Tiling& tiling, const config::ChipConfig& chip) {
  const Footprint needs = kernel.footprint(group, chip, tiling);
  const auto check = [&](std::string_view buffer, u64 bytes, u64 has) {
    if (bytes > has)
      fail(Fault::Unsupported, "{} ({}): the kernel {} needs {} B of {}, and {} has {} B", group.node().name,
           group.node().type, kernel.name, bytes, buffer, chip.name, has);
  };
  const auto& has = chip.core.buffers;
  check("L1", needs.l1, has.l1);
  check("L0A", needs.l0a, has.l0a);
  check("L0B", needs.l0b, has.l0b);
  check("L0C", needs.l0c, has.l0c);
  check("UB", needs.ub, has.ub);
}

// Tensors without elements have no place in memory, and the largest ones have none, either.
void refuse_size(const Value& value, const std::string& where) {
  if (value.shape.known() && value.shape.elements() == 0)
    fail(Fault::Unsupported, "{}: {} has the shape {}, which has no elements", where, value.name, text(value.shape));
  if (value.shape.known() && value.shape.elements() > task::kMaxBufferBytes / info(value.type).bytes)
    fail(Fault::Limit, "{}: {} has the shape {}; a device has room for {} GiB", where, value.name, text(value.shape),
         task::kMaxBufferBytes >> 30);
}

void check_shapes(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    for (const Value* const v : node->outputs()) {
      if (!v->shape.known())
        fail(Fault::Unsupported, "{} ({}): the shape {} of {} is not known; give --input_shape", node->name, node->type,
             text(v->shape), v->name);
    }
    if (!node->branches()) continue;
    for (const auto& body : node->bodies)
      check_shapes(*body);
  }
}

}  // namespace

std::string_view unit_name(const CompiledNode& node) {
  if (node.kernel != nullptr) return node.kernel->name;
  return engine_of(*node.node) == Engine::aicpu ? "(AICPU)" : "(copy)";
}

Network compile(std::unique_ptr<Graph> graph, const config::ChipConfig& chip, const CompileOptions& options) {
  constexpr std::array kArchs{isa::Arch::c220, isa::Arch::m200, isa::Arch::c100};
  if (std::ranges::find(kArchs, chip.arch) == kArchs.end())
    fail(Fault::Unsupported, "{} is a {}; there are kernels for c220, m200 and c100", chip.name, isa::name(chip.arch));
  Network out{.graph = std::move(graph), .chip = chip, .passes = {}, .nodes = {}, .memory = {}};
  out.passes =
      optimise(*out.graph, {.switches = options.switches,
                            .target = {.chip = &out.chip, .precision = options.precision, .hf32 = options.hf32},
                            .dump = options.dump});
  for (const auto* const list : {&out.graph->inputs, &out.graph->outputs}) {
    for (const Value* const v : *list)
      refuse_size(*v, "the network");
  }
  check_shapes(*out.graph);
  copy_branch_outputs(*out.graph);
  order_parts(*out.graph);
  for_each_task(*out.graph, [&](const Node& node) {
    if (engine_of(node) != Engine::aicore) {
      out.nodes.push_back({.node = &node});
      return;
    }
    const Group group(node);
    for (const Value* const v : group.inputs())
      refuse_size(*v, node.name);
    const Kernel& kernel = kernel_for(group, out.chip);
    check_formats(group, kernel, out.chip);
    Tiling tiling = kernel.tilings(group, out.chip).at(0);
    check_room(group, kernel, tiling, out.chip);
    KernelProgram program;
    if (node.type == kCustomOp && options.record) {
      program.recorded = options.record(node, out.chip);
      program.blocks = program.recorded->blocks;
    } else {
      program = kernel.build(group, out.chip, tiling);
    }
    out.nodes.push_back({.node = &node, .kernel = &kernel, .tiling = std::move(tiling), .program = std::move(program)});
  });
  out.execution = options.execution;
  out.memory = plan_memory(*out.graph, options.reuse_memory, assign_streams(out));
  return out;
}

}  // namespace vinci::graph
