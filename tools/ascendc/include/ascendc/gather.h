// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/pipe.h"
#include "ascendc/vector.h"

// Elements from and to anywhere in UB, and those that a pattern selects. Documentation: Ascend C API, gather and
// scatter; GatherMask.
namespace AscendC {

struct GatherRepeatParams {
  GatherRepeatParams() = default;
  constexpr GatherRepeatParams(uint8_t dst_block, uint8_t dst_repeat)
      : dstBlkStride(dst_block), dstRepStride(dst_repeat) {}
  uint32_t blockNumber = 8;
  uint16_t dstBlkStride = 1, dstRepStride = 8;
  bool repeatStrideMode = false, strideSizeMode = false;
};

// dst[i] = the element at byte srcBaseAddr + srcOffset[i] of src.
VINCI_INSN(GatherInsn, "vgather", TypeName<T>())
namespace vinci_detail {
template <typename T>
void IssueGather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& offsets,
                 uint32_t base, uint64_t stride, uint64_t repeat, Place place) {
  ::vinci::ascendc::issue(GatherInsn<T>(), {dst.Address(), offsets.Address(), src.Address() + base, stride, repeat},
                          place);
}
}  // namespace vinci_detail

template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
            const uint32_t srcBaseAddr, const uint32_t count, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::CountedMask mask(count, place);
  vinci_detail::IssueGather(dst, src, srcOffset, srcBaseAddr, 8, 1, place);
  mask.Reset();
}
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
            const uint32_t srcBaseAddr, const uint64_t mask[], vinci_detail::RepeatTime repeatTime,
            const uint16_t dstRepStride, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssueGather(dst, src, srcOffset, srcBaseAddr, dstRepStride, repeatTime, place);
}
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
            const uint32_t srcBaseAddr, const uint64_t mask, vinci_detail::RepeatTime repeatTime,
            const uint16_t dstRepStride, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::SetMaskLanes<T>(mask, place);
  vinci_detail::IssueGather(dst, src, srcOffset, srcBaseAddr, dstRepStride, repeatTime, place);
}

// Blocks of 32 bytes, 8 in a repeat.
VINCI_INSN(GatherbInsn, "vgatherb", TypeName<T>())
template <typename T>
void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<uint32_t>& offset,
             vinci_detail::RepeatTime repeatTime, const GatherRepeatParams& repeatParams, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(vinci_detail::GatherbInsn<T>(),
                          {dst.Address(), offset.Address(), src0.Address(), repeatParams.dstRepStride,
                           repeatParams.dstBlkStride, repeatTime},
                          place);
}

// The element at byte dstBaseAddr + dstOffset[i] of dst = src[i]. An instruction of the 200x alone.
VINCI_INSN(ScatterInsn, "vscatter", TypeName<T>())
namespace vinci_detail {
template <typename T>
void IssueScatter(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& offsets,
                  uint32_t base, uint64_t stride, uint64_t repeat, Place place) {
  ::vinci::ascendc::issue(ScatterInsn<T>(), {offsets.Address(), src.Address(), dst.Address() + base, stride, repeat},
                          place);
}
}  // namespace vinci_detail

template <typename T>
void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& dstOffset,
             const uint32_t dstBaseAddr, const uint32_t count, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::CountedMask mask(count, place);
  vinci_detail::IssueScatter(dst, src, dstOffset, dstBaseAddr, 8, 1, place);
  mask.Reset();
}
template <typename T>
void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& dstOffset,
             const uint32_t dstBaseAddr, const uint64_t mask[], vinci_detail::RepeatTime repeatTime,
             const uint8_t srcRepStride, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssueScatter(dst, src, dstOffset, dstBaseAddr, srcRepStride, repeatTime, place);
}
template <typename T>
void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& dstOffset,
             const uint32_t dstBaseAddr, const uint64_t mask, vinci_detail::RepeatTime repeatTime,
             const uint8_t srcRepStride, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::SetMaskLanes<T>(mask, place);
  vinci_detail::IssueScatter(dst, src, dstOffset, dstBaseAddr, srcRepStride, repeatTime, place);
}

// Elements whose bit in a pattern is 1, one behind the other.
struct GatherMaskParams {
  GatherMaskParams() = default;
  constexpr GatherMaskParams(uint8_t src0_block, uint16_t repeats, uint16_t src0_repeat, uint8_t src1_repeat)
      : src0BlockStride(src0_block),
        repeatTimes(repeats),
        src0RepeatStride(src0_repeat),
        src1RepeatStride(src1_repeat) {}
  uint8_t src0BlockStride = 1;
  uint16_t repeatTimes = 0, src0RepeatStride = 8;
  uint8_t src1RepeatStride = 8;
};
enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 = 1 };
#if __NPU_ARCH__ == 2201
inline constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V2;
#else
inline constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V1;
#endif

inline int64_t GetGatherMaskRemainCount(VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("get_rsvd_cnt");
  return static_cast<int64_t>(::vinci::ascendc::read(insn, place));
}

VINCI_INSN(GatherMaskInsn, "vreduce", TypeName<T>())
VINCI_INSN(GatherMaskV2Insn, "vreducev2", TypeName<T>())
namespace vinci_detail {
template <GatherMaskMode mode, typename T>
void IssueGatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, uint64_t pattern, uint64_t pattern_mode,
                     bool counter, uint32_t mask, const GatherMaskParams& p, uint64_t& kept, Place place) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if (counter) {
    SetMaskCount(place);
    IssueMask(0, mask, place);
  }
  if constexpr (mode == GatherMaskMode::VERSION_V2) {
    ::vinci::ascendc::issue(GatherMaskV2Insn<T>(),
                            {dst.Address(), src0.Address(), pattern, p.repeatTimes, p.src0BlockStride, pattern_mode,
                             p.src0RepeatStride, p.src1RepeatStride},
                            place);
  } else {
    ::vinci::ascendc::issue(GatherMaskInsn<T>(),
                            {dst.Address(), src0.Address(), pattern, p.repeatTimes, 1, p.src0BlockStride, pattern_mode,
                             8, p.src0RepeatStride, p.src1RepeatStride},
                            place);
  }
  if (counter) {
    SetMaskNorm(place);
    ResetMask(place);
  }
  TPipe::Order(HardEvent::V_S, place);
  kept = static_cast<uint64_t>(GetGatherMaskRemainCount(place));
}
}  // namespace vinci_detail

template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1Pattern,
                const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt,
                VINCI_PLACE) {
  static_assert(sizeof(T) == sizeof(U), "GatherMask: the pattern has the width of the elements");
  vinci_detail::IssueGatherMask<mode>(dst, src0, src1Pattern.Address(), 0, reduceMode, mask, gatherMaskParams, rsvdCnt,
                                      place);
}
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t src1Pattern, const bool reduceMode,
                const uint32_t mask, const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt, VINCI_PLACE) {
  vinci_detail::IssueGatherMask<mode>(dst, src0, 0, src1Pattern, reduceMode, mask, gatherMaskParams, rsvdCnt, place);
}

}  // namespace AscendC
