// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <limits>

#include "tools/graph/ops/known.h"
#include "tools/graph/ops/run.h"

// Nodes with bodies. What a body uses of the graph around it are inputs of the node, at the end, and of the body.
namespace vinci::graph {
namespace {

Shape common(const Shape& a, const Shape& b) {
  if (!a.ranked() || !b.ranked() || a.rank() != b.rank()) return Shape::unranked();
  Dims dims = a.dims();
  for (usize i = 0; i < dims.size(); ++i) {
    if (dims[i] != b[i]) dims[i] = Shape::kUnknown;
  }
  return dims;
}

// Inputs of a body are those of the node from `first` on.
void hand_in(const Inference& x, Graph& body, usize first, usize body_first = 0) {
  for (usize i = body_first; i < body.inputs.size(); ++i) {
    body.inputs[i]->type = x.type(first + i - body_first);
    body.inputs[i]->shape = x.shape(first + i - body_first);
  }
}

// Extents that are enough for both.
Shape larger(const Shape& a, const Shape& b) {
  if (!a.known() || !b.known() || a.rank() != b.rank()) return common(a, b);
  Dims dims = a.dims();
  for (usize i = 0; i < dims.size(); ++i)
    dims[i] = std::max(dims[i], b[i]);
  return dims;
}

// The branch that is the only one to run, where the condition is known.
const Graph* only_branch(const Node& node) {
  if (node.has(kBins) || node.input(0) == nullptr) return nullptr;
  const std::optional<Array> condition = known_contents(*node.input(0));
  if (!condition || condition->size() != 1) return nullptr;
  return node.bodies[chosen_branch(node, condition->values[0])].get();
}

// Inputs behind the first one are those of each branch. Branches for the bins of a dynamic batch give a tensor with
// room for the largest; other branches that differ give an unknown extent. A branch that will not run need not fit its
// inputs: exporters write it for other shapes.
void infer_branches(Inference& x) {
  if (x.node().bodies.empty()) x.refuse("it has no branches");
  const Graph* const only = only_branch(x.node());
  for (const auto& body : x.node().bodies) {
    if (only != nullptr && body.get() != only) continue;
    if (body->outputs.size() != x.node().outputs().size()) x.refuse("a branch has {} outputs", body->outputs.size());
    if (x.node().has(kBins)) {
      for (usize i = 0; i < body->inputs.size(); ++i)
        body->inputs[i]->type = x.type(1 + i);
    } else {
      hand_in(x, *body, 1);
    }
    infer(*body);
  }
  for (usize i = 0; i < x.node().outputs().size(); ++i) {
    const auto& first = *(only != nullptr ? *only : *x.node().bodies[0]).outputs[i];
    Shape shape = first.shape;
    for (const auto& body : x.node().bodies) {
      if (only != nullptr) break;
      shape = x.node().has(kBins) ? larger(shape, body->outputs[i]->shape) : common(shape, body->outputs[i]->shape);
    }
    x.set(i, first.type, shape);
  }
}
void infer_if(Inference& x) {
  if (x.node().bodies.size() != 2) x.refuse("it has {} branches", x.node().bodies.size());
  infer_branches(x);
}

void run_branch(Evaluation& x, usize branch) {
  std::vector<Array> in;
  for (usize i = 1; i < x.in.size(); ++i)
    in.push_back(x.input(i));
  std::vector<Array> made = run(*x.node.bodies[branch], branch_inputs(x.node, branch, std::move(in)));
  for (usize i = 0; i < made.size(); ++i) {
    if (x.node.has(kBins)) {
      x.out[i] = Array(made[i].type, x.node.output(i)->shape.dims());
      std::ranges::copy(made[i].values, x.out[i].values.begin());
    } else {
      x.out[i] = std::move(made[i]);
    }
  }
}
void run_chosen(Evaluation& x) { run_branch(x, chosen_branch(x.node, x.input(0).values.at(0))); }

// The row of the table (input 1) that is equal to input 0; the number of rows where there is none.
void infer_map_index(Inference& x) { x.set(0, DataType::i32, Shape()); }
void run_map_index(Evaluation& x) {
  const std::vector<double>&key = x.input(0).values, &table = x.input(1).values;
  usize row = 0;
  while ((row + 1) * key.size() <= table.size() &&
         !std::equal(key.begin(), key.end(), table.begin() + static_cast<std::ptrdiff_t>(row * key.size())))
    ++row;
  x.out[0].values = {static_cast<double>(row)};
}

// Inputs of a loop: trip count, condition, carried values, outer values that the body uses.
// Inputs of its body: iteration, condition, carried values, the same outer values.
// Outputs of its body: condition, carried values, values that the loop stacks.
usize carried(const Node& node) { return static_cast<usize>(node.integer("carried")); }

void infer_loop(Inference& x) {
  Graph& body = *x.node().bodies.at(0);
  const usize n = carried(x.node());
  body.inputs.at(0)->type = DataType::i64;
  body.inputs[0]->shape = Shape();
  body.inputs.at(1)->type = DataType::boolean;
  body.inputs[1]->shape = Shape();
  hand_in(x, body, 2, 2);
  // An extent that a turn changes becomes unknown: at most one round for each extent.
  for (bool again = true; again;) {
    infer(body);
    again = false;
    for (usize i = 0; i < n; ++i) {
      Value& in = *body.inputs[2 + i];
      const Shape both = common(in.shape, body.outputs.at(1 + i)->shape);
      // A lone value of unknown rank changes nothing else.
      again = again || (both != in.shape && (both.ranked() || x.node().outputs().size() > 1));
      in.shape = both;
    }
  }
  for (usize i = 0; i < x.node().outputs().size(); ++i) {
    const Value& made = *body.outputs.at(1 + i);
    if (i < n) {
      x.set(i, made.type, body.inputs[2 + i]->shape);
    } else if (!made.shape.ranked()) {
      x.set(i, made.type, Shape::unranked());
    } else {
      Dims dims = made.shape.dims();
      dims.insert(dims.begin(), Shape::kUnknown);
      x.set(i, made.type, dims);
    }
  }
}

constexpr i64 kMaxTurns = 1'000'000;  // of a loop that is computed while compiling

void run_loop(Evaluation& x) {
  const Graph& body = *x.node.bodies.at(0);
  const usize n = carried(x.node);
  const i64 turns = x.has(0) ? x.input(0).integers().at(0) : std::numeric_limits<i64>::max();
  bool go = !x.has(1) || x.input(1).values.at(0) != 0;
  std::vector<Array> state;
  for (usize i = 0; i < n; ++i)
    state.push_back(x.input(2 + i));
  std::vector<std::vector<double>> stacked(x.out.size() - n);
  std::vector<Dims> piece(stacked.size());
  i64 turn = 0;
  for (; turn < turns && go; ++turn) {
    if (turn == kMaxTurns) fail(Fault::Limit, "{}: a loop of more than {} turns on the host", x.node.name, kMaxTurns);
    std::vector<Array> in{Array(DataType::i64, {}, {static_cast<double>(turn)}), Array(DataType::boolean, {}, {1})};
    in.insert(in.end(), state.begin(), state.end());
    for (usize i = 2 + n; i < x.in.size(); ++i)
      in.push_back(x.input(i));
    std::vector<Array> out = run(body, std::move(in));
    go = out.at(0).values.at(0) != 0;
    for (usize i = 0; i < n; ++i)
      state[i] = std::move(out.at(1 + i));
    for (usize i = 0; i < stacked.size(); ++i) {
      piece[i] = out.at(1 + n + i).dims;
      stacked[i].insert(stacked[i].end(), out[1 + n + i].values.begin(), out[1 + n + i].values.end());
    }
  }
  for (usize i = 0; i < n; ++i)
    x.out[i] = std::move(state[i]);
  for (usize i = 0; i < stacked.size(); ++i) {
    Dims dims = piece[i];
    dims.insert(dims.begin(), turn);
    x.out[n + i] = Array(x.out[n + i].type, dims, std::move(stacked[i]));
  }
}

// A group of nodes that one kernel computes: its inputs and outputs are those of the body.
void infer_fused(Inference& x) {
  Graph& body = *x.node().bodies.at(0);
  hand_in(x, body, 0);
  infer(body);
  for (usize i = 0; i < body.outputs.size(); ++i)
    x.set(i, body.outputs[i]->type, body.outputs[i]->shape);
}
void run_fused(Evaluation& x) {
  std::vector<Array> in;
  for (usize i = 0; i < x.in.size(); ++i)
    in.push_back(x.input(i));
  x.out = run(*x.node.bodies.at(0), std::move(in), {.rounded = false});
}

// An operator of --custom_op. What is known of none gives tensors like its first operand.
void infer_custom(Inference& x) {
  if (!x.node().bodies.empty()) return infer_fused(x);
  if (x.inputs() == 0) x.refuse("the operator is known by its kernel alone, and has no operand to infer a shape from");
  infer_same(x);
}
void run_custom(Evaluation& x) {
  if (x.node.bodies.empty()) {
    fail(Fault::Unsupported, "{}: the operator {} is known by its kernel alone; there is no reference for it",
         x.node.name, x.node.string("op"));
  }
  run_fused(x);
}

constexpr auto kControlOps = std::to_array<Op>({
    {"If", infer_if, run_chosen},
    {"Case", infer_branches, run_chosen},
    {"MapIndex", infer_map_index, run_map_index},
    {"While", infer_loop, run_loop},
    {"FusedOp", infer_fused, run_fused, false},
    {kCustomOp, infer_custom, run_custom, false},
});

}  // namespace

usize chosen_branch(const Node& node, double condition) {
  if (node.type == "If") return condition != 0 ? 0 : 1;
  const usize last = node.bodies.size() - 1;
  return condition >= 0 && condition < static_cast<double>(last) ? static_cast<usize>(condition) : last;
}

std::span<const Op> control_ops() { return kControlOps; }

}  // namespace vinci::graph
