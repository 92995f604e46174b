// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <exception>
#include <vector>

#include "isa/issue.h"
#include "sim/threads/crew.h"

namespace vinci::models {

class Core;

// Instructions of one core that have retired in time and whose data have not moved yet. Only those wait here that see
// nothing but buffers of their core; they are executed in their order, before anything else looks at these buffers: an
// instruction that accesses global memory, a scalar load, the end of the block. So bits are those of executing each at
// once, but a core's buffers stay in the cache of the host for a while, and other threads can do it.
class Backlog final : private sim::Crew::Job {
 public:
  Backlog(sim::Crew& crew, Core& core) : crew_(crew), core_(core) {}
  ~Backlog() override { crew_.finish(*this); }

  void add(const isa::Issued& inst);
  // Returns when all of it has been executed. Rethrows what an instruction has thrown, with its place; nothing after it
  // has been executed.
  void finish();

 private:
  void run() override;
  void rethrow();

  sim::Crew& crew_;
  Core& core_;
  std::vector<isa::Issued> open_;    // the youngest
  std::vector<isa::Issued> handed_;  // posted to the crew, which only reads it: copies share counts without a lock
  usize executed_ = 0;               // of handed_
  std::exception_ptr error_;         // of handed_[executed_]
};

}  // namespace vinci::models
