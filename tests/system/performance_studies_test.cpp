// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Every study with its defaults: each criterion is measured, and holds unless it says why it is open; one that holds
// must not say so any more. And the framework of the studies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "isa/base/error.h"
#include "tools/studies/summary.h"

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
  for (usize i = 0; i < study.findings().values.size(); ++i) {
    const Criterion& c = study.definition().criteria[i];
    ASSERT_TRUE(study.findings().values[i]) << c.name;
    EXPECT_EQ(c.holds(*study.findings().values[i]), c.open.empty())
        << c.name << ": " << *study.findings().values[i] << ", " << c.bound_text();
  }
  EXPECT_THAT(study.findings().answer(), Not(HasSubstr("nothing")));
  EXPECT_FALSE(study.findings().bars().empty());
  const std::string& advice = study.definition().advice;
  const usize end = advice.find(". ");
  EXPECT_TRUE(end != std::string::npos && advice.find(". ", end + 1) == std::string::npos)
      << "two sentences: " << advice;
  // The programs of the tests themselves are larger under a sanitizer and without optimisation.
#if !defined(VINCI_SANITIZED) && defined(__OPTIMIZE__)
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  EXPECT_LT(use.ru_maxrss, 500 * 1024) << "KiB; two processes at a time take less than a GiB";
#endif
}

// 48 channels are three planes, which two vector cores share.
TEST(StudyKnobs, TheMixTaskOfS22TakesAnyNumberOfPlanes) {
  const Study study = run_study("S22", {.set = {{"channels", "48"}, {"edge", "16"}, {"batch", "2"}}});
  for (usize i = 0; i < study.findings().values.size(); ++i) {
    if (study.definition().criteria[i].name != "mix_different_results") continue;
    EXPECT_EQ(study.findings().values[i], 0.0);
  }
}

// The table of answers; its figures are written by `./dev studies`.
TEST(StudyDocuments, ThePageHasTheAnswerOfEveryStudy) {
  std::ifstream file(STUDIES_DOC);
  std::stringstream text;
  text << file.rdbuf();
  for (const Entry& e : entries()) {
    const Definition d = builtin_definition(e.id);
    EXPECT_THAT(text.str(), HasSubstr("| " + d.id + " | " + std::string(short_question(d)) + " |"));
  }
}

constexpr std::string_view kDefinition = R"(title: T
question: Q
from: document F
answer: "exact {exact}, band {band}; {much of it} of it, {other}."
advice: A1. A2.
chart: {bars: [exact, much]}
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

TEST(StudyFrame, TheAnswerHasTheFiguresOfCriteriaAndFacts) {
  Study study = make({});
  study.measured("exact", 3);
  study.measured("band", 0.01234);
  study.fact("much of it", 12345.6, "s");
  EXPECT_EQ(study.findings().answer(), "exact 3, band 0.0123; 12346 of it, nothing.");
  EXPECT_EQ(study.findings().verdict(), "1 of 4, 1 open, 2 missed");
  const std::vector<Fact> bars = study.findings().bars();
  ASSERT_EQ(bars.size(), 2u);
  EXPECT_EQ(bars[0].what, "exact");
  EXPECT_EQ(bars[1].what, "much of it");
  for (const auto& [value, text] : std::vector<std::pair<double, std::string>>{
           {0, "0"}, {1, "1"}, {0.5, "0.5"}, {2.999, "3"}, {-12.34, "-12.3"}, {1e-9, "1e-09"}, {1234.4, "1234"}})
    EXPECT_EQ(readable(value), text);
}

TEST(StudyFrame, VariantsRunInProcessesAndHandErrorsOver) {
  for (const unsigned jobs : {1u, 3u}) {
    std::vector<usize> begun;
    const Study study = make({.jobs = jobs, .progress = [&](usize count, usize) { begun.push_back(count); }});
    struct Point {
      double x, y;
    };
    const auto points = study.variants(5, [](usize i) {
      return Point{static_cast<double>(i), 2.0 * static_cast<double>(i)};
    });
    ASSERT_EQ(points.size(), 5u);
    EXPECT_EQ(points[3].y, 6);
    EXPECT_EQ(begun.back(), 5u);
    const auto lists = study.variants(2, [](usize i) { return std::vector<u64>(i, 7); });
    EXPECT_TRUE(lists[0].empty());
    EXPECT_EQ(lists[1], std::vector<u64>{7});
    try {
      study.variants(4, [](usize i) -> double { fail_at(Fault::Unsupported, "here", "variant {}", i); });
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_EQ(e.fault(), Fault::Unsupported);
      EXPECT_STREQ(e.what(), "here: variant 0");
    }
  }
}

// Open criteria are counted apart, and what a study says is text in the page.
TEST(StudyFrame, ThePageAndTheTableHaveAnswersAndCriteria) {
  Outcome done{.findings = Findings(parse_definition(kDefinition, "S00", "s.yaml"))};
  done.findings.values = {3, 2, 9, 0.5};
  done.findings.facts = {{"much of it", 1, "s"}, {"other", 2, "<s>"}};
  Outcome failed{.findings = done.findings, .fault = "no memory"};
  const std::vector<Outcome> outcomes{done, failed};
  EXPECT_THAT(table(outcomes), AllOf(HasSubstr("exact 3, band 0.5; 1 of it, 2."), HasSubstr("3 of 4, 1 open"),
                                     HasSubstr("open: band: for a reason"), HasSubstr("no memory")));
  EXPECT_THAT(markdown(outcomes), HasSubstr("| S00 | Q | exact 3, band 0.5; 1 of it, 2. | 3 of 4, 1 open |"));
  EXPECT_THAT(page(outcomes),
              AllOf(HasSubstr("<svg"), HasSubstr("A1. A2."), HasSubstr("Open:"), Not(HasSubstr("<s>"))));
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
  EXPECT_THAT(message("range: [1, 8]", "range: [5, 8]"), HasSubstr("s.yaml:9:6: the default of n: 4 is not within"));
  EXPECT_THAT(message("equals: 3, ", ""), HasSubstr("s.yaml:13:10: exact has one of equals"));
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
