// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>

#include "isa/check/checker.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

// What tasks do to memory, the same timed and untimed, and what the checker of the run is told of them.
class TaskEffects {
 public:
  // `checker` may be null.
  TaskEffects(const task::TaskStream& stream, task::RunMemory& memory, isa::check::Checker* checker);

  isa::check::Checker* checker() const { return checker_; }
  // A kernel starts. Returns the task for CoreChecker::begin, 0 without a checker.
  u32 begin_kernel(u32 stream, usize task);
  // The effect of a task that is no kernel. One that the memory refuses is left out and reported, with a checker.
  void perform(u32 stream, usize task);

 private:
  u32 begin(u32 stream, usize task);
  void check(const task::MemcpyAsync& op, u32 task);
  bool alive(u32 buffer, u32 task, isa::check::FaultId id, std::string_view what);

  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  isa::check::Checker* checker_;
};

}  // namespace vinci::models
