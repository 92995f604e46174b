// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/index.h"
#include "ascendc/advanced/rows.h"
#include "ascendc/advanced/softmax.h"
#include "ascendc/gather.h"

// Running sums, elements left out by a mask, and the gradient of softmax. Documentation: Ascend C API, high-level API,
// CumSum, DropOut, SoftmaxGrad.
namespace AscendC {

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
  bool isLastAxis{true};
  bool isReuseSource{false};
  bool outputLastRow{false};
  CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
inline constexpr CumSumConfig defaultCumSumConfig{};
struct CumSumInfo {
  uint32_t outter{0}, inner{0};
};

namespace vinci_detail {
// Row by row, in f32.
template <typename T>
void CumSumOfRows(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& tmp,
                  const CumSumInfo& info, Place place) {
  const Buffers n(tmp, 2, info.inner, place);
  n.ForPieces(info.inner, place, [&](Elements& m, uint32_t c) {
    m.Set(n[0], 0.0f);
    for (uint32_t row = 0; row < info.outter; ++row) {
      ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
      const uint32_t at = row * info.inner + c;
      m.Add(n[0], n[0], AsFloat(m, LocalTensor<T>(src[at]), n[1], false));
      PutFloat(m, LocalTensor<T>(dst[at]), n[0]);
    }
  });
}
// Along each row: in steps of 1, 2, 4 .. elements, each adds the one that far before it; zeros precede the row.
// Fewer than 8 elements are no block: gathers fetch them.
template <typename T>
void CumSumAlongRows(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& tmp,
                     const CumSumInfo& info, Place place) {
  const uint32_t n = info.inner;
  uint32_t before = kRowBlock;
  while (before < n)
    before *= 2;
  if (tmp.GetLength() < CumSumWords(n) * sizeof(float))
    ::vinci::ascendc::wrong("CumSum: the temporary memory is too small; GetCumSumMaxMinTmpSize says what is needed",
                            place);
  Memory32 memory(tmp);
  LocalTensor<float> now = memory.Take(before + n), next = memory.Take(before + n);
  const LocalTensor<float> shifted = memory.Take(n);
  const LocalTensor<int32_t> offsets = memory.Take(n).ReinterpretCast<int32_t>();
  Arange(offsets, int32_t{0}, int32_t{sizeof(float)}, static_cast<int32_t>(n), place);
  Duplicate(now, 0.0f, static_cast<int32_t>(before), place);
  Duplicate(next, 0.0f, static_cast<int32_t>(before), place);
  IssueBarrier(PIPE_V, place);
  for (uint32_t row = 0; row < info.outter; ++row) {
    Elements first(n, place);
    if constexpr (std::is_same_v<T, float>) {
      first.Copy(now[before], src[row * n]);
    } else {
      first.Cast(now[before], LocalTensor<T>(src[row * n]), RoundMode::CAST_NONE);
    }
    first.Done();
    for (uint32_t step = 1; step < n; step *= 2) {
      LocalTensor<float> earlier = now[before - step];
      if (step < kRowBlock) {
        Gather(shifted, now, offsets.ReinterpretCast<uint32_t>(), (before - step) * uint32_t{sizeof(float)}, n, place);
        IssueBarrier(PIPE_V, place);
        earlier = shifted;
      }
      Elements m(n, place);
      m.Add(next[before], now[before], earlier);
      m.Done();
      const LocalTensor<float> old = now;
      now = next;
      next = old;
    }
    Elements last(n, place);
    if constexpr (std::is_same_v<T, float>) {
      last.Copy(dst[row * n], now[before]);
    } else {
      FromFloat(last, LocalTensor<T>(dst[row * n]), now[before]);
    }
    last.Done();
  }
}
}  // namespace vinci_detail

template <typename T, const CumSumConfig& config = defaultCumSumConfig>
void CumSum(const LocalTensor<T>& dstTensor, [[maybe_unused]] const LocalTensor<T>& lastRowTensor,
            const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer, const CumSumInfo& cumSumInfo,
            VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (config.isLastAxis) {
    vinci_detail::CumSumAlongRows(dstTensor, srcTensor, sharedTmpBuffer, cumSumInfo, place);
  } else {
    vinci_detail::CumSumOfRows(dstTensor, srcTensor, sharedTmpBuffer, cumSumInfo, place);
  }
  if constexpr (config.outputLastRow) {
    vinci_detail::CopyElements(lastRowTensor, LocalTensor<T>(dstTensor[(cumSumInfo.outter - 1) * cumSumInfo.inner]),
                               cumSumInfo.inner, place);
    vinci_detail::IssueBarrier(PIPE_V, place);
  }
}
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
void CumSum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& lastRowTensor, const LocalTensor<T>& srcTensor,
            const CumSumInfo& cumSumInfo, VINCI_PLACE) {
  CumSum<T, config>(dstTensor, lastRowTensor, srcTensor, vinci_detail::StackBuffer(place), cumSumInfo, place);
}

// dst = mask ? src / keepProb : 0; the mask is bytes (modes 1 and 2) or bits (3 and 4), in rows that may be longer.
struct DropOutShapeInfo {
  uint32_t firstAxis = 0, srcLastAxis = 0, maskLastAxis = 0;
};
// Prepares the buffer for DropOut with isInitBitMode, whose modes of bits need no preparation here.
inline void DropOutBitModeInit(const LocalTensor<uint8_t>& /*sharedTmpBuffer*/) {}
inline void DropOutBitModeInit() {}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
void DropOut(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<uint8_t>& maskLocal,
             const LocalTensor<uint8_t>& sharedTmpBuffer, const float keepProb, const DropOutShapeInfo& info,
             VINCI_PLACE) {
  const bool bytes = dropOutMode == 0 ? info.maskLastAxis >= info.srcLastAxis : dropOutMode <= 2;
  if (bytes) {
    SelectWithBytesMaskShapeInfo shape;
    shape.firstAxis = info.firstAxis;
    shape.srcLastAxis = info.srcLastAxis;
    shape.maskLastAxis = info.maskLastAxis;
    vinci_detail::SelectByBytes(dstLocal, srcLocal, static_cast<T>(0), maskLocal, sharedTmpBuffer, shape, false, place);
  } else {
    for (uint32_t row = 0; row < info.firstAxis; ++row) {
      Select(dstLocal[row * info.srcLastAxis], maskLocal[row * info.maskLastAxis], srcLocal[row * info.srcLastAxis],
             static_cast<T>(0), SELMODE::VSEL_TENSOR_SCALAR_MODE, info.srcLastAxis, place);
      vinci_detail::IssueBarrier(PIPE_V, place);
    }
  }
  Muls(dstLocal, dstLocal, static_cast<T>(1.0f / keepProb), static_cast<int32_t>(info.firstAxis * info.srcLastAxis),
       place);
  vinci_detail::IssueBarrier(PIPE_V, place);
}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
void DropOut(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<uint8_t>& maskLocal,
             const float keepProb, const DropOutShapeInfo& info, VINCI_PLACE) {
  DropOut<T, isInitBitMode, dropOutMode>(dstLocal, srcLocal, maskLocal, vinci_detail::StackBuffer(place), keepProb,
                                         info, place);
}

namespace vinci_detail {
// (grad - sum(grad * src)) * src; or, in front of it, only the sums as blocks.
template <typename T>
void SoftmaxGradOfRows(const LocalTensor<T>& dst, const LocalTensor<T>& grad, const LocalTensor<T>& src,
                       const LocalTensor<uint8_t>& tmp, const SoftMaxTiling& tiling, SoftMaxShapeInfo shape, bool front,
                       Place place) {
  if (shape.srcM == 0) shape = {tiling.srcM, tiling.srcK, tiling.srcM, tiling.srcK};
  const uint32_t stride = shape.srcK;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const uint32_t at_once = RowsAtOnce(
      shape.oriSrcM, tmp.GetLength(), [&](uint32_t n) { return NormWords(n, stride); }, place);
  Memory32 memory(tmp);
  const LocalTensor<float> acc = memory.Take(at_once * kRowLanes), vals = memory.Take(AlignedRows(at_once));
  const LocalTensor<float> blocks = memory.Take(AlignedRows(at_once) * kRowBlock);
  const LocalTensor<float> g = memory.Take(at_once * stride), s = memory.Take(at_once * stride);
  for (uint32_t first = 0; first < shape.oriSrcM; first += at_once) {
    const uint32_t n = shape.oriSrcM - first < at_once ? shape.oriSrcM - first : at_once;
    const Rows rows(n, shape.oriSrcK, stride, place);
    const auto load = [&](const LocalTensor<float>& to, const LocalTensor<T>& from) {
      Elements m(rows.elements(), place);
      AsFloat(m, LocalTensor<T>(from[first * stride]), to, true);
      m.Done();
    };
    load(g, grad);
    load(s, src);
    rows.Mul(s, g, s);
    rows.Sum(vals, s, acc);
    ResetMask(place);
    rows.ToBlocks(blocks, vals);
    if (front) {
      constexpr uint32_t kBlock = ONE_BLK_SIZE / sizeof(T);
      LocalTensor<T> from = blocks.template ReinterpretCast<T>();
      if constexpr (!std::is_same_v<T, float>) {
        const LocalTensor<T> narrow = acc.template ReinterpretCast<T>();
        Elements m(n, place);
        m.Cast(narrow, vals, RoundMode::CAST_NONE);
        m.Done();
        rows.ToBlocks(from, narrow);
      }
      DataCopy(dst[first * kBlock], from, DataCopyParams(1, static_cast<uint16_t>(n), 0, 0), place);
      IssueBarrier(PIPE_V, place);
      continue;
    }
    rows.SubRow(g, g, blocks);
    load(s, src);
    rows.Mul(g, g, s);
    Elements m(rows.elements(), place);
    PutFloat(m, LocalTensor<T>(dst[first * stride]), g);
    m.Done();
  }
}
}  // namespace vinci_detail

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling, bool isFront = false,
                 const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  vinci_detail::RefuseNz<isDataFormatNZ>();
  vinci_detail::SoftmaxGradOfRows(dstTensor, gradTensor, srcTensor, sharedTmpBuffer, tiling, softmaxShapeInfo, isFront,
                                  place);
}
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor, const LocalTensor<T>& srcTensor,
                 const SoftMaxTiling& tiling, bool isFront = false, const SoftMaxShapeInfo& softmaxShapeInfo = {},
                 VINCI_PLACE) {
  vinci_detail::SoftmaxGradOfRows(dstTensor, gradTensor, srcTensor, vinci_detail::StackBuffer(place), tiling,
                                  softmaxShapeInfo, isFront, place);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                      const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  vinci_detail::RefuseNz<isDataFormatNZ>();
  vinci_detail::SoftmaxGradOfRows(dstTensor, gradTensor, srcTensor, sharedTmpBuffer, tiling, softmaxShapeInfo, true,
                                  place);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                      const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling,
                      const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  vinci_detail::RefuseNz<isDataFormatNZ>();
  vinci_detail::SoftmaxGradOfRows(dstTensor, gradTensor, srcTensor, vinci_detail::StackBuffer(place), tiling,
                                  softmaxShapeInfo, true, place);
}

}  // namespace AscendC
