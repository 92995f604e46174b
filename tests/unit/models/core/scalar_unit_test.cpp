// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The scalar unit between mocks: pipes that take what they are given, and a memory that answers after 50 cycles. It
// issues an instruction a cycle; a flag is seen 3 cycles after it goes up. mutations.yaml lists the rules that these
// tests hold.
#include "models/core/scalar_unit.h"

#include "tests/unit/models/core/bench.h"

namespace vinci::test {
namespace {

const std::string kMad = "mad.f162f32 0, 0, 0, 16, 16, 16, 1\n";
const std::string kVadd = "vadd.f16 0, 0, 0, 1, 1, 1, 1, 8, 8, 8\n";

struct ScalarUnitTest : Bench, models::BlockPort {
  void block_done() override { events.push_back(fmt::format("{} block done", env.agenda.now())); }
  void start(const std::string& text) {
    program.emplace(isa::assemble(text + "end", "test.s", chip.arch));
    code.emplace(*program);
    spec = models::core_spec(chip, isa::CoreKind::joint);
    table.emplace(costs, chip.arch);
    gm.allocate(4096, "gm");
    cross = std::make_shared<isa::CrossCoreFlags>(isa::TaskShape{.vector_cores = 1});
    journal.begin({.code = &*code, .launch = {}, .cross = cross, .self = {.part = 1}});
    unit.emplace(models::ScalarUnit::Setup{
        .env = env,
        .ports = {.flags = flags, .executor = executor, .memory = memory, .journal = journal, .block = *this},
        .chip = chip,
        .costs = costs,
        .table = *table,
        .spec = spec,
        .gm = gm,
        .buffers = nullptr,
        .core_id = 0,
        .stats = stats});
    unit->connect(isa::PipeId::M, cube);
    unit->connect(isa::PipeId::V, vector);
    for (usize p = 1; p < isa::kPipeCount; ++p)
      flags.connect(p, pipe);
    flags.connect(isa::index(isa::PipeId::S), *unit);
    unit->start(*code, journal.block().launch, 0, prepare);
  }
  u64 stat(models::Doing what) {
    unit->settle(env.agenda.now());
    return unit->occupation().cycles(what);
  }

  u64 prepare = 0;
  std::optional<isa::Program> program;
  std::optional<isa::Code> code;
  isa::CoreSpec spec;
  isa::GlobalMemory gm;
  std::optional<models::ResolvedTable> table;
  std::shared_ptr<isa::CrossCoreFlags> cross;
  MockPipe cube{env, events}, vector{env, events};
  MockFlagUser pipe{env, events, "pipe"};
  MockRequestPort memory{env, events};
  std::optional<models::ScalarUnit> unit;
};

TEST_F(ScalarUnitTest, IssuesAnInstructionACycle) {
  start(kMad + kVadd + kMad);
  run();
  EXPECT_EQ(seen("mad at"), (Events{"0 mad at 0", "0 mad at 2"}));
  EXPECT_EQ(seen("vadd"), (Events{"0 vadd at 1"}));
}

TEST_F(ScalarUnitTest, ScalarCodeTakesItsTime) {
  start("mov X1, 1\nmov X2, 2\n" + kMad);
  run();
  EXPECT_EQ(seen("mad"), (Events{"0 mad at 2"}));
}

TEST_F(ScalarUnitTest, BeginsWhenTheBlockIsPrepared) {
  prepare = 30;
  start(kMad);
  run();
  EXPECT_EQ(seen("mad"), (Events{"30 mad at 30"}));
}

TEST_F(ScalarUnitTest, WaitsForRoomInAFullQueue) {
  cube.left = 1;
  start(kMad + kMad + kVadd);
  script.at(20, [&] { unit->queue_has_room(); });  // of another pipe
  script.at(40, [&] {
    cube.left = 1;
    unit->queue_has_room();
  });
  run();
  EXPECT_EQ(seen(" at "), (Events{"0 mad at 0", "40 mad at 40", "41 vadd at 41"}));
  EXPECT_EQ(stat(models::Doing::queue_full), 39u);
}

TEST_F(ScalarUnitTest, ABarrierOfAllWaitsForAllPipes) {
  vector.is_drained = false;
  start("pipe_barrier PIPE_ALL\n" + kMad);
  script.at(20, [&] { unit->pipe_drained(); });  // another one has
  script.at(40, [&] {
    vector.is_drained = true;
    unit->pipe_drained();
  });
  run();
  EXPECT_EQ(seen("mad"), (Events{"41 mad at 41"}));
}

TEST_F(ScalarUnitTest, TheBlockEndsWhenAllPipesHaveDrained) {
  cube.is_drained = false;
  start("mov X1, 1\n");
  script.at(40, [&] {
    cube.is_drained = true;
    unit->pipe_drained();
  });
  run();
  EXPECT_EQ(events.back(), "40 block done");
  EXPECT_GT(stat(models::Doing::drain), 30u);
}

TEST_F(ScalarUnitTest, WaitsUntilItsFlagIsVisible) {
  start("wait_flag PIPE_M, PIPE_S, 0\n" + kMad);
  script.at(10, [&] { flags.raise(10, {.src = isa::PipeId::M, .dst = isa::PipeId::S, .event = 0}); });
  script.at(12, [&] { unit->wake(); });
  run();
  EXPECT_EQ(seen("mad"), (Events{"14 mad at 14"}));
  EXPECT_EQ(stat(models::Doing::wait_flag), 13u);
}

TEST_F(ScalarUnitTest, TakesItsFlagDown) {
  start("wait_flag PIPE_M, PIPE_S, 0\nwait_flag PIPE_M, PIPE_S, 0\n" + kMad);
  const models::Flag flag{.src = isa::PipeId::M, .dst = isa::PipeId::S, .event = 0};
  script.at(10, [&] { flags.raise(10, flag); });
  script.at(40, [&] { flags.raise(40, flag); });
  run();
  EXPECT_EQ(seen("mad"), (Events{"44 mad at 44"}));
}

TEST_F(ScalarUnitTest, RaisesFlagsForPipes) {
  start("mov X1, 1\nset_flag PIPE_S, PIPE_M, 0\n");
  run();
  EXPECT_EQ(seen("sees"), (Events{"1 pipe sees the flag at 4"}));
}

TEST_F(ScalarUnitTest, OneThatWaitsForOtherCoresGoesOnWhenAFlagHasArrived) {
  chip = round_chip(isa::Arch::c220);
  start("set_ffts_base_addr 1\nwait_flag_dev 3\n" + kVadd);
  script.at(20, [&] { unit->wake(); });
  script.at(40, [&] {
    for (const isa::TaskCore& to : cross->set({.part = 0}, {.mode = 2, .flag = 3}))
      cross->increment(to, 3);
    unit->wake();
  });
  run();
  EXPECT_EQ(seen("vadd"), (Events{"41 vadd at 41"}));
}

TEST_F(ScalarUnitTest, ALoadFromGlobalMemoryWaitsForItsAnswer) {
  start("ld_dev.b32 X1, 0x100000000\n" + kMad);
  run();
  EXPECT_EQ(seen("read"), (Events{"0 read of 4 B"}));
  EXPECT_EQ(seen("mad"), (Events{"0 mad at 60"}));  // 10 of its own; it runs ahead of the clock
}

TEST_F(ScalarUnitTest, AStoreDoesNot) {
  start("st_dev.b32 7, 0x100000000\n" + kMad);
  run();
  EXPECT_EQ(seen("write"), (Events{"0 write of 4 B"}));
  EXPECT_EQ(seen("mad"), (Events{"0 mad at 4"}));
}

TEST_F(ScalarUnitTest, DataOfRetiredInstructionsMoveBeforeItLooksAtMemory) {
  start("ld_dev.b32 X1, 0x100000000\n");
  run();
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(events[0], "0 finish");
  EXPECT_EQ(events[1], "0 ld_dev");
}

TEST_F(ScalarUnitTest, OnlyInstructionsThatReadResultsAreGivenThem) {
  start("mov X1, 1\nget_status X2\n");
  run();
  EXPECT_EQ(seen("of results"), (Events{"1 get_status of results"}));
}

TEST_F(ScalarUnitTest, AVectorInstructionWhoseMaskWasSetBeginsAlone) {
  chip.core.mask_waits = true;
  start("set_vector_mask 0, 128\n" + kVadd + kVadd + "set_vector_mask 0, 128\n" + kMad + kVadd);
  run();
  EXPECT_EQ(seen("vadd"), (Events{"0 vadd alone at 1", "0 vadd at 2", "0 vadd alone at 5"}));
}

}  // namespace
}  // namespace vinci::test
