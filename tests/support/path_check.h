// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/explain/critical_path.h"

namespace vinci::test {

// Checks the critical path of each kernel of a run: its steps cover the time of the task without gaps or overlaps, and
// at most 2 % of it, or `slack` cycles of a short one, are not explained.
class PathCheck final : public models::CauseSink {
 public:
  explicit PathCheck(u64 slack = 0) : slack_(slack) {}
  void kernel(const models::KernelLog& log) override;
  usize kernels() const { return kernels_; }

 private:
  u64 slack_;
  usize kernels_ = 0;
};

// A path as text, for messages.
std::string to_text(const models::CriticalPath& path);

}  // namespace vinci::test
