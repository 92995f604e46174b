// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/graph/onnx_testdata.h"

// Which node tests of ONNX count for the measure of the graph engine: those that an NPU compiler has operators for, on
// tensors of types that an NPU computes with.
namespace vinci::graph {

// The operators of ONNX that CANN 8.0 lists as supported by ATC
// (https://www.hiascend.com/doc_center/source/zh/canncommercial/800/apiref/aolapi/operatorlist_00176.html), and those
// whose operator CANN has by another name: CastLike (Cast), NegativeLogLikelihoodLoss (NLLLoss), QuantizeLinear
// (AscendQuant), DequantizeLinear (AscendDequant). Without those whose results no test can predict (random numbers) and
// that of text (TfIdfVectorizer).
inline constexpr auto kOperatorsOfCann = std::to_array<std::string_view>({
    "Abs",
    "Acos",
    "Acosh",
    "Add",
    "And",
    "ArgMax",
    "ArgMin",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "AveragePool",
    "BatchNormalization",
    "BitShift",
    "BitwiseAnd",
    "BitwiseNot",
    "BitwiseOr",
    "BitwiseXor",
    "Cast",
    "CastLike",
    "Ceil",
    "Celu",
    "Clip",
    "Compress",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Conv",
    "ConvTranspose",
    "Cos",
    "Cosh",
    "CumSum",
    "DepthToSpace",
    "DequantizeLinear",
    "Det",
    "Div",
    "Dropout",
    "Einsum",
    "Elu",
    "Equal",
    "Erf",
    "Exp",
    "Expand",
    "EyeLike",
    "Flatten",
    "Floor",
    "GRU",
    "Gather",
    "GatherElements",
    "GatherND",
    "Gemm",
    "GlobalAveragePool",
    "GlobalLpPool",
    "GlobalMaxPool",
    "Greater",
    "GreaterOrEqual",
    "GridSample",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "If",
    "InstanceNormalization",
    "IsInf",
    "IsNaN",
    "LRN",
    "LSTM",
    "LayerNormalization",
    "LeakyRelu",
    "Less",
    "LessOrEqual",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "LpPool",
    "MatMul",
    "Max",
    "MaxPool",
    "MaxRoiPool",
    "MaxUnpool",
    "Mean",
    "MeanVarianceNormalization",
    "Min",
    "Mod",
    "Mul",
    "Neg",
    "NegativeLogLikelihoodLoss",
    "NonMaxSuppression",
    "NonZero",
    "Not",
    "OneHot",
    "Or",
    "PRelu",
    "Pad",
    "Pow",
    "QuantizeLinear",
    "Range",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Relu",
    "Reshape",
    "Resize",
    "ReverseSequence",
    "RoiAlign",
    "Round",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "Shape",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Size",
    "Slice",
    "Softmax",
    "SoftmaxCrossEntropyLoss",
    "Softplus",
    "Softsign",
    "SpaceToDepth",
    "Split",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Sum",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
    "Tile",
    "TopK",
    "Transpose",
    "Trilu",
    "Unsqueeze",
    "Where",
    "Xor",
});

// Why a node test does not count; "" where it does. Of the types of its inputs and outputs, one at least is a float of
// 16 or 32 bits, i8 or i32, and the others are these, or Booleans, u8 and i64 (quantised values, indices, extents).
inline std::string outside_measure(const std::filesystem::path& folder) {
  Model model;
  std::vector<DataType> types;
  try {
    model = read_onnx((folder / "model.onnx").string());
    const std::filesystem::path data = folder / "test_data_set_0";
    for (const char* const prefix : {"input", "output"}) {
      for (const Array& a : onnx_arrays(data, prefix))
        types.push_back(a.type);
    }
  } catch (const Error&) {
    return "it has values that are no tensors of numbers";
  }
  for (const ModelNode& node : model.graph.nodes) {
    if (!node.domain.empty() ||
        std::ranges::find(kOperatorsOfCann, std::string_view(node.op)) == kOperatorsOfCann.end())
      return "CANN has no operator " + node.op;
  }
  using enum DataType;
  const auto computed = [](DataType t) { return t == f16 || t == bf16 || t == f32 || t == i8 || t == i32; };
  // bf16 is u16 in the files of the tests.
  const auto beside = [](DataType t) { return t == boolean || t == u8 || t == i64 || t == u16; };
  if (std::ranges::none_of(types, computed)) return "it has no tensor of f16, bf16, f32, i8 or i32";
  for (const DataType t : types) {
    if (!computed(t) && !beside(t)) return "it has a tensor of " + std::string(info(t).name);
  }
  return "";
}

}  // namespace vinci::graph
