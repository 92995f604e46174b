// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S03: sparse features are compressed by an index; the host makes it and copies it, or the device makes it by itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "isa/base/random.h"
#include "tools/studies/compress_kernels.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

constexpr u64 kFeatures = 64, kRowBytes = kFeatures * 2;  // f16

struct Points {
  u64 blocks = 0, tiles = 0;  // of scores, for each block
  std::vector<float> scores = {};
  std::vector<i64> kept = {};  // what the host finds: numbers of the rows whose score is above 0

  u64 rows() const { return scores.size(); }
  u64 kept_blocks() const { return align_up<u64>(kept.size(), 4) * 8; }  // bytes of the index, whole blocks of 32
};

Points make_points(const config::ChipConfig& chip, u64 rows, double density) {
  Points out{.blocks = chip.vector_cores, .tiles = ceil_div(rows, u64{chip.vector_cores} * kCompressTile)};
  Random random(3);
  out.scores.assign(out.blocks * out.tiles * kCompressTile, -1.0f);
  for (u64 i = 0; i < rows; ++i)
    out.scores[i] = static_cast<float>(density) * 2 - 1 - random.uniform();
  for (u64 i = 0; i < out.rows(); ++i)
    if (out.scores[i] > 0) out.kept.push_back(static_cast<i64>(i));
  return out;
}

enum class Place : u8 { host, device };

struct Case {
  const Points& points;
  Place place = Place::host;
  double host = 0;                 // s of the host for the index
  double step = 0;                 // s of an opaque kernel in front, the rest of the step; 0: none
  std::span<const u16> rows = {};  // features; with them, the result goes to y.npy
};

// The host waits twice: for the scores, and until the device has its index.
void on_host(task::StreamBuilder& s, const config::ChipConfig& chip, const Case& c, task::BufferRef scores,
             task::BufferRef x, task::BufferRef y, task::ThreadRef main) {
  const Points& p = c.points;
  std::vector<i64> padded = p.kept;
  padded.resize(p.kept_blocks() / 8);
  const task::BufferRef seen = s.host({.name = "seen", .bytes = p.rows() * 4});
  const task::BufferRef made = s.host_data<i64>("made", "i8", padded), index = s.device("index", p.kept_blocks());
  const u64 each = align_up<u64>(ceil_div(p.kept.size(), p.blocks), 4);
  const task::KernelRef gather =
      s.kernel("gather", task::KernelType::AIV_ONLY, gather_kernel(chip.arch, kRowBytes, each));
  task::StreamRef down = s.stream("down"), up = s.stream("up"), compress = s.stream("compress");
  down.memcpy(seen, scores);
  up.memcpy(index, made);
  compress.launch(gather, static_cast<u32>(ceil_div(p.kept.size(), each)), {index, x, y, p.kept.size()});
  main.enqueue(down).synchronize(down).compute(whole_nanoseconds(c.host), "index");
  main.enqueue(up).synchronize(up).enqueue(compress).synchronize(compress);
}

void on_device(task::StreamBuilder& s, const config::ChipConfig& chip, const Case& c, task::BufferRef scores,
               task::BufferRef iota, task::BufferRef x, task::BufferRef y, task::ThreadRef main) {
  const Points& p = c.points;
  const auto blocks = static_cast<u32>(p.blocks);
  const task::BufferRef counts = s.device("counts", p.blocks * kCountBytes);
  using enum task::KernelType;
  task::StreamRef compress = s.stream("compress");
  compress.launch(s.kernel("count", AIV_ONLY, count_kernel(chip.arch, p.tiles)), blocks, {scores, counts});
  compress.launch(s.kernel("compress", AIV_ONLY, compress_kernel(chip.arch, p.tiles, kRowBytes)), blocks,
                  {scores, counts, iota, x, y});
  main.enqueue(compress).synchronize(compress);
}

task::BuiltStream task_stream(const config::ChipConfig& chip, std::string name, const Case& c) {
  task::StreamBuilder s(std::move(name), chip.arch);
  const Points& p = c.points;
  std::vector<i32> numbers(kCompressTile);
  std::iota(numbers.begin(), numbers.end(), 0);
  const task::BufferRef scores = s.device("scores_dev", p.rows() * 4), iota = s.device("iota_dev", kCompressTile * 4);
  const task::BufferRef x = s.device("x_dev", p.rows() * kRowBytes), y = s.device("y_dev", p.kept.size() * kRowBytes);
  task::StreamRef load = s.stream("load");
  load.memcpy(scores, s.host_data<float>("scores", "f4", p.scores))
      .memcpy(iota, s.host_data<i32>("iota", "i4", numbers));
  if (!c.rows.empty()) load.memcpy(x, s.host_data<u16>("x", "f2", c.rows));
  task::ThreadRef main = s.thread("main");
  main.enqueue(load).synchronize(load);
  if (c.step > 0) {
    task::StreamRef rest = s.stream("rest");
    launch_all(rest, chip, opaque_kernel(s, "rest", chip, c.step));
    main.enqueue(rest).synchronize(rest);
  }
  if (c.place == Place::host)
    on_host(s, chip, c, scores, x, y, main);
  else
    on_device(s, chip, c, scores, iota, x, y, main);
  if (!c.rows.empty()) {
    task::StreamRef save = s.stream("save");
    save.memcpy(s.host({.name = "y", .output = "y.npy", .dtype = "f2", .shape = {p.kept.size() * kFeatures}}), y);
    main.enqueue(save);
  }
  return s.finish();
}

// What a run shows, in s: from the end of the loading to the end, and what is in it.
struct Times {
  double whole = 0, kernels = 0, copies = 0, up_bytes = 0;
};
Times times_of(const Run& run) {
  Times t;
  double loaded = 0;
  for (const models::TaskTime& task : run.result.tasks) {
    const double end = run.us(task.end) * 1e-6, length = run.us(task.end - task.start) * 1e-6;
    if (task.stream == "load") {
      loaded = std::max(loaded, end);
    } else {
      t.whole = std::max(t.whole, end);
      if (task.kind == "MEMCPY_ASYNC") t.copies += length;
      if (task.stream == "up") t.up_bytes += static_cast<double>(task.bytes);
      if (task.stream == "compress") t.kernels += length;
    }
  }
  t.whole -= loaded;
  return t;
}

// Elements of y that are not those of a plain loop over all rows.
u64 wrong_elements(const Study& study, const Points& p, Place place) {
  std::vector<u16> x(p.rows() * kFeatures), expected;
  Random random(33);
  for (u16& v : x)
    v = static_cast<u16>(random.next());
  for (u64 i = 0; i < p.rows(); ++i)
    if (p.scores[i] > 0)
      expected.insert(expected.end(), x.begin() + i64(i * kFeatures), x.begin() + i64((i + 1) * kFeatures));
  const std::string name = place == Place::host ? "bits-host" : "bits-device";
  const auto y =
      study.run(name, task_stream(study.chip(), name, {.points = p, .place = place, .host = 1e-6, .rows = x}))
          .values<u16>("y");
  u64 wrong = y.size() != expected.size();
  for (u64 i = 0; i < std::min(y.size(), expected.size()); ++i)
    wrong += y[i] != expected[i];
  return wrong;
}

}  // namespace

void device_index(Study& study) {
  const config::ChipConfig& chip = study.chip();
  if (chip.vector_cores == 0) fail(Fault::Unsupported, "S03: the kernels are for cores with vreducev2: the split core");
  const double density = study.number("density") / 100, host = study.number("host") * 1e-3;
  const Points small = make_points(chip, study.whole("small_points") * 8, density);
  const Points all = make_points(chip, study.whole("points") * study.whole("depth"), density);

  const auto wrong = study.variants(2, [&](usize i) { return wrong_elements(study, small, Place{u8(i)}); });
  study.measured("different_results", static_cast<double>(wrong[0] + wrong[1]));

  // Host and device, alone and behind the rest of a step. Scores are data: they decide which rows move.
  const std::array<std::string, 4> names{"host", "device", "step-host", "step-device"};
  const double step = study.number("step") * 1e-3;
  const auto runs = study.variants(names.size(), [&](usize i) {
    const Case c{.points = all, .place = Place{u8(i % 2)}, .host = host, .step = i < 2 ? 0 : step};
    return times_of(study.run(names[i], task_stream(chip, names[i], c)));
  });
  const Times &a = runs[0], &b = runs[1];

  // The equations. T_A: nothing overlaps, because the host waits for each part.
  const double bytes_down = static_cast<double>(all.rows()) * 4, bytes_up = static_cast<double>(all.kept_blocks());
  const double h2d = chip.host.copy_latency + bytes_up / chip.host.h2d_bandwidth;
  const double d2h = chip.host.copy_latency + bytes_down / chip.host.d2h_bandwidth;
  const double waits = 3 * chip.host.synchronize;
  const double expected_a = host + h2d + d2h + waits + 2 * chip.host.enqueue + chip.host.launch + a.kernels;
  // T_B: the second launch hides behind the first kernel.
  const double expected_b = chip.host.launch + chip.host.synchronize + b.kernels;
  study.fact("rows kept", static_cast<double>(all.kept.size()), "");
  study.fact("host: the operator", a.whole * 1e6, "us");
  study.fact("host: copies", a.copies * 1e6, "us");
  study.fact("host: the kernel", a.kernels * 1e6, "us");
  study.fact("device: the operator", b.whole * 1e6, "us");
  study.fact("device: both kernels", b.kernels * 1e6, "us");
  study.fact("gain of the operator", a.whole / b.whole, "x");
  // T_A(t) = t + rest: where it is 300 T_B.
  study.fact("host time at which the gain is 300", (300 * b.whole - (a.whole - host)) * 1e3, "ms");
  study.fact("share of the operator in the step", 100 * a.whole / runs[2].whole, "%");
  study.measured("host_time", 100 * std::fabs(a.whole / expected_a - 1));
  study.measured("device_time", 100 * std::fabs(b.whole / expected_b - 1));
  study.measured("index_bytes_before", a.up_bytes - bytes_up);
  study.measured("index_bytes_after", b.up_bytes);
  study.measured("gain", a.whole / b.whole);
  study.measured("step_gain", 100 * (runs[2].whole / runs[3].whole - 1));
}

}  // namespace vinci::studies
