// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string_view>

#include "isa/arch.h"
#include "isa/base/types.h"

namespace vinci::models {

// What the cores of one kind did for a kernel, all blocks added up.
struct CoreSums {
  u64 blocks = 0;                           // of a MIX task with two AIVs, two for each block on the vector side
  u64 cycles = 0;                           // from the first instruction of each block to its end
  std::array<u64, isa::kPipeCount> busy{};  // cycles, by PipeId
};

// What became of one execution of a task. Names live as long as the task stream.
struct TaskRecord {
  std::string_view name;
  std::string_view kind;    // runtime name: KERNEL_AICORE, MEMCPY_ASYNC, ...
  std::string_view stream;  // name of the stream
  u32 device = 0;
  u32 stream_id = 0;
  u32 task_id = 0;    // position in its stream
  u64 iteration = 0;  // executions of the same task before this one
  u32 block_dim = 0;  // of kernels, else 0
  bool mix = false;
  u64 bytes = 0;                    // that a copy, a fill, a reduction or a collective moves
  std::string_view direction = {};  // of a copy: "host to device", ...
  u64 enqueued = 0;                 // cycle in which the device knew of it
  u64 start = 0;
  u64 end = 0;
  std::array<CoreSums, 3> cores{};  // of kernels, by CoreKind
};

// Gets each task as it ends, so that a run of millions of tasks need not be held.
class TaskSink {
 public:
  virtual ~TaskSink() = default;
  virtual void task(const TaskRecord& record) = 0;
};

}  // namespace vinci::models
