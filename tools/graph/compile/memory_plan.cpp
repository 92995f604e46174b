// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/memory_plan.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "tools/graph/compile/storage.h"
#include "tools/graph/compile/tasks.h"
#include "tools/graph/kernels/kernel.h"

namespace vinci::graph {
namespace {

constexpr u32 kSeveral = ~u32{0};

struct Life {
  const Value* value;
  usize first, last;  // steps: node that makes it, last node that reads it
  u64 bytes;
  std::map<u32, u32> streams = {};  // by part: the stream on which it is made and used, or kSeveral
  u64 offset = 0;

  void touch(StreamPlace at) {
    const auto [entry, added] = streams.emplace(at.part, at.stream);
    if (!added && entry->second != at.stream) entry->second = kSeveral;
  }
  // Both may have the same memory: one is over before the other begins, and a stream orders them.
  bool apart(const Life& o) const {
    if (o.first <= last && first <= o.last) return false;
    return std::ranges::all_of(streams, [&](const auto& s) {
      const auto there = o.streams.find(s.first);
      return there == o.streams.end() || (there->second == s.second && s.second != kSeveral);
    });
  }
};

// Places of constants. Those with the same bytes share one, whatever their shapes and types.
class Weights {
 public:
  explicit Weights(MemoryPlan& plan) : plan_(plan) {}

  void place(const Value* v) {
    if (!v->constant || plan_.places.contains(v)) return;
    const auto bytes = v->constant->bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const usize key = std::hash<std::string_view>{}(text);
    const auto [from, to] = placed_.equal_range(key);
    for (auto at = from; at != to; ++at) {
      if (!same_storage(*at->second, *v)) continue;
      plan_.places[v] = plan_.places.at(at->second);
      return;
    }
    placed_.emplace(key, v);
    plan_.places[v] = {MemoryPlan::Area::weights, plan_.weights};
    plan_.weights += allocated_bytes(*v);
  }

 private:
  static bool same_storage(const Value& a, const Value& b) {
    const bool same_order = a.format == isa::Format::ND || (a.shape == b.shape && a.type == b.type);
    return a.format == b.format && same_order && std::ranges::equal(a.constant->bytes(), b.constant->bytes());
  }

  MemoryPlan& plan_;
  std::unordered_multimap<usize, const Value*> placed_;
};

}  // namespace

MemoryPlan plan_memory(const Graph& graph, bool reuse, const StreamPlaces& streams) {
  MemoryPlan plan;
  for (usize i = 0; i < graph.inputs.size(); ++i)
    plan.places[graph.inputs[i]] = {MemoryPlan::Area::input, i};
  Weights weights(plan);
  std::map<const Value*, usize> index;
  std::vector<Life> lives;
  // Inputs and outputs of branches, with the values around them whose place they have.
  std::map<const Value*, const Value*> around;
  const auto root = [&](const Value* v) {
    v = storage_of(v);
    for (auto at = around.find(v); at != around.end(); at = around.find(v))
      v = storage_of(at->second);
    return v;
  };
  usize step = 0;
  StreamPlace here;
  const auto begin_step = [&](const Node& node) {
    ++step;
    const auto at = streams.find(&node);
    here = at == streams.end() ? StreamPlace{} : at->second;
  };
  const auto use = [&](const Value* v) {
    weights.place(root(v));
    const auto at = index.find(root(v));
    if (at == index.end()) return;
    lives[at->second].last = step;
    lives[at->second].touch(here);
  };
  const auto make = [&](const Value* v) {
    if (around.contains(v)) return use(v);
    if (v->producer() != nullptr && chooses_branch(*v->producer())) {
      plan.places[v] = {MemoryPlan::Area::control, plan.control};
      plan.control += allocated_bytes(*v);
      return;
    }
    index[v] = lives.size();
    lives.push_back({.value = v, .first = step, .last = step, .bytes = allocated_bytes(*v)});
    lives.back().touch(here);
  };
  // A function of the AICPU that chooses a branch reads no memory that kernels touch.
  const auto place_table = [&](const Node& node) {
    for (const Value* const v : node.inputs()) {
      if (!v->constant || plan.places.contains(v)) continue;
      plan.places[v] = {MemoryPlan::Area::control, plan.control};
      plan.control += allocated_bytes(*v);
    }
  };
  for_each_task(
      graph,
      [&](const Node& node) {
        begin_step(node);
        if (chooses_branch(node)) place_table(node);
        const Group group(node);
        for (const Value* const v : group.inputs())
          use(v);
        for (const Value* const v : node.outputs())
          make(v);
      },
      [&](const Node& node) {
        begin_step(node);
        use(node.input(0));
        for (const Value* const v : node.outputs())
          make(v);
        for (const auto& body : node.bodies) {
          for (usize i = 0; i < body->inputs.size(); ++i)
            around[body->inputs[i]] = node.input(i + 1);
          for (usize i = 0; i < body->outputs.size(); ++i)
            around[storage_of(body->outputs[i])] = node.output(i);
        }
      });
  ++step;
  for (const Value* const v : graph.outputs)
    use(v);
  // Largest first; each takes the lowest place that no value of its time has.
  std::vector<Life*> order;
  for (Life& life : lives)
    order.push_back(&life);
  std::ranges::stable_sort(order, std::greater<>{}, [](const Life* l) { return l->bytes; });
  std::vector<const Life*> placed;
  for (Life* const life : order) {
    std::vector<std::pair<u64, u64>> taken;
    for (const Life* const other : placed) {
      if (!reuse || !life->apart(*other)) taken.emplace_back(other->offset, other->offset + other->bytes);
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
  for (const auto& [inner, outer] : around) {
    if (const auto at = plan.places.find(root(inner)); at != plan.places.end()) plan.places[inner] = at->second;
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
