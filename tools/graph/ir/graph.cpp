// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "isa/base/error.h"

namespace vinci::graph {
namespace {

template <class T>
const T* find(const Node& node, std::string_view key) {
  const auto at = node.attributes.find(key);
  if (at == node.attributes.end()) return nullptr;
  const T* const value = std::get_if<T>(&at->second);
  if (value == nullptr) fail(Fault::Input, "{}: attribute '{}' of {} has another type", node.name, key, node.type);
  return value;
}

template <class T>
T value_or(const T* value, T otherwise) {
  if (value != nullptr) return *value;
  return otherwise;
}

void erase_use(std::vector<Use>& uses, const Use& use) {
  const auto at = std::ranges::find(uses, use);
  VINCI_CHECK(at != uses.end());
  *at = uses.back();
  uses.pop_back();
}

}  // namespace

i64 Node::integer(std::string_view key, i64 otherwise) const { return value_or(find<i64>(*this, key), otherwise); }
double Node::number(std::string_view key, double otherwise) const {
  return value_or(find<double>(*this, key), otherwise);
}
std::string Node::string(std::string_view key, std::string_view otherwise) const {
  return value_or(find<std::string>(*this, key), std::string(otherwise));
}
std::vector<i64> Node::integers(std::string_view key, std::vector<i64> otherwise) const {
  return value_or(find<std::vector<i64>>(*this, key), std::move(otherwise));
}
std::vector<double> Node::numbers(std::string_view key, std::vector<double> otherwise) const {
  return value_or(find<std::vector<double>>(*this, key), std::move(otherwise));
}

void Node::set_input(usize i, Value* value) {
  VINCI_CHECK(i < inputs_.size());
  if (inputs_[i] != nullptr) erase_use(inputs_[i]->uses_, {this, i});
  inputs_[i] = value;
  if (value != nullptr) value->uses_.push_back({this, i});
}

void Node::add_input(Value* value) {
  inputs_.push_back(nullptr);
  set_input(inputs_.size() - 1, value);
}

std::vector<Node*> Graph::node_list() const {
  std::vector<Node*> out;
  out.reserve(nodes_.size());
  for (const auto& node : nodes_)
    out.push_back(node.get());
  return out;
}

std::string Graph::unique(std::string_view wanted) {
  const auto at = names_.find(wanted);
  if (at == names_.end()) {
    names_.emplace(wanted, 1);
    return std::string(wanted);
  }
  for (;;) {
    std::string made = fmt::format("{}_{}", wanted, at->second++);
    if (names_.emplace(made, 1).second) return made;
  }
}

Value* Graph::add_value(std::string_view wanted) {
  values_.push_back(std::unique_ptr<Value>(new Value(unique(wanted))));
  return values_.back().get();
}

Value* Graph::add_input(std::string_view wanted, DataType type, Shape shape) {
  Value* const value = add_value(wanted);
  value->type = type;
  value->shape = std::move(shape);
  inputs.push_back(value);
  return value;
}

Value* Graph::add_constant(std::string_view wanted, Tensor tensor) {
  Value* const value = add_value(wanted);
  value->type = tensor.type();
  value->shape = tensor.dims();
  value->constant = std::move(tensor);
  return value;
}

Node* Graph::add_node(std::string_view type, std::string_view wanted, const std::vector<Value*>& operands,
                      usize results, const Node* before) {
  const auto at = before == nullptr ? nodes_.end() : Nodes::const_iterator(before->self_);
  const auto made = nodes_.insert(at, std::unique_ptr<Node>(new Node));
  Node* const node = made->get();
  node->self_ = made;
  node->id_ = next_id_++;
  node->type = type;
  node->name = wanted;
  for (Value* const operand : operands)
    node->add_input(operand);
  for (usize i = 0; i < results; ++i)
    add_output(node, i == 0 ? std::string(wanted) : fmt::format("{}:{}", wanted, i));
  return node;
}

Value* Graph::add_output(Node* node, std::string_view wanted) {
  Value* const value = add_value(wanted);
  value->producer_ = node;
  value->output_ = node->outputs_.size();
  node->outputs_.push_back(value);
  return value;
}

void Graph::replace(Value* from, Value* to) {
  for (const Use& use : std::vector<Use>(from->uses_))
    use.node->set_input(use.input, to);
  std::ranges::replace(outputs, from, to);
}

bool Graph::is_output(const Value* value) const { return std::ranges::find(outputs, value) != outputs.end(); }

usize Graph::use_count(const Value* value) const {
  return value->uses_.size() + static_cast<usize>(std::ranges::count(outputs, value));
}

Node* Graph::sole_user(const Value* value) const {
  return use_count(value) == 1 && value->uses_.size() == 1 ? value->uses_[0].node : nullptr;
}

void Graph::erase(Node* node) {
  for (const Value* const output : node->outputs_)
    VINCI_CHECK(use_count(output) == 0);
  for (usize i = 0; i < node->inputs_.size(); ++i)
    node->set_input(i, nullptr);
  const std::unordered_set<const Value*> gone(node->outputs_.begin(), node->outputs_.end());
  std::erase_if(values_, [&](const auto& v) { return gone.contains(v.get()); });
  nodes_.erase(node->self_);
}

usize Graph::prune() {
  std::unordered_set<const Node*> dead;
  for (auto at = nodes_.rbegin(); at != nodes_.rend(); ++at) {
    Node& node = **at;
    if (std::ranges::any_of(node.outputs_, [&](const Value* v) { return use_count(v) != 0; })) continue;
    for (usize i = 0; i < node.inputs_.size(); ++i)
      node.set_input(i, nullptr);
    dead.insert(&node);
  }
  std::erase_if(values_, [&](const auto& v) { return v->producer_ != nullptr && dead.contains(v->producer_); });
  nodes_.remove_if([&](const auto& node) { return dead.contains(node.get()); });
  remove_unused_constants();
  return dead.size();
}

void Graph::remove_unused_constants() {
  std::erase_if(values_, [&](const auto& v) { return v->constant && use_count(v.get()) == 0; });
}

void Graph::sort_nodes(const std::map<const Node*, u32>& numbers) {
  nodes_.sort([&](const auto& a, const auto& b) { return numbers.at(a.get()) < numbers.at(b.get()); });
}

bool Graph::unknown_shape(const Node& node) const {
  return std::ranges::any_of(node.origins, [&](const std::string& origin) { return unknown_shapes.contains(origin); });
}

std::unique_ptr<Graph> Graph::clone() const {
  auto out = std::make_unique<Graph>(name);
  std::unordered_map<const Value*, Value*> to{{nullptr, nullptr}};
  for (const auto& value : values_) {
    Value* const made = out->values_.emplace_back(new Value(value->name)).get();
    made->type = value->type;
    made->shape = value->shape;
    made->format = value->format;
    made->constant = value->constant;
    to[value.get()] = made;
  }
  out->unknown_shapes = unknown_shapes;
  out->host_reads = host_reads;
  out->names_ = names_;
  out->next_id_ = next_id_;
  for (const auto& node : nodes_) {
    const auto made = out->nodes_.insert(out->nodes_.end(), std::unique_ptr<Node>(new Node));
    Node& copy = **made;
    copy.self_ = made;
    copy.id_ = node->id_;
    copy.name = node->name;
    copy.type = node->type;
    copy.attributes = node->attributes;
    copy.origins = node->origins;
    for (const auto& body : node->bodies)
      copy.bodies.push_back(body->clone());
    for (const Value* const input : node->inputs_)
      copy.add_input(to.at(input));
    for (const Value* const output : node->outputs_) {
      Value* const value = to.at(output);
      value->producer_ = &copy;
      value->output_ = copy.outputs_.size();
      copy.outputs_.push_back(value);
    }
  }
  for (const Value* const input : inputs)
    out->inputs.push_back(to.at(input));
  for (const Value* const output : outputs)
    out->outputs.push_back(to.at(output));
  return out;
}

}  // namespace vinci::graph
