// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include "tools/graph/kernels/kernel.h"

// Kernels of the user (--custom_op). Their programs come from a recording, see CompileOptions::record.
namespace vinci::graph {
namespace {

std::string custom_refuses(const Group& group, const config::ChipConfig& /*chip*/) {
  return group.node().type == kCustomOp ? "" : "no operator of --custom_op";
}

Formats custom_formats(const Group& group, const config::ChipConfig& /*chip*/) {
  return {.inputs = std::vector(group.inputs().size(), isa::Format::ND),
          .outputs = std::vector(group.outputs().size(), isa::Format::ND)};
}

std::vector<Tiling> custom_tilings(const Group& /*group*/, const config::ChipConfig& /*chip*/) { return {{}}; }

Footprint custom_footprint(const Group& /*group*/, const config::ChipConfig& /*chip*/, const Tiling& /*tiling*/) {
  return {};
}

KernelProgram custom_build(const Group& group, const config::ChipConfig& /*chip*/, const Tiling& /*tiling*/) {
  fail(Fault::Unsupported, "{} ({}): there is no recording of its kernel", group.node().name,
       group.node().string("op"));
}

}  // namespace

const Kernel kCustomKernel{"custom", custom_refuses, custom_formats, custom_tilings, custom_footprint, custom_build};

}  // namespace vinci::graph
