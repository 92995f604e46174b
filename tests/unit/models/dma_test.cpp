// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/dma.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace vinci::models {
namespace {

// A memory that is never in the way: a request is answered 101 cycles after it was made, one cycle for a write.
struct Quick {
  Quick()
      : system({.l2 = {.size = config::Bytes(16 << 20),
                       .line = config::Bytes(512),
                       .ways = 16,
                       .slices = 64,
                       .slice_read = config::BytesPerCycle(65536),
                       .slice_write = config::BytesPerCycle(65536),
                       .hit_latency = config::Cycles(100)},
                .hbm = {.size = config::Bytes(1 << 30),
                        .channels = 64,
                        .bandwidth = config::BytesPerSecond(1e14),
                        .latency = config::Cycles(0)}},
               1e9, 2, stats) {}
  u64 l2(std::string_view name) { return stats::to_json(stats)["l2"][std::string(name)].get<u64>(); }
  u64 requests() { return l2("hits") + l2("misses"); }

  stats::Group stats;
  MemorySystem system;
};

// Calls pump() when it asks for it; returns when the transfer is complete and the port is free.
u64 drive(Dma& dma, u64 from) {
  u64 t = from;
  for (;;) {
    const u64 next = dma.pump(t);
    if (dma.finished()) return std::max(next, dma.done());
    EXPECT_GT(next, t);
    t = next;
  }
}

isa::Footprint rows(u64 address, u32 len, u32 count, i64 stride, bool write = false) {
  return {{.write = write, .address = address, .len = len, .count = {count, 1, 1}, .stride = {stride, 0, 0}}};
}

TEST(Dma, SeveralAccessesFollowEachOtherAndOnlyThoseOfGlobalMemoryCount) {
  Quick q;
  Dma dma(q.system, 0, 1024, 1024);
  isa::Footprint both = rows(0, 512, 3, 512);
  both.add({.buffer = isa::BufId::L0C, .address = 0, .len = 4096});
  both.add({.write = true, .address = 1 << 20, .len = 0});
  both.add({.write = true, .address = 1 << 20, .len = 512});
  dma.begin(0, both, 64);  // 32 B a cycle
  EXPECT_EQ(dma.pump(0), 32u);
  EXPECT_EQ(q.l2("read_bytes"), 1024u);
  EXPECT_EQ(q.l2("write_bytes"), 0u);
  dma.pump(32);
  EXPECT_EQ(q.l2("read_bytes"), 1536u);
  EXPECT_EQ(q.l2("write_bytes"), 512u);
}

TEST(Dma, ChunksLeaveAtThePaceOfThePort) {
  Quick q;
  Dma dma(q.system, 0, 1024, 1024);
  dma.begin(20, rows(0, 4096, 1, 4096), 128);  // 32 B a cycle
  EXPECT_EQ(dma.pump(0), 20u);
  EXPECT_EQ(q.requests(), 0u);
  EXPECT_EQ(dma.pump(19), 20u);
  EXPECT_EQ(q.requests(), 0u);
  EXPECT_EQ(dma.pump(20), 52u);
  EXPECT_EQ(q.requests(), 2u);  // lines of 512 B
  EXPECT_EQ(dma.pump(51), 52u);
  EXPECT_EQ(dma.pump(52), 84u);
  EXPECT_FALSE(dma.finished());
  EXPECT_EQ(dma.pump(84), 116u);
  EXPECT_EQ(dma.pump(116), 148u);
  EXPECT_TRUE(dma.finished());
  EXPECT_EQ(dma.done(), 116u + 101);
  EXPECT_EQ(q.requests(), 8u);
}

TEST(Dma, DataEnterTheBufferAtTheirOwnPaceFromWhenTheFirstArrive) {
  Quick q;
  Dma dma(q.system, 0, 4096, 1024);
  dma.begin(0, rows(0, 4096, 1, 4096), 128, false, 128);
  EXPECT_EQ(dma.pump(0), 128u);  // the requests of a chunk leave together
  EXPECT_TRUE(dma.finished());
  EXPECT_EQ(dma.done(), 101u + 128);
  dma.begin(140, rows(4096, 1024, 1, 1024), 32, false, 64);  // its data arrive at 241
  dma.pump(140);
  EXPECT_EQ(dma.done(), 241u + 64);
  dma.begin(172, rows(8192, 1024, 1, 1024), 32, false, 64);  // at 273, and those before are not in yet
  dma.pump(172);
  EXPECT_EQ(dma.done(), 241u + 2 * 64);
  dma.begin(1000, rows(8192, 1024, 1, 1024), 32, false, 10);
  dma.pump(1000);
  EXPECT_EQ(dma.done(), 1101u + 10);
}

TEST(Dma, ThePortIsTheEndWhereTheMemoryIsQuicker) {
  Quick q;
  Dma dma(q.system, 0, 4096, 1024);
  dma.begin(0, rows(0, 4096, 1, 4096, true), 1000);
  EXPECT_EQ(drive(dma, 0), 1000u);
  EXPECT_EQ(q.l2("write_bytes"), 4096u);
  EXPECT_EQ(q.l2("read_bytes"), 0u);
}

TEST(Dma, WaitsWhenTooManyRequestsAreUnderWay) {
  Quick q;
  Dma one(q.system, 0, 1024, 2);
  one.begin(20, rows(0, 4096, 1, 4096), 4);
  EXPECT_EQ(drive(one, 20), 20u + 4 * 101);
  Dma two(q.system, 0, 1024, 4);
  two.begin(1000, rows(0, 4096, 1, 4096), 4);
  EXPECT_EQ(drive(two, 1000), 1000u + 2 * 101 + 1);  // the second pair follows the first, a cycle apart
}

TEST(Dma, FewerRequestsThanAChunkHasSplitIt) {
  Quick q;
  Dma dma(q.system, 0, 4096, 1);
  dma.begin(0, rows(0, 8192, 1, 8192), 8);
  EXPECT_EQ(drive(dma, 0), 16u * 101);
}

TEST(Dma, RowsAreAskedForInUnitsOfTwiceTheirAlignment) {
  const auto requests = [](u64 address, u32 len, bool by_rows) {
    Quick q;
    Dma dma(q.system, 0, 4096, 64, 128);
    dma.begin(0, rows(address, len, 1, 4096), 8, by_rows);
    drive(dma, 0);
    EXPECT_EQ(q.l2("read_bytes"), len);
    return q.requests();
  };
  EXPECT_EQ(requests(0, 512, true), 1u);
  EXPECT_EQ(requests(4096, 512, true), 1u);
  EXPECT_EQ(requests(256, 512, true), 2u);
  EXPECT_EQ(requests(128, 512, true), 3u);  // 128, 256, 128
  EXPECT_EQ(requests(64, 512, true), 5u);   // 64, three of 128, 64
  EXPECT_EQ(requests(16, 512, true), 5u);
  EXPECT_EQ(requests(128, 512, false), 2u);
  EXPECT_EQ(requests(64, 512, false), 2u);
  EXPECT_EQ(requests(16, 512, false), 5u);
}

TEST(Dma, RowsFromTheDeviceMemoryTakeAPlaceForEachHalfOfAUnit) {
  const auto time = [](Quick& q, u64 from, u64 address, u32 len, bool by_rows) {
    Dma dma(q.system, 0, 4096, 4, 128);
    dma.begin(from, rows(address, len, 8, 4096), 8, by_rows);
    return drive(dma, from) - from;
  };
  Quick q;
  EXPECT_EQ(time(q, 0, 0, 512, true), 4u * 101);     // two rows at once
  EXPECT_EQ(time(q, 1000, 0, 512, true), 2u * 101);  // four, of which L2 has the lines
  EXPECT_EQ(time(q, 2000, 1024, 256, true), 2u * 101);
  EXPECT_EQ(time(q, 3000, 1536 + 128, 128, true), 2u * 101);
  EXPECT_EQ(time(q, 4000, 2560 + 256, 256, true), 2u * 101);
  EXPECT_EQ(time(q, 5000, 2048, 512, false), 2u * 101);  // bursts count once
}

TEST(Dma, TheNextCopyBeginsWhileDataAreOnTheirWayAndSharesTheRequests) {
  Quick q;
  Dma dma(q.system, 0, 1024, 3);
  dma.begin(0, rows(0, 1024, 1, 1024), 4);
  EXPECT_EQ(dma.pump(0), 4u);
  EXPECT_TRUE(dma.finished());
  EXPECT_EQ(dma.done(), 101u);
  dma.begin(10, rows(4096, 1024, 1, 1024), 4);
  EXPECT_EQ(dma.pump(10), 12u);   // one of its two lines has gone
  EXPECT_EQ(dma.pump(12), 101u);  // room when those of the first copy are back
  EXPECT_EQ(q.requests(), 3u);
  EXPECT_EQ(drive(dma, 101), 202u);
}

TEST(Dma, RowsThatTouchAreOnePiece) {
  Quick q;
  Dma dma(q.system, 0, 4096, 1024);
  dma.begin(0, rows(0, 32, 16, 32), 16);
  drive(dma, 0);
  EXPECT_EQ(q.requests(), 1u);
  EXPECT_EQ(q.l2("read_bytes"), 512u);
}

TEST(Dma, RowsWithGapsAreRequestsOfTheirOwn) {
  Quick q;
  Dma dma(q.system, 0, 4096, 1024);
  dma.begin(0, rows(0, 32, 16, 64), 16);
  drive(dma, 0);
  EXPECT_EQ(q.requests(), 16u);
  EXPECT_EQ(q.l2("read_bytes"), 512u);
  EXPECT_EQ(q.l2("misses"), 2u);  // 16 * 64 B are two lines
}

TEST(Dma, PiecesAreCutAtLinesAlone) {
  Quick q;
  Dma dma(q.system, 0, 64, 1024);
  dma.begin(0, rows(500, 100, 1, 100), 4);
  drive(dma, 0);
  EXPECT_EQ(q.requests(), 2u);  // 12 and 88
  EXPECT_EQ(q.l2("read_bytes"), 100u);
  dma.begin(1000, rows(4096, 512, 1, 512), 16);
  drive(dma, 1000);
  EXPECT_EQ(q.requests(), 2u + 1);
}

TEST(Dma, RowsThatBeginBetweenBlocksGoInSmallerRequests) {
  Quick q;
  Dma dma(q.system, 0, 4096, 1024, 128);
  dma.begin(0, rows(512 + 2, 512, 1, 512), 16);
  drive(dma, 0);
  EXPECT_EQ(q.requests(), 5u);  // 126, three of 128, 2
  dma.begin(1000, rows(512 + 32, 512, 1, 512), 16);
  drive(dma, 1000);
  EXPECT_EQ(q.requests(), 5u + 2);
  EXPECT_EQ(q.l2("read_bytes"), 1024u);
}

TEST(Dma, ShortRowsThatBecomeFractalsAreAskedForByTheirUnit) {
  const auto requests = [](u32 len, bool by_rows) {
    Quick q;
    Dma dma(q.system, 0, 4096, 1024, 128);
    dma.begin(0, rows(4096, len, 16, len), 16, by_rows);
    drive(dma, 0);
    EXPECT_EQ(q.l2("read_bytes"), u64{16} * len);
    return q.requests();
  };
  EXPECT_EQ(requests(256, false), 8u);  // lines
  EXPECT_EQ(requests(256, true), 16u);
  EXPECT_EQ(requests(32, true), 2u);
  EXPECT_EQ(requests(512, true), 16u);  // lines again
}

TEST(Dma, CanBeUsedAgain) {
  Quick q;
  Dma dma(q.system, 0, 1024, 2);
  dma.begin(0, rows(0, 1024, 1, 1024), 4);
  EXPECT_EQ(drive(dma, 0), 101u);
  dma.begin(500, rows(0, 1024, 1, 1024), 4);
  EXPECT_FALSE(dma.finished());
  EXPECT_EQ(drive(dma, 500), 601u);
}

TEST(Dma, AsksForExactlyTheBytesOfTheFootprint) {
  constexpr u64 kSeed = 20240611;
  std::mt19937_64 random(kSeed);
  const auto below = [&](u64 n) { return random() % n; };
  for (int i = 0; i < 300; ++i) {
    Quick q;
    isa::Access a{
        .write = below(2) == 0,
        .address = below(5000),
        .len = static_cast<u32>(1 + below(700)),
        .count = {static_cast<u32>(1 + below(4)), static_cast<u32>(1 + below(4)), static_cast<u32>(1 + below(3))},
        .stride = {static_cast<i64>(below(900)), static_cast<i64>(below(900)), static_cast<i64>(below(900))}};
    if (below(3) == 0) a.stride[0] = a.len;
    Dma dma(q.system, 0, 32 + below(2000), 1 + below(20));
    dma.begin(below(100), {a}, static_cast<double>(below(500)));
    drive(dma, 0);
    ASSERT_EQ(q.l2(a.write ? "write_bytes" : "read_bytes"), a.bytes()) << "seed " << kSeed << " round " << i;
    ASSERT_EQ(q.l2(a.write ? "read_bytes" : "write_bytes"), 0u);
  }
}

}  // namespace
}  // namespace vinci::models
