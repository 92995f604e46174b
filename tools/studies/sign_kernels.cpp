// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/sign_kernels.h"

#include "isa/base/error.h"
#include "tools/gen/tile_pipeline.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;

constexpr u64 kWide = kSignTile * 4, kBits = kSignTile / 8, kHalf = kSignTile * 2;  // bytes of a tile
constexpr u64 kF32Repeats = kSignTile / 64, kF16Repeats = kSignTile / 128;

// Two arguments, and where a tile begins in them.
struct InAndOut {
  explicit InAndOut(ProgramBuilder& p)
      : in(p.reg("in", 3)), out(p.reg("out", 4)), in_at(p.reg("in_at", 5)), out_at(p.reg("out_at", 6)) {}
  const Reg in, out, in_at, out_at;

  void load(ProgramBuilder& p) const {
    p.ld_arg(in, 0);
    p.ld_arg(out, 1);
  }
  void locate(ProgramBuilder& p, Reg tile, u64 in_bytes, u64 out_bytes) const {
    p.mul(in_at, tile, in_bytes);
    p.add(in_at, in_at, in);
    p.mul(out_at, tile, out_bytes);
    p.add(out_at, out_at, out);
  }
};

// The scalar that bits select against: CMPMASK holds -1 of the type.
void select_against_minus_one(ProgramBuilder& p, Type type, u64 scratch) {
  p.vector_dup(type, scratch, type == Type::f32 ? isa::f32(-1) : isa::f16(-1), 1, 1, 1, 8, 8);
  p.pipe_barrier(PipeId::V);
  p.set_cmpmask(scratch);
  p.pipe_barrier(PipeId::V);
}

}  // namespace

isa::BuiltProgram pack_signs(isa::Arch arch, u64 elements) {
  VINCI_CHECK(elements % kSignTile == 0);
  ProgramBuilder b("pack_signs", arch);
  const InAndOut x(b);
  const auto wide = [](u32 slot) { return slot * (kWide + kBits); };
  gen::TilePipeline t{.tiles = elements / kSignTile};
  t.prologue = [&](ProgramBuilder& p) { x.load(p); };
  t.locate = [&](ProgramBuilder& p, Reg tile) { x.locate(p, tile, kWide, kBits); };
  t.load = [&](ProgramBuilder& p, u32 slot) { p.copy_gm_to_ubuf(wide(slot), x.in_at, 0, 1, kWide / 32, 0, 0); };
  t.compute = [&](ProgramBuilder& p, u32 slot) {
    p.vcmpvs_ge(Type::f32, wide(slot) + kWide, wide(slot), 0, kF32Repeats, 1, 1, 8, 8);
  };
  t.store = [&](ProgramBuilder& p, u32 slot) {
    p.copy_ubuf_to_gm(x.out_at, wide(slot) + kWide, 0, 1, kBits / 32, 0, 0);
  };
  write_tile_pipeline(b, t);
  return b.finish();
}

isa::BuiltProgram vote_signs(isa::Arch arch, u64 elements, u64 ranks) {
  VINCI_CHECK(elements % kSignTile == 0 && ranks <= 64);
  ProgramBuilder b("vote_signs", arch);
  const InAndOut x(b);
  // A slot: bits of all ranks, then of the vote. Behind both slots: votes, 1 or -1, ones.
  const auto bits = [&](u32 slot) { return slot * (ranks + 1) * kBits; };
  const u64 sum = bits(2), sign = sum + kHalf, ones = sign + kHalf;
  gen::TilePipeline t{.tiles = elements / kSignTile};
  t.prologue = [&](ProgramBuilder& p) {
    x.load(p);
    p.vector_dup(Type::f16, ones, isa::f16(1), 1, 1, 1, 8, 8);
    select_against_minus_one(p, Type::f16, sum);
  };
  t.locate = [&](ProgramBuilder& p, Reg tile) { x.locate(p, tile, kBits, kBits); };
  t.load = [&](ProgramBuilder& p, u32 slot) {
    p.copy_gm_to_ubuf(bits(slot), x.in_at, 0, ranks, kBits / 32, (elements / 8 - kBits) / 32, 0);
  };
  t.compute = [&](ProgramBuilder& p, u32 slot) {
    for (u64 rank = 0; rank < ranks; ++rank) {
      p.vsel(Type::f16, rank == 0 ? sum : sign, ones, bits(slot) + rank * kBits, kF16Repeats, 1, 1, 0, 8, 0, 0, 1);
      p.pipe_barrier(PipeId::V);
      if (rank == 0) continue;
      p.vadd(Type::f16, sum, sum, sign, kF16Repeats, 1, 1, 1, 8, 8, 8);
      p.pipe_barrier(PipeId::V);
    }
    p.vcmpvs_ge(Type::f16, bits(slot) + ranks * kBits, sum, 0, kF16Repeats, 1, 1, 8, 8);
    p.pipe_barrier(PipeId::V);
  };
  t.store = [&](ProgramBuilder& p, u32 slot) {
    p.copy_ubuf_to_gm(x.out_at, bits(slot) + ranks * kBits, 0, 1, kBits / 32, 0, 0);
  };
  write_tile_pipeline(b, t);
  return b.finish();
}

isa::BuiltProgram unpack_signs(isa::Arch arch, u64 elements) {
  VINCI_CHECK(elements % kSignTile == 0);
  ProgramBuilder b("unpack_signs", arch);
  const InAndOut x(b);
  const auto bits = [](u32 slot) { return slot * (kWide + kBits); };
  constexpr u64 kOnes = 2 * (kWide + kBits);
  gen::TilePipeline t{.tiles = elements / kSignTile};
  t.prologue = [&](ProgramBuilder& p) {
    x.load(p);
    p.vector_dup(Type::f32, kOnes, isa::f32(1), 1, 1, 1, 8, 8);
    select_against_minus_one(p, Type::f32, 0);
  };
  t.locate = [&](ProgramBuilder& p, Reg tile) { x.locate(p, tile, kBits, kWide); };
  t.load = [&](ProgramBuilder& p, u32 slot) { p.copy_gm_to_ubuf(bits(slot), x.in_at, 0, 1, kBits / 32, 0, 0); };
  t.compute = [&](ProgramBuilder& p, u32 slot) {
    p.vsel(Type::f32, bits(slot) + kBits, kOnes, bits(slot), kF32Repeats, 1, 1, 0, 8, 0, 0, 1);
  };
  t.store = [&](ProgramBuilder& p, u32 slot) {
    p.copy_ubuf_to_gm(x.out_at, bits(slot) + kBits, 0, 1, kWide / 32, 0, 0);
  };
  write_tile_pipeline(b, t);
  return b.finish();
}

}  // namespace vinci::studies
