// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/path_check.h"
#include "tests/support/timed_run.h"

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
  EXPECT_THAT(explain::to_text(cold, 1e9), HasSubstr("cold start 5.000 us"));
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

}  // namespace
}  // namespace vinci::test
