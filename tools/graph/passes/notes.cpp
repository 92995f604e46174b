// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/passes/notes.h"

#include <algorithm>
#include <functional>
#include <set>

#include "tools/graph/kernels/kernel.h"

namespace vinci::graph {
namespace {

NamedNode named(const Node& node) {
  return {.name = node.name, .type = node.type, .value = node.outputs().empty() ? "" : node.output()->name};
}

// Those of a FusedOp are those of its content.
void describe(const Node& node, std::vector<NamedNode>& out) {
  if (node.type != "FusedOp") {
    out.push_back(named(node));
    return;
  }
  for (const auto& inner : node.bodies[0]->nodes())
    describe(*inner, out);
}

// Its output has the memory of its input.
bool is_no_task(const Node& node) { return is_view(node) && node.type != "TransposeD"; }

bool contains(const std::vector<NamedNode>& all, const std::vector<NamedNode>& some) {
  return std::ranges::all_of(some, [&](const NamedNode& s) { return std::ranges::find(all, s) != all.end(); });
}

}  // namespace

Visit Visit::refused(std::initializer_list<const Node*> nodes, std::string reason) {
  Visit out = none;
  out.refuse(nodes, std::move(reason));
  return out;
}

void Visit::refuse(std::initializer_list<const Node*> nodes, std::string reason) {
  if (did == none) did = matched;
  note(nodes, std::move(reason));
}

void Visit::note(std::initializer_list<const Node*> nodes, std::string reason) {
  Refusal& refusal = refusals.emplace_back();
  refusal.reason = std::move(reason);
  for (const Node* const node : nodes)
    refusal.nodes.push_back(named(*node));
}

void Effect::refuse(const Node& node, std::string reason) { refusals.push_back({{named(node)}, std::move(reason)}); }

Effect& Effect::operator+=(const Effect& other) {
  matches += other.matches;
  changes += other.changes;
  joins.insert(joins.end(), other.joins.begin(), other.joins.end());
  refusals.insert(refusals.end(), other.refusals.begin(), other.refusals.end());
  return *this;
}

void Effect::add(Visit visit) {
  matches += visit == Visit::none ? 0 : 1;
  changes += visit == Visit::changed || visit == Visit::gone ? 1 : 0;
  if (visit.join) joins.push_back(std::move(*visit.join));
  std::ranges::move(visit.refusals, std::back_inserter(refusals));
}

void Effect::settle() {
  std::vector<Join> whole;
  for (Join& join : joins) {
    // Steps before this one; a node that a pass made and joined again has the names of its parts.
    for (auto at = whole.begin(); at != whole.end();) {
      if (!contains(join.nodes, at->nodes)) {
        ++at;
        continue;
      }
      join.tensors.insert(join.tensors.begin(), at->tensors.begin(), at->tensors.end());
      join.tasks += at->tasks;
      at = whole.erase(at);
    }
    whole.push_back(std::move(join));
  }
  joins = std::move(whole);
  // A node that was joined meets its neighbours again: the first answer is about the two alone.
  std::set<std::vector<std::string>> seen;  // values
  std::erase_if(refusals, [&](const Refusal& refusal) {
    std::vector<std::string> values;
    for (const NamedNode& node : refusal.nodes)
      values.push_back(node.value);
    const auto joined = [&](const Join& join) {
      return refusal.nodes.size() > 1 && contains(join.nodes, refusal.nodes);
    };
    return !seen.insert(std::move(values)).second || std::ranges::any_of(joins, joined);
  });
}

std::string other_use(const Graph& graph, const Value* value, const Node& node) {
  if (graph.sole_user(value) == &node) return "";
  if (graph.is_output(value)) return "the value in between is an output";
  const bool others = std::ranges::any_of(value->uses(), [&](const Use& use) { return use.node != &node; });
  return others ? "the value in between has other uses" : "the node reads the value in between twice";
}

Join join_of(const Graph& graph, const std::vector<const Node*>& parts, bool made) {
  const Value* const result = parts.back()->output();
  Join out{.result = result->name, .result_type = result->type};
  const auto inside = [&](const Node* n) { return std::ranges::find(parts, n) != parts.end(); };
  const auto stored = [&](const Value* v) {
    while (v->producer() != nullptr && inside(v->producer()) && is_no_task(*v->producer()))
      v = v->producer()->input(0);
    return v;
  };
  // A part whose output has uses outside stays.
  const auto stays = [&](const Node& part) {
    return std::ranges::any_of(part.outputs(), [&](const Value* v) {
      return v != result &&
             (graph.is_output(v) || !std::ranges::all_of(v->uses(), [&](const Use& use) { return inside(use.node); }));
    });
  };
  std::vector<SavedTensor>& tensors = out.tensors;
  std::vector<const Value*> values;  // of the tensors
  const auto tensor = [&](const Value* v) -> SavedTensor& {
    const auto at = std::ranges::find(values, v);
    if (at != values.end()) return tensors[static_cast<usize>(at - values.begin())];
    values.push_back(v);
    return tensors.emplace_back(SavedTensor{.name = v->name, .type = v->type, .format = v->format, .shape = v->shape});
  };
  u32 tasks = 0;
  for (const Node* const part : parts) {
    describe(*part, out.nodes);
    if (is_no_task(*part)) continue;
    const Group group(*part);
    for (const Value* const v : group.inputs())
      tensor(stored(v)).read += v->constant ? 0 : 1;
    if (stays(*part)) continue;
    ++tasks;
    for (const Value* const v : part->outputs())
      tensor(v).written += v == result && made ? 0 : 1;
  }
  for (usize i = 0; i < values.size(); ++i) {
    const Node* const maker = values[i]->producer();
    const bool from_outside = maker == nullptr || !inside(maker) || stays(*maker);
    if (from_outside && made && tensors[i].read > 0) --tensors[i].read;
  }
  std::erase_if(tensors, [](const SavedTensor& t) { return t.written == 0 && t.read == 0; });
  out.tasks = tasks - (made && tasks > 0 ? 1 : 0);
  return out;
}

Join join_before(const Graph& graph, const Node& last, std::initializer_list<const Value*> kept, bool made) {
  std::set<const Node*> all{&last};
  const auto only_inside = [&](const Node& node) {
    return std::ranges::all_of(node.outputs(), [&](const Value* v) {
      return !graph.is_output(v) && std::ranges::find(kept, v) == kept.end() &&
             std::ranges::all_of(v->uses(), [&](const Use& use) { return all.contains(use.node); });
    });
  };
  for (bool grown = true; grown;) {
    grown = false;
    for (const Node* const node : std::set(all)) {
      for (const Value* const v : node->inputs()) {
        const Node* const before = v == nullptr ? nullptr : v->producer();
        if (before != nullptr && !all.contains(before) && only_inside(*before)) grown = all.insert(before).second;
      }
    }
  }
  std::vector<const Node*> parts;
  const std::function<void(const Node&)> in_order = [&](const Node& node) {
    if (all.erase(&node) == 0) return;
    for (const Value* const v : node.inputs()) {
      if (v != nullptr && v->producer() != nullptr) in_order(*v->producer());
    }
    parts.push_back(&node);
  };
  in_order(last);
  return join_of(graph, parts, made);
}

void price(Join& join, const Value* result) {
  join.written_bytes = join.read_bytes = 0;
  for (SavedTensor& t : join.tensors) {
    if (!t.shape.known()) continue;
    if (result != nullptr && t.type == join.result_type) {
      t.type = result->type;
      if (t.shape.rank() == 4) t.format = result->format;
    }
    const u64 bytes = stored_elements(t.shape, t.format, t.type) * info(t.type).bytes;
    join.written_bytes += t.written * bytes;
    join.read_bytes += t.read * bytes;
  }
}

}  // namespace vinci::graph
