// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <cstring>
#include <utility>

#include "isa/base/types.h"

// What is done to all ways of a set at once, with vector instructions that every host of ours has; compilers do not
// come to this by themselves.
namespace vinci::models::ways {

template <class T>
using Vector [[gnu::vector_size(16)]] = T;

template <class T>
Vector<T> load(const T* from) {
  Vector<T> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// Which of 16 elements is equal, + 1, at its place; all else is 0.
template <class T, usize... kPart>
Vector<T> matches(const std::array<T, 16>& values, T wanted, std::index_sequence<kPart...>) {
  constexpr usize kLanes = 16 / sizeof(T);
  Vector<T> at{};
  for (usize lane = 0; lane < kLanes; ++lane)
    at[lane] = static_cast<T>(lane + 1);
  return (((load(&values[kPart * kLanes]) == wanted) & (at + static_cast<T>(kPart * kLanes))) | ...);
}

// The index of the one element that is equal, + 1; 0: none.
template <class T>
u32 one_past_equal(const std::array<T, 16>& values, T wanted) {
  const Vector<T> found = matches(values, wanted, std::make_index_sequence<sizeof(T)>());
  std::array<u64, 2> halves;
  std::memcpy(&halves, &found, sizeof halves);
  u64 sum = halves[0] | halves[1];
  for (int width = 32; width >= 8 * static_cast<int>(sizeof(T)); width /= 2)
    sum |= sum >> width;
  return static_cast<u32>(sum & 0x1f);
}

// Adds 1 to those that are below `bound`.
inline void count_up_below(std::array<i8, 16>& values, i8 bound) {
  Vector<i8> v = load(values.data());
  v -= v < bound;  // which is -1 where it holds
  std::memcpy(values.data(), &v, sizeof v);
}

}  // namespace vinci::models::ways
