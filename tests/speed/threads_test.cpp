// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Neither bits nor times depend on how many threads of the host move the data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/soc/functional.h"
#include "models/soc/simulate.h"
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
    Problem p = kernel_on_one_core("ascend-910a", program);
    p.chip.ai_cores = 2;
    std::get<task::KernelLaunch>(p.stream.streams[0].tasks[0].op).block_dim = 2;
    task::RunMemory memory(p.stream, true);
    models::simulate(p.chip, p.stream, memory, {.threads = threads});
    const u64 x = memory.address({.buffer = 0});
    const auto value = [&](u64 offset) {
      u16 v = 0;
      memory.gm().read(x + offset, std::as_writable_bytes(std::span(&v, 1)));
      return v;
    };
    for (u64 i = 0; i < 1024; i += 2) {
      ASSERT_EQ(value(i), 9) << i << " with " << threads;
      ASSERT_EQ(value(8192 + i), 7) << i << " with " << threads;
      ASSERT_EQ(value(16384 + i), 7) << i << " with " << threads;
    }
  }
}

// The instruction that is wrong stands behind many of its core whose data may still have to move.
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
      EXPECT_THAT(e.what(), testing::HasSubstr("CMPMASK = 0x1000100010001")) << threads;
    }
  }
}

}  // namespace
}  // namespace vinci::test
