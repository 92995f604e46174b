// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/processes/commands.h"
#include "tools/sweep/job.h"

// Who does the jobs. A job file is FOLDER/jobs/KEY.json, its result FOLDER/results/KEY.json, what it prints
// FOLDER/logs/KEY.txt; the folders are there.
namespace vinci::sweep {

class Executor {
 public:
  virtual ~Executor() = default;
  // Whether another job may be started now.
  virtual bool has_room() const = 0;
  virtual void start(const Job& job) = 0;
  // Jobs that have ended since the last call; where one left no result, `error` says why.
  struct Done {
    std::string key;
    std::string error;
  };
  virtual std::vector<Done> done() = 0;
};

// `workers` processes of this machine; `tool` is the executable of `vinci`.
class LocalExecutor : public Executor {
 public:
  LocalExecutor(std::string tool, std::string folder, unsigned workers);
  bool has_room() const override { return commands_.running() < workers_; }
  void start(const Job& job) override;
  std::vector<Done> done() override;

 private:
  std::string tool_, folder_;
  usize workers_;
  processes::Commands commands_;
  std::vector<std::string> keys_;  // by number of the command
};

// Job arrays of Slurm, at most `workers` jobs at the same time. The folder must be one that the nodes see, too.
class SlurmExecutor : public Executor {
 public:
  // `options` are those of sbatch: "--partition=short".
  SlurmExecutor(std::string tool, const std::string& folder, unsigned workers, std::vector<std::string> options);
  bool has_room() const override { return true; }
  void start(const Job& job) override { waiting_.push_back(job.key); }
  // Submits what was started since the last call, and looks for results.
  std::vector<Done> done() override;

 private:
  void submit();
  bool is_queued(const std::string& array) const;

  std::string tool_, folder_;
  unsigned workers_;
  std::vector<std::string> options_;
  std::vector<std::string> waiting_;
  std::map<std::string, std::vector<std::string>> arrays_;  // keys without a result, by number of the array
  std::chrono::steady_clock::time_point asked_ = {};
  u32 submitted_ = 0;
};

}  // namespace vinci::sweep
