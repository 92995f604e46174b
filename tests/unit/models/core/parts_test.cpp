// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The parts that pipes are made of: the queue, the flags of a core, blocks of L0C that are handed over, and the units
// with their timing rules. mutations.yaml lists the rules that these tests hold.
#include "models/core/copy_rule.h"
#include "models/core/cube_unit.h"
#include "models/core/fixpipe.h"
#include "models/core/mte1.h"
#include "models/core/mte2.h"
#include "models/core/vector_unit.h"
#include "tests/unit/models/core/bench.h"

namespace vinci::test {
namespace {

using models::EventFlags;
using models::Flag;

TEST(InOrderQueue, IsFullWithAsManyAsItHolds) {
  models::InOrderQueue<int> queue(2);
  queue.push() = 1;
  EXPECT_FALSE(queue.full());
  queue.push() = 2;
  EXPECT_TRUE(queue.full());
  queue.begin();
  EXPECT_FALSE(queue.full());
}

TEST(InOrderQueue, RetiresInTheOrderOfBeginning) {
  models::InOrderQueue<int> queue(4);
  for (const int i : {1, 2, 3})
    queue.push() = i;
  queue.begin();
  queue.begin();
  EXPECT_EQ(queue.oldest(), 1);
  EXPECT_EQ(queue.newest(), 2);
  EXPECT_EQ(queue.head(), 3);
  queue.retire_oldest();
  EXPECT_EQ(queue.oldest(), 2);
  queue.drop();
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.drained());
  queue.retire_oldest();
  EXPECT_TRUE(queue.drained());
}

struct FlagBoardTest : Bench {
  FlagBoardTest() {
    flags.connect(isa::index(flag.src), setter);
    flags.connect(isa::index(flag.dst), waiter);
  }
  const Flag flag{.src = isa::PipeId::M, .dst = isa::PipeId::V, .event = 2};
  MockFlagUser setter{env, events, "M"}, waiter{env, events, "V"};
};

TEST_F(FlagBoardTest, AFlagIsSeenAfterItsDelayByWhoWaitsForIt) {
  flags.raise(10, flag);
  EXPECT_EQ(events, (Events{"0 V sees the flag at 13"}));
  EXPECT_EQ(flags.look(12, flag), EventFlags::Look::not_yet);
  EXPECT_EQ(flags.look(13, flag), EventFlags::Look::up);
}

TEST_F(FlagBoardTest, AFlagThatIsUpTakesItsDelayFromWhenItIsLookedAt) {
  flags.raise(10, flag);
  EXPECT_EQ(flags.visible_at(flag, 30), 33u);
  EXPECT_EQ(flags.look(32, flag, 30), EventFlags::Look::not_yet);
  EXPECT_EQ(flags.look(33, flag, 30), EventFlags::Look::up);
}

TEST_F(FlagBoardTest, OneBehindAnotherIsLegalOnlyWhereTheFirstIsAwaited) {
  flags.raise(10, flag);
  EXPECT_NE(fault_of([&] { flags.raise(11, flag); }), "");
  waiter.waits = true;
  flags.raise(11, flag);
  EXPECT_EQ(events.back(), "0 V sees the flag at 14");
}

TEST_F(FlagBoardTest, SaysWhereTheSetIsStuck) {
  const Instructions program(chip, isa::CoreKind::joint, "\nset_flag PIPE_M, PIPE_V, 2\n");
  EXPECT_EQ(flags.why_down(flag, program.code()), "; no set_flag for it was issued");
  setter.stuck = &program[0];
  EXPECT_EQ(flags.why_down(flag, program.code()), "; its set_flag (test.s:2) is behind the head of PIPE_M");
}

struct L0cTest : Bench {
  L0cTest() { l0c.connect(cube, fixpipe); }
  // Two blocks of L0C.
  isa::UnitFlagUse use(bool writes) const {
    return {.blocks = {.buffer = isa::BufId::L0C, .write = writes, .len = 1024}, .writes = writes, .update = true};
  }
  MockWake cube{env, events, "cube"}, fixpipe{env, events, "FIXPIPE"};
  models::L0cHandover l0c;
};

TEST_F(L0cTest, FixpipeWaitsUntilTheCubeHasBegun) {
  EXPECT_EQ(l0c.ready_at(use(false), 5, 10), models::kNever);
  EXPECT_EQ(l0c.ready_at(use(true), 5, 10), 5u);
  l0c.fill(use(true), 20, 40);
  EXPECT_EQ(events, (Events{"0 FIXPIPE wakes at 20"}));
}

// The blocks are full at 30 and 40; FIXPIPE reads them in the first and the second half of its cycles.
TEST_F(L0cTest, FixpipeFollowsTheCubeBlockByBlock) {
  l0c.fill(use(true), 20, 40);
  EXPECT_EQ(l0c.ready_at(use(false), 25, 20), 30u);
  EXPECT_EQ(l0c.ready_at(use(false), 25, 10), 35u);
  EXPECT_EQ(l0c.ready_at(use(false), 41, 10), 41u);
}

TEST_F(L0cTest, TheCubeWaitsUntilFixpipeHasEmptiedItsBlocks) {
  l0c.fill(use(true), 20, 40);
  EXPECT_EQ(l0c.ready_at(use(true), 50, 10), models::kNever);
  l0c.empty(use(false), 60);
  EXPECT_EQ(events.back(), "0 cube wakes at 60");
  EXPECT_EQ(l0c.ready_at(use(true), 60, 10), 60u);
}

TEST_F(L0cTest, OneFixpipeTakesTheBlocks) {
  l0c.fill(use(true), 20, 40);
  l0c.take(use(false));
  EXPECT_EQ(l0c.ready_at(use(false), 50, 10), models::kNever);
}

struct UnitTest : Bench {
  models::Resolved resolve(const isa::Issued& inst) const {
    return {inst, inst.row->footprint(inst.args, inst.spr, chip.arch), costs, chip.arch};
  }
};

// Cost lines: a mad of one step 4 cycles, 21 more until its result is visible; a vadd 3, 10 more in an empty pipe.
TEST_F(UnitTest, CubeAndVectorUnitTakeTheirCostLines) {
  const Instructions program(chip, isa::CoreKind::joint,
                             "mad.f162f32 0, 0, 0, 16, 16, 16, 1\nvadd.f16 0, 0, 0, 1, 1, 1, 1, 8, 8, 8\n");
  models::L0cHandover l0c;
  models::CubeUnit cube(l0c);
  const models::Cycles mad = cube.begin(program[0], resolve(program[0]), {.t = 5});
  EXPECT_EQ(mad.occupancy, 4u);
  EXPECT_EQ(mad.latency, 25u);
  models::VectorUnit vector;
  EXPECT_EQ(vector.begin(program[1], resolve(program[1]), {.t = 5, .empty = true}).occupancy, 13u);
  EXPECT_EQ(vector.begin(program[1], resolve(program[1]), {.t = 5, .empty = false}).occupancy, 3u);
}

TEST_F(UnitTest, ACubeFillsItsBlocksFromItsBeginToItsResult) {
  chip = round_chip(isa::Arch::c220);
  const Instructions program(chip, isa::CoreKind::cube, "mad.f162f32 0, 0, 0, 16, 16, 16, 1, 3, 0, 0, 0\n");
  MockWake cube_pipe(env, events, "cube"), fixpipe(env, events, "FIXPIPE");
  models::L0cHandover l0c;
  l0c.connect(cube_pipe, fixpipe);
  models::CubeUnit cube(l0c);
  const models::Resolved work = resolve(program[0]);
  ASSERT_TRUE(work.handover.has_value());
  EXPECT_EQ(cube.ready_at(work, {.t = 7}), 7u);
  cube.began(work, 10, 30);
  EXPECT_EQ(events, (Events{"0 FIXPIPE wakes at 10"}));
  EXPECT_EQ(cube.ready_at(work, {.t = 40}), models::kNever);  // they are not empty yet
}

TEST_F(UnitTest, FixpipeEmptiesItsBlocksWhenItsDataHaveMoved) {
  chip = round_chip(isa::Arch::c220);
  const Instructions program(chip, isa::CoreKind::cube,
                             "mad.f162f32 0, 0, 0, 16, 16, 16, 1, 3, 0, 0, 0\n"
                             "copy_matrix_cc_to_cbuf 0, 0, 0, 16, 16, 16, 16, 3, 1, 0, 0, 0\n");
  MockWake cube_pipe(env, events, "cube"), fixpipe_pipe(env, events, "FIXPIPE");
  models::L0cHandover l0c;
  l0c.connect(cube_pipe, fixpipe_pipe);
  models::CubeUnit cube(l0c);
  models::Fixpipe fixpipe(models::CopyRule(std::make_unique<MockMemoryPort>(env, events), chip.arch), l0c);
  const models::Resolved mad = resolve(program[0]), copy = resolve(program[1]);
  ASSERT_TRUE(copy.handover.has_value());
  EXPECT_EQ(fixpipe.ready_at(copy, {.t = 5}), models::kNever);
  cube.began(mad, 10, 30);
  EXPECT_EQ(fixpipe.ready_at(copy, {.t = 30}), 30u);
  fixpipe.begin(program[1], copy, {.t = 31});
  EXPECT_EQ(fixpipe.ready_at(copy, {.t = 40}), models::kNever);  // they are taken
  EXPECT_EQ(cube.ready_at(mad, {.t = 40}), models::kNever);      // and not empty yet
  fixpipe.retired(copy, 50);
  EXPECT_EQ(events.back(), "0 cube wakes at 50");
  EXPECT_EQ(cube.ready_at(mad, {.t = 50}), 50u);
}

TEST_F(UnitTest, ACopyLeavesAfterTheStartAndTheRestIsThePorts) {
  const Instructions program(chip, isa::CoreKind::joint, "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 16, 0, 0\n");
  models::Mte2 mte2(models::CopyRule(std::make_unique<MockMemoryPort>(env, events), chip.arch));
  const models::Cycles c = mte2.begin(program[0], resolve(program[0]), {.t = 100});
  EXPECT_EQ(events, (Events{"0 copy from 120, body 16, delivery 0"}));  // 512 B at 32 B a cycle
  EXPECT_EQ(c.occupancy, 36u);
  EXPECT_NE(mte2.port(), nullptr);
}

TEST_F(UnitTest, ReadsEnterTheirBufferAtTheRateOfTheirDelivery) {
  std::get<config::laws::Port>(chip.core.line("move.gm_to_ub"_cost).law).delivery = config::Share(0.5);
  chip.core.line("move.gm_to_ub"_cost).minimum = 12;
  const Instructions program(chip, isa::CoreKind::joint,
                             "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 16, 0, 0\n"
                             "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 64, 0, 0\n");
  models::Mte2 mte2(models::CopyRule(std::make_unique<MockMemoryPort>(env, events), chip.arch));
  mte2.begin(program[0], resolve(program[0]), {.t = 0});
  mte2.begin(program[1], resolve(program[1]), {.t = 0});
  EXPECT_EQ(events, (Events{"0 copy from 20, body 16, delivery 12", "0 copy from 20, body 64, delivery 32"}));
}

TEST_F(UnitTest, WhatStaysInTheCoreDoesNotTouchThePort) {
  const Instructions program(chip, isa::CoreKind::joint, "copy_ubuf_to_cbuf 0, 0, 0, 1, 16, 0, 0\n");
  models::CopyRule rule(std::make_unique<MockMemoryPort>(env, events), chip.arch);
  EXPECT_EQ(rule.begin(program[0], resolve(program[0]), {.t = 0}).occupancy, 8u);
  EXPECT_TRUE(events.empty());
}

}  // namespace
}  // namespace vinci::test
