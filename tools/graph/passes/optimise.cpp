// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/passes/optimise.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "tools/graph/ops/op.h"

namespace vinci::graph {
namespace {

// `all`: the stages whose passes "ALL" means; those that kernels need stay on.
void set_switch(Switches& out, const std::string& name, const std::string& state, std::span<const Stage> all,
                const std::string& where) {
  if (state != "on" && state != "off") fail_at(Fault::Input, where, "pass {}: '{}' is neither on nor off", name, state);
  const bool on = state == "on";
  if (name == "ALL") {
    for (const Pass& pass : all_passes()) {
      if (pass.level != Level::O1 && std::ranges::find(all, pass.stage) != all.end())
        out.passes.try_emplace(std::string(pass.name), on);
    }
    return;
  }
  std::vector<std::string_view> names;
  for (const Pass& pass : all_passes())
    names.push_back(pass.name);
  if (std::ranges::find(names, name) == names.end())
    fail_at(Fault::Input, where, "there is no pass '{}'{}", name, did_you_mean(name, names));
  out.passes.insert_or_assign(name, on);
}

Switches from_json(std::string_view text, const std::string& where) {
  Switches out;
  try {
    const nlohmann::json file = nlohmann::json::parse(text);
    for (const auto& [section, passes] : file.at("Switch").items()) {
      constexpr Stage kGraph[]{Stage::OptimizeOriginalGraph}, kUb[]{Stage::UbFusion};
      if (section != "GraphFusion" && section != "UBFusion")
        fail_at(Fault::Input, where, "'{}' is neither GraphFusion nor UBFusion", section);
      for (const auto& [name, state] : passes.items())
        set_switch(out, name, state.get<std::string>(), section == "GraphFusion" ? std::span(kGraph) : std::span(kUb),
                   where);
    }
  } catch (const nlohmann::json::exception& e) {
    fail_at(Fault::Input, where, "no switch file: {}", e.what());
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const usize from = text.find_first_not_of(" \t\r"), to = text.find_last_not_of(" \t\r");
  return from == std::string_view::npos ? std::string_view{} : text.substr(from, to - from + 1);
}

Switches from_lines(std::string_view text, const std::string& where) {
  Switches out;
  usize number = 0;
  for (usize at = 0; at < text.size(); ++number) {
    const usize end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (line.empty() || line.front() == '#') continue;
    const std::string here = fmt::format("{}:{}", where, number + 1);
    const usize colon = line.find(':');
    if (colon == std::string_view::npos) fail_at(Fault::Input, here, "'{}' is no 'Pass:on' or 'Pass:off'", line);
    constexpr Stage kBoth[]{Stage::OptimizeOriginalGraph, Stage::UbFusion};
    set_switch(out, std::string(trimmed(line.substr(0, colon))), std::string(trimmed(line.substr(colon + 1))), kBoth,
               here);
  }
  return out;
}

bool looks_at_nodes(const Pass& pass) { return pass.node != nullptr || pass.node_for != nullptr; }

constexpr usize kMaxVisits = 10;     // of each node, on average; as in GE
constexpr usize kMaxInserted = 100;  // nodes that a small graph may get in addition to its own

Target in_branch(Target target) {
  target.branch = true;
  return target;
}

// One walk of neighbours in the list that look at nodes. Nodes that a visit inserts are visited next; branches of a
// node before the node itself.
void walk(Graph& graph, std::span<PassRecord> group, const Target& target) {
  usize left = kMaxVisits * (graph.size() + kMaxInserted);
  std::vector<Effect> effects(group.size());
  for (auto at = graph.nodes().begin(); at != graph.nodes().end();) {
    if (left-- == 0) fail(Fault::Internal, "graph {}: passes change the same nodes again and again", graph.name);
    // A visit erases its node and nodes in front of it; those behind stay.
    auto next = std::next(at);
    const u64 first_new = graph.next_id();
    Node& node = **at;
    if (node.branches()) {
      infer(node);  // hands shapes to the branches
      for (const auto& body : node.bodies)
        walk(*body, group, in_branch(target));
    }
    bool again = false;
    for (usize i = 0; i < group.size() && !again; ++i) {
      const Pass& pass = *group[i].pass;
      Visit done = pass.node != nullptr ? pass.node(graph, node) : pass.node_for(graph, node, target);
      again = done == Visit::gone;
      effects[i].add(std::move(done));
    }
    while (again && next != graph.nodes().begin() && (*std::prev(next))->id() >= first_new)
      --next;
    at = next;
  }
  for (usize i = 0; i < group.size(); ++i) {
    effects[i].settle();
    group[i].effect += effects[i];
  }
}

// Branches first: a node that has them follows from them.
Effect whole(const Pass& pass, Graph& graph, const Target& target) {
  Effect effect;
  for (const auto& node : graph.nodes()) {
    if (!node->branches()) continue;
    for (const auto& body : node->bodies)
      effect += whole(pass, *body, in_branch(target));
  }
  return effect += pass.graph != nullptr ? pass.graph(graph) : pass.graph_for(graph, target);
}

// Values of nodes by name, those inside FusedOp and branches included.
void collect(const Graph& graph, std::map<std::string_view, const Value*>& out) {
  for (const auto& node : graph.nodes()) {
    for (const Value* const v : node->outputs())
      out.emplace(v->name, v);
    for (const auto& body : node->bodies)
      collect(*body, out);
  }
}

// Refusals of nodes that another pass joined or replaced later are void: it asked again, or the pattern is gone.
void drop_refusals(const std::map<std::string_view, const Value*>& values, std::vector<PassRecord>& records) {
  const auto gone = [&](const NamedNode& node) { return !node.value.empty() && !values.contains(node.value); };
  for (PassRecord& record : records)
    std::erase_if(record.effect.refusals, [&](const Refusal& r) { return std::ranges::any_of(r.nodes, gone); });
}

// Bytes that joins save. Types and formats of values that a pass in front of Optimize1 removed are those that the value
// in their place has got.
void price_joins(const std::map<std::string_view, const Value*>& values, std::vector<PassRecord>& records) {
  // A Cast or a TransData at a border of the network takes over the name of its output.
  const auto made = [&](const std::string& name) {
    const auto at = values.find(name);
    const Value* v = at == values.end() ? nullptr : at->second;
    while (v != nullptr && v->producer() != nullptr &&
           (v->producer()->type == "Cast" || v->producer()->type == "TransData"))
      v = v->producer()->input(0);
    return v;
  };
  for (PassRecord& record : records) {
    for (Join& join : record.effect.joins)
      price(join, record.pass->stage < Stage::Optimize1 ? made(join.result) : nullptr);
  }
}

}  // namespace

bool Switches::on(const Pass& pass) const {
  if (pass.level > level) return false;
  const auto at = passes.find(pass.name);
  return at == passes.end() || at->second;
}

Switches parse_switches(std::string_view text, const std::string& where) {
  const usize first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' ? from_json(text, where) : from_lines(text, where);
}

std::vector<PassRecord> optimise(Graph& graph, const OptimiseOptions& options) {
  std::vector<PassRecord> records;
  for (const Pass& pass : all_passes()) {
    if (options.switches.on(pass)) records.push_back({.pass = &pass});
  }
  for (usize i = 0; i < records.size();) {
    const Stage stage = records[i].pass->stage;
    usize end = i + 1;
    if (const Pass& pass = *records[i].pass; !looks_at_nodes(pass)) {
      records[i].effect = whole(pass, graph, options.target);
    } else {
      while (end < records.size() && records[end].pass->stage == stage && looks_at_nodes(*records[end].pass))
        ++end;
      walk(graph, std::span(records).subspan(i, end - i), options.target);
    }
    i = end;
    if (options.dump && (i == records.size() || records[i].pass->stage != stage)) options.dump(stage, graph);
  }
  std::map<std::string_view, const Value*> values;
  collect(graph, values);
  price_joins(values, records);
  drop_refusals(values, records);
  return records;
}

std::vector<PassRecord> by_name(const std::vector<PassRecord>& records) {
  std::vector<PassRecord> out;
  for (const PassRecord& r : records) {
    const auto at = std::ranges::find(out, r.pass->name, [](const PassRecord& o) { return o.pass->name; });
    if (at == out.end()) {
      out.push_back(r);
    } else {
      at->effect += r.effect;
    }
  }
  return out;
}

}  // namespace vinci::graph
