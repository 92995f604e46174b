// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "tools/graph/ir/graph.h"

namespace vinci::graph {

// Whether a node changes no element: Reshape and its kin, TransposeD.
bool is_view(const Node& node);

// What one kernel computes: a node, or the nodes of a FusedOp in order. Values are those of the node, and of the body
// for results in between.
class Group {
 public:
  explicit Group(const Node& node);

  const Node& node() const { return *node_; }
  const std::vector<const Node*>& nodes() const { return nodes_; }
  // Tensors that the kernel reads, in order and each once. Constant numbers, and constants that are
  // axes, extents or pads, are not among them: programs contain them.
  const std::vector<const Value*>& inputs() const { return inputs_; }
  const std::vector<const Value*>& outputs() const { return outputs_; }
  // Behind a product, nodes that only say where results go: Reshape and TransposeD. Element-wise nodes end in front of
  // them.
  usize vector_end() const { return vector_end_; }
  // The tensor that an operand of a node of the group is: of the node around where it comes from there.
  const Value* resolve(const Value* value) const;

 private:
  const Node* node_;
  std::vector<const Node*> nodes_;
  usize vector_end_ = 0;
  std::vector<const Value*> inputs_, outputs_;
};

}  // namespace vinci::graph
