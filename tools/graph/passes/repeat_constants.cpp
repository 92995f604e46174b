// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>

#include "tools/graph/kernels/elementwise_rows.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/rows.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/passes/pass.h"

namespace vinci::graph {

// Rows that end inside a block are stored by one core, in order. A tensor of the shape of the result has no rows.
Visit write_out_constants(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || !is_joint(*target.chip) || node.outputs().size() != 1) return Visit::none;
  const Value& out = *node.output();
  if (!out.shape.known() || node.inputs().size() < 2) return Visit::none;
  const Group group(node);
  if (!kElementwiseKernel.refuses(group, *target.chip).empty() || !in_rows(group)) return Visit::none;
  constexpr u64 kMostElements = u64{1} << 22;
  if (row_width(group) % kC0 == 0 || out.shape.elements() > kMostElements) return Visit::none;
  const auto repeated = [&](const Value* v) { return v != nullptr && is_broadcast(group, *v, out); };
  for (const Value* const v : node.inputs()) {
    if (repeated(v) && !v->constant) return Visit::refused({&node}, "an operand that is repeated is no constant");
  }
  for (usize i = 0; i < node.inputs().size(); ++i) {
    Value* const v = node.input(i);
    if (!repeated(v)) continue;
    const Array from = v->constant->array();
    Array to(from.type, out.shape.dims());
    const std::vector<i64> strides = broadcast_strides(v->shape.dims(), out.shape.dims());
    for (u64 e = 0; e < to.size(); ++e) {
      u64 rest = e, at = 0;
      for (usize a = strides.size(); a-- > 0;) {
        const auto extent = static_cast<u64>(out.shape[a]);
        at += rest % extent * static_cast<u64>(strides[a]);
        rest /= extent;
      }
      to.values[e] = from.values[at];
    }
    Value* const whole = graph.add_constant(v->name + "/repeated", Tensor(to));
    whole->type = v->type;
    node.set_input(i, whole);
  }
  return Visit::changed;
}

}  // namespace vinci::graph
