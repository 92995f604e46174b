// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string_view>

#include "isa/arch.h"
#include "isa/base/types.h"

namespace vinci::models {

// What kernels computed and moved.
struct WorkSums {
  u64 cube_macs = 0;                          // multiply-accumulates of mad instructions
  u64 vector_repeats = 0;                     // of vector instructions
  u64 gm_read_bytes = 0, gm_write_bytes = 0;  // of global memory, by the footprints of the pipes' instructions

  WorkSums& operator+=(const WorkSums& o) {
    cube_macs += o.cube_macs;
    vector_repeats += o.vector_repeats;
    gm_read_bytes += o.gm_read_bytes;
    gm_write_bytes += o.gm_write_bytes;
    return *this;
  }
  friend WorkSums operator-(const WorkSums& a, const WorkSums& b) {
    return {a.cube_macs - b.cube_macs, a.vector_repeats - b.vector_repeats, a.gm_read_bytes - b.gm_read_bytes,
            a.gm_write_bytes - b.gm_write_bytes};
  }
  friend bool operator==(const WorkSums&, const WorkSums&) = default;
};

// What the cores of one kind did for a kernel, all blocks added up.
struct CoreSums {
  u64 blocks = 0;                           // of a MIX task with two AIVs, two for each block on the vector side
  u64 cycles = 0;                           // from the first instruction of each block to its end
  std::array<u64, isa::kPipeCount> busy{};  // cycles, by PipeId
  WorkSums work{};
};

// What became of one execution of a task. Names live as long as the task stream.
struct TaskRecord {
  std::string_view name;
  std::string_view kind;    // runtime name: KERNEL_AICORE, MEMCPY_ASYNC, ...
  std::string_view stream;  // name of the stream
  u32 device = 0;
  u32 stream_id = 0;
  u32 task_id = 0;    // position in its stream
  u64 iteration = 0;  // turn of the loop of its model or of the host program, from 0 (Turns)
  u32 block_dim = 0;  // of kernels, else 0
  bool mix = false;
  u64 bytes = 0;                    // that a copy, a fill, a reduction or a collective moves
  std::string_view direction = {};  // of a copy: "host to device", ...
  u64 enqueued = 0;                 // cycle in which the device knew of it
  u64 start = 0;
  u64 end = 0;
  u64 cold = 0;                     // of kernels: cycles of the longest cold start of a block
  std::array<CoreSums, 3> cores{};  // of kernels, by CoreKind
};

// Gets each task as it ends, so that a run of millions of tasks need not be held.
class TaskSink {
 public:
  virtual ~TaskSink() = default;
  virtual void task(const TaskRecord& record) = 0;
};

}  // namespace vinci::models
