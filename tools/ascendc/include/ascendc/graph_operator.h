// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ascendc/graph_types.h"

// Shapes, and operators of a graph as far as definitions ask: whether an operator is supported, which formats it
// prefers. Definitions are compiled for their data types; nothing calls such functions.
// Operators use these names without std, as the published headers let them.
#define VINCI_STANDARD_NAMES \
  using std::map;            \
  using std::set;            \
  using std::string;         \
  using std::vector;
namespace optiling {
VINCI_STANDARD_NAMES
}  // namespace optiling

namespace ge {
VINCI_STANDARD_NAMES
using char_t = char;
using float32_t = float;

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(const std::vector<int64_t>& dims) : dims_(dims) {}

  std::size_t GetDimNum() const { return dims_.size(); }
  int64_t GetDim(std::size_t index) const { return dims_[index]; }
  int64_t SetDim(std::size_t index, int64_t value) { return dims_[index] = value; }
  std::vector<int64_t> GetDims() const { return dims_; }
  // The number of elements.
  int64_t GetShapeSize() const {
    int64_t size = dims_.empty() ? 0 : 1;
    for (const int64_t dim : dims_)
      size *= dim;
    return size;
  }

 private:
  std::vector<int64_t> dims_;
};

class AscendString {
 public:
  AscendString() = default;
  AscendString(const char* text) : text_(text) {}  // NOLINT(google-explicit-constructor): as published
  const char* GetString() const { return text_.c_str(); }
  std::size_t GetLength() const { return text_.size(); }

 private:
  std::string text_;
};

class TensorDesc {
 public:
  Shape GetShape() const { return shape_; }
  Shape GetOriginShape() const { return shape_; }
  DataType GetDataType() const { return DT_UNDEFINED; }
  Format GetFormat() const { return FORMAT_ND; }
  Format GetOriginFormat() const { return FORMAT_ND; }

 private:
  Shape shape_;
};

class Operator {
 public:
  graphStatus GetName(AscendString&) const { return GRAPH_FAILED; }
  graphStatus GetOpType(AscendString&) const { return GRAPH_FAILED; }
  template <class Key>
  TensorDesc GetInputDesc(const Key&) const {
    return {};
  }
  template <class Key>
  TensorDesc GetOutputDesc(const Key&) const {
    return {};
  }
  TensorDesc GetInputDescByName(const char*) const { return {}; }
  TensorDesc GetOutputDescByName(const char*) const { return {}; }
  template <class T>
  graphStatus GetAttr(const char*, T&) const {
    return GRAPH_FAILED;
  }
  std::size_t GetInputsSize() const { return 0; }
  std::size_t GetOutputsSize() const { return 0; }
};

}  // namespace ge
#undef VINCI_STANDARD_NAMES
