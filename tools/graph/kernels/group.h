// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "tools/graph/ir/graph.h"

namespace vinci::graph {

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
  // The tensor that an operand of a node of the group is: of the node around where it comes from there.
  const Value* resolve(const Value* value) const;

 private:
  const Node* node_;
  std::vector<const Node*> nodes_;
  std::vector<const Value*> inputs_, outputs_;
};

}  // namespace vinci::graph
