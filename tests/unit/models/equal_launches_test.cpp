// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/equal_launches.h"

#include <nlohmann/json.hpp>

#include "isa/base/random.h"
#include "sim/config/load.h"
#include "sim/task/run_memory.h"
#include "tests/unit/models/runtime_fixture.h"

namespace vinci::test {
namespace {

using task::HostEnqueue;
using task::HostRepeat;
using testing::HasSubstr;

constexpr u64 kBytes = 64 * 1024;

// All that a run tells.
struct Told {
  models::Result result;
  Records records;
};

Told told(const config::ChipConfig& chip, const task::TaskStream& stream, bool recall, u64 max_cycles = 1'000'000'000) {
  Told out;
  task::RunMemory memory(stream, false);
  out.result =
      models::simulate(chip, stream, memory, {.max_cycles = max_cycles, .tasks = &out.records, .recall = recall});
  return out;
}

void expect_same(const Told& a, const Told& b) {
  EXPECT_EQ(a.result.cycles, b.result.cycles);
  EXPECT_EQ(a.result.instructions, b.result.instructions);
  EXPECT_EQ(a.result.cube_macs, b.result.cube_macs);
  EXPECT_EQ(a.result.kernel_cycles, b.result.kernel_cycles);
  EXPECT_EQ(nlohmann::ordered_json::diff(a.result.stats.json(), b.result.stats.json()).dump(), "[]");
  ASSERT_EQ(a.result.pipes.size(), b.result.pipes.size());
  for (usize i = 0; i < a.result.pipes.size(); ++i) {
    const models::PipeTime &p = a.result.pipes[i], &q = b.result.pipes[i];
    EXPECT_EQ((std::tuple(p.busy, p.stalled, p.idle)), (std::tuple(q.busy, q.stalled, q.idle))) << p.core;
  }
  ASSERT_EQ(a.records.all.size(), b.records.all.size());
  for (usize i = 0; i < a.records.all.size(); ++i) {
    const models::TaskRecord &p = a.records.all[i], &q = b.records.all[i];
    EXPECT_EQ((std::tuple(p.name, p.start, p.end, p.iteration)), (std::tuple(q.name, q.start, q.end, q.iteration)));
    for (usize kind = 0; kind < p.cores.size(); ++kind) {
      EXPECT_EQ(p.cores[kind].cycles, q.cores[kind].cycles) << p.name;
      EXPECT_EQ(p.cores[kind].busy, q.cores[kind].busy) << p.name;
      EXPECT_EQ(p.cores[kind].work, q.cores[kind].work) << p.name;
    }
  }
}

class EqualLaunches : public Runtime {
 protected:
  EqualLaunches() {
    chip_ = config::load_chip("ascend-910b1");
    stream_.arch = chip_.arch;
  }

  u32 kernel(std::string_view text) {
    const std::string name = fmt::format("k{}", stream_.kernels.size());
    stream_.kernels.push_back(
        {.name = name, .type = task::KernelType::AIV_ONLY, .program = isa::assemble(text, name + ".s", stream_.arch)});
    return static_cast<u32>(stream_.kernels.size() - 1);
  }
  task::KernelLaunch launch_of(u32 kernel, u32 buffer, u32 blocks) const {
    task::KernelLaunch op{.kernel = kernel, .block_dim = blocks};
    op.args.emplace_back(task::Slice{.buffer = buffer});
    return op;
  }
  // A host thread that enqueues all tasks of the first stream again and again.
  void repeat(u64 times, double seconds = 0) {
    const u32 tasks = static_cast<u32>(stream_.streams[0].tasks.size());
    thread("main", {HostRepeat{.times = times, .length = 3}, HostEnqueue{.stream = 0, .first = 0, .count = tasks},
                    task::SynchronizeStream{0}, task::HostCompute{.seconds = seconds, .name = "host"}});
  }
  // How many launches were taken over, in a run that tells what one tells that simulates all of them.
  u64 recalled() const {
    const Told all = told(chip_, stream_, false), some = told(chip_, stream_, true);
    expect_same(all, some);
    EXPECT_EQ(all.result.equal_launches, 0u);
    return some.result.equal_launches;
  }

  // Each block adds a piece of the buffer to itself.
  static constexpr std::string_view kAdd = R"(
    ld_arg X0, 0
    get_block_idx X1
    mul X1, X1, 1024
    add X0, X0, X1
    copy_gm_to_ubuf 0, X0, 0, 1, 32, 0, 0
    set_flag PIPE_MTE2, PIPE_V, 0
    wait_flag PIPE_MTE2, PIPE_V, 0
    vadd.f32 0, 0, 0, 4, 1, 1, 1, 8, 8, 8
    set_flag PIPE_V, PIPE_MTE3, 0
    wait_flag PIPE_V, PIPE_MTE3, 0
    copy_ubuf_to_gm X0, 0, 0, 1, 32, 0, 0
    end
  )";
};

// The first one brings the lines into L2, the second one is watched.
TEST_F(EqualLaunches, OfALoopTakeWhatTheSecondOneTook) {
  const u32 b = device_buffer("b", kBytes);
  add(launch_of(kernel(kAdd), b, 40));
  repeat(10, 1.3e-6);
  EXPECT_EQ(recalled(), 8u);
}

TEST_F(EqualLaunches, AreSimulatedWhereL2DoesNotServeThem) {
  chip_.memory.l2.size = config::Bytes(32 * 1024);
  const u32 b = device_buffer("b", kBytes);
  add(launch_of(kernel(kAdd), b, 60));
  repeat(10);
  EXPECT_EQ(recalled(), 0u);
}

// The other kernel writes to all of L2, so that each launch of the first one finds it without its lines.
TEST_F(EqualLaunches, AreSimulatedWhereAnotherKernelHasTakenTheirLines) {
  chip_.memory.l2.size = config::Bytes(256 * 1024);
  chip_.memory.l2.ways = 4;
  const u32 b = device_buffer("b", kBytes), other = device_buffer("other", 64 * kBytes);
  const u32 k = kernel(kAdd);
  add(launch_of(k, b, 60), launch_of(k, b, 60), launch_of(k, b, 60),
      launch_of(kernel(R"(
    ld_arg X0, 0
    get_block_idx X1
    mul X1, X1, 65536
    add X0, X0, X1
    copy_ubuf_to_gm X0, 0, 0, 1, 2048, 0, 0
    end
  )"),
                other, 40));
  repeat(4);
  // Of the three that follow each other in each turn: the first is simulated, in the first turn also the second.
  EXPECT_EQ(recalled(), 7u);
}

// The lines are there, but as another kernel has read them: they would have to be written back after the launch.
TEST_F(EqualLaunches, AreSimulatedWhereTheirLinesAreNoLongerDirty) {
  chip_.memory.l2.size = config::Bytes(256 * 1024);
  chip_.memory.l2.ways = 4;
  const u32 b = device_buffer("b", kBytes), other = device_buffer("other", 64 * kBytes);
  const auto moves = [&](const char* move, u64 bytes) {
    return kernel(fmt::format("ld_arg X0, 0\nget_block_idx X1\nmul X1, X1, {}\nadd X0, X0, X1\n{}, 0, 1, {}, 0, 0\nend",
                              bytes, move, bytes / 32));
  };
  const task::KernelLaunch write = launch_of(moves("copy_ubuf_to_gm X0, 0", 1024), b, 40);
  const task::KernelLaunch evict = launch_of(moves("copy_gm_to_ubuf 0, X0", 65536), other, 40);
  const task::KernelLaunch read = launch_of(moves("copy_gm_to_ubuf 0, X0", 1024), b, 40);
  add(write, write, write, evict, read, write, evict);
  EXPECT_EQ(recalled(), 1u);
}

TEST_F(EqualLaunches, HaveEqualArgumentsAndBlocks) {
  const u32 b = device_buffer("b", kBytes), c = device_buffer("c", kBytes);
  const u32 k = kernel(kAdd), same = kernel(kAdd);
  add(launch_of(k, b, 40), launch_of(k, c, 40), launch_of(k, b, 39), launch_of(same, b, 40));
  repeat(2);
  EXPECT_EQ(recalled(), 0u);
}

TEST_F(EqualLaunches, DoNotOverlapOthers) {
  const u32 b = device_buffer("b", kBytes);
  add(launch_of(kernel(kAdd), b, 40));
  repeat(5);
  EXPECT_EQ(recalled(), 3u);
  add(launch_of(kernel(kAdd), b, 40));
  EXPECT_FALSE(models::launches_follow_one_another(stream_, 0));
  EXPECT_EQ(recalled(), 0u);
}

TEST_F(EqualLaunches, OfModelsThatOneStreamExecutesAreInOneChain) {
  const u32 b = device_buffer("b", kBytes), k = kernel(kAdd);
  stream_.models = {"m0", "m1"};
  add(task::ModelExecute{.model = 0}, task::ModelExecute{.model = 1});
  add_bound(0, true, launch_of(k, b, 40));
  add_bound(1, true, launch_of(k, b, 20));
  repeat(5);
  EXPECT_TRUE(models::launches_follow_one_another(stream_, 0));
  EXPECT_EQ(recalled(), 6u);
  add_bound(1, true, launch_of(k, b, 20));
  EXPECT_FALSE(models::launches_follow_one_another(stream_, 0));
}

TEST_F(EqualLaunches, OfAProgramThatReadsTheClockAreSimulated) {
  const u32 b = device_buffer("b", kBytes);
  add(launch_of(kernel("get_sys_cnt X1\nld_arg X0, 0\ncopy_gm_to_ubuf 0, X0, 0, 1, 32, 0, 0\nend"), b, 4));
  repeat(5);
  EXPECT_EQ(recalled(), 0u);
}

TEST_F(EqualLaunches, BeginAfreshWhereMemoryWasFreed) {
  const u32 b = device_buffer("b", kBytes), c = device_buffer("c", kBytes), k = kernel(kAdd);
  const task::KernelLaunch op = launch_of(k, b, 40);
  add(op, op, op, op, task::Free{c}, op, op, op);
  EXPECT_EQ(recalled(), 4u);
  add(task::Free{b});
  EXPECT_FALSE(models::launches_follow_one_another(stream_, 0));
}

TEST_F(EqualLaunches, AreNotTakenOverWhereTheirMemoryIsGone) {
  const u32 b = device_buffer("b", kBytes), k = kernel(kAdd);
  const task::KernelLaunch op = launch_of(k, b, 40);
  add(op, op, op, op, task::Free{b}, op);
  const auto message = [&](bool recall) { return fault_of([&] { told(chip_, stream_, recall); }); };
  EXPECT_THAT(message(true), HasSubstr("freed"));
  EXPECT_EQ(message(true), message(false));
}

// A run that is cut short ends where it would.
TEST_F(EqualLaunches, KeepTheLimitOfCycles) {
  const u32 b = device_buffer("b", kBytes);
  add(launch_of(kernel(kAdd), b, 40));
  repeat(10);
  const Told whole = told(chip_, stream_, false);
  for (const u64 before_end : {1, 500, 1500, 3000}) {
    const u64 limit = whole.records.of("s0.0", 5).end - before_end;
    const auto message = [&](bool recall) { return fault_of([&] { told(chip_, stream_, recall, limit); }); };
    EXPECT_THAT(message(true), HasSubstr("limit"));
    EXPECT_EQ(message(true), message(false));
  }
}

// Kernels of many shapes on small and large L2, in loops with fills between them. In every second program one launch
// follows the other at once, when blocks may not yet be given out, and slices and the FFTS are still reserved.
class RandomLaunches {
 public:
  RandomLaunches(u64 seed, config::ChipConfig& chip) : random_(seed), chip_(chip) {
    chip.memory.l2.size = config::Bytes((u64{64} << any(8)) * 1024);
    if (seed % 2 == 0) {
      chip.scheduler = {.task_start = cycles(any(3)),
                        .block_interval = cycles(any(200)),
                        .block_dispatch = cycles(0),
                        .task_completion = cycles(any(3)),
                        .cross_core_flag = cycles(any(100))};
      chip.memory.l2.slice_write = config::BytesPerCycle{1};
    }
    stream_.arch = chip.arch;
    for (u32 i = 0; i < 3; ++i) {
      task::Buffer& b = stream_.buffers.emplace_back();
      b.name = fmt::format("b{}", i);
      b.bytes = 1 << 20;
    }
    stream_.streams.push_back({.name = "s"});
    for (u32 i = 0; i < 4; ++i)
      stream_.kernels.push_back(
          {.name = fmt::format("k{}", i),
           .type = chip.vector_cores == 0 ? task::KernelType::AI_CORE : task::KernelType::AIV_ONLY,
           .program = isa::assemble(program(), "k.s", chip.arch)});
    const u32 launches = 1 + any(6);
    auto& tasks = stream_.streams[0].tasks;
    for (u32 i = 0; i < launches; ++i) {
      task::KernelLaunch op{.kernel = any(4), .block_dim = 1 + any(40)};
      op.args.emplace_back(task::Slice{.buffer = any(3)});
      tasks.push_back({.name = fmt::format("t{}", i), .op = op});
    }
    if (any(2) == 0) tasks.push_back({.name = "fill", .op = task::MemsetAsync{.dst = {.buffer = any(3)}, .bytes = 64}});
    stream_.host.threads.push_back({.name = "main"});
    stream_.host.threads[0].steps = {HostRepeat{.times = 4 + any(4), .length = 2},
                                     HostEnqueue{.stream = 0, .first = 0, .count = static_cast<u32>(tasks.size())},
                                     task::HostCompute{.seconds = 1.7e-7 * any(400), .name = "host"},
                                     task::SynchronizeStream{0}};
  }
  const task::TaskStream& stream() const { return stream_; }

 private:
  u32 any(u32 count) { return static_cast<u32>(random_.next() % count); }
  std::string program() {
    const u32 turns = 1 + any(4), bursts = 1 + any(6), blocks = 1 + any(20), gap = any(20);
    const u32 span = 32 * (32 + any(200));
    std::string out = fmt::format("ld_arg X0, 0\nmov X3, X0\nget_block_idx X1\nmul X1, X1, {}\nadd X0, X0, X1\n", span);
    const char* sync = any(2) == 0 ? "pipe_barrier PIPE_ALL\n" : "";
    if (chip_.vector_cores != 0 && any(3) == 0) out += "set_atomic_add\nset_atomic_f32\n";
    for (u32 i = 0; i < turns; ++i) {
      out += fmt::format("add X2, X0, {}\n", 32 * any(64));
      out += fmt::format("copy_gm_to_ubuf {}, X2, 0, {}, {}, {}, 0\n{}", i * 8192, bursts, blocks, gap, sync);
      if (any(2) == 0) out += fmt::format("vadd.f32 0, 0, 0, {}, 1, 1, 1, 8, 8, 8\n{}", 1 + any(60), sync);
      if (any(3) != 0)
        out += fmt::format("copy_ubuf_to_gm X2, {}, 0, {}, {}, 0, {}\n{}", i * 8192, bursts, blocks, gap, sync);
    }
    if (chip_.vector_cores != 0 && any(3) == 0) {
      out += "set_ffts_base_addr 1\n";
      const u32 sets = 1 + any(3), waits = any(sets + 1);
      for (u32 i = 0; i < sets; ++i)
        out += "ffts_cross_core_sync PIPE_MTE3, 0x1 | 3 << 8\n";
      for (u32 i = 0; i < waits; ++i)
        out += "wait_flag_dev 3\n";
    }
    for (u32 i = 0, stores = any(3) == 0 ? any(40) : 0; i < stores; ++i)  // of all blocks to one line
      out += "st_dev.b64 X1, X3, 0\n";
    return out + "end";
  }

  Random random_;
  config::ChipConfig& chip_;
  task::TaskStream stream_;
};

TEST(EqualLaunchesAtRandom, TellWhatAllTell) {
  u64 recalled = 0, launches = 0;
  for (const char* name : {"ascend-910b1", "ascend-310p3"}) {
    for (u64 seed = 0; seed < 150; ++seed) {
      SCOPED_TRACE(fmt::format("{} {}", name, seed));
      config::ChipConfig chip = config::load_chip(name);
      const RandomLaunches random(seed, chip);
      const Told all = told(chip, random.stream(), false), some = told(chip, random.stream(), true);
      expect_same(all, some);
      if (testing::Test::HasFailure()) return;
      recalled += some.result.equal_launches;
      launches += some.records.all.size();
    }
  }
  EXPECT_GT(recalled, launches / 10);
  EXPECT_LT(recalled, launches);
}

}  // namespace
}  // namespace vinci::test
