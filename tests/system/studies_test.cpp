// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The numeric studies: what the simulator says about FP16 against FP64 arithmetic of the host, and against figures that
// were measured elsewhere on the same distributions.
#include "tools/gen/studies/studies.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "isa/census/census.h"
#include "isa/numeric/float16.h"
#include "isa/program/code.h"
#include "isa/table/exec.h"
#include "models/soc/functional.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"
#include "tests/support/shell.h"
#include "tools/gen/studies/logits.h"
#include "tools/gen/studies/loss_scaler.h"

namespace vinci {
namespace {

using isa::NumericEvent;

// A run of a task stream in mode functional, with its census.
struct CountedRun {
  task::TaskStream stream;
  isa::Census census;
  std::map<std::string, std::vector<std::byte>> host;

  CountedRun(const std::string& path, const config::ChipConfig& chip) : stream(task::load_task_stream(path)) {
    task::RunMemory memory(stream, true);
    models::run_functional(chip, stream, memory, {.census = &census});
    for (u32 i = 0; i < stream.buffers.size(); ++i) {
      const auto bytes = memory.host(i);
      host[stream.buffers[i].name] = {bytes.begin(), bytes.end()};
    }
  }

  std::vector<double> f16(const std::string& buffer) const {
    const auto& bytes = host.at(buffer);
    std::vector<double> out(bytes.size() / 2);
    for (usize i = 0; i < out.size(); ++i) {
      u16 v = 0;
      std::memcpy(&v, &bytes[2 * i], 2);
      out[i] = isa::f16_value(v);
    }
    return out;
  }
  const task::Task& task(u32 position) const { return stream.streams[0].tasks[position]; }

  // All events of a kind in the task of this name.
  u64 count(const std::string& name, NumericEvent e) const {
    u64 sum = 0;
    for (const auto& [position, counted] : census.tasks) {
      if (task(position).name != name) continue;
      for (const auto& [pc, site] : counted.sites)
        sum += site.count(e);
    }
    return sum;
  }
  // The name of the first task that saw an event.
  std::string first_task(NumericEvent e) const {
    for (const auto& [position, counted] : census.tasks) {
      for (const auto& [pc, site] : counted.sites) {
        if (site.count(e) > 0) return task(position).name;
      }
    }
    return "";
  }
};

double percent(u64 part, usize whole) { return 100 * static_cast<double>(part) / static_cast<double>(whole); }

class Studies : public testing::TestWithParam<const char*> {
 protected:
  config::ChipConfig chip_ = config::load_chip(GetParam());
  test::TempFolder folder_{std::string("vinci-studies-") + GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Chips, Studies, testing::Values("ascend-910a", "ascend-910b1"),
                         [](const auto& param) { return std::string(param.param).substr(7); });

// log(1 + e^-|z|) in FP16: 9.1 % of the results are zero, every one with |z| >= 7.625, where 1 + x is 1.
TEST_P(Studies, AddingOneAbsorbsSmallExponentials) {
  const auto zeros = [&](gen::Log1pVariant variant) {
    const CountedRun run(gen::write_db_log1p({.variant = variant}, chip_, folder_.path().string()), chip_);
    const std::vector<double> z = run.f16("z"), log1p = run.f16("log1p");
    u64 count = 0;
    for (usize i = 0; i < z.size(); ++i) {
      const double exact = std::log1p(std::exp(-std::fabs(z[i])));
      if (log1p[i] == 0) {
        EXPECT_NE(exact, 0);
        ++count;
      }
      if (variant == gen::Log1pVariant::naive) {
        EXPECT_EQ(log1p[i] == 0, std::fabs(z[i]) >= 7.625) << z[i];
      }
    }
    if (variant == gen::Log1pVariant::naive) {
      EXPECT_EQ(run.first_task(NumericEvent::absorbed), "add_1");
      EXPECT_EQ(run.count("add_1", NumericEvent::absorbed), count);
    }
    const double share = percent(count, z.size());
    RecordProperty(std::string(gen::kLog1pVariantNames[static_cast<usize>(variant)]), std::to_string(share));
    std::printf("zero results of log(1 + e^-|z|), %s: %.4f %%\n",
                std::string(gen::kLog1pVariantNames[static_cast<usize>(variant)]).c_str(), share);
    return share;
  };
  EXPECT_NEAR(zeros(gen::Log1pVariant::naive), 9.1, 0.3);
  EXPECT_LT(zeros(gen::Log1pVariant::log1p), 0.01);
  EXPECT_LT(zeros(gen::Log1pVariant::fp32), 0.01);
}

// Gradients in FP16: the loss scale decides how many are left. The loss itself, 10 times the scale, fits up to 2^12.
TEST_P(Studies, LossScaleDecidesWhichGradientsVanish) {
  struct Expected {
    u32 log2_scale;
    double zeros, tolerance;  // %
  };
  const gen::Logits logits = gen::make_logits(gen::LossScaleStudy{}.elements, gen::LossScaleStudy{}.seed);
  double zeros_before = 101, error_at_12 = -1;
  for (const Expected& e :
       {Expected{0, 79.9, 0.5}, {4, 29.5, 0.5}, {8, 2.8, 0.3}, {12, 0.05, 0.05}, {13, 0.02, 0.05}, {16, 0, 0.01}}) {
    const CountedRun run(gen::write_db_loss_scale({.log2_scale = e.log2_scale}, chip_, folder_.path().string()), chip_);
    const std::vector<double> gradient = run.f16("gradient");
    u64 zeros = 0, vanished = 0;
    double error = 0, sum = 0;
    for (usize i = 0; i < gradient.size(); ++i) {
      const double exact =
          std::ldexp((1 / (1 + std::exp(-double{logits.z[i]})) - double{logits.y[i]}) / gen::kGradientCount,
                     static_cast<int>(e.log2_scale));
      zeros += gradient[i] == 0;
      vanished += gradient[i] == 0 && exact != 0;
      error += std::fabs(gradient[i] - exact);
      sum += std::fabs(exact);
    }
    const double share = percent(zeros, gradient.size());
    std::printf("loss scale 2^%u: %.3f %% of the gradients are zero, L1 error %.4f %%\n", e.log2_scale, share,
                100 * error / sum);
    EXPECT_NEAR(share, e.zeros, e.tolerance) << e.log2_scale;
    EXPECT_LE(share, zeros_before);
    zeros_before = share;
    EXPECT_NEAR(static_cast<double>(run.count("store_gradient", NumericEvent::flushed)), static_cast<double>(vanished),
                static_cast<double>(gradient.size()) * 1e-5);
    if (e.log2_scale == 0) {
      EXPECT_NEAR(100 * error / sum, 29, 2);
    }
    if (e.log2_scale == 12) error_at_12 = 100 * error / sum;
    EXPECT_EQ(run.count("store_loss", NumericEvent::overflow), e.log2_scale <= 12 ? 0u : 128u);
    EXPECT_EQ(run.f16("loss")[0], e.log2_scale <= 12       ? std::ldexp(10.0, static_cast<int>(e.log2_scale))
                                  : chip_.numerics.inf_nan ? INFINITY
                                                           : 65504);
  }
  EXPECT_NEAR(error_at_12, 0.025, 0.01);
}

// Up to four gradients meet in a cell of dx: at some scales every gradient fits, but their sum does not.
TEST_P(Studies, MaxPoolGradOverflowsFirst) {
  // Each step of the training run has the same data, so that a scale always does the same.
  std::map<double, std::optional<isa::FirstOverflow>> known;
  const auto overflow_at = [&](double scale) {
    if (const auto it = known.find(scale); it != known.end()) return it->second;
    const CountedRun run(gen::write_db_maxpoolgrad({.scale = scale}, chip_, folder_.path().string()), chip_);
    std::optional<isa::FirstOverflow> first;
    std::string task;
    for (const auto& [position, counted] : run.census.tasks) {
      if (counted.first_overflow.status == 0) continue;
      first = counted.first_overflow;
      task = run.task(position).name;
      break;
    }
    if (scale <= 65536 && first) {
      // Single gradients are below 0.75.
      EXPECT_EQ(task, "MaxPoolGrad") << scale;
      EXPECT_EQ(first->status, isa::status::kFloatOverflow);
      const auto& launch = std::get<task::KernelLaunch>(run.task(run.census.tasks.rbegin()->first).op);
      const isa::Code code(run.stream.kernels[launch.kernel].program);
      EXPECT_EQ(code[first->site.pc].row->name, "vadd");
      const isa::SiteCensus& site = run.census.tasks.rbegin()->second.sites.at(first->site);
      const isa::Occurrence& o = site.first[static_cast<usize>(NumericEvent::overflow)];
      EXPECT_EQ(o.moment, first->moment);
      EXPECT_GT(o.operands[0].value + o.operands[1].value, 65504);
      EXPECT_LE(std::max(o.operands[0].value, o.operands[1].value), 65504);
      // In saturation mode only the status shows it.
      const std::vector<double> dx = run.f16("dx");
      const double largest = *std::ranges::max_element(dx);
      EXPECT_EQ(largest, chip_.numerics.inf_nan ? INFINITY : 65504.0);
    }
    known[scale] = first;
    return first;
  };
  EXPECT_FALSE(overflow_at(4096));
  EXPECT_TRUE(overflow_at(65536));
  EXPECT_TRUE(overflow_at(32768));
  ASSERT_FALSE(overflow_at(16384));

  struct Case {
    const char* name;
    gen::LossScaleRule rule;
    std::vector<std::pair<u32, double>> expected;  // from this step on, this scale
  };
  // By the published rules, with overflow above 2^14.
  const std::vector<Case> cases{
      {"fixed", gen::kFixedScale, {{0, 0x1p12}}},
      {"torch",
       gen::kTorchGradScaler,
       {{0, 0x1p16}, {1, 0x1p15}, {2, 0x1p14}, {2002, 0x1p15}, {2003, 0x1p14}, {4003, 0x1p15}, {4004, 0x1p14}}},
      {"TF-NPU",
       gen::kTfNpuExponential,
       {{0, 0x1p32},  {2, 0x1p31},  {4, 0x1p30},  {6, 0x1p29},  {8, 0x1p28},  {10, 0x1p27},   {12, 0x1p26},
        {14, 0x1p25}, {16, 0x1p24}, {18, 0x1p23}, {20, 0x1p22}, {22, 0x1p21}, {24, 0x1p20},   {26, 0x1p19},
        {28, 0x1p18}, {30, 0x1p17}, {32, 0x1p16}, {34, 0x1p15}, {36, 0x1p14}, {1036, 0x1p15}, {1038, 0x1p14}}},
      {"MindSpore",
       gen::kMindSporeDynamic,
       {{0, 0x1p24},
        {1, 0x1p23},
        {2, 0x1p22},
        {3, 0x1p21},
        {4, 0x1p20},
        {5, 0x1p19},
        {6, 0x1p18},
        {7, 0x1p17},
        {8, 0x1p16},
        {9, 0x1p15},
        {10, 0x1p14},
        {2010, 0x1p15},
        {2011, 0x1p14}}}};
  for (const Case& c : cases) {
    gen::LossScaler scaler(c.rule);
    usize at = 0;
    u64 skipped = 0;
    const u32 steps = c.expected.back().first + 10;
    for (u32 step = 0; step < steps; ++step) {
      if (at + 1 < c.expected.size() && c.expected[at + 1].first == step) ++at;
      ASSERT_EQ(scaler.scale(), c.expected[at].second) << c.name << ", step " << step;
      const bool overflow = overflow_at(scaler.scale()).has_value();
      skipped += overflow;
      scaler.update(overflow);
    }
    std::printf("%s: %u steps, %llu skipped, scale 2^%g at the end\n", c.name, steps,
                static_cast<unsigned long long>(skipped), std::log2(scaler.scale()));
  }
}

}  // namespace
}  // namespace vinci
