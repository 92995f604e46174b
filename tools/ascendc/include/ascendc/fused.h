// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "ascendc/convert.h"
#include "ascendc/pipe.h"

// An operation and a conversion in one instruction, and dequantisation. Documentation: Ascend C API, compound
// computation; SetDeqScale.
namespace AscendC {

struct VdeqInfo {
  VdeqInfo() = default;
  VdeqInfo(const float scale[16], const int16_t offset[16], const bool is_signed[16]) {
    for (int i = 0; i < 16; ++i) {
      vdeqScale[i] = scale[i];
      vdeqOffset[i] = offset[i];
      vdeqSignMode[i] = is_signed[i];
    }
  }
  float vdeqScale[16]{};
  int16_t vdeqOffset[16]{};
  bool vdeqSignMode[16]{};
};

namespace vinci_detail {
inline void IssueDeqScale(uint64_t value, Place place) {
  static ::vinci::ascendc::Insn insn("set_deqscale");
  ::vinci::ascendc::issue(insn, {value}, place);
}
}  // namespace vinci_detail

inline void SetDeqScale(half scale, VINCI_PLACE) { vinci_detail::IssueDeqScale(vinci_detail::BitsOf(scale), place); }
namespace vinci_detail {
constexpr uint64_t DeqScaleBits(uint32_t scale, int16_t offset, bool is_signed) {
  return scale | (static_cast<uint64_t>(static_cast<uint16_t>(offset)) & 0x1ff) << 37 | uint64_t{is_signed} << 46;
}
}  // namespace vinci_detail

inline void SetDeqScale(float scale, int16_t offset, bool signMode, VINCI_PLACE) {
  vinci_detail::IssueDeqScale(
      vinci_detail::DeqScaleBits(static_cast<uint32_t>(vinci_detail::BitsOf(scale)), offset, signMode), place);
}
// A table of 16 scales in UB, which must live as long as they are used.
template <typename T>
void SetDeqScale(const LocalTensor<T>& vdeq, const VdeqInfo& vdeqInfo, VINCI_PLACE) {
  const LocalTensor<uint64_t> table = vdeq.template ReinterpretCast<uint64_t>();
  TPipe::Order(HardEvent::V_S, place);
  for (uint32_t i = 0; i < 16; ++i)
    table.SetValue(i,
                   vinci_detail::DeqScaleBits(static_cast<uint32_t>(vinci_detail::BitsOf(vdeqInfo.vdeqScale[i])),
                                              vdeqInfo.vdeqOffset[i], vdeqInfo.vdeqSignMode[i]),
                   place);
  TPipe::Order(HardEvent::S_V, place);
  vinci_detail::IssueDeqScale(vdeq.Address() / ONE_BLK_SIZE, place);
}

namespace vinci_detail {
// Instructions whose name has both types, such as vmulconv_f162s8; or only a mnemonic.
template <typename D, typename S>
::vinci::ascendc::Insn& FusedInsn(const char* prefix) {
  static const std::string name = std::string(prefix) + TypeName<S>() + "2" + TypeName<D>();
  static ::vinci::ascendc::Insn insn(name.c_str());
  return insn;
}
template <typename D, typename S>
::vinci::ascendc::Insn& MlaInsn() {
  static ::vinci::ascendc::Insn insn("vmla", std::is_same_v<D, S> ? TypeName<D>() : "fmix");
  return insn;
}
inline ::vinci::ascendc::Insn& AddDeqReluInsn() {
  static ::vinci::ascendc::Insn insn("vadddeqrelu");
  return insn;
}
template <typename D, typename S>
void IssueFused(::vinci::ascendc::Insn& insn, const LocalTensor<D>& dst, const LocalTensor<S>& src0,
                const LocalTensor<S>& src1, uint64_t repeat, const BinaryRepeatParams& p, Place place) {
  ::vinci::ascendc::issue(insn,
                          {dst.Address(), src0.Address(), src1.Address(), repeat, p.dstBlkStride, p.src0BlkStride,
                           p.src1BlkStride, p.dstRepStride, p.src0RepStride, p.src1RepStride},
                          place);
}
// The usual strides where the types differ: repeats follow each other in each operand.
template <typename D, typename S>
BinaryRepeatParams FusedParams() {
  return {1, 1, 1, kCastRepeatStride<D, S>, kCastRepeatStride<S, D>, kCastRepeatStride<S, D>};
}
template <typename D, typename S>
void SetFusedMask(const uint64_t mask[], Place place) {
  IssueMask(sizeof(D) > 2 || sizeof(S) > 2 ? 0 : mask[1], mask[0], place);
}
}  // namespace vinci_detail

#define VINCI_FUSED(Name, insn)                                                                                       \
  template <typename T, typename U>                                                                                   \
  void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, const int32_t count,   \
            VINCI_PLACE) {                                                                                            \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                           \
    vinci_detail::CountedMask mask(static_cast<uint64_t>(count), place);                                              \
    vinci_detail::IssueFused(insn, dst, src0, src1, 1, vinci_detail::FusedParams<T, U>(), place);                     \
    mask.Reset();                                                                                                     \
  }                                                                                                                   \
  template <typename T, typename U, bool isSetMask = true>                                                            \
  void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, const uint64_t mask[], \
            vinci_detail::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams, VINCI_PLACE) {               \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                           \
    if constexpr (isSetMask) vinci_detail::SetFusedMask<T, U>(mask, place);                                           \
    vinci_detail::IssueFused(insn, dst, src0, src1, repeatTime, repeatParams, place);                                 \
  }                                                                                                                   \
  template <typename T, typename U, bool isSetMask = true>                                                            \
  void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, uint64_t mask,         \
            vinci_detail::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams, VINCI_PLACE) {               \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                           \
    if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(mask, place);                                              \
    vinci_detail::IssueFused(insn, dst, src0, src1, repeatTime, repeatParams, place);                                 \
  }
// dst = dst + src0 * src1; sources may be f16 where the destination is f32.
VINCI_FUSED(MulAddDst, (vinci_detail::MlaInsn<T, U>()))
VINCI_FUSED(AddReluCast, (vinci_detail::FusedInsn<T, U>("vaddreluconv_")))
VINCI_FUSED(SubReluCast, (vinci_detail::FusedInsn<T, U>("vsubreluconv_")))
VINCI_FUSED(MulCast, (vinci_detail::FusedInsn<T, U>("vmulconv_")))
VINCI_FUSED(AddDeqRelu, vinci_detail::AddDeqReluInsn())
#undef VINCI_FUSED

namespace vinci_detail {
// s16 to s8 or u8 by DEQSCALE, one scale or a table of 16; s32 to f16 by one scale.
template <typename D, typename S, bool isVecDeq, bool halfBlock>
::vinci::ascendc::Insn& CastDeqInsn() {
  static ::vinci::ascendc::Insn insn(sizeof(S) == 4 ? "vconv_deq"
                                     : isVecDeq     ? halfBlock ? "vconv_vdeqs162b8h" : "vconv_vdeqs162b8l"
                                     : halfBlock    ? "vconv_deqs162b8h"
                                                    : "vconv_deqs162b8l");
  return insn;
}
template <typename T, typename U, bool isVecDeq, bool halfBlock>
void IssueCastDeq(const LocalTensor<T>& dst, const LocalTensor<U>& src, uint64_t repeat, const UnaryRepeatParams& p,
                  Place place) {
  ::vinci::ascendc::issue(
      CastDeqInsn<T, U, isVecDeq, halfBlock>(),
      {dst.Address(), src.Address(), repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride}, place);
}
}  // namespace vinci_detail

#define VINCI_CAST_DEQ(Name)                                                                                           \
  template <typename T, typename U, bool isVecDeq = true, bool halfBlock = true>                                       \
  void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count, VINCI_PLACE) {                 \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                            \
    vinci_detail::CountedMask mask(count, place);                                                                      \
    vinci_detail::IssueCastDeq<T, U, isVecDeq, halfBlock>(dst, src, 1,                                                 \
                                                          {1, 1, sizeof(U) == 4 ? uint8_t{4} : uint8_t{8}, 8}, place); \
    mask.Reset();                                                                                                      \
  }                                                                                                                    \
  template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint64_t mask[],                               \
            vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams, VINCI_PLACE) {                 \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                            \
    if constexpr (isSetMask) vinci_detail::SetFusedMask<T, U>(mask, place);                                            \
    vinci_detail::IssueCastDeq<T, U, isVecDeq, halfBlock>(dst, src, repeatTime, repeatParams, place);                  \
  }                                                                                                                    \
  template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src, const int32_t mask,                                  \
            vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams, VINCI_PLACE) {                 \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                            \
    if constexpr (isSetMask) vinci_detail::SetMaskLanes<U>(static_cast<uint64_t>(mask), place);                        \
    vinci_detail::IssueCastDeq<T, U, isVecDeq, halfBlock>(dst, src, repeatTime, repeatParams, place);                  \
  }
VINCI_CAST_DEQ(CastDeq)
VINCI_CAST_DEQ(CastDequant)
#undef VINCI_CAST_DEQ

}  // namespace AscendC
