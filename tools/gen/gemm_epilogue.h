// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "isa/builder/program_builder.h"

// What the joint core does with a tile of results between L0C and memory.
namespace vinci::gen {

struct GemmTiling;

// Which matrix of an operand product `i` of a batch reads: i / below % count.
struct GemmBatch {
  u64 below = 1, count = 1;
};

// Element-wise work on a tile in UB. Results and operands are FP16, and have in UB the order of the tile: block columns
// of 16.
struct GemmEpilogue {
  // A tensor of which each part of a tile reads some columns.
  struct Operand {
    u32 argument = 0;      // of the launch: its address
    GemmBatch batch = {};  // which of its matrices
    bool row = false;      // a matrix has one row, of N numbers, for all rows of the result
  };
  std::vector<Operand> operands;
  double cycles = 0;      // of V for each 128 results
  double once = 0;        // and for each part of a tile
  u64 element_bytes = 0;  // of UB, for each result that is worked on
  u64 fixed_bytes = 0;    // and once
  // Addresses in UB.
  struct Place {
    u64 results = 0;  // read and written
    std::vector<u64> operands;
    u64 room = 0;  // element_bytes and fixed_bytes
  };
  std::function<void(isa::ProgramBuilder& p, const Place& place, u64 elements)> write;

  usize whole_operands() const;  // those that are no rows
  u64 room(u64 elements) const { return elements * element_bytes + fixed_bytes; }
};

// Bytes of UB for the work on `chunk` columns of a tile, with its operands.
u64 epilogue_bytes(const GemmEpilogue& epilogue, u64 tile_m, u64 chunk);
inline constexpr u32 kOperandSlots = 2;  // operands of the next part come while V works

// Where the results of a transposed product go: the number of a matrix, of a row and of a column are taken apart into
// indices, the last one fastest, each with its distance in elements. The last distance of columns is 1; all other
// distances, and the last extent of columns, are multiples of 16.
struct GemmLayout {
  struct Axis {
    u64 extent = 1, distance = 0;
  };
  std::vector<Axis> matrices, rows, columns;
  bool empty() const { return columns.empty(); }
};

}  // namespace vinci::gen
