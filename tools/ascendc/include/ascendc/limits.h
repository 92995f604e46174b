// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <cmath>
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
using std::add_const;
using std::add_const_t;
using std::add_cv;
using std::add_cv_t;
using std::add_lvalue_reference;
using std::add_lvalue_reference_t;
using std::add_pointer;
using std::add_pointer_t;
using std::add_rvalue_reference;
using std::add_rvalue_reference_t;
using std::add_volatile;
using std::add_volatile_t;
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::declval;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::forward;
using std::get;
using std::index_sequence;
using std::integral_constant;
using std::is_array;
using std::is_array_v;
using std::is_base_of;
using std::is_base_of_v;
using std::is_class;
using std::is_class_v;
using std::is_const;
using std::is_const_v;
using std::is_convertible;
using std::is_convertible_v;
using std::is_floating_point;
using std::is_floating_point_v;
using std::is_function;
using std::is_function_v;
using std::is_integral;
using std::is_integral_v;
using std::is_pointer;
using std::is_pointer_v;
using std::is_reference;
using std::is_reference_v;
using std::is_same;
using std::is_same_v;
using std::is_union;
using std::is_union_v;
using std::is_void;
using std::is_void_v;
using std::make_index_sequence;
using std::make_tuple;
using std::move;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_extent;
using std::remove_extent_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::remove_volatile;
using std::remove_volatile_t;
using std::swap;
using std::tie;
using std::true_type;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
template <typename T, typename U>
using IsSame = std::is_same<T, U>;  // its older name
template <size_t v>
using Int = std::integral_constant<size_t, v>;
template <typename T>
struct remove_cvref {
  using type = std::remove_cv_t<std::remove_reference_t<T>>;
};
template <typename T>
using remove_cvref_t = typename remove_cvref<T>::type;
template <typename T>
struct is_tuple : std::false_type {};
template <typename... Ts>
struct is_tuple<std::tuple<Ts...>> : std::true_type {};
template <typename T>
constexpr bool is_tuple_v = is_tuple<T>::value;
template <typename T, typename... Ts>
struct is_one_of : std::bool_constant<(std::is_same_v<T, Ts> || ...)> {};
template <typename T, typename... Ts>
constexpr bool is_one_of_v = is_one_of<T, Ts...>::value;

// Of two types that need not be the same.
template <typename T, typename U>
constexpr auto max(const T& src0, const U& src1) {
  return src0 > src1 ? src0 : src1;
}
template <typename T, typename U>
constexpr auto min(const T& src0, const U& src1) {
  return src0 < src1 ? src0 : src1;
}
// Of whole numbers; 0 where the second is 0.
template <typename T, typename U>
constexpr auto ceil_division(const T& num1, const U& num2) {
  return num2 == 0 ? 0 * (num1 + num2) : (num1 + num2 - 1) / num2;
}
template <typename T, typename U>
constexpr auto ceil_align(const T& num1, const U& num2) {
  return ceil_division(num1, num2) * num2;
}
template <typename T>
T abs(const T src) {
  return src < 0 ? static_cast<T>(-src) : src;
}
template <typename T>
T sqrt(const T src) {
  return static_cast<T>(std::sqrt(static_cast<float>(src)));
}
}  // namespace Std

}  // namespace AscendC

namespace tik2 {  // its name in older samples, which may add to it
using namespace AscendC;
}
