// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The float status of the device, as loss scaling uses it: clear, kernels, get.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "isa/check/checker.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"
#include "tests/system/all_modes.h"

namespace vinci {
namespace {

task::TaskStream parse(const std::string& text) {
  return task::parse_task_stream(std::as_bytes(std::span(text)), "status.yaml", task::FolderFiles("."));
}

constexpr u32 kUntouched = ~u32{0};
constexpr u32 kOne = 0x3f800000;  // of f32

// Slots of 64 bytes for what the gets of a task stream write, filled with ones before, copied to the host after.
std::vector<u32> slot(const task::TaskStream& stream, const test::Outcome& out, usize n) {
  const std::vector<u32> all = out.values<u32>(stream, "flags");
  return {all.begin() + static_cast<std::ptrdiff_t>(16 * n), all.begin() + static_cast<std::ptrdiff_t>(16 * (n + 1))};
}

// 8 x f32 and nothing behind them.
std::vector<u32> tensor(u32 first) {
  std::vector<u32> out(16, kUntouched);
  std::fill_n(out.begin(), 8, 0u);
  out[0] = first;
  return out;
}

// `add`: x + x in f16, in one block of the launch only. `mad`: a sum of products that leaves the range of f32.
constexpr std::string_view kSplit = R"(
vinci: 1
name: status
arch: c220
buffers:
  flags: {place: host, bytes: 1KiB}
  flags_dev: {place: device, bytes: 1KiB}
kernels:
  add:
    type: AIV_ONLY
    code: |
      ld_arg X0, 0
      ld_arg X1, 1
      get_block_idx X2
      bne X1, X2, done
      vector_dup.f16 0, X0, 1, 1, 1, 8, 8
      pipe_barrier PIPE_V
      vadd.f16 256, 0, 0, 1, 1, 1, 1, 8, 8, 8
      done: end
  slow:
    type: AIV_ONLY
    code: |
      vector_dup.f16 0, 0x7bff, 1, 1, 1, 8, 8
      pipe_barrier PIPE_V
      vadd.f16 256, 0, 0, 1, 1, 1, 1, 8, 8, 8
      loop: add X0, X0, 1
      blt X0, 100000, loop
      end
  second:
    type: AIV_ONLY
    code: |
      get_block_idx X0
      get_subblockid X1
      bne X0, 1, done
      bne X1, 1, done
      vector_dup.f16 0, 0x7bff, 1, 1, 1, 8, 8
      pipe_barrier PIPE_V
      vadd.f16 256, 0, 0, 1, 1, 1, 1, 8, 8, 8
      done: end
  mad:
    type: AIC_ONLY
    code: |
      create_ca_matrix.b32 0, 2, 0x7f7fffff
      create_cb_matrix.b32 0, 2, 0x3f800000
      set_flag PIPE_MTE1, PIPE_M, EVENT_ID0
      wait_flag PIPE_MTE1, PIPE_M, EVENT_ID0
      mad.f322f32 0, 0, 0, 16, 8, 16, 1
      end
  nothing: {type: AIC_ONLY, code: end}
streams:
)";

// A sticky flag: what raised it need not be the latest kernel, nor the latest block, nor the latest on its core.
TEST(FloatStatus, StaysUpUntilItIsCleared) {
  const task::TaskStream stream = parse(std::string(kSplit) + R"(  s:
    - memset_async: {dst: flags_dev, value: 255}
    - npu_get_float_status: {dst: {buffer: flags_dev, offset: 0}}
    - kernel_launch: {kernel: add, block_dim: 6, args: [0x3c00, 5]}
    - npu_get_float_status: {dst: {buffer: flags_dev, offset: 64}}
    - kernel_launch: {kernel: add, block_dim: 6, args: [0x7bff, 0]}
    - kernel_launch: {kernel: add, block_dim: 6, args: [0x3c00, 0]}
    - npu_get_float_status: {dst: {buffer: flags_dev, offset: 128}}
    - npu_get_float_status: {dst: {buffer: flags_dev, offset: 192}}
    - npu_clear_float_status: {}
    - npu_get_float_status: {dst: {buffer: flags_dev, offset: 256}}
    - kernel_launch: {kernel: mad}
    - npu_get_float_status: {dst: {buffer: flags_dev, offset: 320}}
    - memcpy_async: {dst: flags, src: flags_dev}
)");
  config::ChipConfig chip = config::load_chip("tiny");
  for (const isa::OverflowMode mode : {isa::OverflowMode::inf_nan, isa::OverflowMode::saturation}) {
    SCOPED_TRACE(isa::name(mode));
    chip.numerics.overflow_mode = mode;
    const test::Outcome out = test::run_all_modes(chip, stream);
    EXPECT_EQ(slot(stream, out, 0), tensor(0)) << "nothing ran";
    EXPECT_EQ(slot(stream, out, 1), tensor(0)) << "1 + 1";
    EXPECT_EQ(slot(stream, out, 2), tensor(kOne)) << "65504 + 65504, two kernels ago";
    EXPECT_EQ(slot(stream, out, 3), tensor(kOne)) << "a get clears nothing";
    EXPECT_EQ(slot(stream, out, 4), tensor(0)) << "cleared";
    EXPECT_EQ(slot(stream, out, 5), tensor(kOne)) << "the cube";
  }
}

TEST(FloatStatus, EachCoreOfAMixTaskCounts) {
  const task::TaskStream stream = parse(std::string(kSplit) + R"(  s:
    - memset_async: {dst: flags_dev, value: 255}
    - kernel_launch: {kernel: nothing, type: MIX_AIC_1_2, aiv_kernel: second, block_dim: 1}
    - npu_get_float_status: {dst: flags_dev}
    - kernel_launch: {kernel: nothing, type: MIX_AIC_1_2, aiv_kernel: second, block_dim: 2}
    - npu_get_float_status: {dst: {buffer: flags_dev, offset: 64}}
    - memcpy_async: {dst: flags, src: flags_dev}
)");
  const test::Outcome out = test::run_all_modes(config::load_chip("tiny"), stream);
  EXPECT_EQ(slot(stream, out, 0), tensor(0));
  EXPECT_EQ(slot(stream, out, 1), tensor(kOne));
}

// It belongs to the device: a stream sees what kernels of another did, but not before they are finished.
TEST(FloatStatus, IsOneForAllStreams) {
  const task::TaskStream stream = parse(std::string(kSplit) + R"(  looks:
    - memset_async: {dst: flags_dev, value: 255}
    - npu_get_float_status: {dst: flags_dev}
      name: early
    - stream_wait_event: finished
    - npu_get_float_status: {dst: {buffer: flags_dev, offset: 64}}
    - npu_clear_float_status: {}
    - event_record: cleared
  works:
    - kernel_launch: {kernel: slow}
    - event_record: finished
    - stream_wait_event: cleared
    - npu_get_float_status: {dst: {buffer: flags_dev, offset: 128}}
    - memcpy_async: {dst: flags, src: flags_dev}
)");
  const test::Outcome out = test::run_all_modes(config::load_chip("tiny"), stream);
  EXPECT_EQ(slot(stream, out, 0), tensor(0));
  EXPECT_EQ(slot(stream, out, 1), tensor(kOne));
  EXPECT_EQ(slot(stream, out, 2), tensor(0));
  const auto task = [&](std::string_view name) {
    return *std::ranges::find(out.result.tasks, name, &models::TaskTime::name);
  };
  EXPECT_LT(task("slow").start, task("early").end) << "the kernel runs while the first get looks";
  EXPECT_GT(task("slow").end, task("early").end);
}

TEST(FloatStatus, JointCoresAlike) {
  const task::TaskStream stream = parse(R"(
vinci: 1
name: status
arch: c100
buffers:
  flags: {place: host, bytes: 128}
  flags_dev: {place: device, bytes: 128}
kernels:
  add:
    code: |
      ld_arg X0, 0
      vector_dup.f16 0, X0, 1, 1, 1, 8, 8
      pipe_barrier PIPE_V
      vadd.f16 256, 0, 0, 1, 1, 1, 1, 8, 8, 8
      end
streams:
  s:
    - memset_async: {dst: flags_dev, value: 255}
    - kernel_launch: {kernel: add, args: [0x77ff]}   # 32752 + 32752 = 65504: the largest that fits
    - npu_get_float_status: {dst: flags_dev}
    - kernel_launch: {kernel: add, args: [0x7800]}   # 32768 + 32768
    - npu_get_float_status: {dst: {buffer: flags_dev, offset: 64}}
    - memcpy_async: {dst: flags, src: flags_dev}
)");
  const test::Outcome out = test::run_all_modes(config::load_chip("tiny-joint"), stream);
  EXPECT_EQ(slot(stream, out, 0), tensor(0));
  EXPECT_EQ(slot(stream, out, 1), tensor(kOne));
}

// For the checker a get is a write of its tensor.
TEST(FloatStatus, TheCheckerKnowsWhatAGetWrites) {
  const auto findings = [](const std::string& streams) {
    const task::TaskStream stream = parse(std::string(kSplit) + streams);
    task::RunMemory memory(stream, true);
    isa::check::Checker checker(memory.gm());
    models::run_functional(config::load_chip("tiny"), stream, memory, {.checker = &checker});
    checker.finish();
    std::string ids;
    for (const isa::check::Finding& f : checker.findings().sorted())
      ids += std::string(isa::check::name(f.id)) + " ";
    return ids;
  };
  EXPECT_EQ(findings(R"(  s:
    - npu_get_float_status: {dst: flags_dev}
    - memcpy_async: {dst: flags, src: flags_dev, count: 32}
)"),
            "");
  EXPECT_EQ(findings(R"(  s:
    - npu_get_float_status: {dst: flags_dev}
    - memcpy_async: {dst: flags, src: flags_dev, count: 33}
)"),
            "uninitialised-gm-read ");
  EXPECT_EQ(findings(R"(  s:
    - npu_get_float_status: {dst: flags_dev}
  other:
    - memcpy_async: {dst: flags, src: flags_dev, count: 32}
)"),
            "task-overlap ");
}

}  // namespace
}  // namespace vinci
