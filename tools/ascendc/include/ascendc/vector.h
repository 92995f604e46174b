// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/mask.h"

// Arithmetic of the vector unit. Each function has the forms of the documentation: of the first `count` elements, and
// of repeats with a mask of bits or of leading lanes. The form with a count is one instruction in counter mode.
// Documentation: Ascend C API, vector computation.
namespace AscendC {

struct BinaryRepeatParams {
  BinaryRepeatParams() = default;
  constexpr BinaryRepeatParams(uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat,
                               uint8_t src0_repeat, uint8_t src1_repeat)
      : dstBlkStride(dst_block),
        src0BlkStride(src0_block),
        src1BlkStride(src1_block),
        dstRepStride(dst_repeat),
        src0RepStride(src0_repeat),
        src1RepStride(src1_repeat) {}
  uint32_t blockNumber = 8;
  uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1;
  uint8_t dstRepStride = 8, src0RepStride = 8, src1RepStride = 8;
  bool repeatStrideMode = false, strideSizeMode = false;
};

struct UnaryRepeatParams {
  UnaryRepeatParams() = default;
  constexpr UnaryRepeatParams(uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat, uint8_t src_repeat)
      : dstBlkStride(dst_block), srcBlkStride(src_block), dstRepStride(dst_repeat), srcRepStride(src_repeat) {}
  constexpr UnaryRepeatParams(uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat, uint8_t src_repeat,
                              bool half_block)
      : UnaryRepeatParams(dst_block, src_block, dst_repeat, src_repeat) {
    halfBlock = half_block;
  }
  uint32_t blockNumber = 8;
  uint16_t dstBlkStride = 1, srcBlkStride = 1;
  uint8_t dstRepStride = 8, srcRepStride = 8;
  bool repeatStrideMode = false, strideSizeMode = false, halfBlock = false;
};

namespace vinci_detail {
template <typename T>
void SetMaskBits(const uint64_t mask[], Place place) {
  IssueMask(sizeof(T) <= 2 ? mask[1] : 0, mask[0], place);
}
template <typename T>
void SetMaskLanes(uint64_t mask, Place place) {
  SetVectorMask<T>(static_cast<int32_t>(mask), place);
}

template <typename T>
void IssueBinary(::vinci::ascendc::Insn& insn, const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                 const LocalTensor<T>& src1, uint64_t repeat, const BinaryRepeatParams& p, Place place) {
  ::vinci::ascendc::issue(insn,
                          {dst.Address(), src0.Address(), src1.Address(), repeat, p.dstBlkStride, p.src0BlkStride,
                           p.src1BlkStride, p.dstRepStride, p.src0RepStride, p.src1RepStride},
                          place);
}
template <typename T>
void IssueUnary(::vinci::ascendc::Insn& insn, const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t repeat,
                const UnaryRepeatParams& p, Place place) {
  ::vinci::ascendc::issue(
      insn, {dst.Address(), src.Address(), repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride},
      place);
}
template <typename T, typename U>
void IssueScalar(::vinci::ascendc::Insn& insn, const LocalTensor<T>& dst, const LocalTensor<U>& src, uint64_t scalar,
                 uint64_t repeat, const UnaryRepeatParams& p, Place place) {
  ::vinci::ascendc::issue(
      insn,
      {dst.Address(), src.Address(), scalar, repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride},
      place);
}

// Logic works on the bits of lanes of 16 bits.
template <typename T>
constexpr const char* LogicType() {
  static_assert(sizeof(T) == 2, "And, Or and Not work on int16_t and uint16_t");
  return std::is_signed_v<T> ? "s16" : "u16";
}
}  // namespace vinci_detail

#define VINCI_BINARY(Name, mnemonic, type)                                                                             \
  VINCI_INSN(Name##Insn, mnemonic, type)                                                                               \
  template <typename T>                                                                                                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const int32_t& count,   \
            VINCI_PLACE) VINCI_WITH_PLACE {                                                                            \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                            \
    vinci_detail::CountedMask mask(static_cast<uint64_t>(count), place);                                               \
    vinci_detail::IssueBinary(vinci_detail::Name##Insn<T>(), dst, src0, src1, 1, {}, place);                           \
    mask.Reset();                                                                                                      \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const int32_t& count) { \
    Name(dst, src0, src1, count, VINCI_NO_PLACE);                                                                      \
  }                                                                                                                    \
  template <typename T, bool isSetMask = true>                                                                         \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask[],        \
            const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, VINCI_PLACE) VINCI_WITH_PLACE {          \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                            \
    if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);                                                \
    vinci_detail::IssueBinary(vinci_detail::Name##Insn<T>(), dst, src0, src1, repeatTime, repeatParams, place);        \
  }                                                                                                                    \
  template <typename T, bool isSetMask = true>                                                                         \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask[],        \
            const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {                                        \
    Name<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, VINCI_NO_PLACE);                               \
  }                                                                                                                    \
  template <typename T, bool isSetMask = true>                                                                         \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask,          \
            const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, VINCI_PLACE) VINCI_WITH_PLACE {          \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                            \
    if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(mask, place);                                               \
    vinci_detail::IssueBinary(vinci_detail::Name##Insn<T>(), dst, src0, src1, repeatTime, repeatParams, place);        \
  }                                                                                                                    \
  template <typename T, bool isSetMask = true>                                                                         \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask,          \
            const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {                                        \
    Name<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, VINCI_NO_PLACE);                               \
  }                                                                                                                    \
  template <typename T, bool isSetMask = true, typename Mask, typename Number,                                         \
            typename = vinci_detail::OtherNumber<Number>>                                                              \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, Mask mask,              \
            Number repeatTime, const BinaryRepeatParams& repeatParams, VINCI_PLACE) {                                  \
    Name<T, isSetMask>(dst, src0, src1, mask, vinci_detail::Repeats(repeatTime, place), repeatParams, place);          \
  }
VINCI_BINARY(Add, "vadd", vinci_detail::TypeName<T>())
VINCI_BINARY(Sub, "vsub", vinci_detail::TypeName<T>())
VINCI_BINARY(Mul, "vmul", vinci_detail::TypeName<T>())
VINCI_BINARY(Div, "vdiv", vinci_detail::TypeName<T>())
VINCI_BINARY(Max, "vmax", vinci_detail::TypeName<T>())
VINCI_BINARY(Min, "vmin", vinci_detail::TypeName<T>())
VINCI_BINARY(AddRelu, "vaddrelu", vinci_detail::TypeName<T>())
VINCI_BINARY(SubRelu, "vsubrelu", vinci_detail::TypeName<T>())
VINCI_BINARY(FusedMulAdd, "vmadd", vinci_detail::TypeName<T>())
VINCI_BINARY(FusedMulAddRelu, "vmaddrelu", vinci_detail::TypeName<T>())
VINCI_BINARY(MulAddRelu, "vmaddrelu", vinci_detail::TypeName<T>())
VINCI_BINARY(And, "vand", vinci_detail::LogicType<T>())
VINCI_BINARY(Or, "vor", vinci_detail::LogicType<T>())
#undef VINCI_BINARY

#define VINCI_UNARY(Name, mnemonic, type)                                                                    \
  VINCI_INSN(Name##Insn, mnemonic, type)                                                                     \
  template <typename T>                                                                                      \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count, VINCI_PLACE)         \
      VINCI_WITH_PLACE {                                                                                     \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                  \
    vinci_detail::CountedMask mask(static_cast<uint64_t>(count), place);                                     \
    vinci_detail::IssueUnary(vinci_detail::Name##Insn<T>(), dst, src, 1, {}, place);                         \
    mask.Reset();                                                                                            \
  }                                                                                                          \
  template <typename T>                                                                                      \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count) {                    \
    Name(dst, src, count, VINCI_NO_PLACE);                                                                   \
  }                                                                                                          \
  template <typename T, bool isSetMask = true>                                                               \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask[], const uint8_t repeatTime, \
            const UnaryRepeatParams& repeatParams, VINCI_PLACE) VINCI_WITH_PLACE {                           \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                  \
    if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);                                      \
    vinci_detail::IssueUnary(vinci_detail::Name##Insn<T>(), dst, src, repeatTime, repeatParams, place);      \
  }                                                                                                          \
  template <typename T, bool isSetMask = true>                                                               \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask[], const uint8_t repeatTime, \
            const UnaryRepeatParams& repeatParams) {                                                         \
    Name<T, isSetMask>(dst, src, mask, repeatTime, repeatParams, VINCI_NO_PLACE);                            \
  }                                                                                                          \
  template <typename T, bool isSetMask = true>                                                               \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask, const uint8_t repeatTime,   \
            const UnaryRepeatParams& repeatParams, VINCI_PLACE) VINCI_WITH_PLACE {                           \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                  \
    if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(mask, place);                                     \
    vinci_detail::IssueUnary(vinci_detail::Name##Insn<T>(), dst, src, repeatTime, repeatParams, place);      \
  }                                                                                                          \
  template <typename T, bool isSetMask = true>                                                               \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask, const uint8_t repeatTime,   \
            const UnaryRepeatParams& repeatParams) {                                                         \
    Name<T, isSetMask>(dst, src, mask, repeatTime, repeatParams, VINCI_NO_PLACE);                            \
  }                                                                                                          \
  template <typename T, bool isSetMask = true, typename Mask, typename Number,                               \
            typename = vinci_detail::OtherNumber<Number>>                                                    \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, Number repeatTime,              \
            const UnaryRepeatParams& repeatParams, VINCI_PLACE) {                                            \
    Name<T, isSetMask>(dst, src, mask, vinci_detail::Repeats(repeatTime, place), repeatParams, place);       \
  }

VINCI_UNARY(Exp, "vexp", vinci_detail::TypeName<T>())
VINCI_UNARY(Ln, "vln", vinci_detail::TypeName<T>())
VINCI_UNARY(Abs, "vabs", vinci_detail::TypeName<T>())
VINCI_UNARY(Reciprocal, "vrec", vinci_detail::TypeName<T>())
VINCI_UNARY(Sqrt, "vsqrt", vinci_detail::TypeName<T>())
VINCI_UNARY(Rsqrt, "vrsqrt", vinci_detail::TypeName<T>())
VINCI_UNARY(Relu, "vrelu", vinci_detail::TypeName<T>())
VINCI_UNARY(Not, "vnot", vinci_detail::LogicType<T>())
#undef VINCI_UNARY

// With a scalar of the type of the lanes; of shifts, a distance.
#define VINCI_SCALAR(Name, mnemonic)                                                                                  \
  VINCI_INSN(Name##Insn, mnemonic, TypeName<T>())                                                                     \
  namespace vinci_detail {                                                                                            \
  template <typename T, typename U>                                                                                   \
  uint64_t Name##Operand(U scalar) {                                                                                  \
    return BitsOf<T>(static_cast<T>(scalar));                                                                         \
  }                                                                                                                   \
  }                                                                                                                   \
  template <typename T, bool isSetMask = true, typename U = T>                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalar, const int32_t& count, VINCI_PLACE) \
      VINCI_WITH_PLACE {                                                                                              \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                           \
    vinci_detail::CountedMask mask(static_cast<uint64_t>(count), place);                                              \
    vinci_detail::IssueScalar(vinci_detail::Name##Insn<T>(), dst, src, vinci_detail::Name##Operand<T>(scalar), 1, {}, \
                              place);                                                                                 \
    mask.Reset();                                                                                                     \
  }                                                                                                                   \
  template <typename T, bool isSetMask = true, typename U = T>                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalar, const int32_t& count) {            \
    Name(dst, src, scalar, count, VINCI_NO_PLACE);                                                                    \
  }                                                                                                                   \
  template <typename T, bool isSetMask = true, typename U = T>                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalar, uint64_t mask[],                   \
            const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, VINCI_PLACE) VINCI_WITH_PLACE {          \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                           \
    if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);                                               \
    vinci_detail::IssueScalar(vinci_detail::Name##Insn<T>(), dst, src, vinci_detail::Name##Operand<T>(scalar),        \
                              repeatTime, repeatParams, place);                                                       \
  }                                                                                                                   \
  template <typename T, bool isSetMask = true, typename U = T>                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalar, uint64_t mask[],                   \
            const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                                        \
    Name<T, isSetMask>(dst, src, scalar, mask, repeatTime, repeatParams, VINCI_NO_PLACE);                             \
  }                                                                                                                   \
  template <typename T, bool isSetMask = true, typename U = T>                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalar, uint64_t mask,                     \
            const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, VINCI_PLACE) VINCI_WITH_PLACE {          \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                           \
    if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(mask, place);                                              \
    vinci_detail::IssueScalar(vinci_detail::Name##Insn<T>(), dst, src, vinci_detail::Name##Operand<T>(scalar),        \
                              repeatTime, repeatParams, place);                                                       \
  }                                                                                                                   \
  template <typename T, bool isSetMask = true, typename U = T>                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalar, uint64_t mask,                     \
            const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                                        \
    Name<T, isSetMask>(dst, src, scalar, mask, repeatTime, repeatParams, VINCI_NO_PLACE);                             \
  }                                                                                                                   \
  template <typename T, bool isSetMask = true, typename U = T, typename Mask, typename Number,                        \
            typename = vinci_detail::OtherNumber<Number>>                                                             \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalar, Mask mask, Number repeatTime,      \
            const UnaryRepeatParams& repeatParams, VINCI_PLACE) {                                                     \
    Name<T, isSetMask>(dst, src, scalar, mask, vinci_detail::Repeats(repeatTime, place), repeatParams, place);        \
  }

VINCI_SCALAR(Adds, "vadds")
VINCI_SCALAR(Muls, "vmuls")
VINCI_SCALAR(Maxs, "vmaxs")
VINCI_SCALAR(Mins, "vmins")
VINCI_SCALAR(LeakyRelu, "vlrelu")
VINCI_SCALAR(ShiftLeft, "vshl")
#undef VINCI_SCALAR

namespace vinci_detail {
// dst = dst + src * scalar; the destination may be f32 where the source is f16.
template <typename T, typename U>
::vinci::ascendc::Insn& AxpyInsn() {
  static ::vinci::ascendc::Insn insn("vaxpy", std::is_same_v<T, U> ? TypeName<T>() : "fmix");
  return insn;
}
template <typename T, typename U>
constexpr uint8_t SourceRepeatStride() {
  return sizeof(U) < sizeof(T) ? 8 * sizeof(U) / sizeof(T) : 8;
}
}  // namespace vinci_detail

template <typename T, typename U>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalar, const int32_t& count, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::CountedMask mask(static_cast<uint64_t>(count), place);
  vinci_detail::IssueScalar(vinci_detail::AxpyInsn<T, U>(), dst, src, vinci_detail::BitsOf(scalar), 1,
                            {1, 1, 8, vinci_detail::SourceRepeatStride<T, U>()}, place);
  mask.Reset();
}
template <typename T, typename U, bool isSetMask = true>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalar, uint64_t mask[],
          vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssueScalar(vinci_detail::AxpyInsn<T, U>(), dst, src, vinci_detail::BitsOf(scalar), repeatTime,
                            repeatParams, place);
}
template <typename T, typename U, bool isSetMask = true>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalar, uint64_t mask,
          vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(mask, place);
  vinci_detail::IssueScalar(vinci_detail::AxpyInsn<T, U>(), dst, src, vinci_detail::BitsOf(scalar), repeatTime,
                            repeatParams, place);
}

// The one shift that rounds, if asked to.
VINCI_INSN(ShiftRightInsn, "vshr", TypeName<T>())
namespace vinci_detail {
template <typename T>
void IssueShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, T distance, uint64_t repeat,
                     const UnaryRepeatParams& p, bool round, Place place) {
  ::vinci::ascendc::issue(ShiftRightInsn<T>(),
                          {dst.Address(), src.Address(), BitsOf(distance), repeat, p.dstBlkStride, p.srcBlkStride,
                           p.dstRepStride, p.srcRepStride, round ? 1u : 0u},
                          place);
}
}  // namespace vinci_detail

template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& distance, const int32_t& count,
                VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::CountedMask mask(static_cast<uint64_t>(count), place);
  vinci_detail::IssueShiftRight(dst, src, distance, 1, {}, false, place);
  mask.Reset();
}
template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& distance, uint64_t mask[],
                vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams, bool roundEn = false,
                VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssueShiftRight(dst, src, distance, repeatTime, repeatParams, roundEn, place);
}
template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& distance, uint64_t mask,
                vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams, bool roundEn = false,
                VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(mask, place);
  vinci_detail::IssueShiftRight(dst, src, distance, repeatTime, repeatParams, roundEn, place);
}

// dst = scalar in every lane.
VINCI_INSN(DuplicateInsn, "vector_dup", TypeName<T>())
namespace vinci_detail {
template <typename T>
void IssueDuplicate(const LocalTensor<T>& dst, T scalar, uint64_t repeat, uint64_t block, uint64_t stride,
                    Place place) {
  ::vinci::ascendc::issue(DuplicateInsn<T>(), {dst.Address(), BitsOf(scalar), repeat, block, 1, stride, 0}, place);
}
}  // namespace vinci_detail

template <typename T, bool isSetMask = true, typename U = T>
void Duplicate(const LocalTensor<T>& dst, const U& scalar, const int32_t& count, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::CountedMask mask(static_cast<uint64_t>(count), place);
  vinci_detail::IssueDuplicate(dst, static_cast<T>(scalar), 1, 1, 8, place);
  mask.Reset();
}
template <typename T, bool isSetMask = true, typename U = T>
void Duplicate(const LocalTensor<T>& dst, const U& scalar, uint64_t mask[], vinci_detail::RepeatTime repeatTime,
               const uint16_t dstBlockStride, const uint8_t dstRepeatStride, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskBits<T>(mask, place);
  vinci_detail::IssueDuplicate(dst, static_cast<T>(scalar), repeatTime, dstBlockStride, dstRepeatStride, place);
}
template <typename T, bool isSetMask = true, typename U = T>
void Duplicate(const LocalTensor<T>& dst, const U& scalar, uint64_t mask, vinci_detail::RepeatTime repeatTime,
               const uint16_t dstBlockStride, const uint8_t dstRepeatStride, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskLanes<T>(mask, place);
  vinci_detail::IssueDuplicate(dst, static_cast<T>(scalar), repeatTime, dstBlockStride, dstRepeatStride, place);
}

}  // namespace AscendC
