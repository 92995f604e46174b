// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>

#include "ascendc/limits.h"

// Layout: shape and strides of a tensor of several dimensions, which may be nested, and the index of a coordinate in
// it. Documentation: Ascend C API, Layout, Coordinate.
namespace AscendC {

template <typename... Shapes>
using Shape = Std::tuple<Shapes...>;
template <typename... Strides>
using Stride = Std::tuple<Strides...>;
template <typename... Coords>
using Coord = Std::tuple<Coords...>;

template <typename... Ts>
constexpr Shape<Ts...> MakeShape(const Ts&... t) {
  return {t...};
}
template <typename... Ts>
constexpr Stride<Ts...> MakeStride(const Ts&... t) {
  return {t...};
}
template <typename... Ts>
constexpr Coord<Ts...> MakeCoord(const Ts&... t) {
  return {t...};
}

// The element of a tuple; with several numbers that of the tuple inside.
template <size_t index, size_t... rest, typename Tuple>
constexpr decltype(auto) Get(Tuple&& tuple) {
  if constexpr (sizeof...(rest) == 0) {
    return std::get<index>(std::forward<Tuple>(tuple));
  } else {
    return Get<rest...>(std::get<index>(std::forward<Tuple>(tuple)));
  }
}

namespace vinci_detail {
template <typename T>
struct IsTuple : std::false_type {};
template <typename... Ts>
struct IsTuple<std::tuple<Ts...>> : std::true_type {};

// Numbers of the compiler stay numbers of the compiler.
template <typename T>
struct ConstantOf {
  static constexpr bool known = false;
};
template <typename T, T v>
struct ConstantOf<std::integral_constant<T, v>> {
  static constexpr bool known = true;
};
template <typename A, typename B>
constexpr auto Times(const A& a, const B& b) {
  if constexpr (ConstantOf<A>::known && ConstantOf<B>::known) {
    return Std::Int<static_cast<size_t>(A::value) * static_cast<size_t>(B::value)>{};
  } else {
    return a * b;
  }
}
template <typename A, typename B>
constexpr auto Plus(const A& a, const B& b) {
  if constexpr (ConstantOf<A>::known && ConstantOf<B>::known) {
    return Std::Int<static_cast<size_t>(A::value) + static_cast<size_t>(B::value)>{};
  } else {
    return a + b;
  }
}
template <typename A, typename B>
constexpr auto Quotient(const A& a, const B& b) {
  if constexpr (ConstantOf<A>::known && ConstantOf<B>::known) {
    return Std::Int<static_cast<size_t>(A::value) / static_cast<size_t>(B::value)>{};
  } else {
    return a / b;
  }
}
template <typename A, typename B>
constexpr auto Remainder(const A& a, const B& b) {
  if constexpr (ConstantOf<A>::known && ConstantOf<B>::known) {
    return Std::Int<static_cast<size_t>(A::value) % static_cast<size_t>(B::value)>{};
  } else {
    return a % b;
  }
}

template <size_t first, typename Tuple>
constexpr auto ProductFrom(const Tuple& tuple);
template <typename T>
constexpr auto SizeOf(const T& shape) {
  if constexpr (IsTuple<T>::value) {
    return ProductFrom<0>(shape);
  } else {
    return shape;
  }
}
template <size_t first, typename Tuple>
constexpr auto ProductFrom(const Tuple& tuple) {
  if constexpr (first + 1 == std::tuple_size_v<Tuple>) {
    return SizeOf(std::get<first>(tuple));
  } else {
    return Times(SizeOf(std::get<first>(tuple)), ProductFrom<first + 1>(tuple));
  }
}

template <size_t first, typename C, typename Sh, typename St>
constexpr auto IndexOfTuple(const C& coord, const Sh& shape, const St& stride);
template <size_t first, typename C, typename Sh, typename St>
constexpr auto IndexOfNumber(const C& coord, const Sh& shape, const St& stride);
template <typename C, typename Sh, typename St>
constexpr auto IndexOf(const C& coord, const Sh& shape, const St& stride) {
  if constexpr (IsTuple<C>::value) {
    static_assert(std::tuple_size_v<C> == std::tuple_size_v<Sh> && std::tuple_size_v<C> == std::tuple_size_v<St>,
                  "Crd2Idx: coordinate, shape and stride have as many dimensions as each other");
    return IndexOfTuple<0>(coord, shape, stride);
  } else if constexpr (IsTuple<Sh>::value) {
    return IndexOfNumber<0>(coord, shape, stride);
  } else {
    return Times(coord, stride);
  }
}
template <size_t first, typename C, typename Sh, typename St>
constexpr auto IndexOfTuple(const C& coord, const Sh& shape, const St& stride) {
  const auto here = IndexOf(std::get<first>(coord), std::get<first>(shape), std::get<first>(stride));
  if constexpr (first + 1 == std::tuple_size_v<C>) {
    return here;
  } else {
    return Plus(here, IndexOfTuple<first + 1>(coord, shape, stride));
  }
}
// One number for a shape of several dimensions: the first of them runs fastest.
template <size_t first, typename C, typename Sh, typename St>
constexpr auto IndexOfNumber(const C& coord, const Sh& shape, const St& stride) {
  if constexpr (first + 1 == std::tuple_size_v<Sh>) {
    return IndexOf(coord, std::get<first>(shape), std::get<first>(stride));
  } else {
    const auto size = SizeOf(std::get<first>(shape));
    return Plus(IndexOf(Remainder(coord, size), std::get<first>(shape), std::get<first>(stride)),
                IndexOfNumber<first + 1>(Quotient(coord, size), shape, stride));
  }
}
}  // namespace vinci_detail

template <typename ShapeType, typename StrideType>
struct Layout : private Std::tuple<ShapeType, StrideType> {
  constexpr Layout(const ShapeType& shape = {}, const StrideType& stride = {})
      : Std::tuple<ShapeType, StrideType>(shape, stride) {}

  constexpr decltype(auto) layout() { return *this; }
  constexpr decltype(auto) layout() const { return *this; }
  constexpr decltype(auto) GetShape() { return std::get<0>(Base()); }
  constexpr decltype(auto) GetShape() const { return std::get<0>(Base()); }
  constexpr decltype(auto) GetStride() { return std::get<1>(Base()); }
  constexpr decltype(auto) GetStride() const { return std::get<1>(Base()); }
  template <typename CoordType>
  constexpr auto operator()(const CoordType& coord) const {
    return vinci_detail::IndexOf(coord, GetShape(), GetStride());
  }

 private:
  constexpr Std::tuple<ShapeType, StrideType>& Base() { return *this; }
  constexpr const Std::tuple<ShapeType, StrideType>& Base() const { return *this; }
};
template <typename ShapeType, typename StrideType>
constexpr auto MakeLayout(const ShapeType& shape, const StrideType& stride) {
  return Layout<ShapeType, StrideType>(shape, stride);
}

template <typename T>
struct is_layout : std::false_type {};
template <typename ShapeType, typename StrideType>
struct is_layout<Layout<ShapeType, StrideType>> : std::true_type {};
template <typename T>
constexpr bool is_layout_v = is_layout<T>::value;

template <typename CoordType, typename ShapeType, typename StrideType>
constexpr auto Crd2Idx(const CoordType& coord, const Layout<ShapeType, StrideType>& layout) {
  return layout(coord);
}
template <typename CoordType, typename ShapeType, typename StrideType>
constexpr auto Crd2Idx(const CoordType& coord, const ShapeType& shape, const StrideType& stride) {
  return vinci_detail::IndexOf(coord, shape, stride);
}

}  // namespace AscendC
