// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/network_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/io/input_file.h"
#include "sim/io/npy.h"
#include "tools/graph/ops/run.h"
#include "tools/run/arguments.h"

namespace vinci::cli {
namespace {

graph::Array read_npy(const std::string& path) {
  const io::InputFile file(path);
  const io::NpyHeader header =
      io::parse_npy_header(file.read(0, std::min(file.size(), io::kNpyMaxHeaderBytes)), file.size(), path);
  const auto type = std::ranges::find(graph::kDataTypes, std::string_view(header.dtype), &graph::DataTypeInfo::npy);
  VINCI_CHECK(type != graph::kDataTypes.end());
  const graph::Dims dims(header.shape.begin(), header.shape.end());
  const graph::Tensor tensor(static_cast<graph::DataType>(type - graph::kDataTypes.begin()), dims,
                             file.read(header.data_offset, header.data_bytes));
  graph::Array array = tensor.array();
  if (type->bytes == sizeof(i64) && !type->floating &&
      !std::ranges::equal(graph::Tensor(array).bytes(), tensor.bytes()))
    fail(Fault::Unsupported, "{}: it has integers beyond 2^53, which the reference does not hold exactly", path);
  return array;
}

// The least number that a node takes as its first operand, and what its results are infinite at is not near: nothing
// where it takes all.
std::optional<double> least_operand(const graph::Node& node, usize input) {
  constexpr double kAboveZero = 1.0 / 128;
  static constexpr auto kPositive = std::to_array<std::string_view>({"Log", "Log1p", "ReduceLogSum", "Rsqrt", "Sqrt"});
  if (input != 0) return std::nullopt;
  if (std::ranges::find(kPositive, node.type) != kPositive.end()) return kAboveZero;
  if (node.type == "Acosh") return 1;
  if (node.type != "Pow") return std::nullopt;
  // Whole powers take all numbers, negative ones all but zero.
  const graph::Value& power = *node.input(1);
  if (!power.constant) return kAboveZero;
  const graph::Array powers = power.constant->array();
  const auto takes_all = [](double v) { return v >= 0 && v == std::floor(v); };
  return std::ranges::all_of(powers.values, takes_all) ? std::nullopt : std::optional(kAboveZero);
}

// The largest of them, of all nodes that get the value as it is, also in another type or arrangement.
std::optional<double> least_of(const graph::Value& value) {
  static constexpr auto kPassOn =
      std::to_array<std::string_view>({"BroadcastTo", "Cast", "FlattenV2", "Identity", "Reshape", "SplitV", "Squeeze",
                                       "StridedSliceV2", "TransData", "TransposeD", "Unsqueeze"});
  std::optional<double> out;
  const auto add = [&](std::optional<double> least) { out = std::max(out, least); };
  for (const graph::Use& use : value.uses()) {
    const graph::Node& node = *use.node;
    add(least_operand(node, use.input));
    if (node.type == "FusedOp" && use.input < node.bodies.at(0)->inputs.size())
      add(least_of(*node.bodies[0]->inputs[use.input]));
    if (use.input != 0 || std::ranges::find(kPassOn, node.type) == kPassOn.end()) continue;
    for (const graph::Value* const result : node.outputs())
      add(least_of(*result));
  }
  return out;
}

}  // namespace

NetworkInputs::NetworkInputs(std::string_view files, u64 seed) : seed_(seed) {
  for (const std::string& part : run::split_list(files, ';')) {
    const usize colon = part.find(':');
    if (colon == std::string::npos || colon == 0) fail_at(Fault::Input, "--input", "'{}' is no name:file.npy", part);
    files_.insert_or_assign(part.substr(0, colon), part.substr(colon + 1));
  }
}

std::vector<graph::Array> NetworkInputs::data(const graph::Graph& graph) const {
  std::vector<graph::Array> out = graph::random_inputs(graph, seed_);
  std::vector<std::string_view> names;
  for (const graph::Value* const v : graph.inputs)
    names.push_back(v->name);
  for (const auto& [name, path] : files_) {
    const auto at = std::ranges::find(names, name);
    if (at == names.end())
      fail_at(Fault::Input, "--input", "the model has no input '{}'{}", name, did_you_mean(name, names));
    const graph::Value& input = *graph.inputs[static_cast<usize>(at - names.begin())];
    graph::Array read = read_npy(path);
    if (graph::Shape(read.dims) != input.shape)
      fail(Fault::Input, "{}: it has the shape {}, the input {} has {}", path, text(graph::Shape(read.dims)), name,
           text(input.shape));
    if (graph::is_float(read.type) && !graph::is_float(input.type))
      fail(Fault::Input, "{}: it holds {}, the input {} is {}", path, info(read.type).name, name,
           info(input.type).name);
    read.type = input.type;
    read.round();
    out[static_cast<usize>(at - names.begin())] = std::move(read);
  }
  return out;
}

std::vector<graph::Array> NetworkInputs::data_in_domain(const graph::Graph& graph) const {
  std::vector<graph::Array> out = data(graph);
  if (!graph.unknown_shapes.empty()) return out;
  for (usize i = 0; i < out.size(); ++i) {
    const graph::Value& input = *graph.inputs[i];
    if (!graph::is_float(input.type) || files_.contains(input.name)) continue;
    const std::optional<double> least = least_of(input);
    if (!least) continue;
    for (double& v : out[i].values)
      v = *least + std::abs(v);
    out[i].round();
  }
  return out;
}

}  // namespace vinci::cli
