// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/ops/run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <utility>

#include "isa/base/random.h"

namespace vinci::graph {
namespace {

// Values of a run by their uses that are left.
class Values {
 public:
  explicit Values(const Graph& graph) : graph_(graph) {}

  void put(const Value* value, Array array) {
    const usize uses = graph_.use_count(value);
    if (uses != 0) held_.emplace(value, Held{std::make_shared<const Array>(std::move(array)), uses});
  }
  // For one use of it.
  std::shared_ptr<const Array> take(const Value* value) {
    if (const auto at = held_.find(value); at != held_.end()) {
      std::shared_ptr<const Array> array = at->second.array;
      if (--at->second.uses == 0) held_.erase(at);
      return array;
    }
    if (!value->constant) fail(Fault::Input, "{}: the value is used before it is made", value->name);
    return std::make_shared<const Array>(value->constant->array());
  }

 private:
  struct Held {
    std::shared_ptr<const Array> array;
    usize uses;
  };
  const Graph& graph_;
  std::unordered_map<const Value*, Held> held_;
};

}  // namespace

void infer(Graph& graph) {
  ++graph.inferences;
  for (const auto& node : graph.nodes())
    infer(*node);
}

std::vector<Array> run(const Graph& graph, std::vector<Array> inputs, const RunOptions& options) {
  if (inputs.size() != graph.inputs.size())
    fail(Fault::Input, "graph {} has {} inputs, not {}", graph.name, graph.inputs.size(), inputs.size());
  Values values(graph);
  for (usize i = 0; i < inputs.size(); ++i) {
    if (options.observe) options.observe(*graph.inputs[i], inputs[i]);
    values.put(graph.inputs[i], std::move(inputs[i]));
  }
  for (const auto& node : graph.nodes()) {
    std::vector<std::shared_ptr<const Array>> held;
    std::vector<const Array*> in;
    for (const Value* const input : node->inputs()) {
      held.push_back(input == nullptr ? nullptr : values.take(input));
      in.push_back(held.back().get());
    }
    std::vector<Array> out = evaluate(*node, std::move(in), options.rounded);
    for (usize i = 0; i < out.size(); ++i) {
      if (options.adjust) options.adjust(*node->output(i), out[i]);
      if (options.observe) options.observe(*node->output(i), out[i]);
      values.put(node->output(i), std::move(out[i]));
    }
  }
  std::vector<Array> outputs;
  for (const Value* const output : graph.outputs)
    outputs.push_back(*values.take(output));
  return outputs;
}

std::vector<Array> branch_inputs(const Node& node, usize branch, std::vector<Array> inputs) {
  if (!node.has(kBins)) return inputs;
  for (usize i = 0; i < inputs.size(); ++i) {
    Array front(inputs[i].type, node.bodies[branch]->inputs[i]->shape.dims());
    std::copy_n(inputs[i].values.begin(), front.size(), front.values.begin());
    inputs[i] = std::move(front);
  }
  return inputs;
}

std::vector<Array> random_inputs(const Graph& graph, u64 seed) {
  Random random(seed);
  std::vector<Array> out;
  for (const Value* const v : graph.inputs) {
    Array& a = out.emplace_back(v->type, v->shape.dims());
    // Of bytes the whole range: quantised values.
    const bool byte = v->type == DataType::i8 || v->type == DataType::u8;
    for (double& e : a.values) {
      e = random.uniform();
      if (byte) e = std::floor(e * 128) + (v->type == DataType::u8 ? 128 : 0);
    }
    a.round();
  }
  return out;
}

}  // namespace vinci::graph
