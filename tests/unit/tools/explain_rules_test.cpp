// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Each rule on a kernel with the problem that it is about, and on the same kernel without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/load.h"
#include "tests/support/timed_run.h"
#include "tools/explain/collector.h"

namespace vinci::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Not;
using testing::SizeIs;

// Assembly line by line.
class Text {
 public:
  template <class... A>
  Text& line(fmt::format_string<A...> text, A&&... args) {
    text_ += fmt::format(text, std::forward<A>(args)...) + "\n";
    return *this;
  }
  // `bursts` pieces of `blocks` blocks of 32 B to UB, `gap` blocks apart in global memory.
  Text& load(u64 ub, u64 gm, u64 bursts, u64 blocks, u64 gap = 0) {
    return line("copy_gm_to_ubuf {}, {}, 0, {}, {}, {}, 0", ub, kGm + gm, bursts, blocks, gap);
  }
  Text& store(u64 gm, u64 ub, u64 blocks) {
    return line("copy_ubuf_to_gm {}, {}, 0, 1, {}, 0, 0", kGm + gm, ub, blocks);
  }
  Text& vadd(u64 dst, u64 a, u64 b, u64 repeats) {
    return line("vadd.f16 {}, {}, {}, {}, 1, 1, 1, 8, 8, 8", dst, a, b, repeats);
  }
  Text& set(std::string_view from, std::string_view to, u64 event = 0) {
    return line("set_flag PIPE_{}, PIPE_{}, {}", from, to, event);
  }
  Text& wait(std::string_view from, std::string_view to, u64 event = 0) {
    return line("wait_flag PIPE_{}, PIPE_{}, {}", from, to, event);
  }
  Text& hand_over(std::string_view from, std::string_view to, u64 event = 0) {
    return set(from, to, event).wait(from, to, event);
  }
  std::string end() const { return text_ + "end\n"; }

 private:
  std::string text_;
};

// The kernel as it is explained on an Ascend 910B1, whose vector cores are 48 slots.
explain::KernelExplanation explained(const std::string& text, u32 blocks = 1,
                                     isa::CoreKind kind = isa::CoreKind::vector,
                                     const std::vector<std::string>& overrides = {}) {
  const config::ChipConfig chip = config::load_chip("ascend-910b1", overrides);
  const task::TaskStream stream =
      kernel_stream(chip, text, {.kind = kind, .blocks = blocks, .gm_bytes = u64{64} << 20, .with_data = false});
  task::RunMemory memory(stream, false);
  explain::Collector collector;
  models::simulate(chip, stream, memory, {.causes = &collector});
  explain::Explanation out = collector.take();
  EXPECT_THAT(out.kernels, SizeIs(1));
  return std::move(out.kernels.at(0));
}

std::vector<std::string> rules_of(const std::string& text, u32 blocks = 1, isa::CoreKind kind = isa::CoreKind::vector,
                                  const std::vector<std::string>& overrides = {}) {
  std::vector<std::string> out;
  for (const explain::Advice& a : explained(text, blocks, kind, overrides).advice)
    out.push_back(a.rule);
  return out;
}

// 32 KiB tiles with work of about the same time, in so many slots.
std::string pipeline(u64 slots) {
  constexpr u64 kTile = 32 << 10;
  Text t;
  for (u64 s = 0; s < slots; ++s)
    t.set("V", "MTE2", s);
  for (u64 tile = 0; tile < 16; ++tile) {
    const u64 s = tile % slots, ub = s * kTile;
    t.wait("V", "MTE2", s).load(ub, tile * kTile, 1, kTile / 32).hand_over("MTE2", "V", s);
    for (int i = 0; i < 3; ++i)
      t.vadd(128 << 10, ub, ub, 128);
    t.set("V", "MTE2", s);
  }
  for (u64 s = 0; s < slots; ++s)
    t.wait("V", "MTE2", s);
  return t.end();
}

TEST(ExplainRules, DoubleBuffer) {
  EXPECT_THAT(rules_of(pipeline(1)), Contains("double-buffer"));
  EXPECT_THAT(rules_of(pipeline(4)), Not(Contains("double-buffer")));
}

// The scalar unit needs a result of each tile; the copy of the next one is issued before or after it waits.
std::string reduction(bool prefetch) {
  constexpr u64 kTile = 32 << 10, kTiles = 8;
  Text t;
  const auto load = [&](u64 tile) {
    if (tile < kTiles) t.load(tile % 2 * kTile, tile * kTile, 1, kTile / 32).set("MTE2", "V", tile % 2);
  };
  load(0);
  for (u64 tile = 0; tile < kTiles; ++tile) {
    if (prefetch) load(tile + 1);
    t.wait("MTE2", "V", tile % 2).vadd(128 << 10, tile % 2 * kTile, tile % 2 * kTile, 128).hand_over("V", "S");
    if (!prefetch) load(tile + 1);
  }
  return t.end();
}

TEST(ExplainRules, PrefetchBeforeAReduction) {
  EXPECT_THAT(rules_of(reduction(false)), Contains("prefetch"));
  EXPECT_THAT(rules_of(reduction(true)), Not(Contains("prefetch")));
}

TEST(ExplainRules, ScalarAccessInALoop) {
  const auto kernel = [](u64 loads) {
    Text t;
    t.load(0, 0, 1, 1024).hand_over("MTE2", "S").line("mov X1, 0").line("loop:").line("ld_ubuf.b32 X3, X1, 0");
    t.line("add X1, X1, 4").line("blt X1, {}, loop", 4 * loads);
    return t.end();
  };
  EXPECT_THAT(rules_of(kernel(2000)), Contains("scalar-access"));
  EXPECT_THAT(rules_of(kernel(8)), Not(Contains("scalar-access")));
}

TEST(ExplainRules, SmallInstructions) {
  Text many, one;
  for (u64 i = 0; i < 256; ++i)
    many.vadd(i * 256, i * 256, 128 << 10, 1);
  for (int i = 0; i < 2; ++i)
    one.vadd(0, 0, 128 << 10, 128);
  EXPECT_THAT(rules_of(many.end()), Contains("small-instructions"));
  EXPECT_THAT(rules_of(one.end()), Not(Contains("small-instructions")));
}

TEST(ExplainRules, BankConflicts) {
  const auto kernel = [](u64 second) {
    Text t;
    for (int i = 0; i < 64; ++i)
      t.vadd(128 << 10, 0, second, 128);
    return t.end();
  };
  EXPECT_THAT(rules_of(kernel(64 << 10)), Contains("bank-conflicts"));
  EXPECT_THAT(rules_of(kernel((64 << 10) + 256)), Not(Contains("bank-conflicts")));
}

TEST(ExplainRules, ShortBursts) {
  Text rows, whole;
  for (u64 i = 0; i < 8; ++i) {
    rows.load(0, i << 20, 512, 2, 30);
    whole.load(0, i << 20, 1, 1024);
  }
  EXPECT_THAT(rules_of(rows.end()), Contains("short-bursts"));
  EXPECT_THAT(rules_of(whole.end()), Not(Contains("short-bursts")));
}

TEST(ExplainRules, SmallTiles) {
  Text small, large;
  for (u64 i = 0; i < 128; ++i)
    small.load(i % 64 << 10, i << 10, 1, 32).set("MTE2", "V").wait("MTE2", "V");
  for (u64 i = 0; i < 2; ++i)
    large.load(0, i << 16, 1, 2048);
  EXPECT_THAT(rules_of(small.end()), Contains("tile-too-small"));
  EXPECT_THAT(rules_of(large.end()), Not(Contains("tile-too-small")));
}

TEST(ExplainRules, SameAddress) {
  const auto kernel = [](u64 apart) {
    Text t;
    t.line("get_block_idx X0").line("mul X1, X0, {}", apart).line("add X1, X1, {}", kGm);
    for (int i = 0; i < 64; ++i)
      t.line("copy_gm_to_ubuf 0, X1, 0, 16, 1, 0, 0");
    return t.end();
  };
  EXPECT_THAT(rules_of(kernel(0), 48), Contains("same-address"));
  EXPECT_THAT(rules_of(kernel(65536 + 512), 48), Not(Contains("same-address")));
}

TEST(ExplainRules, FixpipeBackPressure) {
  const auto kernel = [](u64 slots, int steps) {
    Text t;
    for (u64 s = 0; s < slots; ++s)
      t.set("FIX", "M", s);
    for (u64 tile = 0; tile < 16; ++tile) {
      const u64 s = tile % slots;
      t.wait("FIX", "M", s);
      for (int k = 0; k < steps; ++k)
        t.line("mad.f162f32 {}, 0, 0, 64, 64, 64, {}", s << 16, k == 0 ? 1 : 0);
      t.hand_over("M", "FIX", s);
      t.line(
          "copy_matrix_cc_to_gm {}, {}, 0, 64, 64, 64, 64, unitFlag=0, QuantPRE=1, ReLUPRE=0, channelSplit=0, "
          "NZ2ND_EN=1",
          kGm + tile * 8192, s << 16);
      t.set("FIX", "M", s);
    }
    for (u64 s = 0; s < slots; ++s)
      t.wait("FIX", "M", s);
    return t.end();
  };
  EXPECT_THAT(rules_of(kernel(1, 1), 1, isa::CoreKind::cube), Contains("fixpipe"));
  EXPECT_THAT(rules_of(kernel(2, 32), 1, isa::CoreKind::cube), Not(Contains("fixpipe")));
}

TEST(ExplainRules, Waves) {
  EXPECT_THAT(rules_of(pipeline(2), 49), Contains("waves"));
  EXPECT_THAT(rules_of(pipeline(2), 48), Not(Contains("waves")));
  EXPECT_THAT(rules_of(pipeline(2), 96), Not(Contains("waves")));
}

TEST(ExplainRules, IdleCores) {
  EXPECT_THAT(rules_of(pipeline(2), 8), Contains("idle-cores"));
  EXPECT_THAT(rules_of(pipeline(2), 48), Not(Contains("idle-cores")));
}

TEST(ExplainRules, Imbalance) {
  const auto kernel = [](bool even) {
    Text t;
    t.line("get_block_idx X0").line("mov X1, {}", even ? 9 : 8);
    if (!even) t.line("beq X0, 0, loop").line("mov X1, 1");
    t.line("loop:");
    for (int i = 0; i < 16; ++i)
      t.vadd(0, 0, 128 << 10, 128);
    t.line("sub X1, X1, 1").line("bgt X1, 0, loop");
    return t.end();
  };
  EXPECT_THAT(rules_of(kernel(false), 48), Contains("imbalance"));
  EXPECT_THAT(rules_of(kernel(true), 48), Not(Contains("imbalance")));
}

TEST(ExplainRules, Barriers) {
  Text barriers, flags;
  for (u64 i = 0; i < 16; ++i) {
    const u64 ub = i % 4 << 15;
    barriers.load(ub, i << 15, 1, 1024).line("pipe_barrier PIPE_ALL").vadd(160 << 10, ub, ub, 64);
    barriers.line("pipe_barrier PIPE_ALL");
    flags.load(ub, i << 15, 1, 1024).hand_over("MTE2", "V", i % 4).vadd(160 << 10, ub, ub, 64);
  }
  EXPECT_THAT(rules_of(barriers.end()), Contains("barriers"));
  EXPECT_THAT(rules_of(flags.end()), Not(Contains("barriers")));
}

TEST(ExplainRules, ShortKernel) {
  EXPECT_THAT(rules_of(Text().vadd(0, 0, 0, 1).end(), 48), Contains("short-kernel"));
  EXPECT_THAT(rules_of(pipeline(2), 48), Not(Contains("short-kernel")));
}

TEST(ExplainRules, MemoryBandwidth) {
  const auto kernel = [](u64 apart, u64 step) {
    Text t;
    t.line("get_block_idx X0").line("mul X1, X0, {}", apart).line("add X1, X1, {}", kGm);
    for (int i = 0; i < 32; ++i)
      t.line("copy_gm_to_ubuf 0, X1, 0, 1, 1024, 0, 0").line("add X1, X1, {}", step);
    return t.end();
  };
  const std::vector<std::string> slow{"memory.hbm.bandwidth=600GB/s"};
  EXPECT_THAT(rules_of(kernel(1 << 20, 32 << 10), 48, isa::CoreKind::vector, slow), Contains("memory-bandwidth"));
  EXPECT_THAT(rules_of(kernel(1 << 20, 0), 48, isa::CoreKind::vector, slow), Not(Contains("memory-bandwidth")));
}

}  // namespace
}  // namespace vinci::test
