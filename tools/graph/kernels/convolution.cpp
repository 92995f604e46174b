// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>

#include "tools/graph/kernels/convolution_writer.h"
#include "tools/graph/kernels/vector_ops.h"

// Which groups of nodes are convolutions that the kernel takes, and in which formats.
namespace vinci::graph {
namespace {

std::string conv_refuses(const Group& group, const config::ChipConfig& chip) {
  const Node& conv = *group.nodes()[0];
  if (conv.type != "Conv2D") return "it does not begin with Conv2D";
  const auto& in = *group.resolve(conv.input(0));
  const auto& weights = *group.resolve(conv.input(1));
  if (!in.shape.known() || in.shape.rank() != 4) return "its input has no known shape of four axes";
  if (!conv_mad(in.type, weights.type, chip)) return "the cube has no product of its types";
  const bool whole = weights.type == DataType::i8;
  const DataType sums = whole ? DataType::i32 : in.type, result = group.outputs()[0]->type;
  const i64 groups = conv.integer("group", 1);
  const auto fill = [](i64 channels, DataType type) { return channels % static_cast<i64>(c0_of(type)) == 0; };
  if (groups != 1 && (!fill(weights.shape[1], in.type) || weights.shape[0] / groups % static_cast<i64>(kC0) != 0 ||
                      !fill(weights.shape[0] / groups, result)))
    return "its groups are no whole blocks of channels";
  const Node* const scaling = conv_scaling(group);
  const usize used = conv_epilogue(group);
  if (scaling == nullptr && group.resolve(conv.output())->type != sums) return "its result has another type";
  if (scaling != nullptr) {
    const Value* const factors = group.resolve(scaling->input(1));
    if (!whole || factors->type != DataType::u64 || !factors->constant ||
        factors->shape.elements() != static_cast<u64>(weights.shape[0]) || weights.shape[0] == 1)
      return "it has no quantisation parameter for each filter";
    const DataType scaled = group.resolve(scaling->output())->type;
    if (scaled != DataType::f16 && is_joint(chip)) return "a joint core stores f16 of scaled sums alone";
    // FIXPIPE stores pairs of blocks of 16 channels as one of 32 bytes.
    if (scaled != DataType::f16 && (ceil_div<i64>(weights.shape[0], 16) % 2 != 0 || group.nodes().size() > used))
      return "its blocks of 16 filters are no pairs";
  }
  const ConvProblem x(group);
  const Window& w = x.window;
  for (usize a = 0; a < 2; ++a) {
    if (std::max({w.kernel[a], w.dilation[a], w.pad_begin[a], w.pad_end[a]}) > kMaxWindow ||
        w.stride[a] > kMaxWindowStride || w.pad_begin[a] < 0 || w.pad_end[a] < 0)
      return "its window is beyond the operands of load3d";
    if (w.pad_begin[a] >= w.span(a) || w.pad_end[a] >= w.span(a)) return "a window may be in the padding alone";
  }
  for (const auto* const v : group.inputs()) {
    if (v->shape.rank() == 4 && v != &weights && v != &in && v->type != DataType::f16) return "a tensor is not f16";
  }
  if (x.biased && group.resolve(conv.input(2))->type != (whole ? DataType::i32 : DataType::f32))
    return "its bias is not of the type of the sums";
  if (conv.output()->shape != group.outputs()[0]->shape) return "its epilogue repeats the result";
  if (!is_joint(chip)) {
    const bool relu = group.nodes().size() == used + 1 && group.nodes().back()->type == "Relu";
    if (group.nodes().size() != used && !relu) return "FIXPIPE applies no epilogue but Relu";
  } else if (group.nodes().size() > used) {
    if (std::string reason = vector_refuses(group, used, chip); !reason.empty()) return reason;
    for (usize i = used; i < group.nodes().size(); ++i) {
      if (group.resolve(group.nodes()[i]->output())->type != DataType::f16) return "its epilogue is not f16 alone";
    }
    for (const Value* const v : conv_residuals(group)) {
      if (v->shape != group.outputs()[0]->shape) return "its epilogue has an operand of another shape";
    }
  }
  return "";
}

Formats conv_formats(const Group& group, const config::ChipConfig&) {
  using enum isa::Format;
  Formats out{.inputs = {}, .outputs = {NC1HWC0}};
  const Node* const scaling = conv_scaling(group);
  for (usize i = 0; i < group.inputs().size(); ++i) {
    const bool table = (i == 2 && group.nodes()[0]->input(2) != nullptr) ||
                       (scaling != nullptr && group.resolve(scaling->input(1)) == group.inputs()[i]);
    out.inputs.push_back(i == 1 ? FRACTAL_Z : table ? ND : NC1HWC0);
  }
  return out;
}

KernelProgram conv_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  ConvWriter writer(group, chip, tiling);
  const u64 tiles = writer.tiles();
  return {.program = writer.program(),
          .type = is_joint(chip) ? task::KernelType::AI_CORE : task::KernelType::AIC_ONLY,
          .blocks = static_cast<u32>(std::min<u64>(tiles, chip.ai_cores))};
}

}  // namespace

const Kernel kConvolutionKernel{"convolution", conv_refuses, conv_formats, conv_tilings, conv_footprint, conv_build};

}  // namespace vinci::graph
