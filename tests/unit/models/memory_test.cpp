// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "models/memory/memory_system.h"
#include "sim/config/load.h"

namespace vinci::models {
namespace {

// A memory with round numbers: 512 B a cycle at the slice and at the channel, hit 100, HBM 200 more.
struct Memory {
  static config::MemoryConfig round() {
    return {.l2 = {.size = config::Bytes(1 << 20),
                   .line = config::Bytes(512),
                   .ways = 4,
                   .slices = 1,
                   .slice_read = config::BytesPerCycle(512),
                   .slice_write = config::BytesPerCycle(512),
                   .hit_latency = config::Cycles(100)},
            .hbm = {.size = config::Bytes(1 << 30),
                    .channels = 1,
                    .bandwidth = config::BytesPerSecond(512e9),
                    .latency = config::Cycles(200)}};
  }
  static constexpr u32 kPorts = 4;
  explicit Memory(const config::MemoryConfig& c = round(), double hertz = 1e9, const DramFactory& dram = {})
      : system(c, hertz, kPorts, stats, dram) {}
  u64 access(u64 now, u64 address, u32 bytes, bool write, CacheHint hint = CacheHint::normal, u32 port = 0) {
    return system.access(now, {.port = port, .bytes = bytes, .address = address, .write = write, .hint = hint});
  }
  u64 count(std::string_view group, std::string_view name) {
    return stats::to_json(stats)[std::string(group)][std::string(name)].get<u64>();
  }
  stats::Group stats;
  MemorySystem system;
};

TEST(MemorySystem, UnloadedReads) {
  Memory m;
  EXPECT_EQ(m.access(0, 0, 512, false), 1u + 1 + 200 + 100);  // slice, channel, HBM, L2
  EXPECT_EQ(m.access(1000, 0, 512, false), 1000u + 1 + 100);  // slice, L2
  EXPECT_EQ(m.access(2000, 0, 32, false), 2000u + 1 + 100);   // a part of a cycle of the slice is rounded up
  EXPECT_EQ(m.count("l2", "hits"), 2u);
  EXPECT_EQ(m.count("l2", "misses"), 1u);
  EXPECT_EQ(m.count("l2", "read_bytes"), 512u + 512 + 32);
  EXPECT_EQ(m.count("hbm", "read_bytes"), 512u);
}

TEST(MemorySystem, WritesArePosted) {
  Memory m;
  EXPECT_EQ(m.access(0, 0, 512, true), 1u);
  EXPECT_EQ(m.count("hbm", "read_bytes"), 0u);  // a whole line needs nothing from below
  EXPECT_EQ(m.access(10, 512, 32, true), 11u);
  EXPECT_EQ(m.count("hbm", "read_bytes"), 512u);  // a part of one does, in the background
  EXPECT_EQ(m.access(20, 544, 32, true), 21u);
  EXPECT_EQ(m.count("hbm", "read_bytes"), 512u);
  EXPECT_EQ(m.count("hbm", "write_bytes"), 0u);
}

TEST(MemorySystem, DirtyVictimsTakeTheirTurnOnTheChannel) {
  config::MemoryConfig c = Memory::round();
  c.l2.size = config::Bytes(512);
  c.l2.ways = 1;
  Memory m(c);
  m.access(0, 0, 512, true);
  EXPECT_EQ(m.access(100, 512, 512, false), 100u + 1 + 2 + 200 + 100);  // written back, then fetched
  EXPECT_EQ(m.count("hbm", "write_bytes"), 512u);
  EXPECT_EQ(m.access(1000, 0, 512, false), 1000u + 1 + 1 + 200 + 100);  // the victim is clean
}

TEST(MemorySystem, ALineUnderWayIsNotThereYet) {
  Memory m;
  const u64 first = m.access(0, 0, 512, false);
  EXPECT_EQ(m.access(10, 0, 512, false), first);  // the same fill serves both
  EXPECT_EQ(m.count("hbm", "read_bytes"), 512u);
  m.access(1000, 4096, 32, true);  // its rest is fetched in the background, until 1202
  EXPECT_EQ(m.access(1001, 4096, 32, false), 1000u + 1 + 1 + 200 + 100);
}

TEST(MemorySystem, StreamsOfWritesRunAtTheSpeedOfHbm) {
  config::MemoryConfig c = Memory::round();
  c.l2.size = config::Bytes(512);
  c.l2.ways = 1;
  c.hbm.bandwidth = config::BytesPerSecond(128e9);  // a quarter of what the slice takes
  Memory m(c);
  u64 done = 0;
  for (u64 line = 0; line < 1000; ++line)
    done = m.access(done, line * 512, 512, true);
  const double per_line = 512 / (c.hbm.bandwidth / 1e9);  // cycles of a line on the one channel, at 1 GHz
  EXPECT_GE(static_cast<double>(done), 998 * per_line);   // the last victim leaves in the background
}

TEST(MemorySystem, WritesOfPartsOfLinesRunAtTheSpeedOfHbmWhereEnoughFetchesAreUnderWay) {
  config::MemoryConfig c = Memory::round();
  c.hbm.bandwidth = config::BytesPerSecond(128e9);
  c.l2.fetches = 64;  // the channel takes 4 for each, and they are over 200 later
  Memory m(c);
  u64 done = 0;
  for (u64 line = 0; line < 100; ++line)
    done = std::max(done, m.access(line, line * 512, 32, true));
  EXPECT_EQ(m.count("hbm", "read_bytes"), 100u * 512);
  // The first fetch begins at 1; the last write waits for the fetch before the 64 under way.
  EXPECT_EQ(done, 1u + (100 - 64) * 4 + 200);
}

TEST(MemorySystem, WritesOfPartsOfLinesWaitForTheFetchesUnderWay) {
  config::MemoryConfig c = Memory::round();
  c.hbm.bandwidth = config::BytesPerSecond(128e9);
  c.l2.fetches = 8;
  Memory m(c);
  u64 done = 0;
  for (u64 line = 0; line < 100; ++line)
    done = std::max(done, m.access(line, line * 512, 32, true));
  EXPECT_EQ(m.count("hbm", "read_bytes"), 100u * 512);
  // 8 fetches, which take the channel for 4 each, one after the other, are over 200 later, each then makes room for
  // another. The last write, the fourth of 8, waits for the fetch 8 before it.
  EXPECT_EQ(done, 1u + 4 * 4 + 200 + 11 * (4 + 200));
}

TEST(MemorySystem, WritesOfLinesThatAreNotThereWaitBehindTheReadsOfTheSlice) {
  config::MemoryConfig c = Memory::round();
  c.l2.fetches = 2;
  for (const CacheHint hint : {CacheHint::normal, CacheHint::bypass, CacheHint::no_allocate}) {
    Memory m(c);
    m.access(0, 8192, 512, true);  // is there
    for (u64 line = 0; line < 2; ++line)
      m.access(1000, line * 512, 512, false, hint);
    EXPECT_EQ(m.access(1000, 4096, 512, true), 1000u + 1 + 1 + 200);  // when the first of them is over
    EXPECT_EQ(m.access(1000, 8192, 512, true), 1000u + 2);            // needs no room
  }
}

TEST(MemorySystem, AtomicWritesToALineAreDoneOneAfterTheOther) {
  config::MemoryConfig c = Memory::round();
  c.l2.atomic = config::Cycles(50);
  Memory m(c);
  m.access(0, 0, 512, true);
  m.access(0, 512, 512, true);
  const auto write = [&](u64 now, u64 address, bool atomic) {
    return m.system.access(now, {.bytes = 32, .address = address, .write = true, .atomic = atomic});
  };
  EXPECT_EQ(write(1000, 0, true), 1000u + 1 + 50);
  EXPECT_EQ(write(1000, 32, true), 1000u + 1 + 50 + 50);
  EXPECT_EQ(write(1000, 512, true), 1000u + 1 + 50);  // another line
  EXPECT_EQ(write(1000, 64, false), 1000u + 1);
  EXPECT_EQ(m.access(1000, 0, 32, false), 1000u + 1 + 100 + 100);  // a reader sees them all
  EXPECT_EQ(write(2000, 4096, true), 2000u + 1 + 1 + 200 + 50);    // not there: fetched first
  const u64 fetched = m.count("hbm", "read_bytes");
  m.system.access(3000, {.bytes = 512, .address = 8192, .write = true, .atomic = true, .hint = CacheHint::bypass});
  EXPECT_EQ(m.count("hbm", "read_bytes"), fetched + 512);  // a whole line too, and L2 does it whatever the hint
  EXPECT_EQ(m.count("l2", "bypassed"), 0u);
}

TEST(MemorySystem, RequestsOfOneSliceWaitForEachOther) {
  Memory m;
  for (u64 line = 0; line < 2; ++line)
    m.access(0, line * 512, 512, false);
  EXPECT_EQ(m.access(1000, 0, 512, false), 1101u);
  EXPECT_EQ(m.access(1000, 512, 512, false), 1102u);
  EXPECT_EQ(m.access(1000, 0, 256, false), 1103u);  // half a cycle later, rounded up
}

// Bytes a cycle of `lines` reads that are all made at once; the constant `latency` is taken off.
double stream_rate(Memory& m, u64 at, u64 lines, u64 latency) {
  u64 done = 0;
  for (u64 i = 0; i < lines; ++i)
    done = std::max(done, m.access(at, i * 512, 512, false));
  return static_cast<double>(lines * 512) / static_cast<double>(done - at - latency);
}

TEST(MemorySystem, ReadsAndWritesOfASliceDoNotWaitForEachOther) {
  config::MemoryConfig c = Memory::round();
  c.l2.slice_write = config::BytesPerCycle(64);
  Memory m(c);
  EXPECT_EQ(m.access(0, 0, 512, true), 8u);
  m.access(1000, 512, 512, false);
  EXPECT_EQ(m.access(2000, 0, 512, true), 2008u);
  EXPECT_EQ(m.access(2000, 512, 512, false), 2101u);
  EXPECT_EQ(m.access(2000, 0, 512, true), 2016u);
}

// Many cores that want one address queue up at its slice, whatever little they want.
TEST(MemorySystem, RequestsForOneLineAreServedOneByOneAsWholeLines) {
  config::MemoryConfig c = Memory::round();
  c.l2.slices = 4;
  c.l2.slice_read = config::BytesPerCycle(128);
  c.l2.min_request = config::Bytes(512);
  Memory m(c);
  m.access(0, 0, 32, false);
  for (u32 port = 0; port < Memory::kPorts; ++port)
    EXPECT_EQ(m.access(1000, 0, 32, false, CacheHint::normal, port), 1000u + 4 * (port + 1) + 100);
  c.l2.min_request = config::Bytes(128);
  Memory fine(c);
  fine.access(0, 0, 32, false);
  for (u32 port = 0; port < Memory::kPorts; ++port)
    EXPECT_EQ(fine.access(1000, 0, 32, false, CacheHint::normal, port), 1000u + (port + 1) + 100);
}

TEST(MemorySystem, EverySecondLineMeetsHalfOfTheSlices) {
  config::MemoryConfig c = Memory::round();
  c.l2.size = config::Bytes(4 << 20);
  c.l2.slices = 8;
  c.l2.groups = 2;
  const auto cycles = [&](u64 stride) {
    Memory m(c);
    for (u64 i = 0; i < 1600; ++i)
      m.access(0, i * stride, 512, false);
    u64 last = 0;
    for (u64 i = 0; i < 1600; ++i)
      last = std::max(last, m.access(1'000'000, i * stride, 512, false));
    return last - 1'000'000 - 100;
  };
  EXPECT_EQ(cycles(512), 200u);   // 8 slices
  EXPECT_GE(cycles(1024), 400u);  // 4
  EXPECT_LE(cycles(1024), 460u);
  c.l2.group_region = config::Bytes(64 << 10);  // 25 of them, each begins with either half
  EXPECT_LE(cycles(1024), 300u);
}

TEST(MemorySystem, PortsOfTheCoresAreNarrowAndTheirOwn) {
  config::MemoryConfig c = Memory::round();
  c.noc = {
      .port_read = config::BytesPerCycle(64), .port_write = config::BytesPerCycle(32), .latency = config::Cycles(10)};
  c.l2.slices = 64;
  Memory m(c);
  m.access(0, 0, 512, false);
  m.access(0, 512, 512, false);
  EXPECT_EQ(m.access(1000, 0, 512, false), 1000u + 10 + 1 + 8 + 100);  // way, slice, port, way back
  EXPECT_EQ(m.access(1000, 512, 512, false), 1000u + 10 + 1 + 16 + 100);
  EXPECT_EQ(m.access(1000, 512, 512, false, CacheHint::normal, 1), 1000u + 10 + 2 + 8 + 100);  // its port is free
  // A write has left when it is sent and the slice will take it at the end of its way.
  EXPECT_EQ(m.access(2000, 0, 512, true), 2000u + 16 + 1);
  EXPECT_EQ(m.access(2000, 512, 512, true), 2000u + 32 + 1);
  EXPECT_EQ(m.access(2000, 1024, 512, true, CacheHint::normal, 2), 2000u + 16 + 1);
  EXPECT_EQ(m.count("noc", "read_bytes"), 5u * 512);
  EXPECT_EQ(m.count("noc", "write_bytes"), 3u * 512);
}

TEST(MemorySystem, APortReceivesOtherDataWhileSomeAreOnTheirWayFromBelow) {
  config::MemoryConfig c = Memory::round();
  c.noc.port_read = config::BytesPerCycle(512);
  Memory m(c);
  m.access(0, 0, 512, false);
  EXPECT_EQ(m.access(1000, 512, 512, false), 1000u + 1 + 1 + 200 + 100);  // a miss
  EXPECT_EQ(m.access(1000, 0, 512, false), 1000u + 2 + 1 + 100);          // a hit after it
}

TEST(MemorySystem, NoAllocateLeavesTheTagsAsTheyAre) {
  Memory m;
  EXPECT_EQ(m.access(0, 0, 64, false, CacheHint::no_allocate), 0u + 1 + 200 + 100);  // parts of a cycle
  EXPECT_EQ(m.count("hbm", "read_bytes"), 64u);                                      // only what was asked for
  EXPECT_EQ(m.access(1000, 0, 512, false), 1000u + 1 + 1 + 200 + 100);
  EXPECT_EQ(m.access(2000, 0, 512, false, CacheHint::no_allocate), 2000u + 1 + 100);  // it is there now
  m.access(3000, 512, 64, true, CacheHint::no_allocate);
  EXPECT_EQ(m.count("hbm", "write_bytes"), 64u);
  m.access(4000, 0, 64, true, CacheHint::no_allocate);
  EXPECT_EQ(m.count("hbm", "write_bytes"), 64u);
  EXPECT_EQ(m.count("l2", "hits"), 2u);
  EXPECT_EQ(m.count("l2", "misses"), 3u);
}

TEST(MemorySystem, BypassDropsTheLineAndWritesItBackFirst) {
  config::MemoryConfig c = Memory::round();
  c.hbm.write_batch = 1;
  Memory m(c);
  m.access(0, 0, 512, true);
  EXPECT_EQ(m.access(1000, 0, 64, false, CacheHint::bypass), 1000u + 2 + 200 + 100);  // written back, then read
  EXPECT_EQ(m.count("hbm", "write_bytes"), 512u);
  EXPECT_EQ(m.count("hbm", "read_bytes"), 64u);
  EXPECT_EQ(m.access(2000, 0, 64, false, CacheHint::bypass), 2000u + 1 + 200 + 100);  // nothing is there any more
  EXPECT_EQ(m.access(3000, 0, 512, true, CacheHint::bypass), 3001u);
  EXPECT_EQ(m.count("hbm", "write_bytes"), 1024u);
  EXPECT_EQ(m.access(4000, 0, 512, false), 4000u + 1 + 1 + 200 + 100);  // and nothing came
  EXPECT_EQ(m.count("l2", "bypassed"), 3u);
  EXPECT_EQ(m.count("l2", "bypass_bytes"), 64u + 64 + 512);
}

TEST(CacheHints, HoldForTheirRegions) {
  CacheHints hints;
  EXPECT_EQ(hints.of(0), CacheHint::normal);
  hints.set(1000, 100, CacheHint::bypass);
  hints.set(1100, 50, CacheHint::no_allocate);
  EXPECT_EQ(hints.of(999), CacheHint::normal);
  EXPECT_EQ(hints.of(1000), CacheHint::bypass);
  EXPECT_EQ(hints.of(1099), CacheHint::bypass);
  EXPECT_EQ(hints.of(1100), CacheHint::no_allocate);
  EXPECT_EQ(hints.of(1149), CacheHint::no_allocate);
  EXPECT_EQ(hints.of(1150), CacheHint::normal);
}

// Another device memory: always the same time.
class FixedLatency final : public DramModel {
 public:
  explicit FixedLatency(const DramSetup& s) : latency_(s.config.latency) { s.stats.add("requests", requests_, "", ""); }
  u64 access(u64 now, u64 address, u32 bytes, bool write) override {
    ++requests_;
    EXPECT_EQ(address / 512, (address + bytes - 1) / 512);
    return write ? now : now + to_ticks(7 * latency_);
  }

 private:
  u64 latency_, requests_ = 0;
};

TEST(MemorySystem, AnotherDeviceMemoryCanBeAttached) {
  Memory m(Memory::round(), 1e9, [](const DramSetup& s) { return std::make_unique<FixedLatency>(s); });
  EXPECT_EQ(m.access(0, 0, 512, false), 1u + 7 * 200 + 100);
  EXPECT_EQ(m.access(5000, 0, 512, false), 5001u + 100);
  m.access(6000, 512, 32, false, CacheHint::bypass);
  EXPECT_EQ(m.count("hbm", "requests"), 2u);
  EXPECT_EQ(m.count("hbm", "read_bytes"), 512u + 32);
}

class Chips : public testing::TestWithParam<std::string> {};

// All at once and nothing but reads: the pins less refresh from the device memory, the slices from L2.
TEST_P(Chips, StreamsReachTheirCeilingsAndNeverExceedThem) {
  const config::ChipConfig chip = config::load_chip(GetParam());
  config::MemoryConfig c = chip.memory;
  c.noc = {};
  const double hbm = c.hbm.bandwidth / chip.clock;
  const double sustained = hbm * (1 - c.hbm.refresh_time / c.hbm.refresh_interval);
  const double slices = c.l2.slices * c.l2.slice_read;
  const u64 lines = c.l2.size / c.l2.line / 2;
  // Regions fall on stacks by chance: the fullest has three times the standard deviation more than its share, or less.
  const double regions = static_cast<double>(lines * c.l2.line) / static_cast<double>(c.hbm.stack_region);
  const double uneven = c.hbm.stacks == 1 ? 1 : 1 + 3 * std::sqrt(c.hbm.stacks / regions);
  Memory m(c, chip.clock);
  const double cold = stream_rate(m, 0, lines, c.l2.hit_latency + c.hbm.latency);
  EXPECT_LE(cold, std::min(hbm, slices) * 1.0001);
  EXPECT_GE(cold, std::min(sustained / uneven, slices) * 0.98);
  const double warm = stream_rate(m, 10'000'000, lines, c.l2.hit_latency);
  EXPECT_LE(warm, slices * 1.0001);
  EXPECT_GE(warm, slices * 0.98);
}

// Random requests of all cores, faster than anything can serve them: no part gives more than its ceiling, and every
// byte is accounted for at each level.
TEST_P(Chips, RandomTrafficStaysBelowTheCeilingsAndItsBytesAddUp) {
  const config::ChipConfig chip = config::load_chip(GetParam());
  for (const u64 seed : {1, 2, 3}) {
    std::mt19937_64 random(seed);
    Memory m(chip.memory, chip.clock);
    const config::MemoryConfig& c = chip.memory;
    const u64 region = seed == 1 ? 64 * c.l2.size : c.l2.size / 4;
    u64 read = 0, written = 0, end = 0, requests = 0;
    for (u64 now = 0; now < 4000; now += 1 + random() % 3) {
      for (int i = 0; i < 16; ++i, ++requests) {
        const u64 line = random() % (region / c.l2.line);
        const auto bytes = static_cast<u32>(seed == 2 ? c.l2.line : 32 * (1 + random() % (c.l2.line / 32)));
        const bool write = random() % 3 == 0;
        const auto hint = static_cast<CacheHint>(random() % 8 < 6 ? 0 : random() % 3);
        end = std::max(
            end, m.access(now, line * c.l2.line, bytes, write, hint, static_cast<u32>(random() % Memory::kPorts)));
        (write ? written : read) += bytes;
      }
    }
    EXPECT_EQ(m.count("noc", "read_bytes"), read);
    EXPECT_EQ(m.count("noc", "write_bytes"), written);
    EXPECT_EQ(m.count("l2", "read_bytes"), read);
    EXPECT_EQ(m.count("l2", "write_bytes"), written);
    EXPECT_EQ(m.count("l2", "hit_bytes") + m.count("l2", "miss_bytes") + m.count("l2", "bypass_bytes"), read + written);
    EXPECT_EQ(m.count("l2", "hits") + m.count("l2", "misses") + m.count("l2", "bypassed"), requests);
    const auto cycles = static_cast<double>(end);
    EXPECT_LE(static_cast<double>(read), cycles * c.l2.slices * c.l2.slice_read);
    EXPECT_LE(static_cast<double>(written), cycles * c.l2.slices * c.l2.slice_write);
    EXPECT_LE(static_cast<double>(read), cycles * Memory::kPorts * c.noc.port_read);
    // Up to two batches of writes a channel may still be on their way when the last request is done.
    const u64 posted = 2 * u64{c.hbm.channels} * c.hbm.write_batch * c.l2.line;
    EXPECT_LE(static_cast<double>(m.count("hbm", "read_bytes") + m.count("hbm", "write_bytes")),
              cycles * c.hbm.bandwidth / chip.clock + static_cast<double>(posted));
  }
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, Chips,
                         testing::Values("tiny", "tiny-joint", "ascend-310", "ascend-310p3", "ascend-910a",
                                         "ascend-910b1", "ascend-910b3"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace vinci::models
