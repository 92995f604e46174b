// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <optional>

#include "isa/base/types.h"

// Single elements of tensors in host code, of any type that a graph knows.
namespace vinci::models {

// Values of ge::DataType (public header graph/types.h of the graph engine).
enum class Element : u8 {
  f32 = 0,
  f16 = 1,
  i8 = 2,
  i32 = 3,
  u8 = 4,
  i16 = 6,
  u16 = 7,
  u32 = 8,
  i64 = 9,
  u64 = 10,
  f64 = 11,
  boolean = 12,
  bf16 = 27,
};

std::optional<Element> element(vinci::u64 ge_data_type);
vinci::u64 bytes_of(Element type);
constexpr bool is_float(Element type) {
  return type == Element::f32 || type == Element::f16 || type == Element::f64 || type == Element::bf16;
}

// The value of an element: floats as `real`, signed and unsigned integers as 64 bits in two's complement.
struct Value {
  enum class Kind : vinci::u8 { real, is_signed, is_unsigned };
  Kind kind = Kind::real;
  double real = 0;
  vinci::u64 bits = 0;

  static Value of(double v) { return {.kind = Kind::real, .real = v}; }
};

Value load(Element type, const std::byte* from);
// Converts and stores: floats round to nearest even; to integers they are truncated and saturated, a NaN becomes 0;
// integers wrap; a boolean is whether the value is not zero.
void store(Element type, std::byte* to, const Value& value);
// The sum of two elements of one type, rounded once by store(): 53 >= 2 * 24 + 2.
Value add(Element type, const Value& a, const Value& b);

}  // namespace vinci::models
