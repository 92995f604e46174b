// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/network.h"

#include "isa/base/error.h"
#include "tools/graph/compile/storage.h"

namespace vinci::graph {

Network compile(std::unique_ptr<Graph> graph, const config::ChipConfig& chip, const CompileOptions& options) {
  Network out{.graph = std::move(graph), .chip = chip, .passes = {}, .nodes = {}, .memory = {}};
  out.passes = optimise(*out.graph, {.switches = options.switches,
                                     .target = {.chip = &out.chip, .precision = options.precision},
                                     .dump = options.dump});
  for (const auto& node : out.graph->nodes()) {
    for (const Value* const v : node->outputs()) {
      if (!v->shape.known())
        fail(Fault::Unsupported, "{} ({}): the shape {} of {} is not known; give --input_shape", node->name, node->type,
             text(v->shape), v->name);
    }
    if (is_alias(*node)) continue;
    const Group group(*node);
    const Kernel& kernel = kernel_for(group, out.chip);
    Tiling tiling = kernel.tilings(group, out.chip).at(0);
    KernelProgram program = kernel.build(group, out.chip, tiling);
    out.nodes.push_back(
        {.node = node.get(), .kernel = &kernel, .tiling = std::move(tiling), .program = std::move(program)});
  }
  out.memory = plan_memory(*out.graph, options.reuse_memory);
  return out;
}

}  // namespace vinci::graph
