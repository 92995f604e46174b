// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "isa/base/types.h"

namespace vinci::isa {

// Which fractals of 16 x 16 elements of 16 bits of a buffer are kept as they came, with rows and columns still to be
// exchanged. Copies to L0B exchange them, and the loops of `mad` would exchange them back. Threads may use different
// fractals at the same time.
class FractalOrder {
 public:
  static constexpr u64 kBytes = 512;  // of a fractal

  explicit FractalOrder(std::span<std::byte> buffer) : buffer_(buffer), turned_(ceil_div<u64>(buffer.size(), kBytes)) {}

  // For each fractal whether it is still to be exchanged.
  const u8* turned(u64 fractal) const { return turned_.data() + fractal; }
  void set_turned(u64 fractal, bool turned) { turned_[fractal] = turned ? 1 : 0; }
  // Before [offset, offset + bytes) of the buffer are looked at.
  void settle(u64 offset, u64 bytes) {
    if (bytes == 0) return;
    for (u64 i = offset / kBytes; i <= (offset + bytes - 1) / kBytes; ++i) {
      if (turned_[i] != 0) exchange(i);
    }
  }

 private:
  void exchange(u64 fractal);

  std::span<std::byte> buffer_;
  std::vector<u8> turned_;  // a byte each: others may be written meanwhile
};

}  // namespace vinci::isa
