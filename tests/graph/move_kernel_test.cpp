// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <functional>
#include <numeric>
#include <random>

#include "tests/graph/network_fixture.h"

// Kernels that move elements, by node: the result is exact.
namespace vinci::graph {
namespace {

class MoveKernels : public NetworkTest {
 protected:
  void check(Net& net, Value* out) {
    const Network network = compiled(net, out);
    for (const NodeCheck& row : checked(network)) {
      const bool moves = row.node->kernel->name != "elementwise";
      EXPECT_TRUE(!moves || row.error == 0) << row.node->kernel->name;
    }
    race_free(network);
  }
  // A node that moves elements, with each tiling that its kernel offers; its neighbours may compute.
  void exact_with_each_tiling(Network& network, CompiledNode& n) {
    const Group group(*n.node);
    for (const Tiling& tiling : n.kernel->tilings(group, network.chip)) {
      EXPECT_LE(n.kernel->footprint(group, network.chip, tiling).ub, network.chip.core.buffers.ub);
      n.tiling = tiling;
      n.program = n.kernel->build(group, network.chip, tiling);
      for (const NodeCheck& row : checked(network))
        EXPECT_TRUE(row.error == 0 || row.node->kernel->name == "elementwise") << n.kernel->name << " " << text(tiling);
      race_free(network);
    }
  }
};

TEST_P(MoveKernels, Transposes) {
  struct Case {
    Shape in;
    std::vector<i64> perm;
  };
  for (const Case& c : {Case{{1, 128, 12, 64}, {0, 2, 1, 3}}, Case{{2, 5, 3, 16}, {0, 2, 1, 3}},
                        Case{{2, 5, 3, 10}, {0, 2, 1, 3}}, Case{{40, 24}, {1, 0}}, Case{{2, 3, 4, 5}, {3, 1, 0, 2}},
                        Case{{3, 4, 32}, {1, 0, 2}}, Case{{2, 16, 3, 64}, {0, 2, 3, 1}}, Case{{7, 1, 6}, {2, 1, 0}}}) {
    SCOPED_TRACE(text(c.in));
    Net net;
    check(net, net.node("TransposeD", {net.input(c.in)}, {{"perm", c.perm}}));
  }
}

// Of channels and pixels, tokens and heads: a joint core does it by blocks, not element by element.
TEST_P(MoveKernels, TransposesOfMatrices) {
  struct Case {
    Shape in;
    std::vector<i64> perm;
  };
  for (const Case& c : {Case{{2, 48, 100}, {0, 2, 1}}, Case{{1, 49, 96}, {0, 2, 1}}, Case{{64, 80}, {1, 0}},
                        Case{{2, 30, 4, 32}, {0, 2, 3, 1}}, Case{{1, 7, 9, 32}, {0, 3, 1, 2}},
                        Case{{1, 32, 7, 9}, {0, 2, 3, 1}}, Case{{3, 5, 7, 2, 16}, {0, 3, 4, 1, 2}}}) {
    SCOPED_TRACE(text(c.in));
    Net net;
    net.output(net.node("TransposeD", {net.node("Relu", {net.input(c.in)})}, {{"perm", c.perm}}));
    const std::unique_ptr<Graph> before = net.graph.clone();
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    checked(network);
    race_free(network);
    const std::vector<Array> in = random_inputs(*before, 3);
    right_end_to_end(network, in);
    const Array wanted = run(*before, in)[0], got = run(*network.graph, in)[0];
    for (usize i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(got.values[i], wanted.values[i], 1e-3) << i;
    if (network.chip.vector_cores == 0) {
      EXPECT_EQ(std::ranges::count(kernels(network), "move_elements"), 0);
    }
  }
}

TEST_P(MoveKernels, Slices) {
  struct Case {
    Shape in;
    std::vector<i64> starts, ends, axes, steps;
  };
  for (const Case& c :
       {Case{{20, 64}, {3}, {17}, {0}, {1}}, Case{{20, 64}, {16}, {48}, {1}, {1}}, Case{{20, 50}, {7}, {43}, {1}, {1}},
        Case{{20, 50}, {-1}, {-100}, {0}, {-2}}, Case{{4, 6, 50}, {1, 2}, {3, 5}, {1, 2}, {1, 2}}}) {
    SCOPED_TRACE(text(c.in));
    Net net;
    check(net, net.node("StridedSliceV2", {net.input(c.in), net.integers(c.starts), net.integers(c.ends),
                                           net.integers(c.axes), net.integers(c.steps)}));
  }
}

TEST_P(MoveKernels, Pieces) {
  for (const i64 axis : {0, 1, 2}) {
    for (const i64 width : {32, 5}) {
      SCOPED_TRACE(fmt::format("axis {} of rows of {}", axis, width));
      Dims dims{3, 4, width}, other{3, 4, width};
      other[static_cast<usize>(axis)] = width == 32 ? 16 : 2;
      Net net;
      Value* const a = net.input(dims);
      Value* const b = net.input(other);
      check(net, net.node("ConcatD", {a, b, a}, {{"axis", axis}}));
      // The parts of the sum are as long as they were.
      Net parts;
      Value* const x = parts.input(dims);
      const Node* const split =
          parts.graph.add_node("SplitV", "split", {x, parts.integers({dims[static_cast<usize>(axis)]})});
      split->output()->producer()->attributes["axis"] = axis;
      infer(*split->output()->producer());
      check(parts, split->output());
    }
  }
}

// More than there are registers for their addresses, as behind the last layers of a dense block.
TEST_P(MoveKernels, ManyPieces) {
  for (const i64 width : {32, 6}) {
    SCOPED_TRACE(width);
    constexpr i64 kPieces = 40;
    Net together, apart;
    std::vector<Value*> pieces;
    std::vector<i64> widths;
    for (i64 i = 0; i < kPieces; ++i) {
      widths.push_back(width * (1 + i % 2));
      pieces.push_back(together.input({2, widths.back(), 3}));
    }
    check(together, together.node("ConcatD", pieces, {{"axis", i64{1}}}));
    Value* const x = apart.input({4, std::accumulate(widths.begin(), widths.end(), i64{0}), 32});
    Node* const split = apart.graph.add_node("SplitV", "split", {x, apart.integers(widths)}, kPieces);
    split->attributes["axis"] = i64{1};
    infer(*split);
    for (Value* const piece : split->outputs())
      apart.output(apart.node("Relu", {piece}));
    check(apart, split->outputs().back());
  }
}

TEST_P(MoveKernels, Repetitions) {
  for (const i64 width : {32, 7}) {
    SCOPED_TRACE(width);
    Net to, tile;
    check(to, to.node("BroadcastTo", {to.input({1, 4, width}), to.integers({3, 4, width})}));
    check(tile, tile.node("Tile", {tile.input({2, 3, width}), tile.integers({2, 1, 3})}));
    Net last;
    check(last, last.node("BroadcastTo", {last.input({4, 1}), last.integers({4, width})}));
  }
}

// A number that a whole row repeats is spread by vector instructions.
TEST_P(MoveKernels, RepeatedNumbers) {
  for (const auto precision : {PrecisionMode::force_fp16, PrecisionMode::must_keep_origin_dtype}) {
    for (const char* const type : {"BroadcastTo", "Tile"}) {
      for (const i64 width : {301, 5, 3000}) {
        SCOPED_TRACE(fmt::format("{} of {}", type, width));
        Net net;
        const bool tile = std::string_view(type) == "Tile";
        net.output(
            net.node(type, {net.input({2, 24, 1}), tile ? net.integers({1, 1, width}) : net.integers({2, 24, width})}));
        const Network network = compile(std::move(net.owned), config::load_chip(GetParam()), {.precision = precision});
        EXPECT_EQ(std::ranges::count(kernels(network), "move_elements"), 0);
        for (const NodeCheck& row : checked(network))
          EXPECT_TRUE(row.node->node->type == "Cast" || row.error == 0);
        race_free(network);
      }
    }
  }
}

TEST_P(MoveKernels, DepthAndSpace) {
  for (const char* const mode : {"DCR", "CRD"}) {
    Net net;
    check(net,
          net.node("DepthToSpace", {net.input({2, 12, 3, 5})}, {{"blocksize", i64{2}}, {"mode", std::string(mode)}}));
  }
  Net net;
  check(net, net.node("SpaceToDepth", {net.input({2, 3, 4, 6})}, {{"blocksize", i64{2}}}));
}

// Rows that fill no blocks go in any order, by all cores: no core of a joint chip moves them element by element.
TEST_P(MoveKernels, RowsWithEnds) {
  struct Case {
    std::vector<Dims> pieces;
    i64 axis;
  };
  for (const Case& c :
       {Case{{{1, 3, 20}, {1, 3007, 20}, {1, 77, 20}}, 1}, Case{{{2, 17}, {2, 19}}, 1},
        Case{{{3, 33, 5}, {3, 4, 5}}, 1}, Case{{{2, 129}, {2, 40000}}, 1}, Case{{{9, 2, 11, 3}, {9, 30, 11, 3}}, 1}}) {
    for (const auto precision : {PrecisionMode::force_fp16, PrecisionMode::must_keep_origin_dtype}) {
      Net net;
      std::vector<Value*> pieces;
      for (const Dims& dims : c.pieces)
        pieces.push_back(net.input(dims));
      SCOPED_TRACE(text(pieces[0]->shape));
      net.output(net.node("ConcatD", pieces, {{"axis", c.axis}}));
      const Network network = compile(std::move(net.owned), config::load_chip(GetParam()), {.precision = precision});
      EXPECT_EQ(std::ranges::count(kernels(network), "move"), 1);
      for (const NodeCheck& row : checked(network))
        EXPECT_TRUE(row.node->kernel->name != "move" || row.error == 0);
      race_free(network);
    }
  }
}

// Pieces with tiles of different numbers of rows: what one slot has of them is not what the other has.
TEST_P(MoveKernels, PiecesOfDifferentTiles) {
  Net net;
  Value* const x = net.input({1, 3, 33, 29}, DataType::f32);
  Array sizes(DataType::f32, {4}, {1, 1, 2, 2});
  Value* const scales = net.graph.add_constant("scales", Tensor(sizes));
  net.output(net.node("Resize", {x, nullptr, scales}, {{"mode", "linear"}}));
  const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                  {.precision = PrecisionMode::must_keep_origin_dtype});
  checked(network);
  race_free(network);
}

// A map in blocks of channels that is read as rows of one element: what is behind it is there.
TEST_P(MoveKernels, ElementsOfAMapAreRepeated) {
  Net net;
  Value* const most = net.node("MaxPool", {net.input({1, 1024, 2, 2})}, {{"kernel_shape", std::vector<i64>{2, 2}}});
  Value* const rows = net.node("Reshape", {most, net.integers({1, 1024, 1})});
  Value* const wide = net.node("BroadcastTo", {rows, net.integers({1, 1024, 1024})});
  net.output(net.node("ConcatD", {wide, wide}, {{"axis", i64{1}}}));
  const Network network = compile(std::move(net.owned), config::load_chip(GetParam()), {.reuse_memory = false});
  checked(network);
  race_free(network);
}

// Columns of rows that fill no blocks: on a joint core by transposes of 16 streams of rows, by all cores.
TEST_P(MoveKernels, ColumnsOfRows) {
  using Build = std::function<Value*(Net&, DataType)>;
  const auto slice = [](const Dims& in, i64 from, i64 to) -> Build {
    return [=](Net& net, DataType type) {
      return net.node("StridedSliceV2", {net.input(in, type), net.integers({from}), net.integers({to}),
                                         net.integers({-1}), net.integers({1})});
    };
  };
  const auto pieces = [](Dims in, const std::vector<i64>& widths) -> Build {
    return [=](Net& net, DataType type) mutable {
      std::vector<Value*> values;
      for (const i64 width : widths) {
        in.back() = width;
        values.push_back(net.input(in, type));
      }
      return net.node("ConcatD", values, {{"axis", std::ssize(in) - 1}});
    };
  };
  const std::vector<std::pair<std::string_view, Build>> cases{
      {"pieces", pieces({3, 300, 0}, {2, 5, 80})},
      {"a pair twice",
       [](Net& net, DataType type) {
         Value* const x = net.input({512, 3}, type);
         return net.node("ConcatD", {x, net.input({512, 1}, type), x}, {{"axis", i64{1}}});
       }},
      {"first columns", slice({3, 20, 20, 85}, 0, 2)},
      {"one column", slice({1000, 85}, 4, 5)},
      {"most of wide rows", slice({256, 270}, 5, 270)},
      {"wide rows", pieces({5, 23, 0}, {300, 5})},
      {"wide rows that fill blocks", pieces({3, 40, 0}, {1, 300, 3})},
      {"very wide rows", pieces({7, 0}, {3, 1800, 9})},
      {"few rows", pieces({5, 0}, {21, 4})},
      {"one row more than streams", pieces({17, 0}, {197, 5})},
      {"columns of one element", pieces({300, 0}, {1, 50, 1})},
  };
  for (const auto& [name, build] : cases) {
    for (const DataType type : {DataType::f16, DataType::f32}) {
      SCOPED_TRACE(fmt::format("{}, {}", name, type == DataType::f16 ? "f16" : "f32"));
      Net net;
      net.output(build(net, type));
      Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                {.precision = PrecisionMode::must_keep_origin_dtype});
      ASSERT_EQ(network.nodes.size(), 1U);
      CompiledNode& n = network.nodes[0];
      EXPECT_EQ(n.kernel->name, is_joint(network.chip) ? "move_columns" : "move");
      exact_with_each_tiling(network, n);
    }
  }
}

// Two axes change places in UB, 16 rows by a block of 32 B at a time, whatever their extents; on joint cores where a
// column has 16 elements.
TEST_P(MoveKernels, ExchangesTwoAxes) {
  struct Case {
    Shape in;
    std::vector<i64> perm;
  };
  for (const Case& c :
       {Case{{40, 24}, {1, 0}}, Case{{33, 65}, {1, 0}}, Case{{1000, 3}, {1, 0}}, Case{{3, 2000}, {1, 0}},
        Case{{5, 7, 9, 11}, {3, 1, 2, 0}}, Case{{2, 85, 3, 40}, {0, 2, 3, 1}}, Case{{700, 600}, {1, 0}},
        Case{{4, 50, 3, 32}, {0, 2, 3, 1}}, Case{{6, 17, 5}, {2, 0, 1}}, Case{{8, 49, 72}, {0, 2, 1}},
        Case{{1, 180, 25, 33}, {0, 2, 3, 1}}, Case{{2, 161, 24}, {0, 2, 1}}}) {
    for (const auto precision : {PrecisionMode::force_fp16, PrecisionMode::must_keep_origin_dtype}) {
      SCOPED_TRACE(text(c.in));
      Net net;
      net.output(net.node("TransposeD", {net.input(c.in)}, {{"perm", c.perm}}));
      Network network = compile(std::move(net.owned), config::load_chip(GetParam()), {.precision = precision});
      usize transposes = 0;
      for (CompiledNode& n : network.nodes) {
        if (n.kernel->name != "transpose") continue;
        ++transposes;
        const Group group(*n.node);
        for (const Tiling& tiling : n.kernel->tilings(group, network.chip)) {
          EXPECT_LE(n.kernel->footprint(group, network.chip, tiling).ub, network.chip.core.buffers.ub);
          n.tiling = tiling;
          n.program = n.kernel->build(group, network.chip, tiling);
          for (const NodeCheck& row : check_nodes(network, random_inputs(*network.graph, 5)))
            EXPECT_EQ(row.error, 0) << text(tiling);
          for (const std::string& finding : run_on_device(network).findings)
            ADD_FAILURE() << finding;
        }
      }
      if (!is_joint(network.chip)) {
        EXPECT_EQ(transposes, 1U);
      } else if (c.in[static_cast<usize>(c.perm.back())] >= 16 &&
                 (precision == PrecisionMode::force_fp16 || network.chip.arch != isa::Arch::c100)) {
        EXPECT_EQ(std::ranges::count(kernels(network), "move_elements"), 0);
      }
    }
  }
}

// Moves whose rows or pieces have fewer elements than a block of 32 B: on a joint core as 16 streams, by all cores.
TEST_P(MoveKernels, ShortPieces) {
  using Build = std::function<Value*(Net&, DataType)>;
  const auto transpose = [](const Dims& in, const std::vector<i64>& perm) -> Build {
    return [=](Net& net, DataType type) { return net.node("TransposeD", {net.input(in, type)}, {{"perm", perm}}); };
  };
  const auto depth = [](const char* op, const Dims& in, i64 block, const char* mode) -> Build {
    return [=](Net& net, DataType type) {
      return net.node(op, {net.input(in, type)}, {{"blocksize", block}, {"mode", std::string(mode)}});
    };
  };
  const auto every = [](const Dims& in, i64 from, i64 step) -> Build {
    return [=](Net& net, DataType type) {
      return net.node("StridedSliceV2", {net.input(in, type), net.integers({from}), net.integers({in.back()}),
                                         net.integers({-1}), net.integers({step})});
    };
  };
  const auto tile = [](const Dims& in, const Dims& times) -> Build {
    return [=](Net& net, DataType type) { return net.node("Tile", {net.input(in, type), net.integers(times)}); };
  };
  const std::vector<std::pair<std::string_view, Build>> cases{
      {"pixels by 3", depth("DepthToSpace", {2, 27, 7, 17}, 3, "CRD")},
      {"pixels by 2", depth("DepthToSpace", {1, 12, 3, 5}, 2, "DCR")},
      {"wide pixels", depth("DepthToSpace", {1, 16, 5, 1031}, 4, "CRD")},
      {"to depth", depth("SpaceToDepth", {2, 5, 6, 34}, 2, "DCR")},
      {"every second", every({3, 7, 97}, 1, 2)},
      {"every third", every({2, 5, 3001}, 0, 3)},
      {"every second of few", every({2, 3, 5}, 0, 2)},
      {"patches", transpose({98, 2, 7, 3}, {0, 2, 1, 3})},
      {"three planes", transpose({1000, 3}, {1, 0})},
      {"three channels", transpose({3, 1003}, {1, 0})},
      {"short heads", transpose({2, 17, 5, 4}, {0, 2, 1, 3})},
      {"five axes", transpose({2, 5, 7, 3, 2}, {0, 3, 1, 4, 2})},
      {"backwards", transpose({3, 5, 7, 1, 3}, {4, 3, 2, 1, 0})},
      {"repeated rows", tile({7, 33, 3}, {1, 1, 5})},
  };
  usize streams = 0;
  for (const auto& [name, build] : cases) {
    for (const DataType type : {DataType::f16, DataType::f32}) {
      SCOPED_TRACE(fmt::format("{}, {}", name, type == DataType::f16 ? "f16" : "f32"));
      Net net;
      net.output(build(net, type));
      Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                {.precision = PrecisionMode::must_keep_origin_dtype});
      ASSERT_EQ(network.nodes.size(), 1U);
      CompiledNode& n = network.nodes[0];
      if (is_joint(network.chip)) {
        EXPECT_TRUE(n.kernel->name == "move_streams" || n.kernel->name == "move_columns") << n.kernel->name;
        streams += n.kernel->name == "move_streams" ? 1U : 0U;
      }
      exact_with_each_tiling(network, n);
    }
  }
  EXPECT_TRUE(streams >= 8 || !is_joint(config::load_chip(GetParam())));
}

// Exchanges where rows of one tensor are short and fill no blocks: on a joint core each tile of them is one burst.
TEST_P(MoveKernels, PackedRows) {
  struct Case {
    Dims in;
    std::vector<i64> perm;
  };
  for (const Case& c :
       {Case{{3, 85, 400}, {0, 2, 1}}, Case{{3, 400, 85}, {0, 2, 1}}, Case{{7, 49, 96}, {0, 2, 1}},
        Case{{7, 96, 49}, {0, 2, 1}}, Case{{2, 21, 1003}, {0, 2, 1}}, Case{{2, 197, 3, 64}, {0, 2, 3, 1}},
        Case{{2, 3, 64, 197}, {0, 3, 1, 2}}, Case{{255, 80}, {1, 0}}, Case{{80, 255}, {1, 0}},
        Case{{2, 3, 5, 31, 48}, {2, 0, 1, 4, 3}}, Case{{1, 3, 19, 8, 8}, {0, 1, 3, 4, 2}}}) {
    for (const DataType type : {DataType::f16, DataType::f32}) {
      SCOPED_TRACE(fmt::format("{} of {}", text(Shape(c.in)), type == DataType::f16 ? "f16" : "f32"));
      Net net;
      net.output(net.node("TransposeD", {net.input(c.in, type)}, {{"perm", c.perm}}));
      Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                {.precision = PrecisionMode::must_keep_origin_dtype});
      ASSERT_EQ(network.nodes.size(), 1U);
      CompiledNode& n = network.nodes[0];
      const bool packed = n.kernel->name == "transpose_packed";
      // Rows of 32 bits may fill blocks, which chips exchange that transpose such elements.
      EXPECT_TRUE(packed == is_joint(network.chip) || (!packed && type == DataType::f32)) << n.kernel->name;
      exact_with_each_tiling(network, n);
    }
  }
}

// Shapes at random: the kernel that takes them is right with each of its tilings.
TEST_P(MoveKernels, ExchangesOfAnyShape) {
  std::mt19937 random(17);
  const auto some = [&](i64 from, i64 to) { return std::uniform_int_distribution<i64>(from, to)(random); };
  for (int trial = 0; trial < 40; ++trial) {
    const Dims in{some(1, 4), some(1, 2) == 1 ? some(14, 60) : some(60, 270),
                  some(1, 2) == 1 ? some(14, 60) : some(60, 300)};
    const DataType type = some(0, 1) == 0 ? DataType::f16 : DataType::f32;
    SCOPED_TRACE(fmt::format("{} of {}", text(Shape(in)), type == DataType::f16 ? "f16" : "f32"));
    Net net;
    net.output(net.node("TransposeD", {net.input(in, type)}, {{"perm", std::vector<i64>{0, 2, 1}}}));
    Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                              {.precision = PrecisionMode::must_keep_origin_dtype});
    for (CompiledNode& n : network.nodes) {
      exact_with_each_tiling(network, n);
    }
  }
}

// Moves of any kind at random, as the kernel makes them that takes them, with each of its tilings.
TEST_P(MoveKernels, MovesOfAnyShape) {
  std::mt19937 random(23);
  const auto some = [&](i64 from, i64 to) { return std::uniform_int_distribution<i64>(from, to)(random); };
  const auto build = [&](Net& net, const Dims& in, DataType type) {
    const auto axis = some(0, std::ssize(in) - 1);
    const i64 extent = in[static_cast<usize>(axis)];
    Value* const x = net.input(in, type);
    const auto slice = [&](i64 from, i64 to, i64 step) {
      return net.node("StridedSliceV2",
                      {x, net.integers({from}), net.integers({to}), net.integers({axis}), net.integers({step})});
    };
    switch (some(0, 4)) {
      case 0: return slice(some(0, extent / 2), extent, some(1, 3));
      case 1: return slice(-1 - some(0, extent / 2), -extent - 1, -some(1, 3));
      case 2: {
        std::vector<i64> perm(in.size());
        std::iota(perm.begin(), perm.end(), 0);
        std::ranges::shuffle(perm, random);
        return net.node("TransposeD", {x}, {{"perm", perm}});
      }
      case 3: {
        Dims other = in;
        other[static_cast<usize>(axis)] = some(1, 20);
        return net.node("ConcatD", {x, net.input(other, type), x}, {{"axis", axis}});
      }
      default: {
        std::vector<i64> times(in.size(), 1);
        times[static_cast<usize>(axis)] = some(2, 4);
        return net.node("Tile", {x, net.integers(times)});
      }
    }
  };
  for (int trial = 0; trial < 60; ++trial) {
    Dims in;
    for (i64 axes = some(2, 4); axes > 0; --axes)
      in.push_back(some(1, axes == 1 ? 90 : 20));
    const DataType type = some(0, 1) == 0 ? DataType::f16 : DataType::f32;
    Net net;
    net.output(net.node("Abs", {build(net, in, type)}));
    Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                              {.precision = PrecisionMode::must_keep_origin_dtype});
    for (CompiledNode& n : network.nodes) {
      SCOPED_TRACE(fmt::format("{} of {}, {}", n.node->type, text(Shape(in)), n.kernel->name));
      if (n.kernel->name == "elementwise") continue;
      exact_with_each_tiling(network, n);
    }
  }
}

// Whether rows fill blocks or not, an exchange of about as many elements takes about as long.
TEST_P(MoveKernels, PackedRowsTakeNotMuchLonger) {
  const auto time = [&](const Dims& in) {
    Net net;
    net.output(net.node("TransposeD", {net.input(in, DataType::f16)}, {{"perm", std::vector<i64>{0, 2, 1}}}));
    return time_network(compile(std::move(net.owned), config::load_chip(GetParam()),
                                {.precision = PrecisionMode::must_keep_origin_dtype}))
        .microseconds;
  };
  EXPECT_LT(time({3, 85, 6400}), 2 * time({3, 96, 6400}));
  EXPECT_LT(time({3, 6400, 85}), 2 * time({3, 6400, 96}));
  EXPECT_LT(time({8, 197, 768}), 2 * time({8, 208, 768}));
}

// Elements move in tiles that fit UB; where no tile fits, the node is refused by its name.
TEST_P(MoveKernels, MovesElementsInASmallUb) {
  config::ChipConfig chip = config::load_chip(GetParam());
  const auto compiled_with = [&](u64 ub, PrecisionMode precision) {
    chip.core.buffers.ub = config::Bytes(ub);
    Net net;
    net.output(net.node("TransposeD", {net.input({97, 71, 7})}, {{"perm", std::vector<i64>{2, 1, 0}}}));
    return compile(std::move(net.owned), chip, {.precision = precision});
  };
  for (const auto precision : {PrecisionMode::force_fp16, PrecisionMode::must_keep_origin_dtype}) {
    const Network network = compiled_with(32 << 10, precision);
    for (const NodeCheck& row : check_nodes(network, random_inputs(*network.graph, 5)))
      EXPECT_TRUE(row.right()) << row.node->node->name << ": " << row.error;
  }
  try {
    compiled_with(1 << 10, PrecisionMode::must_keep_origin_dtype);
    ADD_FAILURE() << "nothing fits 1 KiB";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Unsupported);
    EXPECT_THAT(e.what(), ::testing::HasSubstr("TransposeD"));
  }
}

// Where UB is too small for a tile whose last rows come twice, a joint core moves in another way.
TEST_P(MoveKernels, ExchangesTwoAxesInASmallUb) {
  config::ChipConfig chip = config::load_chip(GetParam());
  chip.core.buffers.ub = config::Bytes(64 << 10);
  for (const auto precision : {PrecisionMode::force_fp16, PrecisionMode::must_keep_origin_dtype}) {
    Net net;
    net.output(net.node("TransposeD", {net.input({97, 72})}, {{"perm", std::vector<i64>{1, 0}}}));
    const Network network = compile(std::move(net.owned), chip, {.precision = precision});
    for (const NodeCheck& row : check_nodes(network, random_inputs(*network.graph, 5)))
      EXPECT_EQ(row.error, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, MoveKernels, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
