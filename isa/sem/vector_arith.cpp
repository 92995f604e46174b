// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vector_arith.h"

#include "isa/sem/vector_stages.h"

namespace vinci::isa::insn {
namespace {

void check_repeat_stride(std::string_view operand, u32 stride, Arch arch) {
  if (stride > 255 && arch != Arch::c220) {
    fail(Fault::Program, "{} = {} is out of range on {}: 0 to 255", operand, stride, name(arch));
  }
}

}  // namespace

Footprint binary_footprint(const VectorBinaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch) {
  const Selection selection(spr, arch, shape.lanes(), x.repeat);
  const Operand dst = dst_of(x, shape.dst, arch);
  Footprint f;
  add_accesses(f, selection, src0_of(x, shape.src), false, "src0");
  add_accesses(f, selection, src1_of(x, shape.src), false, "src1", shape.accumulates);
  if (shape.updates) add_accesses(f, selection, dst, false, "dst");
  add_accesses(f, selection, dst, true, "dst");
  return f;
}

Footprint unary_footprint(const VectorUnaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch) {
  check_repeat_stride("dstRepStride", x.dstRepStride, arch);
  check_repeat_stride("srcRepStride", x.srcRepStride, arch);
  const Selection selection(spr, arch, shape.lanes(), x.repeat);
  const Operand dst = dst_of(x, shape.dst, arch);
  Footprint f;
  add_accesses(f, selection, src_of(x, shape.src), false, "src");
  if (shape.updates) add_accesses(f, selection, dst, false, "dst");
  add_accesses(f, selection, dst, true, "dst");
  return f;
}

Footprint scalar_footprint(const VectorUnaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch) {
  scalar_bits(x.scalar, shape.src);  // here, so that a run without data refuses it too
  return unary_footprint(x, shape, spr, arch);
}

Footprint shift_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  if (x.scalar > lane_bits(type)) {
    fail(Fault::Program, "distance = {} is out of range for {}: 0 to {}", x.scalar, name(type), lane_bits(type));
  }
  if (x.option != 0 && !is_signed_int(type)) {
    fail(Fault::Program, "round = 1 is for s16 and s32, not for {}", name(type));
  }
  return unary_footprint(x, {type, type}, spr, arch);
}

Footprint dup_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  scalar_bits(x.scalar, type);
  check_repeat_stride("dstRepStride", x.dstRepStride, arch);
  Footprint f;
  add_accesses(f, {spr, arch, lanes_per_repeat(type), x.repeat}, dst_of(x, type, arch), true, "dst");
  return f;
}

Footprint brcb_footprint(const VectorUnaryArgs& x, LaneType type) {
  const u32 elements = kRepeatBlocks * x.repeat;
  if (elements == 0) return {};
  return {{.buffer = BufId::UB,
           .align = kBlockBytes,
           .address = x.src,
           .len = elements * lane_bytes(type),
           .operand = "src"},
          {.buffer = BufId::UB,
           .write = true,
           .align = kBlockBytes,
           .address = x.dst,
           .len = kBlockBytes,
           .count = {x.dstBlkStride == 0 ? 1 : kRepeatBlocks, x.dstRepStride == 0 ? 1u : x.repeat, 1},
           .stride = {i64{x.dstBlkStride} * kBlockBytes, i64{x.dstRepStride} * kBlockBytes, 0},
           .operand = "dst"}};
}

BinaryKernel before_relu(BinaryOp op, LaneType type) {
  if (op == BinaryOp::add_relu) return binary_kernel(BinaryOp::add, type);
  return op == BinaryOp::sub_relu ? binary_kernel(BinaryOp::sub, type) : nullptr;
}

void compute_binary(const BinaryOperands& o, BinaryOp op, ExecContext& c) {
  const BinaryKernel kernel = binary_kernel(op, o.dst.type);
  VINCI_CHECK(kernel != nullptr);
  const std::array src{o.src0, o.src1};
  const Selection selection(c.spr, c.arch, o.lanes(), o.repeat);
  const LaneCensus census{
      .rule = lane_rule(op), .op = op, .before_relu = c.census != nullptr ? before_relu(op, o.dst.type) : nullptr};
  const RepeatsKernel repeats = binary_repeats(op, o.dst.type);
  for_each_repeat<2>(
      c, compute_in_place(c, selection, repeats, o.dst, src, census), o.dst, src,
      [&](const auto& in, LaneBuffer& out, LaneMode mode) { return kernel(in[0], in[1], out, mode); }, census);
}

namespace {

// x * y + z
struct MultiplyAddLanes {
  const LaneBuffer &x, &y, &z;
};

bool rounds_twice(const ExecContext& c, LaneType dst, LaneType src) {
  return c.numerics.multiply_add == MultiplyAdd::twice && dst == src;
}

// A fused form whose product is rounded before it is added: lanes(sources) says which operand is which. Its reference
// is that of the form.
template <usize N, class Lanes>
void round_twice(ExecContext& c, const Selection& selection, const Operand& dst, const std::array<Operand, N>& src,
                 const LaneCensus& form, bool relu, const std::array<std::string_view, 3>& names, const Lanes& lanes) {
  const LaneType type = dst.type;
  const BinaryKernel multiply = binary_kernel(BinaryOp::mul, type), plain = binary_kernel(BinaryOp::add, type),
                     add = relu ? binary_kernel(BinaryOp::add_relu, type) : plain;
  VINCI_CHECK(multiply != nullptr && add != nullptr);
  const LaneMode mode = lane_mode(c);
  const Stage product_stage{LaneRule::product, type, type},
      sum_stage{LaneRule::sum, type, type, relu ? plain : nullptr};
  const auto count = [&](const Run& run, u32 r, const MultiplyAddLanes& l, const LaneBuffer& product,
                         const LaneBuffer& out) {
    const u32 width = selection.lanes();
    const LaneEvents events = first_stage_events(c, product_stage, multiply, l.x, l.y, width, run.mask) |
                              first_stage_events(c, sum_stage, add, product, l.z, width, run.mask);
    report(*c.census, events, width, run.mask, u64{r} * width,
           std::array{NamedLanes{names[0], type, &l.x}, NamedLanes{names[1], type, &l.y},
                      NamedLanes{names[2], type, &l.z}},
           {"", type, &out});
  };
  for_each_repeat<N>(
      c, selection, dst, src,
      [&](const auto& in, LaneBuffer& out, const Run& run, u32 r) {
        const MultiplyAddLanes l = lanes(in);
        LaneBuffer product, unused;
        const u64 raised = multiply(l.x, l.y, product, mode);
        u64 added = add(product, l.z, out, mode);
        if ((raised & (kVectorStatus.overflow | kVectorStatus.special)) != 0)
          added = add(finite_between(type, l.x, l.y, product), l.z, unused, mode);
        if (c.census != nullptr) count(run, r, l, product, out);
        return raised | added;
      },
      form);
}

}  // namespace

void compute_ternary(const BinaryOperands& o, TernaryOp op, ExecContext& c) {
  const TernaryKernel kernel = ternary_kernel(op, o.dst.type, o.src0.type);
  VINCI_CHECK(kernel != nullptr);
  const std::array src{o.src0, o.src1};
  const Selection selection(c.spr, c.arch, o.lanes(), o.repeat);
  const RepeatsKernel repeats = ternary_repeats(op, o.dst.type, o.src0.type);
  const bool relu = c.census != nullptr && op == TernaryOp::madd_relu;
  const LaneCensus census{.rule = lane_rule(op),
                          .op = op,
                          .reads_dst = true,
                          .before_relu = relu ? ternary_kernel(TernaryOp::madd, o.dst.type, o.src0.type) : nullptr};
  if (rounds_twice(c, o.dst.type, o.src0.type)) {
    const std::array sources{o.src0, o.src1, o.dst};
    if (op == TernaryOp::mla) {
      return round_twice<3>(c, selection, o.dst, sources, census, false, {"src0", "src1", "dst"}, [](const auto& in) {
        return MultiplyAddLanes{in[0], in[1], in[2]};
      });
    }
    return round_twice<3>(c, selection, o.dst, sources, census, op == TernaryOp::madd_relu, {"dst", "src0", "src1"},
                          [](const auto& in) {
                            return MultiplyAddLanes{in[2], in[0], in[1]};
                          });
  }
  for_each_repeat<3>(
      c, compute_in_place(c, selection, repeats, o.dst, src, census), o.dst, {o.src0, o.src1, o.dst},
      [&](const auto& in, LaneBuffer& out, LaneMode mode) {
        out = in[2];
        return kernel(in[0], in[1], out, mode);
      },
      census);
}

namespace {

// Subnormal lanes become zeros with their sign. Returns STATUS bits.
template <class F>
u64 flush_lanes(LaneBuffer& lanes) {
  using Bits = typename F::Bits;
  u64 raised = 0;
  for (usize i = 0; i < kRepeatBytes / sizeof(Bits); ++i) {
    Bits bits;
    std::memcpy(&bits, lanes.bytes.data() + i * sizeof bits, sizeof bits);
    const Bits magnitude = bits & static_cast<Bits>(~F::kSign);
    if (magnitude == 0 || magnitude >> F::kFractionBits != 0) continue;
    bits &= F::kSign;
    std::memcpy(lanes.bytes.data() + i * sizeof bits, &bits, sizeof bits);
    raised = kVectorStatus.underflow;
  }
  return raised;
}

bool flushes(UnaryOp op, const ExecContext& c) {
  return c.numerics.subnormals == SubnormalResults::flushed &&
         (op == UnaryOp::exp || op == UnaryOp::ln || op == UnaryOp::sqrt);
}

}  // namespace

void compute_unary(const UnaryOperands& o, UnaryOp op, ExecContext& c) {
  const UnaryKernel kernel = unary_kernel(op, o.dst.type);
  VINCI_CHECK(kernel != nullptr);
  const std::array src{o.src};
  const Selection selection(c.spr, c.arch, o.lanes(), o.repeat);
  const LaneCensus census{.rule = lane_rule(op), .op = op, .names = {"src"}};
  if (flushes(op, c)) {
    const auto flush = o.dst.type == LaneType::f16 ? flush_lanes<Binary16> : flush_lanes<Binary32>;
    return for_each_repeat<1>(
        c, selection, o.dst, src,
        [&](const auto& in, LaneBuffer& out, LaneMode mode) {
          const u64 raised = kernel(in[0], out, mode);
          return raised | flush(out);
        },
        census);
  }
  const RepeatsKernel repeats = unary_repeats(op, o.dst.type);
  for_each_repeat<1>(
      c, compute_in_place(c, selection, repeats, o.dst, src, census), o.dst, src,
      [&](const auto& in, LaneBuffer& out, LaneMode mode) { return kernel(in[0], out, mode); }, census);
}

void compute_scalar(const UnaryOperands& o, BinaryOp op, u64 scalar_value, ExecContext& c) {
  const BinaryKernel kernel = binary_kernel(op, o.dst.type);
  VINCI_CHECK(kernel != nullptr);
  const LaneBuffer scalar = broadcast(scalar_bits(scalar_value, o.src.type), o.src.type);
  const std::array src{o.src};
  const Selection selection(c.spr, c.arch, o.lanes(), o.repeat);
  const LaneCensus census{
      .rule = lane_rule(op), .op = op, .names = {"src", "scalar"}, .second = &scalar, .second_type = o.src.type};
  const RepeatsKernel repeats = binary_repeats(op, o.dst.type);
  for_each_repeat<1>(
      c, compute_in_place(c, selection, repeats, o.dst, src, census, &scalar), o.dst, src,
      [&](const auto& in, LaneBuffer& out, LaneMode mode) { return kernel(in[0], scalar, out, mode); }, census);
}

void compute_axpy(const UnaryOperands& o, u64 scalar_value, ExecContext& c) {
  const TernaryKernel kernel = ternary_kernel(TernaryOp::mla, o.dst.type, o.src.type);
  VINCI_CHECK(kernel != nullptr);
  const LaneBuffer scalar = broadcast(scalar_bits(scalar_value, o.src.type), o.src.type);
  const std::array src{o.src};
  const Selection selection(c.spr, c.arch, o.lanes(), o.repeat);
  const RepeatsKernel repeats = ternary_repeats(TernaryOp::mla, o.dst.type, o.src.type);
  const LaneCensus census{.rule = LaneRule::mla,
                          .op = TernaryOp::mla,
                          .names = {"src", "scalar"},
                          .second = &scalar,
                          .second_type = o.src.type,
                          .reads_dst = true};
  if (rounds_twice(c, o.dst.type, o.src.type)) {
    return round_twice<2>(c, selection, o.dst, {o.src, o.dst}, census, false, {"src", "scalar", "dst"},
                          [&](const auto& in) {
                            return MultiplyAddLanes{in[0], scalar, in[1]};
                          });
  }
  for_each_repeat<2>(
      c, compute_in_place(c, selection, repeats, o.dst, src, census, &scalar), o.dst, {o.src, o.dst},
      [&](const auto& in, LaneBuffer& out, LaneMode mode) {
        out = in[1];
        return kernel(in[0], scalar, out, mode);
      },
      census);
}

void copy_lanes(const UnaryOperands& o, ExecContext& c) {
  for_each_repeat<1>(c, {c.spr, c.arch, o.lanes(), o.repeat}, o.dst, {o.src}, [](const auto& in, LaneBuffer& out) {
    out = in[0];
    return u64{0};
  });
}

void binary_execute(const VectorBinaryArgs& x, BinaryOp op, LaneType type, ExecContext& c) {
  compute_binary(operands_of(x, {type, type}, c.arch), op, c);
}
void ternary_execute(const VectorBinaryArgs& x, TernaryOp op, const LaneShape& shape, ExecContext& c) {
  compute_ternary(operands_of(x, shape, c.arch), op, c);
}
void unary_execute(const VectorUnaryArgs& x, UnaryOp op, LaneType type, ExecContext& c) {
  compute_unary(operands_of(x, {type, type}, c.arch), op, c);
}
void scalar_execute(const VectorUnaryArgs& x, BinaryOp op, LaneType type, ExecContext& c) {
  compute_scalar(operands_of(x, {type, type}, c.arch), op, x.scalar, c);
}
void axpy_execute(const VectorUnaryArgs& x, const LaneShape& shape, ExecContext& c) {
  compute_axpy(operands_of(x, shape, c.arch), x.scalar, c);
}
void copy_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c) {
  copy_lanes(operands_of(x, {type, type}, c.arch), c);
}

namespace {

// In counter mode a repeat is a row of blocks at the block stride, of any length. As operands of one repeat each they
// are repeats of 8 blocks that follow each other at that stride.
bool counts_rows(const Spr& spr) { return (spr.ctrl & ctrl::kCounterMode) != 0; }
u32 row_elements(const Spr& spr) { return static_cast<u32>(spr.vector_mask[0]); }
Operand row_of(u32 base, u32 block_stride, LaneType type) {
  return {base, block_stride, block_stride * kRepeatBlocks, type};
}

}  // namespace

Work vcopy_work(const VectorUnaryArgs& x, LaneType type, const Spr& spr) {
  Work work = vector_work(x.repeat, lanes_per_repeat(type), spr);
  if (counts_rows(spr)) work.steps *= x.repeat;
  return work;
}

Footprint vcopy_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  if (!counts_rows(spr)) return unary_footprint(x, {type, type}, spr, arch);
  const u32 blocks = blocks_of(row_elements(spr), type);
  if (blocks == 0 || x.repeat == 0) return {};
  const auto rows = [&](u32 base, u32 block_stride, u32 repeat_stride, bool write, std::string_view operand) {
    return Access{.buffer = BufId::UB,
                  .write = write,
                  .align = kBlockBytes,
                  .address = base,
                  .len = kBlockBytes,
                  .count = {block_stride == 0 ? 1 : blocks, repeat_stride == 0 ? 1u : x.repeat, 1},
                  .stride = {i64{block_stride} * kBlockBytes, i64{repeat_stride} * kBlockBytes, 0},
                  .operand = operand};
  };
  return {rows(x.src, x.srcBlkStride, x.srcRepStride, false, "src"),
          rows(x.dst, x.dstBlkStride, x.dstRepStride, true, "dst")};
}

void vcopy_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c) {
  if (!counts_rows(c.spr)) return copy_execute(x, type, c);
  for (u32 r = 0; r < x.repeat; ++r) {
    copy_lanes({row_of(x.dst + r * x.dstRepStride * kBlockBytes, x.dstBlkStride, type),
                row_of(x.src + r * x.srcRepStride * kBlockBytes, x.srcBlkStride, type), 1},
               c);
  }
}

void dup_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c) {
  const LaneBuffer scalar = broadcast(scalar_bits(x.scalar, type), type);
  for_each_repeat<0>(c, {c.spr, c.arch, lanes_per_repeat(type), x.repeat}, dst_of(x, type, c.arch), {},
                     [&](const auto&, LaneBuffer& out) {
                       out = scalar;
                       return u64{0};
                     });
}

void brcb_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const u32 bytes = lane_bytes(type);
  for (u32 r = 0; r < x.repeat; ++r) {
    std::array<u64, kRepeatBlocks> elements{};
    for (u32 b = 0; b < kRepeatBlocks; ++b)
      std::memcpy(&elements[b], ub.bytes(x.src + (r * kRepeatBlocks + b) * bytes, bytes).data(), bytes);
    for (u32 b = 0; b < kRepeatBlocks; ++b) {
      const u64 block = x.dst + (u64{r} * x.dstRepStride + u64{b} * x.dstBlkStride) * kBlockBytes;
      std::memcpy(ub.bytes(block, kBlockBytes).data(), broadcast(elements[b], type).bytes.data(), kBlockBytes);
    }
  }
}

}  // namespace vinci::isa::insn
