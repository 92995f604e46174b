// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "isa/arch.h"
#include "isa/base/enums.h"
#include "sim/io/yaml_tree.h"
#include "sim/task/draft.h"

// What the parts of the YAML reader share. Only for sim/task/yaml*.
namespace vinci::task {

using Node = io::YamlTree::Node;
using NodeKind = io::YamlTree::Kind;

// Follows a path as far as the text spells it out: defaults and short forms have no node of their own.
class YamlLocator final : public Locator {
 public:
  YamlLocator(std::string name, io::YamlTree tree) : name_(std::move(name)), tree_(std::move(tree)) {}

  const io::YamlTree& tree() const { return tree_; }
  const std::string& name() const { return name_; }

  std::string at(const Node& node) const { return tree_.at(name_, node); }
  std::string at(const Path& path) const override;

  // The value of a key, null where the node is no map or has no such key.
  const Node* value(const Node& map, std::string_view key) const;

 private:
  // The index-th step of a list, with the steps inside repeats; else null, with the steps of the list taken off.
  const Node* host_step(const Node& list, usize& index) const;

  std::string name_;
  io::YamlTree tree_;
};

// A number as people write it: decimal or 0x, with a sign where `out` is what a 64-bit register holds.
bool read_number(std::string_view text, u64& out);

// The nodes of a file as values of the types that are expected. Everything that is wrong is reported, with a harmless
// value in its place.
class YamlNodes {
 public:
  YamlNodes(std::string_view text, const YamlLocator& where, config::Problems& problems);

  const YamlLocator& where() const { return where_; }
  const io::YamlTree& tree() const { return tree_; }
  bool full() const { return problems_.full(); }
  u64 reports() const { return reports_; }  // so far; a part that had one is not checked any further

  template <class... A>
  void report(const Node& node, fmt::format_string<A...> text, A&&... args) {
    ++reports_;
    // Beyond what is shown, problems are only counted.
    problems_.full() ? problems_.add({}, {})
                     : problems_.add(where_.at(node), fmt::format(text, std::forward<A>(args)...));
  }
  // What another reader says about a part of the file.
  void report(const Error& e) { problems_.add(e.location(), e.message()); }

  // Aliases can make a small file mean a huge one: each time that a node is read counts against a budget.
  void visit(const Node& node);
  // The same for the contents of a file that the node names.
  void spend_file(const Node& node, u64 size);
  // The same for the program of a kernel: the memory that it takes, also where kernels share their text.
  void spend_program(const Node& node, u64 instructions);

  static bool scalar(const Node& node) { return node.kind == NodeKind::scalar; }
  bool need(const Node& parent, const Node* node, std::string_view what, std::string_view key);
  bool expect(const Node& node, NodeKind kind, std::string_view what);

  // The values of a map by their keys, null where absent; anything else in it is a problem.
  template <usize N>
  std::array<const Node*, N> fields(const Node& node, std::string_view what,
                                    const std::array<std::string_view, N>& keys) {
    std::array<const Node*, N> out{};
    for (const auto& [key, value] : node.entries()) {
      visit(key);
      visit(value);
      if (!expect(key, NodeKind::scalar, "a key")) continue;
      const usize k = static_cast<usize>(std::find(keys.begin(), keys.end(), key.text()) - keys.begin());
      if (k == N) {
        const std::string hint = full() ? std::string{} : did_you_mean(key.text(), keys);
        report(key, "{} has no key '{}'{}", what, shown(key.text()),
               hint.empty() ? fmt::format("; it has {}", fmt::join(keys, ", ")) : hint);
      } else if (out[k] != nullptr) {
        report(key, "{}: '{}' is there twice", what, key.text());
      } else {
        out[k] = &value;
      }
    }
    return out;
  }

  // Calls body(text of the key, value) for each entry.
  template <class F>
  void each_entry(const Node& node, std::string_view what, F body) {
    if (!expect(node, NodeKind::map, what)) return;
    for (const auto& [key, value] : node.entries()) {
      visit(key);
      visit(value);
      expect(key, NodeKind::scalar, "a name");
      body(std::string(key.text()), value);
    }
  }

  template <class F>
  void each_item(const Node& node, std::string_view what, F body) {
    if (!expect(node, NodeKind::sequence, what)) return;
    for (const Node& child : node.children()) {
      visit(child);
      body(child);
    }
  }

  std::string read_text(const Node& node, std::string_view what);
  bool read_truth(const Node& node, std::string_view what);
  u64 read_size(const Node& node, std::string_view what);  // bytes, plain or with a unit
  u64 read_count(const Node& node, std::string_view what, u64 max, u64 min = 0);
  double read_time(const Node& node, std::string_view what);  // seconds

  template <class E, usize N>
  bool read_name(const Node& node, std::string_view what, const std::array<std::string_view, N>& names, E& out) {
    if (!expect(node, NodeKind::scalar, what)) return false;
    const std::optional<E> value = parse_enum<E>(names, node.text());
    if (value) {
      out = *value;
    } else {
      report(node, "unknown {} '{}'; known are {}{}", what, shown(node.text()), fmt::join(names, ", "),
             did_you_mean(node.text(), names));
    }
    return value.has_value();
  }

 private:
  const YamlLocator& where_;
  const io::YamlTree& tree_;
  config::Problems& problems_;
  u64 budget_;       // of visit(): the text itself, read several times, and what aliases may add
  u64 file_budget_;  // of spend_file()
  u64 memory_;       // of spend_program(): grows with the text and with each file that is named first
  std::set<std::string, std::less<>> files_;  // named so far
  u64 reports_ = 0;
};

// The names that a file gives to its parts, and their indices.
class YamlNames {
 public:
  explicit YamlNames(YamlNodes& yaml) : yaml_(yaml) {}

  // Indices by name; of equal names, the first.
  using Index = std::map<std::string, u32, std::less<>>;
  Index buffers, kernels, events, notifies, labels, streams, models, comms, semaphores;

  // The index that a node names, or kUnresolved.
  template <class List>
  u32 resolve(const Node& node, std::string_view what, const Index& known, const List& items) const {
    if (!yaml_.expect(node, NodeKind::scalar, what)) return kUnresolved;
    const auto it = known.find(node.text());
    if (it != known.end()) return it->second;
    yaml_.report(node, "no {} is called '{}'{}", what, shown(node.text()),
                 yaml_.full() ? std::string{} : nearest(node.text(), items));
    return kUnresolved;
  }

  // Enters a name that may be there already; the list grows with it.
  static void declare(std::string_view name, Index& index, std::vector<std::string>& list) {
    if (index.contains(name)) return;
    index.emplace(name, static_cast<u32>(list.size()));
    list.emplace_back(name);
  }

 private:
  YamlNodes& yaml_;
};

}  // namespace vinci::task
