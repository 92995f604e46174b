// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/import/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "isa/base/error.h"
#include "tools/graph/ops/op.h"

namespace vinci::graph {

std::vector<Value*> Reading::make(std::string_view type, const std::vector<Value*>& inputs, Attributes attributes,
                                  usize outputs) {
  Node* const made = graph_.add_node(type, node.name, inputs, outputs);
  made->attributes = std::move(attributes);
  made->origins = {node.name};
  infer(*made);
  check_positions(*made);
  if (binder_ != nullptr) binder_->bind(*made);
  return made->outputs();
}

Value* Reading::constant(const Array& array) { return graph_.add_constant(node.name + "/const", Tensor(array)); }
Value* Reading::integers(std::vector<i64> values) {
  Array array(DataType::i64, {static_cast<i64>(values.size())});
  std::ranges::transform(values, array.values.begin(), [](i64 v) { return static_cast<double>(v); });
  return constant(array);
}
Value* Reading::scalar(DataType type, double value) { return constant(Array(type, {}, {value})); }

i64 Reading::integer(std::string_view key, i64 otherwise) const {
  const i64* const value = attribute<i64>(key);
  return value == nullptr ? otherwise : *value;
}

namespace {

using Results = std::vector<Value*>;

// Of a Cast.
Attributes to_type(DataType type) { return {{"to", static_cast<i64>(enum_index(type))}}; }

// Attributes without those that have become inputs.
Attributes without(const Reading& x, std::initializer_list<std::string_view> keys) {
  Attributes out = x.node.attributes;
  for (const std::string_view key : keys) {
    if (const auto at = out.find(key); at != out.end()) out.erase(at);
  }
  return out;
}

// Where `key` was an attribute and is an input now: its value as input `i`.
Value* input_or_attribute(Reading& x, usize i, std::string_view key) {
  if (x.has(i)) return x.input(i);
  const auto* const list = x.attribute<std::vector<i64>>(key);
  return list == nullptr ? nullptr : x.integers(*list);
}

// f(f(a, b), c) ...; a single operand stays.
Value* chain(Reading& x, std::string_view type) {
  Value* sum = x.in.at(0);
  for (usize i = 1; i < x.in.size(); ++i)
    sum = x.make(type, {sum, x.in[i]});
  return x.in.size() == 1 ? x.make("Identity", {sum}) : sum;
}
template <const char* type>
Results fold_of(Reading& x) {
  return {chain(x, type)};
}
constexpr char kAdd[] = "Add", kMaximum[] = "Maximum", kMinimum[] = "Minimum";

Results mean(Reading& x) {
  Value* const sum = chain(x, "Add");
  return {x.make("Mul", {sum, x.scalar(sum->type, 1.0 / static_cast<double>(x.in.size()))})};
}

// Before version 7 the second operand broadcast from an axis on.
template <const char* type>
Results arithmetic(Reading& x) {
  Value* b = x.in.at(1);
  if (x.opset < 7 && x.integer("broadcast", 0) != 0 && x.attribute<i64>("axis") != nullptr) {
    const Shape &sa = x.in[0]->shape, &sb = b->shape;
    if (!sa.ranked() || !sb.known()) x.unsupported("it broadcasts from an axis, and the shapes are not known");
    const usize axis =
        static_cast<usize>(x.integer("axis", 0) + (x.integer("axis", 0) < 0 ? std::ssize(sa.dims()) : 0));
    Dims dims = sb.dims();
    while (axis + dims.size() < sa.rank())
      dims.push_back(1);
    b = x.make("Reshape", {b, x.integers(dims)});
  }
  return {x.make(type, {x.in[0], b}, without(x, {"broadcast", "axis", "consumed_inputs"}))};
}
constexpr char kSub[] = "Sub", kMul[] = "Mul", kDiv[] = "RealDiv", kPow[] = "Pow";

Results clip(Reading& x) {
  if (x.opset >= 11) return {x.make("ClipByValue", x.in)};
  const auto limit = [&](std::string_view key) -> Value* {
    const double* const value = x.attribute<double>(key);
    return value == nullptr ? nullptr : x.scalar(x.in.at(0)->type, *value);
  };
  return {x.make("ClipByValue", {x.in.at(0), limit("min"), limit("max")})};
}

Results cast(Reading& x) {
  const i64* const to = x.attribute<i64>("to");
  const auto type = to == nullptr ? std::nullopt : onnx_data_type(*to);
  if (!type) x.unsupported("it casts to a type that is not supported");
  return {x.make("Cast", {x.in.at(0)}, to_type(*type))};
}
// All outputs, whichever of them the model names.
Results unique(Reading& x) { return x.make("Unique", {x.in.at(0)}, x.node.attributes, 4); }
Results cast_like(Reading& x) { return {x.make("Cast", {x.in.at(0)}, to_type(x.in.at(1)->type))}; }

Results dropout(Reading& x) {
  const usize outputs = x.node.outputs.size();
  return x.make("Dropout", x.in, without(x, {"ratio", "is_test"}), std::max<usize>(outputs, 1));
}

// Shapes
// ----------------------------------------------------------------------------------------------------------------

Results reshape(Reading& x) {
  return {x.make("Reshape", {x.in.at(0), input_or_attribute(x, 1, "shape")}, without(x, {"shape"}))};
}

template <const char* type>
Results with_axes(Reading& x) {
  return {x.make(type, {x.in.at(0), input_or_attribute(x, 1, "axes")}, without(x, {"axes"}))};
}
constexpr char kSqueeze[] = "Squeeze", kUnsqueeze[] = "Unsqueeze";
// A reduction; of no axes its input, where the attribute says so.
template <const char* type>
Results reduction(Reading& x) {
  const i64* const noop = x.attribute<i64>("noop_with_empty_axes");
  const Value* const axes = x.input(1);
  const bool none = axes == nullptr ? x.attribute<std::vector<i64>>("axes") == nullptr
                                    : axes->constant && axes->shape.elements() == 0;
  if (noop != nullptr && *noop != 0 && none) return {x.make("Identity", {x.in.at(0)})};
  return with_axes<type>(x);
}
constexpr char kReduceSum[] = "ReduceSum", kReduceMean[] = "ReduceMean", kReduceMax[] = "ReduceMax",
               kReduceMin[] = "ReduceMin", kReduceProd[] = "ReduceProd", kReduceL1[] = "ReduceL1",
               kReduceL2[] = "ReduceL2", kReduceLogSum[] = "ReduceLogSum", kReduceLogSumExp[] = "ReduceLogSumExp",
               kReduceSumSquare[] = "ReduceSumSquare";

Results split(Reading& x) {
  const i64 parts = x.integer("num_outputs", std::ssize(x.node.outputs));
  if (parts != std::ssize(x.node.outputs))
    fail(Fault::Input, "{} ({}): it has {} outputs, and num_outputs is {}", x.node.name, x.node.op,
         x.node.outputs.size(), parts);
  return x.make("SplitV", {x.in.at(0), input_or_attribute(x, 1, "split")}, without(x, {"split"}),
                x.node.outputs.size());
}

Results slice(Reading& x) {
  if (x.opset >= 10) return {x.make("StridedSliceV2", x.in)};
  return {x.make("StridedSliceV2", {x.in.at(0), input_or_attribute(x, 1, "starts"), input_or_attribute(x, 2, "ends"),
                                    input_or_attribute(x, 3, "axes")})};
}

usize axis_in(Reading& x, i64 axis, usize rank) {
  const auto a = static_cast<usize>(axis < 0 ? axis + static_cast<i64>(rank) : axis);
  if (a >= rank) x.unsupported("it has no axis {}", axis);
  return a;
}

Results pad(Reading& x) {
  Value* value = x.input(2);
  if (const double* const number = x.attribute<double>("value"); value == nullptr && number != nullptr)
    value = x.scalar(x.in.at(0)->type, *number);
  Value* pads = input_or_attribute(x, 1, x.opset < 2 ? "paddings" : "pads");
  if (const Value* const axes = x.input(3)) {  // of these axes alone
    const Shape& shape = x.in.at(0)->shape;
    if (!axes->constant || !pads->constant || !shape.ranked()) x.unsupported("its axes or pads are not constants");
    const std::vector<i64> some = axes->constant->array().integers(), ends = pads->constant->array().integers();
    if (ends.size() != 2 * some.size()) x.unsupported("it has {} axes and {} pads", some.size(), ends.size());
    std::vector<i64> all(2 * shape.rank());
    for (usize i = 0; i < some.size(); ++i) {
      const usize a = axis_in(x, some[i], shape.rank());
      all[a] = ends[i];
      all[a + shape.rank()] = ends[i + some.size()];
    }
    pads = x.integers(all);
  }
  return {x.make("PadV3", {x.in.at(0), pads, value}, without(x, {"pads", "paddings", "value"}))};
}

Results constant_of_shape(Reading& x) {
  const Tensor* const value = x.attribute<Tensor>("value");
  Array one = value == nullptr ? Array(DataType::f32, {}, {0}) : value->array();
  if (one.size() != 1) x.unsupported("its value has {} elements", one.size());
  one.dims = {};
  return {x.make("Fill", {x.in.at(0), x.constant(one)})};
}

Results constant(Reading& x) {
  if (const auto* const t = x.attribute<Tensor>("value")) return {x.constant(t->array())};
  if (const auto* const v = x.attribute<double>("value_float")) return {x.scalar(DataType::f32, *v)};
  if (const auto* const v = x.attribute<i64>("value_int")) return {x.scalar(DataType::i64, static_cast<double>(*v))};
  if (const auto* const v = x.attribute<std::vector<i64>>("value_ints")) return {x.integers(*v)};
  if (const auto* const v = x.attribute<std::vector<double>>("value_floats"))
    return {x.constant(Array(DataType::f32, {std::ssize(*v)}, *v))};
  x.unsupported("its value is no tensor of numbers");
}

Results eye_like(Reading& x) {
  Attributes attributes = x.node.attributes;
  if (const i64* const type = x.attribute<i64>("dtype")) {
    const auto known = onnx_data_type(*type);
    if (!known) x.unsupported("its type is not supported");
    attributes.insert_or_assign("dtype", static_cast<i64>(enum_index(*known)));
  }
  return {x.make("EyeLike", x.in, attributes)};
}

// Networks
// --------------------------------------------------------------------------------------------------------------

// Before version 13: over all axes from `axis` (1) on, as one.
template <const char* type>
Results softmax(Reading& x) {
  Value* const in = x.in.at(0);
  if (x.opset >= 13) return {x.make(type, {in}, x.node.attributes)};
  if (!in->shape.ranked()) x.unsupported("the rank of its input is not known");
  const auto rank = std::ssize(in->shape.dims());
  i64 axis = x.integer("axis", 1);
  if (axis < 0) axis += rank;
  if (axis == rank - 1) return {x.make(type, {in}, {{"axis", i64{-1}}})};
  Value* const flat = x.make("FlattenV2", {in}, {{"axis", axis}});
  Value* const rows = x.make(type, {flat}, {{"axis", i64{-1}}});
  return {x.make("Reshape", {rows, x.make("Shape", {in})})};
}
constexpr char kSoftmax[] = "SoftmaxV2", kLogSoftmax[] = "LogSoftmaxV2", kHardmax[] = "Hardmax";

Results batch_norm(Reading& x) {
  const usize outputs = x.node.outputs.size();
  const bool training = x.integer("training_mode", 0) != 0;
  if (outputs > 1 && !training) x.unsupported("it has {} outputs, but is no training node", outputs);
  return x.make("BatchNorm", x.in, without(x, {"spatial", "is_test", "consumed_inputs"}), std::max<usize>(outputs, 1));
}

// What a constant condition chooses is known.
Results compress(Reading& x) {
  if (!x.in.at(1)->constant) return {x.make("Compress", x.in, x.node.attributes)};
  const std::vector<double> chosen = x.in[1]->constant->array().values;
  std::vector<i64> positions;
  for (usize i = 0; i < chosen.size(); ++i) {
    if (chosen[i] != 0) positions.push_back(static_cast<i64>(i));
  }
  const i64* const axis = x.attribute<i64>("axis");
  Value* const from = axis != nullptr ? x.in[0] : x.make("Reshape", {x.in[0], x.integers({-1})});
  return {x.make("GatherV2", {from, x.integers(positions)}, {{"axis", axis == nullptr ? i64{0} : *axis}})};
}

Results max_pool(Reading& x) {
  return x.make("MaxPool", x.in, x.node.attributes, std::max<usize>(x.node.outputs.size(), 1));
}

// The norm of each map.
Results global_lp_pool(Reading& x) {
  const i64 p = x.integer("p", 2);
  const Shape& in = x.in.at(0)->shape;
  if (!in.ranked()) x.unsupported("the rank of its input is not known");
  std::vector<i64> axes(std::max<usize>(in.rank(), 2) - 2);
  std::iota(axes.begin(), axes.end(), i64{2});
  const auto reduced = [&](const char* type, Value* v) {
    return x.make(type, {v, x.integers(axes)}, {{"keepdims", i64{1}}});
  };
  if (p == 1 || p == 2) return {reduced(p == 1 ? "ReduceL1" : "ReduceL2", x.in[0])};
  const auto power = [&](Value* v, double exponent) { return x.make("Pow", {v, x.scalar(x.in[0]->type, exponent)}); };
  const auto exponent = static_cast<double>(p);
  return {power(reduced("ReduceSum", power(x.make("Abs", {x.in[0]}), exponent)), 1 / exponent)};
}

Results layer_norm(Reading& x) {
  return x.make("LayerNorm", x.in, without(x, {"stash_type"}), std::max<usize>(x.node.outputs.size(), 1));
}

Results prelu(Reading& x) {
  Value* slope = x.in.at(1);
  const Shape& in = x.in[0]->shape;
  // A vector of slopes is one for each channel.
  if (slope->shape.known() && slope->shape.rank() == 1 && slope->shape[0] > 1 && in.ranked() && in.rank() > 2 &&
      slope->shape[0] == in[1]) {
    Dims dims(in.rank() - 1, 1);
    dims[0] = slope->shape[0];
    slope = x.make("Reshape", {slope, x.integers(dims)});
  }
  return {x.make("PRelu", {x.in[0], slope})};
}

Results top_k(Reading& x) {
  Value* k = x.input(1);
  if (const i64* const number = x.attribute<i64>("k"); k == nullptr && number != nullptr) k = x.integers({*number});
  return x.make("TopKV2", {x.in.at(0), k}, without(x, {"k"}), 2);
}

// Lists of some axes, or one scale for all of them: as scales and sizes of all axes.
Results resize_axes(Reading& x) {
  const Shape& shape = x.in.at(0)->shape;
  const auto list = [&](usize i) -> std::vector<double> {
    const Value* const v = x.input(i);
    if (v == nullptr) return {};
    if (!v->constant) x.unsupported("it has axes, and its scales or sizes are not constants");
    return v->constant->array().values;
  };
  const std::vector<double> roi = list(1), scales = list(2), sizes = list(3);
  if (!shape.known()) x.unsupported("it has axes, and the extents of its input are not known");
  if (!roi.empty()) x.unsupported("it has axes and a region");
  std::vector<i64> axes(shape.rank());
  std::iota(axes.begin(), axes.end(), i64{0});
  if (const auto* const some = x.attribute<std::vector<i64>>("axes")) axes = *some;
  if (axes.size() != (sizes.empty() ? scales : sizes).size())
    x.unsupported("it has {} axes and {} scales or sizes", axes.size(), (sizes.empty() ? scales : sizes).size());
  const auto* const policy = x.attribute<std::string>("keep_aspect_ratio_policy");
  std::vector<double> scale = scales;
  if (!sizes.empty()) {
    scale.clear();
    for (usize i = 0; i < axes.size(); ++i)
      scale.push_back(sizes[i] / static_cast<double>(shape[axis_in(x, axes[i], shape.rank())]));
    if (policy != nullptr && *policy != "stretch")
      std::ranges::fill(scale, *policy == "not_larger" ? std::ranges::min(scale) : std::ranges::max(scale));
  }
  Array all(DataType::f32, {static_cast<i64>(shape.rank())}, std::vector<double>(shape.rank(), 1));
  std::vector<i64> extents = shape.dims();
  for (usize i = 0; i < axes.size(); ++i) {
    const usize a = axis_in(x, axes[i], shape.rank());
    const double extent = static_cast<double>(shape[a]) * scale[i];
    all.values[a] = scale[i];
    extents[a] = static_cast<i64>(std::floor(sizes.empty() ? extent : extent + 0.5));
  }
  return {x.make("Resize", {x.in.at(0), nullptr, x.constant(all), x.integers(extents)},
                 without(x, {"axes", "keep_aspect_ratio_policy"}))};
}
// Inputs x, roi, scales, sizes; version 10 has x, scales.
Results resize(Reading& x) {
  const auto* const policy = x.attribute<std::string>("keep_aspect_ratio_policy");
  if (x.attribute<std::vector<i64>>("axes") != nullptr || (policy != nullptr && *policy != "stretch"))
    return resize_axes(x);
  if (x.opset >= 11) return {x.make("Resize", x.in, x.node.attributes)};
  Attributes attributes = x.node.attributes;
  attributes.insert_or_assign("coordinate_transformation_mode", std::string("asymmetric"));
  attributes.insert_or_assign("nearest_mode", std::string("floor"));
  return {x.make("Resize", {x.in.at(0), nullptr, x.in.at(1)}, attributes)};
}
Results upsample(Reading& x) {
  Value* scales = x.input(1);
  if (const auto* const list = x.attribute<std::vector<double>>("scales"))
    scales = x.constant(Array(DataType::f32, {std::ssize(*list)}, *list));
  Attributes attributes = without(x, {"scales"});
  attributes.insert_or_assign("coordinate_transformation_mode", std::string("asymmetric"));
  attributes.insert_or_assign("nearest_mode", std::string("floor"));
  return {x.make("Resize", {x.in.at(0), nullptr, scales}, attributes)};
}

// Integers
// --------------------------------------------------------------------------------------------------------------

// Operand minus its zero point, as f32, which holds it exactly.
Value* centred(Reading& x, usize value, usize zero) {
  Value* const wide = x.make("Cast", {x.in.at(value)}, to_type(DataType::f32));
  if (!x.has(zero)) return wide;
  return x.make("Sub", {wide, x.make("Cast", {x.in[zero]}, to_type(DataType::f32))});
}
Results matmul_integer(Reading& x) {
  Value* const product = x.make("BatchMatMulV2", {centred(x, 0, 2), centred(x, 1, 3)});
  return {x.make("Cast", {product}, to_type(DataType::i32))};
}
Results conv_integer(Reading& x) {
  Value* const sum = x.make("Conv2D", {centred(x, 0, 2), centred(x, 1, 3)}, x.node.attributes);
  return {x.make("Cast", {sum}, to_type(DataType::i32))};
}
// a, scale, zero; b, scale, zero; scale and zero of the result.
Results qlinear_matmul(Reading& x) {
  Value* const a = x.make("AscendDequantV2", {x.in.at(0), x.in.at(1), x.in.at(2)});
  Value* const b = x.make("AscendDequantV2", {x.in.at(3), x.in.at(4), x.in.at(5)});
  return {x.make("AscendQuantV2", {x.make("BatchMatMulV2", {a, b}), x.in.at(6), x.in.at(7)})};
}
Results qlinear_conv(Reading& x) {
  Value* const a = x.make("AscendDequantV2", {x.in.at(0), x.in.at(1), x.in.at(2)});
  Value* const w = x.make("AscendDequantV2", {x.in.at(3), x.in.at(4), x.in.at(5)}, {{"axis", i64{0}}});
  Value* bias = nullptr;
  if (x.has(8))
    bias = x.make("Mul", {x.make("Cast", {x.in[8]}, to_type(DataType::f32)), x.make("Mul", {x.in.at(1), x.in.at(4)})});
  Value* const sum = x.make("Conv2D", {a, w, bias}, x.node.attributes);
  return {x.make("AscendQuantV2", {sum, x.in.at(6), x.in.at(7)})};
}

// Up to operator set 15 there is no attribute for half pixels, and no shift by them.
Results roi_align(Reading& x) {
  constexpr i64 kWithHalfPixels = 16;
  Attributes attributes = x.node.attributes;
  if (x.opset < kWithHalfPixels) attributes["coordinate_transformation_mode"] = std::string("output_half_pixel");
  const auto one_of = [&](std::string_view key, std::string_view first, std::string_view second) {
    const auto* const given = x.attribute<std::string>(key);
    if (given != nullptr && *given != first && *given != second) x.unsupported("no {} '{}'", key, *given);
  };
  one_of("mode", "avg", "max");
  one_of("coordinate_transformation_mode", "half_pixel", "output_half_pixel");
  return {x.make("ROIAlign", x.in, std::move(attributes))};
}

Results dynamic_quantise(Reading& x) { return x.make("DynamicQuant", x.in, {}, 3); }

// Operators of ONNX by name, those of all its versions.
constexpr auto kReaders = std::to_array<OpReader>({
    {"Abs", "Abs"},
    {"Acos", "Acos"},
    {"Acosh", "Acosh"},
    {"Add", "Add", {2}, arithmetic<kAdd>},
    {"And", "LogicalAnd", {2}},
    {"ArgMax", "ArgMaxV2"},
    {"ArgMin", "ArgMin"},
    {"Asin", "Asin"},
    {"Asinh", "Asinh"},
    {"Atan", "Atan"},
    {"Atanh", "Atanh"},
    {"AveragePool", "AvgPool"},
    {"BatchNormalization", "BatchNorm", {5}, batch_norm},
    {"BitShift", "BitShift", {2}},
    {"Cast", "Cast", {}, cast},
    {"CastLike", "Cast", {2}, cast_like},
    {"Ceil", "Ceil"},
    {"Celu", "CeluV2"},
    {"Clip", "ClipByValue", {1, 3}, clip},
    {"Compress", "Compress", {2}, compress},
    {"Concat", "ConcatD", {1, kAnyNumber}},
    {"ConcatFromSequence", "TransposeD", {}, read_joined_list},
    {"Constant", "Const", {0}, constant},
    {"ConstantOfShape", "Fill", {}, constant_of_shape},
    {"Conv", "Conv2D", {2, 3}},
    {"ConvInteger", "Conv2D", {2, 4}, conv_integer},
    {"ConvTranspose", "Conv2DTranspose", {2, 3}},
    {"Cos", "Cos"},
    {"Cosh", "Cosh"},
    {"CumSum", "Cumsum", {2}},
    {"DepthToSpace", "DepthToSpace"},
    {"DequantizeLinear", "AscendDequantV2", {2, 3}},
    {"Div", "RealDiv", {2}, arithmetic<kDiv>},
    {"Dropout", "Dropout", {1, 3}, dropout},
    {"DynamicQuantizeLinear", "DynamicQuant", {}, dynamic_quantise},
    {"Einsum", "BatchMatMulV2", {1, kAnyNumber}, read_einsum},
    {"Elu", "Elu"},
    {"Equal", "Equal", {2}},
    {"Erf", "Erf"},
    {"Exp", "Exp"},
    {"Expand", "BroadcastTo", {2}},
    {"EyeLike", "EyeLike", {}, eye_like},
    {"Flatten", "FlattenV2"},
    {"Floor", "Floor"},
    {"GRU", "BatchMatMulV2", {3, 6}, read_gru},
    {"Gather", "GatherV2", {2}},
    {"GatherElements", "GatherElements", {2}},
    {"GatherND", "GatherNd", {2}},
    {"Gelu", "Gelu", {}, read_gelu},
    {"Gemm", "GEMM", {2, 3}},
    {"GlobalAveragePool", "GlobalAveragePool"},
    {"GlobalLpPool", "ReduceL2", {}, global_lp_pool},
    {"GlobalMaxPool", "GlobalMaxPool"},
    {"Greater", "Greater", {2}},
    {"GreaterOrEqual", "GreaterEqual", {2}},
    {"GridSample", "GatherNd", {2}, read_grid_sample},
    {"GroupNormalization", "LayerNorm", {3}, read_group_norm},
    {"HardSigmoid", "HardSigmoid"},
    {"HardSwish", "HardSwish"},
    {"Hardmax", "Hardmax", {}, softmax<kHardmax>},
    {"Identity", "Identity"},
    {"InstanceNormalization", "InstanceNorm", {3}},
    {"IsInf", "IsInf"},
    {"IsNaN", "IsNan"},
    {"LRN", "LRN"},
    {"LSTM", "BatchMatMulV2", {3, 8}, read_lstm},
    {"LayerNormalization", "LayerNorm", {2, 3}, layer_norm},
    {"LeakyRelu", "LeakyRelu"},
    {"Less", "Less", {2}},
    {"LessOrEqual", "LessEqual", {2}},
    {"Log", "Log"},
    {"LogSoftmax", "LogSoftmaxV2", {}, softmax<kLogSoftmax>},
    {"LpNormalization", "LpNorm"},
    {"LpPool", "LpPool"},
    {"MatMul", "BatchMatMulV2", {2}},
    {"MatMulInteger", "BatchMatMulV2", {2, 4}, matmul_integer},
    {"Max", "Maximum", {1, kAnyNumber}, fold_of<kMaximum>},
    {"MaxPool", "MaxPool", {}, max_pool},
    {"Mean", "Add", {1, kAnyNumber}, mean},
    {"MeanVarianceNormalization", "MVNV2"},
    {"Min", "Minimum", {1, kAnyNumber}, fold_of<kMinimum>},
    {"Mish", "Mul", {}, read_mish},
    {"Mod", "Mod", {2}},
    {"Mul", "Mul", {2}, arithmetic<kMul>},
    {"Neg", "Neg"},
    {"NegativeLogLikelihoodLoss", "Neg", {2, 3}, read_negative_likelihood},
    {"NonMaxSuppression", "NonMaxSuppression", {2, 5}},
    {"NonZero", "NonZero"},
    {"Not", "LogicalNot"},
    {"OneHot", "OneHot", {3}},
    {"Or", "LogicalOr", {2}},
    {"PRelu", "PRelu", {2}, prelu},
    {"Pad", "PadV3", {1, 4}, pad},
    {"Pow", "Pow", {2}, arithmetic<kPow>},
    {"QLinearConv", "Conv2D", {8, 9}, qlinear_conv},
    {"QLinearMatMul", "BatchMatMulV2", {8}, qlinear_matmul},
    {"QuantizeLinear", "AscendQuantV2", {2, 3}},
    {"RMSNormalization", "Rsqrt", {2}, read_rms_norm},
    {"RNN", "BatchMatMulV2", {3, 6}, read_rnn},
    {"Range", "Range", {3}},
    {"Reciprocal", "Reciprocal"},
    {"ReduceL1", "ReduceL1", {1, 2}, reduction<kReduceL1>},
    {"ReduceL2", "ReduceL2", {1, 2}, reduction<kReduceL2>},
    {"ReduceLogSum", "ReduceLogSum", {1, 2}, reduction<kReduceLogSum>},
    {"ReduceLogSumExp", "ReduceLogSumExp", {1, 2}, reduction<kReduceLogSumExp>},
    {"ReduceMax", "ReduceMax", {1, 2}, reduction<kReduceMax>},
    {"ReduceMean", "ReduceMean", {1, 2}, reduction<kReduceMean>},
    {"ReduceMin", "ReduceMin", {1, 2}, reduction<kReduceMin>},
    {"ReduceProd", "ReduceProd", {1, 2}, reduction<kReduceProd>},
    {"ReduceSum", "ReduceSum", {1, 2}, reduction<kReduceSum>},
    {"ReduceSumSquare", "ReduceSumSquare", {1, 2}, reduction<kReduceSumSquare>},
    {"Relu", "Relu"},
    {"Reshape", "Reshape", {1, 2}, reshape},
    {"Resize", "Resize", {1, 4}, resize},
    {"ReverseSequence", "ReverseSequence", {2}},
    {"RoiAlign", "ROIAlign", {3}, roi_align},
    {"Round", "Round"},
    {"Scatter", "ScatterElements", {3}},
    {"ScatterElements", "ScatterElements", {3}},
    {"ScatterND", "ScatterNdUpdate", {3}},
    {"Selu", "Selu"},
    {"Shape", "Shape"},
    {"Shrink", "HardShrink"},
    {"Sigmoid", "Sigmoid"},
    {"Sign", "Sign"},
    {"SimplifiedLayerNormalization", "Rsqrt", {2}, read_rms_norm},
    {"Sin", "Sin"},
    {"Sinh", "Sinh"},
    {"Size", "Size"},
    {"Slice", "StridedSliceV2", {1, 5}, slice},
    {"Softmax", "SoftmaxV2", {}, softmax<kSoftmax>},
    {"SoftmaxCrossEntropyLoss", "LogSoftmaxV2", {2, 3}, read_softmax_cross_entropy},
    {"Softplus", "Softplus"},
    {"Softsign", "Softsign"},
    {"SpaceToDepth", "SpaceToDepth"},
    {"Split", "SplitV", {1, 2}, split},
    {"Sqrt", "Sqrt"},
    {"Squeeze", "Squeeze", {1, 2}, with_axes<kSqueeze>},
    {"Sub", "Sub", {2}, arithmetic<kSub>},
    {"Sum", "Add", {1, kAnyNumber}, fold_of<kAdd>},
    {"Swish", "Sigmoid", {}, read_swish},
    {"Tan", "Tan"},
    {"Tanh", "Tanh"},
    {"ThresholdedRelu", "ThresholdedRelu"},
    {"Tile", "Tile", {2, 3}},
    {"TopK", "TopKV2", {1, 2}, top_k},
    {"Transpose", "TransposeD"},
    {"Trilu", "Trilu", {1, 2}},
    {"Unique", "Unique", {}, unique},
    {"Unsqueeze", "Unsqueeze", {1, 2}, with_axes<kUnsqueeze>},
    {"Upsample", "Resize", {1, 2}, upsample},
    {"Where", "SelectV2", {3}},
    {"Xor", "LogicalXor", {2}},
});
static_assert(std::ranges::is_sorted(kReaders, {}, &OpReader::op));

}  // namespace

const OpReader* find_reader(std::string_view domain, std::string_view op) {
  if (!domain.empty() && domain != "com.microsoft") return nullptr;
  const std::span<const OpReader> readers = domain.empty() ? all_readers() : contrib_readers();
  const auto at = std::ranges::lower_bound(readers, op, {}, &OpReader::op);
  return at != readers.end() && at->op == op ? &*at : nullptr;
}

std::span<const OpReader> all_readers() { return kReaders; }

}  // namespace vinci::graph
