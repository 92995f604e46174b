// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "acl/acl.h"

// What programs that verify themselves share: device memory and comparisons, which count what is wrong.
namespace support {

inline int wrong = 0;

template <class T>
T* device_of(const std::vector<T>& host) {
  void* p = nullptr;
  const size_t bytes = host.size() * sizeof(T);
  if (aclrtMalloc(&p, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return nullptr;
  aclrtMemcpy(p, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  return static_cast<T*>(p);
}
template <class T>
void to_host(std::vector<T>& host, const T* device) {
  aclrtMemcpy(host.data(), host.size() * sizeof(T), device, host.size() * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST);
}

inline void report(const char* what, uint32_t at, double got, double want) {
  if (wrong++ < 10) std::printf("%s[%u] = %.9g, not %.9g\n", what, at, got, want);
}
// The first elements at `got` are what want(k) says.
template <class T, class F>
void expect(const char* what, const T* got, uint32_t count, F&& want) {
  for (uint32_t k = 0; k < count; ++k) {
    const auto w = static_cast<T>(want(k));
    if (!(got[k] == w)) report(what, k, static_cast<double>(got[k]), static_cast<double>(w));
  }
}
// The same up to a difference, relative to 1 or to the number where it is larger.
template <class T, class F>
void expect_near(const char* what, const T* got, uint32_t count, double tolerance, F&& want) {
  for (uint32_t k = 0; k < count; ++k) {
    const double g = static_cast<double>(got[k]), w = want(k);
    const double size = w < 0 ? -w : w, off = g < w ? w - g : g - w;
    if (!(off <= tolerance * (size > 1 ? size : 1))) report(what, k, g, w);
  }
}
// The bits of an element as a number of another type, such as an index that is stored among values.
template <class To, class From>
To bits_of(From value) {
  To out{};
  std::memcpy(&out, &value, sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From));
  return out;
}

inline int result() {
  std::printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace support
