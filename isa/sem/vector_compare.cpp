// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vector_compare.h"

#include "isa/machine/issue.h"
#include "isa/sem/vector_ops.h"
#include "isa/shadow/kernels.h"

namespace vinci::isa::insn {
namespace {

// Where the results of the lanes are in UB: 16 bytes a repeat for 128 lanes, 8 bytes for 64.
Access bits_access(u32 address, const Selection& selection, bool write, std::string_view operand) {
  return {.buffer = BufId::UB,
          .write = write,
          .align = kBlockBytes,
          .address = address,
          .len = selection.repeats() * selection.lanes() / 8,
          .operand = operand};
}

void store_bits(const View& ub, u64 address, u32 lanes, const LaneBits& bits) {
  std::memcpy(ub.bytes(address, lanes / 8).data(), bits.data(), lanes / 8);
}
LaneBits load_bits(const View& ub, u64 address, u32 lanes) {
  LaneBits bits{};
  std::memcpy(bits.data(), ub.bytes(address, lanes / 8).data(), lanes / 8);
  return bits;
}

bool compared(CompareOp op, double a, double b) {
  switch (op) {
    case CompareOp::eq: return a == b;
    case CompareOp::ne: return a < b || a > b;
    case CompareOp::lt: return a < b;
    case CompareOp::le: return a <= b;
    case CompareOp::gt: return a > b;
    case CompareOp::ge: return a >= b;
  }
  return false;
}

// Counts comparisons of a repeat that the references would decide otherwise. `scalar`: the second operand, if it is no
// source.
template <usize N>
void shadow_compare(const ExecContext& c, CompareOp op, const std::array<Operand, N>& src,
                    const std::array<LaneBuffer, N>& in, const LaneBuffer* scalar, u32 lanes, const Run& run, u32 r) {
  namespace kernels = shadow_kernels;
  const LaneType type = src[0].type;
  if (!is_float(type)) return;
  std::array<DoubleLanes, 2> own, references;
  for (ShadowPoint* point = c.shadow; point != nullptr; point = point->next) {
    bool any = false;
    for (usize i = 0; i < 2; ++i) {
      kernels::lane_doubles(type, i < N ? in[i] : *scalar, lanes, own[i]);
      references[i] = own[i];
      if (i >= N) continue;
      PlaneLanes room;
      const auto planes = find_planes(*point, src[i], r, BlockSpan(run.mask, type), room);
      if (!planes) continue;
      kernels::decode(lane_bytes(type), *planes, own[i].v.data(), references[i].v.data(), lanes);
      any = true;
    }
    if (!any) continue;
    u64 otherwise = 0;
    for (u32 i = 0; i < lanes; ++i) {
      if ((run.mask[i / 64] >> (i % 64) & 1) == 0) continue;
      otherwise +=
          compared(op, own[0].v[i], own[1].v[i]) != compared(op, references[0].v[i], references[1].v[i]) ? 1 : 0;
    }
    point->add_decided(otherwise);
  }
}

// Bits have no references.
void clear_bits(const ExecContext& c, u64 address, u32 lanes) {
  for (ShadowPoint* point = c.shadow; point != nullptr; point = point->next)
    point->space(BufId::UB).clear(address, lanes / 8);
}

// The address of the masks that mode 2 of vsel reads is known when it executes, not when it is issued: the lower 32
// bits of CMPMASK, since kernels fill it with addresses of that size (PTO's TSEL on A2/A3).
u64 mask_address(const ExecContext& c, const Selection& selection) {
  const u64 address = static_cast<u32>(c.results.cmpmask[0]);
  const u64 bytes = u64{selection.repeats()} * selection.lanes() / 8;
  const u64 size = c.mem[BufId::UB].size();
  if (address % kBlockBytes != 0) {
    fail_issue(FaultId::misaligned_access, "unaligned access: CMPMASK = {:#x} in UB must be a multiple of {} bytes",
               address, kBlockBytes);
  }
  if (address > size || bytes > size - address) {
    fail_issue(FaultId::out_of_bounds,
               "the ub address out of bounds: CMPMASK reads [{:#x}, {:#x}) but UB has {:#x} bytes", address,
               address + bytes, size);
  }
  return address;
}

}  // namespace

Footprint compare_to_register_footprint(const VectorBinaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  const Selection selection(spr, arch, lanes_per_repeat(type), x.repeat);
  Footprint f;
  add_accesses(f, selection, src0_of(x, type), false, "src0");
  add_accesses(f, selection, src1_of(x, type), false, "src1");
  return f;
}

void compare_to_register(const BinaryOperands& o, CompareOp op, ExecContext& c) {
  const CompareKernel kernel = compare_kernel(op, o.src0.type);
  VINCI_CHECK(kernel != nullptr);
  for_each_source<2>(c, {c.spr, c.arch, o.lanes(), o.repeat}, {o.src0, o.src1},
                     [&](const Run& run, u32 r, const auto& in) {
                       LaneBits bits{};
                       c.status |= kernel(in[0], in[1], bits);
                       if (c.shadow != nullptr)
                         shadow_compare<2>(c, op, {o.src0, o.src1}, in, nullptr, o.lanes(), run, r);
                       for (usize w = 0; w < bits.size(); ++w)
                         c.results.cmpmask[w] = (c.results.cmpmask[w] & ~run.mask[w]) | (bits[w] & run.mask[w]);
                     });
}

void compare_to_register_execute(const VectorBinaryArgs& x, CompareOp op, LaneType type, ExecContext& c) {
  compare_to_register(operands_of(x, {type, type}, c.arch), op, c);
}

Footprint compare_footprint(const VectorBinaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  const auto selection = Selection::unmasked(spr, arch, lanes_per_repeat(type), x.repeat);
  Footprint f;
  add_accesses(f, selection, src0_of(x, type), false, "src0");
  add_accesses(f, selection, src1_of(x, type), false, "src1");
  if (!selection.empty()) f.add(bits_access(x.dst, selection, true, "dst"));
  return f;
}

void compare_execute(const VectorBinaryArgs& x, CompareOp op, LaneType type, ExecContext& c) {
  const CompareKernel kernel = compare_kernel(op, type);
  VINCI_CHECK(kernel != nullptr);
  const auto selection = Selection::unmasked(c.spr, c.arch, lanes_per_repeat(type), x.repeat);
  for_each_source<2>(c, selection, {src0_of(x, type), src1_of(x, type)}, [&](const Run& run, u32 r, const auto& in) {
    LaneBits bits{};
    c.status |= kernel(in[0], in[1], bits);
    if (c.shadow != nullptr) {
      shadow_compare<2>(c, op, {src0_of(x, type), src1_of(x, type)}, in, nullptr, selection.lanes(), run, r);
      clear_bits(c, x.dst + u64{r} * selection.lanes() / 8, selection.lanes());
    }
    store_bits(c.mem[BufId::UB], x.dst + u64{r} * selection.lanes() / 8, selection.lanes(), bits);
  });
}

Footprint compare_scalar_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  scalar_bits(x.scalar, type);
  const auto selection = Selection::unmasked(spr, arch, lanes_per_repeat(type), x.repeat);
  Footprint f;
  add_accesses(f, selection, src_of(x, type), false, "src");
  if (!selection.empty()) f.add(bits_access(x.dst, selection, true, "dst"));
  return f;
}

void compare_scalar_execute(const VectorUnaryArgs& x, CompareOp op, LaneType type, ExecContext& c) {
  const CompareKernel kernel = compare_kernel(op, type);
  VINCI_CHECK(kernel != nullptr);
  const auto selection = Selection::unmasked(c.spr, c.arch, lanes_per_repeat(type), x.repeat);
  const LaneBuffer scalar = broadcast(scalar_bits(x.scalar, type), type);
  for_each_source<1>(c, selection, {src_of(x, type)}, [&](const Run& run, u32 r, const auto& in) {
    LaneBits bits{};
    c.status |= kernel(in[0], scalar, bits);
    if (c.shadow != nullptr) {
      shadow_compare<1>(c, op, {src_of(x, type)}, in, &scalar, selection.lanes(), run, r);
      clear_bits(c, x.dst + u64{r} * selection.lanes() / 8, selection.lanes());
    }
    store_bits(c.mem[BufId::UB], x.dst + u64{r} * selection.lanes() / 8, selection.lanes(), bits);
  });
}

Footprint select_footprint(const VectorBinaryArgs& x, LaneType type, const Spr& spr, Arch arch) {
  if (x.option > 2 || (x.option != 0 && !contains(kVectorArchs2, arch))) {
    fail(Fault::Program, "mode = {} is out of range on {}: {}", x.option, name(arch),
         contains(kVectorArchs2, arch) ? "0 to 2" : "0");
  }
  const Selection selection(spr, arch, lanes_per_repeat(type), x.repeat);
  Footprint f;
  if (selection.empty()) return f;
  add_accesses(f, selection, src0_of(x, type), false, "src0");
  if (SelectMode{x.option} == SelectMode::with_scalar) {
    f.add(bits_access(x.src1, selection, false, "src1"));
  } else {
    add_accesses(f, selection, src1_of(x, type), false, "src1");  // the masks of mode 2 are not part of it
  }
  add_accesses(f, selection, dst_of(x, type, arch), true, "dst");
  return f;
}

void select_lanes(const BinaryOperands& o, SelectMode mode, u64 bits_address, ExecContext& c) {
  const LaneType type = o.dst.type;
  const View& ub = c.mem[BufId::UB];
  const Selection selection(c.spr, c.arch, o.lanes(), o.repeat);
  if (selection.empty()) return;
  const u32 lanes = selection.lanes();
  const u64 masks = mode == SelectMode::by_memory ? mask_address(c, selection) : bits_address;
  u32 repeat = 0;
  const auto select = [&](const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out) {
    const LaneBits bits =
        mode == SelectMode::by_register ? c.results.cmpmask : load_bits(ub, masks + u64{repeat} * lanes / 8, lanes);
    ++repeat;
    out = b;
    if ((bits[0] | bits[1]) != 0) blend(out, a, OperandMask(bits, lanes, type).bits);
    return u64{0};
  };
  if (mode == SelectMode::with_scalar) {
    const u64 low = c.results.cmpmask[0] & ((u64{1} << lane_bits(type)) - 1);
    const LaneBuffer scalar = broadcast(low, type);
    for_each_repeat<1>(c, selection, o.dst, {o.src0},
                       [&](const auto& in, LaneBuffer& out) { return select(in[0], scalar, out); });
  } else {
    for_each_repeat<2>(c, selection, o.dst, {o.src0, o.src1},
                       [&](const auto& in, LaneBuffer& out) { return select(in[0], in[1], out); });
  }
}

void select_execute(const VectorBinaryArgs& x, LaneType type, ExecContext& c) {
  select_lanes(operands_of(x, {type, type}, c.arch), SelectMode{x.option}, x.src1, c);
}

void set_cmpmask_execute(const CmpmaskArgs& x, ExecContext& c) {
  c.results.cmpmask = c.mem[BufId::UB].load<LaneBits>(x.address);
}
void get_cmpmask_execute(const CmpmaskArgs& x, ExecContext& c) { c.mem[BufId::UB].store(x.address, c.results.cmpmask); }

}  // namespace vinci::isa::insn
