// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace vinci::isa {
namespace {

// Element (17, 35) of a 40 x 50 matrix with C0 = 16: fractal row 1 of 3, column 2 of 4; inside (1, 3).
static_assert(layout_offset(Layout::ND, {40, 50}, 16, 17, 35) == 17 * 50 + 35);
static_assert(layout_offset(Layout::zN, {40, 50}, 16, 17, 35) == (2 * 3 + 1) * 256 + 1 * 16 + 3);
static_assert(layout_offset(Layout::zZ, {40, 50}, 16, 17, 35) == (1 * 4 + 2) * 256 + 1 * 16 + 3);
static_assert(layout_offset(Layout::nZ, {40, 50}, 16, 17, 35) == (1 * 4 + 2) * 256 + 3 * 16 + 1);
static_assert(layout_offset(Layout::nN, {40, 50}, 16, 17, 35) == (2 * 3 + 1) * 256 + 3 * 16 + 1);
// 8-bit elements: C0 = 32, a fractal is 16 x 32 (z) or 32 rows x 16 columns (n).
static_assert(layout_offset(Layout::zZ, {16, 64}, 32, 3, 40) == 512 + 3 * 32 + 8);
static_assert(layout_offset(Layout::nZ, {64, 32}, 32, 40, 17) == (1 * 2 + 1) * 512 + 1 * 32 + 8);
static_assert(layout_elements(Layout::zN, {17, 17}, 16) == 32 * 32);
static_assert(layout_elements(Layout::nZ, {33, 17}, 32) == 64 * 32);
static_assert(layout_elements(Layout::ND, {17, 17}, 16) == 289);

TEST(Layout, EveryElementHasItsOwnPlaceInside) {
  for (const Layout l : {Layout::ND, Layout::zN, Layout::zZ, Layout::nZ, Layout::nN}) {
    for (const u32 c0 : {8u, 16u, 32u}) {
      const MatrixShape shape{37, 51};
      std::vector<int> hits(layout_elements(l, shape, c0));
      for (u32 r = 0; r < shape.rows; ++r) {
        for (u32 c = 0; c < shape.cols; ++c)
          ++hits.at(layout_offset(l, shape, c0, r, c));
      }
      EXPECT_EQ(std::ranges::count(hits, 1), 37 * 51) << name(l) << " " << c0;
      EXPECT_EQ(std::ranges::max(hits), 1) << name(l) << " " << c0;
    }
  }
}

// A fractal layout of the transposed matrix is the layout with both letters exchanged.
TEST(Layout, TranspositionExchangesTheLetters) {
  const MatrixShape shape{48, 64}, turned{64, 48};
  for (u32 r = 0; r < shape.rows; ++r) {
    for (u32 c = 0; c < shape.cols; ++c) {
      EXPECT_EQ(layout_offset(Layout::zN, shape, 16, r, c), layout_offset(Layout::nZ, turned, 16, c, r));
      EXPECT_EQ(layout_offset(Layout::zZ, shape, 16, r, c), layout_offset(Layout::nN, turned, 16, c, r));
    }
  }
}

}  // namespace
}  // namespace vinci::isa
