// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/error.h"
#include "tools/graph/import/model.h"
#include "tools/graph/import/shape_binder.h"

namespace vinci::graph {

// One node of a model that is being read: makes nodes of the graph, whose results become the outputs of the model's
// node.
class Reading {
 public:
  // `binder` is told each node; it may be null.
  Reading(Graph& graph, const ModelNode& node_, i64 opset_, std::vector<Value*> inputs, ShapeBinder* binder = nullptr)
      : node(node_), opset(opset_), in(std::move(inputs)), graph_(graph), binder_(binder) {}

  const ModelNode& node;
  const i64 opset;         // version of the operator set of its domain
  std::vector<Value*> in;  // null where absent

  Value* input(usize i) const { return i < in.size() ? in[i] : nullptr; }
  bool has(usize i) const { return input(i) != nullptr; }

  // A node with the name of the model's node, and its outputs.
  std::vector<Value*> make(std::string_view type, const std::vector<Value*>& inputs, Attributes attributes,
                           usize outputs);
  Value* make(std::string_view type, const std::vector<Value*>& inputs, Attributes attributes = {}) {
    return make(type, inputs, std::move(attributes), 1)[0];
  }
  Value* constant(const Array& array);
  Value* integers(std::vector<i64> values);
  Value* scalar(DataType type, double value);

  template <class T>
  const T* attribute(std::string_view key) const {
    const auto at = node.attributes.find(key);
    return at == node.attributes.end() ? nullptr : std::get_if<T>(&at->second);
  }
  i64 integer(std::string_view key, i64 otherwise) const;
  template <class... A>
  [[noreturn]] void unsupported(fmt::format_string<A...> text, A&&... args) const {
    fail(Fault::Unsupported, "{} ({}): {}", node.name, node.op, fmt::format(text, std::forward<A>(args)...));
  }

 private:
  Graph& graph_;
  ShapeBinder* binder_;
};

// How many operands a node has, over all versions of its operator.
struct Operands {
  usize least = 1, most = least;
};
inline constexpr usize kAnyNumber = std::numeric_limits<usize>::max();

struct OpReader {
  std::string_view op;    // of ONNX
  std::string_view type;  // of ours: what it becomes, or its main part
  Operands operands = {};
  // Outputs of the node, in order; null: the node becomes one of `type` with the same operands and attributes.
  std::vector<Value*> (*read)(Reading& x) = nullptr;
};

std::vector<Value*> read_einsum(Reading& x);
std::vector<Value*> read_gelu(Reading& x);
std::vector<Value*> read_grid_sample(Reading& x);
std::vector<Value*> read_group_norm(Reading& x);
std::vector<Value*> read_gru(Reading& x);
std::vector<Value*> read_joined_list(Reading& x);
std::vector<Value*> read_lstm(Reading& x);
std::vector<Value*> read_mish(Reading& x);
std::vector<Value*> read_negative_likelihood(Reading& x);
std::vector<Value*> read_rms_norm(Reading& x);
std::vector<Value*> read_rnn(Reading& x);
std::vector<Value*> read_softmax_cross_entropy(Reading& x);
std::vector<Value*> read_swish(Reading& x);

// Fault::Input where a node has too few operands or too many, or a word as an attribute that its operator does not
// know.
void check_signature(const OpReader& reader, const ModelNode& node);

// Fault::Input where constants of a gather or a scatter name positions that its operand does not have.
void check_positions(const Node& node);

// Null where ONNX's operator cannot be read.
const OpReader* find_reader(std::string_view domain, std::string_view op);
std::span<const OpReader> all_readers();      // of ONNX
std::span<const OpReader> contrib_readers();  // of com.microsoft

}  // namespace vinci::graph
