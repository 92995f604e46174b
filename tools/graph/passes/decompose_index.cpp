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

// One position for whole rows, as the sums over the neighbours in a graph have them: rows along the first axis that has
// more than one element.
bool decompose_scatter_elements(Graph& graph, Node& node) {
  Node* wide = producer(node.input(1), "BroadcastTo");
  if (wide == nullptr) wide = producer(node.input(1), "Tile");
  if (wide == nullptr || !wide->input(0)->shape.known()) return false;
  Value *const data = node.input(0), *const index = wide->input(0), *const updates = node.input(2);
  const Dims dims = data->shape.dims(), changed = updates->shape.dims();
  const usize rank = dims.size(), axis = axis_of(node, node.integer("axis"), rank);
  Dims narrow = index->shape.dims();
  if (axis + 1 == rank || narrow.size() > rank) return false;
  narrow.insert(narrow.begin(), rank - narrow.size(), 1);
  for (usize a = 0; a < rank; ++a) {
    if (a == axis ? narrow[a] != changed[a] : narrow[a] != 1 || changed[a] != dims[a]) return false;
    if (a < axis && dims[a] != 1) return false;
  }
  Maker make(graph, node);
  const i64 inner = static_cast<i64>(element_count(std::span(dims).subspan(axis + 1)));
  make.replace({make("ScatterNdUpdate",
                     {make.reshape(data, {dims[axis], inner}), make.reshape(index, {changed[axis], 1}),
                      make.reshape(updates, {changed[axis], inner})},
                     {{"reduction", node.string("reduction", "none")}})});
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

namespace {

// Bytes of an element behind the pass that chooses types.
u64 bytes_on_device(DataType type, const Target& target) {
  return type == DataType::f32 && target.precision == PrecisionMode::force_fp16 ? 2 : info(type).bytes;
}

constexpr i64 kMostSummed = 1024;  // elements of an axis whose sums are one product

// The elements of the blocks of a longer axis; 0 where none divides it.
i64 block_of_sums(i64 extent) {
  constexpr i64 kLeast = 16;
  i64 block = kMostSummed / 2;
  while (block >= kLeast && extent % block != 0)
    --block;
  return block < kLeast ? 0 : block;
}

bool has_running_sums(i64 extent) {
  if (extent <= kMostSummed) return true;
  const i64 block = block_of_sums(extent);
  return block != 0 && has_running_sums(extent / block);
}

// Sums up to each element along the middle axis of x [outer, extent, inner], or in front of it, as a product with a
// triangle of ones; a long axis as sums of blocks, and sums of what is in front of each block.
Value* running_sums(Maker& make, Value* x, bool exclusive, bool reverse) {
  const Dims dims = x->shape.dims();
  const i64 outer = dims[0], extent = dims[1], inner = dims[2];
  if (extent > kMostSummed) {
    const i64 block = block_of_sums(extent), blocks = extent / block;
    Value* const apart = make.reshape(x, {outer * blocks, block, inner});
    Value* const totals = make("ReduceSum", {apart, make.integers({1})}, {{"keepdims", i64{1}}});
    Value* const before = running_sums(make, make.reshape(totals, {outer, blocks, inner}), true, reverse);
    Value* const within = running_sums(make, apart, exclusive, reverse);
    return make("Add", {within, make.reshape(before, {outer * blocks, 1, inner})});
  }
  Array ones(x->type, {extent, extent});  // by element, then by sum; of columns the other way round
  for (i64 from = 0; from < extent; ++from) {
    for (i64 to = 0; to < extent; ++to) {
      const bool counts = from == to ? !exclusive : (from < to) != reverse;
      ones.values[static_cast<usize>(inner == 1 ? from * extent + to : to * extent + from)] = counts ? 1 : 0;
    }
  }
  Value* const matrix = make.constant(ones);
  if (inner != 1) return make("BatchMatMulV2", {matrix, x});
  return make.reshape(make("BatchMatMulV2", {make.reshape(x, {outer, extent}), matrix}), dims);
}

}  // namespace

// Floats whose products keep their precision; integers and few elements stay on the scalar unit.
bool decompose_cumsum(Graph& graph, Node& node, const Target& target) {
  constexpr u64 kWorth = 128, kWorthZeros = 4096;
  Value* const x = node.input(0);
  const auto axis = scalar(node.input(1));
  const bool narrow = is_float(x->type) && bytes_on_device(x->type, target) == 2;
  const bool wide = x->type == DataType::f32 && target.precision == PrecisionMode::must_keep_origin_dtype;
  if (!axis || x->shape.rank() == 0 || x->shape.elements() < kWorth) return false;
  if (!narrow && (!wide || target.hf32 || is_joint(*target.chip))) return false;
  if (x->type == DataType::bf16 && is_joint(*target.chip)) return false;
  const AroundAxis a = around_axis(x->shape.dims(), axis_of(node, static_cast<i64>(*axis), x->shape.rank()));
  if (a.extent == 1 || !has_running_sums(static_cast<i64>(a.extent))) return false;
  // A joint core gets zeros behind rows that fill no blocks.
  const bool blocks = a.extent % kC0 == 0 && (a.inner == 1 || a.inner % kC0 == 0);
  if (is_joint(*target.chip) && !blocks && x->shape.elements() < kWorthZeros) return false;
  Maker make(graph, node);
  const Dims dims{static_cast<i64>(a.outer), static_cast<i64>(a.extent), static_cast<i64>(a.inner)};
  Value* const sums =
      running_sums(make, make.reshape(x, dims), node.integer("exclusive") != 0, node.integer("reverse") != 0);
  make.replace({sums});
  return true;
}

// Elements along an inner axis: transposes bring the axis in front, where rows are copied.
bool decompose_gather(Graph& graph, Node& node, const Target& target) {
  constexpr u64 kBlock = 32, kWorth = 1024;
  constexpr i64 kRows = 16;  // elements of a row that a joint core transposes in UB
  Value* const x = node.input(0);
  const Dims dims = x->shape.dims();
  const u64 bytes = bytes_on_device(x->type, target);
  if (dims.empty() || x->constant || (bytes != 2 && bytes != 4)) return false;
  const usize axis = axis_of(node, node.integer("axis"), dims.size());
  if (bytes == 2 && dims.size() == 4 && axis >= 2)
    return false;  // positions of a map, which move as blocks of channels
  const AroundAxis a = around_axis(dims, axis);
  const u64 row = a.inner * bytes, turned = a.outer * row;
  const bool joint = is_joint(*target.chip);
  const auto copied = [&](u64 size) { return size >= kBlock && (!joint || size % kBlock == 0); };
  if (copied(row) || !copied(turned) || node.output()->shape.elements() < kWorth) return false;
  const i64 outer = static_cast<i64>(a.outer), extent = static_cast<i64>(a.extent), inner = static_cast<i64>(a.inner);
  const i64 count = static_cast<i64>(node.input(1)->shape.elements());
  // A 910A does not transpose 32 bits in UB.
  if (joint && bytes == 4 && target.chip->arch == isa::Arch::c100) return false;
  if (joint && (outer < kRows || count * inner < kRows)) return false;
  Maker make(graph, node);
  const Attributes exchange{{"perm", std::vector<i64>{1, 0}}};
  Value* const columns = make("TransposeD", {make.reshape(x, {outer, extent * inner})}, exchange);
  Value* const chosen =
      make("GatherV2", {make.reshape(columns, {extent, inner * outer}), make.reshape(node.input(1), {count})},
           {{"axis", i64{0}}});
  make.replace({make("TransposeD", {make.reshape(chosen, {count * inner, outer})}, exchange)});
  return true;
}

}  // namespace vinci::graph
