// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/core/copy_rule.h"
#include "models/core/l0c_handover.h"

namespace vinci::models {

// Moves results of the cube out of L0C and transforms them on the way. With unit flags it follows the cube block by
// block.
class Fixpipe final : public Unit {
 public:
  Fixpipe(CopyRule rule, L0cHandover& l0c) : rule_(std::move(rule)), l0c_(l0c) {}

  Cycles begin(const isa::Issued& inst, const Resolved& work, const Moment& now) override {
    if (work.handover) l0c_.take(*work.handover);
    return rule_.begin(inst, work, now);
  }
  MemoryPort* port() override { return &rule_.port(); }
  // It may begin before the mad that it follows is through.
  u64 ready_at(const Resolved& work, const Moment& now) override {
    return l0c_.ready_at(*work.handover, now.t, cost_line_cycles(work, now).occupancy);
  }
  void retired(const Resolved& work, u64 t) override { l0c_.empty(*work.handover, t); }

 private:
  CopyRule rule_;
  L0cHandover& l0c_;
};

}  // namespace vinci::models
