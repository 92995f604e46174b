// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/index.h"
#include "ascendc/advanced/row_sizes.h"
#include "ascendc/copy.h"
#include "ascendc/gather.h"

// Rows made longer or shorter, and axes exchanged. Documentation: Ascend C API, high-level API, tensor transformation.
namespace AscendC {

struct PadParams {
  uint16_t leftPad = 0, rightPad = 0;
  int32_t padValue = 0;
};
struct UnPadParams {
  uint16_t leftPad = 0, rightPad = 0;
};

namespace vinci_detail {
// dst, rows of `to` elements, from src, rows of `from`: element c of a row is element c - left there. Gathers whose
// offsets are computed in f32: exact up to some million elements, which UB does not have.
template <typename T>
void GatherRows(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& tmp, uint32_t rows,
                uint32_t to, uint32_t from, uint32_t left, Place place) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "elements of 16 or 32 bits");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const Buffers n(tmp, kGatherRowsBuffers, rows * to, place);
  for (uint32_t first = 0; first < rows * to; first += n.elements()) {
    ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
    const uint32_t count = rows * to - first < n.elements() ? rows * to - first : n.elements();
    Arange(n[0], static_cast<float>(first), 1.0f, static_cast<int32_t>(count), place);
    Elements m(count, place);
    m.Adds(n[1], n[0], 0.5f);
    m.Muls(n[1], n[1], 1.0f / static_cast<float>(to));
    m.Round(n[1], n[1], RoundMode::CAST_FLOOR);
    m.Muls(n[1], n[1], static_cast<float>(from) - static_cast<float>(to));
    m.Add(n[1], n[1], n[0]);
    m.Adds(n[1], n[1], -static_cast<float>(left));
    m.Clamp(n[1], n[1], 0.0f, static_cast<float>(rows * from - 1));
    m.Muls(n[1], n[1], static_cast<float>(sizeof(T)));
    const LocalTensor<int32_t> offsets = n[0].ReinterpretCast<int32_t>();
    m.Cast(offsets, n[1], RoundMode::CAST_RINT);
    m.Done();
    Gather(dst[first], src, offsets.ReinterpretCast<uint32_t>(), 0, count, place);
    IssueBarrier(PIPE_V, place);
  }
}
// The elements `begin` .. `end` - 1 of each row of whole blocks become a number.
template <typename T>
void FillColumns(const LocalTensor<T>& dst, uint32_t rows, uint32_t stride, uint32_t begin, uint32_t end, T value,
                 Place place) {
  constexpr uint32_t kBlock = ONE_BLK_SIZE / sizeof(T);
  for (uint32_t block = begin / kBlock * kBlock; block < end; block += kBlock) {
    const uint32_t low = begin > block ? begin - block : 0, high = end - block < kBlock ? end - block : kBlock;
    IssueMask(0, LowBits(high) & ~LowBits(low), place);
    for (uint32_t first = 0; first < rows; first += 255) {
      const uint32_t n = rows - first < 255 ? rows - first : 255;
      IssueDuplicate(dst[first * stride + block], value, n, 1, stride / kBlock, place);
    }
  }
  ResetMask(place);
  IssueBarrier(PIPE_V, place);
}
}  // namespace vinci_detail

template <typename T>
void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const PadParams& padParams,
         const LocalTensor<uint8_t>& sharedTmpBuffer, const PadTiling& tiling, VINCI_PLACE) {
  const uint32_t left = padParams.leftPad, valid = tiling.srcOriWidth;
  const uint32_t to = left + valid + padParams.rightPad;
  if (to * sizeof(T) % ONE_BLK_SIZE != 0)
    ::vinci::ascendc::wrong("Pad: the padded rows do not fill blocks of 32 bytes", place);
  vinci_detail::GatherRows(dstTensor, srcTensor, sharedTmpBuffer, tiling.srcHeight, to, tiling.srcWidth, left, place);
  const T value = static_cast<T>(padParams.padValue);
  vinci_detail::FillColumns(dstTensor, tiling.srcHeight, to, 0, left, value, place);
  vinci_detail::FillColumns(dstTensor, tiling.srcHeight, to, left + valid, to, value, place);
}
template <typename T>
void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const PadParams& padParams,
         const PadTiling& tiling, VINCI_PLACE) {
  Pad(dstTensor, srcTensor, padParams, vinci_detail::StackBuffer(place), tiling, place);
}
template <typename T>
void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const UnPadParams& unPadParams,
           const LocalTensor<uint8_t>& sharedTmpBuffer, const UnPadTiling& tiling, VINCI_PLACE) {
  vinci_detail::GatherRows(dstTensor, srcTensor, sharedTmpBuffer, tiling.srcHeight,
                           tiling.srcWidth - unPadParams.rightPad, tiling.srcWidth, 0, place);
}
template <typename T>
void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const UnPadParams& unPadParams,
           const UnPadTiling& tiling, VINCI_PLACE) {
  UnPad(dstTensor, srcTensor, unPadParams, vinci_detail::StackBuffer(place), tiling, place);
}

// A tensor of batch, heads, sequence and head size in fractals of 16 x 16, to other orders of its axes: 16 elements of
// a row at a time, for each head and 16 columns. Or a matrix transposed.
template <typename T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
               TransposeType transposeType, const ConfusionTransposeTiling& tiling, VINCI_PLACE) {
  constexpr uint32_t kFractal = 16, kGroup = kFractal * sizeof(T) / ONE_BLK_SIZE;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if (transposeType == TransposeType::TRANSPOSE_ND2ND_ONLY) {
    vinci_detail::MatrixTranspose<T>(sharedTmpBuffer, tiling.param1, tiling.param2, place).Run(dst, src);
    return vinci_detail::IssueBarrier(PIPE_V, place);
  }
  if (transposeType < TransposeType::TRANSPOSE_NZ2ND_0213 || transposeType > TransposeType::TRANSPOSE_ND2ND_ONLY)
    ::vinci::ascendc::unsupported("this type of Transpose", place);
  const struct {
    uint32_t batch, heads, sequence, headSize;
  } t = {tiling.param6, tiling.param7, tiling.param8, tiling.param9};
  if (t.headSize % kFractal != 0 || t.sequence % kFractal != 0)
    ::vinci::ascendc::unsupported("Transpose of heads or sequences that are no multiples of 16", place);
  const uint32_t parts = t.headSize / kFractal, whole_heads = (t.heads + kFractal - 1) / kFractal * kFractal;
  for (uint32_t b = 0; b < t.batch; ++b) {
    for (uint32_t n = 0; n < t.heads; ++n) {
      for (uint32_t d = 0; d < parts; ++d) {
        ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
        const uint32_t from = ((b * t.heads + n) * parts + d) * t.sequence * kFractal;
        uint32_t to = from, pitch = kFractal;  // as it is: a head more or less is the same order
        switch (transposeType) {
          case TransposeType::TRANSPOSE_NZ2ND_0213:
          case TransposeType::TRANSPOSE_NZ2ND_012_WITHOUT_N:
            to = (b * t.sequence * t.heads + n) * t.headSize + d * kFractal;
            pitch = t.heads * t.headSize;
            break;
          case TransposeType::TRANSPOSE_NZ2NZ_0213:
            to = (b * t.sequence * parts + d) * whole_heads * kFractal + n * kFractal;
            pitch = parts * whole_heads * kFractal;
            break;
          case TransposeType::TRANSPOSE_NZ2ND_012_WITH_N:
            to = (b * t.heads + n) * t.sequence * t.headSize + d * kFractal;
            pitch = t.headSize;
            break;
          default: break;
        }
        const auto gap = static_cast<uint16_t>((pitch - kFractal) * sizeof(T) / ONE_BLK_SIZE);
        DataCopy(dst[to], src[from], DataCopyParams(static_cast<uint16_t>(t.sequence), kGroup, 0, gap), place);
      }
    }
  }
  vinci_detail::IssueBarrier(PIPE_V, place);
}
template <typename T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, TransposeType transposeType,
               const ConfusionTransposeTiling& tiling, VINCI_PLACE) {
  Transpose(dst, src, vinci_detail::StackBuffer(place), transposeType, tiling, place);
}
template <typename T>
void ConfusionTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                        const LocalTensor<uint8_t>& sharedTmpBuffer, TransposeType transposeType,
                        const ConfusionTransposeTiling& tiling, VINCI_PLACE) {
  Transpose(dst, src, sharedTmpBuffer, transposeType, tiling, place);
}
template <typename T>
void ConfusionTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src, TransposeType transposeType,
                        const ConfusionTransposeTiling& tiling, VINCI_PLACE) {
  Transpose(dst, src, vinci_detail::StackBuffer(place), transposeType, tiling, place);
}

}  // namespace AscendC
