// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/ops/known.h"

#include <map>

namespace vinci::graph {
namespace {

constexpr u64 kMostElements = 64;  // of contents that are computed: extents, not data
constexpr usize kMostNodes = 1000;

// Looks at each value once.
class Known {
 public:
  Shape shape(const Value& v) {
    if (v.shape.known() || v.producer() == nullptr) return v.shape;
    const auto [at, added] = shapes_.emplace(&v, v.shape);
    if (!added || shapes_.size() > kMostNodes) return at->second;
    const Node& node = *v.producer();
    const Op* const op = find_op(node.type);
    if (op == nullptr || op->infer == nullptr || !node.bodies.empty()) return v.shape;
    Inference x(node);
    for (usize i = 0; i < node.inputs().size(); ++i) {
      if (node.input(i) == nullptr) continue;
      x.know(i, shape(*node.input(i)), contents(*node.input(i)));
    }
    op->infer(x);
    return shapes_[&v] = x.out_shape(v.output());
  }

  const Array* contents(const Value& v) {
    const auto [at, added] = contents_.emplace(&v, std::nullopt);
    if (added && contents_.size() <= kMostNodes) {
      std::optional<Array> computed = compute(v);
      at->second = std::move(computed);
    }
    return at->second ? &*at->second : nullptr;
  }

 private:
  std::optional<Array> compute(const Value& v) {
    if (v.constant) return v.constant->elements() > kMostElements ? std::nullopt : std::optional(v.constant->array());
    const Node* const node = v.producer();
    if (node == nullptr) return std::nullopt;
    const Op* const op = find_op(node->type);
    if (op == nullptr || !op->foldable || op->evaluate == nullptr || !node->bodies.empty()) return std::nullopt;
    const Shape size = shape(v);
    if (!size.known() || size.elements() > kMostElements) return std::nullopt;
    Array extents;  // which are all that is read
    std::vector<const Array*> inputs;
    for (const Value* const in : node->inputs()) {
      if (in == nullptr) {
        inputs.push_back(nullptr);
        continue;
      }
      if (node->type == "Shape" && shape(*in).known()) {
        extents.dims = shape(*in).dims();
        inputs.push_back(&extents);
      } else if (const Array* const array = contents(*in); array != nullptr) {
        inputs.push_back(array);
      } else {
        return std::nullopt;
      }
    }
    return evaluate(*node, std::move(inputs)).at(v.output());
  }

  std::map<const Value*, Shape> shapes_;
  std::map<const Value*, std::optional<Array>> contents_;
};

}  // namespace

Shape known_shape(const Value& v) { return Known().shape(v); }

std::optional<Array> known_contents(const Value& v) {
  Known known;
  const Array* const contents = known.contents(v);
  return contents == nullptr ? std::nullopt : std::optional(*contents);
}

}  // namespace vinci::graph
