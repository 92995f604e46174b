// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <chrono>
#include <string_view>

namespace vinci::cli {

// Says on standard error how far a command is that takes steps: on a terminal one line that is written again, else a
// line every ten seconds.
class StepProgress {
 public:
  StepProgress();
  ~StepProgress();  // wipes the line
  StepProgress(const StepProgress&) = delete;
  StepProgress& operator=(const StepProgress&) = delete;

  void show(std::string_view text);

 private:
  const bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace vinci::cli
