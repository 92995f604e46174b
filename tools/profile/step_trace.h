// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "sim/io/text_file.h"
#include "tools/profile/target.h"
#include "tools/profile/writer.h"

namespace vinci::profile {

// step_trace_<time>.csv: a row for each iteration of a model on a device; of tasks that belong to none, of the host
// program. Iteration i is the i-th turn of a loop (models::Turns). Forward and backward pass are not marked in a task
// stream: FP Start is the start of the first kernel on AI cores, BP End the end of the last.
class StepTrace final : public Writer {
 public:
  StepTrace(const std::string& path, const Target& target);

  void task(const models::TaskRecord& record) override;
  void commit() override;

 private:
  struct Step {
    std::optional<u64> fp_start, bp_end;  // nanoseconds, like the others
    u64 start = 0, end = 0;
    std::vector<std::pair<u64, u64>> reduces;  // start and duration of each collective
  };
  struct Model {
    std::map<u64, Step> open;       // by iteration from 1
    std::optional<u64> latest_end;  // of the iteration before the first open one
  };
  using Key = std::pair<u32, u32>;  // device, model

  void close_first(const Key& key, Model& model);

  // Iterations of one model that may be under way at the same time; a task of an earlier one counts to the first that
  // is open.
  static constexpr usize kOpen = 1024;

  const Target& target_;
  io::TextFile file_;
  usize reduces_ = 0;  // pairs of columns
  std::map<Key, Model> models_;
};

}  // namespace vinci::profile
