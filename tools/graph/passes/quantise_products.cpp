// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/passes/maker.h"
#include "tools/graph/passes/pass.h"

// Products of bytes. A product between DequantizeLinear and constant weights of the same kind becomes AscendQuant, a
// product with sums of i32, and AscendDequant. On the split core QuantizeLinear behind it becomes AscendRequant. The
// zero point of the map goes into the bias, and around the map of a convolution; weights take theirs away, and those
// that i8 does not hold then become a sum of some that it holds, each for a copy of the map. Products of ConvInteger
// and MatMulInteger, which are products of differences, become products of bytes the same way.
namespace vinci::graph {
namespace {

constexpr u64 kMostColumns = 8192;  // whose bias and quantisation parameters a core has room for

// A scale and a zero point for all elements.
struct Quantisation {
  double scale = 1, zero = 0;
};
std::optional<Quantisation> quantisation_of(const Node& node) {
  const auto scale = scalar(node.input(1));
  const auto zero = node.input(2) == nullptr ? std::optional(0.0) : scalar(node.input(2));
  if (!scale || !zero || !(*scale > 0)) return std::nullopt;
  return Quantisation{*scale, *zero};
}

bool is_byte(const Value& v) { return v.type == DataType::i8 || v.type == DataType::u8; }
Attributes to_type(DataType type) { return {{"dtype", static_cast<i64>(enum_index(type))}}; }

// What a product multiplies: bytes of a map, and weights without a zero point, by filters or columns.
struct Product {
  Value* map = nullptr;  // bytes
  double zero = 0;       // of the map
  Value* dynamic_zero = nullptr;
  Array weights = {};  // [filters, ...] of i8, for `copies` of the map one behind the other
  usize copies = 1;
  std::vector<double> scales = {};  // of the sums, one for each filter; empty where the sums themselves are wanted
  std::vector<double> bias = {};    // added to the scaled sums; may be empty
  bool conv = false;
  i64 filters() const { return weights.dims[0]; }
};

// Rows of a matrix as columns.
Array turned(const Array& a) {
  Array out(a.type, {a.dims[1], a.dims[0]});
  for (i64 r = 0; r < a.dims[0]; ++r) {
    for (i64 c = 0; c < a.dims[1]; ++c)
      out.values[static_cast<usize>(c * a.dims[0] + r)] = a.values[static_cast<usize>(r * a.dims[1] + c)];
  }
  return out;
}

bool fits_i8(const Array& a) {
  return std::ranges::all_of(a.values, [](double v) { return v >= -128 && v <= 127 && v == std::nearbyint(v); });
}

// Weights of more copies of the map, each of which fits i8: their sum is the weights. Zero where there is none.
usize split_to_i8(Array& weights) {
  constexpr usize kMostCopies = 3;
  if (weights.dims.size() < 2 || !std::ranges::all_of(weights.values, [](double v) { return v == std::nearbyint(v); }))
    return 0;
  const u64 filters = static_cast<u64>(weights.dims[0]), each = weights.size() / filters;
  std::vector<Array> parts;
  for (Array rest = weights; std::ranges::any_of(rest.values, [](double v) { return v != 0; });) {
    if (parts.size() == kMostCopies) return 0;
    Array part = rest;
    for (u64 i = 0; i < rest.size(); ++i) {
      part.values[i] = std::clamp(rest.values[i], -128.0, 127.0);
      rest.values[i] -= part.values[i];
    }
    parts.push_back(std::move(part));
  }
  Dims dims = weights.dims;
  dims[1] *= std::ssize(parts);
  Array out(weights.type, dims);
  for (u64 f = 0; f < filters; ++f) {
    for (usize p = 0; p < parts.size(); ++p) {
      std::copy_n(parts[p].values.begin() + static_cast<std::ptrdiff_t>(f * each), each,
                  out.values.begin() + static_cast<std::ptrdiff_t>((f * parts.size() + p) * each));
    }
  }
  weights = std::move(out);
  return parts.size();
}

// The axis of the weights that counts filters; none where the node is no product that can be of bytes.
std::optional<usize> filter_axis(const Node& node) {
  const Value &a = *node.input(0), &b = *node.input(1);
  if (!a.shape.known() || !b.shape.known()) return std::nullopt;
  if (node.type == "Conv2D") return a.shape.rank() == 4 ? std::optional<usize>(0) : std::nullopt;
  if (a.shape.rank() < 2 || b.shape.rank() != 2) return std::nullopt;
  if (node.type == "BatchMatMulV2") {
    if (node.integer("adj_x1") != 0) return std::nullopt;
    return node.integer("adj_x2") != 0 ? 0 : 1;
  }
  const bool plain = node.integer("transA") == 0 && node.number("alpha", 1) == 1 &&
                     (node.input(2) == nullptr || node.number("beta", 1) == 1);
  return plain ? std::optional<usize>(node.integer("transB") != 0 ? 0 : 1) : std::nullopt;
}

// Numbers of a bias for each filter, from a constant or one that is dequantised.
std::optional<std::vector<double>> bias_of(const Value* bias, u64 filters) {
  if (bias == nullptr) return std::vector<double>{};
  Array a;
  if (bias->constant) {
    a = bias->constant->array();
  } else if (Node* const node = producer(bias, "AscendDequantV2"); node != nullptr) {
    std::vector<Array> in;
    std::vector<const Array*> operands;
    for (const Value* const v : node->inputs()) {
      if (v != nullptr && !v->constant) return std::nullopt;
      if (v != nullptr) in.push_back(v->constant->array());
    }
    usize next = 0;
    for (const Value* const v : node->inputs())
      operands.push_back(v == nullptr ? nullptr : &in[next++]);
    a = evaluate(*node, operands)[0];
  } else {
    return std::nullopt;
  }
  if (a.size() == 1) return std::vector<double>(filters, a.values[0]);
  if (a.size() != filters || a.dims.back() != static_cast<i64>(filters)) return std::nullopt;
  return a.values;
}

// A product between nodes of DequantizeLinear.
std::optional<Product> dequantised_product(const Node& node) {
  const Node *const a = producer(node.input(0), "AscendDequantV2"), *const b =
                                                                        producer(node.input(1), "AscendDequantV2");
  const auto axis = filter_axis(node);
  if (a == nullptr || b == nullptr || !axis || !is_byte(*a->input(0)) || !is_byte(*b->input(0))) return std::nullopt;
  const auto of_map = quantisation_of(*a);
  const Value *const weights = b->input(0), *const scale = b->input(1), *const zero = b->input(2);
  if (!of_map || !weights->constant || !scale->constant || (zero != nullptr && !zero->constant)) return std::nullopt;
  const auto filters = static_cast<u64>(weights->shape[*axis]);
  const std::vector<double> scales = scale->constant->array().values;
  const std::vector<double> zeros = zero == nullptr ? std::vector<double>{0} : zero->constant->array().values;
  const auto one_each = [&](const std::vector<double>& list) {
    return list.size() == 1 ||
           (list.size() == filters && axis_of(*b, b->integer("axis", 1), weights->shape.rank()) == *axis);
  };
  if (!one_each(scales) || !one_each(zeros)) return std::nullopt;
  Product p{.map = a->input(0), .zero = of_map->zero, .conv = node.type == "Conv2D"};
  p.weights = *axis == 0 ? weights->constant->array() : turned(weights->constant->array());
  const u64 each = p.weights.size() / filters;
  for (u64 i = 0; i < p.weights.size(); ++i)
    p.weights.values[i] -= zeros[zeros.size() == 1 ? 0 : i / each];
  for (u64 f = 0; f < filters; ++f)
    p.scales.push_back(of_map->scale * scales[scales.size() == 1 ? 0 : f]);
  const auto bias = bias_of(node.input(2), filters);
  if (!bias) return std::nullopt;
  p.bias = *bias;
  return p;
}

// A product of ConvInteger or MatMulInteger: of differences of integers, as floats, and back.
std::optional<Product> integer_product(const Graph& graph, const Node& node) {
  const auto axis = filter_axis(node);
  const Node* const back = axis && node.type != "GEMM" ? graph.sole_user(node.output()) : nullptr;
  if (back == nullptr || back->type != "Cast" || back->output()->type != DataType::i32) return std::nullopt;
  if (!node.input(1)->constant || node.input(2) != nullptr) return std::nullopt;
  Product p{.conv = node.type == "Conv2D"};
  const Value* left = node.input(0);
  if (const Node* const difference = producer(left, "Sub"); difference != nullptr) {
    if (const auto zero = scalar(difference->input(1))) {
      p.zero = *zero;
    } else if (const Node* const cast = producer(difference->input(1), "Cast");
               cast != nullptr && is_byte(*cast->input(0)) && cast->output()->shape.known() &&
               cast->output()->shape.elements() == 1 && !p.conv) {
      p.dynamic_zero = cast->input(0);
    } else {
      return std::nullopt;
    }
    left = difference->input(0);
  }
  const Node* const cast = producer(left, "Cast");
  if (cast == nullptr || !is_byte(*cast->input(0))) return std::nullopt;
  p.map = cast->input(0);
  p.weights = *axis == 0 ? node.input(1)->constant->array() : turned(node.input(1)->constant->array());
  return p;
}

class Quantiser {
 public:
  Quantiser(Graph& graph, const Target& target) : graph_(graph), target_(target), joint_(is_joint(*target.chip)) {}

  // Whether the graph has changed. Nodes that nothing uses any more stay.
  bool visit(Node& node) {
    if (node.type != "Conv2D" && node.type != "BatchMatMulV2" && node.type != "GEMM") return false;
    if (node.outputs().size() != 1) return false;
    std::optional<Product> p;
    if (target_.precision != PrecisionMode::must_keep_origin_dtype) p = dequantised_product(node);
    if (!p) p = integer_product(graph_, node);
    if (!p) return false;
    ++effect_.matches;
    const u64 filters = static_cast<u64>(p->filters());
    const auto refused = [&](std::string reason) {
      effect_.refuse(node, std::move(reason));
      return false;
    };
    if (!fits_i8(p->weights)) {
      p->copies = p->conv && node.integer("group", 1) != 1 ? 0 : split_to_i8(p->weights);
      if (p->copies == 0) return refused("the weights without their zero point do not fit i8");
    }
    if (filters < 2) return refused("it has one filter or column");
    if (filters > kMostColumns) return refused("a core has no room for the parameters of so many filters or columns");
    if (p->scales.empty() && p->conv && target_.chip->arch == isa::Arch::c100)
      return refused("the chip does not transpose maps of 32 bits");
    p->weights.type = DataType::i8;
    if (!rewrite(node, *p)) return refused("the bias in units of the sums is beyond i32");
    ++effect_.changes;
    return true;
  }

  // Quantised maps that are dequantised for other nodes: these never become bytes in memory, or come back from them.
  bool visit_dequantised(Node& node) {
    if (node.type != "AscendDequantV2") return false;
    const auto q = quantisation_of(node);
    Node* const before = node.input(0)->producer();
    if (!q || before == nullptr) return false;
    if (before->type == "AscendRequant" && node.input(0)->shape.rank() == 4) {
      Maker make(graph_, node);
      make.replace({make("AscendAntiQuant", {node.input(0)}, {{"scale", q->scale}, {"offset", -q->zero}})});
      return true;
    }
    const auto made = before->type == "AscendQuantV2" ? quantisation_of(*before) : std::nullopt;
    if (!made || !is_float(before->input(0)->type) || before->input(0)->type != node.output()->type) return false;
    ++effect_.matches;
    ++effect_.changes;
    Maker make(graph_, node);
    const DataType type = node.output()->type, bytes = node.input(0)->type;
    const auto number = [&](double v) { return make.number(type, v); };
    Value* x = make("RealDiv", {before->input(0), number(made->scale)});
    x = make("ClipByValue", {x, number(info(bytes).lowest - made->zero), number(info(bytes).highest - made->zero)});
    x = make("Round", {x});
    if (made->zero != q->zero) x = make("Add", {x, number(made->zero - q->zero)});
    make.replace({make("Mul", {x, number(q->scale)})});
    return true;
  }

  const Effect& effect() const { return effect_; }

 private:
  bool rewrite(Node& node, const Product& p) {
    const u64 filters = static_cast<u64>(p.filters());
    const std::optional<Array> bias = sums_before(p);
    if (!bias) return false;
    Node* const behind = p.scales.empty() ? graph_.sole_user(node.output()) : &node;
    Maker make(graph_, *behind);
    // A joint core stores whole blocks of 16 columns.
    const u64 wide = joint_ && !p.conv ? align_up<u64>(filters, kC0) : filters;
    Value* const map = p.copies > 1 ? copied(make, p) : p.map;
    std::vector<Value*> operands{p.conv ? as_map(make, map) : map, make.constant(widened(p.weights, wide))};
    if (p.dynamic_zero != nullptr) {
      Value* const zero = make.reshape(make.cast(p.dynamic_zero, DataType::i32), {1});
      operands.push_back(make("Mul", {zero, make.constant(widened(*bias, wide))}));
    } else if (std::ranges::any_of(bias->values, [](double v) { return v != 0; })) {
      operands.push_back(make.constant(widened(*bias, wide)));
    }
    Attributes attributes = node.attributes;
    if (p.conv) {
      attributes["offset_x"] = static_cast<i64>(p.zero);
    } else {
      attributes = {{"adj_x2", i64{1}}};
    }
    Value* y = make(p.conv ? "Conv2D" : "BatchMatMulV2", operands, attributes);
    y->producer()->origins = node.origins;
    if (p.scales.empty()) {
      make.replace({cut(make, y, p, wide)});
      return true;
    }
    if (requantised(node, p, make, y)) return true;
    y = make("AscendDequant", {y, parameters(make, p.scales, wide, {.scale = 1, .zero = 0}, false)}, along(p));
    make.replace({cut(make, y, p, wide)});
    return true;
  }

  // The map as often as there are weights for it. One that FIXPIPE stored in blocks of bytes becomes f16 meanwhile.
  static Value* copied(Maker& make, const Product& p) {
    const bool blocks = p.conv && producer(p.map, "AscendRequant") != nullptr;
    Value* map = p.map;
    if (blocks) map = make("AscendAntiQuant", {map}, {{"scale", 1.0}, {"offset", 0.0}});
    map = make("ConcatD", std::vector(p.copies, map), {{"axis", i64{p.conv ? 1 : -1}}});
    return blocks ? make("AscendQuant", {make.cast(map, DataType::f16)}, to_type(p.map->type)) : map;
  }

  // What the sums begin with: the bias in units of the sums, and what the zero point of the map adds to them. None
  // where it is beyond i32. With a zero point that is not known, its factor.
  static std::optional<Array> sums_before(const Product& p) {
    const u64 filters = static_cast<u64>(p.filters()), each = p.weights.size() / filters;
    Array out(DataType::i32, {p.filters()});
    for (u64 f = 0; f < filters; ++f) {
      double sum = 0;
      for (u64 i = 0; i < each; ++i)
        sum += p.weights.values[f * each + i];
      double& v = out.values[f];
      v = p.dynamic_zero != nullptr ? -sum : -sum * p.zero;
      if (!p.bias.empty()) v += std::nearbyint(p.bias[f] / p.scales[f]);
      if (!(std::abs(v) < 0x1p31)) return std::nullopt;
    }
    return out;
  }

  static Attributes along(const Product& p) { return {{"axis", i64{p.conv ? 1 : -1}}}; }

  // With zeros behind the rows.
  static Array widened(const Array& a, u64 rows) {
    Dims dims = a.dims;
    dims[0] = static_cast<i64>(rows);
    Array out(a.type, dims);
    std::ranges::copy(a.values, out.values.begin());
    return out;
  }

  // Without the columns that were added.
  static Value* cut(Maker& make, Value* y, const Product& p, u64 wide) {
    if (wide == static_cast<u64>(p.filters())) return y;
    return make("StridedSliceV2", {y, make.integers({0}), make.integers({p.filters()}), make.integers({-1})});
  }

  // Quantisation parameters (isa/sem/quant.h): scales over that of the result, and its zero point.
  static Value* parameters(Maker& make, const std::vector<double>& scales, u64 wide, const Quantisation& result,
                           bool is_signed) {
    constexpr u64 kOffsetMask = 0x1ff;
    Array a(DataType::u64, {static_cast<i64>(wide)});
    for (u64 f = 0; f < scales.size(); ++f) {
      const u64 offset = static_cast<u64>(static_cast<i64>(result.zero)) & kOffsetMask;
      const u64 bits = std::bit_cast<u32>(static_cast<float>(scales[f] / result.scale));
      a.values[f] = static_cast<double>(bits | offset << 37 | u64{is_signed} << 46);
    }
    return make.constant(a);
  }

  // Bytes as a map of the cube: quantised in its format, or converted as they are.
  Value* as_map(Maker& make, Value* bytes) {
    Node* const before = bytes->producer();
    if (before != nullptr && (before->type == "AscendRequant" || before->type == "AscendQuant")) return bytes;
    if (const auto at = maps_.find(bytes); at != maps_.end()) return at->second;
    Attributes attributes = to_type(bytes->type);
    Value* from = bytes;
    if (before != nullptr && before->type == "AscendQuantV2") {
      if (const auto q = quantisation_of(*before); q && is_float(before->input(0)->type)) {
        from = before->input(0);
        attributes["scale"] = 1 / q->scale;
        attributes["offset"] = q->zero;
      }
    }
    Value* const made = make("AscendQuant", {make.cast(from, DataType::f16)}, attributes);
    return maps_[bytes] = made;
  }

  // QuantizeLinear behind the product, with or without Relu between them, by FIXPIPE.
  bool requantised(Node& node, const Product& p, Maker& make, Value* sums) {
    if (joint_ || (p.conv && ceil_div<i64>(p.filters(), 16) % 2 != 0)) return false;
    Node* last = graph_.sole_user(node.output());
    const bool relu = last != nullptr && last->type == "Relu";
    if (relu) last = graph_.sole_user(last->output());
    if (last == nullptr || last->type != "AscendQuantV2") return false;
    const auto q = quantisation_of(*last);
    Value* const out = last->output();
    if (!q || graph_.is_output(out)) return false;
    // A map of bytes comes back by AscendAntiQuant alone.
    const auto dequantised = [](const Use& use) {
      return use.node->type == "AscendDequantV2" && use.input == 0 && quantisation_of(*use.node);
    };
    if (p.conv && !std::ranges::all_of(out->uses(), dequantised)) return false;
    Attributes attributes = along(p);
    attributes.merge(to_type(out->type));
    attributes["relu_flag"] = i64{relu};
    Value* const y = make(
        "AscendRequant",
        {sums, parameters(make, p.scales, static_cast<u64>(p.filters()), *q, out->type == DataType::i8)}, attributes);
    take_place(graph_, *y->producer(), {last}, out);
    return true;
  }

  Graph& graph_;
  const Target& target_;
  const bool joint_;
  std::map<const Value*, Value*> maps_;
  Effect effect_;
};

}  // namespace

Effect quantise_products(Graph& graph, const Target& target) {
  if (target.chip == nullptr) return {};
  Quantiser quantiser(graph, target);
  // Each node once; a change may erase nodes.
  const auto walk = [&](auto visit) {
    std::set<u64> seen;
    const auto once = [&](const auto& node) { return seen.insert(node->id()).second && visit(*node); };
    bool changed = false;
    while (std::ranges::any_of(graph.nodes(), once))
      changed = true;
    if (changed) graph.prune();  // what it was made of; without a change dead nodes are PrunePass's
  };
  walk([&](Node& node) { return quantiser.visit(node); });
  walk([&](Node& node) { return quantiser.visit_dequantised(node); });
  return quantiser.effect();
}

}  // namespace vinci::graph
