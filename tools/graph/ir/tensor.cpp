// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/ir/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "isa/base/error.h"
#include "isa/numeric/bfloat16.h"
#include "isa/numeric/float16.h"

namespace vinci::graph {
namespace {

constexpr u64 kMaxElements = u64{1} << 48;

// A double as an integer of 64 bits: the nearest there is; NaN is 0.
template <class Int>
Int saturated(double value) {
  if (std::isnan(value)) return 0;
  if (value >= std::ldexp(1.0, std::numeric_limits<Int>::digits)) return std::numeric_limits<Int>::max();
  if (value <= static_cast<double>(std::numeric_limits<Int>::min())) return std::numeric_limits<Int>::min();
  return static_cast<Int>(value);
}

// visit(tag) with a value of the C++ type that stores `type`; f16 and bf16 are Half and Brain.
struct Half {
  u16 bits;
};
struct Brain {
  u16 bits;
};
template <class Visit>
void with_storage(DataType type, const Visit& visit) {
  switch (type) {
    case DataType::f16: return visit(Half{});
    case DataType::bf16: return visit(Brain{});
    case DataType::f32: return visit(float{});
    case DataType::f64: return visit(double{});
    case DataType::i8: return visit(i8{});
    case DataType::i16: return visit(i16{});
    case DataType::i32: return visit(i32{});
    case DataType::i64: return visit(i64{});
    case DataType::u8:
    case DataType::boolean: return visit(u8{});
    case DataType::u16: return visit(u16{});
    case DataType::u32: return visit(u32{});
    case DataType::u64: return visit(u64{});
  }
}

double wide(Half x) { return isa::f16_value(x.bits); }
double wide(Brain x) { return isa::bf16_value(x.bits); }
template <class T>
double wide(T x) {
  return static_cast<double>(x);
}

template <class T>
T narrow(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return {isa::f16_bits(value)};
  } else if constexpr (std::is_same_v<T, Brain>) {
    return {isa::bf16_bits(value)};
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (sizeof(T) == 8) {
    return saturated<T>(value);
  } else {
    return static_cast<T>(saturated<i64>(value));  // wraps
  }
}

}  // namespace

bool Shape::known() const {
  return ranked_ && std::ranges::all_of(dims_, [](i64 d) { return d >= 0; });
}

u64 Shape::elements() const {
  VINCI_CHECK(known());
  return element_count(dims_);
}

std::string text(const Shape& shape) {
  if (!shape.ranked()) return "[...]";
  std::vector<std::string> dims;
  for (const i64 d : shape.dims())
    dims.push_back(d < 0 ? "?" : fmt::format("{}", d));
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

u64 element_count(std::span<const i64> dims) {
  u64 count = 1;
  bool empty = false, large = false;
  for (const i64 d : dims) {
    VINCI_CHECK(d >= 0);
    empty = empty || d == 0;
    large = large || (d != 0 && count > kMaxElements / static_cast<u64>(d));
    if (!large && d != 0) count *= static_cast<u64>(d);
  }
  if (empty) return 0;
  if (large) fail(Fault::Limit, "a tensor of [{}] has more than 2^48 elements", fmt::join(dims, ", "));
  return count;
}

Array::Array(DataType type_, Dims dims_, std::vector<double> values_)
    : type(type_), dims(std::move(dims_)), values(std::move(values_)) {
  VINCI_CHECK(values.size() == element_count(dims));
}

double round_to(DataType type, double value) {
  if (type == DataType::f64) return value;
  if (type == DataType::boolean) return value != 0 ? 1 : 0;
  double out = value;
  with_storage(type, [&](auto tag) { out = wide(narrow<decltype(tag)>(value)); });
  return out;
}

void Array::round() {
  if (type == DataType::f64) return;
  if (type == DataType::boolean) {
    for (double& v : values)
      v = v != 0 ? 1 : 0;
    return;
  }
  with_storage(type, [&](auto tag) {
    for (double& v : values)
      v = wide(narrow<decltype(tag)>(v));
  });
}

std::vector<i64> Array::integers() const {
  std::vector<i64> out(values.size());
  std::ranges::transform(values, out.begin(), saturated<i64>);
  return out;
}

Tensor::Tensor(DataType type, Dims dims, std::vector<std::byte> bytes)
    : type_(type), dims_(std::move(dims)), bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {
  VINCI_CHECK(bytes_->size() == element_count(dims_) * info(type_).bytes);
}

Tensor::Tensor(const Array& array) : type_(array.type), dims_(array.dims) {
  std::vector<std::byte> bytes(array.size() * info(type_).bytes);
  with_storage(type_, [&](auto tag) {
    using T = decltype(tag);
    for (usize i = 0; i < array.size(); ++i) {
      const double value = type_ == DataType::boolean ? (array.values[i] != 0 ? 1 : 0) : array.values[i];
      const T stored = narrow<T>(value);
      std::memcpy(&bytes[i * sizeof(T)], &stored, sizeof(T));
    }
  });
  bytes_ = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

Array Tensor::array() const {
  Array out(type_, dims_);
  with_storage(type_, [&](auto tag) {
    using T = decltype(tag);
    for (usize i = 0; i < out.size(); ++i) {
      T stored;
      std::memcpy(&stored, &(*bytes_)[i * sizeof(T)], sizeof(T));
      out.values[i] = wide(stored);
    }
  });
  return out;
}

bool operator==(const Tensor& a, const Tensor& b) {
  return a.type_ == b.type_ && a.dims_ == b.dims_ && (a.bytes_ == b.bytes_ || *a.bytes_ == *b.bytes_);
}

}  // namespace vinci::graph
