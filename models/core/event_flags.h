// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "isa/flags.h"
#include "isa/insns/sync.h"
#include "sim/trace/trace.h"

namespace vinci::models {

// The flags of one core in time. A flag becomes visible `delay` cycles after it is raised, but not before `delay`
// cycles after the waiting pipe has begun to look at it.
class EventFlags {
 public:
  explicit EventFlags(u64 delay) : delay_(delay) {}

  // Raises at `now`; returns the cycle from which the flag can be seen.
  u64 raise(u64 now, const isa::insn::SetFlag::Args& f) {
    flags_.raise(f.src, f.dst, f.event);
    set_at(f) = now;
    return now + delay_;
  }
  enum class Look : u8 { down, not_yet, up };
  // For a pipe that looks at it from `since` on.
  Look look(u64 now, const isa::insn::SetFlag::Args& f, u64 since = 0) {
    if (!flags_.up(f.src, f.dst, f.event)) return Look::down;
    return visible_at(f, since) > now ? Look::not_yet : Look::up;
  }
  u64 visible_at(const isa::insn::SetFlag::Args& f, u64 since = 0) { return std::max(set_at(f), since) + delay_; }
  void lower(const isa::insn::SetFlag::Args& f) { flags_.lower(f.src, f.dst, f.event); }
  u64& set_at(const isa::insn::SetFlag::Args& f) {
    auto& events = set_at_[index(f.src)][index(f.dst)];
    if (events == nullptr) events = std::make_unique<Events>();
    return (*events)[f.event];
  }
  void clear() { flags_.clear(); }
  void be_lenient() { flags_.be_lenient(); }

 private:
  static constexpr usize kMaxEvents = 64;
  isa::Flags flags_;
  u64 delay_;
  using Events = std::array<u64, kMaxEvents>;
  std::array<std::array<std::unique_ptr<Events>, isa::kPipeCount>, isa::kPipeCount> set_at_;  // of pairs in use
};

}  // namespace vinci::models
