// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/pipe.h"
#include "ascendc/tensor.h"

// DataCopy from L1 to the tables of bias and quantisation. Documentation: Ascend C API, matrix computation, moving in.
namespace AscendC {

// Rows of blockLen blocks of 32 bytes; strides are the blocks between the end of a row and the next one.
struct DataCopyParams {
  DataCopyParams() = default;
  constexpr DataCopyParams(uint16_t count, uint16_t length, uint16_t src_stride, uint16_t dst_stride)
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

namespace vinci_detail {
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
}  // namespace vinci_detail

template <typename T, typename U, typename = std::enable_if_t<!std::is_same_v<T, U>>>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& repeatParams, VINCI_PLACE) {
  if (vinci_detail::MemoryOf(dst.GetPosition()) != ::vinci::ascendc::Memory::bt)
    ::vinci::ascendc::unsupported("DataCopy between two types to a position other than C2", place);
  vinci_detail::CopyToBiasTable(dst, src, repeatParams, place);
}

namespace vinci_detail {
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
}  // namespace vinci_detail

}  // namespace AscendC
