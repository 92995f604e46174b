// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/passes/decompose.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/window.h"
#include "tools/graph/passes/maker.h"
#include "tools/graph/passes/pass.h"

// Operators without a kernel of their own as nodes that have one. The values are the same up to rounding.
namespace vinci::graph {
namespace {

using Rewrite = bool (*)(Graph& graph, Node& node);
using RewriteFor = bool (*)(Graph& graph, Node& node, const Target& target);

Attributes keep_dims() { return {{"keepdims", i64{1}}}; }

// The axes [first, rank).
std::vector<i64> axes_from(usize first, usize rank) {
  std::vector<i64> axes(rank - first);
  std::iota(axes.begin(), axes.end(), static_cast<i64>(first));
  return axes;
}

// Mean and inverse deviation as outputs: only training reads them.
bool layer_norm(Graph& graph, Node& node) {
  if (node.outputs().size() == 1) return false;
  Maker make(graph, node);
  Value* const x = node.input(0);
  const usize rank = x->shape.rank(), axis = axis_of(node, node.integer("axis", -1), rank);
  Value* const axes = make.integers(axes_from(axis, rank));
  Value* const mean = make("ReduceMean", {x, axes}, keep_dims());
  Value* const centred = make("Sub", {x, mean});
  Value* const variance = make("ReduceMean", {make("Mul", {centred, centred}), axes}, keep_dims());
  Value* const inverse = make("Rsqrt", {make("Add", {variance, make.number(x->type, node.number("epsilon", 1e-5))})});
  Value* y = make("Mul", {centred, inverse});
  if (node.input(1) != nullptr) y = make("Mul", {y, node.input(1)});
  if (node.input(2) != nullptr) y = make("Add", {y, node.input(2)});
  make.replace({y, mean, inverse});
  return true;
}

// With mean and variance of the batch in training, where the running ones are outputs, too: in two phases, sums and
// then the elements.
bool batch_norm(Graph& graph, Node& node) {
  Maker make(graph, node);
  Value* const x = node.input(0);
  const usize rank = x->shape.rank();
  // With constants it has a pass of its own.
  if (rank < 2 || norm_depends_on_data(node).empty()) return false;
  Dims of_channels(rank, 1);
  of_channels[1] = x->shape[1];
  // Of each map first, which has a kernel for blocks of channels.
  const auto mean_of = [&](Value* v) {
    if (rank > 2) v = make("ReduceMean", {v, make.integers(axes_from(2, rank))}, keep_dims());
    return make("ReduceMean", {v, make.integers({0})}, keep_dims());
  };
  const auto vector = [&](usize i) { return make.reshape(make.cast(node.input(i), x->type), of_channels); };
  const bool training = node.integer("training_mode") != 0;
  Value* const mean = training ? mean_of(x) : vector(3);
  Value* const centred = make("Sub", {x, mean});
  Value* const variance = training ? mean_of(make("Mul", {centred, centred})) : vector(4);
  Value* const inverse = make("Rsqrt", {make("Add", {variance, make.number(x->type, node.number("epsilon", 1e-5))})});
  std::vector<Value*> results{make("Add", {make("Mul", {centred, make("Mul", {inverse, vector(1)})}), vector(2)})};
  const double kept = node.number("momentum", 0.9);
  for (usize i = 1; i < node.outputs().size(); ++i) {
    Value* const old = make("Mul", {vector(i + 2), make.number(x->type, kept)});
    Value* const now = make("Mul", {i == 1 ? mean : variance, make.number(x->type, 1 - kept)});
    results.push_back(make("Add", {old, now}));
  }
  make.replace(results);
  return true;
}

bool instance_norm(Graph& graph, Node& node) {
  Maker make(graph, node);
  Value* const x = node.input(0);
  const Dims& dims = x->shape.dims();
  if (dims.size() < 3) return false;
  const i64 map = static_cast<i64>(element_count(std::span(dims).subspan(2)));
  Attributes attributes{{"epsilon", node.number("epsilon", 1e-5)}, {"axis", i64{-1}}};
  Value* const rows = make("LayerNorm", {make.reshape(x, {dims[0], dims[1], map})}, attributes);
  Value* const scaled = make("Mul", {rows, make.reshape(node.input(1), {dims[1], 1})});
  make.replace({make("Add", {scaled, make.reshape(node.input(2), {dims[1], 1})})});
  return true;
}

bool mean_variance(Graph& graph, Node& node) {
  Maker make(graph, node);
  Value* const x = node.input(0);
  Value* const axes = make.integers(node.integers("axes", {0, 2, 3}));
  Value* const centred = make("Sub", {x, make("ReduceMean", {x, axes}, keep_dims())});
  Value* const variance = make("ReduceMean", {make("Mul", {centred, centred}), axes}, keep_dims());
  make.replace({make("RealDiv", {centred, make("Sqrt", {variance})})});
  return true;
}

// x / |x| along an axis; a row of zeros stays zero.
bool lp_norm(Graph& graph, Node& node) {
  constexpr double kLeast = 0x1p-24;  // above 0 in f16
  Maker make(graph, node);
  Value* const x = node.input(0);
  Value* const axis = make.integers({node.integer("axis", -1)});
  const bool square = node.integer("p", 2) == 2;
  Value* norm = make("ReduceSum", {square ? make("Mul", {x, x}) : make("Abs", {x}), axis}, keep_dims());
  if (square) norm = make("Sqrt", {norm});
  make.replace({make("RealDiv", {x, make("Maximum", {norm, make.number(x->type, kLeast)})})});
  return true;
}

// max + log(sum(exp(x - max)))
bool log_sum_exp(Graph& graph, Node& node) {
  if (node.input(1) != nullptr && !node.input(1)->constant) return false;
  Maker make(graph, node);
  Value* const x = node.input(0);
  std::vector<Value*> operands{x};
  if (node.input(1) != nullptr) operands.push_back(node.input(1));
  Value* const most = make("ReduceMax", operands, keep_dims());
  operands[0] = make("Exp", {make("Sub", {x, most})});
  make.replace({make("Add", {make("Log", {make("ReduceSum", operands, keep_dims())}), most})});
  return true;
}

// |x|^y = e^(y ln |x|); of a negative x, y has to be whole, and where it is odd the result is negative. 0^0 = 1.
bool power(Graph& graph, Node& node) {
  Value *const x = node.input(0), *const given = node.input(1);
  if (!is_float(x->type) || !is_float(given->type) || scalar(given)) return false;
  Maker make(graph, node);
  const auto number = [&](double v) { return make.number(x->type, v); };
  Value* const y = make.cast(given, x->type);
  Value* const whole = make("Equal", {make("Floor", {y}), y});
  Value* const base = make("SelectV2", {whole, make("Abs", {x}), x});  // the logarithm of others is NaN
  Value* const magnitude = make("Exp", {make("Mul", {make("Log", {base}), y})});
  Value* const half = make("Mul", {y, number(0.5)});
  Value* const odd = make("Sub", {half, make("Floor", {half})});  // 0.5 where it is
  Value* const sign = make("SelectV2", {make("Less", {x, number(0)}), make("Mul", {odd, number(-4)}), number(0)});
  Value* const result = make("Mul", {magnitude, make("Add", {sign, number(1)})});
  make.replace({make("SelectV2", {make("Equal", {y, number(0)}), number(1), result})});
  return true;
}

bool local_response(Graph& graph, Node& node) {
  Maker make(graph, node);
  Value* const x = node.input(0);
  const i64 size = node.integer("size", 1), before = (size - 1) / 2;
  const usize rank = x->shape.rank();
  std::vector<i64> pads(2 * rank);
  pads[1] = before;
  pads[rank + 1] = size - 1 - before;
  Value* const squares = make("PadV3", {make("Mul", {x, x}), make.integers(pads)});
  Value* sum = nullptr;
  for (i64 i = 0; i < size; ++i) {
    Value* const piece =
        make("StridedSliceV2", {squares, make.integers({i}), make.integers({i + x->shape[1]}), make.integers({1})});
    sum = sum == nullptr ? piece : make("Add", {sum, piece});
  }
  const double alpha = node.number("alpha", 1e-4) / static_cast<double>(size);
  Value* const base =
      make("Add", {make("Mul", {sum, make.number(x->type, alpha)}), make.number(x->type, node.number("bias", 1))});
  make.replace({make("Mul", {x, make("Pow", {base, make.number(x->type, -node.number("beta", 0.75))})})});
  return true;
}

// Quantisation
// ----------------------------------------------------------------------------------------------------

// Scale or zero point in the shape that an operand of the tensor has.
Value* along_axis(Maker& make, const Node& node, Value* value) {
  const Shape& x = node.input(0)->shape;
  if (value->shape.elements() == 1) return make.reshape(value, {});
  Dims dims(x.rank(), 1);
  dims[axis_of(node, node.integer("axis", 1), x.rank())] = value->shape[0];
  return make.reshape(value, dims);
}

// A zero point in the type that it is added to; of a constant another one.
Value* zero_point(Maker& make, Value* value, DataType type) {
  if (!value->constant) return make.cast(value, type);
  Array a = value->constant->array();
  a.type = type;
  a.round();
  return make.constant(a);
}

bool dequantise(Graph& graph, Node& node) {
  const bool constant =
      std::ranges::all_of(node.inputs(), [](const Value* v) { return v == nullptr || v->constant.has_value(); });
  if (constant && !graph.is_output(node.output())) {
    std::vector<Array> in;
    for (const Value* const v : node.inputs())
      in.push_back(v == nullptr ? Array() : v->constant->array());
    std::vector<const Array*> operands;
    for (usize i = 0; i < in.size(); ++i)
      operands.push_back(node.input(i) == nullptr ? nullptr : &in[i]);
    graph.replace(node.output(), graph.add_constant(node.output()->name, Tensor(evaluate(node, operands)[0])));
    graph.erase(&node);
    return true;
  }
  Maker make(graph, node);
  const DataType type = node.output()->type;
  Value* x = make.cast(node.input(0), type);
  if (node.input(2) != nullptr) x = make("Sub", {x, along_axis(make, node, zero_point(make, node.input(2), type))});
  make.replace({make("Mul", {x, along_axis(make, node, node.input(1))})});
  return true;
}

bool quantise(Graph& graph, Node& node) {
  Maker make(graph, node);
  const DataType type = node.input(0)->type, to = node.output()->type;
  Value* x = make("RealDiv", {node.input(0), along_axis(make, node, node.input(1))});
  const auto zero = node.input(2) == nullptr ? std::optional(0.0) : scalar(node.input(2));
  if (zero) {
    // Limits in front of Round, which then fits s32.
    const auto limit = [&](double v) { return make.number(type, v - *zero); };
    x = make("Round", {make("ClipByValue", {x, limit(info(to).lowest), limit(info(to).highest)})});
    if (*zero != 0) x = make("Add", {x, make.number(type, *zero)});
  } else {
    x = make("Add", {make("Round", {x}), along_axis(make, node, zero_point(make, node.input(2), type))});
    x = make("ClipByValue", {x, make.number(type, info(to).lowest), make.number(type, info(to).highest)});
  }
  make.replace({make.cast(x, to)});
  return true;
}

// To u8 over the range of the tensor, which includes 0: the numbers, scale and zero point.
bool dynamic_quantise(Graph& graph, Node& node) {
  Maker make(graph, node);
  Value* const x = node.input(0);
  const auto number = [&](double v) { return make.number(x->type, v); };
  const auto limited = [&](Value* v, double least) { return make("ClipByValue", {v, number(least), number(255)}); };
  const Attributes flat{{"keepdims", i64{0}}};
  Value* const low = make("Minimum", {make("ReduceMin", {x}, flat), number(0)});
  Value* const high = make("Maximum", {make("ReduceMax", {x}, flat), number(0)});
  Value* const scale = make("Mul", {make("Sub", {high, low}), number(1.0 / 255)});
  Value* const zero = make("Round", {limited(make("RealDiv", {make("Neg", {low}), scale}), 0)});
  Value* const rounded = make("Round", {limited(make("RealDiv", {x, scale}), -255)});
  Value* const y = limited(make("Add", {rounded, zero}), 0);
  make.replace({make.cast(y, DataType::u8), scale, make.cast(zero, DataType::u8)});
  return true;
}

// Of floats, with a known diagonal: what a constant triangle selects.
bool triangle(Graph& graph, Node& node) {
  Value* const x = node.input(0);
  const Value* const diagonal = node.inputs().size() > 1 ? node.input(1) : nullptr;
  if ((diagonal != nullptr && !diagonal->constant) || (x->type != DataType::f16 && x->type != DataType::f32) ||
      x->shape.elements() == 0)
    return false;
  const i64 k = diagonal == nullptr ? 0 : diagonal->constant->array().integers().at(0);
  const bool upper = node.integer("upper", 1) != 0;
  const usize rank = x->shape.rank();
  Array inside(DataType::boolean, {x->shape[rank - 2], x->shape[rank - 1]});
  for (usize i = 0; i < inside.size(); ++i) {
    const auto width = static_cast<usize>(inside.dims[1]);
    const i64 beyond = static_cast<i64>(i % width) - static_cast<i64>(i / width);
    inside.values[i] = upper ? beyond >= k : beyond <= k;
  }
  Maker make(graph, node);
  make.replace({make("SelectV2", {make.constant(inside), x, make.number(x->type, 0)})});
  return true;
}

// x above a threshold, else 0.
bool thresholded_relu(Graph& graph, Node& node) {
  Value* const x = node.input(0);
  if (!is_float(x->type)) return false;
  Maker make(graph, node);
  Value* const above = make("Greater", {x, make.number(x->type, node.number("alpha", 1))});
  make.replace({make("SelectV2", {above, x, make.number(x->type, 0)})});
  return true;
}

// x + bias below -lambd, x - bias above lambd, else 0.
bool shrink(Graph& graph, Node& node) {
  Value* const x = node.input(0);
  if (!is_float(x->type)) return false;
  Maker make(graph, node);
  const auto number = [&](double v) { return make.number(x->type, v); };
  const double lambd = node.number("lambd", 0.5), bias = node.number("bias");
  Value* const above =
      make("SelectV2", {make("Greater", {x, number(lambd)}), make("Add", {x, number(-bias)}), number(0)});
  make.replace({make("SelectV2", {make("Less", {x, number(-lambd)}), make("Add", {x, number(bias)}), above})});
  return true;
}

// Bytes move as f16, which has all of them: cores transpose no single bytes.
bool transpose_bytes(Graph& graph, Node& node) {
  const Value* const x = node.input(0);
  if (x->type != DataType::u8 && x->type != DataType::boolean) return false;
  Maker make(graph, node);
  make.replace({make("TransposeD", {make.cast(node.input(0), DataType::f16)}, node.attributes)});
  return true;
}

// A window that is a whole large map: the reduction of its axes. Volumes are maps behind each other.
bool pool(Graph& graph, Node& node, const Target& target) {
  constexpr i64 kLargeMap = 1024;  // the kernel of windows adds point by point
  const Value* const in = node.input(0);
  if (in->shape.rank() != 4 || node.outputs().size() != 1) return decompose_pool_of_volumes(graph, node, target);
  const Dims& dims = in->shape.dims();
  const Window w = window_of(node, {dims[2], dims[3]}, node.integers("kernel_shape"));
  const auto zero = [](i64 pad) { return pad == 0; };
  if (w.kernel != std::vector<i64>{dims[2], dims[3]} || w.out != std::vector<i64>{1, 1} ||
      dims[2] * dims[3] < kLargeMap || !std::ranges::all_of(w.pad_begin, zero) ||
      !std::ranges::all_of(w.pad_end, zero) || w.dilation != std::vector<i64>{1, 1} || !is_float(in->type))
    return false;
  Maker make(graph, node);
  make.replace(
      {make(node.type == "AvgPool" ? "ReduceMean" : "ReduceMax", {node.input(0), make.integers({2, 3})}, keep_dims())});
  return true;
}

// More pieces than a kernel takes: pieces of pieces.
bool concat(Graph& graph, Node& node) {
  const usize count = node.inputs().size();
  if (count <= kMostPieces) return false;
  Maker make(graph, node);
  std::vector<Value*> pieces;
  for (usize i = 0; i < count; i += kMostPieces) {
    const auto from = node.inputs().begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = node.inputs().begin() + static_cast<std::ptrdiff_t>(std::min(count, i + kMostPieces));
    pieces.push_back(make("ConcatD", {from, end}, {{"axis", node.integer("axis")}}));
  }
  make.replace({make("ConcatD", pieces, {{"axis", node.integer("axis")}})});
  return true;
}

// On a joint core, pieces of rows that fill no blocks: each by itself moves by columns.
bool split(Graph& graph, Node& node, const Target& target) {
  if (!is_joint(*target.chip) || node.outputs().size() < 2) return false;
  const Value& in = *node.input(0);
  const usize axis = axis_of(node, node.integer("axis"), in.shape.rank());
  const AroundAxis a = around_axis(in.shape.dims(), axis);
  const u64 bytes = is_float(in.type) ? 2 : info(in.type).bytes;  // floats may become f16
  const auto whole = [&](const Value* v) { return static_cast<u64>(v->shape[axis]) * a.inner * bytes % 32 == 0; };
  if (a.outer == 1 || std::ranges::all_of(node.outputs(), whole)) return false;
  Maker make(graph, node);
  std::vector<Value*> pieces;
  i64 from = 0;
  for (const Value* const v : node.outputs()) {
    const i64 end = from + v->shape[axis];
    pieces.push_back(make("StridedSliceV2", {node.input(0), make.integers({from}), make.integers({end}),
                                             make.integers({static_cast<i64>(axis)}), make.integers({1})}));
    from = end;
  }
  make.replace(pieces);
  return true;
}

struct Decomposition {
  std::string_view type;
  Rewrite rewrite = nullptr;
  RewriteFor rewrite_for = nullptr;  // or this
};
constexpr auto kDecompositions = std::to_array<Decomposition>({
    {"AscendDequantV2", dequantise},
    {"AscendQuantV2", quantise},
    {"AvgPool", nullptr, pool},
    {"BatchNorm", batch_norm},
    {"ConcatD", concat},
    {"Conv2D", decompose_convolution},
    {"Conv2DTranspose", decompose_transposed_convolution},
    {"Cumsum", nullptr, decompose_cumsum},
    {"DepthToSpace", decompose_depth_to_space},
    {"DynamicQuant", dynamic_quantise},
    {"GatherV2", nullptr, decompose_gather},
    {"GatherElements", decompose_gather_elements},
    {"HardShrink", shrink},
    {"InstanceNorm", instance_norm},
    {"LRN", local_response},
    {"LayerNorm", layer_norm},
    {"LpNorm", lp_norm},
    {"MVNV2", mean_variance},
    {"MaxPool", nullptr, pool},
    {"OneHot", decompose_one_hot},
    {"PadV3", nullptr, decompose_pad},
    {"Pow", power},
    {"ReduceLogSumExp", log_sum_exp},
    {"Resize", nullptr, decompose_resize},
    {"ScatterElements", decompose_scatter_elements},
    {"ScatterNdUpdate", nullptr, decompose_scatter},
    {"SplitV", nullptr, split},
    {"ThresholdedRelu", thresholded_relu},
    {"TransposeD", transpose_bytes},
    {"Trilu", triangle},
});

}  // namespace

Visit decompose(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr) return Visit::none;
  const auto at = std::ranges::find(kDecompositions, node.type, &Decomposition::type);
  if (at == kDecompositions.end()) return Visit::none;
  for (const auto* const list : {&node.inputs(), &node.outputs()}) {
    for (const Value* const v : *list) {
      if (v != nullptr && !v->shape.known()) return Visit::refused({&node}, "an extent is not known");
    }
  }
  const bool done = at->rewrite != nullptr ? at->rewrite(graph, node) : at->rewrite_for(graph, node, target);
  return done ? Visit::gone : Visit::matched;  // most of these nodes have a kernel as they are
}

}  // namespace vinci::graph
