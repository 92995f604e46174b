// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/links/links.h"

namespace vinci::models {

Links::Transfer Links::transfer(u64 now, u32 from, u32 to, u64 bytes) {
  const bool near = from / config_.devices_per_node == to / config_.devices_per_node;
  const double bandwidth = near ? config_.hccs_bandwidth : config_.roce_bandwidth;
  const u64 cycles = clock_.cover(static_cast<double>(bytes) / bandwidth);
  const u64 latency = clock_.cover(near ? config_.hccs_latency : config_.roce_latency);
  if (near) {
    Timeline& wire = hccs_[{from, to}];
    const u64 start = std::max(now, wire.free_at());
    return {start, wire.reserve(now, cycles) + latency};
  }
  Timeline& out = sending_[from];
  Timeline& in = receiving_[to];
  const u64 start = std::max({now, out.free_at(), in.free_at()});
  in.reserve(start, cycles);
  return {start, out.reserve(start, cycles) + latency};
}

}  // namespace vinci::models
