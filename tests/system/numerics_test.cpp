// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What --numerics writes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/shell.h"

namespace vinci {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Numerics : public testing::Test {
 protected:
  test::ShellResult vinci(const std::string& arguments) const {
    return test::shell(folder_.path(), "'" VINCI_BINARY "' " + arguments + " 2>&1");
  }
  // Runs the study of loss scales; returns what was printed.
  std::string run(const std::string& out, const std::string& options) {
    const auto result = vinci("run study/db-loss-scale.yaml --out " + out + " " + options);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return result.output;
  }
  void SetUp() override {
    const auto made = vinci("gen db-loss-scale --elements 8192 --log2-scale 14 -o study");
    ASSERT_EQ(made.exit_code, 0) << made.output;
  }
  std::string file(const std::string& name) const { return test::slurp(folder_ / name); }

  test::TempFolder folder_{fmt::format("vinci_{}", testing::UnitTest::GetInstance()->current_test_info()->name())};
};

TEST_F(Numerics, ModesAgree) {
  const std::string full = run("full", "--numerics");
  run("functional", "--numerics --mode functional");
  EXPECT_EQ(file("full/numerics.csv"), file("functional/numerics.csv"));
  EXPECT_EQ(file("full/opdebug.json"), file("functional/opdebug.json"));
  EXPECT_EQ(file("full/gradient.npy"), file("functional/gradient.npy"));
  json a = json::parse(file("full/numerics.json")), b = json::parse(file("functional/numerics.json"));
  for (json* report : {&a, &b}) {
    for (json& site : (*report)["sites"]) {
      for (json& first : site["first"])
        first.erase("core");
    }
  }
  EXPECT_EQ(a, b);
  EXPECT_THAT(full, HasSubstr("first: task 'store_loss', vconv_f322f16"));
}

TEST_F(Numerics, TheFirstOverflowIsDumped) {
  run("out", "--numerics --mode functional");
  const json dump = json::parse(file("out/opdebug.json"));
  for (const char* unit : {"DHA Atomic Add", "L2 Atomic Add", "AI Core"}) {
    for (const char* key : {"model_id", "stream_id", "task_id", "task_type", "pc_start", "para_base", "status"})
      EXPECT_TRUE(dump.at(unit).contains(key)) << unit << ' ' << key;
  }
  const json& core = dump.at("AI Core");
  EXPECT_EQ(core.at("status"), 32);
  EXPECT_TRUE(core.contains("kernel_code"));
  EXPECT_EQ(core.at("block_id"), 0);
  // The site that the dump points at is the one that overflowed in the table.
  const json report = json::parse(file("out/numerics.json"));
  bool found = false;
  for (const json& site : report.at("sites")) {
    if (site.at("overflow") == 0) continue;
    found = true;
    EXPECT_EQ(site.at("task"), "store_loss");
    EXPECT_EQ(site.at("overflow"), 128);
    EXPECT_EQ(site.at("saturated"), 128);
    EXPECT_EQ(core.at("task_id"), site.at("task_id"));
    EXPECT_EQ(std::stoul(core.at("pc_start").get<std::string>(), nullptr, 16), 32 * site.at("pc").get<unsigned>());
    EXPECT_EQ(site.at("first").at("overflow").at("operands").at("src"), 163840);
    EXPECT_EQ(site.at("first").at("overflow").at("result"), "inf");
  }
  EXPECT_TRUE(found);
}

TEST_F(Numerics, OpaqueKernelsHaveNoSites) {
  std::ofstream(folder_ / "opaque.yaml") << "vinci: 1\nname: o\narch: c100\nkernels: {k: {time: 5us}}\n"
                                            "streams: {s: [{kernel_launch: {kernel: k}}]}\n";
  const auto result = vinci("run opaque.yaml --numerics --out o");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(json::parse(file("o/numerics.json"))["sites"].empty());
}

TEST_F(Numerics, NothingIsWrittenUnasked) {
  run("out", "--numerics -q --mode functional");
  EXPECT_FALSE(file("out/numerics.json").empty());
  run("out", "-q --mode functional");
  for (const char* name : {"numerics.json", "numerics.csv", "opdebug.json"})
    EXPECT_FALSE(std::filesystem::exists(folder_ / (std::string("out/") + name))) << name;
  const auto timing = vinci("run study/db-loss-scale.yaml --numerics --mode timing");
  EXPECT_EQ(timing.exit_code, 2);
  EXPECT_THAT(timing.output, HasSubstr("--numerics looks at data; mode timing has none"));
}

}  // namespace
}  // namespace vinci
