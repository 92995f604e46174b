// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>

#include "isa/machine/issue.h"
#include "isa/program/code.h"
#include "models/core/event_flags.h"

namespace vinci::models {

using Flag = isa::insn::FlagBase::Args;

inline bool same_flag(const Flag& a, const Flag& b) { return a.src == b.src && a.dst == b.dst && a.event == b.event; }

// What sets flags and waits for them: a pipe, or the scalar unit.
class FlagUser {
 public:
  // Whether its next instruction waits for the flag, and has begun to before `t`.
  virtual bool awaits(u64 t, const Flag& flag) const = 0;
  // A flag that it may wait for can be seen from this cycle on.
  virtual void flag_visible_at(u64 cycle) = 0;
  // Whether a wait_flag for it is queued.
  virtual bool has_wait_for(const Flag& /*flag*/) const { return false; }
  // A flag that it has set was taken.
  virtual void flag_taken() {}
  // The set_flag of a flag that has not begun, for messages; null when there is none.
  virtual const isa::Issued* queued_set_flag(const Flag& flag) const = 0;
  virtual trace::TrackId track() const = 0;

 protected:
  ~FlagUser() = default;
};

// The flags of a core, with the parts that use them: wakes the part that waits for a flag that goes up.
class FlagBoard {
 public:
  explicit FlagBoard(u64 delay) : flags_(delay) {}
  // `number`: what the operands of set_flag and wait_flag call it.
  void connect(usize number, FlagUser& user) { users_[number] = &user; }
  void clear() { flags_.clear(); }
  void be_lenient() { flags_.be_lenient(); }

  // Whether the flag is up and its set_flag, were it to take effect at `t`, comes too early.
  bool blocked(u64 t, const Flag& f) { return flags_.blocked(t, f, users_[index(f.dst)]->awaits(t, f)); }
  // Whether a wait_flag that has been issued will take it.
  bool will_be_taken(const Flag& f) const { return users_[index(f.dst)]->has_wait_for(f); }
  // The flag goes up at `t`.
  void raise(u64 t, const Flag& f) {
    FlagUser& waits = *users_[index(f.dst)];
    waits.flag_visible_at(flags_.raise(t, f, waits.awaits(t, f)));
  }
  // As those of EventFlags.
  EventFlags::Look look(u64 t, const Flag& f, u64 since = 0) { return flags_.look(t, f, since); }
  u64 visible_at(const Flag& f, u64 since = 0) { return flags_.visible_at(f, since); }
  u64 set_at(const Flag& f) { return flags_.set_at(f); }
  void lower(const Flag& f) {
    flags_.lower(f);
    if (FlagUser* from = users_[index(f.src)]) from->flag_taken();
  }

  // Where the setter of a flag shows itself.
  trace::TrackId setter_track(const Flag& f) const {
    const FlagUser* from = users_[index(f.src)];
    return (from != nullptr ? from : users_[0])->track();
  }
  // Why a flag that is waited for when nothing moves is down: where its set_flag is stuck, or that there is none.
  std::string why_down(const Flag& f, const isa::Code& code) const {
    const FlagUser* from = users_[index(f.src)];
    const isa::Issued* set = from != nullptr ? from->queued_set_flag(f) : nullptr;
    if (set == nullptr) return "; no set_flag for it was issued";
    return fmt::format("; its set_flag ({}) is behind the head of PIPE_{}", code.place(set->pc), isa::name(f.src));
  }

 private:
  EventFlags flags_;
  std::array<FlagUser*, isa::kPipeCount> users_{};  // the first is the scalar unit
};

}  // namespace vinci::models
