// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/machine/unit_flags.h"
#include "models/core/ports.h"

namespace vinci::models {

// Blocks of L0C that one unit fills and another one empties, by unit flags, in time. It wakes the pipe of the other
// side where a flag changes.
class L0cHandover {
 public:
  void connect(Wake& fills, Wake& empties) {
    fills_ = &fills;
    empties_ = &empties;
  }
  void clear() { flags_.clear(); }

  // From which cycle on an instruction that takes `span` cycles can begin, so that it meets no block too early; kNever:
  // the other side has to begin first.
  u64 ready_at(const isa::UnitFlagUse& use, u64 t, u64 span) const {
    if (!flags_.ready(use)) return kNever;
    return flags_.changed() > t ? flags_.earliest(use, span) : t;
  }
  // An instruction that fills blocks has begun: they are full one after the other, from `t` to `done`.
  void fill(const isa::UnitFlagUse& use, u64 t, u64 done) {
    flags_.finish(use, t, done);
    empties_->wake_for_work(t);
  }
  // An instruction has begun to read what it is going to empty.
  void take(const isa::UnitFlagUse& use) { flags_.take(use); }
  // The data have moved: all blocks are free at once.
  void empty(const isa::UnitFlagUse& use, u64 t) {
    flags_.finish(use, t, t);
    fills_->wake_for_work(t);
  }

 private:
  isa::UnitFlags flags_;
  Wake* fills_ = nullptr;
  Wake* empties_ = nullptr;
};

}  // namespace vinci::models
