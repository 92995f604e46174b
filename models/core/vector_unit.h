// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/core/unit.h"

namespace vinci::models {

// Computes in UB, repeat by repeat; what meets in its banks is part of the steady cycles of an instruction.
class VectorUnit final : public Unit {
 public:
  Cycles begin(const isa::Issued& /*inst*/, const Resolved& work, const Moment& now) override {
    return cost_line_cycles(work, now);
  }
};

}  // namespace vinci::models
