// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <vector>

#include "isa/check/defined.h"
#include "isa/check/record.h"

namespace vinci::isa::check {

// Who touched each granule of one buffer of a core last: the latest write, and the latest read of each pipe. That is
// enough to see every conflict of the next access, because what a pipe did before its latest access is ordered before
// that one or was reported.
class LocalShadow {
 public:
  explicit LocalShadow(u64 bytes) : granules_(ceil_div(bytes, kGranule)) {}

  // A new block starts: it finds nothing that it could rely on.
  void begin_block() { defined_.assign(granules_, 0); }
  void define_all() { defined_.assign(granules_, ~u32{0}); }
  // Record numbers start anew.
  void clear() {
    written_.assign(written_.size(), 0);
    for (auto& cells : read_)
      cells.assign(cells.size(), 0);
  }

  // Calls met(record, begin, end) for the writes that [begin, end) meets, then enters the read.
  template <class F>
  void read(PipeId pipe, u32 record, u64 begin, u64 end, F&& met) {
    const u64 from = begin / kGranule, to = ceil_div(end, kGranule);
    meet(written_, from, to, met);
    put(read_[index(pipe)], from, to, record);
  }

  // Calls met(record, begin, end, was_write) for the accesses that [begin, end) meets, then enters the write. Reads of
  // the same pipe are no conflict: they have started before.
  template <class F>
  void write(PipeId pipe, u32 record, u64 begin, u64 end, F&& met) {
    const u64 from = begin / kGranule, to = ceil_div(end, kGranule);
    meet(written_, from, to, [&](u32 other, u64 b, u64 e) { met(other, b, e, true); });
    for (usize p = 0; p < kPipeCount; ++p) {
      if (p != index(pipe)) meet(read_[p], from, to, [&](u32 other, u64 b, u64 e) { met(other, b, e, false); });
    }
    put(written_, from, to, record);
    define(defined_.data(), begin, end);
  }

  // Calls met(record, begin, end) for the latest writes of these bytes, and enters nothing.
  template <class F>
  void latest_writes(u64 begin, u64 end, F&& met) const {
    meet(written_, begin / kGranule, ceil_div(end, kGranule), met);
  }

  // Calls f(begin, end) for what was never written in this block, see each_undefined().
  template <class F>
  void undefined(u64 begin, u64 end, u64 unit, F&& f) const {
    each_undefined(defined_.data(), begin, end, unit, f);
  }

 private:
  using Cells = std::vector<u32>;  // record numbers; empty until one is entered

  template <class F>
  static void meet(const Cells& cells, u64 from, u64 to, F&& f) {
    if (cells.empty()) return;
    each_run(cells.data(), from, to, [&](u32 record, usize b, usize e) { f(record, b * kGranule, e * kGranule); });
  }
  void put(Cells& cells, u64 from, u64 to, u32 record) const {
    if (cells.empty()) cells.resize(granules_);
    std::fill(cells.begin() + static_cast<std::ptrdiff_t>(from), cells.begin() + static_cast<std::ptrdiff_t>(to),
              record);
  }

  u64 granules_;
  Cells written_;
  std::array<Cells, kPipeCount> read_;
  std::vector<u32> defined_;
};

}  // namespace vinci::isa::check
