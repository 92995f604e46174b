// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/block_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace vinci::test {
namespace {

using models::BlockRunner;
using testing::ElementsAre;
using Turn = BlockRunner::Turn;
using Opening = BlockRunner::Opening;

// Blocks whose turns a test decides. What happens is noted: "+2@1" block 2 begins on slot 1, "2" it has a turn, "-2" it
// is done.
class Blocks {
 public:
  // Runs blocks on slots; "stuck N" is noted for a deadlock.
  void run(u32 blocks, u32 slots, Opening opening, const std::function<Turn(u32 block)>& turn) {
    try {
      BlockRunner(blocks, slots, opening)
          .run(
              [&](u32 slot, u32 block) {
                on_.resize(std::max<usize>(on_.size(), slot + 1));
                on_[slot] = block;
                ++begun;
                seen.push_back("+" + std::to_string(block) + "@" + std::to_string(slot));
              },
              [&](u32 slot) {
                const Turn out = turn(on_[slot]);
                seen.push_back((out == Turn::done ? "-" : "") + std::to_string(on_[slot]));
                return out;
              },
              [&](u32 not_begun) { throw std::runtime_error("stuck " + std::to_string(not_begun)); });
    } catch (const std::runtime_error& e) {
      seen.emplace_back(e.what());
    }
  }

  u32 begun = 0;
  std::vector<std::string> seen;

 private:
  std::vector<u32> on_;  // block by slot
};

TEST(BlockRunners, RunBlocksThatNeedNoOthersOnTheFirstSlot) {
  Blocks b;
  b.run(3, 8, Opening::all, [](u32) { return Turn::done; });
  EXPECT_THAT(b.seen, ElementsAre("+0@0", "-0", "+1@0", "-1", "+2@0", "-2"));
}

TEST(BlockRunners, OpenSlotsOnlyWhenNothingMoves) {
  Blocks b;
  u32 turns = 0;
  b.run(2, 2, Opening::all, [&](u32 block) { return block == 1 || ++turns == 3 ? Turn::done : Turn::moved; });
  EXPECT_THAT(b.seen, ElementsAre("+0@0", "0", "0", "-0", "+1@0", "-1"));
}

TEST(BlockRunners, OpenOneSlotOrAllForBlocksThatWaitForEachOther) {
  for (const Opening opening : {Opening::one, Opening::all}) {
    Blocks b;
    b.run(3, 3, opening, [&](u32) { return b.begun == 3 ? Turn::done : Turn::waits; });
    if (opening == Opening::all) {
      EXPECT_THAT(b.seen, ElementsAre("+0@0", "0", "0", "+1@1", "1", "+2@2", "-2", "-0", "-1"));
    } else {
      EXPECT_THAT(b.seen, ElementsAre("+0@0", "0", "0", "+1@1", "1", "0", "1", "+2@2", "-2", "-0", "-1"));
    }
  }
}

TEST(BlockRunners, OpenSlotsWhenABlockPauses) {
  Blocks b;
  b.run(2, 2, Opening::all, [&](u32 block) { return block == 1 || b.begun == 2 ? Turn::done : Turn::paused; });
  EXPECT_THAT(b.seen, ElementsAre("+0@0", "0", "0", "+1@1", "-1", "-0"));
}

TEST(BlockRunners, AreStuckWhenAllThatHaveBegunWaitAndNoSlotIsLeft) {
  Blocks b;
  b.run(3, 2, Opening::all, [](u32) { return Turn::waits; });
  EXPECT_EQ(b.begun, 2u);
  EXPECT_EQ(b.seen.back(), "stuck 1");
  Blocks c;
  c.run(2, 4, Opening::one, [](u32) { return Turn::waits; });
  EXPECT_EQ(c.begun, 2u);
  EXPECT_EQ(c.seen.back(), "stuck 0");
}

}  // namespace
}  // namespace vinci::test
