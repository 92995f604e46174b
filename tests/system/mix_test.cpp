// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Cores that work together: MIX tasks, barriers of all blocks, barriers that programs make themselves.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "isa/base/random.h"
#include "isa/numeric/float16.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"
#include "tests/system/all_modes.h"

namespace vinci {
namespace {

using test::Outcome;
using testing::AllOf;
using testing::HasSubstr;

task::TaskStream parse(std::string_view text) {
  return task::parse_task_stream(std::as_bytes(std::span(text)), "mix.yaml", task::FolderFiles("."));
}

template <class T>
void set_data(task::TaskStream& stream, std::string_view name, const std::vector<T>& values) {
  const auto buffer = std::ranges::find(stream.buffers, name, &task::Buffer::name);
  const auto bytes = std::as_bytes(std::span(values));
  buffer->data.assign(bytes.begin(), bytes.end());
}

template <class F>
std::string fault_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(fault_name(e.fault())) + ": " + e.what();
  }
  return "";
}

// out = relu(a * b + bias): the cube core multiplies tiles of 64 rows into two slots of a workspace, its vector cores
// add and clip half of the rows each. Flag 0: a slot is full; flag 1: it is free again.
constexpr std::string_view kGemm = R"(
vinci: 1
name: gemm_bias_relu
arch: c220
buffers:
  a:    {place: host, dtype: f2, shape: [512, 64]}
  b:    {place: host, dtype: f2, shape: [64, 64]}
  bias: {place: host, dtype: f4, shape: [64]}
  out:  {place: host, dtype: f4, shape: [512, 64]}
  a_dev:    {place: device, bytes: 64KiB}
  b_dev:    {place: device, bytes: 8KiB}
  bias_dev: {place: device, bytes: 256}
  work:     {place: device, bytes: 64KiB}    # two slots of 16 KiB for each block
  out_dev:  {place: device, bytes: 128KiB}
kernels:
  matmul:
    type: AIC_ONLY
    code: |
      .const TILES = 4              // of a block
      .const SYNC_FULL = 0x21 | 0 << 8
        ld_arg X0, 0
        ld_arg X1, 1
        ld_arg X2, 3
        set_ffts_base_addr 1
        get_block_idx X3
        mul X4, X3, TILES * 8192
        add X0, X0, X4              // a of this block
        mul X4, X3, 32768
        add X2, X2, X4              // workspace of this block
        copy_gm_to_cbuf_multi_nd2nz_b16 0x4000, X1, 0, 1, 64, 64, 0, 64, 64, 1, 0
        mov X5, 0
      tile:
        copy_gm_to_cbuf_multi_nd2nz_b16 0, X0, 0, 1, 64, 64, 0, 64, 64, 1, 0
        set_flag PIPE_MTE2, PIPE_MTE1, EVENT_ID0
        wait_flag PIPE_MTE2, PIPE_MTE1, EVENT_ID0
        mov X6, 0
      row:
        mul X7, X6, 4 * 512
        load_cbuf_to_ca X7, 0, X6, repeat=4, srcStride=4, sid=0, transpose=0
        load_cbuf_to_cb X7, 0x4000, X6, repeat=4, srcStride=4, sid=0, transpose=1
        add X6, X6, 1
        blt X6, 4, row
        set_flag PIPE_MTE1, PIPE_M, EVENT_ID0
        wait_flag PIPE_MTE1, PIPE_M, EVENT_ID0
        mad.f162f32 0, 0, 0, 64, 64, 64, init=1
        set_flag PIPE_M, PIPE_FIX, EVENT_ID0
        wait_flag PIPE_M, PIPE_FIX, EVENT_ID0
        blt X5, 2, free
        wait_flag_dev 1
      free:
        and X8, X5, 1
        mul X8, X8, 16384
        add X8, X8, X2
        copy_matrix_cc_to_gm X8, 0, 0, 64, 64, 64, 64, unitFlag=0, QuantPRE=0, ReLUPRE=0, channelSplit=0, NZ2ND_EN=1
        ffts_cross_core_sync PIPE_FIX, SYNC_FULL
        pipe_barrier PIPE_ALL
        add X0, X0, 8192
        add X5, X5, 1
        blt X5, TILES, tile
        end
  bias_relu:
    type: AIV_ONLY
    code: |
      .const TILES = 4
      .const BIAS = 0x8000
        ld_arg X1, 2
        ld_arg X2, 3
        ld_arg X3, 4
        set_ffts_base_addr 1
        get_subblockid X4
        get_subblockdim X5
        get_block_idx X6
        mov X15, 64
        div X7, X15, X5             // rows of this core
        mul X8, X7, X4
        mul X8, X8, 256             // where they begin in a tile
        mul X9, X6, 32768
        add X2, X2, X9
        add X2, X2, X8
        mul X9, X6, TILES * 16384
        add X3, X3, X9
        add X3, X3, X8
        mul X10, X7, 8              // blocks of 32 B
        set_vector_mask 0, -1
        copy_gm_to_ubuf BIAS, X1, 0, 1, 8, 0, 0
        mov X11, 0
      tile:
        wait_flag_dev 0
        and X12, X11, 1
        mul X12, X12, 16384
        add X12, X12, X2
        copy_gm_to_ubuf 0, X12, 0, 1, X10, 0, 0
        ffts_cross_core_sync PIPE_MTE2, 0x121
        set_flag PIPE_MTE2, PIPE_V, EVENT_ID0
        wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0
        vadd.f32 0, 0, BIAS, X7, 1, 1, 1, 8, 8, 0
        pipe_barrier PIPE_V
        vmaxs.f32 0, 0, 0.0f, X7, 1, 1, 8, 8
        set_flag PIPE_V, PIPE_MTE3, EVENT_ID0
        wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0
        copy_ubuf_to_gm X3, 0, 0, 1, X10, 0, 0
        pipe_barrier PIPE_ALL
        add X3, X3, 16384
        add X11, X11, 1
        blt X11, TILES, tile
        end
streams:
  main:
    - memcpy_async: {dst: a_dev, src: a}
    - memcpy_async: {dst: b_dev, src: b}
    - memcpy_async: {dst: bias_dev, src: bias}
    - kernel_launch: {kernel: matmul, type: MIX_AIC_1_2, aiv_kernel: bias_relu, block_dim: 2, args: [a_dev, b_dev, bias_dev, work, out_dev]}
    - memcpy_async: {dst: out, src: out_dev}
)";

struct Gemm {
  Gemm() : stream(parse(kGemm)) {
    Random random(7);
    // Small integers: f16 and f32 hold every product and sum exactly, in any order.
    const auto fill = [&](auto& values) {
      for (auto& v : values)
        v = static_cast<float>(static_cast<int>(random.next() % 9) - 4);
    };
    fill(a);
    fill(b);
    fill(bias);
    const auto halves = [](const std::vector<float>& values) {
      std::vector<u16> out;
      for (const float v : values)
        out.push_back(isa::f16_bits(v));
      return out;
    };
    set_data(stream, "a", halves(a));
    set_data(stream, "b", halves(b));
    set_data(stream, "bias", bias);
  }
  std::vector<float> expected() const {
    std::vector<float> out;
    for (usize i = 0; i < 512; ++i) {
      for (usize j = 0; j < 64; ++j) {
        float sum = bias[j];
        for (usize k = 0; k < 64; ++k)
          sum += a[i * 64 + k] * b[k * 64 + j];
        out.push_back(std::max(sum, 0.0f));
      }
    }
    return out;
  }
  task::TaskStream stream;
  std::vector<float> a = std::vector<float>(512 * 64), b = std::vector<float>(64 * 64), bias = std::vector<float>(64);
};

TEST(Mix, GemmWithAnEpilogueOnTheVectorCores) {
  Gemm g;
  const Outcome run = test::run_all_modes(config::load_chip("tiny"), g.stream);
  EXPECT_EQ(run.values<float>(g.stream, "out"), g.expected());
  EXPECT_EQ(run.result.tasks.at(3).kind, "KERNEL_MIX_AIC");
  EXPECT_EQ(run.result.tasks.at(3).blocks, 2u);
  for (const models::PipeTime& p : run.result.pipes) {
    const bool works = p.pipe == isa::PipeId::M || p.pipe == isa::PipeId::V;
    if (works) {
      EXPECT_GT(p.busy, 0u) << p.core;
    }
  }
}

TEST(Mix, OneVectorCoreForEachCubeCore) {
  Gemm g;
  std::get<task::KernelLaunch>(g.stream.streams[0].tasks[3].op).aivs = 1;
  const Outcome run = test::run_all_modes(config::load_chip("tiny"), g.stream);
  EXPECT_EQ(run.values<float>(g.stream, "out"), g.expected());
  for (const models::PipeTime& p : run.result.pipes) {
    if (p.pipe != isa::PipeId::V) continue;
    const bool first_of_its_core = p.core == "core0.AIV" || p.core == "core2.AIV";
    EXPECT_EQ(p.busy > 0, first_of_its_core) << p.core;
  }
}

TEST(Mix, BlocksRunInWavesWhereCoresAreFew) {
  Gemm g;
  config::ChipConfig chip = config::load_chip("tiny");
  chip.ai_cores = 1;
  chip.vector_cores = 2;
  const Outcome run = test::run_all_modes(chip, g.stream);
  EXPECT_EQ(run.values<float>(g.stream, "out"), g.expected());
}

TEST(Mix, NeedsAChipWithEnoughVectorCores) {
  Gemm g;
  config::ChipConfig chip = config::load_chip("tiny");
  chip.vector_cores = 2;
  task::RunMemory memory(g.stream, true);
  const std::string text = "input: task 'matmul' is of type MIX_AIC_1_2, but tiny has 2 AIC and 2 AIV";
  EXPECT_EQ(fault_of([&] { models::simulate(chip, g.stream, memory, {}); }), text);
  EXPECT_EQ(fault_of([&] { models::run_functional(chip, g.stream, memory, {.max_cycles = 1000}); }), text);
}

// Each vector core writes a number, all meet, and each adds up what all have written. `who` leaves the number of the
// core in X9 and the number of cores in X10.
std::string meeting(std::string_view who, int mode) {
  return fmt::format(R"(      // writes, meets, adds up
        ld_arg X0, 0
        ld_arg X1, 1
        set_ffts_base_addr 1
        set_vector_mask 0, 0xff
{}
        add X2, X9, 1
        vector_dup.s32 0, X2, 1, 1, 1, 8, 8
        set_flag PIPE_V, PIPE_MTE3, EVENT_ID0
        wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0
        shl X3, X9, 5
        add X4, X0, X3
        copy_ubuf_to_gm X4, 0, 0, 1, 1, 0, 0
        ffts_cross_core_sync PIPE_MTE3, 0xb01 | {} << 4
        wait_flag_dev 11
        copy_gm_to_ubuf 0x100, X0, 0, 1, X10, 0, 0
        set_flag PIPE_MTE2, PIPE_V, EVENT_ID0
        wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0
        mov X5, 1
      sum:
        shl X6, X5, 5
        add X6, X6, 0x100
        vadd.s32 0x100, 0x100, X6, 1, 1, 1, 1, 8, 8, 8
        pipe_barrier PIPE_V
        add X5, X5, 1
        blt X5, X10, sum
        set_flag PIPE_V, PIPE_MTE3, EVENT_ID0
        wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0
        add X4, X1, X3
        copy_ubuf_to_gm X4, 0x100, 0, 1, 1, 0, 0
        end
)",
                     who, mode);
}

task::TaskStream meeting_stream(std::string_view launch, const std::string& code) {
  return parse(fmt::format(R"(
vinci: 1
name: meeting
arch: c220
buffers:
  sums:  {{place: host, dtype: i4, shape: [4, 8]}}
  slots: {{place: device, bytes: 256}}
  out:   {{place: device, bytes: 128}}
kernels:
  nothing: {{type: AIC_ONLY, code: end}}
  meet:
    type: AIV_ONLY
    code: |
{}
streams:
  main:
    - kernel_launch: {{{}, args: [slots, out]}}
    - memcpy_async: {{dst: sums, src: out}}
)",
                           code, launch));
}

const std::string kByBlock = "        get_block_idx X9\n        get_block_num X10\n";
const std::string kByCore =
    "        get_block_idx X9\n        get_block_num X10\n        get_subblockid X11\n        get_subblockdim X12\n"
    "        mul X9, X9, X12\n        add X9, X9, X11\n        mul X10, X10, X12\n";

TEST(Barrier, Mode0HoldsAllVectorCores) {
  const auto stream = meeting_stream("kernel: meet, type: MIX_AIV_1_0, block_dim: 4", meeting(kByBlock, 0));
  const Outcome run = test::run_all_modes(config::load_chip("tiny"), stream);
  EXPECT_EQ(run.values<i32>(stream, "sums"), std::vector<i32>(32, 1 + 2 + 3 + 4));
}

TEST(Barrier, Mode0HoldsTheVectorCoresOfAllBlocks) {
  const auto stream =
      meeting_stream("kernel: nothing, type: MIX_AIC_1_2, aiv_kernel: meet, block_dim: 2", meeting(kByCore, 0));
  const Outcome run = test::run_all_modes(config::load_chip("tiny"), stream);
  EXPECT_EQ(run.values<i32>(stream, "sums"), std::vector<i32>(32, 1 + 2 + 3 + 4));
}

TEST(Barrier, Mode1HoldsTheVectorCoresOfOneBlock) {
  const auto stream = meeting_stream("kernel: nothing, type: MIX_AIC_1_2, aiv_kernel: meet",
                                     meeting("        get_subblockid X9\n        get_subblockdim X10\n", 1));
  const Outcome run = test::run_all_modes(config::load_chip("tiny"), stream);
  const std::vector<i32> sums = run.values<i32>(stream, "sums");
  EXPECT_EQ(std::vector<i32>(sums.begin(), sums.begin() + 16), std::vector<i32>(16, 1 + 2));
}

TEST(Barrier, BlocksThatCannotAllBeginAreRefused) {
  const auto stream = meeting_stream("kernel: meet, block_dim: 8", meeting(kByBlock, 0));
  task::RunMemory memory(stream, true);
  const config::ChipConfig chip = config::load_chip("tiny");
  const auto expected = HasSubstr(
      "mode 0 synchronises all 8 blocks of the task, but the chip holds only 4 at once; the others would never start");
  EXPECT_THAT(fault_of([&] { models::simulate(chip, stream, memory, {}); }), expected);
  EXPECT_THAT(fault_of([&] { models::run_functional(chip, stream, memory, {.max_cycles = 100000}); }), expected);
}

// A barrier as programs make it on chips without flags between cores: each block writes its slot of global memory and
// polls the others.
std::string software_barrier(u32 blocks) {
  return fmt::format(R"(
vinci: 1
name: poll
arch: c100
buffers:
  sums:  {{place: host, dtype: i8, shape: [{0}]}}
  slots: {{place: device, bytes: 256}}
  out:   {{place: device, bytes: 64}}
kernels:
  meet:
    code: |
      // writes, polls, adds up
        ld_arg X0, 0
        ld_arg X1, 1
        get_block_idx X2
        get_block_num X3
        shl X4, X2, 5
        add X4, X4, X0
        add X5, X2, 1
        st_dev.b64 X5, X4            // IBSet
        mov X6, 0
        mov X7, 0
      next:
        shl X4, X6, 5
        add X4, X4, X0
      poll:
        ld_dev.b64 X8, X4            // IBWait
        beq X8, 0, poll
        add X7, X7, X8
        add X6, X6, 1
        blt X6, X3, next
        shl X4, X2, 3
        add X4, X4, X1
        st_dev.b64 X7, X4
        end
streams:
  main:
    - kernel_launch: {{kernel: meet, block_dim: {0}, args: [slots, out]}}
    - memcpy_async: {{dst: sums, src: out, count: {1}}}
)",
                     blocks, 8 * blocks);
}

TEST(Barrier, PollingGlobalMemoryMakesProgress) {
  const task::TaskStream stream = parse(software_barrier(2));
  const config::ChipConfig chip = config::load_chip("tiny-joint");
  const auto sums = [&](const task::RunMemory& memory) {
    std::array<u64, 2> out{};
    std::memcpy(out.data(), memory.host(0).data(), sizeof out);
    return out;
  };
  task::RunMemory timed(stream, true), untimed(stream, true);
  models::simulate(chip, stream, timed, {.max_cycles = 1'000'000});
  models::run_functional(chip, stream, untimed, {.max_cycles = 1'000'000});
  EXPECT_EQ(sums(timed), (std::array<u64, 2>{3, 3}));
  EXPECT_EQ(sums(untimed), (std::array<u64, 2>{3, 3}));
}

TEST(Barrier, PollingABlockThatHasNoCoreIsADeadlock) {
  const task::TaskStream stream = parse(software_barrier(3));
  const config::ChipConfig chip = config::load_chip("tiny-joint");
  task::RunMemory memory(stream, true);
  EXPECT_THAT(
      fault_of([&] { models::simulate(chip, stream, memory, {}); }),
      HasSubstr("core0,1.AI_CORE.S repeats mix.yaml:27..28 of blocks 0,1; it reads 'slots' at 64 (mix.yaml:27)"));
  EXPECT_THAT(fault_of([&] { models::run_functional(chip, stream, memory, {}); }),
              AllOf(HasSubstr("deadlock: nothing can move (on hardware"),
                    HasSubstr("repeats mix.yaml:27..28; it reads 'slots' at 64"),
                    HasSubstr("1 block has no core to begin on")));
}

TEST(Barrier, ALongRunOfManyBlocksIsTheSameInTurns) {
  // Each block counts for longer than its turn, then writes its own place.
  const task::TaskStream stream = parse(R"(
vinci: 1
name: chain
arch: c220
buffers:
  result: {place: host, dtype: i8, shape: [9]}
  chain:  {place: device, bytes: 128}
kernels:
  add:
    type: AIV_ONLY
    code: |
      // counts, writes
        ld_arg X0, 0
        get_block_idx X1
        mov X2, 0
      count:
        add X2, X2, 1
        blt X2, 40000, count
        shl X3, X1, 3
        add X0, X0, X3
        add X4, X1, 1
        st_dev.b64 X4, X0, 8
        end
streams:
  main:
    - kernel_launch: {kernel: add, block_dim: 8, args: [chain]}
    - memcpy_async: {dst: result, src: chain, count: 72}
)");
  const Outcome run = test::run_all_modes(config::load_chip("tiny"), stream);
  std::vector<u64> expected(9);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(run.values<u64>(stream, "result"), expected);
}

// A MIX kernel of all AI cores of a 910B1, whose AICs and AIVs run one or two instructions.
task::TaskStream all_cores(std::string_view cube, std::string_view vector, std::string_view streams) {
  return parse(fmt::format(R"(
vinci: 1
name: mix
arch: c220
buffers:
  x: {{place: device, bytes: 64}}
kernels:
  c:
    type: AIC_ONLY
    code: "set_ffts_base_addr 1\n{}\nend\n"
  v:
    type: AIV_ONLY
    code: "set_ffts_base_addr 1\n{}\nend\n"
streams:
{})",
                           cube, vector, streams));
}

// Blocks of one launch that wait for each other, given out slowly, and a more urgent launch that comes meanwhile.
TEST(Barrier, BlocksOfAnotherLaunchDoNotComeBetween) {
  const task::TaskStream stream =
      all_cores("ffts_cross_core_sync PIPE_FIX, 0x1 | 3 << 8\\nwait_flag_dev 3", "nop 1", R"(
  low:
    priority: 7
    tasks:
    - kernel_launch: {kernel: c, type: MIX_AIC_1_2, aiv_kernel: v, block_dim: 24, args: [x]}
  high:
    priority: 0
    tasks:
    - kernel_launch: {kernel: c, type: MIX_AIC_1_2, aiv_kernel: v, block_dim: 24, args: [x]}
)");
  const config::ChipConfig chip = config::load_chip("ascend-910b1");
  ASSERT_GT(chip.scheduler.mix_block_interval, 0);
  task::RunMemory memory(stream, true);
  EXPECT_EQ(fault_of([&] { models::simulate(chip, stream, memory, {}); }), "");
}

u64 cycles_with(std::string_view set, std::string_view wait, double flag_seconds, u64 max_cycles = ~u64{0}) {
  const task::TaskStream stream = all_cores(set, wait, R"(
  main:
    - kernel_launch: {kernel: c, type: MIX_AIC_1_1, aiv_kernel: v, block_dim: 24, args: [x]}
)");
  config::ChipConfig chip = config::load_chip("ascend-910b1");
  chip.scheduler.mix_block_interval = config::Seconds(0);
  chip.scheduler.cross_core_flag = config::Seconds(flag_seconds);
  task::RunMemory memory(stream, true);
  return models::simulate(chip, stream, memory, {.max_cycles = max_cycles}).cycles;
}

TEST(CrossCore, FlagsOfManyCoresQueueUpAndPairsDoNot) {
  const std::string flag = "ffts_cross_core_sync PIPE_FIX, 0x1 | 2 << 4 | 1 << 8";
  const std::string pair = "ffts_cross_core_sync PIPE_FIX, 0x1121", wait = "wait_flag_dev 1";
  EXPECT_EQ(cycles_with(flag, wait, 1e-6), cycles_with(flag, wait, 0) + 23 * 1850);
  EXPECT_EQ(cycles_with(pair, wait, 1e-6), cycles_with(pair, wait, 0));
}

// One core sets a flag 40 times, more than its counter can hold, and the other one waits as often. Without time the
// setter pauses until the counter has room, in whatever order the cores run. With time it is a fault, as the waits take
// longer.
TEST(CrossCore, WithoutTimeASetWaitsForRoom) {
  const std::string loop = "mov X1, 0\\nagain: {}\\nadd X1, X1, 1\\nblt X1, 40, again";
  const std::string set = fmt::format(fmt::runtime(loop), "ffts_cross_core_sync PIPE_{}, 0x121");
  const std::string wait = fmt::format(fmt::runtime(loop), "wait_flag_dev 1\\nnop 5000");
  const std::string streams = R"(
  main:
    - kernel_launch: {kernel: c, type: MIX_AIC_1_1, aiv_kernel: v, block_dim: 2, args: [x]}
)";
  const config::ChipConfig chip = config::load_chip("ascend-910b1");
  for (const bool cube_sets : {true, false}) {
    const std::string setter = fmt::format(fmt::runtime(set), cube_sets ? "FIX" : "MTE3");
    const task::TaskStream stream = all_cores(cube_sets ? setter : wait, cube_sets ? wait : setter, streams);
    task::RunMemory memory(stream, true);
    EXPECT_EQ(fault_of([&] { models::run_functional(chip, stream, memory, {}); }), "");
    EXPECT_THAT(fault_of([&] { models::simulate(chip, stream, memory, {}); }),
                testing::HasSubstr("ccu_cross_core_set_ovfl_err"));
  }
}

TEST(CrossCore, ALimitDoesNotCountFlagsThatNobodyWaitsFor) {
  const std::string flag = "ffts_cross_core_sync PIPE_FIX, 0x1 | 2 << 4 | 1 << 8";
  const u64 cycles = cycles_with(flag, "nop 1", 1e-3);
  EXPECT_EQ(cycles_with(flag, "nop 1", 1e-3, cycles + 1000), cycles);
}

}  // namespace
}  // namespace vinci
