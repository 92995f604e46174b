// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "isa/arch.h"
#include "isa/base/error.h"
#include "isa/mem/fractal_order.h"
#include "isa/mem/global_memory.h"
#include "isa/mem/zero_pages.h"

namespace vinci::isa {

// A bounds-checked window on the bytes of one core buffer; never owns, never times.
class View {
 public:
  View() = default;
  View(BufId buffer, std::span<std::byte> bytes, FractalOrder* order = nullptr)
      : buffer_(buffer), bytes_(bytes), order_(order) {}

  u64 size() const { return bytes_.size(); }

  // `count` bytes from `offset`, checked; the span stays valid as long as the buffer.
  std::span<std::byte> bytes(u64 offset, u64 count) const {
    const std::span<std::byte> some = held(offset, count);
    if (order_ != nullptr) [[unlikely]]
      order_->settle(offset, count);
    return some;
  }

  // The same as it is stored, where fractals of the buffer may be turned(): 0 or 1 for each fractal from `offset`
  // on; null where none ever is.
  std::span<std::byte> held(u64 offset, u64 count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset) [[unlikely]] {
      fail(Fault::Program, "{}[{:#x}, +{}) is outside its {} bytes", name(buffer_), offset, count, bytes_.size());
    }
    return bytes_.subspan(offset, count);
  }
  const u8* turned(u64 offset) const {
    return may_turn(offset) ? order_->turned(offset / FractalOrder::kBytes) : nullptr;
  }
  bool may_turn(u64 offset) const { return order_ != nullptr && offset % FractalOrder::kBytes == 0; }
  // A fractal that is written as a whole now; `turned` only where it may.
  std::span<std::byte> fractal(u64 offset, bool turned) const {
    if (!may_turn(offset)) return bytes(offset, FractalOrder::kBytes);
    const std::span<std::byte> some = held(offset, FractalOrder::kBytes);
    order_->set_turned(offset / FractalOrder::kBytes, turned);
    return some;
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
  FractalOrder* order_ = nullptr;
};

// Sizes of the buffers of one core in bytes, by BufId; 0 = the core has no such buffer. The entry of GM is unused.
using BufSizes = std::array<u64, kBufCount>;

// The bytes that an instruction of one core may see: its own buffers, and global memory.
class CoreMem {
 public:
  CoreMem(const BufSizes& sizes, GlobalMemory& gm) : gm_(gm) {
    for (usize i = 0; i < kBufCount; ++i) {
      if (static_cast<BufId>(i) == BufId::GM || sizes[i] == 0) continue;
      // They start on a cache line of the host, so that rows of fractals do not straddle two.
      storage_[i] = ZeroPages(sizes[i]);
      const std::span<std::byte> bytes{storage_[i].data(), sizes[i]};
      if (static_cast<BufId>(i) == BufId::L0B) l0b_order_ = std::make_unique<FractalOrder>(bytes);
      views_[i] = View(static_cast<BufId>(i), bytes, static_cast<BufId>(i) == BufId::L0B ? l0b_order_.get() : nullptr);
    }
  }

  const View& operator[](BufId b) const { return views_[index(b)]; }
  GlobalMemory& gm() const { return gm_; }

 private:
  GlobalMemory& gm_;
  std::array<ZeroPages, kBufCount> storage_;
  std::unique_ptr<FractalOrder> l0b_order_;
  std::array<View, kBufCount> views_;
};

}  // namespace vinci::isa
