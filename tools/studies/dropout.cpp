// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S30: the mask of a dropout, made on the host, on the AICPU while the cube works, and by the vector unit.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "isa/base/enums.h"
#include "isa/base/random.h"
#include "tools/gen/elementwise.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

constexpr u64 kF32 = 0;        // ge::DataType
constexpr float kKeep = 0.5f;  // so that 1 / keep is exact
enum class Place : u8 { host, aicpu, vector };
constexpr auto kPlaceNames = enum_names<Place>;

// References
// ------------------------------------------------------------------------------------------------------------

// Philox4x32-10. Source: Salmon et al. 2011.
std::array<u32, 4> philox(u64 counter, u64 key) {
  std::array<u32, 4> x{static_cast<u32>(counter), static_cast<u32>(counter >> 32), 0, 0};
  u32 k0 = static_cast<u32>(key), k1 = static_cast<u32>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const u64 a = u64{0xd2511f53} * x[0], b = u64{0xcd9e8d57} * x[2];
    x = {static_cast<u32>(b >> 32) ^ x[1] ^ k0, static_cast<u32>(b), static_cast<u32>(a >> 32) ^ x[3] ^ k1,
         static_cast<u32>(a)};
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  return x;
}
std::vector<float> philox_mask(u64 count, u64 seed) {
  std::vector<float> out;
  for (u64 i = 0; i < count; ++i)
    out.push_back(philox(i / 4, seed)[i % 4] < double{kKeep} * 0x1p32 ? 1 / kKeep : 0.0f);
  return out;
}

// Xorshift, 13, 17, 5. Source: Marsaglia 2003.
u32 xorshift(u32 x) {
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ (x << 5);
}

// Kernels
// ---------------------------------------------------------------------------------------------------------------

gen::Elementwise apply_mask() {
  return {.input_bytes = {4, 4}, .output_bytes = 4, .body = [](const gen::ElementwiseTile& x) {
            x.binary("vmul.f32", x.out, x.in[0], x.in[1]);
          }};
}

// out = x or 0, by a number from the state of each element: u = xorshift(state) >> 8 as 24 bits of a fraction is below
// keep. min(relu(keep - u) * 2^30, 1) is 1 then, because u is a multiple of 2^-24, else 0.
gen::Elementwise make_and_apply() {
  return {.input_bytes = {4, 4}, .output_bytes = 4, .temporaries = 3, .body = [](const gen::ElementwiseTile& x) {
            using isa::Type;
            isa::ProgramBuilder& p = x.p;
            const isa::Reg state = x.in[0], a = x.t[0], b = x.t[1], c = x.t[2];
            const auto shift = [&](bool left, u32 distance) {  // state ^= state << distance: or less and
              if (left)
                p.vshl(Type::u32, a, state, distance, x.r32, 1, 1, 8, 8);
              else
                p.vshr(Type::u32, a, state, distance, x.r32, 1, 1, 8, 8);
              x.fence();
              p.vor(Type::u16, b, state, a, x.r32, 1, 1, 1, 8, 8, 8);
              p.vand(Type::u16, c, state, a, x.r32, 1, 1, 1, 8, 8, 8);
              x.fence();
              p.vsub(Type::s32, state, b, c, x.r32, 1, 1, 1, 8, 8, 8);
              x.fence();
            };
            shift(true, 13), shift(false, 17), shift(true, 5);
            p.vshr(Type::u32, a, state, 8, x.r32, 1, 1, 8, 8);
            x.fence();
            p.vconv_s322f32(b, a, x.r32, 1, 1, 8, 8);
            x.fence();
            x.scalar("vmuls.f32", b, b, isa::f32(-0x1p-24f));
            x.scalar("vadds.f32", b, b, isa::f32(kKeep));
            x.unary("vrelu.f32", b, b);
            x.scalar("vmuls.f32", b, b, isa::f32(0x1p30f));
            p.vector_dup(Type::f32, a, isa::f32(1), x.r32, 1, 1, 8, 8);
            x.fence();
            x.binary("vmin.f32", b, b, a);
            x.binary("vmul.f32", x.out, b, x.in[1]);
            x.scalar("vmuls.f32", x.out, x.out, isa::f32(1 / kKeep));
          }};
}

// The step
// --------------------------------------------------------------------------------------------------------------

struct Layers {
  Place place = Place::aicpu;
  u64 count = 1, elements = 0;
  double window = 0;              // s of the cube in a layer, an opaque kernel
  double host = 0;                // s of the host for a mask
  std::span<const float> x = {};  // with data: the activation; y.npy is the result of the last layer
  std::span<const u32> states = {};
};

// A layer: the cube, then dropout of x into y. The AICPU makes the mask of a layer from when its cube begins.
task::BuiltStream task_stream(const config::ChipConfig& chip, const std::string& name, const Layers& l) {
  using enum task::KernelType;
  const bool vector = l.place == Place::vector, split = chip.vector_cores > 0, data = !l.x.empty();
  const u64 bytes = l.elements * 4;
  task::StreamBuilder s(name, chip.arch);
  const task::KernelRef cube = opaque_kernel(s, "cube", chip, l.window);
  const task::KernelRef kernel =
      s.kernel(vector ? "MakeMask" : "DoMask", split ? AIV_ONLY : AI_CORE,
               gen::elementwise_program(vector ? "make_mask" : "do_mask", chip.arch,
                                        vector ? make_and_apply() : apply_mask(), l.elements));
  const task::BufferRef x = s.device("x_dev", bytes), y = s.device("y_dev", bytes), mask = s.device("mask", bytes);
  const task::BufferRef from = s.device(vector ? "states_dev" : "ones_dev", bytes);
  task::StreamRef load = s.stream("load"), side = s.stream("side"), main = s.stream("main");
  task::BufferRef made{};
  if (l.place == Place::host) {
    const std::vector<float> values = data ? philox_mask(l.elements, l.count - 1) : std::vector<float>();
    made = data ? s.host_data<float>("made", "f4", values) : s.host({.name = "made", .bytes = bytes});
  }
  task::ThreadRef host = s.thread("main");
  if (data) {
    const std::vector<float> ones(l.elements, 1.0f);
    load.memcpy(x, s.host_data<float>("x", "f4", l.x));
    load.memcpy(from, vector ? s.host_data<u32>("states", "u4", l.states) : s.host_data<float>("ones", "f4", ones));
    host.enqueue(load).synchronize(load);
  }
  for (u64 i = 0; i < l.count; ++i) {
    const u32 side_at = side.size(), main_at = main.size();
    const task::NotifyRef begins = s.notify("begins"), is_there = s.notify("is_there");
    if (l.place == Place::aicpu) {
      side.wait(begins).launch_cpu("Dropout", {from, mask, l.elements, std::bit_cast<u32>(kKeep), i, kF32},
                                   chip.aicpu.threads);
      side.record(is_there);
      main.record(begins);
    }
    launch_all(main, chip, cube);
    if (l.place == Place::host) main.memcpy(mask, made);
    if (l.place == Place::aicpu) main.wait(is_there);
    main.launch(kernel, split ? chip.vector_cores : chip.ai_cores, {vector ? from : mask, x, y});
    if (l.place == Place::host) host.compute(whole_nanoseconds(l.host), "mask");
    if (l.place == Place::aicpu) host.enqueue(side, side_at, side.size() - side_at);
    host.enqueue(main, main_at, main.size() - main_at);
  }
  if (data) {
    const u32 at = main.size();
    main.memcpy(s.host({.name = "y", .output = "y.npy", .dtype = "f4", .shape = {l.elements}}), y);
    host.enqueue(main, at, 1);
  }
  return s.finish();
}

// Elements of the last layer that are not those of the reference.
u64 wrong_elements(const Study& study, Place place) {
  constexpr u64 kElements = 128 * 1024, kLayers = 3;
  Random random(30);
  std::vector<float> x(kElements), expected;
  std::vector<u32> states(kElements);
  for (u64 i = 0; i < kElements; ++i)
    x[i] = random.uniform(), states[i] = static_cast<u32>(random.next() | 1);
  const std::vector<float> mask = philox_mask(kElements, kLayers - 1);
  for (u64 i = 0; i < kElements; ++i) {
    const bool kept = place == Place::vector ? (xorshift(states[i]) >> 8) * 0x1p-24 < kKeep : mask[i] != 0;
    expected.push_back(kept ? x[i] / kKeep : 0);
  }
  const std::string name = fmt::format("bits-{}", kPlaceNames[usize(place)]);
  const Layers l{.place = place,
                 .count = place == Place::vector ? 1 : kLayers,
                 .elements = kElements,
                 .window = 1e-6,
                 .host = 1e-6,
                 .x = x,
                 .states = states};
  const std::vector<float> y = study.run(name, task_stream(study.chip(), name, l)).values<float>("y");
  u64 wrong = 0;
  for (u64 i = 0; i < kElements; ++i)
    wrong += y[i] != expected[i];
  return wrong;
}

struct Times {
  // s: of a layer; of the AICPU for a mask; of the cube; of the kernel behind the cube.
  double layer = 0, mask = 0, window = 0, apply = 0;
  double overlap = 0;  // of the time of the AICPU, in which the cube works
};
Times measure(const Study& study, const std::string& name, const Layers& l) {
  const Run run = study.time(name, task_stream(study.chip(), name, l), study.chip());
  Times t{.layer = run.seconds() / static_cast<double>(l.count)};
  std::vector<const models::TaskTime*> cubes;
  for (const models::TaskTime& task : run.result.tasks)
    if (task.name == "cube") cubes.push_back(&task);
  u64 aicpu = 0, both = 0, kernels = 0;
  for (const models::TaskTime& task : run.result.tasks) {
    if (task.name == "MakeMask" || task.name == "DoMask") kernels += task.end - task.start;
    if (task.kind != "KERNEL_AICPU") continue;
    aicpu += task.end - task.start;
    for (const models::TaskTime* cube : cubes)
      both += std::max(std::min(task.end, cube->end), std::max(task.start, cube->start)) -
              std::max(task.start, cube->start);
  }
  t.window = static_cast<double>(cubes.back()->end - cubes.back()->start) / run.hertz;
  t.mask = static_cast<double>(aicpu) / run.hertz / static_cast<double>(l.count);
  t.apply = static_cast<double>(kernels) / run.hertz / static_cast<double>(l.count);
  t.overlap = aicpu == 0 ? 0 : static_cast<double>(both) / static_cast<double>(aicpu);
  return t;
}

}  // namespace

void dropout(Study& study) {
  if (study.chip().vector_cores == 0) fail(Fault::Unsupported, "S30: the vector unit of a joint core shifts no u32");
  const auto wrong = study.variants(3, [&](usize i) { return wrong_elements(study, Place(i)); });
  study.measured("different_results", static_cast<double>(wrong[0] + wrong[1] + wrong[2]));

  const Layers base{.place = Place::aicpu,
                    .count = study.whole("layers"),
                    .elements = study.whole("kilo_elements") * 1024,
                    .window = study.number("window") * 1e-3,
                    .host = study.number("host") * 1e-3};
  const double mask = measure(study, "mask", base).mask;
  constexpr std::array kRatios{0.25, 0.5, 0.9, 1.0, 2.0, 4.0};
  const auto runs = study.variants(3 + kRatios.size(), [&](usize i) {
    Layers l = base;
    if (i < 3)
      l.place = Place(i);
    else
      l.window = kRatios[i - 3] * mask;
    return measure(study, i < 3 ? std::string(kPlaceNames[i]) : fmt::format("window_{}", kRatios[i - 3]), l);
  });
  study.fact("AICPU: a mask", mask * 1e3, "ms");
  for (const Place place : {Place::host, Place::aicpu, Place::vector})
    study.fact(fmt::format("{}: a layer", kPlaceNames[usize(place)]), runs[usize(place)].layer * 1e3, "ms");
  double overlap_error = 0, time_error = 0, full_window = 1;
  for (usize i = 0; i < kRatios.size(); ++i) {
    const Times& t = runs[3 + i];
    study.fact(fmt::format("window of {} masks: overlap", kRatios[i]), 100 * t.overlap, "%");
    overlap_error = std::max(overlap_error, std::fabs(t.overlap - std::min(1.0, t.window / mask)));
    time_error = std::max(time_error, std::fabs(t.layer / (std::max(t.window, mask) + t.apply) - 1));
    if (kRatios[i] >= 1) full_window = std::min(full_window, t.overlap);
  }
  study.measured("overlap_error", 100 * overlap_error);
  study.measured("time_error", 100 * time_error);
  study.measured("overlap", 100 * full_window);
  study.measured("host_by_aicpu", runs[0].layer / runs[1].layer);
  study.measured("vector_by_aicpu", runs[2].layer / runs[1].layer);
}

}  // namespace vinci::studies
