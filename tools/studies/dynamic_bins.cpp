// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S17: requests of one to eight images: a network for a few batches of which each request chooses one, a network that
// the host launches node by node for each batch, and the largest batch for all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "isa/base/random.h"
#include "tools/graph/compile/bins.h"
#include "tools/graph/compile/stream.h"
#include "tools/graph/ops/run.h"
#include "tools/studies/graph_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using graph::Array, graph::DataType, graph::GraphBuilder, graph::Network, graph::Tensor, graph::Value;

constexpr i64 kWide = 2048, kThin = 512, kClasses = 1000;

// Weights in f16, which the networks for all batches share.
struct Weights {
  Tensor first, second, third, classes;
};
Weights make_weights() {
  GraphBuilder net;
  const auto half = [&](graph::Dims dims, double products) {
    Array a = net.weights(std::move(dims), products)->constant->array();
    a.type = DataType::f16;
    return Tensor(a);
  };
  return {.first = half({kThin, kWide, 1, 1}, kWide),
          .second = half({kThin, kThin, 3, 3}, kThin * 9),
          .third = half({kWide, kThin, 1, 1}, kThin),
          .classes = half({kWide, kClasses}, kWide)};
}

// The last block of ResNet-50 with the mean and the full connection behind it. `batch` may be -1.
GraphBuilder resnet_head(i64 batch, i64 edge, const Weights& weights) {
  GraphBuilder net;
  const auto conv = [&](Value* v, const Tensor& w) {
    const i64 pad = w.dims()[2] / 2;
    return net.node("Conv2D", {v, net.graph.add_constant("w", w)}, {{"pads", std::vector<i64>{pad, pad, pad, pad}}});
  };
  Value* const x = net.input({batch, kWide, edge, edge}, DataType::f16);
  Value* v = net.node("Relu", {conv(x, weights.first)});
  v = net.node("Relu", {conv(v, weights.second)});
  v = net.node("Relu", {net.node("Add", {conv(v, weights.third), x})});
  v = net.node("FlattenV2", {net.node("GlobalAveragePool", {v})});
  net.output(net.node("BatchMatMulV2", {v, net.graph.add_constant("w", weights.classes)}));
  return net;
}

// From the end of the last copy to the device to the end of the last kernel.
double span(const Run& run) {
  u64 begin = 0, end = 0;
  for (const models::TaskTime& t : run.result.tasks) {
    if (t.kind.starts_with("KERNEL_AICORE")) end = std::max(end, t.end);
  }
  for (const models::TaskTime& t : run.result.tasks) {
    if (t.kind == "MEMCPY_ASYNC" && t.start < end) begin = std::max(begin, t.end);
  }
  return run.us(end - begin) * 1e-6;
}

// A time of the host for a node, and what all requests take with it, both in s.
struct Point {
  double host = 0, time = 0;
};

// Between two points, the one at which requests take `wanted`, within a thousandth: false position, in which an end
// that stays counts half (Illinois). Requests take longer with a slower host. The end that is nearer where neither is
// beyond `wanted`.
template <class F>
Point point_where(double wanted, const Point& low, const Point& high, const F& time_with) {
  if (low.time >= wanted) return low;
  if (high.time <= wanted) return high;
  double from = low.host, to = high.host, below = wanted - low.time, above = high.time - wanted;
  Point at = high;
  int last = 0;  // the end that moved: -1 low, 1 high
  for (int i = 0; i < 20 && std::fabs(at.time / wanted - 1) > 1e-3; ++i) {
    at.host = (from * above + to * below) / (above + below);
    at.time = time_with(at.host);
    const int now = at.time < wanted ? -1 : 1;
    if (now == -1) {
      from = at.host, below = wanted - at.time;
      if (last == now) above /= 2;
    } else {
      to = at.host, above = at.time - wanted;
      if (last == now) below /= 2;
    }
    last = now;
  }
  return at;
}

}  // namespace

void dynamic_bins(Study& study) {
  const i64 edge = static_cast<i64>(study.whole("edge")), most = static_cast<i64>(study.whole("most"));
  std::vector<std::vector<i64>> bins;
  for (i64 b = 1; b < most; b *= 2)
    bins.push_back({b});
  bins.push_back({most});
  // For one image alone the full connection would be a convolution, with its weights in another order.
  const graph::CompileOptions options{.switches = without({"MatmulToFullyConnectionPass"})};
  const auto launched_by_host = [&](const GraphBuilder& net) {
    graph::CompileOptions eager = options;
    eager.execution.sunk = false;
    return graph::compile(net.graph.clone(), study.chip(), eager);
  };
  const Weights weights = make_weights();
  const Network binned =
      graph::compile(graph::clone_for_bins(*resnet_head(-1, edge, weights).owned, bins), study.chip(), options);
  std::vector<Network> exact;
  for (i64 batch = 1; batch <= most; ++batch)
    exact.push_back(launched_by_host(resnet_head(batch, edge, weights)));
  const Network& largest = exact.back();
  study.measured("weights", static_cast<double>(binned.memory.weights) / static_cast<double>(largest.memory.weights));
  study.measured("buffers", static_cast<double>(binned.memory.features) / static_cast<double>(largest.memory.features));
  usize switches = 0;
  const task::BuiltStream built = graph::to_task_stream(binned, "bins");
  for (const auto& stream : built.stream().streams) {
    for (const task::Task& t : stream.tasks)
      switches += task::jumps_of(t.op).size() > 1 ? 1 : 0;
  }
  study.measured("switches", static_cast<double>(switches));

  // The time of the device for each batch: in its bin, and alone, launched by the host.
  const auto bin_of = [&](i64 batch) {
    return std::ranges::find_if(bins, [&](const auto& b) { return b[0] >= batch; })->at(0);
  };
  std::vector<Array> inputs = graph::random_inputs(*binned.graph, 17);
  struct Bin {
    double seconds = 0;
    usize kernels = 0;
  };
  const std::vector<Bin> found = study.variants(bins.size(), [&](usize i) {
    inputs.back().values = {static_cast<double>(bins[i][0])};
    const Run run = study.time(fmt::format("bin-{}", bins[i][0]),
                               graph::to_task_stream(binned, "bin", {.inputs = inputs}), study.chip());
    return Bin{.seconds = span(run), .kernels = run.kernels()};
  });
  std::map<i64, double> in_bin;
  double other = 0;  // kernels beyond those of one bin
  const usize of_one = (binned.nodes.size() - 1) / bins.size();
  for (usize i = 0; i < bins.size(); ++i) {
    in_bin[bins[i][0]] = found[i].seconds;
    other += static_cast<double>(found[i].kernels) - static_cast<double>(of_one);
  }
  study.measured("other_kernels", other);
  // In front of each launch, the host infers shapes and chooses a tiling, for so many seconds.
  const auto launched = [&](i64 batch, double host) {
    const task::BuiltStream stream =
        graph::to_task_stream(exact[static_cast<usize>(batch - 1)], "dynamic", {.host_seconds = host});
    return span(study.time(fmt::format("dynamic-{}-{:.1f}us", batch, host * 1e6), stream, study.chip()));
  };

  Random random(17);
  double with_bins = 0, padded = 0, images = 0, slots = 0;
  std::map<i64, double> requests;  // by batch
  for (u64 i = 0; i < study.whole("requests"); ++i) {
    const i64 batch = 1 + static_cast<i64>(random.next() % static_cast<u64>(most));
    with_bins += in_bin[bin_of(batch)];
    ++requests[batch];
    padded += in_bin[most];
    images += static_cast<double>(batch);
    slots += static_cast<double>(bin_of(batch));
  }
  const auto dynamic_with = [&](double host) {
    const std::vector<double> times = study.variants(exact.size(), [&](usize i) {
      const i64 batch = static_cast<i64>(i) + 1;
      return requests.contains(batch) ? launched(batch, host) : 0;
    });
    double sum = 0;
    for (const auto& [batch, count] : requests)
      sum += count * times[static_cast<usize>(batch - 1)];
    return sum;
  };
  constexpr double kPublished = 1.2, kMostHost = 100e-6;
  const double wanted = kPublished * with_bins;
  const auto point = [&](double host) { return Point{.host = host, .time = dynamic_with(host)}; };
  const Point given = point(study.number("host"));
  const Point there = given.time < wanted ? point_where(wanted, given, point(kMostHost), dynamic_with)
                                          : point_where(wanted, point(0), given, dynamic_with);
  study.fact("host time of a node from which bins are 1.2 times as fast", there.host * 1e6, "us");
  study.fact("padding of the bins", 100 * (1 - images / slots), "%");
  study.fact("bins: time of all requests", with_bins * 1e6, "us");
  study.fact("launched by the host: time of all requests", given.time * 1e6, "us");
  study.fact("largest batch for all: time of all requests", padded * 1e6, "us");
  study.fact("launched by the host, to bins", given.time / with_bins, "x");
  study.measured("published_ratio", there.time / with_bins);
  study.measured("bins_by_largest", with_bins / padded);
}

}  // namespace vinci::studies
