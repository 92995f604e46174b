// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <vector>

#include "isa/base/types.h"

namespace vinci::models {

// Gives the blocks of one launch to slots (BlockShape) without time. Blocks run one after the other on the first slot,
// as long as each reaches its end by itself; slots are opened when the blocks that have begun need others to go on.
class BlockRunner {
 public:
  // What became of the block of a slot in its turn. Paused: it can go on by itself, but may wait for another block by
  // reading memory again and again.
  enum class Turn : u8 { done, moved, paused, waits };
  // How many slots are opened at a time.
  enum class Opening : u8 { one, all };

  BlockRunner(u32 blocks, u32 slots, Opening opening) : blocks_(blocks), slots_(slots), opening_(opening) {}

  // `begin(slot, block)` starts a block on a free slot, `Turn advance(slot)` lets it go on as far as it can, and
  // `stuck(count)` throws the deadlock: blocks wait and nothing can help, `count` of them have not begun.
  template <class Begin, class Advance, class Stuck>
  void run(const Begin& begin, const Advance& advance, const Stuck& stuck) {
    while (done_ < blocks_) {
      bool moved = false, paused = false;
      for (u32 slot = 0; slot < open_; ++slot) {
        const Turn turn = run_slot(slot, begin, advance, moved);
        moved = moved || turn != Turn::waits;
        paused = paused || turn == Turn::paused;
      }
      if (done_ == blocks_ || (moved && !paused)) continue;
      if (!open_more() && !moved) stuck(blocks_ - next_);
    }
  }

 private:
  // One block after the other, until one does not reach its end.
  template <class Begin, class Advance>
  Turn run_slot(u32 slot, const Begin& begin, const Advance& advance, bool& moved) {
    while (busy_[slot] || next_ < blocks_) {
      if (!busy_[slot]) begin(slot, next_++);
      const Turn turn = advance(slot);
      busy_[slot] = turn != Turn::done;
      if (busy_[slot]) return turn;
      moved = true;
      ++done_;
    }
    return Turn::waits;
  }

  bool open_more() {
    if (open_ == slots_ || next_ == blocks_) return false;
    open_ = opening_ == Opening::one ? open_ + 1 : std::min(slots_, open_ + (blocks_ - next_));
    busy_.resize(open_);
    return true;
  }

  u32 blocks_, slots_;
  Opening opening_;
  u32 open_ = 1, next_ = 0, done_ = 0;
  std::vector<bool> busy_{false};
};

}  // namespace vinci::models
