// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "isa/base/error.h"
#include "tools/sweep/executor.h"

namespace vinci::sweep {

LocalExecutor::LocalExecutor(std::string tool, std::string folder, unsigned workers)
    : tool_(std::move(tool)), folder_(std::move(folder)), workers_(workers) {}

void LocalExecutor::start(const Job& job) {
  commands_.start(keys_.size(), {tool_, "sweep", "--job", fmt::format("{}/jobs/{}.json", folder_, job.key)},
                  fmt::format("{}/logs/{}.txt", folder_, job.key));
  keys_.push_back(job.key);
}

std::vector<Executor::Done> LocalExecutor::done() {
  std::vector<Done> out;
  for (const processes::Ended& e : commands_.ended()) {
    Done done{.key = keys_[e.id], .error = {}};
    if (e.signal != 0)
      done.error = fmt::format("the process was ended by signal {} ({})", e.signal, ::strsignal(e.signal));
    else if (e.exit_code != 0)
      done.error = fmt::format("the process ended with exit code {}; see logs/{}.txt", e.exit_code, done.key);
    out.push_back(std::move(done));
  }
  return out;
}

}  // namespace vinci::sweep
