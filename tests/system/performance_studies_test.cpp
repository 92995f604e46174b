// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Every study with its defaults: each criterion is measured, and holds unless it says why it is open; one that holds
// must not say so any more. And the frame that studies stand in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "isa/base/error.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using testing::HasSubstr;

class PerformanceStudies : public testing::TestWithParam<std::string_view> {};
std::vector<std::string_view> ids() {
  std::vector<std::string_view> out;
  for (const Entry& e : entries())
    out.push_back(e.id);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, PerformanceStudies, testing::ValuesIn(ids()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(PerformanceStudies, CriteriaHoldUnlessTheyAreOpen) {
  const Study study = run_study(GetParam(), {});
  std::printf("%s", study.report().c_str());
  for (usize i = 0; i < study.values().size(); ++i) {
    const Criterion& c = study.definition().criteria[i];
    ASSERT_TRUE(study.values()[i]) << c.name;
    EXPECT_EQ(c.holds(*study.values()[i]), c.open.empty())
        << c.name << ": " << *study.values()[i] << ", " << c.bound_text();
  }
}

constexpr std::string_view kDefinition = R"(title: T
question: Q
from: document F
chip: tiny
knobs:
  n: {default: 4, range: [1, 8], doc: D}
  x: {default: 0.5, range: [0, 1], doc: D}
  way: {default: left, choices: [left, right], doc: D}
criteria:
  exact: {kind: mechanism, equals: 3, doc: D}
  more: {kind: direction, at_least: 2, doc: D}
  less: {kind: ratio, at_most: 9, doc: why it matters}
  band: {kind: ratio, within: [1, 2], doc: D, open: for a reason}
)";

Study make(Request request) { return {parse_definition(kDefinition, "S00", "s.yaml"), std::move(request)}; }

TEST(StudyFrame, KnobsHaveDefaultsAndRefuseOtherValues) {
  const Study defaults = make({});
  EXPECT_EQ(defaults.whole("n"), 4u);
  EXPECT_EQ(defaults.number("x"), 0.5);
  EXPECT_EQ(defaults.choice("way"), "left");
  const Study set = make({.chip = {}, .overrides = {}, .set = {{"n", "8"}, {"way", "right"}}, .folder = {}});
  EXPECT_EQ(set.whole("n"), 8u);
  EXPECT_EQ(set.choice("way"), "right");
  for (const auto& [name, value, why] : std::vector<std::array<std::string, 3>>{{"n", "9", "not within 1 to 8"},
                                                                                {"n", "0", "not within 1 to 8"},
                                                                                {"n", "2.5", "no whole number"},
                                                                                {"n", "", "no number"},
                                                                                {"n", "4x", "no number"},
                                                                                {"x", "nan", "no number"},
                                                                                {"way", "lef", "did you mean 'left'"},
                                                                                {"m", "1", "no knob 'm'"}}) {
    try {
      make({.chip = {}, .overrides = {}, .set = {{name, value}}, .folder = {}});
      ADD_FAILURE() << name << "=" << value;
    } catch (const Error& e) {
      EXPECT_EQ(e.fault(), Fault::Input);
      EXPECT_THAT(e.what(), HasSubstr(why));
    }
  }
}

TEST(StudyFrame, AStudyPassesOnlyWhenAllCriteriaWereMeasuredAndHold) {
  const auto passes = [](std::vector<double> values) {
    Study study = make({});
    constexpr std::array kNames{"exact", "more", "less", "band"};
    for (usize i = 0; i < values.size(); ++i)
      study.measured(kNames[i], values[i]);
    const bool failed = study.report().find("FAIL") != std::string::npos;
    EXPECT_NE(study.passed(), failed);
    const bool band_fails = values.size() < 4 || values[3] < 1 || values[3] > 2;
    EXPECT_EQ(study.report().find("open: for a reason") != std::string::npos, band_fails);
    return study.passed();
  };
  EXPECT_TRUE(passes({3, 2, 9, 1}));
  EXPECT_TRUE(passes({3, 100, -100, 2}));
  EXPECT_FALSE(passes({3, 2, 9}));
  EXPECT_FALSE(passes({3.001, 2, 9, 1}));
  EXPECT_FALSE(passes({3, 1.999, 9, 1}));
  EXPECT_FALSE(passes({3, 2, 9.001, 1}));
  EXPECT_FALSE(passes({3, 2, 9, 0.999}));
  EXPECT_FALSE(passes({3, 2, 9, 2.001}));
  Study twice = make({});
  twice.measured("exact", 3);
  EXPECT_THROW(twice.measured("exact", 3), Error);
}

TEST(StudyFrame, DefinitionsAreCheckedWithPositions) {
  const auto message = [](const std::string& from, const std::string& to) {
    std::string text(kDefinition);
    text.replace(text.find(from), from.size(), to);
    try {
      parse_definition(text, "S00", "s.yaml");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message("range: [1, 8]", "range: [5, 8]"), HasSubstr("s.yaml:6:6: the default of n: 4 is not within"));
  EXPECT_THAT(message("equals: 3, ", ""), HasSubstr("s.yaml:10:10: exact has one of equals"));
  EXPECT_THAT(message("mechanism", "mechanics"), HasSubstr("a kind is one of"));
  EXPECT_THAT(message("chip: tiny\n", ""), HasSubstr("a study has a title"));
  EXPECT_THAT(message("question: Q", "questions: Q"), HasSubstr("s.yaml:2:12: unknown key 'questions'"));
}

TEST(StudyFrame, AnUnknownStudyIsNamed) {
  try {
    entry("S9");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("did you mean 'S09'"));
  }
}

}  // namespace
}  // namespace vinci::studies
