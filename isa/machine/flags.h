// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>

#include "isa/arch.h"
#include "isa/base/error.h"

namespace vinci::isa {

// The binary flags of one core: one for each (source pipe, destination pipe, event id).
class Flags {
 public:
  bool up(PipeId src, PipeId dst, u32 event) const { return (bits(src, dst) >> event & 1) != 0; }

  void raise(PipeId src, PipeId dst, u32 event) {
    if (up(src, dst, event) && !lenient_) {
      fail(Fault::Program, "duplicate set_flag: PIPE_{} -> PIPE_{} EVENT_ID{} is already set and not yet waited for",
           name(src), name(dst), event);
    }
    bits(src, dst) |= u64{1} << event;
  }

  void lower(PipeId src, PipeId dst, u32 event) { bits(src, dst) &= ~(u64{1} << event); }

  void clear() { bits_ = {}; }
  // A flag that is set twice stays up; the checker reports it.
  void be_lenient() { lenient_ = true; }
  bool lenient() const { return lenient_; }

 private:
  u64& bits(PipeId src, PipeId dst) { return bits_[index(src)][index(dst)]; }
  const u64& bits(PipeId src, PipeId dst) const { return bits_[index(src)][index(dst)]; }

  std::array<std::array<u64, kPipeCount>, kPipeCount> bits_{};
  bool lenient_ = false;
};

}  // namespace vinci::isa
