// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/census/census.h"
#include "models/soc/session.h"
#include "sim/trace/instruction_csv.h"
#include "tools/explain/collector.h"
#include "tools/profile/simulator_tree.h"
#include "tools/results/outputs.h"
#include "tools/run/options.h"
#include "tools/run/output_folder.h"
#include "tools/run/progress.h"

namespace vinci::run {

// The built-in chip that a task stream runs on when none is named.
std::string_view default_chip(isa::Arch arch);

// One run of a task stream that leaves a folder: what `vinci run` does, and what a program in Ascend C does at its end.
class Run {
 public:
  using Host = models::Session::Host;

  // Makes the folder. All arguments must outlive the run; with Host::open the task stream may grow (models::Session).
  // Progress and the summary are printed to `out`. `reserved`: as of OutputFolder.
  Run(const Options& options, const task::TaskStream& stream, Host host = Host::complete, std::FILE* out = stdout,
      std::shared_ptr<const io::LockedFolder> reserved = nullptr);
  ~Run();

  // Lets the simulation of a timed run go on in some way. Files that explain a fault are written before it is thrown.
  void advance(const std::function<void(models::Session&)>& step);
  // What is left of the run, its files, and its summary. Throws the faults of the simulation, Fault::Program where the
  // check found something. A signal such as Ctrl-C ends the simulation in order.
  void finish();

  const std::string& folder() const { return out_.folder(); }
  const config::ChipConfig& chip() const { return chip_; }

 private:
  models::Options model_options();
  void make_sinks();
  std::unique_ptr<trace::FileSink> make_timeline() const;
  profile::TreeFilter filter() const;
  std::string timeline_name() const;
  std::string execute();
  void keep_timeline(const Error& fault);
  void explain(const Error& fault);
  void commit();
  // What the files of tools/results/outputs.h are made from.
  results::EndedRun ended(const Error* cut_short) const;
  void write_files(const results::EndedRun& run) const;
  void report_findings(const Error* cut_short) const;
  // Why the kernels took their time; returns it as text.
  std::string write_explanation();
  // How far off the time may be; returns it as text.
  std::string write_range();
  void print(std::string_view text) const;
  void print_result(const std::string& text, const std::vector<std::string>& outputs, double wall) const;

  const Options& o_;
  const task::TaskStream& stream_;
  Host host_;
  std::FILE* print_to_;
  config::ChipConfig chip_;
  OutputFolder out_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<task::RunMemory> memory_;
  ProgressLine line_;
  isa::Census census_;
  std::unique_ptr<isa::check::Checker> checker_;
  std::vector<std::unique_ptr<trace::FileSink>> sinks_;
  std::optional<trace::Tee> tee_;
  std::optional<explain::Collector> causes_;
  std::optional<profile::Profile> tables_;
  std::optional<models::Session> session_;
  std::optional<models::Result> result_;  // of a run with time that came to its end
  u64 instructions_ = 0;
};

}  // namespace vinci::run
