// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

#include "isa/base/types.h"
#include "tools/profile/profile.h"

namespace vinci::run {

// How a task stream is run, and what the run leaves: the options of `vinci run`, which programs in Ascend C take as
// well.
struct Options {
  std::string file;
  std::string chip;
  std::vector<std::string> overrides;
  std::string mode = "full";
  std::string out;
  u64 max_cycles = std::numeric_limits<u64>::max();
  u64 seed = 0;
  u32 threads = 0;
  std::string trace;                  // "", json, perfetto
  std::string profile_level = "csv";  // off, csv, all
  std::string timestamp{profile::kTimestamp};
  std::string profile_kernels, profile_cores;  // Add|Sub, 0|31
  std::string numerics;                        // "", events, shadow
  std::string what_if;                         // "": nothing
  bool check = false;
  bool explain = false;
  bool range = false;
  bool cold = false;
  bool simulate_equal = false;
  u32 jobs = 0;  // processes of --range; 0: one for each processor
  bool report = false;
  bool quiet = false;
};

// The options of a command; `options` gets their values when the command is parsed.
void add_options(CLI::App& command, Options& options);
// Throws Fault::Input where values do not fit together.
void check(const Options& options);

}  // namespace vinci::run
