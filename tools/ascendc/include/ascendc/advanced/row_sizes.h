// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>

#include "ascendc/tiling.h"

// Tiling data of functions of rows, and how much temporary memory they need, which kernels and the host's functions
// know from here. Kernels use the shape of the tiling data; what else the published structs have is filled in.
#define VINCI_TILING_FIELD(name) TILING_DATA_FIELD_DEF(uint32_t, name)

BEGIN_TILING_DATA_DEF(SoftMaxTiling)
VINCI_TILING_FIELD(srcM)
VINCI_TILING_FIELD(srcK)
VINCI_TILING_FIELD(srcSize)
VINCI_TILING_FIELD(outMaxM)
VINCI_TILING_FIELD(outMaxK)
VINCI_TILING_FIELD(outMaxSize)
VINCI_TILING_FIELD(splitM)
VINCI_TILING_FIELD(splitK)
VINCI_TILING_FIELD(splitSize)
VINCI_TILING_FIELD(reduceM)
VINCI_TILING_FIELD(reduceK)
VINCI_TILING_FIELD(reduceSize)
VINCI_TILING_FIELD(rangeM)
VINCI_TILING_FIELD(tailM)
VINCI_TILING_FIELD(tailSplitSize)
VINCI_TILING_FIELD(tailReduceSize)
END_TILING_DATA_DEF;

using LogSoftMaxTiling = SoftMaxTiling;

namespace optiling {
using ::LogSoftMaxTiling;
using ::SoftMaxTiling;
}  // namespace optiling

namespace AscendC {
namespace tiling {
using ::LogSoftMaxTiling;
using ::SoftMaxTiling;
}  // namespace tiling

constexpr uint32_t kSoftmaxBlocks = 4;  // numbers of rows as blocks: max, sum, exp of the old max, one more
// Elements of f32 that softmax needs for so many rows at once: 64 of a row to fold it, its numbers, and the row itself
// where it is not f32.
constexpr uint32_t SoftmaxWords(uint32_t rows, uint32_t stride, bool is_float) {
  const uint32_t aligned = (rows + 7) / 8 * 8;
  return rows * (64 + (is_float ? 0 : stride)) + aligned * (2 + 8 * kSoftmaxBlocks);
}

}  // namespace AscendC
