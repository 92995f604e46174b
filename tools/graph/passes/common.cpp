// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <array>
#include <map>
#include <string_view>

#include "isa/base/fnv1a.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// What is there twice.
namespace vinci::graph {
namespace {

bool equal(const Attributes& a, const Attributes& b) {
  if (a.size() != b.size()) return false;
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](const auto& x, const auto& y) { return x.first == y.first && x.second == y.second; });
}

// GE merges nodes that its host can compute; products and convolutions are not among them.
constexpr std::array<std::string_view, 8> kKept{"Conv2D", "Conv2DTranspose", "BatchMatMulV2", "GEMM",
                                                "If",     "While",           "FusedOp",       kCustomOp};

}  // namespace

Effect remove_same_constants(Graph& graph) {
  Effect effect;
  std::multimap<std::pair<DataType, u64>, Value*> seen;
  std::map<const Value*, Value*> same;
  for (const auto& node : graph.nodes()) {
    for (usize i = 0; i < node->inputs().size(); ++i) {
      Value* const value = node->input(i);
      if (value == nullptr || !value->constant) continue;
      auto [known, fresh] = same.emplace(value, value);
      if (fresh) {
        const auto bytes = value->constant->bytes();
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        const std::pair key(value->type, std::hash<std::string_view>{}(text));
        const auto [from, to] = seen.equal_range(key);
        for (auto at = from; at != to && known->second == value; ++at) {
          if (*at->second->constant == *value->constant && at->second->format == value->format)
            known->second = at->second;
        }
        if (known->second == value) {
          seen.emplace(key, value);
        } else {
          effect += {1, 1};
        }
      }
      if (known->second != value) node->set_input(i, known->second);
    }
  }
  graph.remove_unused_constants();
  return effect;
}

Effect eliminate_common_subexpressions(Graph& graph) {
  Effect effect;
  std::multimap<std::pair<std::string, std::vector<Value*>>, Node*> seen;
  for (Node* const node : graph.node_list()) {
    if (std::ranges::find(kKept, node->type) != kKept.end() || !node->bodies.empty()) continue;
    const auto key = std::pair(node->type, node->inputs());
    const auto [from, to] = seen.equal_range(key);
    Node* twin = nullptr;
    for (auto at = from; at != to && twin == nullptr; ++at) {
      if (equal(at->second->attributes, node->attributes) && at->second->outputs().size() == node->outputs().size())
        twin = at->second;
    }
    if (twin == nullptr) {
      seen.emplace(key, node);
      continue;
    }
    ++effect.matches;
    bool named = false;  // an output of the network keeps its own value
    for (const Value* const v : node->outputs())
      named = named || graph.is_output(v);
    if (named) {
      effect.refuse(*node, "an output of the network has a value of its own");
      continue;
    }
    ++effect.changes;
    for (usize i = 0; i < node->outputs().size(); ++i)
      graph.replace(node->output(i), twin->output(i));
    twin->origins.insert(twin->origins.end(), node->origins.begin(), node->origins.end());
    graph.erase(node);
  }
  return effect;
}

}  // namespace vinci::graph
