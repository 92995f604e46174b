// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "isa/base/types.h"

namespace vinci::isa {

// The pages of a 48-bit address space that have bytes. One thread makes pages; others may look pages up meanwhile.
class PageTable {
 public:
  static constexpr u64 kPageBytes = 64 * 1024;

  PageTable() = default;
  ~PageTable();
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;

  // The first byte of the page with this number (address / kPageBytes), or null.
  std::byte* find(u64 number) const {
    const u64 top = number >> (kLeafBits + kMiddleBits);
    if (top >= top_.size()) return nullptr;
    const Middle* middle = top_[top].load(std::memory_order_acquire);
    if (middle == nullptr) return nullptr;
    const Leaf* leaf = (*middle)[number >> kLeafBits & (middle->size() - 1)].load(std::memory_order_acquire);
    return leaf == nullptr ? nullptr : (*leaf)[number & (leaf->size() - 1)].load(std::memory_order_acquire);
  }
  // The same; a page that does not exist is made, of zeros.
  std::byte* make(u64 number);

 private:
  static constexpr u32 kLeafBits = 11, kMiddleBits = 11, kTopBits = 10;  // 64 KiB * 2^32 = 2^48
  using Leaf = std::array<std::atomic<std::byte*>, usize{1} << kLeafBits>;
  using Middle = std::array<std::atomic<Leaf*>, usize{1} << kMiddleBits>;

  std::byte* fresh_page();

  std::array<std::atomic<Middle*>, usize{1} << kTopBits> top_{};
  std::vector<std::byte*> regions_;  // of the host, from which pages come
  usize given_ = 0;                  // bytes of the newest region
};

}  // namespace vinci::isa
