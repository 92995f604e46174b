// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/core/ports.h"
#include "models/cost/cost.h"

namespace vinci::models {

// One of the units that execute the instructions of a pipe. The pipe says when an instruction begins; the unit says how
// long it takes, and what holds it up besides the queue.
class Unit {
 public:
  // The state of its pipe when an instruction begins.
  struct Moment {
    u64 t = 0;
    bool empty = true;  // nothing is in flight
    double early = 0;   // how long before `t` it could have begun, were it not for whole cycles; less than one
  };

  virtual ~Unit() = default;
  // An instruction begins. Its cycles; of one that goes through port() the least that it takes.
  virtual Cycles begin(const isa::Issued& inst, const Resolved& work, const Moment& now) = 0;
  // Through which it copies from and to global memory; null: it does not.
  virtual MemoryPort* port() { return nullptr; }

  // Of instructions that hand blocks of L0C over (unit flags):
  // From which cycle on it can begin, as far as is known; kNever: another unit wakes the pipe.
  virtual u64 ready_at(const Resolved& /*work*/, const Moment& now) { return now.t; }
  // It has begun at `t`, and retires at `done`.
  virtual void began(const Resolved& /*work*/, u64 /*t*/, u64 /*done*/) {}
  virtual void retired(const Resolved& /*work*/, u64 /*t*/) {}
};

// The timing rule of all that does not wait for memory: the cost line of the instruction.
inline Cycles cost_line_cycles(const Resolved& work, const Unit::Moment& now) {
  return cycles_of(*work.line, work.steady, now.empty, now.early);
}

}  // namespace vinci::models
