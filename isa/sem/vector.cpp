// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vector.h"

#include "isa/sem/vector_lanes.h"

namespace vinci::isa::insn {
namespace {

struct UnaryOperands {
  Operand dst, src;
};
UnaryOperands operands(const VectorUnaryArgs& x, LaneType dst, LaneType src, Arch arch) {
  return {destination(x.dst, x.dstBlkStride, x.dstRepStride, dst, arch), {x.src, x.srcBlkStride, x.srcRepStride, src}};
}

void execute_unary(const VectorUnaryArgs& x, LaneType dst, LaneType src, UnaryKernel kernel, const LaneCensus& census,
                   ExecContext& c) {
  VINCI_CHECK(kernel != nullptr);
  const UnaryOperands o = operands(x, dst, src, c.arch);
  const Selection selection(c.spr, c.arch, lanes_per_repeat(wider(dst, src)), x.repeat);
  for_each_repeat<1>(
      c, selection, o.dst, {o.src},
      [&](const auto& in, LaneBuffer& out, LaneMode mode) { return kernel(in[0], out, mode); }, census);
}

}  // namespace

Work vector_work(u32 repeat, u32 lanes, const Spr& spr) { return {.steps = repeats_of(spr, lanes, repeat)}; }

Footprint binary_footprint(const VectorBinaryArgs& x, LaneType type, const Spr& spr, Arch arch, bool accumulates) {
  const Selection selection(spr, arch, lanes_per_repeat(type), x.repeat);
  Footprint f;
  add_accesses(f, selection, {x.src0, x.src0BlkStride, x.src0RepStride, type}, false, "src0");
  add_accesses(f, selection, {x.src1, x.src1BlkStride, x.src1RepStride, type}, false, "src1", accumulates);
  add_accesses(f, selection, destination(x.dst, x.dstBlkStride, x.dstRepStride, type, arch), true, "dst");
  return f;
}

Footprint unary_footprint(const VectorUnaryArgs& x, LaneType dst, LaneType src, const Spr& spr, Arch arch) {
  const Selection selection(spr, arch, lanes_per_repeat(wider(dst, src)), x.repeat);
  const UnaryOperands o = operands(x, dst, src, arch);
  Footprint f;
  add_accesses(f, selection, o.src, false, "src");
  add_accesses(f, selection, o.dst, true, "dst");
  return f;
}

Footprint scalar_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  scalar_bits(x.scalar, type);  // here, so that a run without data refuses it too
  return unary_footprint(x, type, type, spr, arch);
}

Footprint dup_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  scalar_bits(x.scalar, type);
  Footprint f;
  add_accesses(f, {spr, arch, lanes_per_repeat(type), x.repeat},
               destination(x.dst, x.dstBlkStride, x.dstRepStride, type, arch), true, "dst");
  return f;
}

void binary_execute(const VectorBinaryArgs& x, BinaryOp op, LaneType type, ExecContext& c) {
  const BinaryKernel kernel = binary_kernel(op, type);
  VINCI_CHECK(kernel != nullptr);
  const Selection selection(c.spr, c.arch, lanes_per_repeat(type), x.repeat);
  for_each_repeat<2>(c, selection, destination(x.dst, x.dstBlkStride, x.dstRepStride, type, c.arch),
                     {Operand{x.src0, x.src0BlkStride, x.src0RepStride, type},
                      Operand{x.src1, x.src1BlkStride, x.src1RepStride, type}},
                     [&](const auto& in, LaneBuffer& out, LaneMode mode) { return kernel(in[0], in[1], out, mode); },
                     {.rule = lane_rule(op)});
}

void unary_execute(const VectorUnaryArgs& x, UnaryOp op, LaneType type, ExecContext& c) {
  execute_unary(x, type, type, unary_kernel(op, type), {.rule = lane_rule(op), .names = {"src"}}, c);
}

void scalar_execute(const VectorUnaryArgs& x, BinaryOp op, LaneType type, ExecContext& c) {
  const BinaryKernel kernel = binary_kernel(op, type);
  VINCI_CHECK(kernel != nullptr);
  const LaneBuffer scalar = broadcast(scalar_bits(x.scalar, type), type);
  const UnaryOperands o = operands(x, type, type, c.arch);
  const Selection selection(c.spr, c.arch, lanes_per_repeat(type), x.repeat);
  for_each_repeat<1>(c, selection, o.dst, {o.src},
                     [&](const auto& in, LaneBuffer& out, LaneMode mode) { return kernel(in[0], scalar, out, mode); },
                     {.rule = lane_rule(op), .names = {"src", "scalar"}, .second = &scalar});
}

void dup_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c) {
  const LaneBuffer scalar = broadcast(scalar_bits(x.scalar, type), type);
  const Selection selection(c.spr, c.arch, lanes_per_repeat(type), x.repeat);
  for_each_repeat<0>(c, selection, destination(x.dst, x.dstBlkStride, x.dstRepStride, type, c.arch), {},
                     [&](const auto&, LaneBuffer& out) {
                       out = scalar;
                       return u64{0};
                     });
}

void widen_execute(const VectorUnaryArgs& x, ExecContext& c) {
  execute_unary(x, LaneType::f32, LaneType::f16, convert_kernel(LaneType::f16, LaneType::f32, RoundMode::rint),
                {.rule = LaneRule::convert, .names = {"src"}}, c);
}

void narrow_execute(const VectorUnaryArgs& x, RoundMode round, ExecContext& c) {
  execute_unary(x, LaneType::f16, LaneType::f32, convert_kernel(LaneType::f32, LaneType::f16, round),
                {.rule = LaneRule::convert, .names = {"src"}, .round = round}, c);
}

}  // namespace vinci::isa::insn
