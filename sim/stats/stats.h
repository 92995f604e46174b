// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

namespace vinci::stats {

// A named number that a model counts in a plain member; the statistics only point at it, so counting costs an add.
struct Counter {
  std::string name;
  u64* value = nullptr;
  std::string_view unit;
  std::string_view doc;
};

// A tree of counters, in the order of construction. Members that are added must outlive the group's last use.
class Group {
 public:
  explicit Group(std::string name = {}) : name_(std::move(name)) {}

  // The sub-group of that name, made on first use.
  Group& group(std::string_view name);
  void add(std::string_view name, u64& value, std::string_view unit, std::string_view doc);

  const std::string& name() const { return name_; }
  const std::list<Group>& groups() const { return groups_; }
  const std::vector<Counter>& counters() const { return counters_; }
  // The values of its counters and of those of its sub-groups, in their order, at the end of `out`.
  void append_values(std::vector<u64>& out) const;
  // Adds to each of them what follows in `more`; returns what is left of it.
  std::span<const u64> add_to_values(std::span<const u64> more);

 private:
  std::string name_;
  std::vector<Counter> counters_;
  std::list<Group> groups_;  // a list: references stay valid, and an empty one takes no memory
};

// The tree as nested JSON objects, values only.
nlohmann::ordered_json to_json(const Group& group);

// The values of a tree at one time, as nested JSON objects: {"core0.AIC": {"M": {"busy": 12}}}. Only files that read
// them need <nlohmann/json.hpp>.
class Values {
 public:
  Values() = default;  // null
  explicit Values(const Group& group);

  const nlohmann::ordered_json& json() const;
  // A group, or null where there is none.
  const nlohmann::ordered_json& operator[](std::string_view group) const;
  friend bool operator==(const Values& a, const Values& b);

 private:
  std::shared_ptr<const nlohmann::ordered_json> tree_;
};

}  // namespace vinci::stats
