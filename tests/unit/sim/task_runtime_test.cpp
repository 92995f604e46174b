// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Models, labels, notifies, collectives, devices and the host program in both spellings.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "tests/unit/sim/task_round_trip.h"
#include "tests/unit/sim/task_runtime_sample.h"

namespace vinci::task {
namespace {

using test::expect_round_trip;
using test::kRuntimeSample;
using test::parse_text;
using test::parse_vts;
using test::refusal;
using testing::ElementsAre;

const Stream& stream(const TaskStream& s, std::string_view name) {
  return *std::ranges::find(s.streams, name, &Stream::name);
}

template <class Op>
const Op& op(const TaskStream& s, std::string_view stream_name, usize task) {
  return std::get<Op>(stream(s, stream_name).tasks.at(task).op);
}

TEST(TaskRuntime, TheTopMeansWhatItSays) {
  const TaskStream s = parse_text(kRuntimeSample);
  EXPECT_EQ(s.devices, 3u);
  EXPECT_TRUE(s.buffers[0].pageable);
  EXPECT_EQ(s.buffers[2].device, 1u);
  EXPECT_EQ(s.buffers[1].l2, CacheHint::normal);
  EXPECT_EQ(s.buffers[2].l2, CacheHint::bypass);
  EXPECT_EQ(s.buffers[3].l2, CacheHint::no_allocate);
  EXPECT_TRUE(s.kernels[0].opaque());
  EXPECT_EQ(s.kernels[0].seconds, 120e-6);
  EXPECT_THAT(s.events, ElementsAre("unused", "go"));
  EXPECT_THAT(s.notifies, ElementsAre("unused", "peer"));
  EXPECT_THAT(s.labels, ElementsAre("unused", "top", "out"));
  EXPECT_THAT(s.models, ElementsAre("spare", "step"));
  EXPECT_THAT(s.comms, ElementsAre(Comm{.name = "two", .devices = {1, 2}}));
  EXPECT_EQ(stream(s, "other").device, 1u);
  EXPECT_EQ(stream(s, "other").priority, 7u);
  EXPECT_EQ(stream(s, "other").model, kNone);
  EXPECT_EQ(stream(s, "main").model, 1u);
  EXPECT_TRUE(stream(s, "main").head);
  EXPECT_EQ(stream(s, "side").model, 1u);
  EXPECT_FALSE(stream(s, "side").head);
}

TEST(TaskRuntime, TasksMeanWhatTheySay) {
  const TaskStream s = parse_text(kRuntimeSample);
  EXPECT_EQ(op<NotifyRecord>(s, "other", 1), NotifyRecord{1});
  EXPECT_EQ(op<NotifyWait>(s, "run", 0), NotifyWait{1});
  EXPECT_EQ(op<ModelExecute>(s, "run", 1), ModelExecute{1});
  EXPECT_EQ(op<EventReset>(s, "run", 2), EventReset{1});
  EXPECT_EQ(op<LabelSet>(s, "main", 0), LabelSet{1});
  const Hccl broadcast{.op = Hccl::Op::broadcast,
                       .recv = {4, 8},
                       .count = 3,
                       .type = ElementType::int16,
                       .root = 1,
                       .algorithm = Hccl::Algorithm::ring};
  EXPECT_EQ(op<Hccl>(s, "main", 2), broadcast);
  const Hccl all_reduce{.send = {4, 0},
                        .recv = {4, 0},
                        .count = 5,
                        .type = ElementType::bfloat16,
                        .reduce = Hccl::Reduce::max,
                        .algorithm = Hccl::Algorithm::hierarchical};
  EXPECT_EQ(op<Hccl>(s, "main", 3), all_reduce);
  EXPECT_EQ(stream(s, "main").tasks[3].name, "hccl_all_reduce");
  const ReduceAsync reduce{{4, 16}, {2, 32}, 24, ReduceAsync::Kind::MAX, ElementType::float16};
  EXPECT_EQ(op<ReduceAsync>(s, "main", 4), reduce);
  const CpuKernelLaunch cpu{"AssignAdd", 2, {Arg(Slice{3, 8}), Arg(u64{1})}, 3e-3};
  EXPECT_EQ(op<CpuKernelLaunch>(s, "main", 5), cpu);
  EXPECT_EQ(stream(s, "main").tasks[5].name, "AssignAdd");
  const StreamSwitch branch{{3, 8}, {3, 16}, Condition::LESS, 8, 4};
  EXPECT_EQ(op<StreamSwitch>(s, "main", 6), branch);
  const LabelSwitch jump{{3, 4}, {1, 2}};
  EXPECT_EQ(op<LabelSwitch>(s, "main", 7), jump);
  EXPECT_EQ(op<LabelGoto>(s, "main", 9), LabelGoto{1});
  EXPECT_EQ(op<ModelEndGraph>(s, "side", 0), ModelEndGraph{1});
}

TEST(TaskRuntime, TheHostProgramMeansWhatItSays) {
  const TaskStream s = parse_text(kRuntimeSample);
  EXPECT_THAT(s.host.semaphores, ElementsAre(Semaphore{"free", 2}, Semaphore{"ready", 0}));
  ASSERT_EQ(s.host.threads.size(), 2u);
  EXPECT_EQ(s.host.threads[0].name, "loader");
  EXPECT_THAT(
      s.host.threads[0].steps,
      ElementsAre(HostStep(HostRepeat{10, 7}), HostStep(HostRepeat{2, 2}), HostStep(HostWait{0}),
                  HostStep(HostCompute{3e-3, "preprocess"}), HostStep(HostCompute{2e-6, ""}), HostStep(HostPost{1}),
                  HostStep(HostEnqueue{5, 0, 1}), HostStep(HostEnqueue{5, 1}), HostStep(HostEnqueue{1})));
  EXPECT_THAT(
      s.host.threads[1].steps,
      ElementsAre(HostStep(HostRepeat{20, 1}), HostStep(HostPost{0}), HostStep(HostWait{1}), HostStep(HostEnqueue{2}),
                  HostStep(SynchronizeEvent{1}), HostStep(SynchronizeStream{2}), HostStep(SynchronizeDevice{2})));
}

TEST(TaskRuntime, RoundTrip) {
  const TaskStream s = parse_text(kRuntimeSample);
  expect_round_trip(s);
  // What the two spellings agree to lose would go unseen above.
  EXPECT_EQ(parse_text(to_yaml(s)).streams, s.streams);
  EXPECT_EQ(parse_text(to_yaml(s)).host, s.host);
}

TEST(TaskRuntime, TheWorldNeedsNoDeclaration) {
  const TaskStream s = parse_text(R"(vinci: 1
name: world
arch: c220
devices: 2
buffers:
  a: {place: device, bytes: 64}
  b: {place: device, bytes: 64, device: 1}
streams:
  s0: [{hccl: {op: all_gather, send: a, recv: a, count: 8, dtype: f4}}]
  s1: {device: 1, tasks: [{hccl: {op: all_gather, comm: world, send: {buffer: b, offset: 32}, recv: b, count: 8, dtype: f4}}]}
)");
  EXPECT_THAT(s.comms, ElementsAre(Comm{.name = "world", .devices = {0, 1}}));
  expect_round_trip(s);
}

// All examples of the manual are whole files.
TEST(TaskRuntime, TheExamplesOfTheManualLoad) {
  std::ifstream in(VINCI_TASK_MANUAL);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  int examples = 0;
  constexpr std::string_view kFence = "```yaml\n";
  for (usize at = text.find(kFence); at != std::string::npos; at = text.find(kFence, at + 1)) {
    const usize begin = at + kFence.size();
    expect_round_trip(parse_text(text.substr(begin, text.find("```", begin) - begin)));
    ++examples;
  }
  EXPECT_EQ(examples, 4);
}

// Places inside a .vts, and rules that YAML cannot break.
std::string vts_refusal(void (*damage)(TaskStream&)) {
  TaskStream s = parse_text(kRuntimeSample);
  damage(s);
  return refusal([&] { parse_vts(to_vts(s)); });
}

TEST(TaskRuntime, MessagesNameThePathInsideAVts) {
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.devices = 0; }).substr(0, 49),
            "t.vts: buffers[0].device: device 0 does not exist");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.streams[1].device = 3; }).substr(0, 53),
            "t.vts: streams[1].device: device 3 does not exist; th");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.streams[1].priority = 8; }),
            "t.vts: streams[1].priority: priority = 8 is not in [0, 7]");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.streams[0].model = 9; }),
            "t.vts: streams[0].model: model 9 does not exist; there are 2");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { std::get<StreamSwitch>(s.streams[3].tasks[6].op).bytes = 2; }),
            "t.vts: streams[3].tasks[6].stream_switch.dtype: stream_switch of integers of 2 bytes; they have 4 or 8");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { std::get<Hccl>(s.streams[3].tasks[3].op).root = 1; }),
            "t.vts: streams[3].tasks[3].hccl.root: hccl: 'root' is a key of broadcast");
  EXPECT_EQ(
      vts_refusal([](TaskStream& s) { std::get<Hccl>(s.streams[3].tasks[3].op).type = static_cast<ElementType>(9); }),
      "t.vts: streams[3].tasks[3].hccl.dtype: value 9 is not in [0, 8]");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.kernels[0].seconds = -1; }),
            "t.vts: kernels[0].time: kernel 'body': its time must be more than 0, at most 9000s");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { std::get<HostRepeat>(s.host.threads[0].steps[1]).length = 8; }),
            "t.vts: host.threads[0].steps[1].repeat.length: a repeat of 8 steps, but 6 follow");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { std::get<HostPost>(s.host.threads[0].steps[5]).semaphore = 2; }),
            "t.vts: host.threads[0].steps[5].post: semaphore 2 does not exist; there are 2");
}

}  // namespace
}  // namespace vinci::task
