// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/graph/passes/maker.h"

// Rows with more columns than a tensor has, so that they are whole blocks.
namespace vinci::graph {

// The tensor with zeros behind it along an axis.
Value* with_zeros(Maker& make, Value* v, usize axis, i64 more);

// A Softmax of rows of `columns`, whose first ones are those of `v` and whose others are zero. Null where `v` is no
// Softmax of element-wise nodes behind a product whose surplus columns were cut off: then neither the cut nor zeros are
// needed.
Value* softmax_with_zeros(const Graph& graph, Maker& make, Value* v, i64 columns);

}  // namespace vinci::graph
