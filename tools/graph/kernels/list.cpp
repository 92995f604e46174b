// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "isa/base/error.h"
#include "tools/graph/kernels/kernel.h"

namespace vinci::graph {

std::span<const Kernel> all_kernels() {
  static const std::array kKernels{
      kCustomKernel,      kConvolutionKernel, kMatmulKernel,        kPoolingKernel,         kMapReductionKernel,
      kQuantiseMapKernel, kReductionKernel,   kAxisReductionKernel, kSoftmaxKernel,         kLayerNormKernel,
      kLongRowKernel,     kTransDataKernel,   kMoveColumnsKernel,   kTransposePackedKernel, kMoveStreamsKernel,
      kMoveKernel,        kTransposeKernel,   kElementwiseKernel,   kMoveElementsKernel,    kGatherRowsKernel,
      kExtremeRowsKernel, kTopKKernel,        kCastIntegersKernel,  kScatterRowsKernel,     kScalarKernel};
  return kKernels;
}

const Kernel& kernel_for(const Group& group, const config::ChipConfig& chip) {
  std::vector<std::string> reasons;
  for (const Kernel& kernel : all_kernels()) {
    std::string reason = kernel.refuses(group, chip);
    if (reason.empty()) return kernel;
    reasons.push_back(fmt::format("{}: {}", kernel.name, reason));
  }
  fail(Fault::Unsupported, "no kernel computes {} ({}) on {}\n  {}", group.node().name, group.node().type, chip.name,
       fmt::join(reasons, "\n  "));
}

std::string text(const Tiling& tiling) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : tiling)
    parts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(parts, " "));
}

u64 stored_elements(const Shape& shape, isa::Format format, DataType type) {
  if (format == isa::Format::ND) return shape.elements();
  std::vector<u64> dims(shape.dims().begin(), shape.dims().end());
  return isa::tensor_layout(format, dims, c0_of(type)).elements();
}

u64 stored_elements(const Value& value) { return stored_elements(value.shape, value.format, value.type); }

u64 stored_bytes(const Value& value) { return stored_elements(value) * info(value.type).bytes; }

}  // namespace vinci::graph
