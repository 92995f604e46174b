// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/task_numbers.h"

#include <algorithm>

namespace vinci::models {

void TaskNumbers::append() {
  by_stream_.resize(stream_.streams.size());
  for (u32 s = 0; s < by_stream_.size(); ++s) {
    const Run* last = by_stream_[s].empty() ? nullptr : &runs_[by_stream_[s].back()];
    const u32 known = last == nullptr ? 0 : last->first.task + last->count;
    const auto count = static_cast<u32>(stream_.streams[s].tasks.size()) - known;
    if (count == 0) continue;
    // Behind tasks of the same or of a later stream, the number is no longer the position.
    in_order_ = in_order_ && (runs_.empty() || runs_.back().first.stream < s);
    by_stream_[s].push_back(static_cast<u32>(runs_.size()));
    runs_.push_back({.number = next_, .first = {.stream = s, .task = known}, .count = count});
    next_ += count;
  }
}

u32 TaskNumbers::number(u32 stream, u32 task) const {
  const std::vector<u32>& runs = by_stream_[stream];
  const auto behind = std::ranges::upper_bound(runs, task, {}, [&](u32 r) { return runs_[r].first.task; });
  const Run& run = runs_[*std::prev(behind)];
  return run.number + (task - run.first.task);
}

std::optional<TaskNumbers::Place> TaskNumbers::place(u32 number) const {
  const auto behind = std::ranges::upper_bound(runs_, number, {}, &Run::number);
  if (behind == runs_.begin()) return {};
  const Run& run = *std::prev(behind);
  if (number - run.number >= run.count) return {};
  return Place{.stream = run.first.stream, .task = run.first.task + (number - run.number)};
}

u32 TaskNumbers::position(u32 number) const {
  const std::optional<Place> at = in_order_ ? std::nullopt : place(number);
  return at ? task::position(stream_, at->stream, at->task) : number;
}

}  // namespace vinci::models
