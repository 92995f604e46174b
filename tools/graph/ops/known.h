// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>

#include "tools/graph/ops/op.h"

namespace vinci::graph {

// The shape of a value as it will be when constants and extents are folded, where that needs few numbers and nodes:
// what exporters write around a reshape. The graph stays as it is.
Shape known_shape(const Value& v);
// The contents of a value in the same sense: few numbers.
std::optional<Array> known_contents(const Value& v);

}  // namespace vinci::graph
