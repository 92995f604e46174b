// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/pipe.h"
#include "ascendc/tensor.h"

// DataCopy of the cube: row-major matrices to NZ on the way into L1, and L1 to the tables of bias and quantisation.
// Documentation: Ascend C API, matrix computation, moving in.
namespace AscendC {

// Rows of blockLen blocks of 32 bytes; strides are the blocks between the end of a row and the next one.
struct DataCopyParams {
  DataCopyParams() = default;
  DataCopyParams(uint16_t count, uint16_t length, uint16_t src_stride, uint16_t dst_stride)
      : blockCount(count), blockLen(length), srcStride(src_stride), dstStride(dst_stride) {}
  uint16_t blockCount = 1, blockLen = 0;
  union {
    uint16_t srcStride = 0;
    uint16_t srcGap;
  };
  union {
    uint16_t dstStride = 0;
    uint16_t dstGap;
  };
};

// ndNum matrices of nValue rows and dValue columns. Strides of the source are elements; of the destination blocks of 32
// bytes between block columns and between rows, and elements between matrices.
struct Nd2NzParams {
  Nd2NzParams() = default;
  Nd2NzParams(uint16_t matrices, uint16_t rows, uint16_t columns, uint16_t src_matrix, uint16_t src_row,
              uint16_t dst_column, uint16_t dst_row, uint16_t dst_matrix)
      : ndNum(matrices),
        nValue(rows),
        dValue(columns),
        srcNdMatrixStride(src_matrix),
        srcDValue(src_row),
        dstNzC0Stride(dst_column),
        dstNzNStride(dst_row),
        dstNzMatrixStride(dst_matrix) {}
  uint16_t ndNum = 0, nValue = 0, dValue = 0, srcNdMatrixStride = 0, srcDValue = 0;
  uint16_t dstNzC0Stride = 0, dstNzNStride = 0, dstNzMatrixStride = 0;
};

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& intriParams,
              Place place = Place::here()) {
  static ::vinci::ascendc::Insn insn(sizeof(T) == 1   ? "copy_gm_to_cbuf_multi_nd2nz_b8"
                                     : sizeof(T) == 2 ? "copy_gm_to_cbuf_multi_nd2nz_b16"
                                                      : "copy_gm_to_cbuf_multi_nd2nz_b32s");
  if (MemoryOf(dst.GetPosition()) != ::vinci::ascendc::Memory::l1)
    ::vinci::ascendc::unsupported("DataCopy with Nd2NzParams to a position other than L1", place);
  // Two elements of 4 bits are moved as one of 8.
  constexpr uint32_t kPacked = std::is_same_v<T, int4b_t> ? 2 : 1;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(
      insn,
      {dst.Address(), src.Address(), 0, intriParams.ndNum, intriParams.nValue, intriParams.dValue / kPacked,
       intriParams.srcNdMatrixStride / kPacked, intriParams.srcDValue / kPacked, intriParams.dstNzC0Stride,
       intriParams.dstNzNStride, intriParams.dstNzMatrixStride / kPacked},
      place);
}

// Pieces of blockLen units of 64 bytes of the source; half becomes float.
template <typename T, typename U>
void CopyToBiasTable(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& p, Place place) {
  static_assert(std::is_same_v<T, U> || (std::is_same_v<T, float> && std::is_same_v<U, half>),
                "DataCopy to C2: the same type, or half to float");
  static ::vinci::ascendc::Insn insn("copy_cbuf_to_bt");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(
      insn, {dst.Address(), src.Address(), !std::is_same_v<T, U>, p.blockCount, p.blockLen, p.srcGap, p.dstGap}, place);
}
// Pieces of blockLen units of 128 bytes. This runs on PIPE_FIX; the flags of a queue that the source is from are
// between MTE2 and MTE1, so PIPE_FIX takes part through MTE1.
template <typename T>
void CopyToFixpipeBuffer(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& p, Place place) {
  static ::vinci::ascendc::Insn insn("copy_cbuf_to_fbuf");
  const bool queued = src.Handle() != nullptr;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if (queued) TPipe::Order(HardEvent::MTE1_FIX, place);
  ::vinci::ascendc::issue(insn, {dst.Address(), src.Address(), p.blockCount, p.blockLen, p.srcGap, p.dstGap}, place);
  if (queued) TPipe::Order(HardEvent::FIX_MTE1, place);
}

}  // namespace AscendC
