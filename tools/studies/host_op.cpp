// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S08: extract_image_patches inside a training step, as a py_func of the host, on the AICPU and on the AI cores.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "isa/base/enums.h"
#include "isa/base/random.h"
#include "tools/gen/tile_pipeline.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

// One execution of extract_image_patches on square images, NHWC in f32, padding VALID, rate 1.
struct Patches {
  u64 images = 1, edge = 0, channels = 0, window = 0, stride = 1;

  u64 across() const { return (edge - window) / stride + 1; }
  u64 pixel() const { return channels * sizeof(float); }
  u64 row() const { return window * pixel(); }  // of a patch, contiguous in both tensors
  u64 in_bytes() const { return images * edge * edge * pixel(); }
  u64 out_bytes() const { return images * across() * across() * window * row(); }
};

// The three levels of features that the refinement of SiamMask takes patches from, 17 x 17 each. Source: Wang et al.
// 2019, and the shapes of its public code.
std::vector<Patches> siammask(u64 images) {
  return {{.images = images, .edge = 125, .channels = 64, .window = 61, .stride = 4},
          {.images = images, .edge = 63, .channels = 256, .window = 31, .stride = 2},
          {.images = images, .edge = 31, .channels = 512, .window = 15, .stride = 1}};
}

// What the py_func does, element by element.
std::vector<float> reference(const Patches& p, const std::vector<float>& x) {
  std::vector<float> y;
  y.reserve(p.out_bytes() / sizeof(float));
  for (u64 n = 0; n < p.images; ++n)
    for (u64 row = 0; row < p.across(); ++row)
      for (u64 column = 0; column < p.across(); ++column)
        for (u64 i = 0; i < p.window; ++i)
          for (u64 j = 0; j < p.window; ++j)
            for (u64 c = 0; c < p.channels; ++c)
              y.push_back(x[((n * p.edge + row * p.stride + i) * p.edge + column * p.stride + j) * p.channels + c]);
  return y;
}

// The kernel of the AI cores. A tile is some rows of one patch: a burst for each row in, one burst out. Arguments: x,
// y.
isa::BuiltProgram patches_kernel(std::string_view name, isa::Arch arch, const Patches& x) {
  using isa::ProgramBuilder, isa::Reg;
  constexpr u64 kSlot = 96 * 1024, kBlockBytes = 32;
  const u64 rows = std::min(x.window, kSlot / x.row()), parts = ceil_div(x.window, rows);
  VINCI_CHECK(x.pixel() % kBlockBytes == 0 && rows > 0);
  ProgramBuilder b(std::string(name), arch);
  const Reg from = b.reg("x", 3), to = b.reg("y", 4);
  const Reg first = b.reg("first", 5), patch = b.reg("patch", 6), count = b.reg("count", 7);  // rows of the part
  const Reg x_at = b.reg("x_at", 8), y_at = b.reg("y_at", 9), column = b.reg("column", 10), row = b.reg("row", 11),
            blocks = b.reg("blocks", 12);
  gen::TilePipeline t{.tiles = x.images * x.across() * x.across() * parts, .in_place = true};
  t.prologue = [&](ProgramBuilder& p) {
    p.ld_arg(from, 0);
    p.ld_arg(to, 1);
  };
  t.locate = [&](ProgramBuilder& p, Reg tile) {
    p.rem(first, tile, parts);
    p.mul(first, first, rows);
    p.div(patch, tile, parts);
    p.sub(count, x.window, first);
    p.min(count, count, rows);
    p.set(y_at, ((patch * x.window + first) * x.row()) + to);
    p.rem(column, patch, x.across());
    p.div(patch, patch, x.across());
    p.rem(row, patch, x.across());
    p.div(patch, patch, x.across());
    p.mul(x_at, patch, x.edge);
    p.mul(row, row, x.stride);
    p.add(x_at, x_at, row);
    p.add(x_at, x_at, first);
    p.mul(x_at, x_at, x.edge);
    p.mul(column, column, x.stride);
    p.add(x_at, x_at, column);
    p.mul(x_at, x_at, x.pixel());
    p.add(x_at, x_at, from);
    p.mul(blocks, count, x.row() / kBlockBytes);
  };
  t.load = [&](ProgramBuilder& p, u32 slot) {
    p.copy_gm_to_ubuf(slot * kSlot, x_at, 0, count, x.row() / kBlockBytes,
                      (x.edge - x.window) * x.pixel() / kBlockBytes, 0);
  };
  t.store = [&](ProgramBuilder& p, u32 slot) { p.copy_ubuf_to_gm(y_at, slot * kSlot, 0, 1, blocks, 0, 0); };
  write_tile_pipeline(b, t);
  return b.finish();
}

enum class Place : u8 { host, aicpu, aicore };
constexpr auto kPlaceNames = enum_names<Place>;

// A training step: `backbone` makes the features, `heads` do not need the patches, `refine` does.
struct Step {
  Place place = Place::host;
  std::vector<Patches> levels = {};
  u64 times = 1;
  double backbone = 0, heads = 0, refine = 0, host = 0;  // s
  std::vector<double> kernels = {};                      // s, opaque kernels in place of programs; by level
  // Data of each level: then the features come from files, and the patches go to files out<level>.npy.
  std::vector<std::vector<float>> features = {};
};

// Writes the task stream of a step.
class StepStream {
 public:
  StepStream(const config::ChipConfig& chip, const Step& step)
      : chip_(chip),
        step_(step),
        s_(std::string(kPlaceNames[static_cast<usize>(step.place)]), chip.arch),
        backbone_(opaque_kernel(s_, "backbone", chip, step.backbone)),
        heads_(opaque_kernel(s_, "heads", chip, step.heads)),
        refine_(opaque_kernel(s_, "refine", chip, step.refine)) {}

  task::BuiltStream build() {
    const bool with_data = !step_.features.empty();
    for (usize i = 0; i < step_.levels.size(); ++i)
      levels_.push_back(level(i));
    std::optional<task::StreamRef> load, save;
    if (with_data) {
      load = s_.stream("load");
      for (const Level& l : levels_)
        load->memcpy(l.x, l.in);
    }
    const task::StreamRef main = s_.stream("main");
    const std::function<void(task::ThreadRef)> turn = step_.place == Place::host    ? on_host(main)
                                                      : step_.place == Place::aicpu ? on_aicpu(main)
                                                                                    : on_aicore(main);
    if (with_data) {
      save = s_.stream("save");
      for (const Level& l : levels_)
        save->memcpy(l.out, l.y);
    }
    task::ThreadRef host = s_.thread("main");
    if (load) host.enqueue(*load).synchronize(*load);
    host.repeat(step_.times, [&] { turn(host); });
    if (save) host.enqueue(*save);
    return s_.finish();
  }

 private:
  struct Level {
    task::BufferRef x = {}, y = {}, in = {}, out = {}, read = {}, made = {};
    task::KernelRef kernel = {};
  };

  Level level(usize i) {
    const Patches& p = step_.levels[i];
    const auto named = [&](std::string_view what) { return fmt::format("{}{}", what, i); };
    const bool with_data = !step_.features.empty();
    Level out{.x = s_.device(named("x"), p.in_bytes()), .y = s_.device(named("y"), p.out_bytes())};
    if (with_data) {
      out.in = s_.host_data<float>(named("in"), "f4", step_.features[i]);
      out.out = s_.host({.name = named("out"),
                         .output = named("out") + ".npy",
                         .dtype = "f4",
                         .shape = {p.out_bytes() / sizeof(float)}});
    }
    if (step_.place == Place::host) {
      out.read = s_.host({.name = named("read"), .bytes = p.in_bytes(), .pageable = true});
      task::Buffer patches{.name = named("made"), .bytes = p.out_bytes(), .pageable = true};
      if (with_data) {
        const std::vector<float> values = reference(p, step_.features[i]);
        const auto bytes = std::as_bytes(std::span(values));
        patches.dtype = "f4", patches.data = {bytes.begin(), bytes.end()};
      }
      out.made = s_.host(std::move(patches));
    }
    if (step_.place == Place::aicore) out.kernel = kernel(i, named("patches"));
    return out;
  }

  task::KernelRef kernel(usize i, const std::string& name) {
    using enum task::KernelType;
    if (!step_.kernels.empty()) return opaque_kernel(s_, name, chip_, step_.kernels[i]);
    return s_.kernel(name, split() ? AIV_ONLY : AI_CORE, patches_kernel(name, chip_.arch, step_.levels[i]));
  }
  bool split() const { return chip_.vector_cores > 0; }

  // Each adds the tasks of a step and returns what adds the steps of the host.
  std::function<void(task::ThreadRef)> on_host(task::StreamRef main) {
    launch_all(main, chip_, backbone_);
    for (const Level& l : levels_)
      main.memcpy(l.read, l.x);
    for (const Level& l : levels_)
      main.memcpy(l.y, l.made);
    launch_all(main, chip_, heads_);
    launch_all(main, chip_, refine_);
    return [this, main](task::ThreadRef host) {
      const auto n = static_cast<u32>(levels_.size());
      host.enqueue(main, 0, 1 + n).synchronize(main);
      host.compute(whole_nanoseconds(step_.host), "py_func").enqueue(main, 1 + n, n + 2).synchronize(main);
    };
  }
  std::function<void(task::ThreadRef)> on_aicpu(task::StreamRef main) {
    const task::NotifyRef features = s_.notify("features"), patches = s_.notify("patches");
    launch_all(main, chip_, backbone_);
    launch_all(main.record(features), chip_, heads_);
    launch_all(main.wait(patches), chip_, refine_);
    task::StreamRef side = s_.stream("side");
    side.wait(features);
    for (usize i = 0; i < levels_.size(); ++i) {
      const Patches& p = step_.levels[i];
      side.launch_cpu("ExtractImagePatches",
                      {levels_[i].x, levels_[i].y, p.images, p.edge, p.edge, p.channels, p.window, p.window, p.stride,
                       p.stride, 1, 1, 0, 0},
                      chip_.aicpu.threads);
    }
    side.record(patches);
    return [main, side](task::ThreadRef host) { host.enqueue(side).enqueue(main).synchronize(main); };
  }
  std::function<void(task::ThreadRef)> on_aicore(task::StreamRef main) {
    launch_all(main, chip_, backbone_);
    for (const Level& l : levels_) {
      if (step_.kernels.empty()) {
        main.launch(l.kernel, split() ? chip_.vector_cores : chip_.ai_cores, {l.x, l.y});
      } else {
        launch_all(main, chip_, l.kernel);
      }
    }
    launch_all(main, chip_, heads_);
    launch_all(main, chip_, refine_);
    return [main](task::ThreadRef host) { host.enqueue(main).synchronize(main); };
  }

  const config::ChipConfig& chip_;
  const Step& step_;
  task::StreamBuilder s_;
  task::KernelRef backbone_, heads_, refine_;
  std::vector<Level> levels_;
};

using Interval = std::pair<u64, u64>;

std::vector<Interval> intervals(const Run& run, std::string_view kind) {
  std::vector<Interval> out;
  for (const models::TaskTime& t : run.result.tasks)
    if (t.kind.starts_with(kind)) out.emplace_back(t.start, t.end);
  return out;
}

// Cycles that at least one of them covers.
u64 covered(std::vector<Interval> list) {
  std::ranges::sort(list);
  u64 sum = 0, end = 0;
  for (const auto& [from, to] : list) {
    sum += std::max(end, to) - std::max(end, from);
    end = std::max(end, to);
  }
  return sum;
}

// What a run says about the placement.
struct Outcome {
  double step = 0;     // s
  double op = 0;       // s, of a step: host, copies, AICPU or AI core kernels
  double idle = 0;     // share of the time in which neither cores nor AICPU work
  double overlap = 0;  // share of the time of the AICPU in which cores work
  u64 copied = 0;      // bytes between host and device
};

Outcome outcome(const Run& run, const Step& s) {
  const auto times = static_cast<double>(s.times), cycles = static_cast<double>(run.result.cycles);
  std::vector<Interval> all = intervals(run, "KERNEL_AICPU");
  const std::vector<Interval> aicpu = all, cores = intervals(run, "KERNEL_AICORE");
  all.insert(all.end(), cores.begin(), cores.end());
  const auto both = static_cast<double>(covered(aicpu) + covered(cores) - covered(all));
  Outcome out{.step = run.seconds() / times, .idle = 1 - static_cast<double>(covered(all)) / cycles};
  if (!aicpu.empty()) out.overlap = both / static_cast<double>(covered(aicpu));
  double op = 0;
  for (const models::TaskTime& t : run.result.tasks) {
    if (t.kind == "MEMCPY_ASYNC") out.copied += t.bytes;
    const bool kernel = t.kind == "KERNEL_AICPU" || t.name.starts_with("patches");
    if (kernel || t.kind == "MEMCPY_ASYNC") op += run.us(t.end - t.start) * 1e-6;
  }
  out.op = op / times + (s.place == Place::host ? s.host : 0);
  return out;
}

}  // namespace

void host_op(Study& study) {
  const config::ChipConfig& chip = study.chip();

  // Bits, on shapes like those of the three levels, but small.
  Step small{.levels = {{.images = 2, .edge = 21, .channels = 8, .window = 11, .stride = 2},
                        {.images = 1, .edge = 13, .channels = 32, .window = 7, .stride = 3},
                        {.images = 2, .edge = 9, .channels = 64, .window = 5, .stride = 1}},
             .backbone = 1e-6,
             .heads = 1e-6,
             .refine = 1e-6,
             .host = 1e-6};
  Random random(8);
  for (const Patches& p : small.levels) {
    small.features.emplace_back(p.in_bytes() / sizeof(float));
    for (float& x : small.features.back())
      x = random.uniform();
  }
  u64 wrong = 0;
  for (const Place place : {Place::host, Place::aicpu, Place::aicore}) {
    small.place = place;
    const Run run =
        study.run(fmt::format("bits-{}", kPlaceNames[static_cast<usize>(place)]), StepStream(chip, small).build());
    for (usize i = 0; i < small.levels.size(); ++i)
      wrong += run.values<float>(fmt::format("out{}", i)) != reference(small.levels[i], small.features[i]);
  }
  study.measured("different_results", static_cast<double>(wrong));

  // Bandwidth of the kernels on 4 x 4 patches of one image of each level.
  const double device = study.number("device"), heads = study.number("heads");
  Step step{.levels = siammask(study.whole("images")),
            .times = study.whole("steps"),
            .backbone = 0.3 * (1 - heads) * device,
            .heads = heads * device,
            .refine = 0.7 * (1 - heads) * device,
            .host = study.number("host")};
  Step sample{.place = Place::aicore, .levels = siammask(1), .backbone = 1e-6, .heads = 1e-6, .refine = 1e-6};
  for (Patches& p : sample.levels)
    p.stride = (p.edge - p.window) / 3;
  const Run measured = study.time("kernels", StepStream(chip, sample).build(), chip);
  for (const models::TaskTime& t : measured.result.tasks) {
    if (!t.name.starts_with("patches")) continue;
    const usize i = step.kernels.size();
    const double written = static_cast<double>(sample.levels[i].out_bytes());
    const double bandwidth = std::min(written / (measured.us(t.end - t.start) * 1e-6), chip.memory.hbm.bandwidth.value);
    study.fact(fmt::format("AI core, level {}: patches written", i), bandwidth * 1e-9, "GB/s");
    step.kernels.push_back(static_cast<double>(step.levels[i].out_bytes()) / bandwidth);
  }

  std::array<Outcome, 3> outcomes;
  for (const Place place : {Place::host, Place::aicpu, Place::aicore}) {
    const std::string_view name = kPlaceNames[static_cast<usize>(place)];
    step.place = place;
    const Outcome o = outcome(study.time(name, StepStream(chip, step).build(), chip), step);
    study.fact(fmt::format("{}: step", name), o.step, "s");
    study.fact(fmt::format("{}: extract_image_patches", name), o.op, "s");
    study.fact(fmt::format("{}: copied in a step", name),
               static_cast<double>(o.copied) / static_cast<double>(step.times), "B");
    outcomes[static_cast<usize>(place)] = o;
  }
  const auto& [on_host, on_aicpu, on_aicore] = outcomes;
  study.measured("host_share", 100 * on_host.idle);
  study.measured("host_share_after", 100 * std::max(on_aicpu.idle, on_aicore.idle));
  study.measured("copied_before", static_cast<double>(on_host.copied));
  study.measured("copied_after", static_cast<double>(on_aicpu.copied + on_aicore.copied));
  study.measured("host_by_aicpu", on_host.op / on_aicpu.op);
  study.measured("aicpu_by_aicore", on_aicpu.op / on_aicore.op);
  study.measured("aicpu_overlap", 100 * on_aicpu.overlap);
}

}  // namespace vinci::studies
