// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "tools/graph/ops/op.h"

namespace vinci::graph {
namespace {

using Table = std::map<std::string_view, const Op*, std::less<>>;

const Table& table() {
  static const Table ops = [] {
    Table out;
    for (const std::span<const Op> part :
         {control_ops(), convolution_ops(), elementwise_ops(), index_ops(), matmul_ops(), normalisation_ops(),
          pixel_ops(), quantise_ops(), reduction_ops(), selection_ops(), shape_ops()}) {
      for (const Op& op : part)
        VINCI_CHECK(out.emplace(op.type, &op).second);
    }
    return out;
  }();
  return ops;
}

}  // namespace

const Op* find_op(std::string_view type) {
  const auto at = table().find(type);
  return at == table().end() ? nullptr : at->second;
}

std::span<const Op* const> all_ops() {
  static const std::vector<const Op*> list = [] {
    std::vector<const Op*> out;
    for (const auto& [type, op] : table())
      out.push_back(op);
    return out;
  }();
  return list;
}

Inference::Inference(const Node& node) : node_(node), types_(node.outputs().size()), shapes_(node.outputs().size()) {
  for (const Value* const v : node.inputs()) {
    auto& operand = operands_.emplace_back();
    if (v != nullptr) operand = {.type = v->type, .shape = v->shape, .tensor = v->constant ? &*v->constant : nullptr};
  }
}

Inference::Inference(const Node& node, std::span<const Array* const> inputs)
    : node_(node), types_(node.outputs().size()), shapes_(node.outputs().size()) {
  for (const Array* const array : inputs) {
    auto& operand = operands_.emplace_back();
    if (array != nullptr) operand = {.type = array->type, .shape = array->dims, .array = array};
  }
}

const Inference::Operand& Inference::operand(usize i) const {
  if (!has(i)) refuse("input {} is missing", i);
  return *operands_[i];
}

std::optional<Array> Inference::contents(usize i) const {
  if (!has(i)) return std::nullopt;
  if (operands_[i]->array != nullptr) return *operands_[i]->array;
  if (operands_[i]->tensor != nullptr) return operands_[i]->tensor->array();
  return std::nullopt;
}

std::optional<std::vector<i64>> Inference::integers(usize i) const {
  const std::optional<Array> array = contents(i);
  if (!array) return std::nullopt;
  return array->integers();
}

void Inference::know(usize i, Shape shape, const Array* contents) {
  operands_[i]->shape = std::move(shape);
  if (contents != nullptr) operands_[i]->array = contents;
}

void Inference::set(usize output, DataType type, Shape shape) {
  if (output >= types_.size()) return;
  types_[output] = type;
  shapes_[output] = std::move(shape);
}

void Inference::set_all(DataType type, const Shape& shape) {
  for (usize i = 0; i < types_.size(); ++i)
    set(i, type, shape);
}

usize axis_of(const Node& node, i64 axis, usize rank) {
  const auto n = static_cast<i64>(rank);
  if (axis < -n || axis >= n)
    fail(Fault::Input, "{} ({}): axis {} is not in [{}, {}]", node.name, node.type, axis, -n, n - 1);
  return static_cast<usize>(axis < 0 ? axis + n : axis);
}

Shape broadcast(const Node& node, const Shape& a, const Shape& b) {
  if (!a.ranked() || !b.ranked()) return Shape::unranked();
  const usize rank = std::max(a.rank(), b.rank());
  Dims dims(rank, 1);
  const auto extent = [&](const Shape& s, usize axis) {
    return axis + s.rank() < rank ? 1 : s[axis + s.rank() - rank];
  };
  for (usize i = 0; i < rank; ++i) {
    const i64 x = extent(a, i), y = extent(b, i);
    if (x == y || y == 1) {
      dims[i] = x;
    } else if (x == 1) {
      dims[i] = y;
    } else if (x < 0 || y < 0) {
      dims[i] = std::max(x, y);  // the known one: the other is equal or 1
    } else {
      fail(Fault::Input, "{} ({}): {} and {} do not broadcast", node.name, node.type, text(a), text(b));
    }
  }
  return dims;
}

AroundAxis around_axis(std::span<const i64> dims, usize axis) {
  return {.outer = element_count(dims.first(axis)),
          .extent = static_cast<u64>(dims[axis]),
          .inner = element_count(dims.subspan(axis + 1))};
}

std::vector<u64> strides_of(std::span<const i64> dims) {
  std::vector<u64> strides(dims.size());
  u64 stride = 1;
  for (usize a = dims.size(); a-- > 0;) {
    strides[a] = stride;
    stride *= static_cast<u64>(dims[a]);
  }
  return strides;
}

Broadcast::Broadcast(std::span<const i64> from, std::span<const i64> to)
    : to_(to.begin(), to.end()), strides_(to.size()), plain_(std::ranges::equal(from, to)) {
  VINCI_CHECK(from.size() <= to.size());
  const std::vector<u64> strides = strides_of(from);
  const usize shift = to.size() - from.size();
  for (usize a = 0; a < from.size(); ++a)
    strides_[a + shift] = from[a] == 1 ? 0 : strides[a];
}

namespace {

std::string bound_key(usize output) { return fmt::format("_bound_shape_{}", output); }

std::optional<Dims> bound_shape(const Node& node, usize output) {
  const std::string key = bound_key(output);
  return node.has(key) ? std::optional(node.integers(key)) : std::nullopt;
}

// The first elements along each axis, with zeros behind them.
Array fitted(const Array& from, const Dims& dims) {
  Array out(from.type, dims);
  const std::vector<u64> strides = strides_of(from.dims);
  usize n = 0;
  for_each_index(dims, [&](std::span<const i64> index) {
    u64 at = 0;
    bool inside = true;
    for (usize a = 0; a < index.size(); ++a) {
      inside = inside && index[a] < from.dims[a];
      at += static_cast<u64>(index[a]) * strides[a];
    }
    out.values[n++] = inside ? from.values[at] : 0;
  });
  return out;
}

}  // namespace

void bind_shape(Node& node, usize output, const Dims& dims) { node.attributes[bound_key(output)] = dims; }

bool infer(Node& node) {
  const Op* const op = find_op(node.type);
  if (op == nullptr) fail(Fault::Unsupported, "{}: there is no operator '{}'", node.name, node.type);
  Inference x(node);
  op->infer(x);
  bool changed = false;
  for (usize i = 0; i < node.outputs().size(); ++i) {
    if (!x.out_type(i)) x.refuse("it has no output {}", i);
    Value& out = *node.output(i);
    const std::optional<Dims> bound = bound_shape(node, i);
    const Shape shape = bound ? Shape(*bound) : x.out_shape(i);
    changed = changed || out.type != *x.out_type(i) || out.shape != shape;
    out.type = *x.out_type(i);
    out.shape = shape;
  }
  return changed;
}

std::vector<Array> evaluate(const Node& node, std::vector<const Array*> inputs, bool rounded) {
  const Op* const op = find_op(node.type);
  if (op == nullptr || op->evaluate == nullptr)
    fail(Fault::Unsupported, "{}: operator '{}' cannot be computed on the host", node.name, node.type);
  Inference shapes(node, inputs);
  if (node.bodies.empty()) op->infer(shapes);
  Evaluation x{.node = node, .in = std::move(inputs), .out = {}};
  for (usize i = 0; i < node.outputs().size(); ++i) {
    Array& out = x.out.emplace_back();
    out.type = shapes.out_type(i).value_or(node.output(i)->type);
    if (shapes.out_type(i) && shapes.out_shape(i).known()) out = Array(out.type, shapes.out_shape(i).dims());
  }
  op->evaluate(x);
  for (usize i = 0; i < x.out.size(); ++i) {
    Array& out = x.out[i];
    if (const std::optional<Dims> bound = bound_shape(node, i); bound && out.dims != *bound) out = fitted(out, *bound);
    VINCI_CHECK(out.values.size() == element_count(out.dims));
    if (rounded || !is_float(out.type)) out.round();
  }
  return std::move(x.out);
}

}  // namespace vinci::graph
