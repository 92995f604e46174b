// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>
#include <vector>

#include "isa/check/checker.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

// What tasks do to memory and to the float status of the device, the same timed and untimed, and what the checker of
// the run is told of them.
class TaskEffects {
 public:
  // `checker` may be null.
  TaskEffects(const task::TaskStream& stream, task::RunMemory& memory, isa::check::Checker* checker);

  isa::check::Checker* checker() const { return checker_; }
  // A kernel starts. Returns the task for CoreChecker::begin, 0 without a checker.
  u32 begin_kernel(u32 stream, usize task);
  // A kernel of a stream is finished: all its blocks together raised these bits of STATUS.
  void end_kernel(u32 stream, u64 status);
  // The effect of a task that is no kernel. Faults carry the place of the task. One that the memory refuses is left out
  // and reported, with a checker.
  void perform(u32 stream, usize task);

 private:
  // Of a task that runs: its stream, and its number for the checker.
  struct Run {
    u32 stream = 0;
    u32 task = 0;
  };

  u32 begin(u32 stream, usize task);
  void perform(const task::MemcpyAsync& op, Run run);
  void perform(const task::MemsetAsync& op, Run run);
  void perform(const task::EventRecord& op, Run run);
  void perform(const task::StreamWaitEvent& op, Run run);
  void perform(const task::Free& op, Run run);
  void perform(const task::NpuGetFloatStatus& op, Run run);
  void perform(const task::NpuClearFloatStatus& op, Run run);
  // Kernels have begin_kernel() and end_kernel(); check_fit() refuses the others.
  template <class Op>
  void perform(const Op&, Run) {
    VINCI_CHECK(false);
  }
  void check(const task::MemcpyAsync& op, u32 task);
  bool alive(u32 buffer, u32 task, std::string_view what);

  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  isa::check::Checker* checker_;
  std::vector<bool> float_overflow_;  // the float status by device: sticky until a task clears it
};

}  // namespace vinci::models
