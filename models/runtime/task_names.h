// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/runtime/task_sink.h"
#include "sim/task/task.h"

namespace vinci::models {

// The name that the profiler of the runtime has for a kind of task: KERNEL_AICORE, MEMCPY_ASYNC, ...
std::string_view task_kind(const task::TaskStream& stream, const task::Task& task);

// What is known of a task before it runs: all of a record but iteration, times and sums.
TaskRecord task_record(const task::TaskStream& stream, u32 stream_id, u32 task_id);

}  // namespace vinci::models
