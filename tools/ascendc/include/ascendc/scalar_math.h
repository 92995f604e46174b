// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cmath>
#include <cstdlib>
#include <type_traits>

#include "ascendc/language.h"

// The functions of <cmath> without std::, as kernels call them. Headers of C declare them for double, and abs for int,
// so abs(-0.75f) would be 0. They are packs, so that functions of programs are preferred.
template <typename... A, typename T = std::common_type_t<AscendC::vinci_detail::Element<A>...>,
          typename =
              std::enable_if_t<sizeof...(A) == 1 && (std::is_floating_point_v<T> || std::is_same_v<T, half> ||
                                                     (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 8))>>
T abs(A... number) {
  if constexpr (std::is_same_v<T, half>) {
    return static_cast<half>(std::fabs(static_cast<float>((number, ...))));
  } else {
    return std::abs(static_cast<T>((number, ...)));
  }
}

#define VINCI_FLOAT_MATH(name, count)                                                                       \
  template <typename... A,                                                                                  \
            typename = std::enable_if_t<sizeof...(A) == (count) &&                                          \
                                        (std::is_same_v<AscendC::vinci_detail::Element<A>, float> && ...)>> \
  float name(A... numbers) {                                                                                \
    return std::name(static_cast<float>(numbers)...);                                                       \
  }
VINCI_FLOAT_MATH(fabs, 1)
VINCI_FLOAT_MATH(sqrt, 1)
VINCI_FLOAT_MATH(cbrt, 1)
VINCI_FLOAT_MATH(exp, 1)
VINCI_FLOAT_MATH(exp2, 1)
VINCI_FLOAT_MATH(expm1, 1)
VINCI_FLOAT_MATH(log, 1)
VINCI_FLOAT_MATH(log2, 1)
VINCI_FLOAT_MATH(log10, 1)
VINCI_FLOAT_MATH(log1p, 1)
VINCI_FLOAT_MATH(sin, 1)
VINCI_FLOAT_MATH(cos, 1)
VINCI_FLOAT_MATH(tan, 1)
VINCI_FLOAT_MATH(asin, 1)
VINCI_FLOAT_MATH(acos, 1)
VINCI_FLOAT_MATH(atan, 1)
VINCI_FLOAT_MATH(sinh, 1)
VINCI_FLOAT_MATH(cosh, 1)
VINCI_FLOAT_MATH(tanh, 1)
VINCI_FLOAT_MATH(erf, 1)
VINCI_FLOAT_MATH(floor, 1)
VINCI_FLOAT_MATH(ceil, 1)
VINCI_FLOAT_MATH(trunc, 1)
VINCI_FLOAT_MATH(round, 1)
VINCI_FLOAT_MATH(rint, 1)
VINCI_FLOAT_MATH(nearbyint, 1)
VINCI_FLOAT_MATH(pow, 2)
VINCI_FLOAT_MATH(fmod, 2)
VINCI_FLOAT_MATH(atan2, 2)
VINCI_FLOAT_MATH(hypot, 2)
VINCI_FLOAT_MATH(copysign, 2)
VINCI_FLOAT_MATH(fmin, 2)
VINCI_FLOAT_MATH(fmax, 2)
VINCI_FLOAT_MATH(fdim, 2)
#undef VINCI_FLOAT_MATH
