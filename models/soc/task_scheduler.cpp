// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/task_scheduler.h"

#include <algorithm>

#include "isa/check/checker.h"
#include "models/runtime/overloaded.h"
#include "models/runtime/task_names.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

TaskScheduler::TaskScheduler(sim::Env& env, const config::ChipConfig& config, const task::TaskStream& stream,
                             task::RunMemory& memory, const std::vector<std::unique_ptr<Chip>>& chips,
                             stats::Group& stats, isa::check::Checker* checker, Sink sink, HostLink* host_link,
                             u64 recall_until, HostThreads::Program program)
    : Module(env),
      config_(config),
      stream_(stream),
      memory_(memory),
      effects_(stream, config.links, memory, checker),
      streams_(stream, config, effects_, *this),
      host_(stream, streams_, effects_, *this, program),
      links_(config.links, config.clock, stats),
      codes_(decode_kernels(stream)),
      starts_(stream.streams.size()),
      hosts_(stream.streams.size()),
      threads_(host_.count()),
      recorded_(stream.events.size()),
      sink_(sink),
      host_link_(host_link),
      host_copies_(host_link != nullptr ? stream.streams.size() : 0),
      events_(env, *this),
      task_start_(env.clock.cover(config.scheduler.task_start)),
      task_completion_(env.clock.cover(config.scheduler.task_completion)),
      control_(env.clock.cover(config.scheduler.control)) {
  for (u32 d = 0; d < chips.size(); ++d)
    devices_.emplace_back(*this, *chips[d], d, recall_until);
  stats.group("host").add("busy", host_busy_, "cycles", "time that host threads spent on their steps");
  if (env_.trace != nullptr) {
    add_tracks();
    for (u32 d = 0; d < devices_.size(); ++d) {
      for (usize lane = 0; lane < Engines::kLaneNames.size(); ++lane) {
        devices_[d].lanes[lane] = env_.trace->track(group_of(d), Engines::kLaneNames[lane]);
      }
    }
    show_links();
  }
  for (u32 thread = 0; thread < host_.count(); ++thread) {
    if (env_.trace != nullptr) threads_[thread].track = env_.trace->track("host", host_.name(thread));
    later(0, What::host, thread);
  }
  env_.waiters.push_back([this](Waits& waits) {
    waits.circle = streams_.report(waits.lines);
    effects_.collectives().report(waits.lines);
    host_.report(waits.lines);
  });
  wake();
}

TaskScheduler::Device::Device(TaskScheduler& s, Chip& chip, u32 device, u64 recall_until)
    : scheduler(s),
      engines(s.config_, s.env_.clock, s.stream_, s.links_),
      equal(recall_until != 0 && launches_follow_one_another(s.stream_, device)
                ? std::make_optional<EqualLaunches>(s.env_, chip, s.codes_, recall_until)
                : std::nullopt),
      blocks(s.env_, s.config_, s.stream_, s.codes_, chip.all_cores(),
             {.sums = s.sink_.sums, .causes = s.sink_.causes != nullptr}, equal ? &*equal : nullptr, *this) {
  stats::Group& stats = chip.stats().group("device");
  stats.add("tasks", tasks, "tasks", "completed");
  engines.register_in(stats);
}

void TaskScheduler::Device::later(u64 at, u32 stream, u32 core) { scheduler.later(at, What::block, stream, core); }

void TaskScheduler::Device::done(u32 stream) {
  scheduler.later(scheduler.now() + scheduler.task_completion_, What::task, stream);
}

void TaskScheduler::append() {
  append_kernels(codes_, stream_);
  effects_.append();
  streams_.append();
  const usize streams = stream_.streams.size();
  starts_.resize(streams);
  hosts_.resize(streams);
  if (host_link_ != nullptr) host_copies_.resize(streams);
  recorded_.resize(stream_.events.size());
  if (env_.trace != nullptr) add_tracks();
  for (Device& d : devices_)
    d.blocks.append();
  const std::vector<u32> goes_on = host_.append();
  for (const u32 thread : goes_on)
    wake_host(thread);
}

void TaskScheduler::add_tracks() {
  for (usize s = tracks_.size(); s < stream_.streams.size(); ++s) {
    const task::Stream& stream = stream_.streams[s];
    tracks_.push_back(env_.trace->track(group_of(stream.device), fmt::format("stream {}", stream.name)));
  }
}

std::string TaskScheduler::group_of(u32 device) const {
  return stream_.devices > 1 ? fmt::format("npu{}", device) : "device";
}

u64 TaskScheduler::equal_launches() const {
  u64 out = 0;
  for (const Device& d : devices_)
    out += d.equal ? d.equal->count() : 0;
  return out;
}

u64 TaskScheduler::equal_cube_macs() const {
  u64 out = 0;
  for (const Device& d : devices_)
    out += d.equal ? d.equal->cube_macs() : 0;
  return out;
}

double TaskScheduler::done_fraction() const {
  u64 done = control_units_;
  for (const Device& d : devices_)
    done += d.blocks.done_units();
  return std::min(1.0, static_cast<double>(done) / std::max(1.0, host_.planned_units()));
}

// Streams and cores are looked at when all events of the cycle have happened.
void TaskScheduler::act() {
  if (same_cycle_due_ != 0) return wake();
  streams_.run();
  for (Device& d : devices_)
    d.blocks.dispatch(now());
}

void TaskScheduler::later(u64 at, What what, u32 id, u32 part) {
  const bool same_cycle = at <= now();
  events_.at(at, {.what = what, .id = id, .part = part, .same_cycle = same_cycle});
  hosts_due_ += what == What::host ? 1 : 0;
  same_cycle_due_ += same_cycle ? 1 : 0;
}

bool TaskScheduler::happen(const Event& event) {
  if (out_of_steps_) {
    next_step(*std::exchange(out_of_steps_, std::nullopt));
  } else {
    constexpr u64 kMost = 100'000'000;  // of a loop of tasks or host steps whose times are all zero
    if (std::exchange(happened_at_, now()) != now()) happened_ = 0;
    if (++happened_ > kMost)
      fail(Fault::Limit, "{} tasks and host steps ended in cycle {}; time does not advance", kMost, now());
    same_cycle_due_ -= event.same_cycle ? 1 : 0;
    carry_out(event);
  }
  if (out_of_steps_) return false;
  wake();
  return true;
}

void TaskScheduler::carry_out(const Event& event) {
  switch (event.what) {
    case What::task: streams_.done(event.id); break;
    case What::kernel_ready: kernel_ready(event.id); break;
    case What::kernel_as_before: device_of(event.id).blocks.ended_as_before(event.id); break;
    case What::block: device_of(event.id).blocks.part_done(event.part); break;
    case What::host:
      --hosts_due_;
      go_on(event.id);
      break;
    case What::collective: carry_on(event.id, 0, true); break;
    case What::transfer: carry_on(event.id, event.part, false); break;
    case What::host_copy: host_copy_due(event.id); break;
  }
}

// Tasks -------------------------------------------------------------------------------------------------------------

bool TaskScheduler::begin(u32 stream) {
  const Streams::Present& present = streams_.present(stream);
  Engines& engines = device_of(stream).engines;
  const u64 t = now();
  starts_[stream] = present.started;
  return std::visit(
      Overloaded{
          [&](const task::KernelLaunch&) {
            if (kernels_++ == 0) kernels_since_ = t;
            later(t + task_start_, What::kernel_ready, stream);
            return false;
          },
          [&](const task::MemcpyAsync& op) { return begin_copy(stream, op); },
          [&](const task::CpuKernelLaunch& op) { return begin_aicpu(stream, op); },
          [&](const task::Hccl&) { return begin_collective(stream); },
          // The scheduler starts and completes these like a kernel.
          [&](const task::NpuGetFloatStatus&) {
            return begin_control(stream, task_start_ + task_completion_ + config_.memory.hbm.latency);
          },
          [&](const task::NpuClearFloatStatus&) { return begin_control(stream, task_start_ + task_completion_); },
          [&](const task::ModelExecute&) { return begin_control(stream, task_start_); },
          [&](const task::Free&) { return true; },
          [&](const auto& op) {
            if constexpr (requires { op.sdma(); }) {
              return begin_job(stream, engines.run(t, op.sdma()));
            } else {
              return begin_control(stream, least_cycles(op));
            }
          },
      },
      streams_.task(stream).op);
}

// Of a task that the scheduler carries out by itself. What it writes is visible after the latency of the memory. A jump
// takes at least one cycle, so that time passes in each loop.
template <class Op>
u64 TaskScheduler::least_cycles(const Op&) const {
  bool writes = false;
  task::for_each_spelled<task::as::part, Op>(
      [&](const auto& field) { writes = writes || field.spelling.access == task::as::Access::write; });
  if (writes) return config_.memory.hbm.latency;
  return Op::info.role == task::TaskRole::steer ? 1 : 0;
}

bool TaskScheduler::begin_job(u32 stream, const Engines::Job& job) {
  starts_[stream] = job.start;  // the engine may still work for another stream
  show(stream, job, now());
  later(job.end, What::task, stream);
  return false;
}

void TaskScheduler::show(u32 stream, const Engines::Job& job, u64 queued) {
  if (env_.trace == nullptr || !job.lane) return;
  env_.trace->span({.track = device_of(stream).lanes[static_cast<usize>(*job.lane)],
                    .name = streams_.task(stream).name,
                    .queued = queued,
                    .begin = job.start,
                    .end = job.free,
                    .done = job.end,
                    .detail = stream_.streams[stream].name});
}

// Each block on the lane of its thread.
bool TaskScheduler::begin_aicpu(u32 stream, const task::CpuKernelLaunch& op) {
  Device& device = device_of(stream);
  const double seconds = effects_.aicpu_seconds(op, config_.aicpu.bandwidth);
  if (env_.trace == nullptr) return begin_job(stream, device.engines.aicpu(now(), op.block_dim, seconds));
  std::vector<Engines::ThreadJob> jobs;
  const Engines::Job all = device.engines.aicpu(now(), op.block_dim, seconds, &jobs);
  for (const Engines::ThreadJob& job : jobs) {
    const auto [track, is_new] = device.threads.try_emplace(job.thread);
    if (is_new)
      track->second = env_.trace->track(group_of(stream_.streams[stream].device), fmt::format("AICPU {}", job.thread));
    env_.trace->span({.track = track->second,
                      .name = streams_.task(stream).name,
                      .queued = now(),
                      .begin = job.start,
                      .end = job.end,
                      .done = job.end,
                      .detail = stream_.streams[stream].name});
  }
  return begin_job(stream, all);
}

// A lane for each link that is used: which bytes are on it when.
void TaskScheduler::show_links() {
  links_.on_use = [this](const Links::Use& use) {
    const auto [track, is_new] = wires_.try_emplace(use.link);
    if (is_new) track->second = env_.trace->track("links", models::name(use.link));
    env_.trace->span({.track = track->second,
                      .name = fmt::format("{} B", use.bytes),
                      .queued = now(),
                      .begin = use.begin,
                      .end = use.end,
                      .done = use.arrival});
  };
}

bool TaskScheduler::begin_copy(u32 stream, const task::MemcpyAsync& op) {
  const Engines::Job job = device_of(stream).engines.copy(now(), op);
  const auto is_host = [&](const task::Slice& s) {
    return stream_.buffers[s.buffer].place == task::Buffer::Place::host;
  };
  if (host_link_ == nullptr || (!is_host(op.src) && !is_host(op.dst))) return begin_job(stream, job);
  host_copies_[stream] = {};
  later(job.end, What::host_copy, stream);
  host_link_->copy(op, job, [this, stream, queued = now()](const Engines::Job& actual) {
    HostCopy& copy = host_copies_[stream];
    starts_[stream] = actual.start;
    show(stream, actual, queued);
    copy.over = true;
    copy.end = actual.end;
    if (!copy.due) return;
    later(copy.end, What::host_copy, stream);
  });
  return false;
}

void TaskScheduler::host_copy_due(u32 stream) {
  HostCopy& copy = host_copies_[stream];
  copy.due = true;
  if (!copy.over) return;  // the link reports it
  if (copy.end > now()) {
    later(copy.end, What::host_copy, stream);
  } else {
    streams_.done(stream);
  }
}

bool TaskScheduler::begin_control(u32 stream, u64 least) {
  const u64 cycles = std::max(control_, least);
  if (cycles > 0) later(now() + cycles, What::task, stream);
  return cycles == 0;
}

// The last rank to come starts the collective of all.
bool TaskScheduler::begin_collective(u32 stream) {
  const Collectives::Call* call = effects_.arrive(stream, streams_.present(stream).task);
  if (call == nullptr) return false;
  const task::Hccl& op = call->ranks.front().op();
  std::vector<u32> streams;
  for (const Collectives::Rank& r : call->ranks)
    streams.push_back(r.stream);
  collectives_.try_emplace(next_collective_, RunningCollective{.time = {call->schedule, stream_.comms[op.comm].devices,
                                                                        task::element_bytes(op.type), links_},
                                                               .streams = streams,
                                                               .left = call->arrived});
  later(now() + env_.clock.cover(config_.links.collective_start), What::collective, next_collective_++);
  return false;
}

void TaskScheduler::carry_on(u32 collective, u32 transfer, bool begin) {
  RunningCollective& c = collectives_.at(collective);
  std::vector<CollectiveInTime::Started> started;
  begin ? c.time.begin(now(), started) : c.time.arrived(now(), transfer, started);
  for (const CollectiveInTime::Started& s : started)
    later(s.end, What::transfer, collective, s.transfer);
  const std::vector<u32> done = c.time.take_done();
  c.left -= static_cast<u32>(done.size());
  for (const u32 rank : done)
    streams_.done(c.streams[rank]);
  if (c.left == 0) collectives_.erase(collective);
}

void TaskScheduler::kernel_ready(u32 stream) {
  const u32 task = streams_.present(stream).task;
  const task::Task& t = streams_.task(stream);
  const auto& op = std::get<task::KernelLaunch>(t.op);
  device_of(stream).blocks.add(
      stream, op, {.task = effects_.number(stream, task), .block_num = op.block_dim, .args = memory_.arguments(op)},
      t.name, effects_.begin_kernel(stream, task));
}

void TaskScheduler::explain(u32 stream, KernelLog& log) {
  const Streams::Present& present = streams_.present(stream);
  log.name = streams_.task(stream).name;
  log.device = stream_.streams[stream].device;
  log.stream = stream;
  log.task = present.task;
  log.start = starts_[stream];
  log.end = now();
  sink_.causes->kernel(log);
}

void TaskScheduler::ended(u32 stream) {
  const u64 t = now();
  Device& device = device_of(stream);
  const task::Task& task = streams_.task(stream);
  const bool kernel = std::holds_alternative<task::KernelLaunch>(task.op);
  std::array<CoreSums, 3> sums{};
  u64 cold = 0;
  if (kernel) {
    const BlockDispatcher::Ended launch = device.blocks.finish(stream);
    cold = launch.cold;
    const u64 cold_end = starts_[stream] + cold;
    cold_cycles_ += cold_end - std::min(cold_end, std::max(starts_[stream], cold_until_));
    cold_until_ = std::max(cold_until_, cold_end);
    if (launch.log != nullptr) explain(stream, *launch.log);
    effects_.end_kernel(stream, launch.status);
    sums = launch.cores;
    if (--kernels_ == 0) kernel_cycles_ += t - kernels_since_;
  } else {
    ++control_units_;
  }
  if (std::holds_alternative<task::Free>(task.op)) {
    for (Device& d : devices_)
      if (d.equal) d.equal->forget();
  }
  ++device.tasks;
  end_ = std::max(end_, t);
  if (const auto* record = std::get_if<task::EventRecord>(&task.op)) {
    recorded_[record->event] = t;
    if (record->event == awaited_) env_.agenda.pause(nullptr);
  }
  const Streams::Present& present = streams_.present(stream);
  if (env_.trace != nullptr) {
    env_.trace->span({.track = tracks_[stream],
                      .name = task.name,
                      .queued = present.enqueued,
                      .begin = starts_[stream],
                      .end = t,
                      .done = t,
                      .detail = task_kind(stream_, task)});
    // From the last cycle of the host's call, where its span is; a task of a model has none.
    if (stream_.streams[stream].model == task::kNone && present.enqueued > 0) {
      env_.trace->flow(threads_[hosts_[stream]].track, present.enqueued - 1, tracks_[stream], starts_[stream],
                       "launch");
    }
  }
  TaskRecord record = task_record(stream_, stream, present.task);
  record.iteration = present.turn;
  record.enqueued = present.enqueued;
  record.start = starts_[stream];
  record.end = t;
  record.cold = cold;
  record.cores = sums;
  sink_.tasks.task(record);
}

// The host ----------------------------------------------------------------------------------------------------------

u64 TaskScheduler::cycles_of(const HostThreads::Step& step) const {
  switch (step.work) {
    case HostThreads::Work::launch: return env_.clock.cover(config_.host.launch);
    case HostThreads::Work::enqueue: return env_.clock.cover(config_.host.enqueue);
    case HostThreads::Work::synchronize: return env_.clock.cover(config_.host.synchronize);
    case HostThreads::Work::compute: return env_.clock.cover(step.seconds);
  }
  return 0;
}

void TaskScheduler::go_on(u32 thread) {
  HostState& state = threads_[thread];
  const u64 t = now();
  if (state.step && env_.trace != nullptr) {
    env_.trace->span({.track = state.track,
                      .name = state.step->name,
                      .queued = state.since,
                      .begin = state.since,
                      .end = t,
                      .done = t,
                      .detail = state.step->detail});
  }
  if (state.step && state.step->stream != task::kNone) hosts_[state.step->stream] = thread;
  end_ = std::max(end_, t);
  next_step(thread);
}

// Nothing of the simulation happens while what a host thread does next is not known.
void TaskScheduler::next_step(u32 thread) {
  HostState& state = threads_[thread];
  const u64 t = now();
  state.step = host_.go_on(thread);
  state.since = t;
  if (host_.out_of_steps(thread)) {
    out_of_steps_ = thread;
    return;
  }
  if (!state.step) return;
  const u64 cycles = cycles_of(*state.step);
  host_busy_ += cycles;
  later(t + cycles, What::host, thread);
}

}  // namespace vinci::models
