// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

#include "isa/code.h"
#include "sim/task/task.h"

namespace vinci::models {

// The programs of a task stream, decoded once: by kernel, null where it is opaque.
using KernelCodes = std::vector<std::unique_ptr<const isa::Code>>;

inline KernelCodes decode_kernels(const task::TaskStream& stream) {
  KernelCodes out;
  for (const task::Kernel& k : stream.kernels)
    out.push_back(k.opaque() ? nullptr : std::make_unique<const isa::Code>(k.program));
  return out;
}

}  // namespace vinci::models
