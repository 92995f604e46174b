// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/machine/waits.h"
#include "models/runtime/overloaded.h"

namespace vinci::models {
namespace {

constexpr u8 kLast = 0xff;  // behind all priorities: of a stream that only repeats

bool does_work(const task::Task& task) {
  return Turns::works(task) && !std::holds_alternative<task::ModelExecute>(task.op);
}

}  // namespace

Streams::Streams(const task::TaskStream& stream, const config::ChipConfig& chip, TaskEffects& effects, Carrier& carrier)
    : stream_(stream), depth_(chip.limits.stream_depth), effects_(effects), carrier_(carrier), limits_(chip, stream) {
  append();
}

void Streams::append() {
  limits_.append();
  events_.resize(stream_.events.size());
  notifies_.resize(stream_.notifies.size());
  models_.resize(stream_.models.size());
  label_at_.resize(stream_.labels.size());
  for (auto s = static_cast<u32>(states_.size()); s < stream_.streams.size(); ++s) {
    const u32 model = stream_.streams[s].model;
    if (model != task::kNone) models_[model].streams.push_back(s);
  }
  states_.resize(stream_.streams.size());
  for (usize s = 0; s < states_.size(); ++s) {
    const auto& tasks = stream_.streams[s].tasks;
    for (auto t = static_cast<u32>(states_[s].past.size()); t < tasks.size(); ++t) {
      if (const auto* label = std::get_if<task::LabelSet>(&tasks[t].op)) label_at_[label->label] = t;
    }
    tasks_ += tasks.size() - states_[s].past.size();
    states_[s].past.resize(tasks.size());
  }
}

bool Streams::enqueue(u32 stream, u32 task, u64& turn) {
  StreamState& s = states_[stream];
  if (s.queue.size() >= depth_) return false;
  Turns::enter(turn, s.past[task].latest_turn, stream_.streams[stream].tasks[task]);
  s.queue.push_back({task, carrier_.now(), turn});
  ++s.handed;
  ++work_;
  if (s.state == State::resting) make_ready(stream);
  return true;
}

void Streams::make_ready(u32 stream) {
  State& state = states_[stream].state;
  if (state == State::resting) ++busy_;
  state = State::ready;
  const bool last = !carrier_.timed() && goes_round(states_[stream]);
  ready_.push({last ? kLast : stream_.streams[stream].priority, order_++, stream});
}

void Streams::wake(u32 waiter) {
  if ((waiter & kHost) == 0) {
    make_ready(waiter);
  } else {
    carrier_.wake_host(waiter & ~kHost);
  }
}

void Streams::run() {
  while (!ready_.empty()) {
    if (ready_.top().priority == kLast && !carrier_.host_waits()) return;
    const u32 stream = ready_.top().stream;
    ready_.pop();
    advance(stream);
  }
}

void Streams::done(u32 stream) {
  if (settle(stream)) make_ready(stream);
}

void Streams::advance(u32 stream) {
  StreamState& s = states_[stream];
  for (;;) {
    if (!reach(stream)) return rest(stream);
    if (!admit(stream)) {
      s.state = State::waiting;
      return;
    }
    s.state = State::running;
    count_idle(stream);
    if (!carrier_.begin(stream) || !settle(stream)) return;
    if (!carrier_.timed() && goes_round(s)) return make_ready(stream);
  }
}

// Whether the tasks that led to the present one, none of which does work, were more than there are: then they repeat as
// long as no memory changes, because where they lead depends on memory alone.
bool Streams::goes_round(const StreamState& s) const { return s.idle_since == work_ && s.idle > tasks_; }

void Streams::count_idle(u32 stream) {
  StreamState& s = states_[stream];
  if (does_work(task(stream))) {
    ++work_;
    ++working_;
  }
  if (std::exchange(s.idle_since, work_) != work_) s.idle = 0;
  if (stream_.streams[stream].model == task::kNone) return;  // what the host hands over ends
  constexpr u64 kAsk = 1024;
  if (++s.idle % kAsk == 0 && goes_round(s)) check_livelock();
}

// Where all streams that go on do so for ever without work, and nothing else can happen, nothing ever changes.
void Streams::check_livelock() const {
  if (working_ > 0 || !carrier_.host_waits()) return;
  std::vector<std::string> lines;
  for (u32 i = 0; i < states_.size(); ++i) {
    const StreamState& s = states_[i];
    if (s.state != State::ready && s.state != State::running) continue;
    if (!goes_round(s)) return;
    lines.push_back(fmt::format("stream '{}' executes task '{}' ({}) again and again", stream_.streams[i].name,
                                task(i).name, task::place(stream_, i, s.present.task)));
  }
  throw Error(Fault::Deadlock,
              below("nothing can move: streams repeat for ever, and none of their tasks does work:", lines));
}

// Finds the next task of a stream; false when there is none.
bool Streams::reach(u32 stream) {
  StreamState& s = states_[stream];
  if (s.reached) return true;
  const bool bound = stream_.streams[stream].model != task::kNone;
  if (bound ? s.next == stream_.streams[stream].tasks.size() : s.queue.empty()) return false;
  if (bound) Turns::enter(s.turn, s.past[s.next].latest_turn, stream_.streams[stream].tasks[s.next]);
  const Handed next = bound ? Handed{s.next++, s.activated, s.turn} : s.queue.front();
  s.present = {.task = next.task,
               .enqueued = next.at,
               .started = carrier_.now(),
               .iteration = s.past[next.task].executions,
               .turn = next.turn};
  s.reached = true;
  if (!bound) effects_.dequeue(stream);
  return true;
}

// Whether the present task can go ahead; if not, the stream is appended to the list of streams that wait for the same.
bool Streams::admit(u32 stream) {
  StreamState& s = states_[stream];
  if (s.granted) {
    s.granted = false;
    return true;
  }
  const auto wait_in = [&](std::deque<u32>& waiters) {
    waiters.push_back(stream);
    return false;
  };
  return std::visit(Overloaded{
                        [&](const task::ModelExecute& op) {
                          ModelState& model = models_[op.model];
                          return !model.running || wait_in(model.waiters);
                        },
                        [&](const auto& op) {
                          if constexpr (requires { op.waits_for(); }) {
                            const task::Signal signal = op.waits_for();
                            effects_.reach(stream, s.present.task);
                            Flag& flag = flag_of(signal);
                            if (!flag.set) return wait_in(flag.waiters);
                            if (signal.is_notify()) flag.set = false;
                          }
                          return true;
                        },
                    },
                    task(stream).op);
}

// The carrier is done with the present task. True when the task is over; a model that it started may go on.
bool Streams::settle(u32 stream) {
  if (const auto* op = std::get_if<task::ModelExecute>(&task(stream).op)) {
    states_[stream].state = State::waiting;
    start_model(op->model, stream);
    return false;
  }
  complete(stream);
  return true;
}

void Streams::complete(u32 stream) {
  StreamState& s = states_[stream];
  if (does_work(task(stream))) {
    ++work_;
    --working_;
  }
  effects_.perform(stream, s.present.task);
  control(stream);
  carrier_.ended(stream);
  ++s.past[s.present.task].executions;
  s.reached = false;
  ++s.completed;
  if (stream_.streams[stream].model == task::kNone) s.queue.pop_front();
  std::vector<u32> watchers;
  watchers.swap(s.watchers);
  for (const u32 thread : watchers)
    carrier_.wake_host(thread);
}

// What a task does to streams.
void Streams::control(u32 stream) {
  std::visit(Overloaded{
                 [&](const task::EventReset& op) { events_[op.event].set = false; },
                 [&](const task::StreamSwitch& op) {
                   if (effects_.holds(stream, states_[stream].present.task))
                     activate(op.true_stream, stream, states_[stream].turn);
                 },
                 [&](const task::StreamActive& op) { activate(op.stream, stream, states_[stream].turn); },
                 [&](const task::LabelGoto& op) { jump(stream, op.label); },
                 [&](const task::LabelSwitch& op) {
                   const u64 last = op.labels.size() - 1;
                   const u32 index = effects_.index(stream, states_[stream].present.task, op.index);
                   jump(stream, op.labels[std::min<u64>(index, last)]);
                 },
                 [&](const task::ModelEndGraph& op) {
                   if (models_[op.model].running) effects_.follow(models_[op.model].executor, stream);
                   end_model(op.model);
                 },
                 [&](const auto& op) {
                   if constexpr (requires { op.records(); }) record(op.records());
                 },
             },
             task(stream).op);
}

// An event goes to all that wait for it, and stays up. A notify goes to one; it stays up where none waits.
void Streams::record(const task::Signal& signal) {
  Flag& flag = flag_of(signal);
  if (signal.is_notify()) {
    flag.set = flag.waiters.empty();
    if (flag.set) return;
    states_[flag.waiters.front()].granted = true;
    wake(flag.waiters.front());
    flag.waiters.pop_front();
    return;
  }
  flag.set = true;
  std::deque<u32> waiters;
  waiters.swap(flag.waiters);
  for (const u32 waiter : waiters) {
    if ((waiter & kHost) == 0) {
      states_[waiter].granted = true;
    } else {
      host_granted_.insert(waiter & ~kHost);
    }
    wake(waiter);
  }
}

void Streams::jump(u32 stream, u32 label) { states_[stream].next = label_at_[label]; }

// A stream has no task to go on with.
void Streams::rest(u32 stream) {
  StreamState& s = states_[stream];
  s.state = State::resting;
  --busy_;
  const u32 model = stream_.streams[stream].model;
  if (model == task::kNone) return;
  s.active = false;
  --models_[model].active;
  if (s.again) {
    s.again = false;
    activate(stream, stream, s.turn);
    s.idle = s.again_idle;
    return;
  }
  if (models_[model].running) effects_.follow(models_[model].executor, stream);
  if (models_[model].active == 0) end_model(model);
}

// A stream of a model begins with its first task. One that runs does so when it has ended, as a stream whose last task
// activates itself must.
void Streams::activate(u32 stream, u32 by, u64 turn) {
  StreamState& s = states_[stream];
  effects_.follow(stream, by);
  s.turn = std::max(s.turn, turn);
  if (s.active) {
    if (s.again) {
      effects_.refuse(by, states_[by].present.task,
                      fmt::format("stream '{}' is activated a third time before its first run has ended",
                                  stream_.streams[stream].name));
    }
    s.again = true;
    s.again_idle = states_[by].idle_since == work_ ? states_[by].idle : 0;
    return;
  }
  s.active = true;
  s.idle = states_[by].idle;
  s.idle_since = states_[by].idle_since;
  s.next = 0;
  s.activated = carrier_.now();
  ++models_[stream_.streams[stream].model].active;
  make_ready(stream);
}

void Streams::start_model(u32 model, u32 executor) {
  ModelState& m = models_[model];
  m.running = true;
  m.executor = executor;
  ++m.active;  // so that it cannot end before all its streams have begun
  for (const u32 s : m.streams) {
    if (stream_.streams[s].head) activate(s, executor, m.turns);
  }
  if (--m.active == 0) end_model(model);
}

void Streams::end_model(u32 model) {
  ModelState& m = models_[model];
  if (!m.running) return;
  m.running = false;
  for (const u32 s : m.streams)
    m.turns = std::max(m.turns, states_[s].turn + 1);
  complete(m.executor);
  make_ready(m.executor);
  if (m.waiters.empty()) return;
  wake(m.waiters.front());
  m.waiters.pop_front();
}

}  // namespace vinci::models
