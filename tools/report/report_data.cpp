// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/report/report_data.h"

#include <algorithm>

#include "sim/config/load.h"
#include "tools/report/core_data.h"
#include "tools/report/numerics_data.h"
#include "tools/report/roofline.h"
#include "tools/report/task_data.h"

namespace vinci::report {
namespace {

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

// A counter of all devices; absent groups and counters count nothing.
u64 total(const Json& stats, const char* group, const char* counter) {
  u64 sum = 0;
  for (const Json* device : devices(stats.at("counters"))) {
    const auto found = device->find(group);
    if (found != device->end()) sum += found->value(counter, u64{0});
  }
  return sum;
}

Json chip_data(const config::ChipConfig& chip) {
  const config::Assumptions a = config::assumptions(chip);
  return {{"name", chip.name},
          {"product", chip.product},
          {"arch", isa::name(chip.arch)},
          {"clock_hz", chip.clock.value},
          {"ai_cores", chip.ai_cores},
          {"vector_cores", chip.vector_cores},
          {"assumed", a.assumed},
          {"groups", a.total}};
}

// In which kernels ran, without their cold starts.
u64 warm_cycles(const Json& stats) {
  const u64 all = stats.at("kernel_cycles");
  return all - std::min(all, stats.value("cold_cycles", u64{0}));
}

Json run_data(const Json& stats) {
  const u64 cycles = stats.at("cycles");
  Json run = {{"cycles", cycles},
              {"seconds", stats.at("seconds")},
              {"instructions", stats.at("instructions")},
              {"cube_macs", stats.at("cube_macs")},
              {"kernel_cycles", warm_cycles(stats)},
              {"cold_cycles", stats.value("cold_cycles", u64{0})},
              {"devices", devices(stats.at("counters")).size()}};
  if (const Json worked = task_cycles(stats); !worked.is_null()) {
    run["task_cycles"] = worked;
    run["gap_share"] = cycles == 0 ? 0 : 1 - ratio(worked.get<double>(), static_cast<double>(cycles));
  }
  return run;
}

// A level of the memory: bytes in each direction, as seen from the side of the cores or of the device.
Json level(const char* name, u64 read, u64 written) { return {{"level", name}, {"read", read}, {"written", written}}; }

// With what it reached while kernels ran, against its ceiling.
Json rated(Json level, double seconds, double peak) {
  const double rate = ratio(level["read"].get<double>() + level["written"].get<double>(), seconds);
  level.update({{"rate", rate}, {"peak", peak}, {"share", ratio(rate, peak)}});
  return level;
}

Json traffic(const Json& stats, const Ceilings& c, double kernel_seconds) {
  const u64 within = total(stats, "device", "d2d_bytes");
  Json rows = Json::array();
  rows.push_back(level("host copies", total(stats, "device", "h2d_bytes"), total(stats, "device", "d2h_bytes")));
  if (within > 0) rows.push_back(level("device copies", within, within));
  rows.push_back(rated(level("HBM", total(stats, "hbm", "read_bytes"), total(stats, "hbm", "write_bytes")),
                       kernel_seconds, c.hbm));
  rows.push_back(
      rated(level("L2", total(stats, "l2", "read_bytes"), total(stats, "l2", "write_bytes")), kernel_seconds, c.l2));
  for (Json& row : pipe_traffic(stats))
    rows.push_back(std::move(row));
  return rows;
}

void add_timed(const RunFiles& files, Json& out) {
  const Json& stats = files.stats;
  const u64 cycles = warm_cycles(stats);
  const double seconds = static_cast<double>(cycles) / files.chip.clock;
  const Ceilings c = ceilings(files.chip, devices(stats.at("counters")).size());
  out["run"] = run_data(stats);
  if (const double macs = stats.at("cube_macs"); macs > 0 && cycles > 0) {
    out["cube"] = {{"rate", 2 * macs / seconds}, {"peak", c.cube}, {"share", 2 * macs / seconds / c.cube}};
  }
  const u64 hits = total(stats, "l2", "hits"), misses = total(stats, "l2", "misses");
  out["l2"] = {{"hits", hits},
               {"misses", misses},
               {"hit_share", ratio(static_cast<double>(hits), static_cast<double>(hits + misses))}};
  out["tasks"] = task_columns(stats);
  out["operators"] = operators(stats);
  out["pipes"] = pipes(stats, cycles);
  out["cores"] = cores(stats);
  out["roofline"] = roofline(stats, c, cycles);
  out["traffic"] = traffic(stats, c, seconds);
}

Json findings_data(const Json& findings) {
  Json out = findings;
  Json& list = out.at("findings");
  const usize total = list.size();
  if (total > kFindingsShown) list.erase(list.begin() + kFindingsShown, list.end());
  out["total"] = total;
  return out;
}

// Chains of instructions stay in explain.json.
Json explanation_data(const Json& explanation) {
  Json out = {{"clock_hz", explanation.at("clock_hz")}, {"total", explanation.at("kernels").size()}};
  Json kernels = Json::array();
  for (const Json& kernel : explanation.at("kernels")) {
    if (kernels.size() == kKernelsExplained) break;
    if (kernel.at("path").empty()) continue;
    Json shown = kernel;
    shown.erase("chain");
    if (Json& lines = shown.at("lines"); lines.size() > kLinesExplained)
      lines.erase(lines.begin() + kLinesExplained, lines.end());
    kernels.push_back(std::move(shown));
  }
  out["kernels"] = std::move(kernels);
  return out;
}

}  // namespace

Json report_data(const RunFiles& files) {
  Json out = {{"format", 1}, {"chip", chip_data(files.chip)}};
  for (const Json* document : {&files.stats, &files.numerics}) {
    if (!document->is_null()) out["name"] = document->at("task_stream");
  }
  if (!files.stats.is_null()) add_timed(files, out);
  if (!files.numerics.is_null()) out["numerics"] = numerics_data(files.numerics);
  if (!files.explanation.is_null()) out["explanation"] = explanation_data(files.explanation);
  if (!files.range.is_null()) out["range"] = files.range;
  if (!files.findings.is_null()) out["findings"] = findings_data(files.findings);
  return out;
}

}  // namespace vinci::report
