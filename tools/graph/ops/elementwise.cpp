// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "tools/graph/ops/op.h"

namespace vinci::graph {
namespace {

// One operand
// -----------------------------------------------------------------------------------------------------------

void infer_predicate(Inference& x) { x.set(0, DataType::boolean, x.shape(0)); }

template <double (*function)(double)>
void unary(Evaluation& x) {
  std::ranges::transform(x.input(0).values, x.out[0].values.begin(), function);
}

// With attributes: `make(node)` gives the function.
template <auto make>
void unary_with(Evaluation& x) {
  std::ranges::transform(x.input(0).values, x.out[0].values.begin(), make(x.node));
}

double relu(double v) { return v < 0 ? 0 : v; }  // keeps NaN
double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }
double sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : v; }
double reciprocal(double v) { return 1 / v; }
double rsqrt(double v) { return 1 / std::sqrt(v); }
double negate(double v) { return -v; }
double logical_not(double v) { return v == 0 ? 1 : 0; }
double is_nan(double v) { return std::isnan(v) ? 1 : 0; }
double softplus(double v) { return std::max(v, 0.0) + std::log1p(std::exp(-std::abs(v))); }
double softsign(double v) { return v / (1 + std::abs(v)); }
double hard_swish(double v) { return v * std::clamp(v / 6 + 0.5, 0.0, 1.0); }
double swish(double v) { return v * sigmoid(v); }
double gelu(double v) { return 0.5 * v * (1 + std::erf(v / std::numbers::sqrt2)); }
double same(double v) { return v; }

auto is_inf(const Node& n) {
  return [negative = n.integer("detect_negative", 1) != 0, positive = n.integer("detect_positive", 1) != 0](double v) {
    return std::isinf(v) && (v > 0 ? positive : negative) ? 1.0 : 0.0;
  };
}
auto leaky_relu(const Node& n) {
  return [alpha = n.number("alpha", 0.01)](double v) { return v < 0 ? alpha * v : v; };
}
auto elu(const Node& n) {
  return [alpha = n.number("alpha", 1)](double v) { return v < 0 ? alpha * std::expm1(v) : v; };
}
auto selu(const Node& n) {
  return [alpha = n.number("alpha", 1.67326319217681884765625), gamma = n.number("gamma", 1.05070102214813232421875)](
             double v) { return gamma * (v <= 0 ? alpha * std::expm1(v) : v); };
}
auto celu(const Node& n) {
  return [alpha = n.number("alpha", 1)](double v) {
    return std::max(0.0, v) + std::min(0.0, alpha * std::expm1(v / alpha));
  };
}
auto hard_sigmoid(const Node& n) {
  return [alpha = n.number("alpha", 0.2), beta = n.number("beta", 0.5)](double v) {
    return std::clamp(alpha * v + beta, 0.0, 1.0);
  };
}
auto thresholded_relu(const Node& n) {
  return [alpha = n.number("alpha", 1)](double v) { return v > alpha ? v : 0; };
}
auto shrink(const Node& n) {
  return [bias = n.number("bias", 0), lambd = n.number("lambd", 0.5)](double v) {
    return v < -lambd ? v + bias : v > lambd ? v - bias : 0;
  };
}

// Two operands
// ----------------------------------------------------------------------------------------------------------

void infer_broadcast(Inference& x) { x.set(0, x.type(0), broadcast(x.node(), x.shape(0), x.shape(1))); }
void infer_comparison(Inference& x) { x.set(0, DataType::boolean, broadcast(x.node(), x.shape(0), x.shape(1))); }

template <class Function>
void apply(Evaluation& x, const Function& function) {
  const Array &a = x.input(0), &b = x.input(1);
  Array& out = x.out[0];
  if (a.dims == out.dims && b.dims == out.dims) {
    for (usize i = 0; i < out.size(); ++i)
      out.values[i] = function(a.values[i], b.values[i]);
    return;
  }
  Broadcast(a.dims, out.dims).each([&](u64 i, u64 at) { out.values[i] = a.values[at]; });
  Broadcast(b.dims, out.dims).each([&](u64 i, u64 at) { out.values[i] = function(out.values[i], b.values[at]); });
}

template <double (*function)(double, double)>
void binary(Evaluation& x) {
  apply(x, function);
}
template <auto make>
void binary_with(Evaluation& x) {
  apply(x, make(x.node, x.input(0).type));
}

double add(double a, double b) { return a + b; }
double sub(double a, double b) { return a - b; }
double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double power(double a, double b) { return std::pow(a, b); }
double equal(double a, double b) { return a == b ? 1 : 0; }
double greater(double a, double b) { return a > b ? 1 : 0; }
double less(double a, double b) { return a < b ? 1 : 0; }
double greater_equal(double a, double b) { return a >= b ? 1 : 0; }
double less_equal(double a, double b) { return a <= b ? 1 : 0; }
double logical_and(double a, double b) { return a != 0 && b != 0 ? 1 : 0; }
double logical_or(double a, double b) { return a != 0 || b != 0 ? 1 : 0; }
double logical_xor(double a, double b) { return (a != 0) != (b != 0) ? 1 : 0; }
double prelu(double v, double slope) { return v < 0 ? v * slope : v; }

// Of integers that wrap, the low bits count, which a double of their product may not have.
auto multiply(const Node& /*node*/, DataType type) {
  constexpr double kExact = 0x1p53;
  return [wraps = !is_float(type) && info(type).bytes <= sizeof(u32)](double a, double b) {
    const double product = a * b;
    if (!wraps || std::abs(product) < kExact) return product;
    const u64 whole = static_cast<u64>(static_cast<i64>(a)) * static_cast<u64>(static_cast<i64>(b));
    return static_cast<double>(static_cast<u32>(whole));
  };
}
auto divide(const Node& node, DataType type) {
  return [&node, whole = !is_float(type)](double a, double b) {
    if (!whole) return a / b;
    if (b == 0) fail(Fault::Input, "{} ({}): an integer divided by 0", node.name, node.type);
    return std::trunc(a / b);
  };
}
auto modulus(const Node& node, DataType type) {
  return [&node, truncate = node.integer("fmod") != 0, whole = !is_float(type)](double a, double b) {
    if (whole && b == 0) fail(Fault::Input, "{} ({}): an integer divided by 0", node.name, node.type);
    const double rest = std::fmod(a, b);
    return truncate || rest == 0 || (rest < 0) == (b < 0) ? rest : rest + b;
  };
}
auto shift(const Node& node, DataType type) {
  return [right = node.string("direction") == "RIGHT", bits = info(type).bytes * 8](double a, double b) {
    if (b >= bits) return 0.0;
    return right ? std::floor(std::ldexp(a, -static_cast<int>(b)))
                 : std::fmod(std::ldexp(a, static_cast<int>(b)), std::ldexp(1.0, static_cast<int>(bits)));
  };
}

// Others
// ----------------------------------------------------------------------------------------------------------------

void clip(Evaluation& x) {
  const double low = x.has(1) ? x.input(1).values.at(0) : -std::numeric_limits<double>::infinity();
  const double high = x.has(2) ? x.input(2).values.at(0) : std::numeric_limits<double>::infinity();
  std::ranges::transform(x.input(0).values, x.out[0].values.begin(),
                         [&](double v) { return std::isnan(v) ? v : std::min(std::max(v, low), high); });
}

void infer_select(Inference& x) {
  x.set(0, x.type(1), broadcast(x.node(), broadcast(x.node(), x.shape(0), x.shape(1)), x.shape(2)));
}
void select(Evaluation& x) {
  Array& out = x.out[0];
  std::vector<char> chosen(out.size());
  Broadcast(x.input(0).dims, out.dims).each([&](u64 i, u64 at) { chosen[i] = x.input(0).values[at] != 0; });
  for (const usize from : {usize{1}, usize{2}}) {
    Broadcast(x.input(from).dims, out.dims).each([&](u64 i, u64 at) {
      if ((chosen[i] != 0) == (from == 1)) out.values[i] = x.input(from).values[at];
    });
  }
}

void infer_cast(Inference& x) { x.set(0, static_cast<DataType>(x.node().integer("to")), x.shape(0)); }
void cast(Evaluation& x) {
  const Array& in = x.input(0);
  const bool to_whole = is_float(in.type) && !is_float(x.out[0].type) && x.out[0].type != DataType::boolean;
  std::ranges::transform(in.values, x.out[0].values.begin(), [&](double v) { return to_whole ? std::trunc(v) : v; });
  // The only purpose of a Cast is its rounding, so it rounds in double, too.
  x.out[0].round();
}

void infer_dropout(Inference& x) {
  x.set(0, x.type(0), x.shape(0));
  x.set(1, DataType::boolean, x.shape(0));
}
// As in inference: all is kept.
void dropout(Evaluation& x) {
  if (x.has(2) && x.input(2).values.at(0) != 0 && (!x.has(1) || x.input(1).values.at(0) != 0))
    fail(Fault::Unsupported, "{}: Dropout with training_mode is random", x.node.name);
  x.out[0].values = x.input(0).values;
  if (x.out.size() > 1) std::ranges::fill(x.out[1].values, 1);
}

template <double (*function)(double)>
constexpr Op lane(std::string_view type) {
  return {type, infer_same, unary<function>};
}
template <auto make>
constexpr Op lane_with(std::string_view type) {
  return {type, infer_same, unary_with<make>};
}
template <double (*function)(double, double)>
constexpr Op pair(std::string_view type) {
  return {type, infer_broadcast, binary<function>};
}
template <double (*function)(double, double)>
constexpr Op comparison(std::string_view type) {
  return {type, infer_comparison, binary<function>};
}

constexpr auto kElementwiseOps = std::to_array<Op>({
    lane<relu>("Relu"),
    lane<sigmoid>("Sigmoid"),
    lane<std::tanh>("Tanh"),
    lane<std::exp>("Exp"),
    lane<std::log>("Log"),
    lane<std::sqrt>("Sqrt"),
    lane<rsqrt>("Rsqrt"),
    lane<reciprocal>("Reciprocal"),
    lane<negate>("Neg"),
    lane<std::fabs>("Abs"),
    lane<std::floor>("Floor"),
    lane<std::ceil>("Ceil"),
    lane<std::nearbyint>("Round"),
    lane<sign>("Sign"),
    lane<std::erf>("Erf"),
    lane<std::sin>("Sin"),
    lane<std::cos>("Cos"),
    lane<std::tan>("Tan"),
    lane<std::asin>("Asin"),
    lane<std::acos>("Acos"),
    lane<std::atan>("Atan"),
    lane<std::sinh>("Sinh"),
    lane<std::cosh>("Cosh"),
    lane<std::asinh>("Asinh"),
    lane<std::acosh>("Acosh"),
    lane<std::atanh>("Atanh"),
    lane<softplus>("Softplus"),
    lane<softsign>("Softsign"),
    lane<hard_swish>("HardSwish"),
    lane<swish>("Swish"),
    lane<gelu>("Gelu"),
    lane<same>("Identity"),
    lane_with<leaky_relu>("LeakyRelu"),
    lane_with<elu>("Elu"),
    lane_with<selu>("Selu"),
    lane_with<celu>("CeluV2"),
    lane_with<hard_sigmoid>("HardSigmoid"),
    lane_with<thresholded_relu>("ThresholdedRelu"),
    lane_with<shrink>("HardShrink"),
    {"LogicalNot", infer_predicate, unary<logical_not>},
    {"IsNan", infer_predicate, unary<is_nan>},
    {"IsInf", infer_predicate, unary_with<is_inf>},
    pair<add>("Add"),
    pair<sub>("Sub"),
    {"Mul", infer_broadcast, binary_with<multiply>},
    pair<maximum>("Maximum"),
    pair<minimum>("Minimum"),
    pair<power>("Pow"),
    pair<prelu>("PRelu"),
    {"RealDiv", infer_broadcast, binary_with<divide>},
    {"Mod", infer_broadcast, binary_with<modulus>},
    {"BitShift", infer_broadcast, binary_with<shift>},
    comparison<equal>("Equal"),
    comparison<greater>("Greater"),
    comparison<less>("Less"),
    comparison<greater_equal>("GreaterEqual"),
    comparison<less_equal>("LessEqual"),
    comparison<logical_and>("LogicalAnd"),
    comparison<logical_or>("LogicalOr"),
    comparison<logical_xor>("LogicalXor"),
    {"ClipByValue", infer_same, clip},
    {"SelectV2", infer_select, select},
    {"Cast", infer_cast, cast},
    {"Dropout", infer_dropout, dropout},
});

}  // namespace

std::span<const Op> elementwise_ops() { return kElementwiseOps; }

}  // namespace vinci::graph
