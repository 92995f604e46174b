// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

#include "isa/numeric/float16.h"
#include "models/links/schedule.h"

// What schedules of collectives mean, against loops over all ranks; no time here.
namespace vinci::models {
namespace {

using Op = task::Hccl::Op;
using Algorithm = task::Hccl::Algorithm;
using Reduce = task::Hccl::Reduce;
using task::ElementType;

constexpr std::array kOps{Op::all_reduce, Op::all_gather, Op::reduce_scatter, Op::broadcast, Op::all_to_all};
constexpr std::array kAlgorithms{Algorithm::ring, Algorithm::halving_doubling, Algorithm::hierarchical,
                                 Algorithm::mesh};

std::string label(const CollectiveShape& s) {
  return fmt::format("{} {} of {} ranks, count {}, root {}, pieces of {}", task::kHcclOpNames[static_cast<usize>(s.op)],
                     task::kHcclAlgorithmNames[static_cast<usize>(s.algorithm)], s.groups.size(), s.count, s.root,
                     s.piece);
}

template <class T>
using Vectors = std::vector<std::vector<T>>;  // by rank

// Runs a schedule: inputs by rank, outputs by rank. What is neither is filled with a value that would be noticed.
template <class T>
Vectors<T> run(const CollectiveShape& shape, Reduce reduce, ElementType type, const Vectors<T>& inputs) {
  const Schedule s = schedule(shape);
  std::vector<std::vector<std::byte>> work(s.ranks);
  for (u32 r = 0; r < s.ranks; ++r) {
    std::vector<T> values(s.work, static_cast<T>(77));
    std::copy_n(inputs[r].begin(), s.input[r].count, values.begin() + static_cast<long>(s.input[r].begin));
    work[r].resize(s.work * sizeof(T));
    if (s.work > 0) std::memcpy(work[r].data(), values.data(), work[r].size());
  }
  carry_out(s, reduce, type, work);
  Vectors<T> out;
  for (u32 r = 0; r < s.ranks; ++r) {
    out.emplace_back(s.output[r].count);
    if (!out[r].empty()) {
      std::memcpy(out[r].data(), work[r].data() + s.output[r].begin * sizeof(T), out[r].size() * sizeof(T));
    }
  }
  return out;
}

u64 input_count(const CollectiveShape& s) {
  const bool blocks = s.op == Op::reduce_scatter || s.op == Op::all_to_all;
  return blocks ? s.count * s.groups.size() : s.count;
}

// The definition of each operation.
Vectors<float> expected(const CollectiveShape& s, const Vectors<float>& in) {
  const usize n = s.groups.size();
  Vectors<float> out(n);
  for (usize r = 0; r < n; ++r) {
    switch (s.op) {
      case Op::all_reduce:
      case Op::reduce_scatter: {
        const u64 first = s.op == Op::reduce_scatter ? r * s.count : 0;
        for (u64 i = first; i < first + s.count; ++i) {
          float sum = 0;
          for (usize q = 0; q < n; ++q)
            sum += in[q][i];
          out[r].push_back(sum);
        }
        break;
      }
      case Op::all_gather:
        for (usize q = 0; q < n; ++q)
          out[r].insert(out[r].end(), in[q].begin(), in[q].end());
        break;
      case Op::broadcast: out[r] = in[s.root]; break;
      case Op::all_to_all:
        for (usize q = 0; q < n; ++q) {
          const auto block = in[q].begin() + static_cast<long>(r * s.count);
          out[r].insert(out[r].end(), block, block + static_cast<long>(s.count));
        }
        break;
    }
  }
  return out;
}

// Small integers: their sums are exact in f32, whatever the order.
Vectors<float> integers(const CollectiveShape& s, std::mt19937& random) {
  Vectors<float> in(s.groups.size());
  for (auto& v : in) {
    for (u64 i = 0; i < input_count(s); ++i)
      v.push_back(static_cast<float>(static_cast<int>(random() % 2001) - 1000));
  }
  return in;
}

template <class Visit>
void for_each_shape(const Visit& visit) {
  std::mt19937 random(1);
  for (u32 n = 1; n <= 17; ++n) {
    for (const Op op : kOps) {
      for (const Algorithm algorithm : kAlgorithms) {
        for (const u64 count : {0u, 1u, 29u}) {
          CollectiveShape s{.op = op, .algorithm = algorithm, .count = count, .root = n - 1 - n / 3};
          const u32 kind = static_cast<u32>(random() % 3);  // groups: all of one size, of random ranks, or one for each
          for (u32 r = 0; r < n; ++r)
            s.groups.push_back(kind == 0 ? r / 4 : kind == 1 ? static_cast<u32>(random() % 3) : r);
          s.piece = random() % 2 == 0 ? 0 : 1 + random() % 5;
          visit(s, random);
        }
      }
    }
  }
}

TEST(CollectiveSchedule, EveryAlgorithmDoesWhatItsOperationMeans) {
  for_each_shape([](const CollectiveShape& s, std::mt19937& random) {
    const Vectors<float> in = integers(s, random);
    ASSERT_EQ(run(s, Reduce::sum, ElementType::float32, in), expected(s, in)) << label(s);
  });
}

// Whatever order time brings about, as long as it obeys the dependences, and whatever the transfers that only add may
// do to each other, the sums are the same.
TEST(CollectiveSchedule, DependencesAreEnoughForAnyOrder) {
  for_each_shape([](const CollectiveShape& s, std::mt19937& random) {
    const Vectors<float> in = integers(s, random);
    const Schedule listed = schedule(s);
    Schedule mixed = listed;
    mixed.transfers.clear();
    std::vector<u32> waits;
    std::vector<u32> free;
    for (u32 id = 0; id < listed.transfers.size(); ++id) {
      for (const u32 d : listed.transfers[id].depends)
        ASSERT_LT(d, id) << label(s);
      waits.push_back(static_cast<u32>(listed.transfers[id].depends.size()));
      if (waits[id] == 0) free.push_back(id);
    }
    while (!free.empty()) {
      const usize pick = random() % free.size();
      const u32 id = free[pick];
      free.erase(free.begin() + static_cast<long>(pick));
      mixed.transfers.push_back(listed.transfers[id]);
      for (u32 next = id + 1; next < listed.transfers.size(); ++next) {
        if (std::ranges::binary_search(listed.transfers[next].depends, id) && --waits[next] == 0) free.push_back(next);
      }
    }
    ASSERT_EQ(mixed.transfers.size(), listed.transfers.size()) << label(s);
    std::vector<std::vector<std::byte>> work(s.groups.size());
    for (u32 r = 0; r < mixed.ranks; ++r) {
      work[r].resize(mixed.work * 4);
      if (mixed.input[r].count > 0)
        std::memcpy(work[r].data() + mixed.input[r].begin * 4, in[r].data(), mixed.input[r].count * 4);
    }
    carry_out(mixed, Reduce::sum, ElementType::float32, work);
    const Vectors<float> want = expected(s, in);
    for (u32 r = 0; r < mixed.ranks; ++r) {
      if (want[r].empty()) continue;
      ASSERT_EQ(std::memcmp(work[r].data() + mixed.output[r].begin * 4, want[r].data(), want[r].size() * 4), 0)
          << label(s) << ", rank " << r;
    }
  });
}

u64 sent(const Schedule& s, u32 rank) {
  u64 sum = 0;
  for (const Schedule::Transfer& t : s.transfers)
    sum += t.from == rank && t.to != rank ? t.count : 0;
  return sum;
}

TEST(CollectiveSchedule, ARingAllReduceSendsTheLeastPossible) {
  for (const u32 n : {2u, 3u, 4u, 8u, 16u}) {
    const CollectiveShape shape{.algorithm = Algorithm::ring, .groups = std::vector<u32>(n), .count = 48 * n};
    const Schedule s = schedule(shape);
    for (u32 r = 0; r < n; ++r)
      EXPECT_EQ(sent(s, r), 2 * (n - 1) * shape.count / n);
  }
}

TEST(CollectiveSchedule, OnlyAPartOfAHierarchicalAllReduceLeavesTheGroup) {
  const u32 nodes = 4, cards = 8, n = nodes * cards;
  CollectiveShape shape{.algorithm = Algorithm::hierarchical, .count = 64 * n};
  for (u32 r = 0; r < n; ++r)
    shape.groups.push_back(r / cards);
  std::vector<u64> out(n);
  for (const Schedule::Transfer& t : schedule(shape).transfers)
    out[t.from] += shape.groups[t.from] != shape.groups[t.to] ? t.count : 0;
  for (u32 r = 0; r < n; ++r)  // of an eighth of the vector, the least possible among four
    EXPECT_EQ(out[r], 2 * (nodes - 1) * (shape.count / cards) / nodes);
}

TEST(CollectiveSchedule, HalvingDoublingTakesTwoLogarithmsOfSteps) {
  const CollectiveShape shape{.algorithm = Algorithm::halving_doubling, .groups = std::vector<u32>(16), .count = 160};
  const Schedule s = schedule(shape);
  std::vector<u32> depth(s.transfers.size(), 1);
  for (usize i = 0; i < depth.size(); ++i) {
    for (const u32 d : s.transfers[i].depends)
      depth[i] = std::max(depth[i], depth[d] + 1);
  }
  EXPECT_EQ(std::ranges::max(depth), 8u);
}

// Sums of f16 depend on the order: block b of a ring starts at rank b + 1 and ends at rank b; in a mesh, rank b adds
// what rank b - 1, b - 2, ... send, in this order.
TEST(CollectiveSchedule, HalfPrecisionIsRoundedAfterEachAdditionInTheStatedOrder) {
  const u32 n = 5;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-100, 100);
  const u64 count = 21;
  Vectors<u16> in(n);
  for (auto& v : in) {
    for (u64 i = 0; i < count * n; ++i)
      v.push_back(isa::f16_bits(uniform(random)));
  }
  u32 different = 0;
  CollectiveShape shape{.op = Op::reduce_scatter, .groups = std::vector<u32>(n), .count = count};
  shape.algorithm = Algorithm::ring;
  const Vectors<u16> ring = run(shape, Reduce::sum, ElementType::float16, in);
  shape.algorithm = Algorithm::mesh;
  const Vectors<u16> mesh = run(shape, Reduce::sum, ElementType::float16, in);
  for (u32 b = 0; b < n; ++b) {
    for (u64 i = 0; i < count; ++i) {
      u16 around = in[(b + 1) % n][b * count + i];
      for (u32 s = 2; s <= n; ++s)
        around = isa::f16_add(around, in[(b + s) % n][b * count + i]);
      u16 gathered = in[b][b * count + i];
      for (u32 s = 1; s < n; ++s)
        gathered = isa::f16_add(gathered, in[(b + n - s) % n][b * count + i]);
      EXPECT_EQ(ring[b][i], around);
      EXPECT_EQ(mesh[b][i], gathered);
      different += around != gathered ? 1 : 0;
    }
  }
  EXPECT_GT(different, 0u);
}

TEST(CollectiveSchedule, ProductsAndExtremesOfIntegers) {
  const CollectiveShape shape{.algorithm = Algorithm::halving_doubling, .groups = std::vector<u32>(6), .count = 3};
  const Vectors<i32> in{{1, -2, 5}, {2, 3, 5}, {3, 4, 1 << 20}, {1, 1, 1 << 20}, {-1, 2, 7}, {2, 2, 2}};
  EXPECT_EQ(run(shape, Reduce::max, ElementType::int32, in)[4], (std::vector<i32>{3, 4, 1 << 20}));
  EXPECT_EQ(run(shape, Reduce::min, ElementType::int32, in)[0], (std::vector<i32>{-1, -2, 2}));
  EXPECT_EQ(run(shape, Reduce::prod, ElementType::int32, in)[5], (std::vector<i32>{-12, -96, 0}));  // modulo 2^32
}

TEST(CollectiveSchedule, LongTransfersGoInPieces) {
  CollectiveShape shape{.op = Op::broadcast, .algorithm = Algorithm::ring, .groups = {0, 0}, .count = 100, .piece = 30};
  EXPECT_EQ(schedule(shape).transfers.size(), 4u);
  shape.count = 1'000'000;
  EXPECT_EQ(schedule(shape).transfers.size(), kMaxPieces);
}

TEST(CollectiveSchedule, AutomaticLooksAtGroupsAndSize) {
  const auto choose = [](Op op, const std::vector<u32>& groups, u64 bytes) {
    return choose_algorithm(op, groups, bytes);
  };
  EXPECT_EQ(choose(Op::all_reduce, {3, 3, 3}, 1), Algorithm::mesh);
  EXPECT_EQ(choose(Op::all_gather, {0, 0, 1, 1}, 1), Algorithm::hierarchical);
  EXPECT_EQ(choose(Op::broadcast, {0, 1, 2, 1}, 1 << 30), Algorithm::hierarchical);
  EXPECT_EQ(choose(Op::all_reduce, {0, 1, 2}, kSmallCollective), Algorithm::halving_doubling);
  EXPECT_EQ(choose(Op::all_reduce, {0, 1, 2}, kSmallCollective + 1), Algorithm::ring);
  EXPECT_EQ(choose(Op::all_to_all, {0, 1, 2}, 1), Algorithm::ring);
}

}  // namespace
}  // namespace vinci::models
