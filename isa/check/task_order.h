// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "isa/check/finding.h"

namespace vinci::isa::check {

class Checker;

// Tasks whose order decides where a run goes, not only what it reads. Of an event: resets against records and waits. Of
// a notify: all records and waits, because one wait takes it and a record of one that is up is lost. Of a communicator
// on a device: all collectives, because the n-th of each rank belong together. A pair of tasks that nothing orders is
// reported once. Tasks are those of Checker; of repeated ones the latest execution stands for all.
class TaskOrder {
 public:
  explicit TaskOrder(Checker& checker) : checker_(checker) {}

  void event_record(u32 task, u32 event, std::string_view name);
  void event_wait(u32 task, u32 event, std::string_view name);  // is reached
  void event_passed(u32 task, u32 event);                       // the wait is over
  void event_reset(u32 task, u32 event, std::string_view name, bool was_up);
  // False: the record is lost.
  bool notify_record(u32 task, u32 notify, std::string_view name);
  void notify_wait(u32 task, u32 notify, std::string_view name);  // is reached
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

  template <class Text>
  void require_order(FaultId id, u32 task, const Users& others, const Text& text);
  void enter(Users& users, u32 task);

  Checker& checker_;
  std::unordered_map<u32, Event> events_;
  std::unordered_map<u32, Notify> notifies_;
  std::unordered_map<u64, Users> groups_;
  std::set<std::tuple<FaultId, u32, u32>> reported_;  // numbers of the two tasks
};

}  // namespace vinci::isa::check
