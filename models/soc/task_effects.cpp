// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/task_effects.h"

#include <fmt/format.h>

namespace vinci::models {

using isa::check::FaultId;

TaskEffects::TaskEffects(const task::TaskStream& stream, task::RunMemory& memory, isa::check::Checker* checker)
    : stream_(stream), memory_(memory), checker_(checker) {}

u32 TaskEffects::begin(u32 stream, usize task) {
  return checker_->begin_task(stream, task::position(stream_, stream, task), stream_.streams[stream].tasks[task].name);
}

u32 TaskEffects::begin_kernel(u32 stream, usize task) { return checker_ != nullptr ? begin(stream, task) : 0; }

bool TaskEffects::alive(u32 buffer, u32 task, FaultId id, std::string_view what) {
  if (memory_.alive(buffer)) return true;
  checker_->task_fault(
      task, id,
      fmt::format("{}: {} buffer '{}', which an earlier task freed",
                  id == FaultId::double_free ? "double free" : "use after free", what, stream_.buffers[buffer].name));
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

void TaskEffects::perform(u32 stream, usize task_index) {
  const auto& any = stream_.streams[stream].tasks[task_index].op;
  const u32 task = checker_ != nullptr ? begin(stream, task_index) : 0;
  if (const auto* copy = std::get_if<task::MemcpyAsync>(&any)) {
    if (checker_ != nullptr) {
      if (!alive(copy->src.buffer, task, FaultId::use_after_free, "memcpy_async from")) return;
      if (!alive(copy->dst.buffer, task, FaultId::use_after_free, "memcpy_async to")) return;
      check(*copy, task);
    }
    memory_.copy(*copy);
  } else if (const auto* fill = std::get_if<task::MemsetAsync>(&any)) {
    if (checker_ != nullptr) {
      if (!alive(fill->dst.buffer, task, FaultId::use_after_free, "memset_async of")) return;
      checker_->task_access(task, memory_.address(fill->dst), fill->bytes, true);
    }
    memory_.fill(*fill);
  } else if (const auto* gone = std::get_if<task::Free>(&any)) {
    if (checker_ != nullptr) {
      if (!alive(gone->buffer, task, FaultId::double_free, "free of")) return;
      checker_->task_frees(task, memory_.address({.buffer = gone->buffer}), stream_.buffers[gone->buffer].bytes);
    }
    memory_.free(*gone);
  } else if (checker_ == nullptr) {
    return;
  } else if (const auto* record = std::get_if<task::EventRecord>(&any)) {
    checker_->record_event(stream, record->event);
  } else if (const auto* wait = std::get_if<task::StreamWaitEvent>(&any)) {
    checker_->wait_event(stream, wait->event);
  }
}

}  // namespace vinci::models
