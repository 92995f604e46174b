// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tools/graph/import/readers.h"
#include "tools/graph/ops/op.h"

// Operators of the domain com.microsoft, which optimised exports of transformers and quantised networks have. Source of
// their semantics: docs/ContribOperators.md of onnxruntime 1.20.
namespace vinci::graph {
namespace {

using Results = std::vector<Value*>;

double number_of(const Reading& x, std::string_view key, double otherwise) {
  const double* const value = x.attribute<double>(key);
  return value == nullptr ? otherwise : *value;
}
Value* cast(Reading& x, Value* v, DataType type) {
  return v->type == type ? v : x.make("Cast", {v}, {{"to", static_cast<i64>(enum_index(type))}});
}
Value* shaped(Reading& x, Value* v, const Dims& dims) {
  return x.make("Reshape", {v, x.integers(dims)}, {{"allowzero", i64{1}}});
}
Value* transposed(Reading& x, Value* v, std::vector<i64> perm) { return x.make("TransposeD", {v}, {{"perm", perm}}); }
const Dims& known(Reading& x, usize i, usize rank) {
  const Shape& s = x.in.at(i)->shape;
  if (!s.known() || s.rank() != rank) x.unsupported("its input {} has no {} known extents", i, rank);
  return s.dims();
}
void absent(const Reading& x, usize first, usize last) {
  for (usize i = first; i <= last; ++i) {
    if (x.has(i)) x.unsupported("it has an input {}, which is not supported", i);
  }
}
void only_outputs(const Reading& x, std::initializer_list<usize> which) {
  for (usize i = 0; i < x.node.outputs.size(); ++i) {
    if (!x.node.outputs[i].empty() && std::ranges::find(which, i) == which.end())
      x.unsupported("its output {} is not supported", i);
  }
}
// The results by their numbers; of those that the node does not have, nothing.
Results at_outputs(const Reading& x, Value* first, Value* fourth) {
  Results out(std::max<usize>(x.node.outputs.size(), 1), first);
  if (out.size() > 3) out[3] = fourth;
  return out;
}

Value* tanh_gelu(Reading& x, Value* v) {
  const auto number = [&](double n) { return x.scalar(v->type, n); };
  Value* const cube = x.make("Mul", {x.make("Mul", {v, x.make("Mul", {v, v})}), number(0.044715)});
  Value* const inner = x.make("Mul", {x.make("Add", {v, cube}), number(std::sqrt(2 / std::numbers::pi))});
  return x.make("Mul", {x.make("Mul", {v, number(0.5)}), x.make("Add", {x.make("Tanh", {inner}), number(1)})});
}
Results fast_gelu(Reading& x) { return {tanh_gelu(x, x.has(1) ? x.make("Add", {x.in.at(0), x.in[1]}) : x.in.at(0))}; }
Results bias_gelu(Reading& x) { return {x.make("Gelu", {x.make("Add", {x.in.at(0), x.in.at(1)})})}; }

// x * sigmoid(alpha * x)
Results swish(Reading& x) {
  Value* const v = x.in.at(0);
  const double alpha = number_of(x, "alpha", x.node.op == "QuickGelu" ? 1.702 : 1);
  return {x.make("Mul", {v, x.make("Sigmoid", {alpha == 1 ? v : x.make("Mul", {v, x.scalar(v->type, alpha)})})})};
}

// x / sqrt(mean(x * x) + epsilon) * scale over the axes from `axis` on.
Value* rms_norm(Reading& x, Value* v, Value* scale, double epsilon) {
  if (!v->shape.ranked()) x.unsupported("the rank of its input is not known");
  const auto rank = std::ssize(v->shape.dims());
  i64 axis = x.integer("axis", -1);
  if (axis < 0) axis += rank;
  std::vector<i64> axes;
  for (i64 a = axis; a < rank; ++a)
    axes.push_back(a);
  Value* const mean = x.make("ReduceMean", {x.make("Mul", {v, v}), x.integers(axes)}, {{"keepdims", i64{1}}});
  Value* const inverse = x.make("Rsqrt", {x.make("Add", {mean, x.scalar(v->type, epsilon)})});
  return x.make("Mul", {x.make("Mul", {v, inverse}), scale});
}
Results rms_norm_alone(Reading& x) {
  only_outputs(x, {0});
  return {rms_norm(x, x.in.at(0), x.in.at(1), number_of(x, "epsilon", 1e-5))};
}

// Norms of a sum: input, skip, scale, then (of layer norm) offset, then bias.
Value* skip_sum(Reading& x, usize bias) {
  Value* const sum = x.make("Add", {x.in.at(0), x.in.at(1)});
  return x.has(bias) ? x.make("Add", {sum, x.in[bias]}) : sum;
}
Results skip_layer_norm(Reading& x) {
  only_outputs(x, {0, 3});
  Value* const sum = skip_sum(x, 4);
  Value* const y = x.make("LayerNorm", {sum, x.in.at(2), x.input(3)},
                          {{"axis", i64{-1}}, {"epsilon", number_of(x, "epsilon", 1e-12)}});
  return at_outputs(x, y, sum);
}
Results skip_rms_norm(Reading& x) {
  only_outputs(x, {0, 3});
  Value* const sum = skip_sum(x, 3);
  return at_outputs(x, rms_norm(x, sum, x.in.at(2), number_of(x, "epsilon", 1e-12)), sum);
}

// Products with what is behind them
// ---------------------------------------------------------------------------------------------------

Results fused_matmul(Reading& x) {
  if (x.integer("transBatchA", 0) != 0 || x.integer("transBatchB", 0) != 0)
    x.unsupported("it transposes the axes of its batches");
  const auto turned = [&](Value* v, std::string_view key) {
    if (x.integer(key, 0) == 0) return v;
    if (!v->shape.ranked() || v->shape.rank() < 2) x.unsupported("an operand that it transposes is no matrix");
    std::vector<i64> perm(v->shape.rank());
    for (usize a = 0; a < perm.size(); ++a)
      perm[a] = static_cast<i64>(a);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return transposed(x, v, perm);
  };
  Value* const y = x.make("BatchMatMulV2", {turned(x.in.at(0), "transA"), turned(x.in.at(1), "transB")});
  const double alpha = number_of(x, "alpha", 1);
  return {alpha == 1 ? y : x.make("Mul", {y, x.scalar(y->type, alpha)})};
}

Value* activated(Reading& x, Value* v) {
  const auto* const name = x.attribute<std::string>("activation");
  if (name == nullptr || name->empty()) return v;
  const auto* const given = x.attribute<std::vector<double>>("activation_params");
  const std::vector<double> params = given == nullptr ? std::vector<double>{} : *given;
  const auto param = [&](usize i, double otherwise) { return i < params.size() ? params[i] : otherwise; };
  if (*name == "Relu" || *name == "Sigmoid" || *name == "Tanh") return x.make(*name, {v});
  if (*name == "LeakyRelu")
    return x.make("LeakyRelu", {v}, {{"alpha", param(0, number_of(x, "activation_alpha", 0.01))}});
  if (*name == "Clip")
    return x.make("ClipByValue", {v, x.scalar(v->type, param(0, -3.4e38)), x.scalar(v->type, param(1, 3.4e38))});
  if (*name == "HardSigmoid") return x.make("HardSigmoid", {v}, {{"alpha", param(0, 0.2)}, {"beta", param(1, 0.5)}});
  x.unsupported("no activation '{}'", *name);
}

Attributes without_activation(const Reading& x) {
  Attributes out = x.node.attributes;
  std::erase_if(out, [](const auto& a) { return a.first.starts_with("activation"); });
  return out;
}
Results fused_conv(Reading& x) {
  Value* y = x.make("Conv2D", {x.in.at(0), x.in.at(1), x.input(2)}, without_activation(x));
  if (x.has(3)) y = x.make("Add", {y, x.in[3]});
  return {activated(x, y)};
}
Results fused_gemm(Reading& x) {
  return {activated(x, x.make("GEMM", {x.in.at(0), x.in.at(1), x.input(2)}, without_activation(x)))};
}

// Quantised nodes
// ---------------------------------------------------------------------------------------------------

// Operand i with the scale and the zero point behind it.
Value* dequantised(Reading& x, usize i, Attributes attributes = {}) {
  return x.make("AscendDequantV2", {x.in.at(i), x.in.at(i + 1), x.input(i + 2)}, std::move(attributes));
}
Value* quantised(Reading& x, Value* v, usize scale) {
  return x.make("AscendQuantV2", {v, x.in.at(scale), x.input(scale + 1)});
}
template <const char* type>
Results quantised_pair(Reading& x) {
  return {quantised(x, x.make(type, {dequantised(x, 0), dequantised(x, 3)}), 6)};
}
constexpr char kAdd[] = "Add", kMul[] = "Mul";
Results quantised_sigmoid(Reading& x) { return {quantised(x, x.make("Sigmoid", {dequantised(x, 0)}), 3)}; }
Results quantised_leaky_relu(Reading& x) {
  return {quantised(x, x.make("LeakyRelu", {dequantised(x, 0)}, {{"alpha", number_of(x, "alpha", 0.01)}}), 3)};
}
// a, scale, zero; b, scale, zero; bias in units of both scales; scale and zero of the result, which is f32 without
// them.
Results quantised_gemm(Reading& x) {
  const i64 transposed_b = x.integer("transB", 0);
  const double alpha = number_of(x, "alpha", 1);
  Value* const b = dequantised(x, 3, {{"axis", transposed_b != 0 ? i64{0} : i64{1}}});
  Value* bias = nullptr;
  if (x.has(6)) {
    bias = x.make("Mul", {cast(x, x.in[6], DataType::f32), x.make("Mul", {x.in.at(1), x.in.at(4)})});
    if (alpha != 1) bias = x.make("Mul", {bias, x.scalar(DataType::f32, alpha)});
  }
  Value* const sum = x.make("GEMM", {dequantised(x, 0), b, bias},
                            {{"transA", x.integer("transA", 0)}, {"transB", transposed_b}, {"alpha", alpha}});
  return {x.has(7) ? quantised(x, sum, 7) : sum};
}
Results quantised_mean(Reading& x) {
  if (x.integer("channels_last", 0) != 0) x.unsupported("its channels are last");
  return {quantised(x, x.make("GlobalAveragePool", {dequantised(x, 0)}), 3)};
}
// Scale and zero point of the result, then the pieces.
Results quantised_concat(Reading& x) {
  Results pieces;
  for (usize i = 2; i + 1 < x.in.size(); i += 3)
    pieces.push_back(dequantised(x, i));
  Value* const whole = x.make("ConcatD", pieces, {{"axis", x.integer("axis", 0)}});
  return {x.make("AscendQuantV2", {whole, x.in[0], x.input(1)})};
}

// Operand minus its zero point, as f32, which holds it exactly.
Value* centred(Reading& x, Value* v, Value* zero) {
  Value* const wide = cast(x, v, DataType::f32);
  return zero == nullptr ? wide : x.make("Sub", {wide, cast(x, zero, DataType::f32)});
}
// The sums in i32, times the scales of both operands, and the bias.
Value* scaled_product(Reading& x, Value* rows, Value* weights, Value* row_scale, Value* scale, Value* bias) {
  Value* const sums = cast(x, x.make("BatchMatMulV2", {rows, weights}), DataType::i32);
  Value* const y = x.make("Mul", {cast(x, sums, DataType::f32), x.make("Mul", {row_scale, scale})});
  return bias == nullptr ? y : x.make("Add", {y, bias});
}
// a, b, scales of a and b, zero points of a and b, bias
Results matmul_integer_to_float(Reading& x) {
  return {scaled_product(x, centred(x, x.in.at(0), x.input(4)), centred(x, x.in.at(1), x.input(5)), x.in.at(2),
                         x.in.at(3), x.input(6))};
}
// a (floats), b, scale and zero point of b, bias
Results dynamic_quantise_matmul(Reading& x) {
  const Results rows = x.make("DynamicQuant", {x.in.at(0)}, {}, 3);
  return {scaled_product(x, centred(x, rows[0], rows[2]), centred(x, x.in.at(1), x.input(3)), rows[1], x.in.at(2),
                         x.input(4))};
}

// Attention
// ---------------------------------------------------------------------------------------------------

constexpr double kMasked = -10000;  // a masked score

// [batch, tokens, heads * width] as [batch, heads, tokens, width]
Value* by_heads(Reading& x, Value* v, i64 heads) {
  const Dims& d = v->shape.dims();
  return transposed(x, shaped(x, v, {d[0], d[1], heads, d[2] / heads}), {0, 2, 1, 3});
}

// Softmax(q * k' * scale + mask) * v, all [batch, heads, tokens, width]; as [batch, tokens, heads * width].
Value* attended(Reading& x, Value* q, Value* k, Value* v, Value* mask) {
  const Dims qd = q->shape.dims(), kd = k->shape.dims(), vd = v->shape.dims();
  double scale = number_of(x, "scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(qd[3]));
  Value* scores = x.make("BatchMatMulV2", {q, transposed(x, k, {0, 1, 3, 2})});
  scores = x.make("Mul", {scores, x.scalar(scores->type, scale)});
  if (mask != nullptr) scores = x.make("Add", {scores, mask});
  if (x.integer("unidirectional", 0) != 0) {
    Array later(scores->type, {qd[2], kd[2]});
    for (i64 r = 0; r < qd[2]; ++r) {
      for (i64 c = r + kd[2] - qd[2] + 1; c < kd[2]; ++c)
        later.values[static_cast<usize>(r * kd[2] + c)] = kMasked;
    }
    scores = x.make("Add", {scores, x.constant(later)});
  }
  Value* const weights = x.make("SoftmaxV2", {scores}, {{"axis", i64{-1}}});
  Value* const sums = transposed(x, x.make("BatchMatMulV2", {weights, v}), {0, 2, 1, 3});
  return shaped(x, sums, {qd[0], qd[2], qd[1] * vd[3]});
}

// [batch, tokens], 1 where a token counts, or [batch], how many tokens count, as numbers to add to scores of `keys`
// tokens; null where there is none.
Value* additive_mask(Reading& x, Value* mask, DataType type, i64 batch, i64 keys) {
  if (mask == nullptr) return nullptr;
  const bool lengths = mask->shape.known() && mask->shape.rank() == 1 && mask->shape[0] == batch;
  if (!lengths && (!mask->shape.known() || mask->shape.rank() != 2))
    x.unsupported("its mask is neither a matrix nor a length for each batch");
  const Dims d = mask->shape.dims();
  Value* counts = cast(x, shaped(x, mask, {d[0], 1, 1, lengths ? 1 : d[1]}), type);
  if (lengths) {
    Array places(type, {1, 1, 1, keys});
    std::iota(places.values.begin(), places.values.end(), 0.0);
    counts = cast(x, x.make("Less", {x.constant(places), counts}), type);
  }
  Value* const outside = x.make("Sub", {x.scalar(type, 1), counts});
  return x.make("Mul", {outside, x.scalar(type, kMasked)});
}
Value* joined(Reading& x, Value* a, Value* b) {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  return x.make("Add", {a, b});
}

i64 heads_of(const Reading& x, i64 width) {
  const i64 heads = x.integer("num_heads", 0);
  if (heads < 1 || width % heads != 0) x.unsupported("{} heads do not divide {}", heads, width);
  return heads;
}

// input, weights, bias, mask, past, attention bias
Results attention(Reading& x) {
  only_outputs(x, {0});
  absent(x, 4, 4);
  const Dims d = known(x, 0, 3);
  const Dims w = known(x, 1, 2);
  std::vector<i64> sizes(3, w[1] / 3);
  if (const auto* const given = x.attribute<std::vector<i64>>("qkv_hidden_sizes"); given != nullptr && !given->empty())
    sizes = *given;
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != w[1]) x.unsupported("its parts do not fill its weights");
  const i64 heads = heads_of(x, sizes[0]);
  Value* product = x.make("BatchMatMulV2", {x.in[0], x.in[1]});
  if (x.has(2)) product = x.make("Add", {product, x.in[2]});
  const Results parts = x.make("SplitV", {product, x.integers(sizes)}, {{"axis", i64{-1}}}, 3);
  Value* const mask = joined(x, additive_mask(x, x.input(3), product->type, d[0], d[1]), x.input(5));
  return {attended(x, by_heads(x, parts[0], heads), by_heads(x, parts[1], heads), by_heads(x, parts[2], heads), mask)};
}

// query, key, value, bias, mask of keys, attention bias, past
Results multi_head_attention(Reading& x) {
  only_outputs(x, {0});
  absent(x, 6, 9);
  const i64 width = known(x, 0, 3)[2], heads = heads_of(x, width);
  Results parts{x.in[0], x.input(1), x.input(2)};
  if (parts[1] == nullptr || parts[2] == nullptr) x.unsupported("query, key and value are one tensor");
  std::vector<i64> sizes;
  for (usize i = 0; i < 3; ++i) {
    if (parts[i]->shape.known() && parts[i]->shape.rank() == 4) continue;
    sizes.push_back(known(x, i, 3)[2]);
  }
  if (x.has(3)) {
    if (sizes.size() != 3) x.unsupported("it has a bias for tensors that are split into heads");
    const Results biases = x.make("SplitV", {x.in[3], x.integers(sizes)}, {{"axis", i64{0}}}, 3);
    for (usize i = 0; i < 3; ++i)
      parts[i] = x.make("Add", {parts[i], biases[i]});
  }
  for (Value*& part : parts)
    part = part->shape.rank() == 4 ? part : by_heads(x, part, heads);
  Value* const mask =
      joined(x, additive_mask(x, x.input(4), x.in[0]->type, parts[1]->shape[0], parts[1]->shape[2]), x.input(5));
  return {attended(x, parts[0], parts[1], parts[2], mask)};
}

// input, positions, cosines, sines: pairs of elements are turned by an angle of their position. [batch, tokens, width]
// or [batch, heads, tokens, width].
Results rotary_embedding(Reading& x) {
  Value* in = x.in.at(0);
  if (!in->shape.known() || (in->shape.rank() != 3 && in->shape.rank() != 4))
    x.unsupported("the extents of its input are not known");
  if (x.integer("is_packed_batching", 0) != 0 || number_of(x, "scale", 1) != 1)
    x.unsupported("it packs batches or scales");
  const Dims dims = in->shape.dims();
  const Dims cache = known(x, 2, 2);
  const bool flat = dims.size() == 3;
  i64 heads = flat ? x.integer("num_heads", 0) : dims[1];
  const i64 rotated = x.integer("rotary_embedding_dim", 0) != 0 ? x.integer("rotary_embedding_dim", 0) : 2 * cache[1];
  if (flat && heads == 0) heads = dims[2] / rotated;
  if (flat && (heads == 0 || dims[2] % heads != 0)) x.unsupported("{} heads do not divide {}", heads, dims[2]);
  if (flat) in = by_heads(x, in, heads);
  const Dims d = in->shape.dims();
  if (rotated > d[3]) x.unsupported("it rotates {} of {} elements", rotated, d[3]);
  // Positions: one for each token, or the first one.
  Value* positions = x.in.at(1);
  if (!positions->shape.known()) x.unsupported("the extents of its positions are not known");
  if (positions->shape.elements() == 1) {
    Array tokens(positions->type, {1, d[2]});
    for (usize i = 0; i < tokens.size(); ++i)
      tokens.values[i] = static_cast<double>(i);
    positions = x.make("Add", {shaped(x, positions, {1, 1}), x.constant(tokens)});
  }
  const i64 batch = positions->shape[0], half = rotated / 2;
  const auto angles = [&](usize i) {
    Value* const rows = x.make("GatherV2", {x.in.at(i), positions}, {{"axis", i64{0}}});
    return shaped(x, rows, {batch, 1, d[2], half});
  };
  Value *const cosines = angles(2), *const sines = angles(3);
  const bool interleaved = x.integer("interleaved", 0) != 0;
  const auto sliced = [&](Value* v, i64 axis, i64 from, i64 to, i64 step = 1) {
    return x.make("StridedSliceV2", {v, x.integers({from}), x.integers({to}), x.integers({axis}), x.integers({step})});
  };
  Value* const turning = rotated == d[3] ? in : sliced(in, 3, 0, rotated);
  Value* const a = interleaved ? sliced(turning, 3, 0, rotated, 2) : sliced(turning, 3, 0, half);
  Value* const b = interleaved ? sliced(turning, 3, 1, rotated, 2) : sliced(turning, 3, half, rotated);
  Value* const left = x.make("Sub", {x.make("Mul", {a, cosines}), x.make("Mul", {b, sines})});
  Value* const right = x.make("Add", {x.make("Mul", {a, sines}), x.make("Mul", {b, cosines})});
  Value* y = nullptr;
  if (interleaved) {
    const Dims pair{d[0], d[1], d[2], half, 1};
    y = x.make("ConcatD", {shaped(x, left, pair), shaped(x, right, pair)}, {{"axis", i64{4}}});
    y = shaped(x, y, {d[0], d[1], d[2], rotated});
  } else {
    y = x.make("ConcatD", {left, right}, {{"axis", i64{3}}});
  }
  if (rotated != d[3]) y = x.make("ConcatD", {y, sliced(in, 3, rotated, d[3])}, {{"axis", i64{3}}});
  return {flat ? shaped(x, transposed(x, y, {0, 2, 1, 3}), dims) : y};
}

// ids, segments, embeddings of words, positions and segments, scale, offset, mask; also how many tokens of each batch
// count
Results embed_layer_norm(Reading& x) {
  absent(x, 8, 8);
  const Dims ids = known(x, 0, 2);
  const auto rows = [&](Value* table, Value* which) { return x.make("GatherV2", {table, which}, {{"axis", i64{0}}}); };
  Value* sum = rows(x.in.at(2), x.in[0]);
  Array places(DataType::i64, {1, ids[1]});
  for (usize i = 0; i < places.size(); ++i)
    places.values[i] = static_cast<double>(i);
  sum = x.make("Add", {sum, rows(x.in.at(3), x.constant(places))});
  if (x.has(1) && x.has(4)) sum = x.make("Add", {sum, rows(x.in[4], x.in[1])});
  Value* const y = x.make("LayerNorm", {sum, x.in.at(5), x.input(6)},
                          {{"axis", i64{-1}}, {"epsilon", number_of(x, "epsilon", 1e-12)}});
  Results out(std::max<usize>(x.node.outputs.size(), 1), y);
  if (out.size() > 1 && x.has(7)) {
    Value* const lengths =
        x.make("ReduceSum", {cast(x, x.in[7], DataType::f32), x.integers({1})}, {{"keepdims", i64{0}}});
    out[1] = cast(x, lengths, DataType::i32);
  } else if (out.size() > 1) {
    out[1] = x.constant(Array(DataType::i32, {ids[0]}));
  }
  if (out.size() > 2) out[2] = sum;
  return out;
}

constexpr auto kContribReaders = std::to_array<OpReader>({
    {"Attention", "BatchMatMulV2", {2, kAnyNumber}, attention},
    {"BiasGelu", "Gelu", {2}, bias_gelu},
    {"DequantizeLinear", "AscendDequantV2", {2, 3}},
    {"DynamicQuantizeMatMul", "BatchMatMulV2", {3, 5}, dynamic_quantise_matmul},
    {"EmbedLayerNormalization", "LayerNorm", {7, 9}, embed_layer_norm},
    {"FastGelu", "Tanh", {1, 2}, fast_gelu},
    {"FusedConv", "Conv2D", {2, 4}, fused_conv},
    {"FusedGemm", "GEMM", {2, 3}, fused_gemm},
    {"FusedMatMul", "BatchMatMulV2", {2}, fused_matmul},
    {"Gelu", "Gelu"},
    {"MatMulIntegerToFloat", "BatchMatMulV2", {4, 7}, matmul_integer_to_float},
    {"MultiHeadAttention", "BatchMatMulV2", {1, kAnyNumber}, multi_head_attention},
    {"QGemm", "GEMM", {6, 9}, quantised_gemm},
    {"QLinearAdd", "Add", {7, 8}, quantised_pair<kAdd>},
    {"QLinearConcat", "ConcatD", {5, kAnyNumber}, quantised_concat},
    {"QLinearGlobalAveragePool", "GlobalAveragePool", {5}, quantised_mean},
    {"QLinearLeakyRelu", "LeakyRelu", {4, 5}, quantised_leaky_relu},
    {"QLinearMul", "Mul", {7, 8}, quantised_pair<kMul>},
    {"QLinearSigmoid", "Sigmoid", {4, 5}, quantised_sigmoid},
    {"QuantizeLinear", "AscendQuantV2", {2, 3}},
    {"QuickGelu", "Sigmoid", {}, swish},
    {"RotaryEmbedding", "Mul", {4}, rotary_embedding},
    {"SimplifiedLayerNormalization", "Rsqrt", {2}, rms_norm_alone},
    {"SkipLayerNormalization", "LayerNorm", {3, 5}, skip_layer_norm},
    {"SkipSimplifiedLayerNormalization", "Rsqrt", {3, 4}, skip_rms_norm},
});
static_assert(std::ranges::is_sorted(kContribReaders, {}, &OpReader::op));

}  // namespace

std::vector<Value*> read_rms_norm(Reading& x) { return rms_norm_alone(x); }
std::vector<Value*> read_swish(Reading& x) { return swish(x); }

std::span<const OpReader> contrib_readers() { return kContribReaders; }

}  // namespace vinci::graph
