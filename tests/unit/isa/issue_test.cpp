// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/issue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isa/program/code.h"
#include "isa/table/table.h"
#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

// A core of each kind and a global memory of two allocations, [0x100000000, +0x1000) and [0x100002000, +0x100).
class Issue : public testing::Test {
 protected:
  Issue() {
    gm_.allocate(0x1000, "first");
    gm_.allocate(0x1000, "hole");
    gm_.allocate(0x100, "last");
    second_ = gm_.nearest(~u64{0} >> 16)->begin;
    gm_.free(gm_.nearest(second_ - 1)->begin);
  }

  static CoreSpec core(CoreKind kind) {
    CoreSpec spec{.arch = kind == CoreKind::joint ? Arch::c100 : Arch::c220, .kind = kind, .flags_per_pair = 4};
    if (kind != CoreKind::vector) {
      spec.sizes[index(BufId::L1)] = 0x4000;
      spec.sizes[index(BufId::L0A)] = spec.sizes[index(BufId::L0B)] = 0x2000;
      spec.sizes[index(BufId::L0C)] = 0x4000;
    }
    if (kind != CoreKind::cube) spec.sizes[index(BufId::UB)] = 0x2000;
    return spec;
  }

  // What check_issue() says about one instruction; "" when it is legal.
  std::string check(CoreKind kind, const std::string& text) {
    const CoreSpec spec = core(kind);
    const Code code(assemble(text, "k.s", spec.arch));
    const CodeInst& inst = code[0];
    Issued issued{.row = inst.row, .args = inst.args, .spr = {}, .type = inst.type};
    issued.pipe = inst.row->pipe(issued.args, spec.arch);
    return error_of([&] { check_issue(issued, spec, gm_); });
  }

  GlobalMemory gm_;
  u64 second_ = 0;
};

TEST_F(Issue, LegalInstructionsPass) {
  EXPECT_EQ(check(CoreKind::joint, "copy_gm_to_ubuf 0x1f00, 0x100000f00, 0, 1, 8, 0, 0"), "");  // to the last byte
  EXPECT_EQ(check(CoreKind::joint, "copy_gm_to_ubuf 0, 0x100000001, 0, 1, 8, 0, 0"), "");       // any address
  EXPECT_EQ(check(CoreKind::joint, "mad.f162f32 0, 0, 0, 64, 64, 64, 1"), "");
  EXPECT_EQ(check(CoreKind::joint, "set_flag PIPE_M, PIPE_S, 3"), "");
  EXPECT_EQ(check(CoreKind::vector, "pipe_barrier PIPE_ALL"), "");
  EXPECT_EQ(check(CoreKind::vector, "pipe_barrier PIPE_S"), "");
}

// A block starts with all bits of the vector mask set, which counter mode reads as 2^32 - 1 elements. Each instruction
// of the vector unit that takes its repeats from there must be refused as soon as it is issued, before a lane is
// touched.
TEST_F(Issue, CounterModeWithoutACountIsRefused) {
  const CoreSpec spec = core(CoreKind::vector);
  Spr spr;
  spr.ctrl |= ctrl::kCounterMode;
  int examined = 0;
  for (const Row& row : table()) {
    if (row.role != Role::work || !contains(row.archs, Arch::c220)) continue;
    Issued inst{.row = &row, .args = {}, .spr = spr};
    for (const FieldInfo& f : row.fields) {
      const bool stride = f.name.find("Stride") != std::string_view::npos;
      f.set(inst.args, f.name.ends_with("RepStride") ? 8 : stride ? 1 : f.fallback);
    }
    for (u8 type = 0; type < std::max<usize>(1, row.types.size()); ++type) {
      if (!row.types.empty() && !contains(row.types[type].archs, Arch::c220)) continue;
      if (row.set_type != nullptr) row.set_type(inst.args, type);
      inst.type = type;
      inst.pipe = row.pipe(inst.args, Arch::c220);
      if (inst.pipe != PipeId::V || row.work(inst.args, spr).steps <= 255) continue;
      ++examined;
      EXPECT_NE(error_of([&] { check_issue(inst, spec, gm_); }), "") << row.name << " type " << int{type};
    }
  }
  EXPECT_GT(examined, 200);
}

TEST_F(Issue, NothingIsCheckedOfWorkThatIsNone) {
  EXPECT_EQ(check(CoreKind::joint, "copy_gm_to_ubuf 0xffffe0, 7, 0, 0, 8, 0, 0"), "");
  EXPECT_EQ(check(CoreKind::joint, "mad.f162f32 1, 1, 1, 0, 64, 64, 1"), "");
}

TEST_F(Issue, PipesThatTheCoreLacks) {
  EXPECT_EQ(check(CoreKind::vector, "mad.f162f32 0, 0, 0, 16, 16, 16, 1"),
            "program: a core of type AIV has no PIPE_M; its pipes are S, V, MTE2, MTE3");
  EXPECT_EQ(check(CoreKind::cube, "vector_dup.f16 0, 0, 1, 1, 1, 8, 8"),
            "program: a core of type AIC has no PIPE_V; its pipes are S, M, MTE1, MTE2, MTE3, FIX");
  EXPECT_EQ(check(CoreKind::joint, "set_flag PIPE_M, PIPE_FIX, 0"),
            "program: a core of type AI_CORE has no PIPE_FIX; its pipes are S, V, M, MTE1, MTE2, MTE3");
  EXPECT_EQ(check(CoreKind::joint, "wait_flag PIPE_FIX, PIPE_M, 0"),
            "program: a core of type AI_CORE has no PIPE_FIX; its pipes are S, V, M, MTE1, MTE2, MTE3");
  EXPECT_EQ(check(CoreKind::vector, "pipe_barrier PIPE_MTE1"),
            "program: a core of type AIV has no PIPE_MTE1; its pipes are S, V, MTE2, MTE3");
}

TEST_F(Issue, FlagsThatDoNotExist) {
  EXPECT_EQ(check(CoreKind::joint, "set_flag PIPE_ALL, PIPE_M, 0"),
            "program: PIPE_ALL is no pipe that a flag can belong to; name one");
  EXPECT_EQ(check(CoreKind::joint, "wait_flag PIPE_M, PIPE_ALL, 0"),
            "program: PIPE_ALL is no pipe that a flag can belong to; name one");
  EXPECT_EQ(check(CoreKind::joint, "set_flag PIPE_V, PIPE_V, 0"),
            "program: set_flag from PIPE_V to itself; use pipe_barrier");
  EXPECT_EQ(check(CoreKind::joint, "wait_flag PIPE_V, PIPE_V, 0"),
            "program: wait_flag from PIPE_V to itself; use pipe_barrier");
  EXPECT_EQ(check(CoreKind::joint, "set_flag PIPE_V, PIPE_M, 4"),
            "program: event id 4 out of range: this chip has EVENT_ID0..EVENT_ID3");
}

TEST_F(Issue, AddressesInBuffers) {
  EXPECT_EQ(check(CoreKind::joint, "copy_gm_to_ubuf 16, 0x100000000, 0, 1, 8, 0, 0"),
            "program: unaligned access: dst = 0x10 in UB must be a multiple of 32 bytes");
  EXPECT_EQ(check(CoreKind::joint, "load_cbuf_to_ca 0x100, 0, 0, 1, 1, 0, 0"),
            "program: unaligned access: dst = 0x100 in L0A must be a multiple of 512 bytes");
  EXPECT_EQ(check(CoreKind::joint, "copy_gm_to_ubuf 0x1f20, 0x100000000, 0, 1, 8, 0, 0"),
            "program: the ub address out of bounds: dst writes [0x1f20, 0x2020) but UB has 0x2000 bytes");
  EXPECT_EQ(check(CoreKind::joint, "copy_ubuf_to_gm 0x100000000, 0x1fe0, 0, 2, 1, 3, 0"),
            "program: the ub address out of bounds: src reads [0x1fe0, 0x2080) but UB has 0x2000 bytes");
  EXPECT_EQ(check(CoreKind::joint, "mad.f162f32 0x400, 0, 0, 64, 64, 64, 1"),
            "program: the l0c address out of bounds: c writes [0x400, 0x4400) but L0C has 0x4000 bytes");
  EXPECT_EQ(check(CoreKind::joint, "mad.f162f32 0, 0x200, 0, 64, 64, 64, 1"),
            "program: the l0a address out of bounds: a reads [0x200, 0x2200) but L0A has 0x2000 bytes");
  EXPECT_EQ(check(CoreKind::joint, "mad.f162f32 0, 0, 0x200, 64, 64, 64, 1"),
            "program: the l0b address out of bounds: b reads [0x200, 0x2200) but L0B has 0x2000 bytes");
  EXPECT_EQ(check(CoreKind::joint, "load_cbuf_to_cb 0, 0x3e00, 0, 2, 1, 0, 0"),
            "program: the l1 address out of bounds: src reads [0x3e00, 0x4200) but L1 has 0x4000 bytes");
}

TEST_F(Issue, BuffersThatTheCoreLacks) {
  EXPECT_EQ(check(CoreKind::cube, "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 8, 0, 0"),
            "program: a core of type AIC has no UB");
  EXPECT_EQ(check(CoreKind::vector, "copy_gm_to_cbuf 0, 0x100000000, 0, 1, 8, 0, 0"),
            "program: a core of type AIV has no L1");
}

TEST_F(Issue, GlobalMemoryThatNobodyAllocated) {
  EXPECT_EQ(check(CoreKind::joint, "copy_gm_to_ubuf 0, 0x100000f20, 0, 1, 8, 0, 0"),
            "program: The DDR address of the MTE instruction is out of range: src [0x100000f20, 0x100001020) is in no "
            "allocation; nearest is 'first' [0x100000000, 0x100001000)");
  EXPECT_EQ(check(CoreKind::joint, "copy_ubuf_to_gm 0x100000f20, 0, 0, 1, 8, 0, 0"),
            "program: The write address of the MTE instruction is out of range: dst [0x100000f20, 0x100001020) is in "
            "no allocation; nearest is 'first' [0x100000000, 0x100001000)");
  EXPECT_EQ(check(CoreKind::cube, "copy_matrix_cc_to_gm 0x100000ff0, 0, 0, 16, 1, 16, 16, 0, 0, 0, 0, 1"),
            "program: fixpipe to write GM is invalid: dst [0x100000ff0, 0x100001030) is in no allocation; nearest is "
            "'first' [0x100000000, 0x100001000)");
  GlobalMemory empty;
  EXPECT_EQ(error_of([&] {
              check_footprint({{.address = 64, .len = 4, .operand = "address"}}, PipeId::S, core(CoreKind::joint),
                              empty);
            }),
            "program: The DDR address of the scalar instruction is out of range: address [0x40, 0x44) is in no "
            "allocation; nothing is allocated");
}

TEST_F(Issue, PiecesMayLieInDifferentAllocations) {
  const u64 gap_blocks = (second_ - 0x1'0000'0000 - 32) / 32;
  EXPECT_EQ(check(CoreKind::joint, fmt::format("copy_gm_to_ubuf 0, 0x100000000, 0, 2, 1, {}, 0", gap_blocks)), "");
  // The third piece is behind both; it is the one that is named.
  const u64 third = 0x1'0000'0000 + 2 * (second_ - 0x1'0000'0000);
  EXPECT_EQ(check(CoreKind::joint, fmt::format("copy_gm_to_ubuf 0, 0x100000000, 0, 3, 1, {}, 0", gap_blocks)),
            fmt::format("program: The DDR address of the MTE instruction is out of range: src [{:#x}, {:#x}) is in no "
                        "allocation; nearest is 'last' [{:#x}, {:#x})",
                        third, third + 32, second_, second_ + 0x100));
}

TEST_F(Issue, ShowsTheValuesOfTheInstruction) {
  const Code code(assemble("set_flag PIPE_MTE2, PIPE_V, 2", "k.s", Arch::c100));
  EXPECT_EQ(to_string(Issued{.row = code[0].row, .args = code[0].args, .spr = {}}),
            "set_flag src=PIPE_MTE2 dst=PIPE_V event=EVENT_ID2");
}

}  // namespace
}  // namespace vinci::isa
