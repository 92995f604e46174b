// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/memory/hbm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace vinci::models {
namespace {

// At 1 GHz: one channel of 64 B a cycle, four banks of rows of 1 KiB, a latency of 50; opening a row takes 14, closing
// one 10 more.
struct Dram {
  static config::HbmConfig round() {
    return {.channels = 1,
            .bandwidth = config::BytesPerSecond(64e9),
            .latency = config::Cycles(50),
            .banks = 4,
            .row = config::Bytes(1024),
            .activate = config::Seconds(14e-9),
            .precharge = config::Seconds(10e-9)};
  }
  // Rows cost nothing; four writes are a batch, a turn takes 5.
  static config::HbmConfig batches_of_four() {
    config::HbmConfig c = round();
    c.activate = c.precharge = config::Seconds(0);
    c.write_batch = 4;
    c.turn_around = config::Seconds(5e-9);
    return c;
  }
  explicit Dram(const config::HbmConfig& c = round())
      : config(c), hbm({.config = config, .hertz = 1e9, .line_bytes = 512, .stats = stats}) {}
  // The cycle, whole or begun, in which a request of cycle `now` is answered.
  u64 access(u64 now, u64 address, u32 bytes, bool write = false) {
    return to_cycles(hbm.access(to_ticks(now), address, bytes, write));
  }
  u64 count(std::string_view name) { return stats::to_json(stats)[std::string(name)].get<u64>(); }

  config::HbmConfig config;
  stats::Group stats;
  Hbm hbm;
};

TEST(Hbm, RowsAreClosedOpenOrInTheWay) {
  Dram d;
  EXPECT_EQ(d.access(0, 0, 512), 0u + 14 + 8 + 50);
  EXPECT_EQ(d.access(100, 512, 512), 100u + 8 + 50);            // the same row
  EXPECT_EQ(d.access(200, 6 * 1024, 512), 200u + 24 + 8 + 50);  // another one of its bank
  EXPECT_EQ(d.access(300, 1024, 512), 300u + 14 + 8 + 50);      // another bank
  EXPECT_EQ(d.access(400, 1536, 64), 400u + 1 + 50);
  EXPECT_EQ(d.count("row_hits"), 2u);
  EXPECT_EQ(d.count("row_misses"), 2u);
  EXPECT_EQ(d.count("row_conflicts"), 1u);
}

TEST(Hbm, ABankThatOpensARowDelaysItselfAndNotTheBus) {
  Dram d;
  d.access(0, 0, 512);
  d.access(100, 1024, 512);
  EXPECT_EQ(d.access(200, 6 * 1024, 512), 200u + 24 + 8 + 50);  // a conflict
  EXPECT_EQ(d.access(200, 1536, 512), 200u + 2 * 8 + 50);       // the other bank: behind it on the bus alone
  EXPECT_EQ(d.access(200, 6656, 512), 200u + 24 + 8 + 8 + 50);  // its own bank: after it
  EXPECT_EQ(d.access(200, 1024, 512), 200u + 4 * 8 + 50);       // the bus has carried four by then
}

TEST(Hbm, MovesWholeBursts) {
  Dram d;
  d.access(0, 0, 512);
  EXPECT_EQ(d.access(100, 512, 1), 101u + 50);  // 32 B are half a cycle
  EXPECT_EQ(d.access(100, 544, 33), 102u + 50);
  EXPECT_EQ(d.access(100, 640, 32), 102u + 50);  // half a cycle, 1 and half a cycle
  EXPECT_EQ(d.access(100, 672, 32), 103u + 50);
}

TEST(Hbm, WritesArePostedUntilABatchIsOnItsWay) {
  Dram d(Dram::batches_of_four());
  for (u64 i = 0; i < 3; ++i)
    EXPECT_EQ(d.access(0, i * 512, 512, true), 0u);
  EXPECT_EQ(d.access(0, 8192, 512), 8u + 50);                        // a read passes them
  EXPECT_EQ(d.access(10, 1536, 512, true), 10u);                     // the fourth sends the batch
  EXPECT_EQ(d.access(10, 8192, 512), 10u + 5 + 4 * 8 + 5 + 8 + 50);  // a turn, the batch, a turn
  EXPECT_EQ(d.access(11, 0, 512, true), 10u + 5 + 4 * 8);            // its place is free when the batch has left
  EXPECT_EQ(d.access(60, 512, 512, true), 60u);
  EXPECT_EQ(d.count("turn_arounds"), 1u);
}

TEST(Hbm, WritesGoWhileTheBusIsIdle) {
  Dram d(Dram::batches_of_four());
  for (u64 i = 0; i < 3; ++i)
    d.access(0, i * 512, 512, true);
  EXPECT_EQ(d.access(17, 8192, 512), 17u + 8 + 50);  // two turns and a write need 18 cycles
  EXPECT_EQ(d.count("turn_arounds"), 0u);
  EXPECT_EQ(d.access(25 + 26, 8192, 512), 51u + 8 + 50);  // two turns and two writes fit exactly
  EXPECT_EQ(d.count("turn_arounds"), 1u);
  for (u64 i = 0; i < 2; ++i)
    d.access(59, i * 512, 512, true);
  EXPECT_EQ(d.access(59, 8192, 512), 59u + 8 + 50);  // one was left, and two are no batch
  d.access(67, 1024, 512, true);
  EXPECT_EQ(d.count("turn_arounds"), 2u);
  EXPECT_EQ(d.access(67, 8192, 512), 67u + 5 + 4 * 8 + 5 + 8 + 50);
}

TEST(Hbm, WritesDoNotUseTimeBeforeTheyCame) {
  Dram d(Dram::batches_of_four());
  for (u64 i = 0; i < 3; ++i)
    d.access(1000, i * 512, 512, true);
  EXPECT_EQ(d.access(1001, 8192, 512), 1001u + 8 + 50);
  EXPECT_EQ(d.count("turn_arounds"), 0u);
  d.access(1009, 1536, 512, true);  // the batch
  EXPECT_EQ(d.access(1009, 8192, 512), 1009u + 5 + 4 * 8 + 5 + 8 + 50);
}

// Four stacks of two channels, each of 32 B a cycle. A region of 4 KiB is in one stack.
struct Stacked : Dram {
  static config::HbmConfig four() {
    config::HbmConfig c = round();
    c.activate = c.precharge = config::Seconds(0);
    c.channels = 8;
    c.bandwidth = config::BytesPerSecond(256e9);
    c.stacks = 4;
    return c;
  }
  Stacked() : Dram(four()) {}
  // Cycles for `count` lines at `stride`, all asked for at once.
  u64 cycles(u64 count, u64 stride) {
    u64 end = 0;
    for (u64 i = 0; i < count; ++i)
      end = std::max(end, access(0, i * stride, 512));
    return end - 50;
  }
};

TEST(Hbm, ARegionLiesInOneStack) {
  EXPECT_EQ(Stacked().cycles(8, 512), 4u * 16);  // 4 KiB: four lines on each of two channels
}

TEST(Hbm, EveryChannelHasBanksOfItsOwn) {
  config::HbmConfig c = Stacked::four();
  c.banks = 1;
  c.row = config::Bytes(512);
  c.activate = config::Seconds(14e-9);
  Dram d(c);
  for (u64 region = 0; region < 64; ++region)
    for (u64 line = 0; line < 2; ++line)
      d.access(1000 * region, region * 4096 + line * 512, 512);
  EXPECT_EQ(d.count("row_misses"), 8u);  // the first request of each
}

TEST(Hbm, NoStrideCampsOnAStack) {
  constexpr u64 kLines = 4096, kEven = kLines * 16 / 8;
  for (u64 stride = 4096; stride <= u64{1} << 28; stride *= 2) {
    const u64 cycles = Stacked().cycles(kLines, stride);
    EXPECT_GE(cycles, kEven) << stride;
    EXPECT_LE(cycles, kEven * 1.2) << stride;
  }
}

TEST(Hbm, RefreshTakesTheBusAndClosesOneBank) {
  config::HbmConfig c = Dram::round();
  c.refresh_interval = config::Seconds(1000e-9);
  c.refresh_time = config::Seconds(100e-9);
  Dram d(c);
  d.access(0, 0, 512);
  d.access(100, 1024, 512);                                 // banks 0 and 1
  EXPECT_EQ(d.access(999, 0, 512), 999u + 8 + 50);          // not yet
  EXPECT_EQ(d.access(1007, 0, 512), 1007u + 100 + 8 + 50);  // was due at 1000, when the bus was busy until 1007
  EXPECT_EQ(d.count("refreshes"), 1u);
  EXPECT_EQ(d.access(1999, 0, 512), 1999u + 8 + 50);
  EXPECT_EQ(d.access(2500, 0, 512), 2500u + 8 + 50);  // over by 2107, and it was the other bank's turn
  EXPECT_EQ(d.access(2600, 1024, 512), 2600u + 14 + 8 + 50);
  EXPECT_EQ(d.access(12'050, 0, 512), 12'100u + 8 + 50);  // 3000 to 11000 fell into idle time, 12000 did not
  EXPECT_EQ(d.count("refreshes"), 12u);
}

TEST(Hbm, SustainsThePinsLessRefresh) {
  config::HbmConfig c = Dram::round();
  c.channels = 12;
  c.refresh_interval = config::Seconds(250e-9);
  c.refresh_time = config::Seconds(25e-9);
  Dram d(c);
  constexpr u64 kLines = 100'000;
  u64 end = 0;
  for (u64 i = 0; i < kLines; ++i)
    end = std::max(end, d.access(0, i * 512, 512));
  const double rate = static_cast<double>(kLines * 512) / static_cast<double>(end);
  EXPECT_LE(rate, 64 * 0.901);
  EXPECT_GE(rate, 64 * 0.89);
}

TEST(Hbm, OneBankAloneIsSlowerThanTheBus) {
  Dram d;
  u64 end = 0;
  for (u64 i = 0; i < 100; ++i)
    end = std::max(end, d.access(0, 6144 * (i % 2), 512));  // two rows of one bank, in turn
  EXPECT_EQ(end, 50u + (14 + 8) + 99 * (24 + 8));
}

}  // namespace
}  // namespace vinci::models
