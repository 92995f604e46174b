// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S05: momentum SGD of ResNet-50, one launch for each of its 161 parameter tensors, and one for all of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "isa/base/random.h"
#include "tools/gen/tile_pipeline.h"
#include "tools/studies/resnet50.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

constexpr u64 kRepeat = 64;           // f32 lanes
constexpr u64 kTile = 128 * kRepeat;  // elements: 32 KiB of each of g, v and w, in two slots
constexpr float kMomentum = 0.9f, kRate = 0.1f;

// v = momentum * v + g; w = w - rate * v. Arguments: g, v, w. Elements are a multiple of a repeat.
isa::BuiltProgram sgd(std::string_view name, isa::Arch arch, u64 elements) {
  using isa::Type;
  constexpr u64 kPart = kTile * 4, kSlot = 3 * kPart;
  isa::ProgramBuilder b(std::string(name), arch);
  const isa::Const all = b.constant("N", static_cast<i64>(elements));
  const isa::Reg tensors[] = {b.reg("g", 3), b.reg("v", 4), b.reg("w", 5)};
  const isa::Reg before = b.reg("before", 6);  // bytes before the tile
  const isa::Reg repeats = b.reg("repeats", 7), blocks = b.reg("blocks", 8), gm = b.reg("gm", 9);
  gen::TilePipeline t{.tiles = ceil_div(elements, kTile), .in_place = true};
  t.prologue = [&](isa::ProgramBuilder& p) {
    for (u32 i = 0; i < 3; ++i)
      p.ld_arg(tensors[i], i);
  };
  t.locate = [&](isa::ProgramBuilder& p, isa::Reg tile) {
    p.mul(repeats, tile, kTile);
    p.mul(before, repeats, 4);
    p.sub(repeats, all, repeats);
    p.min(repeats, repeats, kTile);
    p.shr(blocks, repeats, 3);
    p.shr(repeats, repeats, 6);
  };
  t.load = [&](isa::ProgramBuilder& p, u32 slot) {
    for (u32 i = 0; i < 3; ++i) {
      p.add(gm, tensors[i], before);
      p.copy_gm_to_ubuf(slot * kSlot + i * kPart, gm, 0, 1, blocks, 0, 0);
    }
  };
  t.compute = [&](isa::ProgramBuilder& p, u32 slot) {
    const u64 g = slot * kSlot, v = g + kPart, w = v + kPart;
    p.vmuls(Type::f32, v, v, isa::f32(kMomentum), repeats, 1, 1, 8, 8);
    p.pipe_barrier(isa::PipeId::V);
    p.vadd(Type::f32, v, v, g, repeats, 1, 1, 1, 8, 8, 8);
    p.pipe_barrier(isa::PipeId::V);
    p.vmuls(Type::f32, g, v, isa::f32(-kRate), repeats, 1, 1, 8, 8);
    p.pipe_barrier(isa::PipeId::V);
    p.vadd(Type::f32, w, w, g, repeats, 1, 1, 1, 8, 8, 8);
  };
  t.store = [&](isa::ProgramBuilder& p, u32 slot) {
    for (u32 i = 1; i < 3; ++i) {
      p.add(gm, tensors[i], before);
      p.copy_ubuf_to_gm(gm, slot * kSlot + i * kPart, 0, 1, blocks, 0, 0);
    }
  };
  write_tile_pipeline(b, t);
  return b.finish();
}

// Tensors one behind the other in one allocation, each a whole number of repeats.
struct Parameters {
  std::vector<u64> elements;  // of each
  u64 all = 0;
  std::vector<float> g, v, w;
};

// With values, or sizes alone.
Parameters make_parameters(u64 divisor, bool values) {
  Parameters p;
  for (const Resnet50Layer& layer : resnet50()) {
    for (const u64 n : layer.tensors()) {
      p.elements.push_back(align_up(ceil_div(n, divisor), kRepeat));
      p.all += p.elements.back();
    }
  }
  if (!values) return p;
  Random random(1);
  for (std::vector<float>* list : {&p.g, &p.v, &p.w}) {
    list->resize(p.all);
    for (float& x : *list)
      x = random.uniform();
  }
  return p;
}

gen::StreamFolder task_stream(const config::ChipConfig& chip, const Parameters& p, bool fused) {
  const u64 cores = chip.vector_cores > 0 ? chip.vector_cores : chip.ai_cores;
  gen::StreamFolder s(fused ? "fused" : "unfused", chip, "Momentum SGD of ResNet-50: w, v and g in f32");
  for (const auto& [name, values] : {std::pair{"g", &p.g}, {"v", &p.v}, {"w", &p.w}})
    values->empty() ? s.random_input(name, "f4", p.all) : s.input<float>(name, "f4", *values);
  s.output_after("v", "f4", p.all);
  s.output_after("w", "f4", p.all);
  std::set<u64> written;  // one kernel for each size
  const auto launch = [&](std::string_view name, u64 elements, u64 offset) {
    const std::string kernel = fmt::format("sgd_{}", elements);
    if (written.insert(elements).second) s.kernel(kernel, sgd(kernel, chip.arch, elements));
    const auto blocks = static_cast<u32>(std::min(cores, ceil_div(elements, kTile)));
    s.launch(name, kernel, blocks, {s.slice("g", offset * 4), s.slice("v", offset * 4), s.slice("w", offset * 4)});
  };
  if (fused) {
    launch("sgd", p.all, 0);
    return s;
  }
  u64 offset = 0, i = 0;
  for (const u64 n : p.elements) {
    launch(fmt::format("sgd_{}", i++), n, offset);
    offset += n;
  }
  return s;
}

// The largest error against FP64, in units of the last place of f32 at the size of the addends.
double largest_error(const Parameters& p, const Run& run) {
  const std::vector<float> v = run.values<float>("v_after"), w = run.values<float>("w_after");
  double largest = 0;
  for (usize i = 0; i < p.all; ++i) {
    const double moved = double{kMomentum} * p.v[i];
    const double exact_v = moved + p.g[i], exact_w = p.w[i] - double{kRate} * exact_v;
    const double size_v = std::fabs(moved) + std::fabs(p.g[i]);
    const double size_w = std::fabs(p.w[i]) + double{kRate} * size_v;
    largest = std::max({largest, std::fabs(v[i] - exact_v) / size_v, std::fabs(w[i] - exact_w) / size_w});
  }
  return largest * 0x1p23;
}

// A run in mode timing, on data that are on the device already.
struct Timed {
  double kernel_us = 0, span_us = 0, kernels = 0, bytes = 0;
};
Timed timed(const Study& study, u64 divisor, bool fused) {
  const Parameters p = make_parameters(divisor, false);
  const gen::StreamFolder s = task_stream(study.chip(), p, fused);
  const Run run = study.time(fused ? "fused-resident" : "unfused-resident", s.resident_files(), study.chip());
  return {.kernel_us = run.kernel_us(),
          .span_us = run.kernel_span_us(),
          .kernels = static_cast<double>(run.kernels()),
          .bytes = static_cast<double>(run.gm_bytes())};
}

struct Bits {
  u64 hash = 0;
  double error = 0;
};
Bits bits(const Study& study, u64 divisor, bool fused) {
  const Parameters p = make_parameters(divisor, true);
  const Run run = study.run(fused ? "fused" : "unfused", task_stream(study.chip(), p, fused).files());
  Bits out{.error = largest_error(p, run)};
  for (const char* name : {"v_after", "w_after"})
    for (const u32 word : run.values<u32>(name))
      out.hash = (out.hash ^ word) * 0x100000001b3;
  return out;
}

}  // namespace

void fused_optimizer(Study& study) {
  const config::ChipConfig& chip = study.chip();
  const u64 divisor = study.whole("divisor");
  const auto values =
      study.variants(2, [&](usize i) { return bits(study, divisor * study.whole("bits_divisor"), i == 1); });
  const auto times = study.variants(2, [&](usize i) { return timed(study, divisor, i == 1); });
  const Timed &unfused = times[0], &fused = times[1];
  const u64 parameters = make_parameters(divisor, false).all;
  const double ideal_us = 20 * static_cast<double>(parameters) / chip.memory.hbm.bandwidth * 1e6;
  const double launch_us = chip.host.launch * 1e6;
  study.fact("parameters", static_cast<double>(parameters), "");
  study.fact("unfused: kernels", unfused.kernel_us, "us");
  study.fact("unfused: first to last", unfused.span_us, "us");
  study.fact("fused: kernels", fused.kernel_us, "us");
  study.fact("20 B of each parameter at the bandwidth of GM", ideal_us, "us");
  study.fact("faster by", unfused.span_us / fused.span_us, "x");
  study.measured("tensors", unfused.kernels);
  study.measured("fused_launches", fused.kernels);
  study.measured("bytes", fused.bytes / unfused.bytes);
  study.measured("different_results", values[0].hash == values[1].hash ? 0 : 1);
  study.measured("error", std::max(values[0].error, values[1].error));
  study.measured("fused_time", fused.kernel_us / ideal_us);
  study.measured("unfused_time", unfused.span_us / (unfused.kernels * launch_us));
}

}  // namespace vinci::studies
