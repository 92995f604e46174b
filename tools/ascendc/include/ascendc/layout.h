// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/convert.h"
#include "ascendc/gather.h"
#include "ascendc/pipe.h"
#include "ascendc/vector.h"

// Elements moved within UB: copies with a mask, transposes, sequences of indices, padding. Documentation: Ascend C API,
// data movement, conversion of layouts, filling.
namespace AscendC {

struct CopyRepeatParams {
  CopyRepeatParams() = default;
  constexpr CopyRepeatParams(uint16_t dst_block, uint16_t src_block, uint16_t dst_repeat, uint16_t src_repeat)
      : dstStride(dst_block), srcStride(src_block), dstRepeatSize(dst_repeat), srcRepeatSize(src_repeat) {}
  uint16_t dstStride = 0, srcStride = 0, dstRepeatSize = 8, srcRepeatSize = 8;
};
VINCI_INSN(CopyInsn, "vcopy", TypeName<T>())
namespace vinci_detail {
template <typename T>
void IssueVectorCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t repeat, const CopyRepeatParams& p,
                     Place place) {
  ::vinci::ascendc::issue(
      CopyInsn<T>(), {dst.Address(), src.Address(), repeat, p.dstStride, p.srcStride, p.dstRepeatSize, p.srcRepeatSize},
      place);
}
}  // namespace vinci_detail

template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
          vinci_detail::RepeatTime repeatTime, const CopyRepeatParams& repeatParams, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssueVectorCopy(dst, src, repeatTime, repeatParams, place);
}
template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask,
          vinci_detail::RepeatTime repeatTime, const CopyRepeatParams& repeatParams, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(mask, place);
  vinci_detail::IssueVectorCopy(dst, src, repeatTime, repeatParams, place);
}
namespace vinci_detail {
// A count that whole numbers convert to, so that a program's own Copy of three parameters fits better.
struct ElementCount {
  template <typename N>
  ElementCount(N n) : value(static_cast<uint64_t>(n)) {}  // NOLINT(google-explicit-constructor): it is an argument
  uint64_t value;
};
}  // namespace vinci_detail
template <typename T>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, vinci_detail::ElementCount count, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::CountedMask mask(count.value, place);
  vinci_detail::IssueVectorCopy(dst, src, 1, {1, 1, 8, 8}, place);
  mask.Reset();
}

namespace vinci_detail {
// The same in functions that other cores have, too. Only the 910B copies under a mask; the others combine the bits of
// the source with themselves.
template <typename T>
void CopyElements(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t count, Place place) {
#if __NPU_ARCH__ == 2201
  Copy(dst, src, count, place);
#else
  static_assert(sizeof(T) % sizeof(uint16_t) == 0, "elements of 8 bits");
  const LocalTensor<uint16_t> from = src.template ReinterpretCast<uint16_t>();
  Or(dst.template ReinterpretCast<uint16_t>(), from, from, static_cast<int32_t>(count * (sizeof(T) / sizeof(uint16_t))),
     place);
#endif
}
// dst[r * stride + c] = src[r] for each of `rows` rows and `columns` columns, for cores without vbrcb: the scalar unit
// loads each number.
template <typename T>
void SpreadNumbers(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t rows, uint32_t columns,
                   uint32_t stride, Place place) {
  TPipe::Order(HardEvent::V_S, place);
  for (uint32_t r = 0; r < rows; ++r) {
    ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
    Duplicate(dst[r * stride], src.GetValue(r, place), static_cast<int32_t>(columns), place);
  }
}
}  // namespace vinci_detail

// 16 blocks become 16 others, each of one element of every source block.
constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;
struct TransDataTo5HDParams {
  TransDataTo5HDParams() = default;
  constexpr TransDataTo5HDParams(bool dst_high, bool src_high, uint8_t repeats, uint16_t dst_stride,
                                 uint16_t src_stride)
      : dstHighHalf(dst_high),
        srcHighHalf(src_high),
        repeatTimes(repeats),
        dstRepStride(dst_stride),
        srcRepStride(src_stride) {}
  bool dstHighHalf = false, srcHighHalf = false;
  uint8_t repeatTimes = 1;
  uint16_t dstRepStride = 0, srcRepStride = 0;
};
namespace vinci_detail {
inline void SetBlockAddresses(uint64_t first_register, const uint64_t list[NCHW_CONV_ADDR_LIST_SIZE], Place place) {
  static ::vinci::ascendc::Insn insn("set_va_reg_sb");
  for (uint64_t i = 0; i < 2; ++i) {
    const uint64_t* a = list + 8 * i;
    ::vinci::ascendc::issue(insn, {first_register + i, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]}, place);
  }
}
}  // namespace vinci_detail

template <typename T>
void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                    const TransDataTo5HDParams& p, VINCI_PLACE) {
  static_assert(sizeof(T) <= 4, "TransDataTo5HD: elements of 8, 16 or 32 bits");
  constexpr uint64_t kDst = 0, kSrc = 2;  // VA registers
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::SetBlockAddresses(kDst, dstList, place);
  vinci_detail::SetBlockAddresses(kSrc, srcList, place);
  static ::vinci::ascendc::Insn b8("scatter_vnchwconv_b8"), b16("scatter_vnchwconv_b16"), b32("scatter_vnchwconv_b32");
  if constexpr (sizeof(T) == 1) {
    ::vinci::ascendc::issue(
        b8, {kDst, kSrc, p.repeatTimes, p.dstRepStride, p.srcRepStride, p.dstHighHalf, p.srcHighHalf}, place);
  } else {
    ::vinci::ascendc::issue(sizeof(T) == 2 ? b16 : b32, {kDst, kSrc, p.repeatTimes, p.dstRepStride, p.srcRepStride},
                            place);
  }
}
template <typename T>
void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                    const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                    const TransDataTo5HDParams& nchwconvParams, VINCI_PLACE) {
  uint64_t to[NCHW_CONV_ADDR_LIST_SIZE], from[NCHW_CONV_ADDR_LIST_SIZE];
  for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
    to[i] = dstList[i].Address();
    from[i] = srcList[i].Address();
  }
  TransDataTo5HD<T>(to, from, nchwconvParams, place);
}
// By pointers, under the name that templates of compilers call.
template <typename T>
void TransDataTo5HDImpl(__ubuf__ T* dstList[NCHW_CONV_ADDR_LIST_SIZE], __ubuf__ T* srcList[NCHW_CONV_ADDR_LIST_SIZE],
                        const TransDataTo5HDParams& nchwconvParams, VINCI_PLACE) {
  uint64_t to[NCHW_CONV_ADDR_LIST_SIZE], from[NCHW_CONV_ADDR_LIST_SIZE];
  for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
    to[i] = reinterpret_cast<uint64_t>(dstList[i]);
    from[i] = reinterpret_cast<uint64_t>(srcList[i]);
  }
  TransDataTo5HD<T>(to, from, nchwconvParams, place);
}
// Lists of addresses that are in UB themselves.
template <typename T>
void TransDataTo5HD(const LocalTensor<uint64_t>& dst, const LocalTensor<uint64_t>& src,
                    const TransDataTo5HDParams& nchwconvParams, VINCI_PLACE) {
  uint64_t to[NCHW_CONV_ADDR_LIST_SIZE], from[NCHW_CONV_ADDR_LIST_SIZE];
  for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
    to[i] = dst.GetValue(i, place);
    from[i] = src.GetValue(i, place);
  }
  TransDataTo5HD<T>(to, from, nchwconvParams, place);
}

// 16 x 16 elements of 16 bits.
VINCI_INSN(TransposeInsn, "vtranspose", TypeName<T>())
template <typename T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, VINCI_PLACE) {
  static_assert(sizeof(T) == 2, "Transpose: elements of 16 bits");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(vinci_detail::TransposeInsn<T>(), {dst.Address(), src.Address()}, place);
}

// firstValue, firstValue + 1 ..: the scalar unit writes the first block, and the others follow from it by addition.
template <typename T>
void CreateVecIndex(LocalTensor<T> dst, const T& firstValue, uint32_t count, VINCI_PLACE) {
  constexpr uint32_t kFirst = ONE_BLK_SIZE / sizeof(T);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  TPipe::Order(HardEvent::V_S, place);
  for (uint32_t i = 0; i < kFirst && i < count; ++i)
    dst.SetValue(i, static_cast<T>(firstValue + static_cast<T>(i)), place);
  TPipe::Order(HardEvent::S_V, place);
  for (uint32_t n = kFirst; n < count; n *= 2) {
    Adds(dst[n], dst, static_cast<T>(n), static_cast<int32_t>(count - n < n ? count - n : n), place);
    vinci_detail::IssueBarrier(PIPE_V, place);
  }
}

enum class TransposeType : uint8_t {
  TRANSPOSE_TYPE_NONE,
  TRANSPOSE_NZ2ND_0213,
  TRANSPOSE_NZ2NZ_0213,
  TRANSPOSE_NZ2NZ_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITHOUT_N,
  TRANSPOSE_NZ2NZ_012_WITHOUT_N,
  TRANSPOSE_ND2ND_ONLY,
  TRANSPOSE_ND_UB_GM,
  TRANSPOSE_GRAD_ND_UB_GM,
  TRANSPOSE_ND2ND_B16,
  TRANSPOSE_NCHW2NHWC,
  TRANSPOSE_NHWC2NCHW
};
struct TransposeParamsExt {
  TransposeParamsExt() = default;
  TransposeParamsExt(uint16_t n, uint16_t c, uint16_t h, uint16_t w, TransposeType type)
      : nSize(n), cSize(c), hSize(h), wSize(w), transposeType(type) {}
  uint16_t nSize = 0, cSize = 0, hSize = 0, wSize = 0;
  TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

namespace vinci_detail {
// Rows x columns to columns x rows by gathers, whose results begin at whole blocks. Elements of a column are `columns`
// apart: that is what a table of offsets in `tmp` says.
template <typename T>
class MatrixTranspose {
 public:
  MatrixTranspose(const LocalTensor<uint8_t>& tmp, uint32_t rows, uint32_t columns, Place place)
      : offsets_(tmp.template ReinterpretCast<int32_t>()), rows_(rows), columns_(columns), place_(place) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Transpose of elements of 8 bits is not supported by Vinci");
    if (rows * sizeof(T) % ONE_BLK_SIZE != 0)
      ::vinci::ascendc::unsupported("Transpose to rows that do not fill blocks of 32 bytes", place);
    const auto step = static_cast<int32_t>(columns * sizeof(T));
    TPipe::Order(HardEvent::V_S, place);
    for (uint32_t i = 0; i < kFirst; ++i)
      offsets_.SetValue(i, static_cast<int32_t>(i) * step, place);
    TPipe::Order(HardEvent::S_V, place);
    for (uint32_t n = kFirst; n < kAtOnce; n *= 2) {
      Adds(offsets_[n], offsets_, static_cast<int32_t>(n) * step, static_cast<int32_t>(n), place);
      IssueBarrier(PIPE_V, place);
    }
  }
  void Run(const LocalTensor<T>& dst, const LocalTensor<T>& src) const {
    static ::vinci::ascendc::Insn insn("vgather", TypeName<T>());
    for (uint32_t column = 0; column < columns_; ++column) {
      for (uint32_t row = 0; row < rows_; row += kAtOnce) {
        ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
        SetMaskLanes<T>(rows_ - row < kAtOnce ? rows_ - row : kAtOnce, place_);
        ::vinci::ascendc::issue(
            insn,
            {dst[column * rows_ + row].Address(), offsets_.Address(), src[row * columns_ + column].Address(), 8, 1},
            place_);
      }
    }
    ResetMask(place_);
  }

 private:
  static constexpr uint32_t kFirst = 8, kAtOnce = 64;
  LocalTensor<int32_t> offsets_;
  uint32_t rows_, columns_;
  Place place_;
};
}  // namespace vinci_detail

namespace vinci_detail {
// Rows x columns to columns x rows where a row of the result is no whole block: as many of them at once as begin and
// end with blocks, which the table in `tmp` describes.
template <typename T>
class NarrowTranspose {
 public:
  static constexpr uint32_t kAtOnce = ONE_BLK_SIZE / sizeof(T);
  NarrowTranspose(const LocalTensor<uint8_t>& tmp, uint32_t rows, uint32_t columns, Place place)
      : offsets_(tmp.template ReinterpretCast<uint32_t>()), rows_(rows), columns_(columns), place_(place) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Transpose of elements of 8 bits is not supported by Vinci");
    if (columns * sizeof(T) % ONE_BLK_SIZE != 0)
      ::vinci::ascendc::wrong("Transpose: h * w elements are no whole blocks of 32 bytes", place);
    // Element i is in row i % rows of column i / rows: its offset is i * step + (i / rows) * back.
    const uint32_t n = kAtOnce * rows;
    const auto count = static_cast<int32_t>(n), size = static_cast<int32_t>(sizeof(T));
    const int32_t step = static_cast<int32_t>(columns) * size, back = size - static_cast<int32_t>(rows) * step;
    if (tmp.GetLength() < 2 * n * sizeof(int32_t))
      ::vinci::ascendc::wrong("Transpose: the temporary memory is too small", place);
    const LocalTensor<int32_t> index = tmp.template ReinterpretCast<int32_t>(), column = index[n];
    const LocalTensor<float> quotient = column.template ReinterpretCast<float>();
    CreateVecIndex(index, int32_t{0}, n, place);
    IssueBarrier(PIPE_V, place);
    Cast(quotient, index, RoundMode::CAST_NONE, n, place);
    IssueBarrier(PIPE_V, place);
    Adds(quotient, quotient, 0.5f, count, place);
    IssueBarrier(PIPE_V, place);
    Muls(quotient, quotient, 1.0f / static_cast<float>(rows), count, place);
    IssueBarrier(PIPE_V, place);
    Cast(column, quotient, RoundMode::CAST_FLOOR, n, place);
    Muls(index, index, step, count, place);
    IssueBarrier(PIPE_V, place);
    Muls(column, column, back, count, place);
    IssueBarrier(PIPE_V, place);
    Add(index, index, column, count, place);
    IssueBarrier(PIPE_V, place);
  }
  void Run(const LocalTensor<T>& dst, const LocalTensor<T>& src) const {
    for (uint32_t column = 0; column < columns_; column += kAtOnce) {
      ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
      Gather(dst[column * rows_], src[column], offsets_, 0, kAtOnce * rows_, place_);
    }
  }

 private:
  LocalTensor<uint32_t> offsets_;
  uint32_t rows_, columns_;
  Place place_;
};
}  // namespace vinci_detail

template <typename T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
               const TransposeParamsExt& p, VINCI_PLACE) {
  if (p.transposeType == TransposeType::TRANSPOSE_TYPE_NONE) return;
  if (p.transposeType == TransposeType::TRANSPOSE_ND2ND_B16) {
    if constexpr (sizeof(T) == 2) return Transpose(dst, src, place);
  }
  const bool to_nhwc = p.transposeType == TransposeType::TRANSPOSE_NCHW2NHWC;
  if (!to_nhwc && p.transposeType != TransposeType::TRANSPOSE_NHWC2NCHW)
    ::vinci::ascendc::unsupported("this type of Transpose", place);
  const uint32_t pixels = uint32_t{p.hSize} * p.wSize, image = pixels * p.cSize;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if (to_nhwc && p.cSize * sizeof(T) % ONE_BLK_SIZE != 0) {
    const vinci_detail::NarrowTranspose<T> transpose(sharedTmpBuffer, p.cSize, pixels, place);
    for (uint32_t n = 0; n < p.nSize; ++n)
      transpose.Run(dst[n * image], src[n * image]);
    return;
  }
  const vinci_detail::MatrixTranspose<T> transpose(sharedTmpBuffer, to_nhwc ? p.cSize : pixels,
                                                   to_nhwc ? pixels : p.cSize, place);
  for (uint32_t n = 0; n < p.nSize; ++n)
    transpose.Run(dst[n * image], src[n * image]);
}

namespace vinci_detail {
// The same where a mask and strides say: lane i of repeat r is firstValue + r * lanes of a repeat + i.
template <typename T, typename Mask>
void CreateVecIndexOfRepeats(LocalTensor<T>& dst, const T& firstValue, Mask mask, vinci_detail::RepeatTime repeatTime,
                             uint16_t dstBlkStride, uint8_t dstRepStride, Place place) {
  constexpr uint32_t kBlock = ONE_BLK_SIZE / sizeof(T), kLanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  TPipe::Order(HardEvent::V_S, place);
  for (uint32_t i = 0; i < kBlock; ++i)
    dst.SetValue(i, static_cast<T>(firstValue + static_cast<T>(i)), place);
  TPipe::Order(HardEvent::S_V, place);
  for (uint32_t block = 1; block < kLanes / kBlock; ++block) {
    Adds(dst[block * dstBlkStride * kBlock], dst, static_cast<T>(block * kBlock), static_cast<int32_t>(kBlock), place);
  }
  IssueBarrier(PIPE_V, place);
  for (uint32_t repeat = 1; repeat < repeatTime; ++repeat) {
    Adds(dst[repeat * dstRepStride * kBlock], dst, static_cast<T>(repeat * kLanes), mask, 1,
         UnaryRepeatParams{dstBlkStride, dstBlkStride, 8, 8}, place);
  }
  IssueBarrier(PIPE_V, place);
}
}  // namespace vinci_detail

template <typename T>
void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask[], vinci_detail::RepeatTime repeatTime,
                    uint16_t dstBlkStride, uint8_t dstRepStride, VINCI_PLACE) {
  vinci_detail::CreateVecIndexOfRepeats(dst, firstValue, mask, repeatTime, dstBlkStride, dstRepStride, place);
}
template <typename T>
void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask, vinci_detail::RepeatTime repeatTime,
                    uint16_t dstBlkStride, uint8_t dstRepStride, VINCI_PLACE) {
  vinci_detail::CreateVecIndexOfRepeats(dst, firstValue, mask, repeatTime, dstBlkStride, dstRepStride, place);
}

// An instruction of the 200x alone.
VINCI_INSN(VectorPaddingInsn, "vpadding", TypeName<T>())
namespace vinci_detail {
template <typename T>
void IssuePadding(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint8_t mode, bool side, uint64_t repeat,
                  const UnaryRepeatParams& p, Place place) {
  ::vinci::ascendc::issue(VectorPaddingInsn<T>(),
                          {dst.Address(), src.Address(), repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride,
                           p.srcRepStride, 0, 0, mode, side},
                          place);
}
}  // namespace vinci_detail

template <typename T>
void VectorPadding(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint8_t padMode, const bool padSide,
                   const uint32_t count, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::CountedMask mask(count, place);
  vinci_detail::IssuePadding(dst, src, padMode, padSide, 1, {}, place);
  mask.Reset();
}
template <typename T, bool isSetMask = true>
void VectorPadding(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint8_t padMode, const bool padSide,
                   const uint64_t mask[], vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,
                   VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssuePadding(dst, src, padMode, padSide, repeatTime, repeatParams, place);
}
template <typename T, bool isSetMask = true>
void VectorPadding(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint8_t padMode, const bool padSide,
                   const uint64_t mask, vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,
                   VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(mask, place);
  vinci_detail::IssuePadding(dst, src, padMode, padSide, repeatTime, repeatParams, place);
}

}  // namespace AscendC
