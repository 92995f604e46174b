// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/row_sizes.h"
#include "ascendc/advanced/rows.h"
#include "ascendc/reduce_tensor.h"

// Sums, means and extrema along an axis of a matrix, in f32. Documentation: Ascend C API, high-level API, reductions.
namespace AscendC {

struct SumParams {
  uint32_t outter = 1, inner = 0, n = 0;
};
struct MeanParams {
  uint32_t outter = 1, inner = 0, n = 0;
};

namespace vinci_detail {
// dst[row] = factor * the sum or the extremum of the first `columns` of `stride` elements of each row.
template <typename T>
void ReduceRows(ReduceType type, const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& tmp,
                uint32_t rows, uint32_t columns, uint32_t stride, float factor, Place place) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const uint32_t at_once = RowsAtOnce(
      rows, tmp.GetLength(), [&](uint32_t n) { return ReduceWords(n, stride); }, place);
  Memory32 memory(tmp);
  const LocalTensor<float> acc = memory.Take(at_once * kRowLanes), vals = memory.Take(AlignedRows(at_once));
  const LocalTensor<float> tile = memory.Take(at_once * stride);
  for (uint32_t first = 0; first < rows; first += at_once) {
    const uint32_t n = rows - first < at_once ? rows - first : at_once;
    const Rows part(n, columns, stride, place);
    Elements all(n * stride, place);
    const LocalTensor<float> s = AsFloat(all, LocalTensor<T>(src[first * stride]), tile, false);
    all.Done();
    if (type == ReduceType::SUM) {
      part.Sum(vals, s, acc);
    } else if (type == ReduceType::MAX) {
      part.Max(vals, s, acc);
    } else {
      part.Min(vals, s, acc);
    }
    ResetMask(place);
    if (factor != 1.0f) {
      Elements m(n, place);
      m.Muls(vals, vals, factor);
      m.Done();
    }
    PutNumbers(LocalTensor<T>(dst[first]), vals, n, acc, place);
  }
}
}  // namespace vinci_detail

template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
         const SumParams& sumParams, VINCI_PLACE) {
  vinci_detail::ReduceRows(ReduceType::SUM, dstTensor, srcTensor, sharedTmpBuffer, sumParams.outter, sumParams.n,
                           sumParams.inner, 1.0f, place);
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const SumParams& sumParams, VINCI_PLACE) {
  Sum(dstTensor, srcTensor, vinci_detail::StackBuffer(place), sumParams, place);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
void Mean(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
          const MeanParams& meanParams, VINCI_PLACE) {
  vinci_detail::ReduceRows(ReduceType::SUM, dstTensor, srcTensor, sharedTmpBuffer, meanParams.outter, meanParams.n,
                           meanParams.inner, 1.0f / static_cast<float>(meanParams.n), place);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
void Mean(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const MeanParams& meanParams, VINCI_PLACE) {
  Mean(dstTensor, srcTensor, vinci_detail::StackBuffer(place), meanParams, place);
}

// Along the last axis (AR), or the first (RA).
namespace Pattern::Reduce {
struct AR {};
struct RA {};
}  // namespace Pattern::Reduce

namespace vinci_detail {
// Folds the rows on the first one, part by part of the row.
template <typename T>
void ReduceColumns(ReduceType type, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                   const LocalTensor<uint8_t>& tmp, uint32_t rows, uint32_t columns, float factor, Place place) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const Buffers buffers(tmp, 2, columns, place);
  buffers.ForPieces(columns, place, [&](Elements& m, uint32_t c) {
    const LocalTensor<float> acc = buffers[0];
    AsFloat(m, LocalTensor<T>(src[c]), acc, true);
    for (uint32_t r = 1; r < rows; ++r) {
      ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
      const LocalTensor<float> row = AsFloat(m, LocalTensor<T>(src[r * columns + c]), buffers[1], false);
      if (type == ReduceType::SUM) m.Add(acc, acc, row);
      if (type == ReduceType::MAX) m.Max(acc, acc, row);
      if (type == ReduceType::MIN) m.Min(acc, acc, row);
    }
    if (factor != 1.0f) m.Muls(acc, acc, factor);
    PutFloat(m, LocalTensor<T>(dst[c]), acc);
  });
}
template <typename T, typename pattern>
void ReduceMatrix(ReduceType type, bool mean, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                  const LocalTensor<uint8_t>& tmp, const uint32_t shape[], bool padded, Place place) {
  if (!padded) ::vinci::ascendc::unsupported("a reduction of rows that are not padded to blocks", place);
  constexpr uint32_t kBlock = ONE_BLK_SIZE / sizeof(T);
  const uint32_t stride = (shape[1] + kBlock - 1) / kBlock * kBlock;
  if constexpr (std::is_same_v<pattern, Pattern::Reduce::AR>) {
    ReduceRows(type, dst, src, tmp, shape[0], shape[1], stride, mean ? 1.0f / static_cast<float>(shape[1]) : 1.0f,
               place);
  } else {
    static_assert(std::is_same_v<pattern, Pattern::Reduce::RA>, "a reduction of two axes: AR or RA");
    ReduceColumns(type, dst, src, tmp, shape[0], stride, mean ? 1.0f / static_cast<float>(shape[0]) : 1.0f, place);
  }
}
}  // namespace vinci_detail

#define VINCI_REDUCE_MATRIX(Name, type, mean)                                                                        \
  template <class T, class pattern, bool isReuseSource = false>                                                      \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                        \
            const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t srcShape[], bool srcInnerPad, VINCI_PLACE) { \
    vinci_detail::ReduceMatrix<T, pattern>(type, mean, dstTensor, srcTensor, sharedTmpBuffer, srcShape, srcInnerPad, \
                                           place);                                                                   \
  }                                                                                                                  \
  template <class T, class pattern, bool isReuseSource = false>                                                      \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const uint32_t srcShape[],             \
            bool srcInnerPad, VINCI_PLACE) {                                                                         \
    vinci_detail::ReduceMatrix<T, pattern>(type, mean, dstTensor, srcTensor, vinci_detail::StackBuffer(place),       \
                                           srcShape, srcInnerPad, place);                                            \
  }
VINCI_REDUCE_MATRIX(ReduceSum, ReduceType::SUM, false)
VINCI_REDUCE_MATRIX(ReduceMean, ReduceType::SUM, true)
VINCI_REDUCE_MATRIX(ReduceMax, ReduceType::MAX, false)
VINCI_REDUCE_MATRIX(ReduceMin, ReduceType::MIN, false)
#undef VINCI_REDUCE_MATRIX

}  // namespace AscendC
