// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/stream_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "isa/builder/program_builder.h"
#include "sim/task/task.h"
#include "sim/task/write.h"
#include "tests/unit/sim/task_sample.h"

namespace vinci::task {
namespace {

using isa::Arch;
using isa::ProgramBuilder;
using test::parse_text;
using test::refusal;
using testing::HasSubstr;

isa::BuiltProgram add_one() {
  ProgramBuilder p("add_one", Arch::c220);
  const isa::Reg x = p.arg("x");
  p.comment("one element");
  p.add(x, x, 1);
  p.end();
  return p.finish();
}

// A task stream with most of what the builder offers.
BuiltStream everything() {
  StreamBuilder s("all", Arch::c220, 2, "All that there is");
  const std::array<float, 4> values{1, 2, 3, 4};
  const BufferRef in = s.host_data<float>("in", "f4", values, {2, 2});
  const BufferRef raw = s.host({.name = "raw", .data = {std::byte{1}, std::byte{2}}, .pageable = true});
  const BufferRef out = s.host({.name = "out", .output = "out.npy", .dtype = "f4", .shape = {4}});
  const BufferRef a = s.device("a", 16), b = s.device("b", 64, 1, CacheHint::bypass), c = s.device("c", 64);
  const KernelRef add = s.kernel("add", KernelType::AIV_ONLY, add_one());
  const KernelRef cube = s.opaque_kernel("cube", KernelType::AIC_ONLY, 2e-6);
  const EventRef ready = s.event("ready");
  const NotifyRef peer = s.notify("peer");
  const ModelRef graph = s.model("graph");
  StreamRef main = s.stream("main");
  main.memcpy(a, in)
      .memcpy(c + 62, raw)
      .memcpy_2d(c, 16, in, 8, 8, 2, "rows")
      .memset(c + 32, 7)
      .launch(add, 3, {a, c + 8, -1, 5u}, "first")
      .launch_mix(cube, add, 2, 4, {a})
      .launch_cpu("Assign", {c, c + 8, 1, 9})
      .record(ready)
      .execute(graph)
      .memcpy(out, a);
  StreamRef other = s.stream("other", {.device = 1, .priority = 3});
  other.record(peer).memset(b, 0).add(Free{b.index}, "gone");
  StreamRef head = s.stream("head", {.model = graph}), tail = s.stream("tail", {.model = graph, .head = false});
  head.wait(peer).activate(tail);
  tail.end_graph(graph);
  const SemaphoreRef slots = s.semaphore("slots", 2);
  ThreadRef thread = s.thread("thread");
  thread.enqueue(main, 0, 2).enqueue(other).repeat(3, [&] {
    thread.wait(slots).compute(1e-6, "work").repeat(2, [&] { thread.synchronize_device(1); }).post(slots);
  });
  thread.enqueue(main, 2).synchronize(main).synchronize(ready);
  return s.finish();
}

constexpr std::string_view kEverything = R"(vinci: 1
name: all
arch: c220
devices: 2
buffers:
  in: {place: host, dtype: f4, shape: [2, 2], data: "0000803f 00000040 00004040 00008040"}
  raw: {place: host, data: "0102", pageable: true}
  out: {place: host, dtype: f4, shape: [4], output: out.npy}
  a: {place: device, bytes: 16}
  b: {place: device, bytes: 64, device: 1, l2: bypass}
  c: {place: device, bytes: 64}
kernels:
  add: {type: AIV_ONLY, code: "ld_arg X0, 0\nadd X0, X0, 1\nend"}
  cube: {type: AIC_ONLY, time: 2us}
events: [ready]
notifies: [peer]
models:
  graph: {head: [head], streams: [tail]}
streams:
  main:
    - memcpy_async: {dst: a, src: in}
    - memcpy_async: {dst: {buffer: c, offset: 62}, src: raw}
    - memcpy_async: {dst: c, src: in, width: 8, height: 2, dst_pitch: 16, src_pitch: 8}
      name: rows
    - memset_async: {dst: {buffer: c, offset: 32}, value: 7}
    - kernel_launch: {kernel: add, block_dim: 3, args: [a, {buffer: c, offset: 8}, -1, 5]}
      name: first
    - kernel_launch: {kernel: cube, type: MIX_AIC_1_2, aiv_kernel: add, block_dim: 4, args: [a]}
    - cpu_kernel_launch: {kernel: Assign, args: [c, {buffer: c, offset: 8}, 1, 9]}
    - event_record: ready
    - model_execute: graph
    - memcpy_async: {dst: out, src: a}
  other:
    device: 1
    priority: 3
    tasks:
      - notify_record: peer
      - memset_async: {dst: b, value: 0}
      - free: b
        name: gone
  head:
    - notify_wait: peer
    - stream_active: tail
  tail:
    - model_end_graph: graph
host:
  semaphores:
    slots: 2
  threads:
    thread:
      - enqueue: {stream: main, first: 0, count: 2}
      - enqueue: other
      - repeat:
          times: 3
          steps:
            - wait: slots
            - compute: {time: 1us, name: work}
            - repeat:
                times: 2
                steps:
                  - synchronize_device: 1
            - post: slots
      - enqueue: {stream: main, first: 2}
      - synchronize_stream: main
      - synchronize_event: ready
)";

TEST(StreamBuilder, MakesTheStreamOfItsText) {
  const BuiltStream built = everything();
  EXPECT_TRUE(same_meaning(built.stream(), parse_text(kEverything))) << built.yaml();
  EXPECT_TRUE(same_meaning(built.stream(), parse_text(built.yaml())));
  EXPECT_EQ(parse_task_stream(built.vts(), "t.vts", MemoryFiles{}), built.stream());
}

std::string text_of(const StreamFiles& files, const std::string& name) {
  const std::vector<std::byte>& bytes = files.files.at(name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(StreamBuilder, LeavesProgramsAndDataToFilesOfTheFolder) {
  const BuiltStream built = everything();
  const StreamFiles files = built.files();
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files.files)
    names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre("add.s", "all.yaml", "in.npy", "raw.bin"));
  EXPECT_EQ(files.main, "all.yaml");
  EXPECT_EQ(text_of(files, "add.s"), add_one().text());
  EXPECT_THAT(text_of(files, "all.yaml"), testing::StartsWith("# All that there is\nvinci: 1\n"));
  TaskStream loaded = parse_task_stream(files.files.at(files.main), "all.yaml", MemoryFiles(files.files));
  EXPECT_EQ(loaded.buffers[0].file, "in.npy");
  EXPECT_EQ(loaded.buffers[0].shape, (std::vector<u64>{2, 2}));
  EXPECT_EQ(loaded.kernels[0].program.lines, built.stream().kernels[0].program.lines);  // those of add.s
  for (usize i = 0; i < 2; ++i) {  // the same but for where the data are
    EXPECT_TRUE(loaded.buffers[i].data.empty());
    loaded.buffers[i].file.clear();
    loaded.buffers[i].data = built.stream().buffers[i].data;
  }
  EXPECT_TRUE(same_meaning(loaded, built.stream()));
}

// Names are any text; files of them stay in the folder.
TEST(StreamBuilder, NamesOfFilesAreNoPaths) {
  StreamBuilder s("../up/t", Arch::c220);
  const std::string long_name(999, 'n'), accents = std::string(199, 'a') + "\u00e9\u00e9";
  const std::array<float, 2> two{1, 2};
  for (const std::string& name : {std::string("../k"), std::string("..\\k"), std::string(".._k"), long_name + "1",
                                  long_name + "2", accents, std::string(".."), std::string("/k")}) {
    s.kernel(name, KernelType::AIV_ONLY, add_one());
    s.host_data("b" + name, "f4", std::span<const float>(two));
  }
  const BuiltStream built = s.finish();
  const StreamFiles files = built.files();
  EXPECT_EQ(files.main, ".._up_t.yaml");
  EXPECT_EQ(files.files.size(), 1u + 8 + 8);
  EXPECT_TRUE(files.files.contains(".._k.s"));
  EXPECT_TRUE(files.files.contains(".._k_2.s"));
  EXPECT_TRUE(files.files.contains("..\\k.s"));
  EXPECT_TRUE(files.files.contains(std::string(200, 'n') + ".s"));
  EXPECT_TRUE(files.files.contains(std::string(200, 'n') + "_2.s"));
  EXPECT_TRUE(files.files.contains(std::string(199, 'a') + ".s"));
  for (const auto& [name, bytes] : files.files)
    EXPECT_EQ(name.find('/'), std::string::npos) << name;
  const TaskStream loaded = parse_task_stream(files.files.at(files.main), "t.yaml", MemoryFiles(files.files));
  EXPECT_EQ(loaded.kernels.size(), 8u);
}

TEST(StreamBuilder, ProgramsWithoutATextArePrinted) {
  StreamBuilder s("t", Arch::c220);
  s.stream("main").launch(s.kernel("k", KernelType::AIV_ONLY, add_one().program()), 1);
  EXPECT_EQ(text_of(s.finish().files(), "k.s"), ".arch c220\n  ld_arg X0, 0\n  add X0, X0, 1\n  end\n");
}

TEST(StreamBuilder, TakesSizesFromFilesThatBuffersName) {
  StreamBuilder s("t", Arch::c220);
  const BufferRef in = s.host({.name = "in", .file = "in.bin"});
  s.stream("main").memcpy(s.device("a", 5), in);
  const BuiltStream built = s.finish(MemoryFiles({{"in.bin", std::vector<std::byte>(5)}}));
  EXPECT_EQ(std::get<MemcpyAsync>(built.stream().streams[0].tasks[0].op).width, 5);
}

TEST(StreamBuilder, TheWorldIsTheCommunicatorOfAllDevices) {
  StreamBuilder s("t", Arch::c220, 3);
  const CommRef pair = s.comm("pair", {0, 2}), world = s.world();
  EXPECT_NE(world.index, pair.index);
  EXPECT_EQ(s.world().index, world.index);
  for (u32 d = 0; d < 3; ++d) {
    const BufferRef b = s.device(fmt::format("b{}", d), 64, d);
    s.stream(fmt::format("s{}", d), {.device = d}).add(Hccl{.comm = world.index, .send = b, .recv = b, .count = 16});
  }
  const BuiltStream built = s.finish();
  EXPECT_EQ(built.stream().comms.at(world.index), (Comm{.name = "world", .devices = {0, 1, 2}}));
  EXPECT_TRUE(same_meaning(built.stream(), parse_text(built.yaml()))) << built.yaml();
}

TEST(StreamBuilder, MakesOneStream) {
  StreamBuilder s("t", Arch::c220);
  StreamRef main = s.stream("main");
  s.finish();
  EXPECT_THAT(refusal([&] { main.memset(BufferRef{}, 0); }), HasSubstr("this StreamBuilder has been finished"));
  EXPECT_THAT(refusal([&] { s.finish(); }), HasSubstr("has been finished"));
}

TEST(StreamBuilder, RefusesWhatLoadingRefuses) {
  EXPECT_EQ(refusal([] {
              StreamBuilder s("t", Arch::c220);
              s.stream("main").memcpy(s.device("a", 8), s.device("b", 9));
              s.finish();
            }),
            "t: streams[0].tasks[0]: memcpy: the source has 9 bytes, the destination 8; give the number of bytes");
  EXPECT_THAT(refusal([] {
                StreamBuilder s("t", Arch::c220);
                s.stream("main").launch(KernelRef{3}, 1);
                s.finish();
              }),
              HasSubstr("t: streams[0].tasks[0]"));
  EXPECT_THAT(refusal([] {
                StreamBuilder s("t", Arch::c220);
                s.device("a", 0);
                s.finish();
              }),
              HasSubstr("buffer 'a' has no bytes"));
  EXPECT_THAT(refusal([] {
                StreamBuilder s("t", Arch::c220);
                s.stream("main").memcpy(BufferRef{7}, BufferRef{8});
                s.finish();
              }),
              HasSubstr("t: a task names buffer 8, but there are 0"));
}

}  // namespace
}  // namespace vinci::task
