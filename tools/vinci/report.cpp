// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "isa/base/error.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "tools/report/page.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

using report::Json;

// Null where there is no such file.
Json read_json(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return nullptr;
  try {
    return Json::parse(in);
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
                         .findings = read_json(folder + "/findings.json")};
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

void add_report(CLI::App& app) {
  struct Options {
    std::string folder;
    std::string output;
  };
  CLI::App* sub = app.add_subcommand("report", "Make a page with charts and tables from the output folder of a run");
  const auto o = std::make_shared<Options>();
  sub->add_option("FOLDER", o->folder, "Output folder of a run")->required();
  sub->add_option("-o,--output", o->output, "The page; FOLDER/report.html if not given");
  sub->footer(
      "The page needs no network and no other file. `vinci run --report` makes it with the run.\n"
      "Example: vinci report out/gemm");
  sub->callback([o] { print_out(fmt::format("{}\n", write_report(o->folder, o->output))); });
}

}  // namespace vinci::cli
