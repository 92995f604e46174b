// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S12: the gradient of an overlapping MaxPool in f16, which overflows where its addends do not, and what loss scalers
// make of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "isa/census/census.h"
#include "isa/numeric/float16.h"
#include "isa/program/code.h"
#include "isa/table/exec.h"
#include "tools/gen/studies/loss_scaler.h"
#include "tools/gen/studies/studies.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

struct Step {
  double overflows = 0;  // 1: the status says so
  double named = 0;      // 1: the first overflow is an addition of MaxPoolGrad, of two numbers that fit
  double largest = 0;    // of dx
  double kernel_us = 0;
};

Step step_at(const Study& study, double scale) {
  const std::string name = fmt::format("scale_2^{:.0f}", std::log2(scale));
  isa::Census census;
  const Run run = study.count(name, gen::db_maxpoolgrad_stream({.scale = scale}, study.chip()).files(), census);
  Step out;
  for (const auto& [position, counted] : census.tasks) {
    if (counted.first_overflow.status == 0) continue;
    out.overflows = 1;
    const task::Task& task = run.stream.streams[0].tasks[position];
    const isa::FirstOverflow& first = counted.first_overflow;
    const auto& launch = std::get<task::KernelLaunch>(task.op);
    const isa::Code code(run.stream.kernels[launch.kernel].program);
    const isa::Occurrence& o = counted.sites.at(first.site).first[usize(isa::NumericEvent::overflow)];
    const double a = o.operands[0].value, b = o.operands[1].value;
    out.named = task.name == "MaxPoolGrad" && first.status == isa::status::kFloatOverflow &&
                code[first.site.pc].row->name == "vadd" && o.moment == first.moment && a + b > 65504 &&
                std::max(a, b) <= 65504;
    break;
  }
  for (const u16 v : run.values<u16>("dx"))
    out.largest = std::max(out.largest, double{isa::f16_value(v)});
  return out;
}

// By the published rules, for steps that overflow above 2^14: from this step on, this exponent of the scale.
struct Trajectory {
  std::string_view name;
  gen::LossScaleRule rule;
  std::vector<std::pair<u32, int>> expected;
};
std::vector<Trajectory> trajectories() {
  std::vector<std::pair<u32, int>> npu, mindspore;
  for (u32 i = 0; i <= 18; ++i)
    npu.emplace_back(2 * i, 32 - static_cast<int>(i));
  npu.insert(npu.end(), {{1036, 15}, {1038, 14}});
  for (u32 i = 0; i <= 10; ++i)
    mindspore.emplace_back(i, 24 - static_cast<int>(i));
  mindspore.insert(mindspore.end(), {{2010, 15}, {2011, 14}});
  return {{"fixed 2^12", gen::kFixedScale, {{0, 12}}},
          {"GradScaler",
           gen::kTorchGradScaler,
           {{0, 16}, {1, 15}, {2, 14}, {2002, 15}, {2003, 14}, {4003, 15}, {4004, 14}}},
          {"ExponentialUpdate", gen::kTfNpuExponential, npu},
          {"DynamicLossScale", gen::kMindSporeDynamic, mindspore}};
}

}  // namespace

void maxpool_scale(Study& study) {
  // A step has the same data each time, so that a scale always does the same.
  constexpr int kLeast = 10, kMost = 32;
  const auto steps = study.variants(
      kMost - kLeast + 1, [&](usize i) { return step_at(study, std::ldexp(1.0, kLeast + static_cast<int>(i))); });
  const auto at = [&](double scale) { return steps[static_cast<usize>(std::ilogb(scale) - kLeast)]; };
  int first = kMost + 1;
  double named = 1;
  for (int e = kMost; e >= kLeast; --e) {
    if (at(std::ldexp(1.0, e)).overflows != 0) first = e;
    if (e <= 16 && at(std::ldexp(1.0, e)).overflows != 0) named = std::min(named, at(std::ldexp(1.0, e)).named);
  }
  study.fact("least scale that overflows, exponent", first, "");
  study.fact("largest element of dx there", std::min(at(std::ldexp(1.0, first)).largest, 1e9), "");
  u64 unlike = 0;
  for (const Trajectory& t : trajectories()) {
    gen::LossScaler scaler(t.rule);
    u32 skipped = 0;
    usize next = 0;
    int expected = 0;
    const u32 count = t.expected.back().first + 10;
    for (u32 step = 0; step < count; ++step) {
      if (next < t.expected.size() && t.expected[next].first == step) expected = t.expected[next++].second;
      unlike += scaler.scale() != std::ldexp(1.0, expected);
      const bool overflow = at(scaler.scale()).overflows != 0;
      skipped += overflow;
      scaler.update(overflow);
    }
    study.fact(fmt::format("{}: steps that are skipped", t.name), skipped, "");
  }
  study.measured("named", named);
  study.measured("trajectory", static_cast<double>(unlike));
  study.measured("fits_at_2_14", at(0x1p14).overflows);
  const bool inf_nan = study.chip().numerics.inf_nan;
  study.measured("silent", inf_nan ? (std::isinf(at(0x1p15).largest) ? 0 : 1) : (at(0x1p15).largest == 65504 ? 0 : 1));
}

}  // namespace vinci::studies
