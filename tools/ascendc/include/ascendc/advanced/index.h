// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/elements.h"
#include "ascendc/layout.h"
#include "ascendc/select.h"

// Sequences, broadcasts of an axis, and selection by masks of bytes. Documentation: Ascend C API, high-level API, index
// computation, tensor transformation, data filtering.
namespace AscendC {

// firstValue, firstValue + diffValue ..: the first block by the scalar unit, then what there is is added to itself.
template <typename T>
void Arange(const LocalTensor<T>& dst, const T firstValue, const T diffValue, const int32_t count, VINCI_PLACE) {
  constexpr uint32_t kFirst = ONE_BLK_SIZE / sizeof(T);
  const auto elements = static_cast<uint32_t>(count);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  TPipe::Order(HardEvent::V_S, place);
  for (uint32_t i = 0; i < kFirst && i < elements; ++i)
    dst.SetValue(i, static_cast<T>(firstValue + diffValue * static_cast<T>(i)), place);
  TPipe::Order(HardEvent::S_V, place);
  for (uint32_t n = kFirst; n < elements; n *= 2) {
    Adds(dst[n], dst, static_cast<T>(diffValue * static_cast<T>(n)),
         static_cast<int32_t>(elements - n < n ? elements - n : n), place);
    vinci_detail::IssueBarrier(PIPE_V, place);
  }
}
template <typename T>
void ArithProgression(const LocalTensor<T>& dstLocal, const T firstValue, const T diffValue, const int32_t count,
                      VINCI_PLACE) {
  Arange(dstLocal, firstValue, diffValue, count, place);
}

// A row for every row (axis 0), or a number for every element of a row (axis 1). Rows must fill blocks of 32 bytes.
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], [[maybe_unused]] const LocalTensor<uint8_t>& sharedTmpBuffer,
               VINCI_PLACE) {
  static_assert((dim == 1 || dim == 2) && axis >= 0 && axis < dim, "Broadcast: an axis of one or two");
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Broadcast of elements of 8 bits is not supported by Vinci");
  constexpr uint32_t kBlock = ONE_BLK_SIZE / sizeof(T);
  [[maybe_unused]] constexpr uint32_t kLanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
  const uint32_t rows = dim == 1 ? 1 : dstShape[0], columns = dstShape[dim - 1];
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if (rows > 1 && columns % kBlock != 0)
    ::vinci::ascendc::unsupported("Broadcast to rows that do not fill blocks of 32 bytes", place);
  if (srcShape[axis] == dstShape[axis]) {
    vinci_detail::CopyElements(dstLocal, srcLocal, rows * columns, place);
    return vinci_detail::IssueBarrier(PIPE_V, place);
  }
  if constexpr (dim == 2 && axis == 0) {
    for (uint32_t r = 0; r < rows; ++r)
      vinci_detail::CopyElements(LocalTensor<T>(dstLocal[r * columns]), srcLocal, columns, place);
  } else {
#if __NPU_ARCH__ == 2201
    const LocalTensor<T> blocks = sharedTmpBuffer.ReinterpretCast<T>();
    const uint32_t at_once = blocks.GetSize() / (8 * kBlock) * 8;
    if (at_once == 0) ::vinci::ascendc::wrong("Broadcast: the temporary memory is too small", place);
    static ::vinci::ascendc::Insn insn("vbrcb", vinci_detail::TypeName<T>());
    for (uint32_t first = 0; first < rows; first += at_once) {
      const uint32_t n = rows - first < at_once ? rows - first : at_once;
      for (uint32_t i = 0; i < n; i += 8 * 255) {
        const uint32_t repeat = (n - i + 7) / 8 < 255 ? (n - i + 7) / 8 : 255;
        ::vinci::ascendc::issue(insn, {blocks[i * kBlock].Address(), srcLocal[first + i].Address(), 1, 8, repeat},
                                place);
      }
      vinci_detail::IssueBarrier(PIPE_V, place);
      // A repeat is 8 times the block of the row.
      for (uint32_t r = 0; r < n; ++r) {
        vinci_detail::CountedMask mask(columns, place);
        vinci_detail::IssueVectorCopy(dstLocal[(first + r) * columns], blocks[r * kBlock],
                                      (columns + kLanes - 1) / kLanes, {1, 0, 8, 0}, place);
        mask.Reset();
      }
      vinci_detail::IssueBarrier(PIPE_V, place);
    }
#else
    vinci_detail::SpreadNumbers(dstLocal, srcLocal, rows, columns, columns, place);
#endif
  }
  vinci_detail::IssueBarrier(PIPE_V, place);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], VINCI_PLACE) {
  Broadcast<T, dim, axis, isReuseSource>(dstLocal, srcLocal, dstShape, srcShape, vinci_detail::StackBuffer(place),
                                         place);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], const LocalTensor<uint8_t>& sharedTmpBuffer, VINCI_PLACE) {
  Broadcast<T, dim, axis, isReuseSource>(dstLocal, srcLocal, dstShape, srcShape, sharedTmpBuffer, place);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], VINCI_PLACE) {
  Broadcast<T, dim, axis, isReuseSource>(dstLocal, srcLocal, dstShape, srcShape, vinci_detail::StackBuffer(place),
                                         place);
}

struct SelectWithBytesMaskShapeInfo {
  uint32_t firstAxis = 0, srcLastAxis = 0, maskLastAxis = 0;
};
namespace vinci_detail {
constexpr uint32_t kSelectUnit = 256;  // elements: their bits fill a block

// dst = the tensor where the mask is 0 (or where it is not, as `of_zero` says), else the scalar.
template <typename T, typename U>
void SelectByBytes(const LocalTensor<T>& dst, const LocalTensor<T>& src, T scalar, const LocalTensor<U>& mask,
                   const LocalTensor<uint8_t>& tmp, const SelectWithBytesMaskShapeInfo& info, bool of_zero,
                   Place place) {
  using Number = std::conditional_t<sizeof(U) == 4, float, half>;
  using Signed = std::conditional_t<sizeof(U) == 4, int32_t, std::conditional_t<sizeof(U) == 2, int16_t, uint8_t>>;
  // Bits and numbers, in units that keep both at whole blocks.
  const uint32_t units = tmp.GetLength() / (kSelectUnit * sizeof(Number) + kSelectUnit / 8);
  if (units == 0) ::vinci::ascendc::wrong("Select: the temporary memory is too small", place);
  const uint32_t at_once = units * kSelectUnit;
  const LocalTensor<Number> numbers = tmp.ReinterpretCast<Number>();
  const LocalTensor<uint8_t> bits = tmp[at_once * sizeof(Number)];
  const LocalTensor<Signed> values = mask.template ReinterpretCast<Signed>();
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  for (uint32_t row = 0; row < info.firstAxis; ++row) {
    for (uint32_t first = 0; first < info.srcLastAxis; first += at_once) {
      const uint32_t n = info.srcLastAxis - first < at_once ? info.srcLastAxis - first : at_once;
      constexpr uint32_t kLanes = ONE_REPEAT_BYTE_SIZE / sizeof(Number);
      const uint32_t whole = (n + kLanes - 1) / kLanes * kLanes;
      if (whole > n) {
        // The rest of the last repeat is compared, too.
        Duplicate(numbers[whole - kLanes], static_cast<Number>(0), static_cast<int32_t>(kLanes), place);
        IssueBarrier(PIPE_V, place);
      }
      Cast(numbers, values[row * info.maskLastAxis + first], RoundMode::CAST_NONE, n, place);
      IssueBarrier(PIPE_V, place);
      CompareScalar(bits, numbers, static_cast<Number>(0), of_zero ? CMPMODE::EQ : CMPMODE::NE, whole, place);
      IssueBarrier(PIPE_V, place);
      const uint32_t at = row * info.srcLastAxis + first;
      Select(dst[at], bits, src[at], scalar, SELMODE::VSEL_TENSOR_SCALAR_MODE, n, place);
      IssueBarrier(PIPE_V, place);
    }
  }
}
}  // namespace vinci_detail

#define VINCI_SELECT_BYTES(Name)                                                                                  \
  template <typename T, typename U, bool isReuseMask = true>                                                      \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1, const LocalTensor<U>& mask,            \
            const LocalTensor<uint8_t>& sharedTmpBuffer, const SelectWithBytesMaskShapeInfo& info, VINCI_PLACE) { \
    vinci_detail::SelectByBytes(dst, src0, src1, mask, sharedTmpBuffer, info, true, place);                       \
  }                                                                                                               \
  template <typename T, typename U, bool isReuseMask = true>                                                      \
  void Name(const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1, const LocalTensor<U>& mask,            \
            const LocalTensor<uint8_t>& sharedTmpBuffer, const SelectWithBytesMaskShapeInfo& info, VINCI_PLACE) { \
    vinci_detail::SelectByBytes(dst, src1, src0, mask, sharedTmpBuffer, info, false, place);                      \
  }
VINCI_SELECT_BYTES(Select)
VINCI_SELECT_BYTES(SelectWithBytesMask)
#undef VINCI_SELECT_BYTES

}  // namespace AscendC
