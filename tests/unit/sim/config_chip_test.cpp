// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "isa/base/error.h"
#include "isa/table/table.h"
#include "sim/config/load.h"
#include "sim/config/ranges.h"

namespace vinci::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string error_of(const std::string& chip, const std::vector<std::string>& overrides = {}) {
  try {
    load_chip(chip, overrides);
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Input);
    return e.what();
  }
  return "accepted";
}

std::string error_of_text(std::string_view text) {
  try {
    parse_chip(text, "x.yaml");
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(BuiltinChips, AreTheseWithTheirPublishedPeaks) {
  std::vector<std::pair<std::string, int>> seen;
  for (const ChipSummary& c : builtin_chips())
    seen.emplace_back(c.name, static_cast<int>(c.peak_fp16_tflops * 10 + 0.5));
  using P = std::pair<std::string, int>;
  EXPECT_THAT(
      seen, ElementsAre(P{"ascend-310", 111}, P{"ascend-310p3", 695}, P{"ascend-910-30c", 2212}, P{"ascend-910a", 2621},
                        P{"ascend-910b1", 3637}, P{"ascend-910b2", 3539}, P{"ascend-910b3", 2949},
                        P{"ascend-910b4", 2703}, P{"tiny", 303}, P{"tiny-joint", 164}));
}

TEST(BuiltinChips, AreWhatTheirSheetsSay) {
  const ChipConfig b1 = load_chip("ascend-910b1");
  EXPECT_EQ(b1.arch, isa::Arch::c220);
  EXPECT_EQ(b1.vector_cores, 48u);
  EXPECT_EQ(b1.memory.l2.size, Bytes{192u << 20});
  EXPECT_EQ(b1.core.line("cube"_cost).tail, 22);
  const ChipConfig b3 = load_chip("ascend-910b3");
  EXPECT_EQ(b3.clock, Hertz{1.8e9});
  EXPECT_EQ(b3.core.line("cube"_cost), b1.core.line("cube"_cost));
  EXPECT_EQ(b3.core.dma_requests, 64u);
  EXPECT_EQ(b3.memory.hbm.size, b1.memory.hbm.size);
  const ChipConfig a = load_chip("ascend-910a");
  EXPECT_EQ(a.core.flags_per_pair, 4u);
  EXPECT_EQ(a.core.buffers.ub, Bytes{256 * 1024});
  EXPECT_FALSE(a.numerics.inf_nan);
  EXPECT_EQ(a.numerics.overflow_mode, isa::OverflowMode::saturation);
  EXPECT_EQ(load_chip("ascend-310").core.buffers.ub, Bytes{248 * 1024});
  EXPECT_EQ(load_chip("ascend-310p3").core.line("move.l0c_to_ub"_cost).bytes_per_cycle(), BytesPerCycle{512});
}

// One core, one set of costs: the chips of the family differ in clock, cores and what is around them.
TEST(BuiltinChips, OfTheFamilyOf910BHaveOneCore) {
  const ChipConfig b1 = load_chip("ascend-910b1");
  for (const std::string name : {"ascend-910b2", "ascend-910b3", "ascend-910b4"}) {
    ChipConfig chip = load_chip(name);
    EXPECT_NE(chip.core.line("move.gm_to_ub"_cost), b1.core.line("move.gm_to_ub"_cost)) << name;  // as measured
    chip.core.line("move.gm_to_ub"_cost) = b1.core.line("move.gm_to_ub"_cost);
    EXPECT_EQ(chip.core, b1.core) << name;
    EXPECT_EQ(chip.memory.noc, b1.memory.noc) << name;
    EXPECT_EQ(chip.vector_cores, 2 * chip.ai_cores) << name;
    EXPECT_NE(chip.product, b1.product) << name;
  }
  EXPECT_EQ(load_chip("ascend-910b2").ai_cores, 24u);
  const ChipConfig b4 = load_chip("ascend-910b4");
  EXPECT_EQ(b4.ai_cores, 20u);
  EXPECT_EQ(b4.memory.l2.size, Bytes{96u << 20});
  EXPECT_EQ(b4.memory.hbm.size, Bytes{u64{32} << 30});
  // What a profiler of the chip says of all it has: both directions of L2, and a channel as on the others.
  EXPECT_NEAR(b4.memory.l2.slices * (b4.memory.l2.slice_read + b4.memory.l2.slice_write) * b4.memory.clock, 4e12,
              0.5e12);
  EXPECT_EQ(b4.memory.hbm.bandwidth / b4.memory.hbm.channels, b1.memory.hbm.bandwidth / b1.memory.hbm.channels);
}

// Every path that an instruction can take has a rate: nothing is free by omission.
TEST(BuiltinChips, HaveACostForEveryInstructionTheyHave) {
  for (const ChipSummary& summary : builtin_chips()) {
    const ChipConfig chip = load_chip(summary.name);
    for (const isa::Row& row : isa::table()) {
      if (!isa::contains(row.archs, chip.arch) || row.role != isa::Role::work) continue;
      EXPECT_TRUE(isa::contains(isa::row_of(row.cost).archs, chip.arch)) << chip.name << ' ' << row.name;
      EXPECT_GT(chip.core.line(row.cost).body({.steps = 1000, .bytes = 1000, .bursts = 1000}), 0)
          << chip.name << ' ' << row.name;
    }
  }
}

TEST(BuiltinChips, AreTheSameWhenWrittenAndReadAgain) {
  for (const ChipSummary& summary : builtin_chips()) {
    const ChipConfig chip = load_chip(summary.name);
    const std::string text = write_chip(chip);
    EXPECT_EQ(parse_chip(text, "x.yaml"), chip) << text;
    EXPECT_EQ(write_chip(parse_chip(text, "x.yaml")), text);
  }
}

TEST(InCoreCycles, ConvertsWhatTheClockOfTheMemoryDrives) {
  ChipConfig chip;
  chip.clock = Hertz(1e9);
  chip.memory.clock = Hertz(2e9);
  chip.memory.l2.hit_latency = Cycles(100);
  chip.memory.l2.slice_read = BytesPerCycle(64);
  chip.memory.l2.atomic = Cycles(56);
  chip.memory.hbm.latency = Cycles(301);
  chip.core.line("move.gm_to_ub"_cost) = {
      .law = laws::Port{.bytes_per_cycle = BytesPerCycle(125), .delivery = Share(0.5)}, .startup = 20, .tail = 79};
  chip.core.line("move.ub_to_ub"_cost) = {.law = laws::Rate{.bytes_per_cycle = BytesPerCycle(256)}, .startup = 20};
  chip.core.line("cube"_cost) = {.law = laws::Rows{.per_step = 1}};
  const ChipConfig same = in_core_cycles(chip);
  EXPECT_EQ(same.memory.l2.hit_latency, 50u);
  EXPECT_EQ(same.memory.l2.slice_read, 128);
  EXPECT_EQ(same.memory.l2.atomic, 28u);
  EXPECT_EQ(same.memory.hbm.latency, 151u);
  EXPECT_EQ(same.core.line("move.gm_to_ub"_cost).startup, 10);
  EXPECT_EQ(same.core.line("move.gm_to_ub"_cost).bytes_per_cycle(), 250);
  EXPECT_EQ(std::get<laws::Port>(same.core.line("move.gm_to_ub"_cost).law).delivery, 0.5);
  EXPECT_EQ(same.core.line("move.gm_to_ub"_cost).tail, 39.5);
  EXPECT_EQ(same.core.line("move.ub_to_ub"_cost), chip.core.line("move.ub_to_ub"_cost));
  EXPECT_EQ(same.core.line("cube"_cost), chip.core.line("cube"_cost));
  EXPECT_EQ(in_core_cycles(same), same);
}

TEST(InCoreCycles, LeavesAChipOfOneClockAlone) {
  ChipConfig chip;
  chip.memory.clock = Hertz(0);
  EXPECT_EQ(in_core_cycles(chip), chip);
}

TEST(InCoreCycles, CountsRepeatsOfOtherLanes) {
  const ChipConfig chip = in_core_cycles(load_chip("tiny", {"core.rates.lanes=256"}));
  const ChipConfig plain = in_core_cycles(load_chip("tiny"));
  EXPECT_EQ(chip.core.line("vector.binary"_cost).per_step(), plain.core.line("vector.binary"_cost).per_step() / 2);
  EXPECT_EQ(chip.core.instructions.at("vexp.f16").per_step(), plain.core.instructions.at("vexp.f16").per_step() / 2);
  EXPECT_EQ(chip.core.line("vector.binary"_cost).head, plain.core.line("vector.binary"_cost).head);
  EXPECT_EQ(chip.core.line("move.gm_to_ub"_cost), plain.core.line("move.gm_to_ub"_cost));
  EXPECT_EQ(in_core_cycles(chip), chip);
}

TEST(Peak, FollowsFromTheChip) {
  const auto peak = [](const std::vector<std::string>& overrides) {
    return peak_operations(load_chip("ascend-910b1", overrides));
  };
  EXPECT_DOUBLE_EQ(peak({}), 24 * 8192 * 1.85e9);
  EXPECT_DOUBLE_EQ(peak({"core.cube.per_step=0.25"}), 4 * peak({}));
  EXPECT_DOUBLE_EQ(peak({"core.rates.m=32", "core.rates.n=32", "core.rates.k=32"}), 8 * peak({}));
  EXPECT_DOUBLE_EQ(peak({"core.units.cube=2"}), 2 * peak({}));
  const double vectors = peak_vector_operations(load_chip("ascend-910b1"));
  EXPECT_DOUBLE_EQ(peak_vector_operations(load_chip("ascend-910b1", {"core.units.vector=3"})), 3 * vectors);
  EXPECT_DOUBLE_EQ(vectors, 48 * 128 * 1.85e9);
  EXPECT_DOUBLE_EQ(peak_vector_operations(load_chip("ascend-910b1", {"core.rates.lanes=64"})), vectors / 2);
}

// Each assumed cost of a built-in chip has a range of its own with its reason.
TEST(Ranges, OfBuiltinChipsHaveReasons) {
  for (const ChipSummary& summary : builtin_chips()) {
    const ChipConfig chip = load_chip(summary.name);
    const std::vector<AssumedCost> costs = assumed_costs(chip);
    EXPECT_GT(costs.size(), 8u) << chip.name;
    for (const AssumedCost& cost : costs) {
      EXPECT_TRUE(chip.ranges.contains(cost.key)) << chip.name << ' ' << cost.key;
      EXPECT_LT(cost.range.low, cost.range.high) << chip.name << ' ' << cost.key;
      EXPECT_FALSE(scaled(chip, cost.key, 3) == chip) << chip.name << ' ' << cost.key;
    }
  }
}

TEST(Ranges, ScaleTimesAndDivideRates) {
  const ChipConfig chip = parse_chip(R"(
extends: ascend-910b1
core:
  queues: {from: assumed, v: 32}
  move:
    fill_l1: {from: assumed, law: port, startup: 2, bytes_per_cycle: 256B/cycle, delivery: 0.5}
  vector:
    reduce: {from: document somewhere (rate; the rest assumed), head: 14, per_step: 7, minimum: 7, tail: 20}
ranges:
  core.move.fill_l1.startup: {low: 1, high: 3, reason: of its own}
)",
                                     "chip.yaml");
  EXPECT_EQ(scaled(chip, "core.queues", 2).core.queues[isa::PipeId::V], 16u);
  EXPECT_EQ(scaled(chip, "core.scalar.load", 0.5).core.line("scalar.load"_cost).minimum, 5);
  const CostLine fill = scaled(chip, "core.move.fill_l1", 2).core.line("move.fill_l1"_cost);
  EXPECT_EQ(fill.bytes_per_cycle(), 128);
  EXPECT_EQ(fill.startup, 2);  // it has a range of its own
  EXPECT_EQ(std::get<laws::Port>(fill.law).delivery, 0.5);
  EXPECT_EQ(scaled(chip, "core.move.fill_l1.startup", 2).core.line("move.fill_l1"_cost).startup, 4);
  const CostLine reduce = scaled(chip, "core.vector.reduce", 2).core.line("vector.reduce"_cost);
  EXPECT_EQ(reduce.per_step(), 7);  // documented
  EXPECT_EQ(reduce.tail, 40);
  EXPECT_EQ(scaled(chip, "memory.noc.latency", 2).memory.noc.latency, 2 * chip.memory.noc.latency);
  EXPECT_EQ(scaled(chip, "memory.noc.latency", 2).memory.noc.port_read, chip.memory.noc.port_read);
  const auto costs = assumed_costs(chip);
  const auto key = [&](std::string_view wanted) { return std::ranges::count(costs, wanted, &AssumedCost::key); };
  EXPECT_EQ(key("core.move.fill_l1"), 1);
  EXPECT_EQ(key("core.move.fill_l1.startup"), 1);
  EXPECT_EQ(key("memory.noc.latency"), 1);
  EXPECT_EQ(key("memory.noc"), 0);
  EXPECT_EQ(key("core.cube"), 0);  // measured
}

// A measured group has no range, whatever a parent says.
TEST(Ranges, EndWhereAGroupIsMeasured) {
  const auto costs =
      assumed_costs(parse_chip("extends: ascend-910b1\ncore: {queues: {from: measured here, v: 8}}\n", "x.yaml"));
  EXPECT_EQ(std::ranges::count(costs, "core.queues", &AssumedCost::key), 0);
}

TEST(Ranges, OfNoTimeAreRefused) {
  EXPECT_EQ(
      error_of("tiny", {"ranges.core.queue.high=3"}),
      "--set ranges.core.queue.high=3: chip.ranges.core.queue: there is no such key; did you mean 'core.queues'?");
  EXPECT_EQ(error_of("tiny", {"ranges.core.buffers.l1.high=3"}),
            "--set ranges.core.buffers.l1.high=3: chip.ranges.core.buffers.l1: it is no time and no rate, so it has no "
            "range");
  EXPECT_EQ(load_chip("tiny", {"ranges.core.queues.high=8"}).ranges.at("core.queues").high, 8);
}

// The position is that of the value that was changed, and the message says what would do.
TEST(Errors, NameNearestValuesInTheFileOfTheUser) {
  const auto error = [](std::string_view text) -> std::string {
    try {
      parse_chip(text, "mine.yaml");
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(
      error("extends: ascend-910b1\nai_cores: 40\n"),
      "mine.yaml:2:11: chip.vector_cores = 48, but an AI core has a whole number of vector cores: write a multiple "
      "of ai_cores = 40, such as 40 and 80");
  EXPECT_EQ(
      error("extends: ascend-910b1\nmemory: {l2: {size: 8MiB}}\n"),
      "mine.yaml:2:21: chip.memory.l2.size = 8MiB is not a multiple of line * ways * slices = 192KiB; the nearest "
      "are 8064KiB and 8256KiB, and memory.l2.slices: 16 takes 8MiB");
  EXPECT_EQ(error("extends: ascend-910b1\nmemory: {hbm: {stacks: 3}}\n"),
            "mine.yaml:2:24: chip.memory.hbm.channels = 32 is not a multiple of stacks = 3; the nearest are 30 and 33");
}

TEST(CostLine, OfAnInstructionIsTheMostSpecific) {
  const CoreConfig core = load_chip("ascend-910b1").core;
  EXPECT_EQ(cost_line(core, "vector.unary"_cost, "vexp", "f16").per_step(), 3.9);
  EXPECT_EQ(cost_line(core, "vector.unary"_cost, "vexp", "f32").per_step(), 2);
  EXPECT_EQ(cost_line(core, "vector.binary"_cost, "vmul", "s32").tail, 15);
  EXPECT_EQ(&cost_line(core, "vector.unary"_cost, "vrelu", "f16"), &core.line("vector.unary"_cost));
  EXPECT_EQ(&cost_line(core, "move.l0c_to_gm_nz2nd"_cost, "copy_matrix_cc_to_gm", ""),
            &core.line("move.l0c_to_gm_nz2nd"_cost));
  EXPECT_EQ(&cost_line(core, "scalar.sync"_cost, "set_flag", ""), &core.line("scalar.sync"_cost));
}

// A pipe of a core, other than the scalar unit, has a queue; its key sets that depth and no other.
TEST(QueueDepths, EachPipeHasAKey) {
  const ChipConfig before = load_chip("tiny");
  for (usize p = 1; p < isa::kPipeCount; ++p) {
    const isa::PipeRow& pipe = isa::kPipes[p];
    EXPECT_EQ(pipe.queue.empty(), pipe.cores == 0) << p;
    if (pipe.queue.empty()) continue;
    config::QueueDepths expected = before.core.queues;
    expected.depth[p] = 7;
    const ChipConfig chip = load_chip("tiny", {fmt::format("core.queues.{}=7", pipe.queue)});
    EXPECT_EQ(chip.core.queues.depth, expected.depth) << pipe.queue;
  }
}

TEST(CostLine, HasTheKeysOfItsLaw) {
  const ChipConfig chip = load_chip(
      "tiny", {"core.vector.unary.law=fetches", "core.vector.unary.per_fetch=9", "core.instructions.vabs.law=parts"});
  const auto& fetches = std::get<laws::Fetches>(chip.core.line("vector.unary"_cost).law);
  EXPECT_EQ(fetches.per_fetch, 9);
  EXPECT_EQ(fetches.per_step, 0);  // another law begins at its defaults
  EXPECT_TRUE(std::holds_alternative<laws::Parts>(chip.core.instructions.at("vabs").law));
  // A line of an instruction has the law of its class where it names none.
  EXPECT_TRUE(std::holds_alternative<laws::Repeats>(
      load_chip("tiny", {"core.instructions.vabs.per_step=3"}).core.instructions.at("vabs").law));
  EXPECT_EQ(
      error_of("tiny", {"core.vector.unary.per_fetch=9"}),
      "--set core.vector.unary.per_fetch=9: chip.core.vector.unary has no key 'per_fetch' by the law repeats; it is "
      "one of fetches");
  EXPECT_THAT(law_names(), IsSupersetOf({"fixed", "rows", "repeats", "port"}));
  EXPECT_EQ(error_of("tiny", {"core.cube.law=row"}),
            fmt::format("--set core.cube.law=row: chip.core.cube.law: cannot read 'row'; write one of {}; did you mean "
                        "'rows'?",
                        fmt::join(law_names(), ", ")));
}

// The law may follow its keys.
TEST(CostLine, HasItsLawWhereverTheFileNamesIt) {
  const ChipConfig chip =
      parse_chip("extends: tiny\ncore: {cube: {per_fetch: 4, fetch: 2, law: fetches, per_step: 1}}\n", "x.yaml");
  const auto& law = std::get<laws::Fetches>(chip.core.line("cube"_cost).law);
  EXPECT_EQ(law.body({.steps = 5}), 5 + 2 * 4);
}

TEST(Overrides, ApplyInOrderAfterTheFile) {
  const ChipConfig chip = load_chip("tiny", {"core.cube.startup=30", "clock=1GHz", "core.cube.startup=31",
                                             "core.instructions.vexp.f16.per_step=7", "name=tiny2"});
  EXPECT_EQ(chip.core.line("cube"_cost).startup, 31);
  EXPECT_EQ(chip.clock, Hertz{1e9});
  EXPECT_EQ(chip.core.instructions.at("vexp.f16").per_step(), 7);
  EXPECT_EQ(chip.core.instructions.at("vexp.f16").tail, 18);
  EXPECT_EQ(chip.name, "tiny2");
}

TEST(Overrides, AreNamedInMessages) {
  EXPECT_EQ(error_of("tiny", {"core.cube.statup=30", "ai_cores=65"}),
            "--set core.cube.statup=30: chip.core.cube has no key 'statup'; did you mean 'startup'?\n"
            "--set ai_cores=65: chip.ai_cores = 65 is not in [1, 64]");
  EXPECT_EQ(error_of("tiny", {"clock"}), "--set clock: write a dotted key and a value, such as core.cube.startup=30");
  EXPECT_EQ(error_of("tiny", {"=3"}), "--set =3: write a dotted key and a value, such as core.cube.startup=30");
  EXPECT_EQ(error_of("tiny", {"extends=tiny"}), "--set extends=tiny: chip has no key 'extends'");
  EXPECT_EQ(error_of("tiny", {"vector_cores=0"}),
            "--set vector_cores=0: chip.vector_cores = 0, but c220 has vector cores");
  EXPECT_EQ(error_of("tiny", {"clock=2"}),
            "--set clock=2: chip.clock: cannot read '2'; write a frequency in Hz, kHz, MHz, GHz");
}

TEST(LoadChip, UnknownNamesAndFiles) {
  EXPECT_EQ(error_of("ascend-910b5"),
            "there is no built-in chip 'ascend-910b5' (there are ascend-310, ascend-310p3, ascend-910-30c, "
            "ascend-910a, ascend-910b1, ascend-910b2, ascend-910b3, ascend-910b4, tiny, tiny-joint; a chip of your own "
            "needs its path, with .yaml); did you mean 'ascend-910b1'?");
  EXPECT_THAT(error_of("davinci-c220"), HasSubstr("there is no built-in chip 'davinci-c220'"));
  EXPECT_THAT(error_of("no/such.yaml"), HasSubstr("no/such.yaml"));
}

TEST(Extends, LooksBesideTheFileFirst) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "vinci_extends";
  fs::create_directories(folder);
  std::ofstream(folder / "tiny.yaml") << "extends: ascend-310\nclock: 100MHz\n";
  std::ofstream(folder / "mine.yaml") << "extends: tiny\nai_cores: 3\n";
  const ChipConfig chip = load_chip((folder / "mine.yaml").string());
  fs::remove_all(folder);
  EXPECT_EQ(chip.name, "mine");
  EXPECT_EQ(chip.arch, isa::Arch::m100);
  EXPECT_EQ(chip.clock, Hertz{100e6});
  EXPECT_EQ(chip.ai_cores, 3u);
  EXPECT_EQ(chip.product, "based on tiny");
}

// A chip of one's own is not what the vendor sells, unless it says so.
TEST(Extends, DoesNotInheritTheProduct) {
  EXPECT_EQ(parse_chip("extends: ascend-910b1\nai_cores: 3", "x.yaml").product, "based on ascend-910b1");
  EXPECT_EQ(parse_chip("extends: ascend-910b1\nproduct: mine", "x.yaml").product, "mine");
  EXPECT_EQ(load_chip("ascend-910b1", {"core.cube.startup=3"}).product, load_chip("ascend-910b1").product);
}

TEST(From, AChangedNumberIsAssumedUnlessTheSamePlaceSaysMore) {
  const ChipConfig changed = parse_chip("extends: tiny\nname: x\ncore: {cube: {startup: 3}}", "x.yaml");
  EXPECT_EQ(changed.core.line("cube"_cost).from, "assumed");
  EXPECT_EQ(changed.from, load_chip("tiny").from);
  const ChipConfig stated = parse_chip("extends: tiny\ncore: {cube: {startup: 3, from: measured my board}}", "x.yaml");
  EXPECT_EQ(stated.core.line("cube"_cost).from, "measured my board");
  EXPECT_EQ(load_chip("tiny", {"core.cube.startup=3"}).core.line("cube"_cost).from, "assumed");
}

TEST(From, AssumptionsAreListed) {
  const Assumptions b1 = assumptions(load_chip("ascend-910b1"));
  EXPECT_THAT(b1.assumed,
              ElementsAre("core.queues", "core.scalar.alu", "core.scalar.load", "core.scalar.store",
                          "core.scalar.cross_core", "core.scalar.code", "core.move.l0c_to_l1", "core.move.l1_to_gm",
                          "core.move.fill_l0", "core.move.fill_l1", "aicpu", "sdma", "host"));
  const usize total = b1.total;
  const Assumptions more = assumptions(load_chip("ascend-910b1", {"clock=2GHz", "core.cube.tail=3"}));
  EXPECT_EQ(more.total, total);
  EXPECT_THAT(more.assumed, Contains("core.cube"));
  EXPECT_THAT(more.assumed, Contains("chip"));
  // The split core has no way from L0C to UB.
  EXPECT_THAT(b1.assumed, Not(Contains("core.move.l0c_to_ub")));
}

TEST(Manual, NamesEveryKey) {
  const std::string text = manual();
  for (const char* key : {"core.buffers.l1\n", "memory.hbm.bandwidth\n", "core.instructions.<instruction>\n",
                          "<line>.per_burst\n", "host.copy_latency\n"})
    EXPECT_THAT(text, HasSubstr(key));
  EXPECT_THAT(text, HasSubstr("a whole number, default 24, in [1, 64]"));
}

TEST(ParseChip, BoundsItsInput) {
  EXPECT_EQ(error_of_text(std::string((1u << 20) + 1, '#')),
            "x.yaml: 1048577 bytes are more than a chip file may have (1048576)");
  EXPECT_THAT(error_of_text(std::string(100000, '[')), HasSubstr("more than 64 levels of nesting"));
  // Aliases of aliases: ten to the ninth values if they were unfolded.
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string one = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k)
      bomb += (k == 0 ? "" : ", ") + one;
    bomb += "]\n";
  }
  EXPECT_THAT(error_of_text(bomb + "core: *a9\n"), HasSubstr("x.yaml:1:1: chip has no key 'a0'"));
  EXPECT_EQ(error_of_text("name: \"a\\tb\""), "x.yaml:1:7: chip.name: 'a\\x09b' has control characters");
}

}  // namespace
}  // namespace vinci::config
