// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

#include "isa/program/code.h"
#include "sim/task/task.h"

namespace vinci::models {

// The programs of a task stream, decoded once: by kernel, null where it is opaque.
using KernelCodes = std::vector<std::unique_ptr<const isa::Code>>;

// Adds the kernels that the task stream has gained.
inline void append_kernels(KernelCodes& codes, const task::TaskStream& stream) {
  for (usize k = codes.size(); k < stream.kernels.size(); ++k) {
    const task::Kernel& kernel = stream.kernels[k];
    codes.push_back(kernel.opaque() ? nullptr : std::make_unique<const isa::Code>(kernel.program));
  }
}

inline KernelCodes decode_kernels(const task::TaskStream& stream) {
  KernelCodes out;
  append_kernels(out, stream);
  return out;
}

}  // namespace vinci::models
