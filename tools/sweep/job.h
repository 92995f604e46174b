// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sweep/definition.h"

// The work for one point, which a process of its own does, here or on another node: it reads a job from one file and
// leaves what came of it in another.
namespace vinci::sweep {

struct Job {
  std::string key = {};  // of everything that the result depends on
  std::vector<std::string> command = {};
  std::string chip = {};
  std::vector<std::string> set = {};  // core.cube.startup=30
  std::string mode = {};
  std::string simulator = {};
  std::string table = {};  // where results may be found; "" for nowhere
};

struct Result {
  std::string key = {};
  std::string stream = {}, chip = {};  // hashes of the task stream and of the effective chip
  std::string mode = {}, simulator = {};
  std::string chip_file = {};                // the effective chip as YAML
  std::map<std::string, double> stats = {};  // "us", "l2.hits", "AIC.M.busy"
  std::string error = {};                    // "" for success
  int exit_code = 0;
  double cpu_seconds = 0;
  bool found = false;  // an equal task stream had been simulated on an equal chip
};

// The job of a point. Options of the command are in `point` as "--m".
Job make_job(const Definition& definition, const Point& point, std::string_view simulator);

std::string to_json(const Job& job);
std::string to_json(const Result& result);
Job read_job(const std::string& file);
// Throws Fault::Input where the file is no result.
Result read_result(const std::string& file);

// Runs `vinci WORDS...` in this process; throws its errors.
using RunCommand = std::function<void(std::vector<std::string>)>;

// Does a job in `folder`, which is empty; errors become part of the result.
Result do_job(const Job& job, const std::string& folder, const RunCommand& run);

// What tells one build of the simulator from another.
std::string simulator_id();

// The numbers of a stats.json as columns: those of cores are summed.
std::map<std::string, double> columns_of(std::string_view stats_json);

}  // namespace vinci::sweep
