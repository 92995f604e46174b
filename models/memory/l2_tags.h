// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

#include "models/memory/divider.h"
#include "models/memory/ways.h"

namespace vinci::models {

// Which lines the L2 holds: set associative, least recently used. Consecutive lines lie in consecutive sets; where a
// region begins is hashed, so that strides do not meet in few sets. All ways of a set are compared at once, as the
// host's vector instructions do it, and a look-up that hits touches two neighbouring lines of the host's cache.
class L2Tags {
  static constexpr usize kGroup = 16;
  struct alignas(128) Group;

 public:
  L2Tags(u64 bytes, u64 line_bytes, u32 ways);

  // Where a line belongs.
  struct Place {
    u32 set = 0;
    u32 tag = 0;  // of the line in its set, + 1; 0 is none
  };
  Place place_of(u64 line) const {
    const auto [tag, member] = sets_(line);
    if (tag >= ~u32{0}) [[unlikely]]  // tags have 32 bits
      fail_far_line();
    const u64 set = member + turn_of(tag);
    return {.set = static_cast<u32>(set < sets_.by() ? set : set - sets_.by()), .tag = static_cast<u32>(tag + 1)};
  }
  // Fetches what is known of a line into the cache of the host.
  void prefetch(const Place& place) const {
    const Group* const set = set_at(place.set);
    __builtin_prefetch(&set->tags);
    __builtin_prefetch(&set->age);
  }

  // A line that is there, or none; valid until the next call.
  class Line {
   public:
    explicit operator bool() const { return group_ != nullptr; }
    bool dirty() const { return (group_->dirty >> way_ & 1) != 0; }
    void make_dirty() { group_->dirty |= static_cast<u16>(1u << way_); }
    // Its data arrive then, in the caller's time.
    void fill(u64 at) {
      group_->filled[way_] = at;
      group_->filled_until = std::max(group_->filled_until, at);
    }
    // `at`, or when its data have arrived.
    u64 available(u64 at) const { return at >= group_->filled_until ? at : std::max(at, group_->filled[way_]); }

   private:
    friend class L2Tags;
    Line() = default;
    Line(Group* group, u32 way) : group_(group), way_(way) {}
    Group* group_ = nullptr;
    u32 way_ = 0;  // of the group
  };

  // The line, now the most recently used of its set.
  Line find(const Place& place) {
    const Line line = look_up(place);
    if (line) make_youngest(set_at(place.set), line);
    return line;
  }

  struct Allocated {
    Line line;                                       // new and clean
    std::optional<u64> written_back = std::nullopt;  // line number of a dirty victim
  };
  // Makes room for a line that is not there.
  Allocated allocate(const Place& place);

  // Drops a line; whether it was dirty, where it was there.
  std::optional<bool> drop(const Place& place);

 private:
  // Up to 16 ways of a set. Their age is 0 for the most recently used of the set; those that do not exist are too old
  // to be reached.
  struct alignas(128) Group {
    std::array<u32, kGroup> tags;
    std::array<i8, kGroup> age;
    u64 filled_until;                // no line of it arrives later
    u16 dirty;                       // bit: way
    bool used;                       // else its ages have not been set
    std::array<u64, kGroup> filled;  // when the data of each way have arrived
  };

  // Memory of zeros that costs nothing until it is touched: most runs touch little of a large L2.
  template <class T>
  class Zeros {
   public:
    explicit Zeros(usize n) : data_(std::calloc(n + 1, sizeof(T))) {
      if (data_ == nullptr) throw std::bad_alloc();
      void* aligned = data_.get();
      usize room = (n + 1) * sizeof(T);
      first_ = static_cast<T*>(std::align(alignof(T), n * sizeof(T), aligned, room));
    }
    T* at(u64 i) const { return first_ + i; }

   private:
    struct Free {
      void operator()(void* p) const { std::free(p); }
    };
    std::unique_ptr<void, Free> data_;
    T* first_;
  };

  [[noreturn]] static void fail_far_line();
  // Where the sets of a region of as many lines as there are sets begin.
  u64 turn_of(u64 tag) const { return (((tag * 0x9E3779B97F4A7C15) >> 32) * sets_.by()) >> 32; }
  Group* set_at(u64 set) const { return groups_.at(set * groups_of_set_); }
  u64 line_of(const Place& place) const;  // the inverse of place_of
  Line look_up(const Place& place) const {
    Group* const set = set_at(place.set);
    for (u32 g = 0; g < groups_of_set_; ++g) {
      if (const u32 w = ways::one_past_equal(set[g].tags, place.tag); w != 0) return {set + g, w - 1};
    }
    return {};
  }
  void make_youngest(Group* set, const Line& line) const {
    i8& age = line.group_->age[line.way_];
    if (age == 0) return;
    const i8 was = age;
    for (u32 g = 0; g < groups_of_set_; ++g)
      ways::count_up_below(set[g].age, was);
    age = 0;
  }
  Line oldest_of(Group* set) const;

  Divider sets_;
  u32 ways_, groups_of_set_;
  Zeros<Group> groups_;  // by set
};

}  // namespace vinci::models
