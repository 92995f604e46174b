// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <numeric>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/ops/window.h"
#include "tools/graph/passes/maker.h"
#include "tools/graph/passes/pass.h"

// Convolutions and poolings in the forms that kernels compute: maps of two axes, groups of whole blocks of channels.
namespace vinci::graph {
namespace {

// With an axis of 1 in front of the only axis of a map.
Attributes with_second_axis(const Node& node) {
  Attributes out = node.attributes;
  for (const auto& [key, fill, at] : {std::tuple{"kernel_shape", i64{1}, 0},
                                      {"strides", i64{1}, 0},
                                      {"dilations", i64{1}, 0},
                                      {"pads", i64{0}, 0},
                                      {"pads", i64{0}, 2}}) {
    const auto found = out.find(key);
    if (found == out.end()) continue;
    auto& list = std::get<std::vector<i64>>(found->second);
    list.insert(list.begin() + at, fill);
  }
  return out;
}

i64 least_common_multiple_with_block(i64 channels) { return std::lcm(channels, static_cast<i64>(kC0)) / channels; }

}  // namespace

Visit widen_map(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr) return Visit::none;
  if (node.type != "Conv2D" && node.type != "AvgPool" && node.type != "MaxPool" && node.type != "Conv2DTranspose" &&
      node.type != "LpPool")
    return Visit::none;
  const Shape& in = node.input(0)->shape;
  if (!in.known() || in.rank() != 3) return Visit::none;
  if (node.outputs().size() != 1 || node.has("output_shape") || node.has("output_padding")) return Visit::matched;
  Maker make(graph, node);
  const auto wide = [&](Value* v) {
    const Dims dims{v->shape[0], v->shape[1], 1, v->shape[2]};
    if (!v->constant) return make.reshape(v, dims);
    const auto bytes = v->constant->bytes();
    return graph.add_constant(v->name, Tensor(v->type, dims, {bytes.begin(), bytes.end()}));
  };
  std::vector<Value*> operands{wide(node.input(0))};
  for (usize i = 1; i < node.inputs().size(); ++i)
    operands.push_back(i == 1 ? wide(node.input(i)) : node.input(i));
  make.replace({make(node.type, operands, with_second_axis(node))});
  return Visit::gone;
}

// Groups that share blocks of channels become one: weights between different groups are zero.
Visit regroup_convolution(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || node.type != "Conv2D" || node.integer("group", 1) == 1) return Visit::none;
  const Shape& shape = node.input(1)->shape;
  if (!node.input(1)->constant || !shape.known()) return Visit::matched;
  const i64 groups = node.integer("group"), channels = shape[1], filters = shape[0] / groups;
  i64 together = std::lcm(least_common_multiple_with_block(channels), least_common_multiple_with_block(filters));
  if (together == 1) return Visit::none;
  if (groups % together != 0) together = groups;
  const Array old = node.input(1)->constant->array();
  Dims dims = shape.dims();
  dims[1] = channels * together;
  Array wide(old.type, dims);
  const u64 points = old.size() / static_cast<u64>(shape[0] * channels);
  for (i64 f = 0; f < shape[0]; ++f) {
    const i64 place = f / filters % together;
    const auto from = old.values.begin() + f * channels * static_cast<i64>(points);
    std::copy_n(from, channels * static_cast<i64>(points),
                wide.values.begin() + (f * together + place) * channels * static_cast<i64>(points));
  }
  Value* const weights = graph.add_constant(node.input(1)->name, Tensor(wide));
  node.set_input(1, weights);
  node.attributes["group"] = groups / together;
  return Visit::changed;
}

}  // namespace vinci::graph
