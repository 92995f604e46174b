// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/tiling.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "sim/config/load.h"
#include "sim/io/temp_folder.h"
#include "tests/graph/net.h"
#include "tools/graph/compile/check.h"
#include "tools/graph/compile/timing.h"
#include "tools/graph/ops/run.h"

namespace vinci::graph {
namespace {

using ::testing::Each;

Value* conv(Net& net, Value* x, i64 filters) {
  const i64 channels = x->shape[1];
  return net.node("Conv2D", {x, net.weights({filters, channels, 3, 3}, static_cast<double>(channels * 9))},
                  {{"strides", std::vector<i64>{1, 1}}, {"pads", std::vector<i64>{1, 1, 1, 1}}});
}

// Three convolutions, two of which are equal but for their weights.
Network three_convolutions(const config::ChipConfig& chip) {
  Net net;
  Value* const x = conv(net, net.input({1, 32, 28, 28}), 64);
  net.output(conv(net, conv(net, x, 64), 64));
  return compile(std::move(net.owned), chip);
}

class Tilings : public ::testing::TestWithParam<const char*> {
 protected:
  config::ChipConfig chip = config::load_chip(GetParam());
};

TEST_P(Tilings, TheFastestOfThoseThatWereSimulatedIsTaken) {
  Network network = three_convolutions(chip);
  const double before = time_network(network).microseconds;
  TilingCache nothing;
  const TilingReport report = choose_tilings(network, nothing);
  EXPECT_GE(report.chosen, 2U);
  EXPECT_EQ(report.from_cache, 0U);
  EXPECT_EQ(report.simulations, 8U);
  EXPECT_LE(report.chosen_us, report.estimated_us);
  // What each node takes depends on the others through the caches alone.
  EXPECT_LE(time_network(network).microseconds, before * 1.02);
  for (const NodeCheck& row : check_nodes(network, random_inputs(*network.graph, 5)))
    EXPECT_TRUE(row.right()) << row.node->node->name << " " << text(row.node->tiling);
}

TEST_P(Tilings, EqualNodesHaveOneTiling) {
  Network network = three_convolutions(chip);
  TilingCache nothing;
  choose_tilings(network, nothing);
  std::map<std::string, std::vector<Tiling>> by_signature;
  for (const CompiledNode& n : network.nodes)
    by_signature[tiling_signature(n)].push_back(n.tiling);
  usize most = 0;
  for (const auto& [signature, tilings] : by_signature) {
    EXPECT_THAT(tilings, Each(tilings.front())) << signature;
    most = std::max(most, tilings.size());
  }
  EXPECT_GE(most, 2U);
}

TEST_P(Tilings, TheCacheKnowsThemForTheSameChip) {
  const io::TempFolder folder("tilings");
  Network network = three_convolutions(chip);
  TilingCache cache(folder.path(), chip);
  const TilingReport first = choose_tilings(network, cache);
  cache.save();

  Network again = three_convolutions(chip);
  TilingCache read(folder.path(), chip);
  const TilingReport second = choose_tilings(again, read);
  EXPECT_EQ(second.from_cache, first.chosen);
  EXPECT_EQ(second.simulations, 0U);
  for (usize i = 0; i < network.nodes.size(); ++i)
    EXPECT_EQ(network.nodes[i].tiling, again.nodes[i].tiling);

  config::ChipConfig wider = chip;
  wider.core.buffers.l1 = config::Bytes(2 * chip.core.buffers.l1);
  TilingCache other(folder.path(), wider);
  for (const CompiledNode& n : network.nodes)
    EXPECT_EQ(other.find(tiling_signature(n)), nullptr);
}

// A file that was cut off or written by others is no cache.
TEST_P(Tilings, ADamagedCacheIsEmpty) {
  const io::TempFolder folder("tilings");
  Network network = three_convolutions(chip);
  TilingCache cache(folder.path(), chip);
  choose_tilings(network, cache);
  cache.save();
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    std::filesystem::resize_file(file.path(), 20);
  TilingCache damaged(folder.path(), chip);
  EXPECT_EQ(damaged.find(tiling_signature(network.nodes.back())), nullptr);
}

TEST_P(Tilings, ALargerL1OffersOthers) {
  Net net;
  net.output(conv(net, net.input({1, 512, 14, 14}), 512));
  const Network network = compile(std::move(net.owned), chip);
  const auto node =
      std::ranges::find(network.nodes, "convolution", [](const CompiledNode& n) { return n.kernel->name; });
  ASSERT_NE(node, network.nodes.end());
  config::ChipConfig smaller = chip;
  smaller.core.buffers.l1 = config::Bytes(chip.core.buffers.l1 / 8);
  const Group group(*node->node);
  EXPECT_NE(node->kernel->tilings(group, chip), node->kernel->tilings(group, smaller));
}

INSTANTIATE_TEST_SUITE_P(Chips, Tilings, ::testing::Values("ascend-910b1", "ascend-310p3"));

}  // namespace
}  // namespace vinci::graph
