// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <bit>
#include <vector>

#include "isa/base/types.h"

namespace vinci::isa {

// Blocks of 32 B of one buffer of a core.
class BlockSet {
 public:
  static constexpr u64 kBytes = 32;

  // Those that `bytes` from `address` on touch; bytes > 0.
  void add(u64 address, u64 bytes) {
    for (u64 block = address / kBytes; block <= (address + bytes - 1) / kBytes; ++block) {
      if (block / 64 >= words_.size()) words_.resize(block / 64 + 1);
      words_[block / 64] |= u64{1} << block % 64;
    }
  }

  // Calls f(begin, end) in bytes for each run of blocks that are in it, lowest first.
  template <class F>
  void each_run(F&& f) const {
    const u64 blocks = words_.size() * 64;
    for (u64 begin = next(0, true); begin < blocks;) {
      const u64 end = next(begin, false);
      f(begin * kBytes, end * kBytes);
      begin = next(end, true);
    }
  }

 private:
  // The first block from `at` on that is in the set, or is not; behind all where there is none.
  u64 next(u64 at, bool in) const {
    for (usize w = at / 64; w < words_.size(); ++w) {
      u64 bits = in ? words_[w] : ~words_[w];
      if (w == at / 64) bits &= ~u64{0} << at % 64;
      if (bits != 0) return w * 64 + static_cast<u64>(std::countr_zero(bits));
    }
    return words_.size() * 64;
  }

  std::vector<u64> words_;
};

}  // namespace vinci::isa
