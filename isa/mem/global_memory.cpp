// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/global_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "isa/base/error.h"

namespace vinci::isa {
namespace {

// The bytes at an address of mapped memory.
std::byte* host(u64 address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr): that is what mapped means
}

}  // namespace

GlobalMemory::GlobalMemory(Backing backing) : backing_(backing) {
  if (backing != Backing::mapped) return;
  void* at = ::mmap(host(kBase), kMappedBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == host(kBase)) return;
  if (at != MAP_FAILED) ::munmap(at, kMappedBytes);  // a kernel that takes the address as a hint
  fail(Fault::Limit, "device memory cannot be mapped at {:#x}: the addresses are in use, or address space is limited",
       kBase);
}

GlobalMemory::~GlobalMemory() {
  if (backing_ == Backing::mapped) ::munmap(host(kBase), kMappedBytes);
}

u64 GlobalMemory::allocate(u64 bytes, std::string name) {
  constexpr u64 kAddressEnd = u64{1} << 48;
  if (bytes > kAddressEnd - next_ - 2 * kAlignment) {
    fail(Fault::Limit, "device memory: {} bytes for '{}' do not fit in the 48-bit address space", bytes, name);
  }
  if (backing_ == Backing::mapped && bytes > kBase + kMappedBytes - next_ - 2 * kAlignment) {
    fail(Fault::Limit, "device memory: {} bytes for '{}' do not fit in what is mapped", bytes, name);
  }
  const u64 at = next_;
  next_ = align_up(at + std::max<u64>(bytes, 1), kAlignment) + kAlignment;
  allocations_.emplace(at, Allocation{at, bytes, std::move(name)});
  return at;
}

void GlobalMemory::free(u64 address) {
  auto node = allocations_.extract(address);
  if (node.empty()) fail(Fault::Program, "free of {:#x}, which is not an allocation", address);
  if (backing_ == Backing::mapped) {
    constexpr u64 kHostPage = 4096;
    const u64 begin = align_up(address, kHostPage), end = (address + node.mapped().bytes) / kHostPage * kHostPage;
    if (begin < end) ::madvise(host(begin), end - begin, MADV_DONTNEED);
  }
  freed_.insert(std::move(node));
  last_found_ = nullptr;
}

const GlobalMemory::Allocation* GlobalMemory::find_freed(u64 address, u64 bytes) const {
  const auto above = freed_.upper_bound(address);
  if (above == freed_.begin()) return nullptr;
  const Allocation& a = std::prev(above)->second;
  return address - a.begin <= a.bytes && bytes <= a.bytes - (address - a.begin) ? &a : nullptr;
}

const GlobalMemory::Allocation* GlobalMemory::nearest(u64 address) const {
  auto above = allocations_.upper_bound(address);
  if (above == allocations_.begin()) return above == allocations_.end() ? nullptr : &above->second;
  return &std::prev(above)->second;
}

const GlobalMemory::Allocation* GlobalMemory::find(u64 address, u64 bytes) const {
  const auto holds = [&](const Allocation& a) {
    return address >= a.begin && address - a.begin <= a.bytes && bytes <= a.bytes - (address - a.begin);
  };
  if (last_found_ != nullptr && holds(*last_found_)) return last_found_;
  const Allocation* candidate = nearest(address);
  if (candidate == nullptr || !holds(*candidate)) return nullptr;
  last_found_ = candidate;
  return candidate;
}

const std::byte* GlobalMemory::piece(u64 address, u64 bytes) const {
  if (backing_ == Backing::mapped) return host(address);
  const u64 offset = address % PageTable::kPageBytes;
  if (bytes > PageTable::kPageBytes - offset) return nullptr;
  const std::byte* page = pages_.find(address / PageTable::kPageBytes);
  return page == nullptr ? nullptr : page + offset;
}

void GlobalMemory::read(u64 address, std::span<std::byte> into) const {
  if (backing_ == Backing::mapped) {
    std::memcpy(into.data(), host(address), into.size());
    return;
  }
  while (!into.empty()) {
    const u64 offset = address % PageTable::kPageBytes;
    const usize n = std::min<usize>(into.size(), PageTable::kPageBytes - offset);
    if (const std::byte* p = pages_.find(address / PageTable::kPageBytes)) {
      std::memcpy(into.data(), p + offset, n);
    } else {
      std::memset(into.data(), 0, n);
    }
    address += n;
    into = into.subspan(n);
  }
}

void GlobalMemory::write(u64 address, std::span<const std::byte> from) {
  if (backing_ == Backing::mapped) {
    std::memcpy(host(address), from.data(), from.size());
    return;
  }
  while (!from.empty()) {
    const u64 offset = address % PageTable::kPageBytes;
    const usize n = std::min<usize>(from.size(), PageTable::kPageBytes - offset);
    std::memcpy(pages_.make(address / PageTable::kPageBytes) + offset, from.data(), n);
    address += n;
    from = from.subspan(n);
  }
}

void GlobalMemory::make_pages(u64 address, u64 bytes) {
  constexpr u64 kPage = PageTable::kPageBytes;
  if (backing_ == Backing::mapped) return;
  for (u64 number = address / kPage; number <= (address + bytes - 1) / kPage; ++number)
    pages_.make(number);
}

}  // namespace vinci::isa
