// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <array>
#include <limits>

#include "tools/graph/kernels/scalar_writer.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/ops/window.h"
#include "tools/graph/passes/match.h"

// Nodes that go along an axis, on the scalar unit. An item is a row: the elements along the axis.
namespace vinci::graph {
namespace {

using isa::Reg, isa::Type;

struct Axis {
  u64 extent, inner;
};
Axis axis_at(const Node& node, i64 axis) {
  const AroundAxis a = around_axis(node.input(0)->shape.dims(), axis_of(node, axis, node.input(0)->shape.rank()));
  return {a.extent, a.inner};
}
Axis axis_of_node(const Node& node, i64 otherwise) { return axis_at(node, node.integer("axis", otherwise)); }

// first = number of the first element of the row of a tensor with so many elements along the axis.
void first_of_row(ScalarWriter& w, Reg first, Reg item, Axis a) {
  const Reg t = w.reg();
  w.p().div(t, item, a.inner);
  w.p().mul(t, t, a.extent * a.inner);
  w.p().rem(first, item, a.inner);
  w.p().add(first, first, t);
}

u64 rows_along(const Group& group, i64 otherwise) {
  return group.node().input(0)->shape.elements() / axis_of_node(group.node(), otherwise).extent;
}
u64 rows_along_first(const Group& group) { return rows_along(group, 0); }
u64 rows_along_last(const Group& group) { return rows_along(group, -1); }

// index = position of the largest (smallest) element of the row, which begins at `first`.
void find_extreme(ScalarWriter& w, Reg index, Reg first, Axis a, bool largest, bool last) {
  const Value* const in = w.node().input(0);
  const Lane lane = lane_of(in->type);
  const bool whole = in->type == DataType::u64;
  isa::ProgramBuilder& p = w.p();
  const Reg best = w.reg(), at = w.reg(), value = w.reg(), better = w.reg(), i = w.reg();
  w.load(best, in, first);
  p.mov(index, 0);
  p.mov(at, first);
  p.loop(i, 1, a.extent, 1, [&] {
    p.add(at, at, a.inner);
    w.load(value, in, at);
    const std::string_view op = last ? "le" : "lt";
    w.compare(better, op, lane, largest ? best : value, largest ? value : best, whole);
    w.select(best, better, value, best);
    w.select(index, better, i, index);
  });
}

template <bool largest>
void write_arg(ScalarWriter& w, Reg item) {
  const Axis a = axis_of_node(w.node(), 0);
  const Reg first = w.reg(), index = w.reg();
  first_of_row(w, first, item, a);
  find_extreme(w, index, first, a, largest, w.node().integer("select_last_index") != 0);
  w.store(w.node().output(), item, index);
}

void write_hardmax(ScalarWriter& w, Reg item) {
  const Axis a = axis_of_node(w.node(), -1);
  const Value* const out = w.node().output();
  isa::ProgramBuilder& p = w.p();
  const Reg first = w.reg(), index = w.reg();
  first_of_row(w, first, item, a);
  find_extreme(w, index, first, a, true, false);
  const Reg one = w.reg();
  p.loop(a.extent, [&](Reg i) {
    p.cmp_eq(one, i, index);
    w.convert(one, lane_of(out->type), one, Lane::integer);
    w.store(out, first, one);
    p.add(first, first, a.inner);
  });
}

std::string top_k_refuses(const Group& group) {
  return group.node().input(0)->type == DataType::u64 ? "u64 is not sorted" : "";
}

// The next one is the largest of those behind the one before: smaller, or equal with a higher position.
void write_top_k(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  isa::ProgramBuilder& p = w.p();
  const Value* const in = node.input(0);
  const Axis a = axis_of_node(node, -1);
  const u64 k = node.output()->shape.elements() / (in->shape.elements() / a.extent);
  const Lane lane = lane_of(in->type);
  const bool largest = node.integer("largest", 1) != 0;
  const Reg first = w.reg(), to = w.reg(), before = w.reg(), before_at = w.reg(), best = w.reg(), index = w.reg(),
            value = w.reg(), better = w.reg(), c = w.reg(), at = w.reg(), i = w.reg();
  // yes = x comes before y in the order.
  const auto precedes = [&](Reg yes, Reg x, Reg y) { w.compare(yes, "lt", lane, largest ? y : x, largest ? x : y); };
  first_of_row(w, first, item, a);
  first_of_row(w, to, item, {.extent = k, .inner = a.inner});
  p.mov(before_at, -1);
  p.mov(before, 0);
  p.loop(k, [&](Reg) {
    p.mov(index, -1);
    p.mov(best, 0);
    p.mov(at, first);
    p.loop(i, 0, a.extent, 1, [&] {
      w.load(value, in, at);
      w.compare(better, "eq", lane, value, before);
      p.cmp_lt(c, before_at, i);
      p.and_(better, better, c);
      precedes(c, before, value);
      p.or_(better, better, c);
      p.shr(c, before_at, 63);  // there is none before
      p.or_(better, better, c);
      {
        const isa::ProgramBuilder::Scope scope(p.scope());
        const Reg first_found = w.reg();
        p.shr(first_found, index, 63);
        precedes(c, value, best);
        p.or_(c, c, first_found);
      }
      p.and_(better, better, c);
      w.select(best, better, value, best);
      w.select(index, better, i, index);
      p.add(at, at, a.inner);
    });
    p.mov(before, best);
    p.mov(before_at, index);
    w.store(node.output(), to, best);
    if (node.outputs().size() > 1) {
      p.mov(value, index);
      w.store(node.output(1), to, value);
    }
    p.add(to, to, a.inner);
  });
}

std::string cumsum_refuses(const Group& group) {
  return scalar(group.node().input(1)) ? "" : "its axis is no constant";
}
Axis cumsum_axis(const Node& node) { return axis_at(node, static_cast<i64>(*scalar(node.input(1)))); }
u64 cumsum_rows(const Group& group) {
  return group.node().input(0)->shape.elements() / cumsum_axis(group.node()).extent;
}
void write_cumsum(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  isa::ProgramBuilder& p = w.p();
  const Axis a = cumsum_axis(node);
  const bool exclusive = node.integer("exclusive") != 0, reverse = node.integer("reverse") != 0;
  const Type type = lane_of(node.input(0)->type) == Lane::f32 ? Type::f32 : Type::s64;
  const Reg at = w.reg(), sum = w.reg(), value = w.reg(), stored = w.reg();
  first_of_row(w, at, item, a);
  if (reverse) p.add(at, at, (a.extent - 1) * a.inner);
  p.mov(sum, 0);
  p.loop(a.extent, [&](Reg) {
    w.load(value, node.input(0), at);
    if (exclusive) p.mov(stored, sum);
    p.add(type, sum, sum, value);
    if (!exclusive) p.mov(stored, sum);
    w.store(node.output(), at, stored);
    reverse ? p.sub(at, at, a.inner) : p.add(at, at, a.inner);
  });
}

// Reductions over the last axes
// -----------------------------------------------------------------------------------

std::string reduction_refuses(const Group& group) {
  const Node& node = group.node();
  if (node.input(1) == nullptr) return "";
  if (!node.input(1)->constant) return "its axes are no constants";
  const usize rank = node.input(0)->shape.rank();
  std::vector<bool> reduced(rank);
  for (const i64 a : node.input(1)->constant->array().integers())
    reduced[axis_of(node, a, rank)] = true;
  bool seen = false;
  for (usize a = 0; a < rank; ++a) {
    seen = seen || reduced[a];
    if (seen && !reduced[a] && node.input(0)->shape[a] != 1) return "its axes are not the last ones";
  }
  if (lane_of(node.input(0)->type) == Lane::integer && node.type == "ReduceL2") return "no root of integers";
  return "";
}

void write_reduction(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  isa::ProgramBuilder& p = w.p();
  const Value* const in = node.input(0);
  const Lane lane = lane_of(in->type);
  const Type type = lane == Lane::f32 ? Type::f32 : Type::s64;
  const u64 count = in->shape.elements() / output_elements(w.group());
  const bool largest = node.type == "ReduceMax", extreme = largest || node.type == "ReduceMin";
  const Reg at = w.reg(), result = w.reg(), value = w.reg(), c = w.reg();
  p.mul(at, item, count);
  if (extreme) {
    w.load(result, in, at);
  } else if (node.type == "ReduceProd") {
    p.mov(result, lane == Lane::f32 ? isa::Value(isa::f32(1)) : isa::Value(1));
  } else {
    p.mov(result, 0);
  }
  p.loop(count, [&](Reg) {
    w.load(value, in, at);
    if (extreme) {
      w.compare(c, "lt", lane, largest ? result : value, largest ? value : result, in->type == DataType::u64);
      w.select(result, c, value, result);
    } else if (node.type == "ReduceProd") {
      p.mul(type, result, result, value);
    } else {
      if (node.type == "ReduceSumSquare" || node.type == "ReduceL2") p.mul(type, value, value, value);
      p.add(type, result, result, value);
    }
    p.add(at, at, 1);
  });
  if (node.type == "ReduceMean" && lane == Lane::f32)
    p.div(Type::f32, result, result, isa::f32(static_cast<float>(count)));
  if (node.type == "ReduceMean" && lane != Lane::f32) p.div(result, result, count);
  if (node.type == "ReduceL2") p.sqrt(Type::f32, result, result);
  w.store(node.output(), item, result);
}

// Windows
// ---------------------------------------------------------------------------------------------------------

Window window_at(const Node& node) {
  const Dims& in = node.input(0)->shape.dims();
  return window_of(node, {in.begin() + 2, in.end()}, node.integers("kernel_shape"));
}

std::string window_refuses(const Group& group) {
  const Node& node = group.node();
  if (node.outputs().size() > 1 && node.integer("storage_order") != 0) return "its indices go by columns";
  if (node.input(0)->shape.rank() > 5) return "it has more than three axes";
  if (node.type == "LpPool" && node.integer("p", 2) != 1 && node.integer("p", 2) != 2)
    return "its p is neither 1 nor 2";
  if (lane_of(node.input(0)->type) == Lane::integer && node.type != "MaxPool") return "it is no pooling of floats";
  return "";
}

// Element by element over the points of the window.
class PoolWriter {
 public:
  PoolWriter(ScalarWriter& w, Reg item)
      : w_(w), p_(w.p()), node_(w.node()), window_(window_at(w.node())), item_(item), lane_(lane_of(in()->type)) {}

  void write() {
    if (node_.type == "MaxPool") {
      p_.mov(result_, lane_ == Lane::f32 ? isa::Value(u64{0xff800000}) : isa::Value(std::numeric_limits<i64>::min()));
    } else {
      p_.mov(result_, 0);
    }
    p_.mov(which_, 0);
    p_.mov(count_, 0);
    // The map that the element belongs to.
    p_.div(base_, item_, element_count(window_.out));
    p_.mul(base_, base_, element_count(window_.in));
    axis(0, base_);
    finish();
  }

 private:
  const Value* in() const { return w_.node().input(0); }

  // Points along the axes from `a` on. `at` is the element so far; below 0 where the point is in the padding, which
  // only means that count their padding have.
  void axis(usize a, Reg at) {
    if (a == window_.axes()) return point(at);
    const isa::ProgramBuilder::Scope scope(p_.scope());
    const Reg place = w_.reg(), next = w_.reg(), k = w_.reg();
    const u64 below = element_count(std::span(window_.out).subspan(a + 1));
    const i64 stride = static_cast<i64>(element_count(std::span(window_.in).subspan(a + 1)));
    w_.digit(place, item_, below, static_cast<u64>(window_.out[a]), true);
    p_.mul(place, place, window_.stride[a]);
    p_.sub(place, place, window_.pad_begin[a]);
    const bool padding = node_.type == "AvgPool" && node_.integer("count_include_pad") != 0;
    p_.loop(k, 0, window_.kernel[a], 1, [&] {
      const isa::Target outside = p_.label("outside");
      if (!padding) {
        p_.blt(place, 0, outside);
        p_.bge(place, window_.in[a], outside);
        p_.mul(next, place, stride);
        p_.add(next, next, at);
      } else {
        // Outside of the map is the element before all; in the padding it counts, beyond it does not.
        const isa::Target in_map = p_.label("in_map"), done = p_.label("done");
        p_.bge(place, window_.in[a] + window_.pad_end[a], outside);
        p_.mul(next, place, stride);
        p_.add(next, next, at);
        p_.blt(at, 0, done);
        p_.blt(place, 0, in_map);
        p_.blt(place, window_.in[a], done);
        p_.bind(in_map);
        p_.mov(next, -(i64{1} << 40));
        p_.bind(done);
      }
      axis(a + 1, next);
      p_.bind(outside);
      p_.add(place, place, window_.dilation[a]);
    });
  }

  void point(Reg at) {
    const isa::ProgramBuilder::Scope scope(p_.scope());
    const Reg value = w_.reg(), c = w_.reg();
    p_.add(count_, count_, 1);
    const isa::Target done = p_.label("padding");
    if (node_.type == "AvgPool") p_.blt(at, 0, done);
    w_.load(value, in(), at);
    if (node_.type == "MaxPool") {
      w_.compare(c, "lt", lane_, result_, value);
      w_.select(result_, c, value, result_);
      w_.select(which_, c, at, which_);
    } else {
      if (node_.type == "LpPool" && node_.integer("p", 2) == 2) p_.mul(Type::f32, value, value, value);
      if (node_.type == "LpPool" && node_.integer("p", 2) == 1) p_.and_(value, value, 0x7fffffff);
      p_.add(Type::f32, result_, result_, value);
    }
    p_.bind(done);
  }

  void finish() {
    if (node_.type == "AvgPool") {
      p_.conv_s322f32(count_, count_);
      p_.div(Type::f32, result_, result_, count_);
    }
    if (node_.type == "LpPool" && node_.integer("p", 2) == 2) p_.sqrt(Type::f32, result_, result_);
    w_.store(node_.output(), item_, result_);
    if (node_.outputs().size() > 1) w_.store(node_.output(1), item_, which_);
  }

  ScalarWriter& w_;
  isa::ProgramBuilder& p_;
  const Node& node_;
  const Window window_;
  const Reg item_;
  const Lane lane_;
  const Reg result_ = w_.reg(), which_ = w_.reg(), count_ = w_.reg(), base_ = w_.reg();
};

void write_pool(ScalarWriter& w, Reg item) { PoolWriter(w, item).write(); }

constexpr auto kRowOps = std::to_array<ScalarOp>({
    {"ArgMaxV2", never_refuses, rows_along_first, write_arg<true>},
    {"ArgMin", never_refuses, rows_along_first, write_arg<false>},
    {"AvgPool", window_refuses, output_elements, write_pool},
    {"Cumsum", cumsum_refuses, cumsum_rows, write_cumsum},
    {"Hardmax", never_refuses, rows_along_last, write_hardmax},
    {"LpPool", window_refuses, output_elements, write_pool},
    {"MaxPool", window_refuses, output_elements, write_pool},
    {"ReduceL2", reduction_refuses, output_elements, write_reduction},
    {"ReduceMax", reduction_refuses, output_elements, write_reduction},
    {"ReduceMean", reduction_refuses, output_elements, write_reduction},
    {"ReduceMin", reduction_refuses, output_elements, write_reduction},
    {"ReduceProd", reduction_refuses, output_elements, write_reduction},
    {"ReduceSum", reduction_refuses, output_elements, write_reduction},
    {"ReduceSumSquare", reduction_refuses, output_elements, write_reduction},
    {"TopKV2", top_k_refuses, rows_along_last, write_top_k},
});

}  // namespace

std::span<const ScalarOp> scalar_row_ops() { return kRowOps; }

}  // namespace vinci::graph
