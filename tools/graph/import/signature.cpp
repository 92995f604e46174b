// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "tools/graph/import/readers.h"
#include "tools/graph/ops/op.h"

namespace vinci::graph {
namespace {

// The words that an attribute of some operators may have; of all operators without names of them.
struct Words {
  std::string_view attribute;
  std::vector<std::string_view> ops, words;
};

const std::vector<Words>& all_words() {
  static const std::vector<Words> table{
      {"auto_pad", {}, {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", ""}},
      {"coordinate_transformation_mode",
       {"Resize"},
       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
        "tf_half_pixel_for_nn", "tf_crop_and_resize"}},
      {"direction", {"BitShift"}, {"LEFT", "RIGHT"}},
      {"direction", {"GRU", "LSTM", "RNN"}, {"forward", "reverse", "bidirectional"}},
      {"keep_aspect_ratio_policy", {}, {"stretch", "not_larger", "not_smaller"}},
      {"mode", {"DepthToSpace"}, {"DCR", "CRD"}},
      {"mode", {"Pad"}, {"constant", "reflect", "edge", "wrap"}},
      {"mode", {"Resize"}, {"nearest", "linear", "cubic"}},
      {"mode", {"Upsample"}, {"nearest", "linear"}},
      {"nearest_mode", {}, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}},
      {"reduction", {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}, {"none", "mean", "sum"}},
      {"reduction", {"ScatterElements", "ScatterND"}, {"none", "add", "mul", "max", "min"}},
  };
  return table;
}

// The extents that the numbers of a node's positions are for, in their order; the last ones may be unknown.
std::vector<i64> extents_of_positions(const Node& node) {
  const Shape &in = node.input(0)->shape, &index = node.input(1)->shape;
  if (node.type == "GatherNd" || node.type == "ScatterNdUpdate") {
    const auto batch = static_cast<usize>(node.integer("batch_dims"));
    if (index.rank() == 0 || batch + static_cast<usize>(index[index.rank() - 1]) > in.rank()) return {};
    return {in.dims().begin() + static_cast<std::ptrdiff_t>(batch),
            in.dims().begin() + static_cast<std::ptrdiff_t>(batch) + index[index.rank() - 1]};
  }
  static constexpr auto kAlongAxis = std::to_array<std::string_view>({"GatherV2", "GatherElements", "ScatterElements"});
  if (std::ranges::find(kAlongAxis, node.type) == kAlongAxis.end()) return {};
  return {in[axis_of(node, node.integer("axis"), in.rank())]};
}

}  // namespace

void check_positions(const Node& node) {
  if (node.inputs().size() < 2 || node.input(0) == nullptr || node.input(1) == nullptr) return;
  if (!node.input(1)->constant || !node.input(0)->shape.ranked()) return;
  const std::vector<i64> extents = extents_of_positions(node);
  if (extents.empty()) return;
  const std::vector<i64> positions = node.input(1)->constant->array().integers();
  for (usize i = 0; i < positions.size(); ++i) {
    const i64 extent = extents[i % extents.size()];
    if (extent >= 0 && (positions[i] < -extent || positions[i] >= extent))
      fail(Fault::Input, "{} ({}): index {} is not in [{}, {}]", node.name, node.type, positions[i], -extent,
           extent - 1);
  }
}

void check_signature(const OpReader& reader, const ModelNode& node) {
  const auto [least, most] = reader.operands;
  const usize given = node.inputs.size();
  for (usize i = 0; i < least; ++i) {
    // Those of other domains leave out zero points between other operands.
    if (i >= given || (node.inputs[i].empty() && node.domain.empty()))
      fail(Fault::Input, "{} ({}): input {} is missing", node.name, node.op, i);
  }
  if (given > most)
    fail(Fault::Input, "{} ({}): it has {} inputs, at most {} are known", node.name, node.op, given, most);
  for (const Words& row : all_words()) {
    const auto at = node.attributes.find(row.attribute);
    if (at == node.attributes.end() || (!row.ops.empty() && std::ranges::find(row.ops, node.op) == row.ops.end()))
      continue;
    const auto* const word = std::get_if<std::string>(&at->second);
    if (word != nullptr && std::ranges::find(row.words, *word) == row.words.end())
      fail(Fault::Input, "{} ({}): there is no {} '{}'{}", node.name, node.op, row.attribute, *word,
           did_you_mean(*word, row.words));
  }
}

}  // namespace vinci::graph
