// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/import/lists.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "isa/base/error.h"

namespace vinci::graph {
namespace {

constexpr usize kBeforeCarried = 2;  // inputs of Loop and of its body: turns or turn, and condition

usize uses_of(const ModelGraph& graph, std::string_view value) {
  usize count = static_cast<usize>(std::ranges::count(graph.outputs, value, &ModelValue::name));
  for (const ModelNode& n : graph.nodes) {
    count += static_cast<usize>(std::ranges::count(n.inputs, value));
    for (const auto& [key, body] : n.bodies)
      count += uses_of(body, value);
  }
  return count;
}

ModelNode* producer_of(ModelGraph& graph, std::string_view value) {
  const auto at = std::ranges::find_if(
      graph.nodes, [&](const ModelNode& n) { return std::ranges::find(n.outputs, value) != n.outputs.end(); });
  return at == graph.nodes.end() ? nullptr : &*at;
}

// The node of a body that appends to the carried list of this number and does nothing else with it.
const ModelNode* appending(ModelGraph& body, usize carried) {
  const std::string &before = body.inputs[kBeforeCarried + carried].name, &after = body.outputs[1 + carried].name;
  const ModelNode* const node = producer_of(body, after);
  const bool appends = node != nullptr && node->domain.empty() && node->op == "SequenceInsert" &&
                       node->inputs.size() >= 2 && node->inputs[0] == before &&
                       (node->inputs.size() == 2 || node->inputs[2].empty());
  return appends && uses_of(body, before) == 1 && uses_of(body, after) == 1 ? node : nullptr;
}

// Whether a list is joined, and used by nothing else.
bool is_joined(const ModelGraph& graph, std::string_view list) {
  usize joins = 0;
  for (const ModelNode& n : graph.nodes)
    joins += n.op == "ConcatFromSequence" && !n.inputs.empty() && n.inputs[0] == list ? 1 : 0;
  return joins > 0 && joins == uses_of(graph, list);
}

// The first list of a loop that can be stacked.
std::optional<usize> stackable(ModelGraph& graph, ModelNode& loop) {
  ModelGraph& body = loop.bodies.at("body");
  const usize carried = loop.inputs.size() - kBeforeCarried;
  if (body.inputs.size() != loop.inputs.size() || body.outputs.size() <= carried || loop.outputs.size() < carried)
    return std::nullopt;
  for (usize i = 0; i < carried; ++i) {
    const ModelNode* const begin = producer_of(graph, loop.inputs[kBeforeCarried + i]);
    if (begin == nullptr || begin->op != "SequenceEmpty" || appending(body, i) == nullptr) continue;
    if (is_joined(graph, loop.outputs[i])) return i;
  }
  return std::nullopt;
}

// The list is no longer carried: what is appended to it is the last stacked result.
void stack(ModelNode& loop, usize list) {
  const auto at = static_cast<std::ptrdiff_t>(list);
  ModelGraph& body = loop.bodies.at("body");
  const ModelNode* const node = appending(body, list);
  body.outputs.push_back({.name = node->inputs[1]});
  body.nodes.erase(body.nodes.begin() + (node - body.nodes.data()));
  body.outputs.erase(body.outputs.begin() + 1 + at);
  body.inputs.erase(body.inputs.begin() + kBeforeCarried + at);
  loop.inputs.erase(loop.inputs.begin() + kBeforeCarried + at);
  loop.outputs.push_back(loop.outputs[list]);
  loop.outputs.erase(loop.outputs.begin() + at);
}

void refuse_lists(const ModelGraph& graph) {
  for (const auto* const list : {&graph.inputs, &graph.outputs}) {
    for (const ModelValue& v : *list)
      if (v.is_sequence) fail(Fault::Unsupported, "'{}' is a sequence, or another value that is no tensor", v.name);
  }
}

}  // namespace

void stack_lists(ModelGraph& graph) {
  for (ModelNode& node : graph.nodes) {
    if (!node.domain.empty() || node.op != "Loop" || !node.bodies.contains("body") ||
        node.inputs.size() < kBeforeCarried)
      continue;
    while (const auto list = stackable(graph, node))
      stack(node, *list);
  }
  std::erase_if(graph.nodes, [&](const ModelNode& n) {
    return n.op == "SequenceEmpty" && !n.outputs.empty() && uses_of(graph, n.outputs[0]) == 0;
  });
  refuse_lists(graph);
  for (ModelNode& node : graph.nodes) {
    for (auto& [key, body] : node.bodies)
      stack_lists(body);
  }
}

}  // namespace vinci::graph
