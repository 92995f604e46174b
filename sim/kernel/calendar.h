// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "isa/base/types.h"

namespace vinci::sim {

// Entries in the order of the cycles in which they are due; entries of one cycle in the order of insertion.
//
// A hierarchical timing wheel (Varghese and Lauck, 1987). Each of the 1024 cycles of the present window has a list. The
// windows behind it are found in levels of 64 lists: a list of level 0 holds the entries of one window, a list of each
// further level 64 times as many windows. The level and the list of an entry follow from the highest bit in which its
// window differs from the present one. When a window becomes the present one, the list that holds it is dealt out to
// the levels below, in order. So an insertion, a removal and a step to the next entry cost the same for any number of
// entries, and an entry is moved at most once for each level. All lists are threaded through the entries.
class Calendar {
 public:
  static constexpr u64 kNever = ~u64{0};

  class Entry {
   public:
    // The cycle in which it is due; kNever while it is in no calendar.
    u64 due() const { return due_; }

   private:
    friend class Calendar;
    u64 due_ = kNever;
    Entry* previous_ = nullptr;
    Entry* next_ = nullptr;
  };

  bool empty() const { return words_ == 0 && levels_ == 0; }

  // Whether `holds(entry)` for all entries, in no order.
  template <class F>
  bool all_of(F&& holds) const {
    for (const List& list : cycles_) {
      if (!all_of(list, holds)) return false;
    }
    for (const Level& level : later_) {
      for (const LaterList& list : level.lists) {
        if (!all_of(list, holds)) return false;
      }
    }
    return true;
  }

  // The cycle must not precede the present window. An entry that is in the calendar moves behind those of that cycle.
  void insert(Entry& entry, u64 cycle) {
    if (entry.due_ != kNever) unlink(entry);
    entry.due_ = cycle;
    append(entry);
  }
  // The same, before those of that cycle.
  void insert_first(Entry& entry, u64 cycle) {
    if (entry.due_ != kNever) unlink(entry);
    entry.due_ = cycle;
    prepend(entry);
  }
  void remove(Entry& entry) {
    if (entry.due_ == kNever) return;
    unlink(entry);
    entry.due_ = kNever;
  }

  // The cycle of the first entry, or kNever.
  u64 first() { return words_ != 0 ? first_of_window() : first_later(); }
  // A cycle that no entry precedes. It equals first(), except that after a removal it may be earlier.
  u64 bound() {
    if (words_ != 0) [[likely]]
      return first_of_window();
    return levels_ != 0 ? first_list().bound : kNever;
  }

  // Makes the window of a cycle the present one. No entry is due before this window.
  void go_to(u64 cycle) {
    if (cycle / kWindow != window_) enter(cycle / kWindow);
  }
  // Takes the first entry of a cycle in the present window out of the calendar; null when there is none.
  Entry* take(u64 cycle) {
    const u64 at = cycle % kWindow;
    List& due = cycles_[at];
    Entry* const entry = due.first;
    if (entry == nullptr) return nullptr;
    due.first = entry->next_;
    if (due.first != nullptr) {
      due.first->previous_ = nullptr;
      prefetch(*due.first);
    } else {
      due.last = nullptr;
      vacate(at);
    }
    entry->due_ = kNever;
    return entry;
  }

 private:
  static constexpr u64 kWindow = 1024;    // cycles
  static constexpr u32 kWindowBits = 10;  // of the number of a cycle in its window
  static constexpr u32 kLevelBits = 6, kLists = 1 << kLevelBits;
  static constexpr u32 kLevels = (64 - kWindowBits + kLevelBits - 1) / kLevelBits;

  struct List {
    Entry* first = nullptr;
    Entry* last = nullptr;
  };
  struct LaterList : List {
    u64 bound = kNever;  // no entry is due earlier
    bool exact = true;   // one is due then
  };
  struct Level {
    u64 occupied = 0;  // bits: which lists have entries
    std::array<LaterList, kLists> lists;
  };

  template <class F>
  static bool all_of(const List& list, F& holds) {
    for (const Entry* e = list.first; e != nullptr; e = e->next_) {
      if (!holds(*e)) return false;
    }
    return true;
  }
  u32 level_of(u64 window) const { return (63 - static_cast<u32>(std::countl_zero(window ^ window_))) / kLevelBits; }
  static u32 list_of(u64 window, u32 level) { return static_cast<u32>(window >> level * kLevelBits) % kLists; }
  // The entries of the lowest level come first, and of these the ones of the first list.
  LaterList& first_list() {
    Level& level = later_[static_cast<usize>(std::countr_zero(levels_))];
    return level.lists[static_cast<usize>(std::countr_zero(level.occupied))];
  }

  static void push_back(List& list, Entry& entry) {
    entry.next_ = nullptr;
    entry.previous_ = std::exchange(list.last, &entry);
    (entry.previous_ != nullptr ? entry.previous_->next_ : list.first) = &entry;
  }
  static void push_front(List& list, Entry& entry) {
    entry.previous_ = nullptr;
    entry.next_ = std::exchange(list.first, &entry);
    (entry.next_ != nullptr ? entry.next_->previous_ : list.last) = &entry;
  }
  static void take_out(List& list, Entry& entry) {
    (entry.previous_ != nullptr ? entry.previous_->next_ : list.first) = entry.next_;
    (entry.next_ != nullptr ? entry.next_->previous_ : list.last) = entry.previous_;
  }

  void append(Entry& entry) { push_back(list_for(entry.due_), entry); }
  void prepend(Entry& entry) { push_front(list_for(entry.due_), entry); }
  // The list of a cycle, which gets an entry.
  List& list_for(u64 cycle) {
    if (cycle / kWindow != window_) return later_list_for(cycle);
    const u64 at = cycle % kWindow;
    occupied_[at / 64] |= u64{1} << at % 64;
    words_ |= 1u << at / 64;
    return cycles_[at];
  }
  List& later_list_for(u64 cycle) {
    const u32 n = level_of(cycle / kWindow), at = list_of(cycle / kWindow, n);
    Level& level = later_[n];
    LaterList& list = level.lists[at];
    list.exact |= cycle <= list.bound;
    list.bound = std::min(list.bound, cycle);
    level.occupied |= u64{1} << at;
    levels_ |= 1u << n;
    return list;
  }
  void unlink(Entry& entry) {
    const u64 window = entry.due_ / kWindow;
    if (window != window_) return unlink_later(entry, window);
    const u64 at = entry.due_ % kWindow;
    take_out(cycles_[at], entry);
    if (cycles_[at].first == nullptr) vacate(at);
  }
  void unlink_later(Entry& entry, u64 window) {
    const u32 n = level_of(window), at = list_of(window, n);
    LaterList& list = later_[n].lists[at];
    take_out(list, entry);
    list.exact = list.exact && entry.due_ != list.bound;
    if (list.first == nullptr) vacate_later(n, at);
  }
  void vacate(u64 at) {
    occupied_[at / 64] &= ~(u64{1} << at % 64);
    if (occupied_[at / 64] == 0) words_ &= ~(1u << at / 64);
  }
  void vacate_later(u32 n, u32 at) {
    Level& level = later_[n];
    level.lists[at] = {};
    level.occupied &= ~(u64{1} << at);
    if (level.occupied == 0) levels_ &= ~(1u << n);
  }

  u64 first_of_window() const {
    const auto word = static_cast<u64>(std::countr_zero(words_));
    return window_ * kWindow + word * 64 + static_cast<u64>(std::countr_zero(occupied_[word]));
  }
  u64 first_later();
  void enter(u64 window);

  // The host fetches the beginning of what is taken next.
  static void prefetch(const Entry& entry) {
    const auto* object = reinterpret_cast<const char*>(&entry);
    for (usize line = 0; line < 4; ++line)
      __builtin_prefetch(object + line * 64);
  }

  u64 window_ = 0;                               // the present one: the number of a cycle / kWindow
  std::array<List, kWindow> cycles_ = {};        // of the present window
  std::array<u64, kWindow / 64> occupied_ = {};  // bits: which of cycles_ have entries
  u32 words_ = 0;                                // bits: which words of occupied_ are not 0
  u32 levels_ = 0;                               // bits: which levels have entries
  std::array<Level, kLevels> later_ = {};        // the windows behind the present one
};

}  // namespace vinci::sim
