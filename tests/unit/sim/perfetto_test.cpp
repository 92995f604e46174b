// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "sim/task/run_memory.h"
#include "sim/trace/instruction_csv.h"
#include "sim/trace/perfetto_trace.h"
#include "tests/support/expected.h"
#include "tests/support/timed_run.h"

namespace vinci::trace {
namespace {

// A message as `protoc --decode` prints it: fields in the order of the file, a message inside a message as one of them.
struct Message {
  std::multimap<std::string, std::string> values;
  std::multimap<std::string, Message> messages;

  bool has(const std::string& key) const { return values.contains(key) || messages.contains(key); }
  std::string text(const std::string& key) const {
    const auto it = values.find(key);
    return it == values.end() ? "" : it->second;
  }
  u64 number(const std::string& key) const { return std::stoull(text(key)); }
  const Message& message(const std::string& key) const { return messages.find(key)->second; }
};

Message read_message(std::istream& in) {
  Message out;
  for (std::string line; std::getline(in, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line == "}") return out;
    if (line.ends_with(" {")) {
      out.messages.emplace(line.substr(0, line.size() - 2), read_message(in));
      continue;
    }
    const usize colon = line.find(": ");
    std::string value = line.substr(colon + 2);
    if (value.starts_with('"')) value = value.substr(1, value.size() - 2);
    out.values.emplace(line.substr(0, colon), value);
  }
  return out;
}

// Files of this test alone, gone afterwards. protoc is the reader that we did not write.
class PerfettoFile : public testing::Test {
 protected:
  ~PerfettoFile() override { std::filesystem::remove(path_); }
  std::string decoded() const {
    const test::ShellResult r =
        test::shell(testing::TempDir(), "protoc -I '" VINCI_TEST_FOLDER
                                        "' --decode=perfetto.protos.Trace '" VINCI_TEST_FOLDER "/perfetto.proto' < '" +
                                            path_ + "'");
    EXPECT_EQ(r.exit_code, 0) << r.output;
    return r.output;
  }

  std::string path_ =
      testing::TempDir() + "vinci_perfetto_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".tmp";
};

// Unknown fields would show as numbers, so the text also says that nothing else is in the file.
TEST_F(PerfettoFile, IsATraceToTheLastField) {
  PerfettoTrace trace(path_, 2e9);
  const TrackId v = trace.track("core0.AIV", "V");
  const TrackId m = trace.track("core0.AIV", "MTE2");
  trace.span({.track = v,
              .name = "vadd",
              .queued = 1,
              .begin = 300,
              .end = 500,
              .done = 504,
              .detail = "vadd.f16 dst=0x0",
              .source = "k.s",
              .line = 9});
  trace.span({.track = v, .name = "vadd", .queued = 500, .begin = 500, .end = 500, .done = 500});
  trace.flow(m, 100, v, 300, "EVENT_ID0");
  trace.commit();
  test::expect_text(decoded(), VINCI_TEST_FOLDER "/perfetto.expected");
}

// A pipeline of copies and vector instructions handed over by flags, on two cores, three blocks of three rounds.
const char* kPipeline = R"(
  mov X1, 3
loop:
  wait_flag PIPE_S, PIPE_MTE2, 0
  copy_gm_to_ubuf 0, 0x100000000, 0, 1, 16, 0, 0
  set_flag PIPE_MTE2, PIPE_V, 0
  wait_flag PIPE_MTE2, PIPE_V, 0
  vadds.f16 0, 0, 1.0h, 4, 1, 1, 8, 8
  set_flag PIPE_V, PIPE_S, 0
  set_flag PIPE_S, PIPE_MTE2, 0
  wait_flag PIPE_V, PIPE_S, 0
  sub X1, X1, 1
  bgt X1, 0, loop
  end
)";

TEST_F(PerfettoFile, SaysOfARunWhatTheSimulationShowed) {
  config::ChipConfig chip = test::round_chip(isa::Arch::c100);
  chip.ai_cores = 2;
  const task::TaskStream stream = test::kernel_stream(chip, kPipeline, {.blocks = 3});
  task::RunMemory memory(stream, true);
  test::Recorder recorder;
  PerfettoTrace perfetto(path_, 1e9);  // a cycle is a nanosecond
  Tee both({&perfetto, &recorder});
  models::simulate(chip, stream, memory, {.trace = &both, .progress = {}});
  perfetto.commit();

  struct Lane {
    std::string name;
    u64 parent = 0;
  };
  std::map<u64, Lane> lanes;
  std::map<u64, std::string> names, notes, values;
  std::map<u64, std::pair<u64, u64>> flows;          // id -> from, to
  std::vector<std::string> seen;                     // "core lane name begin end detail"
  std::map<u64, std::pair<u64, std::string>> begun;  // by track: a slice whose end comes next
  std::istringstream in(decoded());
  const Message trace = read_message(in);
  for (auto [it, end] = trace.messages.equal_range("packet"); it != end; ++it) {
    const Message& packet = it->second;
    if (packet.has("track_descriptor")) {
      const Message& d = packet.message("track_descriptor");
      lanes[d.number("uuid")] = {d.text("name"), d.has("parent_uuid") ? d.number("parent_uuid") : 0};
    }
    if (packet.has("interned_data")) {
      const auto learn = [&](const std::string& field, std::map<u64, std::string>& into) {
        const Message& data = packet.message("interned_data");
        for (auto [e, last] = data.messages.equal_range(field); e != last; ++e)
          into[e->second.number("iid")] = e->second.text("str");
      };
      learn("event_names", names);
      learn("debug_annotation_names", notes);
      learn("debug_annotation_string_values", values);
    }
    if (!packet.has("track_event")) continue;
    const Message& event = packet.message("track_event");
    const u64 at = packet.number("timestamp"), track = event.number("track_uuid");
    if (event.has("flow_ids")) flows[event.number("flow_ids")].first = at;
    if (event.has("terminating_flow_ids")) flows[event.number("terminating_flow_ids")].second = at;
    if (event.has("flow_ids") || event.has("terminating_flow_ids")) continue;
    const std::string type = event.text("type");
    if (type == "TYPE_SLICE_END") {
      const auto& [since, text] = begun.at(track);
      seen.push_back(text + " " + std::to_string(since) + " " + std::to_string(at));
      begun.erase(track);
      continue;
    }
    std::string detail;
    for (auto [n, last] = event.messages.equal_range("debug_annotations"); n != last; ++n) {
      if (notes.at(n->second.number("name_iid")) == "detail") detail = values.at(n->second.number("string_value_iid"));
    }
    const Lane& lane = lanes.at(track);
    std::string text =
        lanes.at(lane.parent).name + " " + lane.name + " " + names.at(event.number("name_iid")) + " " + detail;
    if (type == "TYPE_SLICE_BEGIN") {
      EXPECT_FALSE(begun.contains(track)) << "a slice inside another: " << text;
      begun[track] = {at, text};
    } else {
      EXPECT_EQ(type, "TYPE_INSTANT");
      seen.push_back(text + " " + std::to_string(at) + " " + std::to_string(at));
    }
  }
  EXPECT_TRUE(begun.empty());
  std::vector<std::string> shown;
  for (const test::Seen& s : recorder.spans())
    shown.push_back(s.core + " " + s.pipe + " " + s.name + " " + s.detail + " " + std::to_string(s.begin) + " " +
                    std::to_string(s.end));
  EXPECT_GT(shown.size(), 50u);
  EXPECT_EQ(seen, shown);
  ASSERT_EQ(flows.size(), recorder.arrows().size());
  for (usize i = 0; i < flows.size(); ++i)
    EXPECT_EQ(flows.at(i + 1), std::pair(recorder.arrows()[i].begin, recorder.arrows()[i].end)) << i;
}

// What is not interned any more is written in full, and nothing is lost.
TEST_F(PerfettoFile, ManyStringsNeedNoMoreMemory) {
  constexpr u64 kEvents = 70'000;
  PerfettoTrace trace(path_, 1e9);
  const TrackId v = trace.track("g", "l");
  for (u64 i = 0; i < kEvents; ++i)
    trace.span({.track = v, .name = "x", .begin = i, .end = i + 1, .detail = "d" + std::to_string(i)});
  trace.commit();
  const std::string text = decoded();
  const auto count = [&](std::string_view what) {
    usize n = 0;
    for (usize at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++n;
    return n;
  };
  EXPECT_EQ(count("TYPE_SLICE_BEGIN"), kEvents);
  EXPECT_EQ(count("string_value_iid: "), 65536u);
  EXPECT_EQ(count("string_value: "), kEvents - 65536u);
  EXPECT_NE(text.find("string_value: \"d69999\""), std::string::npos);
}

TEST_F(PerfettoFile, WithoutCommitLeavesNothing) {
  {
    PerfettoTrace trace(path_, 1e9);
    trace.track("g", "l");
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace vinci::trace
