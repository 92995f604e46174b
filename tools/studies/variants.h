// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/types.h"

// Results of variants as bytes, which come from the process that worked them out.
namespace vinci::studies {

template <class T>
std::string to_bytes(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>, "a variant returns a struct of numbers, or a vector of such");
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <class T>
std::string to_bytes(const std::vector<T>& list) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T)};
}

template <class T>
struct FromBytes {
  static T read(std::string_view bytes) {
    T out;
    VINCI_CHECK(bytes.size() == sizeof out);
    std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  }
};
template <class T>
struct FromBytes<std::vector<T>> {
  static std::vector<T> read(std::string_view bytes) {
    std::vector<T> out(bytes.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }
};

// The bytes that f(i) returns for 0 .. count - 1, from `jobs` processes. An Error of f is thrown here; `begun` is told
// how many have begun.
std::vector<std::string> run_variants(usize count, unsigned jobs, const std::function<std::string(usize)>& f,
                                      const std::function<void(usize)>& begun);

}  // namespace vinci::studies
