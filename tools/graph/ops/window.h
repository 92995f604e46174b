// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/graph/ops/op.h"

namespace vinci::graph {

// The windows of a convolution or a pooling over the axes behind N and C, from the attributes strides, pads, dilations,
// auto_pad and ceil_mode.
struct Window {
  Dims kernel = {}, stride = {}, dilation = {}, pad_begin = {}, pad_end = {};
  Dims in = {}, out = {};  // extents of the axes; out is -1 where in is

  usize axes() const { return kernel.size(); }
  // Extent that a kernel covers.
  i64 span(usize axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
};

// `in` has the extents of the axes. Throws Fault::Input where attributes do not fit.
Window window_of(const Node& node, Dims in, Dims kernel);
// The same for a transposed convolution, whose `out` follows from `in` the other way round.
Window transposed_window_of(const Node& node, Dims in, Dims kernel);

}  // namespace vinci::graph
