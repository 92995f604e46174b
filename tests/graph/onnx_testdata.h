// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/graph/import/import.h"

// Models and tensors of the package libonnx-testdata.
namespace vinci::graph {

inline std::filesystem::path onnx_testdata() {
  const char* const other = std::getenv("VINCI_ONNX_TESTDATA");
  return other != nullptr ? other : "/usr/lib/python3/dist-packages/onnx/backend/test/data";
}

// Files of bf16 have the type u16: the data are written by numpy, which has no bf16.
inline Array as_type(const Array& stored, DataType type) {
  if (type != DataType::bf16 || stored.type != DataType::u16) return stored;
  const Tensor bits(stored);
  return Tensor(DataType::bf16, stored.dims, {bits.bytes().begin(), bits.bytes().end()}).array();
}

// <prefix>_0.pb and the following ones of a folder.
inline std::vector<Array> onnx_arrays(const std::filesystem::path& set, const std::string& prefix) {
  std::vector<Array> out;
  for (usize i = 0;; ++i) {
    const std::filesystem::path file = set / (prefix + "_" + std::to_string(i) + ".pb");
    if (!std::filesystem::exists(file)) return out;
    out.push_back(read_onnx_tensor(file.string()).array());
  }
}

}  // namespace vinci::graph
