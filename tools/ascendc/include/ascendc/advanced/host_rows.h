// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/host_sizes.h"
#include "ascendc/advanced/row_sizes.h"

// Tiling on the host for functions of rows. The last dimension of a shape is a row. Documentation: Ascend C API,
// high-level API, tiling of SoftMax and its relatives.
namespace AscendC {

namespace vinci_detail {
struct RowShape {
  explicit RowShape(const ge::Shape& shape) {
    const size_t dims = shape.GetDimNum();
    columns = dims == 0 ? 0 : static_cast<uint32_t>(shape.GetDim(dims - 1));
    rows = columns == 0 ? 0 : static_cast<uint32_t>(shape.GetShapeSize() / columns);
  }
  uint32_t rows, columns;
};
}  // namespace vinci_detail

inline uint32_t GetSoftMaxMaxTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                     const bool /*isReuseSource*/) {
  const vinci_detail::RowShape s(srcShape);
  return vinci_detail::SoftmaxWords(s.rows, s.columns, dataTypeSize == 4) * static_cast<uint32_t>(sizeof(float));
}
inline uint32_t GetSoftMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                     const bool /*isReuseSource*/) {
  return vinci_detail::SoftmaxWords(1, vinci_detail::RowShape(srcShape).columns, dataTypeSize == 4) *
         static_cast<uint32_t>(sizeof(float));
}
inline void SoftMaxTilingFunc(const ge::Shape& srcShape, const uint32_t dataTypeSize, const uint32_t localWorkSpaceSize,
                              SoftMaxTiling& t) {
  const vinci_detail::RowShape s(srcShape);
  t = vinci_detail::SoftmaxTilingOf(s.rows, s.columns, dataTypeSize, localWorkSpaceSize);
}
inline bool IsBasicBlockInSoftMax(SoftMaxTiling& tiling, const uint32_t /*dataTypeSize*/ = 2) {
  return tiling.srcK % 64 == 0 && tiling.srcK < 2048 && tiling.srcM % 8 == 0;
}

inline uint32_t GetLogSoftMaxMaxTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                        const bool isReuseSource) {
  return GetSoftMaxMaxTmpSize(srcShape, dataTypeSize, isReuseSource);
}
inline uint32_t GetLogSoftMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                        const bool isReuseSource) {
  return GetSoftMaxMinTmpSize(srcShape, dataTypeSize, isReuseSource);
}
inline void LogSoftMaxTilingFunc(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                 const uint32_t localWorkSpaceSize, LogSoftMaxTiling& softmaxTiling) {
  SoftMaxTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, softmaxTiling);
}
inline uint32_t GetSoftMaxFlashMaxTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                          const bool /*isUpdate*/, const bool isReuseSource) {
  return GetSoftMaxMaxTmpSize(srcShape, dataTypeSize, isReuseSource);
}
inline uint32_t GetSoftMaxFlashMinTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                          const bool /*isUpdate*/, const bool isReuseSource) {
  return GetSoftMaxMinTmpSize(srcShape, dataTypeSize, isReuseSource);
}
inline void SoftMaxFlashTilingFunc(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                   const uint32_t localWorkSpaceSize, SoftMaxTiling& softmaxFlashTiling,
                                   const bool /*isUpdate*/ = false) {
  SoftMaxTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, softmaxFlashTiling);
}
inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize1,
                                            const uint32_t /*dataTypeSize2*/, const bool /*isUpdate*/,
                                            const bool /*isBasicBlock*/ = false,
                                            const bool /*isFlashOutputBrc*/ = false) {
  return GetSoftMaxMaxTmpSize(srcShape, dataTypeSize1, false);
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize1,
                                            const uint32_t /*dataTypeSize2*/, const bool /*isUpdate*/,
                                            const bool /*isBasicBlock*/ = false,
                                            const bool /*isFlashOutputBrc*/ = false) {
  return GetSoftMaxMinTmpSize(srcShape, dataTypeSize1, false);
}
inline void SoftMaxFlashV2TilingFunc(const ge::Shape& srcShape, const uint32_t dataTypeSize1,
                                     const uint32_t /*dataTypeSize2*/, const uint32_t localWorkSpaceSize,
                                     SoftMaxTiling& softmaxFlashTiling, const bool /*isUpdate*/,
                                     const bool /*isBasicBlock*/ = false, const bool /*isFlashOutputBrc*/ = false) {
  SoftMaxTilingFunc(srcShape, dataTypeSize1, localWorkSpaceSize, softmaxFlashTiling);
}

inline void GetSoftMaxFlashV3MaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*dataTypeSize1*/,
                                           const uint32_t /*dataTypeSize2*/, uint32_t& maxValue, uint32_t& minValue,
                                           const bool /*isUpdate*/, const bool /*isBasicBlock*/ = false) {
  const vinci_detail::RowShape s(srcShape);
  maxValue = vinci_detail::SoftmaxFlash3Words(s.rows, s.columns) * static_cast<uint32_t>(sizeof(float));
  minValue = vinci_detail::SoftmaxFlash3Words(1, s.columns) * static_cast<uint32_t>(sizeof(float));
}
inline void SoftMaxFlashV3TilingFunc(const ge::Shape& srcShape, const uint32_t dataTypeSize1,
                                     const uint32_t /*dataTypeSize2*/, const uint32_t localWorkSpaceSize,
                                     SoftMaxTiling& softmaxFlashV3Tiling, const bool /*isUpdate*/,
                                     const bool /*isBasicBlock*/ = false) {
  SoftMaxTilingFunc(srcShape, dataTypeSize1, localWorkSpaceSize, softmaxFlashV3Tiling);
}

// Norms: batch, sequence and the row that is normalised. Of LayerNorm and its gradients a fourth number is the length
// of the row before it was filled up, which is no dimension.
namespace vinci_detail {
inline ge::Shape LayerNormShape(const ge::Shape& shape) {
  if (shape.GetDimNum() != 4) return shape;
  return ge::Shape({shape.GetDim(0), shape.GetDim(1), shape.GetDim(2)});
}
inline ge::Shape LayerNormOriginal(const ge::Shape& shape) {
  if (shape.GetDimNum() != 4) return shape;
  return ge::Shape({shape.GetDim(0), shape.GetDim(1), shape.GetDim(3)});
}
}  // namespace vinci_detail
inline void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSize*/,
                                      const bool /*isReuseSource*/, uint32_t& maxValue, uint32_t& minValue) {
  const vinci_detail::RowShape s(vinci_detail::LayerNormShape(srcShape));
  maxValue = vinci_detail::NormWords(s.rows, s.columns) * static_cast<uint32_t>(sizeof(float));
  minValue = vinci_detail::NormWords(1, s.columns) * static_cast<uint32_t>(sizeof(float));
}
inline void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                                      const bool /*isComputeRstd*/, const bool /*isOnlyOutput*/, uint32_t& maxValue,
                                      uint32_t& minValue) {
  GetLayerNormMaxMinTmpSize(srcShape, typeSize, isReuseSource, maxValue, minValue);
}
template <typename Tiling>
void SetNormShape(const ge::Shape& shape, const ge::Shape& original, Tiling& t) {
  const vinci_detail::RowShape s(shape), o(original);
  t.hLength = s.columns;
  t.originalHLength = o.columns;
  t.sLength = shape.GetDimNum() >= 2 ? static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 2)) : 1;
  t.bLength = t.sLength == 0 ? 0 : s.rows / t.sLength;
}
inline void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, const uint32_t /*stackBufferSize*/,
                                     const uint32_t /*typeSize*/, const bool /*isReuseSource*/,
                                     LayerNormTiling& tiling) {
  const ge::Shape shape = vinci_detail::LayerNormShape(srcShape);
  SetNormShape(shape, vinci_detail::LayerNormOriginal(srcShape), tiling);
  tiling.inputXSize = static_cast<uint32_t>(shape.GetShapeSize());
  tiling.meanVarSize = tiling.bLength * tiling.sLength;
}
inline void GetLayerNormNDTillingInfo(const ge::Shape& srcShape, const uint32_t stackBufferSize,
                                      const uint32_t typeSize, const bool isReuseSource, LayerNormTiling& tilling) {
  GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, tilling);
}
inline void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, const uint32_t /*stackBufferSize*/,
                                     const uint32_t /*typeSize*/, const bool /*isReuseSource*/,
                                     const bool /*isComputeRstd*/, LayerNormSeparateTiling& tiling) {
  const vinci_detail::RowShape s(srcShape);
  tiling.aLength = tiling.meanVarSize = s.rows;
  tiling.rLength = s.columns;
  tiling.inputXSize = s.rows * s.columns;
}
inline bool GetRmsNormMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, uint32_t& maxValue,
                                    uint32_t& minValue, const bool /*isBasicBlock*/ = false) {
  GetLayerNormMaxMinTmpSize(srcShape, typeSize, false, maxValue, minValue);
  return true;
}
inline bool GetRmsNormTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                                 const uint32_t stackBufferByteSize, const uint32_t typeSize, RmsNormTiling& tiling,
                                 const bool /*isBasicBlock*/ = false) {
  SetNormShape(srcShape, originSrcShape, tiling);
  tiling.reciprocalOfHLength = tiling.originalHLength == 0 ? 0.0f : 1.0f / static_cast<float>(tiling.originalHLength);
  uint32_t most = 0, least = 0;
  GetRmsNormMaxMinTmpSize(srcShape, typeSize, most, least);
  return stackBufferByteSize >= least;
}

namespace vinci_detail {
// Sums and extrema. Each of these takes one row of `n` elements at a time if there is no more room.
inline uint32_t RowTmpSize(uint32_t rows, uint32_t n) {
  return ReduceWords(rows, (n + kElementUnit - 1) / kElementUnit * kElementUnit) * static_cast<uint32_t>(sizeof(float));
}
}  // namespace vinci_detail

inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t /*typeSize*/, const bool /*isReuseSource*/,
                                uint32_t& maxSize, uint32_t& minSize) {
  maxSize = minSize = vinci_detail::RowTmpSize(1, n);
}
inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t /*srcTypeSize*/, const uint32_t /*accTypeSize*/,
                                 const bool /*isReuseSource*/, uint32_t& maxSize, uint32_t& minSize) {
  maxSize = minSize = vinci_detail::RowTmpSize(1, n);
}
template <typename DataType>
void GetReduceTmpSize(const ge::Shape& srcShape, DataType, uint32_t& maxValue, uint32_t& minValue) {
  const vinci_detail::RowShape s(srcShape);
  maxValue = vinci_detail::RowTmpSize(s.rows, s.columns);
  minValue = vinci_detail::RowTmpSize(1, s.columns) + 2 * s.columns * static_cast<uint32_t>(sizeof(float));
  if (maxValue < minValue) maxValue = minValue;
}
#define VINCI_REDUCE_SIZE(Name)                                                                                \
  template <typename DataType>                                                                                 \
  void Get##Name##MaxMinTmpSize(const ge::Shape& srcShape, const DataType dataType, ReducePattern /*pattern*/, \
                                bool /*isSrcInnerPad*/, bool /*isReuseSource*/, uint32_t& maxValue,            \
                                uint32_t& minValue) {                                                          \
    GetReduceTmpSize(srcShape, dataType, maxValue, minValue);                                                  \
  }
VINCI_REDUCE_SIZE(ReduceSum)
VINCI_REDUCE_SIZE(ReduceMean)
VINCI_REDUCE_SIZE(ReduceMax)
VINCI_REDUCE_SIZE(ReduceMin)
#undef VINCI_REDUCE_SIZE

// TopK, sorts and running sums. The platform does not matter.
template <typename Platform>
bool GetTopKMaxMinTmpSize(const Platform& /*ascendcPlatform*/, const int32_t inner, const int32_t outter,
                          const bool /*isReuseSource*/, const bool /*isInitIndex*/, enum TopKMode mode,
                          const bool /*isLargest*/, const uint32_t dataTypeSize, uint32_t& maxValue,
                          uint32_t& minValue) {
  const auto elements = static_cast<uint32_t>(mode == TOPK_NSMALL ? inner * outter : inner);
  maxValue = minValue = vinci_detail::TopKBytes(elements, dataTypeSize);
  return true;
}
template <typename Platform>
bool TopKTilingFunc(const Platform& ascendcPlatform, const int32_t inner, const int32_t outter, const int32_t /*k*/,
                    const uint32_t dataTypeSize, const bool isInitIndex, enum TopKMode mode, const bool isLargest,
                    TopkTiling& topKTiling) {
  uint32_t most = 0;
  GetTopKMaxMinTmpSize(ascendcPlatform, inner, outter, false, isInitIndex, mode, isLargest, dataTypeSize, most,
                       topKTiling.tmpLocalSize);
  topKTiling.innerDataSize = static_cast<uint32_t>(inner);
  topKTiling.allDataSize = static_cast<uint32_t>(inner * outter);
  topKTiling.sortRepeat = static_cast<uint32_t>(inner) / 32;
  return inner > 0 && inner % 32 == 0;
}
template <typename Platform>
uint32_t GetConcatTmpSize(const Platform& /*ascendcPlatform*/, const uint32_t /*elemCount*/,
                          const uint32_t /*dataTypeSize*/) {
  return 0;
}
template <typename Platform>
uint32_t GetSortTmpSize(const Platform& /*ascendcPlatform*/, const uint32_t elemCount,
                        const uint32_t /*dataTypeSize*/) {
  return elemCount * 8;
}
enum class SortType { RADIX_SORT, MERGE_SORT };
struct SortConfig {
  SortType type = SortType::RADIX_SORT;
  bool isDescend = false, hasSrcIndex = false, hasDstIndex = false;
};
// Of the Sort that has a SortConfig, which these architectures do not have: theirs need no memory by this function.
inline void GetSortMaxMinTmpSize(const ge::Shape& /*srcShape*/, ge::DataType /*valueType*/, ge::DataType /*indexType*/,
                                 bool /*isReuseSource*/, const SortConfig& /*config*/, uint32_t& maxValue,
                                 uint32_t& minValue) {
  maxValue = minValue = 0;
}
inline void GetCumSumMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSize*/, const bool isLastAxis,
                                   const bool /*isReuseSource*/, uint32_t& maxValue, uint32_t& minValue) {
  const vinci_detail::RowShape s(srcShape);
  maxValue = (isLastAxis ? vinci_detail::CumSumWords(s.columns) : 2 * (s.columns + vinci_detail::kElementUnit)) *
             uint32_t{sizeof(float)};
  minValue = isLastAxis ? maxValue : 2 * vinci_detail::kElementUnit * uint32_t{sizeof(float)};
}
inline void GetDropOutMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                                    uint32_t& maxValue, uint32_t& minValue) {
  GetSelectMaxMinTmpSize(srcShape, srcShape, typeSize, srcShape, 1, isReuseSource, maxValue, minValue);
}
inline uint32_t GetDropOutMaxTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool isReuseSource) {
  return GetSelectMaxTmpSize(srcShape, srcShape, typeSize, srcShape, 1, isReuseSource);
}
inline uint32_t GetDropOutMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool isReuseSource) {
  return GetSelectMinTmpSize(srcShape, srcShape, typeSize, srcShape, 1, isReuseSource);
}
inline uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape& srcShape, const uint32_t /*dataTypeSize*/,
                                         const bool /*isFront*/, const bool /*isReuseSource*/) {
  const vinci_detail::RowShape s(srcShape);
  return vinci_detail::NormWords(s.rows, s.columns) * uint32_t{sizeof(float)};
}
inline uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape& srcShape, const uint32_t /*dataTypeSize*/,
                                         const bool /*isFront*/, const bool /*isReuseSource*/) {
  return vinci_detail::NormWords(1, vinci_detail::RowShape(srcShape).columns) * uint32_t{sizeof(float)};
}
inline void SoftMaxGradTilingFunc(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                  const uint32_t localWorkSpaceSize, SoftMaxTiling& softmaxGradTiling,
                                  const bool /*isFront*/ = false) {
  SoftMaxTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, softmaxGradTiling);
}

// Rows made longer or shorter, and axes exchanged.
inline void GetPadMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, uint32_t& maxValue,
                                uint32_t& minValue) {
  const vinci_detail::RowShape s(srcShape);
  maxValue =
      vinci_detail::BuffersSize(vinci_detail::kGatherRowsBuffers, uint64_t{s.rows} * (s.columns + 2 * 32 / typeSize));
  minValue = vinci_detail::BuffersSize(vinci_detail::kGatherRowsBuffers, 1);
}
inline void PadTilingFunc(const ge::Shape& srcShape, const ge::Shape& oriSrcShape, const uint32_t /*stackBufferSize*/,
                          const uint32_t /*typeSize*/, PadTiling& tiling) {
  const vinci_detail::RowShape s(srcShape);
  tiling.srcHeight = s.rows;
  tiling.srcWidth = s.columns;
  tiling.srcOriWidth = vinci_detail::RowShape(oriSrcShape).columns;
}
template <typename Platform>
void GetUnPadMaxMinTmpSize(const Platform& /*ascendcPlatform*/, const ge::Shape& srcShape, const uint32_t typeSize,
                           uint32_t& maxValue, uint32_t& minValue) {
  GetPadMaxMinTmpSize(srcShape, typeSize, maxValue, minValue);
}
inline void UnPadTilingFunc(const ge::Shape& srcShape, const uint32_t /*stackBufferSize*/, const uint32_t /*typeSize*/,
                            UnPadTiling& tiling) {
  const vinci_detail::RowShape s(srcShape);
  tiling.srcHeight = s.rows;
  tiling.srcWidth = s.columns;
}
inline void GetTransposeMaxMinTmpSize(const ge::Shape& /*srcShape*/, const uint32_t /*typeSize*/,
                                      const uint32_t /*transposeTypeIn*/, uint32_t& maxValue, uint32_t& minValue) {
  maxValue = minValue = 64 * sizeof(uint32_t);  // a table of offsets
}
inline void GetConfusionTransposeMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                               const uint32_t transposeTypeIn, uint32_t& maxValue, uint32_t& minValue) {
  GetTransposeMaxMinTmpSize(srcShape, typeSize, transposeTypeIn, maxValue, minValue);
}
// The shape is batch, heads, sequence, head size; of a matrix (type 7), rows and columns.
inline void GetTransposeTilingInfo(const ge::Shape& srcShape, const uint32_t /*stackBufferSize*/,
                                   const uint32_t typeSize, const uint32_t /*transposeTypeIn*/,
                                   ConfusionTransposeTiling& tiling) {
  const std::size_t dims = srcShape.GetDimNum();
  const auto dim = [&](std::size_t from_last) {
    return dims > from_last ? static_cast<uint32_t>(srcShape.GetDim(dims - 1 - from_last)) : 1;
  };
  tiling.param0 = 32 / typeSize;
  tiling.param1 = tiling.param8 = dim(1);
  tiling.param2 = tiling.param9 = dim(0);
  tiling.param6 = dim(3);
  tiling.param7 = dim(2);
}
inline void GetConfusionTransposeTilingInfo(const ge::Shape& srcShape, const uint32_t stackBufferSize,
                                            const uint32_t typeSize, const uint32_t transposeTypeIn,
                                            ConfusionTransposeTiling& tiling) {
  GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, transposeTypeIn, tiling);
}
inline void GetConfusionTransposeOnlyTilingInfo(const ge::Shape& srcShape, const uint32_t stackBufferSize,
                                                const uint32_t typeSize, ConfusionTransposeTiling& tiling) {
  GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, 7, tiling);
}
template <typename Platform>
void GetBroadCastMaxMinTmpSize(const Platform& /*ascendcPlatform*/, const ge::Shape& srcShape,
                               const ge::Shape& /*dstShape*/, uint32_t /*typeSize*/, const bool /*isReuseSource*/,
                               uint32_t& maxValue, uint32_t& minValue) {
  minValue = 8 * 32;  // blocks of 8 rows
  maxValue = static_cast<uint32_t>((srcShape.GetShapeSize() + 7) / 8) * minValue;
}

}  // namespace AscendC
