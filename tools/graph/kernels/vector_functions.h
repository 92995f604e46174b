// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>

#include "tools/graph/ir/graph.h"
#include "tools/graph/kernels/vector_writer.h"

namespace vinci::graph {

// A function of one operand that is computed in f32 whatever the type of its tensors: dst = f(src), in buffers that are
// not the same; `free` is the first buffer of scratch that it may use.
struct VectorFunction {
  std::string_view type;  // of the node
  void (*write)(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node);
  u32 scratch = 0;  // buffers
  // "" where the attributes and operands of a node are possible; may be null.
  std::string_view (*refuses)(const Node& node) = nullptr;
};

// Null where there is none for the type.
const VectorFunction* find_vector_function(std::string_view type);

}  // namespace vinci::graph
