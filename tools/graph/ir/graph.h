// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "isa/mem/format.h"
#include "tools/graph/ir/tensor.h"

// A network: nodes in an order in which they can run, and the values between them. docs/graph.md.
namespace vinci::graph {

class Graph;
class Node;

// An attribute of a Case whose branches are one network for different extents of its inputs: a branch gets and makes
// the first elements of tensors that have room for the largest.
inline constexpr std::string_view kBins = "_ascend_mbatch";

// The type of a node that a kernel of the user computes (--custom_op). Its attributes are those of the model's node,
// with the operator as `op`; the body has the nodes that the operator is without that kernel, where it is known.
inline constexpr std::string_view kCustomOp = "CustomOp";

using Attribute =
    std::variant<i64, double, std::string, std::vector<i64>, std::vector<double>, std::vector<std::string>, Tensor>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

// An input of a node.
struct Use {
  Node* node = nullptr;
  usize input = 0;

  friend bool operator==(const Use&, const Use&) = default;
};

// A tensor that a node makes, an input of the graph, or a constant.
class Value {
 public:
  std::string name;
  DataType type = DataType::f32;
  Shape shape = Shape::unranked();  // of the tensor, whatever its format
  isa::Format format = isa::Format::ND;
  std::optional<Tensor> constant = std::nullopt;

  Node* producer() const { return producer_; }  // null for inputs and constants
  usize output() const { return output_; }      // of the producer
  // Inputs of nodes, in no order; outputs of the graph are not among them.
  const std::vector<Use>& uses() const { return uses_; }

 private:
  friend class Graph;
  friend class Node;
  explicit Value(std::string name_) : name(std::move(name_)) {}

  Node* producer_ = nullptr;
  usize output_ = 0;
  std::vector<Use> uses_;
};

class Node {
 public:
  std::string name;
  std::string type;
  Attributes attributes;
  // Names of the nodes of the model that it replaces.
  std::vector<std::string> origins;
  // Branches of If, body of Loop, content of FusedOp and of CustomOp.
  std::vector<std::unique_ptr<Graph>> bodies;

  // Grows with each node that a graph makes.
  u64 id() const { return id_; }
  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  // Null where an optional input is absent.
  Value* input(usize i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  Value* output(usize i = 0) const { return outputs_[i]; }
  void set_input(usize i, Value* value);
  void add_input(Value* value);

  // Attributes with their defaults. Throw Fault::Input where an attribute has another type.
  i64 integer(std::string_view key, i64 otherwise = 0) const;
  double number(std::string_view key, double otherwise = 0) const;
  std::string string(std::string_view key, std::string_view otherwise = "") const;
  std::vector<i64> integers(std::string_view key, std::vector<i64> otherwise = {}) const;
  std::vector<double> numbers(std::string_view key, std::vector<double> otherwise = {}) const;
  bool has(std::string_view key) const { return attributes.contains(key); }
  // If and Case: one of the bodies runs, which gets the inputs behind the first one and makes the outputs.
  bool branches() const { return type == "If" || type == "Case"; }

 private:
  friend class Graph;
  Node() = default;

  u64 id_ = 0;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
  std::list<std::unique_ptr<Node>>::iterator self_;
};

// Owns its nodes and values. Nodes stay in an order in which each follows the producers of its inputs.
class Graph {
 public:
  using Nodes = std::list<std::unique_ptr<Node>>;

  explicit Graph(std::string name_ = {}) : name(std::move(name_)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() = default;

  std::string name;
  std::vector<Value*> inputs;
  std::vector<Value*> outputs;
  u32 inferences = 0;  // how often all shapes were inferred from its inputs
  // Nodes of the model with shapes that follow from data; extents in the graph are those of one run (ShapeBinder).
  std::set<std::string, std::less<>> unknown_shapes;
  bool unknown_shape(const Node& node) const;
  // The last outputs are not the model's: the host reads each of them in front of this node of the model.
  std::vector<std::string> host_reads;

  // In order. A loop that erases nodes uses node_list().
  const Nodes& nodes() const { return nodes_; }
  std::vector<Node*> node_list() const;  // the nodes of this moment
  // By these numbers, nodes of one number in the order that they have. Producers must stay in front of users.
  void sort_nodes(const std::map<const Node*, u32>& numbers);
  usize size() const { return nodes_.size(); }
  // The id of the next node that is made.
  u64 next_id() const { return next_id_; }

  // Names are made unique.
  Value* add_input(std::string_view wanted, DataType type, Shape shape);
  Value* add_constant(std::string_view wanted, Tensor tensor);
  // At the end, or in front of `before`. Its outputs have its name, the later ones with ":1", ":2".
  Node* add_node(std::string_view type, std::string_view wanted, const std::vector<Value*>& operands, usize results = 1,
                 const Node* before = nullptr);
  Value* add_output(Node* node, std::string_view wanted);

  // All uses of `from`, outputs of the graph included, use `to`.
  void replace(Value* from, Value* to);
  bool is_output(const Value* value) const;
  // Uses and outputs of the graph.
  usize use_count(const Value* value) const;
  // The only user of `value` where it has no other use and is no output.
  Node* sole_user(const Value* value) const;
  // A node whose outputs are not used.
  void erase(Node* node);
  // Removes nodes that no output depends on, and unused constants; returns how many nodes.
  usize prune();
  void remove_unused_constants();

  std::unique_ptr<Graph> clone() const;

 private:
  std::string unique(std::string_view wanted);
  Value* add_value(std::string_view wanted);

  u64 next_id_ = 0;
  Nodes nodes_;
  std::vector<std::unique_ptr<Value>> values_;
  std::map<std::string, u32, std::less<>> names_;  // how often a name was taken
};

}  // namespace vinci::graph
