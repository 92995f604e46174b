// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <bit>
#include <cstring>
#include <vector>

#include "isa/insns/vlayout.h"
#include "isa/machine/issue.h"
#include "isa/sem/vector_lanes.h"

namespace vinci::isa::insn {
namespace {

bool lane_set(const LaneBits& mask, u32 lane) { return (mask[lane / 64] >> (lane % 64) & 1) != 0; }

// Elements from the first to the last that takes part.
u64 elements_of(const Selection& s) {
  if (s.empty()) return 0;
  const Run& last = *(s.end() - 1);
  const u32 highest = last.mask[1] != 0 ? 127 - std::countl_zero(last.mask[1]) : 63 - std::countl_zero(last.mask[0]);
  return u64{last.first + last.count - 1} * s.lanes() + highest + 1;
}

Selection selection_of(const GatherArgs& x, LaneType type, const Spr& spr, Arch arch) {
  return {spr, arch, lanes_per_repeat(type), x.repeat};
}

// `bytes` of UB at an address that the program computed, and notes them.
std::span<std::byte> at_computed(const ExecContext& c, u32 address, u32 bytes, std::string_view what, u64 element) {
  const View& ub = c.mem[BufId::UB];
  if (address % bytes != 0) {
    fail_issue(FaultId::misaligned_access,
               "unaligned access: {} {} is at {:#x} in UB, which is no multiple of {} bytes", what, element, address,
               bytes);
  }
  if (u64{address} + bytes > ub.size()) {
    fail_issue(FaultId::out_of_bounds, "the ub address out of bounds: {} {} is at {:#x}, but UB has {:#x} bytes", what,
               element, address, ub.size());
  }
  if (c.computed != nullptr) c.computed->add(address, bytes);
  return ub.bytes(address, bytes);
}

// The elements of a compaction: `whole` repeats of `elements`, then one of `rest`.
struct ReducePlan {
  u32 whole = 0, elements = 0, rest = 0;

  u32 repeats() const { return whole + (rest != 0 ? 1 : 0); }
  u32 elements_in(u32 repeat) const { return repeat < whole ? elements : rest; }
};
ReducePlan reduce_plan(const ReduceArgs& x, LaneType type, bool v2, const Spr& spr) {
  const u32 lanes = lanes_per_repeat(type);
  if ((spr.ctrl & ctrl::kCounterMode) == 0) return {x.repeat, lanes, 0};
  const u32 count = static_cast<u32>(spr.vector_mask[0]);
  if (v2) return {count == 0 ? 0u : x.repeat, count, 0};
  return {count / lanes, lanes, count % lanes};
}

bool pattern_selects(u8 mode, u32 element) {
  switch (mode) {
    case 1: return element % 2 == 0;
    case 2: return element % 2 == 1;
    case 7: return true;
    default: return element % 4 == u32{mode} - 3;
  }
}
u32 most_kept(u8 mode, u32 elements) {
  switch (mode) {
    case 1: return ceil_div(elements, 2u);
    case 2: return elements / 2;
    case 0:
    case 7: return elements;
    default: return (elements + 6 - mode) / 4;
  }
}

}  // namespace

Footprint gather_footprint(const GatherArgs& x, LaneType type, const Spr& spr, Arch arch) {
  const Selection s = selection_of(x, type, spr, arch);
  Footprint f{ub_blocks(x.src, elements_of(s) * 4, false, "src")};
  add_accesses(f, s, {x.dst, 1, x.dstRepStride, type}, true, "dst");
  return f;
}

void gather(const GatherArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const u32 bytes = lane_bytes(type);
  const Operand dst(x.dst, 1, x.dstRepStride, type);
  const Selection s = selection_of(x, type, c.spr, c.arch);
  LaneBuffer out{};
  for (const Run& run : s) {
    const OperandMask mask(run.mask, s.lanes(), type);
    for (u32 r = run.first; r < run.first + run.count; ++r) {
      for (u32 i = 0; i < s.lanes(); ++i) {
        if (!lane_set(run.mask, i)) continue;
        const u64 element = u64{r} * s.lanes() + i;
        const u32 address = x.base + ub.load<u32>(x.src + element * 4);  // modulo 2^32: offsets may be negative
        std::memcpy(out.bytes.data() + usize{i} * bytes,
                    at_computed(c, address, bytes, "gathered element", element).data(), bytes);
      }
      store_lanes(ub, dst, r, mask, out);
    }
  }
}

Footprint gather_blocks_footprint(const GatherArgs& x) {
  Access dst = ub_blocks(x.dst, x.repeat == 0 ? 0 : kBlockBytes, true, "dst");
  dst.count = {x.dstBlkStride == 0 ? 1 : kRepeatBlocks, x.dstRepStride == 0 ? 1u : x.repeat, 1};
  dst.stride = {i64{x.dstBlkStride} * kBlockBytes, i64{x.dstRepStride} * kBlockBytes, 0};
  return {ub_blocks(x.src, u64{x.repeat} * kRepeatBlocks * 4, false, "src"), dst};
}

void gather_blocks(const GatherArgs& x, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  for (u32 r = 0; r < x.repeat; ++r) {
    std::array<std::byte, kRepeatBytes> out{};
    for (u32 b = 0; b < kRepeatBlocks; ++b) {
      const u64 block = u64{r} * kRepeatBlocks + b;
      const u32 address = x.base + ub.load<u32>(x.src + block * 4);
      std::memcpy(out.data() + usize{b} * kBlockBytes,
                  at_computed(c, address, kBlockBytes, "gathered block", block).data(), kBlockBytes);
    }
    for (u32 b = 0; b < kRepeatBlocks; ++b) {
      const u64 at = x.dst + (u64{r} * x.dstRepStride + u64{b} * x.dstBlkStride) * kBlockBytes;
      std::memcpy(ub.bytes(at, kBlockBytes).data(), out.data() + usize{b} * kBlockBytes, kBlockBytes);
    }
  }
}

Footprint scatter_footprint(const GatherArgs& x, LaneType type, const Spr& spr, Arch arch) {
  const Selection s = selection_of(x, type, spr, arch);
  Footprint f{ub_blocks(x.dst, elements_of(s) * 4, false, "dst")};
  add_accesses(f, s, {x.src, 1, x.srcRepStride, type}, false, "src");
  return f;
}

void scatter(const GatherArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const u32 bytes = lane_bytes(type);
  const Selection s = selection_of(x, type, c.spr, c.arch);
  for_each_source<1>(c, s, {Operand(x.src, 1, x.srcRepStride, type)}, [&](const Run& run, u32 r, const auto& in) {
    for (u32 i = 0; i < s.lanes(); ++i) {
      if (!lane_set(run.mask, i)) continue;
      const u64 element = u64{r} * s.lanes() + i;
      const u32 address = x.base + ub.load<u32>(x.dst + element * 4);
      std::memcpy(at_computed(c, address, bytes, "scattered element", element).data(),
                  in[0].bytes.data() + usize{i} * bytes, bytes);
    }
  });
}

Footprint reduce_footprint(const ReduceArgs& x, LaneType type, bool v2, const Spr& spr, Arch arch) {
  const u32 last_mode = arch == Arch::m200 ? 6 : 7;
  if (x.patternMode > last_mode) {
    fail(Fault::Program, "patternMode = {}: on {} there are 0 to {}", x.patternMode, name(arch), last_mode);
  }
  if (!v2 && (x.dstBlkStride != 1 || x.dstRepStride != 8)) {
    fail(
        Fault::Unsupported,
        "vreduce with dstBlkStride = {} and dstRepStride = {}: the meaning of other strides than 1 and 8 is not public",
        x.dstBlkStride, x.dstRepStride);
  }
  const ReducePlan plan = reduce_plan(x, type, v2, spr);
  Footprint f;
  u64 kept = 0;
  const auto add = [&](u32 first, u32 repeats, u32 elements) {
    if (repeats == 0 || elements == 0) return;
    kept += u64{repeats} * most_kept(x.patternMode, elements);
    const auto source = [&](u32 address, u32 blocks, u32 block_stride, u32 repeat_stride, std::string_view operand) {
      Access a = ub_blocks(address + first * repeat_stride * kBlockBytes, kBlockBytes, false, operand);
      a.count = {block_stride == 0 ? 1 : blocks, repeat_stride == 0 ? 1 : repeats, 1};
      a.stride = {i64{block_stride} * kBlockBytes, i64{repeat_stride} * kBlockBytes, 0};
      f.add(a);
    };
    source(x.src0, ceil_div(elements * lane_bytes(type), kBlockBytes), x.src0BlkStride, x.src0RepStride, "src0");
    if (x.patternMode == 0) source(x.src1, ceil_div(elements, kBlockBytes * 8), 1, x.src1RepStride, "src1");
  };
  add(0, plan.whole, plan.elements);
  add(plan.whole, 1, plan.rest);
  if (kept != 0) f.add(ub_blocks(x.dst, kept * lane_bytes(type), true, "dst"));
  return f;
}

u64 reduce_steps(const ReduceArgs& x, LaneType type, bool v2, const Spr& spr) {
  const ReducePlan plan = reduce_plan(x, type, v2, spr);
  return plan.whole * u64{ceil_div(plan.elements, lanes_per_repeat(type))} + (plan.rest != 0 ? 1 : 0);
}

void reduce(const ReduceArgs& x, LaneType type, bool v2, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const u32 bytes = lane_bytes(type);
  const u32 in_block = kBlockBytes / bytes;
  const ReducePlan plan = reduce_plan(x, type, v2, c.spr);
  std::vector<std::byte> kept;
  u64 count = 0;
  for (u32 r = 0; r < plan.repeats(); ++r) {
    kept.clear();
    for (u32 i = 0; i < plan.elements_in(r); ++i) {
      const bool selected =
          x.patternMode != 0
              ? pattern_selects(x.patternMode, i)
              : (ub.load<u8>(x.src1 + u64{r} * x.src1RepStride * kBlockBytes + i / 8) >> (i % 8) & 1) != 0;
      if (!selected) continue;
      const u64 block = u64{r} * x.src0RepStride + u64{i / in_block} * x.src0BlkStride;
      const auto from = ub.bytes(x.src0 + block * kBlockBytes + u64{i % in_block} * bytes, bytes);
      kept.insert(kept.end(), from.begin(), from.end());
    }
    std::ranges::copy(kept, ub.bytes(x.dst + count * bytes, kept.size()).begin());
    count += kept.size() / bytes;
  }
  c.results.rsvd_cnt = count;
}

Footprint bilinear_footprint(const BilinearArgs& x, const Spr& spr, Arch arch) {
  if ((spr.ctrl & ctrl::kCounterMode) != 0) {
    fail(Fault::Unsupported, "vbi in counter mode of the mask: its meaning is not public");
  }
  if (x.vROffset % (kBlockBytes / 2) != 0) {
    fail(Fault::Program, "vROffset = {} is no multiple of 16 elements", x.vROffset);
  }
  const u64 terms = u64{x.hRepeat} * x.vRepeat;
  if (terms == 0) return {};
  Footprint f{ub_blocks(x.src0, terms * kRepeatBlocks * 4, false, "src0"),
              ub_blocks(x.src1, terms * 2 * (x.repeatMode != 0 ? kRepeatBlocks : 1), false, "src1")};
  const u32 stride = x.vROffset / (kBlockBytes / 2);
  add_accesses(f, {spr, arch, lanes_per_repeat(LaneType::f16), x.vRepeat},
               {x.dst, x.dstBlkStride, stride, LaneType::f16}, true, "dst");
  return f;
}

void bilinear(const BilinearArgs& x, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const Selection s(c.spr, c.arch, lanes_per_repeat(LaneType::f16), x.vRepeat);
  const Operand dst(x.dst, x.dstBlkStride, x.vROffset / (kBlockBytes / 2), LaneType::f16);
  const LaneMode mode = lane_mode(c);
  const BinaryKernel multiply = binary_kernel(BinaryOp::mul, LaneType::f16);
  const BinaryKernel add = binary_kernel(BinaryOp::add, LaneType::f16);
  if (x.hRepeat == 0) return;
  for (const Run& run : s) {
    const OperandMask mask(run.mask, s.lanes(), LaneType::f16);
    for (u32 v = 0; v < run.count; ++v) {
      LaneBuffer sum = broadcast(0, LaneType::f16);
      for (u32 h = 0; h < x.hRepeat; ++h) {
        const u64 term = u64{v} * x.hRepeat + h;
        LaneBuffer loaded{}, factor{}, product{}, next{};
        for (u32 b = 0; b < kRepeatBlocks; ++b) {
          const u64 block = term * kRepeatBlocks + b;
          const usize at = usize{b} * kBlockBytes;
          std::memcpy(loaded.bytes.data() + at,
                      at_computed(c, ub.load<u32>(x.src0 + block * 4), kBlockBytes, "block", block).data(),
                      kBlockBytes);
          const u16 f = ub.load<u16>(x.src1 + 2 * (x.repeatMode != 0 ? block : term));
          std::memcpy(factor.bytes.data() + at, broadcast(f, LaneType::f16).bytes.data(), kBlockBytes);
        }
        LaneBuffer value = quiet_lanes(LaneType::f16);
        blend(value, loaded, mask.bits);
        c.status |= multiply(value, factor, product, mode);
        c.status |= add(sum, product, next, mode);
        sum = next;
      }
      store_lanes(ub, dst, v, mask, sum);
    }
  }
}

}  // namespace vinci::isa::insn
