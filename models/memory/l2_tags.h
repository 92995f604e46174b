// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "isa/mem/zero_pages.h"
#include "models/memory/divider.h"

namespace vinci::models {

// Which lines the L2 holds: set associative, least recently used. Consecutive lines are in consecutive sets; where a
// region begins is hashed, so that strides do not meet in few sets.
//
// What is known of a line is found by its number, next to its neighbours: copies walk over neighbours, and a hit looks
// at nothing else. Sets are looked at by misses alone. A set is a queue of lines in the order in which they came, and a
// line that is found gets a mark in its record: the one at the front, without a mark, is the least recently used of its
// set. Where it has a mark, the set is put into the order of use, and its marks go.
class L2Tags {
 public:
  L2Tags(u64 bytes, u64 line_bytes, u32 ways);

  // What is known of a line that is there.
  class Line {
   public:
    bool dirty() const { return (use_ & 1) != 0; }
    void make_dirty() { use_ |= 1; }
    // A number of the caller's, below kNotes, that the line has as long as it is there.
    u32 note() const { return static_cast<u32>(use_ >> 2 & (kNotes - 1)); }
    // Its data arrive then, in the caller's time.
    void fill(u64 at) { filled_ = at; }
    // `at`, or when its data have arrived.
    u64 available(u64 at) const { return std::max(at, filled_); }
    u64 filled() const { return filled_; }

   private:
    friend class L2Tags;
    static constexpr u64 kMoved = 2, kUse = u64{1} << 21;
    // When it was last used, in uses of all lines [63:21]; the note [20:2]; used since its set was in order [1]; dirty
    // [0]. 0: it is not there.
    u64 use_ = 0;
    u64 filled_ = 0;
  };
  static constexpr u32 kNotes = 1u << 19;

  // The line, now the most recently used of its set; null where it is not there. Valid until the next allocate().
  Line* find(u64 number) {
    Line& line = lines_.at(number);
    if (line.use_ == 0) return nullptr;
    line.use_ = (line.use_ & (Line::kUse - 1)) | Line::kMoved | next_use();
    return &line;
  }
  // Fetches what is known of a line into the cache of the host. Inlined in any case: a compiler may take it for a
  // function without effect.
  [[gnu::always_inline]] void prefetch(u64 number) const { __builtin_prefetch(&lines_.at(number)); }

  static constexpr u64 kAhead = 8;  // so many lines before they are needed

  static constexpr u64 kNone = ~u64{0};
  struct Allocated {
    Line& line;                // clean
    u64 written_back = kNone;  // number of a dirty victim
  };
  // Makes room for a line that is not there.
  Allocated allocate(u64 number, u32 note = 0);

  // The line as it is, without a use.
  const Line* look(u64 number) const {
    const Line& line = lines_.at(number);
    return line.use_ == 0 ? nullptr : &line;
  }
  // The present moment in the order of uses.
  u64 moment() const { return uses_; }
  // Numbers of the lines that are there and were used after a moment, in the order of their latest uses.
  std::vector<u64> used_since(u64 moment) const;

  // Drops a line; whether it was dirty, where it was there.
  std::optional<bool> drop(u64 number);

  // Which set a line belongs to.
  u64 set_of(u64 number) { return set_(number).server; }

 private:
  // Most runs touch little of a large L2.
  template <class T>
  class Zeros {
   public:
    explicit Zeros(usize n) : bytes_(n * sizeof(T)) {}
    T* at(u64 i) const { return reinterpret_cast<T*>(bytes_.data()) + i; }

   private:
    static_assert(std::is_trivial_v<T> && alignof(T) <= isa::ZeroPages::kAlignment);
    isa::ZeroPages bytes_;
  };

  // Lines by their numbers, in pages that exist while L2 holds a line of them.
  class Lines {
   public:
    Line& at(u64 number) const {
      const u64 page = number / kPage;
      return (page < pages_.size() ? pages_[page] : &none_)->lines[number % kPage];
    }
    Line& add(u64 number) {
      const u64 page = number / kPage;
      Page& p = page < pages_.size() && pages_[page] != &none_ ? *pages_[page] : add_page(page);
      ++p.held;
      return p.lines[number % kPage];
    }
    // `line` is its own.
    void remove(u64 number, Line& line) {
      line = {};
      if (Page*& page = pages_[number / kPage]; --page->held == 0) free_.push_back(std::exchange(page, &none_));
    }
    // f(number, line) for each.
    template <class F>
    void each(F&& f) const {
      for (u64 page = 0; page < pages_.size(); ++page) {
        if (pages_[page] == &none_) continue;
        for (u64 i = 0; i < kPage; ++i)
          if (const Line& line = pages_[page]->lines[i]; line.use_ != 0) f(page * kPage + i, line);
      }
    }

   private:
    static constexpr u64 kPage = 64;
    struct Page {
      std::array<Line, kPage> lines;
      u32 held = 0;
    };
    Page& add_page(u64 page);

    static Page none_;          // in place of those that do not exist; never written
    std::vector<Page*> pages_;  // by number / kPage
    std::vector<std::unique_ptr<Page>> made_;
    std::vector<Page*> free_;  // of these, whose lines are all gone
  };

  using Way = u64;  // the number of its line
  // Its ways are a ring, of which `lines` from `first` on are taken.
  struct Set {
    u8 first = 0, lines = 0;
  };

  u64 next_use() { return uses_ += Line::kUse; }
  // The line of a set that came as number `n`.
  Way& way(u64 set, u32 n) const {
    const u32 w = sets_[set].first + n;
    return *numbers_.at((w < ways_ ? w : w - ways_) * set_.servers() + set);
  }
  void put_in_order(u64 set);

  Interleave set_;  // lines of a region go to the sets in turn
  u32 ways_;
  u64 uses_ = 0;
  std::vector<Set> sets_;
  Zeros<Way> numbers_;  // the first way of all sets, then the next: sets that are not full touch little memory
  Lines lines_;
};

}  // namespace vinci::models
