// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/compress_kernels.h"

#include "isa/base/error.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;

constexpr u64 kBlock = 32, kF32Lanes = 64;
constexpr u64 kPatternElements = 256;  // whose bits are a block
constexpr u64 kRowsBytes = 64 * 1024;  // of UB for rows on their way

// Where things are in UB.
constexpr u64 kScores = 0, kPattern = kScores + kCompressTile * 4, kIota = kPattern + kCompressTile / 8,
              kPicked = kIota + kCompressTile * 4, kRows = kPicked + kCompressTile * 8;

// Reads a tile of scores and leaves the bits of those above 0 in UB.
void find(ProgramBuilder& p, Reg gm) {
  p.copy_gm_to_ubuf(kScores, gm, 0, 1, kCompressTile * 4 / kBlock, 0, 0);
  p.hand_over(PipeId::MTE2, PipeId::V, 0);
  p.vcmpvs_gt(Type::f32, kPattern, kScores, 0, kCompressTile / kF32Lanes, 1, 1, 8, 8);
  p.pipe_barrier(PipeId::V);
}

// Packs the elements of UB at `from` whose bits are set; `count` gets how many.
void pick(ProgramBuilder& p, u64 to, u64 from, Reg count) {
  p.set_mask_count();
  p.set_vector_mask(0, kPatternElements);
  p.vreducev2(Type::u32, to, from, kPattern, kCompressTile / kPatternElements, 1, 0, kPatternElements * 4 / kBlock, 1);
  p.set_mask_norm();
  p.set_vector_mask(-1, -1);
  p.hand_over(PipeId::V, PipeId::S, 0);
  p.get_rsvd_cnt(count);
}

// Copies rows of x, whose numbers are in UB at kPicked, to `y_at`, which is moved on: some at a time go through UB.
class Rows {
 public:
  Rows(ProgramBuilder& p, u64 row_bytes, u64 index_bytes)
      : p_(p), row_bytes_(row_bytes), index_bytes_(index_bytes), most_(kRowsBytes / row_bytes) {
    VINCI_CHECK(row_bytes % kBlock == 0 && most_ > 0);
  }

  // `base` is added to each number.
  void copy(Reg x, Reg y_at, Reg count, Reg base) {
    const auto scope = p_.scope();
    const auto [done, some, i, at, from, to] = p_.regs("done", "some", "row", "at", "from", "to");
    p_.loop(done, 0, count, most_, [&] {
      p_.sub(some, count, done);
      p_.min(some, some, most_);
      p_.mov(to, kRows);
      p_.mul(at, done, index_bytes_);
      p_.add(at, at, kPicked);
      p_.loop(i, 0, some, 1, [&] {
        p_.ld_ubuf(index_bytes_ == 8 ? Type::b64 : Type::b32, from, at);
        p_.add(from, from, base);
        p_.mul(from, from, row_bytes_);
        p_.add(from, from, x);
        p_.copy_gm_to_ubuf(to, from, 0, 1, row_bytes_ / kBlock, 0, 0);
        p_.add(to, to, row_bytes_);
        p_.add(at, at, index_bytes_);
      });
      p_.hand_over(PipeId::MTE2, PipeId::MTE3, 0);
      p_.mul(from, some, row_bytes_ / kBlock);
      p_.copy_ubuf_to_gm(y_at, kRows, 0, 1, from, 0, 0);
      p_.hand_over(PipeId::MTE3, PipeId::MTE2, 0);
      p_.mul(from, some, row_bytes_);
      p_.add(y_at, y_at, from);
    });
    p_.hand_over(PipeId::S, PipeId::V, 0);  // the numbers in UB are read
    p_.hand_over(PipeId::S, PipeId::MTE2, 0);
  }

 private:
  ProgramBuilder& p_;
  const u64 row_bytes_, index_bytes_, most_;
};

}  // namespace

isa::BuiltProgram count_kernel(isa::Arch arch, u64 tiles) {
  ProgramBuilder p("count", arch);
  const Reg scores = p.arg("scores"), counts = p.arg("counts");
  const auto [block, tile, gm, some, sum] = p.regs("block", "tile", "gm", "some", "sum");
  p.get_block_idx(block);
  p.mov(sum, 0);
  p.mul(gm, block, tiles * kCompressTile * 4);
  p.add(gm, gm, scores);
  p.loop(tile, 0, tiles, 1, [&] {
    find(p, gm);
    pick(p, kPicked, kScores, some);
    p.add(sum, sum, some);
    p.add(gm, gm, kCompressTile * 4);
    p.hand_over(PipeId::V, PipeId::MTE2, 0);
  });
  p.mul(gm, block, kCountBytes);
  p.add(gm, gm, counts);
  p.st_dev(Type::b32, sum, gm);
  p.end_block();
  return p.finish();
}

isa::BuiltProgram compress_kernel(isa::Arch arch, u64 tiles, u64 row_bytes) {
  ProgramBuilder p("compress", arch);
  const Reg scores = p.arg("scores"), counts = p.arg("counts"), iota = p.arg("iota"), x = p.arg("x"), y = p.arg("y");
  const auto [block, tile, gm, some, before, base] = p.regs("block", "tile", "gm", "some", "before", "base");
  p.get_block_idx(block);
  p.copy_gm_to_ubuf(kIota, iota, 0, 1, kCompressTile * 4 / kBlock, 0, 0);
  // Rows of the blocks before this one.
  p.mov(before, 0);
  p.mov(gm, counts);
  p.loop(tile, 0, block, 1, [&] {
    p.ld_dev(Type::b32, some, gm);
    p.add(before, before, some);
    p.add(gm, gm, kCountBytes);
  });
  p.mul(before, before, row_bytes);
  p.add(before, before, y);
  p.mul(base, block, tiles * kCompressTile);
  p.mul(gm, base, 4);
  p.add(gm, gm, scores);
  Rows rows(p, row_bytes, 4);
  p.loop(tile, 0, tiles, 1, [&] {
    find(p, gm);
    pick(p, kPicked, kIota, some);
    rows.copy(x, before, some, base);
    p.add(base, base, kCompressTile);
    p.add(gm, gm, kCompressTile * 4);
    p.hand_over(PipeId::V, PipeId::MTE2, 0);
  });
  p.end_block();
  return p.finish();
}

isa::BuiltProgram gather_kernel(isa::Arch arch, u64 row_bytes, u64 each) {
  ProgramBuilder p("gather", arch);
  const Reg indices = p.arg("indices"), x = p.arg("x"), y = p.arg("y"), count = p.arg("count");
  const auto [first, last, gm, some, zero, left] = p.regs("first", "last", "gm", "some", "zero", "left");
  p.get_block_idx(first);
  p.mul(first, first, each);
  p.add(last, first, each);
  p.min(last, last, count);
  p.mov(zero, 0);
  p.mul(gm, first, row_bytes);
  p.add(y, y, gm);
  p.mul(gm, first, 8);
  p.add(gm, gm, indices);
  Rows rows(p, row_bytes, 8);
  p.loop(first, last, kCompressTile, [&] {
    p.sub(some, last, first);
    p.min(some, some, kCompressTile);
    p.add(left, some, 3);
    p.shr(left, left, 2);  // blocks of four indices
    p.copy_gm_to_ubuf(kPicked, gm, 0, 1, left, 0, 0);
    p.hand_over(PipeId::MTE2, PipeId::S, 0);
    rows.copy(x, y, some, zero);
    p.add(gm, gm, kCompressTile * 8);
  });
  p.end_block();
  return p.finish();
}

}  // namespace vinci::studies
