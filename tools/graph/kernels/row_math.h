// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "tools/graph/kernels/rows.h"

namespace vinci::graph {

// Arithmetic on rows of f32 in UB that makes a number of each row, or uses one. The mask must be all ones, and is so
// behind each call, which ends with a barrier.
class RowMath {
 public:
  RowMath(isa::ProgramBuilder& p, u64 width, u64 pitch) : p_(p), width_(width), pitch_(pitch) {}

  // Bytes of UB that combine() and spread() take for each row, of a multiple of 16 rows.
  static constexpr u64 kLaneBytes = 256, kSpreadBytes = 352;

  // One number for each row at `dst`: lanes of `wide` rows, or of f16, are combined by `each` (vadd, vmax, vmin), and
  // then across by the reduction of that name (vcadd, vcmax, vcmin).
  void combine(std::string_view each, bool wide, u64 dst, u64 src, u64 lanes, u64 rows);
  // Its two steps: 64 lanes of f32 (128 of f16) for each row, kLaneBytes apart; rows must have more elements. Then a
  // number of each.
  void gather_lanes(std::string_view each, bool wide, u64 src, u64 lanes, u64 rows);
  void across_lanes(std::string_view each, bool wide, u64 dst, u64 lanes, u64 rows);
  void sum(u64 dst, u64 src, u64 lanes, u64 rows) { combine("vadd", true, dst, src, lanes, rows); }
  // From number to number, in numbers: on c100, the largest and smallest come with their position.
  u64 step(std::string_view each) const { return each != "vadd" && p_.arch() == isa::Arch::c100 ? 2 : 1; }

  // A block of f32 for each row, with its number in all places; `step` numbers apart. `room`: kSpreadBytes for each
  // row.
  struct Blocks {
    u64 at = 0, apart = 1;  // in blocks
  };
  Blocks spread(u64 numbers, bool wide, u64 step, u64 rows, u64 room);
  // As spread() of numbers of f32, by the scalar unit: of any size, exactly. For chips without an instruction for it.
  struct ScalarRegisters {
    isa::Reg from, to, number;
  };
  Blocks spread_by_scalar(u64 numbers, u64 rows, u64 room, const ScalarRegisters& r, u32 event);
  // rows = rows <name> the number of each.
  void with_numbers(std::string_view name, u64 src, const Blocks& numbers, u64 rows);
  // All rows with one row: dst = src <name> row.
  void with_row(std::string_view name, u64 dst, u64 src, u64 row, u64 rows);

 private:
  // What an instruction on f32 takes: `count` slabs of 64 lanes, of rows below each other or along one row.
  struct Slabs {
    u64 first = 0;            // element of all rows
    u64 row = 0, column = 0;  // of it
    u64 count = 1;
    bool along = false;
  };
  // body() for all elements of the rows, with the mask set; then a barrier.
  void slabs(u64 rows, const std::function<void(const Slabs&)>& body);
  u64 from_slab(const Slabs& s) const { return s.count == 1 ? 0 : s.along ? 8 : pitch_ / 8; }
  void across(std::string_view each, bool wide, u64 dst, u64 src, u64 apart, u64 active, u64 rows);
  void to_f32(u64 dst, u64 src, u64 elements);
  void to_f16(u64 dst, u64 src, u64 elements);

  isa::ProgramBuilder& p_;
  u64 width_, pitch_;
};

// The rest of a kernel on rows: tensors with rows in two slots, and room in UB.
class RowKernel {
 public:
  // With one slot, rows are loaded when those before have been computed with.
  RowKernel(const Group& group, const config::ChipConfig& chip, Rows rows, RowTiling tiling, u32 slots = 2);
  virtual ~RowKernel() = default;
  KernelProgram build();

 protected:
  virtual void prologue() {}
  virtual void compute(u32 slot, u64 rows) = 0;
  virtual void store(u32 slot) = 0;
  // The cores that may share the tiles.
  virtual u32 most_blocks() const { return tiles_.blocks(rows_.views.back()); }
  u64 take(u64 bytes);  // of UB
  u64 spread_rows() const { return align_up<u64>(tiles_.rows(), 16); }
  u64 elements() const { return tiles_.rows() * tiles_.pitch(); }
  u64 in_at(u32 slot) const { return in_ + slot * elements() * rows_.views[0].bytes; }

  const Group& group_;
  const config::ChipConfig& chip_;
  const u32 slots_;
  const Rows rows_;
  RowTiles tiles_;
  isa::ProgramBuilder p_;
  RowMath math_;
  std::vector<isa::Reg> pointers_;  // inputs, outputs

 private:
  u64 in_ = 0, end_ = 0;

 protected:
  u64 numbers_ = 0;  // 8 bytes for each row, of a multiple of 16 rows; 0 at first
};

// Sum of extents of tensors that are rows along the last `axes` axes: the input, and outputs of the same shape.
Rows last_axes_as_rows(const Value& in, const Value& out, usize axes);
// "" where the input is a tensor of f16 or f32 in ND with known extents.
std::string not_rows(const Group& group);
// Tiles of whole rows; none where a row does not fit.
std::vector<Tiling> whole_row_tilings(const RowSpace& space, const config::ChipConfig& chip, u64 fixed, u64 bytes,
                                      u64 row_bytes);
RowTiling row_tiling(const RowSpace& space, const Tiling& tiling);

}  // namespace vinci::graph
