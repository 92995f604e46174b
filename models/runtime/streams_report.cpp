// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What streams wait for when nothing moves, and who could help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "models/runtime/streams.h"

namespace vinci::models {

// A task that would record a signal: one that has not run, of any stream.
struct Streams::Recorder {
  u32 stream = 0;
  u32 task = 0;
};

std::string Streams::why(u32 stream, const Recorder* recorder) const {
  if (recorder == nullptr) return "no task that is left records it";
  const StreamState& s = states_[recorder->stream];
  const task::Stream& by = stream_.streams[recorder->stream];
  const std::string task = fmt::format("task '{}' of stream '{}' ({}) records it", by.tasks[recorder->task].name,
                                       by.name, task::place(stream_, recorder->stream, recorder->task));
  if (recorder->stream == stream) return fmt::format("its own later {}", task);
  if (s.state == State::waiting) return fmt::format("{}, and that stream waits too", task);
  if (s.state == State::running) {
    return fmt::format("{}, and that stream is in task '{}' ({})", task, by.tasks[s.present.task].name,
                       task::place(stream_, recorder->stream, s.present.task));
  }
  if (by.model != task::kNone)
    return fmt::format("{}, but that stream of model '{}' is not active", task, stream_.models[by.model]);
  return fmt::format("{}, which the host has not enqueued", task);
}

bool Streams::report(std::vector<std::string>& lines) const {
  std::map<task::Signal, std::optional<Recorder>> recorders;  // events first, then notifies
  for (u32 i = 0; i < states_.size(); ++i) {
    if (states_[i].state != State::waiting) continue;
    if (const auto signal = task::awaited_by(task(i).op)) recorders.try_emplace(*signal);
  }
  for (u32 s = 0; s < states_.size() && !recorders.empty(); ++s) {
    for (u32 t = 0; t < stream_.streams[s].tasks.size(); ++t) {
      const auto signal = task::recorded_by(stream_.streams[s].tasks[t].op);
      const auto it = signal ? recorders.find(*signal) : recorders.end();
      const bool left = stream_.streams[s].model != task::kNone || states_[s].past[t].executions == 0;
      if (it != recorders.end() && !it->second && left) it->second = Recorder{s, t};
    }
  }
  std::vector<u32> next(states_.size(), task::kNone);  // whom a waiting stream waits for
  for (u32 i = 0; i < states_.size(); ++i) {
    if (states_[i].state != State::waiting) continue;
    const task::Task& t = task(i);
    std::string what = "its turn";
    if (const auto signal = task::awaited_by(t.op)) {
      const auto& recorder = recorders.at(*signal);
      if (recorder) next[i] = recorder->stream;
      what = fmt::format("{} '{}'; {}", signal->is_notify() ? "notify" : "event",
                         (signal->is_notify() ? stream_.notifies : stream_.events)[signal->index],
                         why(i, recorder ? &*recorder : nullptr));
    } else if (const auto* model = std::get_if<task::ModelExecute>(&t.op)) {
      what = fmt::format("model '{}'", stream_.models[model->model]);
    }
    lines.push_back(fmt::format("stream '{}' waits in task '{}' ({}) for {}", stream_.streams[i].name, t.name,
                                task::place(stream_, i, states_[i].present.task), what));
  }
  return report_circles(next, lines);
}

// Streams that wait for each other in a circle, each circle once; false: there is none.
bool Streams::report_circles(const std::vector<u32>& next, std::vector<std::string>& lines) const {
  bool any = false;
  std::vector<u32> seen(next.size(), task::kNone);  // from which start a stream was reached
  for (u32 start = 0; start < next.size(); ++start) {
    u32 at = start;
    while (at != task::kNone && seen[at] == task::kNone) {
      seen[at] = start;
      at = next[at];
    }
    if (at == task::kNone || seen[at] != start || next[at] == at) continue;
    std::vector<std::string_view> names{stream_.streams[at].name};
    for (u32 i = next[at]; i != at; i = next[i])
      names.push_back(stream_.streams[i].name);
    names.push_back(names.front());
    lines.push_back(fmt::format("circular wait of streams: {}", fmt::join(names, " -> ")));
    any = true;
  }
  return any;
}

}  // namespace vinci::models
