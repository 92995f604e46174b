// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/memory/l2_tags.h"
#include "models/memory/memory_system.h"
#include "models/memory/timeline.h"
#include "sim/config/load.h"

namespace vinci::models {
namespace {

TEST(Timeline, ServesOneAfterTheOtherAndWaitsForNobody) {
  Timeline t;
  EXPECT_EQ(t.reserve(10, 5), 15u);
  EXPECT_EQ(t.reserve(0, 5), 20u);     // made earlier in time, but after the first
  EXPECT_EQ(t.reserve(20, 5), 25u);    // exactly when it is free
  EXPECT_EQ(t.reserve(100, 1), 101u);  // a gap
  EXPECT_EQ(t.busy(), 16u);
  EXPECT_EQ(t.free_at(), 101u);
}

TEST(Timeline, TicksOfACycle) {
  EXPECT_EQ(to_cycles(0), 0u);
  EXPECT_EQ(to_cycles(1), 1u);
  EXPECT_EQ(to_cycles(1024), 1u);
  EXPECT_EQ(to_cycles(1025), 2u);
  EXPECT_EQ(ticks_per(512, 128), 4096u);
  EXPECT_EQ(ticks_per(512, 30.4), 17246u);  // 16.842.. cycles
}

TEST(L2Tags, ReplacesTheLeastRecentlyUsedOfASet) {
  L2Tags tags(4 * 512, 512, 2);  // two sets; even lines meet in one
  EXPECT_FALSE(tags.touch(0, false).hit);
  EXPECT_FALSE(tags.touch(2, false).hit);
  EXPECT_TRUE(tags.touch(0, false).hit);  // 2 is now the older one
  EXPECT_FALSE(tags.touch(4, false).hit);
  EXPECT_TRUE(tags.touch(0, false).hit);
  EXPECT_TRUE(tags.touch(4, false).hit);
  EXPECT_FALSE(tags.touch(2, false).hit);
  EXPECT_FALSE(tags.touch(0, false).hit);  // went for 2
}

TEST(L2Tags, SetsDoNotDisturbEachOther) {
  L2Tags tags(4 * 512, 512, 2);
  tags.touch(1, false);
  for (u64 line = 0; line < 20; line += 2)
    tags.touch(line, false);
  EXPECT_TRUE(tags.touch(1, false).hit);
}

TEST(L2Tags, WritesBackOnlyWhatWasWritten) {
  L2Tags tags(512, 512, 1);
  EXPECT_FALSE(tags.touch(7, true).written_back.has_value());
  EXPECT_EQ(tags.touch(8, false).written_back, 7u);
  EXPECT_EQ(tags.touch(9, false).written_back, std::nullopt);  // 8 was clean
  EXPECT_TRUE(tags.touch(9, true).hit);                        // a hit makes it dirty
  EXPECT_TRUE(tags.touch(9, false).hit);                       // and a read leaves it so
  EXPECT_EQ(tags.touch(10, false).written_back, 9u);
}

TEST(L2Tags, HoldExactlyTheirCapacity) {
  constexpr u64 kLines = 64;
  L2Tags tags(kLines * 512, 512, 4);
  for (u64 line = 100; line < 100 + kLines; ++line)
    EXPECT_FALSE(tags.touch(line, false).hit);
  for (u64 line = 100; line < 100 + kLines; ++line)
    EXPECT_TRUE(tags.touch(line, false).hit) << line;
  EXPECT_FALSE(tags.touch(100 + kLines, false).hit);
  EXPECT_FALSE(tags.touch(100, false).hit);
}

// A memory with round numbers: 512 B a cycle at the slice and at the channel, hit 100, HBM 200 more.
struct Memory {
  static config::MemoryConfig round() {
    return {.l2 = {.size = config::Bytes(1 << 20),
                   .line = config::Bytes(512),
                   .ways = 4,
                   .slices = 1,
                   .slice_bytes_per_cycle = config::BytesPerCycle(512),
                   .hit_latency = config::Cycles(100)},
            .hbm = {.size = config::Bytes(1 << 30),
                    .channels = 1,
                    .bandwidth = config::BytesPerSecond(512e9),
                    .latency = config::Cycles(200)}};
  }
  explicit Memory(const config::MemoryConfig& c = round(), double hertz = 1e9) : system(c, hertz, stats) {}
  u64 count(std::string_view group, std::string_view name) {
    return stats::to_json(stats)[std::string(group)][std::string(name)].get<u64>();
  }
  stats::Group stats;
  MemorySystem system;
};

TEST(MemorySystem, UnloadedReads) {
  Memory m;
  EXPECT_EQ(m.system.access(0, 0, 512, false), 1u + 1 + 200 + 100);  // slice, channel, HBM, L2
  EXPECT_EQ(m.system.access(1000, 0, 512, false), 1000u + 1 + 100);  // slice, L2
  EXPECT_EQ(m.system.access(2000, 0, 32, false), 2000u + 1 + 100);   // a part of a cycle of the slice is rounded up
  EXPECT_EQ(m.count("l2", "hits"), 2u);
  EXPECT_EQ(m.count("l2", "misses"), 1u);
  EXPECT_EQ(m.count("l2", "read_bytes"), 512u + 512 + 32);
  EXPECT_EQ(m.count("hbm", "read_bytes"), 512u);
}

TEST(MemorySystem, WritesArePosted) {
  Memory m;
  EXPECT_EQ(m.system.access(0, 0, 512, true), 1u);
  EXPECT_EQ(m.count("hbm", "read_bytes"), 0u);  // a whole line needs nothing from below
  EXPECT_EQ(m.system.access(10, 512, 32, true), 11u);
  EXPECT_EQ(m.count("hbm", "read_bytes"), 512u);  // a part of one does, in the background
  EXPECT_EQ(m.system.access(20, 544, 32, true), 21u);
  EXPECT_EQ(m.count("hbm", "read_bytes"), 512u);
  EXPECT_EQ(m.count("hbm", "write_bytes"), 0u);
}

TEST(MemorySystem, DirtyVictimsTakeTheirTurnOnTheChannel) {
  config::MemoryConfig c = Memory::round();
  c.l2.size = config::Bytes(512);
  c.l2.ways = 1;
  Memory m(c);
  m.system.access(0, 0, 512, true);
  EXPECT_EQ(m.system.access(100, 512, 512, false), 100u + 1 + 2 + 200 + 100);  // written back, then fetched
  EXPECT_EQ(m.count("hbm", "write_bytes"), 512u);
  EXPECT_EQ(m.system.access(1000, 0, 512, false), 1000u + 1 + 1 + 200 + 100);  // the victim is clean
}

TEST(MemorySystem, ALineUnderWayIsNotThereYet) {
  Memory m;
  const u64 first = m.system.access(0, 0, 512, false);
  EXPECT_EQ(m.system.access(10, 0, 512, false), first);  // the same fill serves both
  EXPECT_EQ(m.count("hbm", "read_bytes"), 512u);
  m.system.access(1000, 4096, 32, true);  // its rest is fetched in the background, until 1202
  EXPECT_EQ(m.system.access(1001, 4096, 32, false), 1000u + 1 + 1 + 200 + 100);
}

TEST(MemorySystem, StreamsOfWritesRunAtTheSpeedOfHbm) {
  config::MemoryConfig c = Memory::round();
  c.l2.size = config::Bytes(512);
  c.l2.ways = 1;
  c.hbm.bandwidth = config::BytesPerSecond(128e9);  // a quarter of what the slice takes
  Memory m(c);
  u64 done = 0;
  for (u64 line = 0; line < 1000; ++line)
    done = m.system.access(done, line * 512, 512, true);
  const double per_line = 512 / (c.hbm.bandwidth / 1e9);  // cycles of a line on the one channel, at 1 GHz
  EXPECT_GE(static_cast<double>(done), 999 * per_line);
}

TEST(MemorySystem, RequestsOfOneSliceWaitForEachOther) {
  Memory m;
  for (u64 line = 0; line < 2; ++line)
    m.system.access(0, line * 512, 512, false);
  EXPECT_EQ(m.system.access(1000, 0, 512, false), 1101u);
  EXPECT_EQ(m.system.access(1000, 512, 512, false), 1102u);
  EXPECT_EQ(m.system.access(1000, 0, 256, false), 1103u);  // half a cycle later, rounded up
}

// Bytes a cycle of `lines` reads that are all made at once; the constant `latency` is taken off.
double stream_rate(MemorySystem& m, u64 at, u64 lines, u64 latency) {
  u64 done = 0;
  for (u64 i = 0; i < lines; ++i)
    done = std::max(done, m.access(at, i * 512, 512, false));
  return static_cast<double>(lines * 512) / static_cast<double>(done - at - latency);
}

class Streaming : public testing::TestWithParam<std::string> {};

TEST_P(Streaming, ReachesItsCeilingsAndNeverExceedsThem) {
  const config::ChipConfig chip = config::load_chip(GetParam());
  const double hbm = chip.memory.hbm.bandwidth / chip.clock;
  const double slices = chip.memory.l2.slices * chip.memory.l2.slice_bytes_per_cycle;
  const u64 hit = chip.memory.l2.hit_latency;
  const u64 lines = chip.memory.l2.size / chip.memory.l2.line / 2;
  Memory m(chip.memory, chip.clock);
  const double cold = stream_rate(m.system, 0, lines, hit + chip.memory.hbm.latency);
  EXPECT_LE(cold, std::min(hbm, slices) * 1.0001);
  EXPECT_GE(cold, std::min(hbm, slices) * 0.98);
  const double warm = stream_rate(m.system, 10'000'000, lines, hit);
  EXPECT_LE(warm, slices * 1.0001);
  EXPECT_GE(warm, slices * 0.98);
}

INSTANTIATE_TEST_SUITE_P(Chips, Streaming, testing::Values("tiny", "tiny-joint", "ascend-910b1", "ascend-910a"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace vinci::models
