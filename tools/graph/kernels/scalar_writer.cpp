// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/scalar_writer.h"

#include <algorithm>
#include <bit>

#include "isa/base/error.h"
#include "tools/graph/passes/match.h"

namespace vinci::graph {
namespace {

using isa::Reg, isa::Type;

Type width(const Value* v) {
  switch (info(v->type).bytes) {
    case 1: return Type::b8;
    case 2: return Type::b16;
    case 4: return Type::b32;
    default: return Type::b64;
  }
}

u32 bits(double v) { return std::bit_cast<u32>(static_cast<float>(v)); }

bool is_signed(DataType t) { return info(t).lowest < 0; }

}  // namespace

ScalarWriter::ScalarWriter(const Group& group, isa::ProgramBuilder& p) : group_(group), p_(p) {
  for (usize i = 0; i < group.inputs().size() + group.outputs().size(); ++i)
    pointers_.push_back(p.arg("tensor"));
  address_ = p.reg("address");
  t_ = p.reg("t");
}

usize ScalarWriter::pointer_of(const Value* v) const {
  if (const auto in = std::ranges::find(group_.inputs(), v); in != group_.inputs().end())
    return static_cast<usize>(in - group_.inputs().begin());
  const auto out = std::ranges::find(group_.outputs(), v);
  VINCI_CHECK(out != group_.outputs().end());
  return group_.inputs().size() + static_cast<usize>(out - group_.outputs().begin());
}

void ScalarWriter::address(Reg to, const Value* v, const isa::Value& element) {
  p_.mul(to, element, info(v->type).bytes);
  p_.add(to, to, pointers_[pointer_of(v)]);
}

void ScalarWriter::load(Reg to, const Value* v, const isa::Value& element) {
  const bool wide = lane_of(v->type) == Lane::f32;
  if (const auto number = scalar(v))
    return p_.mov(to, wide ? isa::Value(u64{bits(*number)}) : static_cast<i64>(*number));
  address(address_, v, element);
  p_.ld_dev(width(v), to, address_);
  if (v->type == DataType::f16) p_.conv_f162f32(to, to);
  if (v->type == DataType::bf16) p_.shl(to, to, 16);
  if (!wide && is_signed(v->type) && info(v->type).bytes < 8) {
    const u32 unused = 64 - info(v->type).bytes * 8;
    p_.shl(to, to, unused);
    p_.sar(to, to, unused);
  }
}

void ScalarWriter::load_from_ub(Reg to, u64 bytes, Reg at, u64 offset) {
  p_.ld_ubuf(bytes == 8 ? Type::b64 : Type::b32, to, at, offset);
  if (bytes == 8) return;
  p_.shl(to, to, 32);
  p_.sar(to, to, 32);
}

void ScalarWriter::store(const Value* v, const isa::Value& element, Reg value) {
  if (v->type == DataType::f16) p_.conv_f322f16(value, value);
  if (v->type == DataType::bf16) {  // to nearest even
    const isa::ProgramBuilder::Scope scope(p_.scope());
    const Reg nan = p_.reg("nan");
    p_.cmp_ne(Type::f32, nan, value, value);
    select(value, nan, 0x7fc00000, value);
    p_.shr(t_, value, 16);
    p_.and_(t_, t_, 1);
    p_.add(t_, t_, 0x7fff);
    p_.add(value, value, t_);
    p_.shr(value, value, 16);
  }
  address(address_, v, element);
  p_.st_dev(width(v), value, address_);
}

void ScalarWriter::copy(const Value* to, const isa::Value& to_element, const Value* from,
                        const isa::Value& from_element) {
  VINCI_CHECK(to->type == from->type);
  if (const auto number = scalar(from)) {
    load(t_, from, 0);
    const isa::ProgramBuilder::Scope scope(p_.scope());
    const Reg value = p_.reg("value");
    p_.mov(value, t_);
    return store(to, to_element, value);
  }
  address(address_, from, from_element);
  p_.ld_dev(width(from), t_, address_);
  address(address_, to, to_element);
  p_.st_dev(width(to), t_, address_);
}

void ScalarWriter::digit(Reg to, Reg number, u64 below, u64 extent, bool outer) {
  if (extent == 1) return p_.mov(to, 0);
  p_.div(to, number, below);
  if (outer) p_.rem(to, to, extent);
}

void ScalarWriter::weigh(Reg to, Reg number, std::span<const i64> dims, std::span<const i64> strides) {
  p_.mov(to, 0);
  const u64 all = element_count(dims);
  u64 below = 1;
  for (usize a = dims.size(); a-- > 0;) {
    const u64 extent = static_cast<u64>(dims[a]);
    if (strides[a] != 0 && extent > 1) {
      digit(t_, number, below, extent, below * extent < all);
      p_.mul(t_, t_, strides[a]);
      p_.add(to, to, t_);
    }
    below *= extent;
  }
}

void ScalarWriter::wrap(Reg index, i64 extent) {
  p_.sar(t_, index, 63);
  p_.and_(t_, t_, extent);
  p_.add(index, index, t_);
}

void ScalarWriter::place(Reg index, i64 extent) {
  wrap(index, extent);
  p_.max(index, index, 0);
  p_.min(index, index, extent - 1);
}

void ScalarWriter::select(Reg to, Reg condition, const isa::Value& a, Reg b) {
  p_.xor_(t_, b, a);
  p_.neg(address_, condition);
  p_.and_(t_, t_, address_);
  p_.xor_(to, b, t_);
}

void ScalarWriter::compare(Reg to, std::string_view op, Lane lane, Reg a, Reg b, bool whole) {
  if (lane == Lane::f32) return p_.call(std::string("cmp_") + std::string(op), Type::f32, {to, a, b});
  if (whole && op != "eq" && op != "ne") {
    // Without sign: the highest bits change their order.
    p_.sbitset1(t_, 0, 63);
    p_.xor_(address_, a, t_);
    p_.xor_(t_, b, t_);
    return p_.call(std::string("cmp_") + std::string(op), {to, address_, t_});
  }
  p_.call(std::string("cmp_") + std::string(op), {to, a, b});
}

void ScalarWriter::convert(Reg to, Lane to_lane, Reg value, Lane lane) {
  if (to_lane == lane) return p_.mov(to, value);
  if (to_lane == Lane::integer) {
    p_.conv_f322s32z(to, value);
    p_.shl(to, to, 32);
    p_.sar(to, to, 32);
    return;
  }
  // In pieces that fit s32: 2^32 high + 2^16 middle + low.
  p_.sar(t_, value, 32);
  p_.conv_s322f32(t_, t_);
  p_.mul(Type::f32, t_, t_, isa::f32(0x1p32F));
  p_.shr(address_, value, 16);
  p_.and_(address_, address_, 0xffff);
  p_.conv_s322f32(address_, address_);
  p_.mul(Type::f32, address_, address_, isa::f32(0x1p16F));
  p_.add(Type::f32, t_, t_, address_);
  p_.and_(address_, value, 0xffff);
  p_.conv_s322f32(address_, address_);
  p_.add(Type::f32, to, t_, address_);
}

}  // namespace vinci::graph
