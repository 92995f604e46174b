// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/config/load.h"
#include "tests/unit/models/collective_driver.h"

// Built-in chips against published times of collectives; docs/links.md has the table, VINCI_PRINT_PUBLISHED=1 prints
// it.
namespace vinci::test {
namespace {

using Op = task::Hccl::Op;

// Seconds of a collective of the first `ranks` devices, from the last rank that comes, with the algorithm `auto`.
double seconds(const std::string& chip_name, Op op, u32 ranks, u64 bytes) {
  constexpr u64 kElement = 2;
  const config::ChipConfig chip = config::load_chip(chip_name);
  const models::Topology topology(chip.links);
  models::CollectiveShape shape{.op = op, .count = bytes / kElement, .piece = chip.links.collective_piece / kElement};
  for (u32 r = 0; r < ranks; ++r)
    shape.groups.push_back(topology.group(r));
  shape.algorithm = models::choose_algorithm(op, shape.groups, bytes);
  stats::Group stats;
  models::Links links(chip.links, chip.clock, stats);
  return chip.links.collective_start + static_cast<double>(std::ranges::max(run(shape, links, kElement))) / chip.clock;
}

void compare(std::string_view what, double simulated, double measured, double tolerance) {
  const double error = simulated / measured - 1;
  if (std::getenv("VINCI_PRINT_PUBLISHED") != nullptr)
    fmt::print("| {} | {:.4g} | {:.4g} | {:+.0f} % |\n", what, measured, simulated, error * 100);
  EXPECT_LE(std::abs(error), tolerance) << what;
}

// github.com/gameofdimension/limulidae, README: GB/s within a node of 910B.
TEST(CollectivePublished, BandwidthOf910B) {
  struct Row {
    u32 cards;
    double all_gather, all_reduce;
  };
  constexpr u64 kBytes = 1 << 30;
  for (const Row& row : {Row{2, 38, 18}, Row{4, 64, 30}, Row{8, 149, 72}}) {
    compare(fmt::format("910B all_gather, {} cards, GB/s", row.cards),
            kBytes / seconds("ascend-910b1", Op::all_gather, row.cards, kBytes / row.cards) / 1e9, row.all_gather, 0.2);
    compare(fmt::format("910B all_reduce, {} cards, GB/s", row.cards),
            kBytes / seconds("ascend-910b1", Op::all_reduce, row.cards, kBytes) / 1e9, row.all_reduce, 0.26);
  }
}

// PocketLLM on four 910 of the first generation: HcclAllReduce of f16, milliseconds.
TEST(CollectivePublished, AllReduceOfFour910) {
  struct Row {
    u64 bytes;
    double milliseconds, tolerance;
  };
  for (const Row& row : {Row{10'240, 0.481, 0.1}, Row{81'920, 0.502, 0.1}, Row{655'360, 0.468, 0.15},
                         Row{5'242'880, 2.128, 0.65}, Row{41'943'040, 3.195, 0.1}}) {
    compare(fmt::format("910 all_reduce, 4 ranks, {} B, ms", row.bytes),
            seconds("ascend-910a", Op::all_reduce, 4, row.bytes) * 1e3, row.milliseconds, row.tolerance);
  }
}

}  // namespace
}  // namespace vinci::test
