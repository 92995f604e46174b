// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S16: shapes of loops whose body keeps its tensor, lets it grow, and changes its rank.
#include <memory>

#include "tools/graph/ops/op.h"
#include "tools/studies/graph_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using graph::DataType, graph::Graph, graph::GraphBuilder, graph::Node, graph::Shape, graph::Value;

struct Loop {
  GraphBuilder net = {};
  Node* node = nullptr;
  Graph* body = nullptr;
};

// A While with one carried tensor; add(body, tensor) puts the nodes of a turn into the body.
template <class Add>
Loop loop(const Shape& shape, const Add& add) {
  Loop out;
  Value* const x = out.net.input(shape, DataType::f16);
  Value* const turns = out.net.integers({10});
  out.node = out.net.graph.add_node("While", "While", {turns, nullptr, x});
  out.node->attributes["carried"] = i64{1};
  out.body = out.node->bodies.emplace_back(std::make_unique<Graph>("body")).get();
  out.body->add_input("turn", DataType::i64, Shape());
  Value* const go = out.body->add_input("go", DataType::boolean, Shape());
  Value* const in = out.body->add_input("in", DataType::f16, shape);
  out.body->outputs = {go, add(*out.body, in)};
  graph::infer(*out.node);
  return out;
}

Value* grown(Graph& body, Value* v, i64 axis) {
  Node* const node = body.add_node("ConcatD", "Concat", {v, v});
  node->attributes["axis"] = axis;
  return node->output();
}

}  // namespace

void while_shape(Study& study) {
  const Shape shape{static_cast<i64>(study.whole("rows")), static_cast<i64>(study.whole("columns"))};
  const auto result = [](const Loop& l) { return l.node->output()->shape; };

  const Loop kept = loop(shape, [](Graph& body, Value* v) { return body.add_node("Relu", "Relu", {v})->output(); });
  study.measured("kept_inferences", kept.body->inferences);
  study.measured("kept_known", result(kept) == shape ? 1 : 0);

  const Loop growing = loop(shape, [](Graph& body, Value* v) { return grown(body, v, 0); });
  study.measured("growing_inferences", growing.body->inferences);
  study.measured(
      "growing_unknown_extents",
      static_cast<double>(result(growing).ranked() ? std::ranges::count(result(growing).dims(), Shape::kUnknown) : -1));

  const Loop ranks = loop(shape, [](Graph& body, Value* v) {
    Value* const axis = body.add_constant("axis", graph::Tensor(graph::Array(DataType::i64, {1}, {0})));
    return body.add_node("Unsqueeze", "Unsqueeze", {v, axis})->output();
  });
  study.measured("rank_inferences", ranks.body->inferences);
  study.measured("rank_known", result(ranks).ranked() ? 1 : 0);

  // The most that a loop can need: each extent becomes unknown in a round of its own.
  const Loop all = loop(shape, [](Graph& body, Value* v) { return grown(body, grown(body, v, 0), 1); });
  study.measured("rounds_above_cap",
                 std::max(0.0, static_cast<double>(all.body->inferences) - (1.0 + static_cast<double>(shape.rank()))));
}

}  // namespace vinci::studies
