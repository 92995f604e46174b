// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/vector.h"

// Comparisons of the vector unit, to bits in UB or in CMPMASK. Documentation: Ascend C API, comparison and selection.
namespace AscendC {

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };

namespace vinci_detail {
// The instruction of a comparison.
template <typename T>
::vinci::ascendc::Insn& CompareInsn(CMPMODE mode) {
  using ::vinci::ascendc::Insn;
  static Insn insns[] = {Insn("vcmpv_lt", TypeName<T>()), Insn("vcmpv_gt", TypeName<T>()),
                         Insn("vcmpv_eq", TypeName<T>()), Insn("vcmpv_le", TypeName<T>()),
                         Insn("vcmpv_ge", TypeName<T>()), Insn("vcmpv_ne", TypeName<T>())};
  return insns[static_cast<unsigned>(mode)];
}
template <typename T>
::vinci::ascendc::Insn& CompareScalarInsn(CMPMODE mode) {
  using ::vinci::ascendc::Insn;
  static Insn insns[] = {Insn("vcmpvs_lt", TypeName<T>()), Insn("vcmpvs_gt", TypeName<T>()),
                         Insn("vcmpvs_eq", TypeName<T>()), Insn("vcmpvs_le", TypeName<T>()),
                         Insn("vcmpvs_ge", TypeName<T>()), Insn("vcmpvs_ne", TypeName<T>())};
  return insns[static_cast<unsigned>(mode)];
}

// Comparisons have no mask: whole repeats of 256 bytes, as many at a time as keep the bits in whole blocks.
template <typename T, typename F>
void ForEachWholeRepeat(uint32_t count, F&& body, Place place) {
  constexpr uint32_t kLanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
  constexpr uint32_t kAtOnce = 240;
  if (count % kLanes != 0)
    ::vinci::ascendc::wrong("a comparison of elements that do not fill repeats of 256 bytes", place);
  for (uint32_t first = 0; first < count / kLanes; first += kAtOnce) {
    const uint32_t left = count / kLanes - first;
    ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
    body(first * kLanes, left < kAtOnce ? left : kAtOnce);
  }
}
}  // namespace vinci_detail

template <typename T, typename U>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
             uint32_t count, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::ForEachWholeRepeat<T>(
      count,
      [&](uint32_t at, uint64_t repeat) {
        ::vinci::ascendc::issue(
            vinci_detail::CompareInsn<T>(cmpMode),
            {dst.Address() + at / 8, src0[at].Address(), src1[at].Address(), repeat, 1, 1, 1, 8, 8, 8}, place);
      },
      place);
}
template <typename T, typename U>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,
                   uint32_t count, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::ForEachWholeRepeat<T>(
      count,
      [&](uint32_t at, uint64_t repeat) {
        ::vinci::ascendc::issue(
            vinci_detail::CompareScalarInsn<T>(cmpMode),
            {dst.Address() + at / 8, src0[at].Address(), vinci_detail::BitsOf(src1Scalar), repeat, 1, 1, 8, 8}, place);
      },
      place);
}

namespace vinci_detail {
// Of repeats. Where the results are bits in UB there is no mask.
template <typename T, typename U>
void IssueCompare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
                  uint64_t repeat, const BinaryRepeatParams& p, Place place) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(CompareInsn<T>(mode),
                          {dst.Address(), src0.Address(), src1.Address(), repeat, p.dstBlkStride, p.src0BlkStride,
                           p.src1BlkStride, p.dstRepStride, p.src0RepStride, p.src1RepStride},
                          place);
}
}  // namespace vinci_detail

template <typename T, typename U, bool isSetMask = true>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
             const uint64_t /*mask*/[], vinci_detail::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,
             VINCI_PLACE) {
  vinci_detail::IssueCompare(dst, src0, src1, cmpMode, repeatTime, repeatParams, place);
}
template <typename T, typename U, bool isSetMask = true>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
             const uint64_t /*mask*/, vinci_detail::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,
             VINCI_PLACE) {
  vinci_detail::IssueCompare(dst, src0, src1, cmpMode, repeatTime, repeatParams, place);
}
namespace vinci_detail {
template <typename T, typename U>
void IssueCompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, T scalar, CMPMODE mode, uint64_t repeat,
                        const UnaryRepeatParams& p, Place place) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(CompareScalarInsn<T>(mode),
                          {dst.Address(), src.Address(), BitsOf(scalar), repeat, p.dstBlkStride, p.srcBlkStride,
                           p.dstRepStride, p.srcRepStride},
                          place);
}
}  // namespace vinci_detail

template <typename T, typename U, bool isSetMask = true>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,
                   const uint64_t /*mask*/[], vinci_detail::RepeatTime repeatTime,
                   const UnaryRepeatParams& repeatParams, VINCI_PLACE) {
  vinci_detail::IssueCompareScalar(dst, src0, src1Scalar, cmpMode, repeatTime, repeatParams, place);
}
template <typename T, typename U, bool isSetMask = true>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,
                   const uint64_t /*mask*/, vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,
                   VINCI_PLACE) {
  vinci_detail::IssueCompareScalar(dst, src0, src1Scalar, cmpMode, repeatTime, repeatParams, place);
}
// The newer name.
template <typename T, typename U>
void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,
              uint32_t count, VINCI_PLACE) {
  CompareScalar(dst, src0, src1Scalar, cmpMode, count, place);
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,
              const Mask& mask, vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,
              VINCI_PLACE) {
  CompareScalar(dst, src0, src1Scalar, cmpMode, mask, repeatTime, repeatParams, place);
}

namespace vinci_detail {
// One repeat to CMPMASK, of the lanes of the mask.
template <typename T>
::vinci::ascendc::Insn& CompareToRegisterInsn(CMPMODE mode) {
  using ::vinci::ascendc::Insn;
  static Insn insns[] = {Insn("vcmp_lt", TypeName<T>()), Insn("vcmp_gt", TypeName<T>()),
                         Insn("vcmp_eq", TypeName<T>()), Insn("vcmp_le", TypeName<T>()),
                         Insn("vcmp_ge", TypeName<T>()), Insn("vcmp_ne", TypeName<T>())};
  return insns[static_cast<unsigned>(mode)];
}
template <typename T>
void IssueCompareToRegister(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
                            const BinaryRepeatParams& p, Place place) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(CompareToRegisterInsn<T>(mode),
                          {src0.Address(), src1.Address(), 1, p.dstBlkStride, p.src0BlkStride, p.src1BlkStride,
                           p.dstRepStride, p.src0RepStride, p.src1RepStride},
                          place);
}
}  // namespace vinci_detail

template <typename T, bool isSetMask = true>
void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask[],
             const BinaryRepeatParams& repeatParams, VINCI_PLACE) {
  if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssueCompareToRegister(src0, src1, cmpMode, repeatParams, place);
}
template <typename T, bool isSetMask = true>
void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask,
             const BinaryRepeatParams& repeatParams, VINCI_PLACE) {
  if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(mask, place);
  vinci_detail::IssueCompareToRegister(src0, src1, cmpMode, repeatParams, place);
}

}  // namespace AscendC
