// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <array>

#include "tests/graph/network_fixture.h"

// Element-wise kernels by node: functions and operands that are repeated.
namespace vinci::graph {
namespace {

class ElementwiseKernels : public NetworkTest {};

TEST_P(ElementwiseKernels, FunctionsOfOneOperand) {
  for (const char* const type : {"Abs", "CeluV2", "Elu", "Erf", "Exp", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu",
                                 "Neg", "Relu", "Selu", "Sigmoid", "Softplus", "Softsign", "Swish", "Tanh"}) {
    for (const i64 n : {1, 129, 5000}) {
      SCOPED_TRACE(std::string(type) + " of " + std::to_string(n));
      Net net;
      Value* const wide = net.node("Mul", {net.input({n}), net.number(4)});
      const Network network = compiled(net, net.node(type, {wide}));
      checked(network);
      if (n < 1000) race_free(network);
    }
  }
}

// By vector instructions, from the smallest number of the type to the largest.
TEST_P(ElementwiseKernels, Signs) {
  for (const DataType dtype : {DataType::f16, DataType::f32}) {
    const double least = dtype == DataType::f16 ? 0x1p-24 : 0x1p-149, most = dtype == DataType::f16 ? 65504 : 0x1p127;
    Array in(dtype, {300});
    for (usize i = 0; i < in.size(); ++i)
      in.values[i] = std::array{0.0, least, -least, most, -most, 1.0, -0.5, 3 * least}[i % 8];
    Net net;
    net.output(net.node("Sign", {net.input({300}, dtype)}));
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                    {.precision = PrecisionMode::must_keep_origin_dtype});
    EXPECT_EQ(std::ranges::count(kernels(network), "elementwise"), 1);
    for (const NodeCheck& row : check_nodes(network, {in}))
      EXPECT_EQ(row.error, 0) << row.node->node->name;
  }
}

TEST_P(ElementwiseKernels, TrigonometricFunctions) {
  for (const auto& [type, factor, offset] : {std::tuple{"Sin", 20.0, 0.0},
                                             {"Cos", 20.0, 3.0},
                                             {"Tan", 1.4, 0.0},
                                             {"Asin", 1.0, 0.0},
                                             {"Acos", 1.0, 0.0},
                                             {"Atan", 5.0, 0.0},
                                             {"Sinh", 4.0, 0.0},
                                             {"Cosh", 4.0, 0.0},
                                             {"Asinh", 8.0, 0.0},
                                             {"Acosh", 3.0, 4.5},
                                             {"Atanh", 0.9, 0.0}}) {
    for (const DataType dtype : {DataType::f16, DataType::f32}) {
      SCOPED_TRACE(type);
      Net net;
      Value* const x = net.input({300}, dtype);
      const auto number = [&](double v) { return net.graph.add_constant("n", Tensor(Array(dtype, {}, {v}))); };
      Value* const wide = net.node("Add", {net.node("Mul", {x, number(factor)}), number(offset)});
      net.output(net.node(type, {wide}));
      checked(compile(std::move(net.owned), config::load_chip(GetParam()),
                      {.precision = PrecisionMode::must_keep_origin_dtype}));
    }
  }
}

// Steps: an input in front of a step must have no other rounding than in the reference.
TEST_P(ElementwiseKernels, WholeNumbers) {
  for (const char* const type : {"Ceil", "Floor", "Round"}) {
    SCOPED_TRACE(type);
    Net net;
    Value* const x = net.graph.add_input("x", DataType::f16, {1000});
    Value* const eight = net.graph.add_constant("n", Tensor(Array(DataType::f16, {}, {8})));
    checked(compiled(net, net.node(type, {net.node("Mul", {x, eight})})));
  }
}

// The reference is beyond f16, too, so the node is right; the check says how often.
TEST_P(ElementwiseKernels, WhatLeavesF16IsCounted) {
  Net net;
  Value* const x = net.graph.add_input("x", DataType::f16, {300});
  Value* const factor = net.graph.add_constant("n", Tensor(Array(DataType::f16, {}, {1000})));
  const Network network = compiled(net, net.node("Mul", {x, factor}));
  Array in(DataType::f16, {300});
  for (usize i = 0; i < in.size(); ++i)
    in.values[i] = static_cast<double>(i);
  const std::vector<NodeCheck> rows = check_nodes(network, {in});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].right()) << rows[0].error;
  EXPECT_EQ(rows[0].overflowed, 300U - 66U) << "from 66000 on";
  in.values.assign(300, HUGE_VAL);
  EXPECT_EQ(check_nodes(network, {in})[0].overflowed, 0U) << "it was beyond before";
}

// Of f32, numbers that s32 does not hold are whole already.
TEST_P(ElementwiseKernels, WholeNumbersBeyondS32) {
  for (const char* const type : {"Ceil", "Floor", "Round"}) {
    SCOPED_TRACE(type);
    Net net;
    Value* const out = net.node(type, {net.graph.add_input("x", DataType::f32, {14})});
    net.output(out);
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                    {.precision = PrecisionMode::must_keep_origin_dtype});
    Array in(DataType::f32, {14});
    in.values = {0.5, -0.5, 1.5, 2.5, -7.25, 8388607.5, -8388607.5, 8388608, 16777217, 3e9, -5e12, 3e38, -3e38, 0};
    in.round();
    for (const NodeCheck& row : check_nodes(network, {in}))
      EXPECT_TRUE(row.right()) << row.error;
    EXPECT_EQ(run_on_device(network, {in}).outputs[0].values, run(*network.graph, {in})[0].values);
  }
}

// Masks: comparisons of tensors and of numbers, logic, and selection, in one pass or in several.
TEST_P(ElementwiseKernels, ComparisonsAndLogic) {
  for (const DataType type : {DataType::f16, DataType::f32}) {
    for (const i64 n : {1, 129, 5000, 200000}) {
      for (const char* const op : {"Equal", "Greater", "GreaterEqual", "Less", "LessEqual"}) {
        SCOPED_TRACE(std::string(op) + " of " + std::to_string(n));
        Net net;
        // Few values, so that some are equal.
        Value* const x = net.input({n}, type);
        Value* const y = net.input({n}, type);
        const auto number = [&](double v) { return net.graph.add_constant("n", Tensor(Array(type, {}, {v}))); };
        Value* const few = net.node("Relu", {x});
        Value* const first = net.node(op, {few, net.node("Relu", {y})});
        Value* const second = net.node("LogicalNot", {net.node(op, {number(0.25), x})});
        Value* const both = net.node("LogicalAnd", {first, second});
        Value* const any = net.node("LogicalXor", {both, net.node("LogicalOr", {first, second})});
        net.output(any);
        const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                        {.precision = PrecisionMode::must_keep_origin_dtype});
        checked(network);
        for (const std::string_view kernel : kernels(network))
          EXPECT_EQ(kernel, "elementwise");
        if (n < 10000) race_free(network);
      }
    }
  }
}

TEST_P(ElementwiseKernels, Selections) {
  for (const DataType type : {DataType::f16, DataType::f32}) {
    for (const i64 n : {1, 129, 5000, 100000}) {
      SCOPED_TRACE(n);
      Net net;
      Value* const x = net.input({n}, type);
      Value* const y = net.input({n}, type);
      Value* const mask = net.graph.add_input("mask", DataType::boolean, {n});
      const auto number = [&](double v) { return net.graph.add_constant("n", Tensor(Array(type, {}, {v}))); };
      Value* const chosen = net.node("SelectV2", {mask, x, y});
      Value* const masked = net.node("SelectV2", {net.node("LogicalNot", {mask}), chosen, number(-60000)});
      Value* const seldom = net.node("SelectV2", {net.node("Less", {x, y}), number(1), masked});
      Value* const as_number = net.node("Cast", {mask}, {{"to", static_cast<i64>(enum_index(type))}});
      Value* const back = net.node("Cast", {as_number}, {{"to", static_cast<i64>(enum_index(DataType::boolean))}});
      net.output(net.node("SelectV2", {back, seldom, net.node("Add", {as_number, y})}));
      const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                      {.precision = PrecisionMode::must_keep_origin_dtype});
      checked(network);
      for (const std::string_view kernel : kernels(network))
        EXPECT_EQ(kernel, "elementwise");
      if (n < 10000) race_free(network);
    }
  }
}

// A causal mask is the same for all heads, one of padding for all rows.
TEST_P(ElementwiseKernels, MasksThatAreRepeated) {
  for (const i64 columns : {32, 48, 77, 300}) {
    SCOPED_TRACE(columns);
    Net net;
    Value* const x = net.input({2, 3, 20, columns});
    Value* const causal = net.graph.add_input("causal", DataType::boolean, {1, 1, 20, columns});
    Value* const padding = net.graph.add_input("padding", DataType::boolean, {2, 1, 1, columns});
    Value* const masked = net.node("SelectV2", {causal, x, net.number(-1e9)});
    net.output(net.node("SelectV2", {padding, masked, net.number(-1e9)}));
    net.output(net.node("SelectV2", {causal, x, net.number(-HUGE_VAL)}));
    net.output(net.node("LogicalAnd", {net.node("Greater", {x, net.number(0)}), causal}));
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    checked(network);
    for (const std::string_view kernel : kernels(network))
      EXPECT_EQ(kernel, "elementwise");
    race_free(network);
  }
}

TEST_P(ElementwiseKernels, FunctionsOfPositiveNumbers) {
  for (const char* const type : {"Log", "Reciprocal", "Rsqrt", "Sqrt"}) {
    SCOPED_TRACE(type);
    Net net;
    Value* const positive = net.node("Add", {net.node("Abs", {net.input({777})}), net.number(0.25)});
    checked(compiled(net, net.node(type, {positive})));
  }
}

TEST_P(ElementwiseKernels, PowersOfANumber) {
  for (const double exponent : {0.0, 1.0, 2.0, 3.0, 7.0, 0.5, -0.5, -1.0, -2.0, 1.7}) {
    SCOPED_TRACE(exponent);
    Net net;
    Value* const positive = net.node("Add", {net.node("Abs", {net.input({300})}), net.number(0.5)});
    checked(compiled(net, net.node("Pow", {positive, net.number(exponent)})));
  }
  Net net;
  checked(compiled(net, net.node("Pow", {net.input({300}), net.number(3)})));
}

TEST_P(ElementwiseKernels, NumbersAsOperands) {
  for (const char* const type : {"Add", "Maximum", "Minimum", "Mul", "RealDiv", "Sub"}) {
    SCOPED_TRACE(type);
    Net right, left;
    checked(compiled(right, right.node(type, {right.input({500}), right.number(0.3)})));
    Value* const x = left.node("Add", {left.node("Abs", {left.input({500})}), left.number(0.5)});
    checked(compiled(left, left.node(type, {left.number(0.3), x})));
  }
  Net net;
  checked(compiled(net, net.node("ClipByValue", {net.input({500}), net.number(-0.2), net.number(0.4)})));
}

// Each operand at each place; extents that are, and are not, whole blocks of 32 B.
TEST_P(ElementwiseKernels, OperandsThatAreRepeated) {
  struct Case {
    Shape a, b;
  };
  for (const Case& c : {Case{{4, 32}, {32}}, Case{{4, 32}, {4, 1}}, Case{{5, 33}, {33}}, Case{{70, 33}, {70, 1}},
                        Case{{2, 3, 16, 48}, {2, 1, 1, 48}}, Case{{2, 3, 7, 20}, {3, 1, 20}}, Case{{9, 1}, {1, 50}},
                        Case{{2, 12, 128, 128}, {2, 1, 1, 128}}, Case{{3, 4, 5}, {3, 1, 1}}, Case{{6, 1, 8}, {1, 5, 1}},
                        Case{{300, 7}, {1, 1}}, Case{{2, 50000}, {2, 1}}, Case{{3, 50001}, {50001}}, Case{{1}, {1, 3}},
                        Case{{40, 2000}, {2000}}}) {
    SCOPED_TRACE(text(c.a) + " and " + text(c.b));
    Net net;
    Value* const a = net.input(c.a);
    Value* const b = net.input(c.b);
    const Network network = compiled(net, net.node("Relu", {net.node("Sub", {a, b})}));
    checked(network);
    race_free(network);
  }
}

// Rows that UB does not hold, in parts: the cores share them, also where the last part fills no blocks or would have
// less than one.
TEST_P(ElementwiseKernels, WideRowsThatAreRepeated) {
  for (const i64 width : {40001, 40003, 31 * 1536 + 5, 2 * 20992 + 3}) {
    for (const DataType type : {DataType::f16, DataType::f32}) {
      SCOPED_TRACE(width);
      Net net;
      net.output(net.node("Add", {net.input({5, width}, type), net.input({width}, type)}));
      const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                      {.precision = PrecisionMode::must_keep_origin_dtype});
      checked(network);
      race_free(network);
      EXPECT_GT(network.nodes[0].program.blocks, 1U);
    }
  }
}

TEST_P(ElementwiseKernels, ARepeatedOperandInAChainOfFunctions) {
  Net net;
  Value* const x = net.input({2, 3, 40});
  Value* const scaled = net.node("Mul", {net.node("Sigmoid", {x}), net.weights({3, 1}, 1)});
  const Network network = compiled(net, net.node("Tanh", {net.node("Add", {scaled, net.weights({40}, 1)})}));
  EXPECT_EQ(std::ranges::count(kernels(network), "elementwise"), std::ssize(network.nodes));
  checked(network);
  race_free(network);
}

// Results beyond f16, and what follows from them: infinity, or the largest number on a chip that saturates.
TEST_P(ElementwiseKernels, ResultsBeyondF16) {
  Net net;
  Value* const large = net.node("Mul", {net.input({300}), net.number(60000)});
  Value* const beyond = net.node("Mul", {net.node("Mul", {large, net.number(100)}), net.number(-2)});
  net.output(net.node("Abs", {net.node("Sqrt", {beyond})}));
  const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                  {.switches = {.passes = {{"TbeEltwiseFusionPass", false}}}});
  EXPECT_EQ(network.nodes.size(), 7U);
  checked(network);
}

// A tile has one block of such numbers, whatever its own size: nothing behind them is read.
TEST_P(ElementwiseKernels, AFunctionOfANumberForEachChannel) {
  for (const i64 side : {3, 24}) {
    SCOPED_TRACE(side);
    MapNet net;
    Value* const y = net.conv(net.input({2, 16, side, side}), 48, 1, 1, 0);
    Value* const mean = net.node("ReduceMean", {y, net.integers({2, 3})}, {{"keepdims", i64{1}}});
    Value* const gate = net.node("Sigmoid", {net.conv(mean, 48, 1, 1, 0)});
    const Network network = compiled(net, net.node("Tanh", {net.node("Mul", {gate, net.node("Abs", {y})})}));
    checked(network);
    race_free(network);
  }
}

TEST_P(ElementwiseKernels, SlopesForEachChannel) {
  Net net;
  checked(compiled(net, net.node("PRelu", {net.input({2, 5, 30}), net.weights({5, 1}, 1)})));
}

INSTANTIATE_TEST_SUITE_P(Chips, ElementwiseKernels, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
