// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/stats/stats.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace vinci::stats {
namespace {

TEST(Stats, PointAtTheMembersThatModelsCountIn) {
  u64 hits = 1;
  Group root;
  root.add("hits", hits, "requests", "found");
  hits = 41;
  ++hits;
  EXPECT_EQ(to_json(root).dump(), R"({"hits":42})");
  ASSERT_EQ(root.counters().size(), 1u);
  EXPECT_EQ(root.counters()[0].unit, "requests");
  EXPECT_EQ(root.counters()[0].doc, "found");
}

TEST(Stats, KeepTheOrderOfConstruction) {
  u64 one = 1, two = 2, three = 3;
  Group root;
  root.group("z").add("b", one, "B", "");
  root.group("a").add("x", two, "B", "");
  root.group("z").add("a", three, "B", "");  // the same group again
  root.add("own", two, "B", "");
  EXPECT_EQ(to_json(root).dump(), R"({"own":2,"z":{"b":1,"a":3},"a":{"x":2}})");
}

TEST(Stats, GroupsStayWhereTheyAre) {
  Group root;
  Group& first = root.group("g0");
  for (int i = 1; i < 200; ++i)
    root.group("g" + std::to_string(i));
  EXPECT_EQ(&root.group("g0"), &first);
  EXPECT_EQ(root.groups().size(), 200u);
}

TEST(Stats, EmptyIsAnObject) { EXPECT_EQ(to_json(Group()).dump(), "{}"); }

TEST(Stats, LargeValuesStayExact) {
  u64 large = ~u64{0};
  Group root;
  root.add("n", large, "", "");
  EXPECT_EQ(to_json(root).dump(), R"({"n":18446744073709551615})");
}

}  // namespace
}  // namespace vinci::stats
