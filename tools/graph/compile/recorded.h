// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string>

#include "tools/graph/kernels/kernel.h"

// Kernels of the user in a network: what a recording has, and its place among the buffers of the network.
namespace vinci::graph {

// The only kernel that a task stream launches, with all buffers of the device as its memory, in their order. Throws
// Fault::Unsupported, located at `where`, if the stream launches none or several, and at a line of the kernel where the
// scalar unit reads data.
RecordedKernel recorded_kernel(const task::TaskStream& stream, const std::string& where);

// The kernel with other addresses of its memory, `addresses`: each address that its program states moves with its
// memory. Throws Fault::Unsupported, located at `where`, for an address beyond all of it.
task::Kernel placed_kernel(const task::Kernel& kernel, const RecordedKernel& recorded, std::span<const u64> addresses,
                           const std::string& where);

}  // namespace vinci::graph
