// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/scalar.h"

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

}  // namespace
}  // namespace vinci::isa
