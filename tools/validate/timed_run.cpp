// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/timed_run.h"

#include <algorithm>

#include "sim/task/run_memory.h"
#include "sim/task/stream_builder.h"

namespace vinci::validate {
namespace {

class Records final : public models::TaskSink {
 public:
  explicit Records(std::vector<models::TaskRecord>& out) : out_(out) {}
  void task(const models::TaskRecord& record) override { out_.push_back(record); }

 private:
  std::vector<models::TaskRecord>& out_;
};

constexpr u32 kShort = 16, kLong = 48;  // executions of the body
constexpr u64 kLoopCycles = 100'000'000;

isa::BuiltProgram loop_program(const Loop& loop, isa::Arch arch, u32 executions) {
  isa::ProgramBuilder p("loop", arch);
  const isa::Reg data = p.arg("data");
  if (loop.setup) loop.setup(p, data);
  // Once before and apart from the others: what the first one lacks in L2 would keep those behind it late for a while.
  loop.body(p, data);
  p.pipe_barrier(isa::PipeId::ALL);
  for (u32 i = 0; i < executions; ++i)
    loop.body(p, data);
  p.pipe_barrier(isa::PipeId::ALL);
  p.end();
  return p.finish();
}

u64 kernel_cycles(const config::ChipConfig& chip, const Loop& loop, u32 executions) {
  const task::KernelType type = chip.vector_cores == 0 ? task::KernelType::AI_CORE
                                : loop.cube            ? task::KernelType::AIC_ONLY
                                                       : task::KernelType::AIV_ONLY;
  task::StreamBuilder s("loop", chip.arch);
  const task::BufferRef data = s.device("data", loop.gm_bytes);
  s.stream("main").launch(s.kernel("loop", type, loop_program(loop, chip.arch, executions)), loop.cores, {data});
  const TimedRun run = run_timed(chip, s.finish().stream(), kLoopCycles);
  return run.records.at(0).end - run.records.at(0).start;
}

}  // namespace

TimedRun run_timed(const config::ChipConfig& chip, task::TaskStream stream, u64 max_cycles) {
  TimedRun out{.stream = std::move(stream), .result = {}, .records = {}, .hertz = chip.clock};
  task::RunMemory memory(out.stream, false);
  Records records(out.records);
  out.result =
      models::simulate(chip, out.stream, memory, {.max_cycles = max_cycles, .progress = {}, .tasks = &records});
  return out;
}

double steady_cycles(const config::ChipConfig& chip, const Loop& loop) {
  config::ChipConfig one = chip;  // the cores that would idle cost time of the host
  if (loop.cores == 1) {
    one.ai_cores = 1;
    one.vector_cores = std::min<u32>(chip.vector_cores, 2);
  }
  const u64 longer = kernel_cycles(one, loop, kLong), shorter = kernel_cycles(one, loop, kShort);
  if (longer <= shorter)
    fail(Fault::Input, "more of these instructions take no more time: one of them ends the program");
  return static_cast<double>(longer - shorter) / ((kLong - kShort) * loop.instructions);
}

}  // namespace vinci::validate
