// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/native_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/table/codec.h"
#include "isa/table/table.h"
#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

constexpr u64 kBase = GlobalMemory::kBase;

CoreSpec vector_core() {
  return {.arch = Arch::c220, .kind = CoreKind::vector, .sizes = {0, 0, 0, 0, 0, 0x4000}, .flags_per_pair = 8};
}

// A core that is fed the lines of an assembly text one by one.
struct Bench {
  Bench() : core(vector_core(), gm, 0), flags({.cube = false, .vector_cores = 1}) {
    gm.allocate(4096, "b");
    for (u32 i = 0; i < 64; ++i)
      gm_store<float>(gm, kBase + 4 * i, static_cast<float>(i));
    core.start(launch, &flags, {.part = 1}, "k.cpp");
  }
  Machine::State feed(const std::string& text, u32 first_line = 1) {
    const Program p = assemble(text + "end", "k.s", Arch::c220);
    Machine::State state = Machine::State::paused;
    for (usize i = 0; i + 1 < p.code.size(); ++i)
      state = core.issue(decode(p.code[i]), first_line + static_cast<u32>(i));
    return state;
  }
  Machine::State end() { return core.issue({.row = row_of("end")}, 0); }
  Program traced(bool with_files = false) {
    Program p{.arch = Arch::c220, .source = "k.cpp", .code = {}, .lines = {}, .labels = {}};
    core.take_trace().write(p, with_files);
    return p;
  }

  GlobalMemory gm;
  NativeCore core;
  CrossCoreFlags flags;
  Launch launch;
};

const std::string kAddOne =
    "nop 20\n"
    "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 8, 0, 0\n"
    "set_flag PIPE_MTE2, PIPE_V, 0\n"
    "wait_flag PIPE_MTE2, PIPE_V, 0\n"
    "set_mask_count\n"
    "set_vector_mask 0, 40\n"
    "vadds.f32 0x100, 0, 1.0f, 1, 1, 1, 8, 8\n"
    "set_mask_norm\n"
    "set_flag PIPE_V, PIPE_MTE3, 0\n"
    "wait_flag PIPE_V, PIPE_MTE3, 0\n"
    "copy_ubuf_to_gm 0x100000400, 0x100, 0, 1, 5, 0, 0\n";

TEST(NativeCore, ExecutesWhatItIsGivenAtOnce) {
  Bench b;
  b.feed(kAddOne);
  EXPECT_EQ(gm_load<float>(b.gm, kBase + 0x400), 1.0f);  // before the block has ended
  EXPECT_EQ(gm_load<float>(b.gm, kBase + 0x400 + 4 * 39), 40.0f);
  EXPECT_EQ(gm_load<float>(b.gm, kBase + 0x400 + 4 * 40), 0.0f);
  EXPECT_EQ(b.end(), Machine::State::done);
}

TEST(NativeCore, ItsTraceIsAProgramThatGivesTheSameBits) {
  Bench b;
  b.feed(kAddOne);
  b.end();
  const Program traced = b.traced();
  verify(traced);
  EXPECT_EQ(traced.code, assemble(kAddOne + "end", "k.s", Arch::c220).code);

  Bench again;
  Machine machine(vector_core(), again.gm, 0);
  u64 budget = 100;
  machine.run(Code(traced), {}, budget);
  for (u32 i = 0; i < 64; ++i)
    EXPECT_EQ(gm_load<u32>(again.gm, kBase + 0x400 + 4 * i), gm_load<u32>(b.gm, kBase + 0x400 + 4 * i)) << i;
}

TEST(NativeCore, FaultsNameTheLineOfTheCaller) {
  Bench b;
  EXPECT_THAT(error_of([&] { b.feed("vadds.f32 0x4000, 0, 1.0f, 1, 1, 1, 8, 8\n", 17); }),
              HasSubstr("program: k.cpp:17: the ub address out of bounds"));
}

TEST(NativeCore, LinesMayBeOfSeveralFiles) {
  Bench b;
  const Inst store = decode(assemble("st_dev.b32 1, 0x100000400, 0\nend\n", "k.s", Arch::c220).code[0]);
  const u16 header = b.core.file("k.h");
  EXPECT_EQ(b.core.file("k.cpp"), 0);  // the source
  EXPECT_EQ(b.core.file("k.h"), header);
  b.core.issue(store, 3);
  b.core.issue(store, 4, header);
  b.end();
  EXPECT_EQ(b.core.code().place(0), "k.cpp:3");
  EXPECT_EQ(b.core.code().place(1), "k.h:4");
  Program traced = b.traced(true);
  traced.included = {"k.h"};
  EXPECT_EQ(Code(traced).place(1), "k.h:4");
  EXPECT_EQ(Code(traced).source(0), "k.cpp");
  traced.files[0] = 2;
  EXPECT_THAT(error_of([&] { verify(traced); }), HasSubstr("2 is not the number of a source file"));
  traced.files.pop_back();
  EXPECT_THAT(error_of([&] { verify(traced); }), HasSubstr("numbers of source files"));
}

TEST(NativeCore, WaitsForAnotherCoreAndGoesOn) {
  Bench b;
  b.flags = CrossCoreFlags({.blocks = 2, .cube = false, .vector_cores = 1, .resident = 2});
  EXPECT_EQ(b.feed("set_ffts_base_addr 1\nffts_cross_core_sync PIPE_MTE3, 0x301\nwait_flag_dev 3\n"),
            Machine::State::waits);
  EXPECT_EQ(b.core.resume(), Machine::State::waits);
  for (const TaskCore& core : b.flags.set({.block = 1, .part = 1}, {.mode = 0, .flag = 3}))
    b.flags.increment(core, 3);
  EXPECT_EQ(b.core.resume(), Machine::State::paused);
  EXPECT_EQ(b.end(), Machine::State::done);
}

TEST(NativeCore, ABlockThatCannotEndIsADeadlockWithLines) {
  Bench b;
  b.feed("wait_flag PIPE_MTE2, PIPE_V, 0\n", 5);
  EXPECT_THAT(error_of([&] { b.end(); }), AllOf(HasSubstr("deadlock"), HasSubstr("k.cpp:5")));
}

TEST(Machine, BeginsAtTheEntryOfItsLaunch) {
  Bench b;
  Machine machine(vector_core(), b.gm, 0);
  const Code code(
      assemble("st_dev.b32 1, 0x100000400, 0\nend\nst_dev.b32 2, 0x100000404, 0\nend\n", "k.s", Arch::c220));
  u64 budget = 100;
  machine.run(code, {.entry = 2}, budget);
  EXPECT_EQ(gm_load<u32>(b.gm, kBase + 0x400), 0u);
  EXPECT_EQ(gm_load<u32>(b.gm, kBase + 0x404), 2u);
}

TEST(GlobalMemory, MappedBytesAreAtTheirAddresses) {
#if defined(VINCI_SANITIZED)
  GTEST_SKIP() << "the shadow memory of sanitizers is there";
#endif
  GlobalMemory gm(GlobalMemory::Backing::mapped);
  const u64 at = gm.allocate(1 << 20, "b");
  auto* p = reinterpret_cast<u32*>(at);  // NOLINT(performance-no-int-to-ptr)
  EXPECT_EQ(p[1000], 0u);
  p[1000] = 42;
  EXPECT_EQ(gm_load<u32>(gm, at + 4000), 42u);
  gm_store<u32>(gm, at + 4004, 43);
  EXPECT_EQ(p[1001], 43u);
  EXPECT_THAT(error_of([] { GlobalMemory second(GlobalMemory::Backing::mapped); }), HasSubstr("in use"));
  gm.free(at);
  EXPECT_EQ(gm.find(at, 4), nullptr);
}

}  // namespace
}  // namespace vinci::isa
