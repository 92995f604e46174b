// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace vinci::run {

ProgressLine::ProgressLine(bool quiet, double hertz)
    : enabled_(!quiet && ::isatty(STDERR_FILENO) == 1), hertz_(hertz) {}

ProgressLine::~ProgressLine() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(const models::Progress& p) {
  const auto now = WallClock::now();
  if (!enabled_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const double wall = std::chrono::duration<double>(now - start_).count();
  const std::string line =
      fmt::format("\r\033[K{:5.1f} %  {:.2f} M instructions  {:.1f} us simulated  {:.2f} M instructions/s",
                  p.fraction * 100, static_cast<double>(p.instructions) * 1e-6,
                  static_cast<double>(p.cycles) / hertz_ * 1e6, static_cast<double>(p.instructions) * 1e-6 / wall);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace vinci::run
