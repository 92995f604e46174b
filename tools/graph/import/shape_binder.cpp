// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/import/shape_binder.h"

#include <algorithm>
#include <optional>

#include "tools/graph/ops/known.h"

namespace vinci::graph {
namespace {

bool all_known(const Node& node) {
  return std::ranges::all_of(node.outputs(), [](const Value* v) { return known_shape(*v).known(); });
}

bool all_known(const Inference& x, usize outputs) {
  for (usize i = 0; i < outputs; ++i) {
    if (!x.out_shape(i).known()) return false;
  }
  return true;
}

}  // namespace

ShapeBinder::ShapeBinder(Graph& graph, Data data, const std::map<std::string, Shape>& declared)
    : graph_(graph), data_(std::move(data)) {
  for (const Value* const v : graph.inputs) {
    if (const auto at = declared.find(v->name); at != declared.end() && !at->second.known())
      declared_.emplace(v, at->second);
  }
}

void ShapeBinder::read_inputs() {
  for (const Value* const v : graph_.inputs) {
    if (!v->shape.known())
      fail(Fault::Unsupported, "the input {} has the shape {}; give --input_shape, and --dymShape or bins for -1 in it",
           v->name, text(v->shape));
  }
  std::vector<Array> inputs = data_(graph_);
  VINCI_CHECK(inputs.size() == graph_.inputs.size());
  for (usize i = 0; i < inputs.size(); ++i)
    arrays_.emplace(graph_.inputs[i], std::move(inputs[i]));
}

void ShapeBinder::bind(Node& node) {
  const auto open = [&](const Value* v) { return v != nullptr && (declared_.contains(v) || host_.contains(v)); };
  const bool touched = std::ranges::any_of(node.inputs(), open);
  const bool known = all_known(node);
  if (!touched && known) return;
  const std::vector<Shape> shapes = declared_outputs(node);
  if (!known) make_known(node);
  // Shapes, and what is computed from them alone, are numbers of the host.
  const bool shape = node.type == "Shape" || node.type == "Size";
  const bool host = shape || std::ranges::all_of(node.inputs(), [&](const Value* v) {
                      return v == nullptr || v->constant || host_.contains(v) || known_contents(*v);
                    });
  bool noted =
      std::ranges::any_of(node.inputs(), [&](const Value* v) { return v != nullptr && declared_.contains(v); });
  for (usize i = 0; i < node.outputs().size(); ++i) {
    if (host) host_.insert(node.output(i));
    if (shapes[i].known()) continue;
    declared_.emplace(node.output(i), shapes[i]);
    noted = true;
  }
  if (noted && !host) graph_.unknown_shapes.insert(node.origins.begin(), node.origins.end());
}

void ShapeBinder::finish() {
  for (const auto& [value, reader] : reads_) {
    graph_.outputs.push_back(value);
    graph_.host_reads.push_back(reader);
  }
}

const Array& ShapeBinder::array(const Value* value) {
  if (arrays_.empty() && !graph_.inputs.empty()) read_inputs();
  if (const auto at = arrays_.find(value); at != arrays_.end()) return at->second;
  if (value->constant) return arrays_.emplace(value, value->constant->array()).first->second;
  // Producers of what it needs and is not there yet, in the order of the graph.
  std::set<const Node*> needed;
  std::vector<const Value*> open{value};
  while (!open.empty()) {
    const Value* const v = open.back();
    open.pop_back();
    if (v == nullptr || v->producer() == nullptr || arrays_.contains(v)) continue;
    if (!needed.insert(v->producer()).second) continue;
    open.insert(open.end(), v->producer()->inputs().begin(), v->producer()->inputs().end());
  }
  for (const auto& node : graph_.nodes()) {
    if (!needed.contains(node.get())) continue;
    std::vector<Array> results = evaluate(*node, arrays(*node));
    for (usize i = 0; i < results.size(); ++i)
      arrays_.insert_or_assign(node->output(i), std::move(results[i]));
  }
  return arrays_.at(value);
}

std::vector<const Array*> ShapeBinder::arrays(const Node& node) {
  std::vector<const Array*> out;
  for (const Value* const v : node.inputs())
    out.push_back(v == nullptr ? nullptr : &array(v));
  return out;
}

Shape ShapeBinder::declared(const Value& value) const {
  const auto at = declared_.find(&value);
  return at != declared_.end() ? at->second : known_shape(value);
}

std::vector<Shape> ShapeBinder::declared_outputs(const Node& node) const {
  std::vector<Shape> out(node.outputs().size(), Shape::unranked());
  const Op* const op = find_op(node.type);
  if (op == nullptr || !node.bodies.empty()) return out;
  Inference x(node);
  std::vector<std::optional<Array>> contents;
  for (const Value* const v : node.inputs())
    contents.push_back(v == nullptr || v->constant || host_.contains(v) ? std::nullopt : known_contents(*v));
  for (usize i = 0; i < node.inputs().size(); ++i) {
    if (node.input(i) != nullptr) x.know(i, declared(*node.input(i)), contents[i] ? &*contents[i] : nullptr);
  }
  op->infer(x);
  for (usize i = 0; i < out.size(); ++i)
    out[i] = x.out_shape(i);
  return out;
}

void ShapeBinder::make_known(Node& node) {
  const std::vector<const Array*> in = arrays(node);
  const Op* const op = find_op(node.type);
  // The branch that runs has the shapes.
  if (node.branches() && !node.input(0)->constant) {
    state(node, 0, *in[0]);
    infer(node);
    if (all_known(node)) return;
  }
  bool stated = false;
  if (op != nullptr && node.bodies.empty()) {
    Inference x(node, in);
    op->infer(x);
    stated = all_known(x, node.outputs().size());
  }
  if (stated) {
    state_extents(node, in);
  } else {
    // There is room for one where there are none: tensors without elements have no place in memory.
    const std::vector<Array> results = evaluate(node, in);
    for (usize i = 0; i < results.size(); ++i) {
      Dims dims = results[i].dims;
      for (i64& extent : dims)
        extent = std::max<i64>(extent, 1);
      bind_shape(node, i, dims);
    }
  }
  infer(node);
}

// As few operands as possible become constants.
void ShapeBinder::state_extents(Node& node, const std::vector<const Array*>& in) {
  std::vector<std::optional<Array>> known(in.size());
  std::set<usize> needed;
  for (usize i = 0; i < in.size(); ++i) {
    const Value* const v = node.input(i);
    if (v == nullptr || v->constant) continue;
    known[i] = known_contents(*v);
    if (!known[i]) needed.insert(i);
  }
  const auto enough = [&](const std::set<usize>& operands) {
    Inference x(node);
    for (usize i = 0; i < in.size(); ++i) {
      if (node.input(i) == nullptr) continue;
      const Array* const contents = operands.contains(i) ? in[i] : known[i] ? &*known[i] : nullptr;
      x.know(i, in[i]->dims, contents);
    }
    find_op(node.type)->infer(x);
    return all_known(x, node.outputs().size());
  };
  for (const usize i : std::set<usize>(needed)) {
    std::set<usize> fewer = needed;
    fewer.erase(i);
    if (enough(fewer)) needed = fewer;
  }
  for (const usize i : needed)
    state(node, i, *in[i]);
}

void ShapeBinder::state(Node& node, usize i, const Array& contents) {
  Value* const operand = node.input(i);
  node.set_input(i, graph_.add_constant(operand->name + "/read", Tensor(contents)));
  // The host has its inputs and its own numbers.
  if (operand->producer() == nullptr || host_.contains(operand)) return;
  for (const std::string& origin : node.origins)
    reads_.emplace_back(operand, origin);
}

}  // namespace vinci::graph
