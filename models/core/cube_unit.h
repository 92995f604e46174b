// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/core/l0c_handover.h"
#include "models/core/unit.h"

namespace vinci::models {

// Multiplies matrices into L0C. With unit flags it waits until FIXPIPE has emptied its blocks.
class CubeUnit final : public Unit {
 public:
  explicit CubeUnit(L0cHandover& l0c) : l0c_(l0c) {}

  Cycles begin(const isa::Issued& /*inst*/, const Resolved& work, const Moment& now) override {
    return cost_line_cycles(work, now);
  }
  u64 ready_at(const Resolved& work, const Moment& now) override {
    return l0c_.ready_at(*work.handover, now.t, cost_line_cycles(work, now).occupancy);
  }
  void began(const Resolved& work, u64 t, u64 done) override { l0c_.fill(*work.handover, t, done); }

 private:
  L0cHandover& l0c_;
};

}  // namespace vinci::models
