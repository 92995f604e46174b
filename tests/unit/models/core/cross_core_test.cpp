// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Flags between two mocks of cores: they take 100 cycles, and one passes each 10. mutations.yaml lists the rules that
// these tests hold.
#include "models/core/cross_core.h"

#include "models/memory/timeline.h"
#include "tests/unit/models/core/bench.h"

namespace vinci::test {
namespace {

class MockParty final : public models::CrossCore::Party, private Mock {
 public:
  MockParty(const sim::Env& env, Events& events, u32 part) : Mock(env, events) { block.self = {.part = part}; }
  const models::Block* running() const override { return runs ? &block : nullptr; }
  const models::Block& latest() const override { return block; }
  void failed(u32 /*pc*/, const Error& /*e*/) const override { note("failed"); }
  void flag_arrived() override { note(fmt::format("part {}", block.self.part)); }
  trace::TrackId track() const override { return block.self.part; }

  models::Block block;
  bool runs = true;
};

struct CrossCoreTest : Bench {
  CrossCoreTest() {
    chip = round_chip(isa::Arch::c220);
    const auto shared = std::make_shared<isa::CrossCoreFlags>(isa::TaskShape{.vector_cores = 1});
    program.emplace(chip, isa::CoreKind::cube,
                    "ffts_cross_core_sync PIPE_MTE3, 0x321\n"     // to the AIVs of the block
                    "ffts_cross_core_sync PIPE_MTE3, 0x1321\n");  // to one of them, a pair
    for (MockParty* p : {&cube, &vector}) {
      p->block.cross = shared;
      p->block.code = &program->code();
    }
    net.connect({&cube, &vector});
  }
  void set(u64 cycle, usize instruction = 0) {
    script.at(cycle, [this, instruction] { net.set(cube, (*program)[instruction], 0, 0); });
  }

  std::optional<Instructions> program;
  MockParty cube{env, events, 0}, vector{env, events, 1};
  models::CrossCore net{env, 100, models::ticks_of(10e-9, 1e9)};
};

TEST_F(CrossCoreTest, AFlagArrivesWhenItsWayIsOver) {
  set(20);
  run();
  EXPECT_EQ(events, (Events{"120 part 1"}));
  EXPECT_TRUE(vector.block.cross->take({.part = 1}, 3));
  EXPECT_FALSE(vector.block.cross->take({.part = 1}, 3));
}

TEST_F(CrossCoreTest, FlagsPassOneAfterTheOther) {
  set(20);
  set(24);
  set(45);
  run();
  EXPECT_EQ(events, (Events{"120 part 1", "130 part 1", "145 part 1"}));
}

TEST_F(CrossCoreTest, PairsPassTheOthersBy) {
  set(20);
  set(24, 1);
  run();
  EXPECT_EQ(events, (Events{"120 part 1", "124 part 1"}));
}

TEST_F(CrossCoreTest, AFlagForABlockThatHasEndedWakesNoCore) {
  vector.runs = false;
  set(20);
  run();
  EXPECT_TRUE(events.empty());
}

TEST_F(CrossCoreTest, ASetThatOverflowsACounterIsBlamedOnItsSetter) {
  for (u64 i = 0; i < isa::kMaxCrossCoreCount; ++i)
    set(20 + 10 * i);
  set(500);
  EXPECT_NE(fault_of([&] { run(); }), "");
  EXPECT_EQ(events.back(), "600 failed");
}

}  // namespace
}  // namespace vinci::test
