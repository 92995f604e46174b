// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/stream_parts.h"

#include <cmath>
#include <utility>

namespace vinci::studies {

double whole_nanoseconds(double seconds) { return std::round(seconds * 1e9) / 1e9; }

task::KernelRef opaque_kernel(task::StreamBuilder& s, std::string name, const config::ChipConfig& chip,
                              double seconds) {
  using enum task::KernelType;
  return s.opaque_kernel(std::move(name), chip.vector_cores > 0 ? AIC_ONLY : AI_CORE, whole_nanoseconds(seconds));
}

void launch_all(task::StreamRef stream, const config::ChipConfig& chip, task::KernelRef kernel) {
  stream.launch(kernel, chip.ai_cores);
}

}  // namespace vinci::studies
