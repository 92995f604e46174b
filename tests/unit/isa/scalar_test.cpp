// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/scalar.h"

#include <gmock/gmock.h>

#include "isa/machine/machine.h"
#include "isa/table/table.h"
#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

struct ScalarMemory : testing::Test {
  TestCore core;
  std::array<u64, 32> x{};
  ScalarContext context{.x = x, .spr = core.spr, .args = {}, .results = core.results, .mem = &core.mem};
};

TEST_F(ScalarMemory, LoadsExtendWithZero) {
  core.mem[BufId::UB].store<u64>(64, 0x8877'6655'4433'22f1);
  const u64 expected[] = {0xf1, 0x22f1, 0x4433'22f1, 0x8877'6655'4433'22f1};
  for (u8 type = 0; type < 4; ++type) {
    insn::LdUbuf::execute({.address = 60, .offset = 4, .rd = 3, .type = type}, context);
    EXPECT_EQ(x[3], expected[type]) << unsigned{type};
  }
  EXPECT_FALSE(context.loaded_unknown);
}

TEST_F(ScalarMemory, StoresWriteTheirWidthOnly) {
  core.mem[BufId::UB].store<u64>(8, ~u64{0});
  insn::StUbuf::execute({.value = 0x1122'3344'5566'7788, .address = 8, .offset = 2, .type = 1}, context);
  EXPECT_EQ(core.mem[BufId::UB].load<u64>(8), 0xffff'ffff'7788'ffff);
}

TEST_F(ScalarMemory, GlobalMemory) {
  const u64 at = core.gm.allocate(64, "scratch");
  insn::StDev::execute({.value = 0xaabb'ccdd, .address = at, .offset = 8, .type = 2}, context);
  insn::LdDev::execute({.address = at + 8, .offset = 0, .rd = 0, .type = 3}, context);
  EXPECT_EQ(x[0], 0xaabb'ccddu);
  insn::LdDev::execute({.address = at, .offset = 9, .rd = 1, .type = 0}, context);
  EXPECT_EQ(x[1], 0xccu);
}

TEST_F(ScalarMemory, WithoutDataALoadIsUnknownAndAStoreDoesNothing) {
  const u64 at = core.gm.allocate(64, "scratch");
  gm_store<u64>(core.gm, at, 7);
  context.mem = nullptr;
  x[2] = 99;
  insn::StDev::execute({.value = 1, .address = at, .offset = 0, .type = 3}, context);
  EXPECT_FALSE(context.loaded_unknown);
  insn::LdDev::execute({.address = at, .offset = 0, .rd = 2, .type = 3}, context);
  EXPECT_TRUE(context.loaded_unknown);
  EXPECT_EQ(x[2], 0u);
  EXPECT_EQ(gm_load<u64>(core.gm, at), 7u);
}

TEST_F(ScalarMemory, OutsideUbIsAFault) {
  EXPECT_EQ(error_of([&] { insn::LdUbuf::execute({.address = 65532, .offset = 0, .rd = 0, .type = 3}, context); }),
            "program: UB[0xfffc, +8) is outside its 65536 bytes");
}

// The value of X1 after a program for c220, or its fault.
struct Scalar {
  explicit Scalar(const std::string& text, OverflowMode mode = OverflowMode::inf_nan)
      : spec{.arch = Arch::c220, .kind = CoreKind::vector, .sizes = {0, 0, 0, 0, 0, 0x2000}, .overflow = mode},
        machine(spec, gm, 3) {
    gm.allocate(64, "out");
    const Code code(assemble(text + "\n st_dev.b64 X1, 0x100000000\n end", "k.s", Arch::c220));
    u64 budget = 1000;
    error = error_of(
        [&] { machine.run(code, {.block_idx = 4, .block_num = 9, .subblock_idx = 1, .subblock_num = 2}, budget); });
    x1 = gm_load<u64>(gm, GlobalMemory::kBase);
  }
  CoreSpec spec;
  GlobalMemory gm;
  Machine machine;
  std::string error;
  u64 x1 = 0;
};
u64 x1(const std::string& text) { return Scalar(text).x1; }

TEST(ScalarUnit, BitSearch) {
  EXPECT_EQ(x1("sff1 X1, 0x50"), 4u);
  EXPECT_EQ(x1("sff1 X1, 0"), ~u64{0});
  EXPECT_EQ(x1("sff0 X1, 0x4f"), 4u);
  EXPECT_EQ(x1("sff0 X1, -1"), ~u64{0});
  EXPECT_EQ(x1("sflbits X1, 0x0f00000000000000"), 3u);
  EXPECT_EQ(x1("sflbits X1, -2"), 62u);
  EXPECT_EQ(x1("sflbits X1, 1 << 62"), 0u);
  EXPECT_EQ(x1("sflbits X1, 0"), ~u64{0});
  EXPECT_EQ(x1("sflbits X1, -1"), ~u64{0});
  EXPECT_EQ(x1("clz X1, 1"), 63u);
}

TEST(ScalarUnit, S64IsTheTypeWithoutASuffix) {
  EXPECT_EQ(x1("add X1, 2, 3"), 5u);
  EXPECT_EQ(x1("add.s64 X1, 2, 3"), 5u);
  EXPECT_EQ(x1("max X1, -1, 3"), 3u);
  EXPECT_EQ(x1("abs X1, -7"), 7u);
  EXPECT_EQ(x1("neg X1, 7"), static_cast<u64>(-7));
  EXPECT_EQ(x1("cmp_lt X1, -1, 0"), 1u);
  EXPECT_EQ(print({.row = row_of("add"), .operands = {{{true, 1}, {false, 2}, {false, 3}}}}), "add X1, 2, 3");
  EXPECT_EQ(print({.row = row_of("add"), .type = 1, .operands = {{{true, 1}, {true, 2}, {true, 3}}}}),
            "add.f32 X1, X2, X3");
}

TEST(ScalarUnit, RootsOfS64AreRoundedDown) {
  for (const u64 root : {u64{0}, u64{1}, u64{2}, u64{3}, u64{65535}, u64{0x7fff'ffff}, u64{3037000499}}) {
    EXPECT_EQ(x1(fmt::format("sqrt X1, {}", root * root)), root);
    if (root > 1) {
      EXPECT_EQ(x1(fmt::format("sqrt X1, {}", root * root - 1)), root - 1);
    }
  }
  EXPECT_EQ(x1("sqrt X1, 0x7fffffffffffffff"), 3037000499u);
  EXPECT_THAT(Scalar("sqrt X1, -4").error, testing::HasSubstr("program: k.s:1: ccu_neg_sqrt: root of -4"));
}

TEST(ScalarUnit, F32IsTheLowHalfOfARegister) {
  EXPECT_EQ(x1("add.f32 X1, 1.5f, 2.25f"), std::bit_cast<u32>(3.75f));
  EXPECT_EQ(x1("mov X2, -1\nshl X2, X2, 32\nor X2, X2, 1.5f\nmul.f32 X1, X2, 2.0f"), std::bit_cast<u32>(3.0f));
  EXPECT_EQ(x1("div.f32 X1, 1.0f, 3.0f"), std::bit_cast<u32>(1.0f / 3.0f));
  EXPECT_EQ(x1("sqrt.f32 X1, 6.25f"), std::bit_cast<u32>(2.5f));
  EXPECT_EQ(x1("min.f32 X1, 2.0f, -3.0f"), std::bit_cast<u32>(-3.0f));
  EXPECT_EQ(x1("cmp_le.f32 X1, 2.0f, -3.0f"), 0u);
  EXPECT_EQ(x1("conv_f322s32r X1, -2.5f"), static_cast<u64>(-2));
  EXPECT_EQ(x1("conv_f322s32a X1, -2.5f"), static_cast<u64>(-3));
  EXPECT_EQ(x1("conv_f322s32f X1, -2.25f"), static_cast<u64>(-3));
  EXPECT_EQ(x1("conv_f322s32c X1, -2.75f"), static_cast<u64>(-2));
  EXPECT_EQ(x1("conv_f322s32z X1, -2.75f"), static_cast<u64>(-2));
  EXPECT_EQ(x1("conv_s322f32 X1, -3"), std::bit_cast<u32>(-3.0f));
  EXPECT_EQ(x1("conv_f322f16 X1, 1.5f"), 0x3e00u);
  EXPECT_EQ(x1("conv_f162f32 X1, 0x3e00"), std::bit_cast<u32>(1.5f));
  EXPECT_EQ(x1("conv_f322f16o X1, 0x3f801000"), 0x3c01u);  // 1 + 2^-11: inexact, the odd neighbour
}

TEST(ScalarUnit, OverflowModeDecidesWhatALargeF16Becomes) {
  EXPECT_EQ(Scalar("conv_f322f16 X1, 70000.0f", OverflowMode::inf_nan).x1, 0x7c00u);
  EXPECT_EQ(Scalar("conv_f322f16 X1, 70000.0f", OverflowMode::saturation).x1, 0x7bffu);
}

TEST(ScalarUnit, F32RaisesStatus) {
  const std::string overflow = "mul.f32 X2, 1e30f, 1e30f\n";
  EXPECT_EQ(x1(overflow + "get_status X1"), status::kFloatOverflow);
  EXPECT_EQ(x1(overflow + "add.f32 X2, X2, 1.0f\nget_status X1"), status::kFloatOverflow | status::kScalarNanInf);
  EXPECT_EQ(x1(overflow + "add.f32 X2, X2, 1.0f\nget_overflow_status X1"), status::kFloatOverflow);
}

TEST(ScalarUnit, KnowsWhereItIs) {
  EXPECT_EQ(x1("get_block_idx X1"), 4u);
  EXPECT_EQ(x1("get_block_num X1"), 9u);
  EXPECT_EQ(x1("get_subblockid X1"), 1u);
  EXPECT_EQ(x1("get_subblockdim X1"), 2u);
  EXPECT_EQ(x1("get_coreid X1"), 3u);
}

TEST(ScalarUnit, WithoutTimeTheSystemCounterCountsInstructions) {
  EXPECT_EQ(x1("get_sys_cnt X1"), 1u);
  EXPECT_EQ(x1("mov X2, 0\nget_sys_cnt X1"), 2u);
  EXPECT_EQ(x1("get_sys_cnt X2\nloop: get_sys_cnt X1\nsub X3, X1, X2\nblt X3, 100, loop\nmov X1, X3"), 100u);
}

TEST(ScalarUnit, TrapAbortsWithItsCode) {
  EXPECT_THAT(Scalar("mov X1, 1\ntrap 0x77").error,
              testing::HasSubstr("program: k.s:2: the kernel trapped with code 0x77"));
  EXPECT_THAT(Scalar("mov X2, 0x5a5a0002\ntrap X2").error, testing::HasSubstr("0x5a5a0002 (out of bounds: write)"));
  EXPECT_THAT(Scalar("trap").error, testing::HasSubstr("trapped with code 0x0"));
}

TEST(ScalarUnit, CacheInstructionsChangeNothing) {
  EXPECT_EQ(x1("mov X1, 7\nst_dev.b64 X1, 0x100000008\ndcci 0x100000000, 1, 2\ndsb 1\ndc_preload 0x100000000\n"
               "preload 0x100000000\nld_dev.b64 X1, 0x100000008"),
            7u);
}

TEST(ScalarUnit, WhatAnArchitectureLacksIsRefused) {
  const auto refusal = [](const std::string& text) {
    return error_of([&] { assemble(text + "\nend", "k.s", Arch::c100); });
  };
  EXPECT_THAT(refusal("max.f32 X1, X2, X3"), testing::HasSubstr("max.f32 does not exist on c100; there is max.s64"));
  EXPECT_THAT(refusal("get_subblockid X1"), testing::HasSubstr("get_subblockid does not exist on c100"));
  EXPECT_THAT(refusal("wait_flag_dev 1"), testing::HasSubstr("wait_flag_dev does not exist on c100"));
}

}  // namespace
}  // namespace vinci::isa
