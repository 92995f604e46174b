// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/sort_kernels.h"

#include <array>
#include <cmath>
#include <utility>

#include "isa/numeric/float16.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;

constexpr u64 kTileRecords = kSortTile * kRecordBytes;  // bytes
constexpr u64 kSorted = 32;                             // records that one repeat of vbitsort32 sorts

}  // namespace

u64 sort_tile(ProgramBuilder& p, Type type, u64 scores, u64 indices, u64 to, u64 scratch) {
  p.vbitsort32(type, to, scores, indices, kSortTile / kSorted);
  p.pipe_barrier(PipeId::V);
  u64 from = to, other = scratch;
  for (u64 length = kSorted; length < kSortTile; length *= 4) {
    const u64 bytes = length * kRecordBytes;
    p.vmrgsort4v2(type, other, from, from + bytes, from + 2 * bytes, from + 3 * bytes, kSortTile / (4 * length), length,
                  length, length, length, 0, 15);
    p.pipe_barrier(PipeId::V);
    std::swap(from, other);
  }
  return from;
}

isa::BuiltProgram sort_tiles(isa::Arch arch) {
  constexpr u64 kScores = 0, kIota = kScores + kSortTile * 2, kIndices = kIota + kSortTile * 4,
                kFirst = kIndices + kSortTile * 4, kSecond = kFirst + kTileRecords;
  ProgramBuilder p("sort_tiles", arch);
  const Reg scores = p.arg("scores"), iota = p.arg("iota"), records = p.arg("records"), tiles = p.arg("tiles");
  const auto [tile, step, at] = p.regs("tile", "step", "at");
  p.copy_gm_to_ubuf(kIota, iota, 0, 1, kSortTile * 4 / 32, 0, 0);
  p.get_block_idx(tile);
  p.get_block_num(step);
  p.loop(tile, tiles, step, [&] {
    p.mul(at, tile, kSortTile * 2);
    p.add(at, at, scores);
    p.copy_gm_to_ubuf(kScores, at, 0, 1, kSortTile * 2 / 32, 0, 0);
    p.hand_over(PipeId::MTE2, PipeId::V, 0);
    p.mul(at, tile, kSortTile);
    p.vadds(Type::s32, kIndices, kIota, at, kSortTile / 64, 1, 1, 8, 8);
    p.pipe_barrier(PipeId::V);
    const u64 sorted = sort_tile(p, Type::f16, kScores, kIndices, kFirst, kSecond);
    p.hand_over(PipeId::V, PipeId::MTE3, 0);
    p.mul(at, tile, kTileRecords);
    p.add(at, at, records);
    p.copy_ubuf_to_gm(at, sorted, 0, 1, kTileRecords / 32, 0, 0);
    p.hand_over(PipeId::MTE3, PipeId::V, 0);
    p.hand_over(PipeId::V, PipeId::MTE2, 0);
  });
  p.end_block();
  return p.finish();
}

// Each turn loads the next records of every list, merges until one of these pieces is used up, and moves the lists on
// by what was taken. A list that has ended is replaced by records below all scores.
isa::BuiltProgram merge_lists(isa::Arch arch) {
  constexpr u64 kPiece = 2048, kPieceBytes = kPiece * kRecordBytes, kOut = 4 * kPieceBytes, kEnded = 2 * kOut;
  ProgramBuilder p("merge_lists", arch);
  const Reg in = p.arg("in"), out = p.arg("out"), total = p.arg("total"), stride = p.arg("stride"),
            length = p.arg("length"), most = p.arg("most");
  const auto [list, t, taken, made, some] = p.regs("list", "t", "taken", "made", "some");
  std::array<Reg, 4> at, left, from, count;
  for (u32 i = 0; i < 4; ++i) {
    at[i] = p.reg("at"), left[i] = p.reg("left"), from[i] = p.reg("from"), count[i] = p.reg("count");
  }
  p.vector_dup(Type::f16, kEnded, isa::f16(-INFINITY), kPieceBytes / 256, 1, 1, 8, 8);
  p.pipe_barrier(PipeId::V);
  p.get_block_idx(list);
  p.mul(t, list, 4 * kRecordBytes);
  p.mul(t, t, stride);
  p.add(out, out, t);
  p.mul(list, list, 4);
  for (u32 i = 0; i < 4; ++i) {
    p.add(t, list, i);
    p.mul(t, t, stride);
    p.mul(at[i], t, kRecordBytes);
    p.add(at[i], at[i], in);
    p.sub(left[i], total, t);
    p.min(left[i], left[i], length);
    p.max(left[i], left[i], 0);
  }
  const isa::Target again = p.here("turn"), done = p.label("done");
  p.add(t, left[0], left[1]);
  p.add(t, t, left[2]);
  p.add(t, t, left[3]);
  p.beq(t, 0, done);
  p.ble(most, 0, done);
  for (u32 i = 0; i < 4; ++i) {
    p.mov(from[i], kEnded);
    p.mov(count[i], kPiece);
    p.if_(left[i] > 0, [&] {
      p.mov(from[i], i * kPieceBytes);
      p.min(count[i], count[i], left[i]);
      p.mul(t, count[i], kRecordBytes);
      p.copy_gm_to_ubuf_align_b8(i * kPieceBytes, at[i], 0, 1, t, 0, 0, 0, 0);
    });
  }
  p.hand_over(PipeId::MTE2, PipeId::V, 0);
  p.vmrgsort4v2(Type::f16, kOut, from[0], from[1], from[2], from[3], 1, count[0], count[1], count[2], count[3], 1, 15);
  p.hand_over(PipeId::V, PipeId::S, 0);
  p.get_vms4_sr(taken);
  p.mov(made, 0);
  for (u32 i = 0; i < 4; ++i) {
    p.shr(some, taken, 16 * i);
    p.and_(some, some, 0xffff);
    p.add(made, made, some);
    p.sub(left[i], left[i], some);
    p.max(left[i], left[i], 0);
    p.mul(some, some, kRecordBytes);
    p.add(at[i], at[i], some);
  }
  p.min(made, made, most);
  p.sub(most, most, made);
  p.mul(made, made, kRecordBytes);
  p.hand_over(PipeId::V, PipeId::MTE3, 0);
  p.copy_ubuf_to_gm_align_b8(out, kOut, 0, 1, made, 0, 0, 0, 0);
  p.add(out, out, made);
  p.hand_over(PipeId::MTE3, PipeId::V, 0);
  p.hand_over(PipeId::V, PipeId::MTE2, 0);
  p.b(again);
  p.bind(done);
  p.end_block();
  return p.finish();
}

isa::BuiltProgram mask_first(isa::Arch arch) {
  constexpr u64 kMask = 0, kOnes = kSortTile * 4, kIota = 2 * kSortTile * 4, kRepeats = kSortTile / 64;
  ProgramBuilder p("mask_first", arch);
  const Reg k = p.arg("k"), iota = p.arg("iota"), mask = p.arg("mask"), tiles = p.arg("tiles");
  const auto [tile, step, at, rest] = p.regs("tile", "step", "at", "rest");
  p.ld_dev(Type::b32, k, k);
  p.vector_dup(Type::f32, kOnes, isa::f32(1), kRepeats, 1, 1, 8, 8);
  p.copy_gm_to_ubuf(kIota, iota, 0, 1, kSortTile * 4 / 32, 0, 0);
  p.hand_over(PipeId::MTE2, PipeId::V, 0);
  p.get_block_idx(tile);
  p.get_block_num(step);
  // min(relu(k - tile - iota), 1)
  p.loop(tile, tiles, step, [&] {
    p.mul(rest, tile, kSortTile);
    p.sub(rest, k, rest);
    p.conv_s322f32(rest, rest);
    p.vmuls(Type::f32, kMask, kIota, isa::f32(-1), kRepeats, 1, 1, 8, 8);
    p.pipe_barrier(PipeId::V);
    p.vadds(Type::f32, kMask, kMask, rest, kRepeats, 1, 1, 8, 8);
    p.pipe_barrier(PipeId::V);
    p.vrelu(Type::f32, kMask, kMask, kRepeats, 1, 1, 8, 8);
    p.pipe_barrier(PipeId::V);
    p.vmin(Type::f32, kMask, kMask, kOnes, kRepeats, 1, 1, 1, 8, 8, 8);
    p.hand_over(PipeId::V, PipeId::MTE3, 0);
    p.mul(at, tile, kSortTile * 4);
    p.add(at, at, mask);
    p.copy_ubuf_to_gm(at, kMask, 0, 1, kSortTile * 4 / 32, 0, 0);
    p.hand_over(PipeId::MTE3, PipeId::V, 0);
  });
  p.end_block();
  return p.finish();
}

}  // namespace vinci::studies
