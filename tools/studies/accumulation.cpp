// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S32: fewer exchanges of gradients: micro-batches that are accumulated, and large batches with LARS or LAMB.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "isa/base/random.h"
#include "isa/census/census.h"
#include "isa/numeric/float16.h"
#include "tools/studies/resnet50.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"
#include "tools/studies/trust_ratio.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;

// Exchanges
// -------------------------------------------------------------------------------------------------------------

struct Training {
  u64 devices = 0, micro_batches = 0, accumulate = 1;
  double backward = 0, optimizer = 0;  // s, opaque kernels
  std::vector<u64> tensors = {};       // elements

  u64 elements() const {
    u64 sum = 0;
    for (const u64 n : tensors)
      sum += n;
    return sum;
  }
  double add(u64 elements, const config::ChipConfig& chip) const {  // s: two reads and a write
    return std::max(1e-6, 12 * static_cast<double>(elements) / chip.memory.hbm.bandwidth);
  }
};

// The first of `accumulate` micro-batches leaves its gradients where the others are added.
task::BuiltStream task_stream(const config::ChipConfig& chip, const std::string& name, const Training& x) {
  task::StreamBuilder s(name, chip.arch, static_cast<u32>(x.devices));
  const task::CommRef world = s.world();
  const task::KernelRef backward = opaque_kernel(s, "backward", chip, x.backward);
  const task::KernelRef optimizer = opaque_kernel(s, "optimizer", chip, x.optimizer);
  std::vector<task::KernelRef> adds;
  for (usize t = 0; t < x.tensors.size(); ++t)
    adds.push_back(opaque_kernel(s, fmt::format("AddN_{}", t), chip, x.add(x.tensors[t], chip)));
  for (u32 d = 0; d < x.devices; ++d) {
    const task::BufferRef g = s.device(fmt::format("g{}", d), x.elements() * sizeof(float), d);
    task::StreamRef main = s.stream(fmt::format("train{}", d), {.device = d});
    for (u64 i = 0; i < x.micro_batches; ++i) {
      launch_all(main, chip, backward);
      if (i % x.accumulate != 0)
        for (const task::KernelRef add : adds)
          launch_all(main, chip, add);
      if (i % x.accumulate != x.accumulate - 1) continue;
      main.add(task::Hccl{.comm = world.index, .send = g, .recv = g, .count = x.elements()}, "AR");
      launch_all(main, chip, optimizer);
    }
    s.thread(fmt::format("train{}", d)).enqueue(main);
  }
  return s.finish();
}

struct Counts {
  double exchanges = 0, adds = 0, seconds = 0, exchange = 0;
};
Counts count(const Run& run, u64 devices) {
  Counts c{.seconds = run.seconds()};
  double exchange = 0;
  for (const models::TaskTime& t : run.result.tasks) {
    if (t.device != 0) continue;
    if (t.name == "AR") ++c.exchanges, exchange += run.us(t.end - t.start) * 1e-6;
    if (t.name.starts_with("AddN")) ++c.adds;
  }
  c.exchange = exchange / c.exchanges;
  VINCI_CHECK(devices > 0);
  return c;
}

// An accumulator in f16
// -------------------------------------------------------------------------------------------------

constexpr u64 kElements = 2048;

// acc = 0, then acc += g so many times, in f16 or in f32. Arguments: g (f16), out, times.
isa::BuiltProgram accumulate(isa::Arch arch, bool f32) {
  ProgramBuilder p("accumulate", arch);
  const Reg g = p.arg("g"), out = p.arg("out"), times = p.arg("times");
  const Reg i = p.reg("i");
  constexpr u64 kG = 0, kWide = kElements * 2, kSum = kWide + kElements * 4;
  const u64 bytes = f32 ? 4 : 2, repeats = kElements * bytes / 256;
  const Type type = f32 ? Type::f32 : Type::f16;
  p.copy_gm_to_ubuf(kG, g, 0, 1, kElements * 2 / 32, 0, 0);
  p.hand_over(PipeId::MTE2, PipeId::V, 0);
  if (f32) p.vconv_f162f32(kWide, kG, kElements / 64, 1, 1, 8, 4);
  p.vector_dup(type, kSum, 0, repeats, 1, 1, 8, 8);
  p.pipe_barrier(PipeId::V);
  p.loop(i, 0, times, 1, [&] {
    p.vadd(type, kSum, kSum, f32 ? kWide : kG, repeats, 1, 1, 1, 8, 8, 8);
    p.pipe_barrier(PipeId::V);
  });
  p.hand_over(PipeId::V, PipeId::MTE3, 0);
  p.copy_ubuf_to_gm(out, kSum, 0, 1, kElements * bytes / 32, 0, 0);
  p.end_block();
  return p.finish();
}

struct Sums {
  u64 wrong = 0;     // sums that are not those of whole numbers, exact
  u64 absorbed = 0;  // results that the census saw swallow an addend
};
// Terms are powers of two, so that n of them have an exact sum and the f16 accumulator stops at 2048 of them.
Sums sums_of(const Study& study, bool f32, u64 times) {
  const config::ChipConfig& chip = study.chip();
  std::vector<u16> g(kElements);
  std::vector<double> terms(kElements);
  for (u64 i = 0; i < kElements; ++i) {
    terms[i] = std::ldexp(i % 2 == 0 ? 1.0 : -1.0, static_cast<int>(i % 17) - 14);
    g[i] = isa::f32_to_f16(std::bit_cast<u32>(static_cast<float>(terms[i])));
  }
  const std::string name = fmt::format("sum_{}_{}", f32 ? "f32" : "f16", times);
  task::StreamBuilder s(name, chip.arch);
  const task::BufferRef in = s.device("g_dev", kElements * 2), out = s.device("sum_dev", kElements * 4);
  task::StreamRef main = s.stream("main");
  const auto type = chip.vector_cores > 0 ? task::KernelType::AIV_ONLY : task::KernelType::AI_CORE;
  main.memcpy(in, s.host_data<u16>("g", "f2", g));
  main.launch(s.kernel("accumulate", type, accumulate(chip.arch, f32)), 1, {in, out, times});
  const u64 bytes = kElements * (f32 ? 4 : 2);
  main.memcpy(s.host({.name = "sum", .output = "sum.npy", .dtype = f32 ? "f4" : "f2", .shape = {kElements}}), out,
              bytes);
  s.thread("main").enqueue(main);
  isa::Census census;
  const Run run = study.count(name, s.finish(), census);
  Sums found;
  for (u64 i = 0; i < kElements; ++i) {
    const double sum = f32 ? run.values<float>("sum")[i] : isa::f16_value(run.values<u16>("sum")[i]);
    found.wrong += sum != terms[i] * static_cast<double>(f32 ? times : std::min<u64>(times, 2048));
  }
  for (const auto& [task, counted] : census.tasks)
    for (const auto& [site, events] : counted.sites)
      found.absorbed += events.count(isa::NumericEvent::absorbed);
  return found;
}

}  // namespace

void accumulation(Study& study) {
  const config::ChipConfig& chip = study.chip();
  Training x{.devices = study.whole("devices"), .micro_batches = 8, .backward = study.number("backward") * 1e-3};
  for (const Resnet50Layer& layer : resnet50())
    for (const u64 n : layer.tensors())
      x.tensors.push_back(n);
  x.optimizer = 20 * static_cast<double>(x.elements()) / chip.memory.hbm.bandwidth;
  constexpr std::array<u64, 4> kSteps{1, 2, 4, 8};
  const auto runs = study.variants(kSteps.size(), [&](usize i) {
    Training t = x;
    t.accumulate = kSteps[i];
    const std::string name = fmt::format("accumulate_{}", kSteps[i]);
    return count(study.time(name, task_stream(chip, name, t), chip), t.devices);
  });
  double wrong_exchanges = 0, wrong_adds = 0, time_error = 0;
  for (usize i = 0; i < kSteps.size(); ++i) {
    const auto n = static_cast<double>(x.micro_batches), k = static_cast<double>(kSteps[i]);
    const Counts& c = runs[i];
    study.fact(fmt::format("{} accumulated: a micro-batch", kSteps[i]), c.seconds / n * 1e3, "ms");
    study.fact(fmt::format("{} accumulated: exchanges", kSteps[i]), c.exchanges, "");
    wrong_exchanges += std::fabs(c.exchanges - n / k);
    wrong_adds += std::fabs(c.adds - static_cast<double>(x.tensors.size()) * (n - n / k));
    double adds = 0;
    for (const u64 elements : x.tensors)
      adds += x.add(elements, chip);
    const double expected = n * x.backward + (n - n / k) * adds + n / k * (c.exchange + x.optimizer);
    time_error = std::max(time_error, std::fabs(c.seconds / expected - 1));
  }
  study.measured("exchanges", wrong_exchanges);
  study.measured("additions", wrong_adds);
  study.measured("time_error", 100 * time_error);
  study.measured("gain", runs.front().seconds / runs.back().seconds);

  constexpr std::array<u64, 3> kTimes{1024, 2048, 4096};
  const auto sums = study.variants(2 * kTimes.size(), [&](usize i) { return sums_of(study, i >= 3, kTimes[i % 3]); });
  u64 wrong = 0, absorbed_wrong = 0;
  for (usize i = 0; i < sums.size(); ++i) {
    const u64 times = kTimes[i % 3], swallowed = i < 3 && times > 2048 ? (times - 2048) * kElements : 0;
    wrong += sums[i].wrong;
    absorbed_wrong += sums[i].absorbed != swallowed;
  }
  study.fact("f16 accumulator: of 4096 equal terms it keeps", 2048, "");
  study.measured("swamping", static_cast<double>(wrong));
  study.measured("census", static_cast<double>(absorbed_wrong));

  const auto ratios = study.variants(
      2, [&](usize i) { return check_trust_ratio(study, i == 0 ? TrustRatio::lars : TrustRatio::lamb); });
  study.measured("lars_error", ratios[0].error);
  study.measured("lamb_error", ratios[1].error);
  study.measured("scaled_gradients", std::max(ratios[0].scaled, ratios[1].scaled));
}

}  // namespace vinci::studies
