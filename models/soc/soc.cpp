// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/soc.h"

#include <algorithm>
#include <thread>

#include "sim/task/run_memory.h"

namespace vinci::models {
namespace {

PipeTime pipe_time(const Core& core, isa::PipeId pipe, const Occupation& o) {
  PipeTime out{.core = core.name(),
               .pipe = pipe,
               .busy = o.cycles(Doing::busy),
               .idle = o.cycles(Doing::idle),
               .wait_flag = o.cycles(Doing::wait_flag),
               .barrier = o.cycles(Doing::barrier),
               .queue_full = o.cycles(Doing::queue_full),
               .drain = o.cycles(Doing::drain)};
  out.stalled = out.wait_flag + out.barrier + out.queue_full + out.drain;
  return out;
}

void add_pipe_times(const Core& core, u64 now, Result& result) {
  result.pipes.push_back(pipe_time(core, isa::PipeId::S, core.scalar().occupation().closed(now)));
  for (usize p = 1; p < isa::kPipeCount; ++p) {
    const auto id = static_cast<isa::PipeId>(p);
    const Pipe* pipe = core.pipe(id);
    if (pipe == nullptr) continue;
    result.pipes.push_back(pipe_time(core, id, pipe->occupation().closed(now)));
    if (id == isa::PipeId::M) result.cube_macs += pipe->macs();
  }
}

std::vector<InsertedAt> inserted_sync(const std::map<InsertedSync::Site, InsertedSync::Sum>& sums) {
  std::vector<InsertedAt> out;
  for (const auto& [site, sum] : sums) {
    out.push_back({.place = fmt::format("{}:{}", site.file, site.line),
                   .what = site.barrier ? fmt::format("pipe_barrier PIPE_{}", isa::name(site.src))
                                        : fmt::format("PIPE_{} -> PIPE_{}", isa::name(site.src), isa::name(site.dst)),
                   .count = sum.count,
                   .cycles = sum.cycles});
  }
  return out;
}

std::vector<NativeAt> native_code(const std::map<NativeCode::Site, NativeCode::Sum>& sums) {
  std::vector<NativeAt> out;
  for (const auto& [site, sum] : sums)
    out.push_back({.place = fmt::format("{}:{}", site.file, site.line), .own = sum.own, .api = sum.api});
  return out;
}

WorkSums all_work(const TaskRecord& r) {
  WorkSums out;
  for (const CoreSums& cores : r.cores)
    out += cores.work;
  return out;
}

// By device, whether it launches a kernel with a program.
std::vector<bool> need_cores(const task::TaskStream& stream) {
  std::vector<bool> out(stream.devices);
  for (const task::Stream& s : stream.streams) {
    for (const task::Task& t : s.tasks) {
      const auto* launch = std::get_if<task::KernelLaunch>(&t.op);
      if (launch != nullptr && !stream.kernels[launch->kernel].opaque()) out[s.device] = true;
    }
  }
  return out;
}

// The chips of a run, by device.
std::vector<std::unique_ptr<Chip>> build_chips(sim::Env& env, const config::ChipConfig& config,
                                               const task::TaskStream& stream, task::RunMemory& memory,
                                               stats::Group& stats, const Observers& observers, const DramFactory& dram,
                                               ThreadPool& pool, DeferredAccesses& accesses, bool all_cores) {
  std::vector<std::unique_ptr<Chip>> chips;
  const bool one = stream.devices == 1;
  for (u32 d = 0; d < stream.devices; ++d) {
    const std::string name = fmt::format("npu{}", d);
    chips.push_back(std::make_unique<Chip>(env, config, one ? stats : stats.group(name), one ? "" : name + ".", dram));
  }
  stats.group("host");
  const std::vector<bool> with_cores = need_cores(stream);
  for (u32 d = 0; d < stream.devices; ++d) {
    if (all_cores || with_cores[d]) chips[d]->build_cores(memory, observers, pool, accesses);
  }
  return chips;
}

// Whether only times and counters are asked for, so that launches that equal earlier ones need not be simulated.
bool times_alone(const Options& o, const task::RunMemory& memory) {
  return !memory.with_data() && o.trace == nullptr && o.census == nullptr && o.causes == nullptr &&
         o.checker == nullptr;
}

// Threads that move data while this one simulates. Only one thread may write to a census.
u32 helpers(const Options& options) {
  if (options.census != nullptr) return 0;
  return (options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency())) - 1;
}

}  // namespace

Soc::Soc(const config::ChipConfig& config, const task::TaskStream& stream, task::RunMemory& memory,
         const Options& options, const sim::Clock& clock, HostLink* host_link, HostThreads::Program program)
    : config_(config),
      stream_(stream),
      memory_(memory),
      env_{.clock = clock, .trace = options.trace},
      next_sink_(options.tasks),
      pool_(helpers(options)) {
  check_fit(config, stream);
  memory.set_watcher(&accesses_);
  // What is appended may launch kernels.
  const bool all_cores = program == HostThreads::Program::open;
  chips_ = build_chips(env_, config, stream, memory, stats_, {.census = options.census, .checker = options.checker},
                       options.dram, pool_, accesses_, all_cores);
  add_hints();
  const bool recalls = options.recall && times_alone(options, memory) && host_link == nullptr &&
                       program == HostThreads::Program::complete;
  scheduler_ = std::make_unique<TaskScheduler>(
      env_, config, stream, memory, chips_, stats_, options.checker,
      TaskScheduler::Sink{.tasks = *this, .sums = options.tasks != nullptr, .causes = options.causes}, host_link,
      recalls ? options.max_cycles : 0, program);
  scheduler_->count(options.census);
}

Soc::~Soc() { memory_.set_watcher(nullptr); }

void Soc::append() {
  check_fit(config_, stream_);
  add_hints();
  scheduler_->append();
}

// A hint holds from the cycle on in which it is known.
void Soc::add_hints() {
  hints_.resize(stream_.buffers.size(), CacheHint::normal);
  for (u32 i = 0; i < hints_.size(); ++i) {
    const task::Buffer& b = stream_.buffers[i];
    if (hints_[i] == b.l2) continue;
    hints_[i] = b.l2;
    chips_[b.device]->memory().hints().set(memory_.address({.buffer = i}), b.bytes, b.l2);
  }
}

// Keeps the first tasks of a run for its result, and passes all on.
void Soc::task(const TaskRecord& r) {
  TaskSums& sums = result_.sums[{r.kind, r.direction}];
  ++sums.count;
  sums.bytes += r.bytes;
  sums.cycles += r.end - r.start;
  if (result_.task_count++ < Result::kTasksKept) {
    result_.tasks.push_back({.name = std::string(r.name),
                             .kind = std::string(r.kind),
                             .stream = std::string(r.stream),
                             .device = r.device,
                             .blocks = r.block_dim,
                             .bytes = r.bytes,
                             .enqueued = r.enqueued,
                             .start = r.start,
                             .end = r.end,
                             .cold = r.cold,
                             .work = all_work(r)});
  }
  if (next_sink_ != nullptr) next_sink_->task(r);
}

void Soc::finish_data() {
  for (const auto& chip : chips_) {
    for (const auto& core : chip->cores())
      core->finish_data();
  }
}

bool Soc::finished() {
  finish_data();
  return scheduler_->finished();
}

void Soc::complete(Result& result, u64 now) {
  result.cycles = scheduler_->end();
  result.seconds = env_.clock.seconds(result.cycles);
  result.instructions = env_.instructions;
  result.kernel_cycles = scheduler_->kernel_cycles();
  result.cold_cycles = scheduler_->cold_cycles();
  result.equal_launches = scheduler_->equal_launches();
  result.cube_macs += scheduler_->equal_cube_macs();
  std::map<InsertedSync::Site, InsertedSync::Sum> inserted;
  std::map<NativeCode::Site, NativeCode::Sum> native;
  for (const auto& chip : chips_) {
    for (const auto& core : chip->cores()) {
      add_pipe_times(*core, now, result);
      core->sums().inserted.add_to(inserted);
      core->sums().native.add_to(native);
    }
  }
  result.inserted = inserted_sync(inserted);
  result.native = native_code(native);
  result.stats = stats::Values(stats_);
  result.threads_missing = pool_.missing();
}

Result Soc::result() {
  finish_data();
  Result out = result_;
  complete(out, std::max(scheduler_->end(), env_.agenda.now()));
  return out;
}

Result Soc::take_result() {
  for (const auto& chip : chips_) {
    for (const auto& core : chip->cores())
      core->settle(scheduler_->end());
  }
  complete(result_, scheduler_->end());
  return std::move(result_);
}

}  // namespace vinci::models
