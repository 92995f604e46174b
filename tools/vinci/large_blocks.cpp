// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

// Large blocks of the tool, such as the weights of a network, are in huge pages where the system has them: a page of
// 4 KiB costs the host a fault, which takes longer than filling it, above all in a virtual machine. Sanitizers have
// their own operators.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__has_feature)

void* operator new(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  void* at = nullptr;
  if (bytes >= kHugePage && bytes <= std::size_t{PTRDIFF_MAX}) {
    at = std::aligned_alloc(kHugePage, (bytes + kHugePage - 1) / kHugePage * kHugePage);
    if (at != nullptr) ::madvise(at, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // advice: it may be refused
  }
  if (at == nullptr) at = std::malloc(bytes != 0 ? bytes : 1);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t /*bytes*/) noexcept { std::free(at); }

#endif
