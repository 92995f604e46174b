// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <map>

#include "sim/task/check_parts.h"

namespace vinci::task {
namespace {

// The collectives of one communicator on one device, in the order in which it comes to them.
struct Sequence {
  u32 stream = kNone;
  bool known = true;  // the order: all in one stream that nothing jumps in
  std::vector<u32> tasks = {};
};

// Whether the tasks of a stream run once, in order. Without a host program those that are of no model do.
bool straight(const TaskStream& s, u32 stream) { return s.streams[stream].model == kNone && s.host.threads.empty(); }

}  // namespace

void check_collectives(Checks& checks) {
  const TaskStream& s = checks.s;
  std::map<std::pair<u32, u32>, Sequence> sequences;  // by communicator and device
  for (u32 i = 0; i < s.streams.size(); ++i) {
    for (u32 t = 0; t < s.streams[i].tasks.size(); ++t) {
      const auto* op = std::get_if<Hccl>(&s.streams[i].tasks[t].op);
      if (op == nullptr) continue;
      Sequence& q = sequences[{op->comm, s.streams[i].device}];
      q.known = straight(s, i) && (q.stream == kNone || (q.known && q.stream == i));
      q.stream = i;
      q.tasks.push_back(t);
    }
  }
  const auto path = [](const Sequence& q, usize n) { return Path{} / "streams" / q.stream / "tasks" / q.tasks[n]; };
  for (u32 comm = 0; comm < s.comms.size(); ++comm) {
    const Sequence* first = nullptr;  // of the first rank whose order is known
    u32 first_device = 0;
    for (const u32 device : s.comms[comm].devices) {
      const auto it = sequences.find({comm, device});
      if (it == sequences.end() || !it->second.known) continue;
      const Sequence& q = it->second;
      if (first == nullptr) {
        first = &q;
        first_device = device;
        continue;
      }
      const usize common = std::min(q.tasks.size(), first->tasks.size());
      usize n = 0;
      for (; n < common; ++n) {
        const auto& mine = std::get<Hccl>(s.streams[q.stream].tasks[q.tasks[n]].op);
        const auto& theirs = std::get<Hccl>(s.streams[first->stream].tasks[first->tasks[n]].op);
        if (mine.matches(theirs)) continue;
        checks.report(path(q, n),
                      "collective {} of comm '{}' is not the same on all ranks: {} on npu{}, but {} on npu{} ({})", n,
                      shown(s.comms[comm].name), to_string(mine), device, to_string(theirs), first_device,
                      checks.at(path(*first, n)));
        break;  // what follows it is another one, too
      }
      if (n < common || q.tasks.size() == first->tasks.size()) continue;
      const bool mine_is_longer = q.tasks.size() > first->tasks.size();
      const auto [longer, shorter] = mine_is_longer ? std::pair(device, first_device) : std::pair(first_device, device);
      checks.report(path(mine_is_longer ? q : *first, n),
                    "a wait that nothing can satisfy: collective {} of comm '{}' on npu{} waits for npu{}, which takes "
                    "part in only {}",
                    n, shown(s.comms[comm].name), longer, shorter, n);
    }
  }
}

}  // namespace vinci::task
