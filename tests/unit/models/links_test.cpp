// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/links/links.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/unit/models/collective_driver.h"

// Links and collectives in time, against the alpha-beta formulas of docs/links.md.
namespace vinci::models {
namespace {

using test::run;

using Op = task::Hccl::Op;
using Algorithm = task::Hccl::Algorithm;

constexpr double kHertz = 1e9;  // a cycle is a nanosecond

config::LinksConfig two_groups_of_four() {
  config::LinksConfig c;
  c.devices_per_node = 8;
  c.hccs_group = 4;
  c.hccs_bandwidth = config::BytesPerSecond(20e9);
  c.hccs_latency = config::Seconds(2e-6);
  c.pcie_bandwidth = config::BytesPerSecond(10e9);
  c.pcie_latency = config::Seconds(3e-6);
  c.roce_bandwidth = config::BytesPerSecond(5e9);
  c.roce_latency = config::Seconds(4e-6);
  return c;
}

// All devices of one full mesh.
config::LinksConfig full_mesh() {
  config::LinksConfig c = two_groups_of_four();
  c.devices_per_node = c.hccs_group = 64;
  return c;
}

TEST(Topology, GroupsNodesAndRoutes) {
  const config::LinksConfig config = two_groups_of_four();
  const Topology t(config);
  EXPECT_EQ(t.group(3), t.group(0));
  EXPECT_NE(t.group(4), t.group(0));
  EXPECT_NE(t.group(8), t.group(4));
  EXPECT_EQ(t.kind(0, 3), LinkKind::hccs);
  EXPECT_EQ(t.kind(3, 4), LinkKind::pcie);
  EXPECT_EQ(t.kind(7, 8), LinkKind::roce);
  ASSERT_EQ(t.route(1, 2).size(), 1u);
  EXPECT_EQ(name(t.route(1, 2)[0]), "hccs.1-2");
  ASSERT_EQ(t.route(1, 9).size(), 2u);
  EXPECT_EQ(name(t.route(1, 9)[0]), "roce.1.out");
  EXPECT_EQ(name(t.route(1, 9)[1]), "roce.9.in");
  EXPECT_EQ(name(t.route(5, 2)[1]), "pcie.2.in");
}

TEST(Topology, TheLastGroupOfANodeMayBeSmaller) {
  config::LinksConfig config = two_groups_of_four();
  config.devices_per_node = 6;
  const Topology t(config);
  EXPECT_EQ(t.group(5), t.group(4));
  EXPECT_NE(t.group(6), t.group(5));
  EXPECT_EQ(t.kind(5, 6), LinkKind::roce);
}

struct LinksTest : ::testing::Test {
  config::LinksConfig config = two_groups_of_four();
  stats::Group stats;
  Links links{config, kHertz, stats};
};

TEST_F(LinksTest, ATransferTakesBytesOverBandwidthAndTheLatency) {
  const Links::Transfer t = links.transfer(100, 0, 1, 20'000);
  EXPECT_EQ(t.start, 100u);
  EXPECT_EQ(t.end, 100u + 1000 + 2000);
  EXPECT_EQ(links.transfer(0, 3, 3, 1'000'000).end, 0u);
}

TEST_F(LinksTest, TheSameLinkIsSharedAndOthersAreNot) {
  links.transfer(0, 0, 1, 20'000);
  EXPECT_EQ(links.transfer(0, 0, 1, 20'000).end, 2000u + 2000);
  EXPECT_EQ(links.transfer(0, 1, 0, 20'000).end, 1000u + 2000);  // the other way
  EXPECT_EQ(links.transfer(0, 0, 2, 20'000).end, 1000u + 2000);
}

TEST_F(LinksTest, APortIsSharedByAllPeers) {
  links.transfer(0, 0, 8, 5'000);                               // 1000 cycles on the port of 0 and of 8
  EXPECT_EQ(links.transfer(0, 0, 9, 5'000).end, 2000u + 4000);  // both leave 0
  EXPECT_EQ(links.transfer(0, 1, 8, 5'000).end, 2000u + 4000);  // both arrive at 8
  EXPECT_EQ(links.transfer(0, 8, 0, 5'000).end, 1000u + 4000);
  links.transfer(0, 0, 4, 10'000);
  EXPECT_EQ(links.transfer(0, 1, 4, 10'000).end, 2000u + 3000);
}

TEST_F(LinksTest, AWaitForAPortLeavesAGapThatOthersUse) {
  links.transfer(0, 0, 8, 50'000);                            // the ports of 0 and 8 are taken until 10000
  EXPECT_EQ(links.transfer(0, 1, 8, 5'000).start, 10'000u);   // port 1 is free until then
  EXPECT_EQ(links.transfer(0, 1, 9, 45'000).start, 0u);       // and has room
  EXPECT_EQ(links.transfer(0, 1, 9, 10'000).start, 11'000u);  // but not for this
  EXPECT_EQ(links.transfer(0, 1, 10, 5'000).start, 9'000u);
}

TEST_F(LinksTest, LinksCountBytesAndBusyCycles) {
  links.transfer(0, 0, 1, 20'000);
  links.transfer(5000, 0, 1, 40'000);
  const auto json = stats::to_json(stats)["links"];
  EXPECT_EQ(json["hccs.0-1"]["bytes"], 60'000);
  EXPECT_EQ(json["hccs.0-1"]["busy"], 3000);
}

CollectiveShape shape_of(Op op, Algorithm algorithm, u32 n, u64 count) {
  return {.op = op, .algorithm = algorithm, .groups = std::vector<u32>(n), .count = count};
}

struct Expectation {
  Op op;
  Algorithm algorithm;
  double alphas, betas;  // time = alphas * latency + betas * bytes of `count` / bandwidth
};

TEST(CollectiveTime, WithoutContentionItIsTheFormula) {
  const config::LinksConfig config = full_mesh();
  constexpr u64 kElement = 4;
  for (const u32 n : {2u, 4u, 8u, 16u}) {
    const double m = n - 1, log = std::log2(n);
    for (const Expectation& e : std::vector<Expectation>{
             {Op::all_reduce, Algorithm::ring, 2 * m, 2 * m / n},
             {Op::all_reduce, Algorithm::mesh, 2, 2.0 / n},
             {Op::all_reduce, Algorithm::halving_doubling, 2 * log, 2 * m / n},
             {Op::all_gather, Algorithm::ring, m, m},
             {Op::all_gather, Algorithm::mesh, 1, 1},
             {Op::all_gather, Algorithm::halving_doubling, log, m},
             {Op::reduce_scatter, Algorithm::ring, m, m},
             {Op::reduce_scatter, Algorithm::mesh, 1, 1},
             {Op::reduce_scatter, Algorithm::halving_doubling, log, m},
             {Op::broadcast, Algorithm::ring, m, m},
             {Op::broadcast, Algorithm::halving_doubling, log, log},
             {Op::broadcast, Algorithm::mesh, 2, 2.0 / n},
             {Op::all_to_all, Algorithm::ring, m, m},
             {Op::all_to_all, Algorithm::mesh, 1, 1},
         }) {
      // With two ranks, what a broadcast deals out and what it spreads share the one link.
      if (n == 2 && e.op == Op::broadcast && e.algorithm == Algorithm::mesh) continue;
      for (const u64 count : {4096ull, 4ull << 20}) {
        stats::Group stats;
        Links links(config, kHertz, stats);
        const auto done = run(shape_of(e.op, e.algorithm, n, count), links, kElement);
        const double want =
            (e.alphas * config.hccs_latency + e.betas * static_cast<double>(count * kElement) / config.hccs_bandwidth) *
            kHertz;
        EXPECT_NEAR(static_cast<double>(std::ranges::max(done)), want, 0.01 * want)
            << task::kHcclOpNames[static_cast<usize>(e.op)] << ' '
            << task::kHcclAlgorithmNames[static_cast<usize>(e.algorithm)] << ", " << n << " ranks, " << count;
      }
    }
  }
}

// k pieces of c bytes: a rank passes the first on while it receives the second.
TEST(CollectiveTime, PiecesHideTheStepsOfAChain) {
  const config::LinksConfig config = full_mesh();
  const u32 n = 6;
  const u64 count = 1 << 20, k = 16;
  CollectiveShape shape = shape_of(Op::broadcast, Algorithm::ring, n, count);
  shape.piece = count / k;
  stats::Group stats;
  Links links(config, kHertz, stats);
  const double c = static_cast<double>(count * 4) / k / config.hccs_bandwidth;
  const double want = ((n - 1) * (config.hccs_latency + c) + (k - 1) * c) * kHertz;
  EXPECT_NEAR(static_cast<double>(std::ranges::max(run(shape, links, 4))), want, 0.01 * want);
}

TEST(CollectiveTime, AChainOfPortsIsBoundByTheSlowestWire) {
  // Every message of a mesh leaves by the one port of its device, so it costs as much as a ring.
  config::LinksConfig config = two_groups_of_four();
  config.devices_per_node = config.hccs_group = 1;
  const u32 n = 4;
  const u64 count = 1 << 20;
  stats::Group stats;
  Links links(config, kHertz, stats);
  const auto done = run(shape_of(Op::all_gather, Algorithm::mesh, n, count), links, 4);
  const double want = (config.roce_latency + (n - 1) * static_cast<double>(count * 4) / config.roce_bandwidth) * kHertz;
  EXPECT_NEAR(static_cast<double>(std::ranges::max(done)), want, 0.01 * want);
}

// 4 nodes of 8 cards. A flat ring waits for its slowest link; the hierarchy has all ports at work, and each carries the
// least possible: 3/4 of an eighth of the vector, there and back.
TEST(CollectiveTime, HierarchyKeepsAllPortsBusy) {
  config::LinksConfig config = two_groups_of_four();
  config.hccs_group = 8;
  config.roce_bandwidth = config::BytesPerSecond(25e9 / 8);
  const Topology topology(config);
  const auto seconds = [&](Algorithm algorithm) {
    CollectiveShape shape{.algorithm = algorithm, .count = 25 << 20, .piece = 1 << 18};
    for (u32 r = 0; r < 32; ++r)
      shape.groups.push_back(topology.group(r));
    stats::Group stats;
    Links links(config, kHertz, stats);
    return static_cast<double>(std::ranges::max(run(shape, links, 4))) / kHertz;
  };
  const double bytes = 4.0 * (25 << 20);
  const double ring = 2 * 31.0 / 32 * bytes / config.roce_bandwidth;
  EXPECT_NEAR(seconds(Algorithm::ring), ring, 0.05 * ring);
  const double ports = 2 * 3.0 / 4 * bytes / 8 / config.roce_bandwidth;
  const double inside = 2 * bytes / 8 / config.hccs_bandwidth;  // what cannot hide behind the ports is less than that
  EXPECT_GT(seconds(Algorithm::hierarchical), ports);
  EXPECT_LT(seconds(Algorithm::hierarchical), 1.05 * (ports + inside));
}

TEST(CollectiveTime, NoLinkIsFasterThanItsBandwidthAndAllBytesGoOverLinks) {
  const config::LinksConfig config = two_groups_of_four();
  const Topology topology(config);
  for (const Op op : {Op::all_reduce, Op::all_gather, Op::reduce_scatter, Op::broadcast, Op::all_to_all}) {
    for (const Algorithm a : {Algorithm::ring, Algorithm::halving_doubling, Algorithm::hierarchical, Algorithm::mesh}) {
      CollectiveShape shape{.op = op, .algorithm = a, .count = 20'011, .root = 3, .piece = 3000};
      for (u32 r = 0; r < 13; ++r)
        shape.groups.push_back(topology.group(r));
      stats::Group stats;
      Links links(config, kHertz, stats);
      const auto done = run(shape, links, 2);
      EXPECT_EQ(std::ranges::count(done, ~u64{0}), 0);
      const u64 end = std::ranges::max(done);
      u64 bytes = 0;
      const auto counted = stats::to_json(stats)["links"];
      for (const auto& [name, link] : counted.items()) {
        const double bandwidth = name.starts_with("hccs")   ? config.hccs_bandwidth
                                 : name.starts_with("pcie") ? config.pcie_bandwidth
                                                            : config.roce_bandwidth;
        const auto busy = link["busy"].get<double>();
        EXPECT_GE(busy * bandwidth / kHertz, link["bytes"].get<double>()) << name;
        EXPECT_LE(busy, static_cast<double>(end)) << name;
        if (!name.ends_with("in")) bytes += link["bytes"].get<u64>();
      }
      u64 moved = 0;
      for (const Schedule::Transfer& t : schedule(shape).transfers)
        moved += t.from != t.to ? t.count * 2 : 0;
      EXPECT_EQ(bytes, moved);
    }
  }
}

TEST(CollectiveTime, ARankAloneAndAnEmptyVectorAreDoneAtOnce) {
  const config::LinksConfig config = full_mesh();
  stats::Group stats;
  Links links(config, kHertz, stats);
  EXPECT_EQ(run(shape_of(Op::all_to_all, Algorithm::mesh, 1, 100), links, 4, 50), (std::vector<u64>{50}));
  EXPECT_EQ(run(shape_of(Op::all_reduce, Algorithm::ring, 3, 0), links, 4, 70), (std::vector<u64>(3, 70)));
}

}  // namespace
}  // namespace vinci::models
