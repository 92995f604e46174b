// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/strided_copy.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tools/graph/ops/op.h"
#include "tools/graph/ops/slice.h"

namespace vinci::graph {
namespace {

using Copies = std::optional<std::vector<StridedCopy>>;

std::vector<i64> signed_strides(const Shape& shape) { return broadcast_strides(shape.dims(), shape.dims()); }

// Extents of 1 have stride 0 in signed_strides(); nothing depends on it.
StridedTensor dense(const Value& v) {
  return {.base = 0, .strides = signed_strides(v.shape), .bytes = info(v.type).bytes};
}

usize input_of(const Group& group, const Value* v) {
  return static_cast<usize>(std::ranges::find(group.inputs(), v) - group.inputs().begin());
}

// One copy from input 0 to the whole of output 0.
Copies whole(const Value& out, StridedTensor from) {
  return std::vector{StridedCopy{.dims = out.shape.dims(), .from = std::move(from), .to = dense(out)}};
}

Copies transpose_copy(const Group& group) {
  const Node& node = group.node();
  StridedTensor from = dense(*node.input(0));
  const std::vector<i64> strides = from.strides;
  std::vector<i64> perm = node.integers("perm");
  if (perm.empty()) {
    perm.resize(strides.size());
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  for (usize a = 0; a < perm.size(); ++a)
    from.strides[a] = strides[axis_of(node, perm[a], strides.size())];
  return whole(*node.output(), std::move(from));
}

Copies slice_copy(const Group& group) {
  const Node& node = group.node();
  std::array<std::vector<i64>, 5> lists;
  for (usize i = 1; i < 5; ++i) {
    if (node.input(i) == nullptr) continue;
    if (!node.input(i)->constant) return std::nullopt;
    lists[i] = node.input(i)->constant->array().integers();
  }
  StridedTensor from = dense(*node.input(0));
  const Slices s = slices_of(node, node.input(0)->shape.dims(), lists[1], lists[2], lists[3], lists[4]);
  for (usize a = 0; a < from.strides.size(); ++a) {
    from.base += s.start[a] * from.strides[a];
    from.strides[a] *= s.step[a];
  }
  return whole(*node.output(), std::move(from));
}

Copies broadcast_copy(const Group& group) {
  const Node& node = group.node();
  StridedTensor from = dense(*node.input(0));
  from.strides = broadcast_strides(node.input(0)->shape.dims(), node.output()->shape.dims());
  return whole(*node.output(), std::move(from));
}

// An axis of the result is two: which repetition, and the axis of the input.
Copies tile_copy(const Group& group) {
  const Node& node = group.node();
  const Dims &in = node.input(0)->shape.dims(), &out = node.output()->shape.dims();
  const StridedTensor whole_in = dense(*node.input(0)), whole_out = dense(*node.output());
  StridedCopy copy{.from = {.bytes = whole_in.bytes}, .to = {.bytes = whole_out.bytes}};
  for (usize a = 0; a < in.size(); ++a) {
    const i64 stride = out[a] == 1 ? 0 : whole_out.strides[a];
    copy.dims.insert(copy.dims.end(), {out[a] / in[a], in[a]});
    copy.from.strides.insert(copy.from.strides.end(), {0, whole_in.strides[a]});
    copy.to.strides.insert(copy.to.strides.end(), {stride * in[a], stride});
  }
  return std::vector{copy};
}

// Pieces of one tensor along an axis, which are the others one by one.
Copies pieces(const Group& group, const Value& all, const std::vector<Value*>& parts, bool split) {
  const Node& node = group.node();
  const usize axis = axis_of(node, node.integer("axis"), all.shape.rank());
  const StridedTensor whole_tensor = dense(all);
  std::vector<StridedCopy> out;
  i64 at = 0;
  for (usize i = 0; i < parts.size(); ++i) {
    StridedTensor piece = whole_tensor;
    piece.base = at * whole_tensor.strides[axis];
    at += parts[i]->shape[axis];
    if (parts[i]->shape.elements() == 0) continue;
    StridedCopy copy{.dims = parts[i]->shape.dims()};
    copy.from = split ? piece : dense(*parts[i]);
    copy.to = split ? dense(*parts[i]) : piece;
    copy.input = input_of(group, split ? &all : parts[i]);
    copy.output = split ? i : 0;
    out.push_back(std::move(copy));
  }
  return out;
}

Copies split_copy(const Group& group) { return pieces(group, *group.node().input(0), group.node().outputs(), true); }
Copies concat_copy(const Group& group) { return pieces(group, *group.node().output(), group.node().inputs(), false); }

// Blocks of depth become squares of positions: the axes in the order of the input, and where they go.
Copies depth_copy(const Group& group, bool to_depth) {
  const Node& node = group.node();
  const Value &deep = to_depth ? *node.output() : *node.input(0), &flat = to_depth ? *node.input(0) : *node.output();
  if (deep.shape.rank() != 4) return std::nullopt;
  const i64 block = node.integer("blocksize", 1), c = flat.shape[1], h = deep.shape[2], w = deep.shape[3];
  const i64 plane = h * w, row = w * block;
  // Axes: image, block row, block column, channel, row, column.
  const bool columns_first = to_depth || node.string("mode", "DCR") == "DCR";
  StridedCopy copy{.dims = {flat.shape[0], c, h, block, w, block}};
  const i64 far = columns_first ? c * plane : plane, channel = columns_first ? plane : plane * block * block;
  copy.from = {.strides = {c * block * block * plane, channel, w, far * block, 1, far}, .bytes = info(deep.type).bytes};
  copy.to = {.strides = {c * block * block * plane, plane * block * block, row * block, row, block, 1},
             .bytes = info(flat.type).bytes};
  if (!to_depth) return std::vector{copy};
  // In the order of the axes of the result.
  StridedCopy back{.from = {.bytes = copy.to.bytes}, .to = {.bytes = copy.from.bytes}};
  for (const usize a : {0, 3, 5, 1, 2, 4}) {
    back.dims.push_back(copy.dims[a]);
    back.from.strides.push_back(copy.to.strides[a]);
    back.to.strides.push_back(copy.from.strides[a]);
  }
  return std::vector{back};
}

}  // namespace

std::optional<std::vector<StridedCopy>> strided_copies(const Group& group) {
  const Node& node = group.node();
  for (const auto* const list : {&node.inputs(), &node.outputs()}) {
    for (const Value* const v : *list) {
      if (v != nullptr && (!v->shape.known() || v->format != isa::Format::ND)) return std::nullopt;
    }
  }
  if (node.type == "TransposeD") return transpose_copy(group);
  if (node.type == "StridedSliceV2") return slice_copy(group);
  if (node.type == "BroadcastTo") return broadcast_copy(group);
  if (node.type == "Tile") return tile_copy(group);
  if (node.type == "SplitV") return split_copy(group);
  if (node.type == "ConcatD") return concat_copy(group);
  if (node.type == "DepthToSpace") return depth_copy(group, false);
  if (node.type == "SpaceToDepth") return depth_copy(group, true);
  return std::nullopt;
}

}  // namespace vinci::graph
