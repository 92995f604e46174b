// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "models/explain/cost_kind.h"
#include "models/memory/timeline.h"

namespace vinci::models {

// Cycles by what a wait for the memory system is spent on.
struct MemoryCycles {
  u64 l2 = 0, l2_busy = 0, hbm_latency = 0, hbm_busy = 0, port = 0;

  u64 sum() const { return l2 + l2_busy + hbm_latency + hbm_busy + port; }
  MemoryCycles& operator+=(const MemoryCycles& o) {
    l2 += o.l2;
    l2_busy += o.l2_busy;
    hbm_latency += o.hbm_latency;
    hbm_busy += o.hbm_busy;
    port += o.port;
    return *this;
  }
};

// What one request to the memory system spends its time on, as stages in the order of time, in ticks.
class RequestStages {
 public:
  // What an idle network and an idle device memory take.
  struct Idle {
    u64 network = 0, hbm = 0;
  };
  // L2 has looked it up at `looked_up` and has the data at `data`; the port has received them at `received`, the core
  // has them at `done`.
  static RequestStages read(u64 begin, u64 looked_up, u64 data, u64 received, u64 done, const Idle& idle) {
    const u64 from_hbm = data > looked_up ? data - looked_up : 0, latency = std::min(idle.hbm, from_hbm);
    const u64 at_port = std::max(data, looked_up);
    const u64 port = received > at_port ? received - at_port : 0, there = looked_up > begin ? looked_up - begin : 0;
    const u64 back = done > begin ? done - begin - there - from_hbm - port : 0;
    const u64 network = std::min(idle.network, there);
    return RequestStages({Stage{CostKind::l2, network},
                          {CostKind::l2_busy, there - network},
                          {CostKind::hbm_busy, from_hbm - latency},
                          {CostKind::hbm_latency, latency},
                          {CostKind::port, port},
                          {CostKind::l2, back}});
  }
  // The port has sent it at `sent`; the slice has it at `reserved`, and has taken it at `taken`.
  static RequestStages write(u64 begin, u64 sent, u64 reserved, u64 taken) {
    const u64 port = sent > begin ? sent - begin : 0, slice = reserved > sent ? reserved - sent : 0;
    return RequestStages({Stage{CostKind::port, port},
                          {CostKind::l2_busy, slice},
                          {CostKind::hbm_busy, taken > reserved ? taken - reserved : 0}});
  }
  RequestStages() = default;

  // The last `cycles` of the request.
  MemoryCycles last(u64 cycles) const {
    MemoryCycles out;
    u64 left = to_ticks(cycles), rest = cycles;
    const auto charge = [&](CostKind kind, u64 amount) {
      switch (kind) {
        case CostKind::hbm_latency: out.hbm_latency += amount; break;
        case CostKind::hbm_busy: out.hbm_busy += amount; break;
        case CostKind::port: out.port += amount; break;
        case CostKind::l2_busy: out.l2_busy += amount; break;
        default: out.l2 += amount;
      }
    };
    for (usize i = stages_.size(); i-- > 0 && left > 0;) {
      const u64 ticks = std::min(left, stages_[i].ticks);
      left -= ticks;
      const u64 whole = rest - to_cycles(left);  // so that the parts add up to `cycles`
      charge(stages_[i].kind, whole);
      rest -= whole;
    }
    charge(CostKind::l2, rest);  // a request is rounded up to whole cycles
    return out;
  }

 private:
  struct Stage {
    CostKind kind = CostKind::l2;
    u64 ticks = 0;
  };
  explicit RequestStages(const std::array<Stage, 6>& stages) : stages_(stages) {}
  std::array<Stage, 6> stages_{};
};

// What a Dma waits for, kept where causes of the time of a kernel are wanted.
class CopyLog {
 public:
  explicit CopyLog(usize requests) : under_way_(requests) {}

  // Of a copy. Requests of the one before may still be under way.
  void begin() { waits_ = {}; }
  // A request that takes the place `place` among those under way.
  void request(usize place, u64 done, const RequestStages& stages) {
    if (done >= latest_done_) {
      latest_done_ = done;
      latest_ = stages;
    }
    under_way_[place] = latest_;
  }
  // No request leaves for so many cycles, until the one at `place` is over.
  void waits_for(usize place, u64 cycles) { waits_ += under_way_[place].last(cycles); }

  // While requests were made.
  const MemoryCycles& waits() const { return waits_; }
  // The last cycles of the request that is over last.
  MemoryCycles tail(u64 cycles) const { return latest_.last(cycles); }
  u64 latest_done() const { return latest_done_; }

 private:
  std::vector<RequestStages> under_way_;
  RequestStages latest_;
  u64 latest_done_ = 0;
  MemoryCycles waits_;
};

}  // namespace vinci::models
