// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/window.h"

// How a convolution is cut into tiles.
namespace vinci::graph {

inline constexpr u64 kFractalBytes = 512;
inline constexpr u64 kMaxRepeat = 255;  // fractals of a load from L1, repeats of a vector instruction

// The sizes of a convolution, in the terms of its kernel.
struct ConvProblem {
  explicit ConvProblem(const Group& group);
  u64 depth() const { return c1 * points * c0; }  // of the product
  u64 element() const { return 32 / c0; }         // bytes of an element of the map
  u64 group_n1() const { return n1 / groups; }
  // Tiles of `n` filters are of one group each.
  u64 n_tiles(u64 n) const { return groups * ceil_div(group_n1() * kC0, n); }
  // Rows of the output that `m` positions can be of.
  u64 out_rows(u64 m) const {
    return std::min<u64>(static_cast<u64>(window.out[0]), (m + out_width - 2) / out_width + 1);
  }
  // Rows of the map that `m` positions can need.
  u64 rows(u64 m) const {
    return std::min(height, (out_rows(m) - 1) * static_cast<u64>(window.stride[0]) + static_cast<u64>(window.span(0)));
  }
  // Columns of the map that `m` positions of a row need.
  u64 columns(u64 m) const {
    return std::min(width, (m - 1) * static_cast<u64>(window.stride[1]) + static_cast<u64>(window.span(1)));
  }
  u64 kernel_width() const { return static_cast<u64>(window.kernel[1]); }

  Window window;
  u64 c0;      // channels of a block of the map
  u64 groups;  // each has whole blocks of channels and of filters, or there is one
  u64 images, height, width, out_width, positions, points;
  u64 c1, n1;  // blocks of channels of a group, blocks of 16 of all filters
  bool biased;
  // Of the result: bytes of an element, channels of a block, blocks.
  u64 out_bytes, out_c0, out_c1;
  const Node* scaling;  // AscendDequant or AscendRequant behind the sums; null where there is none
  u64 table_bytes() const { return (biased ? n1 * kC0 * 4 : 0) + factor_bytes(); }
  u64 factor_bytes() const { return scaling != nullptr ? n1 * kC0 * 8 : 0; }
};

struct ConvSizes {
  explicit ConvSizes(const Tiling& t)
      : m(static_cast<u64>(t.at("m"))),
        n(static_cast<u64>(t.at("n"))),
        c1(static_cast<u64>(t.at("c1"))),
        k(static_cast<u64>(t.at("k"))),
        resident(t.contains("resident")),
        strip(t.contains("strip")),
        row(t.contains("row")) {}
  u64 m, n, c1, k;
  bool resident;  // all weights of the filters of a tile stay in L1 until other filters come
  bool strip;     // one row of the window and one block of channels go through L1 at a time, with the rows it meets
  bool row;       // a strip whose tile is within one row of the output: L1 holds the columns that it needs
  // Rows and columns of the map in L1.
  u64 map_rows(const ConvProblem& x) const { return row ? 1 : strip ? x.out_rows(m) : x.rows(m); }
  u64 map_columns(const ConvProblem& x) const { return row ? x.columns(m) : x.width; }
  u64 map_bytes(const ConvProblem& x) const {
    return align_up<u64>(c1 * map_rows(x) * map_columns(x) * 32, kFractalBytes);
  }
  // Points of the window whose weights come at a time.
  u64 points(const ConvProblem& x) const { return strip ? x.kernel_width() : x.points; }
  // Of the weights that are in L1 at a time.
  u64 weight_bytes(const ConvProblem& x) const {
    return (resident ? x.c1 * x.points : 2 * c1 * points(x)) * (n / kC0) * kFractalBytes;
  }
  // Tiles by positions, of an image and of a row of them.
  u64 m_tiles(const ConvProblem& x) const {
    return row ? static_cast<u64>(x.window.out[0]) * row_tiles(x) : ceil_div(x.positions, m);
  }
  u64 row_tiles(const ConvProblem& x) const { return ceil_div(x.out_width, m); }
};

// Tensors that the nodes behind the convolution read from memory; the map itself may be among them.
std::vector<const Value*> conv_residuals(const Group& group);
inline u64 conv_bias_bytes(const ConvProblem& x) { return x.biased ? x.n1 * kC0 * 4 : 0; }
// The node that scales the sums of bytes; null where there is none.
const Node* conv_scaling(const Group& group);
// The number of the first node behind the convolution and its scaling.
inline usize conv_epilogue(const Group& group) { return conv_scaling(group) != nullptr ? 2 : 1; }

// As a Kernel has them.
Footprint conv_footprint(const Group& group, const config::ChipConfig& chip, const Tiling& tiling);
std::vector<Tiling> conv_tilings(const Group& group, const config::ChipConfig& chip);

}  // namespace vinci::graph
