// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/window.h"

// How a convolution is cut into tiles.
namespace vinci::graph {

inline constexpr u64 kFractalBytes = 512;  // of f16
inline constexpr u64 kMaxRepeat = 255;     // fractals of a load from L1, repeats of a vector instruction

// The sizes of a convolution, in the terms of its kernel.
struct ConvProblem {
  explicit ConvProblem(const Group& group);
  u64 depth() const { return c1 * points * kC0; }  // of the product
  u64 group_n1() const { return n1 / groups; }
  // Tiles of `n` filters lie in one group each.
  u64 n_tiles(u64 n) const { return groups * ceil_div(group_n1() * kC0, n); }
  // Rows of the map that `m` positions can need.
  u64 rows(u64 m) const {
    const u64 out_rows = std::min<u64>(static_cast<u64>(window.out[0]), (m + out_width - 2) / out_width + 1);
    return std::min(height, (out_rows - 1) * static_cast<u64>(window.stride[0]) + static_cast<u64>(window.span(0)));
  }

  Window window;
  u64 groups;  // each has whole blocks of channels and of filters, or there is one
  u64 images, height, width, out_width, positions, points;
  u64 c1, n1;  // blocks of channels of a group, of all filters
  bool biased;
};

struct ConvSizes {
  explicit ConvSizes(const Tiling& t)
      : m(static_cast<u64>(t.at("m"))),
        n(static_cast<u64>(t.at("n"))),
        c1(static_cast<u64>(t.at("c1"))),
        k(static_cast<u64>(t.at("k"))),
        resident(t.contains("resident")) {}
  u64 m, n, c1, k;
  bool resident;  // all weights of the filters of a tile stay in L1 until other filters come
  u64 map_bytes(const ConvProblem& x) const {
    return align_up<u64>(c1 * x.rows(m) * x.width * 32, kFractalBytes);
  }  // in L1
  // Of the weights that are in L1 at a time.
  u64 weight_bytes(const ConvProblem& x) const {
    return (resident ? x.c1 : 2 * c1) * x.points * (n / kC0) * kFractalBytes;
  }
};

// Tensors that the nodes behind the convolution read from memory; the map itself may be among them.
std::vector<const Value*> conv_residuals(const Group& group);
inline u64 conv_bias_bytes(const ConvProblem& x) { return x.biased ? x.n1 * kC0 * 4 : 0; }

// As a Kernel has them.
Footprint conv_footprint(const Group& group, const config::ChipConfig& chip, const Tiling& tiling);
std::vector<Tiling> conv_tilings(const Group& group, const config::ChipConfig& chip);

}  // namespace vinci::graph
