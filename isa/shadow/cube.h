// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "isa/sem/matmul_kernel.h"
#include "isa/shadow/shadow.h"

namespace vinci::isa {

// Where the operands of one `mad` to a float are.
struct MadPlaces {
  u64 a = 0, b = 0, c = 0;  // bytes in L0A, L0B, L0C
  bool from_bias = false;   // C starts from the bias
  u64 bias = 0;             // bytes in BT
};

// One `mad` as the shadows see it: taken before it runs, and again when it has.
class MadShadow {
 public:
  // `tile` as the instruction will run it, C with what it starts from.
  MadShadow(const MatmulTile& tile, MatmulType type, bool f16_result, const MatmulMode& mode, const MadPlaces& places);
  // Computes the references of C, and compares.
  void count(ShadowPoint* first) const;

 private:
  struct Operands;
  void count_one(ShadowPoint& point, const Operands& simulated) const;

  const MatmulTile& tile_;
  MatmulType type_;
  bool f16_result_;
  MatmulMode mode_;
  MadPlaces places_;
  std::vector<float> old_;  // what C starts from, as it is in L0C
};

}  // namespace vinci::isa
