// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/exchange.h"

#include <algorithm>

#include "tools/graph/kernels/strided_copy.h"

namespace vinci::graph {
namespace {

// Axes that both tensors have as one are one here; those of extent 1 are left out.
std::vector<Exchange::Axis> exchange_axes(const StridedCopy& copy) {
  std::vector<Exchange::Axis> out;
  for (usize a = 0; a < copy.dims.size(); ++a) {
    if (copy.dims[a] == 1) continue;
    const Exchange::Axis axis{static_cast<u64>(copy.dims[a]), copy.from.strides[a], copy.to.strides[a]};
    const i64 extent = copy.dims[a];
    if (!out.empty() && out.back().from == axis.from * extent && out.back().to == axis.to * extent) {
      out.back() = {out.back().extent * axis.extent, axis.from, axis.to};
    } else {
      out.push_back(axis);
    }
  }
  return out;
}

}  // namespace

std::optional<Exchange> exchange_of(const Group& group) {
  const std::optional<StridedCopy> copy = sole_copy(group);
  if (!copy) return std::nullopt;
  Exchange out{.input = copy->input, .from = copy->from.base, .to = copy->to.base, .bytes = copy->from.bytes};
  bool rows = false, columns = false;
  for (const Exchange::Axis& axis : exchange_axes(*copy)) {
    if (axis.from == 1 && axis.to == 1) return std::nullopt;
    if (axis.to == 1) {
      rows = true;
      out.rows = axis;
    } else if (axis.from == 1) {
      columns = true;
      out.columns = axis;
    } else {
      out.outer.push_back(axis);
    }
  }
  const auto apart = [](i64 stride, u64 extent) { return stride >= static_cast<i64>(extent); };
  if (!rows || !columns || !apart(out.rows.from, out.columns.extent) || !apart(out.columns.to, out.rows.extent))
    return std::nullopt;
  return out;
}

}  // namespace vinci::graph
