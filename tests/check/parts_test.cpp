// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "isa/check/core_checker.h"
#include "isa/check/defined.h"
#include "isa/check/local_shadow.h"
#include "isa/text/text.h"
#include "tests/check/checked_run.h"
#include "tests/support/timed_run.h"

namespace vinci::isa::check {
namespace {

using Ranges = std::vector<std::pair<u64, u64>>;

TEST(Defined, ByteForByte) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<u32> words(40, 0);
    std::vector<bool> bytes(40 * 32, false);
    for (int n = 0; n < 12; ++n) {
      const u64 begin = random() % bytes.size(), end = begin + 1 + random() % std::min<u64>(150, bytes.size() - begin);
      define(words.data(), begin, end);
      for (u64 b = begin; b < end; ++b)
        bytes[b] = true;
    }
    const u64 begin = random() % 1200, end = begin + 1 + random() % (bytes.size() - begin);
    Ranges got, expected;
    each_undefined(words.data(), begin, end, 32, [&](u64 b, u64 e) { got.emplace_back(b, e); });
    for (u64 at = begin; at < end;) {
      const u64 stop = std::min(end, (at / 32 + 1) * 32);
      bool any = false;
      for (u64 b = at; b < stop; ++b)
        any |= bytes[b];
      if (!any && !expected.empty() && expected.back().second == at) {
        expected.back().second = stop;
      } else if (!any) {
        expected.emplace_back(at, stop);
      }
      at = stop;
    }
    ASSERT_EQ(got, expected) << begin << " " << end;
  }
}

TEST(Defined, UnitsMayBePadded) {
  std::vector<u32> words(64, 0);
  define(words.data(), 512, 513);  // one byte of the second unit
  Ranges got;
  each_undefined(words.data(), 0, 2048, 512, [&](u64 b, u64 e) { got.emplace_back(b, e); });
  EXPECT_EQ(got, (Ranges{{0, 512}, {1024, 2048}}));
}

TEST(Pieces, JoinWhatIsContiguous) {
  Ranges got;
  each_piece({.address = 64, .len = 32, .count = {4, 2, 3}, .stride = {32, 128, 0}},
             [&](u64 b, u64 e) { got.emplace_back(b, e); });
  EXPECT_EQ(got, (Ranges{{64, 320}}));
  got.clear();
  each_piece({.address = 0, .len = 8, .count = {2, 2, 1}, .stride = {16, 64, 0}},
             [&](u64 b, u64 e) { got.emplace_back(b, e); });
  EXPECT_EQ(got, (Ranges{{0, 8}, {16, 24}, {64, 72}, {80, 88}}));
}

// Global memory is exact to the byte, and knows readers of several blocks.
TEST(GmShadow, PartsOfAGranule) {
  Records records;
  GmShadow shadow(records);
  std::vector<u32> met;
  const GmShadow::Met note = [&](u32 other, u64, u64, bool) { met.push_back(other); };
  const auto record = [&](u32 actor, PipeId pipe) { return Record{.actor = actor, .position = 1, .pipe = pipe}; };
  const auto enter = [&](const Record& r, bool write, u64 begin, u64 end) {
    const u32 number = records.add(r);
    met.clear();
    write ? shadow.write(r, number, begin, end, note) : shadow.read(r, number, begin, end, note);
    return number;
  };
  const u32 a = enter(record(1, PipeId::MTE3), true, 100, 110);
  enter(record(2, PipeId::MTE3), true, 110, 120);
  EXPECT_TRUE(met.empty());
  const u32 c = enter(record(3, PipeId::S), true, 104, 112);
  EXPECT_EQ(met.size(), 2u);
  enter(record(1, PipeId::MTE2), false, 96, 160);
  EXPECT_EQ(met.size(), 3u);  // a, b and c still hold some bytes each
  EXPECT_EQ(met.front(), a);
  EXPECT_EQ(met.back(), c);
  const u32 reader = enter(record(4, PipeId::MTE2), false, 128, 160);
  EXPECT_TRUE(met.empty());
  enter(record(4, PipeId::MTE3), true, 128, 160);
  EXPECT_EQ(met.size(), 2u) << "both readers, of blocks 1 and 4";
  EXPECT_EQ(met.front(), reader);
  enter(record(5, PipeId::MTE3), true, 96, 128);  // whole: takes the place of all parts
  EXPECT_EQ(met.size(), 4u);
  enter(record(6, PipeId::MTE2), false, 100, 101);
  EXPECT_EQ(met.size(), 1u);
}

TEST(GmShadow, PagesMeet) {
  Records records;
  GmShadow shadow(records);
  std::vector<std::pair<u64, u64>> met;
  const Record r{.actor = 1, .position = 1, .pipe = PipeId::MTE3};
  const u32 number = records.add(r);
  const u64 edge = 2048 * kGranule;
  shadow.write(r, number, edge - 100, edge + 100, [](u32, u64, u64, bool) {});
  shadow.read({.actor = 2, .position = 1, .pipe = PipeId::MTE2}, records.add({.actor = 2}), edge - 64, edge + 64,
              [&](u32, u64 b, u64 e, bool) { met.emplace_back(b, e); });
  EXPECT_EQ(met, (std::vector<std::pair<u64, u64>>{{edge - 64, edge}, {edge, edge + 64}}));
  met.clear();
  shadow.undefined(edge - 200, edge + 200, [&](u64 b, u64 e) { met.emplace_back(b, e); });
  EXPECT_EQ(met, (std::vector<std::pair<u64, u64>>{{edge - 200, edge - 128}, {edge + 128, edge + 200}}));
}

TEST(Records, NumbersStartAnew) {
  Records records;
  EXPECT_EQ(records.add({}), 1u);
  EXPECT_TRUE(records.forget());
  EXPECT_FALSE(records.holds(1));
  EXPECT_EQ(records.add({}), 2u);
  EXPECT_TRUE(records.holds(2));

  Records few(3);
  few.add({});
  EXPECT_TRUE(few.forget());
  few.add({});
  EXPECT_FALSE(few.forget());
  EXPECT_EQ(few.add({}), 1u);
}

TEST(LocalShadow, ForgetsRecordsButNotBytes) {
  LocalShadow shadow(1024);
  shadow.begin_block();
  const auto none = [](u32 other, u64, u64, bool) { EXPECT_EQ(other, 0u); };
  shadow.write(PipeId::V, 1, 0, 64, none);
  shadow.read(PipeId::MTE3, 2, 0, 64, [](u32 other, u64, u64) { EXPECT_EQ(other, 1u); });
  shadow.clear();
  shadow.write(PipeId::MTE2, 1, 0, 64, none);
  int undefined = 0;
  shadow.undefined(0, 128, 32, [&](u64 b, u64 e) {
    EXPECT_EQ(b, 64u);
    EXPECT_EQ(e, 128u);
    ++undefined;
  });
  EXPECT_EQ(undefined, 1);
}

// The first occurrence of the program is kept, whichever came first.
TEST(Findings, KeepTheFirstMoment) {
  Findings all;
  const Findings::Key key{.id = FaultId::raw_hazard, .at = 1, .other = 2, .buffer = BufId::UB};
  const auto named = [](std::string text) {
    return [text = std::move(text)] { return Finding{.id = FaultId::raw_hazard, .message = text}; };
  };
  all.add(key, {0, 3, 1}, named("later"));
  all.add(key, {0, 2, 9}, named("first"));
  all.add(key, {1, 0, 0}, named("last"));
  ASSERT_EQ(all.sorted().size(), 1u);
  EXPECT_EQ(all.sorted()[0].message, "first");
  EXPECT_EQ(all.sorted()[0].count, 3u);
  for (u64 i = 0; i < Findings::kMaxKept + 5; ++i)
    all.add({.id = FaultId::war_hazard, .at = i}, {0, 0, 0}, named("many"));
  EXPECT_EQ(all.dropped(), 6u);
  EXPECT_EQ(all.occurrences(), 3 + Findings::kMaxKept + 5);
}

// -----------------------------------------------------------------------------------------------------------------------
// Order between blocks, as cross-core flags will use it.

class TwoBlocks : public testing::Test {
 protected:
  TwoBlocks()
      : spec_{.arch = Arch::c220, .kind = CoreKind::vector, .sizes = {0, 0, 0, 0, 0, 4096, 0, 0}, .flags_per_pair = 4},
        code_(isa::assemble("copy_ubuf_to_gm 0x100000000, 0, 0, 1, 1, 0, 0\n"
                            "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 1, 0, 0\nend",
                            "b.s", Arch::c220)) {
    gm_.allocate(4096, "x");
    const u32 task = checker_.add_task(0, "t");
    checker_.task_access(checker_.add_task(1, "set"), 0x1'0000'0000, 4096, true);
    first_.begin(task, 0, code_);
    second_.begin(task, 1, code_);
  }
  Issued inst(u32 pc) const {
    const CodeInst& c = code_[pc];
    return {.row = c.row,
            .args = c.args,
            .spr = {},
            .pc = pc,
            .line = c.line,
            .type = c.type,
            .pipe = c.row->pipe(c.args, Arch::c220)};
  }
  bool overlap() {
    checker_.finish();  // conflicts with small copies are known then
    for (const Finding& f : checker_.findings().sorted())
      if (f.id == FaultId::block_overlap) return true;
    return false;
  }

  GlobalMemory gm_;
  Checker checker_{gm_};
  CoreSpec spec_;
  Code code_;
  CoreChecker& first_ = checker_.add_core(spec_, "AIV0", false);
  CoreChecker& second_ = checker_.add_core(spec_, "AIV1", false);
};

TEST_F(TwoBlocks, RunAtOnce) {
  first_.issued(inst(0));
  second_.issued(inst(1));
  EXPECT_TRUE(overlap());
}

TEST_F(TwoBlocks, AreOrderedByReleaseAndAcquire) {
  first_.issued(inst(0));
  second_.acquire(first_.release(PipeId::MTE3));
  second_.issued(inst(1));
  EXPECT_FALSE(overlap());
}

TEST_F(TwoBlocks, ReleaseOfAnotherPipeIsNotEnough) {
  first_.issued(inst(0));
  second_.acquire(first_.release(PipeId::MTE2));
  second_.issued(inst(1));
  EXPECT_TRUE(overlap());
}

TEST_F(TwoBlocks, LearnTheirOwnBack) {
  first_.issued(inst(0));
  second_.acquire(first_.release(PipeId::MTE3));
  second_.issued(inst(1));  // what a pipe knows is what its latest instruction knew
  first_.acquire(second_.release(PipeId::MTE2));
  first_.issued(inst(1));  // its own store, which the other block has seen
  for (const Finding& f : checker_.findings().sorted())
    EXPECT_NE(f.id, FaultId::raw_hazard) << f.message;
}

// -----------------------------------------------------------------------------------------------------------------------

TEST(Page, ListsEveryFaultId) {
  std::ifstream file(CHECKER_PAGE);
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  for (const FaultText& fault : kFaultTexts) {
    const std::string row = "| `" + std::string(fault.id) + "` | " + std::string(fault.what) + " |";
    EXPECT_NE(text.str().find(row), std::string::npos) << row;
  }
}

TEST(FaultTexts, NameNothingButTheSidesOfAFinding) {
  for (const FaultText& fault : kFaultTexts) {
    for (const std::string_view text : {fault.suggestion, fault.conflict}) {
      std::string rest(text);
      for (const std::string_view side : {"at", "other"}) {
        for (const std::string_view what : {"pipe", "line", "task", "core"}) {
          const std::string name = "{" + std::string(side) + "_" + std::string(what) + "}";
          for (usize at = rest.find(name); at != std::string::npos; at = rest.find(name))
            rest.erase(at, name.size());
        }
      }
      EXPECT_EQ(rest.find_first_of("{}"), std::string::npos) << fault.id << ": " << text;
    }
  }
}

}  // namespace
}  // namespace vinci::isa::check
