// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What the report makes of the files of a run. Documents are written here by hand; expected numbers by hand as well.
#include "tools/report/report_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/census/census.h"
#include "sim/config/load.h"
#include "tools/report/page.h"

namespace vinci::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two cube cores at 1 GHz with 8192 operations a cycle each; HBM at 100 GB/s.
config::ChipConfig chip() {
  config::ChipConfig c = config::load_chip("tiny");
  c.clock = config::Hertz(1e9);
  c.ai_cores = 2;
  c.vector_cores = 4;
  c.memory.hbm.bandwidth = config::BytesPerSecond(100e9);
  return c;
}

Json pipe(u64 busy, u64 wait_flag, u64 read = 0, u64 written = 0, u64 steps = 0) {
  return {{"idle", 0},
          {"busy", busy},
          {"stall_wait_flag", wait_flag},
          {"stall_barrier", 0},
          {"stall_queue_full", 0},
          {"stall_drain", 0},
          {"instructions", 1},
          {"steps", steps},
          {"read_bytes", read},
          {"write_bytes", written}};
}

Json task(const char* name, const char* type, u64 enqueued, u64 start, u64 end) {
  return {{"name", name}, {"type", type},         {"stream", "main"}, {"blocks", 0},
          {"bytes", 0},   {"enqueued", enqueued}, {"start", start},   {"end", end}};
}

// 1000 cycles: a copy 0..200, a kernel 300..700, the same again 650..900 on paper only; the cores idle elsewhere.
Json stats() {
  Json kernel = task("mul", "KERNEL_AICORE", 10, 300, 700);
  kernel["work"] = {{"cube_macs", 1000}, {"vector_repeats", 0}, {"gm_read_bytes", 300}, {"gm_write_bytes", 100}};
  Json again = task("mul", "KERNEL_AICORE", 20, 650, 900);
  again["work"] = {{"cube_macs", 3000}, {"vector_repeats", 10}, {"gm_read_bytes", 100}, {"gm_write_bytes", 0}};
  Json idle = {{"blocks", 0}, {"V", pipe(0, 0)}};
  return {{"format", 1},
          {"task_stream", "demo"},
          {"chip", "tiny"},
          {"clock_hz", 1e9},
          {"cycles", 1000},
          {"seconds", 1e-6},
          {"instructions", 7},
          {"cube_macs", 4000},
          {"kernel_cycles", 600},
          {"task_count", 4},
          {"tasks",
           {task("copy", "MEMCPY_ASYNC", 0, 0, 200), kernel, again, task("wait", "STREAM_WAIT_EVENT", 30, 200, 1000)}},
          {"pipes", Json::array()},
          {"counters",
           {{"l2", {{"read_bytes", 500}, {"write_bytes", 100}, {"hits", 3}, {"misses", 1}}},
            {"hbm", {{"read_bytes", 150}, {"write_bytes", 50}}},
            {"device", {{"tasks", 4}, {"h2d_bytes", 64}, {"d2h_bytes", 32}, {"d2d_bytes", 0}}},
            {"host", {{"busy", 100}}},
            {"core0.AIC", {{"blocks", 1}, {"S", pipe(60, 0)}, {"M", pipe(300, 150, 40, 20)}}},
            {"core1.AIC", {{"blocks", 1}, {"S", pipe(30, 0)}, {"M", pipe(100, 250, 4, 2)}}},
            {"core0.AIV", idle}}}};
}

Json data_of(Json stats, Json numerics = nullptr, Json findings = nullptr) {
  return report_data({chip(), std::move(stats), std::move(numerics), std::move(findings)});
}

TEST(ReportData, TimeAndGaps) {
  const Json d = data_of(stats());
  EXPECT_EQ(d["name"], "demo");
  EXPECT_EQ(d["run"]["cycles"], 1000);
  EXPECT_EQ(d["run"]["kernel_cycles"], 600);
  EXPECT_EQ(d["run"]["task_cycles"], 800);  // 0..200 and 300..900; waiting is no work
  EXPECT_DOUBLE_EQ(d["run"]["gap_share"], 0.2);
}

TEST(ReportData, GapsAreUnknownWhenTasksAreMissing) {
  Json s = stats();
  s["task_count"] = 5;
  const Json d = data_of(s);
  EXPECT_FALSE(d["run"].contains("gap_share"));
  EXPECT_EQ(d["tasks"]["total"], 5);
  EXPECT_EQ(d["tasks"]["shown"], 4);
}

TEST(ReportData, TasksAreColumns) {
  const Json t = data_of(stats())["tasks"];
  EXPECT_EQ(t["names"], Json::parse(R"(["copy", "mul", "wait"])"));
  EXPECT_EQ(t["name"], Json::parse("[0, 1, 1, 2]"));
  EXPECT_EQ(t["kinds"], Json::parse(R"(["MEMCPY_ASYNC", "KERNEL_AICORE", "STREAM_WAIT_EVENT"])"));
  EXPECT_EQ(t["kind"], Json::parse("[0, 1, 1, 2]"));
  EXPECT_EQ(t["start"], Json::parse("[0, 300, 650, 200]"));
  EXPECT_EQ(t["end"], Json::parse("[200, 700, 900, 1000]"));
  EXPECT_EQ(t["enqueued"], Json::parse("[0, 10, 20, 30]"));
}

TEST(ReportData, TasksByName) {
  const Json rows = data_of(stats())["operators"]["rows"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["name"], "wait");
  EXPECT_EQ(rows[1], Json::parse(R"({"name": "mul", "kind": "KERNEL_AICORE", "count": 2, "total": 650,
                                     "shortest": 250, "longest": 400, "bytes": 0})"));
}

TEST(ReportData, PipesOfCoresThatHadWork) {
  const Json d = data_of(stats());
  ASSERT_EQ(d["pipes"].size(), 2u);
  EXPECT_EQ(d["pipes"][0]["pipe"], "AIC.S");
  EXPECT_EQ(d["pipes"][1], Json::parse(R"({"pipe": "AIC.M", "cores": 2, "whole": 1200, "busy": 400, "wait_flag": 400,
                                           "barrier": 0, "queue_full": 0, "drain": 0, "idle": 400})"));
  EXPECT_EQ(d["cores"]["total"], 2);
  EXPECT_EQ(d["cores"]["names"], Json::parse(R"(["core0.AIC", "core1.AIC"])"));
  EXPECT_EQ(d["cores"]["pipes"][1], Json::parse(R"({"pipe": "M", "busy": [300, 100]})"));
}

TEST(ReportData, RatesAndCeilings) {
  const Json d = data_of(stats());
  EXPECT_DOUBLE_EQ(d["cube"]["rate"], 8000 / 600e-9);
  EXPECT_DOUBLE_EQ(d["cube"]["peak"], 2 * 8192e9);
  EXPECT_DOUBLE_EQ(d["l2"]["hit_share"], 0.75);
  EXPECT_EQ(d["traffic"][0], Json::parse(R"({"level": "host copies", "read": 64, "written": 32})"));
  const Json& hbm = d["traffic"][1];
  EXPECT_EQ(hbm["level"], "HBM");
  EXPECT_DOUBLE_EQ(hbm["rate"], 200 / 600e-9);
  EXPECT_DOUBLE_EQ(hbm["share"], 200 / 600e-9 / 100e9);
  EXPECT_EQ(d["traffic"][3], Json::parse(R"({"level": "AIC.M", "read": 44, "written": 22})"));
}

TEST(ReportData, RooflineHasAPointForEachKernelAndUnit) {
  const Json r = data_of(stats())["roofline"];
  EXPECT_DOUBLE_EQ(r["units"]["vector"], 4 * 128e9);  // 4 cores, a repeat a cycle
  EXPECT_DOUBLE_EQ(r["levels"]["HBM"], 100e9);
  ASSERT_EQ(r["points"].size(), 4u);
  const Json& cube = r["points"][0];
  EXPECT_EQ(cube["name"], "mul");
  EXPECT_EQ(cube["unit"], "cube");
  EXPECT_EQ(cube["count"], 2);
  EXPECT_EQ(cube["operations"], 8000);
  EXPECT_EQ(cube["bytes"], 500);
  EXPECT_DOUBLE_EQ(cube["seconds"], 650e-9);
  EXPECT_EQ(r["points"][1]["unit"], "vector");
  EXPECT_EQ(r["points"][1]["operations"], 1280);
  EXPECT_EQ(r["points"][2]["name"], "all kernels");
  EXPECT_EQ(r["points"][2]["bytes"], 600);
  EXPECT_EQ(r["points"][3]["level"], "HBM");
  EXPECT_EQ(r["points"][3]["bytes"], 200);
}

TEST(ReportData, DevicesAddUp) {
  Json s = stats();
  const Json one = s["counters"];
  s["counters"] = {{"npu0", one}, {"npu1", one}, {"host", {{"busy", 1}}}};
  const Json d = data_of(s);
  EXPECT_EQ(d["run"]["devices"], 2);
  EXPECT_DOUBLE_EQ(d["roofline"]["levels"]["HBM"], 200e9);
  EXPECT_EQ(d["traffic"][1]["read"], 300);
  EXPECT_EQ(d["pipes"][1]["cores"], 4);
  EXPECT_EQ(d["cores"]["names"][2], "npu1.core0.AIC");
}

TEST(ReportData, ManyTasksAreCutAndSaidSo) {
  Json s = stats();
  Json& tasks = s["tasks"] = Json::array();
  for (u64 i = 0; i < kTasksShown + 7; ++i)
    tasks.push_back(task("t", "KERNEL_AICORE", i, 2 * i, 2 * i + 1));
  s["task_count"] = tasks.size();
  s["cycles"] = 2 * tasks.size();
  const Json d = data_of(s);
  EXPECT_EQ(d["tasks"]["total"], kTasksShown + 7);
  EXPECT_EQ(d["tasks"]["shown"], kTasksShown);
  EXPECT_EQ(d["tasks"]["start"].size(), kTasksShown);
  EXPECT_EQ(d["operators"]["rows"][0]["count"], kTasksShown + 7);  // sums are of all
  EXPECT_DOUBLE_EQ(d["run"]["gap_share"], 0.5);
}

TEST(ReportData, ThePageStaysSmallWithTheLargestNamesAndNumbers) {
  Json s = stats();
  Json& tasks = s["tasks"] = Json::array();
  for (u64 i = 0; i < kTasksShown + 1; ++i) {
    const u64 t = 1'000'000'000'000 + i;
    Json entry = task(std::string(1000, 'x').append(std::to_string(i)).c_str(), "KERNEL_MIX_AIC", t, t, t + 1);
    entry["bytes"] = 1'000'000'000'000;
    tasks.push_back(std::move(entry));
  }
  s["task_count"] = tasks.size();
  EXPECT_LT(page(data_of(s)).size(), 20'000'000u);
}

TEST(ReportData, NumericEvents) {
  const auto site = [](u64 task_id, const char* place, u64 overflow, u64 block) {
    Json s = {{"task_id", task_id}, {"task", "t"},
              {"stream", "main"},   {"pc", 1},
              {"place", place},     {"instruction", "vadd.f16"},
              {"executions", 1},    {"results", 100},
              {"sequence", task_id}};
    for (const std::string_view event : isa::kNumericEventNames)
      s[std::string(event)] = 0;
    s["overflow"] = overflow;
    s["first"] = Json::object();
    if (overflow > 0)
      s["first"]["overflow"] = {
          {"block", block}, {"order", 5}, {"core", "core0.AIC"}, {"element", 3}, {"operands", {{"src0", 65504.0}}},
          {"result", "inf"}};
    return s;
  };
  const Json numerics = {
      {"format", 1},
      {"task_stream", "demo"},
      {"overflow_mode", "inf_nan"},
      {"sites",
       {site(2, "late.s:1", 30, 0), site(1, "b.s:2", 5, 4), site(1, "a.s:9", 1, 2), site(0, "quiet.s:1", 0, 0)}}};
  const Json n = data_of(nullptr, numerics)["numerics"];
  EXPECT_EQ(n["results"], 400);
  EXPECT_EQ(n["sites_total"], 4);
  EXPECT_EQ(n["events"][0]["event"], "overflow");
  EXPECT_EQ(n["events"][0]["count"], 36);
  EXPECT_DOUBLE_EQ(n["events"][0]["share"], 0.09);
  EXPECT_EQ(n["events"][0]["first"]["place"], "a.s:9");  // the lower block of the earlier task
  EXPECT_FALSE(n["events"][1].contains("first"));
  ASSERT_EQ(n["sites"].size(), 3u);
  EXPECT_EQ(n["sites"][0]["place"], "late.s:1");
}

TEST(ReportData, WithoutTimeThereIsNoRun) {
  const Json findings = {
      {"format", 1}, {"complete", true}, {"occurrences", 0}, {"dropped", 0}, {"findings", Json::array()}};
  const Json d = data_of(nullptr, nullptr, findings);
  EXPECT_FALSE(d.contains("run"));
  EXPECT_FALSE(d.contains("tasks"));
  EXPECT_EQ(d["findings"]["total"], 0);
}

TEST(ReportData, ExplanationsAreCutToWhatAPageCanHold) {
  Json kernel = {{"name", "k"}, {"path", {{{"kind", "MTE2"}}}}, {"lines", Json::array()}, {"chain", {1, 2, 3}}};
  for (usize i = 0; i < kLinesExplained + 5; ++i)
    kernel["lines"].push_back({{"at", "k.s:1"}});
  Json explanation = {{"clock_hz", 1e9}, {"kernels", Json::array()}};
  for (usize i = 0; i < kKernelsExplained + 5; ++i)
    explanation["kernels"].push_back(kernel);
  explanation["kernels"][0]["path"] = Json::array();  // it has none
  const Json d =
      report_data({.chip = chip(), .stats = stats(), .numerics = {}, .findings = {}, .explanation = explanation});
  const Json& why = d["explanation"];
  EXPECT_EQ(why["total"], kKernelsExplained + 5);
  EXPECT_EQ(why["kernels"].size(), kKernelsExplained);
  EXPECT_EQ(why["kernels"][0]["lines"].size(), kLinesExplained);
  EXPECT_FALSE(why["kernels"][0].contains("chain"));
  EXPECT_FALSE(report_data({.chip = chip(), .stats = stats()}).contains("explanation"));
}

TEST(ReportPage, NamesCannotLeaveTheData) {
  Json s = stats();
  s["task_stream"] = "<b>&</title>";
  s["tasks"][0]["name"] = "</script><script>alert(1)</script><!--";
  const std::string html = page(data_of(s));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, HasSubstr("\\u003c/script>"));
  EXPECT_THAT(html, HasSubstr("<title>&lt;b&gt;&amp;&lt;/title&gt; on tiny</title>"));
}

TEST(ReportPage, NeedsNothingElse) {
  const std::string html = page(data_of(stats()));
  for (const char* reference : {"src=", "@import", "url(", "fetch(", "http-equiv=\"refresh"})
    EXPECT_THAT(html, Not(HasSubstr(reference))) << reference;
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, Not(HasSubstr("{{")));
}

TEST(ReportPage, BytesThatAreNoTextAreReplaced) {
  Json s = stats();
  s["tasks"][0]["name"] = "a\xff";
  EXPECT_THAT(page(data_of(s)), HasSubstr("a\xef\xbf\xbd"));
}

}  // namespace
}  // namespace vinci::report
