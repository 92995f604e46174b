// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "tools/graph/compile/network.h"

namespace vinci::graph {

// One node as it was computed from the inputs of the reference.
struct NodeCheck {
  const CompiledNode* node = nullptr;
  const Value* output = nullptr;
  double error = 0;  // the largest |x - r| as a part of the largest |r|
  double allowed = 0;
  double largest = 0;   // |r| of the reference
  bool in_f16 = false;  // so it is computed, whatever the type of the output
  // Elements of the reference that exceed f16, where no operand does: infinite there is right.
  usize overflowed = 0;
  bool right() const { return error <= allowed; }
};

// Runs each node with the inputs of the reference, rounded to their types, without time. `inputs` are those of the
// network.
std::vector<NodeCheck> check_nodes(const Network& network, const std::vector<Array>& inputs);

}  // namespace vinci::graph
