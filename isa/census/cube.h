// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "isa/census/census.h"
#include "isa/sem/matmul_kernel.h"

namespace vinci::isa {

// The census of one `mad` on floating-point elements: taken before it runs, and again when it has. An element of C
// counts as absorbing when the sum of its products is not zero, but changed nothing; single products are not looked at.
// The sums are computed a second time, so that a counted mad takes about twice its time.
class MadCensus {
 public:
  // `tile` as the instruction will run it, C with what it starts from.
  MadCensus(const MatmulTile& tile, MatmulType type, bool f16_result, const MatmulMode& mode);
  void count(const MatmulResult& result, CensusPoint& point) const;

 private:
  MatmulTile tile_;
  bool f16_result_;
  MatmulMode mode_;
  std::vector<float> old_, products_;  // in the order of C
};

}  // namespace vinci::isa
