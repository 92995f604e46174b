// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/ablation.h"

#include <gmock/gmock.h>

#include "sim/config/load.h"
#include "tests/graph/net.h"

namespace vinci::graph {
namespace {

using ::testing::HasSubstr;

class Ablation : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<AblationRow> rows(const Net& net, const CompileOptions& options = {}) {
    return ablation(net.graph, config::load_chip(GetParam()), options,
                    [&](std::string_view p) { told.emplace_back(p); });
  }
  static const AblationRow* without(const std::vector<AblationRow>& rows, std::string_view pass) {
    const auto at = std::ranges::find(rows, pass, &AblationRow::pass);
    return at == rows.end() ? nullptr : &*at;
  }

  std::vector<std::string> told;
};

// Fusion saves the tensors between its nodes: without it, each is written once and read once.
TEST_P(Ablation, AFusionSavesTheTrafficOfWhatLiesInBetween) {
  constexpr i64 kElements = 64 * 1024;
  Net net;
  Value* x = net.input({kElements}, DataType::f16);
  for (const char* const type : {"Abs", "Sqrt", "Relu"})
    x = net.node(type, {x});
  net.output(x);
  const std::vector<AblationRow> all = rows(net);
  const AblationRow* const apart = without(all, "TbeEltwiseFusionPass");
  ASSERT_NE(apart, nullptr);
  EXPECT_EQ(all[0].tasks, 1U);
  EXPECT_EQ(apart->tasks, 3U);
  EXPECT_EQ(apart->read_bytes - all[0].read_bytes, 2 * 2 * kElements);
  EXPECT_EQ(apart->written_bytes - all[0].written_bytes, 2 * 2 * kElements);
  EXPECT_GT(apart->microseconds, all[0].microseconds);
}

TEST_P(Ablation, APassThatIsNeededSaysWhatForAndOthersAreNoRows) {
  Net net;
  net.output(net.node("Conv2D", {net.input({1, 16, 8, 8}), net.weights({16, 16, 1, 1}, 16)}));
  const std::vector<AblationRow> all = rows(net);
  const AblationRow* const formats = without(all, "TransDataInsertPass");
  ASSERT_NE(formats, nullptr);
  EXPECT_THAT(formats->error, HasSubstr("needs x"));
  EXPECT_THAT(formats->error, HasSubstr("in NC1HWC0, but it is in ND"));
  EXPECT_EQ(without(all, "LayerNormONNXFusionPass"), nullptr) << "it changes nothing here";
  ASSERT_EQ(told.size(), all.size());
  for (usize i = 0; i < all.size(); ++i)
    EXPECT_EQ(told[i], all[i].pass);
  EXPECT_THAT(ablation_table(all), HasSubstr("TransDataInsertPass                        2 is needed: "));
}

// What is switched off stays off in all rows.
TEST_P(Ablation, SwitchesHoldForAllRows) {
  Net net;
  net.output(net.node("Relu", {net.node("Abs", {net.input({512}, DataType::f16)})}));
  CompileOptions options;
  options.switches.passes["TbeEltwiseFusionPass"] = false;
  const std::vector<AblationRow> all = rows(net, options);
  for (const AblationRow& row : all)
    EXPECT_TRUE(!row.error.empty() || row.tasks == 2) << row.pass;
  EXPECT_EQ(without(all, "TbeEltwiseFusionPass"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Chips, Ablation, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
