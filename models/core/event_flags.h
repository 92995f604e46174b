// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "isa/insns/sync.h"
#include "isa/machine/flags.h"
#include "sim/trace/trace.h"

namespace vinci::models {

// The flags of one core in time. A flag becomes visible `delay` cycles after it is raised, but not before `delay`
// cycles after the waiting pipe has begun to look at it.
class EventFlags {
 public:
  explicit EventFlags(u64 delay) : delay_(delay) {}

  // Raises at `now`; returns the cycle from which the flag can be seen. `awaited`: the pipe that waits for it looks at
  // it already, and takes it when it can be seen. One raised behind it while it is on the way follows it, and is up
  // then.
  u64 raise(u64 now, const isa::insn::SetFlag::Args& f, bool awaited = false) {
    if (may_follow(now, f, awaited)) {
      events(f).follows[f.event] = now;
      return now + delay_;
    }
    flags_.raise(f.src, f.dst, f.event);
    set_at(f) = now;
    return now + delay_;
  }
  // Whether it is up, and one that is raised now does not follow it.
  bool blocked(u64 now, const isa::insn::SetFlag::Args& f, bool awaited) {
    return flags_.up(f.src, f.dst, f.event) && !may_follow(now, f, awaited);
  }
  enum class Look : u8 { down, not_yet, up };
  // For a pipe that looks at it from `since` on.
  Look look(u64 now, const isa::insn::SetFlag::Args& f, u64 since = 0) {
    if (!flags_.up(f.src, f.dst, f.event)) return Look::down;
    return visible_at(f, since) > now ? Look::not_yet : Look::up;
  }
  u64 visible_at(const isa::insn::SetFlag::Args& f, u64 since = 0) { return std::max(set_at(f), since) + delay_; }
  void lower(const isa::insn::SetFlag::Args& f) {
    flags_.lower(f.src, f.dst, f.event);
    const u64 next = std::exchange(events(f).follows[f.event], 0);
    if (next == 0) return;
    flags_.raise(f.src, f.dst, f.event);
    set_at(f) = next;
  }
  u64& set_at(const isa::insn::SetFlag::Args& f) { return events(f).set_at[f.event]; }
  void clear() {
    flags_.clear();
    for (auto& of_source : events_)
      for (auto& pair : of_source)
        if (pair != nullptr) pair->follows = {};
  }
  void be_lenient() { flags_.be_lenient(); }

 private:
  bool may_follow(u64 now, const isa::insn::SetFlag::Args& f, bool awaited) {
    return awaited && flags_.up(f.src, f.dst, f.event) && events(f).follows[f.event] == 0 && now < set_at(f) + delay_;
  }

  static constexpr usize kMaxEvents = 64;
  isa::Flags flags_;
  u64 delay_;
  struct Events {
    std::array<u64, kMaxEvents> set_at{}, follows{};  // follows: when the one behind it was raised, or 0
  };
  Events& events(const isa::insn::SetFlag::Args& f) {
    auto& pair = events_[index(f.src)][index(f.dst)];
    if (pair == nullptr) pair = std::make_unique<Events>();
    return *pair;
  }
  std::array<std::array<std::unique_ptr<Events>, isa::kPipeCount>, isa::kPipeCount> events_;  // of pairs in use
};

}  // namespace vinci::models
