// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

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
  static bool works(const task::Task& task) { return task.info().role == task::TaskRole::work; }
};

}  // namespace vinci::models
