// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S23: the blank at the left of a profile, where the device waits for preprocessing; with prefetch of depth 0 to 3.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

constexpr u64 kSampleBytes = u64{224} * 224 * 3 * sizeof(float);

struct Case {
  std::string name = {};
  u64 rounds = 0;                // of the times in `pre`, and of all buffers
  double step = 0;               // s of the device for each batch
  std::vector<double> pre = {};  // s of preprocessing, one batch after the other
  u64 batch_bytes = 0;
  u64 depth = 0;    // batches that may be on the device or on their way there; 0: one thread does all
  u64 loaders = 1;  // threads, each with `depth` buffers
  bool pageable = false;
};

// What both ways share.
struct Parts {
  task::StreamBuilder& s;
  task::KernelRef step;
  task::BufferRef batch;
};

// One thread: preprocess, copy, compute, wait.
void serial(const Parts& p, const config::ChipConfig& chip, const Case& c) {
  const task::BufferRef x = p.s.device("x", c.batch_bytes);
  task::StreamRef train = p.s.stream("train");
  launch_all(train.memcpy(x, p.batch), chip, p.step);
  task::ThreadRef main = p.s.thread("main");
  main.repeat(c.rounds, [&] {
    for (const double pre : c.pre)
      main.compute(whole_nanoseconds(pre), "preprocess").enqueue(train).synchronize(train);
  });
}

// Buffers are filled in turn, each through a stream of its own. The device says by notifies when a buffer is loaded and
// when it is free; so the host runs ahead of it. A loader reuses its host memory when the copy is over.
void prefetched(const Parts& p, const config::ChipConfig& chip, const Case& c) {
  const u64 buffers = c.depth * c.loaders, batches = buffers * c.pre.size();
  struct Slot {
    task::BufferRef x = {};
    task::NotifyRef free = {}, loaded = {};
  };
  std::vector<Slot> slots;
  std::vector<task::StreamRef> copies;
  for (u64 b = 0; b < buffers; ++b)
    slots.push_back({.x = p.s.device(fmt::format("x{}", b), c.batch_bytes)});
  task::StreamRef begin = p.s.stream("begin");
  for (u64 b = 0; b < buffers; ++b) {
    slots[b].free = p.s.notify(fmt::format("free{}", b));
    begin.record(slots[b].free);
  }
  for (u64 b = 0; b < buffers; ++b) {
    slots[b].loaded = p.s.notify(fmt::format("loaded{}", b));
    copies.push_back(p.s.stream(fmt::format("copy{}", b)));
    copies[b].wait(slots[b].free).memcpy(slots[b].x, p.batch).record(slots[b].loaded);
  }
  task::StreamRef train = p.s.stream("train");
  for (const Slot& slot : slots) {
    launch_all(train.wait(slot.loaded), chip, p.step);
    train.record(slot.free);
  }
  task::ThreadRef main = p.s.thread("main");
  main.enqueue(begin).repeat(c.rounds * c.pre.size(), [&] { main.enqueue(train); });
  for (u64 l = 0; l < c.loaders; ++l) {
    task::ThreadRef loader = p.s.thread(fmt::format("loader{}", l));
    loader.repeat(c.rounds, [&] {
      for (u64 i = l; i < batches; i += c.loaders) {
        const task::StreamRef& copy = copies[i % buffers];
        loader.synchronize(copy).compute(whole_nanoseconds(c.pre[i % c.pre.size()]), "preprocess").enqueue(copy);
      }
    });
  }
}

task::BuiltStream task_stream(const config::ChipConfig& chip, const Case& c) {
  task::StreamBuilder s(c.name, chip.arch);
  const Parts parts{.s = s,
                    .step = opaque_kernel(s, "step", chip, c.step),
                    .batch = s.host({.name = "batch", .bytes = c.batch_bytes, .pageable = c.pageable})};
  c.depth == 0 ? serial(parts, chip, c) : prefetched(parts, chip, c);
  return s.finish();
}

// Times of the second half of a run, in cycles: what came before has been forgotten.
struct Steady {
  double step = 0, copy = 0;    // durations of the kernel and of the copy
  double idle = 0, period = 0;  // between two kernels; from the end of one to the end of the next. Means
  double least_idle = 0, most_idle = 0;
};

Steady steady(const Run& run) {
  const auto kernels = tasks_where(run.result, [](const auto& t) { return t.kind == "KERNEL_AICORE"; });
  const auto copies = tasks_where(run.result, [](const auto& t) { return t.kind == "MEMCPY_ASYNC"; });
  const auto length = [](const models::TaskTime& t) { return static_cast<double>(t.end - t.start); };
  Steady out{.step = length(kernels.back()), .copy = length(copies.back()), .least_idle = 1e300};
  const usize first = kernels.size() / 2;
  for (usize i = first; i < kernels.size(); ++i) {
    const double idle = static_cast<double>(kernels[i].start - kernels[i - 1].end);
    out.idle += idle;
    out.least_idle = std::min(out.least_idle, idle);
    out.most_idle = std::max(out.most_idle, idle);
  }
  const auto steps = static_cast<double>(kernels.size() - first);
  out.idle /= steps;
  out.period = static_cast<double>(kernels.back().end - kernels[first - 1].end) / steps;
  return out;
}

// What the idle time follows from, in cycles.
double expected_idle(const config::ChipConfig& chip, const Case& c, const Steady& s) {
  const auto cycles = [&](double seconds) { return std::ceil(seconds * chip.clock - 1e-9); };
  // What the thread of the loader does for a batch: it hands over a wait and the copy, then the record.
  const double enqueue = cycles(chip.host.enqueue);
  const double until_copy = cycles(chip.host.synchronize) + cycles(c.pre.front()) + 2 * enqueue;
  // Pageable memory keeps it until the copy is over, so that the record comes later, too.
  const double waits = c.pageable ? s.copy : 0, late = c.pageable ? enqueue : 0;
  if (c.depth > 1) return std::max(0.0, until_copy + waits + enqueue - s.step);
  // A single buffer is loaded between the step that has it and the next.
  return s.copy + late + std::max(0.0, until_copy - s.step);
}

}  // namespace

void prefetch(Study& study) {
  const config::ChipConfig& chip = study.chip();
  const double step = study.number("step") * 1e-3;
  const Case base{.rounds = study.whole("steps"), .step = step, .batch_bytes = study.whole("images") * kSampleBytes};
  const auto run = [&](Case c) {
    c.name = fmt::format("{}_depth{}_loaders{}_pre{}", c.pageable ? "pageable" : "pinned", c.depth, c.loaders,
                         std::llround(1e6 * c.pre.front()));
    return steady(study.time(c.name, task_stream(chip, c), chip));
  };
  double serial_error = 0, idle_error = 0, loader_idle = 0;
  for (const double ratio : {0.5, 0.9, 1.0, 1.66, 3.0}) {
    for (const bool pageable : {false, true}) {
      Case c = base;
      c.pre = {ratio * step};
      c.pageable = pageable;
      const std::string what =
          fmt::format("t_pre = {} t_step, {}: idle at depth ", ratio, pageable ? "pageable" : "pinned");
      const Steady none = run(c);
      study.fact(what + "0", none.idle / chip.clock * 1e3, "ms");
      const double sum = c.pre[0] * chip.clock + none.copy + none.step;
      serial_error = std::max(serial_error, std::fabs(none.period / sum - 1));
      for (c.depth = 1; c.depth <= 3; ++c.depth) {
        const Steady s = run(c);
        const double expected = expected_idle(chip, c, s);
        idle_error = std::max({idle_error, std::fabs(s.least_idle - expected), std::fabs(s.most_idle - expected)});
        study.fact(fmt::format("{}{}", what, c.depth), s.idle / chip.clock * 1e3, "ms");
        if (ratio == 0.5 && c.depth > 1 && !pageable) loader_idle = std::max(loader_idle, s.most_idle);
      }
    }
  }
  study.measured("serial_error", 100 * serial_error);
  study.measured("idle_error", idle_error);
  study.measured("idle_of_fast_loader", loader_idle);

  Case c = base;
  c.pre = {1.66 * step};
  const double alone = run(c).period;
  c.depth = 2;
  const double one = run(c).period;
  c.loaders = study.whole("loaders");
  const double several = run(c).period;
  study.fact("t_pre = 1.66 t_step, throughput with one loader", 100 * (alone / one - 1), "% more");
  study.measured("dataloader_gain", 100 * (alone / several - 1));

  // Batches that take longer now and then, on average less than a step.
  c.loaders = 1;
  c.pre.assign(8, 0.5 * step);
  c.pre.back() = 4.2 * step;
  const double shallow = run(c).idle;
  c.depth = 4;
  const double deep = run(c).idle;
  study.fact("every eighth batch takes 4.2 t_step: idle at depth 2", shallow / chip.clock * 1e3, "ms");
  study.fact("every eighth batch takes 4.2 t_step: idle at depth 4", deep / chip.clock * 1e3, "ms");
  study.measured("uneven_depth", (shallow - deep) / chip.clock * 1e3);
}

}  // namespace vinci::studies
