// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/graph/kernels/kernel.h"

// Programs of the scalar unit: tensors of any type element by element, from global memory and back. It is slow, but has
// 64-bit integers, and can address by data.
namespace vinci::graph {

// How an element is held in a register: f32, or an integer of 64 bits.
enum class Lane : u8 { f32, integer };
inline Lane lane_of(DataType t) { return is_float(t) ? Lane::f32 : Lane::integer; }

class ScalarWriter {
 public:
  ScalarWriter(const Group& group, isa::ProgramBuilder& p);

  const Group& group() const { return group_; }
  const Node& node() const { return *group_.nodes()[0]; }
  isa::ProgramBuilder& p() { return p_; }
  isa::Reg reg(std::string_view name = "t") { return p_.reg(name); }

  // The element of a tensor, or a constant number whatever the element, in the lane of its type.
  void load(isa::Reg to, const Value* v, const isa::Value& element);
  // An integer of 4 or 8 bytes from UB; `at`: its address.
  void load_from_ub(isa::Reg to, u64 bytes, isa::Reg at, u64 offset = 0);
  // Of an output. Integers wrap, floats round; `value` has the lane of the type of the tensor, and is destroyed.
  void store(const Value* v, const isa::Value& element, isa::Reg value);
  // to = where an element is.
  void address(isa::Reg to, const Value* v, const isa::Value& element);
  // The bytes of an element.
  void copy(const Value* to, const isa::Value& to_element, const Value* from, const isa::Value& from_element);

  // to = number / below % extent; `outer` where there is more of the number.
  void digit(isa::Reg to, isa::Reg number, u64 below, u64 extent, bool outer);
  // to = the sum over the digits of `number` in `dims` of digit * stride; another register.
  void weigh(isa::Reg to, isa::Reg number, std::span<const i64> dims, std::span<const i64> strides);
  // index += extent where it is negative.
  void wrap(isa::Reg index, i64 extent);
  // The same, and what is beyond the extent becomes the nearest index: an index of the data never leaves the tensor.
  void place(isa::Reg index, i64 extent);
  // to = condition (1 or 0) ? a : b, without a branch, so that times do not depend on data. `to` may be a or b.
  void select(isa::Reg to, isa::Reg condition, const isa::Value& a, isa::Reg b);
  // to = a <op> b as 1 or 0, in a lane; op: "eq", "ne", "lt", "le". `whole`: integers of 64 bits without sign.
  void compare(isa::Reg to, std::string_view op, Lane lane, isa::Reg a, isa::Reg b, bool whole = false);
  // to = value of another lane.
  void convert(isa::Reg to, Lane to_lane, isa::Reg value, Lane lane);

 private:
  usize pointer_of(const Value* v) const;

  const Group& group_;
  isa::ProgramBuilder& p_;
  std::vector<isa::Reg> pointers_;
  isa::Reg address_, t_;
};

// Bytes of UB that a scatter takes to copy what it changes.
inline constexpr u64 kScatterBuffer = u64{64} << 10;

// A family of nodes: so many items of work, each of which the writer gets as its number. Items are independent and
// dealt out to the cores in ranges, unless there is one core.
struct ScalarOp {
  std::string_view type;
  std::string (*refuses)(const Group& group);
  u64 (*items)(const Group& group);
  void (*write)(ScalarWriter& w, isa::Reg item);
  bool one_core = false;  // and takes kScatterBuffer of UB
};
std::span<const ScalarOp> scalar_lane_ops();
std::span<const ScalarOp> scalar_index_ops();
std::span<const ScalarOp> scalar_row_ops();

inline u64 output_elements(const Group& group) { return group.outputs()[0]->shape.elements(); }
inline std::string never_refuses(const Group&) { return ""; }

}  // namespace vinci::graph
