// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/links/links.h"

#include <cmath>

#include "models/memory/timeline.h"

namespace vinci::models {

Links::Wire& Links::wire(const Link& link) {
  const auto [it, is_new] = wires_.try_emplace(link);
  if (is_new) {
    stats::Group& group = stats_.group("links").group(name(link));
    group.add("bytes", it->second.bytes, "B", "that went over the link");
    group.add("busy", it->second.busy, "cycles", "in which bytes were on the link");
  }
  return it->second;
}

Links::Transfer Links::transfer(u64 now, u32 from, u32 to, u64 bytes) {
  if (from == to) return {now, now};
  const LinkKind kind = topology_.kind(from, to);
  // Rounded up, so that no link is ever faster than its bandwidth.
  const auto ticks =
      static_cast<u64>(std::ceil(static_cast<double>(bytes) * hertz_ * kTicksPerCycle / topology_.bandwidth(kind)));
  const auto latency = static_cast<u64>(std::ceil(topology_.latency(kind) * hertz_ - 1e-9));
  const auto route = topology_.route(from, to);
  u64 start = to_ticks(now);
  for (bool moved = true; moved;) {
    moved = false;
    for (const Link& link : route) {
      const u64 free = wire(link).time.earliest(start, ticks);
      moved = moved || free != start;
      start = free;
    }
  }
  const u64 arrival = to_cycles(start + ticks) + latency;
  for (const Link& link : route) {
    Wire& w = wire(link);
    w.time.take(to_ticks(now), start, ticks);
    w.bytes += bytes;
    w.busy = to_cycles(w.time.busy());
    if (on_use) on_use({link, start / kTicksPerCycle, (start + ticks) / kTicksPerCycle, arrival, bytes});
  }
  return {start / kTicksPerCycle, arrival};
}

}  // namespace vinci::models
