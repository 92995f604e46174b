// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/task_scheduler.h"

#include <algorithm>

namespace vinci::models {
namespace {

constexpr u64 kNever = ~u64{0};

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

u32 blocks_of(const task::Task& t) {
  const auto* launch = std::get_if<task::KernelLaunch>(&t.op);
  return launch != nullptr ? launch->block_dim : 0;
}

u64 units_of(const task::Task& t) {
  const auto* launch = std::get_if<task::KernelLaunch>(&t.op);
  return launch != nullptr ? u64{launch->block_dim} * (1 + launch->aivs) : 1;
}

}  // namespace

TaskScheduler::TaskScheduler(sim::Env& env, const config::ChipConfig& chip, const task::TaskStream& stream,
                             task::RunMemory& memory, std::vector<Core*> cores, stats::Group& stats,
                             isa::check::Checker* checker)
    : Module("task_scheduler", env),
      chip_(chip),
      stream_(stream),
      memory_(memory),
      effects_(stream, memory, checker),
      cores_(std::move(cores)),
      states_(stream.streams.size()),
      events_(stream.events.size()) {
  for (const task::Kernel& k : stream.kernels)
    codes_.emplace_back(k.program);
  for (const task::Stream& s : stream.streams) {
    for (const task::Task& t : s.tasks)
      all_units_ += units_of(t);
    if (env_.trace != nullptr) tracks_.push_back(env_.trace->track("device", fmt::format("stream {}", s.name)));
  }
  stats.add("tasks", tasks_, "tasks", "completed");
  stats.add("h2d_bytes", h2d_bytes_, "B", "copied from host to device");
  stats.add("d2h_bytes", d2h_bytes_, "B", "copied from device to host");
  stats.add("d2d_bytes", d2d_bytes_, "B", "copied or filled inside the device by tasks");
  env_.waiters.push_back([this](std::vector<std::string>& lines) { report_waiting(lines); });
}

const task::Task& TaskScheduler::task_of(u32 stream) const {
  return stream_.streams[stream].tasks[states_[stream].next];
}

void TaskScheduler::enqueued(u32 stream) {
  ++states_[stream].enqueued;
  states_[stream].enqueued_at.push_back(now());
  wake();
}

bool TaskScheduler::finished() const {
  for (usize i = 0; i < states_.size(); ++i) {
    if (states_[i].next < stream_.streams[i].tasks.size()) return false;
  }
  return true;
}

void TaskScheduler::act() {
  const u64 t = now();
  for (bool moved = true; moved;) {  // an event that one stream records lets another go on
    moved = false;
    for (u32 s = 0; s < states_.size(); ++s)
      moved |= step(s, t);
  }
  dispatch(t);
  u64 next = kNever;
  for (const StreamState& s : states_) {
    if (s.state == State::timed) next = std::min(next, s.finish);
  }
  for (const Launch& l : launches_) {
    if (l.ready > t) next = std::min(next, l.ready);
  }
  if (next != kNever) wake_at(next);
}

bool TaskScheduler::step(u32 stream, u64 t) {
  StreamState& s = states_[stream];
  switch (s.state) {
    case State::timed:
      if (s.finish > t) return false;
      finish(stream, t);
      return true;
    case State::kernel: return false;
    case State::waiting_event:
    case State::ready: return s.next < s.enqueued && start(stream, t);
  }
  return false;
}

bool TaskScheduler::start(u32 stream, u64 t) {
  StreamState& s = states_[stream];
  const auto timed = [&](u64 finish_at) {
    s.state = State::timed;
    s.finish = finish_at;
  };
  if (s.state == State::ready) s.started = t;
  return std::visit(Overloaded{
                        [&](const task::KernelLaunch& op) {
                          s.state = State::kernel;
                          const BlockShape shape(chip_, stream_, op);
                          launches_.push_back({.stream = stream,
                                               .ready = t + env_.clock.cover(chip_.scheduler.task_start),
                                               .task_id = effects_.begin_kernel(stream, s.next),
                                               .launch = {.task = task::position(stream_, stream, s.next),
                                                          .block_num = op.block_dim,
                                                          .args = memory_.arguments(op)},
                                               .shape = shape,
                                               .cross = std::make_shared<isa::CrossCoreFlags>(shape.task())});
                          return true;
                        },
                        [&](const task::MemcpyAsync& op) {
                          const CopyJob job = copy_job(op);
                          s.started = std::max(t, job.engine->free_at());  // it may still move another stream's data
                          timed(job.engine->reserve(t, job.cycles) + job.latency);
                          return true;
                        },
                        [&](const task::MemsetAsync& op) {
                          // Filled by the device's own DMA at the speed of memory.
                          d2d_bytes_ += op.bytes;
                          const double seconds = static_cast<double>(op.bytes) / chip_.memory.hbm.bandwidth;
                          timed(d2d_.reserve(t, env_.clock.cover(seconds)) + chip_.memory.hbm.latency);
                          return true;
                        },
                        [&](const task::EventRecord& op) {
                          events_[op.event] = true;
                          finish(stream, t);
                          return true;
                        },
                        [&](const task::StreamWaitEvent& op) {
                          s.state = State::waiting_event;
                          if (!events_[op.event]) return false;
                          finish(stream, t);
                          return true;
                        },
                        [&](const auto&) {  // takes no time
                          finish(stream, t);
                          return true;
                        },
                        [&](const task::NpuGetFloatStatus&) {
                          timed(t + small_task() + chip_.memory.hbm.latency);  // it writes to memory
                          return true;
                        },
                        [&](const task::NpuClearFloatStatus&) {
                          timed(t + small_task());
                          return true;
                        },
                    },
                    task_of(stream).op);
}

u64 TaskScheduler::small_task() const {
  return env_.clock.cover(chip_.scheduler.task_start) + env_.clock.cover(chip_.scheduler.task_completion);
}

TaskScheduler::CopyJob TaskScheduler::copy_job(const task::MemcpyAsync& op) {
  const bool from_host = stream_.buffers[op.src.buffer].place == task::Buffer::Place::host;
  const bool to_host = stream_.buffers[op.dst.buffer].place == task::Buffer::Place::host;
  const auto bytes = static_cast<double>(op.bytes());
  const config::HostConfig& host = chip_.host;
  if (from_host) {
    h2d_bytes_ += op.bytes();
    return {.engine = &h2d_, .cycles = env_.clock.cover(host.copy_latency + bytes / host.h2d_bandwidth)};
  }
  if (to_host) {
    d2h_bytes_ += op.bytes();
    return {.engine = &d2h_, .cycles = env_.clock.cover(host.copy_latency + bytes / host.d2h_bandwidth)};
  }
  d2d_bytes_ += op.bytes();
  return {.engine = &d2d_,
          .cycles = env_.clock.cover(2 * bytes / chip_.memory.hbm.bandwidth),
          .latency = chip_.memory.hbm.latency};
}

void TaskScheduler::finish(u32 stream, u64 t) {
  StreamState& s = states_[stream];
  const task::Task& task = task_of(stream);
  TaskRecord record{.name = task.name,
                    .stream = stream,
                    .blocks = blocks_of(task),
                    .enqueued = s.enqueued_at[s.next],
                    .start = s.started,
                    .end = t};
  std::visit(Overloaded{
                 [&](const task::KernelLaunch& op) {
                   const auto type = stream_.kernels[op.kernel].type;
                   record.kind = op.mix()                             ? "KERNEL_MIX_AIC"
                                 : type == task::KernelType::AIV_ONLY ? "KERNEL_AIVEC"
                                                                      : "KERNEL_AICORE";
                 },
                 [&](const task::MemcpyAsync& op) {
                   record.kind = "MEMCPY_ASYNC";
                   record.bytes = op.bytes();
                 },
                 [&](const task::MemsetAsync& op) {
                   record.kind = "MEMSET_ASYNC";
                   record.bytes = op.bytes;
                 },
                 [&](const task::EventRecord&) { record.kind = "EVENT_RECORD"; },
                 [&](const task::StreamWaitEvent&) { record.kind = "STREAM_WAIT_EVENT"; },
                 [&](const task::Free&) { record.kind = "FREE"; },
                 [&](const task::NpuGetFloatStatus& op) {
                   record.kind = "NPU_GET_FLOAT_STATUS";
                   record.bytes = op.kBytes;
                 },
                 [&](const task::NpuClearFloatStatus&) { record.kind = "NPU_CLEAR_FLOAT_STATUS"; },
                 [&](const auto&) { record.kind = task::kOpNames[task.op.index()]; },
             },
             task.op);
  if (std::holds_alternative<task::KernelLaunch>(task.op)) {
    effects_.end_kernel(stream, s.status);
  } else {
    effects_.perform(stream, s.next);
  }
  if (env_.trace != nullptr) {
    env_.trace->span({.track = tracks_[stream],
                      .name = record.name,
                      .queued = record.enqueued,
                      .begin = record.start,
                      .end = t,
                      .done = t,
                      .detail = record.kind});
  }
  if (record.blocks == 0) ++done_units_;
  records_.push_back(std::move(record));
  ++tasks_;
  end_ = std::max(end_, t);
  ++s.next;
  s.state = State::ready;
}

Core& TaskScheduler::core(const BlockShape::Part& part) const {
  return *cores_[part.core + (part.kind == isa::CoreKind::vector ? chip_.ai_cores : 0)];
}

void TaskScheduler::dispatch(u64 t) {
  for (Launch& l : launches_) {
    if (l.ready > t) continue;
    for (u32 slot = 0; slot < l.shape.slots() && l.next_block < l.launch.block_num; ++slot) {
      bool idle = true;
      for (u32 n = 0; n < l.shape.parts(); ++n)
        idle = idle && core(l.shape.part(slot, l.next_block, n)).idle();
      if (idle) start_block(l, slot, t + env_.clock.cover(chip_.scheduler.block_dispatch));
    }
  }
}

void TaskScheduler::start_block(Launch& l, u32 slot, u64 at) {
  for (u32 n = 0; n < l.shape.parts(); ++n) {
    const BlockShape::Part part = l.shape.part(slot, l.next_block, n);
    const Block block{.code = &codes_[part.kernel],
                      .launch = l.shape.launch(l.launch, part),
                      .task = task_of(l.stream).name,
                      .where = block_text(part.self, l.shape.parts() > 1),
                      .cross = l.cross,
                      .self = part.self,
                      .task_id = l.task_id};
    Core& on = core(part);
    on.start(block, at, [this, stream = l.stream, &on] { part_done(stream, on.status()); });
  }
  ++l.next_block;
}

void TaskScheduler::part_done(u32 stream, u64 status) {
  ++done_units_;
  const auto it = std::ranges::find(launches_, stream, &Launch::stream);
  it->status |= status;
  if (++it->units_done == units_of(task_of(stream))) {
    states_[stream].status = it->status;
    launches_.erase(it);
    states_[stream].state = State::timed;
    states_[stream].finish = now() + env_.clock.cover(chip_.scheduler.task_completion);
  }
  wake();
}

void TaskScheduler::report_waiting(std::vector<std::string>& lines) const {
  for (usize i = 0; i < states_.size(); ++i) {
    if (states_[i].state != State::waiting_event) continue;
    const auto& task = stream_.streams[i].tasks[states_[i].next];
    lines.push_back(fmt::format("stream '{}' waits in task '{}' for event '{}'", stream_.streams[i].name, task.name,
                                stream_.events[std::get<task::StreamWaitEvent>(task.op).event]));
  }
}

}  // namespace vinci::models
