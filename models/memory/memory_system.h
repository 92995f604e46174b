// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

#include "isa/base/error.h"
#include "models/memory/cache_hints.h"
#include "models/memory/dram_model.h"
#include "models/memory/l2_tags.h"
#include "models/memory/request.h"
#include "models/memory/timeline.h"

namespace vinci::models {

// Everything between the cores and the memory cells: ports and network, L2 slices with tags, the device memory. It
// answers only when: a request reserves the servers on its way and gets the cycle of its completion. Requests must be
// made at their own simulated time, not ahead of it; then requests of all cores contend in the right order. How it
// works, with its parameters: docs/memory.md.
class MemorySystem {
 public:
  // Ports are numbered from 0. A null `dram` is the built-in model.
  MemorySystem(const config::MemoryConfig& config, double hertz, u32 ports, stats::Group& stats,
               const DramFactory& dram = {});

  // Has no effect but that a later access takes the host less time.
  [[gnu::always_inline]] void prefetch(u64 address) const { tags_.prefetch(line_of(address)); }

  // A request made at cycle `now`. For a read: the cycle in which the data are back at the core; for a write: the cycle
  // in which it has left the core, in time to be taken by L2, or past L2 by the device memory, when it gets there.
  u64 access(u64 now, const Request& request);

  u64 line_bytes() const { return line_bytes_; }  // a power of two
  CacheHint hint(u64 address) const { return hints_.of(address); }
  CacheHints& hints() { return hints_; }

 private:
  struct Ways {
    Timeline read, write;
  };
  // A slice keeps so many fetches for writes of parts of lines under way.
  struct Slice : Ways {
    std::vector<u64> fetched;  // when the latest are there, from `oldest` on in turn
    usize oldest = 0;
  };
  // All times here are in ticks; each returns when the data are at L2, or the write has been taken.
  u64 hit(u64 at, const Request& r, L2Tags::Line& line);
  u64 miss(u64 at, const Request& r, u32 slice);
  u64 past_l2(u64 at, const Request& r);
  u64 room_for_fetch(Slice& slice, u64 fetched);
  u64 dram_access(u64 at, u64 address, u32 bytes, bool write);
  void register_in(stats::Group& stats) const;

  u64 line_of(u64 address) const { return address >> line_shift_; }
  u32 slice_of(u64 line) const;
  u64 begin_of_line(u64 address) const { return address & ~(line_bytes_ - 1); }

  u64 line_bytes_;
  int line_shift_;
  u64 min_request_;
  u64 noc_latency_, hit_latency_;
  Rate port_read_, port_write_, slice_read_, slice_write_;
  Divider group_of_;
  Interleave slice_of_group_;
  L2Tags tags_;  // the note of a line is its slice
  std::vector<Ways> ports_;
  std::vector<Slice> slices_;
  CacheHints hints_;
  std::unique_ptr<DramModel> dram_;

  u64 read_bytes_ = 0, write_bytes_ = 0;  // at the ports, which are those at L2
  u64 hits_ = 0, misses_ = 0, bypassed_ = 0;
  u64 hit_bytes_ = 0, miss_bytes_ = 0, bypass_bytes_ = 0;
  u64 hbm_read_bytes_ = 0, hbm_write_bytes_ = 0;
};

// In the header: a copy makes thousands of them.
inline u64 MemorySystem::hit(u64 at, const Request& r, L2Tags::Line& line) {
  ++hits_;
  hit_bytes_ += r.bytes;
  // The line may still be on its way for an earlier request; a reader then waits for it.
  if (!r.write) return line.available(at);
  line.make_dirty();
  return at;
}

[[gnu::always_inline]] inline u64 MemorySystem::access(u64 now, const Request& r) {
  VINCI_CHECK(r.port < ports_.size());
  const bool bypass = r.hint == CacheHint::bypass;
  L2Tags::Line* const line = bypass ? nullptr : tags_.find(line_of(r.address));
  const u32 number = line != nullptr ? line->note() : slice_of(line_of(r.address));
  Ways& port = ports_[r.port];
  Slice& slice = slices_[number];
  const u64 whole = std::max<u64>(r.bytes, min_request_);
  const auto serve = [&](u64 at) {
    if (line != nullptr) [[likely]]
      return hit(at, r, *line);
    return bypass ? past_l2(at, r) : miss(at, r, number);
  };
  if (r.write) {
    write_bytes_ += r.bytes;
    const u64 sent = port.write.reserve(to_ticks(now), port_write_.ticks(r.bytes));
    const u64 taken = serve(slice.write.reserve(sent + noc_latency_, slice_write_.ticks(whole)));
    return to_cycles(taken - noc_latency_);  // posted: it may leave as soon as there will be room for it
  }
  read_bytes_ += r.bytes;
  const u64 looked_up = slice.read.reserve(to_ticks(now) + noc_latency_, slice_read_.ticks(whole));
  const u64 data = serve(looked_up);
  // The port has other data to receive while these are on their way from the device memory.
  const u64 received = port.read.reserve(looked_up, port_read_.ticks(r.bytes));
  return to_cycles(std::max(data, received) + hit_latency_);
}

}  // namespace vinci::models
