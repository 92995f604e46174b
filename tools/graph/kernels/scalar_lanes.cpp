// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "tools/graph/kernels/rows.h"
#include "tools/graph/kernels/scalar_writer.h"
#include "tools/graph/passes/match.h"

// Element-wise nodes on the scalar unit, with operands that are repeated.
namespace vinci::graph {
namespace {

using isa::Reg, isa::Type;

// Operands of an element, in the lanes of their types; the result goes to x[0] in the lane of the output.
struct Element {
  ScalarWriter& w;
  const Node& node;
  Lane lane;      // of the operands
  DataType type;  // of the first operand
  std::array<Reg, 3> x;
  std::array<bool, 3> there{};

  isa::ProgramBuilder& p() const { return w.p(); }
  bool f32() const { return lane == Lane::f32; }
  bool without_sign() const { return type == DataType::u64; }
};
using Body = void (*)(const Element& e);

struct LaneOp {
  std::string_view type;
  Body body;
};

void arithmetic(const Element& e,
                void (isa::InstructionCalls::*write)(Type, Reg, const isa::Value&, const isa::Value&)) {
  (e.p().*write)(e.f32() ? Type::f32 : Type::s64, e.x[0], e.x[0], e.x[1]);
}
void add(const Element& e) { arithmetic(e, &isa::InstructionCalls::add); }
void sub(const Element& e) { arithmetic(e, &isa::InstructionCalls::sub); }
void mul(const Element& e) { arithmetic(e, &isa::InstructionCalls::mul); }
// Integers: a divisor of 0, which would be a fault of the chip, becomes 1.
void avoid_zero(const Element& e) {
  if (e.f32()) return;
  const Reg zero = e.w.reg();
  e.p().cmp_eq(zero, e.x[1], 0);
  e.p().or_(e.x[1], e.x[1], zero);
}
void div(const Element& e) {
  avoid_zero(e);
  arithmetic(e, &isa::InstructionCalls::div);
}

template <const char* op, bool swapped>
void compare(const Element& e) {
  e.w.compare(e.x[0], op, e.lane, e.x[swapped ? 1 : 0], e.x[swapped ? 0 : 1], e.without_sign());
}
constexpr char kEq[] = "eq", kLt[] = "lt", kLe[] = "le";

// The larger (smaller) one; NaN stays.
template <bool larger>
void extreme(const Element& e) {
  const Reg c = e.w.reg(), nan = e.w.reg();
  e.w.compare(c, "lt", e.lane, e.x[larger ? 1 : 0], e.x[larger ? 0 : 1], e.without_sign());
  if (e.f32()) {
    e.w.compare(nan, "ne", e.lane, e.x[0], e.x[0]);
    e.p().or_(c, c, nan);
  }
  e.w.select(e.x[0], c, e.x[0], e.x[1]);
}

// The rest has the sign of the dividend, and with fmod = 0 that of the divisor.
void modulus(const Element& e) {
  avoid_zero(e);
  const bool python = e.node.integer("fmod") == 0;
  const Reg rest = e.w.reg(), other = e.w.reg(), c = e.w.reg(), zero = e.w.reg();
  isa::ProgramBuilder& p = e.p();
  p.mov(zero, 0);
  const Type type = e.f32() ? Type::f32 : Type::s64;
  if (e.f32()) {
    p.div(Type::f32, rest, e.x[0], e.x[1]);
    p.conv_f322s32z(rest, rest);
    p.conv_s322f32(rest, rest);
    p.mul(Type::f32, rest, rest, e.x[1]);
    p.sub(Type::f32, rest, e.x[0], rest);
    // The quotient may have been rounded to the next whole number: then the rest has the other sign.
    p.and_(c, e.x[1], 0x7fffffff);
    p.and_(other, e.x[0], 0x80000000);
    p.or_(c, c, other);  // |divisor| with the sign of the dividend
    p.add(Type::f32, c, rest, c);
    p.mul(Type::f32, other, rest, e.x[0]);
    e.w.compare(other, "lt", Lane::f32, other, zero);
    e.w.select(rest, other, c, rest);
  } else {
    p.rem(rest, e.x[0], e.x[1]);
  }
  if (python) {
    e.w.compare(c, "lt", e.lane, rest, zero);
    e.w.compare(other, "lt", e.lane, e.x[1], zero);
    p.xor_(c, c, other);
    e.w.compare(other, "ne", e.lane, rest, zero);
    p.and_(c, c, other);
    p.add(type, other, rest, e.x[1]);
    e.w.select(rest, c, other, rest);
  }
  p.mov(e.x[0], rest);
}

// A base to the power of a whole number, bit by bit of the exponent: times depend on data.
void power(const Element& e) {
  isa::ProgramBuilder& p = e.p();
  const Type type = e.f32() ? Type::f32 : Type::s64;
  const Reg result = e.w.reg(), bit = e.w.reg(), sign = e.w.reg();
  p.mov(result, e.f32() ? isa::Value(isa::f32(1)) : isa::Value(1));
  p.shr(sign, e.x[1], 63);
  p.if_(sign == 1, [&] { p.neg(e.x[1], e.x[1]); });
  const isa::Target again = p.here("bit"), done = p.label("done");
  p.beq(e.x[1], 0, done);
  p.and_(bit, e.x[1], 1);
  p.if_(bit == 1, [&] { p.mul(type, result, result, e.x[0]); });
  p.mul(type, e.x[0], e.x[0], e.x[0]);
  p.shr(e.x[1], e.x[1], 1);
  p.b(again);
  p.bind(done);
  p.mov(e.x[0], result);
  if (e.f32()) p.if_(sign == 1, [&] { p.div(Type::f32, e.x[0], isa::f32(1), result); });
}

void logical_and(const Element& e) { e.p().and_(e.x[0], e.x[0], e.x[1]); }
void logical_or(const Element& e) { e.p().or_(e.x[0], e.x[0], e.x[1]); }
void logical_xor(const Element& e) { e.p().xor_(e.x[0], e.x[0], e.x[1]); }
void logical_not(const Element& e) { e.p().xor_(e.x[0], e.x[0], 1); }
void bit_shift(const Element& e) {
  e.node.string("direction") == "RIGHT" ? e.p().shr(e.x[0], e.x[0], e.x[1]) : e.p().shl(e.x[0], e.x[0], e.x[1]);
}
void negate(const Element& e) { e.p().neg(e.f32() ? Type::f32 : Type::s64, e.x[0], e.x[0]); }
void absolute(const Element& e) {
  if (e.f32()) return e.p().and_(e.x[0], e.x[0], 0x7fffffff);
  const Reg c = e.w.reg(), other = e.w.reg();
  e.p().shr(c, e.x[0], 63);
  e.p().neg(other, e.x[0]);
  e.w.select(e.x[0], c, other, e.x[0]);
}
void sign(const Element& e) {
  const Reg below = e.w.reg(), zero = e.w.reg();
  e.p().mov(zero, 0);
  e.w.compare(below, "lt", e.lane, e.x[0], zero);
  e.w.compare(e.x[0], "lt", e.lane, zero, e.x[0]);
  e.p().sub(e.x[0], e.x[0], below);
  e.w.convert(e.x[0], e.lane, e.x[0], Lane::integer);
}
void is_nan(const Element& e) { e.w.compare(e.x[0], "ne", e.lane, e.x[0], e.x[0]); }
void is_inf(const Element& e) {
  const Reg other = e.w.reg();
  e.p().cmp_eq(other, e.x[0], 0xff800000);
  e.p().cmp_eq(e.x[0], e.x[0], 0x7f800000);
  e.p().mul(e.x[0], e.x[0], e.node.integer("detect_positive", 1));
  e.p().mul(other, other, e.node.integer("detect_negative", 1));
  e.p().or_(e.x[0], e.x[0], other);
}
void same(const Element&) {}
// x[0] = trunc(x[0]), which may have more bits than s32: what fits s32 of it by 2^32, of the rest by 2^16, and of the
// rest. All three have the same sign, and no rest is rounded.
void truncate_to_s64(const Element& e) {
  isa::ProgramBuilder& p = e.p();
  const Reg sum = e.w.reg(), part = e.w.reg(), rest = e.w.reg();
  p.mov(sum, 0);
  for (const u32 bits : {32U, 16U, 0U}) {
    const float unit = std::ldexp(1.0F, static_cast<int>(bits));
    p.mul(Type::f32, part, e.x[0], isa::f32(1 / unit));
    e.w.convert(part, Lane::integer, part, Lane::f32);
    p.conv_s322f32(rest, part);
    p.mul(Type::f32, rest, rest, isa::f32(unit));
    p.sub(Type::f32, e.x[0], e.x[0], rest);
    p.shl(part, part, bits);
    p.add(sum, sum, part);
  }
  p.mov(e.x[0], sum);
}
void cast(const Element& e) {
  const DataType to = e.node.output()->type;
  if (e.type == DataType::f32 && !is_float(to) && info(to).highest > 0x1p31) return truncate_to_s64(e);
  if (to != DataType::boolean) return e.w.convert(e.x[0], lane_of(to), e.x[0], e.lane);
  const Reg zero = e.w.reg();
  e.p().mov(zero, 0);
  e.w.compare(e.x[0], "ne", e.lane, e.x[0], zero);
}
void clip(const Element& e) {
  const Reg c = e.w.reg();
  for (const usize limit : {usize{1}, usize{2}}) {
    if (!e.there[limit]) continue;
    e.w.compare(c, "lt", e.lane, e.x[limit == 1 ? 0 : 2], e.x[limit == 1 ? 1 : 0], e.without_sign());
    e.w.select(e.x[0], c, e.x[limit], e.x[0]);
  }
}
void where(const Element& e) { e.w.select(e.x[0], e.x[0], e.x[1], e.x[2]); }

constexpr auto kLaneOps = std::to_array<LaneOp>({
    {"Abs", absolute},
    {"Add", add},
    {"BitShift", bit_shift},
    {"Cast", cast},
    {"ClipByValue", clip},
    {"Dropout", same},
    {"Equal", compare<kEq, false>},
    {"Greater", compare<kLt, true>},
    {"GreaterEqual", compare<kLe, true>},
    {"Identity", same},
    {"IsInf", is_inf},
    {"IsNan", is_nan},
    {"Less", compare<kLt, false>},
    {"LessEqual", compare<kLe, false>},
    {"LogicalAnd", logical_and},
    {"LogicalNot", logical_not},
    {"LogicalOr", logical_or},
    {"LogicalXor", logical_xor},
    {"Maximum", extreme<true>},
    {"Minimum", extreme<false>},
    {"Mod", modulus},
    {"Mul", mul},
    {"Neg", negate},
    {"Pow", power},
    {"RealDiv", div},
    {"SelectV2", where},
    {"Sign", sign},
    {"Sub", sub},
});

// Operands that are computed with: Dropout is told more.
usize operands(const Node& node) { return node.type == "Dropout" ? 1 : node.inputs().size(); }

std::string lanes_refuse(const Group& group) {
  const Node& node = group.node();
  if (operands(node) > 3) return "it has more than three operands";
  const Value& in = *node.input(0);
  for (usize i = 0; i < operands(node); ++i) {
    if (node.input(i) != nullptr && node.input(i)->type == DataType::f64) return "an operand is of type f64";
  }
  if (node.type == "Pow" && is_float(node.input(1)->type)) return "its exponents are no integers";
  if ((node.type == "RealDiv" || node.type == "Mod") && in.type == DataType::u64) return "u64 has no division";
  return "";
}

void write_lanes(ScalarWriter& w, Reg item) {
  const Node& node = w.node();
  const Value& out = *node.output();
  Element e{.w = w,
            .node = node,
            .lane = lane_of(node.input(node.type == "SelectV2" ? 1 : 0)->type),
            .type = node.input(0)->type,
            .x = {w.reg("a"), w.reg("b"), w.reg("c")}};
  const Reg element = w.reg("element");
  for (usize i = 0; i < operands(node); ++i) {
    const Value* const v = node.input(i);
    if (v == nullptr) continue;
    e.there[i] = true;
    const bool plain = v->shape == out.shape;
    if (!plain && !scalar(v))
      w.weigh(element, item, out.shape.dims(), broadcast_strides(v->shape.dims(), out.shape.dims()));
    w.load(e.x[i], v, plain ? item : element);
  }
  std::ranges::find(kLaneOps, node.type, &LaneOp::type)->body(e);
  w.store(&out, item, e.x[0]);
  if (node.outputs().size() < 2) return;  // of Dropout: all is kept
  w.p().mov(e.x[0], 1);
  w.store(node.output(1), item, e.x[0]);
}

}  // namespace

std::span<const ScalarOp> scalar_lane_ops() {
  static const std::vector<ScalarOp> ops = [] {
    std::vector<ScalarOp> out;
    for (const LaneOp& op : kLaneOps)
      out.push_back({.type = op.type, .refuses = lanes_refuse, .items = output_elements, .write = write_lanes});
    return out;
  }();
  return ops;
}

}  // namespace vinci::graph
