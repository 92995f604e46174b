// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ascendc/tiling.h"

// TCubeTiling: how a product is cut for the cores and their memories; the host fills it, the kernel reads it. Names and
// order of the fields are published: Ascend C API, Matmul tiling.
// clang-format off
#define VINCI_CUBE_TILING(FIELD)                                                                                      \
  FIELD(usedCoreNum) FIELD(M) FIELD(N) FIELD(Ka) FIELD(Kb) FIELD(singleCoreM) FIELD(singleCoreN) FIELD(singleCoreK)   \
  FIELD(baseM) FIELD(baseN) FIELD(baseK) FIELD(depthA1) FIELD(depthB1) FIELD(stepM) FIELD(stepN) FIELD(isBias)        \
  FIELD(transLength) FIELD(iterateOrder) FIELD(shareMode) FIELD(shareL1Size) FIELD(shareL0CSize) FIELD(shareUbSize)   \
  FIELD(batchM) FIELD(batchN) FIELD(singleBatchM) FIELD(singleBatchN) FIELD(stepKa) FIELD(stepKb)                     \
  FIELD(depthAL1CacheUB) FIELD(depthBL1CacheUB) FIELD(dbL0A) FIELD(dbL0B) FIELD(dbL0C)                                \
  FIELD(ALayoutInfoB) FIELD(ALayoutInfoS) FIELD(ALayoutInfoN) FIELD(ALayoutInfoG) FIELD(ALayoutInfoD)                 \
  FIELD(BLayoutInfoB) FIELD(BLayoutInfoS) FIELD(BLayoutInfoN) FIELD(BLayoutInfoG) FIELD(BLayoutInfoD)                 \
  FIELD(CLayoutInfoB) FIELD(CLayoutInfoS1) FIELD(CLayoutInfoN) FIELD(CLayoutInfoG) FIELD(CLayoutInfoS2)               \
  FIELD(BatchNum) FIELD(mxTypePara)
// clang-format on

namespace AscendC::tiling {
struct TCubeTiling {
#define VINCI_FIELD(name) int32_t name = 0;
  VINCI_CUBE_TILING(VINCI_FIELD)
#undef VINCI_FIELD
};
static_assert(sizeof(TCubeTiling) == 50 * sizeof(int32_t));
}  // namespace AscendC::tiling

namespace optiling {
// The same on the host, with functions for each field.
struct TCubeTiling : AscendC::tiling::TCubeTiling {
#define VINCI_FIELD(name)                              \
  void set_##name(int32_t value) {                     \
    name = value;                                      \
    ::vinci::ascendc::tiling_set(&name, sizeof(name)); \
  }                                                    \
  int32_t get_##name() const { return name; }
  VINCI_CUBE_TILING(VINCI_FIELD)
#undef VINCI_FIELD
  std::size_t GetDataSize() const { return sizeof(*this); }
  void SaveToBuffer(void* to, std::size_t capacity) const {
    ::vinci::ascendc::save_tiling(this, sizeof(*this), to, capacity);
  }
};
}  // namespace optiling

using AscendC::tiling::TCubeTiling;  // NOLINT(google-global-names-in-headers): kernels name it so
