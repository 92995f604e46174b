// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "models/runtime/overloaded.h"
#include "sim/task/task.h"

namespace vinci::models {

// Counts the turns of loops, of models and of host programs: a turn begins with the first task that does work and has
// done so in the present turn. So what comes before a loop counts to its first turn, and what comes after to its last.
class Turns {
 public:
  // `tasks` of all streams.
  explicit Turns(usize tasks = 0) : latest_(tasks) {}

  // The task at a position among all tasks executes in this turn, or begins the next one.
  void enter(u64& turn, usize position, const task::Task& task) {
    if (!works(task)) return;
    u64& latest = latest_[position];
    if (latest == turn + 1) ++turn;
    latest = turn + 1;
  }

 private:
  // Other tasks only order and steer: the test of a loop stands before its body as often as behind it.
  static bool works(const task::Task& task) {
    return std::visit(
        Overloaded{[](const task::EventRecord&) { return false; }, [](const task::StreamWaitEvent&) { return false; },
                   [](const task::EventReset&) { return false; }, [](const task::NotifyRecord&) { return false; },
                   [](const task::NotifyWait&) { return false; }, [](const task::StreamSwitch&) { return false; },
                   [](const task::StreamActive&) { return false; }, [](const task::LabelSet&) { return false; },
                   [](const task::LabelGoto&) { return false; }, [](const task::LabelSwitch&) { return false; },
                   [](const task::ModelEndGraph&) { return false; }, [](const auto&) { return true; }},
        task.op);
  }

  std::vector<u64> latest_;  // by position: the turn of its latest execution + 1
};

}  // namespace vinci::models
