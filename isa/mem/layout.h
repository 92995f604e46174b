// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string_view>

#include "isa/base/enums.h"
#include "isa/base/types.h"
#include "isa/mem/format.h"

// Where an element of a single matrix is in the fractal layouts, by the names that the cube's buffers go by. The
// first letter is the order inside a fractal, the second the order of the fractals; z = row by row, n = column by
// column. The layouts are the formats of isa/mem/format.h.
namespace vinci::isa {

enum class Layout : u8 {
  ND,  // row-major, no fractals
  zN,  // [cols1][rows1][16][C0]: "NZ", FRACTAL_NZ; L1, and L0C with C0 = 16
  zZ,  // [rows1][cols1][16][C0]: L0A
  nZ,  // [rows1][cols1][16 columns][C0 rows]: L0B, where the rows are k
  nN,  // [cols1][rows1][16 columns][C0 rows]
};
inline constexpr auto kLayoutNames = enum_names<Layout>;
constexpr std::string_view name(Layout l) { return kLayoutNames[static_cast<usize>(l)]; }
inline constexpr auto kLayoutFormats = enum_table<Layout, Format>({{Layout::ND, Format::ND},
                                                                   {Layout::zN, Format::FRACTAL_NZ},
                                                                   {Layout::zZ, Format::FRACTAL_ZZ},
                                                                   {Layout::nZ, Format::nZ},
                                                                   {Layout::nN, Format::nN}});

// Elements of the edge of a fractal that is not kFractalEdge.
constexpr u32 c0_of(u32 element_bytes) { return c0_of_bits(8 * element_bytes); }

struct MatrixShape {
  u32 rows = 0, cols = 0;  // before padding to whole fractals
};

constexpr TensorLayout matrix_layout(Layout layout, MatrixShape shape, u32 c0) {
  return {kLayoutFormats[static_cast<usize>(layout)], std::array<u64, 3>{1, shape.rows, shape.cols}, c0};
}

// Offset, in elements, of element (row, col); row < rows, col < cols.
constexpr u64 layout_offset(Layout layout, MatrixShape shape, u32 c0, u32 row, u32 col) {
  return matrix_layout(layout, shape, c0).offset(std::array<u64, 3>{0, row, col});
}

// Elements that the layout takes, with the padding to whole fractals.
constexpr u64 layout_elements(Layout layout, MatrixShape shape, u32 c0) {
  return matrix_layout(layout, shape, c0).elements();
}

}  // namespace vinci::isa
