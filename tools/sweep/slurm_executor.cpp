// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "sim/io/program.h"
#include "tools/sweep/executor.h"

namespace vinci::sweep {
namespace {

namespace fs = std::filesystem;

constexpr usize kMostOfAnArray = 1000;  // MaxArraySize is 1001 where a cluster does not say otherwise
constexpr std::chrono::seconds kBetweenQuestions(2);

// Text in single quotes for a shell.
std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

}  // namespace

SlurmExecutor::SlurmExecutor(std::string tool, const std::string& folder, unsigned workers,
                             std::vector<std::string> options)
    : tool_(std::move(tool)), folder_(fs::absolute(folder)), workers_(workers), options_(std::move(options)) {}

void SlurmExecutor::submit() {
  while (!waiting_.empty()) {
    const usize count = std::min(waiting_.size(), kMostOfAnArray);
    const std::vector<std::string> keys(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    // A line for each job, and a script that runs the job of its line.
    const std::string list = fmt::format("{}/jobs/array-{}.txt", folder_, submitted_);
    const std::string script = fmt::format("{}/jobs/array-{}.sh", folder_, submitted_);
    ++submitted_;
    std::string lines;
    for (const std::string& key : keys)
      lines += key + "\n";
    io::write_file_atomically(list, lines);
    io::write_file_atomically(script,
                              fmt::format("#!/bin/bash\nkey=$(sed -n \"${{SLURM_ARRAY_TASK_ID}}p\" {0})\n"
                                          "exec {1} sweep --job {2}/jobs/\"$key\".json >{2}/logs/\"$key\".txt 2>&1\n",
                                          shell_word(list), shell_word(tool_), shell_word(folder_)));
    std::vector<std::string> words{"sbatch", "--parsable", "--job-name=vinci-sweep", "--output=/dev/null",
                                   fmt::format("--array=1-{}%{}", count, workers_)};
    words.insert(words.end(), options_.begin(), options_.end());
    words.push_back(script);
    std::string id = io::output_of(words);
    id = id.substr(0, id.find_first_of(";\n"));  // "17;cluster" where there are several
    if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos) {
      fail(Fault::Input, "Slurm did not take the jobs; try: {}", fmt::join(words, " "));
    }
    arrays_[id] = keys;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

// Whether jobs of the array wait or run; they may where the cluster does not answer.
bool SlurmExecutor::is_queued(const std::string& array) const {
  const std::string queued = io::output_of({"sh", "-c", "squeue --noheader --me --format=' %F ' && echo answered"});
  return !queued.ends_with("answered\n") || queued.find(" " + array + " ") != std::string::npos;
}

std::vector<Executor::Done> SlurmExecutor::done() {
  submit();
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ < kBetweenQuestions) return {};
  asked_ = now;
  std::vector<Done> out;
  for (auto& [array, keys] : arrays_) {
    // Asked before the results are looked for: what ends in between is found the next time.
    const bool over = !is_queued(array);
    std::erase_if(keys, [&](const std::string& key) {
      if (!fs::exists(fmt::format("{}/results/{}.json", folder_, key)) && !over) return false;
      out.push_back({.key = key, .error = "the job of Slurm ended without a result; see logs/" + key + ".txt"});
      return true;
    });
  }
  std::erase_if(arrays_, [](const auto& array) { return array.second.empty(); });
  return out;
}

}  // namespace vinci::sweep
