// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/run.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// Nodes that one kernel computes become a FusedOp: what lies between them never goes to memory.
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
    Node* const made = body.add_node(from.type, from.name, std::move(inputs), from.outputs().size());
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

// One node in the place of `before` and `node`, which uses it, if `kernel` computes both together.
bool fuse_pair(Graph& graph, Node& before, Node& node, const Target& target, const Kernel& kernel) {
  const std::array parts{&before, &node};
  Node* const fused = join(graph, std::array<const Node*, 2>{&before, &node});
  if (!kernel.refuses(Group(*fused), *target.chip).empty()) {
    graph.erase(fused);
    return false;
  }
  take_parts(graph, *fused, parts);
  return true;
}

// `node` and the producer of one of its operands, if `kernel` computes both together and the producer is of `kind`.
Visit fuse_with_producer(Graph& graph, Node& node, const Target& target, const Kernel& kernel,
                         bool (*kind)(const Node&, const config::ChipConfig&)) {
  if (target.chip == nullptr) return Visit::none;
  // FIXPIPE has a Relu of all types.
  const bool relu = node.type == "Relu" && !is_joint(*target.chip);
  if (!relu && !kElementwiseKernel.refuses(Group(node), *target.chip).empty()) return Visit::none;
  bool matched = false;
  for (Value* const input : std::vector<Value*>(node.inputs())) {
    Node* const before = input == nullptr ? nullptr : input->producer();
    if (before == nullptr || !kind(*before, *target.chip)) continue;
    matched = true;
    if (graph.sole_user(input) == &node && fuse_pair(graph, *before, node, target, kernel)) return Visit::gone;
  }
  return matched ? Visit::matched : Visit::none;
}

}  // namespace

Visit fuse_conv_elementwise(Graph& graph, Node& node, const Target& target) {
  return fuse_with_producer(graph, node, target, kConvolutionKernel, [](const Node& before, const config::ChipConfig&) {
    return begins_with(before, "Conv2D");
  });
}

Visit fuse_matmul_elementwise(Graph& graph, Node& node, const Target& target) {
  return fuse_with_producer(graph, node, target, kMatmulKernel, [](const Node& before, const config::ChipConfig&) {
    return begins_with(before, "BatchMatMulV2");
  });
}

// A product, nodes that change its shape, and a transpose: the product stores where the transpose would.
Visit fuse_matmul_transpose(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || !is_joint(*target.chip) || node.type != "TransposeD") return Visit::none;
  std::vector<Node*> parts{&node};
  while (true) {
    Node* const before = parts.front()->input(0)->producer();
    if (before == nullptr) return Visit::none;
    const bool product = begins_with(*before, "BatchMatMulV2");
    if (!product && (!is_view(*before) || before->type == "TransposeD")) return Visit::none;
    if (graph.sole_user(parts.front()->input(0)) != parts.front()) return product ? Visit::matched : Visit::none;
    parts.insert(parts.begin(), before);
    if (product) break;
  }
  Node* const fused = join(graph, std::vector<const Node*>(parts.begin(), parts.end()));
  if (!kMatmulKernel.refuses(Group(*fused), *target.chip).empty()) {
    graph.erase(fused);
    return Visit::matched;
  }
  take_parts(graph, *fused, parts);
  return Visit::gone;
}

// What scales the sums of a product of bytes, on their way out of L0C.
Visit fuse_dequantisation(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || (node.type != "AscendDequant" && node.type != "AscendRequant")) return Visit::none;
  Node* const before = node.input(0)->producer();
  if (before == nullptr || graph.sole_user(node.input(0)) != &node) return Visit::none;
  const Kernel* const kernel = before->type == "BatchMatMulV2" ? &kMatmulKernel
                               : before->type == "Conv2D"      ? &kConvolutionKernel
                                                               : nullptr;
  if (kernel == nullptr) return Visit::none;
  return fuse_pair(graph, *before, node, target, *kernel) ? Visit::gone : Visit::matched;
}

Visit fuse_elementwise(Graph& graph, Node& node, const Target& target) {
  return fuse_with_producer(graph, node, target, kElementwiseKernel,
                            [](const Node& before, const config::ChipConfig& chip) {
                              return kElementwiseKernel.refuses(Group(before), chip).empty();
                            });
}

}  // namespace vinci::graph
