// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/group.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tools/graph/passes/match.h"

namespace vinci::graph {

namespace {

// Constants of i64, other than the first operand, are axes, extents or pads, which programs contain.
bool has_constant_operands(const Node& node) {
  static constexpr auto kTypes =
      std::to_array<std::string_view>({"BroadcastTo", "Cumsum", "PadV3", "Reshape", "Resize", "SplitV", "Squeeze",
                                       "StridedSliceV2", "Tile", "TopKV2", "Trilu", "Unsqueeze"});
  return node.type.starts_with("Reduce") || std::ranges::find(kTypes, node.type) != kTypes.end();
}

// Operands of one element are tensors like any other: of a product with one row and column, a piece of one token.
bool has_tensors_alone(const Node& node) {
  static constexpr auto kTypes = std::to_array<std::string_view>({"BatchMatMulV2", "ConcatD", "Conv2D"});
  return std::ranges::find(kTypes, node.type) != kTypes.end();
}

}  // namespace

bool is_view(const Node& node) {
  static constexpr auto kTypes =
      std::to_array<std::string_view>({"FlattenV2", "Reshape", "Squeeze", "TransposeD", "Unsqueeze"});
  return std::ranges::find(kTypes, node.type) != kTypes.end();
}

Group::Group(const Node& node) : node_(&node) {
  if (node.type == "FusedOp") {
    for (const auto& inner : node.bodies.at(0)->nodes())
      nodes_.push_back(inner.get());
  } else {
    nodes_.push_back(&node);
  }
  const auto is_number = [&](const Value* v) {
    return scalar(v) && std::ranges::none_of(nodes_, [&](const Node* n) {
             return has_tensors_alone(*n) &&
                    std::ranges::any_of(n->inputs(), [&](const Value* o) { return resolve(o) == v; });
           });
  };
  vector_end_ = nodes_.size();
  if (nodes_[0]->type == "BatchMatMulV2") {
    while (is_view(*nodes_[vector_end_ - 1]))
      --vector_end_;
  }
  const auto is_constant_operand = [&](const Value* v) {
    return v->constant && v->type == DataType::i64 && std::ranges::any_of(nodes_, [&](const Node* n) {
             return has_constant_operands(*n) &&
                    std::ranges::any_of(n->inputs(), [&](const Value* o) { return resolve(o) == v; });
           });
  };
  const bool custom = node.type == kCustomOp;  // its kernel reads each operand from memory
  for (const Value* const v : node.inputs()) {
    if (v == nullptr || (!custom && (is_number(v) || is_constant_operand(v)))) continue;
    if (std::ranges::find(inputs_, v) != inputs_.end()) continue;
    inputs_.push_back(v);
  }
  outputs_.assign(node.outputs().begin(), node.outputs().end());
}

const Value* Group::resolve(const Value* value) const {
  if (value == nullptr || node_->type != "FusedOp") return value;
  const Graph& body = *node_->bodies[0];
  if (const auto in = std::ranges::find(body.inputs, value); in != body.inputs.end())
    return node_->input(static_cast<usize>(in - body.inputs.begin()));
  if (const auto out = std::ranges::find(body.outputs, value); out != body.outputs.end())
    return node_->output(static_cast<usize>(out - body.outputs.begin()));
  return value;
}

}  // namespace vinci::graph
