// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/graph/ops/op.h"

namespace vinci::graph {

// Extents that follow from the data of a network get the values that given inputs make, node by node while the graph is
// imported: results of NonZero and its kin are bound (bind_shape), and an operand that states extents, as the k of a
// TopK or the condition of branches with different shapes, becomes a constant. Nodes whose shapes a compiler does not
// know are noted in Graph::unknown_shapes, with values that the host has to read at run time.
class ShapeBinder {
 public:
  // Gives data for each input of the graph; asked when they are needed.
  using Data = std::function<std::vector<Array>(const Graph&)>;
  // `declared` has the shapes of inputs, by name, whose extents are not known when the network is compiled.
  ShapeBinder(Graph& graph, Data data, const std::map<std::string, Shape>& declared);

  const Graph& graph() const { return graph_; }
  // A node that has just been added and inferred.
  void bind(Node& node);
  // When all nodes are there: what the host reads becomes outputs of the graph, behind those of the model.
  void finish();

 private:
  // What the value is for the inputs.
  const Array& array(const Value* value);
  std::vector<const Array*> arrays(const Node& node);
  // The shapes that a compiler knows, which needs no data.
  std::vector<Shape> declared_outputs(const Node& node) const;
  Shape declared(const Value& value) const;
  void make_known(Node& node);
  void state_extents(Node& node, const std::vector<const Array*>& in);
  // An operand becomes a constant, and the host reads it.
  void state(Node& node, usize i, const Array& contents);

  void read_inputs();

  Graph& graph_;
  Data data_;
  std::map<const Value*, Array> arrays_;
  std::map<const Value*, Shape> declared_;  // of values with extents that are not known
  std::set<const Value*> host_;             // numbers that the host computes from such extents
  std::vector<std::pair<Value*, std::string>> reads_;
};

}  // namespace vinci::graph
