// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ascendc/vector.h"

// Extreme numbers of the types of lanes, and names of the C++ library that kernels may use. Documentation: Ascend C
// API, NumericLimits; Std.
namespace AscendC {

namespace vinci_detail {
// half has no std::numeric_limits everywhere; its numbers and those of bfloat16_t are bits here.
template <typename T>
struct LimitBits;
template <>
struct LimitBits<half> {
  static constexpr uint16_t max = 0x7bff, lowest = 0xfbff, min = 0x0400, denorm = 0x0001, inf = 0x7c00, ninf = 0xfc00,
                            qnan = 0x7e00, snan = 0x7d00;
};
template <>
struct LimitBits<bfloat16_t> {
  static constexpr uint16_t max = 0x7f7f, lowest = 0xff7f, min = 0x0080, denorm = 0x0001, inf = 0x7f80, ninf = 0xff80,
                            qnan = 0x7fc0, snan = 0x7fa0;
};
}  // namespace vinci_detail

template <typename T>
class NumericLimits {
 public:
#define VINCI_LIMIT(Name, bits, value)                                       \
  static T Name() {                                                          \
    if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)                  \
      return vinci_detail::FromBits<T>(vinci_detail::LimitBits<T>::bits);    \
    else                                                                     \
      return value;                                                          \
  }                                                                          \
  static void Name(const LocalTensor<T>& dst, uint32_t count, VINCI_PLACE) { \
    Duplicate(dst, Name(), static_cast<int32_t>(count), place);              \
  }
  VINCI_LIMIT(Max, max, std::numeric_limits<T>::max())
  VINCI_LIMIT(Lowest, lowest, std::numeric_limits<T>::lowest())
  VINCI_LIMIT(Min, min, std::numeric_limits<T>::min())
  VINCI_LIMIT(DeNormMin, denorm, std::numeric_limits<T>::denorm_min())
  VINCI_LIMIT(Infinity, inf, std::numeric_limits<T>::infinity())
  VINCI_LIMIT(NegativeInfinity, ninf, -std::numeric_limits<T>::infinity())
  VINCI_LIMIT(QuietNaN, qnan, std::numeric_limits<T>::quiet_NaN())
  VINCI_LIMIT(SignalingNaN, snan, std::numeric_limits<T>::signaling_NaN())
#undef VINCI_LIMIT
};

namespace Std {
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::forward;
using std::get;
using std::index_sequence;
using std::integral_constant;
using std::is_base_of;
using std::is_base_of_v;
using std::is_const;
using std::is_convertible;
using std::is_convertible_v;
using std::is_floating_point;
using std::is_integral;
using std::is_pointer;
using std::is_reference;
using std::is_same;
using std::is_same_v;
using std::is_void;
using std::make_index_sequence;
using std::make_tuple;
using std::max;
using std::min;
using std::move;
using std::remove_const;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_pointer;
using std::remove_reference;
using std::remove_reference_t;
using std::swap;
using std::true_type;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
template <size_t v>
using Int = std::integral_constant<size_t, v>;
}  // namespace Std

}  // namespace AscendC

namespace tik2 = AscendC;  // its name in older samples
