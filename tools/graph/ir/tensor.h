// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/enums.h"
#include "isa/base/types.h"

// Types, shapes and contents of tensors.
namespace vinci::graph {

enum class DataType : u8 { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

struct DataTypeInfo {
  std::string_view name;  // in dumps
  std::string_view npy;   // NumPy's name; "" where it has none
  u32 bytes = 0;
  bool floating = false;
  // Limits of integers.
  double lowest = 0, highest = 0;
};

inline constexpr auto kDataTypes = enum_table<DataType, DataTypeInfo>({
    {DataType::f16, {"f16", "f2", 2, true}},
    {DataType::bf16, {"bf16", "", 2, true}},
    {DataType::f32, {"f32", "f4", 4, true}},
    {DataType::f64, {"f64", "f8", 8, true}},
    {DataType::i8, {"i8", "i1", 1, false, -128, 127}},
    {DataType::i16, {"i16", "i2", 2, false, -32768, 32767}},
    {DataType::i32, {"i32", "i4", 4, false, -2147483648.0, 2147483647.0}},
    {DataType::i64, {"i64", "i8", 8, false, -0x1p63, 0x1p63}},
    {DataType::u8, {"u8", "u1", 1, false, 0, 255}},
    {DataType::u16, {"u16", "u2", 2, false, 0, 65535}},
    {DataType::u32, {"u32", "u4", 4, false, 0, 4294967295.0}},
    {DataType::u64, {"u64", "u8", 8, false, 0, 0x1p64}},
    {DataType::boolean, {"bool", "b1", 1, false, 0, 1}},
});
constexpr const DataTypeInfo& info(DataType t) { return kDataTypes[enum_index(t)]; }
constexpr bool is_float(DataType t) { return info(t).floating; }

using Dims = std::vector<i64>;

// The extents of a tensor. An extent can be unknown (-1), and so can their number.
class Shape {
 public:
  static constexpr i64 kUnknown = -1;

  Shape() = default;                            // a scalar
  Shape(Dims dims) : dims_(std::move(dims)) {}  // NOLINT(google-explicit-constructor)
  Shape(std::initializer_list<i64> dims) : Shape(Dims(dims)) {}
  static Shape unranked() {
    Shape shape;
    shape.ranked_ = false;
    return shape;
  }

  bool ranked() const { return ranked_; }
  // Every extent is known.
  bool known() const;
  usize rank() const { return dims_.size(); }  // of a ranked one
  const Dims& dims() const { return dims_; }
  i64 operator[](usize axis) const { return dims_[axis]; }
  // Of a known one.
  u64 elements() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  bool ranked_ = true;
  Dims dims_;
};
std::string text(const Shape& shape);  // "[1, 3, ?]", "[...]" without a rank

// Product of extents. Throws Fault::Limit beyond 2^48.
u64 element_count(std::span<const i64> dims);

// Values for computing on the host, in row-major order. Integers are exact up to 2^53; the limits of 64-bit integers
// are kept as limits.
struct Array {
  DataType type = DataType::f32;
  Dims dims = {};
  std::vector<double> values = {};

  Array() = default;
  Array(DataType type_, Dims dims_) : type(type_), dims(std::move(dims_)), values(element_count(dims)) {}
  Array(DataType type_, Dims dims_, std::vector<double> values_);

  usize rank() const { return dims.size(); }
  usize size() const { return values.size(); }
  // Rounds each value to the type: floats to nearest even, overflow to infinity; integers wrap, as conversions in C++.
  void round();
  // As integers, saturated.
  std::vector<i64> integers() const;
};
double round_to(DataType type, double value);

// Contents of a constant, as stored in memory: row-major, little endian. Copies share them.
class Tensor {
 public:
  Tensor() = default;
  // `bytes` has the size that type and extents ask for.
  Tensor(DataType type, Dims dims, std::vector<std::byte> bytes);
  explicit Tensor(const Array& values);

  DataType type() const { return type_; }
  const Dims& dims() const { return dims_; }
  u64 elements() const { return bytes_->size() / info(type_).bytes; }
  std::span<const std::byte> bytes() const { return *bytes_; }
  Array array() const;
  // Equal type, extents and bytes.
  friend bool operator==(const Tensor& a, const Tensor& b);

 private:
  DataType type_ = DataType::f32;
  Dims dims_ = {};
  std::shared_ptr<const std::vector<std::byte>> bytes_ = std::make_shared<std::vector<std::byte>>();
};

}  // namespace vinci::graph
