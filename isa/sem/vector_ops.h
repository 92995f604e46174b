// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/sem/vector_lanes.h"

// What instructions of the vector unit do, wherever their operands are: at strides (the plain forms) or in blocks that
// VA registers name (scatter_*). The types are those of the operands.
namespace vinci::isa::insn {

struct UnaryOperands {
  Operand dst, src;
  u32 repeat = 0;

  u32 lanes() const { return lanes_per_repeat(wider(dst.type, src.type)); }
};
struct BinaryOperands {
  Operand dst, src0, src1;
  u32 repeat = 0;

  u32 lanes() const { return lanes_per_repeat(wider(dst.type, src0.type)); }
};

inline UnaryOperands operands_of(const VectorUnaryArgs& x, const LaneShape& shape, Arch arch) {
  return {dst_of(x, shape.dst, arch), src_of(x, shape.src), x.repeat};
}
inline BinaryOperands operands_of(const VectorBinaryArgs& x, const LaneShape& shape, Arch arch) {
  return {dst_of(x, shape.dst, arch), src0_of(x, shape.src), src1_of(x, shape.src), x.repeat};
}

// isa/sem/vector_arith.cpp
void compute_binary(const BinaryOperands& o, BinaryOp op, ExecContext& c);
void compute_ternary(const BinaryOperands& o, TernaryOp op, ExecContext& c);
void compute_unary(const UnaryOperands& o, UnaryOp op, ExecContext& c);
void compute_scalar(const UnaryOperands& o, BinaryOp op, u64 scalar, ExecContext& c);
void compute_axpy(const UnaryOperands& o, u64 scalar, ExecContext& c);
void copy_lanes(const UnaryOperands& o, ExecContext& c);
// What a form with relu computes before, for the census; null for others.
BinaryKernel before_relu(BinaryOp op, LaneType type);

// isa/sem/vector_convert.cpp
void convert_lanes(const UnaryOperands& o, RoundMode round, ExecContext& c);
void deq_lanes(const UnaryOperands& o, ExecContext& c);
void compute_fused(const BinaryOperands& o, BinaryOp op, ExecContext& c);

// isa/sem/vector_compare.cpp
enum class SelectMode : u8 { by_register, with_scalar, by_memory };
void compare_to_register(const BinaryOperands& o, CompareOp op, ExecContext& c);  // has no use for dst
void select_lanes(const BinaryOperands& o, SelectMode mode, u64 bits_address, ExecContext& c);

}  // namespace vinci::isa::insn
