// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/check/checked_run.h"
#include "tests/support/timed_run.h"

// Short programs written by hand, for what the pipelines do not do.
namespace vinci::test {
namespace {

Checked run(const std::string& text, Mode mode = Mode::functional, u32 blocks = 1,
            isa::CoreKind kind = isa::CoreKind::vector) {
  const auto chip = round_chip(isa::Arch::c220);
  return check(chip, launch_stream(chip, kind, text, {{"x", 4096}, {"y", 4096}}, blocks), mode);
}

// "raw-hazard 3 5": id, line of the conflicting instruction (0: none), line.
std::vector<std::string> found(const Checked& c) {
  std::vector<std::string> out;
  for (const auto& f : c.findings)
    out.push_back(fmt::format("{} {} {}", name(f.id), f.other ? f.other->line : 0, f.at.line));
  return out;
}
bool has(const Checked& c, const std::string& what) { return std::ranges::count(found(c), what) == 1; }

TEST(Small, AWaitMayBeIssuedBeforeItsSet) {
  const std::string text =
      "ld_arg X0, 0\n"
      "wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n"
      "vadds.f16 0x1000, 0, 0, 1, 1, 1, 8, 8\n"
      "copy_gm_to_ubuf 0, X0, 0, 1, 8, 0, 0\n"
      "set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n"
      "pipe_barrier PIPE_ALL\n"
      "end\n";
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing})
    EXPECT_EQ(run(text, mode).text(), "");
}

// The store is issued after the write that it races with, though nothing makes it wait as the write does.
TEST(Small, TheEarlierOfTheProgramIsNamedFirst) {
  const std::string text =
      "ld_arg X0, 0\n"
      "vector_dup.f16 0x1000, 0, 1, 1, 1, 8, 8\n"
      "pipe_barrier PIPE_ALL\n"
      "wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n"
      "vector_dup.f16 0x1000, 1, 1, 1, 1, 8, 8\n"
      "copy_ubuf_to_gm X0, 0x1000, 0, 1, 8, 0, 0\n"
      "copy_gm_to_ubuf 0, X0, 0, 1, 8, 0, 0\n"
      "set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n"
      "end\n";
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing}) {
    const Checked c = run(text, mode);
    EXPECT_EQ(found(c), (std::vector<std::string>{"raw-hazard 5 6", "raw-hazard 6 7"})) << c.text();
    EXPECT_EQ(
        c.findings[0].suggestion,
        "set_flag(PIPE_V, PIPE_MTE3, EVENT_ID..) after line 5, wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID..) before line 6");
  }
}

// The buffer of the queue has 256 bytes. Strides count: the second of two blocks may be outside.
TEST(Small, PastTheEndOfItsBuffer) {
  const std::string text =
      "ld_arg X0, 0\n"
      "local_buffer 5, 0, 256\n"
      "local_buffer 5, 256, 512\n"
      "copy_gm_to_ubuf 0, X0, 0, 1, 8, 0, 0\n"
      "copy_gm_to_ubuf 0x100, X0, 0, 1, 16, 0, 0\n"
      "copy_gm_to_ubuf 0x1000, X0, 0, 1, 64, 0, 0\n"
      "pipe_barrier PIPE_ALL\n"
      "copy_gm_to_ubuf 0, X0, 0, 1, 9, 0, 0\n"
      "pipe_barrier PIPE_ALL\n"
      "copy_gm_to_ubuf 0, X0, 0, 2, 1, 0, 7\n"
      "pipe_barrier PIPE_ALL\n"
      "vadds.f16 0x1000, 0x80, 0, 2, 1, 1, 8, 8\n"
      "end\n";
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing}) {
    const Checked c = run(text, mode);
    EXPECT_EQ(found(c), (std::vector<std::string>{"buffer-overrun 0 8", "buffer-overrun 0 10", "buffer-overrun 0 12"}))
        << c.text();
    EXPECT_EQ(c.findings[0].message,
              "dst of copy_gm_to_ubuf goes 32 bytes past the end of its buffer: UB [0x0, 0x100)");
  }
}

// A later buffer takes the place of what it overlaps, and a memory may have none any more.
TEST(Small, BuffersEndWhereOthersBegin) {
  const std::string text =
      "ld_arg X0, 0\n"
      "local_buffer 5, 0, 256\n"
      "local_buffer 5, 128, 512\n"
      "copy_gm_to_ubuf 0, X0, 0, 1, 16, 0, 0\n"
      "pipe_barrier PIPE_ALL\n"
      "copy_gm_to_ubuf 0x80, X0, 0, 1, 17, 0, 0\n"
      "pipe_barrier PIPE_ALL\n"
      "local_buffer 5, 0, 0\n"
      "copy_gm_to_ubuf 0x80, X0, 0, 1, 17, 0, 0\n"
      "end\n";
  const Checked c = run(text);
  EXPECT_EQ(found(c), std::vector<std::string>{"buffer-overrun 0 6"}) << c.text();
}

// The offsets are zeros, so the gather reads the 32 B at 0x1000.
constexpr std::string_view kLoadOffsets =
    "ld_arg X0, 0\n"
    "copy_gm_to_ubuf 0, X0, 0, 1, 8, 0, 0\n"
    "copy_gm_to_ubuf 0x1100, X0, 0, 1, 8, 0, 0\n"
    "set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n";

TEST(Small, AGatherReadsWhatItsOffsetsSay) {
  const auto text = [](const std::string& load, const std::string& behind) {
    return std::string(kLoadOffsets) + load + "wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n" +
           "vgather.u32 0x2000, 0, 0x1000, 8, 1\n" + behind + "end\n";
  };
  const std::string early = "copy_gm_to_ubuf 0x1000, X0, 0, 1, 1, 0, 0\n";
  for (const Mode mode : {Mode::functional, Mode::full}) {
    const auto finds = [&](const std::string& load, const std::string& behind) {
      return found(run(text(load, behind), mode));
    };
    using Found = std::vector<std::string>;
    EXPECT_EQ(finds(early, ""), Found{"raw-hazard 5 7"});
    EXPECT_EQ(finds("vector_dup.s32 0x1000, 0, 1, 1, 1, 8, 8\n", ""), Found{"missing-pipe-barrier 5 7"});
    EXPECT_EQ(finds("", ""), Found{"uninitialised-read 0 6"});
    EXPECT_EQ(finds("vector_dup.s32 0x1000, 0, 1, 1, 1, 8, 8\npipe_barrier PIPE_V\n", ""), Found{});
    const std::string ready = "pipe_barrier PIPE_MTE2\n" + early + "pipe_barrier PIPE_ALL\n";
    EXPECT_EQ(finds(ready, ""), Found{});
    EXPECT_EQ(finds(ready, early), Found{"war-hazard 9 10"});
    EXPECT_EQ(finds(ready, "pipe_barrier PIPE_ALL\n" + early), Found{});
    EXPECT_EQ(finds(ready, "copy_gm_to_ubuf 0x1100, X0, 0, 1, 8, 0, 0\n"), Found{});
    EXPECT_EQ(finds(ready, "set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"), Found{"unpaired-set-flag 0 10"});
    EXPECT_EQ(finds(ready, "ld_arg X1, 1\ncopy_ubuf_to_gm X1, 0x1100, 0, 1, 8, 0, 0\n"), Found{});
  }
  EXPECT_EQ(found(run(text(early, ""), Mode::timing)), std::vector<std::string>{});  // there are no offsets
}

// All blocks write 256 B at the same place: fills of one value, or of the number of the block.
TEST(Small, BlocksMayWriteTheSame) {
  const auto text = [](const std::string& value) {
    return "ld_arg X0, 0\n"
           "get_block_idx X1\n"
           "vector_dup.s32 0, " +
           value +
           ", 1, 1, 1, 8, 8\n"
           "set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
           "wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
           "copy_ubuf_to_gm X0, 0, 0, 1, 8, 0, 0\n"
           "end\n";
  };
  for (const Mode mode : {Mode::functional, Mode::full}) {
    const Checked same = run(text("7"), mode, 4);
    EXPECT_EQ(found(same), std::vector<std::string>{});
    EXPECT_EQ(same.same_writes, 3u);
    const Checked other = run(text("X1"), mode, 4);
    EXPECT_EQ(found(other), std::vector<std::string>{"block-overlap 6 6"}) << other.text();
    EXPECT_EQ(other.same_writes, 0u);
  }
  EXPECT_EQ(found(run(text("7"), Mode::timing, 4)), std::vector<std::string>{"block-overlap 6 6"});
  // Who reads it still has to wait for who wrote it.
  std::string reads = text("7");
  reads.insert(reads.find("end"), "pipe_barrier PIPE_ALL\ncopy_gm_to_ubuf 0x1000, X0, 0, 1, 8, 0, 0\n");
  EXPECT_TRUE(has(run(reads, Mode::functional, 2), "block-overlap 8 6"));
}

// The same by stores of the scalar unit. Block 0 stores or copies two words of 7, the others store the second of them.
TEST(Small, BlocksMayStoreTheSame) {
  const auto with = [](const std::string& value, const std::string& block0) {
    return "ld_arg X0, 0\nget_block_idx X1\nbne X1, 0, others\n" + block0 + "end\nothers:\nst_dev.b32 " + value +
           ", X0, 4\nend\n";
  };
  const std::string store = "st_dev.b64 0x700000007, X0, 0\n";
  const std::string copy =
      "vector_dup.s32 0, 7, 1, 1, 1, 8, 8\nset_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
      "wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\ncopy_ubuf_to_gm X0, 0, 0, 1, 8, 0, 0\n";
  for (const Mode mode : {Mode::functional, Mode::full}) {
    for (const std::string& block0 : {store, copy}) {
      SCOPED_TRACE((mode == Mode::full ? "full\n" : "functional\n") + block0);
      const Checked same = run(with("7", block0), mode, 4);
      EXPECT_EQ(found(same), std::vector<std::string>{}) << same.text();
      EXPECT_GE(same.same_writes, 3u);  // the latest store of another block, and the copy
      EXPECT_EQ(found(run(with("8", block0), mode, 2)).size(), 1u);
      EXPECT_EQ(found(run(with("X1", block0), mode, 8)).size(), 2u);  // with block 0, and among each other
    }
  }
  EXPECT_EQ(found(run(with("7", store), Mode::timing, 2)).size(), 1u);
}

// B of 8 bits is loaded in squares of 32 columns: of the last square some may have no bias.
TEST(Small, ABiasOfFewerColumns) {
  const auto text = [](u32 bursts) {  // of 64 bytes
    return fmt::format(
        "ld_arg X0, 0\n"
        "copy_gm_to_cbuf 0, X0, 0, 1, 128, 0, 0\n"
        "pipe_barrier PIPE_ALL\n"
        "load_cbuf_to_ca 0, 0, 0, 1, 1, 0, 0, 0, 0\n"
        "load_cbuf_to_cb 0, 0, 0, 4, 1, 0, 0, 0, 0\n"
        "copy_cbuf_to_bt 0, 0, 0, 1, {}, 0, 0\n"
        "pipe_barrier PIPE_ALL\n"
        "mad.s8 0, 0, 0, 16, 32, 64, 0, 0, 0, 1, 0\n"
        "end\n",
        bursts);
  };
  auto chip = round_chip(isa::Arch::c220);
  chip.core.buffers.bt = config::Bytes(1024);
  const auto run = [&](u32 bursts) {
    return check(chip, launch_stream(chip, isa::CoreKind::cube, text(bursts), {{"x", 4096}}, 1));
  };
  EXPECT_EQ(run(3).text(), "");
  EXPECT_EQ(found(run(2)), std::vector<std::string>{"uninitialised-read 0 8"});
}

// A fault that ends the run is found once.
TEST(Small, AFaultOfAPipeCountsOnce) {
  const std::string text =
      "set_vector_mask 0, -1\nvector_dup.s32 0, 0x7fffffff, 1, 1, 1, 8, 8\npipe_barrier PIPE_V\n"
      "vgather.f32 0x1000, 0, 0, 8, 1\npipe_barrier PIPE_ALL\nend\n";
  for (const Mode mode : {Mode::functional, Mode::full}) {
    const Checked c = run(text, mode);
    ASSERT_EQ(c.findings.size(), 1u) << c.text();
    EXPECT_EQ(found(c)[0], "misaligned-access 0 4");
    EXPECT_EQ(c.findings[0].count, 1u);
  }
}

// At the end of a run a set that holds is a finding, and the block goes on.
TEST(Small, ASetThatHoldsDoesNotEndTheCheck) {
  const std::string text =
      "set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\nset_flag PIPE_V, PIPE_MTE3, EVENT_ID0\npipe_barrier PIPE_ALL\nend\n";
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing}) {
    const Checked c = run(text, mode, 3);
    EXPECT_TRUE(c.has(isa::check::FaultId::duplicate_set_flag)) << c.text();
    EXPECT_TRUE(c.has(isa::check::FaultId::unpaired_set_flag)) << c.text();
    EXPECT_EQ(c.fault, "");
  }
}

// Where there are no data, what a scatter writes is not known.
TEST(Small, BehindAScatterWithoutDataNothingIsUninitialised) {
  const std::string text =
      "ld_arg X0, 0\n"
      "vector_dup.s32 0, 0x1000, 1, 1, 1, 8, 8\n"
      "pipe_barrier PIPE_ALL\n"
      "vscatter.s32 0, 0, 0, 8, 1\n"
      "pipe_barrier PIPE_ALL\n"
      "copy_ubuf_to_gm X0, 0x1000, 0, 1, 1, 0, 0\n"
      "end\n";
  const auto chip = round_chip(isa::Arch::m200);
  const auto stream = launch_stream(chip, isa::CoreKind::joint, text, {{"x", 4096}}, 1);
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing})
    EXPECT_EQ(check(chip, stream, mode).text(), "");
}

TEST(Small, MisuseOfAnApi) {
  const Checked c = run("ld_arg X0, 0\nmisuse 1, 256, 128\nmisuse 2, 12, 10\nend\n");
  EXPECT_EQ(found(c), (std::vector<std::string>{"illegal-operand 0 2", "illegal-operand 0 3"})) << c.text();
  EXPECT_EQ(c.findings[0].message, "a mask of 256 elements: a repeat of this type has 128");
  EXPECT_EQ(c.findings[1].message, "flag 12 between cores: SyncAll and the Matmul API take those above 10");
}

TEST(Small, ABarrierBehindAWaitThatNothingEnds) {
  for (const Mode mode : {Mode::functional, Mode::full}) {
    const Checked c = run("wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\npipe_barrier PIPE_ALL\nend\n", mode);
    EXPECT_EQ(found(c), std::vector<std::string>{"wait-without-set 0 1"}) << c.text();
    EXPECT_NE(c.fault, "");
  }
}

TEST(Small, AScalarWaitThatNothingEnds) {
  const Checked c = run("set_flag PIPE_S, PIPE_V, EVENT_ID0\nwait_flag PIPE_V, PIPE_S, EVENT_ID1\nend\n");
  EXPECT_EQ(found(c), std::vector<std::string>{"wait-without-set 0 2"}) << c.text();
}

// In time the scalar unit cannot issue the set: the queue of V has room for 8.
TEST(Small, AFullQueueIsPartOfACircle) {
  std::string text = "wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n";
  for (int i = 0; i < 12; ++i)
    text += fmt::format("vector_dup.f16 {:#x}, 0, 1, 1, 1, 8, 8\n", 0x1000 + 0x100 * i);
  text += "set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\nend\n";
  EXPECT_EQ(run(text).text(), "");
  const Checked c = run(text, Mode::full);
  EXPECT_EQ(found(c), std::vector<std::string>{"circular-wait 0 1"}) << c.text();
  EXPECT_NE(c.findings.at(0).message.find("room in a queue"), std::string::npos);
}

TEST(Small, ScalarAccessesOfSeveralBlocks) {
  const std::string text =
      "ld_arg X0, 0\n"
      "ld_dev.b64 X1, X0\n"  // all blocks read one word: fine
      "ld_arg X2, 1\n"
      "get_block_idx X3\n"
      "shl X4, X3, 3\n"
      "add X4, X4, X2\n"
      "st_dev.b64 X3, X4\n"  // each its own 8 bytes of one block of 32: fine
      "end\n";
  EXPECT_EQ(run(text, Mode::functional, 4).text(), "");
  std::string overlap = text;
  overlap.replace(overlap.find("shl X4, X3, 3"), 13, "shl X4, X3, 2");
  overlap.replace(overlap.find("st_dev.b64 X3, X4"), 17, "st_dev.b32 X3, X4");
  EXPECT_EQ(run(overlap, Mode::functional, 4).text(), "") << "4 bytes each";
  overlap.replace(overlap.find("shl X4, X3, 2"), 13, "shl X4, X3, 1");
  overlap.replace(overlap.find("st_dev.b32 X3, X4"), 17, "st_dev.b16 X3, X0");
  const Checked c = run(overlap, Mode::functional, 4);
  EXPECT_TRUE(has(c, "block-overlap 2 7")) << c.text();
  EXPECT_TRUE(has(c, "block-overlap 7 7")) << c.text();
}

// What is refused is left out: a scalar load then gives 0, and all of it is found in one run.
TEST(Small, AllThatIsRefusedIsFoundAtOnce) {
  const std::string text =
      "ld_arg X0, 0\n"
      "ld_ubuf.b64 X1, 0xfffff8\n"
      "copy_ubuf_to_gm X1, 0, 0, 1, 1, 0, 0\n"
      "copy_gm_to_ubuf 8, X0, 0, 1, 1, 0, 0\n"
      "set_flag PIPE_ALL, PIPE_V, EVENT_ID0\n"
      "wait_flag PIPE_M, PIPE_V, EVENT_ID0\n"
      "set_flag PIPE_V, PIPE_MTE3, EVENT_ID9\n"
      "pipe_barrier PIPE_M\n"
      "mad.f162f32 0, 0, 0, 16, 16, 16, 1\n"
      "vadds.f16 0x1000, 0, 0x12345, 1, 1, 1, 8, 8\n"
      "st_dev.b64 X1, 0x100000004\n"
      "end\n";
  for (const Mode mode : {Mode::functional, Mode::full}) {
    const Checked c = run(text, mode);
    EXPECT_EQ(found(c), (std::vector<std::string>{"out-of-bounds 0 2", "gm-out-of-bounds 0 3", "misaligned-access 0 4",
                                                  "missing-unit 0 5", "missing-unit 0 6", "event-out-of-range 0 7",
                                                  "missing-unit 0 8", "missing-unit 0 9", "illegal-operand 0 10",
                                                  "misaligned-access 0 11"}))
        << c.text();
    EXPECT_EQ(c.fault, "");
  }
}

// What no check can step over still ends the run, with what was found before.
TEST(Small, FaultsOfTheScalarUnitAreSteppedOver) {
  const std::string text =
      "mov X1, 5\n"
      "div X1, X1, 0\n"
      "set_va_reg_sb 0, 0, 32, 64, 96, 100, 160, 192, 224\n"
      "ld_arg X2, 9\n"
      "sqrt X3, -4\n"
      "blt X1, 1, zero\n"  // the quotient counts as 0
      "trap 1\n"
      "zero: end\n";
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing}) {
    const Checked c = run(text, mode);
    EXPECT_EQ(found(c), (std::vector<std::string>{"division-by-zero 0 2", "misaligned-access 0 3",
                                                  "missing-argument 0 4", "illegal-operand 0 5"}))
        << c.text();
    EXPECT_EQ(c.fault, "");
  }
}

// Known only when the data are there: the addresses that vgather takes from UB.
TEST(Small, FaultsOfAPipeAreFindings) {
  const std::string text =
      "vector_dup.u32 0, 0x40000, 2, 1, 1, 8, 8\n"
      "pipe_barrier PIPE_V\n"
      "vgather.f16 0x1000, 0, 0, 8, 1\n"
      "end\n";
  for (const Mode mode : {Mode::functional, Mode::full}) {
    const Checked c = run(text, mode);
    EXPECT_EQ(found(c), std::vector<std::string>{"out-of-bounds 0 3"}) << c.text();
    EXPECT_NE(c.fault, "");
  }
}

TEST(Small, OtherFaultsEndTheRun) {
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing}) {
    Checked c = run("ld_arg X0, 0\nld_ubuf.b64 X1, 0x0\ntrap 7\nend\n", mode);
    EXPECT_EQ(found(c), (std::vector<std::string>{"uninitialised-read 0 2", "program-fault 0 3"})) << c.text();
    EXPECT_NE(c.fault, "");
    c = run("l: b l\nend\n", mode);  // a limit is not a fault of the program as far as it was seen
    EXPECT_TRUE(c.findings.empty()) << c.text();
    EXPECT_NE(c.fault, "");
  }
}

// Two mads that are long enough need no barrier on the same accumulator.
TEST(Small, LongMadsFollowEachOther) {
  const auto text = [](int m, int n) {
    return fmt::format(
        "ld_arg X0, 0\ncopy_gm_to_cbuf 0, X0, 0, 1, 128, 0, 0\nset_flag PIPE_MTE2, PIPE_MTE1, EVENT_ID0\n"
        "wait_flag PIPE_MTE2, PIPE_MTE1, EVENT_ID0\nload_cbuf_to_ca 0, 0, 0, 8, 1, 0, 0\n"
        "load_cbuf_to_cb 0, 0, 0, 8, 1, 0, 0\nset_flag PIPE_MTE1, PIPE_M, EVENT_ID0\n"
        "wait_flag PIPE_MTE1, PIPE_M, EVENT_ID0\nmad.f162f32 0, 0, 0, {0}, 16, {1}, 1\n"
        "mad.f162f32 0, 0, 0, {0}, 16, {1}, 0\nend\n",
        m, n);
  };
  EXPECT_EQ(run(text(80, 32), Mode::functional, 1, isa::CoreKind::cube).text(), "");
  EXPECT_EQ(found(run(text(48, 48), Mode::functional, 1, isa::CoreKind::cube)),
            std::vector<std::string>{"missing-pipe-barrier 9 10"});
}

// Atomic writes of all blocks may meet; what they add to must have been written.
TEST(Small, AtomicWritesMeet) {
  const auto chip = round_chip(isa::Arch::c220);
  const std::string text =
      "ld_arg X0, 0\n"
      "vector_dup.f32 0, 0x3f800000, 1, 1, 1, 8, 8\n"
      "set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
      "wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
      "set_atomic_add\nset_atomic_f32\n"
      "copy_ubuf_to_gm X0, 0, 0, 1, 8, 0, 0\n"
      "copy_ubuf_to_gm X0, 0, 0, 1, 8, 0, 0\n"
      "end\n";
  const auto kind = isa::CoreKind::vector;
  EXPECT_EQ(check(chip, launch_stream(chip, kind, text, {{"x", 4096}}, 4)).text(), "");
  EXPECT_EQ(found(check(chip, launch_stream(chip, kind, text, {{"x", 4096, false}}, 4))),
            std::vector<std::string>{"uninitialised-gm-read 0 7"});
  std::string plain = text;
  plain.erase(plain.find("set_atomic_add"), 30);  // both lines
  plain.replace(plain.find("0x3f800000"), 10, "X1");
  plain.insert(0, "get_block_idx X1\n");
  EXPECT_TRUE(check(chip, launch_stream(chip, kind, plain, {{"x", 4096}}, 4)).has(isa::check::FaultId::block_overlap));
}

// Each block writes its part, and reads that of the other one behind a barrier of all blocks.
TEST(Small, CrossCoreFlagsOrderBlocks) {
  auto chip = round_chip(isa::Arch::c220);
  chip.vector_cores = 2;
  const std::string text =
      "set_ffts_base_addr 1\n"
      "ld_arg X0, 0\n"
      "get_block_idx X1\n"
      "shl X2, X1, 8\n"
      "add X2, X2, X0\n"
      "xor X3, X1, 1\n"
      "shl X3, X3, 8\n"
      "add X3, X3, X0\n"
      "vector_dup.f16 0, 0, 1, 1, 1, 8, 8\n"
      "set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
      "wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
      "copy_ubuf_to_gm X2, 0, 0, 1, 8, 0, 0\n"
      "ffts_cross_core_sync PIPE_MTE3, 0x1\n"
      "wait_flag_dev 0\n"
      "copy_gm_to_ubuf 0x1000, X3, 0, 1, 8, 0, 0\n"
      "end\n";
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing}) {
    EXPECT_EQ(check(chip, launch_stream(chip, isa::CoreKind::vector, text, {{"x", 4096}}, 2), mode).text(), "");
    // A set of another pipe says nothing about the store.
    std::string wrong = text;
    wrong.replace(wrong.find("PIPE_MTE3, 0x1"), 14, "PIPE_MTE2, 0x1");
    const Checked c = check(chip, launch_stream(chip, isa::CoreKind::vector, wrong, {{"x", 4096}}, 2), mode);
    EXPECT_TRUE(c.has(isa::check::FaultId::block_overlap)) << c.text();
  }
}

// Block 0 writes data and then a flag of 32 bytes behind them; block 1 waits until it sees the flag, and reads the
// data.
struct FlagInMemory {
  std::string between = "pipe_barrier PIPE_ALL\n";
  std::string wait;
  std::string before_wait;

  std::string text() const {
    return "ld_arg X0, 0\n"
           "get_block_idx X1\n"
           "bne X1, 0, reader\n"
           "vector_dup.f32 0, 0x3f800000, 1, 1, 1, 8, 8\n"
           "pipe_barrier PIPE_ALL\n"
           "copy_ubuf_to_gm X0, 0, 0, 1, 8, 0, 0\n" +
           between +
           "add X2, X0, 1024\n"
           "copy_ubuf_to_gm X2, 0, 0, 1, 1, 0, 0\n"
           "end\n"
           "reader:\n"
           "add X2, X0, 1024\n" +
           before_wait + wait +
           "copy_gm_to_ubuf 0x1000, X0, 0, 1, 8, 0, 0\n"
           "end\n";
  }
  Checked run(Mode mode = Mode::functional) const {
    auto chip = round_chip(isa::Arch::c220);
    chip.vector_cores = 2;
    return check(chip, launch_stream(chip, isa::CoreKind::vector, text(), {{"x", 4096}}, 2), mode);
  }
};
const std::string kLoadLoop = "again:\nld_dev.b32 X3, X2, 0\nbne X3, 0x3f800000, again\n";
const std::string kCopyLoop =
    "again:\n"
    "copy_gm_to_ubuf 0, X2, 0, 1, 1, 0, 0\n"
    "set_flag PIPE_MTE2, PIPE_S, EVENT_ID0\n"
    "wait_flag PIPE_MTE2, PIPE_S, EVENT_ID0\n"
    "ld_ubuf.b32 X3, 0, 0\n"
    "bne X3, 0x3f800000, again\n";

TEST(WaitThroughMemory, OrdersWhatIsBehindIt) {
  for (const std::string& wait : {kLoadLoop, kCopyLoop}) {
    for (const Mode mode : {Mode::functional, Mode::full})
      EXPECT_EQ((FlagInMemory{.wait = wait, .before_wait = {}}.run(mode).text()), "") << wait;
  }
  // The branch out of the loop is the one that asks.
  const std::string out = "again:\nld_dev.b32 X3, X2, 0\nbeq X3, 0x3f800000, seen\nb again\nseen:\n";
  EXPECT_EQ((FlagInMemory{.wait = out, .before_wait = {}}.run().text()), "");
}

// A recorded kernel has no loop; its mark says that there was one, also where the run has no data.
TEST(WaitThroughMemory, IsMarkedInRecordings) {
  const std::string load = "ld_dev.b32 X3, X2, 0\nnop 1, 0, 1\n";
  const std::string copy = kCopyLoop.substr(0, kCopyLoop.find("bne")) + "nop 1, 0, 1\n";
  for (const Mode mode : {Mode::functional, Mode::timing}) {
    EXPECT_EQ((FlagInMemory{.wait = load, .before_wait = {}}.run(mode).text()), "");
    EXPECT_EQ((FlagInMemory{.wait = copy, .before_wait = {}}.run(mode).text()), "");
  }
}

// The turns before the marked one are a part of the loop; loads from other addresses are not.
TEST(WaitThroughMemory, HasEarlierTurnsInRecordings) {
  const auto load = [](u64 offset) { return fmt::format("ld_dev.b32 X3, {:#x}, 0\n", kGm + offset); };
  const std::string turns = load(1024) + "nop 3\n" + load(1024) + "nop 500\n" + load(1024) + "nop 1, 0, 1\n";
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing}) {
    EXPECT_EQ((FlagInMemory{.wait = turns, .before_wait = {}}.run(mode).text()), "");
    const Checked early = FlagInMemory{.wait = turns, .before_wait = load(0)}.run(mode);
    EXPECT_TRUE(early.has(isa::check::FaultId::block_overlap)) << early.text();
  }
}

TEST(WaitThroughMemory, MissesAreFound) {
  using isa::check::FaultId;
  const auto overlaps = [](const FlagInMemory& x) { return x.run().has(FaultId::block_overlap); };
  // No wait at all, and a look at the flag whose answer changes nothing.
  EXPECT_TRUE(overlaps({.wait = {}, .before_wait = {}}));
  EXPECT_TRUE(overlaps({.wait = "ld_dev.b32 X3, X2, 0\n", .before_wait = {}}));
  EXPECT_TRUE(overlaps({.wait = kCopyLoop.substr(0, kCopyLoop.find("bne")), .before_wait = {}}));
  // A loop that waits for something else.
  EXPECT_TRUE(overlaps(
      {.wait = "mov X4, 0\nagain:\nld_dev.b32 X3, X2, 0\nadd X4, X4, 1\nblt X4, 9, again\n", .before_wait = {}}));
  // The data are read before the wait.
  for (const std::string& wait : {kLoadLoop, kCopyLoop}) {
    EXPECT_TRUE(overlaps({.wait = wait, .before_wait = "copy_gm_to_ubuf 0x2000, X0, 0, 1, 8, 0, 0\n"}));
    // Nothing says that the data are written when the flag is.
    EXPECT_TRUE(overlaps({.between = "", .wait = wait, .before_wait = {}}));
  }
}

// Cores add to one word, and the reader waits for the sum.
TEST(WaitThroughMemory, ComesAfterAllWhoAdd) {
  auto chip = round_chip(isa::Arch::c220);
  chip.vector_cores = 3;
  const auto text = [](const std::string& enough) {
    return "ld_arg X0, 0\n"
           "get_block_idx X1\n"
           "add X2, X0, 2048\n"
           "beq X1, 2, reader\n"
           "vector_dup.s32 0, 1, 1, 1, 1, 8, 8\n"
           "pipe_barrier PIPE_ALL\n"
           "shl X3, X1, 8\n"
           "add X3, X3, X0\n"
           "copy_ubuf_to_gm X3, 0, 0, 1, 8, 0, 0\n"
           "pipe_barrier PIPE_ALL\n" +
           enough +
           "copy_ubuf_to_gm X2, 0, 0, 1, 1, 0, 0\n"
           "end\n"
           "reader:\n"
           "again:\nld_dev.b32 X3, X2, 0\nblt X3, 2, again\n"
           "copy_gm_to_ubuf 0x1000, X0, 0, 1, 16, 0, 0\n"
           "end\n";
  };
  const auto run = [&](const std::string& enough) {
    return check(chip, launch_stream(chip, isa::CoreKind::vector, text(enough), {{"x", 4096}}, 3));
  };
  EXPECT_EQ(run("set_atomic_add\nset_atomic_s32\n").text(), "");
}

// A wait comes after what its event's first record comes after, and no more.
TEST(Small, EventsOrderTasks) {
  const auto chip = round_chip(isa::Arch::c220);
  task::TaskStream s = launch_stream(chip, isa::CoreKind::vector, "end\n", {{"x", 4096}, {"y", 4096}}, 1);
  s.events = {"half", "whole"};
  auto& tasks = s.streams[0].tasks;
  tasks.insert(tasks.begin() + 1, {.name = "half", .op = task::EventRecord{.event = 0}});
  tasks.push_back({.name = "whole", .op = task::EventRecord{.event = 1}});
  const auto copy = [](u32 from, u32 to) {
    return task::MemcpyAsync{.dst = {.buffer = to, .offset = 2048},
                             .src = {.buffer = from},
                             .width = 100,
                             .height = 3,
                             .dst_pitch = 120,
                             .src_pitch = 110};
  };
  s.streams.push_back({.name = "other",
                       .tasks = {{.name = "wait half", .op = task::StreamWaitEvent{.event = 0}},
                                 {.name = "reads x", .op = copy(0, 0)},
                                 {.name = "reads y", .op = copy(1, 0)},
                                 {.name = "wait whole", .op = task::StreamWaitEvent{.event = 1}},
                                 {.name = "reads y again", .op = copy(1, 1)}}});
  const Checked c = check(chip, s);
  ASSERT_EQ(c.findings.size(), 1u) << c.text();
  EXPECT_EQ(name(c.findings[0].id), "task-overlap");
  EXPECT_EQ(c.findings[0].at.task, "reads y");
  EXPECT_EQ(c.findings[0].other->task, "set y");
}

}  // namespace
}  // namespace vinci::test
