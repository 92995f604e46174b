// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/ir/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <utility>

namespace vinci::graph {
namespace {

constexpr u64 kShownElements = 8;

std::string tensor_text(const Tensor& t) {
  if (t.elements() > kShownElements) return "{...}";
  return fmt::format("{{{}}}", fmt::join(t.array().values, ", "));
}

std::string type_text(const Value& v) {
  const std::string format = v.format == isa::Format::ND ? "" : fmt::format(" {}", isa::name(v.format));
  return fmt::format("{}{}{}", info(v.type).name, text(v.shape), format);
}

std::string attribute_text(const Attribute& attribute) {
  return std::visit(
      [](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, Tensor>) {
          return fmt::format("{}{}{}", info(x.type()).name, text(x.dims()), tensor_text(x));
        } else if constexpr (std::is_same_v<T, std::string>) {
          return fmt::format("\"{}\"", x);
        } else if constexpr (std::is_arithmetic_v<T>) {
          return fmt::format("{}", x);
        } else {
          return fmt::format("[{}]", fmt::join(x, ", "));
        }
      },
      attribute);
}

std::string attributes_text(const Node& node) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : node.attributes)
    parts.push_back(fmt::format("{}={}", key, attribute_text(value)));
  return parts.empty() ? "" : fmt::format(" {{{}}}", fmt::join(parts, ", "));
}

// Writes graphs; values have their names or, so that equal graphs have equal texts, numbers.
class Writer {
 public:
  explicit Writer(bool names) : names_(names) {}

  void graph(const Graph& graph, const std::string& indent) {
    std::vector<std::string> inputs, outputs;
    for (const Value* const v : graph.inputs)
      inputs.push_back(declared(*v));
    text_ += fmt::format("{}graph {}({})\n", indent, names_ ? graph.name : "", fmt::join(inputs, ", "));
    for (const auto& n : graph.nodes())
      node(*n, indent + "  ");
    for (const Value* const v : graph.outputs)
      outputs.push_back(used(v));
    text_ += fmt::format("{}  return {}\n", indent, fmt::join(outputs, ", "));
  }
  void node(const Node& node, const std::string& indent) {
    for (const Value* const v : node.inputs()) {
      if (v != nullptr && v->constant && shown_.insert(v).second)
        text_ += fmt::format("{}{} = Const {}\n", indent, declared(*v), tensor_text(*v->constant));
    }
    std::vector<std::string> results, operands;
    for (const Value* const v : node.outputs())
      results.push_back(declared(*v));
    for (const Value* const v : node.inputs())
      operands.push_back(used(v));
    text_ += fmt::format("{}{} = {}({}){}\n", indent, fmt::join(results, ", "), node.type, fmt::join(operands, ", "),
                         attributes_text(node));
    for (const auto& body : node.bodies)
      graph(*body, indent + "  ");
  }
  std::string declared(const Value& v) { return fmt::format("{}: {}", used(&v), type_text(v)); }
  std::string take() { return std::move(text_); }

 private:
  std::string used(const Value* v) {
    if (v == nullptr) return "-";
    if (names_) return "%" + v->name;
    return fmt::format("%{}", numbers_.emplace(v, numbers_.size()).first->second);
  }

  bool names_;
  std::string text_;
  std::set<const Value*> shown_;  // constants
  std::map<const Value*, usize> numbers_;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string to_text(const Graph& graph) {
  Writer writer(true);
  writer.graph(graph, "");
  return writer.take();
}

std::string signature(const Node& node) {
  Writer writer(false);
  std::vector<std::string> inputs;
  for (const Value* const v : node.inputs()) {
    if (v != nullptr && !v->constant) inputs.push_back(writer.declared(*v));
  }
  writer.node(node, "");
  return fmt::format("{} => {}", fmt::join(inputs, ", "), writer.take());
}

std::string to_dot(const Graph& graph) {
  std::string out = fmt::format("digraph \"{}\" {{\n  node [shape=box];\n", escaped(graph.name));
  const auto edge = [&](const Value& v, std::string_view to) {
    const std::string_view from = v.producer() != nullptr ? std::string_view(v.producer()->name) : v.name;
    out += fmt::format("  \"{}\" -> \"{}\" [label=\"{}\"];\n", escaped(from), escaped(to), escaped(type_text(v)));
  };
  for (const Value* const v : graph.inputs)
    out += fmt::format("  \"{}\" [shape=ellipse];\n", escaped(v->name));
  for (const auto& node : graph.nodes()) {
    out += fmt::format("  \"{0}\" [label=\"{1}\\n{0}\"];\n", escaped(node->name), escaped(node->type));
    for (const Value* const v : node->inputs()) {
      if (v != nullptr && !v->constant) edge(*v, node->name);
    }
  }
  for (usize i = 0; i < graph.outputs.size(); ++i) {
    const std::string name = fmt::format("output:{}", i);
    out += fmt::format("  \"{}\" [shape=ellipse];\n", name);
    edge(*graph.outputs[i], name);
  }
  return out + "}\n";
}

}  // namespace vinci::graph
