// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>

#include "tests/graph/pass_networks.h"

// What a fusion saves of global memory's traffic: each tensor that it keeps inside a task is written once less, and
// read once less by each task that used it. Tilings are held, so that nothing else changes.
namespace vinci::graph {
namespace {

struct Fusion {
  std::string_view name, pass;
  std::vector<std::string> off;  // other passes
  void (*build)(MapNet& net);
  usize tensors;      // that the pass keeps inside
  bool split, joint;  // chips on which it does
  // Joint cores move elements of a transpose in blocks of 32 B, each read again for each of its elements.
  bool by_elements = false;
};

void conv_relu(MapNet& net) { net.output(net.node("Relu", {net.conv(net.input({1, 32, 28, 28}), 64, 3, 1, 1)})); }
void conv_add_relu(MapNet& net) {
  Value* const x = net.input({1, 32, 28, 28});
  Value* const other = net.conv(x, 64, 1, 1, 0);
  net.output(net.node("Relu", {net.node("Add", {net.conv(x, 64, 3, 1, 1), other})}));
}
void conv_norm(MapNet& net) { net.output(net.batch_norm(net.conv(net.input({1, 32, 28, 28}), 64, 3, 1, 1))); }
void conv_bias(MapNet& net) {
  Value* const y = net.conv(net.input({1, 32, 28, 28}), 64, 3, 1, 1);
  net.output(net.node("Add", {y, net.weights({64, 1, 1}, 1)}));
}
void product_relu(MapNet& net) {
  Value* const x = net.input({256, 128}, DataType::f16);
  net.output(net.node("Relu", {net.node("BatchMatMulV2", {x, net.weights({128, 512}, 128)})}));
}
void product_sum(MapNet& net) {
  Value* const x = net.input({256, 128}, DataType::f16);
  Value* const product = net.node("BatchMatMulV2", {x, net.weights({128, 512}, 128)});
  net.output(net.node("Add", {product, net.input({256, 512}, DataType::f16)}));
}
void product_heads(MapNet& net) {
  Value* const x = net.input({256, 128}, DataType::f16);
  Value* const product = net.node("BatchMatMulV2", {x, net.weights({128, 512}, 128)});
  Value* const heads = net.node("Reshape", {product, net.integers({256, 8, 64})});
  net.output(net.node("TransposeD", {heads}, {{"perm", std::vector<i64>{1, 0, 2}}}));
}
void product_bias(MapNet& net) {
  Value* const x = net.input({256, 128}, DataType::f16);
  net.output(net.node("Add", {net.node("BatchMatMulV2", {x, net.weights({128, 512}, 128)}), net.weights({512}, 1)}));
}
void product_transposed(MapNet& net) {
  Value *const a = net.input({2, 64, 128}, DataType::f16), *const b = net.input({2, 256, 128}, DataType::f16);
  Value* const turned = net.node("TransposeD", {b}, {{"perm", std::vector<i64>{0, 2, 1}}});
  net.output(net.node("BatchMatMulV2", {a, turned}));
}
void transposes(MapNet& net) {
  Value* const x = net.input({64, 128, 256}, DataType::f16);
  Value* const once = net.node("TransposeD", {x}, {{"perm", std::vector<i64>{1, 0, 2}}});
  net.output(net.node("Relu", {net.node("TransposeD", {once}, {{"perm", std::vector<i64>{0, 2, 1}}})}));
}
void norm(MapNet& net) { net.output(layer_norm_nodes(net, net.input({512, 256}, DataType::f16), 256)); }
void chain(MapNet& net) {
  Value* x = net.input({1 << 16}, DataType::f16);
  for (const char* const type : {"Abs", "Sqrt", "Relu"})
    x = net.node(type, {x});
  net.output(x);
}
void gelu(MapNet& net) {
  Value* const x = net.input({512, 256}, DataType::f16);
  Value* const erf = net.node("Erf", {net.node("RealDiv", {x, net.number(std::sqrt(2.0))})});
  net.output(net.node("Mul", {net.node("Mul", {x, net.node("Add", {erf, net.number(1)})}), net.number(0.5)}));
}

const std::vector<Fusion> kFusions{
    {"conv_relu", "TbeConv2DEltwiseFusionPass", {}, conv_relu, 1, true, true},
    {"conv_add_relu", "TbeConv2DEltwiseFusionPass", {}, conv_add_relu, 1, false, true},
    {"conv_add_relu_alone", "TbeConv2DEltwiseFusionPass", {"TbeEltwiseFusionPass"}, conv_add_relu, 2, false, true},
    {"product_relu", "TbeMatmulElemwiseFusionPass", {}, product_relu, 1, true, true},
    {"product_sum", "TbeMatmulElemwiseFusionPass", {}, product_sum, 1, false, true},
    {"product_heads", "MatmulConfusiontransposeUbFusion", {}, product_heads, 1, false, true},
    {"chain", "TbeEltwiseFusionPass", {}, chain, 2, true, true},
    {"conv_norm", "ConvBatchnormFusionPass", {"TbeConv2DEltwiseFusionPass"}, conv_norm, 1, true, true},
    {"conv_bias", "AABiasaddConvFusion", {"TbeConv2DEltwiseFusionPass"}, conv_bias, 1, true, true},
    {"product_bias", "MatMulBiasAddFusionPass", {"TbeMatmulElemwiseFusionPass"}, product_bias, 1, true, true},
    {"product_transposed",
     "TransposeBatchMatMulFusionPass",
     {"TransposeByBlocksPass"},
     product_transposed,
     1,
     true,
     true,
     true},
    {"transposes", "TransOpWithoutReshapeFusionPass", {"TransposeByBlocksPass"}, transposes, 1, true, true},
    {"norm", "LayerNormONNXFusionPass", {"TbeEltwiseFusionPass"}, norm, 8, true, true},
    {"gelu", "GeluONNXFusionPass", {"TbeEltwiseFusionPass"}, gelu, 4, true, true},
};

Network compiled(const Fusion& f, const config::ChipConfig& chip, bool on) {
  MapNet net;
  f.build(net);
  CompileOptions options;
  for (const std::string& pass : f.off)
    options.switches.passes[pass] = false;
  options.switches.passes[std::string(f.pass)] = on;
  return compile(std::move(net.owned), chip, options);
}

// Gives each task the tiling of the task with its kernel and its first node in `from`.
void hold_tilings(Network& network, const Network& from) {
  for (CompiledNode& n : network.nodes) {
    const auto at = std::ranges::find_if(from.nodes, [&](const CompiledNode& o) {
      return o.kernel == n.kernel && !o.node->origins.empty() && !n.node->origins.empty() &&
             o.node->origins[0] == n.node->origins[0];
    });
    if (at == from.nodes.end() || at->tiling == n.tiling) continue;
    n.tiling = at->tiling;
    n.program = n.kernel->build(Group(*n.node), network.chip, n.tiling);
  }
}

struct Traffic {
  u64 read = 0, written = 0;
  friend Traffic operator-(const Traffic& a, const Traffic& b) { return {a.read - b.read, a.written - b.written}; }
  friend Traffic operator+(const Traffic& a, const Traffic& b) { return {a.read + b.read, a.written + b.written}; }
  friend bool operator==(const Traffic&, const Traffic&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Traffic& t) {
    return out << t.read << " B read, " << t.written << " B written";
  }
};

// A bias, or an operand of element-wise nodes that is repeated: each core reads it again.
bool is_small(const Value& v, const Group& group) {
  const Shape &in = v.shape, &out = group.outputs()[0]->shape;
  if (in.elements() * 64 > out.elements()) return false;
  return in.rank() < 2 || v.constant || in.dims().back() == 1;
}

// As if each task read each of its tensors once, without small operands.
Traffic of_tensors(const Group& group) {
  Traffic out;
  for (const Value* const v : group.inputs())
    out.read += is_small(*v, group) ? 0 : stored_bytes(*v);
  for (const Value* const v : group.outputs())
    out.written += stored_bytes(*v);
  return out;
}

// The most that a task reads of its small operands.
u64 of_small(const CompiledNode& node) {
  const Group group(*node.node);
  u64 out = 0;
  for (const Value* const v : group.inputs())
    out += is_small(*v, group) ? align_up<u64>(stored_bytes(*v), 32) * 32 * node.program.blocks : 0;
  return out;
}

// What the pass, or UbFusion as a whole, says that it saved.
struct Saved {
  Traffic traffic;
  usize tensors = 0;
};
Saved saved_by(const Network& network, const auto& counts) {
  Saved out;
  for (const PassRecord& record : network.passes) {
    if (!counts(*record.pass)) continue;
    for (const Join& join : record.effect.joins) {
      out.traffic = out.traffic + Traffic{.read = join.read_bytes, .written = join.written_bytes};
      for (const SavedTensor& tensor : join.tensors)
        out.tensors += tensor.written;
    }
  }
  return out;
}

std::set<std::string> made(const Network& network) {
  std::set<std::string> out;
  for (const CompiledNode& n : network.nodes) {
    for (const Value* const v : n.node->outputs())
      out.insert(v->name);
  }
  return out;
}

// An operand that is repeated for all rows: each core reads it once. One that some rows have: once for a tile.
class RepeatedOperand : public ::testing::TestWithParam<const char*> {};

TEST_P(RepeatedOperand, IsReadOnceForManyRows) {
  struct Case {
    Dims shape, operand;
    DataType type;
    bool always;  // the same for all rows
  };
  for (const Case& c : {Case{{512, 256}, {256}, DataType::f16, true}, Case{{4, 100, 80}, {80}, DataType::f32, true},
                        Case{{3, 4, 33, 50}, {50}, DataType::f16, true}, Case{{100, 9000}, {9000}, DataType::f16, true},
                        Case{{4, 128, 256}, {4, 1, 256}, DataType::f16, false},
                        Case{{3, 2, 50, 48}, {3, 1, 1, 48}, DataType::f32, false}}) {
    SCOPED_TRACE(text(Shape(c.shape)));
    const config::ChipConfig chip = config::load_chip(GetParam());
    MapNet net;
    Value* const x = net.input(c.shape, c.type);
    net.output(net.node("Mul", {x, net.input(c.operand, c.type)}));
    Network network = compile(std::move(net.owned), chip, {.precision = PrecisionMode::must_keep_origin_dtype});
    ASSERT_EQ(network.nodes.size(), 1U);
    CompiledNode& node = network.nodes[0];
    const u64 whole = x->shape.elements() * info(c.type).bytes,
              row = static_cast<u64>(c.shape.back()) * info(c.type).bytes;
    for (const Tiling& tiling : node.kernel->tilings(Group(*node.node), chip)) {
      SCOPED_TRACE(text(tiling));
      node.tiling = tiling;
      node.program = node.kernel->build(Group(*node.node), chip, tiling);
      const u64 rows = x->shape.elements() / static_cast<u64>(c.shape.back());
      const u64 times = c.always ? node.program.blocks : ceil_div<u64>(rows, static_cast<u64>(tiling.at("rows"))) * 2;
      const u64 read = time_network(network).read_bytes;
      EXPECT_GT(read, whole);
      EXPECT_LE(read, align_up(whole, u64{32}) + rows * (row % 32 == 0 ? 0 : 32) + times * align_up(row, u64{32}));
      for (const NodeCheck& check : check_nodes(network, random_inputs(*network.graph, 5)))
        EXPECT_TRUE(check.right()) << check.error;
      EXPECT_THAT(run_on_device(network).findings, ::testing::IsEmpty());
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Chips, RepeatedOperand, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

class FusionTraffic : public ::testing::TestWithParam<std::tuple<const char*, usize>> {};

TEST_P(FusionTraffic, IsThatOfTheTensorsInside) {
  const auto& [name, number] = GetParam();
  const Fusion& fusion = kFusions[number];
  const config::ChipConfig chip = config::load_chip(name);
  Network fused = compiled(fusion, chip, true), apart = compiled(fusion, chip, false);
  const bool applies = is_joint(chip) ? fusion.joint : fusion.split;
  if (!applies) {
    EXPECT_EQ(fused.nodes.size(), apart.nodes.size());
    return;
  }
  hold_tilings(apart, fused);
  const std::set<std::string> kept = made(fused);
  std::map<std::string, u64> inside;  // bytes of each tensor that the fusion keeps inside
  for (const CompiledNode& n : apart.nodes) {
    for (const Value* const v : n.node->outputs()) {
      if (!kept.contains(v->name)) inside[v->name] = stored_bytes(*v);
    }
  }
  EXPECT_EQ(inside.size(), fusion.tensors);
  const NetworkTime with = time_network(fused), without = time_network(apart);
  Traffic expected;
  u64 small = 0;
  for (const CompiledNode& n : apart.nodes) {
    expected = expected + of_tensors(Group(*n.node));
    small += of_small(n);
  }
  for (const CompiledNode& n : fused.nodes) {
    expected = expected - of_tensors(Group(*n.node));
    small += of_small(n);
  }
  EXPECT_EQ(without.written_bytes - with.written_bytes, expected.written);
  const u64 more = without.read_bytes - with.read_bytes;
  // The pass says the same, but where another one saves part of it without the pass.
  const Saved saved = saved_by(fused, [&](const Pass& pass) { return pass.name == fusion.pass; });
  if (fusion.name == "conv_add_relu") {
    EXPECT_GT(saved.tensors, fusion.tensors);
  } else {
    EXPECT_EQ(saved.tensors, fusion.tensors);
    EXPECT_EQ(saved.traffic.written, without.written_bytes - with.written_bytes);
    EXPECT_LE(saved.traffic.read, more + small);
    if (!fusion.by_elements || !is_joint(chip)) {
      EXPECT_GE(saved.traffic.read + small, more);
    }
  }
  if (fusion.by_elements && is_joint(chip)) {
    EXPECT_GE(more, expected.read);
  } else if (small == 0) {
    EXPECT_EQ(more, expected.read);
  } else {
    EXPECT_LE(more, expected.read + small);
    EXPECT_GE(more + small, expected.read);
  }
  // What the tensors inside have, each written once and read by each task that used it.
  u64 bytes = 0, uses = 0;
  for (const CompiledNode& n : apart.nodes) {
    const Group group(*n.node);
    for (const Value* const v : group.inputs()) {
      const std::string& stored = storage_of(v)->name;  // what a Reshape reads
      uses += inside.contains(stored) && !is_small(*v, group) ? inside.at(stored) : 0;
    }
  }
  for (const auto& [value, size] : inside)
    bytes += size;
  EXPECT_EQ(expected.written, bytes);
  if (fusion.tensors == 1) {
    EXPECT_EQ(expected.read, uses);
  }
  for (usize i = 0; i < without.nodes.size(); ++i) {
    const NodeTime& n = without.nodes[i];
    if (n.node->kernel->name != "elementwise") continue;
    const Traffic own = of_tensors(Group(*n.node->node));
    EXPECT_EQ(n.written_bytes, own.written) << n.node->node->name;
    EXPECT_GE(n.read_bytes, own.read) << n.node->node->name;
    EXPECT_LE(n.read_bytes, own.read + of_small(*n.node)) << n.node->node->name;
  }
}

// The sum over all passes of UbFusion, of a network with several: what the traffic grows by without that stage.
class UbFusionTraffic : public ::testing::TestWithParam<const char*> {};

TEST_P(UbFusionTraffic, IsTheSumOfTheSavings) {
  const config::ChipConfig chip = config::load_chip(GetParam());
  const auto compiled_with = [&](bool on) {
    MapNet net;
    residual_network(net);
    CompileOptions options;
    for (const Pass& pass : all_passes()) {
      if (pass.stage == Stage::UbFusion) options.switches.passes[std::string(pass.name)] = on;
    }
    return compile(std::move(net.owned), chip, options);
  };
  Network fused = compiled_with(true), apart = compiled_with(false);
  hold_tilings(apart, fused);
  const Saved saved = saved_by(fused, [](const Pass& pass) { return pass.stage == Stage::UbFusion; });
  const NetworkTime with = time_network(fused), without = time_network(apart);
  EXPECT_EQ(saved.tensors, apart.nodes.size() - fused.nodes.size()) << "a task for each tensor";
  EXPECT_EQ(saved.traffic, (Traffic{.read = without.read_bytes - with.read_bytes,
                                    .written = without.written_bytes - with.written_bytes}));
}
INSTANTIATE_TEST_SUITE_P(Chips, UbFusionTraffic, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

INSTANTIATE_TEST_SUITE_P(Fusions, FusionTraffic,
                         ::testing::Combine(::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"),
                                            ::testing::Range<usize>(0, kFusions.size())),
                         [](const auto& row) {
                           std::string name = std::get<0>(row.param);
                           std::ranges::replace(name, '-', '_');
                           return name + "_" + std::string(kFusions[std::get<1>(row.param)].name);
                         });

}  // namespace
}  // namespace vinci::graph
