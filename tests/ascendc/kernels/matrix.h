// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "support.h"

// What tests of the cube share: whole numbers, whose sums are exact, and their product by a loop.
namespace support {

template <class T>
uint8_t* bytes_of(const std::vector<T>& host) {
  return reinterpret_cast<uint8_t*>(device_of(host));
}

template <class T>
void expect_all(const char* what, const void* device, const std::vector<T>& want) {
  std::vector<T> got(want.size());
  aclrtSynchronizeDevice();
  to_host(got, static_cast<const T*>(device));
  expect(what, got.data(), static_cast<uint32_t>(got.size()), [&](uint32_t i) { return want[i]; });
}

template <class T>
int32_t whole(T value) {
  return static_cast<int32_t>(static_cast<float>(value));
}

// Numbers in [-range, range] that look random.
template <class T>
std::vector<T> small_numbers(size_t count, int range, uint32_t seed) {
  std::vector<T> out(count);
  for (T& v : out) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<T>(
        static_cast<float>(static_cast<int>((seed >> 16) % (2u * static_cast<uint32_t>(range) + 1)) - range));
  }
  return out;
}

// a[m,k] * b[k,n]
template <class T, class U>
std::vector<int32_t> product(const std::vector<T>& a, const std::vector<U>& b, size_t m, size_t k, size_t n) {
  std::vector<int32_t> out(m * n);
  for (size_t i = 0; i < m; ++i) {
    for (size_t p = 0; p < k; ++p) {
      for (size_t j = 0; j < n; ++j)
        out[i * n + j] += whole(a[i * k + p]) * whole(b[p * n + j]);
    }
  }
  return out;
}

}  // namespace support
