// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/host_rows.h"

// Tiling on the host for norms besides LayerNorm and RmsNorm. Documentation: Ascend C API, high-level API,
// normalisation.
namespace AscendC {

inline bool GetDeepNormMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                                     const bool /*isBasicBlock*/, uint32_t& maxValue, uint32_t& minValue) {
  GetLayerNormMaxMinTmpSize(srcShape, typeSize, isReuseSource, maxValue, minValue);
  return true;
}
inline bool GetDeepNormTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                                  const uint32_t stackBufferSize, const uint32_t typeSize, const bool isReuseSource,
                                  const bool /*isBasicBlock*/, DeepNormTiling& tiling) {
  SetNormShape(srcShape, originSrcShape, tiling);
  uint32_t most = 0, least = 0;
  GetLayerNormMaxMinTmpSize(srcShape, typeSize, isReuseSource, most, least);
  return stackBufferSize >= least;
}

// Shapes are images, channels, height, width.
inline void GetGroupNormNDTilingInfo(const ge::Shape& srcShape, const uint32_t /*stackBufferSize*/,
                                     const uint32_t /*typeSize*/, const bool /*isReuseSource*/, const uint32_t groupNum,
                                     GroupNormTiling& tiling) {
  tiling.n = static_cast<uint32_t>(srcShape.GetDim(0));
  tiling.c = static_cast<uint32_t>(srcShape.GetDim(1));
  tiling.hw = tiling.n * tiling.c == 0 ? 0 : static_cast<uint32_t>(srcShape.GetShapeSize()) / tiling.n / tiling.c;
  tiling.groupNum = groupNum;
}
inline void GetGroupNormMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                                      const uint32_t groupNum, uint32_t& maxValue, uint32_t& minValue) {
  GroupNormTiling t;
  GetGroupNormNDTilingInfo(srcShape, 0, typeSize, isReuseSource, groupNum, t);
  const auto larger = [](uint32_t a, uint32_t b) { return (a > b ? a : b) * static_cast<uint32_t>(sizeof(float)); };
  const uint32_t group = t.c / groupNum * t.hw;
  maxValue = larger(vinci_detail::NormWords(t.n * groupNum, group), vinci_detail::GroupNormWords(t.c, t.hw));
  minValue = larger(vinci_detail::NormWords(1, group), vinci_detail::GroupNormWords(1, t.hw));
}

// Shapes are batch, sequence, row.
inline bool GetBatchNormMaxMinTmpSize(const ge::Shape& srcShape, const ge::Shape& /*originSrcShape*/,
                                      const uint32_t /*typeSize*/, const bool /*isReuseSource*/, uint32_t& maxValue,
                                      uint32_t& minValue, const bool /*isBasicBlock*/ = false) {
  const auto batch = static_cast<uint32_t>(srcShape.GetDim(0));
  const auto size = static_cast<uint32_t>(srcShape.GetShapeSize()) / (batch == 0 ? 1 : batch);
  maxValue = vinci_detail::BatchNormWords(batch, size) * static_cast<uint32_t>(sizeof(float));
  minValue = vinci_detail::BatchNormWords(batch, 1) * static_cast<uint32_t>(sizeof(float));
  return true;
}
inline bool GetBatchNormNDTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                                     const uint32_t stackBufferByteSize, const uint32_t typeSize,
                                     const bool isReuseSource, BatchNormTiling& tilling,
                                     const bool /*isBasicBlock*/ = false) {
  const auto batch = static_cast<uint32_t>(srcShape.GetDim(0));
  tilling.originalBLength = static_cast<uint32_t>(originSrcShape.GetDim(0));
  tilling.meanVarSize = static_cast<uint32_t>(srcShape.GetShapeSize()) / (batch == 0 ? 1 : batch);
  uint32_t most = 0, least = 0;
  GetBatchNormMaxMinTmpSize(srcShape, originSrcShape, typeSize, isReuseSource, most, least);
  return stackBufferByteSize >= least;
}
inline void GetWelfordUpdateMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSizeT*/,
                                          const uint32_t /*typeSizeU*/, const bool /*isReuseSource*/,
                                          const bool /*isInplace*/, uint32_t& maxValue, uint32_t& minValue) {
  vinci_detail::GetNodesTmpSize(0, srcShape, maxValue, minValue);
}

inline void GetLayerNormGradMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSize*/,
                                          const bool /*isReuseSource*/, uint32_t& maxValue, uint32_t& minValue) {
  const vinci_detail::RowShape s(vinci_detail::LayerNormShape(srcShape));
  maxValue = vinci_detail::NormGradWords(s.rows, s.columns) * static_cast<uint32_t>(sizeof(float));
  minValue = vinci_detail::NormGradWords(1, s.columns) * static_cast<uint32_t>(sizeof(float));
}
inline void GetLayerNormGradNDTilingInfo(const ge::Shape& srcShape, const uint32_t stackBufferSize,
                                         const uint32_t typeSize, const bool isReuseSource,
                                         LayerNormGradTiling& tiling) {
  GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, tiling);
}
inline void GetLayerNormGradBetaMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSize*/,
                                              const bool /*isReuseSource*/, uint32_t& maxValue, uint32_t& minValue) {
  maxValue = vinci_detail::BuffersSize(4, vinci_detail::RowShape(vinci_detail::LayerNormShape(srcShape)).columns);
  minValue = vinci_detail::BuffersSize(4, 1);
}
inline void GetLayerNormGradBetaNDTilingInfo(const ge::Shape& srcShape, const uint32_t stackBufferSize,
                                             const uint32_t typeSize, const bool isReuseSource,
                                             LayerNormGradBetaTiling& tiling) {
  GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, tiling);
}
inline void GetNormalizeMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSizeU, const uint32_t /*typeSizeT*/,
                                      const bool isReuseSource, const bool /*isComputeRstd*/,
                                      const bool /*isOnlyOutput*/, uint32_t& maxValue, uint32_t& minValue) {
  GetLayerNormGradMaxMinTmpSize(srcShape, typeSizeU, isReuseSource, maxValue, minValue);
}

inline void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSize*/,
                                            const bool /*isReuseSource*/, uint32_t& maxValue, uint32_t& minValue) {
  maxValue = minValue =
      vinci_detail::WelfordFinalizeWords(static_cast<uint32_t>(srcShape.GetShapeSize())) * sizeof(float);
}

}  // namespace AscendC
