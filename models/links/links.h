// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <map>

#include "models/links/reservations.h"
#include "models/links/topology.h"
#include "sim/stats/stats.h"

namespace vinci::models {

// The wires between devices in time. A transfer occupies all links of its route at once, for bytes / bandwidth, from
// the first time that all are free for so long, and is over a latency later. Transfers must be asked for at their own
// simulated time.
class Links {
 public:
  // Cycles are cycles of a clock of `hertz`. Each link that is used counts its bytes and busy cycles in the
  // group "links" of `stats`.
  Links(const config::LinksConfig& config, double hertz, stats::Group& stats)
      : topology_(config), hertz_(hertz), stats_(stats) {}

  struct Transfer {
    u64 start = 0;  // cycle in which its first byte leaves
    u64 end = 0;    // cycle in which it has arrived
  };
  // Inside one device it takes no time: the schedule of a collective has such transfers, but no work on a wire.
  Transfer transfer(u64 now, u32 from, u32 to, u64 bytes);

  const Topology& topology() const { return topology_; }

  // Of every link of a transfer: in which cycles, rounded down, bytes are on it. A later transfer may use an earlier
  // gap.
  struct Use {
    const Link& link;
    u64 begin = 0, end = 0;
    u64 arrival = 0;  // at the end of the route
    u64 bytes = 0;
  };
  // Who wants to see them; may be empty.
  std::function<void(const Use&)> on_use = {};

 private:
  struct Wire {
    Reservations time;  // in ticks
    u64 bytes = 0, busy = 0;
  };
  Wire& wire(const Link& link);

  Topology topology_;
  double hertz_;
  stats::Group& stats_;
  std::map<Link, Wire> wires_;  // those that were used; a map, because the statistics point at them
};

}  // namespace vinci::models
