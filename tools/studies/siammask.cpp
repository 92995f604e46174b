// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S06: what took a training step of SiamMask from 50 s to 1.2 .. 1.6 s: three changes, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/studies/sink_loop.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"
#include "tools/studies/transdata.h"

namespace vinci::studies {
namespace {

// Between host and device for the operator of the host: features of 8 images out, patches in (study S08).
constexpr u64 kFeatureBytes = 80'259'072, kPatchBytes = 5'542'881'280;

// What has been changed.
struct Stage {
  bool op_on_device = false;  // extract_image_patches is a kernel
  bool sunk = false;          // `length` steps for each exchange with the host
  bool fast_transdata = false;
};

// StepParts of a step in s.
struct StepParts {
  double py_func = 0, patches = 0;  // the operator on the host, without its copies, and on the device
  double exchange = 0;
  double transdata = 0;  // with the kernels of the stage
  double rest = 0;
};

// Where the time of a step has gone, in s, by what the tasks were.
struct Waterfall {
  double step = 0, copies = 0, transdata = 0, kernels = 0;
  double host() const { return step - copies - transdata - kernels; }
};

constexpr u64 kConversions = 20;  // TransData kernels in a step

task::BuiltStream task_stream(std::string name, const config::ChipConfig& chip, const Stage& stage, const StepParts& p,
                              u64 steps, u64 length) {
  struct Kernels {
    task::KernelRef backbone, heads, transdata, patches;
  };
  const auto kernels_of = [&](task::StreamBuilder& s) {
    return Kernels{.backbone = opaque_kernel(s, "backbone", chip, p.rest / 2),
                   .heads = opaque_kernel(s, "heads", chip, p.rest / 2),
                   .transdata = opaque_kernel(s, "transdata", chip, p.transdata / kConversions),
                   .patches = opaque_kernel(s, "patches", chip, p.patches)};
  };
  const auto conversions_and_heads = [&](task::StreamRef stream, const Kernels& k) {
    for (u64 i = 0; i < kConversions; ++i)
      launch_all(stream, chip, k.transdata);
    launch_all(stream, chip, k.heads);
  };
  if (stage.op_on_device) {
    return sunk_loop(std::move(name), chip,
                     {.body =
                          [&](task::StreamBuilder& s, task::StreamRef body) {
                            const Kernels k = kernels_of(s);
                            launch_all(body, chip, k.backbone);
                            launch_all(body, chip, k.patches);
                            conversions_and_heads(body, k);
                          },
                      .steps = steps,
                      .length = stage.sunk ? length : 1,
                      .exchange = p.exchange});
  }
  // A step that needs the host in its middle cannot be sunk: it is two graphs.
  task::StreamBuilder s(std::move(name), chip.arch);
  const task::BufferRef features = s.device("features", kFeatureBytes), patches = s.device("patches", kPatchBytes);
  const task::BufferRef host_features = s.host({.name = "host_features", .bytes = kFeatureBytes, .pageable = true});
  const task::BufferRef host_patches = s.host({.name = "host_patches", .bytes = kPatchBytes, .pageable = true});
  const Kernels k = kernels_of(s);
  const task::ModelRef first = s.model("first"), second = s.model("second");
  launch_all(s.stream("features_graph", {.model = first}), chip, k.backbone);
  conversions_and_heads(s.stream("heads_graph", {.model = second}), k);
  task::StreamRef step = s.stream("step");
  step.execute(first).memcpy(host_features, features).memcpy(patches, host_patches).execute(second);
  task::ThreadRef main = s.thread("main");
  main.repeat(steps, [&] {
    main.compute(whole_nanoseconds(p.exchange), "exchange").enqueue(step, 0, 2).synchronize(step);
    main.compute(whole_nanoseconds(p.py_func), "py_func").enqueue(step, 2, 2).synchronize(step);
  });
  return s.finish();
}

Waterfall waterfall(const Run& run, u64 steps) {
  const auto n = static_cast<double>(steps);
  Waterfall out{.step = run.seconds() / n};
  for (const models::TaskTime& t : run.result.tasks) {
    const double seconds = run.us(t.end - t.start) * 1e-6 / n;
    if (t.kind == "MEMCPY_ASYNC") out.copies += seconds;
    if (t.kind != "KERNEL_AICORE") continue;
    (t.name.starts_with("transdata") ? out.transdata : out.kernels) += seconds;
  }
  return out;
}

}  // namespace

void siammask(Study& study) {
  const config::ChipConfig& chip = study.chip();
  const u64 length = study.whole("length");
  const double speedup = transdata_speedup(study, study.whole("mebibytes"));
  study.fact("TransData: faster by", speedup, "x");
  const auto run = [&](const Stage& stage) {
    const StepParts parts{.py_func = study.number("py_func"),
                          .patches = study.number("patches") * 1e-3,
                          .exchange = study.number("exchange"),
                          .transdata = study.number("transdata") / (stage.fast_transdata ? speedup : 1),
                          .rest = study.number("rest")};
    const u64 steps = stage.sunk ? length : 2;
    const std::string name = fmt::format("{}_{}_{}", stage.op_on_device ? "device" : "host",
                                         stage.sunk ? "sunk" : "eager", stage.fast_transdata ? "fast" : "slow");
    const Waterfall w = waterfall(study.time(name, task_stream(name, chip, stage, parts, steps, length), chip), steps);
    study.fact(name + ": step", w.step, "s");
    return w;
  };
  const Waterfall start = run({});
  const Waterfall moved = run({.op_on_device = true});
  const Waterfall sunk = run({.op_on_device = true, .sunk = true});
  const Waterfall end = run({.op_on_device = true, .sunk = true, .fast_transdata = true});
  study.measured("operator", start.step / moved.step);
  study.measured("sink", moved.step / sunk.step);
  study.measured("transdata", sunk.step / end.step);
  study.measured("total", start.step / end.step);
  // Shares of what each change has removed that were of the kind that it is about.
  const double host = (start.host() + start.copies - moved.host() - moved.copies) / (start.step - moved.step);
  const double exchange = (moved.host() - sunk.host()) / (moved.step - sunk.step);
  const double conversions = (sunk.transdata - end.transdata) / (sunk.step - end.step);
  study.measured("attribution", 100 * std::min({host, exchange, conversions}));
  // Another order: the kernels of TransData first.
  const double early_transdata = run({.fast_transdata = true}).step;
  study.measured("early_transdata", (start.step - early_transdata) / (sunk.step - end.step));
}

}  // namespace vinci::studies
