// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/ops/slice.h"

#include <algorithm>
#include <limits>

#include "tools/graph/ops/op.h"

namespace vinci::graph {

Slices slices_of(const Node& node, std::span<const i64> dims, std::span<const i64> starts, std::span<const i64> ends,
                 std::span<const i64> axes, std::span<const i64> steps) {
  Slices s{.start = Dims(dims.size(), 0), .step = Dims(dims.size(), 1), .count = Dims(dims.begin(), dims.end())};
  for (usize i = 0; i < starts.size(); ++i) {
    const usize axis = axis_of(node, axes.empty() ? static_cast<i64>(i) : axes[i], dims.size());
    const i64 extent = dims[axis], step = steps.empty() ? 1 : steps[i];
    if (step == 0) fail(Fault::Input, "{} ({}): a step is 0", node.name, node.type);
    if (extent < 0) {
      s.count[axis] = Shape::kUnknown;
      continue;
    }
    const auto place = [&](i64 v, i64 low, i64 high) { return std::clamp(v < 0 ? v + extent : v, low, high); };
    const i64 first = step > 0 ? place(starts[i], 0, extent) : place(starts[i], 0, extent - 1);
    const i64 last = step > 0 ? place(ends[i], 0, extent) : place(ends[i], -1, extent - 1);
    const i64 span = step > 0 ? last - first : first - last;
    const i64 length = step > 0                                  ? step
                       : step == std::numeric_limits<i64>::min() ? std::numeric_limits<i64>::max()
                                                                 : -step;
    s.start[axis] = first;
    s.step[axis] = step;
    s.count[axis] = span <= 0 ? 0 : (span - 1) / length + 1;
  }
  return s;
}

}  // namespace vinci::graph
