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

BEGIN_TILING_DATA_DEF(LayerNormTiling)
VINCI_TILING_FIELD(bLength)
VINCI_TILING_FIELD(sLength)
VINCI_TILING_FIELD(hLength)
VINCI_TILING_FIELD(originalHLength)
VINCI_TILING_FIELD(inputXSize)
VINCI_TILING_FIELD(meanVarSize)
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(LayerNormSeparateTiling)
VINCI_TILING_FIELD(aLength)
VINCI_TILING_FIELD(rLength)
VINCI_TILING_FIELD(inputXSize)
VINCI_TILING_FIELD(meanVarSize)
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(RmsNormTiling)
VINCI_TILING_FIELD(bLength)
VINCI_TILING_FIELD(sLength)
VINCI_TILING_FIELD(hLength)
VINCI_TILING_FIELD(originalHLength)
// Of programs that fill it themselves; the numbers above say the same.
TILING_DATA_FIELD_DEF(float, reciprocalOfHLength)
VINCI_TILING_FIELD(mainBshLength)
VINCI_TILING_FIELD(mainBsLength)
VINCI_TILING_FIELD(mainBsLengthAlign)
VINCI_TILING_FIELD(loopRound)
VINCI_TILING_FIELD(inputTailPos)
VINCI_TILING_FIELD(tailBshLength)
VINCI_TILING_FIELD(tailBsLength)
END_TILING_DATA_DEF;

using DeepNormTiling = LayerNormTiling;
using LayerNormGradTiling = LayerNormTiling;
using LayerNormGradBetaTiling = LayerNormTiling;

BEGIN_TILING_DATA_DEF(GroupNormTiling)
VINCI_TILING_FIELD(n)
VINCI_TILING_FIELD(c)
VINCI_TILING_FIELD(hw)
VINCI_TILING_FIELD(groupNum)
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(BatchNormTiling)
VINCI_TILING_FIELD(originalBLength)
VINCI_TILING_FIELD(meanVarSize)
END_TILING_DATA_DEF;

// Those behind sortRepeat are not used here; kernels that fill the struct themselves name them.
BEGIN_TILING_DATA_DEF(TopkTiling)
VINCI_TILING_FIELD(tmpLocalSize)
VINCI_TILING_FIELD(innerDataSize)
VINCI_TILING_FIELD(allDataSize)
VINCI_TILING_FIELD(sortRepeat)
VINCI_TILING_FIELD(mrgSortRepeat)
VINCI_TILING_FIELD(kAlignFourBytes)
VINCI_TILING_FIELD(kAlignTwoBytes)
VINCI_TILING_FIELD(maskOffset)
VINCI_TILING_FIELD(maskVreducev2FourBytes)
VINCI_TILING_FIELD(maskVreducev2TwoBytes)
VINCI_TILING_FIELD(mrgSortSrc1offset)
VINCI_TILING_FIELD(mrgSortSrc2offset)
VINCI_TILING_FIELD(mrgSortSrc3offset)
VINCI_TILING_FIELD(mrgSortTwoQueueSrc1Offset)
VINCI_TILING_FIELD(mrgFourQueueTailPara1)
VINCI_TILING_FIELD(mrgFourQueueTailPara2)
VINCI_TILING_FIELD(srcIndexOffset)
VINCI_TILING_FIELD(copyUbToUbBlockCount)
VINCI_TILING_FIELD(topkMrgSrc1MaskSizeOffset)
VINCI_TILING_FIELD(topkNSmallSrcIndexOffset)
VINCI_TILING_FIELD(vreduceValMask0)
VINCI_TILING_FIELD(vreduceValMask1)
VINCI_TILING_FIELD(vreduceIdxMask0)
VINCI_TILING_FIELD(vreduceIdxMask1)
VINCI_TILING_FIELD(vreducehalfValMask0)
VINCI_TILING_FIELD(vreducehalfValMask1)
VINCI_TILING_FIELD(vreducehalfValMask2)
VINCI_TILING_FIELD(vreducehalfValMask3)
VINCI_TILING_FIELD(vreducehalfValMask4)
VINCI_TILING_FIELD(vreducehalfValMask5)
VINCI_TILING_FIELD(vreducehalfValMask6)
VINCI_TILING_FIELD(vreducehalfValMask7)
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(PadTiling)
VINCI_TILING_FIELD(srcHeight)
VINCI_TILING_FIELD(srcWidth)
VINCI_TILING_FIELD(srcOriWidth)
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(UnPadTiling)
VINCI_TILING_FIELD(srcHeight)
VINCI_TILING_FIELD(srcWidth)
END_TILING_DATA_DEF;

// Of a matrix param1 and param2 are its rows and columns, as kernels that fill it themselves know. Of heads param6 to
// param9 are batch, heads, sequence and size of a head.
BEGIN_TILING_DATA_DEF(ConfusionTransposeTiling)
VINCI_TILING_FIELD(param0)
VINCI_TILING_FIELD(param1)
VINCI_TILING_FIELD(param2)
VINCI_TILING_FIELD(param3)
VINCI_TILING_FIELD(param4)
VINCI_TILING_FIELD(param5)
VINCI_TILING_FIELD(param6)
VINCI_TILING_FIELD(param7)
VINCI_TILING_FIELD(param8)
VINCI_TILING_FIELD(param9)
VINCI_TILING_FIELD(param10)
VINCI_TILING_FIELD(param11)
VINCI_TILING_FIELD(param12)
VINCI_TILING_FIELD(param13)
VINCI_TILING_FIELD(param14)
VINCI_TILING_FIELD(param15)
VINCI_TILING_FIELD(param16)
VINCI_TILING_FIELD(param17)
END_TILING_DATA_DEF;

#define VINCI_TILING_NAMES          \
  using ::BatchNormTiling;          \
  using ::ConfusionTransposeTiling; \
  using ::DeepNormTiling;           \
  using ::GroupNormTiling;          \
  using ::LayerNormGradTiling;      \
  using ::LayerNormGradBetaTiling;  \
  using ::PadTiling;                \
  using ::UnPadTiling;              \
  using ::LayerNormSeparateTiling;  \
  using ::LayerNormTiling;          \
  using ::LogSoftMaxTiling;         \
  using ::RmsNormTiling;            \
  using ::SoftMaxTiling;            \
  using ::TopkTiling;
namespace optiling {
VINCI_TILING_NAMES
}  // namespace optiling

namespace AscendC {
// Axes of a tensor, of which those named R are reduced. Documentation: Ascend C API, high-level API, reductions.
enum class ReducePattern : uint32_t {
  AR = 0,
  RA,
  R,
  ARA,
  ARAR,
  ARARA,
  ARARAR,
  ARARARA,
  ARARARAR,
  ARARARARA,
  RAR,
  RARA,
  RARAR,
  RARARA,
  RARARAR,
  RARARARA
};
}  // namespace AscendC

namespace AscendC {
namespace tiling {
VINCI_TILING_NAMES
}  // namespace tiling
#undef VINCI_TILING_NAMES

namespace vinci_detail {
constexpr uint32_t kSoftmaxBlocks = 4;  // numbers of rows as blocks: max, sum, exp of the old max, one more
// Elements of f32 that softmax needs for so many rows at once: 64 of a row to fold it, its numbers, and the row itself
// where it is not f32.
constexpr uint32_t SoftmaxWords(uint32_t rows, uint32_t stride, bool is_float) {
  const uint32_t aligned = (rows + 7) / 8 * 8;
  return rows * (64 + (is_float ? 0 : stride)) + aligned * (2 + 8 * kSoftmaxBlocks);
}
// As many rows at once as the temporary memory allows.
constexpr SoftMaxTiling SoftmaxTilingOf(uint32_t rows, uint32_t columns, uint32_t bytes_of_element, uint32_t memory) {
  uint32_t at_once = rows;
  while (at_once > 1 && SoftmaxWords(at_once, columns, bytes_of_element == 4) * sizeof(float) > memory)
    --at_once;
  const uint32_t block = 32 / bytes_of_element;
  const uint32_t whole = at_once == 0 ? 0 : rows / at_once, tail = at_once == 0 ? 0 : rows % at_once;
  SoftMaxTiling t{};
  t.srcM = rows;
  t.srcK = columns;
  t.srcSize = rows * columns;
  t.outMaxM = rows;
  t.outMaxK = block;
  t.outMaxSize = rows * block;
  t.splitM = at_once;
  t.splitK = columns;
  t.splitSize = at_once * columns;
  t.reduceM = at_once;
  t.reduceK = block;
  t.reduceSize = at_once * block;
  t.rangeM = whole;
  t.tailM = tail;
  t.tailSplitSize = tail * columns;
  t.tailReduceSize = tail * block;
  return t;
}
// SoftmaxFlashV3: the rows, 64 sums of each, two numbers, and six as blocks.
constexpr uint32_t SoftmaxFlash3Words(uint32_t rows, uint32_t stride) {
  return rows * stride + (rows + 7) / 8 * 8 * (64 + 2 + 8 * 6);
}
// The same of norms: the rows and their squares, a row of factors and one of summands.
constexpr uint32_t NormWords(uint32_t rows, uint32_t stride) {
  const uint32_t aligned = (rows + 7) / 8 * 8;
  return rows * (64 + 2 * stride) + aligned * (1 + 8) + 2 * stride;
}
}  // namespace vinci_detail

// TopK: indices, values and records twice. Modes as published: of long rows, or of rows of 32.
enum TopKMode { TOPK_NORMAL, TOPK_NSMALL };
namespace vinci_detail {
constexpr uint32_t TopKBytes(uint32_t elements, uint32_t bytes_of_element) {
  return elements * (4 + bytes_of_element + 16);
}
// Rows made longer or shorter: buffers of f32.
constexpr uint32_t kGatherRowsBuffers = 2;
// CumSum along rows: a row behind zeros twice, and two rows.
constexpr uint32_t CumSumWords(uint32_t columns) {
  uint32_t before = 8;
  while (before < columns)
    before *= 2;
  return 2 * (before + columns) + 2 * columns + 4 * 8;
}
// Gradients: the rows three times, four numbers of each, and two rows of factors.
constexpr uint32_t NormGradWords(uint32_t rows, uint32_t stride) {
  return rows * (64 + 3 * stride) + (rows + 7) / 8 * 8 * (4 + 8) + 2 * stride;
}
// GroupNorm: channels of pixels, their factors.
constexpr uint32_t GroupNormWords(uint32_t channels, uint32_t pixels) {
  return channels * pixels + (channels + 7) / 8 * 8 * (1 + 8);
}
// BatchNorm: factors and summands of the batch, and four buffers of elements.
constexpr uint32_t BatchNormWords(uint32_t batch, uint32_t elements) {
  return (batch + 7) / 8 * 8 * (1 + 2 * 8) + 4 * ((elements + 63) / 64 * 64);
}
// WelfordFinalize: two rows, and a few numbers.
constexpr uint32_t WelfordFinalizeWords(uint32_t elements) { return 64 + 8 + 64 + 2 * (elements + 7) / 8 * 8; }
// And of sums and extrema of rows: the rows in f32.
constexpr uint32_t ReduceWords(uint32_t rows, uint32_t stride) {
  const uint32_t aligned = (rows + 7) / 8 * 8;
  return rows * (64 + stride) + aligned;
}
}  // namespace vinci_detail

}  // namespace AscendC
