// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/page_table.h"

#include <sys/mman.h>

#include <bit>
#include <new>

#include "isa/base/error.h"

namespace vinci::isa {
namespace {

constexpr usize kHuge = 2 << 20;          // a huge page of the host
constexpr usize kRegionBytes = 64 << 20;  // of addresses; the host gives bytes when they are touched

// Fills an empty slot.
template <class T>
T& at(std::atomic<T*>& slot) {
  T* t = slot.load(std::memory_order_relaxed);
  if (t == nullptr) slot.store(t = new T{}, std::memory_order_release);
  return *t;
}

}  // namespace

PageTable::~PageTable() {
  for (const auto& middle : top_) {
    if (middle == nullptr) continue;
    for (const auto& leaf : *middle.load())
      delete leaf.load();
    delete middle.load();
  }
  for (std::byte* region : regions_)
    ::munmap(region, kRegionBytes);
}

std::byte* PageTable::make(u64 number) {
  VINCI_CHECK(number >> (kTopBits + kMiddleBits + kLeafBits) == 0);
  Middle& middle = at(top_[number >> (kLeafBits + kMiddleBits)]);
  Leaf& leaf = at(middle[number >> kLeafBits & (middle.size() - 1)]);
  auto& slot = leaf[number & (leaf.size() - 1)];
  std::byte* page = slot.load(std::memory_order_relaxed);
  if (page == nullptr) slot.store(page = fresh_page(), std::memory_order_release);
  return page;
}

// Huge pages of the host, where it has them, take one fault in place of 512, and rows that are pages apart do not ask
// for an entry of the TLB each. What is smaller than one does not ask for it.
std::byte* PageTable::fresh_page() {
  if (regions_.empty() || given_ + kPageBytes > kRegionBytes) {
    void* region =
        ::mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) throw std::bad_alloc();
    const usize small = regions_.empty() ? kHuge : 0;
    regions_.push_back(static_cast<std::byte*>(region));
    ::madvise(regions_.back() + small, kRegionBytes - small, MADV_HUGEPAGE);
    given_ = 0;
  }
  std::byte* page = regions_.back() + given_;
  given_ += kPageBytes;
  return page;
}

}  // namespace vinci::isa
