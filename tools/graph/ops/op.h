// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "isa/base/error.h"
#include "tools/graph/ir/graph.h"

// The operators of graphs: for each its shapes and its value. Semantics, attributes and order of operands are those of
// ONNX (operator set 17, https://github.com/onnx/onnx/blob/main/docs/Operators.md); names are those of CANN where CANN
// has the operator.
namespace vinci::graph {

// What is known of a node: of its inputs type and shape, and their contents if they are constants or the node runs.
// infer() of an Op reads the inputs and sets the outputs.
class Inference {
 public:
  explicit Inference(const Node& node);
  // Of a node that runs; null where an input is absent.
  Inference(const Node& node, std::span<const Array* const> inputs);

  const Node& node() const { return node_; }
  usize inputs() const { return operands_.size(); }
  bool has(usize i) const { return i < operands_.size() && operands_[i].has_value(); }
  // Of an input that is there; Fault::Input where it is missing.
  DataType type(usize i) const { return operand(i).type; }
  const Shape& shape(usize i) const { return operand(i).shape; }
  // Contents of an input where they are known; the input may be absent.
  std::optional<Array> contents(usize i) const;
  std::optional<std::vector<i64>> integers(usize i) const;

  // More about an input than its value says; `contents` may be null.
  void know(usize i, Shape shape, const Array* contents);

  void set(usize output, DataType type, Shape shape);
  // All outputs of one type and shape.
  void set_all(DataType type, const Shape& shape);
  const std::optional<DataType>& out_type(usize output) const { return types_[output]; }
  const Shape& out_shape(usize output) const { return shapes_[output]; }

  // Fault::Input with the name and the type of the node.
  template <class... A>
  [[noreturn]] void refuse(fmt::format_string<A...> text, A&&... args) const {
    fail(Fault::Input, "{} ({}): {}", node_.name, node_.type, fmt::format(text, std::forward<A>(args)...));
  }

 private:
  struct Operand {
    DataType type;
    Shape shape;
    const Tensor* tensor = nullptr;
    const Array* array = nullptr;
  };
  const Operand& operand(usize i) const;

  const Node& node_;
  std::vector<std::optional<Operand>> operands_;
  std::vector<std::optional<DataType>> types_;
  std::vector<Shape> shapes_;
};

// A node that runs on the host. Outputs have their types and, where they follow from the inputs, their extents and
// zeros; evaluate() of an Op fills them. Values need not be rounded to the type: the caller does it.
struct Evaluation {
  const Node& node;
  std::vector<const Array*> in;  // null where absent
  std::vector<Array> out;

  const Array& input(usize i) const {
    VINCI_CHECK(i < in.size() && in[i] != nullptr);
    return *in[i];
  }
  bool has(usize i) const { return i < in.size() && in[i] != nullptr; }
};

struct Op {
  std::string_view type;
  void (*infer)(Inference& x) = nullptr;
  void (*evaluate)(Evaluation& x) = nullptr;
  // Computed on the host while compiling where all inputs are constants.
  bool foldable = true;
};

// By name; null where there is none.
const Op* find_op(std::string_view type);
// All of them, in the order of their names.
std::span<const Op* const> all_ops();

// The parts of the table.
std::span<const Op> control_ops();
std::span<const Op> convolution_ops();
std::span<const Op> elementwise_ops();
std::span<const Op> index_ops();
std::span<const Op> matmul_ops();
std::span<const Op> normalisation_ops();
std::span<const Op> pixel_ops();
std::span<const Op> quantise_ops();
std::span<const Op> reduction_ops();
std::span<const Op> selection_ops();
std::span<const Op> shape_ops();

// All outputs are as the first input.
inline void infer_same(Inference& x) { x.set_all(x.type(0), x.shape(0)); }

// Helpers of several operators
// -----------------------------------------------------------------------------------------

// An axis of [-rank, rank) as one of [0, rank). Fault::Input beyond.
usize axis_of(const Node& node, i64 axis, usize rank);
// The shape that operands of these shapes broadcast to.
Shape broadcast(const Node& node, const Shape& a, const Shape& b);
// Extents of the product of all dims before, at and behind an axis.
struct AroundAxis {
  u64 outer = 1, extent = 1, inner = 1;
};
AroundAxis around_axis(std::span<const i64> dims, usize axis);
// Row-major strides, in elements.
std::vector<u64> strides_of(std::span<const i64> dims);
// Calls visit(index) for each index of a tensor, the last axis fastest.
template <class Visit>
void for_each_index(std::span<const i64> dims, const Visit& visit) {
  const u64 count = element_count(dims);
  std::vector<i64> index(dims.size());
  for (u64 n = 0; n < count; ++n) {
    visit(std::span<const i64>(index));
    for (usize a = dims.size(); a-- > 0;) {
      if (++index[a] < dims[a]) break;
      index[a] = 0;
    }
  }
}
// The elements of `x` as an operand of a result of extents `dims`: position of each, by index.
class Broadcast {
 public:
  Broadcast(std::span<const i64> from, std::span<const i64> to);
  // Calls visit(i, at) for each element i of the result, with its position in the operand.
  template <class Visit>
  void each(const Visit& visit) const {
    const u64 count = element_count(to_);
    if (plain_) {
      for (u64 i = 0; i < count; ++i)
        visit(i, i);
      return;
    }
    std::vector<i64> index(to_.size());
    u64 at = 0;
    for (u64 i = 0; i < count; ++i) {
      visit(i, at);
      for (usize a = to_.size(); a-- > 0;) {
        at += strides_[a];
        if (++index[a] < to_[a]) break;
        at -= strides_[a] * static_cast<u64>(to_[a]);
        index[a] = 0;
      }
    }
  }

 private:
  Dims to_;
  std::vector<u64> strides_;
  bool plain_ = true;  // no axis is stretched
};

// Shape inference and evaluation of nodes
// -------------------------------------------------------------------------------

// Extents that follow from data, as the data of one run make them: infer() gives the output of the node this shape, and
// evaluate() drops what is beyond it and adds zeros that lack.
void bind_shape(Node& node, usize output, const Dims& dims);

// The body of an If or a Case that runs: then, else, or the one of this number, and the last one where there is none.
usize chosen_branch(const Node& node, double condition);

// Types and shapes of the outputs of a node from its inputs; returns whether anything changed. A node without an Op is
// Fault::Unsupported.
bool infer(Node& node);
// The outputs of a node for inputs (null where absent). Floating-point results are rounded to their types, or stay
// double; integers always have their types.
std::vector<Array> evaluate(const Node& node, std::vector<const Array*> inputs, bool rounded = true);

}  // namespace vinci::graph
