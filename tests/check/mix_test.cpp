// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/check/mix_pipeline.h"

// MIX tasks: what cross-core flags order between the cores of a block.
namespace vinci::test {
namespace {

using isa::check::FaultId;

constexpr Mode kModes[] = {Mode::functional, Mode::full, Mode::timing};

TEST(Mix, Mode2IsClean) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20; ++i) {
    const MixPipeline x = MixPipeline::random(random);
    const Lines program = x.program();
    for (const Mode mode : kModes)
      ASSERT_EQ(check(x.chip(), x.stream(program), mode).text(), "") << program.text();
  }
}

// Each AIV of a block writes its half and, behind a barrier of both (mode 1), reads the one of the other.
constexpr std::string_view kExchange =
    "set_ffts_base_addr 1\n"
    "ld_arg X0, 0\n"
    "get_block_idx X1\n"
    "shl X1, X1, 9\n"
    "add X0, X0, X1\n"
    "get_subblockid X1\n"
    "shl X2, X1, 8\n"
    "add X2, X2, X0\n"
    "xor X3, X1, 1\n"
    "shl X3, X3, 8\n"
    "add X3, X3, X0\n"
    "vector_dup.f16 0, 0, 1, 1, 1, 8, 8\n"
    "set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
    "wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
    "copy_ubuf_to_gm X2, 0, 0, 1, 8, 0, 0\n"       // line 15
    "ffts_cross_core_sync PIPE_MTE3, 0x311\n"      // 16: mode 1, flag 3
    "wait_flag_dev 3\n"                            // 17
    "copy_gm_to_ubuf 0x1000, X3, 0, 1, 8, 0, 0\n"  // 18
    "end\n";

Checked exchange(const std::string& text, Mode mode) {
  const auto chip = mix_chip(2, 2);
  return check(chip, mix_stream(chip, "end\n", text, {{"x", 4096}}, 2, 2), mode);
}

std::string with(std::string_view what, std::string_view instead) {
  std::string text(kExchange);
  return text.replace(text.find(what), what.size(), instead);
}

bool has(const Checked& c, FaultId id, u32 line) {
  for (const auto& f : c.findings) {
    if (f.id == id && f.at.line == line) return true;
  }
  return false;
}

TEST(Mix, Mode1IsClean) {
  for (const Mode mode : kModes)
    EXPECT_EQ(exchange(std::string(kExchange), mode).text(), "");
}

TEST(Mix, Mode1OrdersThePipeThatSetsOnly) {
  for (const Mode mode : kModes) {
    const Checked c = exchange(with("PIPE_MTE3, 0x311", "PIPE_MTE2, 0x311"), mode);
    EXPECT_TRUE(has(c, FaultId::core_overlap, 18) || has(c, FaultId::core_overlap, 15)) << c.text();
    EXPECT_FALSE(c.has(FaultId::block_overlap)) << c.text();
    EXPECT_EQ(c.fault, "");
  }
}

TEST(Mix, Mode1WaitsForBoth) {
  // Only the first AIV sets.
  const std::string text = with("ffts_cross", "bne X1, 0, skip\nffts_cross");
  const std::string one = std::string(text).replace(text.find("wait_flag_dev"), 0, "skip: ");
  for (const Mode mode : kModes) {
    const Checked c = exchange(one, mode);
    EXPECT_TRUE(has(c, FaultId::wait_without_set, 18)) << c.text();
    EXPECT_FALSE(c.has(FaultId::circular_wait)) << c.text();
    EXPECT_NE(c.fault.find("nothing can move"), std::string::npos) << c.fault;
  }
}

TEST(Mix, AFlagThatNobodyWaitsForIsLeftUp) {
  for (const Mode mode : kModes) {
    const Checked c = exchange(with("wait_flag_dev 3\n", "mov X9, 0\n"), mode);
    EXPECT_TRUE(has(c, FaultId::unpaired_cross_core_set, 16)) << c.text();
  }
}

// Each AIV waits before it sets what the other one waits for; neither is named as one that nothing would set.
TEST(Mix, TwoVectorCoresInACircle) {
  const std::string text =
      "set_ffts_base_addr 1\n"
      "get_subblockid X1\n"
      "bne X1, 0, second\n"
      "wait_flag_dev 0\n"
      "ffts_cross_core_sync PIPE_MTE3, 0x111\n"
      "end\n"
      "second: wait_flag_dev 1\n"
      "ffts_cross_core_sync PIPE_MTE3, 0x11\n"
      "end\n";
  for (const Mode mode : kModes) {
    const Checked c = exchange(text, mode);
    EXPECT_TRUE(has(c, FaultId::circular_wait, 4)) << c.text();
    EXPECT_FALSE(c.has(FaultId::wait_without_set)) << c.text();
  }
}

// A core that waits for one that is stuck by a flag of its own pipes is no finding of its own.
TEST(Mix, WhatFollowsFromAnotherCoreIsNotReported) {
  const auto chip = mix_chip(1, 1);
  const std::string cube = "set_ffts_base_addr 1\nwait_flag_dev 0\nend\n";
  const std::string vector =
      "set_ffts_base_addr 1\nwait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\nffts_cross_core_sync PIPE_MTE3, 0x21\nend\n";
  for (const Mode mode : kModes) {
    const Checked c = check(chip, mix_stream(chip, cube, vector, {{"x", 4096}}, 1, 1), mode);
    ASSERT_EQ(c.findings.size(), 1u) << c.text();
    EXPECT_EQ(name(c.findings[0].id), "wait-without-set");
    EXPECT_EQ(c.findings[0].at.place, "v.s:2");
  }
}

}  // namespace
}  // namespace vinci::test
