// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/graph/passes/optimise.h"

// What passes joined, what it saves and why they left other nodes apart, as JSON and as a table.
namespace vinci::graph {
namespace {

using Json = nlohmann::ordered_json;

struct Saving {
  u64 tasks = 0, written = 0, read = 0;

  Saving& operator+=(const Join& join) {
    tasks += join.tasks;
    written += join.written_bytes;
    read += join.read_bytes;
    return *this;
  }
  Saving& operator+=(const Saving& other) {
    tasks += other.tasks;
    written += other.written;
    read += other.read;
    return *this;
  }
};

Saving saving_of(const Effect& effect) {
  Saving out;
  for (const Join& join : effect.joins)
    out += join;
  return out;
}

// Places with one description, in the order of the first one.
template <class Place>
struct Places {
  std::string text;
  std::vector<const Place*> places = {};
};
template <class Place>
std::vector<Places<Place>> grouped(const std::vector<Place>& all, const auto& text_of) {
  std::vector<Places<Place>> out;
  for (const Place& place : all) {
    std::string text = text_of(place);
    auto at = std::ranges::find(out, text, &Places<Place>::text);
    if (at == out.end()) at = out.insert(at, {.text = std::move(text)});
    at->places.push_back(&place);
  }
  return out;
}
std::vector<std::string> list_of(const std::vector<NamedNode>& nodes, std::string NamedNode::*what) {
  std::vector<std::string> out;
  for (const NamedNode& node : nodes)
    out.push_back(node.*what);
  return out;
}
std::vector<Places<Join>> by_types(const Effect& effect) {
  return grouped(effect.joins, [](const Join& join) {
    return fmt::format("{}", fmt::join(list_of(join.nodes, &NamedNode::type), " + "));
  });
}
std::vector<Places<Refusal>> by_reason(const Effect& effect) {
  return grouped(effect.refusals, [](const Refusal& refusal) { return refusal.reason; });
}

// The first few places.
template <class Place>
std::string examples(const Places<Place>& group) {
  constexpr usize kMostPlaces = 3, kMostNodes = 4;
  std::string out;
  for (usize i = 0; i < std::min(kMostPlaces, group.places.size()); ++i) {
    const std::vector<std::string> nodes = list_of(group.places[i]->nodes, &NamedNode::name);
    out += i == 0 ? "" : "; ";
    out += nodes.size() <= kMostNodes ? fmt::format("{}", fmt::join(nodes, " + "))
                                      : fmt::format("{} + ... + {}", nodes.front(), nodes.back());
  }
  return group.places.size() > kMostPlaces ? out + "; ..." : out;
}

Json to_json(const Saving& saving) {
  return {{"tasks_fewer", saving.tasks}, {"bytes_not_written", saving.written}, {"bytes_not_read", saving.read}};
}

void add_places(Json& row, const Effect& effect) {
  if (!effect.joins.empty()) {
    row.update(to_json(saving_of(effect)));
    Json& applied = row["applied"] = Json::array();
    for (const Join& join : effect.joins) {
      Json tensors = Json::array();
      for (const SavedTensor& tensor : join.tensors)
        tensors.push_back(tensor.name);
      Json place{{"nodes", list_of(join.nodes, &NamedNode::name)},
                 {"types", list_of(join.nodes, &NamedNode::type)},
                 {"tensors", tensors}};
      place.update(to_json(Saving() += join));
      applied.push_back(place);
    }
  }
  if (!effect.refusals.empty()) {
    Json& apart = row["not_applied"] = Json::array();
    for (const Places<Refusal>& group : by_reason(effect)) {
      Json nodes = Json::array();
      for (const Refusal* const refusal : group.places)
        nodes.push_back(list_of(refusal->nodes, &NamedNode::name));
      apart.push_back({{"reason", group.text}, {"count", group.places.size()}, {"nodes", nodes}});
    }
  }
}

bool is_fusion(const PassRecord& record) {
  return record.pass->stage == Stage::OptimizeOriginalGraph || record.pass->stage == Stage::UbFusion;
}

std::string row(std::string_view name, const std::string& applied, const std::optional<Saving>& saving) {
  const auto number = [&](u64 value) { return saving ? fmt::format("{}", value) : std::string("-"); };
  const Saving s = saving.value_or(Saving());
  return fmt::format("{:<36} {:>7} {:>11} {:>15} {:>15}\n", name, applied, number(s.tasks), number(s.written),
                     number(s.read));
}

}  // namespace

std::string fusion_result(const std::vector<PassRecord>& records) {
  Json graph_fusion = Json::object(), ub_fusion = graph_fusion;
  for (const PassRecord& r : by_name(records)) {
    if (r.effect.matches == 0 && r.effect.refusals.empty()) continue;
    Json out{{"effect_times", fmt::format("{}", r.effect.changes)},
             {"match_times", fmt::format("{}", r.effect.matches)}};
    const bool ub = r.pass->stage == Stage::UbFusion;
    if (ub) out["repository_hit_times"] = "0";
    add_places(out, r.effect);
    (ub ? ub_fusion : graph_fusion)[std::string(r.pass->name)] = out;
  }
  const Json file =
      Json::array({{{"session_and_graph_id_0_0", {{"graph_fusion", graph_fusion}, {"ub_fusion", ub_fusion}}}}});
  return file.dump(4) + "\n";
}

std::string fusion_table(const std::vector<PassRecord>& records) {
  std::string out = fmt::format("{:<36} {:>7} {:>11} {:>15} {:>15}\n", "pass", "applied", "tasks fewer",
                                "B not written", "B not read");
  Saving all;
  for (const PassRecord& r : by_name(records)) {
    const Effect& e = r.effect;
    const bool changes = is_fusion(r) && e.changes > 0;
    if (!changes && e.joins.empty() && e.refusals.empty()) continue;
    const Saving saving = saving_of(e);
    all += saving;
    out += row(r.pass->name, fmt::format("{}", e.changes), e.joins.empty() ? std::nullopt : std::optional(saving));
    for (const Places<Join>& group : by_types(e)) {
      Saving of_group;
      for (const Join* const join : group.places)
        of_group += *join;
      out += fmt::format("    {} x {}, {} B not written, {} B not read: {}\n", group.places.size(), group.text,
                         of_group.written, of_group.read, examples(group));
    }
    if (!e.refusals.empty()) out += "  not applied:\n";
    for (const Places<Refusal>& group : by_reason(e))
      out += fmt::format("    {} x {}: {}\n", group.places.size(), group.text, examples(group));
  }
  return out + row("(all passes)", "", all);
}

}  // namespace vinci::graph
