// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/global_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "isa/mem/zero_pages.h"
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
