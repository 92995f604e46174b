// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/tasks.h"

#include <algorithm>
#include <array>
#include <set>

#include "tools/graph/compile/storage.h"
#include "tools/graph/ops/op.h"

namespace vinci::graph {
namespace {

void copy_outputs(Graph& branch) {
  std::set<const Value*> taken;
  for (Value*& output : branch.outputs) {
    const Value* const stored = storage_of(output);
    const bool made_here = stored->producer() != nullptr && !stored->producer()->branches();
    if (made_here && taken.insert(stored).second) continue;
    Node* const copy = branch.add_node("Identity", output->name + "/copy", {output});
    infer(*copy);
    copy->output()->format = output->format;
    output = copy->output();
  }
}

}  // namespace

bool chooses_branch(const Node& node) {
  const auto chooses = [](const Use& use) { return use.node->branches() && use.input == 0; };
  return node.type == "MapIndex" || (node.type == "Cast" && std::ranges::any_of(node.output()->uses(), chooses));
}

bool selects(const Node& node) {
  static constexpr auto kTypes =
      std::to_array<std::string_view>({"Compress", "NonMaxSuppression", "NonZero", "Unique"});
  return std::ranges::find(kTypes, node.type) != kTypes.end();
}

Engine engine_of(const Node& node) {
  // Dropout of inference, without a mask, is a copy.
  if (node.type == "Identity" || (node.type == "Dropout" && node.outputs().size() == 1)) return Engine::sdma;
  return chooses_branch(node) || selects(node) || node.type == "ROIAlign" ? Engine::aicpu : Engine::aicore;
}

void for_each_task(const Graph& graph, const std::function<void(const Node&)>& task,
                   const std::function<void(const Node&)>& branches) {
  for (const auto& node : graph.nodes()) {
    if (is_alias(*node)) continue;
    if (!node->branches()) {
      task(*node);
      continue;
    }
    if (branches) branches(*node);
    for (const auto& body : node->bodies)
      for_each_task(*body, task, branches);
  }
}

void copy_branch_outputs(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (!node->branches()) continue;
    for (const auto& body : node->bodies) {
      copy_branch_outputs(*body);
      copy_outputs(*body);
    }
  }
}

}  // namespace vinci::graph
