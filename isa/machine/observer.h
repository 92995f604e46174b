// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/machine/issue.h"
#include "isa/mem/block_set.h"

namespace vinci::isa {

// Sees what one core is given, in the order of its program, for each that runs it: the timed core and the untimed
// machine drive the same Sequencer.
class Observer {
 public:
  virtual ~Observer() = default;
  // An instruction for a pipe, a flag or a barrier; it is legal.
  virtual void issued(const Issued& inst) = 0;
  // A scalar load or store; it is legal.
  virtual void accessed(const Issued& inst) = 0;
  // Around an instruction of a pipe when its data move, in the order of each pipe; never in a run without data.
  // `computed`: what it has read or written at addresses that it found in UB (Row::computes).
  virtual void executing(const Issued& /*inst*/) {}
  virtual void executed(const Issued& /*inst*/, const BlockSet& /*computed*/) {}
  // A remark of the program (Row::remark).
  virtual void remarked(const Issued& /*inst*/) {}
  // An instruction that is not legal. True: it is left out and the program goes on; false: the fault ends the run.
  virtual bool refused(const Issued& inst, const Error& why) = 0;
  // A fault that ends the run, at the instruction `pc`; `inst` is null where it was not issued to a pipe.
  virtual void failed(u32 pc, const Issued* inst, const Error& why) = 0;
  // The program of the block has ended; its pipes may still be at work.
  virtual void ended() = 0;
};

}  // namespace vinci::isa
