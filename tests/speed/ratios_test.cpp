// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Speed as ratios within one run: both sides of a ratio are measured in turns, as CPU time of one thread, and the least
// of several rounds counts. Bounds are about twice what an idle machine shows: they catch what became slow by a factor,
// such as a cost that grows with the length of a run. `./dev bench` has the figures themselves (docs/performance.md).
#include <cblas.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <vector>

#include "isa/insns/cube.h"
#include "models/soc/functional.h"
#include "models/soc/simulate.h"
#include "sim/kernel/calendar.h"
#include "sim/task/run_memory.h"
#include "tests/speed/problems.h"
#include "tests/support/gemm_folder.h"

namespace vinci::test {
namespace {

// Only optimised code is worth measuring.
bool optimised() {
#if defined(__OPTIMIZE__) && !defined(VINCI_SANITIZED)
  return true;
#else
  return false;
#endif
}

double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

template <class F>
double seconds(F&& work) {
  const double begin = cpu_now();
  work();
  return cpu_now() - begin;
}

// The least time of each.
template <class... F>
std::array<double, sizeof...(F)> in_turns(int rounds, F&&... work) {
  std::array<double, sizeof...(F)> best;
  best.fill(std::numeric_limits<double>::infinity());
  for (int i = 0; i < rounds; ++i) {
    usize n = 0;
    ((best[n] = std::min(best[n], seconds(work)), ++n), ...);
  }
  return best;
}

// For who looks at the report of the test.
void record(const char* what, double ratio) { testing::Test::RecordProperty(what, fmt::format("{:.2f}", ratio)); }

// Copies, flags, vector and scalar instructions, `turns` times 8.
Problem loop(u64 turns) {
  return kernel_on_one_core("ascend-910a", fmt::format("  ld_arg X3, 0\n  mov X0, 0\nloop:\n"
                                                       "  copy_gm_to_ubuf 0, X3, 0, 1, 32, 0, 0\n"
                                                       "  set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n"
                                                       "  wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n"
                                                       "  vadd.f16 1024, 0, 0, 4, 1, 1, 1, 8, 8, 8\n"
                                                       "  set_flag PIPE_V, PIPE_MTE2, EVENT_ID1\n"
                                                       "  wait_flag PIPE_V, PIPE_MTE2, EVENT_ID1\n"
                                                       "  add X0, X0, 1\n"
                                                       "  blt X0, {}, loop\n  end\n",
                                                       turns));
}

TEST(Speed, TheCostOfAnInstructionDoesNotGrowWithTheRun) {
  if (!optimised()) GTEST_SKIP() << "not optimised";
  u64 few = 0, many = 0;
  const auto run = [](const Problem& p, u64& instructions) {
    task::RunMemory memory(p.stream, false);
    instructions = models::simulate(p.chip, p.stream, memory, {.threads = 1}).instructions;
  };
  const Problem shorter = loop(12'500), longer = loop(125'000);
  const auto [small, large] = in_turns(
      5, [&] { run(shorter, few); }, [&] { run(longer, many); });
  EXPECT_GE(few, 100'000u);
  EXPECT_GE(many, 1'000'000u);
  const double each_of_few = small / static_cast<double>(few), each_of_many = large / static_cast<double>(many);
  record("growth", each_of_many / each_of_few);
  EXPECT_LT(each_of_many, 1.5 * each_of_few) << each_of_few * 1e9 << " and " << each_of_many * 1e9 << " ns";
}

// Copies of 64 KiB, `turns` times, `step` bytes apart.
Problem lines(u64 turns, u64 step) {
  Problem p = kernel_on_one_core("ascend-910a", fmt::format("  ld_arg X3, 0\n  mov X0, 0\nloop:\n"
                                                            "  copy_gm_to_ubuf 0, X3, 0, 1, 2048, 0, 0\n"
                                                            "  add X3, X3, {}\n  add X0, X0, 1\n"
                                                            "  blt X0, {}, loop\n  end\n",
                                                            step, turns));
  p.stream.buffers[0].bytes = u64{128} << 20;
  p.chip.memory.l2.size = config::Bytes{u64{8} << 20};
  return p;
}

TEST(Speed, ALineThatL2HasToFetchCostsFewTimesOneThatItHas) {
  if (!optimised()) GTEST_SKIP() << "not optimised";
  const auto run = [](const Problem& p) {
    task::RunMemory memory(p.stream, false);
    models::simulate(p.chip, p.stream, memory, {.threads = 1});
  };
  constexpr u64 kCopy = u64{64} << 10;
  const Problem none = lines(1, 0), hits = lines(2000, 0), misses = lines(2000, kCopy);
  const auto [start, hit, miss] = in_turns(
      5, [&] { run(none); }, [&] { run(hits); }, [&] { run(misses); });
  const double ratio = (miss - start) / (hit - start);
  record("miss_to_hit", ratio);
  EXPECT_GT(ratio, 1);
  EXPECT_LT(ratio, 10);
}

// Units that sleep for more than a window of the calendar, and one that acts in each cycle.
TEST(Speed, TheCostOfAnActDoesNotGrowWithTheUnitsThatSleep) {
  if (!optimised()) GTEST_SKIP() << "not optimised";
  const auto run = [](usize sleepers) {
    constexpr u64 kActs = 200'000;
    sim::Calendar calendar;
    std::vector<sim::Calendar::Entry> entries(1 + sleepers);
    for (usize i = 1; i <= sleepers; ++i)
      calendar.insert(entries[i], 10 * kActs + i % 500);
    calendar.insert(entries[0], 0);
    for (u64 acts = 0; acts < kActs; ++acts) {
      const u64 now = calendar.first();
      calendar.go_to(now);
      ASSERT_EQ(calendar.take(now), entries.data());
      calendar.insert(entries[0], now + 1 + acts % 8);
    }
  };
  const auto [alone, among_many] = in_turns(
      5, [&] { run(1); }, [&] { run(5000); });
  record("sleepers", among_many / alone);
  EXPECT_LT(among_many, 2 * alone);
}

// A long stream and many short ones, which one host thread enqueues in turn.
TEST(Speed, TheCostOfATaskDoesNotGrowWithTheStreamsThatHaveEnded) {
  if (!optimised()) GTEST_SKIP() << "not optimised";
  constexpr usize kTasks = 100'000, kStreams = 4'000;
  const task::Task task{.name = "t", .op = task::KernelLaunch{.block_dim = 1}};
  Problem p{.chip = config::load_chip("ascend-910b1")};
  p.stream.arch = p.chip.arch;
  p.stream.kernels.push_back({.name = "k", .type = task::KernelType::AIV_ONLY, .program = {}, .seconds = 1e-6});
  p.stream.streams.push_back({.name = "long", .tasks = decltype(task::Stream::tasks)(kTasks, task)});
  Problem with_short = p;
  for (usize i = 0; i < kStreams; ++i)
    with_short.stream.streams.push_back({.name = fmt::format("s{}", i), .tasks = {task}});
  const auto run = [](const Problem& problem) {
    task::RunMemory memory(problem.stream, true);
    models::run_functional(problem.chip, problem.stream, memory, {});
  };
  const auto [alone, beside_many] = in_turns(
      5, [&] { run(p); }, [&] { run(with_short); });
  record("ended_streams", beside_many / alone);
  EXPECT_LT(beside_many, 3 * alone);
}

// The meaning of a tile of `mad`, from FP16, compared with a product of the same size by OpenBLAS, from FP32.
TEST(Speed, MadKeepsUpWithSgemm) {
  if (!optimised()) GTEST_SKIP() << "not optimised";
  using isa::BufId;
  constexpr int kEdge = 128, kTimes = 40;
  isa::GlobalMemory gm;
  isa::CoreMem mem{isa::BufSizes{0, 0, 64 << 10, 64 << 10, 128 << 10, 0}, gm};
  for (const BufId b : {BufId::L0A, BufId::L0B}) {
    for (u64 at = 0; at < mem[b].size(); at += 2)
      mem[b].store<u16>(at, static_cast<u16>(0x3000 + at % 0xc00));
  }
  isa::Spr spr;
  u64 status = 0;
  isa::ResultRegisters results;
  isa::ExecContext context{mem, spr, isa::Arch::c220, isa::OverflowMode::inf_nan, status, results};
  const isa::insn::Mad::Args args{0, 0, 0, kEdge, kEdge, kEdge, 1, isa::insn::Mad::f162f32};
  const std::vector<float> a(kEdge * kEdge, 0.5f), b(kEdge * kEdge, 0.25f);
  std::vector<float> c(kEdge * kEdge);
  openblas_set_num_threads(1);
  const auto [mad, sgemm] = in_turns(
      9,
      [&] {
        for (int i = 0; i < kTimes; ++i)
          isa::insn::Mad::execute(args, context);
      },
      [&] {
        for (int i = 0; i < kTimes; ++i) {
          cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kEdge, kEdge, kEdge, 1, a.data(), kEdge, b.data(),
                      kEdge, 0, c.data(), kEdge);
        }
      });
  record("mad_to_sgemm", mad / sgemm);
  EXPECT_LT(mad, 1.6 * sgemm);
}

// A whole product in FP16, with all copies between memories, and one by OpenBLAS from FP32. A processor with AVX-512
// shows 1.2 and 1.5 of its AVX2 kernels, 1.7 and 2.3 of the AVX-512 ones.
TEST(Speed, AProductKeepsUpWithSgemm) {
  if (!optimised()) GTEST_SKIP() << "not optimised";
  constexpr int kEdge = 1536;
  const GemmFolder gemm(kEdge, 8);
  const std::vector<float> a(kEdge * kEdge, 0.5f), b(kEdge * kEdge, 0.25f);
  std::vector<float> c(kEdge * kEdge);
  openblas_set_num_threads(1);
  const auto [functional, full, sgemm] = in_turns(
      5,
      [&] {
        task::RunMemory memory(gemm.stream, true);
        models::run_functional(gemm.chip, gemm.stream, memory, {});
      },
      [&] {
        task::RunMemory memory(gemm.stream, true);
        models::simulate(gemm.chip, gemm.stream, memory, {.threads = 1});
      },
      [&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kEdge, kEdge, kEdge, 1, a.data(), kEdge, b.data(), kEdge,
                    0, c.data(), kEdge);
      });
  record("functional_to_sgemm", functional / sgemm);
  record("full_to_sgemm", full / sgemm);
  EXPECT_LT(functional, 3 * sgemm);
  EXPECT_LT(full, 4 * sgemm);
}

// A full run is a functional one and a timing-only one; what it adds is that blocks take turns.
TEST(Speed, FullIsNoMoreThanItsParts) {
  if (!optimised()) GTEST_SKIP() << "not optimised";
  const GemmFolder gemm(1024, 8);
  const auto [full, functional, timing] = in_turns(
      5,
      [&] {
        task::RunMemory memory(gemm.stream, true);
        models::simulate(gemm.chip, gemm.stream, memory, {.threads = 1});
      },
      [&] {
        task::RunMemory memory(gemm.stream, true);
        models::run_functional(gemm.chip, gemm.stream, memory, {});
      },
      [&] {
        task::RunMemory memory(gemm.stream, false);
        models::simulate(gemm.chip, gemm.stream, memory, {.threads = 1});
      });
  record("full_to_parts", full / (functional + timing));
  record("timing_to_functional", timing / functional);
  EXPECT_LT(full, 1.6 * (functional + timing)) << functional << " s and " << timing << " s";
  EXPECT_LT(timing, 0.85 * functional);
}

}  // namespace
}  // namespace vinci::test
