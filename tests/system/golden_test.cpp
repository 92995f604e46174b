// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Runs are reproducible: the same bytes from one run to the next, and from one compiler, optimisation level and machine
// to another. The second is what golden.txt is for: VINCI_UPDATE_EXPECTED=1 rewrites it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "isa/base/types.h"
#include "tests/support/shell.h"

namespace vinci {
namespace {

using test::shell;
using test::slurp;

std::string folder_name() {
  return fmt::format("vinci_{}", testing::UnitTest::GetInstance()->current_test_info()->name());
}

u64 fnv1a(std::string_view bytes) {
  u64 hash = 0xcbf29ce484222325;
  for (const char c : bytes)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

TEST(Golden, SurroundingsDoNotMatter) {
  const test::TempFolder folder(folder_name());
  ASSERT_EQ(shell(folder.path(), "'" VINCI_BINARY "' gen gemm --m 65 --n 130 --k 200 --chip tiny -o gemm").exit_code,
            0);
  std::filesystem::create_directories(folder.path() / "elsewhere" / "tmp");
  const std::string padding(20'000, 'x');  // moves the stack
  const auto first = shell(folder.path(), "'" VINCI_BINARY "' run gemm/gemm.yaml --chip tiny --trace -q --out one");
  const auto second =
      shell(folder.path() / "elsewhere",
            "env -i TMPDIR=tmp LANG=de_DE.UTF-8 LC_ALL=tr_TR.UTF-8 TZ=Asia/Tokyo P=" + padding +
                " '" VINCI_BINARY "' run '" + folder / "gemm/gemm.yaml" + "' --chip tiny --trace -q --out ../two");
  ASSERT_EQ(first.exit_code, 0) << first.output;
  ASSERT_EQ(second.exit_code, 0) << second.output;
  for (const std::string name : {"stats.json", "c.npy", "summary.txt", "chip.yaml", "trace.json", "instructions.csv"}) {
    const std::string one = slurp(folder / ("one/" + name));
    EXPECT_GT(one.size(), 100u) << name;
    EXPECT_TRUE(one == slurp(folder / ("two/" + name))) << name;
  }
}

TEST(Golden, ModesWriteTheSameFiles) {
  const test::TempFolder folder(folder_name());
  ASSERT_EQ(shell(folder.path(), "'" VINCI_BINARY "' gen gemm --m 40 --n 50 --k 60 --chip tiny -o gemm").exit_code, 0);
  for (const std::string mode : {"full", "functional", "timing"}) {
    const auto r = shell(folder.path(), "'" VINCI_BINARY "' run gemm/gemm.yaml --chip tiny -q --mode " + mode +
                                            " --out " + mode + " 2>&1");
    ASSERT_EQ(r.exit_code, 0) << r.output;
  }
  EXPECT_EQ(slurp(folder / "full/c.npy"), slurp(folder / "functional/c.npy"));
  EXPECT_EQ(slurp(folder / "full/stats.json"), slurp(folder / "timing/stats.json"));
  EXPECT_FALSE(std::filesystem::exists(folder / "timing/c.npy"));
  EXPECT_FALSE(std::filesystem::exists(folder / "functional/stats.json"));
}

// A line of golden.txt is what a pinned run gives: chip, shape, options, cycles, hash of stats.json, hash of c.npy.
std::string measure(const std::string& chip, const std::string& shape, const std::string& options) {
  const test::TempFolder folder(folder_name());
  const auto gen = shell(folder.path(),
                         fmt::format("'" VINCI_BINARY "' gen gemm --chip {} {} {} -o gemm 2>&1", chip, shape, options));
  if (gen.exit_code != 0) return gen.output;
  const auto run =
      shell(folder.path(), fmt::format("'" VINCI_BINARY "' run gemm/gemm.yaml --chip {} -q --out out 2>&1", chip));
  if (run.exit_code != 0) return run.output;
  const std::string stats = slurp(folder / "out/stats.json");
  return fmt::format("{} {} {}: cycles {} stats {:016x} data {:016x}\n", chip, shape, options,
                     nlohmann::json::parse(stats).at("cycles").get<u64>(), fnv1a(stats),
                     fnv1a(slurp(folder / "out/c.npy")));
}

TEST(Golden, PinnedRuns) {
  const std::string now = measure("ascend-910b1", "--m 300 --n 200 --k 700", "--out-type f16") +
                          measure("ascend-910a", "--m 130 --n 47 --k 260", "--out-type f32") +
                          measure("ascend-310p3", "--m 90 --n 333 --k 77", "--double-buffer off");
  if (std::getenv("VINCI_UPDATE_EXPECTED") != nullptr) std::ofstream(VINCI_GOLDEN, std::ios::binary) << now;
  EXPECT_EQ(now, slurp(VINCI_GOLDEN)) << "if the timing model was changed on purpose: tests/system/README.md";
}

}  // namespace
}  // namespace vinci
