// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <vector>

#include "tools/graph/kernels/kernel.h"

namespace vinci::graph {

// A move that exchanges two axes. Neighbours along `columns` are neighbours in the operand, neighbours along `rows` are
// so in the result.
struct Exchange {
  // Strides in elements.
  struct Axis {
    u64 extent = 1;
    i64 from = 0, to = 0;
  };

  usize input = 0;  // of the group
  Axis rows = {}, columns = {};
  std::vector<Axis> outer = {};
  i64 from = 0, to = 0;  // of the first element
  u32 bytes = 2;         // of an element
};

// None where the group is no node that does so, from a tensor in ND to another one.
std::optional<Exchange> exchange_of(const Group& group);

}  // namespace vinci::graph
