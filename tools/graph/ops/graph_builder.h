// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/base/random.h"
#include "tools/graph/ir/graph.h"
#include "tools/graph/ops/op.h"

namespace vinci::graph {

// Puts a graph together node by node, with the names of the table of operators. Constants are random and repeat.
struct GraphBuilder {
  std::unique_ptr<Graph> owned = std::make_unique<Graph>("network");
  Graph& graph = *owned;
  Random random{11};

  Value* input(Shape shape, DataType type = DataType::f32) { return graph.add_input("x", type, std::move(shape)); }
  Value* constant(Dims dims, const std::function<double()>& element) {
    Array a(DataType::f32, std::move(dims));
    for (double& v : a.values)
      v = element();
    a.round();
    return graph.add_constant("w", Tensor(a));
  }
  // Uniform around 0, so that sums of so many products have an rms of about 1.
  Value* weights(Dims dims, double products) {
    return constant(std::move(dims), [&] { return random.uniform() * std::sqrt(3 / products); });
  }
  Value* positive(Dims dims, double least) {
    return constant(std::move(dims), [&] { return std::abs(random.uniform()) + least; });
  }
  Value* number(double v) { return graph.add_constant("n", Tensor(Array(DataType::f32, {}, {v}))); }
  Value* integers(const std::vector<i64>& values) {
    Array a(DataType::i64, {std::ssize(values)});
    a.values.assign(values.begin(), values.end());
    return graph.add_constant("i", Tensor(a));
  }
  Value* node(std::string_view type, const std::vector<Value*>& inputs, Attributes attributes = {}) {
    Node* const made = graph.add_node(type, type, inputs);
    made->attributes = std::move(attributes);
    made->origins = {made->output()->name};
    infer(*made);
    return made->output();
  }
  void output(Value* value) { graph.outputs.push_back(value); }
};

}  // namespace vinci::graph
