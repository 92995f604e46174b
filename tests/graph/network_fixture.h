// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/check/checker.h"
#include "models/soc/functional.h"
#include "sim/config/load.h"
#include "sim/task/run_memory.h"
#include "tests/graph/net.h"
#include "tools/graph/compile/check.h"
#include "tools/graph/compile/storage.h"
#include "tools/graph/compile/stream.h"
#include "tools/graph/compile/timing.h"
#include "tools/graph/ops/run.h"

// Networks that tests build node by node, compile for each chip and compare with the reference.
namespace vinci::graph {

// The network as a task stream, run without time under the checker.
struct DeviceRun {
  std::vector<Array> outputs;
  std::vector<std::vector<std::byte>> bytes;  // of the outputs
  std::vector<std::string> findings;
};

// Inputs that are not given are random.
inline DeviceRun run_on_device(const Network& network, const std::vector<Array>& inputs = {}) {
  const task::BuiltStream stream = to_task_stream(network, "whole", {.inputs = inputs});
  task::RunMemory memory(stream.stream(), true);
  isa::check::Checker checker(memory.gm());
  models::run_functional(network.chip, stream.stream(), memory, {.checker = &checker});
  DeviceRun out;
  for (const isa::check::Finding& finding : checker.findings().sorted())
    out.findings.push_back(finding.message + "\n  " + finding.suggestion);
  // Buffers of the model's outputs are the last ones, in their order.
  const auto& buffers = stream.stream().buffers;
  const usize count = network.graph->outputs.size() - network.graph->host_reads.size(), first = buffers.size() - count;
  for (usize i = 0; i < count; ++i) {
    const Value& v = *network.graph->outputs[i];
    const auto bytes = memory.host(static_cast<u32>(first + i));
    out.bytes.emplace_back(bytes.begin(), bytes.end());
    out.outputs.push_back(Tensor(v.type, v.shape.dims(), out.bytes.back()).array());
  }
  return out;
}

// With convolutions and norms of maps.
struct MapNet : Net {
  Value* conv(Value* x, i64 filters, i64 kernel, i64 stride, i64 pad, bool bias = false) {
    const i64 channels = x->shape[1];
    std::vector<Value*> in{
        x, weights({filters, channels, kernel, kernel}, static_cast<double>(channels * kernel * kernel))};
    if (bias) in.push_back(weights({filters}, 1));
    return node("Conv2D", in,
                {{"strides", std::vector<i64>{stride, stride}}, {"pads", std::vector<i64>{pad, pad, pad, pad}}});
  }
  Value* batch_norm(Value* x) {
    const i64 c = x->shape[1];
    return node("BatchNorm", {x, positive({c}, 0.5), weights({c}, 1), weights({c}, 1), positive({c}, 0.5)});
  }
};

// With constants of any type. `parameters`: scale and offset of each column or filter, for AscendDequant and
// AscendRequant.
struct TypedNet : MapNet {
  Value* typed(Dims dims, DataType type) {
    Array a(type, std::move(dims));
    for (double& v : a.values)
      v = is_float(type) ? static_cast<double>(random.uniform()) / 8 : std::floor(random.uniform() * 128);
    a.round();
    return graph.add_constant("w", Tensor(a));
  }
  Value* parameters(i64 columns, double scale, i64 offset, bool is_signed) {
    Array a(DataType::u64, {columns});
    for (i64 c = 0; c < columns; ++c) {
      const auto factor = static_cast<float>(scale * (1 + static_cast<double>(c % 7) / 8));
      const u64 bits = std::bit_cast<u32>(factor) | (static_cast<u64>(offset) & 0x1ff) << 37 | u64{is_signed} << 46;
      a.values[static_cast<usize>(c)] = static_cast<double>(bits);
    }
    return graph.add_constant("scale", Tensor(a));
  }
};

class NetworkTest : public ::testing::TestWithParam<const char*> {
 protected:
  static Network compiled(Net& net, Value* output) {
    net.graph.outputs = {output};
    return compile(std::move(net.owned), config::load_chip(GetParam()));
  }
  static std::vector<NodeCheck> checked(const Network& network) {
    std::vector<NodeCheck> rows = check_nodes(network, random_inputs(*network.graph, 5));
    for (const NodeCheck& row : rows)
      EXPECT_TRUE(row.right()) << row.node->node->name << " (" << row.node->kernel->name << " "
                               << text(row.node->tiling) << "): " << row.error;
    return rows;
  }
  // The network as a task stream has no races, and computes nothing from bytes that are undefined.
  static void race_free(const Network& network) {
    EXPECT_GT(time_network(network).microseconds, 0) << "times do not depend on data";
    for (const std::string& text : run_on_device(network).findings)
      ADD_FAILURE() << text;
  }
  // Outputs of the task stream compared with those of the reference.
  static void right_end_to_end(const Network& network, const std::vector<Array>& inputs) {
    const std::vector<Array> got = run_on_device(network, inputs).outputs, wanted = run(*network.graph, inputs);
    for (usize i = 0; i < wanted.size(); ++i) {
      for (usize e = 0; e < wanted[i].size(); ++e)
        ASSERT_NEAR(got[i].values[e], wanted[i].values[e], 1e-2 * (1 + std::abs(wanted[i].values[e])))
            << network.graph->outputs[i]->name << " " << e;
    }
  }
  static std::vector<std::string_view> kernels(const Network& network) {
    std::vector<std::string_view> out;
    for (const CompiledNode& n : network.nodes)
      out.push_back(n.kernel->name);
    return out;
  }
};

}  // namespace vinci::graph
