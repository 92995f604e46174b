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

  // A request made at cycle `now`. For a read: the cycle in which the data are back at the core; for a write: the cycle
  // in which it has left the core, in time to be taken by L2, or past L2 by the device memory, when it gets there.
  u64 access(u64 now, const Request& request);

  // Requests that differ in their addresses alone.
  class Train;

  u64 line_bytes() const { return line_bytes_; }  // a power of two
  CacheHint hint(u64 address) const { return hints_.of(address); }
  CacheHints& hints() { return hints_; }
  // Whether all that was requested is through at a cycle: nothing of it delays what is requested from then on.
  bool at_rest(u64 cycle) const;
  // Requests so far that L2 did not serve.
  u64 not_served() const { return misses_ + bypassed_; }
  // A moment in the order of requests.
  u64 moment() const { return tags_.moment(); }
  // What requests that L2 serves, all since a moment in which the memory system was at rest, leave behind: lines that
  // were used, and parts that are reserved. Times are in ticks from the cycle of that moment on.
  struct Served {
    struct Line {
      u64 number;
      bool dirty;
      u64 busy_until;  // 0: it is not
    };
    std::vector<Line> lines;  // in the order of their latest uses
    std::vector<u64> reserved;
  };
  Served served_since(u64 moment, u64 cycle) const;
  // Whether the same requests would be served again, and leave the lines as they did.
  bool would_serve(const Served& served) const;
  // They have been made, from a cycle on in which the memory system was at rest.
  void serve_again(const Served& served, u64 cycle);

  // Ticks that an idle network and idle device memory take.
  u64 noc_latency() const { return noc_latency_; }
  u64 hbm_latency() const { return hbm_latency_; }

 private:
  struct Ways {
    Timeline read, write;
  };
  // A slice has so many requests under way that it does not serve itself.
  struct Slice : Ways {
    std::vector<u64> until;  // when the latest are over, from `oldest` on in turn
    usize oldest = 0;
  };
  // All times here are in ticks.
  struct Answer {
    u64 done;  // the data are at L2, or the write has been taken
    u64 over;  // the slice can forget the request
  };
  // What no line of L2 answers, from when the slice has room for it on; when it is done.
  u64 not_hit(u64 at, const Request& r, u32 slice);
  Answer miss(u64 at, const Request& r, u32 slice);
  Answer past_l2(u64 at, const Request& r);
  // An atomic write to a line, which is then done.
  u64 update(L2Tags::Line& line, u64 at) {
    const u64 done = line.available(at) + atomic_;
    fill(line, done);
    return done;
  }
  void fill(L2Tags::Line& line, u64 at) {
    line.fill(at);
    filled_ = std::max(filled_, at);
  }
  u64 dram_access(u64 at, u64 address, u32 bytes, bool write);
  void register_in(stats::Group& stats);
  // f(timeline) for ports and slices, always in the same order.
  template <class F>
  static void each_timeline(auto& self, F&& f) {
    for (auto& port : self.ports_) {
      f(port.read);
      f(port.write);
    }
    for (auto& slice : self.slices_) {
      f(slice.read);
      f(slice.write);
    }
  }

  u64 line_of(u64 address) const { return address >> line_shift_; }
  u32 slice_of(u64 line);
  u64 begin_of_line(u64 address) const { return address & ~(line_bytes_ - 1); }

  u64 line_bytes_;
  int line_shift_;
  u64 min_request_;
  u64 noc_latency_, hit_latency_, atomic_, hbm_latency_;
  Rate port_read_, port_write_, slice_read_, slice_write_;
  Divider group_of_;
  int region_shift_;  // of a line to its region, inside which lines go to the groups strictly in turn
  Interleave slice_of_group_;
  L2Tags tags_;  // the note of a line is its slice
  std::vector<Ways> ports_;
  std::vector<Slice> slices_;
  CacheHints hints_;
  std::unique_ptr<DramModel> dram_;
  u64 filled_ = 0;  // from when on no line is on its way or busy

  u64 read_bytes_ = 0, write_bytes_ = 0;  // at the ports, which are those at L2
  u64 hits_ = 0, misses_ = 0, bypassed_ = 0;
  u64 hit_bytes_ = 0, miss_bytes_ = 0, bypass_bytes_ = 0;
  u64 hbm_read_bytes_ = 0, hbm_write_bytes_ = 0;
};

// In the header: a copy makes thousands of them. What does not depend on the address is found once for all of a train.
class MemorySystem::Train {
 public:
  Train() = default;
  // `step` from an address to that of a request that follows, where that is known: the host then fetches what it will
  // need.
  Train(MemorySystem& memory, const Request& first, u64 step = 0);

  struct Response {
    u64 done;
    bool from_l2;  // which had the line, or expected it already
  };
  // As MemorySystem::access(), but for the counters.
  Response access(u64 now, u64 address) {
    return access(now, address, [](u64, u64, u64, u64) {});
  }
  // The same; `watch` gets the ticks of its way: of a read when it has been looked up, the data are at L2, the port has
  // received them, the core has them; of a write when it was sent, when the slice had time for it, and twice when it
  // was taken, each less the time of its way to L2.
  template <class Watch>
  Response access(u64 now, u64 address, Watch&& watch);
  // Counts the requests that have been made since this was called last; how many, the caller knows.
  void count(u64 requests) {
    memory_->hits_ += hits_;
    memory_->hit_bytes_ += hits_ * request_.bytes;
    hits_ = 0;
    (request_.write ? memory_->write_bytes_ : memory_->read_bytes_) += requests * request_.bytes;
  }

 private:
  u64 hit(u64 at, L2Tags::Line& line);
  u64 not_hit(u64 at, u64 address, u32 slice);

  MemorySystem* memory_ = nullptr;
  Timeline* port_ = nullptr;
  u64 port_ticks_ = 0, slice_ticks_ = 0;
  u64 step_ = 0;
  Request request_;
  u64 hits_ = 0;
};

// The line may still be on its way for an earlier request; a reader then waits for it.
inline u64 MemorySystem::Train::hit(u64 at, L2Tags::Line& line) {
  ++hits_;
  if (!request_.write) return line.available(at);
  line.make_dirty();
  return request_.atomic ? memory_->update(line, at) : at;
}

template <class Watch>
[[gnu::always_inline]] inline MemorySystem::Train::Response MemorySystem::Train::access(u64 now, u64 address,
                                                                                        Watch&& watch) {
  MemorySystem& memory = *memory_;
  memory.tags_.prefetch(memory.line_of(address + L2Tags::kAhead * step_));
  const u64 number = memory.line_of(address);
  L2Tags::Line* const line = request_.hint == CacheHint::bypass ? nullptr : memory.tags_.find(number);
  const u32 at_slice = line != nullptr ? line->note() : memory.slice_of(number);
  Slice& slice = memory.slices_[at_slice];
  const auto serve = [&](u64 at) {
    if (line != nullptr) [[likely]]
      return hit(at, *line);
    return not_hit(at, address, at_slice);
  };
  if (request_.write) {
    const u64 sent = port_->reserve(to_ticks(now), port_ticks_);
    const u64 reserved = slice.write.reserve(sent + memory.noc_latency_, slice_ticks_);
    const u64 taken = serve(reserved);
    watch(sent, reserved - memory.noc_latency_, taken - memory.noc_latency_, taken - memory.noc_latency_);
    return {to_cycles(taken - memory.noc_latency_),
            line != nullptr};  // posted: it may leave as soon as there will be room for it
  }
  const u64 looked_up = slice.read.reserve(to_ticks(now) + memory.noc_latency_, slice_ticks_);
  const u64 data = serve(looked_up);
  // The port has other data to receive while these are on their way from the device memory.
  const u64 received = port_->reserve(looked_up, port_ticks_);
  const u64 done = std::max(data, received) + memory.hit_latency_;
  watch(looked_up, data, std::max(data, received), done);
  return {to_cycles(done), line != nullptr};
}

}  // namespace vinci::models
