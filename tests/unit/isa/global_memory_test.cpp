// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/global_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <thread>

#include "isa/mem/late_access.h"
#include "isa/mem/zero_pages.h"
#include "isa/table/insn.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

constexpr u64 kPage = PageTable::kPageBytes;

TEST(GlobalMemory, WhatWasNeverWrittenIsZero) {
  GlobalMemory gm;
  const u64 at = GlobalMemory::kBase;
  EXPECT_EQ(gm_load<u64>(gm, at), 0u);
  EXPECT_EQ(gm.piece(at, 1), nullptr);
  gm_store<u64>(gm, at + 2 * kPage - 4, 0x1122334455667788);  // on two pages
  EXPECT_EQ(gm_load<u64>(gm, at + 2 * kPage - 4), 0x1122334455667788u);
  EXPECT_EQ(gm_load<u64>(gm, at + 2 * kPage - 12), 0u);
  EXPECT_EQ(gm.piece(at, 1), nullptr);
}

TEST(GlobalMemory, PiecesAreTheBytesThemselves) {
  GlobalMemory gm;
  const u64 at = GlobalMemory::kBase + kPage;
  gm_store<u8>(gm, at + 7, 42);
  const std::byte* piece = gm.piece(at, kPage);
  ASSERT_NE(piece, nullptr);
  EXPECT_EQ(piece[7], std::byte{42});
  gm_store<u8>(gm, at + 8, 43);
  EXPECT_EQ(gm.piece(at + 8, 1), piece + 8);
  EXPECT_EQ(piece[8], std::byte{43});
  gm_store<u8>(gm, at + kPage, 1);
  EXPECT_EQ(gm.piece(at + 1, kPage), nullptr) << "two pages are not one piece";
}

TEST(GlobalMemory, AllAddressesOf48Bits) {
  GlobalMemory gm;
  for (u64 bit = 16; bit < 48; ++bit)
    gm_store<u64>(gm, (u64{1} << bit) + 8 * bit, bit);
  for (u64 bit = 16; bit < 48; ++bit) {
    EXPECT_EQ(gm_load<u64>(gm, (u64{1} << bit) + 8 * bit), bit);
    EXPECT_EQ(gm_load<u64>(gm, (u64{1} << bit) + 8 * bit + 8), 0u);
  }
  EXPECT_EQ(gm_load<u64>(gm, u64{1} << 50), 0u);
}

TEST(GlobalMemory, ReadersSeeTheirBytesWhileOthersAreWritten) {
  GlobalMemory gm;
  const u64 mine = GlobalMemory::kBase;
  gm_store<u64>(gm, mine, 7);
  u64 wrong = 0;
  std::thread reader([&] {
    for (int i = 0; i < 20'000; ++i)
      wrong += gm_load<u64>(gm, mine) != 7 || gm.piece(mine, 8) == nullptr;
  });
  for (u64 page = 1; page < 3000; ++page)  // more than a leaf of the table, and than a region of the host
    gm_store<u64>(gm, mine + page * kPage, page);
  reader.join();
  EXPECT_EQ(wrong, 0u);
  for (u64 page = 1; page < 3000; ++page)
    ASSERT_EQ(gm_load<u64>(gm, mine + page * kPage), page);
}

// ---------------------------------------------------------------------------------------------------------------------

using Rows = LateAccess::Rows;

// Touches one byte when it is asked to: adds 10 to it, or reads it.
struct Later final : LateAccess::Owner {
  Later(GlobalMemory& g, u64 a, bool w) : gm(g), address(a), write(w) {
    gm.late().put_off(*this, {address, address + 1}, write);
  }
  ~Later() override { gm.late().forget(*this); }
  void do_late() override {
    const LateAccess::Doing doing;
    seen.push_back(gm_load<u8>(gm, address));
    if (write) gm_store<u8>(gm, address, static_cast<u8>(seen.back() + 10));
    gm.late().forget(*this);
  }
  GlobalMemory& gm;
  u64 address;
  bool write;
  std::vector<int> seen;
};

TEST(LateAccess, ReadsAreDoneBeforeTheirBytesChangeAndOnlyThen) {
  GlobalMemory gm;
  const u64 at = GlobalMemory::kBase;
  gm_store<u8>(gm, at + 10, 1);
  Later first(gm, at + 10, false), second(gm, at + 12, false), third(gm, at + 10, false);
  for (const u64 other : {9, 11, 13})
    gm_store<u8>(gm, at + other, 9);
  EXPECT_EQ(gm_load<u8>(gm, at + 10), 1);
  EXPECT_TRUE(first.seen.empty() && second.seen.empty() && third.seen.empty());
  gm_store<u8>(gm, at + 10, 2);
  EXPECT_EQ(first.seen, std::vector{1});
  EXPECT_EQ(third.seen, std::vector{1});
  EXPECT_TRUE(second.seen.empty());
  gm_store<u32>(gm, at + 10, 3);
  EXPECT_EQ(first.seen.size(), 1u) << "it owes nothing more";
  EXPECT_EQ(second.seen, std::vector{0});
}

TEST(LateAccess, WritesAreDoneBeforeTheirBytesAreTouched) {
  for (const int touch : {0, 1, 2, 3}) {
    GlobalMemory gm;
    const u64 at = GlobalMemory::kBase;
    gm_store<u8>(gm, at, 1);
    Later writer(gm, at, true);
    EXPECT_EQ(gm_load<u8>(gm, at + 1), 0);
    EXPECT_TRUE(writer.seen.empty());
    switch (touch) {
      case 0: EXPECT_EQ(gm_load<u8>(gm, at), 11); break;
      case 1: EXPECT_EQ(gm.piece(at, 1)[0], std::byte{11}); break;
      case 2: gm_store<u8>(gm, at, 5); break;
      default: gm.late().before({at, at + 1}, false); break;
    }
    EXPECT_EQ(writer.seen, std::vector{1}) << touch;
    EXPECT_EQ(gm_load<u8>(gm, at), touch == 2 ? 5 : 11);
  }
}

TEST(LateAccess, WhoAsksIsNotInItsOwnWay) {
  GlobalMemory gm;
  const u64 at = GlobalMemory::kBase;
  Later first(gm, at, true), second(gm, at, true);
  gm.late().before({at, at + 1}, true, &second);
  EXPECT_EQ(first.seen.size(), 1u);
  EXPECT_TRUE(second.seen.empty());
}

TEST(LateAccess, ManyRangesOfOneReaderAreAllWatched) {
  for (u64 written = 0; written < 40; ++written) {
    GlobalMemory gm;
    Later reader(gm, GlobalMemory::kBase + 17 * 1000, false);
    for (u64 i = 0; i < 40; ++i) {
      const u64 begin = GlobalMemory::kBase + i * 7919 % 40 * 1000;
      gm.late().put_off(reader, {begin, begin + 10}, false);
    }
    gm_store<u8>(gm, GlobalMemory::kBase + written * 1000 + 9, 1);
    EXPECT_EQ(reader.seen.size(), 1u) << written;
  }
}

TEST(LateAccess, AFaultOfAnOwnerLeavesTheBytes) {
  struct Broken final : LateAccess::Owner {
    void do_late() override { fail(Fault::Program, "broken"); }
  } owner;
  GlobalMemory gm;
  gm.late().put_off(owner, {GlobalMemory::kBase, GlobalMemory::kBase + 8}, false);
  EXPECT_THROW(gm_store<u8>(gm, GlobalMemory::kBase + 3, 5), Error);
  EXPECT_EQ(gm_load<u8>(gm, GlobalMemory::kBase + 3), 0);
  gm.late().forget(owner);
  gm_store<u8>(gm, GlobalMemory::kBase + 3, 5);
}

std::set<u64> bytes_of(const Access& a) {
  std::set<u64> all;
  for (i64 i = 0; i < a.count[0]; ++i) {
    for (i64 j = 0; j < a.count[1]; ++j) {
      for (u64 b = 0; b < a.len; ++b)
        all.insert(a.address + static_cast<u64>(i * a.stride[0] + j * a.stride[1]) + b);
    }
  }
  return all;
}

// Rows that share a byte always meet; rows that lie between each other, at the same distance, do not.
TEST(LateAccess, RowsMeetWhereTheyShareBytes) {
  std::minstd_rand random(1);
  const auto below = [&](u64 n) { return random() % n; };
  u64 apart = 0;
  for (int i = 0; i < 20'000; ++i) {
    const i64 step = static_cast<i64>(below(12));
    const auto access = [&] {
      return Access{.address = 100 + below(40),
                    .len = static_cast<u32>(1 + below(6)),
                    .count = {static_cast<u32>(1 + below(5)), static_cast<u32>(1 + below(8) / 7), 1},
                    .stride = {below(9) == 0 ? -step : step, static_cast<i64>(below(30)), 0}};
    };
    const Access a = access(), b = access();
    const std::set<u64> x = bytes_of(a), y = bytes_of(b);
    const Rows p = Rows::of(a), q = Rows::of(b);
    ASSERT_EQ(p.begin, *x.begin());
    ASSERT_EQ(p.end, *x.rbegin() + 1);
    const bool share = std::ranges::any_of(x, [&](u64 byte) { return y.contains(byte); });
    ASSERT_EQ(p.meets(q), q.meets(p));
    ASSERT_TRUE(!share || p.meets(q)) << i;
    apart += !p.meets(q) && p.begin < q.end && q.begin < p.end;
  }
  EXPECT_GT(apart, 100u);
  EXPECT_EQ(Rows::of({.address = 5, .len = 0}).begin, Rows::of({.address = 5, .len = 0}).end);
}

// Also those that are given out again after others were written.
TEST(ZeroPages, AreZeroAndAligned) {
  for (int turn = 0; turn < 20; ++turn) {
    for (const usize bytes : {usize{1}, usize{64}, usize{5000}, usize{1} << 20}) {
      const ZeroPages pages(bytes);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(pages.data()) % ZeroPages::kAlignment, 0u);
      const std::span all(pages.data(), bytes);
      ASSERT_TRUE(std::ranges::all_of(all, [](std::byte b) { return b == std::byte{0}; }));
      std::ranges::fill(all, std::byte{0xff});
    }
  }
  EXPECT_EQ(ZeroPages().data(), nullptr);
}

}  // namespace
}  // namespace vinci::isa
