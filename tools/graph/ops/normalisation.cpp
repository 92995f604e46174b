// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cmath>

#include "tools/graph/ops/op.h"

namespace vinci::graph {
namespace {

// Softmax
// ---------------------------------------------------------------------------------------------------------------

// visit(position of the first element, distance, count) for each row along the axis.
template <class Visit>
void each_row(const Node& node, const Array& in, i64 otherwise, const Visit& visit) {
  const AroundAxis a = around_axis(in.dims, axis_of(node, node.integer("axis", otherwise), in.rank()));
  for (u64 o = 0; o < a.outer; ++o) {
    for (u64 i = 0; i < a.inner; ++i)
      visit(o * a.extent * a.inner + i, a.inner, a.extent);
  }
}

template <bool kLog>
void softmax(Evaluation& x) {
  const Array& in = x.input(0);
  std::vector<double>& out = x.out[0].values;
  each_row(x.node, in, -1, [&](u64 first, u64 step, u64 count) {
    double most = -HUGE_VAL, sum = 0;
    for (u64 e = 0; e < count; ++e)
      most = std::max(most, in.values[first + e * step]);
    for (u64 e = 0; e < count; ++e)
      sum += std::exp(in.values[first + e * step] - most);
    for (u64 e = 0; e < count; ++e) {
      const double shifted = in.values[first + e * step] - most;
      out[first + e * step] = kLog ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  });
}

void hardmax(Evaluation& x) {
  const Array& in = x.input(0);
  each_row(x.node, in, -1, [&](u64 first, u64 step, u64 count) {
    u64 best = 0;
    for (u64 e = 1; e < count; ++e) {
      if (in.values[first + e * step] > in.values[first + best * step]) best = e;
    }
    if (count > 0) x.out[0].values[first + best * step] = 1;
  });
}

// Batch, instance, layer
// ------------------------------------------------------------------------------------------------

// x, scale, offset, mean, variance; training_mode also gives the running mean and variance.
void infer_batch_norm(Inference& x) {
  x.set(0, x.type(0), x.shape(0));
  for (usize i = 1; i < x.node().outputs().size(); ++i)
    x.set(i, x.type(3), x.shape(3));
}

void batch_norm(Evaluation& x) {
  const Array& in = x.input(0);
  if (in.rank() < 1) fail(Fault::Input, "{} ({}): a scalar has no channels", x.node.name, x.node.type);
  const u64 channels = in.rank() > 1 ? static_cast<u64>(in.dims[1]) : 1;
  const u64 map = in.rank() > 1 ? element_count(std::span(in.dims).subspan(2)) : in.size();
  std::vector<double> mean = x.input(3).values, variance = x.input(4).values;
  if (x.node.integer("training_mode") != 0) {
    const u64 of_channel = in.size() / channels;
    const double count = static_cast<double>(of_channel), momentum = x.node.number("momentum", 0.9);
    std::vector<double> now(channels), spread(channels);
    for (u64 i = 0; i < in.size(); ++i)
      now[i / map % channels] += in.values[i] / count;
    for (u64 i = 0; i < in.size(); ++i)
      spread[i / map % channels] += std::pow(in.values[i] - now[i / map % channels], 2) / count;
    for (u64 c = 0; c < channels; ++c) {
      if (x.out.size() > 1) x.out[1].values[c] = momentum * mean[c] + (1 - momentum) * now[c];
      if (x.out.size() > 2) x.out[2].values[c] = momentum * variance[c] + (1 - momentum) * spread[c];
    }
    mean = now;
    variance = spread;
  }
  const double epsilon = x.node.number("epsilon", 1e-5);
  for (u64 i = 0; i < in.size(); ++i) {
    const u64 c = i / map % channels;
    x.out[0].values[i] = (in.values[i] - mean.at(c)) / std::sqrt(variance.at(c) + epsilon) * x.input(1).values.at(c) +
                         x.input(2).values.at(c);
  }
}

// Rows of `count` elements: subtracts the mean and divides by the deviation.
void normalise(std::span<const double> in, std::span<double> out, double epsilon, double* mean, double* inverse) {
  const double count = static_cast<double>(in.size());
  double m = 0, v = 0;
  for (const double e : in)
    m += e / count;
  for (const double e : in)
    v += (e - m) * (e - m) / count;
  const double inv = 1 / std::sqrt(v + epsilon);
  for (usize i = 0; i < in.size(); ++i)
    out[i] = (in[i] - m) * inv;
  if (mean != nullptr) *mean = m;
  if (inverse != nullptr) *inverse = inv;
}

void instance_norm(Evaluation& x) {
  const Array& in = x.input(0);
  const u64 channels = static_cast<u64>(in.dims.at(1)), map = element_count(std::span(in.dims).subspan(2));
  for (u64 i = 0; i < in.size() / std::max<u64>(map, 1); ++i) {
    const std::span<double> row(&x.out[0].values[i * map], map);
    normalise(std::span(&in.values[i * map], map), row, x.node.number("epsilon", 1e-5), nullptr, nullptr);
    for (double& v : row)
      v = v * x.input(1).values.at(i % channels) + x.input(2).values.at(i % channels);
  }
}

usize first_axis(const Node& node, usize rank) { return axis_of(node, node.integer("axis", -1), rank); }

void infer_layer_norm(Inference& x) {
  const Shape& in = x.shape(0);
  x.set(0, x.type(0), in);
  if (!in.ranked()) {
    x.set(1, DataType::f32, Shape::unranked());
    x.set(2, DataType::f32, Shape::unranked());
    return;
  }
  Dims dims = in.dims();
  for (usize a = first_axis(x.node(), in.rank()); a < dims.size(); ++a)
    dims[a] = 1;
  x.set(1, DataType::f32, dims);
  x.set(2, DataType::f32, dims);
}

void layer_norm(Evaluation& x) {
  const Array& in = x.input(0);
  const usize axis = first_axis(x.node, in.rank());
  const std::span<const i64> tail = std::span(in.dims).subspan(axis);
  const u64 count = element_count(tail);
  // Scale and offset may broadcast to the normalised axes.
  std::vector<double> scale(count, 1), offset(count, 0);
  if (x.has(1)) Broadcast(x.input(1).dims, tail).each([&](u64 i, u64 at) { scale[i] = x.input(1).values[at]; });
  if (x.has(2)) Broadcast(x.input(2).dims, tail).each([&](u64 i, u64 at) { offset[i] = x.input(2).values[at]; });
  for (u64 r = 0; r < in.size() / std::max<u64>(count, 1); ++r) {
    const std::span<double> row(&x.out[0].values[r * count], count);
    normalise(std::span(&in.values[r * count], count), row, x.node.number("epsilon", 1e-5),
              x.out.size() > 1 ? &x.out[1].values[r] : nullptr, x.out.size() > 2 ? &x.out[2].values[r] : nullptr);
    for (u64 i = 0; i < count; ++i)
      row[i] = row[i] * scale[i] + offset[i];
  }
}

void mean_variance(Evaluation& x) {
  const Array& in = x.input(0);
  std::vector<bool> reduced(in.rank());
  for (const i64 a : x.node.integers("axes", {0, 2, 3}))
    reduced[axis_of(x.node, a, in.rank())] = true;
  Dims kept(in.dims);
  for (usize a = 0; a < kept.size(); ++a) {
    if (reduced[a]) kept[a] = 1;
  }
  const u64 groups = element_count(kept);
  const double count = static_cast<double>(in.size()) / static_cast<double>(std::max<u64>(groups, 1));
  std::vector<double> mean(groups), square(groups);
  const Broadcast of(kept, in.dims);
  of.each([&](u64 i, u64 at) { mean[at] += in.values[i] / count; });
  of.each([&](u64 i, u64 at) { square[at] += std::pow(in.values[i] - mean[at], 2) / count; });
  of.each([&](u64 i, u64 at) { x.out[0].values[i] = (in.values[i] - mean[at]) / (std::sqrt(square[at]) + 1e-9); });
}

void lrn(Evaluation& x) {
  const Array& in = x.input(0);
  const i64 size = x.node.integer("size", 1), channels = in.dims.at(1);
  const double alpha = x.node.number("alpha", 1e-4), beta = x.node.number("beta", 0.75),
               bias = x.node.number("bias", 1);
  const u64 map = element_count(std::span(in.dims).subspan(2));
  for (u64 i = 0; i < in.size(); ++i) {
    const i64 c = static_cast<i64>(i / map) % channels;
    double sum = 0;
    for (i64 k = std::max<i64>(0, c - (size - 1) / 2); k <= std::min(channels - 1, c + size / 2); ++k)
      sum += std::pow(in.values[static_cast<usize>(static_cast<i64>(i) + (k - c) * static_cast<i64>(map))], 2);
    x.out[0].values[i] = in.values[i] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
  }
}

void lp_normalisation(Evaluation& x) {
  const Array& in = x.input(0);
  const bool square = x.node.integer("p", 2) == 2;
  each_row(x.node, in, -1, [&](u64 first, u64 step, u64 count) {
    double sum = 0;
    for (u64 e = 0; e < count; ++e)
      sum += square ? std::pow(in.values[first + e * step], 2) : std::abs(in.values[first + e * step]);
    const double norm = square ? std::sqrt(sum) : sum;
    for (u64 e = 0; e < count; ++e)
      x.out[0].values[first + e * step] = norm == 0 ? 0 : in.values[first + e * step] / norm;
  });
}

constexpr auto kNormalisationOps = std::to_array<Op>({
    {"SoftmaxV2", infer_same, softmax<false>},
    {"LogSoftmaxV2", infer_same, softmax<true>},
    {"Hardmax", infer_same, hardmax},
    {"BatchNorm", infer_batch_norm, batch_norm},
    {"InstanceNorm", infer_same, instance_norm},
    {"LayerNorm", infer_layer_norm, layer_norm},
    {"MVNV2", infer_same, mean_variance},
    {"LRN", infer_same, lrn},
    {"LpNorm", infer_same, lp_normalisation},
});

}  // namespace

std::span<const Op> normalisation_ops() { return kNormalisationOps; }

}  // namespace vinci::graph
