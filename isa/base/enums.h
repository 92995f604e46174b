// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "isa/base/types.h"

// Names and tables of enumerations whose values are 0, 1, 2 ... The enumeration itself is the one list:
//   enum_count<E>         how many enumerators it has
//   enum_names<E>         their identifiers, by value
//   enum_table<E, T>({{E::a, x}, {E::b, y}})   a value for each enumerator, as an array by value; a missing or a second
//                         entry does not compile. For names that are no identifiers, and for other facts.
//   enum_index(e)         its position in both
// Identifiers come from the text that g++ and clang give for a template argument: C++20 has no reflection, and Boost of
// Debian 12 (1.74) has no Boost.Describe.
namespace vinci {

namespace detail {

// The identifier of an enumerator; empty where no enumerator has the value. The compilers write "ns::E::name" for an
// enumerator and "(ns::E)7" for another value.
template <auto Value>
consteval auto enumerator_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(text.rfind("Value = ") + 8);
  text = text.substr(0, text.find_first_of(";]"));
  usize begin = text.size();
  const auto in_name = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  const auto in_rest = [](char c) { return (c >= '0' && c <= '9') || c == '_'; };
  while (begin > 0 && (in_name(text[begin - 1]) || in_rest(text[begin - 1])))
    --begin;
  text = text.substr(begin);
  return text.empty() || (text[0] >= '0' && text[0] <= '9') ? std::string_view() : text;
}

template <class E, usize I = 0>
consteval usize count_enumerators() {
  if constexpr (enumerator_name<static_cast<E>(I)>().empty()) {
    return I;
  } else {
    return count_enumerators<E, I + 1>();
  }
}

// Behind the last one; a gap would hide the enumerators that follow it.
template <class E, usize... I>
consteval bool ends_at(usize count, std::index_sequence<I...>) {
  return ((I <= count || enumerator_name<static_cast<E>(I)>().empty()) && ...);
}

template <class E>
consteval usize checked_count() {
  constexpr usize kCount = count_enumerators<E>();
  static_assert(ends_at<E>(kCount, std::make_index_sequence<kCount + 8>()), "enumerators are not 0, 1, 2 ...");
  return kCount;
}

template <class E, usize... I>
consteval std::array<std::string_view, sizeof...(I)> enumerator_names(std::index_sequence<I...>) {
  return {enumerator_name<static_cast<E>(I)>()...};
}

}  // namespace detail

template <class E>
inline constexpr usize enum_count = detail::checked_count<E>();

template <class E>
inline constexpr std::array<std::string_view, enum_count<E>> enum_names =
    detail::enumerator_names<E>(std::make_index_sequence<enum_count<E>>());

template <class E>
constexpr usize enum_index(E e) {
  return static_cast<usize>(e);
}

template <class E, class T>
struct EnumEntry {
  E key;
  T value;
};

template <class E, class T, usize N>
consteval std::array<T, enum_count<E>> enum_table(const EnumEntry<E, T> (&entries)[N]) {
  static_assert(N == enum_count<E>, "the table needs one entry for each enumerator");
  std::array<T, enum_count<E>> table{};
  std::array<bool, enum_count<E>> seen{};
  for (const EnumEntry<E, T>& entry : entries) {
    if (seen[enum_index(entry.key)]) throw "two entries for one enumerator";
    seen[enum_index(entry.key)] = true;
    table[enum_index(entry.key)] = entry.value;
  }
  return table;
}

// The enumerator of a name in a table of names by value.
template <class E, usize N>
constexpr std::optional<E> parse_enum(const std::array<std::string_view, N>& names, std::string_view text) {
  for (usize i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace vinci
