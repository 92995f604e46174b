// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vector.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace vinci::isa::insn {
namespace {

// An operand of a vector instruction: where its lanes are.
struct Operand {
  u32 address = 0;
  u32 block_stride = 0;   // bytes
  u32 repeat_stride = 0;  // bytes
  LaneType type = LaneType::f16;

  Operand(u32 base, u32 block_blocks, u32 repeat_blocks, LaneType t)
      : address(base), block_stride(block_blocks * kBlockBytes), repeat_stride(repeat_blocks * kBlockBytes), type(t) {}
};

// A destination; on c100 a block stride of 0 means 1. Source: mindspore-ai/akg csim.
Operand destination(u32 base, u32 block_blocks, u32 repeat_blocks, LaneType type, Arch arch) {
  return {base, arch == Arch::c100 && block_blocks == 0 ? 1 : block_blocks, repeat_blocks, type};
}

u32 lanes_per_repeat(u32 widest_lane_bytes) { return kRepeatBytes / widest_lane_bytes; }

// The active lanes of a repeat as one operand sees them.
class ActiveLanes {
 public:
  ActiveLanes(const Spr& spr, u32 lanes, u32 lane_bytes) {
    const u64 low = spr.vector_mask[0];
    const u64 high = lanes > 64 ? spr.vector_mask[1] : 0;
    full_ = low == ~u64{0} && (lanes == 64 || high == ~u64{0});
    none_ = low == 0 && high == 0;
    if (none_) return;
    const u32 first = static_cast<u32>(low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(high));
    const u32 last = static_cast<u32>(high != 0 ? 127 - std::countl_zero(high) : 63 - std::countl_zero(low));
    first_block_ = first * lane_bytes / kBlockBytes;
    blocks_ = last * lane_bytes / kBlockBytes - first_block_ + 1;
  }

  bool full() const { return full_; }
  bool none() const { return none_; }
  u32 first_block() const { return first_block_; }
  u32 blocks() const { return blocks_; }  // from the first to the last that holds an active lane

 private:
  u32 first_block_ = 0, blocks_ = 0;
  bool full_ = false, none_ = false;
};

void check_mask_mode(const Spr& spr, Arch arch) {
  // The first generation has no such mode and ignores the bit.
  if (contains(kVectorArchs2, arch) && (spr.ctrl & ctrl::kCounterMode) != 0) {
    fail(Fault::Unsupported,
         "vector mask in count mode (CTRL bit 56) is not modelled; use set_vector_mask with lane bits");
  }
}

Access lane_access(const Operand& o, const ActiveLanes& active, u32 repeat, bool write, std::string_view operand) {
  Access a{.buffer = BufId::UB,
           .write = write,
           .align = static_cast<u16>(kBlockBytes),
           .address = u64{o.address} + u64{active.first_block()} * o.block_stride,
           .len = kBlockBytes,
           .count = {o.block_stride == 0 ? 1 : active.blocks(), o.repeat_stride == 0 ? 1 : repeat, 1},
           .stride = {o.block_stride, o.repeat_stride, 0},
           .operand = operand};
  // Contiguous blocks are one piece, and contiguous repeats too: less for the checkers to walk over.
  if (o.block_stride == kBlockBytes) {
    a.len = kBlockBytes * a.count[0];
    a.count[0] = 1;
    if (o.repeat_stride == a.len) {
      a.len *= a.count[1];
      a.count[1] = 1;
    }
  }
  return a;
}

// The active lanes as bytes of 0xff, to blend whole words.
struct ByteMask {
  LaneBuffer bytes{};

  ByteMask(const Spr& spr, u32 lanes, u32 lane_bytes) {
    for (u32 i = 0; i < lanes; ++i) {
      if ((spr.vector_mask[i / 64] >> (i % 64) & 1) != 0) {
        std::memset(bytes.bytes.data() + usize{i} * lane_bytes, 0xff, lane_bytes);
      }
    }
  }
};

// to = mask ? from : to, over a multiple of 8 bytes
void blend(std::byte* to, const std::byte* from, const std::byte* mask, usize count) {
  for (usize i = 0; i < count; i += 8) {
    u64 t = 0, f = 0, m = 0;
    std::memcpy(&t, to + i, 8);
    std::memcpy(&f, from + i, 8);
    std::memcpy(&m, mask + i, 8);
    t ^= (t ^ f) & m;
    std::memcpy(to + i, &t, 8);
  }
}

void load(const View& ub, const Operand& o, u32 repeat, const ActiveLanes& active, LaneBuffer& lanes) {
  const u64 base = u64{o.address} + u64{repeat} * o.repeat_stride;
  if (o.block_stride == kBlockBytes) {
    const usize from = usize{active.first_block()} * kBlockBytes;
    const usize count = usize{active.blocks()} * kBlockBytes;
    std::memcpy(lanes.bytes.data() + from, ub.bytes(base + from, count).data(), count);
    return;
  }
  for (u32 b = active.first_block(); b < active.first_block() + active.blocks(); ++b) {
    std::memcpy(lanes.bytes.data() + usize{b} * kBlockBytes,
                ub.bytes(base + u64{b} * o.block_stride, kBlockBytes).data(), kBlockBytes);
  }
}

void store(const View& ub, const Operand& o, u32 repeat, const ActiveLanes& active, const ByteMask* mask,
           const LaneBuffer& lanes) {
  const u64 base = u64{o.address} + u64{repeat} * o.repeat_stride;
  if (o.block_stride == kBlockBytes && mask == nullptr) {
    const usize count = usize{active.blocks()} * kBlockBytes;
    std::memcpy(ub.bytes(base, count).data(), lanes.bytes.data(), count);
    return;
  }
  for (u32 b = active.first_block(); b < active.first_block() + active.blocks(); ++b) {
    const std::span<std::byte> block = ub.bytes(base + u64{b} * o.block_stride, kBlockBytes);
    const std::byte* from = lanes.bytes.data() + usize{b} * kBlockBytes;
    if (mask == nullptr) {
      std::memcpy(block.data(), from, kBlockBytes);
    } else {
      blend(block.data(), from, mask->bytes.bytes.data() + usize{b} * kBlockBytes, kBlockBytes);
    }
  }
}

// `bits` of the lane type in every lane.
LaneBuffer broadcast(u32 bits, LaneType type) {
  LaneBuffer lanes;
  const u32 bytes = lane_bytes(type);
  for (usize i = 0; i < kRepeatBytes; i += bytes)
    std::memcpy(lanes.bytes.data() + i, &bits, bytes);
  return lanes;
}

// What an inactive lane holds while the others are computed: operands that raise nothing with each other or with any
// scalar, in any operation of their type.
u32 quiet_bits(LaneType type) {
  switch (type) {
    case LaneType::f16: return kF16One;
    case LaneType::f32: return kF32One;
    default: return 0;
  }
}

// The scalar operand as bits of a lane; a value that carries more than that is a mistake (such as the bits of an f32
// given to an f16 instruction).
u32 scalar_bits(u64 scalar, LaneType type) {
  const unsigned bits = 8 * lane_bytes(type);
  const bool is_signed = type == LaneType::s16 || type == LaneType::s32;
  const i64 as_signed = static_cast<i64>(scalar);
  if ((scalar >> bits) != 0 && !(is_signed && as_signed < 0 && as_signed >= -(i64{1} << (bits - 1)))) {
    fail(Fault::Program, "scalar {:#x} does not fit a lane of type {} ({} bits)", scalar, name(type), bits);
  }
  return static_cast<u32>(scalar & ((u64{1} << bits) - 1));
}

LaneMode lane_mode(const ExecContext& c) {
  return {c.overflow, (c.spr.ctrl & ctrl::kSaturateInt) != 0, c.numerics.precision};
}

// The repeats of an instruction: loads the sources (all of one type), calls kernel(sources, result) and stores the
// active lanes.
template <usize N, class Kernel>
void for_each_repeat(ExecContext& c, u32 repeat, const Operand& dst, const std::array<Operand, N>& src, Kernel kernel) {
  check_mask_mode(c.spr, c.arch);
  LaneType src_type = dst.type;
  for (const Operand& s : src)
    src_type = s.type;
  const u32 dst_bytes = lane_bytes(dst.type);
  const u32 src_bytes = lane_bytes(src_type);
  const u32 lanes = lanes_per_repeat(std::max(dst_bytes, src_bytes));
  const ActiveLanes dst_active(c.spr, lanes, dst_bytes);
  const ActiveLanes src_active(c.spr, lanes, src_bytes);
  if (dst_active.none()) return;
  const View& ub = c.mem[BufId::UB];
  std::array<LaneBuffer, N> in{};
  LaneBuffer out{};
  if (dst_active.full()) {
    for (u32 r = 0; r < repeat; ++r) {
      for (usize i = 0; i < N; ++i)
        load(ub, src[i], r, src_active, in[i]);
      c.status |= kernel(in, out);
      store(ub, dst, r, dst_active, nullptr, out);
    }
    return;
  }
  const ByteMask dst_mask(c.spr, lanes, dst_bytes);
  const ByteMask src_mask(c.spr, lanes, src_bytes);
  const LaneBuffer quiet = broadcast(quiet_bits(src_type), src_type);
  LaneBuffer loaded{};
  for (u32 r = 0; r < repeat; ++r) {
    for (usize i = 0; i < N; ++i) {
      load(ub, src[i], r, src_active, loaded);
      in[i] = quiet;
      blend(in[i].bytes.data(), loaded.bytes.data(), src_mask.bytes.bytes.data(), kRepeatBytes);
    }
    c.status |= kernel(in, out);
    store(ub, dst, r, dst_active, &dst_mask, out);
  }
}

struct UnaryOperands {
  Operand dst, src;
};
UnaryOperands operands(const VectorUnaryArgs& x, LaneType dst, LaneType src, Arch arch) {
  return {destination(x.dst, x.dstBlkStride, x.dstRepStride, dst, arch), {x.src, x.srcBlkStride, x.srcRepStride, src}};
}

void execute_unary(const VectorUnaryArgs& x, LaneType dst, LaneType src, UnaryKernel kernel, ExecContext& c) {
  VINCI_CHECK(kernel != nullptr);
  const UnaryOperands o = operands(x, dst, src, c.arch);
  const LaneMode mode = lane_mode(c);
  for_each_repeat<1>(c, x.repeat, o.dst, {o.src},
                     [&](const auto& in, LaneBuffer& out) { return kernel(in[0], out, mode); });
}

}  // namespace

Footprint binary_footprint(const VectorBinaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  check_mask_mode(spr, arch);
  const ActiveLanes active(spr, lanes_per_repeat(lane_bytes(type)), lane_bytes(type));
  if (active.none() || x.repeat == 0) return {};
  return {lane_access({x.src0, x.src0BlkStride, x.src0RepStride, type}, active, x.repeat, false, "src0"),
          lane_access({x.src1, x.src1BlkStride, x.src1RepStride, type}, active, x.repeat, false, "src1"),
          lane_access(destination(x.dst, x.dstBlkStride, x.dstRepStride, type, arch), active, x.repeat, true, "dst")};
}

Footprint unary_footprint(const VectorUnaryArgs& x, LaneType dst, LaneType src, const Spr& spr, Arch arch) {
  check_mask_mode(spr, arch);
  const u32 lanes = lanes_per_repeat(std::max(lane_bytes(dst), lane_bytes(src)));
  const ActiveLanes dst_active(spr, lanes, lane_bytes(dst));
  if (dst_active.none() || x.repeat == 0) return {};
  const UnaryOperands o = operands(x, dst, src, arch);
  return {lane_access(o.src, {spr, lanes, lane_bytes(src)}, x.repeat, false, "src"),
          lane_access(o.dst, dst_active, x.repeat, true, "dst")};
}

Footprint scalar_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  scalar_bits(x.scalar, type);  // here, so that a run without data refuses it too
  return unary_footprint(x, type, type, spr, arch);
}

Footprint dup_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  check_mask_mode(spr, arch);
  scalar_bits(x.scalar, type);
  const ActiveLanes active(spr, lanes_per_repeat(lane_bytes(type)), lane_bytes(type));
  if (active.none() || x.repeat == 0) return {};
  return {lane_access(destination(x.dst, x.dstBlkStride, x.dstRepStride, type, arch), active, x.repeat, true, "dst")};
}

void binary_execute(const VectorBinaryArgs& x, BinaryOp op, LaneType type, ExecContext& c) {
  const BinaryKernel kernel = binary_kernel(op, type);
  VINCI_CHECK(kernel != nullptr);
  const LaneMode mode = lane_mode(c);
  for_each_repeat<2>(c, x.repeat, destination(x.dst, x.dstBlkStride, x.dstRepStride, type, c.arch),
                     {Operand{x.src0, x.src0BlkStride, x.src0RepStride, type},
                      Operand{x.src1, x.src1BlkStride, x.src1RepStride, type}},
                     [&](const auto& in, LaneBuffer& out) { return kernel(in[0], in[1], out, mode); });
}

void unary_execute(const VectorUnaryArgs& x, UnaryOp op, LaneType type, ExecContext& c) {
  execute_unary(x, type, type, unary_kernel(op, type), c);
}

void scalar_execute(const VectorUnaryArgs& x, BinaryOp op, LaneType type, ExecContext& c) {
  const BinaryKernel kernel = binary_kernel(op, type);
  VINCI_CHECK(kernel != nullptr);
  const LaneBuffer scalar = broadcast(scalar_bits(x.scalar, type), type);
  const LaneMode mode = lane_mode(c);
  const UnaryOperands o = operands(x, type, type, c.arch);
  for_each_repeat<1>(c, x.repeat, o.dst, {o.src},
                     [&](const auto& in, LaneBuffer& out) { return kernel(in[0], scalar, out, mode); });
}

void dup_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c) {
  const LaneBuffer scalar = broadcast(scalar_bits(x.scalar, type), type);
  for_each_repeat<0>(c, x.repeat, destination(x.dst, x.dstBlkStride, x.dstRepStride, type, c.arch), {},
                     [&](const auto&, LaneBuffer& out) {
                       out = scalar;
                       return u64{0};
                     });
}

void widen_execute(const VectorUnaryArgs& x, ExecContext& c) {
  execute_unary(x, LaneType::f32, LaneType::f16, convert_kernel(LaneType::f16, LaneType::f32, RoundMode::rint), c);
}

void narrow_execute(const VectorUnaryArgs& x, RoundMode round, ExecContext& c) {
  execute_unary(x, LaneType::f16, LaneType::f32, convert_kernel(LaneType::f32, LaneType::f16, round), c);
}

}  // namespace vinci::isa::insn
