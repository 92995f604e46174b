// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/host_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/runtime/overloaded.h"

namespace vinci::models {

using task::HostStep;

u64 units_of(const task::Task& task) {
  const auto* launch = std::get_if<task::KernelLaunch>(&task.op);
  return launch != nullptr ? u64{launch->block_dim} * (1 + launch->aivs) : 1;
}

HostThreads::HostThreads(const task::TaskStream& stream, Streams& streams, TaskEffects& effects, Carrier& carrier,
                         Program program)
    : stream_(stream),
      streams_(streams),
      effects_(effects),
      carrier_(carrier),
      first_program_(program),
      program_(program),
      default_{.name = "enqueue", .steps = {}},
      threads_(std::max<usize>(1, stream.host.threads.size())) {
  extend_default();
  for (const task::Semaphore& s : stream.host.semaphores)
    semaphores_.push_back({.count = s.initial, .waiters = {}});
}

std::vector<u32> HostThreads::append() {
  if (threads_.size() < stream_.host.threads.size() || semaphores_.size() < stream_.host.semaphores.size())
    fail(Fault::Unsupported, "host threads and semaphores cannot be appended to a session");
  extend_default();
  planned_units_.reset();
  program_ = first_program_;
  std::vector<u32> out;
  for (u32 t = 0; t < threads_.size(); ++t) {
    if (!threads_[t].ended) continue;
    threads_[t].ended = false;
    --ended_;
    out.push_back(t);
  }
  return out;
}

// Without a host program: a task of each stream in turn.
void HostThreads::extend_default() {
  if (!stream_.host.threads.empty()) return;
  enqueued_by_default_.resize(stream_.streams.size());
  const auto all_enqueued = [&](u32 s) { return enqueued_by_default_[s] == stream_.streams[s].tasks.size(); };
  std::vector<u32> left;  // streams with tasks that no step enqueues yet
  for (u32 s = 0; s < stream_.streams.size(); ++s) {
    if (stream_.streams[s].model == task::kNone && !all_enqueued(s)) left.push_back(s);
  }
  while (!left.empty()) {
    for (const u32 s : left)
      default_.steps.emplace_back(task::HostEnqueue{.stream = s, .first = enqueued_by_default_[s]++, .count = 1});
    std::erase_if(left, all_enqueued);
  }
}

double HostThreads::planned_units() const {
  if (!planned_units_) {
    planned_units_ = 0;
    for (u32 t = 0; t < threads_.size(); ++t)
      *planned_units_ += units(program(t).steps, 0, program(t).steps.size());
  }
  return *planned_units_;
}

u32 HostThreads::end_of(const task::HostEnqueue& op) const {
  const auto all = static_cast<u32>(stream_.streams[op.stream].tasks.size());
  return op.count < all - op.first ? op.first + op.count : all;
}

double HostThreads::units(const std::vector<HostStep>& steps, usize begin, usize end) const {
  double out = 0;
  for (usize i = begin; i < end; ++i) {
    if (const auto* loop = std::get_if<task::HostRepeat>(&steps[i])) {
      out += static_cast<double>(loop->times) * units(steps, i + 1, i + 1 + loop->length);
      i += loop->length;
    } else if (const auto* op = std::get_if<task::HostEnqueue>(&steps[i])) {
      for (u32 t = op->first; t < end_of(*op); ++t)
        out += static_cast<double>(units_of(task_of(op->stream, t)));
    }
  }
  return out;
}

std::optional<HostThreads::Step> HostThreads::go_on(u32 thread) {
  Thread& t = threads_[thread];
  const std::vector<HostStep>& steps = program(thread).steps;
  t.waits = t.out = false;
  constexpr u64 kMostSteps = 100'000'000;
  u64 done = 0;
  for (Outcome out; !t.ended;) {
    if (++done > kMostSteps) {
      fail(Fault::Limit, "host thread '{}' made {} steps that take no time and wait for nothing", name(thread),
           kMostSteps);
    }
    if (!t.loops.empty() && t.step == t.loops.back().end) {
      Loop& loop = t.loops.back();
      if (--loop.left == 0) {
        t.loops.pop_back();
      } else {
        t.step = loop.begin;
      }
    } else if (t.step == steps.size()) {
      t.out = true;
    } else if (std::visit([&](const auto& op) { return carry(thread, op, out); }, steps[t.step])) {
      ++t.step;
      t.phase = Phase::begin;
    } else if (!t.out) {
      t.waits = !out;
      return out;
    }
    if (!t.out) continue;
    if (program_ == Program::open) return {};
    t.out = false;
    t.ended = true;
    ++ended_;
  }
  return {};
}

bool HostThreads::carry(u32 thread, const task::HostRepeat& op, Outcome&) {
  Thread& t = threads_[thread];
  if (op.times == 0 || op.length == 0) {
    t.step += op.length;
  } else {
    t.loops.push_back({.begin = t.step + 1, .end = t.step + 1 + op.length, .left = op.times});
  }
  return true;
}

bool HostThreads::pageable(const task::Task& task) const {
  const auto* copy = std::get_if<task::MemcpyAsync>(&task.op);
  return copy != nullptr && (stream_.buffers[copy->src.buffer].pageable || stream_.buffers[copy->dst.buffer].pageable);
}

bool HostThreads::reached(u32 thread, u32 stream, u64 ticket) {
  if (streams_.completed(stream) < ticket) {
    streams_.watch_stream(stream, thread);
    return false;
  }
  effects_.host_follows(thread, stream);
  return true;
}

bool HostThreads::carry(u32 thread, const task::HostEnqueue& op, Outcome& out) {
  Thread& t = threads_[thread];
  for (;;) {
    if (t.phase == Phase::begin && op.first + t.task >= end_of(op)) {
      // The last step of a program that was open may still grow: the thread stays in it.
      t.out = first_program_ == Program::open && t.loops.empty() && t.step + 1 == program(thread).steps.size();
      if (t.out) return false;
      t.task = 0;
      return true;
    }
    const task::Task& task = task_of(op.stream, op.first + t.task);
    switch (t.phase) {
      case Phase::begin:
        t.phase = Phase::paid;
        out = Step{.work = std::holds_alternative<task::KernelLaunch>(task.op) ? Work::launch : Work::enqueue,
                   .name = task.name,
                   .detail = stream_.streams[op.stream].name,
                   .stream = op.stream};
        return false;
      case Phase::paid:
        if (!streams_.enqueue(op.stream, op.first + t.task, t.turn)) {
          streams_.watch_stream(op.stream, thread);
          return false;
        }
        effects_.enqueue(op.stream, thread);
        t.phase = Phase::handed;
        t.ticket = streams_.handed(op.stream);
        break;
      case Phase::handed:  // a copy of pageable memory keeps the caller until it is over
        if (pageable(task) && !reached(thread, op.stream, t.ticket)) return false;
        t.phase = Phase::begin;
        ++t.task;
        break;
    }
  }
}

bool HostThreads::carry(u32 thread, const task::HostCompute& op, Outcome& out) {
  Thread& t = threads_[thread];
  if (t.phase == Phase::paid) return true;
  t.phase = Phase::paid;
  out = Step{.work = Work::compute, .seconds = op.seconds, .name = op.name};
  return false;
}

// What a wait costs the thread, once it is satisfied.
bool HostThreads::synchronize(u32 thread, std::string_view name, Outcome& out) {
  Thread& t = threads_[thread];
  if (t.phase == Phase::paid) return true;
  t.phase = Phase::paid;
  out = Step{.work = Work::synchronize, .name = "synchronize", .detail = std::string(name)};
  return false;
}

bool HostThreads::carry(u32 thread, const task::SynchronizeStream& op, Outcome& out) {
  Thread& t = threads_[thread];
  if (t.phase == Phase::begin) {
    t.ticket = streams_.handed(op.stream);
    t.phase = Phase::handed;
  }
  if (t.phase == Phase::handed && !reached(thread, op.stream, t.ticket)) return false;
  return synchronize(thread, stream_.streams[op.stream].name, out);
}

bool HostThreads::carry(u32 thread, const task::SynchronizeEvent& op, Outcome& out) {
  Thread& t = threads_[thread];
  if (t.phase == Phase::begin) {
    effects_.host_reaches(thread, op.event);
    t.phase = Phase::handed;
  }
  if (t.phase == Phase::handed) {
    if (!streams_.passes(thread, op.event)) {
      streams_.watch_event(op.event, thread);
      return false;
    }
    effects_.host_passes(thread, op.event);
  }
  return synchronize(thread, stream_.events[op.event], out);
}

bool HostThreads::carry(u32 thread, const task::SynchronizeDevice& op, Outcome& out) {
  Thread& t = threads_[thread];
  if (t.phase == Phase::begin) {
    for (u32 s = 0; s < stream_.streams.size(); ++s) {
      if (stream_.streams[s].device == op.device && streams_.completed(s) < streams_.handed(s))
        t.tickets.emplace_back(s, streams_.handed(s));
    }
    t.phase = Phase::handed;
  }
  while (!t.tickets.empty()) {
    if (!reached(thread, t.tickets.back().first, t.tickets.back().second)) return false;
    t.tickets.pop_back();
  }
  return synchronize(thread, "device", out);
}

bool HostThreads::carry(u32 thread, const task::HostPost& op, Outcome&) {
  Semaphore& s = semaphores_[op.semaphore];
  effects_.posts(thread, op.semaphore);
  if (s.waiters.empty()) {
    ++s.count;
    return true;
  }
  const u32 next = s.waiters.front();
  s.waiters.pop_front();
  threads_[next].granted = true;
  carrier_.wake_host(next);
  return true;
}

bool HostThreads::carry(u32 thread, const task::HostWait& op, Outcome&) {
  Thread& t = threads_[thread];
  Semaphore& s = semaphores_[op.semaphore];
  if (t.phase == Phase::handed && !t.granted) return false;  // still in line
  if (t.granted || s.count > 0) {
    if (!std::exchange(t.granted, false)) --s.count;
    effects_.takes(thread, op.semaphore);
    return true;
  }
  t.phase = Phase::handed;
  s.waiters.push_back(thread);
  return false;
}

void HostThreads::report(std::vector<std::string>& lines) const {
  for (u32 i = 0; i < threads_.size(); ++i) {
    const Thread& t = threads_[i];
    const std::vector<HostStep>& steps = program(i).steps;
    if (!t.waits) continue;
    const auto stream_name = [&](u32 s) -> const std::string& { return stream_.streams[s].name; };
    const std::string what = std::visit(
        Overloaded{
            [&](const task::HostEnqueue& op) {
              const std::string& task = task_of(op.stream, op.first + t.task).name;
              return t.phase == Phase::handed ? fmt::format("for the end of task '{}', a copy of pageable memory", task)
                                              : fmt::format("for room in the queue of stream '{}' to enqueue task '{}'",
                                                            stream_name(op.stream), task);
            },
            [&](const task::SynchronizeStream& op) {
              return fmt::format("in synchronize_stream for stream '{}'", stream_name(op.stream));
            },
            [&](const task::SynchronizeEvent& op) {
              return fmt::format("in synchronize_event for event '{}'", stream_.events[op.event]);
            },
            [&](const task::SynchronizeDevice& op) {
              return fmt::format("in synchronize_device for stream '{}' of device {}",
                                 t.tickets.empty() ? "" : stream_name(t.tickets.back().first), op.device);
            },
            [&](const task::HostWait& op) {
              return fmt::format("for semaphore '{}', {}", stream_.host.semaphores[op.semaphore].name,
                                 who_posts(op.semaphore));
            },
            [](const auto&) { return std::string(); },
        },
        steps[t.step]);
    // The default program has no text of its own.
    const std::string place =
        stream_.host.threads.empty() ? std::string() : fmt::format(" ({})", task::place_of_step(stream_, i, t.step));
    if (!what.empty()) lines.push_back(fmt::format("host thread '{}' waits {}{}", name(i), what, place));
  }
}

// The first step that would still post a semaphore: loops may come back to earlier steps.
std::string HostThreads::who_posts(u32 semaphore) const {
  for (u32 i = 0; i < threads_.size(); ++i) {
    const Thread& t = threads_[i];
    const u32 from = t.loops.empty() ? t.step : t.loops.front().begin;
    for (u32 step = from; !t.ended && step < program(i).steps.size(); ++step) {
      const auto* post = std::get_if<task::HostPost>(&program(i).steps[step]);
      if (post == nullptr || post->semaphore != semaphore) continue;
      return fmt::format("which host thread '{}' posts ({}) when it gets there", name(i),
                         task::place_of_step(stream_, i, step));
    }
  }
  return "which no host thread posts any more";
}

}  // namespace vinci::models
