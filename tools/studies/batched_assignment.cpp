// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S04: label assignment of YOLOv7, a chain of kernels for each image, and one chain for the padded batch.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "isa/base/enums.h"
#include "isa/base/random.h"
#include "tools/studies/assignment_kernels.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

constexpr auto kOpNames = enum_names<AssignOp>;
static_assert(kOpNames.size() == kAssignOps);

// Boxes of an image: x1, y1, x2, y2, area.
struct Images {
  std::vector<u64> rows = {};  // ground truths of each
  u64 most() const { return *std::ranges::max_element(rows); }
  u64 all() const { return std::accumulate(rows.begin(), rows.end(), u64{0}); }
};

Images make_images(u64 count, u64 least, u64 most) {
  Images out;
  Random random(4);
  for (u64 i = 0; i < count; ++i)
    out.rows.push_back(least + random.next() % (most - least + 1));
  return out;
}

// One launch of every operation works on one of these.
struct Chain {
  u64 first = 0, rows = 0;
};
// The chains of a loop over images, or the one of the batch, where every image has as many rows as the largest.
std::vector<Chain> chains(const Images& images, bool batched) {
  if (batched) return {{.first = 0, .rows = images.most() * images.rows.size()}};
  std::vector<Chain> out;
  u64 at = 0;
  for (const u64 rows : images.rows) {
    out.push_back({.first = at, .rows = rows});
    at += rows;
  }
  return out;
}

std::vector<float> make_boxes(u64 count, u64 seed) {
  Random random(seed);
  std::vector<float> out;
  for (u64 i = 0; i < count; ++i) {
    const float x = 320 + 256 * random.uniform(), y = 320 + 256 * random.uniform(), w = 96 + 64 * random.uniform(),
                h = 96 + 64 * random.uniform();
    out.insert(out.end(), {x - w / 2, y - h / 2, x + w / 2, y + h / 2, 0, 0, 0, 0});
    float* box = &out[i * 8];
    box[4] = (box[2] - box[0]) * (box[3] - box[1]);
  }
  return out;
}

struct Data {
  std::vector<float> boxes = {};    // of the rows, 8 words each
  std::vector<float> anchors = {};  // x1, y1, x2, y2, area: columns each; those behind the last anchor are empty
};
Data make_data(u64 rows) {
  Data d{.boxes = make_boxes(rows, 41)};
  const std::vector<float> boxes = make_boxes(kAnchors, 42);
  d.anchors.assign(5 * kColumns, 0.0f);
  for (u64 part = 0; part < 5; ++part)
    for (u64 i = 0; i < kAnchors; ++i)
      d.anchors[part * kColumns + i] = boxes[i * 8 + part];
  for (u64 i = kAnchors; i < kColumns; ++i)  // far away
    for (u64 part = 0; part < 4; ++part)
      d.anchors[part * kColumns + i] = -1000;
  return d;
}

// The host enqueues the operations of a chain and waits for k, which the loss needs.
task::BuiltStream task_stream(const config::ChipConfig& chip, const std::string& name, const std::vector<Chain>& list,
                              bool save) {
  u64 rows = 0;
  for (const Chain& c : list)
    rows = std::max(rows, c.first + c.rows);
  const Data data = make_data(rows);
  task::StreamBuilder s(name, chip.arch);
  std::vector<i32> numbers(kSortTile);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto full = [&](const char* what) { return s.device(what, rows * kColumns * 4); };
  const task::BufferRef boxes = s.device("boxes_dev", rows * kBoxBytes),
                        anchors = s.device("anchors_dev", 5 * kColumns * 4), iota = s.device("iota_dev", kSortTile * 4),
                        records = s.device("records", rows * kTopBytes), k = s.device("k_dev", rows * 32);
  // Buffers are used again when their contents have been read.
  const task::BufferRef x1 = full("x1"), y1 = full("y1"), x2 = full("x2"), y2 = full("y2"), iou = full("iou");
  const task::BufferRef shared = iou, both = x1, log = y1, classes = x2, cost = y2, matched = x1;
  task::StreamRef load = s.stream("load"), main = s.stream("main");
  load.memcpy(boxes, s.host_data<float>("boxes", "f4", data.boxes))
      .memcpy(anchors, s.host_data<float>("anchors", "f4", data.anchors));
  load.memcpy(iota, s.host_data<i32>("iota", "i4", numbers));
  task::ThreadRef host = s.thread("main");
  host.enqueue(load).synchronize(load);
  std::map<std::pair<u64, u64>, task::KernelRef> kernels;
  const task::BufferRef seen = s.host({.name = "k", .output = "k.npy", .dtype = "i4", .shape = {rows * 8}});
  for (const Chain& c : list) {
    const u32 at = main.size();
    const u64 offset = c.first * kColumns * 4;
    const auto launch = [&](AssignOp op, std::vector<task::LaunchArg> args) {
      const auto [it, is_new] = kernels.try_emplace({usize(op), c.rows});
      const std::string kernel = fmt::format("{}_{}", kOpNames[usize(op)], c.rows);
      if (is_new) it->second = s.kernel(kernel, task::KernelType::AIV_ONLY, assignment_kernel(chip.arch, op, c.rows));
      const bool by_row = op == AssignOp::top || op == AssignOp::dynamic_k;
      main.launch(it->second, u32(std::min<u64>(by_row ? c.rows : c.rows * kChunks, chip.vector_cores)),
                  std::move(args));
    };
    const auto anchor = [&](u64 part) { return anchors + part * kColumns * 4; };
    const task::BufferRef my_boxes = boxes + c.first * kBoxBytes, my_records = records + c.first * kTopBytes,
                          my_k = k + c.first * 32;
    launch(AssignOp::x1, {anchor(0), my_boxes, x1 + offset});
    launch(AssignOp::y1, {anchor(1), my_boxes, y1 + offset});
    launch(AssignOp::x2, {anchor(2), my_boxes, x2 + offset});
    launch(AssignOp::y2, {anchor(3), my_boxes, y2 + offset});
    launch(AssignOp::intersection, {x1 + offset, y1 + offset, x2 + offset, y2 + offset, shared + offset});
    launch(AssignOp::union_area, {anchor(4), shared + offset, my_boxes, both + offset});
    launch(AssignOp::iou, {shared + offset, both + offset, iou + offset});
    launch(AssignOp::log_iou, {iou + offset, log + offset});
    launch(AssignOp::cost, {classes + offset, log + offset, cost + offset});
    launch(AssignOp::top, {iou + offset, iota, my_records});
    launch(AssignOp::dynamic_k, {my_records, my_k});
    launch(AssignOp::matched, {iou + offset, my_records, my_k, matched + offset});
    main.memcpy(seen + c.first * 32, my_k, c.rows * 32);
    host.enqueue(main, at, main.size() - at).synchronize(main);
  }
  if (save) {
    task::StreamRef keep = s.stream("keep");
    keep.memcpy(s.host({.name = "matched", .output = "matched.npy", .dtype = "f4", .shape = {rows * kColumns}}),
                matched);
    keep.memcpy(s.host({.name = "cost", .output = "cost.npy", .dtype = "f4", .shape = {rows * kColumns}}), cost);
    keep.memcpy(s.host({.name = "classes", .output = "classes.npy", .dtype = "f4", .shape = {rows * kColumns}}),
                classes);
    host.enqueue(keep);
  }
  return s.finish();
}

// Bits: k and matches of every row against plain loops.
struct Wrong {
  u64 ks = 0, matches = 0;
  double cost = 0;  // largest error, in ulps of f32 at the size of |class| + 3 |log|
};
Wrong check(const Study& study, const std::vector<Chain>& list, const std::string& name) {
  u64 rows = 0;
  for (const Chain& c : list)
    rows = std::max(rows, c.first + c.rows);
  const Data d = make_data(rows);
  const Run run = study.run(name, task_stream(study.chip(), name, list, true));
  const auto ks = run.values<i32>("k");
  const auto matched = run.values<float>("matched"), cost = run.values<float>("cost"),
             classes = run.values<float>("classes");
  Wrong wrong;
  for (u64 row = 0; row < rows; ++row) {
    const float* box = &d.boxes[row * 8];
    std::vector<float> iou(kColumns);
    const auto part = [&](u64 which, u64 i) { return d.anchors[which * kColumns + i]; };
    for (u64 i = 0; i < kColumns; ++i) {
      const float w = std::max(0.0f, std::min(part(2, i), box[2]) - std::max(part(0, i), box[0]));
      const float h = std::max(0.0f, std::min(part(3, i), box[3]) - std::max(part(1, i), box[1]));
      const float shared = w * h, rest = part(4, i) - shared;
      iou[i] = shared / (rest + box[4]);
      const double log = -3 * std::log(double{iou[i] + 1e-8f}), exact = log + classes[row * kColumns + i];
      const double size = std::fabs(log) + std::fabs(classes[row * kColumns + i]);
      wrong.cost = std::max(wrong.cost, std::fabs(cost[row * kColumns + i] - exact) / size * 0x1p23);
    }
    std::vector<float> sorted = iou;
    std::ranges::sort(sorted, std::greater());
    const double sum = std::accumulate(sorted.begin(), sorted.begin() + kTop, 0.0);
    const i32 k = std::max(1, static_cast<i32>(sum));
    wrong.ks += ks[row * 8] != k;
    for (u64 i = 0; i < kColumns; ++i)
      wrong.matches += matched[row * kColumns + i] != (iou[i] >= sorted[u64(k) - 1] ? 1.0f : 0.0f);
  }
  return wrong;
}

// Durations in s: all tasks of the stream in their order, and from the end of the loading to the end.
std::vector<double> measure(const Study& study, const config::ChipConfig& chip, const std::string& name,
                            const std::vector<Chain>& list) {
  const Run run = study.run(name, task_stream(chip, name, list, false), chip);
  std::vector<double> out{0};
  double loaded = 0, end = 0;
  for (const models::TaskTime& t : run.result.tasks) {
    if (t.stream == "load") {
      loaded = std::max(loaded, run.us(t.end) * 1e-6);
      continue;
    }
    end = std::max(end, run.us(t.end) * 1e-6);
    out.push_back(run.us(t.end - t.start) * 1e-6);
  }
  out[0] = end - loaded;
  return out;
}

// What a host gives that enqueues the tasks of a chain every `launch`, and waits at its end: a task begins when it is
// there and the one before has ended.
double expected(const config::ChipConfig& chip, std::span<const double> tasks, double launch) {
  constexpr u64 kTasks = kAssignOps + 1;  // and the copy
  double now = 0;
  for (u64 chain = 0; chain < tasks.size() / kTasks; ++chain) {
    double there = now, end = now;
    for (u64 i = 0; i < kTasks; ++i) {
      there += i < kAssignOps ? launch : chip.host.enqueue;
      end = std::max(end, there) + tasks[chain * kTasks + i];
    }
    now = end + chip.host.synchronize;
  }
  return now;
}

}  // namespace

void batched_assignment(Study& study) {
  if (study.chip().vector_cores == 0)
    fail(Fault::Unsupported, "S04: the kernels are for cores with vbitsort32: the split core");
  const Wrong wrong = check(study, {{.first = 0, .rows = 3}, {.first = 3, .rows = 5}}, "bits");
  study.measured("wrong_ks", static_cast<double>(wrong.ks));
  study.measured("wrong_matches", static_cast<double>(wrong.matches));
  study.measured("cost_error", wrong.cost);

  const Images images = make_images(study.whole("images"), study.whole("least"), study.whole("most"));
  const std::vector<Chain> loop = chains(images, false), batch = chains(images, true);
  const auto chip_of = [&](double launch) {
    return study.chip_with({fmt::format("host.launch={:.0f}ns", launch * 1e9)});
  };
  const config::ChipConfig& chip = study.chip();
  // Durations, from runs in which the host is the limit: kernels do not touch each other.
  const auto apart = study.variants(2, [&](usize i) {
    return measure(study, chip_of(1e-3), i == 0 ? "loop-apart" : "batch-apart", i == 0 ? loop : batch);
  });
  const std::span<const double> loop_tasks = std::span(apart[0]).subspan(1),
                                batch_tasks = std::span(apart[1]).subspan(1);
  const auto ratio = [&](double launch) {
    return expected(chip, loop_tasks, launch) / expected(chip, batch_tasks, launch);
  };
  constexpr double kPublished = 5.5;
  double low = 0, high = 1;
  while (high - low > 1e-9)
    (ratio((low + high) / 2) < kPublished ? low : high) = (low + high) / 2;
  const double even = low, given = chip.host.launch;
  const auto runs = study.variants(4, [&](usize i) {
    const std::string name = fmt::format("{}-{}", i % 2 == 0 ? "loop" : "batch", i < 2 ? "given" : "even");
    return measure(study, chip_of(i < 2 ? given : even), name, i % 2 == 0 ? loop : batch);
  });
  const auto error = [&](usize i) {
    return std::fabs(runs[i][0] / expected(chip, i % 2 == 0 ? loop_tasks : batch_tasks,
                                           std::round((i < 2 ? given : even) * 1e9) * 1e-9) -
                     1);
  };
  study.fact("loop over images", runs[0][0] * 1e6, "us");
  study.fact("padded batch", runs[1][0] * 1e6, "us");
  study.fact("loop: kernels alone", std::accumulate(loop_tasks.begin(), loop_tasks.end(), 0.0) * 1e6, "us");
  study.fact("batch: kernels alone", std::accumulate(batch_tasks.begin(), batch_tasks.end(), 0.0) * 1e6, "us");
  study.fact("gain with the launch of the chip", runs[0][0] / runs[1][0], "x");
  study.fact("launch at which the gain is 5.5", even * 1e6, "us");
  study.fact("rows of the batch that are padding",
             100 * (1 - static_cast<double>(images.all()) / static_cast<double>(batch[0].rows)), "%");
  for (const double launch : {0.0, 1e-6, 1e-5, 1e-4})
    study.fact(fmt::format("gain by the equation, launch of {} us", std::round(launch * 1e6)), ratio(launch), "x");
  const u64 launches = loop_tasks.size() / (kAssignOps + 1) * kAssignOps;
  study.measured("loop_launches", static_cast<double>(launches));
  study.measured("batch_launches", static_cast<double>(batch_tasks.size() - 1));
  study.measured("loop_time", 100 * std::max(error(0), error(2)));
  study.measured("batch_time", 100 * std::max(error(1), error(3)));
  study.measured("gain_there", runs[2][0] / runs[3][0]);
}

}  // namespace vinci::studies
