// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/task_effects.h"

#include <fmt/format.h>

namespace vinci::models {

using isa::check::FaultId;

TaskEffects::TaskEffects(const task::TaskStream& stream, task::RunMemory& memory, isa::check::Checker* checker)
    : stream_(stream), memory_(memory), checker_(checker), float_overflow_(stream.devices) {}

u32 TaskEffects::begin(u32 stream, usize task) {
  return checker_->begin_task(stream, task::position(stream_, stream, task), stream_.streams[stream].tasks[task].name);
}

u32 TaskEffects::begin_kernel(u32 stream, usize task) { return checker_ != nullptr ? begin(stream, task) : 0; }

bool TaskEffects::alive(u32 buffer, u32 task, std::string_view what) {
  if (memory_.alive(buffer)) return true;
  const bool ordered = checker_->freed_before(task, memory_.address({.buffer = buffer}));
  checker_->task_fault(task, ordered ? FaultId::use_after_free : FaultId::unordered_free,
                       fmt::format("use after free: {} buffer '{}', which {}", what, stream_.buffers[buffer].name,
                                   ordered ? "an earlier task freed"
                                           : "a task has freed; nothing orders the free before or after the use"));
  return false;
}

void TaskEffects::check(const task::MemcpyAsync& op, u32 task) {
  const auto rows = [&](const task::Slice& slice, u64 pitch, bool write) {
    if (stream_.buffers[slice.buffer].place == task::Buffer::Place::host) return;
    const bool whole = pitch == op.width;
    for (u64 r = 0; r < (whole ? 1 : op.height); ++r)
      checker_->task_access(task, memory_.address(slice) + r * pitch, whole ? op.bytes() : op.width, write);
  };
  rows(op.src, op.src_pitch, false);
  rows(op.dst, op.dst_pitch, true);
}

void TaskEffects::end_kernel(u32 stream, u64 status) {
  if ((status & isa::status::kOverflows) != 0) float_overflow_[stream_.streams[stream].device] = true;
}

void TaskEffects::perform(u32 stream, usize task) {
  const task::Task& t = stream_.streams[stream].tasks[task];
  const Run run{.stream = stream, .task = checker_ != nullptr ? begin(stream, task) : 0};
  try {
    std::visit([&](const auto& op) { perform(op, run); }, t.op);
  } catch (const Error& e) {
    throw Error(e.fault(),
                fmt::format("{}\n  task '{}', stream '{}'", e.message(), t.name, stream_.streams[stream].name),
                e.location().empty() ? task::place(stream_, stream, task) : e.location());
  }
}

void TaskEffects::perform(const task::MemcpyAsync& op, Run run) {
  if (checker_ != nullptr) {
    if (!alive(op.src.buffer, run.task, "memcpy_async from")) return;
    if (!alive(op.dst.buffer, run.task, "memcpy_async to")) return;
    check(op, run.task);
  }
  memory_.copy(op);
}

void TaskEffects::perform(const task::MemsetAsync& op, Run run) {
  if (checker_ != nullptr) {
    if (!alive(op.dst.buffer, run.task, "memset_async of")) return;
    checker_->task_access(run.task, memory_.address(op.dst), op.bytes, true);
  }
  memory_.fill(op);
}

void TaskEffects::perform(const task::EventRecord& op, Run run) {
  if (checker_ != nullptr) checker_->record_event(run.stream, op.event);
}

void TaskEffects::perform(const task::StreamWaitEvent& op, Run run) {
  if (checker_ != nullptr) checker_->wait_event(run.stream, op.event);
}

void TaskEffects::perform(const task::Free& op, Run run) {
  if (checker_ != nullptr) {
    if (!memory_.alive(op.buffer)) {
      checker_->task_fault(run.task, FaultId::double_free,
                           fmt::format("double free: free of buffer '{}', which an earlier task freed",
                                       stream_.buffers[op.buffer].name));
      return;
    }
    checker_->task_frees(run.task, memory_.address({.buffer = op.buffer}), stream_.buffers[op.buffer].bytes);
  }
  memory_.free(op);
}

void TaskEffects::perform(const task::NpuGetFloatStatus& op, Run run) {
  if (checker_ != nullptr) {
    if (!alive(op.dst.buffer, run.task, "npu_get_float_status to")) return;
    checker_->task_access(run.task, memory_.address(op.dst), op.kBytes, true);
  }
  memory_.put_float_status(op, float_overflow_[stream_.streams[run.stream].device]);
}

void TaskEffects::perform(const task::NpuClearFloatStatus&, Run run) {
  float_overflow_[stream_.streams[run.stream].device] = false;
}

}  // namespace vinci::models
