// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <cmath>

#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// What convolutions take over from the nodes behind them.
namespace vinci::graph {
namespace {

// Why weights and bias of a convolution cannot take over what `node` does with its result; "" where they can.
std::string keeps_weights(const Graph& graph, const Node& conv, const Node& node) {
  if (std::string reason = other_use(graph, conv.output(), node); !reason.empty()) return reason;
  if (!conv.input(1)->constant) return "the weights are no constant";
  return conv.input(2) == nullptr || conv.input(2)->constant ? "" : "the bias is no constant";
}

// The values of a constant for each of `channels` channels of a result of `rank` axes; nothing if it varies elsewhere.
std::optional<std::vector<double>> by_channel(const Value* value, u64 channels, usize rank) {
  if (value == nullptr || !value->constant) return std::nullopt;
  const Array a = value->constant->array();
  if (a.size() == 1) return std::vector<double>(channels, a.values[0]);
  if (a.size() != channels) return std::nullopt;
  // Extents from the right: 1 for each axis behind the channels.
  if (a.rank() < rank - 1 || a.dims[a.rank() - (rank - 1)] != static_cast<i64>(channels)) return std::nullopt;
  return a.values;
}

// The convolution with scale and offset of each output channel taken into weights and bias, in place of `node`.
Visit scale_conv(Graph& graph, Node& conv, Node& node, const std::vector<double>& scale,
                 const std::vector<double>& offset) {
  Array weights = conv.input(1)->constant->array();
  const u64 channels = static_cast<u64>(weights.dims[0]), each = weights.size() / channels;
  for (u64 i = 0; i < weights.size(); ++i)
    weights.values[i] *= scale[i / each];
  Array bias(weights.type, {weights.dims[0]}, offset);
  if (conv.input(2) != nullptr) {
    const Array old = conv.input(2)->constant->array();
    for (u64 c = 0; c < channels; ++c)
      bias.values[c] += old.values[c] * scale[c];
  }
  Node* const made = graph.add_node("Conv2D", conv.name,
                                    {conv.input(0), graph.add_constant(conv.name + "/weights", Tensor(weights)),
                                     graph.add_constant(conv.name + "/bias", Tensor(bias))},
                                    1, &node);
  made->attributes = conv.attributes;
  Join join = join_before(graph, node, {});
  take_place(graph, *made, {&conv, &node}, node.output());
  Node* const old = &conv;
  graph.erase(&node);
  erase_unused(graph, old);
  return {Visit::gone, std::move(join)};
}

struct ScaleOffset {
  std::vector<double> scale, offset;
};
// The scale and the offset, where it is.
ScaleOffset inference_form(const Node& node) {
  const auto list = [&](usize i) { return node.input(i)->constant->array().values; };
  const std::vector<double> gamma = list(1), beta = list(2), mean = list(3), variance = list(4);
  ScaleOffset out;
  for (usize c = 0; c < gamma.size(); ++c) {
    out.scale.push_back(gamma[c] / std::sqrt(variance[c] + node.number("epsilon", 1e-5)));
    out.offset.push_back(beta[c] - mean[c] * out.scale[c]);
  }
  return out;
}

}  // namespace

Visit fuse_conv_bias(Graph& graph, Node& node) {
  if (node.type != "Add") return Visit::none;
  for (const usize i : {usize{0}, usize{1}}) {
    Node* const conv = producer(node.input(i), "Conv2D");
    if (conv == nullptr) continue;
    const Shape& out = node.output()->shape;
    if (std::string reason = keeps_weights(graph, *conv, node); !reason.empty())
      return Visit::refused({conv, &node}, std::move(reason));
    if (!out.ranked() || out != node.input(i)->shape)
      return Visit::refused({conv, &node}, "the sum has another shape than the map");
    const u64 channels = static_cast<u64>(conv->input(1)->shape[0]);
    const auto offset = by_channel(node.input(1 - i), channels, out.rank());
    if (!offset)
      return Visit::refused({conv, &node}, "the other operand is no constant with a number for each channel");
    return scale_conv(graph, *conv, node, std::vector<double>(channels, 1), *offset);
  }
  return Visit::none;
}

Visit fuse_conv_batchnorm(Graph& graph, Node& node) {
  Node* const conv = producer(node.input(0), "Conv2D");
  if (node.type != "BatchNorm" || conv == nullptr) return Visit::none;
  std::string reason = keeps_weights(graph, *conv, node);
  if (reason.empty()) reason = norm_depends_on_data(node);
  if (!reason.empty()) return Visit::refused({conv, &node}, std::move(reason));
  const ScaleOffset form = inference_form(node);
  return scale_conv(graph, *conv, node, form.scale, form.offset);
}

Visit infer_batchnorm(Graph& graph, Node& node) {
  if (node.type != "BatchNorm") return Visit::none;
  if (std::string reason = norm_depends_on_data(node); !reason.empty())
    return Visit::refused({&node}, std::move(reason));
  const Shape& shape = node.output()->shape;
  if (!shape.ranked() || shape.rank() < 2) return Visit::refused({&node}, "no axis of channels is known");
  const ScaleOffset form = inference_form(node);
  const DataType type = node.output()->type;
  Dims dims(shape.rank() - 1, 1);
  dims[0] = std::ssize(form.scale);
  Value* const scale = graph.add_constant(node.name + "/scale", Tensor(Array(type, dims, form.scale)));
  Value* const offset = graph.add_constant(node.name + "/offset", Tensor(Array(type, dims, form.offset)));
  Node* const product = graph.add_node("Mul", node.name + "/scaled", {node.input(0), scale}, 1, &node);
  product->origins = node.origins;
  infer(*product);
  Node* const sum = graph.add_node("Add", node.name, {product->output(), offset}, 1, &node);
  take_place(graph, *sum, {&node}, node.output());
  graph.erase(&node);
  return Visit::gone;
}

Visit reduce_global_pool(Graph& graph, Node& node) {
  const bool mean = node.type == "GlobalAveragePool";
  if (!mean && node.type != "GlobalMaxPool") return Visit::none;
  const Shape& in = node.input(0)->shape;
  if (!in.ranked()) return Visit::refused({&node}, "the rank is not known");
  Array axes(DataType::i64, {std::ssize(in.dims()) - 2});
  for (usize i = 0; i < axes.size(); ++i)
    axes.values[i] = static_cast<double>(i + 2);
  Value* const over = graph.add_constant(node.name + "/axes", Tensor(axes));
  Node* const made = graph.add_node(mean ? "ReduceMean" : "ReduceMax", node.name, {node.input(0), over}, 1, &node);
  take_place(graph, *made, {&node}, node.output());
  graph.erase(&node);
  return Visit::gone;
}

}  // namespace vinci::graph
