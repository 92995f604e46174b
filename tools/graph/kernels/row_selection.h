// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "tools/graph/kernels/kernel.h"

// The first elements of rows, in order. A row of scores becomes a sorted list of records; which records, how they are
// sorted and how results are taken from them differs between chips.
namespace vinci::graph {

// What a chip sorts.
struct SortUnit {
  u64 record_bytes;  // a score with its position
  u64 sorted;        // records that a repeat of vbitsort sorts
  u64 tile;          // records that are sorted at a time: `sorted` times a power of 4
};

struct Selection {
  SortUnit unit;
  u64 rows, width, best;                 // of each row, the first `best` elements in order
  bool largest = true;                   // first
  bool scores = true, positions = true;  // what the outputs are
  DataType type = DataType::f16;         // of the scores

  u64 bytes() const { return info(type).bytes; }
  isa::Type lane() const { return type == DataType::f16 ? isa::Type::f16 : isa::Type::f32; }
  // Records of a row that are sorted: the least size that holds it, or a tile of a longer row.
  u64 tile() const {
    u64 out = unit.sorted;
    while (out < std::min(width, unit.tile))
      out *= 4;
    return out;
  }
  bool long_rows() const { return width > unit.tile; }
  u64 kept() const { return align_up(best, unit.sorted); }  // of a row, in whole repeats
  // A score behind all others.
  double last() const;
  isa::Value number(double value) const;
};

// A program that sorts `rows` short rows at a time, or a long row tile by tile: the best records of the tiles so far
// are merged with those of the next one.
class SelectionWriter {
 public:
  SelectionWriter(const Node& node, const Selection& selection, isa::Arch arch, u64 rows);
  virtual ~SelectionWriter() = default;

  u64 batches() const { return ceil_div(s_.rows, rows_); }
  u64 ub_bytes() const { return end_; }
  isa::BuiltProgram write();

 protected:
  // Once for each block, with arguments in registers.
  virtual void prepare() = 0;
  // `elements` of `count` rows from source_ to the scores, each row at the beginning of a tile.
  virtual void load(const isa::Value& count, u64 elements) = 0;
  // Positions of the tile of a long row: `base` is the first one, `tile` its number.
  virtual void number_tile(isa::Reg base, isa::Reg tile) = 0;
  // Records of the scores, at records_, each repeat sorted.
  virtual void sort_repeats(u64 repeats) = 0;
  virtual void merge(const isa::Value& to, const std::array<isa::Value, 4>& lists, u64 repeats, u64 length,
                     u64 valid) = 0;
  // The results of count_ rows, from their records at best_.
  virtual void store(isa::Reg batch) = 0;

  u64 take(u64 bytes) { return std::exchange(end_, end_ + align_up<u64>(bytes, 256)); }  // of UB
  u64 sorted_rows() const { return rows_ * s_.tile(); }                                  // records at a time
  // How many records hold the results of a batch.
  u64 result_records() const { return rows_ > 1 ? sorted_rows() : s_.kept(); }
  void barrier() { p_.pipe_barrier(isa::PipeId::V); }
  void fill_scores();
  void negate(u64 to, u64 from, u64 elements);
  // 0, 1, 2 .. for each row, of s32 or f16.
  void count_lanes(isa::Type type, u64 at);

  const Node& node_;
  const Selection s_;
  const u64 rows_;
  isa::ProgramBuilder p_;
  isa::Reg in_, out_scores_, out_positions_, count_, t_, source_, best_, other_;

 private:
  u64 end_ = 0;

 protected:
  // Addresses in UB: the scores, the keys that are sorted (the scores or their negatives), records, and room for as
  // many.
  const u64 scores_, keys_, records_, scratch_;

 private:
  u64 sort();
  void sort_long_row();
  void sort_tile(isa::Reg base, isa::Reg tile, u64 elements);
  void merge_best();

  const u64 best_at_, other_at_;  // of a long row: lists of twice the records that are kept
  u64 list_ = 0;                  // the sorted list of a tile
};

// Records of 8 bytes, with positions of u32: c220.
inline constexpr SortUnit kRecords{.record_bytes = 8, .sorted = 32, .tile = 2048};
std::unique_ptr<SelectionWriter> record_writer(const Node& node, const Selection& selection, u64 rows);
// Region proposals, 8 numbers of f16: joint cores.
inline constexpr SortUnit kProposals{.record_bytes = 16, .sorted = 16, .tile = 1024};
std::unique_ptr<SelectionWriter> proposal_writer(const Node& node, const Selection& selection, isa::Arch arch,
                                                 u64 rows);

}  // namespace vinci::graph
