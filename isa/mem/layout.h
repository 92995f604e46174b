// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string_view>

#include "isa/base/types.h"

// Where an element of a matrix lies in the fractal layouts: 16 x C0 blocks, C0 = 32 bytes of elements. The first letter
// is the order inside a fractal, the second the order of the fractals; z = row by row, n = column by column.
// Source: csim generic_mad of mindspore-ai/akg (Apache-2.0), published Ascend C data layout formats.
namespace vinci::isa {

enum class Layout : u8 {
  ND,  // row-major, no fractals
  zN,  // [cols1][rows1][16][C0]: "NZ", FRACTAL_NZ; L1, and L0C with C0 = 16
  zZ,  // [rows1][cols1][16][C0]: L0A
  nZ,  // [rows1][cols1][16 columns][C0 rows]: L0B, where the rows are k
  nN,  // [cols1][rows1][16 columns][C0 rows]
};
inline constexpr std::array<std::string_view, 5> kLayoutNames{"ND", "zN", "zZ", "nZ", "nN"};
constexpr std::string_view name(Layout l) { return kLayoutNames[static_cast<usize>(l)]; }

inline constexpr u32 kFractalEdge = 16;  // rows (z) or columns (n) of a fractal

// Elements of the other edge of a fractal.
constexpr u32 c0_of(u32 element_bytes) { return 32 / element_bytes; }

struct MatrixShape {
  u32 rows = 0, cols = 0;  // before padding to whole fractals
};

// Offset, in elements, of element (row, col); row < rows, col < cols.
constexpr u64 layout_offset(Layout layout, MatrixShape shape, u32 c0, u32 row, u32 col) {
  constexpr u64 edge = kFractalEdge;
  const u64 rows16 = ceil_div<u64>(shape.rows, edge), cols16 = ceil_div<u64>(shape.cols, edge);
  const u64 rows_c0 = ceil_div<u64>(shape.rows, c0), cols_c0 = ceil_div<u64>(shape.cols, c0);
  const u64 in_z = row % edge * c0 + col % c0;
  const u64 in_n = col % edge * c0 + row % c0;
  switch (layout) {
    case Layout::ND: return u64{row} * shape.cols + col;
    case Layout::zN: return (col / c0 * rows16 + row / edge) * edge * c0 + in_z;
    case Layout::zZ: return (row / edge * cols_c0 + col / c0) * edge * c0 + in_z;
    case Layout::nZ: return (row / c0 * cols16 + col / edge) * edge * c0 + in_n;
    case Layout::nN: return (col / edge * rows_c0 + row / c0) * edge * c0 + in_n;
  }
  return 0;
}

// Elements that the layout takes, with the padding to whole fractals.
constexpr u64 layout_elements(Layout layout, MatrixShape shape, u32 c0) {
  constexpr u64 edge = kFractalEdge;
  switch (layout) {
    case Layout::ND: return u64{shape.rows} * shape.cols;
    case Layout::zN:
    case Layout::zZ: return align_up<u64>(shape.rows, edge) * align_up<u64>(shape.cols, c0);
    case Layout::nZ:
    case Layout::nN: return align_up<u64>(shape.rows, c0) * align_up<u64>(shape.cols, edge);
  }
  return 0;
}

}  // namespace vinci::isa
