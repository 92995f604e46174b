// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "isa/census/lanes.h"
#include "isa/insns/vector.h"
#include "isa/numeric/lanes.h"
#include "isa/shadow/shadow.h"
#include "isa/table/exec.h"
#include "isa/table/insn.h"

// How instructions of the vector unit walk over UB: operands, masks and repeats. What they do to the lanes of one
// repeat is in isa/numeric/lanes.h.
namespace vinci::isa::insn {

inline constexpr u32 kRepeatBlocks = kRepeatBytes / kBlockBytes;

// Repeats of an instruction that are done with the same lanes.
struct Run {
  u32 first = 0, count = 0;
  LaneBits mask{};

  bool full(u32 lanes) const;
};

// Which lanes of which repeats take part, from CTRL and the vector mask:
//   normal mode   `repeat` times the lanes whose bit is set
//   counter mode  CTRL[56]: the first mask[31:0] elements, in as many repeats as they need; `repeat` has no effect
// The first generation has no counter mode; a program that sets the bit there is refused.
class Selection {
 public:
  Selection(const Spr& spr, Arch arch, u32 lanes, u32 repeat);
  // For instructions without mask: every lane; in counter mode whole repeats until all elements are covered.
  static Selection unmasked(const Spr& spr, Arch arch, u32 lanes, u32 repeat);

  const Run* begin() const { return runs_.data(); }
  const Run* end() const { return runs_.data() + size_; }
  bool empty() const { return size_ == 0; }
  Selection without_first() const;  // of its runs
  u32 lanes() const { return lanes_; }
  u32 repeats() const { return empty() ? 0 : runs_[size_ - 1].first + runs_[size_ - 1].count; }

 private:
  explicit Selection(u32 lanes) : lanes_(lanes) {}
  void add(const Run& run);

  std::array<Run, 2> runs_{};
  u32 size_ = 0;
  u32 lanes_ = 0;
};

// Repeats that an instruction takes; how much work it is.
u64 repeats_of(const Spr& spr, u32 lanes, u32 repeat);

// An operand: where its lanes are. A repeat has up to 8 blocks of 32 bytes, of which lanes fill `piece` bytes each.
struct Operand {
  std::array<u32, kRepeatBlocks> blocks{};  // byte addresses in UB, in the first repeat
  u32 repeat_stride = 0;                    // bytes
  LaneType type = LaneType::f16;
  bool strided = false;  // blocks[i] = blocks[0] + i * block_stride
  u32 block_stride = 0;  // bytes
  u32 piece = kBlockBytes;

  // Strides in blocks.
  Operand(u32 base, u32 block_stride_blocks, u32 repeat_stride_blocks, LaneType t);
  // Blocks anywhere (VA registers), 32 or 16 bytes of each.
  Operand(const std::array<u32, kRepeatBlocks>& addresses, u32 repeat_stride_blocks, LaneType t, u32 piece_bytes)
      : blocks(addresses), repeat_stride(repeat_stride_blocks * kBlockBytes), type(t), piece(piece_bytes) {}

  bool contiguous() const { return strided && block_stride == kBlockBytes; }
  u32 pieces_of(u32 lanes) const { return ceil_div(lanes * lane_bits(type), piece * 8); }
};

// A destination; on c100 a block stride of 0 means 1. Source: mindspore-ai/akg csim.
Operand destination(u32 base, u32 block_stride_blocks, u32 repeat_stride_blocks, LaneType type, Arch arch);

// The operands of an instruction.
inline Operand src_of(const VectorUnaryArgs& x, LaneType type) { return {x.src, x.srcBlkStride, x.srcRepStride, type}; }
inline Operand dst_of(const VectorUnaryArgs& x, LaneType type, Arch arch) {
  return destination(x.dst, x.dstBlkStride, x.dstRepStride, type, arch);
}
inline Operand src0_of(const VectorBinaryArgs& x, LaneType type) {
  return {x.src0, x.src0BlkStride, x.src0RepStride, type};
}
inline Operand src1_of(const VectorBinaryArgs& x, LaneType type) {
  return {x.src1, x.src1BlkStride, x.src1RepStride, type};
}
inline Operand dst_of(const VectorBinaryArgs& x, LaneType type, Arch arch) {
  return destination(x.dst, x.dstBlkStride, x.dstRepStride, type, arch);
}

// Of a mask with at least one lane.
constexpr u32 first_lane(const LaneBits& mask) {
  return static_cast<u32>(mask[0] != 0 ? std::countr_zero(mask[0]) : 64 + std::countr_zero(mask[1]));
}
constexpr u32 last_lane(const LaneBits& mask) {
  return static_cast<u32>(mask[1] != 0 ? 127 - std::countl_zero(mask[1]) : 63 - std::countl_zero(mask[0]));
}

// What one operand sees of a lane mask: the blocks from the first to the last active lane, ...
struct BlockSpan {
  u32 first = 0, count = 0;

  BlockSpan() = default;
  BlockSpan(const LaneBits& mask, LaneType type, u32 piece = kBlockBytes);  // the mask has a lane
};
// ... and the bits of the lanes.
struct OperandMask {
  BlockSpan span;
  LaneBuffer bits{};  // 1 where a lane is active

  OperandMask() = default;
  OperandMask(const LaneBits& mask, u32 lanes, LaneType type, u32 piece = kBlockBytes);
};

// What a strided operand touches: whole blocks, from the first to the last that holds an active lane. `accumulates`:
// see Access::Repeats.
void add_accesses(Footprint& to, const Selection& selection, const Operand& operand, bool write, std::string_view name,
                  bool accumulates = false);

// Some blocks of one repeat, from UB and back; with a mask, bits outside of it keep their value.
void load_lanes(const View& ub, const Operand& o, u32 repeat, BlockSpan span, LaneBuffer& lanes);
void store_lanes(const View& ub, const Operand& o, u32 repeat, u32 blocks, const LaneBuffer& lanes);
void store_lanes(const View& ub, const Operand& o, u32 repeat, const OperandMask& mask, const LaneBuffer& lanes);

// to = mask ? from : to
void blend(LaneBuffer& to, const LaneBuffer& from, const LaneBuffer& mask);

// `bits` of the lane type in every lane.
LaneBuffer broadcast(u64 bits, LaneType type);

// What an inactive lane holds while the others are computed: operands that raise nothing with each other or with any
// scalar, in any operation of their type.
LaneBuffer quiet_lanes(LaneType type);

// The scalar operand as bits of a lane. A value that carries more than that, such as the bits of an f32 given to an f16
// instruction, is a program fault.
u32 scalar_bits(u64 scalar, LaneType type);

LaneMode lane_mode(const ExecContext& c);

// The repeats of an instruction that reads lanes: calls body(run, repeat, sources) for each, in order. Lanes that do
// not take part hold quiet values.
template <usize N, class Body>
void for_each_source(const ExecContext& c, const Selection& selection, const std::array<Operand, N>& src, Body body) {
  const View& ub = c.mem[BufId::UB];
  const u32 lanes = selection.lanes();
  std::array<LaneBuffer, N> in{};
  for (const Run& run : selection) {
    if (run.full(lanes)) {
      std::array<BlockSpan, N> spans;
      for (usize i = 0; i < N; ++i)
        spans[i] = BlockSpan(run.mask, src[i].type, src[i].piece);
      for (u32 r = run.first; r < run.first + run.count; ++r) {
        for (usize i = 0; i < N; ++i)
          load_lanes(ub, src[i], r, spans[i], in[i]);
        body(run, r, in);
      }
      continue;
    }
    std::array<OperandMask, N> masks;
    std::array<LaneBuffer, N> quiet;
    for (usize i = 0; i < N; ++i) {
      masks[i] = OperandMask(run.mask, lanes, src[i].type, src[i].piece);
      quiet[i] = quiet_lanes(src[i].type);
    }
    LaneBuffer loaded{};
    for (u32 r = run.first; r < run.first + run.count; ++r) {
      for (usize i = 0; i < N; ++i) {
        load_lanes(ub, src[i], r, masks[i].span, loaded);
        in[i] = quiet[i];
        blend(in[i], loaded, masks[i].bits);
      }
      body(run, r, in);
    }
  }
}

// What the census must know of an instruction that computes lane by lane.
struct LaneCensus {
  LaneRule rule = LaneRule::moved;
  LaneOp op;  // for the shadow
  std::array<std::string_view, 2> names{"src0", "src1"};
  const LaneBuffer* second = nullptr;    // the second operand, where it is no source in UB (a scalar)
  LaneType second_type = LaneType::f16;  // of it
  RoundMode round = RoundMode::rint;     // of a cast
  bool wraps = false;                    // of a cast: it keeps the low bits
  bool reads_dst = false;                // the last source is what the destination holds
  BinaryKernel before_relu = nullptr;    // of a form with relu: what it computes before
};
// One repeat: the sources, and the IEEE 754 results, before relu, with the STATUS that they raised.
void count_lanes(const ExecContext& c, const LaneCensus& census, LaneType src, LaneType dst,
                 std::span<const LaneBuffer> in, const LaneBuffer& ieee, u64 raised, u32 lanes, const LaneBits& active,
                 u32 repeat);

// The references of one repeat, before its results are stored; `mask` is null where all lanes are active.
void shadow_lanes(const ExecContext& c, const LaneCensus& census, const Operand& dst, std::span<const Operand> src,
                  std::span<const LaneBuffer> in, const LaneBuffer& out, u32 lanes, const Run& run, u32 repeat,
                  const OperandMask* mask);
// What one operand of a repeat has in the planes of a shadow: its place there or, if that is not a whole
// repeat in one piece, `room`; nothing: no references.
std::optional<PlanesFrom> find_planes(const ShadowPoint& shadow, const Operand& o, u32 repeat, BlockSpan span,
                                      PlaneLanes& room);

// Computes the first repeats in place, if their lanes are all selected and contiguous; returns what is left to
// do. Without `kernel` that is everything, and with a census also where operands would be gone before it has looked at
// them. A second source is src[1] or, if given, the lanes of a scalar.
Selection compute_in_place(ExecContext& c, const Selection& selection, RepeatsKernel kernel, const Operand& dst,
                           std::span<const Operand> src, const LaneCensus& census, const LaneBuffer* scalar = nullptr);

// The repeats of an instruction that computes lane by lane: calls kernel(sources, result, mode), or without mode where
// nothing is rounded, or kernel(sources, result, run, repeat), which counts by itself; it returns STATUS bits. Stores
// the active lanes.
template <usize N, class Kernel>
void for_each_repeat(ExecContext& c, const Selection& selection, const Operand& dst, const std::array<Operand, N>& src,
                     Kernel kernel, const LaneCensus& census = {}) {
  if (selection.empty()) return;
  const LaneMode mode = lane_mode(c);
  const View& ub = c.mem[BufId::UB];
  const u32 lanes = selection.lanes();
  const u32 blocks = dst.pieces_of(lanes);
  LaneBuffer out{};
  const Run* masked = nullptr;  // the run that `mask` belongs to
  OperandMask mask;
  for_each_source<N>(c, selection, src, [&](const Run& run, u32 r, const auto& in) {
    if constexpr (std::is_invocable_v<Kernel, decltype(in), LaneBuffer&, LaneMode>) {
      if (c.census != nullptr) [[unlikely]] {
        // Without saturation, so that what was replaced is seen.
        LaneMode ieee = mode;
        ieee.overflow = OverflowMode::inf_nan;
        u64 raised = 0;
        if (census.before_relu != nullptr) {
          if (census.reads_dst) out = in[N - 1];
          if constexpr (N >= 2) raised = census.before_relu(in[0], in[1], out, ieee);
        } else {
          raised = kernel(in, out, ieee);
        }
        count_lanes(c, census, src[0].type, dst.type, in, out, raised, lanes, run.mask, r);
        c.status |= raised;
        if (census.before_relu != nullptr || mode.overflow != OverflowMode::inf_nan) kernel(in, out, mode);
      } else {
        c.status |= kernel(in, out, mode);
      }
    } else if constexpr (std::is_invocable_v<Kernel, decltype(in), LaneBuffer&, const Run&, u32>) {
      c.status |= kernel(in, out, run, r);
    } else {
      c.status |= kernel(in, out);
    }
    if (run.full(lanes)) {
      if (c.shadow != nullptr) [[unlikely]]
        shadow_lanes(c, census, dst, src, in, out, lanes, run, r, nullptr);
      store_lanes(ub, dst, r, blocks, out);
      return;
    }
    if (masked != &run) {
      mask = OperandMask(run.mask, lanes, dst.type, dst.piece);
      masked = &run;
    }
    if (c.shadow != nullptr) [[unlikely]]
      shadow_lanes(c, census, dst, src, in, out, lanes, run, r, &mask);
    store_lanes(ub, dst, r, mask, out);
  });
}

}  // namespace vinci::isa::insn
