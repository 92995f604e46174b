// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "isa/check/checker.h"
#include "models/runtime/collectives.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

// What tasks do to memory and to the float status of the device, the same timed and untimed, and what the checker of
// the run is told of them.
class TaskEffects {
 public:
  // `checker` may be null.
  TaskEffects(const task::TaskStream& stream, const config::LinksConfig& links, task::RunMemory& memory,
              isa::check::Checker* checker);

  isa::check::Checker* checker() const { return checker_; }
  // The position of a task when the streams are read one after the other.
  u32 position(u32 stream, u32 task) const { return first_[stream] + task; }
  // A kernel starts. Returns the task for CoreChecker::begin, 0 without a checker.
  u32 begin_kernel(u32 stream, u32 task);
  // The effect of a task that is no kernel. Faults carry the place of the task. One that the memory refuses is left out
  // and reported, with a checker.
  void perform(u32 stream, u32 task);
  // A kernel of a stream is finished: all its blocks together raised these bits of STATUS.
  void end_kernel(u32 stream, u64 status);
  // A stream comes to a task that may have to wait for an event or a notify; its effect follows with perform().
  void reach(u32 stream, u32 task);
  // The same of a host thread that synchronizes with an event.
  void host_reaches(u32 thread, u32 event);
  void host_passes(u32 thread, u32 event);
  // What a stream does from now on comes after all that another one has done so far. The host takes part in this under
  // the numbers below.
  void follow(u32 stream, u32 earlier);
  // The next task of a stream comes after all that a host thread has done so far; the stream comes to that task.
  void hand_over(u32 stream, u32 thread);
  void come_to_handed(u32 stream);
  u32 host_thread(u32 thread) const { return static_cast<u32>(stream_.streams.size()) + thread; }
  u32 semaphore(u32 index) const { return host_thread(static_cast<u32>(stream_.host.threads.size())) + index; }

  // A stream comes to its collective, as Collectives::arrive(); the effect follows with perform().
  const Collectives::Call* arrive(u32 stream, u32 task);
  const Collectives& collectives() const { return collectives_; }

  // What a stream_switch and a label_switch read from device memory.
  bool holds(u32 stream, u32 task) const;
  u64 index(u32 stream, u32 task) const;
  // Ends the run: what the task asks for cannot be. Fault::Program, and a finding of the checker.
  [[noreturn]] void refuse(u32 stream, u32 task, const std::string& message);
  // How long each block of an AICPU task takes, in seconds, on a processor of such bandwidth in bytes per second.
  double aicpu_seconds(const task::CpuKernelLaunch& op, double bandwidth) const;

 private:
  // Of a task that runs: its stream, and its number for the checker.
  struct Run {
    u32 stream = 0;
    u32 task = 0;
  };

  u32 begin(u32 stream, u32 task);
  void check_arguments(u32 stream, u32 task) const;
  bool touch(Run run, const task::Slice& slice, u64 bytes, std::string_view what, bool write);
  void perform(const task::MemcpyAsync& op, Run run);
  void perform(const task::MemsetAsync& op, Run run);
  void perform(const task::ReduceAsync& op, Run run);
  void perform(const task::Free& op, Run run);
  void perform(const task::NpuGetFloatStatus& op, Run run);
  void perform(const task::NpuClearFloatStatus& op, Run run);
  void perform(const task::StreamSwitch& op, Run run);
  void perform(const task::LabelSwitch& op, Run run);
  void perform(const task::CpuKernelLaunch& op, Run run);
  void perform(const task::Hccl& op, Run run);
  void perform(const task::EventRecord& op, Run run);
  void perform(const task::StreamWaitEvent& op, Run run);
  void perform(const task::EventReset& op, Run run);
  void perform(const task::NotifyRecord& op, Run run);
  void perform(const task::NotifyWait& op, Run run);
  template <class Op>
  void perform(const Op&, Run) {}  // steers streams only, or has begin_kernel() and end_kernel()
  void check(const task::MemcpyAsync& op, u32 task);
  bool alive(u32 buffer, u32 task, std::string_view what);

  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  isa::check::Checker* checker_;
  Collectives collectives_;
  std::vector<bool> float_overflow_;  // the float status by device: sticky until a task clears it
  std::vector<u32> first_;            // by stream: tasks of all streams before it
  // For the checker, by stream, host threads behind them: the wait that was reached and has not begun.
  std::vector<std::optional<u32>> reached_;
};

}  // namespace vinci::models
