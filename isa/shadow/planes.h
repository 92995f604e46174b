// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "isa/mem/page_table.h"
#include "isa/mem/view.h"
#include "isa/numeric/lane_type.h"
#include "isa/table/insn.h"

// The references of shadow execution for the memories of a run. Each memory has four planes of its own size and
// layout. An element of 2 B has the four words of its reference, a double, at its own address in the four planes; an
// element of 4 B has the double in the first two planes. So an instruction that moves elements moves their references
// when it runs on the planes in place of the memory. Zero planes say: the value is its own reference.
namespace vinci::isa {

inline constexpr u32 kPlanes = 4;

// The upper 16 bits of a reference as they are stored in plane 3. NaN references are quiet, as arithmetic leaves them,
// so that signalling ones can be codes.
namespace reference {
inline constexpr u16 kFlip = 0x7ff1;           // the code of no reference, so that it is stored as zero
inline constexpr u16 kEnded = 0x7ff2 ^ kFlip;  // the value was made bit by bit from values with references
inline constexpr u16 kWide = 0x7ff4 ^ kFlip;   // both halves of plane 3 of an element of 4 B
inline constexpr u32 kWideMark = u32{kWide} << 16 | kWide;
}  // namespace reference

// What the references in a block of 32 B belong to.
enum class RefType : u8 { none, f16, bf16, f32, mixed };
constexpr RefType joined(RefType a, RefType b) {
  return a == RefType::none || a == b ? b : b == RefType::none ? a : RefType::mixed;
}
constexpr RefType ref_type(LaneType t) {
  return t == LaneType::f16 ? RefType::f16 : t == LaneType::bf16 ? RefType::bf16 : RefType::f32;
}

// The references of one memory. Planes of blocks without references are zero.
class RefSpace {
 public:
  static constexpr u64 kBlock = 32;

  virtual ~RefSpace() = default;
  virtual void read(u32 plane, u64 address, std::span<std::byte> into) const = 0;
  virtual void write(u32 plane, u64 address, std::span<const std::byte> from) = 0;

  // Whether no block has references.
  bool clean() const { return dirty_ == 0; }
  // What the references of some bytes belong to.
  RefType type(u64 begin, u64 bytes) const;
  // Bytes are written with values that are their own references.
  void clear(u64 begin, u64 bytes);
  // The planes of these bytes were written.
  void set_type(u64 begin, u64 bytes, RefType type);
  // Bytes are written bit by bit from values with references.
  void end(u64 begin, u64 bytes);
  // Copies references.
  void copy(const RefSpace& from, u64 source, u64 begin, u64 bytes);
  // The references of elements of a type; `values` are the elements themselves. Returns how many have ended.
  u64 load(LaneType type, u64 address, std::span<const double> values, std::span<double> into) const;
  void store(LaneType type, u64 address, std::span<const double> from);

 private:
  static constexpr u64 kPageBlocks = 2048;
  using Page = std::array<RefType, kPageBlocks>;
  // Calls f(page, block in it, blocks) for the blocks of some bytes, page by page.
  template <class F>
  static void each_part(u64 begin, u64 bytes, F&& f) {
    if (bytes == 0) return;
    const u64 last = (begin + bytes - 1) / kBlock;
    for (u64 block = begin / kBlock; block <= last;) {
      const u64 first = block % kPageBlocks, blocks = std::min(kPageBlocks - first, last - block + 1);
      f(block / kPageBlocks, first, blocks);
      block += blocks;
    }
  }
  Page* find(u64 number) const;
  Page& make(u64 number);

  std::unordered_map<u64, std::unique_ptr<Page>> pages_;  // by block / kPageBlocks
  mutable u64 last_number_ = ~u64{0};
  mutable Page* last_ = nullptr;
  u64 dirty_ = 0;  // blocks with references
};

// One of the buffers of a core.
class LocalRefs final : public RefSpace {
 public:
  void read(u32 plane, u64 address, std::span<std::byte> into) const override {
    std::memcpy(into.data(), views[plane].bytes(address, into.size()).data(), into.size());
  }
  void write(u32 plane, u64 address, std::span<const std::byte> from) override {
    std::memcpy(views[plane].bytes(address, from.size()).data(), from.data(), from.size());
  }
  // The places of some bytes in the planes.
  std::array<std::byte*, kPlanes> places(u64 address, u64 bytes) const {
    std::array<std::byte*, kPlanes> out;
    for (u32 p = 0; p < kPlanes; ++p)
      out[p] = views[p].bytes(address, bytes).data();
    return out;
  }
  std::array<View, kPlanes> views;
};

class GlobalRefs final : public RefSpace {
 public:
  void read(u32 plane, u64 address, std::span<std::byte> into) const override { planes[plane].read(address, into); }
  void write(u32 plane, u64 address, std::span<const std::byte> from) override { planes[plane].write(address, from); }
  std::array<GlobalMemory, kPlanes> planes;
};

class HostRefs final : public RefSpace {
 public:
  void read(u32 plane, u64 address, std::span<std::byte> into) const override;
  void write(u32 plane, u64 address, std::span<const std::byte> from) override;

 private:
  std::array<PageTable, kPlanes> planes_;
};

// The planes of a core.
struct CoreRefs {
  CoreRefs(const CoreMem& mem, GlobalRefs& gm);

  std::array<std::unique_ptr<CoreMem>, kPlanes> planes;
  std::array<LocalRefs, kBufCount> buffers;  // the entry of GM is unused
};

}  // namespace vinci::isa
