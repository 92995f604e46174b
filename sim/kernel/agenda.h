// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "sim/kernel/clock.h"

namespace vinci::sim {

// When the modules of one simulation act. One SystemC process serves them all, so that SystemC is asked once for each
// cycle in which something happens and not once for each module; where nothing else lives in the simulation it is asked
// once for many cycles. Modules that are due at the same time act in the order in which they asked for it.
//
// A calendar: the cycles of the present window have a list each, whose first one two words of bits find; what lies
// behind the window waits in one list, which is looked through when the window is over. All lists are threaded through
// the modules, so that a wish that is replaced leaves nothing behind.
class Agenda {
  static constexpr u64 kNever = ~u64{0};

 public:
  // What it keeps of each module: the cycle in which it will act, if any, and who stands beside it in the same list.
  class Entry {
    friend class Agenda;
    u64 due_ = kNever;
    Entry* previous_ = nullptr;
    Entry* next_ = nullptr;
  };

  explicit Agenda(const Clock& clock);
  ~Agenda();
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;

  // Lets a module act at a cycle that lies ahead, or once more at the present time. An earlier wish wins.
  // Throws Fault::Limit on a cycle that the clock cannot count.
  void wake_at(Entry& entry, u64 cycle) {
    if (entry.due_ <= cycle) return;
    // Before anything is queued: here an exception is the module's, in run() it would be SystemC's.
    clock_.check(cycle);
    insert(entry, cycle);
    if (!running_ && next() == cycle) notify_at(cycle);
  }
  void wake(Entry& entry) {
    const u64 present = now();
    if (entry.due_ <= present) return;
    insert(entry, present);
    if (!running_) due_.notify(sc_core::SC_ZERO_TIME);
  }
  // Forgets a module that goes.
  void remove(Entry& entry) {
    if (entry.due_ == kNever) return;
    unlink(entry);
    entry.due_ = kNever;
  }

  // The present cycle; inside a module's act() this is the time, not sc_time_stamp().
  u64 now() const { return running_ ? now_ : std::max(now_, clock_.now()); }
  // Nobody but the modules acts before the end of this cycle: the agenda may go on to it by itself. What SystemC calls
  // the time then follows.
  void run_ahead_to(u64 cycle) { horizon_ = cycle; }
  // Inside act(), in place of wake_at() as the last thing, for a cycle that lies ahead: where nobody else acts up to
  // this cycle, it is the present at once, and the module goes on. Else false, and it is woken then.
  bool go_on_to(Entry& entry, u64 cycle) {
    if (entry.due_ <= cycle) return false;
    if (next() > cycle && cycle <= horizon_) {
      remove(entry);  // a later wish
      now_ = cycle;
      return true;
    }
    clock_.check(cycle);
    insert(entry, cycle);
    return false;
  }

  // Whether nobody waits to be woken.
  bool idle() const { return words_ == 0 && later_.first == nullptr; }

 private:
  static constexpr u64 kWindow = 1024;  // cycles

  struct List {
    Entry* first = nullptr;
    Entry* last = nullptr;
  };

  List& list_of(u64 cycle) { return cycle / kWindow == window_ ? cycles_[cycle % kWindow] : later_; }
  void insert(Entry& entry, u64 cycle) {
    if (entry.due_ != kNever) unlink(entry);
    entry.due_ = cycle;
    append(entry);
  }
  void append(Entry& entry) {
    List& list = list_of(entry.due_);
    entry.next_ = nullptr;
    entry.previous_ = std::exchange(list.last, &entry);
    if (entry.previous_ != nullptr) {
      entry.previous_->next_ = &entry;
      return;
    }
    list.first = &entry;
    if (&list == &later_) return;
    const u64 at = entry.due_ % kWindow;
    occupied_[at / 64] |= u64{1} << at % 64;
    words_ |= 1u << at / 64;
  }
  void unlink(Entry& entry) {
    List& list = list_of(entry.due_);
    (entry.previous_ != nullptr ? entry.previous_->next_ : list.first) = entry.next_;
    (entry.next_ != nullptr ? entry.next_->previous_ : list.last) = entry.previous_;
    if (list.first != nullptr || &list == &later_) return;
    vacate(entry.due_ % kWindow);
  }
  void vacate(u64 at) {
    occupied_[at / 64] &= ~(u64{1} << at % 64);
    if (occupied_[at / 64] == 0) words_ &= ~(1u << at / 64);
  }
  // The cycle in which somebody is due.
  u64 next() const {
    if (words_ == 0) [[unlikely]]
      return next_later();
    const auto word = static_cast<u64>(std::countr_zero(words_));
    return window_ * kWindow + word * 64 + static_cast<u64>(std::countr_zero(occupied_[word]));
  }
  // The host fetches the beginning of a module that acts next.
  static void prefetch(const Entry& entry) {
    const auto* module = reinterpret_cast<const char*>(&entry);
    for (usize line = 0; line < 4; ++line)
      __builtin_prefetch(module + line * 64);
  }
  u64 next_later() const;
  void notify_at(u64 cycle);
  void enter_window(u64 window);
  void run_cycle();
  void run();

  const Clock& clock_;
  u64 window_ = 0;                          // the present one, of numbers cycle / kWindow
  std::array<List, kWindow> cycles_;        // of it
  std::array<u64, kWindow / 64> occupied_;  // bits: which of these lists have somebody
  u32 words_ = 0;                           // bits: which of these words are not 0
  List later_;                              // in other windows
  u64 now_ = 0;
  u64 horizon_ = 0;
  bool running_ = false;
  sc_core::sc_event due_;
  sc_core::sc_process_handle process_;
};

}  // namespace vinci::sim
