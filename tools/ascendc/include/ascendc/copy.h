// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/copy_tables.h"
#include "ascendc/tensor.h"

// DataCopy and DataCopyPad: rows between global memory and the memories of the core. Documentation: Ascend C API, data
// movement.
namespace AscendC {

// Rows of blockLen bytes; strides are bytes in global memory and blocks of 32 bytes in the core.
struct DataCopyExtParams {
  DataCopyExtParams() = default;
  constexpr DataCopyExtParams(uint16_t count, uint32_t length, uint32_t src_stride, uint32_t dst_stride,
                              uint32_t reserved)
      : blockCount(count), blockLen(length), srcStride(src_stride), dstStride(dst_stride), rsv(reserved) {}
  uint16_t blockCount = 1;
  uint32_t blockLen = 0, srcStride = 0, dstStride = 0, rsv = 0;
};

struct DataCopyPadParams {
  DataCopyPadParams() = default;
  constexpr DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  uint8_t leftPadding = 0, rightPadding = 0;
  uint64_t paddingValue = 0;
};

template <typename T>
struct DataCopyPadExtParams {
  DataCopyPadExtParams() = default;
  constexpr DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  uint8_t leftPadding = 0, rightPadding = 0;
  T paddingValue{};
};

namespace vinci_detail {
// The copy between two memories, by the mnemonic of its path: rows of blocks.
inline void IssueCopy(::vinci::ascendc::Insn& insn, uint64_t dst, uint64_t src, const DataCopyParams& p, Place place) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(insn, {dst, src, 0, p.blockCount, p.blockLen, p.srcStride, p.dstStride}, place);
}
}  // namespace vinci_detail

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& repeatParams, VINCI_PLACE) {
  using ::vinci::ascendc::Memory;
  static ::vinci::ascendc::Insn to_ub("copy_gm_to_ubuf"), to_l1("copy_gm_to_cbuf");
  switch (vinci_detail::MemoryOf(dst.GetPosition())) {
    case Memory::ub: return vinci_detail::IssueCopy(to_ub, dst.Address(), src.Address(), repeatParams, place);
    case Memory::l1: return vinci_detail::IssueCopy(to_l1, dst.Address(), src.Address(), repeatParams, place);
    default: ::vinci::ascendc::unsupported("DataCopy from global memory to a position other than UB and L1", place);
  }
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams, VINCI_PLACE) {
  using ::vinci::ascendc::Memory;
  static ::vinci::ascendc::Insn from_ub("copy_ubuf_to_gm"), from_l1("copy_cbuf_to_gm");
  switch (vinci_detail::MemoryOf(src.GetPosition())) {
    case Memory::ub: return vinci_detail::IssueCopy(from_ub, dst.Address(), src.Address(), repeatParams, place);
    case Memory::l1: return vinci_detail::IssueCopy(from_l1, dst.Address(), src.Address(), repeatParams, place);
    default: ::vinci::ascendc::unsupported("DataCopy to global memory from a position other than UB and L1", place);
  }
}
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams, VINCI_PLACE) {
  using ::vinci::ascendc::Memory;
  static ::vinci::ascendc::Insn within_ub("copy_ubuf_to_ubuf"), to_l1("copy_ubuf_to_cbuf"), to_ub("copy_cbuf_to_ubuf");
  const Memory from = vinci_detail::MemoryOf(src.GetPosition()), to = vinci_detail::MemoryOf(dst.GetPosition());
  if (from == Memory::ub && to == Memory::ub)
    return vinci_detail::IssueCopy(within_ub, dst.Address(), src.Address(), repeatParams, place);
  if (from == Memory::ub && to == Memory::l1)
    return vinci_detail::IssueCopy(to_l1, dst.Address(), src.Address(), repeatParams, place);
  if (from == Memory::l1 && to == Memory::ub)
    return vinci_detail::IssueCopy(to_ub, dst.Address(), src.Address(), repeatParams, place);
  if (from == Memory::l1 && to == Memory::bt) return vinci_detail::CopyToBiasTable(dst, src, repeatParams, place);
  if (from == Memory::l1 && to == Memory::fb) return vinci_detail::CopyToFixpipeBuffer(dst, src, repeatParams, place);
  ::vinci::ascendc::unsupported("DataCopy between these two positions", place);
}

namespace vinci_detail {
// The first `count` elements, which fill blocks of 32 bytes.
template <typename T>
DataCopyParams OneRow(uint32_t count, Place place) {
  const uint64_t bytes = BytesOf<T>(count);
  if (bytes % ONE_BLK_SIZE != 0)
    ::vinci::ascendc::wrong("DataCopy: the elements do not fill blocks of 32 bytes; DataCopyPad copies any number",
                            place);
  if (bytes / ONE_BLK_SIZE > 65535) ::vinci::ascendc::wrong("DataCopy: more than 65535 blocks of 32 bytes", place);
  return {1, static_cast<uint16_t>(bytes / ONE_BLK_SIZE), 0, 0};
}
}  // namespace vinci_detail

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count, VINCI_PLACE) {
  DataCopy(dst, src, vinci_detail::OneRow<T>(count, place), place);
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count, VINCI_PLACE) {
  DataCopy(dst, src, vinci_detail::OneRow<T>(count, place), place);
}
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count, VINCI_PLACE) {
  DataCopyParams row = vinci_detail::OneRow<T>(count, place);
  // The tables count in larger blocks.
  const auto to = vinci_detail::MemoryOf(dst.GetPosition());
  const uint16_t unit = to == ::vinci::ascendc::Memory::bt ? 2 : to == ::vinci::ascendc::Memory::fb ? 4 : 1;
  if (row.blockLen % unit != 0)
    ::vinci::ascendc::wrong("DataCopy: the elements do not fill blocks of 64 (C2) or 128 bytes (C2PIPE2GM)", place);
  row.blockLen = static_cast<uint16_t>(row.blockLen / unit);
  DataCopy(dst, src, row, place);
}

namespace vinci_detail {
// Rows of any length. There is an instruction for each width of elements; one of 8 bytes is two of 4.
template <typename T>
constexpr uint32_t kPadUnits = sizeof(T) == 8 ? 2 : 1;
template <typename T>
constexpr const char* PadName(const char* b8, const char* b16, const char* b32) {
  return sizeof(T) == 1 ? b8 : sizeof(T) == 2 ? b16 : b32;
}
}  // namespace vinci_detail

template <typename T>
void SetPadValue(T value, TPosition = TPosition::MAX, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_mov_pad_val");
  ::vinci::ascendc::issue(insn, {vinci_detail::BitsOf(value)}, place);
}

template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                 const DataCopyPadExtParams<T>& padParams, VINCI_PLACE) {
  using ::vinci::ascendc::Memory;
  static ::vinci::ascendc::Insn to_ub(
      vinci_detail::PadName<T>("copy_gm_to_ubuf_align_b8", "copy_gm_to_ubuf_align_b16", "copy_gm_to_ubuf_align_b32"));
  static ::vinci::ascendc::Insn to_l1(
      vinci_detail::PadName<T>("copy_gm_to_cbuf_align_b8", "copy_gm_to_cbuf_align_b16", "copy_gm_to_cbuf_align_b32"));
  const Memory to = vinci_detail::MemoryOf(dst.GetPosition());
  if (to != Memory::ub && to != Memory::l1)
    ::vinci::ascendc::unsupported("DataCopyPad from global memory to a position other than UB and L1", place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if (padParams.isPad) SetPadValue(padParams.paddingValue, TPosition::MAX, place);
  ::vinci::ascendc::issue(
      to == Memory::ub ? to_ub : to_l1,
      {dst.Address(), src.Address(), 0, dataCopyParams.blockCount, dataCopyParams.blockLen,
       padParams.leftPadding * vinci_detail::kPadUnits<T>, padParams.rightPadding * vinci_detail::kPadUnits<T>,
       dataCopyParams.srcStride, dataCopyParams.dstStride},
      place);
}
template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                 VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn(
      vinci_detail::PadName<T>("copy_ubuf_to_gm_align_b8", "copy_ubuf_to_gm_align_b16", "copy_ubuf_to_gm_align_b32"));
  if (vinci_detail::MemoryOf(src.GetPosition()) != ::vinci::ascendc::Memory::ub)
    ::vinci::ascendc::unsupported("DataCopyPad to global memory from a position other than UB", place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(insn,
                          {dst.Address(), src.Address(), 0, dataCopyParams.blockCount, dataCopyParams.blockLen, 0, 0,
                           dataCopyParams.srcStride, dataCopyParams.dstStride},
                          place);
}
template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& dataCopyParams,
                 const DataCopyPadParams& padParams, VINCI_PLACE) {
  DataCopyPad(dst, src,
              DataCopyExtParams{dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride,
                                dataCopyParams.dstStride, 0},
              DataCopyPadExtParams<T>{padParams.isPad, padParams.leftPadding, padParams.rightPadding,
                                      vinci_detail::FromBits<T>(padParams.paddingValue)},
              place);
}
template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& dataCopyParams,
                 VINCI_PLACE) {
  DataCopyPad(dst, src,
              DataCopyExtParams{dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride,
                                dataCopyParams.dstStride, 0},
              place);
}

// The same between addresses: kernels copy elements of 8 bytes as pairs of 4 by them.
namespace vinci_detail {
template <typename T>
LocalTensor<T> UbAt(const volatile __ubuf__ T* address) {
  return {TPosition::VECCALC, static_cast<uint32_t>((uint64_t)address), 0, nullptr};  // NOLINT: changes the memory
}
template <typename T>
GlobalTensor<T> GmAt(__gm__ T* address) {
  GlobalTensor<T> out;
  out.SetGlobalBuffer(address);
  return out;
}
}  // namespace vinci_detail
template <typename T, typename Params, typename PadParams>
void DataCopyPadGm2UBImpl(__ubuf__ T* dst, __gm__ T* src, const Params& dataCopyParams, const PadParams& padParams,
                          uint8_t /*cacheMode*/ = 0, VINCI_PLACE) {
  DataCopyPad(vinci_detail::UbAt(dst), vinci_detail::GmAt(src), dataCopyParams, padParams, place);
}
template <typename T, typename Params>
void DataCopyPadUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const Params& dataCopyParams, uint8_t /*cacheMode*/ = 0,
                          VINCI_PLACE) {
  DataCopyPad(vinci_detail::GmAt(dst), vinci_detail::UbAt(src), dataCopyParams, place);
}
template <typename T>
void DataCopyGM2UBImpl(__ubuf__ T* dst, __gm__ T* src, const DataCopyParams& intriParams, VINCI_PLACE) {
  DataCopy(vinci_detail::UbAt(dst), vinci_detail::GmAt(src), intriParams, place);
}
template <typename T>
void DataCopyUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const DataCopyParams& intriParams, VINCI_PLACE) {
  DataCopy(vinci_detail::GmAt(dst), vinci_detail::UbAt(src), intriParams, place);
}

}  // namespace AscendC
