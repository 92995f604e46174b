// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Files of measurements: what is read, what is refused and where; and what is made of values that are off.
#include "tools/validate/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/timed_run.h"
#include "tools/validate/report.h"

namespace vinci::validate {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A mad on this chip takes whole steps and 2 more, at least 4; so the true values below are known without a run.
constexpr std::string_view kFile = R"(title: Products
from: a publication
targets: {cycles: {mean: 1 %, worst: 5 %, skip: 1}}
gates: {cycles: 30 %}
cases:
  - id: curve
    family: mad_loop
    chip: ascend-910b1
    set: [core.cube.startup=2, core.cube.per_row=0, core.cube.per_step=1, core.cube.minimum=4]
    type: f162f32
    m: 32
    k: 16
    n: [16, 160, 800]
    measured: {cycles: [8, 22, 102]}
  - {id: short, assumed: that it is short, family: mad_loop, chip: ascend-910b1, type: f162f32, m: 32, k: 16, n: 160, measured: {cycles: 22 cycle}}
  - {id: long, family: mad_loop, chip: ascend-910b1, type: f162f32, m: 32, k: 16, n: 320, measured: {cycles: 84}}
ratios: [{of: long, to: short, metric: cycles}]
not_expressed: [{what: something, points: 3, reason: of another kind}]
)";

std::string with(std::string_view from, std::string_view to) {
  std::string text(kFile);
  text.replace(text.find(from), from.size(), to);
  return text;
}
std::string refusal(const std::string& text) {
  return test::fault_of([&] { parse_group(text, "folder/products.yaml"); });
}

TEST(Case, ListsAreSweptAndTheRestIsFixed) {
  const Group g = parse_group(kFile, "folder/products.yaml");
  EXPECT_EQ(g.name, "products");
  ASSERT_EQ(g.cases.size(), 3u);
  const Case& c = g.cases[0];
  ASSERT_EQ(c.points.size(), 3u);
  EXPECT_EQ(c.points[2].params.whole("n"), 800u);
  EXPECT_EQ(c.points[2].params.whole("m"), 32u);
  EXPECT_EQ(c.points[2].params.whole("fenced"), 0u);  // the default of the family
  EXPECT_EQ(c.points[2].measured.at("cycles"), 102);
  EXPECT_EQ(c.source, "a publication");
  EXPECT_EQ(g.cases[1].assumed, "that it is short");
  EXPECT_EQ(g.not_expressed[0].points, 3u);
}

TEST(Case, AFlagIsZeroOrOne) {
  Params p("products.yaml:3");
  p.set("on", "1");
  p.set("off", "0");
  p.set("two", "2");
  EXPECT_TRUE(p.flag("on"));
  EXPECT_FALSE(p.flag("off"));
  EXPECT_EQ(test::fault_of([&] { p.flag("two"); }), "input: products.yaml:3: two is 0 or 1, not '2'");
}

TEST(Case, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(refusal(with("type: f162f32\n", "typ: f162f32\n")),
            "input: folder/products.yaml:10: mad_loop has no parameter 'typ'; did you mean 'type'?");
  EXPECT_EQ(refusal(with("    k: 16\n", "")), "input: folder/products.yaml:6: mad_loop needs the parameter k");
  EXPECT_EQ(refusal(with("[8, 22, 102]", "[8, 22]")),
            "input: folder/products.yaml:14: cycles has 2 values where others have 3");
  EXPECT_EQ(refusal(with("[8, 22, 102]", "[8, 0, 102]")),
            "input: folder/products.yaml:14: a measured value is above zero");
  EXPECT_EQ(refusal(with("22 cycle", "22 us")),
            "input: folder/products.yaml:15: '22 us' is no number; its unit is cycle");
  EXPECT_EQ(refusal(with("    k: 16\n", "    k: 16\n    k: 32\n")),
            "input: folder/products.yaml:13: 'k' is there twice");
  EXPECT_EQ(
      refusal(with("family: mad_loop\n", "family: mad_lop\n")),
      "input: folder/products.yaml:7: there is no family 'mad_lop'; did you mean 'mad_loop'? (see `vinci validate "
      "--families`)");
  EXPECT_EQ(refusal(with("of: long", "of: curve")),
            "input: folder/products.yaml:17: 'curve' is not one point that measures 'cycles'");
  EXPECT_EQ(refusal(with("id: long", "id: short")), "input: folder/products.yaml:16: the id 'short' is there twice");
  EXPECT_EQ(refusal(with("gates: {cycles", "gates: {us")), "input: folder/products.yaml: gates: no case measures 'us'");
}

TEST(Validate, ErrorsTargetsAndRatiosFollowFromTheValues) {
  std::vector<Group> groups{parse_group(kFile, "products.yaml")};
  for (const unsigned jobs : {1u, 3u}) {
    const auto outcome = run(groups, {.only = {}, .overrides = {}, .jobs = jobs});
    const GroupOutcome& g = outcome.at(0);
    ASSERT_EQ(g.values.size(), 5u);
    EXPECT_EQ(g.values[0].simulated, 4);
    EXPECT_EQ(g.values[1].simulated, 22);
    EXPECT_EQ(g.values[2].simulated, 102);
    EXPECT_DOUBLE_EQ(errors(g, "cycles").mean, (50 + 0 + 0 + 0 + 50) / 5.0);
    EXPECT_DOUBLE_EQ(errors(g, "cycles", 1).mean, 50 / 4.0);  // single points are no curves
    ASSERT_EQ(g.ratios.size(), 1u);
    EXPECT_DOUBLE_EQ(g.ratios[0].simulated, 42.0 / 22);
    EXPECT_TRUE(g.ratios[0].same_side());
    EXPECT_FALSE(holds_targets(outcome));
    EXPECT_TRUE(holds_gates(outcome));
    EXPECT_NE(summary(outcome).find("not expressed: 3 points"), std::string::npos);
    EXPECT_NE(detail(outcome).find("assumed\n  short: that it is short\n"), std::string::npos);
  }
  groups[0].gates["cycles"] = 19;
  EXPECT_FALSE(holds_gates(run(groups, {.only = {}, .overrides = {}})));
}

TEST(Validate, WhatIsWrongWithTheChipOfACaseIsNamedWithItsLine) {
  const auto refusal = [](const std::string& text, const std::vector<std::string>& overrides) {
    const std::vector<Group> groups{parse_group(text, "products.yaml")};
    return test::fault_of([&] { run(groups, {.only = {}, .overrides = overrides}); });
  };
  EXPECT_THAT(refusal(with("core.cube.startup=2", "core.cube.start=2"), {}), StartsWith("input: products.yaml:6: "));
  EXPECT_THAT(refusal(std::string(kFile), {"core.cube.start=1"}), Not(HasSubstr("products.yaml")));
}

TEST(Validate, ASampleKeepsBothEnds) {
  const std::vector<Group> groups{parse_group(kFile, "products.yaml")};
  const auto outcome = run(groups, {.sample = 2, .only = "curve", .overrides = {}});
  ASSERT_EQ(outcome[0].values.size(), 2u);
  EXPECT_EQ(outcome[0].values[0].measured, 8);
  EXPECT_EQ(outcome[0].values[1].measured, 102);
  EXPECT_THAT(summary(outcome), Not(HasSubstr("not expressed")));  // of a file of which cases were left out
}

TEST(Validate, WhatCannotBeSimulatedIsNamedAndMissesEveryTarget) {
  std::vector<Group> groups{parse_group(with("type: f162f32\n", "type: none\n"), "products.yaml")};
  groups[0].targets.clear();
  const auto outcome = run(groups, {.only = "curve", .overrides = {}});
  EXPECT_FALSE(holds_targets(outcome));
  EXPECT_FALSE(holds_gates(outcome));
  EXPECT_NE(summary(outcome).find("mad has no type 'none'"), std::string::npos) << summary(outcome);
}

TEST(Builtin, EveryFileIsRead) {
  usize points = 0;
  for (const Group& g : builtin_groups()) {
    EXPECT_FALSE(g.cases.empty()) << g.name;
    for (const Case& c : g.cases)
      points += c.points.size();
  }
  EXPECT_GT(points, 3000u);
}

TEST(Families, AreDescribedOneByOneOrAll) {
  const std::string all = describe_families(), two = describe_families(std::vector<std::string>{"launch", "matmul"});
  for (const Family& f : families())
    EXPECT_NE(all.find(std::string(f.name) + "\n  " + std::string(f.doc)), std::string::npos) << f.name;
  EXPECT_TRUE(two.starts_with("launch\n"));
  EXPECT_NE(two.find("\nmatmul\n"), std::string::npos);
  EXPECT_NE(two.find("release_apart"), std::string::npos);
  EXPECT_LT(two.size(), all.size() / 3);
  EXPECT_EQ(test::fault_of([] { describe_families(std::vector<std::string>{"matml"}); }),
            "input: there is no family 'matml'; did you mean 'matmul'? (see `vinci validate --families`)");
}

}  // namespace
}  // namespace vinci::validate
