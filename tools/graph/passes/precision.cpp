// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

namespace vinci::graph {
namespace {

constexpr double kMaxF16 = 65504;  // weights are clipped to it, as --is_weight_clip=1 does

// A sum in L0C begins with a bias of f32.
bool is_bias(const Node& node, usize input) {
  return input == 2 && (node.type == "Conv2D" || node.type == "BatchMatMulV2");
}
// Corners of boxes in pixels of an image have more bits than f16.
bool is_boxes(const Node& node, usize input) { return node.type == "ROIAlign" && input == 1; }
bool stays_f32(const Node& node, usize input) {
  return is_bias(node, input) || is_boxes(node, input) || (node.type == "Resize" && input > 0);
}

// The bias of a model in f16.
void widen_bias(Graph& graph, Node& node) {
  Value* const bias = node.input(2);
  if (!is_bias(node, 2) || bias == nullptr || !bias->constant || bias->type != DataType::f16) return;
  Array a = bias->constant->array();
  a.type = DataType::f32;
  node.set_input(2, graph.add_constant(bias->name, Tensor(a)));
}

Value* cast(Graph& graph, Value* value, DataType type, const Node* before) {
  Node* const node = graph.add_node("Cast", value->name + "/Cast", {value}, 1, before);
  node->attributes["to"] = static_cast<i64>(enum_index(type));
  infer(*node);
  return node->output();
}

Value* as_f16(Graph& graph, const Value& constant) {
  Array a = constant.constant->array();
  for (double& v : a.values)
    v = std::isfinite(v) ? std::clamp(v, -kMaxF16, kMaxF16) : v;
  a.type = DataType::f16;
  return graph.add_constant(constant.name, Tensor(a));
}

// Nodes whose kernels have f16 alone, or are far faster with it.
bool prefers_f16(const Node& node) {
  static constexpr auto kTypes =
      std::to_array<std::string_view>({"AvgPool", "BatchMatMulV2", "Conv2D", "Conv2DTranspose", "MaxPool", "Upsample"});
  return std::ranges::find(kTypes, node.type) != kTypes.end() && node.outputs().size() == 1;
}

// allow_fp32_to_fp16: products and windows of f32 are computed in f16, with a Cast in front of them and one behind; all
// other nodes keep their types.
Effect narrow_products(Graph& graph) {
  Effect effect;
  std::map<const Value*, Value*> narrow;
  for (auto at = graph.nodes().begin(); at != graph.nodes().end(); ++at) {
    Node& node = **at;
    if (!prefers_f16(node) || node.output()->type != DataType::f32) continue;
    ++effect.matches;
    ++effect.changes;
    for (usize i = 0; i < node.inputs().size(); ++i) {
      Value* const value = node.input(i);
      if (value == nullptr || value->type != DataType::f32 || is_bias(node, i)) continue;
      Value*& made = narrow[value];
      if (made == nullptr) made = value->constant ? as_f16(graph, *value) : cast(graph, value, DataType::f16, &node);
      node.set_input(i, made);
    }
    infer(node);
    Value* const product = node.output();
    const std::vector<Use> uses = product->uses();
    const auto next = std::next(at);
    Value* const wide = cast(graph, product, DataType::f32, next == graph.nodes().end() ? nullptr : next->get());
    for (const Use& use : uses)
      use.node->set_input(use.input, wide);
    for (Value*& output : graph.outputs) {
      if (output != product) continue;
      std::swap(wide->name, product->name);
      output = wide;
    }
  }
  return effect;
}

// Products of f32 whose operands are rounded to HF32.
Effect allow_hf32(Graph& graph) {
  Effect effect;
  for (const auto& node : graph.nodes()) {
    const bool product = node->type == "Conv2D" || node->type == "BatchMatMulV2";
    if (!product || node->output()->type != DataType::f32) continue;
    ++effect.matches;
    ++effect.changes;
    node->attributes["enable_hf32"] = i64{1};
  }
  return effect;
}

// No core computes with f64: constants and results of Casts are f32.
void narrow_f64(Graph& graph) {
  const auto is_f64 = [](const Value* v) { return v != nullptr && v->type == DataType::f64; };
  const auto has_f64 = [&](const auto& node) {
    return std::ranges::any_of(node->inputs(), is_f64) || std::ranges::any_of(node->outputs(), is_f64);
  };
  if (std::ranges::none_of(graph.nodes(), has_f64)) return;
  std::map<const Value*, Value*> narrow;
  for (const auto& node : graph.nodes()) {
    for (usize i = 0; i < node->inputs().size(); ++i) {
      Value* const value = node->input(i);
      if (value == nullptr || !value->constant || value->type != DataType::f64) continue;
      Value*& made = narrow[value];
      if (made == nullptr) {
        Array a = value->constant->array();
        a.type = DataType::f32;
        a.round();
        made = graph.add_constant(value->name, Tensor(a));
      }
      node->set_input(i, made);
    }
    if (node->type == "Cast" && node->integer("to") == static_cast<i64>(enum_index(DataType::f64)))
      node->attributes["to"] = static_cast<i64>(enum_index(DataType::f32));
    infer(*node);
  }
}

// A Cast to f16 for all users of a result, and in a branch for what it returns; outputs of the network stay as they
// are.
void narrow_result(Graph& graph, Node& node, bool branch, const Node* before) {
  Value* const wide = node.output();
  const std::vector<Use> uses = wide->uses();
  if (uses.empty() && !branch) return;
  Value* const narrow = cast(graph, wide, DataType::f16, before);
  for (const Use& use : uses)
    use.node->set_input(use.input, narrow);
  if (branch) std::ranges::replace(graph.outputs, wide, narrow);
}

// Sums of bytes leave the range of f16 before their scale: what turns them into floats, the product with the scale
// and a scale of one element that is a product itself stay f32.
std::set<const Node*> scales_of_sums(const Graph& graph) {
  std::set<const Node*> out;
  for (const auto& node : graph.nodes()) {
    if (node->type != "Cast" || node->input(0)->type != DataType::i32 || node->output()->type != DataType::f32)
      continue;
    Node* const product = graph.sole_user(node->output());
    if (product == nullptr || product->type != "Mul") continue;
    out.insert({node.get(), product});
    Node* const scale = producer(other_operand(*product, node->output()), "Mul");
    if (scale != nullptr && scale->output()->shape.known() && scale->output()->shape.elements() == 1) out.insert(scale);
  }
  return out;
}

}  // namespace

// force_fp16: whatever is f32 becomes f16, with Casts behind the inputs and in front of the outputs of the network.
Effect insert_casts(Graph& graph, const Target& target) {
  if (target.chip == nullptr) return {};
  narrow_f64(graph);
  for (const auto& node : graph.nodes())
    widen_bias(graph, *node);
  if (target.precision == PrecisionMode::allow_fp32_to_fp16) return narrow_products(graph);
  if (target.precision != PrecisionMode::force_fp16) return target.hf32 ? allow_hf32(graph) : Effect{};
  Effect effect;
  std::vector<DataType> outputs;
  for (const Value* const v : graph.outputs)
    outputs.push_back(v->type);
  const Node* const first = graph.size() == 0 ? nullptr : graph.nodes().front().get();
  std::map<const Value*, Value*> narrow;
  std::set<const Node*> made_here;
  for (Value* const input : std::vector<Value*>(graph.inputs)) {
    if (input->type != DataType::f32 || input->uses().empty()) continue;
    if (target.branch) {
      input->type = DataType::f16;
      continue;
    }
    std::vector<Use> uses = input->uses();
    std::erase_if(uses, [](const Use& use) { return is_boxes(*use.node, use.input); });
    const bool output = std::ranges::find(graph.outputs, input) != graph.outputs.end();
    if (uses.empty() && !output) continue;
    Value* const made = cast(graph, input, DataType::f16, first);
    made_here.insert(made->producer());
    ++effect.matches;
    ++effect.changes;
    for (const Use& use : uses)
      use.node->set_input(use.input, made);
  }
  const std::set<const Node*> wide = scales_of_sums(graph);
  for (auto at = graph.nodes().begin(); at != graph.nodes().end(); ++at) {
    Node* const node = at->get();
    if (made_here.contains(node)) continue;
    if (wide.contains(node)) {
      for (usize i = 0; i < node->inputs().size(); ++i) {
        if (node->input(i)->type == DataType::f16) node->set_input(i, cast(graph, node->input(i), DataType::f32, node));
      }
      infer(*node);
      const auto next = std::next(at);
      const auto is_wide = [&](const Use& use) { return wide.contains(use.node); };
      if (std::ranges::none_of(node->output()->uses(), is_wide))
        narrow_result(graph, *node, target.branch, next == graph.nodes().end() ? nullptr : next->get());
      continue;
    }
    for (usize i = 0; i < node->inputs().size(); ++i) {
      Value* const value = node->input(i);
      if (value == nullptr || !value->constant || value->type != DataType::f32 || stays_f32(*node, i)) continue;
      Value*& made = narrow[value];
      if (made == nullptr) made = as_f16(graph, *value);
      node->set_input(i, made);
    }
    if (node->type == "Cast" && node->integer("to") == static_cast<i64>(enum_index(DataType::f32)))
      node->attributes["to"] = static_cast<i64>(enum_index(DataType::f16));
    infer(*node);
  }
  for (usize i = 0; i < graph.outputs.size(); ++i) {
    Value* const value = graph.outputs[i];
    if (target.branch) {
      if (value->constant && value->type == DataType::f32) graph.outputs[i] = as_f16(graph, *value);
      continue;
    }
    if (value->type == outputs[i]) continue;
    Value* const made = cast(graph, value, outputs[i], nullptr);
    std::swap(made->name, value->name);
    graph.outputs[i] = made;
    ++effect.matches;
    ++effect.changes;
  }
  return effect;
}

}  // namespace vinci::graph
