// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string_view>

#include "isa/base/enums.h"
#include "sim/stats/stats.h"

namespace vinci::models {

// What a pipe is doing, as far as time is accounted for: one state at every cycle.
enum class Doing : u8 { idle, busy, wait_flag, barrier, queue_full, drain };
inline constexpr auto kDoingNames = enum_table<Doing, std::string_view>({{Doing::idle, "idle"},
                                                                         {Doing::busy, "busy"},
                                                                         {Doing::wait_flag, "stall_wait_flag"},
                                                                         {Doing::barrier, "stall_barrier"},
                                                                         {Doing::queue_full, "stall_queue_full"},
                                                                         {Doing::drain, "stall_drain"}});
inline constexpr auto kDoingDocs = enum_table<Doing, std::string_view>(
    {{Doing::idle, "nothing in the queue"},
     {Doing::busy, "an instruction is executing"},
     {Doing::wait_flag, "the next instruction waits for set_flag"},
     {Doing::barrier, "the next instruction waits for earlier ones (pipe_barrier)"},
     {Doing::queue_full, "the scalar unit waits for room in a queue"},
     {Doing::drain, "the scalar unit has ended the block and waits for the other pipes"}});

// Adds up the cycles of each state, so that busy + stalled + idle is the whole time by construction of the walk.
class Occupation {
 public:
  // From `at` on the pipe does `what`; `at` never goes back.
  void enter(u64 at, Doing what) {
    settle(at);
    doing_ = what;
    busy_until_ = ~u64{0};
  }
  // Busy from `at` to `until`, idle afterwards unless something else is entered.
  void busy(u64 at, u64 until) {
    enter(at, Doing::busy);
    busy_until_ = until;
  }
  // Accounts for the time up to `at` in the present state.
  void settle(u64 at) {
    if (doing_ == Doing::busy && at > busy_until_) {
      cycles_[static_cast<usize>(Doing::busy)] += busy_until_ - since_;
      since_ = busy_until_;
      doing_ = Doing::idle;
    }
    cycles_[static_cast<usize>(doing_)] += at - since_;
    since_ = at;
  }

  // Time goes on at `at`; what it did until then has been added to its counters.
  void skip_to(u64 at) { since_ = at; }

  // The same with its account closed at a cycle, while it goes on itself.
  Occupation closed(u64 at) const {
    Occupation out = *this;
    if (at > since_) out.settle(at);  // else the pipe has gone ahead
    return out;
  }

  Doing doing() const { return doing_; }
  u64 cycles(Doing what) const { return cycles_[static_cast<usize>(what)]; }

  void register_in(stats::Group& group) {
    for (usize i = 0; i < cycles_.size(); ++i)
      group.add(kDoingNames[i], cycles_[i], "cycles", kDoingDocs[i]);
  }

 private:
  Doing doing_ = Doing::idle;
  u64 since_ = 0;
  u64 busy_until_ = ~u64{0};
  std::array<u64, kDoingNames.size()> cycles_{};
};

}  // namespace vinci::models
