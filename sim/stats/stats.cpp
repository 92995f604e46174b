// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/stats/stats.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "isa/base/error.h"

namespace vinci::stats {

Group& Group::group(std::string_view name) {
  const auto it = std::ranges::find(groups_, name, &Group::name_);
  if (it != groups_.end()) return *it;
  return groups_.emplace_back(std::string(name));
}

void Group::add(std::string_view name, u64& value, std::string_view unit, std::string_view doc) {
  counters_.push_back({std::string(name), &value, unit, doc});
}

void Group::append_values(std::vector<u64>& out) const {
  for (const Counter& c : counters_)
    out.push_back(*c.value);
  for (const Group& g : groups_)
    g.append_values(out);
}

std::span<const u64> Group::add_to_values(std::span<const u64> more) {
  VINCI_CHECK(more.size() >= counters_.size());
  for (usize i = 0; i < counters_.size(); ++i)
    *counters_[i].value += more[i];
  more = more.subspan(counters_.size());
  for (Group& g : groups_)
    more = g.add_to_values(more);
  return more;
}

nlohmann::ordered_json to_json(const Group& group) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Counter& c : group.counters())
    out[c.name] = *c.value;
  for (const Group& g : group.groups())
    out[g.name()] = to_json(g);
  return out;
}

Values::Values(const Group& group) : tree_(std::make_shared<const nlohmann::ordered_json>(to_json(group))) {}

const nlohmann::ordered_json& Values::json() const {
  static const nlohmann::ordered_json null;
  return tree_ ? *tree_ : null;
}

const nlohmann::ordered_json& Values::operator[](std::string_view group) const {
  static const nlohmann::ordered_json null;
  const auto at = json().find(group);
  return at == json().end() ? null : *at;
}

bool operator==(const Values& a, const Values& b) { return a.json() == b.json(); }

}  // namespace vinci::stats
