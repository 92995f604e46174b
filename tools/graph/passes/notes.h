// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "isa/base/enums.h"
#include "tools/graph/ir/graph.h"

// What a pass says about its pattern: where a condition did not hold, which nodes became one, and what that saves.
namespace vinci::graph {

// A node as it was: names of nodes need not differ, those of values do.
struct NamedNode {
  std::string name, type;
  std::string value;  // its first output

  friend bool operator==(const NamedNode&, const NamedNode&) = default;
};

// The pattern is there, but the nodes stay apart.
struct Refusal {
  std::vector<NamedNode> nodes = {};  // that the condition is about, in order
  std::string reason = {};            // the condition that does not hold, as a phrase
};

// A tensor of which global memory sees less.
struct SavedTensor {
  std::string name;
  DataType type = DataType::f32;
  isa::Format format = isa::Format::ND;
  Shape shape = Shape::unranked();
  u32 written = 0, read = 0;  // tasks fewer that write it, that read it
};

// Nodes that have become one.
struct Join {
  std::vector<NamedNode> nodes = {};  // in order
  std::string result = {};            // the value that they make together
  DataType result_type = DataType::f32;
  std::vector<SavedTensor> tensors = {};
  u32 tasks = 0;                          // fewer, as if each of the nodes were a task
  u64 written_bytes = 0, read_bytes = 0;  // of the tensors, as they are in memory (price())
};

// What a pass that looks at one node has done with it.
class Visit {
 public:
  enum class Did : u8 {
    none,     // the pattern is not here
    matched,  // it is, but a condition does not hold
    changed,
    gone,  // changed, and the node exists no more
  };
  using enum Did;

  Visit(Did what) : did(what) {}
  // Changed, with what it saves.
  Visit(Did what, Join joined) : did(what), join(std::move(joined)) {}

  static Visit refused(std::initializer_list<const Node*> nodes, std::string reason);
  // The same for one of several operands of a node; a change wins.
  void refuse(std::initializer_list<const Node*> nodes, std::string reason);
  // Says why nodes stay apart that are no pattern of the pass.
  void note(std::initializer_list<const Node*> nodes, std::string reason);

  friend bool operator==(const Visit& a, Did b) { return a.did == b; }

  Did did;
  std::vector<Refusal> refusals = {};
  std::optional<Join> join = std::nullopt;
};

// How often the pattern of a pass was found, and how often it led to a change.
struct Effect {
  u32 matches = 0, changes = 0;
  std::vector<Join> joins = {};
  std::vector<Refusal> refusals = {};

  Effect& operator+=(const Effect& other);
  void add(Visit visit);
  void refuse(const Node& node, std::string reason);
  // Of one graph: each refusal once, none of nodes that became one later, and nodes that became one in several steps as
  // one.
  void settle();
};

// Why `value`, which `node` reads, must be in memory whatever becomes of `node`; "" where `node` alone reads it, once.
std::string other_use(const Graph& graph, const Value* value, const Node& node);

// What it saves that `parts`, which are still there, become one node, or none where `made` is false. Tensors that all
// of them read are read once.
Join join_of(const Graph& graph, const std::vector<const Node*>& parts, bool made = true);
// The same for `last` and the nodes in front of it that nothing else uses: neither others nor those in `kept`.
Join join_before(const Graph& graph, const Node& last, std::initializer_list<const Value*> kept, bool made = true);

// Sets the bytes of a join from its tensors. Where types and formats were not decided yet (`result` is not null), a
// tensor of the type that the result had gets those of the result.
void price(Join& join, const Value* result);

}  // namespace vinci::graph
