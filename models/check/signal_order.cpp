// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/check/signal_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/check/checker.h"

namespace vinci::models {

using isa::check::FaultId;

// Which of the two came first in this run does not matter: were they ordered, the earlier one would happen before.
template <class Text>
void SignalOrder::require_order(FaultId id, u32 task, const Users& others, const Text& text) {
  const u32 number = checker_.number_of(task);
  for (const auto& [other_number, other] : others) {
    if (other == task || clocks_.happens_before(other, task)) continue;
    if (!reported_.emplace(id, std::min(number, other_number), std::max(number, other_number)).second) continue;
    checker_.report_unordered(id, task, other, text());
  }
}

void SignalOrder::enter(Users& users, u32 task) { users[checker_.number_of(task)] = task; }

namespace {

std::string reset_text(std::string_view name, std::string_view what) {
  return fmt::format(
      "nothing orders the reset of event '{}' before or after its {}: whether a wait passes depends on the schedule",
      name, what);
}

std::string lost_text(std::string_view name) {
  return fmt::format("nothing orders the record of notify '{}' after the wait for it: it may come first and be lost",
                     name);
}

}  // namespace

bool SignalOrder::record(u32 task, const task::Signal& signal, std::string_view name) {
  if (signal.is_notify()) return record_notify(task, signal.index, name);
  record_event(task, signal.index, name);
  return true;
}

void SignalOrder::reach(u32 task, const task::Signal& signal, std::string_view name) {
  signal.is_notify() ? reach_notify(task, signal.index, name) : reach_event(task, signal.index, name);
}

void SignalOrder::record_event(u32 task, u32 event, std::string_view name) {
  Event& e = events_[event];
  require_order(FaultId::unordered_event_reset, task, e.resets, [&] { return reset_text(name, "record"); });
  enter(e.records, task);
}

// A reset of what is down does nothing to a wait that comes after it.
void SignalOrder::reach_event(u32 task, u32 event, std::string_view name) {
  Event& e = events_[event];
  require_order(FaultId::unordered_event_reset, task, e.effective, [&] { return reset_text(name, "wait"); });
  enter(e.waits, task);
}

void SignalOrder::pass(u32 task, const task::Signal& signal) {
  if (!signal.is_notify()) enter(events_[signal.index].passed, task);
}

void SignalOrder::reset(u32 task, u32 event, std::string_view name, bool was_up) {
  Event& e = events_[event];
  require_order(FaultId::unordered_event_reset, task, e.records, [&] { return reset_text(name, "record"); });
  // While the event is down, a wait that has not passed goes on waiting, whatever is reset.
  require_order(FaultId::unordered_event_reset, task, was_up ? e.waits : e.passed,
                [&] { return reset_text(name, "wait"); });
  enter(e.resets, task);
  if (was_up) enter(e.effective, task);
}

bool SignalOrder::record_notify(u32 task, u32 notify, std::string_view name) {
  Notify& n = notifies_[notify];
  require_order(FaultId::unordered_notify, task, n.taken, [&] { return lost_text(name); });
  if (!n.waiting.empty()) {
    enter(n.taken, n.waiting.front());
    n.waiting.pop_front();
    return true;
  }
  if (n.up) enter(n.lost, task);
  return !std::exchange(n.up, true);
}

void SignalOrder::reach_notify(u32 task, u32 notify, std::string_view name) {
  Notify& n = notifies_[notify];
  const auto two_waits = [&] {
    return fmt::format("nothing orders the two waits for notify '{}': either may take what the other one waits for",
                       name);
  };
  require_order(FaultId::unordered_notify, task, n.taken, two_waits);
  for (const u32 other : n.waiting)
    require_order(FaultId::unordered_notify, task, {{checker_.number_of(other), other}}, two_waits);
  require_order(FaultId::unordered_notify, task, n.lost, [&] { return lost_text(name); });
  n.lost.clear();
  if (std::exchange(n.up, false)) {
    enter(n.taken, task);
  } else {
    n.waiting.push_back(task);
  }
}

void SignalOrder::collective(u32 task, u64 group, std::string_view name) {
  Users& users = groups_[group];
  require_order(FaultId::unordered_collective, task, users, [&] {
    return fmt::format(
        "nothing orders the two collectives of {}: the n-th of each rank belong together, and HCCL requires one order "
        "on all ranks",
        name);
  });
  enter(users, task);
}

}  // namespace vinci::models
