// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/memory_plan.h"

#include <algorithm>

#include "tools/graph/compile/storage.h"
#include "tools/graph/kernels/kernel.h"

namespace vinci::graph {
namespace {

struct Life {
  const Value* value;
  usize first, last;  // steps: node that makes it, last node that reads it
  u64 bytes;
  u64 offset = 0;
};

}  // namespace

MemoryPlan plan_memory(const Graph& graph, bool reuse) {
  MemoryPlan plan;
  for (usize i = 0; i < graph.inputs.size(); ++i)
    plan.places[graph.inputs[i]] = {MemoryPlan::Area::input, i};
  const auto place_constant = [&](const Value* v) {
    if (!v->constant || plan.places.contains(v)) return;
    plan.places[v] = {MemoryPlan::Area::weights, plan.weights};
    plan.weights += allocated_bytes(*v);
  };
  std::map<const Value*, usize> index;
  std::vector<Life> lives;
  const auto use = [&](const Value* v, usize step) {
    if (const auto at = index.find(storage_of(v)); at != index.end()) lives[at->second].last = step;
  };
  usize step = 0;
  for (const auto& node : graph.nodes()) {
    ++step;
    if (!is_alias(*node)) {
      const Group group(*node);
      for (const Value* const v : group.inputs()) {
        place_constant(v);
        use(v, step);
      }
      for (const Value* const v : node->outputs()) {
        index[v] = lives.size();
        lives.push_back({.value = v, .first = step, .last = step, .bytes = allocated_bytes(*v)});
      }
    }
  }
  for (const Value* const v : graph.outputs) {
    place_constant(storage_of(v));
    use(v, step + 1);
  }
  // Largest first; each takes the lowest place that no value of its time has.
  std::vector<Life*> order;
  for (Life& life : lives)
    order.push_back(&life);
  std::ranges::stable_sort(order, std::greater<>{}, [](const Life* l) { return l->bytes; });
  std::vector<const Life*> placed;
  for (Life* const life : order) {
    std::vector<std::pair<u64, u64>> taken;
    for (const Life* const other : placed) {
      if (!reuse || (other->first <= life->last && life->first <= other->last))
        taken.emplace_back(other->offset, other->offset + other->bytes);
    }
    std::ranges::sort(taken);
    for (const auto& [from, to] : taken) {
      if (life->offset + life->bytes <= from) break;
      life->offset = std::max(life->offset, to);
    }
    placed.push_back(life);
    plan.places[life->value] = {MemoryPlan::Area::features, life->offset};
    plan.features = std::max(plan.features, life->offset + life->bytes);
    plan.without_reuse += life->bytes;
  }
  for (usize now = 1; now <= step; ++now) {
    u64 alive = 0;
    for (const Life& life : lives)
      alive += life.first <= now && now <= life.last ? life.bytes : 0;
    plan.lower_bound = std::max(plan.lower_bound, alive);
  }
  return plan;
}

}  // namespace vinci::graph
