// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/language.h"

// What both sides of a matrix product know: its tiling, and the types of its matrices. Documentation: Ascend C API,
// TCubeTiling, MatmulType, MatmulConfig.

enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN, VECTOR, SCALAR, ND_ALIGN, COLUMN_MAJOR };
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };

namespace AscendC {

using ::CubeFormat;
using ::LayoutMode;

namespace tiling {

// 50 numbers, in the published order.
struct TCubeTiling {
#define VINCI_CUBE_FIELD(name)                     \
  int32_t name = 0;                                \
  void set_##name(int32_t value) { name = value; } \
  int32_t get_##name() const { return name; }
  VINCI_CUBE_FIELD(usedCoreNum)
  VINCI_CUBE_FIELD(M)
  VINCI_CUBE_FIELD(N)
  VINCI_CUBE_FIELD(Ka)
  VINCI_CUBE_FIELD(Kb)
  VINCI_CUBE_FIELD(singleCoreM)
  VINCI_CUBE_FIELD(singleCoreN)
  VINCI_CUBE_FIELD(singleCoreK)
  VINCI_CUBE_FIELD(baseM)
  VINCI_CUBE_FIELD(baseN)
  VINCI_CUBE_FIELD(baseK)
  VINCI_CUBE_FIELD(depthA1)
  VINCI_CUBE_FIELD(depthB1)
  VINCI_CUBE_FIELD(stepM)
  VINCI_CUBE_FIELD(stepN)
  VINCI_CUBE_FIELD(isBias)
  VINCI_CUBE_FIELD(transLength)
  VINCI_CUBE_FIELD(iterateOrder)
  VINCI_CUBE_FIELD(shareMode)
  VINCI_CUBE_FIELD(shareL1Size)
  VINCI_CUBE_FIELD(shareL0CSize)
  VINCI_CUBE_FIELD(shareUbSize)
  VINCI_CUBE_FIELD(batchM)
  VINCI_CUBE_FIELD(batchN)
  VINCI_CUBE_FIELD(singleBatchM)
  VINCI_CUBE_FIELD(singleBatchN)
  VINCI_CUBE_FIELD(stepKa)
  VINCI_CUBE_FIELD(stepKb)
  VINCI_CUBE_FIELD(depthAL1CacheUB)
  VINCI_CUBE_FIELD(depthBL1CacheUB)
  VINCI_CUBE_FIELD(dbL0A)
  VINCI_CUBE_FIELD(dbL0B)
  VINCI_CUBE_FIELD(dbL0C)
  VINCI_CUBE_FIELD(ALayoutInfoB)
  VINCI_CUBE_FIELD(ALayoutInfoS)
  VINCI_CUBE_FIELD(ALayoutInfoN)
  VINCI_CUBE_FIELD(ALayoutInfoG)
  VINCI_CUBE_FIELD(ALayoutInfoD)
  VINCI_CUBE_FIELD(BLayoutInfoB)
  VINCI_CUBE_FIELD(BLayoutInfoS)
  VINCI_CUBE_FIELD(BLayoutInfoN)
  VINCI_CUBE_FIELD(BLayoutInfoG)
  VINCI_CUBE_FIELD(BLayoutInfoD)
  VINCI_CUBE_FIELD(CLayoutInfoB)
  VINCI_CUBE_FIELD(CLayoutInfoS1)
  VINCI_CUBE_FIELD(CLayoutInfoN)
  VINCI_CUBE_FIELD(CLayoutInfoG)
  VINCI_CUBE_FIELD(CLayoutInfoS2)
  VINCI_CUBE_FIELD(BatchNum)
  VINCI_CUBE_FIELD(mxTypePara)
#undef VINCI_CUBE_FIELD

  void SaveToBuffer(void* buffer, size_t capacity) const {
    if (capacity >= sizeof(*this)) std::memcpy(buffer, this, sizeof(*this));
  }
  size_t GetDataSize() const { return sizeof(*this); }
};
static_assert(sizeof(TCubeTiling) == 50 * sizeof(int32_t));

}  // namespace tiling
}  // namespace AscendC

using AscendC::tiling::TCubeTiling;
namespace optiling {
using AscendC::tiling::TCubeTiling;
}  // namespace optiling
