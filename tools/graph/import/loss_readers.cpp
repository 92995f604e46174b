// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/import/readers.h"

// Losses, which ONNX defines by other operators.
namespace vinci::graph {
namespace {

// The weighted negative of the chosen class of each sample. A sample of class ignore_index counts nothing.
Value* negative_likelihood(Reading& x, Value* likelihood) {
  Value *target = x.in.at(1), *ignored = nullptr, *weight = nullptr;
  const DataType type = likelihood->type;
  if (const i64* const ignore = x.attribute<i64>("ignore_index")) {
    ignored = x.make("Equal", {target, x.scalar(target->type, static_cast<double>(*ignore))});
    target = x.make("SelectV2", {ignored, x.scalar(target->type, 0), target});
  }
  Value* const index = x.make("Unsqueeze", {target, x.integers({1})});
  Value* const chosen = x.make("GatherElements", {likelihood, index}, {{"axis", i64{1}}});
  Value* loss = x.make("Neg", {x.make("Squeeze", {chosen, x.integers({1})})});
  if (x.has(2)) weight = x.make("GatherV2", {x.in[2], target}, {{"axis", i64{0}}});
  if (ignored != nullptr)
    weight = x.make("SelectV2", {ignored, x.scalar(type, 0), weight == nullptr ? x.scalar(type, 1) : weight});
  if (weight != nullptr) loss = x.make("Mul", {loss, weight});
  const auto* const given = x.attribute<std::string>("reduction");
  const std::string reduction = given == nullptr ? "mean" : *given;
  const Attributes flat{{"keepdims", i64{0}}};
  if (reduction == "none") return loss;
  if (reduction == "sum") return x.make("ReduceSum", {loss}, flat);
  if (reduction != "mean") x.unsupported("no reduction '{}'", reduction);
  if (weight == nullptr) return x.make("ReduceMean", {loss}, flat);
  return x.make("RealDiv", {x.make("ReduceSum", {loss}, flat), x.make("ReduceSum", {weight}, flat)});
}

}  // namespace

std::vector<Value*> read_negative_likelihood(Reading& x) { return {negative_likelihood(x, x.in.at(0))}; }

std::vector<Value*> read_softmax_cross_entropy(Reading& x) {
  Value* const likelihood = x.make("LogSoftmaxV2", {x.in.at(0)}, {{"axis", i64{1}}});
  std::vector<Value*> out{negative_likelihood(x, likelihood)};
  if (x.node.outputs.size() > 1) out.push_back(likelihood);
  return out;
}

}  // namespace vinci::graph
