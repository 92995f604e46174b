// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Points, the table and the Pareto front of sweeps; processes are tested by tests/system/sweep.py.
#include "tools/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "isa/base/error.h"
#include "sim/io/temp_folder.h"

namespace vinci::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    parse_definition(text, "p.yaml");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

constexpr const char* kHead = "command: gen gemm --m 64 --n 64 --k 64\nchip: tiny\n";

Definition definition(const std::string& rest) { return parse_definition(kHead + rest, "p.yaml"); }

TEST(SweepPoints, AGridHasEveryCombinationTheLastKeyFirst) {
  const std::vector<Point> p = points(definition("grid: {--m: [1, 2], --k: {low: 10, high: 30, step: 10}}"));
  ASSERT_EQ(p.size(), 6u);
  EXPECT_THAT(p[0], ElementsAre(Setting{"--m", "1"}, Setting{"--k", "10"}));
  EXPECT_THAT(p[1], ElementsAre(Setting{"--m", "1"}, Setting{"--k", "20"}));
  EXPECT_THAT(p[5], ElementsAre(Setting{"--m", "2"}, Setting{"--k", "30"}));
}

TEST(SweepPoints, StepsThatAreNoBinaryFractionsReachTheEnd) {
  const std::vector<Point> p = points(definition("grid: {x.y: {low: 0.1, high: 0.7, step: 0.1}}"));
  EXPECT_EQ(p.size(), 7u);
}

TEST(SweepPoints, RangesKeepTheirUnit) {
  const std::vector<Point> p = points(definition("grid: {l2: {low: 64 KiB, high: 128 KiB, step: 64}}"));
  ASSERT_EQ(p.size(), 2u);
  EXPECT_EQ(p[1][0].value, "128 KiB");
}

TEST(SweepPoints, ThePointsOfGridAndListAreEachThereOnce) {
  const std::vector<Point> p = points(definition("grid: {a: [1, 2]}\nlist: [{a: 2}, {a: 3, b: 4}]"));
  ASSERT_EQ(p.size(), 3u);
  EXPECT_THAT(p[2], ElementsAre(Setting{"a", "3"}, Setting{"b", "4"}));
}

TEST(SweepPoints, RandomOnesStayInTheirRangesAndFollowTheSeed) {
  const auto draw = [](int seed) {
    return points(definition("random: {points: 200, seed: " + std::to_string(seed) +
                             ", axes: {a: {low: 1, high: 6}, b: [x, y], c: {low: 1, high: 1000, scale: log}}}"));
  };
  const std::vector<Point> p = draw(1);
  std::set<std::string> dice, words;
  int small = 0;
  for (const Point& point : p) {
    dice.insert(point[0].value);
    words.insert(point[1].value);
    const double c = std::stod(point[2].value);
    EXPECT_GE(c, 1);
    EXPECT_LE(c, 1000);
    small += c < 31.6 ? 1 : 0;  // the geometric mean
  }
  EXPECT_EQ(dice, (std::set<std::string>{"1", "2", "3", "4", "5", "6"}));
  EXPECT_EQ(words, (std::set<std::string>{"x", "y"}));
  EXPECT_NEAR(small, 0.5 * static_cast<double>(p.size()), 0.15 * static_cast<double>(p.size()));
  EXPECT_EQ(p, draw(1));
  EXPECT_NE(p, draw(2));
}

TEST(SweepDefinition, ErrorsSayWhereAndWhat) {
  EXPECT_THAT(error_of("chip: tiny\ngrid: {a: [1]}"), HasSubstr("command: is missing"));
  EXPECT_THAT(error_of("command: rm -rf x\nchip: tiny\ngrid: {a: [1]}"), HasSubstr("p.yaml:1:10: a command of vinci"));
  EXPECT_THAT(error_of("command: gen gemm\ngrid: {a: [1]}"), HasSubstr("chip: is missing"));
  EXPECT_THAT(error_of(kHead), HasSubstr("no points"));
  EXPECT_THAT(error_of(kHead + std::string("gird: {a: [1]}")),
              HasSubstr("p.yaml:3:7: unknown key 'gird'; did you mean 'grid'?"));
  EXPECT_THAT(error_of(kHead + std::string("grid: {a: {low: 1, high: 2}}")), HasSubstr("has a step"));
  EXPECT_THAT(error_of(kHead + std::string("grid: {a: [1], a: [2]}")), HasSubstr("twice"));
  EXPECT_THAT(error_of(kHead + std::string("grid: {a: []}")), HasSubstr("the list is empty"));
  EXPECT_THAT(error_of(kHead + std::string("random: {points: 0, axes: {a: [1]}}")), HasSubstr("from 1 to"));
  EXPECT_THAT(error_of("command: gen gemm -o x\nchip: tiny\ngrid: {a: [1]}"),
              HasSubstr("the sweep sets folder and chip"));
  EXPECT_THAT(error_of(kHead + std::string("mode: fast\ngrid: {a: [1]}")), HasSubstr("timing or full"));
}

TEST(SweepDefinition, AGridBeyondAMillionPointsIsRefused) {
  EXPECT_THROW(points(definition("grid: {a: {low: 1, high: 2000, step: 1}, b: {low: 1, high: 2000, step: 1}}")), Error);
}

TEST(SweepJob, SettingsGoToTheCommandOrToTheChip) {
  const Definition d = definition("set: {core.cube.startup: 5}\ngrid: {a: [1]}");
  const Job job = make_job(d, {{"--m", "128"}, {"--seed", "3"}, {"chip", "ascend-310p3"}, {"l2.size", "1 MiB"}}, "s");
  EXPECT_THAT(job.command, ElementsAre("gen", "gemm", "--m=128", "--n", "64", "--k", "64", "--seed=3"));
  EXPECT_EQ(job.chip, "ascend-310p3");
  EXPECT_THAT(job.set, ElementsAre("core.cube.startup=5", "l2.size=1 MiB"));
}

TEST(SweepJob, TheKeyFollowsAllThatTheResultDependsOn) {
  const Definition d = definition("grid: {a: [1]}");
  const auto key = [&](const Point& p, const char* simulator = "s") { return make_job(d, p, simulator).key; };
  const std::set<std::string> keys{key({}),
                                   key({{"--m", "65"}}),
                                   key({{"a.b", "1"}}),
                                   key({{"a.b", "11"}}),
                                   key({{"a.b1", "1"}}),
                                   key({{"chip", "tiny2"}}),
                                   key({}, "t")};
  EXPECT_EQ(keys.size(), 7u);
  EXPECT_EQ(key({{"--m", "65"}}), key({{"--m", "65"}}));
}

TEST(SweepJob, AChangedFileMakesItsPointsAnew) {
  const io::TempFolder folder("vinci-sweep-test");
  const std::string model = folder / "model.onnx";
  const auto write = [&](const char* text) {
    std::FILE* f = std::fopen(model.c_str(), "w");
    std::fputs(text, f);
    std::fclose(f);
  };
  write("one");
  const Definition d = parse_definition("command: compile " + model + "\nchip: tiny\ngrid: {a: [1]}", "p.yaml");
  const std::string before = make_job(d, {}, "s").key;
  EXPECT_EQ(make_job(d, {}, "s").key, before);
  write("two");
  EXPECT_NE(make_job(d, {}, "s").key, before);
}

TEST(SweepJob, AnErrorIsAResult) {
  const io::TempFolder folder("vinci-sweep-test");
  Job job = make_job(definition("grid: {a: [1]}"), {}, "s");
  job.chip = "no-such-chip";
  const Result r =
      do_job(job, folder.path(), [](const std::vector<std::string>&) { FAIL() << "the chip comes first"; });
  EXPECT_THAT(r.error, HasSubstr("no-such-chip"));
  EXPECT_EQ(r.exit_code, static_cast<int>(Fault::Input));
}

TEST(SweepColumns, CoresOfAKindAreSummed) {
  const auto columns =
      columns_of(R"({"format": 1, "cycles": 1000, "seconds": 1e-6, "clock_hz": 1e9, "kernel_cycles": 500,
      "counters": {"l2": {"hits": 7}, "core0.AIC": {"M": {"busy": 3}}, "core12.AIC": {"M": {"busy": 4}}}})");
  EXPECT_DOUBLE_EQ(columns.at("us"), 1);
  EXPECT_DOUBLE_EQ(columns.at("kernel_us"), 0.5);
  EXPECT_EQ(columns.at("l2.hits"), 7);
  EXPECT_EQ(columns.at("AIC.M.busy"), 7);
  EXPECT_FALSE(columns.contains("format"));
}

Result result(const std::string& key, double us, const std::string& stream = "s1") {
  Result r{.key = key, .stream = stream, .chip = "c1", .mode = "timing", .simulator = "v1", .chip_file = "chip: 1"};
  r.stats = {{"us", us}, {"l2.hits", 3}};
  return r;
}

TEST(SweepTable, KeepsResultsBetweenTwoOpenings) {
  const io::TempFolder folder("vinci-sweep-test");
  const std::string path = folder / "sweep.db";
  {
    Table table(path);
    table.add(result("k1", 12.5), {{"--m", "64"}});
    Result failed{.key = "k2", .mode = "timing", .simulator = "v1", .error = "too small"};
    table.add(failed, {{"--m", "1"}});
  }
  const Table table(path);
  EXPECT_TRUE(table.has("k1"));
  EXPECT_FALSE(table.has("k3"));
  EXPECT_DOUBLE_EQ(table.row("k1").stats.at("us"), 12.5);
  EXPECT_EQ(table.row("k2").error, "too small");
  EXPECT_FALSE(table.row("k3").done);
  const auto found = Table::look_up(path, result("other", 0));
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(found->at("us"), 12.5);
  EXPECT_FALSE(Table::look_up(path, result("other", 0, "s2")).has_value());
  EXPECT_FALSE(Table::look_up(folder / "none.db", result("other", 0)).has_value());
}

TEST(SweepTable, NamesWithQuotesAndDotsAreColumns) {
  const io::TempFolder folder("vinci-sweep-test");
  Table table(folder / "sweep.db");
  table.add(result("k1", 1), {{"a.b \"c\" 'd'", "64"}});
  EXPECT_NO_THROW(table.show({"k1"}, {"a.b \"c\" 'd'"}, {"us", "l2.hits"}));
}

TEST(SweepTable, AFileThatIsNoTableIsRefused) {
  const io::TempFolder folder("vinci-sweep-test");
  const std::string path = folder / "sweep.db";
  std::FILE* f = std::fopen(path.c_str(), "w");
  std::fputs("this is a letter, and no table; it is long enough to be taken for neither an empty nor a new file\n", f);
  std::fclose(f);
  EXPECT_THROW(Table{path}, Error);
}

Row row(double us, const std::string& size, const std::string& error = "") {
  return {.point = {{"size", size}}, .done = true, .stats = {{"us", us}}, .error = error};
}

TEST(SweepFront, NoPointOfTheFrontIsBeaten) {
  const std::vector<Row> rows{row(10, "4 KiB"), row(12, "2 KiB"),          row(12, "4 KiB"),
                              row(20, "1 KiB"), row(1, "1 KiB", "failed"), row(10, "4 KiB")};
  EXPECT_THAT(pareto_front(rows, {"us", "size"}), ElementsAre(true, true, false, true, false, true));
  EXPECT_DOUBLE_EQ(value_of(row(1, "1 MiB"), "size").value(), 1048576);
  EXPECT_DOUBLE_EQ(value_of(row(1, "64 B/cycle"), "size").value(), 64);
  EXPECT_FALSE(value_of(row(1, "wide"), "size").has_value());
  EXPECT_THAT(pareto_front(rows, {}), ElementsAre(false, false, false, false, false, false));
}

TEST(SweepOutput, TextsOfOthersAreNoFormulasAndNoTags) {
  Outcome o{.keys = {"--m"}, .measures = {"us"}, .rows = {row(1, "1"), row(2, "2", "=<b>,")}, .front = {true, false}};
  o.rows[0].point = {{"--m", "<i>"}};
  EXPECT_EQ(to_csv(o), "number,m,us,error\n0,<i>,1,\n1,,2,\"'=<b>,\"\n");
  const std::string page = to_html(definition("name: <u>\ngrid: {--m: [1]}"), o);
  EXPECT_THAT(page, HasSubstr("&lt;i&gt;"));
  EXPECT_THAT(page, testing::Not(HasSubstr("<i>")));
  EXPECT_THAT(page, testing::Not(HasSubstr("<u>")));
}

}  // namespace
}  // namespace vinci::sweep
