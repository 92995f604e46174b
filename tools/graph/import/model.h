// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/graph/ir/graph.h"

// A model as its file has it, checked, without the file's library.
namespace vinci::graph {

struct ModelValue {
  std::string name;
  DataType type = DataType::f32;
  Shape shape = Shape::unranked();
  bool is_sequence = false;  // or another value that is no tensor
};

struct ModelGraph;

struct ModelNode {
  std::string name;  // unique in the model; made up from the operator where the file has none
  std::string domain, op;
  std::vector<std::string> inputs, outputs;  // "" where one is absent
  Attributes attributes;
  std::map<std::string, ModelGraph> bodies;  // attributes that are graphs
};

struct ModelGraph {
  std::string name;
  std::vector<ModelValue> inputs, outputs;  // without those that are constants
  std::map<std::string, Tensor> constants;
  std::vector<ModelNode> nodes;
};

struct Model {
  ModelGraph graph;
  std::map<std::string, i64> opsets;  // by domain; "" is that of ONNX
  std::string producer;
};

// Reads an ONNX file and the files of its external data, which must be in its folder. Throws Fault::Input for what is
// no valid model, Fault::Unsupported for values that are no tensors of numbers.
Model read_onnx(const std::string& path);

// TensorProto.DataType as a number; nothing for strings and complex numbers.
std::optional<DataType> onnx_data_type(i64 number);

// A tensor in a file of its own (TensorProto), as data of tests have it.
Tensor read_onnx_tensor(const std::string& path);

}  // namespace vinci::graph
