// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/report/roofline.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "tools/report/core_data.h"
#include "tools/report/task_data.h"

namespace vinci::report {
namespace {

struct Work {
  double macs = 0, repeats = 0, bytes = 0, seconds = 0;
  u64 count = 0;
};

void add_points(const std::string& name, const std::string& level, const Work& w, std::vector<Json>& points) {
  const auto add = [&](const char* unit, double operations) {
    if (operations == 0 || w.seconds == 0 || w.bytes == 0) return;
    points.push_back({{"name", name},
                      {"unit", unit},
                      {"level", level},
                      {"count", w.count},
                      {"operations", operations},
                      {"bytes", w.bytes},
                      {"seconds", w.seconds}});
  };
  add("cube", 2 * w.macs);
  add("vector", kOperationsPerRepeat * w.repeats);
}

double both_ways(const Json& level) {
  return level.at("read_bytes").get<double>() + level.at("write_bytes").get<double>();
}

// Repeats of the vector units of all cores.
double all_repeats(const Json& device) {
  double sum = 0;
  for (const auto& [name, core] : device.items()) {
    if (name.starts_with("core") && core.contains("V")) sum += core["V"].at("steps").get<double>();
  }
  return sum;
}

}  // namespace

Ceilings ceilings(const config::ChipConfig& chip, usize devices) {
  const auto n = static_cast<double>(devices);
  const double hertz = chip.clock;
  return {.cube = n * config::peak_operations(chip),
          .vector = n * config::peak_vector_operations(chip),
          .l2 = n * chip.memory.l2.slices * (chip.memory.l2.slice_read + chip.memory.l2.slice_write) * hertz,
          .hbm = n * chip.memory.hbm.bandwidth};
}

Json roofline(const Json& stats, const Ceilings& c, u64 kernel_cycles) {
  const double hertz = stats.at("clock_hz");
  std::map<std::string, Work> kernels;
  for (const Json& t : stats.at("tasks")) {
    const auto work = t.find("work");
    if (work == t.end()) continue;
    Work& w = kernels[t.at("name")];
    w.macs += work->at("cube_macs").get<double>();
    w.repeats += work->at("vector_repeats").get<double>();
    w.bytes += work->at("gm_read_bytes").get<double>() + work->at("gm_write_bytes").get<double>();
    w.seconds += static_cast<double>(warm_duration(t)) / hertz;
    ++w.count;
  }
  std::vector<Json> points;
  for (const auto& [name, w] : kernels)
    add_points(name, "L2", w, points);
  std::ranges::stable_sort(points, std::greater<>(), [](const Json& p) { return p.at("seconds").get<double>(); });
  if (points.size() > kOperatorsShown) points.resize(kOperatorsShown);

  Work l2{.macs = stats.at("cube_macs"), .seconds = static_cast<double>(kernel_cycles) / hertz, .count = 1};
  Work hbm = l2;
  for (const Json* device : devices(stats.at("counters"))) {
    const double repeats = all_repeats(*device);
    l2.repeats += repeats;
    hbm.repeats += repeats;
    l2.bytes += both_ways(device->at("l2"));
    hbm.bytes += both_ways(device->at("hbm"));
  }
  add_points("all kernels", "L2", l2, points);
  add_points("all kernels", "HBM", hbm, points);
  return {{"units", {{"cube", c.cube}, {"vector", c.vector}}},
          {"levels", {{"L2", c.l2}, {"HBM", c.hbm}}},
          {"points", Json(std::move(points))}};
}

}  // namespace vinci::report
