// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/limits.h"

#include <set>

#include "isa/base/error.h"
#include "models/runtime/overloaded.h"

namespace vinci::models {
namespace {

// What one device has to hold: indices of what its streams use.
struct Needs {
  u64 streams = 0;
  std::set<u32> events, notifies, models, labels;

  void add(const task::Task& task) {
    std::visit(Overloaded{
                   [&](const task::EventRecord& op) { events.insert(op.event); },
                   [&](const task::StreamWaitEvent& op) { events.insert(op.event); },
                   [&](const task::EventReset& op) { events.insert(op.event); },
                   [&](const task::NotifyRecord& op) { notifies.insert(op.notify); },
                   [&](const task::NotifyWait& op) { notifies.insert(op.notify); },
                   [&](const task::LabelSet& op) { labels.insert(op.label); },
                   [](const auto&) {},
               },
               task.op);
  }
};

}  // namespace

void check_limits(const config::ChipConfig& chip, const task::TaskStream& stream) {
  const config::LimitsConfig& limits = chip.limits;
  std::vector<Needs> devices(stream.devices);
  for (const task::Stream& s : stream.streams) {
    Needs& needs = devices[s.device];
    ++needs.streams;
    for (const task::Task& t : s.tasks)
      needs.add(t);
    if (s.model == task::kNone) continue;
    needs.models.insert(s.model);
    if (s.tasks.size() > limits.stream_depth) {
      fail(Fault::Limit, "stream '{}' of model '{}' has {} tasks, but a stream of {} holds {} (limits.stream_depth)",
           s.name, stream.models[s.model], s.tasks.size(), chip.name, limits.stream_depth);
    }
  }
  for (u32 d = 0; d < stream.devices; ++d) {
    const auto check = [&](u64 needed, u32 has, std::string_view what) {
      if (needed <= has) return;
      const std::string_view one = what == "notifies" ? "notify" : what.substr(0, what.size() - 1);
      fail(Fault::Limit, "the task stream needs {} {}{}, but {} has {} (limits.{})", needed, needed == 1 ? one : what,
           stream.devices > 1 ? fmt::format(" on device {}", d) : "", chip.name, has, what);
    };
    const Needs& needs = devices[d];
    check(needs.streams, limits.streams, "streams");
    check(needs.events.size(), limits.events, "events");
    check(needs.notifies.size(), limits.notifies, "notifies");
    check(needs.models.size(), limits.models, "models");
    check(needs.labels.size(), limits.labels, "labels");
  }
}

}  // namespace vinci::models
