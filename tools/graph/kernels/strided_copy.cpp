// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/strided_copy.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "tools/graph/ops/op.h"
#include "tools/graph/ops/slice.h"

namespace vinci::graph {
namespace {

using Copies = std::optional<std::vector<StridedCopy>>;
using isa::Format;

constexpr auto kBlock = static_cast<i64>(kC0);

// Extents of a tensor as stored in memory.
Dims stored_dims(const Value& v) {
  Dims dims = v.shape.dims();
  if (v.format != Format::NC1HWC0) return dims;
  dims[1] = ceil_div(dims[1], kBlock);
  dims.push_back(kBlock);
  return dims;
}

// Extents of 1 have stride 0; nothing depends on it.
StridedTensor dense(const Value& v) {
  const Dims dims = stored_dims(v);
  return {.base = 0, .strides = broadcast_strides(dims, dims), .bytes = info(v.type).bytes};
}

usize input_of(const Group& group, const Value* v) {
  return static_cast<usize>(std::ranges::find(group.inputs(), v) - group.inputs().begin());
}

// One copy from input 0 to the whole of output 0.
Copies whole(const Value& out, StridedTensor from) {
  return std::vector{StridedCopy{.dims = stored_dims(out), .from = std::move(from), .to = dense(out)}};
}

std::vector<i64> permutation(const Node& node) {
  const usize rank = node.input(0)->shape.rank();
  std::vector<i64> perm = node.integers("perm");
  if (perm.empty()) {
    perm.resize(rank);
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  for (i64& p : perm)
    p = static_cast<i64>(axis_of(node, p, rank));
  return perm;
}

constexpr std::array<i64, 4> kChannelsLast{0, 2, 3, 1}, kChannelsFirst{0, 3, 1, 2};

// Between a map in NC1HWC0 and a tensor whose last axis has its channels: axes are those of the map.
Copies channels_copy(const Value& in, const Value& out) {
  const bool last = in.format == Format::NC1HWC0;
  const Value &map = last ? in : out, &flat = last ? out : in;
  StridedTensor far = dense(flat);
  const std::vector<i64> s = far.strides;
  const i64 channels = map.shape[1];
  far.strides = {s[0], channels == kBlock ? 0 : kBlock, s[1], s[2], 1};
  StridedCopy copy{.dims = stored_dims(map), .from = dense(map), .to = std::move(far)};
  if (!last) std::swap(copy.from, copy.to);
  return std::vector{std::move(copy)};
}

Copies transpose_copy(const Group& group) {
  const Node& node = group.node();
  if (node.input(0)->format != node.output()->format) return channels_copy(*node.input(0), *node.output());
  StridedTensor from = dense(*node.input(0));
  const std::vector<i64> strides = from.strides, perm = permutation(node);
  for (usize a = 0; a < perm.size(); ++a)
    from.strides[a] = strides[static_cast<usize>(perm[a])];
  return whole(*node.output(), std::move(from));
}

// The extents that a slice takes; none where they are not known.
std::optional<Slices> constant_slices(const Node& node) {
  std::array<std::vector<i64>, 5> lists;
  for (usize i = 1; i < 5; ++i) {
    if (node.input(i) == nullptr) continue;
    if (!node.input(i)->constant) return std::nullopt;
    lists[i] = node.input(i)->constant->array().integers();
  }
  return slices_of(node, node.input(0)->shape.dims(), lists[1], lists[2], lists[3], lists[4]);
}

Copies slice_copy(const Group& group) {
  const Node& node = group.node();
  const std::optional<Slices> s = constant_slices(node);
  if (!s) return std::nullopt;
  StridedTensor from = dense(*node.input(0));
  const bool blocks = node.input(0)->format == Format::NC1HWC0;
  for (usize a = 0; a < s->start.size(); ++a) {
    from.base += s->start[a] / (blocks && a == 1 ? kBlock : 1) * from.strides[a];
    from.strides[a] *= s->step[a];
  }
  return whole(*node.output(), std::move(from));
}

Copies broadcast_copy(const Group& group) {
  const Node& node = group.node();
  StridedTensor from = dense(*node.input(0));
  from.strides = broadcast_strides(stored_dims(*node.input(0)), stored_dims(*node.output()));
  return whole(*node.output(), std::move(from));
}

// An axis of repetitions behind rows, and one behind columns.
Copies upsample_copy(const Group& group) {
  const Node& node = group.node();
  const Dims in = stored_dims(*node.input(0));
  const StridedTensor from = dense(*node.input(0)), to = dense(*node.output());
  const i64 down = node.integer("stride_h", 1), across = node.integer("stride_w", 1);
  const i64 pixel = in.size() > 4 ? in[4] : 1, row = in[3] * across * pixel;
  StridedCopy copy{.dims = {in[0], in[1], in[2], down, in[3], across}};
  copy.from = {.strides = {from.strides[0], from.strides[1], in[3] * pixel, 0, pixel, 0}, .bytes = from.bytes};
  copy.to = {.strides = {to.strides[0], to.strides[1], down * row, row, across * pixel, pixel}, .bytes = to.bytes};
  if (in.size() > 4) {
    copy.dims.push_back(pixel);
    copy.from.strides.push_back(1);
    copy.to.strides.push_back(1);
  }
  return std::vector{copy};
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

// Elements of a result, `to_step` apart, that are elements of the operand, `from_step` apart.
struct Run {
  i64 to, to_step, from, from_step, count;
};

// Positions as runs of every step-th of them.
std::vector<Run> runs_of(std::span<const i64> positions, i64 step) {
  std::vector<Run> out;
  const i64 size = std::ssize(positions);
  const auto at = [&](i64 i) { return positions[static_cast<usize>(i)]; };
  for (i64 first = 0; first < step; ++first) {
    for (i64 i = first; i < size;) {
      Run run{
          .to = i, .to_step = step, .from = at(i), .from_step = i + step < size ? at(i + step) - at(i) : 1, .count = 1};
      for (i += step; i < size && at(i) == run.from + run.count * run.from_step; i += step)
        ++run.count;
      out.push_back(run);
    }
  }
  return out;
}

// Constant positions along an axis, as in a resize by a factor that is no whole number.
Copies gather_copy(const Group& group) {
  constexpr i64 kMaxStep = 8;
  const Node& node = group.node();
  const Value &in = *node.input(0), &index = *node.input(1);
  if (!index.constant || index.shape.rank() != 1) return std::nullopt;
  const usize axis = axis_of(node, node.integer("axis"), in.shape.rank());
  const i64 extent = in.shape[axis];
  std::vector<i64> positions = index.constant->array().integers();
  for (i64& p : positions) {
    p += p < 0 ? extent : 0;
    if (p < 0 || p >= extent) return std::nullopt;
  }
  std::vector<Run> runs = runs_of(positions, 1);
  for (i64 step = 2; step <= kMaxStep; ++step) {
    if (std::vector<Run> other = runs_of(positions, step); other.size() < runs.size()) runs = std::move(other);
  }
  if (runs.size() > kMostTensors) return std::nullopt;
  std::vector<StridedCopy> out;
  for (const Run& run : runs) {
    StridedCopy copy{.dims = stored_dims(in), .from = dense(in), .to = dense(*node.output())};
    copy.dims[axis] = run.count;
    copy.from.base = run.from * copy.from.strides[axis];
    copy.from.strides[axis] *= run.from_step;
    copy.to.base = run.to * copy.to.strides[axis];
    copy.to.strides[axis] *= run.to_step;
    out.push_back(std::move(copy));
  }
  return out;
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
    const Dims dims = stored_dims(*parts[i]);
    at += dims[axis];
    if (parts[i]->shape.elements() == 0) continue;
    StridedCopy copy{.dims = dims};
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
  const Dims dims = stored_dims(deep);
  const i64 block = node.integer("blocksize", 1), c = stored_dims(flat)[1], h = dims[2], w = dims[3];
  const i64 pixel = dims.size() > 4 ? dims[4] : 1, plane = h * w * pixel, row = w * block * pixel;
  // Axes: image, block row, block column, channel, row, column, and the channels of a block where there are any.
  const bool columns_first = to_depth || node.string("mode", "DCR") == "DCR";
  StridedCopy copy{.dims = {dims[0], c, h, block, w, block}};
  const i64 far = columns_first ? c * plane : plane, channel = columns_first ? plane : plane * block * block;
  copy.from = {.strides = {c * block * block * plane, channel, w * pixel, far * block, pixel, far},
               .bytes = info(deep.type).bytes};
  copy.to = {.strides = {c * block * block * plane, plane * block * block, row * block, row, block * pixel, pixel},
             .bytes = info(flat.type).bytes};
  // In the order of the axes of the result; of two of blocks, so that many of them are in a row of the map.
  std::vector<usize> order{0, 1, 2, 3, 4, 5};
  if (to_depth) order = {0, 3, 5, 1, 2, 4};
  if (!to_depth && pixel > 1) order = {0, 3, 5, 1, 2, 4};
  StridedCopy out{.from = {.bytes = copy.to.bytes}, .to = {.bytes = copy.from.bytes}};
  for (const usize a : order) {
    out.dims.push_back(copy.dims[a]);
    out.from.strides.push_back(to_depth ? copy.to.strides[a] : copy.from.strides[a]);
    out.to.strides.push_back(to_depth ? copy.from.strides[a] : copy.to.strides[a]);
  }
  if (pixel > 1) {
    out.dims.push_back(pixel);
    out.from.strides.push_back(1);
    out.to.strides.push_back(1);
  }
  return std::vector{out};
}

// Blocks
// ---------------------------------------------------------------------------------------------------------

bool is_f16_map(const Value* v) { return v->shape.known() && v->shape.rank() == 4 && v->type == DataType::f16; }

bool whole_blocks(i64 channels) { return channels % kBlock == 0; }

// Whether no element of a map leaves its place in its block.
bool keeps_blocks(const Node& node) {
  const Value &in = *node.input(0), &out = *node.output();
  if (node.type == "Upsample") return true;
  if (node.type == "BroadcastTo") return in.shape[1] == out.shape[1];
  if (node.type == "GatherV2") return node.input(1)->shape.rank() == 1 && axis_of(node, node.integer("axis"), 4) != 1;
  if (node.type == "DepthToSpace") return node.string("mode", "DCR") == "DCR" && whole_blocks(out.shape[1]);
  if (node.type == "SpaceToDepth") return whole_blocks(in.shape[1]);
  if (node.type == "StridedSliceV2") {
    const std::optional<Slices> s = constant_slices(node);
    if (!s || s->step[1] != 1 || !whole_blocks(s->start[1])) return false;
    return whole_blocks(out.shape[1]) || s->start[1] + out.shape[1] == in.shape[1];
  }
  if (node.type != "ConcatD" && node.type != "SplitV") return false;
  if (axis_of(node, node.integer("axis"), 4) != 1) return true;
  const std::vector<Value*>& pieces = node.type == "ConcatD" ? node.inputs() : node.outputs();
  return std::all_of(pieces.begin(), pieces.end() - 1, [](const Value* v) { return whole_blocks(v->shape[1]); });
}

}  // namespace

std::optional<Formats> block_formats(const Node& node) {
  if (node.inputs().empty() || node.type == "FusedOp") return std::nullopt;
  const Group group(node);
  // Positions are no map.
  const auto is_index = [&](const Value* v) { return node.type == "GatherV2" && v == node.input(1); };
  const auto fits = [&](const Value* v) { return is_f16_map(v) || (is_index(v) && v->constant); };
  if (group.inputs().empty() || !std::ranges::all_of(group.inputs(), fits) ||
      !std::ranges::all_of(group.outputs(), is_f16_map))
    return std::nullopt;
  if (node.type == "TransposeD") {
    const std::vector<i64> perm = permutation(node);
    if (std::ranges::equal(perm, kChannelsLast) && whole_blocks(node.input(0)->shape[1]))
      return Formats{.inputs = {Format::NC1HWC0}, .outputs = {Format::ND}};
    if (std::ranges::equal(perm, kChannelsFirst) && whole_blocks(node.output()->shape[1]))
      return Formats{.inputs = {Format::ND}, .outputs = {Format::NC1HWC0}};
    return std::nullopt;
  }
  if (!keeps_blocks(node)) return std::nullopt;
  Formats out{.inputs = {}, .outputs = std::vector(group.outputs().size(), Format::NC1HWC0)};
  for (const Value* const v : group.inputs())
    out.inputs.push_back(is_index(v) ? Format::ND : Format::NC1HWC0);
  return out;
}

std::optional<std::vector<StridedCopy>> strided_copies(const Group& group) {
  const Node& node = group.node();
  bool blocks = false;
  for (const auto* const list : {&node.inputs(), &node.outputs()}) {
    for (const Value* const v : *list) {
      if (v == nullptr) continue;
      if (!v->shape.known() || (v->format != Format::ND && v->format != Format::NC1HWC0)) return std::nullopt;
      blocks = blocks || v->format == Format::NC1HWC0;
    }
  }
  if (blocks) {
    const std::optional<Formats> formats = block_formats(node);
    if (!formats || !std::ranges::equal(group.inputs(), formats->inputs, {}, &Value::format) ||
        !std::ranges::equal(group.outputs(), formats->outputs, {}, &Value::format))
      return std::nullopt;
  }
  if (node.type == "TransposeD") return transpose_copy(group);
  if (node.type == "StridedSliceV2") return slice_copy(group);
  if (node.type == "BroadcastTo") return broadcast_copy(group);
  if (node.type == "Tile") return tile_copy(group);
  if (node.type == "Upsample") return upsample_copy(group);
  if (node.type == "GatherV2") return gather_copy(group);
  if (node.type == "SplitV") return split_copy(group);
  if (node.type == "ConcatD") return concat_copy(group);
  if (node.type == "DepthToSpace") return depth_copy(group, false);
  if (node.type == "SpaceToDepth") return depth_copy(group, true);
  return std::nullopt;
}

std::optional<StridedCopy> sole_copy(const Group& group) {
  const auto in_blocks = [](const Value* v) { return v->format != isa::Format::ND; };
  if (group.nodes().size() != 1 || group.outputs().size() != 1 || std::ranges::any_of(group.inputs(), in_blocks) ||
      in_blocks(group.outputs()[0]))
    return std::nullopt;
  const auto copies = strided_copies(group);
  if (!copies || copies->size() != 1 || (*copies)[0].input >= group.inputs().size()) return std::nullopt;
  return (*copies)[0];
}

}  // namespace vinci::graph
