// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/memory/memory_system.h"

#include <algorithm>

namespace vinci::models {
namespace {

// Spreads line numbers over servers, so that power-of-two strides do not all meet in one. The real hash is not public.
u64 spread(u64 line, usize servers) { return (line ^ (line >> 7) ^ (line >> 15)) % servers; }

}  // namespace

MemorySystem::MemorySystem(const config::MemoryConfig& config, double hertz, stats::Group& stats)
    : line_bytes_(config.l2.line),
      hit_latency_(to_ticks(config.l2.hit_latency)),
      hbm_latency_(to_ticks(config.hbm.latency)),
      slice_ticks_per_byte_(kTicksPerCycle / config.l2.slice_bytes_per_cycle),
      channel_line_ticks_(
          ticks_per(static_cast<double>(line_bytes_), config.hbm.bandwidth / config.hbm.channels / hertz)),
      tags_(config.l2.size, config.l2.line, config.l2.ways),
      slices_(config.l2.slices),
      channels_(config.hbm.channels) {
  stats::Group& l2 = stats.group("l2");
  l2.add("read_bytes", l2_read_bytes_, "B", "bytes that cores read");
  l2.add("write_bytes", l2_write_bytes_, "B", "bytes that cores wrote");
  l2.add("hits", l2_hits_, "requests", "requests that found their line");
  l2.add("misses", l2_misses_, "requests", "requests that had to fetch or allocate their line");
  stats::Group& hbm = stats.group("hbm");
  hbm.add("read_bytes", hbm_read_bytes_, "B", "bytes fetched into L2");
  hbm.add("write_bytes", hbm_write_bytes_, "B", "bytes written back from L2");
}

u64 MemorySystem::fetch(u64 now, u64 line) {
  hbm_read_bytes_ += line_bytes_;
  return channels_[spread(line, channels_.size())].reserve(now, channel_line_ticks_) + hbm_latency_;
}

u64 MemorySystem::access(u64 cycle, u64 address, u32 bytes, bool write) {
  const u64 line = address / line_bytes_;
  const auto service = static_cast<u64>(bytes * slice_ticks_per_byte_ + 0.5);
  u64 at = slices_[spread(line, slices_.size())].reserve(to_ticks(cycle), service);
  (write ? l2_write_bytes_ : l2_read_bytes_) += bytes;
  const L2Tags::Result tag = tags_.touch(line, write);
  ++(tag.hit ? l2_hits_ : l2_misses_);
  u64 evicted = at;
  if (tag.written_back) {
    hbm_write_bytes_ += line_bytes_;
    evicted = channels_[spread(*tag.written_back, channels_.size())].reserve(at, channel_line_ticks_);
  }
  if (tag.hit) {
    // The line may still be on its way for an earlier request; a reader then waits for it.
    if (!write) at = std::max(at, *tag.ready);
  } else if (!write) {
    at = *tag.ready = fetch(at, line);
  } else {
    // A write of a part of an absent line fetches the rest in the background. The writer waits only for the room that
    // a dirty victim has to make: so a stream of writes runs at the speed of HBM once L2 is full of them.
    if (bytes < line_bytes_) *tag.ready = fetch(at, line);
    at = std::max(at, evicted);
  }
  return to_cycles(write ? at : at + hit_latency_);
}

}  // namespace vinci::models
