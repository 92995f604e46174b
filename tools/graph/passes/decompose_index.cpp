// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <numeric>
#include <optional>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/passes/decompose.h"
#include "tools/graph/passes/maker.h"

// Positions that constants name, or that repeat, as moves of rows.
namespace vinci::graph {
namespace {

// A part of a tensor: first position and extent along each of its first axes.
struct Box {
  Dims first, extent;
};

// The box that positions name in the order of its elements.
std::optional<Box> box_of(const Array& index, const Dims& dims) {
  const auto depth = static_cast<usize>(index.dims.back());
  const std::vector<i64> numbers = index.integers();
  const auto at = [&](usize n, usize d) {
    const i64 v = numbers[n * depth + d];
    return v < 0 ? v + dims[d] : v;
  };
  const usize count = depth == 0 ? 0 : numbers.size() / depth;
  if (count == 0) return std::nullopt;
  Box box;
  for (usize d = 0; d < depth; ++d) {
    box.first.push_back(at(0, d));
    box.extent.push_back(at(count - 1, d) - at(0, d) + 1);
    if (box.first[d] < 0 || box.extent[d] < 1 || box.first[d] + box.extent[d] > dims[d]) return std::nullopt;
  }
  if (element_count(box.extent) != count) return std::nullopt;
  usize n = 0;
  bool right = true;
  for_each_index(box.extent, [&](std::span<const i64> place) {
    for (usize d = 0; d < depth; ++d)
      right = right && at(n, d) == box.first[d] + place[d];
    ++n;
  });
  return right ? std::optional(box) : std::nullopt;
}

// `data` with `updates` in the place of a box, along the axes from `axis` on.
Value* put_into(Maker& make, Value* data, Value* updates, const Box& box, usize axis) {
  const Dims dims = data->shape.dims();
  const auto next = [&](usize a) {
    while (a < box.extent.size() && box.extent[a] == dims[a])
      ++a;
    return a;
  };
  axis = next(axis);
  if (axis == box.extent.size()) return make.reshape(updates, dims);
  const i64 first = box.first[axis], end = first + box.extent[axis];
  const auto part = [&](i64 from, i64 to) {
    return make("StridedSliceV2", {data, make.integers({from}), make.integers({to}),
                                   make.integers({static_cast<i64>(axis)}), make.integers({1})});
  };
  std::vector<Value*> pieces;
  if (first > 0) pieces.push_back(part(0, first));
  if (next(axis + 1) == box.extent.size()) {
    Dims inner = dims;
    inner[axis] = box.extent[axis];
    pieces.push_back(make.reshape(updates, inner));
  } else {
    pieces.push_back(put_into(make, part(first, end), updates, box, axis + 1));
  }
  if (end < dims[axis]) pieces.push_back(part(end, dims[axis]));
  return pieces.size() == 1 ? pieces[0] : make("ConcatD", pieces, {{"axis", static_cast<i64>(axis)}});
}

}  // namespace

// Constant positions that are a box of the tensor, as `x[:, 2:4] = y` has them.
bool decompose_scatter(Graph& graph, Node& node, const Target& target) {
  constexpr u64 kWorthPieces = 512;  // elements of the box, where pieces do not move in blocks
  const Value &data = *node.input(0), &index = *node.input(1);
  if (!index.constant || node.string("reduction", "none") != "none" || data.shape.rank() == 0) return false;
  const u64 bytes = is_float(data.type) ? 2 : info(data.type).bytes;
  if (bytes != 2 && bytes != 4) return false;
  const std::optional<Box> box = box_of(index.constant->array(), data.shape.dims());
  if (!box) return false;
  usize axis = 0;
  while (axis < box->extent.size() && box->extent[axis] == data.shape[axis])
    ++axis;
  if (axis < box->extent.size() && is_joint(*target.chip)) {
    const u64 row = around_axis(data.shape.dims(), box->extent.size() - 1).inner * bytes;
    if (row % 32 != 0 && node.input(2)->shape.elements() < kWorthPieces) return false;
  }
  Maker make(graph, node);
  make.replace({put_into(make, node.input(0), node.input(2), *box, 0)});
  return true;
}

// One position for whole rows: the positions are those of a smaller tensor, which Expand or Tile repeats along the axes
// behind the one that is gathered.
bool decompose_gather_elements(Graph& graph, Node& node) {
  Node* wide = producer(node.input(1), "BroadcastTo");
  if (wide == nullptr) wide = producer(node.input(1), "Tile");
  if (wide == nullptr || !wide->input(0)->shape.known()) return false;
  Value *const x = node.input(0), *const index = wide->input(0);
  const Dims dims = x->shape.dims(), out = node.output()->shape.dims();
  const usize rank = dims.size(), axis = axis_of(node, node.integer("axis"), rank);
  Dims narrow = index->shape.dims();
  if (narrow.size() > rank) return false;
  narrow.insert(narrow.begin(), rank - narrow.size(), 1);
  if (axis + 1 == rank || narrow[axis] != out[axis]) return false;
  for (usize a = axis + 1; a < rank; ++a) {
    if (narrow[a] != 1 || out[a] != dims[a]) return false;
  }
  bool batches = false, repeated = true;
  for (usize a = 0; a < axis; ++a) {
    if (out[a] != dims[a]) return false;
    batches = batches || dims[a] != 1;
    repeated = repeated && narrow[a] == 1;
  }
  const auto before = std::span(dims).first(axis);
  if (!repeated && !std::ranges::equal(before, std::span(narrow).first(axis))) return false;
  Maker make(graph, node);
  if (repeated || !batches) {
    make.replace({make("GatherV2", {x, make.reshape(index, {out[axis]})}, {{"axis", static_cast<i64>(axis)}})});
  } else {
    const i64 outer = static_cast<i64>(element_count(before));
    const i64 inner = static_cast<i64>(element_count(std::span(dims).subspan(axis + 1)));
    Value* const rows = make.reshape(x, {outer, dims[axis], inner});
    make.replace({make("GatherNd", {rows, make.reshape(index, {outer, out[axis], 1})}, {{"batch_dims", i64{1}}})});
  }
  erase_unused(graph, wide);
  return true;
}

// A comparison with the numbers of the classes, in f16.
bool decompose_one_hot(Graph& graph, Node& node) {
  constexpr i64 kMostClasses = 2048;  // numbers that f16 has
  const Value *const index = node.input(0), *const depth = node.input(1), *const values = node.input(2);
  if (!depth->constant || !values->constant || values->constant->elements() != 2) return false;
  const DataType type = node.output()->type;
  const std::vector<double> off_on = values->constant->array().values;
  const bool plain = off_on[0] == 0 && off_on[1] == 1;
  if ((!plain && !is_float(type)) || is_float(index->type)) return false;
  const Dims dims = node.output()->shape.dims();
  const usize axis = axis_of(node, node.integer("axis", -1), dims.size());
  const i64 classes = dims[axis];
  if (classes > kMostClasses) return false;
  Maker make(graph, node);
  Dims apart = dims, along(dims.size() - axis, 1);
  apart[axis] = 1;
  along[0] = classes;
  Array numbers(DataType::f16, along);
  std::iota(numbers.values.begin(), numbers.values.end(), 0.0);
  Value* which = make.reshape(make.cast(node.input(0), DataType::f16), apart);
  // Classes from the end.
  Value* const below = make.cast(make("Less", {which, make.number(DataType::f16, 0)}), DataType::f16);
  const double end = static_cast<double>(classes);
  which = make("Add", {which, make("Mul", {below, make.number(DataType::f16, end)})});
  Value* const hot = make("Equal", {which, make.constant(numbers)});
  make.replace({plain ? make.cast(hot, type)
                      : make("SelectV2", {hot, make.number(type, off_on[1]), make.number(type, off_on[0])})});
  return true;
}

}  // namespace vinci::graph
