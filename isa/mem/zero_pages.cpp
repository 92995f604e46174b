// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/zero_pages.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

// AddressSanitizer sees accesses behind the end of what it gives out itself.
#if defined(__SANITIZE_ADDRESS__)
#define VINCI_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VINCI_ADDRESS_SANITIZER 1
#endif
#endif

namespace vinci::isa {

#ifdef VINCI_ADDRESS_SANITIZER
std::byte* ZeroPages::allocate(usize bytes) {
  void* at = nullptr;
  if (::posix_memalign(&at, kAlignment, bytes) != 0) throw std::bad_alloc();
  return static_cast<std::byte*>(std::memset(at, 0, bytes));
}
void ZeroPages::Free::operator()(std::byte* at) const { std::free(at); }
#else
std::byte* ZeroPages::allocate(usize bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(at);
}
void ZeroPages::Free::operator()(std::byte* at) const { ::munmap(at, bytes); }
#endif

}  // namespace vinci::isa
