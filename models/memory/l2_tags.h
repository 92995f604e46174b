// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>

#include "models/memory/divider.h"

namespace vinci::models {

struct L2Line {
  u64 filled = 0;  // when its data have arrived, in the caller's time
  u32 tag = 0;     // of the line in its set, + 1; 0: empty. L2Tags keeps it
  u32 dirty = 0;   // 0 or 1; as wide as this the host copies a line in one go, not in two parts that overlap
};

// Which lines the L2 holds: set associative, least recently used. Consecutive lines lie in consecutive sets; where a
// region begins is hashed, so that strides do not meet in few sets.
class L2Tags {
 public:
  L2Tags(u64 bytes, u64 line_bytes, u32 ways);

  // The line, now the most recently used of its set; null where it is not there. Valid until the next call.
  L2Line* find(u64 line);

  // Fetches what is known of a line into the cache of the host.
  void prefetch(u64 line) const { __builtin_prefetch(lines_.at(set_of(line).number * ways_)); }

  struct Allocated {
    L2Line* line;                                    // new
    std::optional<u64> written_back = std::nullopt;  // line number of a dirty victim
  };
  // Makes room for a line that is not there.
  Allocated allocate(u64 line);

  // Drops a line; what it was, where it was there.
  std::optional<L2Line> drop(u64 line);

 private:
  // Memory of zeros that costs nothing until it is touched: most runs touch little of a large L2.
  template <class T>
  class Zeros {
   public:
    explicit Zeros(usize n) : data_(static_cast<T*>(std::calloc(n, sizeof(T)))) {
      if (data_ == nullptr) throw std::bad_alloc();
    }
    T* at(u64 i) const { return data_.get() + i; }

   private:
    struct Free {
      void operator()(T* p) const { std::free(p); }
    };
    std::unique_ptr<T[], Free> data_;
  };
  struct Set {
    u64 number;
    u32 tag;
  };
  Set set_of(u64 line) const;
  u64 line_of(const Set& set) const;     // the inverse of set_of
  L2Line* way_of(const Set& set) const;  // null where it is not there

  Divider sets_;
  u32 ways_;
  Zeros<L2Line> lines_;  // by set; in a set by their last use, the most recent first, then the empty ones
};

}  // namespace vinci::models
