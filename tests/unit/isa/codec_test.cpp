// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/table/codec.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "isa/base/error.h"
#include "isa/table/table.h"
#include "tests/support/random_inst.h"

namespace vinci::isa {
namespace {

constexpr u64 kSeed = 20240611;

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Input);
    return e.what();
  }
  return "no error";
}

Inst inst_of(std::string_view mnemonic) {
  const Row* row = row_of(mnemonic);
  EXPECT_NE(row, nullptr) << mnemonic;
  return {.row = row};
}

Program program_of(const std::vector<Inst>& insts, Arch arch = Arch::c220) {
  Program p{.arch = arch, .source = "k.s", .code = {}, .lines = {}, .labels = {}};
  for (const Inst& i : insts) {
    p.code.push_back(encode(i));
    p.lines.push_back(static_cast<u32>(p.lines.size() + 1));
  }
  return p;
}

TEST(Codec, EveryInstructionSurvivesEncodingWithRandomOperands) {
  std::mt19937_64 random(kSeed);
  usize rows = 0;
  for (const Row& row : table()) {
    ++rows;
    for (int round = 0; round < 200; ++round) {
      const auto type = static_cast<u8>(row.types.empty() ? 0 : random() % row.types.size());
      const Inst inst = random_inst(row, type, 1u << 20, random);
      ASSERT_EQ(decode(encode(inst)), inst) << row.name << " round " << round << " seed " << kSeed;
    }
  }
  EXPECT_GT(rows, 50u);
}

TEST(Codec, EveryBitThatNoOperandOwnsIsRejected) {
  std::mt19937_64 random(kSeed);
  for (const Row& row : table()) {
    const Word word = encode(random_inst(row, 0, 1, random));
    for (unsigned b = 0; b < kWordBits; ++b) {
      if ((row.used[b / 64] >> (b % 64) & 1) != 0) continue;
      Word damaged = word;
      damaged[b / 64] |= u64{1} << (b % 64);
      ASSERT_THROW(decode(damaged), Error) << row.name << " bit " << b;
    }
  }
}

// Any bits either decode to something that encodes to the same bits, or are refused: the encoding is canonical.
TEST(Codec, RandomWordsAreRefusedOrCanonical) {
  std::mt19937_64 random(kSeed);
  int accepted = 0;
  for (int round = 0; round < 200000; ++round) {
    const Row& row = table()[random() % table().size()];
    Word word{random() & random(), random() & random(), random() & random(), random() & random()};
    for (usize i = 0; i < word.size(); ++i)
      word[i] &= row.used[i];
    word[0] =
        (word[0] & ~u64{0xffff}) | row.opcode | (row.types.empty() ? 0 : (random() % row.types.size()) << kOpcodeBits);
    try {
      const Inst inst = decode(word);
      ASSERT_EQ(encode(inst), word) << row.name << " round " << round;
      ++accepted;
    } catch (const Error& e) {
      ASSERT_EQ(e.fault(), Fault::Input);
    }
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Codec, NarrowOperandsTakeAnyRegister) {
  Inst inst = inst_of("mad");
  const usize init = 6;
  ASSERT_EQ(inst.row->fields[init].name, "init");
  ASSERT_EQ(inst.row->fields[init].width, 1);
  inst.operands[init] = {true, 31};
  EXPECT_EQ(decode(encode(inst)).operands[init], (Operand{true, 31}));
}

TEST(Codec, NarrowOperandsRefuseWideImmediates) {
  Inst inst = inst_of("mad");
  const usize init = 6;
  Word word = encode(inst);
  const unsigned lsb = inst.row->fields[init].lsb + 1;  // the second value bit of a 1-bit operand
  word[lsb / 64] |= u64{1} << (lsb % 64);
  EXPECT_EQ(message_of([&] { decode(word); }), "mad: init does not fit 1 bits: 0x2");
}

TEST(Codec, OperandsThatDoNotFitAreABugOfTheCaller) {
  Inst inst = inst_of("mad");
  inst.operands[3].value = 4096;
  EXPECT_THROW(encode(inst), Error);
}

TEST(Codec, RefusesUnknownOpcodesTypesAndPipes) {
  EXPECT_EQ(message_of([] { decode(Word{0xfff, 0, 0, 0}); }), "no instruction has opcode 0xfff");
  Word word = encode(inst_of("mad"));
  word[0] |= 0xf000;
  EXPECT_EQ(message_of([&] { decode(word); }), "mad has no type form 15");
  Inst barrier = inst_of("pipe_barrier");
  barrier.operands[0].value = 9;
  EXPECT_EQ(message_of([&] { decode(encode(barrier)); }), "pipe_barrier: pipe is no pipe: 9");
}

TEST(Verify, NamesTheSourceLine) {
  Inst jump = inst_of("b");
  jump.operands[0].value = 2;
  EXPECT_EQ(message_of([&] {
              verify(program_of({jump, inst_of("end")}));
            }),
            "k.s:1: b: target 2 is outside the 2 instructions of the program");
  jump.operands[0].value = 1;
  EXPECT_NO_THROW(verify(program_of({jump, inst_of("end")})));
}

TEST(Verify, RefusesWhatTheArchitectureLacks) {
  EXPECT_EQ(message_of([] { verify(program_of({inst_of("copy_matrix_cc_to_gm")}, Arch::c100)); }),
            "k.s:1: copy_matrix_cc_to_gm does not exist on c100");
  Inst mad = inst_of("mad");
  mad.type = 1;
  EXPECT_EQ(message_of([&] { verify(program_of({mad}, Arch::c220)); }), "k.s:1: mad.f162f16 does not exist on c220");
  EXPECT_NO_THROW(verify(program_of({mad}, Arch::c100)));
}

TEST(Verify, RefusesEmptyAndInconsistentPrograms) {
  EXPECT_EQ(message_of([] { verify(Program{}); }), "the program is empty");
  Program p = program_of({inst_of("end")});
  p.labels.push_back({"far", 2});
  EXPECT_EQ(message_of([&] { verify(p); }), "label 'far' is outside the program");
  p.lines.clear();
  EXPECT_EQ(message_of([&] { verify(p); }), "1 instructions but 0 line numbers");
}

}  // namespace
}  // namespace vinci::isa
