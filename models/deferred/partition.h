// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "isa/machine/issue.h"
#include "models/deferred/rows.h"

namespace vinci::models {

// A batch of instructions of one core as slices, which several threads may run at the same time: instructions that hand
// data to each other are in one slice and keep their order. That two of them use the same place of a buffer, one after
// the other, does not make them one: all but one slice run on buffers of their thread, as registers are renamed. That
// one has all that reads what was there before, or meets others in registers: the vector unit, atomic writes. Of a
// product, a tile of C with all that leads to it is a slice.
class Partition {
 public:
  explicit Partition(const isa::CoreSpec& core);

  // How many there are; 1: nothing is gained.
  u32 cut(std::span<const isa::Issued> batch);
  u32 count() const { return static_cast<u32>(slices_.size()); }
  // The instructions of a slice, as places in the batch.
  std::span<const u32> operator[](u32 slice) const;

  // What a slice runs on: `core`, or buffers of this thread.
  isa::CoreMem& memory(u32 slice, isa::CoreMem& core) const;
  // After a slice, on its thread: keeps what it leaves behind. After all: puts that into the buffers of the core.
  void keep(u32 slice, const isa::CoreMem& from);
  void put_back(const isa::CoreMem& core);
  void clear();

 private:
  static constexpr u64 kGrain = 512;  // bytes of buffers that are followed as one: a fractal
  struct Slice {
    u32 first = 0, end = 0;            // of order_
    u32 first_left = 0, end_left = 0;  // of left_
    bool on_core = false;
  };
  struct Left {
    isa::BufId buffer{};
    u32 grain = 0;
    bool turned = false;
  };
  struct Global {
    Rows rows;
    u32 node = 0;
    bool write = false;
  };

  u32 root(u32 node);
  void unite(u32 a, u32 b);
  void join_global(u32 node, const isa::Access& a);
  void join_local(u32 node, const isa::Access& a, bool whole);
  void number();
  std::span<std::byte> grain(const isa::CoreMem& mem, const Left& l) const;

  const isa::CoreSpec& core_;
  std::vector<u32> parents_;  // node 0 is what was there before; node i + 1 is instruction i
  std::array<std::vector<u32>, isa::kBufCount> writers_;  // of each grain: the latest node
  std::vector<Global> global_;
  std::vector<Slice> slices_;
  std::vector<u32> order_;  // instructions, slice by slice
  std::vector<Left> left_;  // grains, slice by slice
  std::vector<std::byte> kept_;
};

}  // namespace vinci::models
