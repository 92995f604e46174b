// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/report.h"

#include <fmt/format.h>

#include <filesystem>

#include "isa/base/error.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "tools/report/page.h"

namespace vinci::run {
namespace {

using report::Json;

// Null where there is no such file.
Json read_json(const std::string& path) {
  if (!std::filesystem::exists(path)) return nullptr;
  try {
    return Json::parse(io::read_file(path));
  } catch (const Json::exception& e) {
    fail_at(Fault::Input, path, "not JSON: {}", e.what());
  }
}

report::RunFiles read_folder(const std::string& folder) {
  const std::string chip = folder + "/chip.yaml";
  if (!std::filesystem::exists(chip)) {
    fail_at(Fault::Input, folder, "no chip.yaml: this is not the output folder of a run");
  }
  report::RunFiles files{.chip = config::load_chip(chip),
                         .stats = read_json(folder + "/stats.json"),
                         .numerics = read_json(folder + "/numerics.json"),
                         .findings = read_json(folder + "/findings.json"),
                         .explanation = read_json(folder + "/explain.json"),
                         .range = read_json(folder + "/range.json")};
  if (files.stats.is_null() && files.numerics.is_null() && files.findings.is_null()) {
    fail_at(Fault::Input, folder, "nothing to report: no stats.json, numerics.json or findings.json");
  }
  return files;
}

}  // namespace

std::string write_report(const std::string& folder, const std::string& output) {
  const std::string path = output.empty() ? folder + "/report.html" : output;
  const report::RunFiles files = read_folder(folder);
  try {
    io::write_file_atomically(path, report::page(report::report_data(files)));
  } catch (const Json::exception& e) {
    fail_at(Fault::Input, folder, "its files are not as this version writes them: {}", e.what());
  }
  return path;
}

}  // namespace vinci::run
