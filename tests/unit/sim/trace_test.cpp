// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/trace/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/task/run_memory.h"
#include "sim/trace/chrome_trace.h"
#include "sim/trace/instruction_csv.h"
#include "tests/support/timed_run.h"

namespace vinci::trace {
namespace {

using Json = nlohmann::json;

// A file name of this test alone, gone afterwards.
class TraceFile : public testing::Test {
 protected:
  ~TraceFile() override { std::filesystem::remove(path_); }
  std::string text() const {
    std::ifstream in(path_);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  std::vector<Json> events(std::string_view phase) const {
    std::vector<Json> out;
    const Json all = Json::parse(text());
    for (const Json& e : all.at("traceEvents")) {
      if (e.at("ph") == phase) out.push_back(e);
    }
    return out;
  }

  std::string path_ =
      testing::TempDir() + "vinci_trace_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".tmp";
};

// Two cores whose pipes hand data over by flags, several rounds.
const char* kPipeline = R"(
  mov X1, 3
loop:
  wait_flag PIPE_S, PIPE_MTE2, 0
  copy_gm_to_ubuf 0, 0x100000000, 0, 1, 16, 0, 0
  set_flag PIPE_MTE2, PIPE_V, 0
  wait_flag PIPE_MTE2, PIPE_V, 0
  vadds.f16 0, 0, 1.0h, 4, 1, 1, 8, 8
  vadds.f16 0x400, 0, 1.0h, 4, 1, 1, 8, 8
  set_flag PIPE_V, PIPE_MTE3, 0
  wait_flag PIPE_V, PIPE_MTE3, 0
  copy_ubuf_to_gm 0x100001000, 0, 0, 1, 16, 0, 0
  set_flag PIPE_S, PIPE_MTE2, 0
  set_flag PIPE_MTE3, PIPE_S, 0
  wait_flag PIPE_MTE3, PIPE_S, 0
  sub X1, X1, 1
  bgt X1, 0, loop
  end
)";

void run_pipeline(Sink& sink) {
  config::ChipConfig chip = test::round_chip(isa::Arch::c100);
  chip.ai_cores = 2;
  const task::TaskStream stream = test::kernel_stream(chip, kPipeline, {.blocks = 3});
  task::RunMemory memory(stream, true);
  models::simulate(chip, stream, memory, {.trace = &sink, .progress = {}});
}

TEST(TraceOfARun, SpansOfALaneDoNotOverlap) {
  test::Recorder recorder;
  run_pipeline(recorder);
  std::map<std::string, std::vector<const test::Seen*>> lanes;
  for (const test::Seen& s : recorder.spans()) {
    EXPECT_LE(s.queued, s.begin) << s.name;
    EXPECT_LE(s.begin, s.end) << s.name;
    EXPECT_LE(s.end, s.done) << s.name;
    if (s.begin != s.end) lanes[s.core + "." + s.pipe].push_back(&s);
  }
  EXPECT_GE(lanes.size(), 6u);  // MTE2, V, MTE3 of two cores
  for (auto& [lane, spans] : lanes) {
    std::ranges::sort(spans, {}, &test::Seen::begin);
    for (usize i = 1; i < spans.size(); ++i) {
      EXPECT_LE(spans[i - 1]->end, spans[i]->begin) << lane << ": " << spans[i - 1]->name << ", " << spans[i]->name;
    }
  }
}

TEST(TraceOfARun, EveryFlagIsAnArrowForward) {
  test::Recorder recorder;
  run_pipeline(recorder);
  EXPECT_GE(recorder.arrows().size(), 3u * 3 * 2);  // to V, to MTE3, in each of three rounds of three blocks
  for (const test::Arrow& a : recorder.arrows()) {
    EXPECT_LE(a.begin, a.end) << a.from << " to " << a.to;
    EXPECT_NE(a.from, a.to);
  }
}

// Three blocks on two AICPU threads, and a copy from device to device.
TEST(TraceOfARun, AicpuThreadsAndLinksHaveLanes) {
  config::ChipConfig chip = test::round_chip(isa::Arch::c100);
  chip.aicpu.threads = 2;
  chip.aicpu.dispatch = config::Seconds(0);
  task::TaskStream stream;
  stream.arch = chip.arch;
  stream.devices = 2;
  stream.buffers.resize(2);
  for (u32 d = 0; d < 2; ++d) {
    task::Buffer& b = stream.buffers[d];
    b.name = fmt::format("b{}", d);
    b.place = task::Buffer::Place::device;
    b.device = d;
    b.bytes = 1 << 16;
  }
  const task::MemcpyAsync copy{.dst = {1}, .src = {0}, .width = 1 << 16, .dst_pitch = 1 << 16, .src_pitch = 1 << 16};
  const task::CpuKernelLaunch cpu{.kernel = "Opaque", .block_dim = 3, .seconds = 1e-6};
  stream.streams = {{.name = "s", .tasks = {{.name = "over", .op = copy}, {.name = "cpu", .op = cpu}}}};
  task::RunMemory memory(stream, false);
  test::Recorder recorder;
  models::simulate(chip, stream, memory, {.trace = &recorder, .progress = {}});

  std::map<std::string, std::vector<const test::Seen*>> lanes;
  for (const test::Seen& s : recorder.spans())
    lanes[s.core + "." + s.pipe].push_back(&s);
  const auto& tasks = lanes["npu0.stream s"];
  ASSERT_EQ(tasks.size(), 2u);
  ASSERT_EQ(lanes["links.hccs.0-1"].size(), 1u);
  const test::Seen& wire = *lanes["links.hccs.0-1"][0];
  EXPECT_EQ(wire.name, "65536 B");
  EXPECT_EQ(wire.begin, tasks[0]->begin);
  EXPECT_EQ(wire.done, tasks[0]->end);
  const double cycles = 65536 / chip.links.hccs_bandwidth.value * chip.clock;
  EXPECT_NEAR(static_cast<double>(wire.end - wire.begin), cycles, 1);
  const auto& first = lanes["npu0.AICPU 0"];
  const auto& second = lanes["npu0.AICPU 1"];
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 1u);
  const auto microsecond = static_cast<u64>(chip.clock * 1e-6);
  EXPECT_EQ(first[0]->begin, tasks[1]->begin);
  EXPECT_EQ(first[0]->end - first[0]->begin, microsecond);
  EXPECT_EQ(second[0]->begin, first[0]->begin);
  EXPECT_EQ(first[1]->begin, first[0]->end);
  EXPECT_EQ(first[1]->end, tasks[1]->end);
}

// Two streams copy at the same time, so that the second waits for the engine.
TEST(TraceOfARun, CopiesShowTheirEngineAndTheCallOfTheHost) {
  config::ChipConfig chip = test::round_chip(isa::Arch::c100);
  chip.host.enqueue = config::Seconds(1e-7);
  task::TaskStream stream;
  stream.arch = chip.arch;
  stream.buffers.resize(2);
  for (task::Buffer& b : stream.buffers) {
    b.name = &b == stream.buffers.data() ? "h" : "d";
    b.place = &b == stream.buffers.data() ? task::Buffer::Place::host : task::Buffer::Place::device;
    b.bytes = 1 << 16;
  }
  const task::MemcpyAsync in{.dst = {1}, .src = {0}, .width = 1 << 16, .dst_pitch = 1 << 16, .src_pitch = 1 << 16};
  const task::MemcpyAsync out{.dst = {0}, .src = {1}, .width = 1 << 16, .dst_pitch = 1 << 16, .src_pitch = 1 << 16};
  stream.streams = {{.name = "a", .tasks = {{.name = "in0", .op = in}}},
                    {.name = "b", .tasks = {{.name = "in1", .op = in}, {.name = "out", .op = out}}}};
  task::RunMemory memory(stream, true);
  test::Recorder recorder;
  models::simulate(chip, stream, memory, {.trace = &recorder, .progress = {}});

  std::map<std::string, std::vector<std::string>> lanes;
  std::map<std::string, const test::Seen*> tasks, engines;
  for (const test::Seen& s : recorder.spans()) {
    if (s.core != "device") continue;
    lanes[s.pipe].push_back(s.name);
    (s.pipe.starts_with("stream") ? tasks : engines)[s.name] = &s;
  }
  EXPECT_EQ(lanes, (std::map<std::string, std::vector<std::string>>{{"stream a", {"in0"}},
                                                                    {"stream b", {"in1", "out"}},
                                                                    {"DMA host to device", {"in0", "in1"}},
                                                                    {"DMA device to host", {"out"}}}));
  EXPECT_EQ(engines["in0"]->end, engines["in1"]->begin);
  for (const auto& [name, task] : tasks) {
    EXPECT_EQ(engines[name]->begin, task->begin) << name;
    EXPECT_EQ(engines[name]->done, task->end) << name;
  }
  ASSERT_EQ(recorder.arrows().size(), 3u);
  for (const test::Arrow& a : recorder.arrows()) {
    EXPECT_EQ(a.from, "host.enqueue");
    EXPECT_TRUE(std::ranges::any_of(recorder.spans(), [&](const test::Seen& s) {
      return s.core == "host" && s.begin <= a.begin && a.begin < s.end;
    })) << a.begin;
    EXPECT_TRUE(std::ranges::any_of(tasks, [&](const auto& t) {
      return "device." + t.second->pipe == a.to && t.second->begin == a.end;
    })) << a.to;
  }
}

TEST_F(TraceFile, ChromeTraceOfARun) {
  test::Recorder recorder;
  ChromeTrace chrome(path_, 1e9);
  Tee both({&chrome, &recorder});
  run_pipeline(both);
  chrome.commit();

  std::map<std::pair<int, int>, std::string> names;
  for (const Json& e : events("M")) {
    if (e.at("name") == "thread_name") names[{e.at("pid"), e.at("tid")}] = e.at("args").at("name");
  }
  const auto spans = events("X");
  ASSERT_EQ(spans.size(), recorder.spans().size());
  for (usize i = 0; i < spans.size(); ++i) {
    const Json& e = spans[i];
    const test::Seen& s = recorder.spans()[i];
    EXPECT_EQ(e.at("name"), s.name);
    EXPECT_EQ((names.at({e.at("pid"), e.at("tid")})), s.pipe);
    EXPECT_DOUBLE_EQ(e.at("ts").get<double>(), static_cast<double>(s.begin) / 1000);  // 1 GHz: a cycle is 1 ns
    EXPECT_DOUBLE_EQ(e.at("dur").get<double>(), static_cast<double>(s.end - s.begin) / 1000);
    EXPECT_EQ(e.at("args").at("begin_cycle"), s.begin);
    EXPECT_EQ(e.at("args").at("done_cycle"), s.done);
  }
  // Every arrow has one beginning and one end with the same id.
  std::map<int, std::pair<int, int>> flows;
  for (const Json& e : events("s"))
    ++flows[e.at("id")].first;
  for (const Json& e : events("f"))
    ++flows[e.at("id")].second;
  EXPECT_EQ(flows.size(), recorder.arrows().size());
  for (const auto& [id, ends] : flows)
    EXPECT_EQ(ends, std::pair(1, 1)) << "flow " << id;
}

TEST_F(TraceFile, ChromeTraceGroupsLanes) {
  ChromeTrace chrome(path_, 1e9);
  const TrackId a = chrome.track("core0", "V");
  const TrackId b = chrome.track("core1", "V");
  const TrackId c = chrome.track("core0", "M");
  for (const TrackId t : {a, b, c})
    chrome.span({.track = t, .name = "x", .begin = 1, .end = 2});
  chrome.commit();
  const auto spans = events("X");
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].at("pid"), 1);
  EXPECT_EQ(spans[0].at("tid"), 1);
  EXPECT_EQ(spans[1].at("pid"), 2);
  EXPECT_EQ(spans[1].at("tid"), 1);
  EXPECT_EQ(spans[2].at("pid"), 1);
  EXPECT_EQ(spans[2].at("tid"), 2);
}

TEST_F(TraceFile, ChromeTraceEscapesNames) {
  ChromeTrace chrome(path_, 1e9);
  const std::string hard = "a \"b\" \\ c\n\t\x01 \xc3\xa9";
  const TrackId t = chrome.track(hard, hard);
  chrome.span({.track = t, .name = hard, .begin = 1, .end = 2, .detail = hard, .source = hard, .line = 7});
  chrome.span({.track = t, .name = "\xff", .begin = 2, .end = 3});  // no UTF-8
  chrome.flow(t, 1, t, 2, hard);
  chrome.commit();
  const auto spans = events("X");
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].at("name"), hard);
  EXPECT_EQ(spans[0].at("args").at("detail"), hard);
  EXPECT_EQ(spans[0].at("args").at("code"), hard + ":7");
  EXPECT_EQ(spans[1].at("name"), "\xef\xbf\xbd");
  ASSERT_EQ(events("s").size(), 1u);
  EXPECT_EQ(events("s")[0].at("name"), hard);
}

TEST_F(TraceFile, ChromeTraceNeighboursTouchAtAnyClock) {
  ChromeTrace chrome(path_, 1.85e9);  // cycles are no whole number of nanoseconds
  const TrackId t = chrome.track("g", "l");
  for (u64 i = 0; i < 1000; ++i)
    chrome.span({.track = t, .name = "x", .begin = i, .end = i + 1});
  chrome.commit();
  const auto ns = [](const Json& e, const char* key) { return std::llround(e.at(key).get<double>() * 1000); };
  const auto spans = events("X");
  ASSERT_EQ(spans.size(), 1000u);
  for (usize i = 1; i < spans.size(); ++i)
    ASSERT_EQ(ns(spans[i - 1], "ts") + ns(spans[i - 1], "dur"), ns(spans[i], "ts")) << i;
  EXPECT_EQ(ns(spans[925], "ts"), 500);
}

TEST_F(TraceFile, ChromeTraceWithoutCommitLeavesNothing) {
  {
    ChromeTrace chrome(path_, 1e9);
    chrome.track("g", "l");
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(TraceFile, LongChromeTracesAreWhole) {
  ChromeTrace chrome(path_, 1e9);
  const TrackId t = chrome.track("g", "l");
  constexpr u64 kSpans = 20000;  // several buffers
  for (u64 i = 0; i < kSpans; ++i)
    chrome.span({.track = t, .name = "x", .begin = i, .end = i + 1, .detail = std::string(100, 'd')});
  chrome.commit();
  EXPECT_EQ(events("X").size(), kSpans);
}

TEST_F(TraceFile, CsvHasARowForEachInstruction) {
  InstructionCsv csv(path_);
  const TrackId v = csv.track("core0.AIV", "V");
  const TrackId s = csv.track("device", "stream a, b");
  csv.span({.track = v,
            .name = "vadd",
            .queued = 1,
            .begin = 2,
            .end = 3,
            .done = 4,
            .detail = "vadd.f16 dst=0x0",
            .source = "k.s",
            .line = 9});
  csv.span({.track = s, .name = "task", .begin = 5, .end = 6});  // no instruction
  csv.span({.track = s, .name = "x", .detail = "say \"a\", b", .source = "f,1.s", .line = 1});
  csv.commit();
  EXPECT_EQ(text(),
            "core,pipe,instr,queued,begin,end,done,code,detail\n"
            "core0.AIV,V,vadd,1,2,3,4,k.s:9,vadd.f16 dst=0x0\n"
            "device,\"stream a, b\",x,0,0,0,0,\"f,1.s:1\",\"say \"\"a\"\", b\"\n");
}

TEST_F(TraceFile, CsvOfARunListsEveryRetiredInstruction) {
  test::Recorder recorder;
  InstructionCsv csv(path_);
  Tee both({&csv, &recorder});
  run_pipeline(both);
  csv.commit();
  std::istringstream in(text());
  std::string line;
  usize rows = 0, adds = 0;
  while (std::getline(in, line)) {
    ++rows;
    if (line.find(",vadds,") != std::string::npos) ++adds;
  }
  const auto with_source = std::ranges::count_if(recorder.spans(), [](const auto& s) { return !s.source.empty(); });
  EXPECT_EQ(rows, 1u + static_cast<usize>(with_source));
  EXPECT_EQ(adds, 2u * 3 * 3);
}

}  // namespace
}  // namespace vinci::trace
