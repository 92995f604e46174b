// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S06: what took a training step of SiamMask from 50 s to 1.2 .. 1.6 s: three changes, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/studies/entries.h"
#include "tools/studies/sink_loop.h"
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

// Parts of a step in s.
struct Parts {
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

gen::StreamFiles task_stream(std::string_view name, const config::ChipConfig& chip, const Stage& stage, const Parts& p,
                             u64 steps, u64 length) {
  const std::string kernels = opaque_kernel("backbone", chip, p.rest / 2) + opaque_kernel("heads", chip, p.rest / 2) +
                              opaque_kernel("transdata", chip, p.transdata / kConversions) +
                              opaque_kernel("patches", chip, p.patches);
  const auto launch = [&](std::string_view kernel) { return "    - " + opaque_launch(kernel, chip) + "\n"; };
  std::string conversions;
  for (u64 i = 0; i < kConversions; ++i)
    conversions += launch("transdata");
  if (stage.op_on_device) {
    return sunk_loop(name, chip,
                     {.kernels = kernels,
                      .body = launch("backbone") + launch("patches") + conversions + launch("heads"),
                      .steps = steps,
                      .length = stage.sunk ? length : 1,
                      .exchange = p.exchange});
  }
  // A step that needs the host in its middle cannot be sunk: it is two graphs.
  return stream_text(name, chip,
                     fmt::format(R"(buffers:
  features: {{place: device, bytes: {0}}}
  patches: {{place: device, bytes: {1}}}
  host_features: {{place: host, bytes: {0}, pageable: true}}
  host_patches: {{place: host, bytes: {1}, pageable: true}}
kernels:
{2}models:
  first: {{head: [features_graph]}}
  second: {{head: [heads_graph]}}
streams:
  features_graph:
{3}  heads_graph:
{4}{5}  step:
    - model_execute: first
    - memcpy_async: {{dst: host_features, src: features}}
    - memcpy_async: {{dst: patches, src: host_patches}}
    - model_execute: second
host:
  threads:
    main:
      - repeat:
          times: {6}
          steps:
            - compute: {{time: {7}, name: exchange}}
            - enqueue: {{stream: step, first: 0, count: 2}}
            - synchronize_stream: step
            - compute: {{time: {8}, name: py_func}}
            - enqueue: {{stream: step, first: 2, count: 2}}
            - synchronize_stream: step
)",
                                 kFeatureBytes, kPatchBytes, kernels, launch("backbone"), conversions, launch("heads"),
                                 steps, time_text(p.exchange), time_text(p.py_func)));
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
    const Parts parts{.py_func = study.number("py_func"),
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
