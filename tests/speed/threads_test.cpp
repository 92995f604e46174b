// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Neither bits nor times depend on how many threads of the host move the data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "models/soc/functional.h"
#include "models/soc/simulate.h"
#include "sim/task/run_memory.h"
#include "tests/speed/problems.h"
#include "tests/support/gemm_folder.h"

namespace vinci::test {
namespace {

std::vector<std::byte> bytes_of(const task::RunMemory& memory, const task::TaskStream& stream, std::string_view name) {
  for (u32 i = 0; i < stream.buffers.size(); ++i) {
    if (stream.buffers[i].name == name) return {memory.host(i).begin(), memory.host(i).end()};
  }
  return {};
}

TEST(Threads, BitsAndTimesAreThoseOfOne) {
  const GemmFolder gemm(320, 4);  // long enough for batches of instructions to change threads
  task::RunMemory functional(gemm.stream, true);
  models::run_functional(gemm.chip, gemm.stream, functional, {});
  const std::vector<std::byte> expected = bytes_of(functional, gemm.stream, "c");
  ASSERT_FALSE(expected.empty());
  task::RunMemory none(gemm.stream, false);
  const models::Result timing = models::simulate(gemm.chip, gemm.stream, none, {});
  for (const u32 threads : {1, 2, 5, 2, 5}) {
    task::RunMemory memory(gemm.stream, true);
    const models::Result r = models::simulate(gemm.chip, gemm.stream, memory, {.threads = threads});
    EXPECT_EQ(r.stats, timing.stats) << threads;
    EXPECT_EQ(bytes_of(memory, gemm.stream, "c"), expected) << threads;
  }
}

// The first 32 KiB of global memory as words, after two cores have run a program.
std::vector<u16> run_on_two_cores(const std::string& program, u32 threads) {
  Problem p = kernel_on_one_core("ascend-910a", program);
  p.chip.ai_cores = 2;
  std::get<task::KernelLaunch>(p.stream.streams[0].tasks[0].op).block_dim = 2;
  task::RunMemory memory(p.stream, true);
  models::simulate(p.chip, p.stream, memory, {.threads = threads});
  std::vector<u16> words(16384);
  memory.read(memory.address({.buffer = 0}), std::as_writable_bytes(std::span(words)));
  return words;
}

// What a core writes and reads may happen later than at its time, but not later than another one looks. Two cores on
// the same 1 KiB: by their time, core 0 writes it (7), core 1 copies it, core 0 reads it, core 1 writes it (9), core 0
// stores what it has read. Core 1 ends first; nothing else makes one of them finish what it has put off.
TEST(Threads, CoresSeeGlobalMemoryAsItWasThen) {
  const auto step = [](const char* name, u32 turns, const std::string& then) {
    return fmt::format("{0}:\n  add X0, X0, 1\n  blt X0, {1}, {0}\n{2}", name, turns, then);
  };
  const auto order = [](const char* before, const char* after) {
    return fmt::format("  set_flag PIPE_{0}, PIPE_{1}, EVENT_ID0\n  wait_flag PIPE_{0}, PIPE_{1}, EVENT_ID0\n", before,
                       after);
  };
  const std::string read = "  copy_gm_to_ubuf 0, X3, 0, 1, 32, 0, 0\n",
                    store = "  copy_ubuf_to_gm X4, 0, 0, 1, 32, 0, 0\n";
  const std::string program =
      "  ld_arg X3, 0\n  get_block_idx X1\n  mov X0, 0\n  mul X4, X1, 8192\n  add X4, X4, 8192\n  add X4, X4, X3\n"
      "  mul X5, X1, 2\n  add X5, X5, 7\n  vector_dup.u16 4096, X5, 8, 1, 0, 8, 0\n" +
      order("V", "MTE3") + "  bne X1, 0, other\n" +
      step("write", 5000, "  copy_ubuf_to_gm X3, 4096, 0, 1, 32, 0, 0\n") + step("read", 25000, read) +
      order("MTE2", "MTE3") + step("store", 45000, store) + "  end\nother:\n" + step("copy", 15000, read) +
      order("MTE2", "MTE3") + store + step("overwrite", 35000, "  copy_ubuf_to_gm X3, 4096, 0, 1, 32, 0, 0\n") +
      "  end\n";
  for (const u32 threads : {1, 2, 5}) {
    const std::vector<u16> words = run_on_two_cores(program, threads);
    for (u64 i = 0; i < 512; ++i) {
      ASSERT_EQ(words[i], 9) << i << " with " << threads;
      ASSERT_EQ(words[4096 + i], 7) << i << " with " << threads;
      ASSERT_EQ(words[8192 + i], 7) << i << " with " << threads;
    }
  }
}

// The same of scalar units, which access global memory at once: core 0 writes 7 and reads it again; core 1 loads it,
// then stores 3 in its place; core 0 stores what it has read.
TEST(Threads, ScalarUnitsSeeGlobalMemoryAsItWasThen) {
  const auto wait = [](const char* name, u32 turns) {
    return fmt::format("{0}:\n  add X0, X0, 1\n  blt X0, {1}, {0}\n", name, turns);
  };
  const std::string program =
      "  ld_arg X3, 0\n  get_block_idx X1\n  mov X0, 0\n  add X4, X3, 8192\n  vector_dup.u16 4096, 7, 8, 1, 0, 8, 0\n"
      "  set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n  wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n  bne X1, 0, other\n" +
      wait("write", 5000) + "  copy_ubuf_to_gm X3, 4096, 0, 1, 32, 0, 0\n" + wait("read", 25000) +
      "  copy_gm_to_ubuf 0, X3, 0, 1, 32, 0, 0\n  set_flag PIPE_MTE2, PIPE_MTE3, EVENT_ID0\n"
      "  wait_flag PIPE_MTE2, PIPE_MTE3, EVENT_ID0\n" +
      wait("store", 45000) + "  copy_ubuf_to_gm X4, 0, 0, 1, 32, 0, 0\n  end\nother:\n" + wait("load", 15000) +
      "  ld_dev.b16 X6, X3, 0\n" + wait("overwrite", 35000) + "  st_dev.b16 3, X3, 0\n  st_dev.b16 X6, X3, 2\n  end\n";
  for (const u32 threads : {1, 2, 5}) {
    const std::vector<u16> words = run_on_two_cores(program, threads);
    EXPECT_EQ(words[0], 3) << threads;
    EXPECT_EQ(words[1], 7) << "what core 1 has loaded; " << threads;
    EXPECT_EQ(words[4096], 7) << "what core 0 has read before; " << threads;
  }
}

// Small products at random places of the buffers of one core, one after the other, and between them copies, products
// and ways out at random that read what several of them have left, without any flag: their order is that of time, for
// all numbers of threads. `disorder`: of how many hundredths that is.
std::string random_cube_program(u32 seed, u32 disorder) {
  std::minstd_rand random(seed);
  const auto below = [&](u32 n) { return static_cast<u32>(random() >> 8) % n; };
  const auto gm = [&] { return below(100) < disorder ? "X4" : "X3"; };
  std::string s = "  ld_arg X3, 0\n  add X4, X3, 524288\n";
  for (u32 i = 0; i < 12; ++i) {
    s += fmt::format("  copy_gm_to_cbuf_multi_nd2nz_b16 {}, X3, 0, 1, 128, 128, 0, {}, 128, 1, 0\n", i * 32768,
                     128 + 16 * below(20));
  }
  const auto product = [&] {
    const u32 m = 16 + 16 * below(8), k = 16 + 16 * below(4), n = 16 + 16 * below(8);
    const u32 l1 = below(5) * 65536, l0a = below(4) * 16384, l0b = below(4) * 16384, l0c = below(2) * 65536;
    const u32 less = below(100) < disorder + 5 ? 1 + below(3) : 0;  // the rest is what was there before
    s += fmt::format("  copy_gm_to_cbuf_multi_nd2nz_b16 {}, {}, 0, 1, {}, {}, 0, 256, {}, 1, 0\n", l1, gm(),
                     m - (less & 1), k, m);
    s += fmt::format("  copy_gm_to_cbuf_multi_nd2nz_b16 {}, {}, 0, 1, {}, {}, 0, 512, {}, 1, 0\n", l1 + 32768, gm(), k,
                     n, k);
    s += "  pipe_barrier PIPE_ALL\n";
    for (u32 i = 0; i < k / 16; ++i) {
      s += fmt::format("  load_cbuf_to_ca {}, {}, {}, {}, 1, 0, 0, {}\n", l0a + i * 512, l1, i * m / 16, m / 16,
                       k / 16 - 1);
      s += fmt::format("  load_cbuf_to_cb {}, {}, {}, {}, {}, 0, 1\n", l0b + i * n / 16 * 512, l1 + 32768, i, n / 16,
                       k / 16);
    }
    s += "  pipe_barrier PIPE_ALL\n";
    s += fmt::format("  mad.f162f32 {}, {}, {}, {}, {}, {}, {}\n", l0c, l0a, l0b, m - (less & 2), k, n - (less & 2),
                     below(9) == 0 ? 0 : 1);
    s += "  pipe_barrier PIPE_ALL\n";
    s += fmt::format("  add X5, X4, {}\n  copy_matrix_cc_to_gm X5, {}, 0, {}, {}, 256, {}, 0, 1, 0, 0, 1\n",
                     below(7) * 65536 + below(2) * 256, l0c, n, m, m);
  };
  const auto anything = [&] {
    const u32 tile = below(4) * 8192;
    switch (below(7)) {
      case 0:
        s += fmt::format("  copy_gm_to_cbuf_multi_nd2nz_b16 {}, {}, 0, 1, 64, {}, 0, 256, 64, 1, 0\n", below(96) * 4096,
                         gm(), 16 + below(200));
        break;
      case 1: s += fmt::format("  load_cbuf_to_ca {}, {}, {}, 16, 1, 0, 0\n", tile, below(32) * 4096, below(64)); break;
      case 2:
      case 3:
        s += fmt::format("  load_cbuf_to_cb {}, {}, {}, {}, {}, 0, {}\n", below(6) * 8192, below(32) * 4096, below(64),
                         16 + below(17), 1 + below(3), below(2));
        break;
      case 4:
        s += fmt::format("  copy_matrix_cc_to_gm {}, {}, 0, {}, 64, 256, 128, 0, {}, {}, 0, 1\n", gm(),
                         below(3) * 32768, 16 + 16 * below(6), below(2), below(2));
        break;
      default: {
        static constexpr std::array kTypes{"f162f32", "s8", "bf162f32"};
        s += fmt::format("  mad.{} {}, {}, {}, {}, {}, {}, {}\n", kTypes[below(6) < 4 ? 0 : 1 + below(2)],
                         below(3) * 32768, tile, below(5) * 8192, 128 - below(29), 40 + below(25), 128 - below(30),
                         below(4) == 0 ? 1 : 0);
      }
    }
  };
  for (u32 i = 0; i < 150; ++i) {
    product();
    for (u32 more = below(100) < disorder ? 1 + below(3) : 0; more > 0; --more)
      anything();
  }
  return s + "  pipe_barrier PIPE_ALL\n  end\n";
}

// What is left of 1 MiB of random numbers after the program, with each number of threads the same.
void expect_same_bits(const std::string& program, u32 seed) {
  Problem p = kernel_on_one_core("ascend-910b1", program);
  p.stream.kernels[0].type = task::KernelType::AIC_ONLY;
  std::vector<u16> numbers(1 << 19);
  std::minstd_rand random(seed);
  for (u16& n : numbers)
    n = static_cast<u16>(0x2c00 + random() % 0x1000 + (random() & 0x8000));
  std::vector<std::byte> expected;
  for (const u32 threads : {1, 2, 3, 5, 2}) {
    task::RunMemory memory(p.stream, true);
    const u64 x = memory.address({.buffer = 0});
    memory.gm().write(x, std::as_bytes(std::span(numbers)));
    models::simulate(p.chip, p.stream, memory, {.threads = threads});
    std::vector<std::byte> all(1 << 20);
    memory.gm().read(x, all);
    if (expected.empty()) expected = all;
    ASSERT_TRUE(all == expected) << "seed " << seed << " with " << threads;
  }
  ASSERT_FALSE(std::ranges::equal(expected, std::as_bytes(std::span(numbers))));
}

TEST(Threads, OneCoreIsWorthSeveral) {
  for (u32 seed = 1; seed <= 6; ++seed)
    expect_same_bits(random_cube_program(seed, std::array{0u, 2u, 20u}[seed % 3]), seed);
}

// A copy of hundreds of pieces leaves what an instruction before has written between them, which is read after it.
TEST(Threads, WhatLiesBetweenThePiecesOfACopyStays) {
  for (const std::string_view copy : {"1, 4800, 0, 4800, 32, 1, 0", "16, 272, 0, 512, 32, 2, 0"}) {
    expect_same_bits(fmt::format(R"(  ld_arg X3, 0
  mov X10, 0
busy:
  mad.f162f32 0, 0, 0, 256, 64, 128, 1
  add X10, X10, 1
  blt X10, 40, busy
  mov X10, 0
loop:
  mul X4, X10, 9600
  add X4, X4, X3
  copy_gm_to_cbuf_multi_nd2nz_b16 0, X4, 0, 1, 16, 128, 0, 4800, 16, 1, 0
  copy_gm_to_cbuf_multi_nd2nz_b16 0, X4, 0, 1, {}
  set_flag PIPE_MTE2, PIPE_MTE1, EVENT_ID0
  wait_flag PIPE_MTE2, PIPE_MTE1, EVENT_ID0
  load_cbuf_to_ca 0, 512, 0, 1, 1, 0, 0
  load_cbuf_to_cb 0, 1536, 0, 1, 1, 0, 1
  set_flag PIPE_MTE1, PIPE_M, EVENT_ID0
  wait_flag PIPE_MTE1, PIPE_M, EVENT_ID0
  mul X5, X10, 1024
  mad.f162f32 X5, 0, 0, 16, 16, 16, 1
  pipe_barrier PIPE_ALL
  add X10, X10, 1
  blt X10, 48, loop
  add X5, X3, 524288
  copy_matrix_cc_to_gm X5, 0, 0, 16, 768, 16, 768, 0, 0, 0, 0, 1
  pipe_barrier PIPE_ALL
  end
)",
                                 copy),
                     7);
  }
}

TEST(Threads, AProductOfOneCoreHasTheSameBits) {
  const GemmFolder gemm(1024, 1);
  task::RunMemory functional(gemm.stream, true);
  models::run_functional(gemm.chip, gemm.stream, functional, {});
  const std::vector<std::byte> expected = bytes_of(functional, gemm.stream, "c");
  for (const u32 threads : {1, 2, 4}) {
    task::RunMemory memory(gemm.stream, true);
    const models::Result r = models::simulate(gemm.chip, gemm.stream, memory, {.threads = threads});
    EXPECT_TRUE(bytes_of(memory, gemm.stream, "c") == expected) << threads;
    EXPECT_EQ(r.stats, models::simulate(gemm.chip, gemm.stream, memory, {.threads = 1}).stats) << threads;
  }
}

// The instruction that is wrong follows many of its core whose data may still have to move.
TEST(Threads, AFaultHasItsPlaceOnAllOfThem) {
  // Which masks mode 2 of vsel reads is known when it executes: here at no multiple of 32 B.
  std::string program = "vector_dup.u16 0, 1, 1, 1, 0, 8, 0\nset_cmpmask 0\n";
  for (int i = 0; i < 60; ++i)
    program += "vadd.f16 4096, 8192, 12288, 4, 1, 1, 1, 8, 8, 8\n";
  program += "vsel.f16 0, 1024, 2048, 4, 1, 1, 1, 8, 8, 8, 2\nend\n";
  std::string first;
  for (const u32 threads : {1, 2, 5}) {
    Problem p = kernel_on_one_core("ascend-310p3", program);
    task::RunMemory memory(p.stream, true);
    try {
      models::simulate(p.chip, p.stream, memory, {.threads = threads});
      ADD_FAILURE() << "no fault with " << threads;
    } catch (const Error& e) {
      if (first.empty()) first = e.what();
      EXPECT_EQ(e.what(), first) << threads;
      EXPECT_THAT(e.what(), testing::HasSubstr("loop.s:63")) << threads;
      EXPECT_THAT(e.what(), testing::HasSubstr("CMPMASK = 0x10001 ")) << threads;
    }
  }
}

}  // namespace
}  // namespace vinci::test
