// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/limits.h"

#include "isa/base/error.h"

namespace vinci::models {

void Limits::Needs::add(const task::Task& task) {
  std::visit(
      [&]<class Op>(const Op& op) {
        task::for_each_spelled<task::as::event, Op>([&](const auto& field) { events.insert(field.of(op)); });
        task::for_each_spelled<task::as::notify, Op>([&](const auto& field) { notifies.insert(field.of(op)); });
        task::for_each_spelled<task::as::label, Op>([&](const auto& field) {
          if (field.spelling.declares) labels.insert(field.of(op));
        });
      },
      task.op);
}

void Limits::append() {
  for (u32 s = 0; s < stream_.streams.size(); ++s)
    add(s);
  for (u32 d = 0; d < devices_.size(); ++d)
    check(d);
}

void Limits::add(u32 stream) {
  const task::Stream& s = stream_.streams[stream];
  Needs& needs = devices_[s.device];
  if (stream == known_.size()) {
    known_.push_back(0);
    ++needs.streams;
    if (s.model != task::kNone) needs.models.insert(s.model);
  }
  for (usize t = known_[stream]; t < s.tasks.size(); ++t)
    needs.add(s.tasks[t]);
  known_[stream] = s.tasks.size();
  const u32 depth = chip_.limits.stream_depth;
  if (s.model == task::kNone || s.tasks.size() <= depth) return;
  fail(Fault::Limit, "stream '{}' of model '{}' has {} tasks, but a stream of {} holds {} (limits.stream_depth)",
       s.name, stream_.models[s.model], s.tasks.size(), chip_.name, depth);
}

void Limits::check(u32 device) const {
  const auto compare = [&](u64 needed, u32 has, std::string_view what) {
    if (needed <= has) return;
    const std::string_view one = what == "notifies" ? "notify" : what.substr(0, what.size() - 1);
    fail(Fault::Limit, "the task stream needs {} {}{}, but {} has {} (limits.{})", needed, needed == 1 ? one : what,
         stream_.devices > 1 ? fmt::format(" on device {}", device) : "", chip_.name, has, what);
  };
  const Needs& needs = devices_[device];
  const config::LimitsConfig& limits = chip_.limits;
  compare(needs.streams, limits.streams, "streams");
  compare(needs.events.size(), limits.events, "events");
  compare(needs.notifies.size(), limits.notifies, "notifies");
  compare(needs.models.size(), limits.models, "models");
  compare(needs.labels.size(), limits.labels, "labels");
}

}  // namespace vinci::models
