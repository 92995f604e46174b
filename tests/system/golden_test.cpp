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
  for (const std::string_view mode : {"full", "functional", "timing"}) {
    const std::string run =
        fmt::format("'" VINCI_BINARY "' run gemm/gemm.yaml --chip tiny -q --mode {0} --out {0} 2>&1", mode);
    const auto r = shell(folder.path(), run);
    ASSERT_EQ(r.exit_code, 0) << r.output;
  }
  EXPECT_EQ(slurp(folder / "full/c.npy"), slurp(folder / "functional/c.npy"));
  EXPECT_EQ(slurp(folder / "full/stats.json"), slurp(folder / "timing/stats.json"));
  EXPECT_FALSE(std::filesystem::exists(folder / "timing/c.npy"));
  EXPECT_FALSE(std::filesystem::exists(folder / "functional/stats.json"));
}

using Json = nlohmann::ordered_json;

std::string line_of(std::string_view name, const Json& counters) {
  std::string out = fmt::format("  {}:", name);
  for (const auto& [key, value] : counters.items())
    out += fmt::format(" {} {}", key, value.get<u64>());
  return out + "\n";
}

// The counters of a run: those of the chip as they are, those of cores summed up by pipe.
std::string counters_of(const Json& counters) {
  std::string out;
  Json pipes = Json::object();
  for (const auto& [name, group] : counters.items()) {
    if (!name.starts_with("core")) {
      out += line_of(name, group);
      continue;
    }
    for (const auto& [pipe, values] : group.items()) {
      if (!values.is_object()) continue;
      for (const auto& [key, value] : values.items()) {
        Json& sum = pipes[pipe][key];
        sum = (sum.is_null() ? 0 : sum.get<u64>()) + value.get<u64>();
      }
    }
  }
  for (const auto& [pipe, values] : pipes.items())
    out += line_of("all " + pipe, values);
  return out;
}

// The result: its last bytes as they are, so that a difference can be looked at, and a hash of all for the others.
std::string result_of(const std::string& npy) {
  const std::string header = npy.substr(npy.find('{'), npy.find('}') + 1 - npy.find('{'));
  std::string last;
  for (const char c : npy.substr(npy.size() - 16))
    last += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return fmt::format("  c.npy: {} ends with {}, FNV-1a of the file {:016x}\n", header, last, fnv1a(npy));
}

// What golden.txt says of a run: its command, times, counters and the result.
std::string measure(const std::string& chip, const std::string& shape, const std::string& options) {
  const test::TempFolder folder(folder_name());
  const std::string command = fmt::format("gen gemm --chip {} {} {}", chip, shape, options);
  const auto gen = shell(folder.path(), fmt::format("'" VINCI_BINARY "' {} -o gemm 2>&1", command));
  if (gen.exit_code != 0) return gen.output;
  const auto run =
      shell(folder.path(), fmt::format("'" VINCI_BINARY "' run gemm/gemm.yaml --chip {} -q --out out 2>&1", chip));
  if (run.exit_code != 0) return run.output;
  const Json stats = Json::parse(slurp(folder / "out/stats.json"));
  std::string out = command + "\n";
  for (const std::string key : {"cycles", "instructions", "cube_macs", "kernel_cycles", "cold_cycles"})
    out += fmt::format("  {}: {}\n", key, stats.at(key).get<u64>());
  for (const Json& task : stats.at("tasks")) {
    out += fmt::format("  {}: enqueued {} start {} end {}\n", task.at("name").get<std::string>(),
                       task.at("enqueued").get<u64>(), task.at("start").get<u64>(), task.at("end").get<u64>());
  }
  return out + counters_of(stats.at("counters")) + result_of(slurp(folder / "out/c.npy"));
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
