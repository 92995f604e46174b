// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/runtime/overloaded.h"
#include "sim/task/task.h"

namespace vinci::models {

// Counts the turns of loops, of models and of host programs: a turn begins with the first task that does work and has
// done so in the present turn. So what comes before a loop counts to its first turn, and what comes after to its last.
class Turns {
 public:
  // A task executes in this turn, or begins the next one. `latest` is the turn of its latest execution + 1, 0 at first.
  static void enter(u64& turn, u64& latest, const task::Task& task) {
    if (!works(task)) return;
    if (latest == turn + 1) ++turn;
    latest = turn + 1;
  }

  // Whether it does work. Other tasks only order and steer: the test of a loop precedes its body as often as it
  // follows.
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
};

}  // namespace vinci::models
