// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <type_traits>

#include "ascendc/vector.h"

// Cast: conversions of the vector unit. Which pairs and rounding modes exist, the instruction table says: one that does
// not is refused by its name, such as vconv_f322s8. Documentation: Ascend C API, Cast.
namespace AscendC {

enum class RoundMode : uint8_t {
  CAST_NONE = 0,
  CAST_RINT,
  CAST_FLOOR,
  CAST_CEIL,
  CAST_ROUND,
  CAST_TRUNC,
  CAST_ODD,
  CAST_HYBRID
};

namespace vinci_detail {
// The instructions of a pair of types, by rounding mode.
template <typename D, typename S>
::vinci::ascendc::Insn& CastInsn(RoundMode mode) {
  constexpr unsigned kModes = 8;
  static const std::string* const names = [] {
    constexpr const char* kSuffix[kModes] = {"", "r", "f", "c", "a", "z", "o", "h"};
    auto* made = new std::string[kModes];
    for (unsigned i = 0; i < kModes; ++i)
      made[i] = std::string("vconv_") + TypeName<S>() + "2" + TypeName<D>() + kSuffix[i];
    return made;
  }();
  static ::vinci::ascendc::Insn* const insns = [] {
    auto* made = static_cast<::vinci::ascendc::Insn*>(::operator new(kModes * sizeof(::vinci::ascendc::Insn)));
    for (unsigned i = 0; i < kModes; ++i)
      new (made + i)::vinci::ascendc::Insn(names[i].c_str());
    return made;
  }();
  return insns[static_cast<unsigned>(mode)];
}

// Blocks that the lanes of a repeat fill in an operand of a type: the wider type fills 8.
template <typename T, typename Other>
constexpr uint8_t kCastRepeatStride = kBitsOf<T> >= kBitsOf<Other> ? 8 : 8 * kBitsOf<T> / kBitsOf<Other>;

template <typename D, typename S>
void IssueCast(const LocalTensor<D>& dst, const LocalTensor<S>& src, RoundMode mode, uint64_t repeat,
               const UnaryRepeatParams& p, Place place) {
  // From words to half there is one instruction, which multiplies by the scale of SetDeqScale; it has no mode of
  // rounding.
  static ::vinci::ascendc::Insn scaled("vconv_deq");
  constexpr bool kScaled = std::is_same_v<D, half> && std::is_same_v<S, int32_t>;
  ::vinci::ascendc::issue(
      kScaled ? scaled : CastInsn<D, S>(mode),
      {dst.Address(), src.Address(), repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride}, place);
}
}  // namespace vinci_detail

template <typename D, typename S>
void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& roundMode, const uint32_t count,
          VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::CountedMask mask(count, place);
  vinci_detail::IssueCast(dst, src, roundMode, 1,
                          {1, 1, vinci_detail::kCastRepeatStride<D, S>, vinci_detail::kCastRepeatStride<S, D>}, place);
  mask.Reset();
}
template <typename D, typename S, bool isSetMask = true>
void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& roundMode, const uint64_t mask[],
          vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::IssueMask(sizeof(D) > 2 || sizeof(S) > 2 ? 0 : mask[1], mask[0], place);
  vinci_detail::IssueCast(dst, src, roundMode, repeatTime, repeatParams, place);
}
template <typename D, typename S, bool isSetMask = true>
void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& roundMode, const uint64_t mask,
          vinci_detail::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (isSetMask) vinci_detail::SetMaskLanes<S>(mask, place);
  vinci_detail::IssueCast(dst, src, roundMode, repeatTime, repeatParams, place);
}

}  // namespace AscendC
