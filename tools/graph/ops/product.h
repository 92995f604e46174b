// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/base/types.h"

namespace vinci::graph {

// A matrix in row-major order, or its transpose.
struct MatrixView {
  const double* values = nullptr;
  i64 rows = 0, columns = 0;  // as stored in memory
  bool transposed = false;
};

// c += factor * a * b, c in row-major order.
void add_product(const MatrixView& a, const MatrixView& b, double* c, double factor = 1);

}  // namespace vinci::graph
