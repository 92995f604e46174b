// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "isa/numeric/bfloat16.h"
#include "isa/numeric/float16.h"

namespace vinci::models {
namespace {

// Calls `f` with a value of the plain type that holds an element.
template <class F>
auto with_storage(Element type, const F& f) {
  switch (type) {
    case Element::f32: return f(float{});
    case Element::f64: return f(double{});
    case Element::i8: return f(i8{});
    case Element::i16: return f(i16{});
    case Element::i32: return f(i32{});
    case Element::i64: return f(i64{});
    case Element::u8:
    case Element::boolean: return f(u8{});
    case Element::f16:
    case Element::bf16:
    case Element::u16: return f(u16{});
    case Element::u32: return f(u32{});
    case Element::u64: return f(u64{});
  }
  return f(u64{});
}

template <class T>
T as_integer(const Value& v) {
  if (v.kind != Value::Kind::real) return static_cast<T>(v.bits);
  if (std::isnan(v.real)) return 0;
  // The largest value of 64 bits is no double; what reaches 2^63 or 2^64 saturates.
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (v.real >= end) return std::numeric_limits<T>::max();
  if (v.real <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(v.real);
}

double as_real(const Value& v) {
  switch (v.kind) {
    case Value::Kind::real: return v.real;
    case Value::Kind::is_signed: return static_cast<double>(static_cast<i64>(v.bits));
    case Value::Kind::is_unsigned: return static_cast<double>(v.bits);
  }
  return 0;
}

}  // namespace

std::optional<Element> element(u64 ge_data_type) {
  using enum Element;
  for (const Element e :
       {f32, f16, i8, i32, Element::u8, i16, Element::u16, Element::u32, i64, Element::u64, f64, boolean, bf16}) {
    if (static_cast<vinci::u64>(e) == ge_data_type) return e;
  }
  return {};
}

u64 bytes_of(Element type) {
  return with_storage(type, [](auto storage) { return u64{sizeof storage}; });
}

Value load(Element type, const std::byte* from) {
  return with_storage(type, [&](auto storage) {
    std::memcpy(&storage, from, sizeof storage);
    if (type == Element::f16) return Value::of(isa::f16_value(static_cast<u16>(storage)));
    if (type == Element::bf16) return Value::of(isa::bf16_value(static_cast<u16>(storage)));
    if constexpr (std::is_floating_point_v<decltype(storage)>) {
      return Value::of(storage);
    } else {
      const bool is_signed = std::is_signed_v<decltype(storage)>;
      return Value{.kind = is_signed ? Value::Kind::is_signed : Value::Kind::is_unsigned,
                   .bits = static_cast<u64>(storage)};
    }
  });
}

void store(Element type, std::byte* to, const Value& value) {
  with_storage(type, [&](auto storage) {
    using T = decltype(storage);
    if (type == Element::f16) {
      storage = static_cast<T>(isa::f16_bits(as_real(value)));
    } else if (type == Element::bf16) {
      storage = static_cast<T>(isa::bf16_bits(as_real(value)));
    } else if (type == Element::boolean) {
      storage = static_cast<T>(value.kind == Value::Kind::real ? value.real != 0 : value.bits != 0);
    } else if constexpr (std::is_floating_point_v<T>) {
      storage = static_cast<T>(as_real(value));
    } else {
      storage = as_integer<T>(value);
    }
    std::memcpy(to, &storage, sizeof storage);
  });
}

Value add(Element type, const Value& a, const Value& b) {
  if (is_float(type)) return Value::of(a.real + b.real);
  return {.kind = a.kind, .bits = a.bits + b.bits};
}

}  // namespace vinci::models
