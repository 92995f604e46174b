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
