// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/core/unit.h"

namespace vinci::models {

// Moves data out of L1, inside the core: no memory can hold it up.
class Mte1 final : public Unit {
 public:
  Cycles begin(const isa::Issued& /*inst*/, const Resolved& work, const Moment& now) override {
    return cost_line_cycles(work, now);
  }
};

}  // namespace vinci::models
