// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "models/core/core.h"
#include "models/memory/timeline.h"
#include "models/soc/block_shape.h"
#include "models/soc/task_effects.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

// What became of one task.
struct TaskRecord {
  std::string name = {};
  std::string_view kind = {};  // runtime name: KERNEL_AICORE, MEMCPY_ASYNC, ...
  u32 stream = 0;
  u32 blocks = 0;
  u64 bytes = 0;
  u64 enqueued = 0;  // cycle in which the device knew of it
  u64 start = 0;
  u64 end = 0;
};

// The device side of streams: runs the tasks of each stream in order, blocks of kernels on idle cores, copies on the
// DMA engine of their direction.
class TaskScheduler : public sim::Module {
 public:
  TaskScheduler(sim::Env& env, const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
                std::vector<Core*> cores, stats::Group& stats, isa::check::Checker* checker);

  // The host has handed over the next task of a stream.
  void enqueued(u32 stream);

  bool finished() const;
  u64 end() const { return end_; }
  const std::vector<TaskRecord>& records() const { return records_; }
  // Done and all, in units of blocks, of a MIX task for each core of a block (a task without blocks is one).
  u64 done_units() const { return done_units_; }
  u64 all_units() const { return all_units_; }

 private:
  enum class State : u8 { ready, waiting_event, timed, kernel };
  struct StreamState {
    usize next = 0;      // task that runs or comes next
    usize enqueued = 0;  // tasks that the host has handed over
    State state = State::ready;
    u64 finish = 0;  // of a timed task, or of a kernel whose blocks are done
    u64 status = 0;  // of that kernel: STATUS of all its blocks together
    u64 started = 0;
    std::vector<u64> enqueued_at;
  };
  struct Launch {
    u32 stream = 0;
    u64 ready = 0;  // when its first block can go out
    u32 next_block = 0;
    u64 units_done = 0;
    u64 status = 0;      // STATUS of the blocks that are done, together
    u32 task_id = 0;     // for the checker
    isa::Launch launch;  // arguments, the same for all blocks
    BlockShape shape;
    std::shared_ptr<isa::CrossCoreFlags> cross;
  };

  void act() override;
  bool step(u32 stream, u64 t);
  bool start(u32 stream, u64 t);
  void finish(u32 stream, u64 t);
  void dispatch(u64 t);
  void start_block(Launch& l, u32 slot, u64 at);
  void part_done(u32 stream, u64 status);
  Core& core(const BlockShape::Part& part) const;
  // The engine that a copy needs, for how long, and how much later its effect is visible.
  struct CopyJob {
    Timeline* engine = nullptr;
    u64 cycles = 0;
    u64 latency = 0;
  };
  CopyJob copy_job(const task::MemcpyAsync& op);
  // Cycles of a task that the scheduler starts and completes like a kernel, but that has no blocks.
  u64 small_task() const;
  const task::Task& task_of(u32 stream) const;
  void report_waiting(std::vector<std::string>& lines) const;

  const config::ChipConfig& chip_;
  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  TaskEffects effects_;
  std::vector<Core*> cores_;
  std::vector<isa::Code> codes_;  // by kernel, decoded once
  std::vector<StreamState> states_;
  std::vector<bool> events_;      // recorded
  std::vector<Launch> launches_;  // under way, oldest first
  Timeline h2d_, d2h_, d2d_;      // copy engines, in cycles
  std::vector<TaskRecord> records_;
  std::vector<trace::TrackId> tracks_;
  u64 done_units_ = 0, all_units_ = 0;
  u64 end_ = 0;
  u64 tasks_ = 0, h2d_bytes_ = 0, d2h_bytes_ = 0, d2d_bytes_ = 0;
};

}  // namespace vinci::models
