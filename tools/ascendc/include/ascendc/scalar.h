// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cmath>

#include "ascendc/convert.h"
#include "ascendc/scalar_math.h"

// Numbers of the scalar unit. They run natively, and are charged as the user's own scalar code: not at all.
// Documentation: Ascend C API, scalar computation.
namespace AscendC {

// How many bits of `valueIn` are `countValue`.
template <int countValue>
int64_t GetBitCount(uint64_t valueIn) {
  static_assert(countValue == 0 || countValue == 1);
  return __builtin_popcountll(countValue == 1 ? valueIn : ~valueIn);
}
template <int countValue>
int64_t ScalarGetCountOfValue(uint64_t valueIn) {
  return GetBitCount<countValue>(valueIn);
}
inline int64_t CountLeadingZero(uint64_t valueIn) { return valueIn == 0 ? 64 : __builtin_clzll(valueIn); }
inline int64_t ScalarCountLeadingZero(uint64_t valueIn) { return CountLeadingZero(valueIn); }
// Bits below the highest one that are equal to it; -1 where all are.
inline int64_t CountBitsCntSameAsSignBit(int64_t valueIn) {
  const auto changes = static_cast<uint64_t>(valueIn < 0 ? ~valueIn : valueIn);
  return changes == 0 ? -1 : __builtin_clzll(changes) - 1;
}
// Where the lowest bit is that is `countValue`; -1 if there is none.
template <int countValue>
int64_t GetSFFValue(uint64_t valueIn) {
  static_assert(countValue == 0 || countValue == 1);
  const uint64_t ones = countValue == 1 ? valueIn : ~valueIn;
  return ones == 0 ? -1 : __builtin_ctzll(ones);
}
template <int countValue>
int64_t ScalarGetSFFValue(uint64_t valueIn) {
  return GetSFFValue<countValue>(valueIn);
}

// float to half or int32_t. Nearest, ties to even, is what the host's conversions and nearbyint do.
template <typename T, typename U, RoundMode roundMode>
U ScalarCast(T valueIn) {
  static_assert(std::is_same_v<T, float>, "ScalarCast converts from float");
  if constexpr (std::is_same_v<U, int32_t>) {
    const float rounded = roundMode == RoundMode::CAST_FLOOR   ? std::floor(valueIn)
                          : roundMode == RoundMode::CAST_CEIL  ? std::ceil(valueIn)
                          : roundMode == RoundMode::CAST_TRUNC ? std::trunc(valueIn)
                          : roundMode == RoundMode::CAST_ROUND ? std::round(valueIn)
                                                               : std::nearbyint(valueIn);
    constexpr float kLimit = 2147483648.0f;
    if (std::isnan(rounded)) return 0;
    if (rounded >= kLimit) return INT32_MAX;
    return rounded < -kLimit ? INT32_MIN : static_cast<int32_t>(rounded);
  } else {
    static_assert(std::is_same_v<U, half>, "ScalarCast converts to half or int32_t");
    const half nearest = static_cast<half>(valueIn);
    if constexpr (roundMode == RoundMode::CAST_ODD) {
      if (static_cast<float>(nearest) == valueIn || std::isnan(valueIn)) return nearest;
      // Toward zero, then the last bit is set.
      uint16_t bits = vinci_detail::FromBits<uint16_t>(vinci_detail::BitsOf(nearest));
      if (std::fabs(static_cast<float>(nearest)) > std::fabs(valueIn)) --bits;
      return vinci_detail::FromBits<half>(bits | 1u);
    } else {
      static_assert(roundMode == RoundMode::CAST_NONE || roundMode == RoundMode::CAST_RINT,
                    "ScalarCast to half: CAST_NONE or CAST_ODD");
      return nearest;
    }
  }
}
template <typename T, typename U, RoundMode roundMode>
U Cast(T valueIn) {
  return ScalarCast<T, U, roundMode>(valueIn);
}
inline float Cast(const bfloat16_t& bVal) { return bVal; }
inline bfloat16_t Cast(const float& fVal) { return fVal; }
inline float ToFloat(const bfloat16_t& bVal) { return bVal; }
inline bfloat16_t ToBfloat16(const float& fVal) { return fVal; }

// Global memory past the data cache, which is not modelled.
template <typename T>
T ReadGmByPassDCache(__gm__ T* addr, VINCI_PLACE) {
  return vinci_detail::FromBits<T>(
      ::vinci::ascendc::load(::vinci::ascendc::Memory::gm, reinterpret_cast<uintptr_t>(addr), sizeof(T), place));
}
template <typename T>
void WriteGmByPassDCache(__gm__ T* addr, T value, VINCI_PLACE) {
  ::vinci::ascendc::store(::vinci::ascendc::Memory::gm, reinterpret_cast<uintptr_t>(addr), sizeof(T),
                          vinci_detail::BitsOf(value), place);
}

}  // namespace AscendC
