// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A kernel that streams through buffers larger than L2, between two reads of one that L2 could keep.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/config/load.h"
#include "sim/task/load.h"
#include "tests/system/all_modes.h"

namespace vinci {
namespace {

constexpr u64 kKept = 32 << 10, kBig = 512 << 10, kL2 = 256 << 10;

constexpr std::string_view kKernel = R"(
        ld_arg X0, 0
        ld_arg X1, 1
        ld_arg X2, 2
        copy_gm_to_ubuf 32768, X0, 0, 1, 1024, 0, 0
        pipe_barrier PIPE_ALL
        add X3, X1, 524288
        loop:
        copy_gm_to_ubuf 0, X1, 0, 1, 1024, 0, 0
        pipe_barrier PIPE_ALL
        copy_ubuf_to_gm X2, 0, 0, 1, 1024, 0, 0
        pipe_barrier PIPE_ALL
        add X1, X1, 32768
        add X2, X2, 32768
        blt X1, X3, loop
        copy_gm_to_ubuf 32768, X0, 0, 1, 1024, 0, 0
        pipe_barrier PIPE_ALL
        end
)";

// What the run counts in L2 and HBM, with `hint` for the two large buffers. The bits are checked.
nlohmann::ordered_json counters(std::string_view hint) {
  const config::ChipConfig chip = config::load_chip("ascend-910a", {fmt::format("memory.l2.size={}KiB", kL2 >> 10)});
  std::string text = "vinci: 1\nname: hints\narch: c100\nbuffers:\n";
  text += fmt::format("  in: {{place: host, bytes: {0}, random: true}}\n  out: {{place: host, bytes: {0}}}\n", kBig);
  text += fmt::format("  kept: {{place: device, bytes: {}}}\n", kKept);
  for (const char* name : {"from", "to"})
    text += fmt::format("  {}: {{place: device, bytes: {}, l2: {}}}\n", name, kBig, hint);
  text += fmt::format("kernels:\n  k:\n    code: |{}streams:\n  main:\n", kKernel);
  text += "    - memset_async: {dst: kept, value: 1}\n    - memcpy_async: {dst: from, src: in}\n";
  text += "    - kernel_launch: {kernel: k, args: [kept, from, to]}\n    - memcpy_async: {dst: out, src: to}\n";
  const task::TaskStream stream =
      task::parse_task_stream(std::as_bytes(std::span(text)), "hints.yaml", task::MemoryFiles{});
  const test::Outcome outcome = test::run_all_modes(chip, stream);
  EXPECT_EQ(outcome.host[0], outcome.host[1]) << hint;
  return outcome.result.stats.json();
}

u64 count(const nlohmann::ordered_json& stats, const char* group, const char* name) {
  return stats.at(group).at(name).get<u64>();
}

TEST(CacheHint, NormalStreamsDriveOutWhatElseL2Holds) {
  const auto stats = counters("normal");
  EXPECT_EQ(count(stats, "l2", "hit_bytes"), 0u);
  EXPECT_EQ(count(stats, "l2", "bypass_bytes"), 0u);
  EXPECT_EQ(count(stats, "hbm", "read_bytes"), kKept + kBig + kKept);
  EXPECT_LT(count(stats, "hbm", "write_bytes"), kBig);  // what L2 still holds
  EXPECT_GE(count(stats, "hbm", "write_bytes"), kBig - kL2);
}

TEST(CacheHint, BypassLeavesL2ToTheOthers) {
  const auto stats = counters("bypass");
  EXPECT_EQ(count(stats, "l2", "hit_bytes"), kKept);
  EXPECT_EQ(count(stats, "l2", "miss_bytes"), kKept);
  EXPECT_EQ(count(stats, "l2", "bypass_bytes"), 2 * kBig);
  EXPECT_EQ(count(stats, "hbm", "read_bytes"), kKept + kBig);
  EXPECT_EQ(count(stats, "hbm", "write_bytes"), kBig);
}

TEST(CacheHint, NoAllocateMissesAndStillLeavesL2Alone) {
  const auto stats = counters("no_allocate");
  EXPECT_EQ(count(stats, "l2", "hit_bytes"), kKept);
  EXPECT_EQ(count(stats, "l2", "miss_bytes"), kKept + 2 * kBig);
  EXPECT_EQ(count(stats, "l2", "bypass_bytes"), 0u);
  EXPECT_EQ(count(stats, "hbm", "read_bytes"), kKept + kBig);
  EXPECT_EQ(count(stats, "hbm", "write_bytes"), kBig);
}

}  // namespace
}  // namespace vinci
