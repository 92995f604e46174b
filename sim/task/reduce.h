// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <span>

#include "isa/census/reduction.h"
#include "sim/task/task.h"

namespace vinci::task {

// dst[i] = dst[i] op src[i] for elements of a type, as SDMA and collectives reduce: f16 and bf16 are added and
// multiplied exactly and rounded once to nearest even, infinities stay, a NaN on either side gives the NaN of the
// format; integers wrap. How the hardware treats NaN and integers that overflow is not public. Both have the same size,
// of whole elements. The overflow mode of the cores has no effect; `census` counts the results.
void reduce(Hccl::Reduce op, ElementType type, std::span<std::byte> dst, std::span<const std::byte> src,
            isa::ReductionCensus* census = nullptr);

constexpr Hccl::Reduce reduce_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::ADD: return Hccl::Reduce::sum;
    case ReduceKind::MAX: return Hccl::Reduce::max;
    case ReduceKind::MIN: return Hccl::Reduce::min;
  }
  return Hccl::Reduce::sum;
}

}  // namespace vinci::task
