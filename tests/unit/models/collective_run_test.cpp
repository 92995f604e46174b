// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "isa/base/random.h"
#include "isa/check/checker.h"
#include "models/soc/functional.h"
#include "models/soc/simulate.h"
#include "sim/task/run_memory.h"
#include "tests/support/timed_run.h"

// Tasks hccl of whole runs, timed and untimed.
namespace vinci::test {
namespace {

using Op = task::Hccl::Op;
using Algorithm = task::Hccl::Algorithm;

// Keeps what tests want to know of each task.
class Times final : public models::TaskSink {
 public:
  void task(const models::TaskRecord& r) override { of[std::string(r.name)] = r; }
  std::map<std::string, models::TaskRecord> of;
};

// One stream on each device that copies its input in, takes part in collectives and copies its output out.
class CollectiveRun : public testing::Test {
 protected:
  explicit CollectiveRun(u32 devices = 6) {
    stream_.arch = chip_.arch;
    stream_.devices = devices;
    task::Comm world{.name = "world"};
    for (u32 d = 0; d < devices; ++d)
      world.devices.push_back(d);
    stream_.comms.push_back(world);
    chip_.links.devices_per_node = 6;
    chip_.links.hccs_group = 4;
    chip_.links.collective_piece = config::Bytes(64);
    chip_.links.hccs_bandwidth = config::BytesPerSecond(10e9);
    chip_.links.hccs_latency = config::Seconds(200e-9);
    chip_.links.collective_start = config::Seconds(1000e-9);
  }

  u32 buffer(std::string name, u64 bytes, task::Buffer::Place place, u32 device = 0) {
    task::Buffer b;
    b.name = std::move(name);
    b.place = place;
    b.bytes = bytes;
    b.device = device;
    stream_.buffers.push_back(b);
    return static_cast<u32>(stream_.buffers.size() - 1);
  }
  static task::MemcpyAsync copy(u32 dst, u32 src, u64 bytes) {
    return {.dst = {.buffer = dst}, .src = {.buffer = src}, .width = bytes, .dst_pitch = bytes, .src_pitch = bytes};
  }
  // Buffers and a stream "s<d>" for each device; tasks "in<d>", "c<d>" and "out<d>".
  void build(const task::Hccl& op) {
    const u64 n = stream_.devices, one = op.count * task::element_bytes(op.type);
    const u64 send = op.op == Op::reduce_scatter || op.op == Op::all_to_all ? n * one : one;
    const u64 recv = op.op == Op::all_gather || op.op == Op::all_to_all ? n * one : one;
    Random random(11);
    for (u32 d = 0; d < n; ++d) {
      const u32 in = buffer(fmt::format("in{}", d), send, task::Buffer::Place::host);
      for (u64 i = 0; i < send / 4; ++i) {
        const float v = random.uniform();
        const auto bytes = std::bit_cast<std::array<std::byte, 4>>(v);
        stream_.buffers[in].data.insert(stream_.buffers[in].data.end(), bytes.begin(), bytes.end());
      }
      const u32 from = buffer(fmt::format("send{}", d), send, task::Buffer::Place::device, d);
      const bool in_place = op.op == Op::broadcast;
      const u32 to = in_place ? from : buffer(fmt::format("recv{}", d), recv, task::Buffer::Place::device, d);
      out_.push_back(buffer(fmt::format("out{}", d), recv, task::Buffer::Place::host));
      task::Hccl mine = op;
      mine.send.buffer = from;
      mine.recv.buffer = to;
      task::Stream s{.name = fmt::format("s{}", d), .device = d};
      s.tasks.push_back({.name = fmt::format("in{}", d), .op = copy(from, in, send)});
      s.tasks.push_back({.name = fmt::format("c{}", d), .op = mine});
      s.tasks.push_back({.name = fmt::format("out{}", d), .op = copy(out_.back(), to, recv)});
      stream_.streams.push_back(s);
    }
  }

  std::vector<std::vector<float>> outputs(const task::RunMemory& memory) const {
    std::vector<std::vector<float>> all;
    for (const u32 b : out_) {
      const auto bytes = memory.host(b);
      all.emplace_back(bytes.size() / 4);
      std::memcpy(all.back().data(), bytes.data(), bytes.size());
    }
    return all;
  }
  std::vector<std::vector<float>> timed() {
    task::RunMemory memory(stream_, true);
    result_ = models::simulate(chip_, stream_, memory, {.tasks = &times_});
    return outputs(memory);
  }
  std::vector<std::vector<float>> untimed() const {
    task::RunMemory memory(stream_, true);
    models::run_functional(chip_, stream_, memory, {});
    return outputs(memory);
  }
  const models::TaskRecord& of(const std::string& name) const { return times_.of.at(name); }
  // The message of both runners, which is the same but for the cycle in its first line.
  static std::string after_first_line(const std::string& message) { return message.substr(message.find('\n') + 1); }
  std::string error(Fault fault) {
    std::string text;
    for (const bool in_time : {true, false}) {
      try {
        in_time ? timed() : untimed();
        ADD_FAILURE() << "no error";
      } catch (const Error& e) {
        EXPECT_EQ(e.fault(), fault);
        if (!in_time) {
          EXPECT_EQ(text, after_first_line(e.message()));
        }
        text = after_first_line(e.message());
      }
    }
    return text;
  }

  config::ChipConfig chip_ = round_chip(isa::Arch::c100);
  task::TaskStream stream_;
  std::vector<u32> out_;
  models::Result result_;
  Times times_;
};

// The sums of random floats depend on the order, which must not depend on time.
TEST_F(CollectiveRun, TimedAndUntimedGiveTheSameBits) {
  for (const Op op : {Op::all_reduce, Op::all_gather, Op::reduce_scatter, Op::broadcast, Op::all_to_all}) {
    std::vector<std::vector<float>> mesh;
    for (const Algorithm algorithm : {Algorithm::mesh, Algorithm::automatic, Algorithm::ring,
                                      Algorithm::halving_doubling, Algorithm::hierarchical}) {
      stream_.buffers.clear();
      stream_.streams.clear();
      out_.clear();
      build({.op = op, .count = 50, .root = op == Op::broadcast ? 4u : 0u, .algorithm = algorithm});
      const auto in_time = timed();
      EXPECT_EQ(in_time, untimed());
      if (mesh.empty()) mesh = in_time;
      ASSERT_EQ(in_time.size(), mesh.size());
      for (usize r = 0; r < mesh.size(); ++r)
        EXPECT_THAT(in_time[r], testing::Pointwise(testing::FloatNear(1e-5f), mesh[r]));
      EXPECT_NE(mesh[1], std::vector<float>(mesh[1].size()));
      if (op == Op::all_reduce || op == Op::broadcast) {
        EXPECT_EQ(in_time[0], in_time[5]);
      }
    }
  }
}

class PairRun : public CollectiveRun {
 protected:
  PairRun() : CollectiveRun(2) {}
};

TEST_F(PairRun, ItTakesStartWireAndLatencyFromTheLastThatComes) {
  chip_.links.collective_piece = config::Bytes(1 << 20);
  build({.op = Op::all_gather, .count = 1000});  // 4000 bytes each way at 10 B a cycle
  auto& late = stream_.streams[1].tasks;
  late.insert(late.begin(), late.front());
  late.front().name = "before";
  timed();
  EXPECT_EQ(of("c0").kind, "COMMUNICATION");
  EXPECT_EQ(of("c0").bytes, 4000u);
  const u64 last = std::max(of("in0").end, of("in1").end);
  EXPECT_NE(of("in0").end, of("in1").end);
  EXPECT_EQ(of("c0").end, last + 1000 + 400 + 200);
  EXPECT_EQ(of("c1").end, of("c0").end);
  EXPECT_EQ(result_.stats["links"]["hccs.0-1"]["bytes"], 4000);
  EXPECT_EQ(result_.stats["links"]["hccs.1-0"]["busy"], 400);
}

TEST_F(PairRun, ACopyBetweenDevicesSharesTheLink) {
  chip_.links.collective_piece = config::Bytes(1 << 20);
  build({.op = Op::all_gather, .count = 1000});
  // The copy, of 100,000 cycles, has taken the link from 0 to 1 when the collective comes.
  const u32 from = buffer("from", 1'000'000, task::Buffer::Place::device, 0);
  const u32 to = buffer("to", 1'000'000, task::Buffer::Place::device, 1);
  stream_.streams.push_back({.name = "copies", .tasks = {{.name = "copy", .op = copy(to, from, 1'000'000)}}});
  timed();
  ASSERT_LT(of("copy").start, of("c0").end);
  EXPECT_EQ(of("copy").end, of("copy").start + 100'000 + 200);
  EXPECT_EQ(of("c1").end, of("copy").start + 100'000 + 400 + 200);
  EXPECT_EQ(result_.stats["links"]["hccs.0-1"]["bytes"], 1'004'000);
}

TEST_F(PairRun, TheNthCollectivesOfEachRankBelongTogether) {
  build({.op = Op::all_reduce, .count = 8});
  for (task::Stream& s : stream_.streams) {  // r += r of the other, three times over
    const task::Task collective = s.tasks[1];
    for (u32 again = 0; again < 2; ++again) {
      task::Task next = collective;
      auto& op = std::get<task::Hccl>(next.op);
      op.send = op.recv;
      s.tasks.insert(s.tasks.end() - 1, next);
    }
  }
  const auto all = timed();
  EXPECT_EQ(all, untimed());
  std::vector<float> want(8);
  for (usize i = 0; i < 8; ++i) {
    std::array<float, 2> in{};
    for (u32 d = 0; d < 2; ++d)
      std::memcpy(&in[d], &stream_.buffers[d * 4].data[i * 4], 4);
    want[i] = 4 * (in[0] + in[1]);
  }
  EXPECT_EQ(all[0], want);
  EXPECT_EQ(all[1], want);
}

TEST_F(CollectiveRun, ARankThatNeverComesIsADeadlockThatNamesIt) {
  build({.op = Op::all_reduce, .count = 8});
  stream_.streams[3].tasks.erase(stream_.streams[3].tasks.begin() + 1);
  stream_.streams[5].tasks.erase(stream_.streams[5].tasks.begin() + 1);
  EXPECT_THAT(
      error(Fault::Deadlock),
      testing::HasSubstr(
          "waits in task 'c4' (streams[4].tasks[1]) for npu3, npu5 in all_reduce, collective 0 of comm 'world'"));
}

TEST_F(PairRun, RanksThatMeetMustMeanTheSame) {
  build({.op = Op::all_reduce, .count = 8});
  std::get<task::Hccl>(stream_.streams[1].tasks[1].op).count = 7;
  EXPECT_THAT(error(Fault::Program),
              testing::AllOf(testing::HasSubstr("npu0: task 'c0' of stream '"),
                             testing::HasSubstr("(streams[0].tasks[1]) is all_reduce (sum) of 8 f4"),
                             testing::HasSubstr("npu1: task 'c1' of stream '"),
                             testing::HasSubstr("(streams[1].tasks[1]) is all_reduce (sum) of 7 f4")));
}

TEST_F(PairRun, WithoutDataTheTimeIsTheSame) {
  build({.op = Op::all_reduce, .count = 5000});
  timed();
  const u64 cycles = result_.cycles;
  task::RunMemory memory(stream_, false);
  EXPECT_EQ(models::simulate(chip_, stream_, memory, {}).cycles, cycles);
}

TEST_F(PairRun, ACollectiveOrdersWhatIsBeforeAndAfterItOnAllRanks) {
  // Device 1 reads what device 0 wrote before the collective; without the collective this is a race.
  for (const bool with : {true, false}) {
    stream_.buffers.clear();
    stream_.streams.clear();
    out_.clear();
    build({.op = Op::all_reduce, .count = 8});
    const u32 sink = buffer("sink", 32, task::Buffer::Place::device, 1);
    stream_.streams[1].tasks.push_back({.name = "read", .op = copy(sink, 1, 32)});
    if (!with) {
      for (task::Stream& s : stream_.streams)
        s.tasks.erase(s.tasks.begin() + 1, s.tasks.begin() + 3);
    }
    task::RunMemory memory(stream_, true);
    isa::check::Checker checker(memory.gm());
    models::run_functional(chip_, stream_, memory, {.checker = &checker});
    EXPECT_EQ(checker.findings().empty(), with);
  }
}

}  // namespace
}  // namespace vinci::test
