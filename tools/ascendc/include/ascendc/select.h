// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/compare.h"
#include "ascendc/sync.h"
#include "ascendc/vector.h"

// Select: lanes of two tensors, or of a tensor and a scalar, by bits. Documentation: Ascend C API, comparison and
// selection.
namespace AscendC {

// In mode 0 all repeats use the bits that CMPMASK holds; in the others, each repeat has bits of its own in UB.
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

// CMPMASK from 16 bytes of UB.
template <typename T>
void SetCmpMask(const LocalTensor<T>& src, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_cmpmask");
  ::vinci::ascendc::issue(insn, {src.Address()}, place);
}

template <typename T>
void GetCmpMask(const LocalTensor<T>& dst, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("get_cmpmask");
  ::vinci::ascendc::issue(insn, {dst.Address()}, place);
}

namespace vinci_detail {
// Modes 1 and 2 keep a scalar or an address in CMPMASK, which only UB can fill: the last 8 KB of UB are reserved for
// that, as the documentation says. Leaves counter mode off.
inline void SetCmpMaskBits(uint32_t bits, Place place) {
  constexpr uint32_t kReserved = 8 * 1024;
  const LocalTensor<uint32_t> temporary(
      TPosition::VECCALC, static_cast<uint32_t>(::vinci::ascendc::size_of(::vinci::ascendc::Memory::ub)) - kReserved,
      8);
  SetMaskNorm(place);
  IssueMask(0, LowBits(8), place);
  IssueDuplicate(temporary, uint32_t{0}, 1, 1, 8, place);
  IssueBarrier(PIPE_V, place);
  IssueMask(0, 1, place);
  IssueDuplicate(temporary, bits, 1, 1, 8, place);
  IssueBarrier(PIPE_V, place);
  SetCmpMask(temporary, place);
  IssueBarrier(PIPE_V, place);
}

template <typename T>
void IssueSelect(const LocalTensor<T>& dst, const LocalTensor<T>& src0, uint64_t src1, SELMODE mode, uint64_t repeat,
                 const BinaryRepeatParams& p, Place place) {
  static ::vinci::ascendc::Insn insn("vsel", TypeName<T>());
  ::vinci::ascendc::issue(
      insn,
      {dst.Address(), src0.Address(), src1, repeat, p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, p.dstRepStride,
       p.src0RepStride, p.src1RepStride, static_cast<uint64_t>(mode)},
      place);
}
// CMPMASK as the mode of two tensors needs it.
template <typename U>
void PrepareSelect(const LocalTensor<U>& selMask, SELMODE mode, Place place) {
  if (mode == SELMODE::VSEL_TENSOR_SCALAR_MODE)
    ::vinci::ascendc::wrong("Select: VSEL_TENSOR_SCALAR_MODE selects between a tensor and a scalar", place);
  if (mode == SELMODE::VSEL_CMPMASK_SPR) return SetCmpMask(selMask, place);
  SetCmpMaskBits(selMask.Address(), place);
}
}  // namespace vinci_detail

template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE selMode, uint32_t count, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::PrepareSelect(selMask, selMode, place);
  vinci_detail::CountedMask mask(count, place);
  vinci_detail::IssueSelect(dst, src0, src1.Address(), selMode, 1, {}, place);
  mask.Reset();
}
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
            SELMODE selMode, uint32_t count, VINCI_PLACE) {
  if (selMode != SELMODE::VSEL_TENSOR_SCALAR_MODE)
    ::vinci::ascendc::wrong("Select with a scalar needs VSEL_TENSOR_SCALAR_MODE", place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::SetCmpMaskBits(static_cast<uint32_t>(vinci_detail::BitsOf(src1)), place);
  vinci_detail::CountedMask mask(count, place);
  vinci_detail::IssueSelect(dst, src0, selMask.Address(), selMode, 1, {}, place);
  mask.Reset();
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE selMode, uint64_t mask, vinci_detail::RepeatTime repeatTime,
            const BinaryRepeatParams& repeatParams, VINCI_PLACE) {
  static_assert(isSetMask, "Select without a mask of its own is not supported by Vinci");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::PrepareSelect(selMask, selMode, place);
  vinci_detail::SetMaskLanes<T>(mask, place);
  vinci_detail::IssueSelect(dst, src0, src1.Address(), selMode, repeatTime, repeatParams, place);
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
            SELMODE selMode, uint64_t mask, vinci_detail::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,
            VINCI_PLACE) {
  static_assert(isSetMask, "Select without a mask of its own is not supported by Vinci");
  if (selMode != SELMODE::VSEL_TENSOR_SCALAR_MODE)
    ::vinci::ascendc::wrong("Select with a scalar needs VSEL_TENSOR_SCALAR_MODE", place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::SetCmpMaskBits(static_cast<uint32_t>(vinci_detail::BitsOf(src1)), place);
  vinci_detail::SetMaskLanes<T>(mask, place);
  vinci_detail::IssueSelect(dst, src0, selMask.Address(), selMode, repeatTime, repeatParams, place);
}

template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE selMode, uint64_t mask[], vinci_detail::RepeatTime repeatTime,
            const BinaryRepeatParams& repeatParams, VINCI_PLACE) {
  static_assert(isSetMask, "Select without a mask of its own is not supported by Vinci");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::PrepareSelect(selMask, selMode, place);
  vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssueSelect(dst, src0, src1.Address(), selMode, repeatTime, repeatParams, place);
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
            SELMODE selMode, uint64_t mask[], vinci_detail::RepeatTime repeatTime,
            const BinaryRepeatParams& repeatParams, VINCI_PLACE) {
  static_assert(isSetMask, "Select without a mask of its own is not supported by Vinci");
  if (selMode != SELMODE::VSEL_TENSOR_SCALAR_MODE)
    ::vinci::ascendc::wrong("Select with a scalar needs VSEL_TENSOR_SCALAR_MODE", place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::SetCmpMaskBits(static_cast<uint32_t>(vinci_detail::BitsOf(src1)), place);
  vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssueSelect(dst, src0, selMask.Address(), selMode, repeatTime, repeatParams, place);
}
// With CMPMASK and the vector mask as they are: the scalar or the bits are in it already.
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            vinci_detail::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::IssueSelect(dst, src0, selMask.Address(), SELMODE::VSEL_TENSOR_SCALAR_MODE, repeatTime, repeatParams,
                            place);
}
template <typename T, SELMODE selMode>
void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
            vinci_detail::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::IssueSelect(dst, src0, src1.Address(), selMode, repeatTime, repeatParams, place);
}

}  // namespace AscendC
