// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

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

  // A request made at cycle `now`. For a read: the cycle in which the data are back at the core; for a write: the cycle
  // in which it has left the core, in time to be taken by L2, or past L2 by the device memory, when it gets there.
  u64 access(u64 now, const Request& request);

  // Has no effect but that a later access to this address takes the host less time.
  void prefetch(u64 address) const { tags_.prefetch(line_of_(address).quotient); }

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
  u64 through_l2(u64 at, u64 line, const Request& r, Slice& slice);
  u64 room_for_fetch(Slice& slice, u64 fetched);
  u64 past_l2(u64 at, u64 line, const Request& r);
  u64 dram_access(u64 at, u64 address, u32 bytes, bool write);
  void register_in(stats::Group& stats) const;

  u64 line_bytes_;
  u64 min_request_;
  u64 noc_latency_, hit_latency_;
  Rate port_read_, port_write_, slice_read_, slice_write_;
  Divider line_of_, group_of_;
  Interleave slice_of_;
  L2Tags tags_;
  std::vector<Ways> ports_;
  std::vector<Slice> slices_;
  CacheHints hints_;
  std::unique_ptr<DramModel> dram_;

  u64 noc_read_bytes_ = 0, noc_write_bytes_ = 0;
  u64 l2_read_bytes_ = 0, l2_write_bytes_ = 0;
  u64 hits_ = 0, misses_ = 0, bypassed_ = 0;
  u64 hit_bytes_ = 0, miss_bytes_ = 0, bypass_bytes_ = 0;
  u64 hbm_read_bytes_ = 0, hbm_write_bytes_ = 0;
};

}  // namespace vinci::models
