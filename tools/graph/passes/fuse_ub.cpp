// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <unordered_map>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/ops/run.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// Nodes that one kernel computes become a FusedOp: values between them are never written to memory.
namespace vinci::graph {
namespace {

// The nodes of all parts as one node in front of the last one; the parts stay. Each part uses the output of the one
// before.
Node* join(Graph& graph, std::span<const Node* const> parts) {
  const Node &first = *parts.front(), &second = *parts.back();
  Node* const fused = graph.add_node("FusedOp", first.name, {}, 0, &second);
  Graph& body = *fused->bodies.emplace_back(std::make_unique<Graph>(first.name));
  std::unordered_map<const Value*, Value*> to{{nullptr, nullptr}};
  const auto inside = [&](Value* v) {
    if (const auto at = to.find(v); at != to.end()) return at->second;
    Value* const input = body.add_input(v->name, v->type, v->shape);
    input->format = v->format;
    input->constant = v->constant;
    fused->add_input(v);
    return to[v] = input;
  };
  const auto copy = [&](const Node& from, const auto& operand) {
    std::vector<Value*> inputs;
    for (Value* const v : from.inputs())
      inputs.push_back(operand(v));
    Node* const made = body.add_node(from.type, from.name, inputs, from.outputs().size());
    made->attributes = from.attributes;
    made->origins = from.origins;
    for (usize i = 0; i < from.outputs().size(); ++i) {
      made->output(i)->type = from.output(i)->type;
      made->output(i)->shape = from.output(i)->shape;
      made->output(i)->format = from.output(i)->format;
      made->output(i)->name = from.output(i)->name;
    }
    return made;
  };
  for (const Node* const part : parts) {
    if (part->type != "FusedOp") {
      Node* const made = copy(*part, inside);
      for (usize i = 0; i < part->outputs().size(); ++i)
        to[part->output(i)] = made->output(i);
      continue;
    }
    const Graph& old = *part->bodies[0];
    std::unordered_map<const Value*, Value*> here{{nullptr, nullptr}};
    for (usize i = 0; i < old.inputs.size(); ++i)
      here[old.inputs[i]] = inside(part->input(i));
    for (const auto& node : old.nodes()) {
      Node* const made = copy(*node, [&](Value* v) { return here.at(v); });
      for (usize i = 0; i < node->outputs().size(); ++i)
        here[node->output(i)] = made->output(i);
    }
    for (usize i = 0; i < old.outputs.size(); ++i)
      to[part->output(i)] = here.at(old.outputs[i]);
  }
  body.outputs = {to.at(second.output())};
  Value* const out = graph.add_output(fused, second.output()->name + "/fused");
  out->type = second.output()->type;
  out->shape = second.output()->shape;
  out->format = second.output()->format;
  for (const Node* const part : parts)
    fused->origins.insert(fused->origins.end(), part->origins.begin(), part->origins.end());
  return fused;
}

// Puts the joined node in the place of its parts.
void take_parts(Graph& graph, Node& fused, std::span<Node* const> parts) {
  Value* const old = parts.back()->output();
  std::string name = old->name;
  graph.replace(old, fused.output());
  old->name += "/replaced";
  fused.output()->name = std::move(name);
  for (usize i = parts.size(); i-- > 0;)
    graph.erase(parts[i]);
}

bool begins_with(const Node& node, std::string_view type) {
  return node.type == type || (node.type == "FusedOp" && node.bodies[0]->nodes().front()->type == type);
}

// The nodes of the model at both ends of a value: inside a FusedOp, those that make and read it.
const Node& maker(const Value& value) {
  const Node& node = *value.producer();
  return node.type == "FusedOp" ? *node.bodies[0]->outputs[value.output()]->producer() : node;
}
const Node& reader(const Node& node, const Value& value) {
  if (node.type != "FusedOp") return node;
  const auto at = std::ranges::find(node.inputs(), &value);
  return *node.bodies[0]->inputs[static_cast<usize>(at - node.inputs().begin())]->uses().at(0).node;
}

// Puts `word` wherever `text` has `name` as a word of its own.
void replace_word(std::string& text, std::string_view name, std::string_view word) {
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/'; };
  for (usize at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const usize end = at + name.size();
    if ((at > 0 && in_name(text[at - 1])) || (end < text.size() && in_name(text[end]))) continue;
    text.replace(at, name.size(), word);
    at += word.size();
  }
}

// A reason of a kernel with words in place of the names of values, so that equal reasons are equal texts.
std::string without_names(std::string text, const Node& node) {
  std::vector<std::pair<std::string_view, std::string_view>> names;
  const auto add = [&](const std::vector<Value*>& values, std::string_view word) {
    for (const Value* const v : values) {
      // A name of letters may be a word of the reason.
      const bool letters = v != nullptr && std::ranges::all_of(v->name, [](char c) { return c >= 'a' && c <= 'z'; });
      if (v != nullptr && !letters && find_op(v->name) == nullptr) names.emplace_back(v->name, word);
    }
  };
  add(node.outputs(), "the result");
  add(node.inputs(), "an operand");
  for (const auto& body : node.bodies) {
    add(body->outputs, "the result");
    add(body->inputs, "an operand");
    for (const auto& inner : body->nodes()) {
      add(inner->outputs(), "a value in between");
      if (find_op(inner->name) == nullptr) names.emplace_back(inner->name, inner->type);
    }
  }
  if (find_op(node.name) == nullptr && node.bodies.empty()) names.emplace_back(node.name, node.type);
  for (const auto& [name, word] : names)
    replace_word(text, name, word);
  return text;
}

// Why `kernel` does not compute `node`, which was made of several; "" where it does.
std::string refuses_joined(const Kernel& kernel, const Node& node, const config::ChipConfig& chip) {
  const std::string reason = kernel.refuses(Group(node), chip);
  if (reason.empty()) return "";
  return fmt::format("the kernel {} does not take the joined nodes: {}", kernel.name, without_names(reason, node));
}

// One node in the place of all parts, of which each uses the one before, if `kernel` computes them together; else the
// reason why not.
std::string fuse(Graph& graph, const std::vector<Node*>& parts, const Kernel& kernel, const Target& target,
                 Visit& visit) {
  const std::vector<const Node*> all(parts.begin(), parts.end());
  const auto differs = [&](const Node* part) { return graph.unknown_shape(*part) != graph.unknown_shape(*all[0]); };
  if (std::ranges::any_of(all, differs)) return "of one node the shape follows from data, of another it is known";
  Node* const fused = join(graph, all);
  if (std::string reason = refuses_joined(kernel, *fused, *target.chip); !reason.empty()) {
    graph.erase(fused);
    return reason;
  }
  visit.did = Visit::gone;
  visit.join = join_of(graph, all);
  take_parts(graph, *fused, parts);
  return "";
}

// The same for `node` and the producer of an operand, unless the operand must be in memory anyway. A reason why not is
// noted. Returns whether they are one.
bool fuse_pair(Graph& graph, Value& between, Node& node, const Kernel& kernel, const Target& target, Visit& visit) {
  std::string reason = other_use(graph, &between, node);
  if (reason.empty()) reason = fuse(graph, {between.producer(), &node}, kernel, target, visit);
  if (reason.empty()) return true;
  visit.refuse({&maker(between), &reader(node, between)}, std::move(reason));
  return false;
}

// A node that is no task: the same elements with other extents.
bool is_shape(const Node& node) { return is_view(node) && node.type != "TransposeD"; }

bool is_element_wise(const Node& node, const config::ChipConfig& chip) {
  return kElementwiseKernel.refuses(Group(node), chip).empty();
}

// An element-wise node, and a product or convolution that one of its operands comes from.
Visit fuse_with_anchor(Graph& graph, Node& node, const Target& target, const Kernel& kernel, std::string_view anchor) {
  if (target.chip == nullptr) return Visit::none;
  // FIXPIPE has a Relu of all types.
  const bool relu = node.type == "Relu" && !is_joint(*target.chip);
  if (!relu && !is_element_wise(node, *target.chip)) return Visit::none;
  Visit visit = Visit::none;
  for (Value* const input : std::vector<Value*>(node.inputs())) {
    const Node* const before = input == nullptr ? nullptr : input->producer();
    if (before == nullptr || !begins_with(*before, anchor)) continue;
    if (fuse_pair(graph, *input, node, kernel, target, visit)) return visit;
  }
  return visit;
}

// Nodes that only the passes in front of the one for element-wise nodes put together with others.
bool is_anchor(const Node& node) { return begins_with(node, "Conv2D") || begins_with(node, "BatchMatMulV2"); }

}  // namespace

Visit fuse_conv_elementwise(Graph& graph, Node& node, const Target& target) {
  return fuse_with_anchor(graph, node, target, kConvolutionKernel, "Conv2D");
}

Visit fuse_matmul_elementwise(Graph& graph, Node& node, const Target& target) {
  return fuse_with_anchor(graph, node, target, kMatmulKernel, "BatchMatMulV2");
}

// A product, nodes that change its shape, and a transpose: the product stores where the transpose would.
Visit fuse_matmul_transpose(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || node.type != "TransposeD") return Visit::none;
  std::vector<Node*> parts{&node};
  std::string reason;
  while (parts.front() == &node || !begins_with(*parts.front(), "BatchMatMulV2")) {
    const Value* const input = parts.front()->input(0);
    Node* const before = input->producer();
    if (before == nullptr) return Visit::none;
    if (!begins_with(*before, "BatchMatMulV2") && !is_shape(*before)) return Visit::none;
    if (reason.empty()) reason = other_use(graph, input, *parts.front());
    parts.insert(parts.begin(), before);
  }
  if (!is_joint(*target.chip)) reason = "on a split core FIXPIPE stores rows in their order";
  Visit visit = Visit::none;
  if (reason.empty()) reason = fuse(graph, parts, kMatmulKernel, target, visit);
  if (!reason.empty()) visit.refuse({&maker(*parts.front()->output()), &node}, std::move(reason));
  return visit;
}

// What scales the sums of a product of bytes, on their way out of L0C.
Visit fuse_dequantisation(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || (node.type != "AscendDequant" && node.type != "AscendRequant")) return Visit::none;
  const Node* const before = node.input(0)->producer();
  const Kernel* const kernel = before == nullptr                 ? nullptr
                               : before->type == "BatchMatMulV2" ? &kMatmulKernel
                               : before->type == "Conv2D"        ? &kConvolutionKernel
                                                                 : nullptr;
  if (kernel == nullptr) return Visit::none;
  Visit visit = Visit::none;
  fuse_pair(graph, *node.input(0), node, *kernel, target, visit);
  return visit;
}

// Two element-wise nodes. Of neighbours of which one is element-wise it says why they stay apart.
Visit fuse_elementwise(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || is_anchor(node) || is_shape(node)) return Visit::none;
  if (node.type == "TransData" || node.branches()) return Visit::none;
  const auto refuses = [&](const Node& n) {
    const std::string reason = kElementwiseKernel.refuses(Group(n), *target.chip);
    return reason.empty() ? "" : fmt::format("{} is not element-wise: {}", n.type, without_names(reason, n));
  };
  const std::string here = refuses(node);
  Visit visit = Visit::none;
  for (Value* const input : std::vector<Value*>(node.inputs())) {
    const Node* before = input == nullptr ? nullptr : input->producer();
    if (before == nullptr) continue;
    if (is_shape(*before)) {
      const Node& shape = *before;
      while (before != nullptr && is_shape(*before))
        before = before->input(0)->producer();
      if (here.empty() && before != nullptr && (is_anchor(*before) || is_element_wise(*before, *target.chip)))
        visit.note({&maker(*before->output()), &reader(node, *input)}, fmt::format("a {} is between them", shape.type));
      continue;
    }
    if (is_anchor(*before) || before->type == "TransData" || before->branches()) continue;
    const std::string there = refuses(*before);
    if (here.empty() && there.empty()) {
      if (fuse_pair(graph, *input, node, kElementwiseKernel, target, visit)) return visit;
    } else if (here.empty() || there.empty()) {
      visit.note({&maker(*input), &reader(node, *input)}, here.empty() ? there : here);
    }
  }
  return visit;
}

}  // namespace vinci::graph
