// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/ops/product.h"

#include <Eigen/Core>

namespace vinci::graph {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Matrix> map(const MatrixView& m) { return {m.values, m.rows, m.columns}; }

}  // namespace

void add_product(const MatrixView& a, const MatrixView& b, double* c, double factor) {
  const i64 rows = a.transposed ? a.columns : a.rows, columns = b.transposed ? b.rows : b.columns;
  Eigen::Map<Matrix> sum(c, rows, columns);
  if (a.transposed && b.transposed) {
    sum.noalias() += factor * map(a).transpose() * map(b).transpose();
  } else if (a.transposed) {
    sum.noalias() += factor * map(a).transpose() * map(b);
  } else if (b.transposed) {
    sum.noalias() += factor * map(a) * map(b).transpose();
  } else {
    sum.noalias() += factor * map(a) * map(b);
  }
}

}  // namespace vinci::graph
