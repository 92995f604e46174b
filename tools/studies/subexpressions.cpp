// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S19: equal products of elements, and equal convolutions, of one tensor.
#include "tools/graph/compile/timing.h"
#include "tools/studies/graph_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using graph::DataType, graph::GraphBuilder, graph::Tensor, graph::Value;

// As many equal nodes of each kind, joined by a Concat.
GraphBuilder twins_network(const Study& study) {
  GraphBuilder net;
  const i64 c = static_cast<i64>(study.whole("channels")), edge = static_cast<i64>(study.whole("edge"));
  Value* const x = net.input({1, c, edge, edge}, DataType::f16);
  graph::Array w = net.weights({c, c, 1, 1}, static_cast<double>(c))->constant->array();
  w.type = DataType::f16;
  Value* const filter = net.graph.add_constant("filter", Tensor(w));
  std::vector<Value*> products, convolutions;
  for (u64 i = 0; i < study.whole("twins"); ++i) {
    products.push_back(net.node("Mul", {x, number(net, DataType::f16, 1.5)}));
    convolutions.push_back(net.node("Conv2D", {x, filter}));
  }
  net.output(net.node("ConcatD", products, {{"axis", i64{0}}}));
  net.output(net.node("ConcatD", convolutions, {{"axis", i64{0}}}));
  return net;
}

}  // namespace

void subexpressions(Study& study) {
  const auto compiled = [&](graph::Level level) {
    graph::Switches switches;
    switches.level = level;
    // On streams of their own, the convolutions would hide the products.
    return graph::compile(std::move(twins_network(study).owned), study.chip(),
                          {.switches = std::move(switches), .execution = {.streams = graph::Streams::one}});
  };
  const graph::Network all = compiled(graph::Level::O3), none = compiled(graph::Level::O1);
  const auto count = [](const graph::Network& n, std::string_view type) {
    return static_cast<double>(nodes_of_type(*n.graph, type));
  };
  study.measured("products", count(all, "Mul"));
  study.measured("convolutions", count(all, "Conv2D"));
  study.measured("products_o1", count(none, "Mul"));
  study.measured("convolutions_o1", count(none, "Conv2D"));
  const double with = graph::time_network(all).microseconds, plain = graph::time_network(none).microseconds;
  study.fact("time without elimination", plain, "us");
  study.fact("time with elimination", with, "us");
  study.measured("gain", plain / with);
}

}  // namespace vinci::studies
