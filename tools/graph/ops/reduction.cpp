// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tools/graph/ops/op.h"

namespace vinci::graph {
namespace {

// Which axes are reduced: input 1, or all; none with noop_with_empty_axes. Nothing where they are not known.
std::optional<std::vector<bool>> reduced_axes(const Node& node, usize rank, const std::optional<std::vector<i64>>& axes,
                                              bool has_axes) {
  if (has_axes && !axes) return std::nullopt;
  std::vector<bool> out(rank, (!axes || axes->empty()) && node.integer("noop_with_empty_axes") == 0);
  for (const i64 a : axes.value_or(Dims{}))
    out[axis_of(node, a, rank)] = true;
  return out;
}

void infer_reduce(Inference& x) {
  const Shape& in = x.shape(0);
  const bool keep = x.node().integer("keepdims", 1) != 0;
  if (!in.ranked()) return x.set(0, x.type(0), Shape::unranked());
  const auto reduced = reduced_axes(x.node(), in.rank(), x.integers(1), x.has(1));
  if (!reduced) return x.set(0, x.type(0), keep ? Shape(Dims(in.rank(), Shape::kUnknown)) : Shape::unranked());
  Dims dims;
  for (usize a = 0; a < in.rank(); ++a) {
    if (!(*reduced)[a])
      dims.push_back(in[a]);
    else if (keep)
      dims.push_back(1);
  }
  x.set(0, x.type(0), dims);
}

// Goes over all elements: step(accumulated, element); then finish(accumulated, number of elements).
struct Reduction {
  double begin = 0;
  double (*step)(double, double);
  double (*finish)(double, double) = [](double sum, double) { return sum; };
};

// Position of each element's result.
std::vector<u64> targets(const Array& in, const std::vector<bool>& reduced) {
  Dims kept(in.dims);
  for (usize a = 0; a < kept.size(); ++a) {
    if (reduced[a]) kept[a] = 1;
  }
  std::vector<u64> out(in.size());
  Broadcast(kept, in.dims).each([&](u64 i, u64 at) { out[i] = at; });
  return out;
}

template <const Reduction& reduction>
void reduce(Evaluation& x) {
  const Array& in = x.input(0);
  Array& out = x.out[0];
  std::optional<std::vector<i64>> axes;
  if (x.has(1)) axes = x.input(1).integers();
  const std::vector<bool> reduced = *reduced_axes(x.node, in.rank(), axes, x.has(1));
  const std::vector<u64> to = targets(in, reduced);
  std::ranges::fill(out.values, reduction.begin);
  for (usize i = 0; i < in.size(); ++i)
    out.values[to[i]] = reduction.step(out.values[to[i]], in.values[i]);
  const double count = out.size() == 0 ? 0 : static_cast<double>(in.size()) / static_cast<double>(out.size());
  for (double& v : out.values)
    v = reduction.finish(v, count);
}

constexpr double kInf = std::numeric_limits<double>::infinity();
double sum_up(double a, double b) { return a + b; }
double sum_squares(double a, double b) { return a + b * b; }
constexpr Reduction kSum{0, sum_up};
constexpr Reduction kMean{0, sum_up, [](double s, double n) { return s / n; }};
constexpr Reduction kMax{-kInf, [](double a, double b) { return std::isnan(a) || a > b ? a : b; }};
constexpr Reduction kMin{kInf, [](double a, double b) { return std::isnan(a) || a < b ? a : b; }};
constexpr Reduction kProd{1, [](double a, double b) { return a * b; }};
constexpr Reduction kL1{0, [](double a, double b) { return a + std::abs(b); }};
constexpr Reduction kL2{0, sum_squares, [](double s, double) { return std::sqrt(s); }};
constexpr Reduction kSumSquare{0, sum_squares};
constexpr Reduction kLogSum{0, sum_up, [](double s, double) { return std::log(s); }};
// In double, exp of the inputs of a network does not overflow before 709.
constexpr Reduction kLogSumExp{0, [](double a, double b) { return a + std::exp(b); },
                               [](double s, double) { return std::log(s); }};

void infer_arg(Inference& x) {
  const Shape& in = x.shape(0);
  const bool keep = x.node().integer("keepdims", 1) != 0;
  if (!in.ranked()) return x.set(0, DataType::i64, Shape::unranked());
  const usize axis = axis_of(x.node(), x.node().integer("axis"), in.rank());
  Dims dims = in.dims();
  if (keep)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  x.set(0, DataType::i64, dims);
}

template <bool kLargest>
void arg(Evaluation& x) {
  const Array& in = x.input(0);
  const AroundAxis a = around_axis(in.dims, axis_of(x.node, x.node.integer("axis"), in.rank()));
  const bool last = x.node.integer("select_last_index") != 0;
  for (u64 o = 0; o < a.outer; ++o) {
    for (u64 i = 0; i < a.inner; ++i) {
      u64 best = 0;
      const auto at = [&](u64 e) { return in.values[(o * a.extent + e) * a.inner + i]; };
      for (u64 e = 1; e < a.extent; ++e) {
        const bool better = kLargest ? at(e) > at(best) : at(e) < at(best);
        if (better || (last && at(e) == at(best))) best = e;
      }
      x.out[0].values[o * a.inner + i] = static_cast<double>(best);
    }
  }
}

void cumsum(Evaluation& x) {
  const Array& in = x.input(0);
  const AroundAxis a = around_axis(in.dims, axis_of(x.node, x.input(1).integers().at(0), in.rank()));
  const bool exclusive = x.node.integer("exclusive") != 0, reverse = x.node.integer("reverse") != 0;
  for (u64 o = 0; o < a.outer; ++o) {
    for (u64 i = 0; i < a.inner; ++i) {
      double sum = 0;
      for (u64 n = 0; n < a.extent; ++n) {
        const u64 at = (o * a.extent + (reverse ? a.extent - 1 - n : n)) * a.inner + i;
        x.out[0].values[at] = exclusive ? sum : sum + in.values[at];
        sum += in.values[at];
      }
    }
  }
}

constexpr auto kReductionOps = std::to_array<Op>({
    {"ReduceSum", infer_reduce, reduce<kSum>},
    {"ReduceMean", infer_reduce, reduce<kMean>},
    {"ReduceMax", infer_reduce, reduce<kMax>},
    {"ReduceMin", infer_reduce, reduce<kMin>},
    {"ReduceProd", infer_reduce, reduce<kProd>},
    {"ReduceL1", infer_reduce, reduce<kL1>},
    {"ReduceL2", infer_reduce, reduce<kL2>},
    {"ReduceSumSquare", infer_reduce, reduce<kSumSquare>},
    {"ReduceLogSum", infer_reduce, reduce<kLogSum>},
    {"ReduceLogSumExp", infer_reduce, reduce<kLogSumExp>},
    {"ArgMaxV2", infer_arg, arg<true>},
    {"ArgMin", infer_arg, arg<false>},
    {"Cumsum", infer_same, cumsum},
});

}  // namespace

std::span<const Op> reduction_ops() { return kReductionOps; }

}  // namespace vinci::graph
