// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What --numerics writes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
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
    for (const char* list : {"sites", "lines"}) {
      for (json& entry : (*report)[list]) {
        for (json& first : entry["first"])
          first.erase("core");
      }
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

// Small task streams of one's own.
class NumericsOf : public Numerics {
 protected:
  void SetUp() override {}
  // Runs it in a mode; returns numerics.json.
  json census(const std::string& text, const std::string& mode = "full") {
    std::ofstream(folder_ / "stream.yaml") << text;
    out_ = vinci("run stream.yaml --numerics --out o --mode " + mode);
    EXPECT_EQ(out_.exit_code, 0) << out_.output;
    return json::parse(file("o/numerics.json"));
  }
  json opdebug() const { return json::parse(file("o/opdebug.json")); }

  test::ShellResult out_;
};

// The consumer is first in the file and overflows, too, because the producer did.
TEST_F(NumericsOf, TheTaskThatComputesFirstIsNamed) {
  const std::string text = R"(vinci: 1
name: order
arch: c100
kernels:
  producer:
    code: |
      set_vector_mask -1, -1
      vector_dup.f16 0, 0x5cb0, 1, 1, 0, 8, 0
      vmul.f16 256, 0, 0, 1, 1, 1, 1, 8, 8, 8
      end
  consumer:
    code: |
      set_vector_mask -1, -1
      vector_dup.f16 0, 0x7bff, 1, 1, 0, 8, 0
      vadd.f16 256, 0, 0, 1, 1, 1, 1, 8, 8, 8
      end
streams:
  s1:
    - stream_wait_event: ready
    - kernel_launch: {kernel: consumer}
      name: after
  s2:
    - kernel_launch: {kernel: producer}
      name: before
    - event_record: ready
)";
  for (const char* mode : {"full", "functional"}) {
    const json report = census(text, mode);
    EXPECT_THAT(out_.output, HasSubstr("first: task 'before', vmul.f16")) << out_.output;
    EXPECT_EQ(opdebug().at("AI Core").at("task_id"), 2);
    EXPECT_EQ(report.at("lines").at(0).at("place"), "stream.yaml:9");
    EXPECT_EQ(report.at("lines").at(0).at("harm"), "wrong");
  }
}

// An exponential vanishes, goes to the host and back, and the logarithm of its zero is infinite.
TEST_F(NumericsOf, CausesNameTheWholeWay) {
  const std::string text = R"(vinci: 1
name: way
arch: c220
buffers:
  x: {place: device, bytes: 256}
  h: {place: host, dtype: f2, shape: [128]}
  y: {place: device, bytes: 256}
  z: {place: host, dtype: f2, shape: [128], output: z.npy}
kernels:
  exponential:
    type: AIV_ONLY
    code: |
      ld_arg X1, 0
      set_vector_mask -1, -1
      vector_dup.f16 0, 0xcd00, 1, 1, 0, 8, 0
      vexp.f16 256, 0, 1, 1, 1, 8, 8
      set_flag PIPE_V, PIPE_MTE3, EVENT_ID0
      wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0
      copy_ubuf_to_gm X1, 256, sid=0, nBurst=1, lenBurst=8, srcGap=0, dstGap=0
      end
  logarithm:
    type: AIV_ONLY
    code: |
      ld_arg X1, 0
      copy_gm_to_ubuf 0, X1, sid=0, nBurst=1, lenBurst=8, srcGap=0, dstGap=0
      set_flag PIPE_MTE2, PIPE_V, EVENT_ID0
      wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0
      set_vector_mask -1, -1
      vln.f16 256, 0, 1, 1, 1, 8, 8
      set_flag PIPE_V, PIPE_MTE3, EVENT_ID0
      wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0
      copy_ubuf_to_gm X1, 256, sid=0, nBurst=1, lenBurst=8, srcGap=0, dstGap=0
      end
streams:
  s:
    - kernel_launch: {kernel: exponential, args: [x]}
    - memcpy_async: {dst: h, src: x}
    - memcpy_async: {dst: y, src: h}
    - kernel_launch: {kernel: logarithm, args: [y]}
    - memcpy_async: {dst: z, src: y}
)";
  for (const char* mode : {"full", "functional"}) {
    const json causes = census(text, mode).at("causes");
    ASSERT_EQ(causes.size(), 1u) << causes.dump(2);
    const json& cause = causes.at(0);
    EXPECT_EQ(cause.at("born").at("place"), "stream.yaml:16");
    EXPECT_EQ(cause.at("events"), json::array({"flushed"}));
    std::vector<std::string> way;
    for (const json& step : cause.at("through"))
      way.push_back(step.at("place"));
    EXPECT_THAT(way, testing::ElementsAre("stream.yaml:19", "stream.yaml:38", "stream.yaml:25", "stream.yaml:29",
                                          "stream.yaml:32"));
    ASSERT_EQ(cause.at("to_the_host").size(), 2u);
    EXPECT_EQ(cause.at("to_the_host").at(1).at("place"), "stream.yaml:40");
    EXPECT_THAT(out_.output, HasSubstr("flushed    task 'exponential', vexp.f16 (stream.yaml:16), block 0, element 0"));
  }
}

// Two launches of one kernel: a line each of the source, a site each of the launches.
TEST_F(NumericsOf, LinesSumUpWhatTheirInstructionsDid) {
  const json report = census(R"(vinci: 1
name: lines
arch: c220
kernels:
  k:
    type: AIV_ONLY
    code: |
      set_vector_mask -1, -1
      vector_dup.f16 0, 0x6400, 1, 1, 0, 8, 0
      vector_dup.f16 256, 0x0001, 1, 1, 0, 8, 0
      vadd.f16 512, 0, 256, 2, 1, 1, 1, 0, 0, 0
      vmul.f16 512, 0, 0, 1, 1, 1, 1, 8, 8, 8
      end
streams:
  s:
    - kernel_launch: {kernel: k, block_dim: 3}
    - kernel_launch: {kernel: k}
)");
  ASSERT_EQ(report.at("lines").size(), 2u);
  const json& worst = report.at("lines").at(0);
  EXPECT_EQ(worst.at("place"), "stream.yaml:12");
  EXPECT_EQ(worst.at("overflow"), 4 * 128);
  EXPECT_EQ(worst.at("sites"), 2);
  EXPECT_EQ(worst.at("executions"), 4);
  const json& many = report.at("lines").at(1);
  EXPECT_EQ(many.at("absorbed"), 4 * 256);
  EXPECT_EQ(many.at("harm"), "rounding");
  EXPECT_EQ(report.at("sites").size(), 4u);
}

constexpr std::string_view kReduction = R"(vinci: 1
name: sums
arch: c100
buffers:
  a: {place: host, dtype: f2, shape: [4], file: a.npy}
  x: {place: device, bytes: 8}
  y: {place: device, bytes: 8}
streams:
  s:
    - memcpy_async: {dst: x, src: a}
    - memcpy_async: {dst: y, src: a}
    - reduce_async: {dst: x, src: y, kind: ADD, dtype: f2}
      name: grads
)";

TEST_F(NumericsOf, ReductionsInMemoryAreCounted) {
  // 60000, 1, 2048, -60000 as f16
  std::ofstream(folder_ / "a.npy", std::ios::binary)
      << std::string("\x93NUMPY\x01\x00\x76\x00", 10) + "{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }" +
             std::string(60, ' ') + "\n" + std::string("\x53\x7b\x00\x3c\x00\x68\x53\xfb", 8);
  for (const char* mode : {"full", "functional"}) {
    const json report = census(std::string(kReduction), mode);
    ASSERT_EQ(report.at("sites").size(), 1u) << report.dump(2);
    const json& site = report.at("sites").at(0);
    EXPECT_EQ(site.at("task"), "grads");
    EXPECT_EQ(site.at("instruction"), "reduce_async");
    EXPECT_EQ(site.at("place"), "stream.yaml:12");
    EXPECT_EQ(site.at("results"), 4);
    EXPECT_EQ(site.at("overflow"), 2);
    EXPECT_EQ(site.at("first").at("overflow").at("operands").at("src"), 60000);
    EXPECT_EQ(opdebug().at("AI Core").at("status"), 0);  // SDMA raises no STATUS
  }
}

TEST_F(NumericsOf, TheScalarUnitIsCounted) {
  const json report = census(R"(vinci: 1
name: scalar
arch: c220
kernels:
  k:
    type: AIV_ONLY
    code: |
      mov X1, 0x7f000000
      mul.f32 X2, X1, X1
      conv_f322f16 X3, X1
      add.f32 X4, X1, 0x1
      end
streams:
  s:
    - kernel_launch: {kernel: k}
)");
  ASSERT_EQ(report.at("sites").size(), 3u);
  EXPECT_EQ(report.at("sites").at(0).at("overflow"), 1);
  EXPECT_EQ(report.at("sites").at(1).at("overflow"), 1);
  EXPECT_EQ(report.at("sites").at(2).at("absorbed"), 1);
  EXPECT_EQ(opdebug().at("AI Core").at("status"), 32);
  EXPECT_EQ(opdebug().at("AI Core").at("pc_start"), "0x20");
}

}  // namespace
}  // namespace vinci
