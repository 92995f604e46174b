// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <string>

#include "tools/explain/explanation.h"

namespace vinci::explain {

// Finds the critical path of each launch as it ends, and adds up those of kernels with one name.
class Collector final : public models::CauseSink {
 public:
  void kernel(const models::KernelLog& log) override;
  Explanation take();

 private:
  std::map<std::string, KernelExplanation> kernels_;
  u64 dropped_ = 0;
};

}  // namespace vinci::explain
