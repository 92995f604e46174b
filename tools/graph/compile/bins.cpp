// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/bins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "isa/base/error.h"
#include "tools/graph/ops/run.h"

namespace vinci::graph {
namespace {

constexpr usize kLeastBins = 2, kMostBins = 100;

usize unknown_extents(const Graph& graph) {
  usize out = 0;
  for (const Value* const v : graph.inputs) {
    if (!v->shape.ranked()) fail(Fault::Input, "input {}: bins need its rank; give --input_shape", v->name);
    out += static_cast<usize>(std::ranges::count(v->shape.dims(), Shape::kUnknown));
  }
  return out;
}

// One value for several extents is a batch, which inputs have as their first axis.
bool all_first(const Graph& graph) {
  return std::ranges::all_of(graph.inputs, [](const Value* v) {
    return std::ranges::count(v->shape.dims(), Shape::kUnknown) == (v->shape.rank() > 0 && v->shape[0] < 0 ? 1 : 0);
  });
}

void check(const std::vector<std::vector<i64>>& bins, usize extents, bool batch) {
  if (bins.size() < kLeastBins)
    fail(Fault::Input, "E10035: {} bins, but at least {} are needed", bins.size(), kLeastBins);
  if (bins.size() > kMostBins)
    fail(Fault::Input, "E10036: {} bins, but at most {} are allowed", bins.size(), kMostBins);
  if (extents == 0) fail(Fault::Input, "E10040: bins need an extent of -1 in --input_shape");
  std::set<std::vector<i64>> seen;
  for (const std::vector<i64>& bin : bins) {
    if (bin.size() != bins[0].size())
      fail(Fault::Input, "E10037: bins of {} and of {} values", bins[0].size(), bin.size());
    if (bin.size() != extents && !(bin.size() == 1 && batch))
      fail(Fault::Input, "E10045: a bin has {} values, but the inputs have {} extents of -1", bin.size(), extents);
    for (const i64 v : bin) {
      if (v <= 0) fail(Fault::Input, "E10038: {} in a bin must be greater than 0", v);
      if (v > std::numeric_limits<i32>::max()) fail(Fault::Input, "{} in a bin is too large", v);
    }
    if (!seen.insert(bin).second) fail(Fault::Input, "E10039: the bin {} is there twice", fmt::join(bin, ","));
  }
}

// Puts a bin into the extents that are not known.
void set_extents(const std::vector<Value*>& inputs, const std::vector<i64>& bin) {
  usize next = 0;
  for (Value* const v : inputs) {
    Dims dims = v->shape.dims();
    for (i64& d : dims) {
      if (d != Shape::kUnknown) continue;
      d = bin.size() == 1 ? bin[0] : bin[next];
      ++next;
    }
    v->shape = dims;
  }
}

u64 elements(const Graph& graph) {
  u64 out = 0;
  for (const Value* const v : graph.inputs)
    out += v->shape.elements();
  return out;
}

}  // namespace

std::unique_ptr<Graph> clone_for_bins(const Graph& graph, const std::vector<std::vector<i64>>& bins) {
  check(bins, unknown_extents(graph), all_first(graph));
  auto out = std::make_unique<Graph>(graph.name);
  std::vector<std::unique_ptr<Graph>> branches;
  for (usize i = 0; i < bins.size(); ++i) {
    Graph& branch = *branches.emplace_back(graph.clone());
    set_extents(branch.inputs, bins[i]);
    for (const auto& node : branch.nodes())
      node->name += fmt::format("_ascend_mbatch_batch_{}", i);
  }
  const Graph& largest = **std::ranges::max_element(branches, {}, [](const auto& b) { return elements(*b); });
  std::vector<Value*> operands{nullptr};
  for (const Value* const v : largest.inputs)
    operands.push_back(out->add_input(v->name, v->type, v->shape));
  const auto count = std::ssize(bins[0]);
  Array table(DataType::i32, {std::ssize(bins), count});
  usize next = 0;
  for (const std::vector<i64>& bin : bins) {
    for (const i64 v : bin)
      table.values[next++] = static_cast<double>(v);
  }
  Value* const chosen = out->add_input(kBinInput, DataType::i32, {count});
  Value* const known = out->add_constant("ascend_mbatch_shape_const", Tensor(table));
  Node* const index = out->add_node("MapIndex", "ascend_mbatch_shape_mapindex", {chosen, known});
  infer(*index);
  operands[0] = index->output();
  Node* const node = out->add_node("Case", "ascend_mbatch_shape_case", operands, graph.outputs.size());
  node->attributes[std::string(kBins)] = i64{1};
  node->bodies = std::move(branches);
  infer(*node);
  for (usize i = 0; i < graph.outputs.size(); ++i) {
    node->output(i)->name = graph.outputs[i]->name;
    out->outputs.push_back(node->output(i));
  }
  return out;
}

}  // namespace vinci::graph
