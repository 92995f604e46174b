// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "tools/graph/import/readers.h"
#include "tools/graph/ops/known.h"
#include "tools/graph/ops/op.h"

namespace vinci::graph {
namespace {

// Names and their values; a body sees those of the graph around it.
class Scope {
 public:
  // `turns`: a loop's, each of which may have values of other shapes.
  Scope(Graph& graph, Scope* outer, bool turns = false)
      : graph_(graph), outer_(outer), one_shape_(!turns && (outer == nullptr || outer->one_shape_)) {}

  Graph& graph() { return graph_; }
  bool one_shape() const { return one_shape_; }
  void define(const std::string& name, Value* value, const ModelNode* node) {
    if (name.empty()) return;
    if (!values_.emplace(name, value).second)
      fail(Fault::Input, "{}: the value '{}' is made twice", node != nullptr ? node->name : graph_.name, name);
    value->name = name;
  }
  // Null where there is none. A value of the graph around becomes an input of this one.
  Value* find(const std::string& name) {
    if (const auto at = values_.find(name); at != values_.end()) return at->second;
    if (outer_ == nullptr) return nullptr;
    Value* const from = outer_->find(name);
    if (from == nullptr || &outer_->graph_ == &graph_) return from;
    Value* const here =
        from->constant ? graph_.add_constant(name, *from->constant) : graph_.add_input(name, from->type, from->shape);
    if (!from->constant) captured.push_back(name);
    values_.emplace(name, here);
    return here;
  }
  std::vector<std::string> captured;  // in the order of the inputs

 private:
  Graph& graph_;
  Scope* outer_;
  const bool one_shape_;  // values have the shapes that they have here whenever they are made
  std::unordered_map<std::string, Value*> values_;
};

class Importer {
 public:
  Importer(const Model& model, const CustomOps& custom_ops, ShapeBinder* binder)
      : model_(model), custom_ops_(custom_ops), binder_(binder) {}

  void graph(const ModelGraph& from, Scope& scope) { scope.graph().outputs = values(from, scope); }

 private:
  // Makes the nodes; returns the outputs.
  std::vector<Value*> values(const ModelGraph& from, Scope& scope) {
    for (const auto& [name, tensor] : from.constants)
      scope.define(name, scope.graph().add_constant(name, tensor), nullptr);
    for (const ModelNode& node : from.nodes)
      read(node, scope);
    std::vector<Value*> out;
    for (const ModelValue& output : from.outputs) {
      Value* const value = scope.find(output.name);
      if (value == nullptr) fail(Fault::Input, "graph {}: the output '{}' is not made", from.name, output.name);
      out.push_back(value);
    }
    return out;
  }

  i64 opset(const std::string& domain) const {
    const auto at = model_.opsets.find(domain);
    return at == model_.opsets.end() ? 1 : at->second;
  }

  void read(const ModelNode& node, Scope& scope) {
    std::vector<Value*> inputs;
    for (const std::string& name : node.inputs) {
      Value* const value = name.empty() ? nullptr : scope.find(name);
      if (value == nullptr && !name.empty())
        fail(Fault::Input, "{} ({}): there is no value '{}'", node.name, node.op, name);
      inputs.push_back(value);
    }
    const std::vector<Value*> results = make(node, scope, std::move(inputs));
    if (results.size() < node.outputs.size())
      fail(Fault::Unsupported, "{} ({}): output {} is not supported", node.name, node.op, results.size());
    for (usize i = 0; i < node.outputs.size(); ++i)
      scope.define(node.outputs[i], results[i], &node);
  }

  std::vector<Value*> make(const ModelNode& node, Scope& scope, std::vector<Value*> inputs) {
    if (node.domain.empty() && node.op == "If")
      return with_bodies(node, scope, inputs, "If", {"then_branch", "else_branch"});
    if (node.domain.empty() && node.op == "Loop") return with_bodies(node, scope, inputs, "While", {"body"});
    if (node.domain.empty() && node.op == "Scan") return make_scan(node, scope, inputs);
    if (custom_ops_.contains(node.op)) return make_custom(node, scope, inputs);
    const OpReader* const reader = find_reader(node.domain, node.op);
    if (reader == nullptr) fail(Fault::Unsupported, "{}: operator {} is not supported", node.name, node.op);
    return read_with(*reader, node, scope.graph(), std::move(inputs));
  }

  std::vector<Value*> with_bodies(const ModelNode& node, Scope& scope, std::vector<Value*> inputs,
                                  std::string_view type, std::initializer_list<std::string> keys) {
    const bool loop = type == "While";
    if (!loop && scope.one_shape() && !inputs.empty() && inputs[0] != nullptr) {
      const std::optional<Array> condition = known_contents(*inputs[0]);
      if (condition && condition->size() == 1)
        return chosen_body(node, scope, condition->values[0] != 0 ? "then_branch" : "else_branch");
    }
    Node* const made = scope.graph().add_node(type, node.name, {}, 0);
    made->origins = {node.name};
    if (loop) made->attributes["carried"] = std::max<i64>(0, std::ssize(inputs) - 2);
    std::vector<std::vector<std::string>> captured;
    for (const std::string& key : keys) {
      const auto from = node.bodies.find(key);
      if (from == node.bodies.end()) fail(Fault::Input, "{} ({}): it has no {}", node.name, node.op, key);
      auto& body = made->bodies.emplace_back(std::make_unique<Graph>(from->second.name));
      Scope inner(*body, &scope, loop);
      if (loop && from->second.inputs.size() != inputs.size())
        fail(Fault::Input, "{} ({}): the body has {} inputs, not {}", node.name, node.op, from->second.inputs.size(),
             inputs.size());
      for (usize i = 0; i < from->second.inputs.size(); ++i) {
        const ModelValue& v = from->second.inputs[i];
        const bool given = loop && i >= 2;
        inner.define(v.name,
                     body->add_input(v.name, given ? inputs[i]->type : v.type, given ? inputs[i]->shape : v.shape),
                     &node);
      }
      graph(from->second, inner);
      captured.push_back(inner.captured);
    }
    // Each body has all that any of them uses, in one order.
    std::vector<std::string> used;
    for (const auto& names : captured) {
      for (const std::string& name : names) {
        if (std::ranges::find(used, name) == used.end()) used.push_back(name);
      }
    }
    for (usize b = 0; b < captured.size(); ++b) {
      Graph& body = *made->bodies[b];
      const usize own = body.inputs.size() - captured[b].size();
      std::vector<Value*> ordered(body.inputs.begin(), body.inputs.begin() + static_cast<std::ptrdiff_t>(own));
      for (const std::string& name : used) {
        const auto at = std::ranges::find(captured[b], name);
        const Value& from = *scope.find(name);
        ordered.push_back(at != captured[b].end() ? body.inputs[own + static_cast<usize>(at - captured[b].begin())]
                                                  : body.add_input(name, from.type, from.shape));
      }
      body.inputs = ordered;
    }
    for (Value* const input : inputs)
      made->add_input(input);
    for (const std::string& name : used)
      made->add_input(scope.find(name));
    for (usize i = 0; i < node.outputs.size(); ++i)
      scope.graph().add_output(made, node.outputs[i].empty() ? node.name : node.outputs[i]);
    return known_outputs(*made, scope.graph());
  }

  // The branch of an If that alone runs, in place of the node: the other one may be wrong for these shapes.
  std::vector<Value*> chosen_body(const ModelNode& node, Scope& scope, const std::string& key) {
    const auto from = node.bodies.find(key);
    if (from == node.bodies.end()) fail(Fault::Input, "{} ({}): it has no {}", node.name, node.op, key);
    Scope inner(scope.graph(), &scope);
    Reading x(scope.graph(), node, opset(""), {}, binder_of(scope.graph()));
    std::vector<Value*> out;
    for (Value* const v : values(from->second, inner))
      out.push_back(x.make("Identity", {v}));
    return out;
  }

  // A Scan as a loop whose turns take their slices of the inputs behind the carried ones.
  std::vector<Value*> make_scan(const ModelNode& node, Scope& scope, const std::vector<Value*>& inputs) {
    Reading x(scope.graph(), node, opset(""), inputs, binder_of(scope.graph()));
    const auto from = node.bodies.find("body");
    const usize scanned = static_cast<usize>(std::max<i64>(x.integer("num_scan_inputs", 0), 0));
    if (x.opset < 9) x.unsupported("its operator set is older than 9");
    if (from == node.bodies.end() || scanned == 0 || scanned > inputs.size() ||
        from->second.inputs.size() != inputs.size())
      fail(Fault::Input, "{} ({}): its body does not have its inputs", node.name, node.op);
    const usize carried = inputs.size() - scanned;
    const auto list = [&](std::string_view key, usize i) {
      const auto* const given = x.attribute<std::vector<i64>>(key);
      return given != nullptr && i < given->size() ? (*given)[i] : 0;
    };
    ModelNode loop{.name = node.name,
                   .domain = "",
                   .op = "Loop",
                   .inputs = {},
                   .outputs = node.outputs,
                   .attributes = {},
                   .bodies = {{"body", from->second}}};
    ModelGraph& body = loop.bodies.at("body");
    const std::string turn = node.name + "/turn", go = node.name + "/go";
    std::optional<i64> turns;
    std::vector<ModelNode> slices;
    for (usize i = 0; i < scanned; ++i) {
      const Shape& shape = inputs[carried + i]->shape;
      if (!shape.ranked() || shape.rank() == 0) x.unsupported("the extents of its input {} are not known", carried + i);
      const usize axis = axis_of_scan(node.name, list("scan_input_axes", i), shape.rank());
      if (shape[axis] < 0) x.unsupported("the extents of its input {} are not known", carried + i);
      if (turns && *turns != shape[axis])
        fail(Fault::Input, "{} ({}): its inputs have {} and {} slices", node.name, node.op, *turns, shape[axis]);
      turns = shape[axis];
      std::string which = turn;
      if (list("scan_input_directions", i) != 0) {
        const std::string last = fmt::format("{}/last{}", node.name, i);
        which = fmt::format("{}/from_end{}", node.name, i);
        body.constants.emplace(last, Tensor(Array(DataType::i64, {}, {static_cast<double>(*turns - 1)})));
        slices.push_back({.name = which,
                          .domain = "",
                          .op = "Sub",
                          .inputs = {last, turn},
                          .outputs = {which},
                          .attributes = {},
                          .bodies = {}});
      }
      slices.push_back({.name = fmt::format("{}/slice{}", node.name, i),
                        .domain = "",
                        .op = "Gather",
                        .inputs = {node.inputs[carried + i], which},
                        .outputs = {body.inputs[carried + i].name},
                        .attributes = {{"axis", static_cast<i64>(axis)}},
                        .bodies = {}});
    }
    body.nodes.insert(body.nodes.begin(), slices.begin(), slices.end());
    body.inputs.resize(carried);
    body.inputs.insert(body.inputs.begin(), {{.name = turn, .type = DataType::i64, .shape = Shape()},
                                             {.name = go, .type = DataType::boolean, .shape = Shape()}});
    body.outputs.insert(body.outputs.begin(), {.name = go, .type = DataType::boolean, .shape = Shape()});
    std::vector<Value*> operands{x.scalar(DataType::i64, static_cast<double>(*turns)), nullptr};
    operands.insert(operands.end(), inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(carried));
    std::vector<Value*> out = with_bodies(loop, scope, operands, "While", {"body"});
    for (usize i = carried; i < out.size(); ++i) {
      if (list("scan_output_directions", i - carried) != 0) {
        std::vector<i64> order(static_cast<usize>(*turns));
        for (usize t = 0; t < order.size(); ++t)
          order[t] = *turns - 1 - static_cast<i64>(t);
        out[i] = x.make("GatherV2", {out[i], x.integers(order)}, {{"axis", i64{0}}});
      }
      const i64 place = list("scan_output_axes", i - carried);
      if (place == 0) continue;
      if (!out[i]->shape.ranked()) x.unsupported("the rank of its output {} is not known", i);
      const usize rank = out[i]->shape.rank(), axis = axis_of_scan(node.name, place, rank);
      std::vector<i64> perm;
      for (usize a = 1; a < rank; ++a)
        perm.push_back(static_cast<i64>(a));
      perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(axis), 0);
      out[i] = x.make("TransposeD", {out[i]}, {{"perm", perm}});
    }
    return out;
  }

  static usize axis_of_scan(const std::string& name, i64 axis, usize rank) {
    const auto count = static_cast<i64>(rank);
    if (axis < -count || axis >= count) fail(Fault::Input, "{} (Scan): there is no axis {}", name, axis);
    return static_cast<usize>(axis < 0 ? axis + count : axis);
  }

  // An operator with a kernel of the user, around the nodes that the operator is without it.
  std::vector<Value*> make_custom(const ModelNode& node, Scope& scope, const std::vector<Value*>& inputs) {
    Node* const made = scope.graph().add_node(kCustomOp, node.name, {}, std::max<usize>(node.outputs.size(), 1));
    made->attributes = node.attributes;
    made->attributes["op"] = node.op;
    made->origins = {node.name};
    const OpReader* const reader = find_reader(node.domain, node.op);
    std::unique_ptr<Graph> body = std::make_unique<Graph>(node.name);
    std::vector<Value*> operands;
    for (Value* const v : inputs) {
      operands.push_back(v == nullptr ? nullptr : body->add_input(v->name, v->type, v->shape));
      if (v == nullptr) continue;
      made->add_input(v);
      operands.back()->constant = v->constant;
    }
    if (reader != nullptr) {
      body->outputs = read_with(*reader, node, *body, operands);
      if (body->outputs.size() < made->outputs().size())
        fail(Fault::Unsupported, "{} ({}): output {} is not supported", node.name, node.op, body->outputs.size());
      body->outputs.resize(made->outputs().size());
      made->bodies.push_back(std::move(body));
    }
    return known_outputs(*made, scope.graph());
  }

  std::vector<Value*> known_outputs(Node& made, const Graph& graph) const {
    infer(made);
    if (ShapeBinder* const binder = binder_of(graph)) binder->bind(made);
    return made.outputs();
  }
  // Bodies have none.
  ShapeBinder* binder_of(const Graph& graph) const {
    return binder_ != nullptr && &binder_->graph() == &graph ? binder_ : nullptr;
  }

  // What readers compute needs extents, which exporters compute from those of other values.
  static Value* with_known_shape(Reading& x, Value* v) {
    if (v == nullptr || v->shape.known()) return v;
    const Shape shape = known_shape(*v);
    return shape.known() ? x.make("Reshape", {v, x.integers(shape.dims())}, {{"allowzero", i64{1}}}) : v;
  }

  std::vector<Value*> read_with(const OpReader& reader, const ModelNode& node, Graph& graph,
                                std::vector<Value*> inputs) const {
    check_signature(reader, node);
    Reading x(graph, node, opset(node.domain), std::move(inputs), binder_of(graph));
    if (reader.read != nullptr) {
      for (Value*& v : x.in)
        v = with_known_shape(x, v);
      return reader.read(x);
    }
    const std::vector<Value*> operands = x.in;
    return x.make(reader.type, operands, node.attributes, std::max<usize>(node.outputs.size(), 1));
  }

  const Model& model_;
  const CustomOps& custom_ops_;
  ShapeBinder* const binder_;
};

void collect(const ModelGraph& graph, const CustomOps& custom_ops, std::vector<NodeSupport>& out) {
  for (const ModelNode& node : graph.nodes) {
    NodeSupport row{.node = node.name, .op = node.domain.empty() ? node.op : node.domain + "." + node.op, .reason = {}};
    const bool control = node.domain.empty() && (node.op == "If" || node.op == "Loop" || node.op == "Scan");
    if (!control && !custom_ops.contains(node.op) && find_reader(node.domain, node.op) == nullptr)
      row.reason = "the operator is not supported; --custom_op takes a kernel of yours for it";
    out.push_back(std::move(row));
    for (const auto& [key, body] : node.bodies)
      collect(body, custom_ops, out);
  }
}

}  // namespace

std::vector<NodeSupport> supported_nodes(const Model& model, const CustomOps& custom_ops) {
  std::vector<NodeSupport> out;
  collect(model.graph, custom_ops, out);
  return out;
}

std::unique_ptr<Graph> import_model(const Model& model, const ImportOptions& options) {
  const std::vector<NodeSupport> nodes = supported_nodes(model, options.custom_ops);
  const auto unsupported = [](const NodeSupport& n) { return !n.reason.empty(); };
  if (const auto first = std::ranges::find_if(nodes, unsupported); first != nodes.end()) {
    const auto more = std::ranges::count_if(nodes, unsupported) - 1;
    fail(Fault::Unsupported, "node {} ({}): {}{}", first->node, first->op, first->reason,
         more > 0 ? fmt::format("; nor {} other nodes (--mode=3 lists them)", more) : "");
  }
  std::vector<std::string_view> known;
  for (const NodeSupport& n : nodes)
    known.push_back(std::string_view(n.op).substr(n.op.rfind('.') + 1));
  for (const std::string& op : options.custom_ops) {
    if (std::ranges::find(known, op) == known.end())
      fail(Fault::Input, "--custom_op: the model has no operator {}{}", op, did_you_mean(op, known));
  }
  auto out = std::make_unique<Graph>(model.graph.name);
  Scope scope(*out, nullptr);
  std::vector<std::string_view> names;
  for (const ModelValue& input : model.graph.inputs)
    names.push_back(input.name);
  for (const auto& [name, shape] : options.input_shapes) {
    if (std::ranges::find(names, name) == names.end())
      fail(Fault::Input, "the model has no input '{}'{}", name, did_you_mean(name, names));
  }
  for (const ModelValue& input : model.graph.inputs) {
    const auto wanted = options.input_shapes.find(input.name);
    const Shape& shape = wanted == options.input_shapes.end() ? input.shape : wanted->second;
    if (wanted != options.input_shapes.end() && input.shape.ranked() && input.shape.rank() != shape.rank())
      fail(Fault::Input, "input '{}' has the shape {}, not {}", input.name, text(input.shape), text(shape));
    scope.define(input.name, out->add_input(input.name, input.type, shape), nullptr);
  }
  std::optional<ShapeBinder> binder;
  if (options.data) binder.emplace(*out, options.data, options.declared_shapes);
  Importer(model, options.custom_ops, binder ? &*binder : nullptr).graph(model.graph, scope);
  if (binder) binder->finish();
  return out;
}

}  // namespace vinci::graph
