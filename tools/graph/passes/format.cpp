// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/passes/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/strided_copy.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// Formats of tensors. Kernels of convolutions and poolings ask for NC1HWC0; element-wise nodes take the format of what
// they get, so it spreads; all other nodes work on the format of the model.
namespace vinci::graph {

std::optional<Formats> map_formats(const Node& node, const config::ChipConfig& chip) {
  static const std::array kMapKernels{&kConvolutionKernel, &kPoolingKernel, &kMapReductionKernel, &kQuantiseMapKernel};
  const Group group(node);
  for (const Kernel* const kernel : kMapKernels) {
    if (kernel->refuses(group, chip).empty()) return kernel->formats(group, chip);
  }
  return std::nullopt;
}

namespace {

using isa::Format;

// The tensor in another format: for a constant another constant that says so, else a TransData in front of `before`.
bool is_map(const Value& v) { return v.shape.known() && v.shape.rank() == 4; }

class Converter {
 public:
  explicit Converter(Graph& graph) : graph_(graph) {}

  Value* convert(Value* value, Format format, const Node* before) {
    if (value->format == format) return value;
    Value*& made = made_[{value, format}];
    if (made != nullptr) return made;
    ++effect.matches;
    if (value->constant) {
      made = graph_.add_constant(value->name, *value->constant);
    } else {
      ++effect.changes;
      Node* const node = graph_.add_node("TransData", value->name + "/TransData", {value}, 1, before);
      infer(*node);
      made = node->output();
    }
    made->format = format;
    return made;
  }

  // A constant with a number for each channel of a map, as a map of one position; null where it is none.
  Value* by_channel(Value* value, const Value& map) {
    if (!value->constant || !is_map(map) || value->shape.rank() > 4 || value->shape.elements() == 1) return nullptr;
    Dims dims = value->shape.dims();
    dims.insert(dims.begin(), 4 - dims.size(), 1);
    if (dims[0] != 1 || dims[1] != map.shape[1] || dims[2] != 1 || dims[3] != 1) return nullptr;
    if (dims == value->shape.dims()) return value;
    Value*& made = made_[{value, Format::NCHW}];
    if (made == nullptr) {
      const auto bytes = value->constant->bytes();
      made = graph_.add_constant(value->name, Tensor(value->type, dims, {bytes.begin(), bytes.end()}));
    }
    return made;
  }

  Effect effect;

 private:
  Graph& graph_;
  std::map<std::pair<const Value*, Format>, Value*> made_;
};

// What the channels behind the last one hold in NC1HWC0: zero, until an element-wise node makes something else of it.
// The next convolution multiplies it by zero, so it must be a number.
class Padding {
 public:
  // Notes it for the results of a node that moves blocks; false where they would have several.
  bool stays_one(const Node& node) {
    const bool pieces = node.type == "ConcatD" && axis_of(node, node.integer("axis"), 4) == 1;
    std::optional<double> one;
    for (usize i = 0; i < node.inputs().size(); ++i) {
      const Value* const v = node.input(i);
      if (v == nullptr || v->shape.rank() != 4 || v->shape[1] % static_cast<i64>(kC0) == 0) continue;
      if (pieces && i + 1 < node.inputs().size()) continue;
      if (one && *one != of(v)) return false;
      one = of(v);
    }
    for (const Value* const v : node.outputs())
      made_[v] = one.value_or(0);
    return true;
  }

  // Notes it for the output of an element-wise node; false where it is no number in f16.
  bool stays_finite(const Node& node) {
    const Shape& out = node.output()->shape;
    if (out.rank() == 4 && out[1] % static_cast<i64>(c0_of(node.output()->type)) == 0) return true;
    Graph one("padding");
    std::vector<Value*> operands;
    std::vector<Array> values;
    for (const Value* const v : node.inputs()) {
      if (v == nullptr) {
        operands.push_back(nullptr);
        continue;
      }
      operands.push_back(one.add_input("x", v->type, {1}));
      values.emplace_back(v->type, Dims{1}, std::vector<double>{of(v)});
    }
    Node* const copy = one.add_node(node.type, node.type, operands);
    copy->attributes = node.attributes;
    infer(*copy);
    std::vector<const Array*> in;
    usize next = 0;
    for (const Value* const v : operands)
      in.push_back(v == nullptr ? nullptr : &values[next++]);
    const double made = evaluate(*copy, in)[0].values.at(0);
    if (!(std::abs(made) <= kMaxF16)) return false;
    made_[node.output()] = made;
    return true;
  }

 private:
  static constexpr double kMaxF16 = 65504;

  double of(const Value* v) const {
    if (v->constant && v->shape.elements() == 1) return v->constant->array().values[0];
    const auto at = made_.find(v);
    return at == made_.end() ? 0 : at->second;
  }

  std::map<const Value*, double> made_;
};

// What scales the sums of a convolution takes them as they are.
std::optional<Formats> scaled_formats(const Node& node) {
  if (node.type != "AscendDequant" && node.type != "AscendRequant") return std::nullopt;
  const Format format = node.input(0)->format;
  return Formats{.inputs = {format, Format::ND}, .outputs = {format}};
}

// Whether all nodes that use a value work on blocks: kernels for maps, and moves on the way to them.
bool wanted_in_blocks(const Value& v, const config::ChipConfig& chip) {
  return !v.uses().empty() && std::ranges::all_of(v.uses(), [&](const Use& use) {
    const Node& node = *use.node;
    if (use.input == 0 && map_formats(node, chip)) return true;
    const std::optional<Formats> formats = block_formats(node);
    return formats && formats->inputs[0] == Format::NC1HWC0 && wanted_in_blocks(*node.output(), chip);
  });
}

// Whether it is worth while to convert what a node moves in front of it: one tensor, which is hardly larger than what
// is left of it.
bool converts_early(const Node& node, const config::ChipConfig& chip) {
  constexpr u64 kMostTimes = 2;
  const Group group(node);
  u64 elements = 0, tensors = 0;
  for (const Value* const v : group.inputs()) {
    elements += v->constant ? 0 : v->shape.elements();
    tensors += v->constant ? 0 : 1;
  }
  const Value& out = *node.output();
  return tensors == 1 && elements <= kMostTimes * out.shape.elements() && wanted_in_blocks(out, chip);
}

// In ND, no rows of whole blocks move.
bool gathers_parts_of_blocks(const Node& node, const config::ChipConfig& chip) {
  if (node.type != "GatherV2") return false;
  const AroundAxis a = around_axis(node.input(0)->shape.dims(), axis_of(node, node.integer("axis"), 4));
  return a.inner == 1 || (is_joint(chip) && a.inner % kC0 != 0);
}

// Those of a node that moves whole blocks of a map, where a map comes or goes in NC1HWC0.
std::optional<Formats> moved_formats(const Node& node, const config::ChipConfig& chip, Padding& padding) {
  const std::optional<Formats> formats = block_formats(node);
  if (!formats) return std::nullopt;
  const Group group(node);
  const bool given = std::ranges::any_of(group.inputs(), [](const Value* v) { return v->format == Format::NC1HWC0; });
  const bool takes_blocks = formats->inputs[0] == Format::NC1HWC0;
  // A joint core would move the elements of a transpose one by one; the scalar unit would gather those of rows.
  const bool always = (node.type == "TransposeD" && is_joint(chip)) || gathers_parts_of_blocks(node, chip);
  if (!always && (takes_blocks ? !given && !converts_early(node, chip) : !wanted_in_blocks(*node.output(), chip)))
    return std::nullopt;
  if (!padding.stays_one(node)) return std::nullopt;
  return formats;
}

}  // namespace

Effect select_formats(Graph& graph, const Target& target) {
  if (target.chip == nullptr) return {};
  Converter converter(graph);
  Padding padding;
  for (const auto& node : graph.nodes()) {
    if (node->type == "TransData") continue;
    Group group(*node);
    std::optional<Formats> wanted = map_formats(*node, *target.chip);
    if (!wanted) wanted = scaled_formats(*node);
    if (!wanted) wanted = moved_formats(*node, *target.chip, padding);
    if (!wanted) {
      // A map in NC1HWC0 stays so in nodes whose other operands are maps of the same shape, or numbers.
      const Value& out = *node->output();
      for (usize o = 0; o < node->inputs().size(); ++o) {
        if (node->input(o) == nullptr) continue;
        if (Value* const made = converter.by_channel(node->input(o), out)) node->set_input(o, made);
      }
      const auto spreads = [&](const Value* v) {
        const Shape& s = v->shape;
        const bool channels = is_map(*v) && is_map(out) && (s[0] == 1 || s[0] == out.shape[0]) &&
                              s[1] == out.shape[1] && s[2] == 1 && s[3] == 1;
        return is_map(*v) && (s == out.shape || channels);
      };
      group = Group(*node);
      const bool any = std::ranges::any_of(group.inputs(), [](const Value* v) { return v->format == Format::NC1HWC0; });
      const bool lanes = kElementwiseKernel.refuses(group, *target.chip).find("no vector") == std::string::npos;
      // Blocks are those of one type; a number for each channel is spread over blocks of f16.
      const DataType type = out.type;
      const auto alike = [&](const Value* v) {
        return v->type == type && (type == DataType::f16 || v->shape == out.shape);
      };
      // FIXPIPE has Relu of all types.
      const bool relu = type == DataType::bf16 && producer(node->input(0), "Conv2D") != nullptr && node->type == "Relu";
      const Format format = any && ((lanes && (type == DataType::f16 || type == DataType::f32)) || relu) &&
                                    std::ranges::all_of(group.inputs(), alike) &&
                                    std::ranges::all_of(group.inputs(), spreads) && padding.stays_finite(*node)
                                ? Format::NC1HWC0
                                : Format::ND;
      wanted = {.inputs = std::vector(group.inputs().size(), format),
                .outputs = std::vector(node->outputs().size(), format)};
    }
    for (usize i = 0; i < group.inputs().size(); ++i) {
      for (usize o = 0; o < node->inputs().size(); ++o) {
        if (node->input(o) != group.inputs()[i]) continue;
        node->set_input(o, converter.convert(node->input(o), wanted->inputs[i], node.get()));
      }
    }
    for (usize i = 0; i < node->outputs().size(); ++i)
      node->output(i)->format = wanted->outputs[std::min(i, wanted->outputs.size() - 1)];
  }
  for (Value*& output : graph.outputs) {
    Value* const made = converter.convert(output, Format::ND, nullptr);
    if (made != output) std::swap(made->name, output->name);
    output = made;
  }
  graph.remove_unused_constants();
  return converter.effect;
}

}  // namespace vinci::graph
