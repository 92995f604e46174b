// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <exception>
#include <vector>

#include "isa/issue.h"
#include "isa/mem/late_access.h"
#include "sim/threads/crew.h"

namespace vinci::models {

class Core;

// Instructions of one core that have retired in time and whose data have not moved yet. They are executed in their
// order, before anything else looks at what they touch: a scalar load or the end of the block at buffers of the core,
// others at global memory (isa::LateAccess). So bits are those of executing each at once, but a core's buffers stay in
// the cache of the host for a while, and other threads can do it.
class Backlog final : private sim::Crew::Job, private isa::LateAccess::Owner {
 public:
  Backlog(sim::Crew& crew, Core& core, isa::GlobalMemory& gm) : crew_(crew), core_(core), gm_(gm) {}
  ~Backlog() override;

  // False where it has to be executed at once, after finish().
  bool add(const isa::Issued& inst, bool touches_gm);
  // Returns when all of it has been executed. Rethrows what an instruction has thrown, with its place; nothing after it
  // has been executed.
  void finish();

 private:
  void run() override;
  void do_late() override { finish(); }
  bool put_off(const isa::Issued& inst);
  void hand_over();
  void rethrow();

  sim::Crew& crew_;
  Core& core_;
  isa::GlobalMemory& gm_;
  std::vector<isa::Issued> open_;    // the youngest
  std::vector<isa::Issued> handed_;  // posted to the crew, which only reads it: copies share counts without a lock
  usize executed_ = 0;               // of handed_
  usize writes_ = 0;                 // accesses to global memory that are put off
  std::exception_ptr error_;         // of handed_[executed_]
};

}  // namespace vinci::models
