// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/ops/window.h"

#include <algorithm>

namespace vinci::graph {
namespace {

constexpr i64 kMaxExtent = i64{1} << 31;

Dims attribute(const Node& node, std::string_view key, usize size, i64 otherwise, i64 least) {
  Dims values = node.integers(key, Dims(size, otherwise));
  if (values.size() != size)
    fail(Fault::Input, "{} ({}): {} has {} numbers, not {}", node.name, node.type, key, values.size(), size);
  for (const i64 v : values) {
    if (v < least || v >= kMaxExtent) fail(Fault::Input, "{} ({}): {} has {}", node.name, node.type, key, v);
  }
  return values;
}

Window attributes(const Node& node, Dims in, Dims kernel) {
  Window w{.kernel = std::move(kernel), .in = std::move(in)};
  const usize n = w.kernel.size();
  if (w.in.size() != n)
    fail(Fault::Input, "{} ({}): a kernel with {} axes on {} axes", node.name, node.type, n, w.in.size());
  for (const i64 k : w.kernel) {
    if (k <= 0 || k >= kMaxExtent)
      fail(Fault::Input, "{} ({}): the kernel has an extent of {}", node.name, node.type, k);
  }
  w.stride = attribute(node, "strides", n, 1, 1);
  w.dilation = attribute(node, "dilations", n, 1, 1);
  const Dims pads = attribute(node, "pads", 2 * n, 0, -kMaxExtent + 1);
  w.pad_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(n));
  w.pad_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(n), pads.end());
  w.out = Dims(n, Shape::kUnknown);
  return w;
}

}  // namespace

Window window_of(const Node& node, Dims in, Dims kernel) {
  Window w = attributes(node, std::move(in), std::move(kernel));
  const std::string automatic = node.string("auto_pad", "NOTSET");
  const bool up = node.integer("ceil_mode") != 0;
  for (usize a = 0; a < w.axes(); ++a) {
    if (w.in[a] < 0) continue;
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      w.out[a] = ceil_div<i64>(w.in[a], w.stride[a]);
      const i64 pad = std::max<i64>(0, (w.out[a] - 1) * w.stride[a] + w.span(a) - w.in[a]);
      w.pad_begin[a] = automatic == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
      w.pad_end[a] = pad - w.pad_begin[a];
      continue;
    }
    if (automatic == "VALID") w.pad_begin[a] = w.pad_end[a] = 0;
    const i64 room = w.in[a] + w.pad_begin[a] + w.pad_end[a] - w.span(a);
    if (room < 0)
      fail(Fault::Input, "{} ({}): a window of {} does not fit an extent of {}", node.name, node.type, w.span(a),
           w.in[a]);
    w.out[a] = (up ? ceil_div<i64>(room, w.stride[a]) : room / w.stride[a]) + 1;
    // A window that would begin in the padding behind the last element does not exist.
    if (up && (w.out[a] - 1) * w.stride[a] >= w.in[a] + w.pad_begin[a]) --w.out[a];
  }
  return w;
}

Window transposed_window_of(const Node& node, Dims in, Dims kernel) {
  Window w = attributes(node, std::move(in), std::move(kernel));
  const usize n = w.axes();
  const Dims more = attribute(node, "output_padding", n, 0, 0);
  const std::string automatic = node.string("auto_pad", "NOTSET");
  const Dims wanted = node.integers("output_shape");
  if (!wanted.empty() && wanted.size() < n)
    fail(Fault::Input, "{} ({}): output_shape has {} numbers", node.name, node.type, wanted.size());
  for (usize a = 0; a < n; ++a) {
    if (w.in[a] < 0) continue;
    const i64 whole = w.stride[a] * (w.in[a] - 1) + more[a] + w.span(a);
    const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (!wanted.empty() || same) {
      w.out[a] = wanted.empty() ? w.in[a] * w.stride[a] : wanted[wanted.size() - n + a];
      const i64 pad = std::max<i64>(0, whole - w.out[a]);
      w.pad_begin[a] = automatic == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
      w.pad_end[a] = pad - w.pad_begin[a];
    } else {
      if (automatic == "VALID") w.pad_begin[a] = w.pad_end[a] = 0;
      w.out[a] = whole - w.pad_begin[a] - w.pad_end[a];
    }
    if (w.out[a] < 0) fail(Fault::Input, "{} ({}): the result has an extent of {}", node.name, node.type, w.out[a]);
  }
  return w;
}

}  // namespace vinci::graph
