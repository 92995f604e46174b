// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "isa/builder/program_builder.h"
#include "tools/graph/kernels/kernel.h"

// Tensors in ND as rows: what kernels have in common whose tiles are some rows, or a part of one row. In UB each row
// begins at a multiple of 16 elements, and of 32 where one of the tensors has elements of one byte.
namespace vinci::graph {

// The rows of a tensor, and the positions of their elements. All distances are in elements.
struct RowView {
  i64 base = 0;
  std::vector<i64> strides = {};  // of the axes of RowSpace::outer
  i64 step = 1;                   // between neighbours of a row; 0: one element is used for the whole row
  u32 bytes = 2;                  // of an element
};

struct RowSpace {
  std::vector<u64> outer = {};  // extents of the axes of rows, the last one fastest; at least one axis
  u64 width = 1;                // elements of a row
  u64 grain = 16;               // elements of UB at which rows begin: those of a block of 32 B, at least

  u64 rows() const;
};

// A tensor whose element `index` is at base + the sum of index * stride.
struct StridedTensor {
  i64 base = 0;
  std::vector<i64> strides = {};
  u32 bytes = 2;
};
struct Rows {
  RowSpace space;
  std::vector<RowView> views;
};
// The last axes as row and the others as axes of rows, with neighbours merged where all tensors allow it. The row has
// `row_axes` axes, which must merge, or with 0 as many as do.
Rows as_rows(std::span<const i64> dims, std::span<const StridedTensor> tensors, usize row_axes = 0);

// Strides of a tensor of `from` that is broadcast to `to`.
std::vector<i64> broadcast_strides(std::span<const i64> from, std::span<const i64> to);

// How rows are cut into tiles: `rows` whole rows, or `columns` of one row.
struct RowTiling {
  static constexpr u64 kMostRows = 255;  // repeats of an instruction
  u64 rows = 1, columns = 1;
};

// The rows of a kernel on a chip.
class RowTiles {
 public:
  RowTiles(RowSpace space, const config::ChipConfig& chip, RowTiling tiling);

  const RowSpace& space() const { return space_; }
  u64 rows() const { return tiling_.rows; }  // of a tile in UB
  u64 columns() const { return tiling_.columns; }
  u64 pitch() const;  // elements from row to row in UB
  u64 tiles() const;
  u64 last_rows() const { return group() - (in_group() - 1) * tiling_.rows; }
  u64 last_columns() const { return space_.width - (chunks() - 1) * tiling_.columns; }
  // The cores that may share the tiles that store() stores: one, where the end of a tile goes over the beginning of the
  // next one.
  u32 blocks(const RowView& view) const;
  // On a joint core, bytes of UB for tails: the block at the end of a tile that its rows do not fill, for each of two
  // slots. The scalar unit puts it together.
  static constexpr u64 kTailBytes = 64;
  void use_tails(u64 at) { tail_ = at; }
  // Instead of tails, for rows of whatever order that have at least a block each: the last 32 B of each row come and go
  // as a block of their own, so that no store goes beyond its row. `at`: a block for each row; those of the other slot
  // are `apart` bytes on.
  void use_ends(u64 at, u64 apart) {
    ends_ = at;
    ends_apart_ = apart;
  }
  static constexpr u64 kEndBytes = 32;
  // Elements in UB that no copy writes.
  bool padded() const { return space_.width % space_.grain != 0; }

  // Registers; in the prologue.
  void prepare(isa::ProgramBuilder& p);
  void share(const RowTiles& other);  // the registers of another one
  // The tile of this number; its rows() and columns() of the moment are registers.
  void locate(isa::ProgramBuilder& p, const isa::Value& tile);
  isa::Reg row() const { return row_; }               // the first row
  isa::Reg row_count() const { return count_; }       // of the tile
  isa::Reg column_count() const { return columns_; }  // of the tile
  // The rows of the tile between memory and UB. A view with step 0 fills a block of 32 B for each row. What is stored
  // was written by the vector unit, or behind it.
  void load(isa::ProgramBuilder& p, const RowView& view, isa::Reg pointer, u64 at);
  void store(isa::ProgramBuilder& p, const RowView& view, isa::Reg pointer, u64 at, u32 slot);
  // With use_ends(): between memory and UB, without arithmetic.
  void load_ends(isa::ProgramBuilder& p, const RowView& view, isa::Reg pointer, u32 slot);
  void store_with_ends(isa::ProgramBuilder& p, const RowView& view, isa::Reg pointer, u64 at, u32 slot);
  // The first row of the tile alone.
  void load_row(isa::ProgramBuilder& p, const RowView& view, isa::Reg pointer, u64 at);
  // As locate() of the first tile, with whole rows.
  void locate_first(isa::ProgramBuilder& p);
  // Whether tiles of several rows have the same row of the view many times.
  bool repeats(const RowView& view) const { return view.step == 1 && view.strides.back() == 0 && group() > 1; }
  // Whether all tiles do.
  bool repeats_always(const RowView& view) const {
    return view.step == 1 && tiling_.columns == space_.width &&
           std::ranges::all_of(view.strides, [](i64 s) { return s == 0; });
  }
  // Whether all tiles have as many rows, and columns.
  bool even() const { return last_rows() == tiling_.rows && last_columns() == tiling_.columns; }

 private:
  u64 chunks() const { return ceil_div(space_.width, tiling_.columns); }
  bool in_parts() const { return tiling_.columns != space_.width; }
  u64 group() const { return space_.outer.back(); }  // rows that tiles do not go beyond
  u64 in_group() const { return ceil_div(group(), tiling_.rows); }
  void address(isa::ProgramBuilder& p, isa::Reg to, const RowView& view, isa::Reg pointer);
  bool has_tail(const RowView& view) const;
  void write_tail(isa::ProgramBuilder& p, const RowView& view, u64 at, u64 tail, u64 rows) const;
  void store_with_tail(isa::ProgramBuilder& p, const RowView& view, isa::Reg pointer, u64 at, u32 slot);
  void store_part_with_tail(isa::ProgramBuilder& p, const RowView& view, isa::Reg pointer, u64 at, u32 slot);
  void locate_ends(isa::ProgramBuilder& p, const RowView& view, isa::Reg pointer, u32 slot);
  struct Copy;
  void copy(isa::ProgramBuilder& p, const Copy& c);

  RowSpace space_;
  bool joint_;
  RowTiling tiling_;
  std::optional<u64> tail_;
  u64 ends_ = 0, ends_apart_ = 0;
  isa::Reg row_, count_, column_, columns_, at_, t_, length_, gap_, place_;
};

// Writes `count` rows of `row_bytes`, a multiple of 32, that are as the one at `from`, one behind the other from `to`
// on; `from` may be the first of them.
void repeat_row(isa::ProgramBuilder& p, u64 to, u64 from, u64 count, u64 row_bytes);

// The tilings of rows that take `bytes` of UB for each element and `row_bytes` for each row: as many rows as fit or as
// give each core some, then fewer.
std::vector<RowTiling> row_tilings(const RowSpace& space, const config::ChipConfig& chip, u64 room, u64 bytes,
                                   u64 row_bytes, bool whole_rows = false);

}  // namespace vinci::graph
