// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "sim/io/folder_lock.h"
#include "tools/explain/explanation.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

using Json = nlohmann::ordered_json;

const std::string kColdStart(explain::name(models::CostKind::cold_start));

// One of the two runs.
struct Side {
  Json stats, explanation;  // the second is null where the run was not explained
  double hertz = 1;
  bool cold = false;  // times of kernels contain their cold starts
};

Json read_json(const std::string& path) {
  if (!std::filesystem::exists(path)) return nullptr;
  try {
    return Json::parse(io::read_file(path));
  } catch (const Json::exception& e) {
    fail_at(Fault::Input, path, "not JSON: {}", e.what());
  }
}

Side read_side(const std::string& folder, bool cold) {
  const io::FolderLock lock(folder, io::FolderLock::Use::read);
  Side out{.stats = read_json(folder + "/stats.json"), .explanation = read_json(folder + "/explain.json")};
  if (out.stats.is_null()) fail_at(Fault::Input, folder, "no stats.json: this is not the output folder of a timed run");
  out.hertz = out.stats.at("clock_hz");
  out.cold = cold;
  return out;
}

// Microseconds of both, and what the second takes more.
std::string row(std::string_view what, double a, double b) {
  const std::string change = a == 0 ? "" : fmt::format("{:>+8.1f} %", 100 * (b - a) / a);
  return fmt::format("{:<32} {:>14.3f} {:>14.3f} {:>+14.3f} {}\n", what, a, b, b - a, change);
}

u64 cycles_of(const Json& task, bool cold) {
  const u64 all = task.at("end").get<u64>() - task.at("start").get<u64>();
  return cold ? all : all - std::min(all, task.value("cold", u64{0}));
}

// Of all kernels with one name, in microseconds.
std::map<std::string, double> kernels_of(const Side& side) {
  std::map<std::string, double> out;
  for (const Json& t : side.stats.at("tasks")) {
    const std::string kind = t.at("type");
    if (!kind.starts_with("KERNEL_")) continue;
    out[t.at("name")] += static_cast<double>(cycles_of(t, side.cold)) / side.hertz * 1e6;
  }
  return out;
}

// What the critical paths of all launches of a kernel spend, in microseconds by kind.
std::map<std::string, double> path_of(const Side& side, const std::string& kernel) {
  std::map<std::string, double> out;
  if (side.explanation.is_null()) return out;
  for (const Json& k : side.explanation.at("kernels")) {
    if (k.at("name") != kernel) continue;
    for (const auto& [kind, cycles] : k.at("by_kind").items())
      if (side.cold || kind != kColdStart) out[kind] = cycles.get<double>() / side.hertz * 1e6;
  }
  return out;
}

// The keys of both, those with the largest difference first.
std::vector<std::string> by_difference(const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
  std::set<std::string> keys;
  for (const auto* side : {&a, &b})
    for (const auto& [key, value] : *side)
      keys.insert(key);
  std::vector<std::string> out(keys.begin(), keys.end());
  const auto value = [](const std::map<std::string, double>& m, const std::string& key) {
    const auto it = m.find(key);
    return it == m.end() ? 0 : it->second;
  };
  std::ranges::stable_sort(out, std::ranges::greater(),
                           [&](const std::string& key) { return std::abs(value(a, key) - value(b, key)); });
  return out;
}

std::string compare(const Side& a, const Side& b) {
  const auto us = [](const Side& s, const char* key) { return s.stats.at(key).get<double>() / s.hertz * 1e6; };
  std::string out =
      fmt::format("{:<32} {:>14} {:>14} {:>14} {:>10}\n", "us", "first", "second", "difference", "change");
  out += row("simulated time", us(a, "cycles"), us(b, "cycles"));
  const auto cold_us = [&](const Side& s) { return s.stats.contains("cold_cycles") ? us(s, "cold_cycles") : 0; };
  const auto kernels = [&](const Side& s) { return us(s, "kernel_cycles") - (s.cold ? 0 : cold_us(s)); };
  out += row(a.cold ? "kernels" : "kernels, warm", kernels(a), kernels(b));
  out += row("cold start", cold_us(a), cold_us(b));
  auto first = kernels_of(a), second = kernels_of(b);
  for (const std::string& kernel : by_difference(first, second)) {
    out += row(kernel, first[kernel], second[kernel]);
    auto path = path_of(a, kernel), other = path_of(b, kernel);
    if (path.empty() || other.empty()) continue;
    for (const std::string& kind : by_difference(path, other))
      if (path[kind] != other[kind]) out += row("  " + kind, path[kind], other[kind]);
  }
  if (a.explanation.is_null() || b.explanation.is_null())
    out += "\nWith `vinci explain` of both folders before, this also compares the critical paths.\n";
  return out;
}

}  // namespace

void add_diff(CLI::App& app) {
  struct Options {
    std::string first, second;
    bool cold = false;
  };
  CLI::App* sub = app.add_subcommand("diff", "Compare the times of two runs, kernel by kernel");
  const auto o = std::make_shared<Options>();
  sub->add_option("RUN", o->first, "Output folder of a run")->required();
  sub->add_option("OTHER", o->second, "Output folder of another run")->required();
  sub->add_flag("--cold", o->cold,
                "Compare kernels with their cold starts, as first launches; without it they are warm");
  sub->footer(
      "Where both folders have an explain.json, the shares of the critical paths are compared, too.\n"
      "Example: vinci diff out/before out/after");
  sub->callback([o] {
    const Side first = read_side(o->first, o->cold), second = read_side(o->second, o->cold);
    try {
      print_out(compare(first, second));
    } catch (const Json::exception& e) {
      fail(Fault::Input, "the files are not as this version writes them: {}", e.what());
    }
  });
}

}  // namespace vinci::cli
