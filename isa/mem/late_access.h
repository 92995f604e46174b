// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "isa/base/types.h"

namespace vinci::isa {

struct Access;

// Reads and writes of global memory that have happened, as far as anybody can see, and that their owners will do later:
// before somebody else writes what is still to be read, or touches what is still to be written. So whoever looks finds
// the bytes of the order in which accesses were put off. For one thread; owners may do what they owe on any other, as
// long as that one finds it done when it asks.
class LateAccess {
 public:
  // Rows of bytes, as far apart as each other; begin = end: nothing.
  struct Rows {
    u64 begin = 0, end = 0;   // from the first byte of the first row to the last of the last
    u64 bytes = 0, step = 0;  // of a row, to the next row; step 0: all bytes from begin to end

    static Rows of(const Access& a);
    bool meets(const Rows& o) const;
  };

  class Owner {
   public:
    virtual ~Owner() = default;  // it owes nothing then
    virtual void do_late() = 0;  // and forget(); may throw, and then nothing else is done

   private:
    friend class LateAccess;
    std::vector<Rows> reads_, writes_;
  };

  // What somebody does now, other than `who`: those who are in the way do what they owe.
  void before(const Rows& rows, bool write, const Owner* who = nullptr);
  void put_off(Owner& who, const Rows& rows, bool write);
  void forget(Owner& who);

  // While it exists, this thread does what was put off: its accesses are in nobody's way.
  class Doing {
   public:
    Doing() : before_(doing_) { doing_ = true; }
    ~Doing() { doing_ = before_; }
    Doing(const Doing&) = delete;
    Doing& operator=(const Doing&) = delete;

   private:
    bool before_;
  };
  void before_access(u64 address, u64 bytes, bool write) {
    if (!doing_ && !owners_.empty()) before({address, address + bytes}, write);
  }

 private:
  static inline constinit thread_local bool doing_ = false;

  std::vector<Owner*> owners_;
  Rows all_reads_, all_writes_;
};

}  // namespace vinci::isa
