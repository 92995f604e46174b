// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What is folded while it is recorded unfolds to what was given, and loops that were written out take little.
#include "isa/program/folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "isa/program/loops.h"
#include "isa/table/codec.h"
#include "isa/table/table.h"
#include "isa/text/text.h"

namespace vinci::isa {
namespace {

// A kernel that issues instructions.
class Kernel {
 public:
  void issue(std::string_view name, std::initializer_list<u64> operands, u32 line) {
    Inst inst{.row = row_of(name)};
    usize f = 0;
    for (const u64 v : operands) {
      inst.operands[f] = {inst.row->fields[f].kind == OperandKind::reg_dst, v};
      ++f;
    }
    folder.add(inst, line, 0);
    if (!keep) return;
    flat.code.push_back(encode(inst));
    flat.lines.push_back(line);
  }
  void flag(std::string_view what, PipeId from, PipeId to, u64 event, u32 line) {
    issue(what, {static_cast<u64>(from), static_cast<u64>(to), event}, line);
  }
  Program folded() {
    folder.end();
    Program p{.arch = Arch::c220, .source = "k.cpp", .code = {}, .lines = {}, .labels = {}};
    folder.write(p, false);
    return p;
  }
  // The folded program, which must be what was given.
  Program checked() {
    Program p = folded();
    verify(p);
    EXPECT_EQ(positions(p), flat.code.size());
    const Program again = unfold(p, ~u64{0});
    EXPECT_TRUE(again.code == flat.code);
    EXPECT_TRUE(again.lines == flat.lines);
    return p;
  }

  Folder folder;
  Program flat{.arch = Arch::c220, .source = "k.cpp", .code = {}, .lines = {}, .labels = {}};
  bool keep = true;
};

// Tiles of a vector operation: copies in and out through two slots, flags between them.
void tiles(Kernel& k, u64 begin, u32 count, u32 pieces) {
  using enum PipeId;
  for (u32 t = 0; t < count; ++t) {
    const u64 slot = t % 2 * 0x8000;
    if (t >= 2) k.flag("wait_flag", MTE3, MTE2, t % 2, 10);
    k.issue("copy_gm_to_ubuf", {slot, begin + 2048 * t, 0, 1, 64, 0, 0}, 11);
    k.flag("set_flag", MTE2, V, t % 2, 12);
    k.flag("wait_flag", MTE2, V, t % 2, 13);
    for (u32 p = 0; p < pieces; ++p)
      k.issue("vadds", {slot + 256 * p, slot + 256 * p, 1, 1, 1, 1, 8, 8}, 15);
    k.flag("set_flag", V, MTE3, t % 2, 16);
    k.flag("wait_flag", V, MTE3, t % 2, 17);
    k.issue("copy_ubuf_to_gm", {begin + 0x10000000 + 2048 * t, slot, 0, 1, 64, 0, 0}, 18);
    k.flag("set_flag", MTE3, MTE2, t % 2, 19);
  }
}

TEST(Folder, ALoopIsStatedOnce) {
  Kernel k;
  for (u32 i = 0; i < 1000; ++i)
    k.issue("nop", {5 + 3 * i}, 7);
  k.issue("end", {}, 8);
  const Program p = k.checked();
  EXPECT_EQ(p.code.size(), 2u);
  EXPECT_EQ(p.loops, (std::vector<Loop>{{0, 1, 1000}}));
  EXPECT_EQ(p.strides, (std::vector<Stride>{{0, 0, 0, 3}}));
}

TEST(Folder, NestsOfLoopsAreStatedOnce) {
  Kernel k;
  for (u32 row = 0; row < 20; ++row) {
    k.issue("nop", {1}, 1);
    tiles(k, 0x100000000 + u64{row} * 0x100000, 20, 8);
  }
  k.issue("end", {}, 2);
  const Program p = k.checked();
  EXPECT_LT(p.code.size(), 120u) << disassemble(p);  // of 6000
}

TEST(Folder, FourLoopsAroundAProduct) {
  Kernel k;
  for (u64 m = 0; m < 6; ++m) {
    for (u64 n = 0; n < 5; ++n) {
      for (u64 kk = 0; kk < 8; ++kk) {
        const u64 slot = kk % 2;
        k.flag("wait_flag", PipeId::MTE1, PipeId::MTE2, slot, 1);
        k.issue("copy_gm_to_ubuf", {slot * 0x10000, 0x100000000 + m * 0x40000 + kk * 0x100, 0, 16, 8, 0, 0}, 2);
        k.issue("copy_gm_to_ubuf", {slot * 0x10000 + 0x8000, 0x200000000 + n * 0x40000 + kk * 0x100, 0, 16, 8, 0, 0},
                3);
        k.flag("set_flag", PipeId::MTE2, PipeId::MTE1, slot, 4);
        for (u32 i = 0; i < 4; ++i) {
          k.issue("nop", {8}, 5);
          k.issue("vadds", {i * 512, slot * 0x10000 + i * 1024, 1, 1, 1, 1, 8, 8}, 6);
        }
      }
      k.issue("copy_ubuf_to_gm", {0x300000000 + m * 0x80000 + n * 0x200, 0, 0, 1, 64, 0, 0}, 9);
    }
  }
  const Program p = k.checked();
  EXPECT_LT(p.code.size(), 60u) << disassemble(p);  // of 2910
}

TEST(Folder, MemoryIsBoundedByWhatIsStated) {
  Kernel k;
  k.keep = false;
  for (u32 row = 0; row < 500; ++row)
    tiles(k, 0x100000000 + u64{row} * 0x100000, 500, 6);
  EXPECT_EQ(k.folder.positions(), 500u * (500 * 14 - 2));
  EXPECT_LT(k.folder.stored(), 200u);
  const Program p = k.folded();
  EXPECT_EQ(positions(p), 3'499'000u);
  EXPECT_LT(p.code.size(), 200u);
}

TEST(Folder, SaysTheLineOfEveryPosition) {
  Kernel k;
  for (u32 row = 0; row < 7; ++row) {
    k.issue("nop", {1}, 1);
    tiles(k, 0x100000000 + u64{row * row} * 0x100000, 9, row % 3);
    for (usize i = 0; i < k.flat.lines.size(); i += 3)
      ASSERT_EQ(k.folder.line_of(i).second, k.flat.lines[i]) << row << " " << i;
  }
  k.folder.end();
  for (usize i = 0; i < k.flat.lines.size(); ++i)
    ASSERT_EQ(k.folder.line_of(i).second, k.flat.lines[i]) << i;
}

TEST(Folder, GivesUpWhereNothingRepeats) {
  Kernel k;
  k.keep = false;
  k.folder = Folder(1000);
  for (u64 i = 0; i < 5000; ++i)
    k.issue("nop", {(i * i * i) % 65521}, 1);
  EXPECT_TRUE(k.folder.gave_up());
  EXPECT_EQ(k.folder.positions(), 5000u);
  EXPECT_EQ(k.folder.stored(), 0u);
}

// Loops of loops at random, with turns that are left out and operands that jump.
class Nest {
 public:
  Nest(Kernel& k, u64 seed) : k_(k), random_(seed) {}
  void run() {
    for (u64 n = 1 + random_() % 3; n > 0; --n)
      part(0);
  }

 private:
  struct Body {
    u64 turns = 0;
    std::vector<Body> parts;
    u32 line = 0;
    std::vector<u64> strides;
    u64 odd = 0;
  };
  Body body(u32 depth) {
    Body b;
    b.line = static_cast<u32>(1 + random_() % 6);
    b.odd = random_() % 40;
    for (u32 d = 0; d < 5; ++d)
      b.strides.push_back(random_() % 4 * 8);
    if (depth < 4 && random_() % 3 != 0) {
      b.turns = 1 + random_() % 7;
      for (u64 n = 1 + random_() % 4; n > 0; --n)
        b.parts.push_back(body(depth + 1));
    }
    return b;
  }
  void emit(const Body& b, std::vector<u64>& turns) {
    if (b.turns == 0) {
      u64 value = 100 + b.line;
      for (usize d = 0; d < turns.size(); ++d)
        value += turns[d] * b.strides[d];
      if (b.odd == 0 && random_() % 5 == 0) value += 1;
      if (b.odd == 1 && random_() % 7 == 0) return;
      k_.issue("nop", {value}, b.line);
      return;
    }
    turns.push_back(0);
    for (u64 t = 0; t < b.turns; ++t) {
      turns.back() = t;
      for (const Body& p : b.parts)
        emit(p, turns);
    }
    turns.pop_back();
  }
  void part(u32 depth) {
    std::vector<u64> turns;
    emit(body(depth), turns);
  }

  Kernel& k_;
  std::mt19937_64 random_;
};

TEST(Folder, UnfoldsToWhatWasGiven) {
  usize given = 0, stored = 0;
  for (u64 seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Kernel k;
    Nest(k, seed).run();
    k.issue("end", {}, 99);
    const Program p = k.checked();
    ASSERT_FALSE(HasFailure());
    for (usize i = 0; i < k.flat.lines.size(); i += 1 + k.flat.lines.size() / 50)
      ASSERT_EQ(k.folder.line_of(i).second, k.flat.lines[i]) << i;
    given += k.flat.code.size();
    stored += p.code.size();
  }
  EXPECT_LT(stored * 4, given) << stored << " of " << given;
}

TEST(Folder, UnitsRepeat) {
  Folder all;
  Program flat{.arch = Arch::c220, .source = "k.cpp", .code = {}, .lines = {}, .labels = {}};
  for (u32 block = 0; block < 40; ++block) {
    Kernel k;
    tiles(k, 0x100000000 + u64{block} * 0x123400, 32, 4);
    k.issue("end", {}, 20);
    k.folder.end();
    all.append(k.folder, {0});
    flat.code.insert(flat.code.end(), k.flat.code.begin(), k.flat.code.end());
  }
  all.end();
  Program p{.arch = Arch::c220, .source = "k.cpp", .code = {}, .lines = {}, .labels = {}};
  all.write(p, false);
  verify(p);
  EXPECT_TRUE(unfold(p).code == flat.code);
  EXPECT_LT(p.code.size(), 80u) << disassemble(p);  // of 14,000
}

TEST(Folder, BranchesStayWhereTheyAre) {
  Folder all;
  for (u32 block = 0; block < 5; ++block) {
    Kernel k;
    for (u32 i = 0; i < 10; ++i)
      k.issue("nop", {1}, 1);
    const auto loop = k.folder.positions();
    for (u32 i = 0; i < 5; ++i) {
      k.issue("nop", {2}, 2);
      Inst branch{.row = row_of("blt")};
      branch.operands[0] = {true, 0};
      branch.operands[1] = {false, 3};
      branch.operands[2] = {false, loop + i};
      k.folder.add(branch, 3, 0);
    }
    k.issue("end", {}, 4);
    k.folder.end();
    all.append(k.folder, {0});
  }
  all.end();
  Program p{.arch = Arch::c220, .source = "k.cpp", .code = {}, .lines = {}, .labels = {}};
  all.write(p, false);
  verify(p);
  const Program flat = unfold(p);
  ASSERT_EQ(flat.code.size(), 5u * 21);
  for (u32 block = 0; block < 5; ++block) {
    for (u32 i = 0; i < 5; ++i)
      EXPECT_EQ(decode(flat.code[21 * block + 11 + 2 * i]).operands[2].value, 21 * block + 10 + i);
  }
}

TEST(Folder, EqualRecordingsAreFound) {
  const auto recorded = [](u64 begin, u32 last) {
    Kernel k;
    tiles(k, begin, 32, 4);
    k.issue("nop", {last}, 20);
    k.folder.end();
    return std::move(k.folder);
  };
  const Folder a = recorded(0x100000000, 1);
  EXPECT_TRUE(a.same(recorded(0x100000000, 1)));
  EXPECT_EQ(a.hash(), recorded(0x100000000, 1).hash());
  EXPECT_FALSE(a.same(recorded(0x100000000, 2)));
  EXPECT_FALSE(a.same(recorded(0x100000800, 1)));
}

}  // namespace
}  // namespace vinci::isa
