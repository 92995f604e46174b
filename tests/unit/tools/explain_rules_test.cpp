// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Kernels with one planted problem each, and the same kernels mended: the first advice names the problem, what it says
// of the gain is held against the mended kernel, and the rule is silent there. docs/explain.md has the table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/load.h"
#include "sim/task/run_memory.h"
#include "tests/support/timed_run.h"
#include "tools/explain/collector.h"

namespace vinci::test {
namespace {

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

// A kernel with a problem, and without it.
struct Plant {
  std::string name, rule;
  std::string problem, mended;
  u32 blocks = 1, blocks_mended = 1;
  isa::CoreKind kind = isa::CoreKind::vector;
  std::vector<std::string> overrides = {};

  // One block has a chip of one core, so that idle cores are no second problem.
  explain::KernelExplanation with(const std::string& text, u32 of_blocks) const {
    std::vector<std::string> chip = overrides;
    if (blocks == 1 && blocks_mended == 1) chip.insert(chip.end(), {"ai_cores=1", "vector_cores=1"});
    return explained(text, of_blocks, kind, chip);
  }
  explain::KernelExplanation before() const { return with(problem, blocks); }
  explain::KernelExplanation after() const { return with(mended, blocks_mended); }
  friend void PrintTo(const Plant& p, std::ostream* out) { *out << p.name; }
};

constexpr u64 kTile = 32 << 10;

// Tiles with work of about the same time, in so many slots.
std::string pipeline(u64 slots, u64 tiles = 16) {
  Text t;
  for (u64 s = 0; s < slots; ++s)
    t.set("V", "MTE2", s);
  for (u64 tile = 0; tile < tiles; ++tile) {
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

// Copies in of so many blocks of 32 B, work in place of so many repeats and copies out, in so many slots.
std::string in_and_out(u64 slots, u64 tiles = 16, u64 blocks = kTile / 32, u64 repeats = 128) {
  Text t;
  for (u64 s = 0; s < slots; ++s)
    t.set("MTE3", "MTE2", s);
  for (u64 tile = 0; tile < tiles; ++tile) {
    const u64 s = tile % slots, ub = s * kTile, gm = tile * blocks * 32;
    t.wait("MTE3", "MTE2", s).load(ub, gm, 1, blocks).hand_over("MTE2", "V", s);
    t.vadd(ub, ub, ub, repeats).hand_over("V", "MTE3", s).store((32 << 20) + gm, ub, blocks);
    t.set("MTE3", "MTE2", s);
  }
  for (u64 s = 0; s < slots; ++s)
    t.wait("MTE3", "MTE2", s);
  return t.end();
}

// Products whose operands come through L1, in so many slots of it.
std::string cube_pipeline(u64 slots) {
  constexpr u64 kBytes = 64 << 10;
  Text t;
  for (u64 s = 0; s < slots; ++s)
    t.set("MTE1", "MTE2", s);
  for (u64 tile = 0; tile < 12; ++tile) {
    const u64 s = tile % slots, l1 = s * kBytes;
    t.wait("MTE1", "MTE2", s);
    t.line("copy_gm_to_cbuf {}, {}, 0, 1, {}, 0, 0", l1, kGm + tile * kBytes, kBytes / 32).hand_over("MTE2", "MTE1", s);
    for (int i = 0; i < 6; ++i)
      t.line("load_cbuf_to_ca 0, {}, 0, 64, 1, 0, 0", l1);
    t.set("MTE1", "MTE2", s);
  }
  for (u64 s = 0; s < slots; ++s)
    t.wait("MTE1", "MTE2", s);
  return t.end();
}

// The scalar unit needs a result of each tile; the copy of the next one is issued before or after it waits.
std::string reduction(bool prefetch, int work) {
  constexpr u64 kTiles = 12;
  Text t;
  const auto load = [&](u64 tile) {
    if (tile < kTiles) t.load(tile % 2 * kTile, tile * kTile, 1, kTile / 32).set("MTE2", "V", tile % 2);
  };
  load(0);
  for (u64 tile = 0; tile < kTiles; ++tile) {
    if (prefetch) load(tile + 1);
    t.wait("MTE2", "V", tile % 2);
    for (int i = 0; i < work; ++i)
      t.vadd(128 << 10, tile % 2 * kTile, tile % 2 * kTile, 128);
    t.hand_over("V", "S");
    if (!prefetch) load(tile + 1);
  }
  return t.end();
}

// A loop over elements, by loads or stores; the vector unit does them in one instruction.
std::string elements(std::string_view access, u64 count) {
  Text t;
  t.load(0, 0, 1, 1024).hand_over("MTE2", "S").line("mov X1, 0").line("loop:").line("{}", access);
  return t.line("add X1, X1, 4").line("blt X1, {}, loop", 4 * count).end();
}
// Elements that are added up one by one, in eight runs as a recording has them.
std::string left_out() {
  Text t;
  t.load(0, 0, 1, 1024).hand_over("MTE2", "S");
  for (int run = 0; run < 8; ++run) {
    for (int i = 0; i < 32; ++i)
      t.line("ld_ubuf.b16 X3, {}, 0", 4096 * run + 2 * i);
    t.line("touch_ubuf {}, 4032, 0", 4096 * run + 64).line("nop 22000, 2000");
  }
  return t.end();
}
std::string at_once() { return Text().load(0, 0, 1, 1024).hand_over("MTE2", "V").vadd(0, 0, 128 << 10, 64).end(); }

std::string small_instructions(u64 count, u64 repeats) {
  Text t;
  for (u64 i = 0; i < count; ++i)
    t.vadd(i * repeats * 256 % 65536, i * repeats * 256 % 65536, 128 << 10, repeats);
  return t.end();
}

std::string operands(u64 first, u64 second, u64 stride = 8) {
  Text t;
  for (int i = 0; i < 64; ++i)
    t.line("vadd.f16 {}, {}, {}, 64, 1, 1, 1, 8, {}, 8", 128 << 10, first, second, stride);
  return t.end();
}

// Rows of `blocks` blocks of 32 B, `gap` blocks apart.
std::string rows(u64 count, u64 blocks, u64 gap) {
  Text t;
  for (u64 i = 0; i < 8; ++i)
    t.load(0, i << 20, count, blocks, gap);
  return t.end();
}
std::string stored_rows(u64 count, u64 blocks, u64 gap) {
  Text t;
  for (u64 i = 0; i < 8; ++i)
    t.line("copy_ubuf_to_gm {}, 0, 0, {}, {}, 0, {}", kGm + (i << 20), count, blocks, gap);
  return t.end();
}

std::string tiles(u64 count, u64 blocks) {
  Text t;
  for (u64 i = 0; i < count; ++i)
    t.load(0, i * blocks * 32, 1, blocks).hand_over("MTE2", "V").vadd(128 << 10, 0, 0, 1).hand_over("V", "MTE2");
  return t.end();
}

std::string same_lines(u64 apart) {
  Text t;
  t.line("get_block_idx X0").line("mul X1, X0, {}", apart).line("add X1, X1, {}", kGm);
  for (int i = 0; i < 64; ++i)
    t.line("copy_gm_to_ubuf 0, X1, 0, 16, 1, 0, 0");
  return t.end();
}

std::string through_fixpipe(u64 slots, int steps) {
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
        "copy_matrix_cc_to_gm {}, {}, 0, 64, 64, 64, 64, unitFlag=0, QuantPRE=1, ReLUPRE=0, channelSplit=0, NZ2ND_EN=1",
        kGm + tile * 8192, s << 16);
    t.set("FIX", "M", s);
  }
  for (u64 s = 0; s < slots; ++s)
    t.wait("FIX", "M", s);
  return t.end();
}

// Block 0 has `first` turns of work, all others `other`.
std::string shared_work(u64 first, u64 other) {
  Text t;
  t.line("get_block_idx X0").line("mov X1, {}", first).line("beq X0, 0, loop").line("mov X1, {}", other).line("loop:");
  for (int i = 0; i < 16; ++i)
    t.vadd(0, 0, 128 << 10, 128);
  return t.line("sub X1, X1, 1").line("bgt X1, 0, loop").end();
}

std::string ordered(bool barriers) {
  Text t;
  for (u64 i = 0; i < 16; ++i) {
    const u64 ub = i % 4 << 15;
    t.load(ub, i << 15, 1, 1024);
    if (barriers) {
      t.line("pipe_barrier PIPE_ALL").vadd(160 << 10, ub, ub, 64).vadd(160 << 10, ub, ub, 64);
      t.line("pipe_barrier PIPE_ALL");
    } else {
      t.hand_over("MTE2", "V", i % 4).vadd(160 << 10, ub, ub, 64).vadd(160 << 10, ub, ub, 64);
    }
  }
  return t.end();
}

// Each block reads 1 MiB of its own, or 32 KiB again and again.
std::string streaming(u64 step) {
  Text t;
  t.line("get_block_idx X0").line("mul X1, X0, {}", 1 << 20).line("add X1, X1, {}", kGm);
  for (int i = 0; i < 32; ++i)
    t.line("copy_gm_to_ubuf 0, X1, 0, 1, 1024, 0, 0").line("add X1, X1, {}", step);
  return t.end();
}

std::vector<Plant> plants() {
  using isa::CoreKind;
  return {
      {"one buffer, MTE2 and V", "double-buffer", pipeline(1), pipeline(4)},
      {"one buffer, MTE2, V and MTE3", "double-buffer", in_and_out(1), in_and_out(4)},
      {"one buffer of L1", "double-buffer", cube_pipeline(1), cube_pipeline(4), 1, 1, CoreKind::cube},
      {"copy behind a reduction", "prefetch", reduction(false, 2), reduction(true, 2)},
      {"copy behind a long reduction", "prefetch", reduction(false, 6), reduction(true, 6)},
      {"GetValue in a loop", "scalar-access", elements("ld_ubuf.b32 X3, X1, 0", 2000), at_once()},
      {"SetValue in a loop", "scalar-access", elements("st_ubuf.b32 X3, X1, 0", 2000), at_once()},
      {"GetValue in a long loop, recorded", "scalar-access", left_out(), at_once()},
      {"vectors of a repeat", "small-instructions", small_instructions(512, 1), small_instructions(4, 128)},
      {"two sources in one bank group", "bank-conflicts", operands(0, 64 << 10), operands(0, (64 << 10) + 256)},
      {"a stride of 16 blocks", "bank-conflicts", operands(0, (64 << 10) + 256, 16), operands(0, (64 << 10) + 256)},
      {"rows of 64 B", "short-bursts", rows(512, 2, 30), rows(1, 1024, 0)},
      {"stored rows of 32 B", "short-bursts", stored_rows(512, 1, 31), stored_rows(1, 512, 0)},
      {"tiles of 1 KiB", "tile-too-small", tiles(128, 32), tiles(4, 1024)},
      {"tiles of 1 KiB in and out", "tile-too-small", in_and_out(2, 128, 32, 1), in_and_out(2, 4, 1024, 1)},
      {"one line for all blocks", "same-address", same_lines(0), same_lines(65536 + 512), 48, 48},
      {"one tile of L0C", "fixpipe", through_fixpipe(1, 24), through_fixpipe(2, 24), 1, 1, CoreKind::cube},
      {"barriers of all pipes", "barriers", ordered(true), ordered(false)},
      {"49 blocks on 48 cores", "waves", pipeline(4), pipeline(4), 49, 48},
      {"8 blocks on 48 cores", "idle-cores", pipeline(2, 48), pipeline(2, 8), 8, 48},
      {"a long block", "imbalance", shared_work(49, 1), shared_work(2, 2), 48, 48},
      {"one instruction", "short-kernel", Text().vadd(0, 0, 0, 1).end(), pipeline(2), 48, 48},
      {"more bytes than memory brings",
       "memory-bandwidth",
       streaming(32 << 10),
       streaming(0),
       48,
       48,
       CoreKind::vector,
       {"memory.hbm.bandwidth=600GB/s"}},
  };
}

u64 body(const explain::KernelExplanation& k) {
  u64 out = k.slowest;
  for (const auto kind : {models::CostKind::launch, models::CostKind::cold_start, models::CostKind::program_start})
    out -= k.slowest_by_kind[static_cast<usize>(kind)];
  return out;
}

bool has(const explain::KernelExplanation& k, const std::string& rule) {
  return std::ranges::any_of(k.advice, [&](const explain::Advice& a) { return a.rule == rule; });
}

class ExplainRules : public testing::TestWithParam<Plant> {};

TEST_P(ExplainRules, TheFirstAdviceNamesThePlantedProblem) {
  const Plant& p = GetParam();
  const auto why = p.before();
  ASSERT_FALSE(why.advice.empty()) << p.name;
  EXPECT_EQ(why.advice.front().rule, p.rule) << p.name;
  EXPECT_FALSE(has(p.after(), p.rule)) << p.name;
}

INSTANTIATE_TEST_SUITE_P(Plants, ExplainRules, testing::ValuesIn(plants()), [](const auto& p) {
  std::string out = fmt::format("{}_{}", p.index, p.param.rule);
  std::ranges::replace(out, '-', '_');
  return out;
});

// What is said of the gain, against the mended kernel. Of two rules the mended kernel is another one.
TEST(ExplainGain, IsBoundedAndPredicted) {
  int predicted = 0;
  fmt::print("{:<32} {:<18} {:>9} {:>9} {:>9}\n", "planted", "rule", "bound(%)", "gain(%)", "measured");
  for (const Plant& p : plants()) {
    if (p.rule == "short-kernel" || p.rule == "memory-bandwidth") continue;
    const auto before = p.before(), after = p.after();
    ASSERT_FALSE(before.advice.empty()) << p.name;
    const explain::Advice& a = before.advice.front();
    const double measured = 1 - static_cast<double>(body(after)) / static_cast<double>(body(before));
    fmt::print("{:<32} {:<18} {:>9.1f} {:>9} {:>9.1f}\n", p.name, a.rule, 100 * a.share,
               a.gain ? fmt::format("{:.1f}", 100 * *a.gain) : "", 100 * measured);
    EXPECT_GE(a.share, measured - 0.01) << p.name;
    EXPECT_LE(a.gain.value_or(0), a.share + 1e-9) << p.name;
    if (a.gain && std::abs(*a.gain - measured) <= 0.2 * measured) ++predicted;
  }
  EXPECT_GE(predicted, 15);
}

// Copies of 512 B and little work on them.
TEST(ExplainGain, OfASecondBufferIsAtMostHalf) {
  const auto before = explained(in_and_out(1, 64, 16, 2)), after = explained(in_and_out(2, 64, 16, 2));
  const auto advice = std::ranges::find(before.advice, "double-buffer", &explain::Advice::rule);
  ASSERT_NE(advice, before.advice.end());
  const double measured = 1 - static_cast<double>(body(after)) / static_cast<double>(body(before));
  EXPECT_NEAR(advice->gain.value(), measured, 0.2 * measured);
  EXPECT_GE(advice->share, measured);
}

// Cores that wait for memory would wait with two buffers, too: there is a bound, but no prediction.
TEST(ExplainGain, IsNotPredictedWhereMemoryIsBusy) {
  Text t;
  t.line("get_block_idx X0").line("mul X1, X0, {}", 1 << 20).line("add X1, X1, {}", kGm).set("V", "MTE2");
  for (int tile = 0; tile < 8; ++tile) {
    t.wait("V", "MTE2").line("copy_gm_to_ubuf 0, X1, 0, 1, 1024, 0, 0").line("add X1, X1, {}", kTile);
    t.hand_over("MTE2", "V");
    for (int i = 0; i < 4; ++i)
      t.vadd(128 << 10, 0, 0, 255);
    t.set("V", "MTE2");
  }
  const auto why = explained(t.wait("V", "MTE2").end(), 48, isa::CoreKind::vector, {"memory.hbm.bandwidth=600GB/s"});
  const auto advice = std::ranges::find(why.advice, "double-buffer", &explain::Advice::rule);
  ASSERT_NE(advice, why.advice.end());
  EXPECT_FALSE(advice->gain);
  EXPECT_GT(advice->share, 0.1);
}

TEST(ExplainWaves, MultiplesOfTheCoresAreNone) {
  EXPECT_FALSE(has(explained(pipeline(2), 96), "waves"));
  EXPECT_FALSE(has(explained(pipeline(2), 48), "idle-cores"));
}

}  // namespace
}  // namespace vinci::test
