// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <filesystem>

#include "models/core/core_spec.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "tests/check/cube_pipeline.h"
#include "tests/check/vector_pipeline.h"
#include "tests/support/program_gen.h"
#include "tests/support/timed_run.h"
#include "tools/gen/gemm.h"

// Correct programs: nothing may be found.
namespace vinci::test {
namespace {

TEST(Clean, VectorPipelines) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 60; ++i) {
    const VectorPipeline v = VectorPipeline::random(random);
    const bool split = i % 2 == 0;
    const auto chip = round_chip(split ? isa::Arch::c220 : isa::Arch::c100);
    const std::string text = v.program().text();
    const task::TaskStream stream =
        launch_stream(chip, split ? isa::CoreKind::vector : isa::CoreKind::joint, text, v.buffers(), v.blocks);
    for (const Mode mode : {Mode::functional, Mode::full, Mode::timing})
      ASSERT_EQ(check(chip, stream, mode).text(), "") << text;
  }
}

TEST(Clean, CubePipelines) {
  std::mt19937_64 random(2);
  const auto chip = round_chip(isa::Arch::c220);
  for (int i = 0; i < 60; ++i) {
    const CubePipeline c = CubePipeline::random(random);
    const std::string text = c.program().text();
    const task::TaskStream stream = launch_stream(chip, isa::CoreKind::cube, text, c.buffers(), 1);
    for (const Mode mode : {Mode::functional, Mode::full, Mode::timing})
      ASSERT_EQ(check(chip, stream, mode).text(), "") << text;
  }
}

// Streams that are ordered by events, and a buffer that is freed when nothing needs it any more.
TEST(Clean, StreamsOrderedByEvents) {
  const VectorPipeline v;
  const auto chip = round_chip(isa::Arch::c220);
  task::TaskStream s = launch_stream(chip, isa::CoreKind::vector, v.program().text(), v.buffers(), v.blocks);
  s.events = {"ran"};
  s.streams[0].tasks.push_back({.name = "record", .op = task::EventRecord{.event = 0}});
  s.streams.push_back(
      {.name = "after",
       .tasks = {{.name = "wait", .op = task::StreamWaitEvent{.event = 0}},
                 {.name = "again", .op = task::MemsetAsync{.dst = {.buffer = 0}, .bytes = 64, .value = 1}},
                 {.name = "free", .op = task::Free{.buffer = 2}}}});
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing})
    EXPECT_EQ(check(chip, s, mode).text(), "");
}

// Sums over the repeats: src1 is dst, with repeat stride 0.
TEST(Clean, AccumulateIdiom) {
  const auto chip = round_chip(isa::Arch::c220);
  const std::string text =
      "ld_arg X0, 0\ncopy_gm_to_ubuf 0, X0, 0, 1, 64, 0, 0\nvector_dup.f16 0x1000, 0, 1, 1, 1, 8, 8\n"
      "set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\nwait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\npipe_barrier PIPE_V\n"
      "vadd.f16 0x1000, 0, 0x1000, 8, 1, 1, 1, 0, 8, 0\nend\n";
  const auto good = launch_stream(chip, isa::CoreKind::vector, text, {{"x", 4096}}, 1);
  EXPECT_EQ(check(chip, good).text(), "");
  // vdiv has no such form, and src0 is no accumulator.
  for (const std::string_view op :
       {"vdiv.f16 0x1000, 0, 0x1000, 8, 1, 1, 1, 0, 8, 0", "vadd.f16 0x1000, 0x1000, 0, 8, 1, 1, 1, 0, 0, 8"}) {
    std::string bad = text;
    bad.replace(bad.find("vadd"), bad.find("\nend") - bad.find("vadd"), op);
    const auto stream = launch_stream(chip, isa::CoreKind::vector, bad, {{"x", 4096}}, 1);
    EXPECT_TRUE(check(chip, stream).has(isa::check::FaultId::repeat_dependency)) << op;
  }
}

TEST(Clean, GeneratedGemms) {
  const std::string folder = testing::TempDir() + "vinci_check_gemm";
  const u32 shapes[][3] = {{16, 16, 16}, {1, 5, 7}, {100, 200, 300}, {129, 65, 257}, {256, 256, 64}, {33, 1000, 48}};
  for (const std::string_view name : {"tiny", "tiny-joint", "ascend-910a", "ascend-910b1"}) {
    const config::ChipConfig chip = config::load_chip(std::string(name));
    for (const auto& [m, n, k] : shapes) {
      gen::write_gemm({.m = m, .n = n, .k = k}, chip, 1, folder);
      const task::TaskStream stream = task::load_task_stream(folder + "/gemm.yaml");
      EXPECT_EQ(check(chip, stream, Mode::functional).text(), "") << name << " " << m << " x " << n << " x " << k;
      EXPECT_EQ(check(chip, stream, Mode::timing).text(), "") << name << " " << m << " x " << n << " x " << k;
    }
  }
  std::filesystem::remove_all(folder);
}

class CleanRandom : public testing::TestWithParam<isa::CoreKind> {};

TEST_P(CleanRandom, Programs) {
  const isa::CoreKind kind = GetParam();
  const config::ChipConfig chip = config::load_chip(kind == isa::CoreKind::joint ? "tiny-joint" : "tiny");
  for (int i = 0; i < 400; ++i) {
    std::mt19937_64 random(20240611 + static_cast<u64>(i));
    const RandomProgram program = random_program(models::core_spec(chip, kind), 5 + random() % 36, random);
    const u32 blocks = i % 3 == 0 ? static_cast<u32>(2 + random() % 5) : 1;
    const auto stream =
        launch_stream(chip, kind, program.text, {{"in", kInBytes}, {"out", kOutBytes * blocks}}, blocks);
    ASSERT_EQ(check(chip, stream, i % 4 == 0 ? Mode::full : Mode::functional).text(), "") << program.text;
  }
}

INSTANTIATE_TEST_SUITE_P(EachKind, CleanRandom,
                         testing::Values(isa::CoreKind::joint, isa::CoreKind::cube, isa::CoreKind::vector),
                         [](const auto& p) { return std::string(name(p.param)); });

}  // namespace
}  // namespace vinci::test
