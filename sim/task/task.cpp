// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/task.h"

#include "sim/task/path.h"

namespace vinci::task {

std::string place(const TaskStream& s, usize stream, usize task) {
  const TaskPlaces& places = s.places;
  // A program may have changed what it loaded; then lines mean nothing any more.
  if (!places.lines.empty() && places.lines.size() == position(s, s.streams.size(), 0))
    return fmt::format("{}:{}", places.file, places.lines[position(s, stream, task)]);
  const std::string path = (Path{} / "streams" / stream / "tasks" / task).text();
  return places.file.empty() ? path : fmt::format("{}: {}", places.file, path);
}

std::string place_of_step(const TaskStream& s, usize thread, usize step) {
  const TaskPlaces& places = s.places;
  if (thread < places.steps.size() && places.steps[thread].size() == s.host.threads[thread].steps.size())
    return fmt::format("{}:{}", places.file, places.steps[thread][step]);
  const std::string path = (Path{} / "host" / "threads" / thread / "steps" / step).text();
  return places.file.empty() ? path : fmt::format("{}: {}", places.file, path);
}

std::string to_string(const Hccl& op) {
  return fmt::format("{} ({}) of {} {}, root {}, algorithm {}", kHcclOpNames[static_cast<usize>(op.op)],
                     kHcclReduceNames[static_cast<usize>(op.reduce)], op.count,
                     kElementTypeNames[static_cast<usize>(op.type)], op.root,
                     kHcclAlgorithmNames[static_cast<usize>(op.algorithm)]);
}

}  // namespace vinci::task
