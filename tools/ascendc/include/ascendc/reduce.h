// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/vector.h"

// Reductions of the vector unit within repeats, blocks and pairs, and Brcb. Documentation: Ascend C API, reductions,
// filling.
namespace AscendC {

enum class ReduceOrder : uint8_t { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };

struct BrcbRepeatParams {
  BrcbRepeatParams() = default;
  constexpr BrcbRepeatParams(uint16_t dst_block, uint16_t dst_repeat)
      : dstBlkStride(dst_block), dstRepStride(dst_repeat) {}
  uint32_t blockNumber = 8;
  uint16_t dstBlkStride = 1, dstRepStride = 8;
};

namespace vinci_detail {
template <typename T>
void IssueReduce(::vinci::ascendc::Insn& insn, const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t repeat,
                 int32_t dst_repeat, int32_t src_block, int32_t src_repeat, uint64_t order, Place place) {
  ::vinci::ascendc::issue(
      insn,
      {dst.Address(), src.Address(), static_cast<uint64_t>(repeat), static_cast<uint64_t>(dst_repeat),
       static_cast<uint64_t>(src_block), static_cast<uint64_t>(src_repeat), order},
      place);
}
// The same for instructions without an order.
template <typename T>
void IssueReduce(::vinci::ascendc::Insn& insn, const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t repeat,
                 int32_t dst_repeat, int32_t src_block, int32_t src_repeat, Place place) {
  ::vinci::ascendc::issue(
      insn,
      {dst.Address(), src.Address(), static_cast<uint64_t>(repeat), static_cast<uint64_t>(dst_repeat),
       static_cast<uint64_t>(src_block), static_cast<uint64_t>(src_repeat)},
      place);
}
}  // namespace vinci_detail

// The sum of the active lanes of each repeat.
VINCI_INSN(WholeReduceSumInsn, "vcadd", TypeName<T>())
template <typename T, bool isSetMask = true>
void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask, const int32_t repeatTime,
                    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(static_cast<uint64_t>(mask), place);
  vinci_detail::IssueReduce(vinci_detail::WholeReduceSumInsn<T>(), dst, src, repeatTime, dstRepStride, srcBlkStride,
                            srcRepStride, place);
}
template <typename T, bool isSetMask = true>
void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
                    const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                    const int32_t srcRepStride, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssueReduce(vinci_detail::WholeReduceSumInsn<T>(), dst, src, repeatTime, dstRepStride, srcBlkStride,
                            srcRepStride, place);
}

// The largest or smallest active lane of each repeat, with its index as `order` says.
#define VINCI_REDUCE_WHOLE(Name, mnemonic)                                                                         \
  VINCI_INSN(Name##Insn, mnemonic, TypeName<T>())                                                                  \
  template <typename T, bool isSetMask = true>                                                                     \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask, const int32_t repeatTime,    \
            const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                    \
            ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, VINCI_PLACE) {                                     \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                        \
    if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(static_cast<uint64_t>(mask), place);                    \
    vinci_detail::IssueReduce(vinci_detail::Name##Insn<T>(), dst, src, repeatTime, dstRepStride, srcBlkStride,     \
                              srcRepStride, static_cast<uint64_t>(order), place);                                  \
  }                                                                                                                \
  template <typename T, bool isSetMask = true>                                                                     \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[], const int32_t repeatTime, \
            const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                    \
            ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, VINCI_PLACE) {                                     \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                        \
    if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);                                            \
    vinci_detail::IssueReduce(vinci_detail::Name##Insn<T>(), dst, src, repeatTime, dstRepStride, srcBlkStride,     \
                              srcRepStride, static_cast<uint64_t>(order), place);                                  \
  }
VINCI_REDUCE_WHOLE(WholeReduceMax, "vcmax")
VINCI_REDUCE_WHOLE(WholeReduceMin, "vcmin")
#undef VINCI_REDUCE_WHOLE

// Of each block of 32 bytes, and of each pair of lanes; the documentation has the repeats before the mask here.
#define VINCI_REDUCE_PARTS(Name, mnemonic)                                                                         \
  VINCI_INSN(Name##Insn, mnemonic, TypeName<T>())                                                                  \
  template <typename T, bool isSetMask = true>                                                                     \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, const int32_t mask,    \
            const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride, VINCI_PLACE) {     \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                        \
    if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(static_cast<uint64_t>(mask), place);                    \
    vinci_detail::IssueReduce(vinci_detail::Name##Insn<T>(), dst, src, repeatTime, dstRepStride, srcBlkStride,     \
                              srcRepStride, place);                                                                \
  }                                                                                                                \
  template <typename T, bool isSetMask = true>                                                                     \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, const uint64_t mask[], \
            const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride, VINCI_PLACE) {     \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                        \
    if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);                                            \
    vinci_detail::IssueReduce(vinci_detail::Name##Insn<T>(), dst, src, repeatTime, dstRepStride, srcBlkStride,     \
                              srcRepStride, place);                                                                \
  }
VINCI_REDUCE_PARTS(BlockReduceSum, "vcgadd")
VINCI_REDUCE_PARTS(BlockReduceMax, "vcgmax")
VINCI_REDUCE_PARTS(BlockReduceMin, "vcgmin")
VINCI_REDUCE_PARTS(PairReduceSum, "vcpadd")
#undef VINCI_REDUCE_PARTS

// Each of 8 elements fills a block.
template <typename T>
void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src0, vinci_detail::RepeatTime repeatTime,
          const BrcbRepeatParams& repeatParams, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("vbrcb", vinci_detail::TypeName<T>());
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(
      insn, {dst.Address(), src0.Address(), repeatParams.dstBlkStride, repeatParams.dstRepStride, repeatTime}, place);
}

}  // namespace AscendC
