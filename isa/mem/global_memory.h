// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "isa/base/types.h"
#include "isa/mem/page_table.h"

namespace vinci::isa {

// Device memory: a 48-bit address space in pages that exist only once written; what was never written reads as zero.
// Named allocations say which addresses a program may touch. One thread makes pages; others may access other bytes
// meanwhile.
class GlobalMemory {
 public:
  // How bytes are held: as pages that are looked up; or mapped into this process at the very addresses that programs
  // see, so that host code may follow device pointers. There can be one mapped object at a time.
  enum class Backing : u8 { pages, mapped };
  static constexpr u64 kMappedBytes = u64{1} << 40;  // from kBase on, reserved and given bytes when touched

  explicit GlobalMemory(Backing backing = Backing::pages);  // throws Fault::Limit where the addresses are in use
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  static constexpr u64 kBase = 0x1'0000'0000;  // address of the first allocation; 0 stays an invalid pointer
  static constexpr u64 kAlignment = 512;       // of an allocation, as the runtime's allocator gives

  struct Allocation {
    u64 begin = 0;
    u64 bytes = 0;
    std::string name;
  };

  // Reserves `bytes` at the next aligned address with an unmapped gap behind it, so that an overrun is noticed.
  u64 allocate(u64 bytes, std::string name);
  // Addresses are never given out again, so that a later use is noticed.
  void free(u64 address);

  // The allocation that holds [address, address + bytes), or null.
  const Allocation* find(u64 address, u64 bytes) const;
  // The same among what has been freed.
  const Allocation* find_freed(u64 address, u64 bytes) const;
  // The allocation nearest below or around `address`, for messages; null when there is none.
  const Allocation* nearest(u64 address) const;

  void read(u64 address, std::span<std::byte> into) const;
  void write(u64 address, std::span<const std::byte> from);

  // Where [address, address + bytes) is in this process; null where that is not one piece, or where nothing was ever
  // written. Valid as long as the object.
  const std::byte* piece(u64 address, u64 bytes) const;

  // Gives [address, address + bytes), which is not empty, its pages, so that another thread can write there.
  void make_pages(u64 address, u64 bytes);

 private:
  Backing backing_;
  std::map<u64, Allocation> allocations_;  // by first address
  std::map<u64, Allocation> freed_;        // the same, of what was freed
  PageTable pages_;
  u64 next_ = kBase;
  mutable const Allocation* last_found_ = nullptr;
};

}  // namespace vinci::isa
