// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/passes/trans_ops.h"

#include <algorithm>
#include <numeric>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/passes/format.h"
#include "tools/graph/passes/maker.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// Nodes that move or convert elements and compute nothing: what two in a row do together.
namespace vinci::graph {
namespace {

// Empty where the rank is not known.
std::vector<i64> permutation(const Node& node) {
  const Shape& in = node.input(0)->shape;
  if (!in.ranked()) return {};
  const i64 rank = std::ssize(in.dims());
  std::vector<i64> perm = node.integers("perm");
  if (perm.empty()) {
    perm.resize(static_cast<usize>(rank));
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  for (i64& p : perm)
    p += p < 0 ? rank : 0;
  return perm;
}

// Every value of `narrow` is one of `wide`.
bool widens(DataType narrow, DataType wide) {
  const DataTypeInfo &from = info(narrow), &to = info(wide);
  if (narrow == wide || narrow == DataType::boolean) return true;
  if (from.floating || to.floating) {
    if (!from.floating) return to.bytes > 2 * from.bytes || (to.bytes == 2 && from.bytes == 1 && wide == DataType::f16);
    return to.floating && to.bytes > from.bytes;
  }
  return to.lowest <= from.lowest && to.highest >= from.highest;
}

// Whether `second` makes of the output of `first` what `first` got.
bool undoes(const Node& second, const Node& first) {
  const Value &before = *first.input(0), &after = *second.output();
  if (first.type != second.type || before.type != after.type || before.format != after.format) return false;
  if (first.type == "Cast") return widens(before.type, first.output()->type);
  if (first.type == "TransData") return before.shape == after.shape;
  if (first.type != "TransposeD") return false;
  const std::vector<i64> a = permutation(first), b = permutation(second);
  if (a.empty() || a.size() != b.size()) return false;
  for (usize i = 0; i < b.size(); ++i) {
    if (a[static_cast<usize>(b[i])] != static_cast<i64>(i)) return false;
  }
  return true;
}

bool is_elementwise(const Node& node, const config::ChipConfig& chip) {
  return kElementwiseKernel.refuses(Group(node), chip).empty();
}
// Whether the elements come from a kernel for maps, which leaves them in blocks of channels, without a change of order.
bool comes_in_blocks(const Value& v, const config::ChipConfig& chip) {
  const Node* const node = v.producer();
  if (node == nullptr || node->type == "TransposeD") return false;
  if (map_formats(*node, chip)) return true;
  return (is_view(*node) || is_elementwise(*node, chip)) && comes_in_blocks(*node->input(0), chip);
}
// Whether they go to one, which wants them so.
bool goes_in_blocks(const Value& v, const config::ChipConfig& chip) {
  return std::ranges::any_of(v.uses(), [&](const Use& use) {
    const Node& node = *use.node;
    if (use.input != 0 || node.type == "TransposeD") return false;
    if (map_formats(node, chip)) return true;
    return (is_view(node) || is_elementwise(node, chip)) && goes_in_blocks(*node.output(), chip);
  });
}

}  // namespace

Visit remove_symmetry(Graph& graph, Node& node) {
  Node* const before = producer(node.input(0), node.type);
  if (before == nullptr || !undoes(node, *before)) return Visit::none;
  Join join = join_before(graph, node, {before->input(0)}, false);
  Visit done = bypass(graph, node, before->input(0));
  if (done == Visit::gone) {
    erase_unused(graph, before);
    done.join = std::move(join);
  }
  return done;
}

Visit fuse_transposes(Graph& graph, Node& node) {
  Node* const before = producer(node.input(0), "TransposeD");
  if (before == nullptr || node.type != "TransposeD") return Visit::none;
  const std::vector<i64> first = permutation(*before), second = permutation(node);
  if (first.empty() || first.size() != second.size()) return Visit::none;
  if (undoes(node, *before)) return Visit::none;  // TransOpSymmetryEliminationPass
  std::vector<i64> both(second.size());
  std::ranges::transform(second, both.begin(), [&](i64 axis) { return first[static_cast<usize>(axis)]; });
  Node* const made = graph.add_node("TransposeD", node.name, {before->input(0)}, 1, &node);
  made->attributes["perm"] = both;
  Join join = join_before(graph, node, {});
  take_place(graph, *made, {before, &node}, node.output());
  erase_unused(graph, &node);
  return {Visit::gone, std::move(join)};
}

// Rows and columns of a map that become one axis, and channels that go behind it: as a transpose of the map, which
// moves whole blocks of channels.
Visit transpose_before_reshape(Graph& graph, Node& node) {
  Node* const merge = producer(node.input(0), "Reshape");
  if (merge == nullptr || node.type != "TransposeD" || !merge->input(0)->shape.known()) return Visit::none;
  const Dims map = merge->input(0)->shape.dims(), merged = merge->output()->shape.dims();
  if (map.size() != 4 || merged != Dims{map[0], map[1], map[2] * map[3]} || permutation(node) != Dims{0, 2, 1})
    return Visit::none;
  Maker make(graph, node);
  make.replace({make("TransposeD", {merge->input(0)}, {{"perm", std::vector<i64>{0, 2, 3, 1}}})});
  erase_unused(graph, merge);
  return Visit::gone;
}

// A joint core moves single elements slowly, since each takes a block of 32 B. A transpose of matrices becomes one of a
// map, whose channels are the rows or the columns: TransData exchanges 16 x 16, and blocks of 16 channels move.
Visit transpose_by_blocks(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || !is_joint(*target.chip) || node.type != "TransposeD") return Visit::none;
  const Value& in = *node.input(0);
  if (!in.shape.known() || in.type != DataType::f16) return Visit::none;
  const std::vector<i64> perm = permutation(node);
  const auto rank = static_cast<i64>(perm.size());
  const auto at = [&](i64 i) { return perm[static_cast<usize>(i)]; };
  i64 outer = 0;
  while (outer < rank && at(outer) == outer)
    ++outer;
  if (outer == rank) return Visit::none;
  // The axes behind are two groups that have changed places: [first, rank) and [outer, first).
  const i64 first = at(outer);
  for (i64 i = outer; i < rank; ++i) {
    const i64 moved = i - outer;
    if (at(i) != (moved < rank - first ? first + moved : outer + moved - (rank - first))) return Visit::none;
  }
  const auto extent = [&](i64 from, i64 to) {
    i64 product = 1;
    for (i64 a = from; a < to; ++a)
      product *= in.shape[static_cast<usize>(a)];
    return product;
  };
  const i64 batch = extent(0, outer), rows = extent(outer, first), columns = extent(first, rank);
  const auto whole = [](i64 n) { return n % static_cast<i64>(kC0) == 0; };
  // Such a transpose of a map chooses its format itself.
  const bool map = rank == 4 && outer == 1 && (first == 2 ? whole(rows) : first == 3 && whole(columns));
  constexpr i64 kFewElements = 1024;
  if (map) return Visit::refused({&node}, "it is a transpose of a map already");
  if (!whole(rows) && !whole(columns)) return Visit::refused({&node}, "neither rows nor columns are a multiple of 16");
  if (rows * columns < kFewElements) return Visit::refused({&node}, "its matrices have fewer than 1024 elements");
  if (kMoveStreamsKernel.refuses(Group(node), *target.chip).empty())
    return Visit::refused({&node}, "its rows or columns are short, and move as streams");
  const bool last = whole(rows);  // the rows are channels, which go behind the columns
  if (!(last ? comes_in_blocks(in, *target.chip) : goes_in_blocks(*node.output(), *target.chip)) &&
      kTransposePackedKernel.refuses(Group(node), *target.chip).empty())
    return Visit::refused({&node}, "its rows or columns are packed, and move as lanes");
  Maker make(graph, node);
  Value* const matrix =
      make.reshape(node.input(0), last ? Dims{batch, rows, 1, columns} : Dims{batch, 1, rows, columns});
  make.replace(
      {make("TransposeD", {matrix}, {{"perm", last ? std::vector<i64>{0, 2, 3, 1} : std::vector<i64>{0, 3, 1, 2}}})});
  return Visit::gone;
}

Visit gather_to_slice(Graph& graph, Node& node) {
  if (node.type != "GatherV2" || !node.input(1)->constant || !node.output()->shape.known()) return Visit::none;
  const Shape& in = node.input(0)->shape;
  const usize axis = axis_of(node, node.integer("axis"), in.rank());
  const i64 extent = in[axis];
  std::vector<i64> index = node.input(1)->constant->array().integers();
  for (i64& i : index)
    i += i < 0 ? extent : 0;
  const i64 step = index.size() > 1 ? index[1] - index[0] : 1;
  if (index.empty() || step == 0) return Visit::refused({&node}, "its positions are not different ones");
  for (usize i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= extent) return Visit::refused({&node}, "a position is outside the axis");
    if (index[i] != index[0] + static_cast<i64>(i) * step)
      return Visit::refused({&node}, "its positions are not equally far apart");
  }
  Maker make(graph, node);
  const i64 end = index.back() + (step > 0 ? 1 : -1);
  // An end in front of the first element is written as one far below.
  make.replace(
      {make("StridedSliceV2", {node.input(0), make.integers({index[0]}), make.integers({end < 0 ? -extent - 1 : end}),
                               make.integers({static_cast<i64>(axis)}), make.integers({step})})});
  return Visit::gone;
}

}  // namespace vinci::graph
