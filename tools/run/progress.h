// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <chrono>

#include "models/soc/simulate.h"

namespace vinci::run {

// A line on the terminal that shows how far a run is; nothing where standard error is no terminal.
class ProgressLine {
 public:
  ProgressLine(bool quiet, double hertz);
  ~ProgressLine();  // wipes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool enabled() const { return enabled_; }
  void show(const models::Progress& p);

 private:
  using WallClock = std::chrono::steady_clock;
  bool enabled_;
  double hertz_;
  bool drawn_ = false;
  WallClock::time_point start_ = WallClock::now();
  WallClock::time_point next_ = start_ + std::chrono::milliseconds(300);  // short runs show nothing
};

}  // namespace vinci::run
