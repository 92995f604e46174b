// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/arch.h"
#include "models/memory/dram_model.h"
#include "models/runtime/task_sink.h"
#include "sim/config/chip_config.h"
#include "sim/stats/stats.h"
#include "sim/task/task.h"
#include "sim/trace/trace.h"

// The door to the timed simulation, for the tool, for tests and for programs that link the library.
namespace vinci::isa {
struct Census;  // isa/census/census.h
namespace check {
class Checker;  // isa/check/checker.h
}
}  // namespace vinci::isa

namespace vinci::task {
class RunMemory;  // sim/task/run_memory.h
}

namespace vinci::models {

class CauseSink;  // models/explain/block_log.h

struct Progress {
  u64 instructions = 0;
  u64 cycles = 0;
  double fraction = 0;  // of the blocks and other tasks of the stream
};

struct Options {
  u64 max_cycles = std::numeric_limits<u64>::max();
  std::function<bool()> interrupted = {};  // asked from time to time; true ends the run with Fault::Limit
  trace::Sink* trace = nullptr;
  isa::Census* census = nullptr;                       // gets the numeric events of the run; null: they are not counted
  std::function<void(const Progress&)> progress = {};  // called a few times a second
  TaskSink* tasks = nullptr;                           // gets every task as it ends, with what the cores did for it
  CauseSink* causes = nullptr;  // gets why each kernel took its time (models/explain); null: nothing is kept for it
  // Looks for faults that a run can hide; then what a core would trap on is reported and left out. Null: no checks.
  isa::check::Checker* checker = nullptr;
  DramFactory dram = {};  // another model of the device memory; null: the built-in one
  // Launches that begin as an equal one began are not simulated again; the results do not depend on it
  // (models/soc/equal_launches.h). Only for complete runs without data and observers of instructions.
  bool recall = true;
  // Of the host, for what instructions do to data; the results do not depend on it. 0: one for each processor.
  u32 threads = 0;
};

// The time of one pipe, or of the scalar unit, in cycles; busy, stalled and idle add up to the length of the run.
struct PipeTime {
  std::string core;  // "core0.AIC"
  isa::PipeId pipe = isa::PipeId::S;
  u64 busy = 0, stalled = 0, idle = 0;
  u64 wait_flag = 0, barrier = 0, queue_full = 0, drain = 0;  // what it was stalled on
};

// Synchronisation that was inserted into programs (docs/auto-sync.md), over all cores.
struct InsertedAt {
  std::string place;  // "add.asc:30", of the instruction that it comes before
  std::string what;   // "pipe_barrier PIPE_V", "PIPE_V -> PIPE_S"
  u64 count = 0;
  u64 cycles = 0;  // of the scalar unit to issue it, and of pipes that waited there
};

// Scalar code that runs natively (docs/front-end.md), over all cores: cycles that nop represents.
struct NativeAt {
  std::string place;  // "add.asc:30"
  u64 own = 0;        // of the program's own code
  u64 api = 0;        // of code inside the API
};

// What became of one task; Options::tasks tells more.
struct TaskTime {
  std::string name;
  std::string kind;  // KERNEL_AICORE, MEMCPY_ASYNC, ...
  std::string stream;
  u32 device = 0;
  u32 blocks = 0;
  u64 bytes = 0;
  u64 enqueued = 0, start = 0, end = 0;  // cycles
  u64 cold = 0;                          // of them, of kernels: the longest cold start of a block
  WorkSums work;                         // of kernels

  u64 warm() const { return end - start - std::min(cold, end - start); }
};

// All tasks of a kind together. Tasks may overlap, so cycles are the sum of their durations.
struct TaskSums {
  u64 count = 0, bytes = 0, cycles = 0;
};

struct Result {
  u64 cycles = 0;  // from the first host call to the completion of the last task
  double seconds = 0;
  u64 instructions = 0;
  u64 cube_macs = 0;  // multiply-accumulates of all mad instructions
  std::vector<PipeTime> pipes;
  u64 kernel_cycles = 0;   // in which at least one kernel was under way
  u64 cold_cycles = 0;     // of these, of cold starts of kernels
  u64 equal_launches = 0;  // that were not simulated (Options::recall)
  u64 warm_cycles() const { return kernel_cycles - std::min(cold_cycles, kernel_cycles); }
  static constexpr usize kTasksKept = 100'000;
  std::vector<TaskTime> tasks;                                             // the first so many that ended
  u64 task_count = 0;                                                      // all of them
  std::map<std::pair<std::string_view, std::string_view>, TaskSums> sums;  // by kind and direction of a copy
  std::vector<InsertedAt> inserted;                                        // by place and kind
  std::vector<NativeAt> native;                                            // by place
  stats::Values stats;                                                     // every counter, deterministic
  u32 threads_missing = 0;  // of the host, because the system refused to start one; the others did the work
};

// Runs a task stream on a chip. Whether data exist follows from `memory`; without them only time is found. Throws
// Error; simulated state is then lost, the memory keeps what was written.
Result simulate(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
                const Options& options);

}  // namespace vinci::models
