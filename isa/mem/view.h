// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "isa/arch.h"
#include "isa/base/error.h"
#include "isa/mem/global_memory.h"

namespace vinci::isa {

// A bounds-checked window on the bytes of one core buffer; never owns, never times.
class View {
 public:
  View() = default;
  View(BufId buffer, std::span<std::byte> bytes) : buffer_(buffer), bytes_(bytes) {}

  u64 size() const { return bytes_.size(); }

  // `count` bytes from `offset`, checked; the span stays valid as long as the buffer.
  std::span<std::byte> bytes(u64 offset, u64 count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset) [[unlikely]] {
      fail(Fault::Program, "{}[{:#x}, +{}) is outside its {} bytes", name(buffer_), offset, count, bytes_.size());
    }
    return bytes_.subspan(offset, count);
  }

  template <class T>
  T load(u64 offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, bytes(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }

  template <class T>
  void store(u64 offset, T value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(bytes(offset, sizeof(T)).data(), &value, sizeof(T));
  }

 private:
  BufId buffer_ = BufId::UB;
  std::span<std::byte> bytes_;
};

// Sizes of the buffers of one core in bytes, by BufId; 0 = the core has no such buffer. The entry of GM is unused.
using BufSizes = std::array<u64, kBufCount>;

// The bytes that an instruction of one core may see: its own buffers, and global memory.
class CoreMem {
 public:
  CoreMem(const BufSizes& sizes, GlobalMemory& gm) : gm_(gm) {
    for (usize i = 0; i < kBufCount; ++i) {
      if (static_cast<BufId>(i) == BufId::GM || sizes[i] == 0) continue;
      // Zero; from the host as pages that cost nothing until they are touched.
      storage_[i].reset(static_cast<std::byte*>(std::calloc(sizes[i] + kLine, 1)));
      if (storage_[i] == nullptr) throw std::bad_alloc();
      void* at = storage_[i].get();
      usize room = sizes[i] + kLine;
      views_[i] =
          View(static_cast<BufId>(i), {static_cast<std::byte*>(std::align(kLine, sizes[i], at, room)), sizes[i]});
    }
  }

  const View& operator[](BufId b) const { return views_[index(b)]; }
  GlobalMemory& gm() const { return gm_; }

 private:
  // Buffers start on a cache line of the host, so that rows of fractals do not straddle two.
  static constexpr usize kLine = 64;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };

  GlobalMemory& gm_;
  std::array<std::unique_ptr<std::byte, Free>, kBufCount> storage_;
  std::array<View, kBufCount> views_;
};

}  // namespace vinci::isa
