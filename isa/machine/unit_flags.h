// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <vector>

#include "isa/machine/issue.h"

// The unit flags of the split core: one bit for each 512 B block of L0C, up while it holds a result that FIXPIPE has
// not taken. An instruction with unitFlag = 2 or 3 waits until its blocks are down (mad) or up (FIXPIPE); 3 changes
// them when it is through with a block, 2 leaves them. Source: published documentation of Mmad and Fixpipe (UnitFlag).
// FIXPIPE takes whole fractals: rows of L0C are rounded up to 16.
namespace vinci::isa {

// What an instruction that takes part does.
struct UnitFlagUse {
  Access blocks;        // of L0C
  bool writes = false;  // mad; else FIXPIPE
  bool update = false;  // unitFlag = 3

  u64 count() const;
};

// Of an instruction without the operand, or where it is 0: none.
std::optional<UnitFlagUse> unit_flag_use(const Issued& inst, Arch arch);

class UnitFlags {
 public:
  static constexpr u64 kBlockBytes = 512;

  void clear() {
    blocks_.clear();
    up_ = 0;
    changed_ = 0;
  }

  // Whether every block is as `use` waits for it.
  bool ready(const UnitFlagUse& use) const;
  // No flag changes after this cycle, by what has been said so far: from then on earliest() is over.
  u64 changed() const { return changed_; }
  // With a clock, when ready: the first cycle to start in so that no block is met before its flag changed, and the end
  // comes after all of them. The instruction goes through its blocks evenly during `span` cycles.
  u64 earliest(const UnitFlagUse& use, u64 span) const;
  // FIXPIPE has begun to read what it is going to take: no other FIXPIPE finds it.
  void take(const UnitFlagUse& use);
  // Changes the flags, if `use` updates them: of block i of n after (i + 1) / n of the cycles from `begin` to `end`.
  void finish(const UnitFlagUse& use, u64 begin = 0, u64 end = 0);

 private:
  struct Block {
    bool up = false;
    bool taken = false;  // up, and down as soon as the FIXPIPE that reads it is through
    u64 since = 0;
  };
  Block block(u64 i) const { return i < blocks_.size() ? blocks_[i] : Block{}; }

  std::vector<Block> blocks_;  // grows to the last one that was ever up
  u64 up_ = 0;                 // how many are
  u64 changed_ = 0;            // the latest Block::since
};

// f(first, one past the last) for the blocks of L0C that follow each other.
template <class F>
void each_run(const UnitFlagUse& use, F&& f) {
  const Access& a = use.blocks;
  if (a.len == 0) return;
  for (u32 j = 0; j < a.count[1]; ++j) {
    for (u32 i = 0; i < a.count[0]; ++i) {
      const u64 begin = a.address + static_cast<u64>(a.stride[0]) * i + static_cast<u64>(a.stride[1]) * j;
      f(begin / UnitFlags::kBlockBytes, ceil_div(begin + a.len, UnitFlags::kBlockBytes));
    }
  }
}

// f(block) for each block of L0C.
template <class F>
void each_block(const UnitFlagUse& use, F&& f) {
  each_run(use, [&](u64 first, u64 end) {
    for (u64 b = first; b < end; ++b)
      f(b);
  });
}

}  // namespace vinci::isa
