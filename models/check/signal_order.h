// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "isa/check/checker.h"
#include "models/check/task_clocks.h"
#include "sim/task/ops.h"

namespace vinci::models {

// Tasks whose order decides where a run goes, not only what it reads. Of an event: resets against records and waits. Of
// a notify: all records and waits, because one wait takes it and a record of one that is up is lost. Of a communicator
// on a device: all collectives, because the n-th of each rank belong together. A pair of tasks that nothing orders is
// reported once. Tasks are those of isa::check::Checker; of a repeated task the latest execution represents all.
class SignalOrder {
 public:
  SignalOrder(isa::check::Checker& checker, const TaskClocks& clocks) : checker_(checker), clocks_(clocks) {}

  // False: the record is lost. `name` is that of the event or the notify, for reports.
  bool record(u32 task, const task::Signal& signal, std::string_view name);
  void reach(u32 task, const task::Signal& signal, std::string_view name);  // a wait
  void pass(u32 task, const task::Signal& signal);                          // the wait is over
  void reset(u32 task, u32 event, std::string_view name, bool was_up);
  void collective(u32 task, u64 group, std::string_view name);

 private:
  using Users = std::map<u32, u32>;  // the latest execution, by number of the task
  struct Event {
    Users records, waits, passed, resets;
    Users effective;  // resets of what was up
  };
  struct Notify {
    bool up = false;
    std::deque<u32> waiting;
    Users taken;  // by waits
    Users lost;   // records since the latest wait was reached
  };

  void record_event(u32 task, u32 event, std::string_view name);
  bool record_notify(u32 task, u32 notify, std::string_view name);
  void reach_event(u32 task, u32 event, std::string_view name);
  void reach_notify(u32 task, u32 notify, std::string_view name);
  template <class Text>
  void require_order(isa::check::FaultId id, u32 task, const Users& others, const Text& text);
  void enter(Users& users, u32 task);

  isa::check::Checker& checker_;
  const TaskClocks& clocks_;
  std::unordered_map<u32, Event> events_;
  std::unordered_map<u32, Notify> notifies_;
  std::unordered_map<u64, Users> groups_;
  std::set<std::tuple<isa::check::FaultId, u32, u32>> reported_;  // numbers of the two tasks
};

}  // namespace vinci::models
