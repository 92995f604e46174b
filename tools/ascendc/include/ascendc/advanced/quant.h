// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/elements.h"

// Quantisation to 8 bits and back, with one factor or one for each column. Documentation: Ascend C API, high-level API,
// quantisation.
namespace AscendC {

namespace vinci_detail {
// A factor or a summand: a number, or a row of them.
template <typename T>
struct QuantFactor {
  float number = 0;
  LocalTensor<T> row{};
  bool is_row = false;
};
template <typename T>
QuantFactor<T> QuantNumber(T value) {
  return {static_cast<float>(value), {}, false};
}
template <typename T>
QuantFactor<T> QuantRow(const LocalTensor<T>& row) {
  return {0, row, true};
}

// Rows of the result of a formula of (m, d, s, column, n), which gets f32; buffers 1 and 2 are for rows of factors.
template <typename T>
void ApplyFactor(const Elements& m, const LocalTensor<float>& d, const QuantFactor<T>& factor, uint32_t column,
                 const LocalTensor<float>& copy, bool multiply) {
  if (!factor.is_row) {
    multiply ? m.Muls(d, d, factor.number) : m.Adds(d, d, factor.number);
    return;
  }
  const LocalTensor<float> row = AsFloat(m, LocalTensor<T>(factor.row[column]), copy, false);
  multiply ? m.Mul(d, d, row) : m.Add(d, d, row);
}
// From whole numbers of 8, 16 or 32 bits, or from f16 or f32, to f32; s8 by way of f16.
template <typename S>
void ToFloatBuffer(const Elements& m, const LocalTensor<float>& d, const LocalTensor<S>& s,
                   const LocalTensor<float>& between) {
  if constexpr (sizeof(S) == 1 || std::is_same_v<S, int4b_t>) {
    const LocalTensor<half> narrow = between.ReinterpretCast<half>();
    m.Cast(narrow, s, RoundMode::CAST_NONE);
    m.Cast(d, narrow, RoundMode::CAST_NONE);
  } else if constexpr (std::is_same_v<S, float>) {
    m.Copy(d, s);
  } else {
    m.Cast(d, s, RoundMode::CAST_NONE);
  }
}
constexpr uint32_t kQuantBuffers = 3;

// dst = src * scale + offset to the nearest whole number, by way of f16 as the documentation says.
template <typename T>
void QuantizeRows(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& tmp,
                  const QuantFactor<T>& scale, const QuantFactor<T>& offset, uint32_t rows, uint32_t columns,
                  Place place) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const Buffers n(tmp, kQuantBuffers, columns, place);
  for (uint32_t row = 0; row < rows; ++row) {
    n.ForPieces(columns, place, [&](Elements& m, uint32_t c) {
      const uint32_t at = row * columns + c;
      ToFloatBuffer(m, n[0], LocalTensor<T>(src[at]), n[1]);
      ApplyFactor(m, n[0], scale, c, n[1], true);
      ApplyFactor(m, n[0], offset, c, n[1], false);
      const LocalTensor<half> narrow = n[2].ReinterpretCast<half>();
      m.Cast(narrow, n[0], RoundMode::CAST_NONE);
      m.Cast(dst[at], narrow, RoundMode::CAST_NONE);
    });
  }
}
}  // namespace vinci_detail

template <typename T, bool isReuseSource = false>
void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<uint8_t>& sharedTmpBuffer, const float scale, const float offset,
                 const uint32_t calCount, VINCI_PLACE) {
  vinci_detail::QuantizeRows<T>(dstTensor, srcTensor, sharedTmpBuffer, {scale, {}, false}, {offset, {}, false}, 1,
                                calCount, place);
}
template <typename T, bool isReuseSource = false>
void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<uint8_t>& sharedTmpBuffer, const float scale, const float offset, VINCI_PLACE) {
  AscendQuant<T>(dstTensor, srcTensor, sharedTmpBuffer, scale, offset, srcTensor.GetSize(), place);
}
template <typename T, bool isReuseSource = false>
void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor, const float scale,
                 const float offset, const uint32_t calCount, VINCI_PLACE) {
  AscendQuant<T>(dstTensor, srcTensor, vinci_detail::StackBuffer(place), scale, offset, calCount, place);
}
template <typename T, bool isReuseSource = false>
void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor, const float scale,
                 const float offset, VINCI_PLACE) {
  AscendQuant<T>(dstTensor, srcTensor, vinci_detail::StackBuffer(place), scale, offset, srcTensor.GetSize(), place);
}
// By columns.
template <typename T, bool isReuseSource = false>
void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<uint8_t>& sharedTmpBuffer, const LocalTensor<T>& scaleTensor, const T offset,
                 const uint32_t scaleCount, const uint32_t calCount, VINCI_PLACE) {
  vinci_detail::QuantizeRows<T>(dstTensor, srcTensor, sharedTmpBuffer, vinci_detail::QuantRow(scaleTensor),
                                vinci_detail::QuantNumber(offset), calCount / scaleCount, scaleCount, place);
}
template <typename T, bool isReuseSource = false>
void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<uint8_t>& sharedTmpBuffer, const LocalTensor<T>& scaleTensor,
                 const LocalTensor<T>& offsetTensor, const uint32_t scaleCount, const uint32_t /*offsetCount*/,
                 const uint32_t calCount, VINCI_PLACE) {
  vinci_detail::QuantizeRows<T>(dstTensor, srcTensor, sharedTmpBuffer, vinci_detail::QuantRow(scaleTensor),
                                vinci_detail::QuantRow(offsetTensor), calCount / scaleCount, scaleCount, place);
}
template <typename T, bool isReuseSource = false>
void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<T>& scaleTensor, const T offset, const uint32_t scaleCount, const uint32_t calCount,
                 VINCI_PLACE) {
  AscendQuant<T>(dstTensor, srcTensor, vinci_detail::StackBuffer(place), scaleTensor, offset, scaleCount, calCount,
                 place);
}
template <typename T, bool isReuseSource = false>
void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<T>& scaleTensor, const LocalTensor<T>& offsetTensor, const uint32_t scaleCount,
                 const uint32_t offsetCount, const uint32_t calCount, VINCI_PLACE) {
  AscendQuant<T>(dstTensor, srcTensor, vinci_detail::StackBuffer(place), scaleTensor, offsetTensor, scaleCount,
                 offsetCount, calCount, place);
}

// s32 to floating point: m rows of n numbers, of which the first calCount count.
struct DequantParams {
  uint32_t m = 0, n = 0, calCount = 0;
};
enum class DeQuantMode { DEQUANT_WITH_SINGLE_ROW = 0, DEQUANT_WITH_MULTI_ROW };

namespace vinci_detail {
template <typename D, typename S>
void DequantizeRows(const LocalTensor<D>& dst, const LocalTensor<int32_t>& src, const QuantFactor<S>& scale,
                    const LocalTensor<uint8_t>& tmp, DequantParams p, DeQuantMode mode, Place place) {
  constexpr uint32_t kBlock = ONE_BLK_SIZE / sizeof(D);
  if (mode == DeQuantMode::DEQUANT_WITH_SINGLE_ROW && p.m == 1 && p.calCount % kBlock == 0 && p.n % p.calCount == 0)
    p = {p.n / p.calCount, p.calCount, p.calCount};
  const uint32_t stride = (p.n + kBlock - 1) / kBlock * kBlock;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const Buffers n(tmp, kQuantBuffers, p.calCount, place);
  for (uint32_t row = 0; row < p.m; ++row) {
    n.ForPieces(p.calCount, place, [&](Elements& m, uint32_t c) {
      m.Cast(n[0], src[row * p.n + c], RoundMode::CAST_NONE);
      ApplyFactor(m, n[0], scale, c, n[1], true);
      const LocalTensor<D> to = dst[row * stride + c];
      PutFloat(m, to, n[0]);
    });
  }
}
}  // namespace vinci_detail

#define VINCI_DEQUANT(Scale, factor)                                                                               \
  template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>               \
  void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, Scale deqScale,    \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, DequantParams params, VINCI_PLACE) {             \
    vinci_detail::DequantizeRows(dstTensor, srcTensor, factor(deqScale), sharedTmpBuffer, params, mode, place);    \
  }                                                                                                                \
  template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>               \
  void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, Scale deqScale,    \
                     DequantParams params, VINCI_PLACE) {                                                          \
    vinci_detail::DequantizeRows(dstTensor, srcTensor, factor(deqScale), vinci_detail::StackBuffer(place), params, \
                                 mode, place);                                                                     \
  }
VINCI_DEQUANT(const LocalTensor<scaleT>&, vinci_detail::QuantRow)
VINCI_DEQUANT(const scaleT, vinci_detail::QuantNumber)
#undef VINCI_DEQUANT

// dst = (src + offset) * scale: k rows with factors for each column, or for each column of a group of rows, or numbers
// for all. As the documentation says, results of half are rounded to half after each step, others are of f32.
struct AntiQuantShapeInfo {
  uint32_t offsetHeight = 0, offsetWidth = 0, scaleHeight = 0, scaleWidth = 0;
};
namespace vinci_detail {
template <typename D, typename S>
void AntiQuantizeRows(const LocalTensor<D>& dst, const LocalTensor<S>& src, const QuantFactor<D>& offset,
                      const QuantFactor<D>& scale, const LocalTensor<uint8_t>& tmp, uint32_t rows, uint32_t columns,
                      uint32_t groups, Place place) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if (groups == 0 || rows % groups != 0)
    ::vinci::ascendc::wrong("AscendAntiQuant: the rows are no multiple of the groups", place);
  const uint32_t group = rows / groups;
  if constexpr (std::is_same_v<D, half>) {
    const auto all = static_cast<int32_t>(rows * columns);
    Cast(dst, src, RoundMode::CAST_NONE, rows * columns, place);
    IssueBarrier(PIPE_V, place);
    if (!offset.is_row) {
      Adds(dst, dst, static_cast<half>(offset.number), all, place);
      IssueBarrier(PIPE_V, place);
      Muls(dst, dst, static_cast<half>(scale.number), all, place);
      return;
    }
    const auto one = static_cast<int32_t>(columns);
    for (uint32_t row = 0; row < rows; ++row)
      Add(dst[row * columns], dst[row * columns], offset.row[row / group * columns], one, place);
    IssueBarrier(PIPE_V, place);
    for (uint32_t row = 0; row < rows; ++row)
      Mul(dst[row * columns], dst[row * columns], scale.row[row / group * columns], one, place);
    return;
  }
  const Buffers n(tmp, kQuantBuffers, columns, place);
  for (uint32_t row = 0; row < rows; ++row) {
    n.ForPieces(columns, place, [&](Elements& m, uint32_t c) {
      const uint32_t at = row * columns + c;
      ToFloatBuffer(m, n[0], LocalTensor<S>(src[at]), n[1]);
      ApplyFactor(m, n[0], offset, row / group * columns + c, n[1], false);
      ApplyFactor(m, n[0], scale, row / group * columns + c, n[1], true);
      FromFloat(m, LocalTensor<D>(dst[at]), n[0]);
    });
  }
}
}  // namespace vinci_detail

template <typename InputDataType, typename OutputDataType, bool isTranspose>
void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                     const LocalTensor<OutputDataType>& offset, const LocalTensor<OutputDataType>& scale,
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t k,
                     const AntiQuantShapeInfo& shapeInfo = {}, VINCI_PLACE) {
  static_assert(!isTranspose, "AscendAntiQuant of a transposed matrix is not supported by Vinci");
  const uint32_t groups = shapeInfo.scaleHeight > 1 ? shapeInfo.scaleHeight : 1;
  vinci_detail::AntiQuantizeRows(dst, src, vinci_detail::QuantRow(offset), vinci_detail::QuantRow(scale),
                                 sharedTmpBuffer, k, src.GetSize() / k, groups, place);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                     const OutputDataType offset, const OutputDataType scale,
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t k,
                     const AntiQuantShapeInfo& /*shapeInfo*/ = {}, VINCI_PLACE) {
  vinci_detail::AntiQuantizeRows(dst, src, vinci_detail::QuantNumber(offset), vinci_detail::QuantNumber(scale),
                                 sharedTmpBuffer, k, src.GetSize() / k, 1, place);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                     const LocalTensor<OutputDataType>& offset, const LocalTensor<OutputDataType>& scale,
                     const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}, VINCI_PLACE) {
  AscendAntiQuant<InputDataType, OutputDataType, isTranspose>(dst, src, offset, scale, vinci_detail::StackBuffer(place),
                                                              k, shapeInfo, place);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                     const OutputDataType offset, const OutputDataType scale, const uint32_t k,
                     const AntiQuantShapeInfo& shapeInfo = {}, VINCI_PLACE) {
  AscendAntiQuant<InputDataType, OutputDataType, isTranspose>(dst, src, offset, scale, vinci_detail::StackBuffer(place),
                                                              k, shapeInfo, place);
}

}  // namespace AscendC
