// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"

namespace vinci::graph {

// Makes the nodes that take the place of a node, in front of it.
class Maker {
 public:
  Maker(Graph& graph, Node& node) : graph_(graph), node_(node) {}

  Value* operator()(std::string_view type, const std::vector<Value*>& inputs, Attributes attributes = {}) {
    Node* const made = graph_.add_node(type, node_.name + "/" + std::string(type), inputs, 1, &node_);
    made->origins = node_.origins;
    made->attributes = std::move(attributes);
    infer(*made);
    return made->output();
  }
  Value* constant(const Array& array) { return graph_.add_constant(node_.name + "/const", Tensor(array)); }
  Value* number(DataType type, double value) { return constant(Array(type, {}, {value})); }
  Value* integers(const std::vector<i64>& values) {
    Array a(DataType::i64, {std::ssize(values)});
    a.values.assign(values.begin(), values.end());
    return constant(a);
  }
  Value* cast(Value* value, DataType type) {
    return value->type == type ? value : (*this)("Cast", {value}, {{"to", static_cast<i64>(enum_index(type))}});
  }
  Value* reshape(Value* value, const Dims& dims) {
    return value->shape.dims() == dims ? value : (*this)("Reshape", {value, integers(dims)}, {{"allowzero", i64{1}}});
  }
  // The node is gone; `results` have the place of its outputs, as many as there are.
  void replace(const std::vector<Value*>& results) {
    for (usize i = 0; i < results.size(); ++i) {
      Value* const old = node_.output(i);
      Value* made = reshape(cast(results[i], old->type), old->shape.dims());
      // A name for each output, whatever else uses the value.
      if (made->producer() == nullptr || graph_.is_output(made)) made = (*this)("Identity", {made});
      take_place(graph_, *made->producer(), {}, old);
    }
    graph_.erase(&node_);
  }

 private:
  Graph& graph_;
  Node& node_;
};

}  // namespace vinci::graph
