// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/deferred/deferred_accesses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "isa/mem/global_memory.h"
#include "isa/table/insn.h"

namespace vinci::models {
namespace {

using isa::Access;
using isa::GlobalMemory;

// Global memory whose users say what they are about to do.
struct Memory {
  GlobalMemory gm;
  DeferredAccesses accesses;

  template <class T>
  T load(u64 address) {
    accesses.before(address, sizeof(T), false);
    return now<T>(address);
  }
  template <class T>
  void store(u64 address, T value) {
    accesses.before(address, sizeof(T), true);
    gm.write(address, std::as_bytes(std::span(&value, 1)));
  }
  template <class T>
  T now(u64 address) const {
    T value;
    gm.read(address, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
};

// Touches one byte when it is asked to: adds 10 to it, or reads it.
struct Later final : DeferredAccesses::Owner {
  Later(Memory& m, u64 a, bool w) : memory(m), address(a), write(w) {
    memory.accesses.defer(*this, {address, address + 1}, write);
  }
  ~Later() override { memory.accesses.forget(*this); }
  void complete() override {
    seen.push_back(memory.now<u8>(address));
    const std::byte value{static_cast<u8>(seen.back() + 10)};
    if (write) memory.gm.write(address, std::span(&value, 1));
    memory.accesses.forget(*this);
  }
  Memory& memory;
  u64 address;
  bool write;
  std::vector<int> seen;
};

TEST(DeferredAccesses, ReadsAreDoneBeforeTheirBytesChangeAndOnlyThen) {
  Memory memory;
  const u64 at = GlobalMemory::kBase;
  memory.store<u8>(at + 10, 1);
  Later first(memory, at + 10, false), second(memory, at + 12, false), third(memory, at + 10, false);
  for (const u64 other : {9, 11, 13})
    memory.store<u8>(at + other, 9);
  EXPECT_EQ(memory.load<u8>(at + 10), 1);
  EXPECT_TRUE(first.seen.empty() && second.seen.empty() && third.seen.empty());
  memory.store<u8>(at + 10, 2);
  EXPECT_EQ(first.seen, std::vector{1});
  EXPECT_EQ(third.seen, std::vector{1});
  EXPECT_TRUE(second.seen.empty());
  memory.store<u32>(at + 10, 3);
  EXPECT_EQ(first.seen.size(), 1u) << "it owes nothing more";
  EXPECT_EQ(second.seen, std::vector{0});
}

TEST(DeferredAccesses, WritesAreDoneBeforeTheirBytesAreTouched) {
  for (const bool store : {false, true}) {
    Memory memory;
    const u64 at = GlobalMemory::kBase;
    memory.store<u8>(at, 1);
    Later writer(memory, at, true);
    EXPECT_EQ(memory.load<u8>(at + 1), 0);
    EXPECT_TRUE(writer.seen.empty());
    if (store) {
      memory.store<u8>(at, 5);
    } else {
      EXPECT_EQ(memory.load<u8>(at), 11);
    }
    EXPECT_EQ(writer.seen, std::vector{1});
    EXPECT_EQ(memory.now<u8>(at), store ? 5 : 11);
  }
}

TEST(DeferredAccesses, WhoAsksIsNotInItsOwnWay) {
  Memory memory;
  const u64 at = GlobalMemory::kBase;
  Later first(memory, at, true), second(memory, at, true);
  memory.accesses.before({at, at + 1}, true, &second);
  EXPECT_EQ(first.seen.size(), 1u);
  EXPECT_TRUE(second.seen.empty());
}

TEST(DeferredAccesses, ManyRangesOfOneReaderAreAllWatched) {
  for (u64 written = 0; written < 40; ++written) {
    Memory memory;
    Later reader(memory, GlobalMemory::kBase + 17 * 1000, false);
    for (u64 i = 0; i < 40; ++i) {
      const u64 begin = GlobalMemory::kBase + i * 7919 % 40 * 1000;
      memory.accesses.defer(reader, {begin, begin + 10}, false);
    }
    memory.store<u8>(GlobalMemory::kBase + written * 1000 + 9, 1);
    EXPECT_EQ(reader.seen.size(), 1u) << written;
  }
}

TEST(DeferredAccesses, AFaultOfAnOwnerLeavesTheBytes) {
  struct Broken final : DeferredAccesses::Owner {
    void complete() override { fail(Fault::Program, "broken"); }
  } owner;
  Memory memory;
  memory.accesses.defer(owner, {GlobalMemory::kBase, GlobalMemory::kBase + 8}, false);
  EXPECT_THROW(memory.store<u8>(GlobalMemory::kBase + 3, 5), Error);
  EXPECT_EQ(memory.load<u8>(GlobalMemory::kBase + 3), 0);
  memory.accesses.forget(owner);
  memory.store<u8>(GlobalMemory::kBase + 3, 5);
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

// Rows that share a byte always meet; interleaved rows at the same distance do not.
TEST(DeferredAccesses, RowsMeetWhereTheyShareBytes) {
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

}  // namespace
}  // namespace vinci::models
