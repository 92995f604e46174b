// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>

#include "isa/base/error.h"
#include "sim/task/task.h"

namespace vinci::models {

// An error of a task, with its name, and with its place where the error has none.
inline Error placed(const task::TaskStream& stream, u32 s, usize task, const Error& e) {
  return {e.fault(),
          fmt::format("{}\n  task '{}', stream '{}'", e.message(), stream.streams[s].tasks[task].name,
                      stream.streams[s].name),
          e.location().empty() ? task::place(stream, s, task) : e.location()};
}

// Errors of `f` become those of a task.
template <class F>
auto with_place(const task::TaskStream& stream, u32 s, usize task, const F& f) {
  try {
    return f();
  } catch (const Error& e) {
    throw placed(stream, s, task, e);
  }
}

}  // namespace vinci::models
