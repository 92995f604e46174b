// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/passes/wide_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/passes/pass.h"

namespace vinci::graph {

// The tensor with zeros behind it along an axis.
Value* with_zeros(Maker& make, Value* v, usize axis, i64 more) {
  if (more == 0) return v;
  Dims dims = v->shape.dims();
  dims[axis] = more;
  if (!v->constant) {
    Value* const zeros = make.constant(Array(v->type, dims));
    return make("ConcatD", {v, zeros}, {{"axis", static_cast<i64>(axis)}});
  }
  const Array from = v->constant->array();
  dims[axis] += v->shape[axis];
  Array to(from.type, dims);
  const AroundAxis narrow = around_axis(from.dims, axis), wide = around_axis(dims, axis);
  for (u64 i = 0; i < from.size(); ++i) {
    const u64 row = narrow.extent * narrow.inner;
    to.values[i / row * wide.extent * wide.inner + i % row] = from.values[i];
  }
  return make.constant(to);
}

namespace {

constexpr double kFarBelow = -65504;  // next to any other element, its exponential is zero
constexpr u64 kFewElements = 4;       // a tensor that has so many times fewer elements than the result costs little

// Rows of a chain of nodes, from `from` columns to `to`; surplus ones hold any numbers.
class RowWidener {
 public:
  RowWidener(const Graph& graph, Maker& make, i64 from, i64 to) : graph_(graph), make_(make), from_(from), to_(to) {}

  // Whether a chain that makes as many elements as `v` ends in products that have the columns anyway.
  bool can(const Value& v) const { return can(v, v.shape.elements()); }

  Value* wide(Value* v) {
    if (as_it_is(*v)) return v;
    if (v->constant) return with_zeros(make_, v, v->shape.rank() - 1, to_ - from_);
    if (Value* const product = cut_product(*v); product != nullptr) return product;
    Node* const node = v->producer();
    if (!passes_rows_on(*v)) return with_zeros(make_, v, v->shape.rank() - 1, to_ - from_);
    if (node->type == "Reshape") {
      Dims dims = v->shape.dims();
      dims.back() = to_;
      return make_.reshape(wide(node->input(0)), dims);
    }
    std::vector<Value*> operands;
    for (Value* const operand : node->inputs())
      operands.push_back(wide(operand));
    Value* const made = make_(node->type, operands, node->attributes);
    made->producer()->origins = node->origins;
    return made;
  }

 private:
  bool can(const Value& v, u64 elements) const {
    if (as_it_is(v)) return true;
    if (v.shape.rank() == 0 || v.shape.dims().back() != from_) return false;
    if (v.constant || cut_product(v) != nullptr) return true;
    if (passes_rows_on(v)) {
      return std::ranges::all_of(v.producer()->inputs(), [&](const Value* operand) {
        return (v.producer()->type == "Reshape" && operand->constant) || can(*operand, elements);
      });
    }
    return v.shape.elements() * kFewElements <= elements;
  }

  // Numbers, and columns of one element, are repeated whatever the rows have.
  static bool as_it_is(const Value& v) { return v.shape.elements() == 1 || v.shape.dims().back() == 1; }

  // The product whose first columns a value is.
  Value* cut_product(const Value& v) const {
    const Node* const cut = producer(&v, "StridedSliceV2");
    if (cut == nullptr || producer(cut->input(0), "BatchMatMulV2") == nullptr) return nullptr;
    Dims dims = v.shape.dims();
    dims.back() = to_;
    const bool first = cut->input(1)->constant && scalar(cut->input(1)) == 0.0;
    return first && cut->input(4) == nullptr && cut->input(0)->shape.dims() == dims ? cut->input(0) : nullptr;
  }

  // Made of the same rows of its operands, and by a node that only this chain uses.
  bool passes_rows_on(const Value& v) const {
    static constexpr auto kTypes =
        std::to_array<std::string_view>({"Add", "Maximum", "Minimum", "Mul", "Neg", "Relu", "Sub"});
    const Node* const node = v.producer();
    if (node == nullptr || graph_.sole_user(&v) == nullptr) return false;
    if (node->type == "Reshape")
      return node->input(0)->shape.rank() > 0 && node->input(0)->shape.dims().back() == from_;
    return std::ranges::find(kTypes, node->type) != kTypes.end();
  }

  const Graph& graph_;
  Maker& make_;
  i64 from_, to_;
};

}  // namespace

Value* softmax_with_zeros(const Graph& graph, Maker& make, Value* v, i64 columns) {
  Node* const node = producer(v, "SoftmaxV2");
  if (node == nullptr || graph.sole_user(v) == nullptr || v->type != DataType::f16) return nullptr;
  const usize last = v->shape.rank() - 1;
  const i64 from = v->shape[last];
  Value* const in = node->input(0);
  if (axis_of(*node, node->integer("axis", -1), last + 1) != last || graph.sole_user(in) == nullptr) return nullptr;
  RowWidener rows(graph, make, from, columns);
  if (in->constant || in->producer() == nullptr || !rows.can(*in)) return nullptr;
  Array surplus(v->type, {columns});
  std::fill(surplus.values.begin() + from, surplus.values.end(), kFarBelow);
  Value* const masked = make("Add", {rows.wide(in), make.constant(surplus)});
  Attributes attributes = node->attributes;
  attributes["axis"] = i64{-1};
  Value* const made = make("SoftmaxV2", {masked}, attributes);
  masked->producer()->origins = made->producer()->origins = node->origins;
  return made;
}

namespace {

// What surplus elements of a row are, so that they do not change the result; none for other nodes.
std::optional<double> neutral(std::string_view type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (type == "SoftmaxV2" || type == "ReduceMax") return -kInfinity;
  if (type == "ReduceMin") return kInfinity;
  if (type == "ReduceSum") return 0;
  return std::nullopt;
}

bool along_last_axis(const Node& node) {
  const usize rank = node.input(0)->shape.rank();
  if (node.type == "SoftmaxV2") return axis_of(node, node.integer("axis", -1), rank) == rank - 1;
  const Value* const axes = node.input(1);
  return axes != nullptr && axes->constant && axes->shape.elements() == 1 &&
         axis_of(node, axes->constant->array().integers()[0], rank) == rank - 1;
}

// Of an attention: where the product behind wants whole blocks, the rows of both keep their surplus columns.
bool goes_to_product(const Value& v) {
  return std::ranges::any_of(v.uses(), [](const Use& use) {
    const Node& node = *use.node;
    if (node.type == "BatchMatMulV2") return true;
    const bool passes_on = is_view(node) || node.type == "Cast";
    return passes_on && use.input == 0 && goes_to_product(*node.output());
  });
}

// The rows of a table that GatherV2 or GatherNd copies: those of the dimensions `axes`, of which the last one is a row.
struct TableRows {
  Dims axes;
  i64 axis = 0;  // of GatherV2
};
TableRows table_rows(const Node& node) {
  const Dims& in = node.input(0)->shape.dims();
  if (node.type == "GatherV2") {
    const AroundAxis a = around_axis(in, axis_of(node, node.integer("axis"), in.size()));
    return {{static_cast<i64>(a.outer), static_cast<i64>(a.extent), static_cast<i64>(a.inner)}, 1};
  }
  const std::span<const i64> front =
      std::span(in).first(static_cast<usize>(node.integer("batch_dims") + node.input(1)->shape.dims().back()));
  TableRows out{{front.begin(), front.end()}};
  out.axes.push_back(static_cast<i64>(element_count(std::span(in).subspan(front.size()))));
  return out;
}

// Rows that fill no blocks go element by element on the scalar unit. With zeros behind the rows of the table, blocks
// are copied, and the result is cut.
Visit fill_gathered(Graph& graph, Node& node, u32 cores) {
  const Value &table = *node.input(0), &index = *node.input(1), &out = *node.output();
  const u32 bytes = info(table.type).bytes;
  if (index.constant || !table.shape.known() || !index.shape.known() || !out.shape.known() ||
      out.shape.elements() == 0 || bytes > 4)
    return Visit::none;
  const TableRows rows = table_rows(node);
  const i64 width = rows.axes.back(), block = 32 / bytes, more = (block - width % block) % block;
  if (more == 0) return Visit::none;
  if (bytes == 1) return Visit::refused({&node}, "its elements have one byte");
  // Nanoseconds of a core: an element on the scalar unit, a row that is copied, a byte of a tensor that is read and
  // written, the two tasks more.
  constexpr double kElement = 270, kRow = 85, kByte = 0.08, kTasks = 5000;
  constexpr u64 kMostFilling = u64{1} << 22;
  const u64 each = static_cast<u64>(width), gathered = out.shape.elements() / each, all = table.shape.elements() / each;
  const auto pass = [&](u64 of_rows) {
    return static_cast<double>(of_rows * (each + static_cast<u64>(more)) * bytes) * kByte;
  };
  const double now = static_cast<double>(out.shape.elements()) * kElement / cores;
  const double filled = (static_cast<double>(gathered) * kRow + pass(gathered)) / cores + kTasks;
  if (filled > now) return Visit::refused({&node}, "it gathers few elements");
  if (!table.constant && filled + pass(all) / cores > now)
    return Visit::refused({&node}, "its table is much larger than what it gathers");
  if (!table.constant && all * static_cast<u64>(more) > kMostFilling)
    return Visit::refused({&node}, "its table has more rows than are worth a constant");
  Maker make(graph, node);
  Value* reshaped = node.input(0);
  if (table.constant) {
    Array array = table.constant->array();
    array.dims = rows.axes;
    reshaped = make.constant(array);
  } else {
    reshaped = make.reshape(reshaped, rows.axes);
  }
  Value* const filled_rows = with_zeros(make, reshaped, rows.axes.size() - 1, more);
  Attributes attributes = node.attributes;
  if (node.type == "GatherV2") attributes["axis"] = rows.axis;
  Value* const blocks = make(node.type, {filled_rows, node.input(1)}, attributes);
  const std::vector<i64> last{static_cast<i64>(blocks->shape.rank()) - 1};
  make.replace({make("StridedSliceV2",
                     {blocks, make.integers({0}), make.integers({width}), make.integers(last), make.integers({1})})});
  return Visit::gone;
}

}  // namespace

Visit fill_rows(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || !is_joint(*target.chip)) return Visit::none;
  if (node.type == "GatherV2" || node.type == "GatherNd") return fill_gathered(graph, node, vector_cores(*target.chip));
  const std::optional<double> surplus = neutral(node.type);
  Value* const in = node.input(0);
  if (!surplus || in->constant || !in->shape.known() || in->shape.rank() < 2 || !along_last_axis(node) ||
      (in->type != DataType::f16 && in->type != DataType::f32))
    return Visit::none;
  const usize last = in->shape.rank() - 1;
  const i64 width = in->shape[last], block = 32 / info(in->type).bytes, more = (block - width % block) % block;
  constexpr i64 kManyRows = 256, kMostColumns = 512, kMostFilling = i64{1} << 22;
  const auto rows = static_cast<i64>(in->shape.elements()) / std::max<i64>(width, 1);
  if (more == 0) return Visit::none;
  if (rows < kManyRows) return Visit::refused({&node}, "it has few rows");
  if (goes_to_product(*node.output())) return Visit::refused({&node}, "a product behind it fills its rows");
  if (width > kMostColumns) return Visit::refused({&node}, "its rows are wide");
  if (rows * more > kMostFilling) return Visit::refused({&node}, "it has more rows than are worth a constant");
  Maker make(graph, node);
  Dims dims = in->shape.dims();
  dims[last] = more;
  Array filling(in->type, dims);
  std::ranges::fill(filling.values, *surplus);
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  inputs[0] = make("ConcatD", {in, make.constant(filling)}, {{"axis", static_cast<i64>(last)}});
  Value* out = make(node.type, inputs, node.attributes);
  if (node.type == "SoftmaxV2") {
    const std::vector<i64> axis{static_cast<i64>(last)};
    out = make("StridedSliceV2",
               {out, make.integers({0}), make.integers({width}), make.integers(axis), make.integers({1})});
  }
  make.replace({out});
  return Visit::gone;
}

}  // namespace vinci::graph
