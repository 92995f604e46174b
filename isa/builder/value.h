// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <bit>
#include <concepts>

#include "isa/arch.h"
#include "isa/base/types.h"

// Operands of instructions as a ProgramBuilder takes them. A named thing belongs to the builder that made it.
namespace vinci::isa {

// A scalar register, X0 to X31. By default X0 without a name, for members that are assigned later.
class Reg {
 public:
  constexpr Reg() = default;
  u8 number() const { return number_; }

 private:
  friend class ProgramBuilder;
  friend class Value;
  constexpr Reg(u8 number, u32 name) : number_(number), name_(name) {}

  u8 number_ = 0;
  u32 name_ = ~u32{0};  // index of its name in the builder, or Value::kUnnamed
};

// A number that the text of the program gives a name (.const). Computing with it on the host gives plain numbers.
class Const {
 public:
  constexpr operator i64() const { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  friend class ProgramBuilder;
  friend class Value;
  constexpr Const(i64 value, u32 name) : value_(value), name_(name) {}

  i64 value_;
  u32 name_;
};

// A place in the program that branches go to.
class Target {
 private:
  friend class ProgramBuilder;
  friend class Value;
  constexpr explicit Target(u32 id) : id_(id) {}

  u32 id_;
};

// Any operand: an integer, a named constant, a scalar register, a pipe, a label.
class Value {
 public:
  enum class Kind : u8 { number, reg, pipe, label };
  static constexpr u32 kUnnamed = ~u32{0};

  // NOLINTBEGIN(google-explicit-constructor)
  template <std::integral T>
  constexpr Value(T number) : bits_(static_cast<u64>(number)), negative_(number < T{}) {}
  constexpr Value(Const number)
      : bits_(static_cast<u64>(number.value_)), name_(number.name_), negative_(number.value_ < 0) {}
  constexpr Value(Reg reg) : bits_(reg.number_), name_(reg.name_), kind_(Kind::reg) {}
  constexpr Value(PipeId pipe) : bits_(static_cast<u64>(pipe)), kind_(Kind::pipe) {}
  constexpr Value(Target label) : bits_(label.id_), kind_(Kind::label) {}
  // NOLINTEND(google-explicit-constructor)

  Kind kind() const { return kind_; }
  bool is_number() const { return kind_ == Kind::number; }
  bool is_reg() const { return kind_ == Kind::reg; }
  u64 bits() const { return bits_; }           // of a number; else the number of the register, pipe or label
  bool negative() const { return negative_; }  // a number below 0, whose bits are its two's complement
  u32 name() const { return name_; }
  // The register that the value is. Throws Fault::Input where it is none.
  Reg reg() const;

 private:
  u64 bits_;
  u32 name_ = kUnnamed;
  Kind kind_ = Kind::number;
  bool negative_ = false;
};

// An event id: a number, or a register that holds it.
class Event : public Value {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  template <std::integral T>
  constexpr Event(T number) : Value(number) {}
  constexpr Event(Const number) : Value(number) {}
  constexpr Event(Reg reg) : Value(reg) {}
  constexpr Event(const Value& value) : Value(value) {}
  // NOLINTEND(google-explicit-constructor)
};

// The bits of a floating number, for operands that carry a scalar.
constexpr Value f32(float number) { return std::bit_cast<u32>(number); }
Value f16(float number);  // to nearest even

// ---------------------------------------------------------------------------------------------------------------------
// Sums, products and comparisons on registers, which ProgramBuilder::set() and if_() turn into instructions.

enum class ScalarOp : u8 { add, sub, mul, div, rem, and_, or_, xor_, shl, shr, min, max };

// A value and what is done to it, from left to right.
class Expr {
 public:
  static constexpr usize kMaxSteps = 6;
  struct Step {
    ScalarOp op = ScalarOp::add;
    Value operand = 0;
  };

  constexpr Expr(const Value& first) : first_(first) {}  // NOLINT(google-explicit-constructor)
  constexpr Expr(Reg first) : first_(first) {}           // NOLINT(google-explicit-constructor)
  Expr then(ScalarOp op, const Value& operand) const;    // throws Fault::Input beyond kMaxSteps
  const Value& first() const { return first_; }
  const Step* begin() const { return steps_.data(); }
  const Step* end() const { return steps_.data() + size_; }
  usize size() const { return size_; }

 private:
  Value first_;
  usize size_ = 0;
  std::array<Step, kMaxSteps> steps_{};
};

inline Expr operator+(const Expr& a, const Value& b) { return a.then(ScalarOp::add, b); }
inline Expr operator-(const Expr& a, const Value& b) { return a.then(ScalarOp::sub, b); }
inline Expr operator*(const Expr& a, const Value& b) { return a.then(ScalarOp::mul, b); }
inline Expr operator/(const Expr& a, const Value& b) { return a.then(ScalarOp::div, b); }
inline Expr operator%(const Expr& a, const Value& b) { return a.then(ScalarOp::rem, b); }
inline Expr operator&(const Expr& a, const Value& b) { return a.then(ScalarOp::and_, b); }
inline Expr operator|(const Expr& a, const Value& b) { return a.then(ScalarOp::or_, b); }
inline Expr operator^(const Expr& a, const Value& b) { return a.then(ScalarOp::xor_, b); }
inline Expr operator<<(const Expr& a, const Value& b) { return a.then(ScalarOp::shl, b); }
inline Expr operator>>(const Expr& a, const Value& b) { return a.then(ScalarOp::shr, b); }
inline Expr min(const Expr& a, const Value& b) { return a.then(ScalarOp::min, b); }
inline Expr max(const Expr& a, const Value& b) { return a.then(ScalarOp::max, b); }

// A signed comparison.
struct Condition {
  enum class Op : u8 { eq, ne, lt, le, gt, ge };
  Op op;
  Value a, b;
};
Condition operator!(const Condition& condition);
inline Condition operator==(const Value& a, const Value& b) { return {Condition::Op::eq, a, b}; }
inline Condition operator!=(const Value& a, const Value& b) { return {Condition::Op::ne, a, b}; }
inline Condition operator<(const Value& a, const Value& b) { return {Condition::Op::lt, a, b}; }
inline Condition operator<=(const Value& a, const Value& b) { return {Condition::Op::le, a, b}; }
inline Condition operator>(const Value& a, const Value& b) { return {Condition::Op::gt, a, b}; }
inline Condition operator>=(const Value& a, const Value& b) { return {Condition::Op::ge, a, b}; }

}  // namespace vinci::isa
