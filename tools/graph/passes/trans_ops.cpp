// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <numeric>

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

}  // namespace

Visit remove_symmetry(Graph& graph, Node& node) {
  Node* const before = producer(node.input(0), node.type);
  if (before == nullptr || !undoes(node, *before)) return Visit::none;
  const Visit done = bypass(graph, node, before->input(0));
  if (done == Visit::gone) erase_unused(graph, before);
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
  take_place(graph, *made, {before, &node}, node.output());
  erase_unused(graph, &node);
  return Visit::gone;
}

}  // namespace vinci::graph
