// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/graph/kernels/scalar_writer.h"
#include "tools/graph/kernels/strided_copy.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"

// Nodes that choose elements by position or by index, on the scalar unit. An item is an element of the result.
namespace vinci::graph {
namespace {

using isa::Reg;

std::vector<i64> dense(std::span<const i64> dims) { return broadcast_strides(dims, dims); }

AroundAxis around(const Node& node, const Value& v, i64 otherwise = 0) {
  return around_axis(v.shape.dims(), axis_of(node, node.integer("axis", otherwise), v.shape.rank()));
}

void write_gather(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  const AroundAxis a = around(node, *node.input(0));
  const u64 indices = node.input(1)->shape.elements(), all = output_elements(w.group());
  const Reg at = w.reg(), t = w.reg();
  w.digit(t, item, a.inner, indices, a.outer > 1);
  w.load(at, node.input(1), t);
  w.place(at, static_cast<i64>(a.extent));
  w.digit(t, item, a.inner * indices, std::max<u64>(a.outer, 2), false);
  w.p().mul(t, t, a.extent);
  w.p().add(at, at, t);
  w.p().mul(at, at, a.inner);
  w.digit(t, item, 1, a.inner, a.inner < all);
  w.p().add(at, at, t);
  w.copy(node.output(), item, node.input(0), at);
}

void write_gather_elements(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  const Dims &in = node.input(0)->shape.dims(), &out = node.output()->shape.dims();
  const usize axis = axis_of(node, node.integer("axis"), in.size());
  std::vector<i64> strides = dense(in);
  const i64 along = in[axis] == 1 ? 0 : strides[axis];
  strides[axis] = 0;
  const Reg at = w.reg(), index = w.reg();
  w.weigh(at, item, out, strides);
  w.load(index, node.input(1), item);
  w.place(index, in[axis]);
  w.p().mul(index, index, along);
  w.p().add(at, at, index);
  w.copy(node.output(), item, node.input(0), at);
}

// at += the sum of the numbers of a position, which begin at element `from` of the indices, times strides.
void add_position(ScalarWriter& w, Reg at, const Value* indices, Reg from, std::span<const i64> dims,
                  std::span<const i64> strides) {
  const Reg index = w.reg();
  for (usize d = 0; d < dims.size(); ++d) {
    w.load(index, indices, from);
    w.place(index, dims[d]);
    w.p().mul(index, index, strides[d]);
    w.p().add(at, at, index);
    w.p().add(from, from, 1);
  }
}

void write_gather_nd(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  const Dims& in = node.input(0)->shape.dims();
  const auto batch = static_cast<usize>(node.integer("batch_dims"));
  const auto depth = static_cast<usize>(node.input(1)->shape.dims().back());
  const std::vector<i64> strides = dense(in);
  const u64 piece = element_count(std::span(in).subspan(batch + depth)), positions = output_elements(w.group()) / piece;
  const u64 each = positions / element_count(std::span(in).first(batch));
  const Reg at = w.reg(), t = w.reg();
  w.digit(at, item, 1, piece, positions > 1);
  if (batch > 0) {
    w.p().div(t, item, piece * each);
    w.p().mul(t, t, element_count(std::span(in).subspan(batch)));
    w.p().add(at, at, t);
  }
  w.p().div(t, item, piece);
  w.p().mul(t, t, depth);
  add_position(w, at, node.input(1), t, std::span(in).subspan(batch, depth), std::span(strides).subspan(batch, depth));
  w.copy(node.output(), item, node.input(0), at);
}

// One item: the copy of the whole input, then update by update.
u64 one_item(const Group&) { return 1; }

std::string scatter_refuses(const Group& group) {
  const std::string how = group.node().string("reduction", "none");
  static constexpr auto kHow = std::to_array<std::string_view>({"none", "add", "mul", "max", "min"});
  if (std::ranges::find(kHow, how) == kHow.end()) return fmt::format("no updates with {}", how);
  return "";
}

// The input as the result, in blocks by way of UB; the scalar unit copies what fills none.
void copy_all(ScalarWriter& w) {
  using isa::PipeId;
  constexpr u64 kBlock = 32, kMost = kScatterBuffer / kBlock;
  const Node& node = w.node();
  isa::ProgramBuilder& p = w.p();
  const u64 elements = node.output()->shape.elements(), bytes = info(node.output()->type).bytes;
  const u64 blocks = scalar(node.input(0)) ? 0 : elements * bytes / kBlock, copied = blocks * kBlock / bytes;
  if (blocks > 0) {
    const isa::ProgramBuilder::Scope scope(p.scope());
    const Reg from = w.reg(), to = w.reg();
    w.address(from, node.input(0), 0);
    w.address(to, node.output(), 0);
    const auto part = [&](u64 length) {
      p.copy_gm_to_ubuf(0, from, 0, 1, length, 0, 0);
      p.set_flag(PipeId::MTE2, PipeId::MTE3, 0);
      p.wait_flag(PipeId::MTE2, PipeId::MTE3, 0);
      p.copy_ubuf_to_gm(to, 0, 0, 1, length, 0, 0);
      p.set_flag(PipeId::MTE3, PipeId::MTE2, 0);
      p.wait_flag(PipeId::MTE3, PipeId::MTE2, 0);
    };
    if (blocks >= kMost) {
      p.loop(blocks / kMost, [&](Reg) {
        part(kMost);
        p.add(from, from, kScatterBuffer);
        p.add(to, to, kScatterBuffer);
      });
    }
    if (blocks % kMost != 0) part(blocks % kMost);
    p.pipe_barrier(PipeId::ALL);  // the scalar unit goes on
  }
  if (copied < elements) {
    p.loop(elements - copied, [&](Reg i) {
      const isa::ProgramBuilder::Scope scope(p.scope());
      const Reg at = w.reg();
      p.add(at, i, copied);
      w.copy(node.output(), at, node.input(0), at);
    });
  }
}

void update(ScalarWriter& w, Reg to, const isa::Value& from) {
  const Node& node = w.node();
  const std::string how = node.string("reduction", "none");
  if (how == "none") return w.copy(node.output(), to, node.input(2), from);
  const Reg a = w.reg(), b = w.reg();
  w.load(a, node.output(), to);
  w.load(b, node.input(2), from);
  const Lane lane = lane_of(node.output()->type);
  const isa::Type type = lane == Lane::f32 ? isa::Type::f32 : isa::Type::s64;
  if (how == "max" || how == "min") {
    const Reg less = w.reg();
    w.compare(less, "lt", lane, how == "max" ? a : b, how == "max" ? b : a, node.output()->type == DataType::u64);
    w.select(a, less, b, a);
    return w.store(node.output(), to, a);
  }
  how == "add" ? w.p().add(type, a, a, b) : w.p().mul(type, a, a, b);
  w.store(node.output(), to, a);
}

void write_scatter_elements(ScalarWriter& w, Reg) {
  const Node& node = w.node();
  const Dims &out = node.output()->shape.dims(), &updates = node.input(1)->shape.dims();
  const usize axis = axis_of(node, node.integer("axis"), out.size());
  std::vector<i64> strides = dense(out);
  const i64 along = out[axis] == 1 ? 0 : strides[axis];
  strides[axis] = 0;
  copy_all(w);
  w.p().loop(element_count(updates), [&](Reg i) {
    const Reg at = w.reg(), index = w.reg();
    w.weigh(at, i, updates, strides);
    w.load(index, node.input(1), i);
    w.place(index, out[axis]);
    w.p().mul(index, index, along);
    w.p().add(at, at, index);
    update(w, at, i);
  });
}

void write_scatter_nd(ScalarWriter& w, Reg) {
  const Node& node = w.node();
  const Dims& out = node.output()->shape.dims();
  const auto depth = static_cast<usize>(node.input(1)->shape.dims().back());
  const std::vector<i64> strides = dense(out);
  const u64 piece = element_count(std::span(out).subspan(depth));
  copy_all(w);
  w.p().loop(node.input(2)->shape.elements(), [&](Reg i) {
    const Reg at = w.reg(), t = w.reg();
    w.p().rem(at, i, piece);
    w.p().div(t, i, piece);
    w.p().mul(t, t, depth);
    add_position(w, at, node.input(1), t, std::span(out).first(depth), std::span(strides).first(depth));
    update(w, at, i);
  });
}

void write_one_hot(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  const AroundAxis a = around(node, *node.output(), -1);
  const Reg t = w.reg(), place = w.reg(), index = w.reg(), on = w.reg();
  w.digit(t, item, a.inner * a.extent, std::max<u64>(a.outer, 2), false);
  w.p().mul(t, t, a.inner);
  w.digit(place, item, 1, a.inner, true);
  w.p().add(t, t, place);
  w.load(index, node.input(0), t);
  w.convert(index, Lane::integer, index, lane_of(node.input(0)->type));
  w.wrap(index, static_cast<i64>(a.extent));
  w.digit(place, item, a.inner, a.extent, a.outer > 1);
  w.p().cmp_eq(place, place, index);
  w.load(on, node.input(2), 1);
  w.load(t, node.input(2), 0);
  w.select(on, place, on, t);
  w.store(node.output(), item, on);
}
std::string one_hot_refuses(const Group& group) {
  return group.node().input(2)->shape.elements() == 2 ? "" : "its values are not two";
}

void write_triangle(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  const Dims& dims = node.output()->shape.dims();
  const u64 columns = static_cast<u64>(dims.back()), rows = static_cast<u64>(dims[dims.size() - 2]);
  const i64 k = node.input(1) == nullptr ? 0 : static_cast<i64>(*scalar(node.input(1)));
  const Reg row = w.reg(), column = w.reg(), zero = w.reg();
  w.digit(row, item, columns, rows, true);
  w.digit(column, item, 1, columns, true);
  w.p().sub(column, column, row);
  if (node.integer("upper", 1) != 0) {
    w.p().cmp_le(column, k, column);
  } else {
    w.p().cmp_le(column, column, k);
  }
  w.p().mov(zero, 0);
  w.load(row, node.input(0), item);
  w.select(row, column, row, zero);
  w.store(node.output(), item, row);
}
std::string triangle_refuses(const Group& group) {
  return group.node().input(1) == nullptr || scalar(group.node().input(1)) ? "" : "its diagonal is no constant";
}

void write_eye(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  const u64 columns = static_cast<u64>(node.output()->shape[1]);
  const Reg row = w.reg(), column = w.reg();
  w.p().div(row, item, columns);
  w.digit(column, item, 1, columns, true);
  w.p().sub(column, column, row);
  w.p().cmp_eq(column, column, node.integer("k"));
  w.convert(column, lane_of(node.output()->type), column, Lane::integer);
  w.store(node.output(), item, column);
}

std::string pad_refuses(const Group& group) {
  const Node& node = group.node();
  if (!node.input(1)->constant) return "its pads are no constants";
  if (node.input(2) != nullptr && !scalar(node.input(2)) && group.resolve(node.input(2))->shape.elements() != 1)
    return "its number is no number";
  return "";
}

// A position outside of the axis becomes the one inside whose element is read for it.
void inside_of(ScalarWriter& w, Reg at, const std::string& mode, i64 extent) {
  isa::ProgramBuilder& p = w.p();
  if (mode == "edge" || extent == 1) {
    p.max(at, at, 0);
    return p.min(at, at, extent - 1);
  }
  const i64 period = mode == "wrap" ? extent : 2 * (extent - 1);
  p.rem(at, at, period);
  w.wrap(at, period);
  if (mode == "wrap") return;
  const Reg other = w.reg();
  p.sub(other, period, at);
  p.min(at, at, other);
}

void write_pad(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  isa::ProgramBuilder& p = w.p();
  const std::vector<i64> pads = node.input(1)->constant->array().integers();
  const std::string mode = node.string("mode", "constant");
  const Dims &in = node.input(0)->shape.dims(), &out = node.output()->shape.dims();
  const std::vector<i64> strides = dense(in);
  const Reg from = w.reg(), at = w.reg(), inside = w.reg(), t = w.reg();
  p.mov(from, 0);
  p.mov(inside, 1);
  u64 below = 1;
  const u64 all = element_count(out);
  for (usize a = in.size(); a-- > 0;) {
    const u64 extent = static_cast<u64>(out[a]);
    w.digit(at, item, below, extent, below * extent < all);
    below *= extent;
    if (pads[a] != 0) p.sub(at, at, pads[a]);
    if (mode == "constant") {
      p.cmp_le(t, 0, at);
      p.and_(inside, inside, t);
      p.cmp_lt(t, at, in[a]);
      p.and_(inside, inside, t);
      p.max(at, at, 0);
      p.min(at, at, in[a] - 1);
    } else {
      const isa::ProgramBuilder::Scope scope(p.scope());
      inside_of(w, at, mode, in[a]);
    }
    p.mul(at, at, in[a] == 1 ? 0 : strides[a]);
    p.add(from, from, at);
  }
  if (mode != "constant") return w.copy(node.output(), item, node.input(0), from);
  w.load(at, node.input(0), from);
  if (node.input(2) != nullptr) {
    w.load(t, node.input(2), 0);
  } else {
    p.mov(t, 0);
  }
  w.select(at, inside, at, t);
  w.store(node.output(), item, at);
}

void write_reverse(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  isa::ProgramBuilder& p = w.p();
  const Dims& dims = node.output()->shape.dims();
  const usize batch = axis_of(node, node.integer("batch_axis", 1), dims.size());
  const usize time = axis_of(node, node.integer("time_axis", 0), dims.size());
  const AroundAxis b = around_axis(dims, batch), t = around_axis(dims, time);
  const Reg length = w.reg(), step = w.reg(), moved = w.reg(), zero = w.reg();
  w.digit(step, item, b.inner, b.extent, true);
  w.load(length, node.input(1), step);
  p.max(length, length, 0);
  p.min(length, length, t.extent);
  w.digit(step, item, t.inner, t.extent, true);
  p.sub(moved, length, step);
  p.sub(moved, moved, step);
  p.sub(moved, moved, 1);
  p.mul(moved, moved, t.inner);
  p.cmp_lt(step, step, length);
  p.mov(zero, 0);
  w.select(moved, step, moved, zero);
  p.add(moved, moved, item);
  w.copy(node.output(), item, node.input(0), moved);
}

void write_copies(ScalarWriter& w, Reg item) {
  const std::vector<StridedCopy> copies = *strided_copies(w.group());
  const Reg from = w.reg(), to = w.reg(), i = w.reg();
  for (const StridedCopy& copy : copies) {
    const u64 count = element_count(copy.dims);
    w.p().loop(i, item, count, output_elements(w.group()), [&] {
      w.weigh(from, i, copy.dims, copy.from.strides);
      w.weigh(to, i, copy.dims, copy.to.strides);
      w.p().add(from, from, copy.from.base);
      w.p().add(to, to, copy.to.base);
      const Node& node = w.node();
      w.copy(node.output(copy.output), to, w.group().inputs()[copy.input], from);
    });
  }
}
std::string copies_refuse(const Group& group) {
  const auto copies = strided_copies(group);
  if (!copies || copies->empty()) return "it is no move with known positions";
  for (const StridedCopy& copy : *copies) {
    if (copy.input >= group.inputs().size()) return "an operand is a number";
  }
  return "";
}

constexpr auto kIndexOps = std::to_array<ScalarOp>({
    {"BroadcastTo", copies_refuse, output_elements, write_copies},
    {"ConcatD", copies_refuse, output_elements, write_copies},
    {"DepthToSpace", copies_refuse, output_elements, write_copies},
    {"EyeLike", never_refuses, output_elements, write_eye},
    {"GatherElements", never_refuses, output_elements, write_gather_elements},
    {"GatherNd", never_refuses, output_elements, write_gather_nd},
    {"GatherV2", never_refuses, output_elements, write_gather},
    {"OneHot", one_hot_refuses, output_elements, write_one_hot},
    {"PadV3", pad_refuses, output_elements, write_pad},
    {"ReverseSequence", never_refuses, output_elements, write_reverse},
    {"ScatterElements", scatter_refuses, one_item, write_scatter_elements, true},
    {"ScatterNdUpdate", scatter_refuses, one_item, write_scatter_nd, true},
    {"SpaceToDepth", copies_refuse, output_elements, write_copies},
    {"SplitV", copies_refuse, output_elements, write_copies},
    {"StridedSliceV2", copies_refuse, output_elements, write_copies},
    {"Tile", copies_refuse, output_elements, write_copies},
    {"TransposeD", copies_refuse, output_elements, write_copies},
    {"Trilu", triangle_refuses, output_elements, write_triangle},
    {"Upsample", copies_refuse, output_elements, write_copies},
});

}  // namespace

std::span<const ScalarOp> scalar_index_ops() { return kIndexOps; }

}  // namespace vinci::graph
