// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/copy.h"

// DataCopy that changes between row-major matrices and NZ. There is an instruction from global memory to L1 on 220x;
// elsewhere it is a copy for each block column. Documentation: Ascend C API, data movement with a change of format.
namespace AscendC {

// ndNum matrices of nValue rows and dValue columns. Strides of the source are elements; of the destination blocks of 32
// bytes between block columns and between rows, and elements between matrices. Two elements of int4b_t are moved as one
// of 8 bits, and counted so: dValue and the strides of elements are half of them. Source: the published samples.
struct Nd2NzParams {
  Nd2NzParams() = default;
  constexpr Nd2NzParams(uint16_t matrices, uint16_t rows, uint16_t columns, uint16_t src_matrix, uint16_t src_row,
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

// ndNum matrices whose Z have 16 columns. Strides of the source are 16 x 16 elements between matrices and 16 between Z,
// of the destination elements.
struct Nz2NdParamsFull {
  Nz2NdParamsFull() = default;
  Nz2NdParamsFull(uint16_t matrices, uint16_t rows, uint16_t columns, uint16_t src_matrix, uint16_t src_column,
                  uint16_t dst_row, uint16_t dst_matrix)
      : ndNum(matrices),
        nValue(rows),
        dValue(columns),
        srcNdMatrixStride(src_matrix),
        srcNStride(src_column),
        dstDStride(dst_row),
        dstNdMatrixStride(dst_matrix) {}
  uint16_t ndNum = 1, nValue = 0, dValue = 0, srcNdMatrixStride = 1, srcNStride = 0, dstDStride = 0;
  uint16_t dstNdMatrixStride = 1;
};

namespace vinci_detail {
template <typename T>
void IssueNd2Nz(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& p, Place place) {
  static ::vinci::ascendc::Insn insn(sizeof(T) == 1   ? "copy_gm_to_cbuf_multi_nd2nz_b8"
                                     : sizeof(T) == 2 ? "copy_gm_to_cbuf_multi_nd2nz_b16"
                                                      : "copy_gm_to_cbuf_multi_nd2nz_b32s");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(insn,
                          {dst.Address(), src.Address(), 0, p.ndNum, p.nValue, p.dValue, p.srcNdMatrixStride,
                           p.srcDValue, p.dstNzC0Stride, p.dstNzNStride, p.dstNzMatrixStride},
                          place);
}

// Rows of `bytes` bytes; strides from head to head, in bytes in global memory and in blocks of 32 bytes in the core.
struct NarrowRows {
  uint16_t count;
  uint32_t bytes, gm_stride, local_stride;

  uint16_t Blocks() const { return static_cast<uint16_t>((bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE); }
  // As rows of whole blocks, for architectures that have no others.
  DataCopyParams InBlocks(bool to_gm, Place place) const {
    if (bytes % ONE_BLK_SIZE != 0 || gm_stride % ONE_BLK_SIZE != 0)
      ::vinci::ascendc::unsupported(
          "a change of format of rows that are no multiples of 32 bytes, on this architecture,", place);
    const auto gm_gap = static_cast<uint16_t>(gm_stride / ONE_BLK_SIZE - Blocks());
    const auto gap = static_cast<uint16_t>(local_stride - Blocks());
    return {count, Blocks(), to_gm ? gap : gm_gap, to_gm ? gm_gap : gap};
  }
};
template <typename T>
void CopyNarrow(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const NarrowRows& r, Place place) {
#if __NPU_ARCH__ == 2201
  DataCopyPad(
      dst, src, DataCopyExtParams{r.count, r.bytes, r.gm_stride - r.bytes, r.local_stride - r.Blocks(), 0},
      DataCopyPadExtParams<T>{true, 0, static_cast<uint8_t>((r.Blocks() * ONE_BLK_SIZE - r.bytes) / sizeof(T)), T{}},
      place);
#else
  DataCopy(dst, src, r.InBlocks(false, place), place);
#endif
}
template <typename T>
void CopyNarrow(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const NarrowRows& r, Place place) {
#if __NPU_ARCH__ == 2201
  DataCopyPad(dst, src, DataCopyExtParams{r.count, r.bytes, r.local_stride - r.Blocks(), r.gm_stride - r.bytes, 0},
              place);
#else
  DataCopy(dst, src, r.InBlocks(true, place), place);
#endif
}
}  // namespace vinci_detail

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& intriParams, VINCI_PLACE) {
  if (__NPU_ARCH__ == 2201 && vinci_detail::MemoryOf(dst.GetPosition()) == ::vinci::ascendc::Memory::l1)
    return vinci_detail::IssueNd2Nz(dst, src, intriParams, place);
  static_assert(!std::is_same_v<T, int4b_t> || __NPU_ARCH__ == 2201, "DataCopy with Nd2NzParams of int4b_t");
  constexpr uint32_t kC0 = ONE_BLK_SIZE / sizeof(T);
  for (uint32_t matrix = 0; matrix < intriParams.ndNum; ++matrix) {
    for (uint32_t first = 0; first < intriParams.dValue; first += kC0) {
      const uint32_t columns = intriParams.dValue - first < kC0 ? intriParams.dValue - first : kC0;
      vinci_detail::CopyNarrow(dst[matrix * intriParams.dstNzMatrixStride + first * intriParams.dstNzC0Stride],
                               src[matrix * intriParams.srcNdMatrixStride + first],
                               {intriParams.nValue, static_cast<uint32_t>(columns * sizeof(T)),
                                static_cast<uint32_t>(intriParams.srcDValue * sizeof(T)), intriParams.dstNzNStride},
                               place);
    }
  }
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const Nz2NdParamsFull& intriParams, VINCI_PLACE) {
  constexpr uint32_t kColumns = 16;
  for (uint32_t matrix = 0; matrix < intriParams.ndNum; ++matrix) {
    for (uint32_t first = 0; first < intriParams.dValue; first += kColumns)
      vinci_detail::CopyNarrow(
          dst[matrix * intriParams.dstNdMatrixStride + first],
          src[matrix * intriParams.srcNdMatrixStride * kColumns * kColumns + first * intriParams.srcNStride],
          {intriParams.nValue, static_cast<uint32_t>(kColumns * sizeof(T)),
           static_cast<uint32_t>(intriParams.dstDStride * sizeof(T)),
           static_cast<uint32_t>(kColumns * sizeof(T) / ONE_BLK_SIZE)},
          place);
  }
}

}  // namespace AscendC
