// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/path_check.h"
#include "tests/support/timed_run.h"
#include "tools/explain/range.h"

// Numbers follow from the cost lines of round_chip(): issue 1, a load of 512 B 36 and 300 more until HBM has answered,
// vadd 3 (+ 10 if the pipe was empty, + 14 until its result is visible).
namespace vinci::test {
namespace {

using explain::KernelExplanation;
using models::CostKind;
using testing::HasSubstr;

const std::string kLoad = "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 16, 0, 0\n";
const std::string kAdd =
    "set_flag PIPE_MTE2, PIPE_V, 0\n"
    "wait_flag PIPE_MTE2, PIPE_V, 0\n"
    "vadd.f16 0, 0, 0, 1, 1, 1, 1, 8, 8, 8\n";
const std::string kStore =
    "set_flag PIPE_V, PIPE_MTE3, 0\n"
    "wait_flag PIPE_V, PIPE_MTE3, 0\n"
    "copy_ubuf_to_gm 0x100001000, 0, 0, 1, 16, 0, 0\n";
const std::string kLoadAndAdd = kLoad + kAdd + "end\n", kChain = kLoad + kAdd + kStore + "end\n";

explain::Explanation explained(const std::string& text, const config::ChipConfig& chip, u32 blocks = 1) {
  const task::TaskStream stream = kernel_stream(chip, text, {.blocks = blocks});
  return explain::explain(chip, stream, {.limits = 20});
}

u64 cycles(const KernelExplanation& k, CostKind kind) { return k.slowest_by_kind[static_cast<usize>(kind)]; }

const explain::Limit& limit(const KernelExplanation& k, CostKind kind) {
  const auto it = std::ranges::find(k.limits, kind, &explain::Limit::kind);
  EXPECT_NE(it, k.limits.end());
  return *it;
}

TEST(Explain, AChainTakesTheSumOfItsParts) {
  const config::ChipConfig chip = round_chip(isa::Arch::c100);
  const auto why = explained(kLoadAndAdd, chip);
  const KernelExplanation& k = why.kernels.at(0);
  u64 copy = cycles(k, CostKind::mte2);
  for (const CostKind kind :
       {CostKind::l2, CostKind::l2_busy, CostKind::hbm_latency, CostKind::hbm_busy, CostKind::port})
    copy += cycles(k, kind);
  EXPECT_EQ(copy, run_program(chip, kLoad + "end\n").result.cycles);
  EXPECT_EQ(cycles(k, CostKind::hbm_latency), 186u);  // of 200; the request left 14 cycles before the port was free
  EXPECT_EQ(cycles(k, CostKind::vector), 27u);
  EXPECT_EQ(cycles(k, CostKind::other), 0u);
  // In a chain nothing is hidden: without a cost the kernel takes so much less, but for the cycle of an instruction.
  EXPECT_EQ(limit(k, CostKind::vector).without, k.slowest - 27 + 1);
  EXPECT_EQ(limit(k, CostKind::hbm_latency).without, k.slowest - 200);
}

TEST(Explain, HiddenWorkIsNotOnThePath) {
  const config::ChipConfig chip = round_chip(isa::Arch::c100);
  // The vector unit works while the copy is under way.
  std::string text = "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 512, 0, 0\n";
  for (int i = 0; i < 10; ++i)
    text += "vadd.f16 0x8000, 0x8000, 0x8000, 1, 1, 1, 1, 8, 8, 8\n";
  const auto why = explained(text + "end\n", chip);
  EXPECT_EQ(cycles(why.kernels.at(0), CostKind::vector), 0u);
  EXPECT_GT(cycles(why.kernels.at(0), CostKind::mte2), 0u);
}

TEST(Explain, LinesAndChainNameInstructions) {
  const auto why = explained(kChain, round_chip(isa::Arch::c100));
  const KernelExplanation& k = why.kernels.at(0);
  EXPECT_EQ(k.lines.at(0).place, "k.s:1");
  EXPECT_EQ(k.lines.at(0).what, "copy_gm_to_ubuf");
  u64 at = 0;
  for (const explain::ChainStep& s : k.chain) {
    EXPECT_EQ(s.begin, at);
    at = s.end;
  }
  EXPECT_EQ(at, k.slowest);
}

TEST(Explain, BlocksOfOneCoreFollowEachOther) {
  const config::ChipConfig chip = round_chip(isa::Arch::c100);
  const auto one = explained(kChain, chip), three = explained(kChain, chip, 3);
  // The third block is the last, and the path goes through all of them.
  EXPECT_EQ(cycles(three.kernels[0], CostKind::vector), 3 * cycles(one.kernels[0], CostKind::vector));
}

TEST(Explain, ColdStartIsARowOfItsOwn) {
  config::ChipConfig chip = round_chip(isa::Arch::c100);
  const auto warm = explained(kChain, chip);
  chip.scheduler.first_start = config::Seconds(5e-6);
  const auto cold = explained(kChain, chip);
  EXPECT_EQ(cold.kernels[0].cold, 5000u);
  EXPECT_EQ(cold.kernels[0].slowest - cold.kernels[0].cold, warm.kernels[0].slowest);
  EXPECT_EQ(limit(cold.kernels[0], CostKind::cold_start).without, warm.kernels[0].slowest);
  EXPECT_THAT(explain::to_text(cold, 1e9), HasSubstr("a first launch takes 5.000 us more, its cold start"));
}

TEST(Explain, JsonHasTheSharesOfThePath) {
  const auto why = explained(kChain, round_chip(isa::Arch::c100));
  const auto json = nlohmann::json::parse(explain::to_json(why, 1e9));
  double sum = 0;
  for (const auto& part : json.at("kernels").at(0).at("path"))
    sum += part.at("share").get<double>();
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(json.at("kernels").at(0).at("slowest").at("cycles"), why.kernels[0].slowest);
}

TEST(Explain, KernelsWithOneNameAreAddedUp) {
  const config::ChipConfig chip = round_chip(isa::Arch::c100);
  task::TaskStream stream = kernel_stream(chip, kChain);
  stream.streams[0].tasks.push_back(stream.streams[0].tasks[0]);
  const auto why = explain::explain(chip, stream, {});
  ASSERT_EQ(why.kernels.size(), 1u);
  EXPECT_EQ(why.kernels[0].launches, 2u);
  EXPECT_LT(why.kernels[0].cycles, 2 * why.kernels[0].slowest);  // the second hits in L2
}

// Costs of round_chip() are all assumed, so each is halved and doubled where its range says nothing else.
class Range : public testing::Test {
 protected:
  explain::TimeRange of(const std::string& text, unsigned jobs = 1) const {
    return explain::time_range(chip_, kernel_stream(chip_, text), {}, jobs);
  }
  static const explain::Contribution& part(const explain::TimeRange& range, const std::string& key) {
    const auto it = std::ranges::find_if(range.contributions, [&](const auto& c) { return c.cost.key == key; });
    EXPECT_NE(it, range.contributions.end()) << key;
    return *it;
  }
  config::ChipConfig chip_ = round_chip(isa::Arch::c100);
};

TEST_F(Range, OfAChainIsThatOfItsParts) {
  const explain::TimeRange range = of(kLoadAndAdd);
  const auto& add = part(range, "core.vector.binary");  // head 10, step 3, tail 14
  EXPECT_EQ(add.high.kernels, range.as_is.kernels + 27);
  EXPECT_EQ(add.low.kernels, range.as_is.kernels - 13);  // 5, 2 of 1.5, 7
  EXPECT_GE(range.high.kernels, add.high.kernels);
  EXPECT_LE(range.low.kernels, add.low.kernels);
  EXPECT_THAT(range.without_effect, testing::Contains("core.cube"));  // it has no mad
  u64 last = ~u64{0};
  for (const explain::Contribution& c : range.contributions) {
    EXPECT_LE(c.high.kernels - c.low.kernels, last);
    last = c.high.kernels - c.low.kernels;
  }
}

TEST_F(Range, TakesFactorsOfTheChip) {
  chip_.ranges["core.vector.binary"] = {.low = 1, .high = 3, .reason = "a test"};
  const explain::TimeRange range = of(kLoadAndAdd);
  const auto& add = part(range, "core.vector.binary");
  EXPECT_EQ(add.low, range.as_is);
  EXPECT_EQ(add.high.kernels, range.as_is.kernels + 54);
  EXPECT_THAT(explain::range_text(range, 1e9), HasSubstr("a test"));
  const auto json = nlohmann::json::parse(explain::range_json(range, 1e9));
  EXPECT_EQ(json.at("as_is").at("kernel_cycles"), range.as_is.kernels);
}

TEST_F(Range, MultipliesScalarCodeOfRecordings) {
  chip_.ranges["core.scalar.api"] = {.low = 0.5, .high = 3, .reason = "a test"};
  const explain::TimeRange range = of("nop 100, 40\nend\n");
  EXPECT_EQ(part(range, "core.scalar.api").high.kernels, range.as_is.kernels + 120);
  EXPECT_EQ(part(range, "core.scalar.api").low.kernels, range.as_is.kernels - 30);
  EXPECT_EQ(part(range, "core.scalar.code").high.kernels, range.as_is.kernels + 40);
  EXPECT_GE(range.high.kernels, range.as_is.kernels + 160);
}

TEST_F(Range, IsThatOfSeveralProcesses) {
  const explain::TimeRange one = of(kChain), two = of(kChain, 2);
  EXPECT_EQ(explain::range_json(one, 1e9), explain::range_json(two, 1e9));
}

TEST_F(Range, LeavesColdStartsOut) {
  const u64 warm = of(kChain).as_is.kernels;
  chip_.scheduler.first_start = config::Seconds(5e-6);
  EXPECT_EQ(of(kChain).as_is.kernels, warm);
}

}  // namespace
}  // namespace vinci::test
