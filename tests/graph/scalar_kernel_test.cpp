// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/graph/network_fixture.h"

// Nodes on the scalar unit: types without vector instructions, and positions that data name.
namespace vinci::graph {
namespace {

class ScalarKernels : public NetworkTest {
 protected:
  static Array array(DataType type, Dims dims, const std::function<double(usize)>& element) {
    Array a(type, std::move(dims));
    for (usize i = 0; i < a.size(); ++i)
      a.values[i] = element(i);
    a.round();
    return a;
  }
  // The node of these operands, all of which are inputs of the network; it has one task and is right.
  static void right(std::string_view type, const std::vector<Array>& operands, const Attributes& attributes = {}) {
    Net net;
    std::vector<Value*> inputs;
    for (const Array& a : operands)
      inputs.push_back(net.input(a.dims, a.type));
    Value* const out = net.node(type, inputs, attributes);
    const Network network = compiled(net, out);
    // Of types of one byte, the vector unit computes some; rows of whole blocks are copied, and f16 is sorted.
    const auto computes = [](std::string_view kernel) {
      return kernel == "scalar" || kernel == "elementwise" || kernel == "gather_rows" || kernel == "top_k" ||
             kernel == "extreme_rows" || kernel == "cast_integers" || kernel == "scatter_rows";
    };
    EXPECT_EQ(std::ranges::count_if(kernels(network), computes), 1) << type;
    for (const NodeCheck& row : check_nodes(network, operands))
      EXPECT_TRUE(row.right()) << type << " of " << info(operands[0].type).name << ": " << row.error;
    for (const std::string& finding : run_on_device(network).findings)
      ADD_FAILURE() << type << ": " << finding;
  }
};

TEST_P(ScalarKernels, IntegersOfAllTypes) {
  for (const DataType type :
       {DataType::i8, DataType::u8, DataType::i16, DataType::u16, DataType::i32, DataType::u32, DataType::i64}) {
    const double lowest = std::max(info(type).lowest, -6e7), highest = std::min(info(type).highest, 6e7);
    const auto some = [&](double seed) {
      return [=](usize i) {
        const double v = std::fmod(std::abs(std::sin(static_cast<double>(i) + seed)) * 1e9, highest - lowest) + lowest;
        return std::floor(v) == 0 ? 1 : std::floor(v);
      };
    };
    const Array a = array(type, {3, 7}, some(1)), b = array(type, {7}, some(2));
    for (const char* const node : {"Add", "Sub", "Mul", "RealDiv", "Mod", "Maximum", "Minimum", "Equal", "Greater",
                                   "GreaterEqual", "Less", "LessEqual"})
      right(node, {a, b});
  }
}

TEST_P(ScalarKernels, TheHighestBitOfU64IsNoSign) {
  const Array a = array(DataType::u64, {4}, [](usize i) { return i < 2 ? 0x1p63 : 5; });
  const Array b = array(DataType::u64, {4}, [](usize i) { return i % 2 == 0 ? 7 : 0x1.8p63; });
  for (const char* const node : {"Maximum", "Minimum", "Less", "LessEqual"})
    right(node, {a, b});
}

TEST_P(ScalarKernels, BooleansAndSelection) {
  const Array a = array(DataType::boolean, {4, 5}, [](usize i) { return i % 2; });
  const Array b = array(DataType::boolean, {5}, [](usize i) { return i % 3 == 0; });
  for (const char* const node : {"LogicalAnd", "LogicalOr", "LogicalXor"})
    right(node, {a, b});
  right("LogicalNot", {a});
  const auto ramp = [](usize i) { return static_cast<double>(i) - 7; };
  right("SelectV2", {a, array(DataType::f16, {4, 1}, ramp), array(DataType::f16, {5}, ramp)});
  right("SelectV2", {b, array(DataType::i64, {3, 5}, ramp), array(DataType::i64, {1}, ramp)});
}

TEST_P(ScalarKernels, CastsBetweenAllTypes) {
  constexpr std::array kTypes{DataType::f16, DataType::bf16, DataType::i8,  DataType::u8,     DataType::i16,
                              DataType::i32, DataType::u32,  DataType::i64, DataType::boolean};
  for (const DataType from : kTypes) {
    const Array a = array(from, {33}, [&](usize i) {
      return (static_cast<double>(i) - (info(from).lowest < 0 || is_float(from) ? 16 : 0)) *
             (is_float(from) ? 0.75 : 1);
    });
    for (const DataType to : kTypes) {
      if (from == to || (is_float(from) && info(to).lowest == 0 && !is_float(to))) continue;
      right("Cast", {a}, {{"to", static_cast<i64>(enum_index(to))}});
    }
  }
}

// Several tiles for each core, and one that is not full; numbers of i64 that f32 rounds and that i32 cuts. On joint
// cores f32 becomes f16 here.
TEST_P(ScalarKernels, CastsOfManyIntegers) {
  using enum DataType;
  const config::ChipConfig chip = config::load_chip(GetParam());
  const bool joint = is_joint(chip);
  struct Case {
    DataType from, to;
  };
  for (const Case& c : {Case{f32, i32}, Case{f32, i64}, Case{i32, f32}, Case{i32, f16}, Case{i32, boolean},
                        Case{i32, i64}, Case{i64, f32}, Case{i64, f16}, Case{i64, i32}, Case{i64, boolean},
                        Case{u8, i32}, Case{i8, i64}, Case{boolean, i64}, Case{f16, i32}, Case{f16, i64}}) {
    const DataType from = c.from, to = c.to;
    const auto both = [&](const auto& condition) { return condition(from) && condition(to); };
    const bool narrow = !both([&](DataType t) { return info(t).bytes >= 4 && !(joint && is_float(t)); });
    const double scale = narrow ? 1 : both([](DataType t) { return t != i32; }) || from == i64 ? 1e10 / 7 : 4e7;
    const Array a = array(from, {3, 20011}, [&](usize i) {
      if (from == boolean) return static_cast<double>(i % 3 == 0);
      const double v = (static_cast<double>(i * 7 % 100) - (is_float(from) || info(from).lowest < 0 ? 50 : 0)) * scale;
      return is_float(from) ? v : std::trunc(v);
    });
    Net net;
    net.graph.outputs = {
        net.node("Cast", {net.input(a.dims, a.type)}, {{"to", static_cast<vinci::i64>(enum_index(to))}})};
    const Network network =
        compile(std::move(net.owned), chip,
                {.precision = joint ? PrecisionMode::force_fp16 : PrecisionMode::must_keep_origin_dtype});
    const std::string what = fmt::format("{} to {}", info(from).name, info(to).name);
    EXPECT_EQ(std::ranges::count(kernels(network), "cast_integers"), joint && from == i64 ? 0 : 1) << what;
    for (const NodeCheck& row : check_nodes(network, {a}))
      EXPECT_TRUE(row.right()) << what << ": " << row.error;
    for (const std::string& finding : run_on_device(network).findings)
      ADD_FAILURE() << what << ": " << finding;
  }
}

TEST_P(ScalarKernels, PositionsThatDataName) {
  const auto ramp = [](usize i) { return static_cast<double>(i) * 0.25 - 3; };
  const Array data = array(DataType::f16, {3, 4, 5}, ramp);
  const Array index = array(DataType::i64, {2, 3}, [](usize i) { return static_cast<double>(i % 3) - 1; });
  for (const i64 axis : {0, 1, -1})
    right("GatherV2", {data, index}, {{"axis", axis}});
  const Array each = array(DataType::i32, {3, 2, 5}, [](usize i) { return static_cast<double>(i % 4); });
  right("GatherElements", {data, each}, {{"axis", i64{1}}});
  right("ScatterElements", {data, each, array(DataType::f16, {3, 2, 5}, ramp)}, {{"axis", i64{1}}});
  right("ScatterElements", {data, each, array(DataType::f16, {3, 2, 5}, ramp)},
        {{"axis", i64{1}}, {"reduction", std::string("add")}});
  const Array pairs = array(DataType::i64, {4, 2}, [](usize i) { return static_cast<double>(i % 3); });
  right("GatherNd", {data, pairs});
  right("ScatterNdUpdate", {data, pairs, array(DataType::f16, {4, 5}, ramp)});
  right("GatherNd", {data, array(DataType::i64, {3, 2, 1}, [](usize i) { return static_cast<double>(i % 4); })},
        {{"batch_dims", i64{1}}});
}

// Rows of whole blocks are copied; indices from the end and beyond it, several axes, rows that UB does not hold.
TEST_P(ScalarKernels, WholeRowsAreCopied) {
  const auto copied = [](const Array& data, const Array& index, const std::string& type, const Attributes& attributes) {
    Net net;
    Value* const out = net.node(type, {net.input(data.dims, data.type), net.input(index.dims, index.type)}, attributes);
    const Network network = compiled(net, out);
    EXPECT_EQ(std::ranges::count(kernels(network), "gather_rows"), 1) << type << " of " << info(data.type).name;
    for (const NodeCheck& row : check_nodes(network, {data, index}))
      EXPECT_TRUE(row.right()) << type << " of " << info(data.type).name << ": " << row.error;
    for (const std::string& finding : run_on_device(network).findings)
      ADD_FAILURE() << type << ": " << finding;
  };
  const auto jump = [](usize i) { return static_cast<double>(i * 7 % 1000) - 500; };
  for (const DataType type : {DataType::f16, DataType::f32, DataType::i32, DataType::i64}) {
    const Array data = array(type, {6, 5, 32}, jump);
    const Array index = array(DataType::i64, {2, 4}, [](usize i) { return static_cast<double>(i * 3 % 9) - 4; });
    for (const i64 axis : {0, 1})
      copied(data, index, "GatherV2", {{"axis", axis}});
    const Array pairs = array(DataType::i32, {7, 2}, [](usize i) { return static_cast<double>(i % 5); });
    copied(data, pairs, "GatherNd", {});
    const Array in_batch = array(DataType::i64, {6, 3, 1}, [](usize i) { return static_cast<double>(i % 4) - 1; });
    copied(data, in_batch, "GatherNd", {{"batch_dims", i64{1}}});
  }
  copied(array(DataType::f16, {3, 160000}, jump), array(DataType::i64, {2}, [](usize i) { return i == 0 ? 2 : 0; }),
         "GatherV2", {{"axis", i64{0}}});
}

// Updates of rows by several cores: positions of one and of several axes, in i32 and i64, more than UB holds at once,
// the same row several times, from the end.
TEST_P(ScalarKernels, RowsAreScattered) {
  const auto jump = [](usize i) { return static_cast<double>(i * 7 % 61) / 8 - 4; };
  struct Case {
    Dims data, index;
    DataType index_type = DataType::i64;
  };
  for (const Case& c : {Case{{3, 64}, {5, 1}}, Case{{7, 3, 48}, {40, 2}, DataType::i32}, Case{{6, 5, 16}, {4, 1}},
                        Case{{100, 32}, {3000, 1}}, Case{{1, 4000}, {2, 1}}, Case{{300, 208}, {1, 1}}}) {
    for (const char* const how : {"none", "add", "mul", "max", "min"}) {
      for (const DataType type : {DataType::f16, DataType::f32, DataType::i32}) {
        const auto depth = static_cast<usize>(c.index.back());
        Dims changed{c.index[0]};
        changed.insert(changed.end(), c.data.begin() + static_cast<std::ptrdiff_t>(depth), c.data.end());
        const Array data = array(type, c.data, jump);
        const i64 extent = *std::min_element(c.data.begin(), c.data.begin() + static_cast<std::ptrdiff_t>(depth));
        const Array index = array(c.index_type, c.index, [&](usize i) {
          return static_cast<double>(static_cast<i64>(i) * 5 % (2 * extent) - extent);
        });
        // Many products and sums of a row would leave f16.
        const Array updates = array(type, changed, [&](usize i) {
          return how == std::string_view("mul") ? (i / 64 % 2 == 0 ? 1.0 : -1.0) : c.index[0] > 100 ? 0 : jump(i + 3);
        });
        const bool rows = type != DataType::i32 || how == std::string_view("none");
        SCOPED_TRACE(fmt::format("{} of {} with {}", text(Shape(c.data)), info(type).name, how));
        Net net;
        Value* const out =
            net.node("ScatterNdUpdate",
                     {net.input(data.dims, type), net.input(index.dims, c.index_type), net.input(updates.dims, type)},
                     {{"reduction", how}});
        const Network network = compiled(net, out);
        EXPECT_EQ(std::ranges::count(kernels(network), "scatter_rows"), rows ? 1 : 0);
        for (const NodeCheck& row : check_nodes(network, {data, index, updates}))
          EXPECT_TRUE(row.right()) << row.error;
        for (const std::string& finding : run_on_device(network, {data, index, updates}).findings)
          ADD_FAILURE() << finding;
      }
    }
  }
}

// Rows that follow each other in the result are a tile, whose indices are copied to UB. An index that is outside
// becomes the nearest one.
TEST_P(ScalarKernels, SeveralRowsAreOneTile) {
  const auto jump = [](usize i) { return static_cast<double>(i * 7 % 1000) - 500; };
  const auto inside = [](usize i) { return static_cast<double>(i * 5 % 18) - 9; };
  const auto gathers = [&](const Array& data, const Array& index, const std::string& type, const Attributes& a) {
    SCOPED_TRACE(
        fmt::format("{} of {} by {} {}", type, info(data.type).name, text(Shape(index.dims)), info(index.type).name));
    Net net;
    Value *const x = net.input(data.dims, data.type), *const where = net.input(index.dims, index.type);
    net.graph.outputs = {net.node(type, {x, where}, a)};
    Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                              {.precision = PrecisionMode::must_keep_origin_dtype});
    ASSERT_EQ(network.nodes.size(), 1U);
    CompiledNode& n = network.nodes[0];
    ASSERT_EQ(n.kernel->name, "gather_rows");
    Array outside = index;
    for (double& i : outside.values)
      i = i == 8 ? 1000 : i == -9 ? -1000 : i;
    for (const Tiling& tiling : n.kernel->tilings(Group(*n.node), network.chip)) {
      EXPECT_GT(tiling.at("rows"), 1);
      n.tiling = tiling;
      n.program = n.kernel->build(Group(*n.node), network.chip, tiling);
      for (const NodeCheck& row : check_nodes(network, {data, index}))
        EXPECT_EQ(row.error, 0) << text(tiling);
      const DeviceRun wanted = run_on_device(network, {data, index}), got = run_on_device(network, {data, outside});
      EXPECT_EQ(got.bytes, wanted.bytes) << text(tiling);
      for (const std::string& finding : got.findings)
        ADD_FAILURE() << text(tiling) << ": " << finding;
    }
  };
  for (const DataType type : {DataType::f16, DataType::i64}) {
    for (const DataType of_index : {DataType::i32, DataType::i64}) {
      const Array data = array(type, {9, 9, 32}, jump);
      for (const i64 axis : {0, 1})
        gathers(data, array(of_index, {3, 333}, inside), "GatherV2", {{"axis", axis}});
      gathers(data, array(of_index, {777, 2}, inside), "GatherNd", {});
      gathers(data, array(of_index, {9, 101, 1}, inside), "GatherNd", {{"batch_dims", i64{1}}});
    }
  }
  if (is_joint(config::load_chip(GetParam()))) return;
  for (const i64 width : {1, 3, 8, 25}) {
    for (const DataType type : {DataType::f16, DataType::f32})
      gathers(array(type, {9, width}, jump), array(DataType::i64, {999}, inside), "GatherV2", {{"axis", i64{0}}});
  }
}

// More rows than UB holds: all cores have as many tiles, and these are equal.
TEST_P(ScalarKernels, CoresShareTilesOfRows) {
  constexpr u64 kRows = 60000;
  Net net;
  const Network network = compiled(
      net,
      net.node("GatherV2", {net.input({9, 64}, DataType::f16), net.input({kRows}, DataType::i32)}, {{"axis", i64{0}}}));
  const CompiledNode& n = network.nodes.at(0);
  EXPECT_EQ(n.tiling.at("table"), 1) << "each core reads the table once";
  for (const Tiling& tiling : n.kernel->tilings(Group(*n.node), network.chip)) {
    const auto rows = static_cast<u64>(tiling.at("rows")), cores = u64{vector_cores(network.chip)};
    const u64 tiles = ceil_div(ceil_div(kRows, rows), cores);  // of a core
    EXPECT_LE(tiles * rows, ceil_div(kRows, cores) + tiles) << text(tiling);
  }
}

// A table stays in memory where few rows are gathered, or where UB does not hold it.
TEST_P(ScalarKernels, LargeTablesStayInMemory) {
  for (const auto& [rows, gathered] : {std::pair<i64, i64>{1000, 400}, {4000, 60000}}) {
    Net net;
    Value *const table = net.input({rows, 64}, DataType::f16), *const index = net.input({gathered}, DataType::i32);
    const Network network = compiled(net, net.node("GatherV2", {table, index}, {{"axis", i64{0}}}));
    const CompiledNode& n = network.nodes.at(0);
    for (const Tiling& tiling : n.kernel->tilings(Group(*n.node), network.chip))
      EXPECT_EQ(tiling.at("table"), 0) << text(tiling);
  }
}

// Joint cores copy rows that fill no blocks with zeros behind them; the table may be a constant.
TEST_P(ScalarKernels, RowsThatFillNoBlocksAreCopied) {
  const bool joint = is_joint(config::load_chip(GetParam()));
  const auto jump = [](usize i) { return static_cast<double>(i * 7 % 1000) - 500; };
  const auto inside = [](usize i) { return static_cast<double>(i * 5 % 18) - 9; };
  struct Case {
    const char* type;
    Dims data, index;
    Attributes attributes;
  };
  const std::vector<Case> cases{{"GatherV2", {9, 50}, {7, 111}, {{"axis", i64{0}}}},
                                {"GatherV2", {4, 9, 3, 7}, {400}, {{"axis", i64{1}}}},
                                {"GatherV2", {9}, {3000}, {{"axis", i64{0}}}},
                                {"GatherNd", {9, 9, 5}, {901, 2}, {}},
                                {"GatherNd", {3, 9, 13}, {3, 404, 1}, {{"batch_dims", i64{1}}}},
                                {"GatherNd", {3, 9}, {3, 1700, 1}, {{"batch_dims", i64{1}}}}};
  for (const DataType type : {DataType::f16, DataType::i32}) {
    for (const Case& c : cases) {
      for (const bool constant : {false, true}) {
        SCOPED_TRACE(fmt::format("{} of {} {}", c.type, info(type).name, text(Shape(c.data))));
        const Array data = array(type, c.data, jump), index = array(DataType::i64, c.index, inside);
        Net net;
        Value* const table = constant ? net.graph.add_constant("table", Tensor(data)) : net.input(c.data, type);
        const Network network =
            compiled(net, net.node(c.type, {table, net.input(c.index, DataType::i64)}, c.attributes));
        EXPECT_EQ(std::ranges::count(kernels(network), "gather_rows"), 1);
        EXPECT_EQ(std::ranges::count(kernels(network), "scalar"), 0);
        EXPECT_EQ(network.nodes.size(), joint ? (constant ? 2U : 3U) : 1U);
        const std::vector<Array> inputs = constant ? std::vector{index} : std::vector{data, index};
        for (const NodeCheck& row : check_nodes(network, inputs))
          EXPECT_EQ(row.error, 0);
        for (const std::string& finding : run_on_device(network, inputs).findings)
          ADD_FAILURE() << finding;
        right_end_to_end(network, inputs);
      }
    }
  }
}

// What a scatter does not change is copied in blocks, and what fills none by itself.
TEST_P(ScalarKernels, AScatterCopiesTheRest) {
  const auto jump = [](usize i) { return static_cast<double>(i * 7 % 1000) - 500; };
  for (const usize rows : {usize{3}, usize{517}, usize{1025}}) {
    const Array data = array(DataType::f16, {static_cast<i64>(rows), 67}, jump);
    const Array where =
        array(DataType::i64, {2, 1}, [&](usize i) { return i == 0 ? 1 : static_cast<double>(rows) - 1; });
    right("ScatterNdUpdate",
          {data, where, array(DataType::f16, {2, 67}, [](usize i) { return static_cast<double>(i); })});
  }
}

TEST_P(ScalarKernels, RowsAlongAnyAxis) {
  const auto jump = [](usize i) { return static_cast<double>(i * 7 % 11) - 5; };
  for (const DataType type : {DataType::f16, DataType::i32}) {
    const Array data = array(type, {3, 6, 4}, jump);
    for (const i64 axis : {0, 1, 2}) {
      for (const char* const node : {"ArgMaxV2", "ArgMin"}) {
        for (const i64 last : {0, 1})
          right(node, {data}, {{"axis", axis}, {"select_last_index", last}});
      }
    }
    for (const i64 axis : {1, -1})
      right("Hardmax", {data}, {{"axis", axis}});
  }
}

TEST_P(ScalarKernels, SortsAndSums) {
  for (const i64 largest : {0, 1}) {
    Net net;
    Value* const x = net.input({4, 9}, DataType::f16);
    Node* const node = net.graph.add_node("TopKV2", "top", {x, net.integers({5})}, 2);
    node->attributes = {{"largest", largest}};
    infer(*node);
    net.output(node->output(0));
    net.output(node->output(1));
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    const Array in = array(DataType::f16, {4, 9}, [](usize i) { return static_cast<double>(i * 5 % 7); });
    for (const NodeCheck& row : check_nodes(network, {in}))
      EXPECT_TRUE(row.right()) << row.output->name << ": " << row.error;
  }
  for (const i64 flags : {0, 1, 2, 3}) {
    Net net;
    checked(compiled(net, net.node("Cumsum", {net.input({3, 8, 2}), net.integers({1})},
                                   {{"exclusive", flags & 1}, {"reverse", flags >> 1}})));
  }
}

TEST_P(ScalarKernels, BordersOfAllModes) {
  for (const char* const mode : {"constant", "edge", "reflect"}) {
    Net net;
    Value* const x = net.input({2, 3, 4}, DataType::f16);
    const Network network =
        compiled(net, net.node("PadV3", {x, net.integers({1, 0, 2, 0, 2, 3})}, {{"mode", std::string(mode)}}));
    checked(network);
    race_free(network);
  }
}

TEST_P(ScalarKernels, WindowsOfAnyMap) {
  struct Case {
    const char* type;
    Shape in;
    Attributes attributes;
  };
  using L = std::vector<i64>;
  for (const Case& c :
       {Case{"MaxPool", {1, 3, 5, 6, 4}, {{"kernel_shape", L{2, 3, 2}}, {"strides", L{1, 2, 2}}}},
        Case{"AvgPool", {1, 2, 7, 5}, {{"kernel_shape", L{3, 3}}, {"pads", L{2, 2, 1, 1}}, {"strides", L{2, 2}}}},
        Case{"AvgPool", {1, 2, 7, 5}, {{"kernel_shape", L{3, 3}}, {"strides", L{2, 2}}, {"ceil_mode", i64{1}}}},
        Case{"LpPool", {1, 2, 6, 6}, {{"kernel_shape", L{2, 2}}, {"p", i64{2}}}}}) {
    SCOPED_TRACE(c.type);
    Net net;
    checked(compiled(net, net.node(c.type, {net.input(c.in)}, c.attributes)));
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ScalarKernels, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
