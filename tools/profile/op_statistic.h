// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "tools/profile/target.h"
#include "tools/profile/writer.h"

namespace vinci::profile {

// op_statistic_<time>.csv: a row for each type of operator on each device, the longest total first.
class OpStatistic final : public Writer {
 public:
  OpStatistic(std::string path, const Target& target) : path_(std::move(path)), target_(target) {}

  void task(const models::TaskRecord& record) override;
  void commit() override;

 private:
  struct Sum {
    u64 count = 0, total = 0, min = ~u64{0}, max = 0;  // nanoseconds
  };
  using Key = std::tuple<u32, std::string_view, std::string_view>;  // device, type, core type; of the task stream

  std::string path_;
  const Target& target_;
  std::map<Key, Sum> sums_;
};

}  // namespace vinci::profile
