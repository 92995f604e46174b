// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "models/soc/functional.h"
#include "sim/config/load.h"
#include "sim/task/run_memory.h"
#include "tests/support/timed_run.h"

namespace vinci::test {
namespace {

constexpr u32 kBlocks = 12;
constexpr u64 kElements = 64;

// Every block adds its number plus one to the same 64 values, several times.
constexpr std::string_view kProgram = R"(
  ld_arg X0, 0
  get_block_idx X1
  add X1, X1, 1
  vector_dup.s32 0, X1, 1, 1, 0, 8, 0
  set_flag PIPE_V, PIPE_MTE3, EVENT_ID0
  wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0
  set_atomic_add
  set_atomic_s32
  copy_ubuf_to_gm X0, 0, 0, 1, 8, 0, 0
  copy_ubuf_to_gm_align_b32 X0, 0, 0, 2, 100, 0, 0, 0, 28
  end
)";

// What the sums are: 12 * 13 / 2 from the whole copy; and again at elements 0..24 and 32..56 from the rows of 100
// bytes.
i32 expected(u64 i) { return 78 * (1 + (i % 32 < 25 ? 1 : 0)); }

// The order of cores is not defined, but sums of integers do not know it.
TEST(AtomicWrites, OfAllCoresAddUpInEveryMode) {
  const config::ChipConfig chip = config::load_chip("tiny");
  const Launch launch{.kind = isa::CoreKind::vector, .blocks = kBlocks};
  const Ran timed = run_program(chip, kProgram, launch);

  const task::TaskStream stream = kernel_stream(chip, kProgram, launch);
  task::RunMemory memory(stream, true);
  models::run_functional(chip, stream, memory, {.max_cycles = 1'000'000, .trace = nullptr, .progress = {}});
  for (u64 i = 0; i < kElements; ++i) {
    i32 t = 0, f = 0;
    std::memcpy(&t, timed.gm.data() + 4 * i, sizeof t);
    memory.gm().read(kGm + 4 * i, std::as_writable_bytes(std::span(&f, 1)));
    EXPECT_EQ(t, expected(i)) << i;
    EXPECT_EQ(f, expected(i)) << i;
  }
  // A read-modify-write at L2 counts once, as a write.
  EXPECT_EQ(timed.result.stats["l2"]["write_bytes"], kBlocks * (256 + 200));
  EXPECT_EQ(timed.result.stats["l2"]["read_bytes"], 0);
}

}  // namespace
}  // namespace vinci::test
