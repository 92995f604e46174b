// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "isa/census/census.h"
#include "isa/sem/matmul_kernel.h"

namespace vinci::isa {

// The census of one `mad`: taken before it runs, and again when it has. An element of C counts as absorbing when the
// sum of its products is not zero, but changed nothing; single products are not looked at. The sums are computed a
// second time where an element may have an event.
class MadCensus {
 public:
  // `tile` as the instruction will run it, C with what it starts from.
  MadCensus(const MatmulTile& tile, MatmulType type, bool f16_result, const MatmulMode& mode);
  void count(const MatmulResult& result, CensusPoint& point) const;

 private:
  struct Recomputed;
  struct Candidate {
    u32 row, column;
    u64 index;  // in the order of C
  };

  u64 index(u64 row, u64 column) const;
  std::vector<Candidate> float_candidates() const;
  void count_floats(const MatmulResult& result, CensusPoint& point) const;
  void count_integers(CensusPoint& point) const;
  double old_value(u64 index) const;

  MatmulTile tile_;
  MatmulType type_;
  bool f16_result_;
  MatmulMode mode_;
  u64 elements_;                // of C in whole fractals
  std::vector<std::byte> old_;  // C as it was; empty where it starts at zero
};

}  // namespace vinci::isa
