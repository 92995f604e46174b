// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/sequencer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

CoreSpec joint_core() {
  return {.arch = Arch::c100,
          .kind = CoreKind::joint,
          .sizes = {0, 0x4000, 0x2000, 0x2000, 0x4000, 0x2000},
          .flags_per_pair = 4};
}

// Walks a program; the instructions that would go to pipes are collected.
struct Walk {
  explicit Walk(const std::string& text, bool with_data = true, Launch l = {.args = {0x1'0000'0000, 77}})
      : launch(std::move(l)), code(assemble(text, "k.s", Arch::c100)) {
    gm.allocate(0x1000, "buffer");
    if (with_data) mem = std::make_unique<CoreMem>(spec.sizes, gm);
    front = std::make_unique<Sequencer>(spec, gm, mem.get(), 5);
    front->start(code, launch);
  }
  Walk& run(u64 status = 0, const ResultRegisters& results = {}) {
    while (!front->done()) {
      if (front->current().row->role == Role::scalar || front->current().row->role == Role::end) {
        front->step(status, results);
      } else {
        issued.push_back(front->issue().value());
      }
    }
    return *this;
  }
  // The value of the operand `name` of the nth instruction that went to a pipe.
  u64 operand(std::string_view name, usize n = 0) const {
    for (const FieldInfo& f : issued.at(n).row->fields) {
      if (f.name == name) return f.get(issued[n].args);
    }
    return ~u64{0};
  }

  CoreSpec spec = joint_core();
  Launch launch;
  Code code;
  GlobalMemory gm;
  std::unique_ptr<CoreMem> mem;
  std::unique_ptr<Sequencer> front;
  std::vector<Issued> issued;
};

std::string fault(const std::string& text, bool with_data) {
  return error_of([&] { Walk(text, with_data).run(); });
}

TEST(Sequencer, OperandsComeFromRegistersOfTheirMoment) {
  Walk w(
      "mov X1, 0x200\n"
      "load_cbuf_to_ca X1, 0, 0, 1, 1, 0, 0\n"
      "add X1, X1, 0x200\n"
      "load_cbuf_to_ca X1, 0, 0, 1, 1, 0, 0\nend");
  w.run();
  ASSERT_EQ(w.issued.size(), 2u);
  EXPECT_EQ(w.operand("dst", 0), 0x200u);
  EXPECT_EQ(w.operand("dst", 1), 0x400u);
  EXPECT_EQ(w.issued[1].pipe, PipeId::MTE1);
  EXPECT_EQ(w.issued[1].line, 4u);
  EXPECT_EQ(w.issued[1].pc, 3u);
}

TEST(Sequencer, InstructionsTakeACopyOfTheSpecialRegisters) {
  Walk w(
      "set_vector_mask 0, 3\n"
      "vector_dup.f16 0, 0, 1, 1, 1, 8, 8\n"
      "set_vector_mask 1, 7\n"
      "vector_dup.f16 0, 0, 1, 1, 1, 8, 8\nend");
  w.run();
  EXPECT_EQ(w.issued[0].spr.vector_mask, (std::array<u64, 2>{3, 0}));
  EXPECT_EQ(w.issued[1].spr.vector_mask, (std::array<u64, 2>{7, 1}));
}

TEST(Sequencer, KnowsItsLaunch) {
  Walk w(
      "get_block_idx X1\nget_block_num X2\nget_coreid X3\nld_arg X4, 1\n"
      "mul X1, X1, 512\nmul X2, X2, 512\n"
      "load_cbuf_to_ca X1, X2, 0, 1, 1, 0, 0\n"
      "load_cbuf_to_ca 0, 0, X4, X3, 0, 0, 0\nend",
      true, {.block_idx = 2, .block_num = 7, .args = {0, 9}});
  w.run();
  EXPECT_EQ(w.operand("dst", 0), 2u * 512);
  EXPECT_EQ(w.operand("src", 0), 7u * 512);
  EXPECT_EQ(w.operand("baseIdx", 1), 9u);
  EXPECT_EQ(w.operand("repeat", 1), 5u);
}

TEST(Sequencer, ABlockStartsWithZeroRegistersAndFullMask) {
  Walk w("mov X1, 512\nset_vector_mask 0, 1\nend");
  w.run();
  const Code next(
      assemble("load_cbuf_to_ca X1, 0, 0, 1, 1, 0, 0\nvector_dup.f16 0, 0, 1, 1, 1, 8, 8\nend", "n.s", Arch::c100));
  w.front->start(next, w.launch);
  w.run();
  EXPECT_EQ(w.operand("dst", 0), 0u);
  EXPECT_EQ(w.issued[1].spr.vector_mask, (std::array<u64, 2>{~u64{0}, ~u64{0}}));
}

TEST(Sequencer, ReportsScalarAccesses) {
  Walk w("mov X1, 1\nst_ubuf.b32 7, 64, 4\nld_ubuf.b16 X2, 68\nmov X3, X2\nend");
  w.front->step(0, {});
  EXPECT_FALSE(w.front->last_access().has_value());
  w.front->step(0, {});
  ASSERT_TRUE(w.front->last_access().has_value());
  EXPECT_EQ(w.front->last_access()->address, 68u);
  EXPECT_EQ(w.front->last_access()->len, 4u);
  EXPECT_TRUE(w.front->last_access()->write);
  w.front->step(0, {});
  ASSERT_TRUE(w.front->last_access().has_value());
  EXPECT_EQ(w.front->last_access()->len, 2u);
  EXPECT_FALSE(w.front->last_access()->write);
  w.front->step(0, {});
  EXPECT_FALSE(w.front->last_access().has_value());
}

TEST(Sequencer, ValuesMustFitTheirOperand) {
  EXPECT_THAT(fault("mov X1, 4096\nmad.f162f32 0, 0, 0, X1, 16, 16, 1\nend", true),
              HasSubstr("program: mad: m = 4096 (X1) does not fit its 12 bits, 0 to 4095"));
  EXPECT_THAT(fault("mov X1, -1\nmad.f162f32 0, 0, 0, X1, 16, 16, 1\nend", true),
              HasSubstr("program: mad: m = -1 (X1) does not fit its 12 bits, 0 to 4095"));
  EXPECT_EQ(fault("mov X1, 64\nmad.f162f32 0, 0, 0, X1, 16, 16, 1\nend", true), "");
}

TEST(Sequencer, FaultsOfScalarInstructions) {
  EXPECT_THAT(fault("mov X1, 0\ndiv X2, 5, X1\nend", true), HasSubstr("program: division by zero"));
  EXPECT_THAT(fault("rem X2, 5, 0\nend", true), HasSubstr("program: division by zero"));
  EXPECT_THAT(fault("ld_arg X2, 2\nend", true),
              HasSubstr("program: kernel argument 2 does not exist; the launch passes 2"));
  EXPECT_THAT(fault("ld_ubuf.b32 X2, 2\nend", true),
              HasSubstr("program: unaligned access: address = 0x2 in UB must be a multiple of 4 bytes"));
  EXPECT_THAT(fault("st_ubuf.b64 1, 0x2000\nend", true),
              HasSubstr("program: the ub address out of bounds: address writes [0x2000, 0x2008) but UB has 0x2000"));
  EXPECT_THAT(fault("ld_dev.b64 X1, 0x100001000\nend", true),
              HasSubstr("The DDR address of the scalar instruction is out of range: address [0x100001000, "));
}

TEST(Sequencer, DoesNotRunPastTheEnd) {
  EXPECT_THAT(fault("mov X1, 0", true), HasSubstr("the program runs past its last instruction; `end` is missing"));
}

// Without data, values that were loaded are unknown; what depends on them is refused, what does not is not.

constexpr const char* kRun = "; run in mode full or functional";

TEST(SequencerWithoutData, RefusesABranchOnALoadedValue) {
  const std::string text = "ld_dev.b32 X1, 0x100000000\nbeq X1, 0, 2\nend";
  EXPECT_EQ(fault(text, false), std::string("unsupported: timing mode moves no data, but beq depends on X1, which "
                                            "ld_dev (line 1) loads") +
                                    kRun);
  EXPECT_EQ(fault(text, true), "");
}

TEST(SequencerWithoutData, RefusesAnOperandFromALoadedValue) {
  const std::string text = "mov X2, 3\nld_ubuf.b32 X1, 0\nmad.f162f32 0, 0, 0, X1, X2, 16, 1\nend";
  EXPECT_EQ(fault(text, false), std::string("unsupported: timing mode moves no data, but mad depends on X1, which "
                                            "ld_ubuf (line 2) loads") +
                                    kRun);
  EXPECT_EQ(fault(text, true), "");
}

TEST(SequencerWithoutData, FollowsValuesThroughArithmetic) {
  EXPECT_EQ(fault("ld_ubuf.b32 X1, 0\nadd X2, X1, 1\nmul X3, X2, 4\nblt X3, 10, 4\nend", false),
            std::string("unsupported: timing mode moves no data, but blt depends on X3, which ld_ubuf (line 1) loads") +
                kRun);
}

TEST(SequencerWithoutData, RefusesAddressesAndSpecialRegistersFromLoadedValues) {
  for (const std::string use : {"ld_ubuf.b32 X2, X1", "st_ubuf.b32 0, X1", "set_vector_mask 0, X1", "set_ctrl X1",
                                "set_flag PIPE_M, PIPE_V, X1"}) {
    EXPECT_THAT(fault("ld_ubuf.b32 X1, 0\n" + use + "\nend", false), HasSubstr("depends on X1")) << use;
    EXPECT_EQ(fault("ld_ubuf.b32 X1, 0\n" + use + "\nend", true), "") << use;
  }
}

// The value is never visible: the result of a load is unknown in any case.
TEST(SequencerWithoutData, StoresALoadedValue) {
  EXPECT_EQ(fault("ld_ubuf.b32 X1, 0\nst_ubuf.b32 X1, 0\nend", false), "");
  EXPECT_THAT(fault("ld_ubuf.b32 X1, 0\nst_ubuf.b32 X1, 0\nld_ubuf.b32 X2, 0\nset_ctrl X2\nend", false),
              HasSubstr("depends on X2"));
}

TEST(SequencerWithoutData, StatusIsUnknownToo) {
  EXPECT_EQ(fault("get_status X4\nbne X4, 0, 2\nend", false),
            std::string("unsupported: timing mode moves no data, but bne depends on X4, which get_status (line 1) "
                        "loads") +
                kRun);
}

TEST(SequencerWithoutData, DoesNotComputeWithUnknownValues) {
  EXPECT_EQ(fault("ld_ubuf.b32 X1, 0\ndiv X2, 8, X1\nrem X3, 8, X1\nld_arg X4, X1\nend", false), "");
}

TEST(SequencerWithoutData, OverwrittenValuesAreFineAgain) {
  EXPECT_EQ(fault("ld_ubuf.b32 X1, 0\nmov X1, 0\nbeq X1, 0, 3\nend", false), "");
  EXPECT_EQ(fault("ld_ubuf.b32 X1, 0\nadd X2, X1, 1\nld_arg X2, 0\nld_dev.b32 X3, X2\nend", false), "");
}

TEST(SequencerWithoutData, UnusedValuesAreFine) {
  EXPECT_EQ(fault("ld_ubuf.b32 X1, 0\nadd X2, X1, 1\nmov X3, 1\nbeq X3, 1, 4\nend", false), "");
}

TEST(SequencerWithoutData, TheNextBlockForgetsThem) {
  Walk w("ld_ubuf.b32 X1, 0\nend", false);
  w.run();
  const Code next(assemble("beq X1, 0, 1\nend", "n.s", Arch::c100));
  w.front->start(next, w.launch);
  EXPECT_NO_THROW(w.run());
}

}  // namespace
}  // namespace vinci::isa
