// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "tools/graph/import/model.h"

// Reading ONNX files is a module that is loaded when a file is read for the first time: protobuf and the descriptions
// of ONNX's messages would make the start of each other command of the tool half as long again.
namespace vinci::graph {

// What the module offers.
struct OnnxModule {
  Model (*read_model)(const std::string& path);
  Tensor (*read_tensor)(const std::string& path);
};

inline constexpr const char* kOnnxModuleFile = "vinci_onnx.so";  // in lib/vinci
inline constexpr const char* kOnnxModuleEntry = "vinci_onnx_module";

extern "C" const OnnxModule* vinci_onnx_module();

}  // namespace vinci::graph
