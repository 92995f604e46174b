// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/block_shape.h"

#include <fmt/format.h>

#include "models/core/core_spec.h"

namespace vinci::models {

BlockShape::BlockShape(const config::ChipConfig& chip, const task::TaskStream& stream, const task::KernelLaunch& launch)
    : BlockShape(chip, core_kind(stream.kernels[launch.kernel].type), launch.block_dim, launch.aivs) {
  stream_ = &stream;
  kernel_ = launch.kernel;
  aiv_kernel_ = launch.aiv_kernel;
}

BlockShape::BlockShape(const config::ChipConfig& chip, isa::CoreKind kind, u32 blocks, u32 aivs)
    : kind_(kind),
      blocks_(blocks),
      aivs_(aivs),
      slots_(kind == isa::CoreKind::vector ? chip.vector_cores : chip.ai_cores),
      aivs_of_core_(chip.vector_cores / chip.ai_cores) {}

BlockShape::Part BlockShape::part(u32 slot, u32 block, u32 n) const {
  if (n > 0) return {isa::CoreKind::vector, slot * aivs_of_core_ + n - 1, aiv_kernel_, {block, n}};
  return {kind_, slot, kernel_, {block, kind_ == isa::CoreKind::vector ? 1u : 0u}};
}

isa::Launch BlockShape::launch(const isa::Launch& all, const Part& part) const {
  isa::Launch out = all;
  out.kernel = part.kernel;
  out.block_idx = part.self.block;
  if (aivs_ > 0 && part.self.part > 0) {
    out.part = part.self.part;
    out.subblock_idx = part.self.part - 1;
    out.subblock_num = aivs_;
  }
  if (stream_ == nullptr) return out;
  const std::vector<u32>& entries = stream_->kernels[part.kernel].entries;
  if (!entries.empty()) out.entry = entries[out.block_idx * out.subblock_num + out.subblock_idx];
  return out;
}

isa::TaskShape BlockShape::task() const {
  const bool vector = kind_ == isa::CoreKind::vector;
  return {.blocks = blocks_, .cube = !vector, .vector_cores = vector ? 1 : aivs_, .resident = slots_};
}

std::string block_text(const isa::TaskCore& core, bool mix) {
  std::string text = fmt::format("block {}", core.block);
  if (mix) text += core.part == 0 ? ", AIC" : fmt::format(", AIV{}", core.part - 1);
  return text;
}

}  // namespace vinci::models
