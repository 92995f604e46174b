// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/step_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace vinci::cli {

StepProgress::StepProgress() : terminal_(::isatty(STDERR_FILENO) != 0) {}

StepProgress::~StepProgress() {
  if (shown_ && terminal_) std::fputs("\r\x1b[K", stderr);
}

void StepProgress::show(std::string_view text) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10000))) return;
  last_ = now;
  shown_ = true;
  fmt::print(stderr, "{}{}{}", terminal_ ? "\r\x1b[K" : "", text, terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace vinci::cli
