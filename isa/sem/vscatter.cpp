// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vscatter.h"

#include <vector>

#include "isa/sem/va_blocks.h"
#include "isa/sem/vector_ops.h"

namespace vinci::isa::insn {
namespace {

// The blocks of a VA register. Each belongs to one block of the widest operand: a narrower type fills half of it.
Operand operand(const Spr& spr, u8 va, u16 stride, LaneType type, u32 lanes, bool high) {
  std::array<u32, kVaBlocks> addresses = va_addresses<1>(spr, va);
  const u32 piece = lanes * lane_bits(type) / 8 / kRepeatBlocks;
  if (high) {
    for (u32& a : addresses)
      a += kBlockBytes - piece;
  }
  return {addresses, stride, type, piece};
}

UnaryOperands operands_of(const VaUnaryArgs& x, const LaneShape& shape, const Spr& spr) {
  const bool high = x.option != 0;
  return {operand(spr, x.dst, x.dstStride, shape.dst, shape.lanes(), high),
          operand(spr, x.src, x.srcStride, shape.src, shape.lanes(), high), x.repeat};
}
BinaryOperands operands_of(const VaBinaryArgs& x, const LaneShape& shape, const Spr& spr) {
  const bool high = x.option != 0;
  return {operand(spr, x.dst, x.dstStride, shape.dst, shape.lanes(), high),
          operand(spr, x.src0, x.src0Stride, shape.src, shape.lanes(), high),
          operand(spr, x.src1, x.src1Stride, shape.src, shape.lanes(), high), x.repeat};
}

struct Use {
  const Operand& operand;
  bool write = false;
  std::string_view name;
  bool accumulates = false;
};

// Whole blocks, from the first to the last with an active lane. Accesses are few: where the blocks of all operands need
// more, those that need most are covered by ranges, which also hold blocks between them. A range says nothing about
// repeats.
Footprint footprint_of(const Selection& selection, std::initializer_list<Use> uses) {
  struct Part {
    Use use;
    Run run;
    std::vector<u32> blocks;
  };
  std::vector<Part> parts;
  for (const Run& run : selection) {
    for (const Use& use : uses) {
      const Operand& o = use.operand;
      const BlockSpan span(run.mask, o.type, o.piece);
      Part& part = parts.emplace_back(Part{use, run, {}});
      for (u32 b = span.first; b < span.first + span.count; ++b)
        part.blocks.push_back(o.blocks[b] / kBlockBytes * kBlockBytes + run.first * o.repeat_stride);
    }
  }
  const auto needed = [&](usize most) {
    usize sets = 0;
    for (const Part& p : parts)
      sets += block_sets(p.blocks, most).size();
    return sets;
  };
  usize most = Footprint::kMaxAccesses;
  while (most > 1 && needed(most) > Footprint::kMaxAccesses)
    --most;
  Footprint f;
  for (const Part& p : parts) {
    const u32 stride = p.use.operand.repeat_stride;
    for (const BlockSet& set : block_sets(p.blocks, most)) {
      Access a = access_of(set, p.run.count, stride, p.use.write, p.use.name);
      if (set.range == 0) {
        a.repeats = {.first = p.run.first,
                     .count = p.run.count,
                     .blocks = set.count,
                     .block_stride = set.stride,
                     .stride = stride,
                     .accumulator = p.use.accumulates};
      }
      f.add(a);
    }
  }
  return f;
}

}  // namespace

Footprint unary_footprint(const VaUnaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch) {
  const UnaryOperands o = operands_of(x, shape, spr);
  const Selection selection(spr, arch, o.lanes(), o.repeat);
  const Use src{o.src, false, "src"}, dst{o.dst, true, "dst"};
  if (shape.updates) return footprint_of(selection, {src, {o.dst, false, "dst"}, dst});
  return footprint_of(selection, {src, dst});
}

Footprint scalar_footprint(const VaUnaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch) {
  scalar_bits(x.scalar, shape.src);  // here, so that a run without data refuses it too
  return unary_footprint(x, shape, spr, arch);
}

Footprint binary_footprint(const VaBinaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch) {
  const BinaryOperands o = operands_of(x, shape, spr);
  const Selection selection(spr, arch, o.lanes(), o.repeat);
  const Use src0{o.src0, false, "src0"}, src1{o.src1, false, "src1", shape.accumulates}, dst{o.dst, true, "dst"};
  if (shape.updates) return footprint_of(selection, {src0, src1, {o.dst, false, "dst"}, dst});
  return footprint_of(selection, {src0, src1, dst});
}

Footprint fused_footprint(const VaBinaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch) {
  return binary_footprint(x, shape, spr, arch);
}

Footprint compare_to_register_footprint(const VaBinaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  const BinaryOperands o = operands_of(x, {type, type}, spr);
  return footprint_of({spr, arch, o.lanes(), o.repeat}, {{o.src0, false, "src0"}, {o.src1, false, "src1"}});
}

Footprint select_footprint(const VaBinaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  if (x.option != 0) fail(Fault::Unsupported, "mode = {} of scatter_vsel has no public form; 0 is supported", x.option);
  return binary_footprint(x, {type, type}, spr, arch);
}

void unary_execute(const VaUnaryArgs& x, UnaryOp op, LaneType type, ExecContext& c) {
  compute_unary(operands_of(x, {type, type}, c.spr), op, c);
}
void copy_execute(const VaUnaryArgs& x, LaneType type, ExecContext& c) {
  copy_lanes(operands_of(x, {type, type}, c.spr), c);
}
void scalar_execute(const VaUnaryArgs& x, BinaryOp op, LaneType type, ExecContext& c) {
  compute_scalar(operands_of(x, {type, type}, c.spr), op, x.scalar, c);
}
void axpy_execute(const VaUnaryArgs& x, const LaneShape& shape, ExecContext& c) {
  compute_axpy(operands_of(x, shape, c.spr), x.scalar, c);
}
void convert_execute(const VaUnaryArgs& x, LaneType from, LaneType to, RoundMode round, ExecContext& c) {
  convert_lanes(operands_of(x, {to, from}, c.spr), round, c);
}
void deq_execute(const VaUnaryArgs& x, ExecContext& c) {
  deq_lanes(operands_of(x, {LaneType::f16, LaneType::s32}, c.spr), c);
}
void binary_execute(const VaBinaryArgs& x, BinaryOp op, LaneType type, ExecContext& c) {
  compute_binary(operands_of(x, {type, type}, c.spr), op, c);
}
void ternary_execute(const VaBinaryArgs& x, TernaryOp op, const LaneShape& shape, ExecContext& c) {
  compute_ternary(operands_of(x, shape, c.spr), op, c);
}
void fused_execute(const VaBinaryArgs& x, BinaryOp op, const LaneShape& shape, ExecContext& c) {
  compute_fused(operands_of(x, shape, c.spr), op, c);
}
void compare_to_register_execute(const VaBinaryArgs& x, CompareOp op, LaneType type, ExecContext& c) {
  compare_to_register(operands_of(x, {type, type}, c.spr), op, c);
}
void select_execute(const VaBinaryArgs& x, LaneType type, ExecContext& c) {
  select_lanes(operands_of(x, {type, type}, c.spr), SelectMode::by_register, 0, c);
}

}  // namespace vinci::isa::insn
