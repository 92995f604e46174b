// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/assignment_kernels.h"

#include <cmath>

#include "isa/base/error.h"
#include "tools/gen/tile_pipeline.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;

constexpr u64 kPart = kSortTile * 4, kRepeats = kSortTile / 64;  // bytes of a chunk of a row

// A kernel that works on chunks of rows.
struct ChunkOp {
  u32 columns = 0, full = 0;  // operands of the anchors, and of [rows, columns]
  i32 number = -1;            // word of the box of the row that it takes, -1: none
  bool threshold = false;     // it takes the k-th record of the row, by two arguments: records, k
  std::function<void(ProgramBuilder& p, const std::vector<u64>& in, u64 out, Reg number)> compute = {};
};

isa::BuiltProgram chunk_program(isa::Arch arch, std::string_view name, u64 rows, const ChunkOp& op) {
  ProgramBuilder b(std::string(name), arch);
  const u32 inputs = op.columns + op.full;
  const u64 slot_bytes = (inputs + 1) * kPart;
  std::vector<Reg> in;
  for (u32 i = 0; i < inputs; ++i)
    in.push_back(b.reg("in", 3 + i));
  const Reg row = b.reg("row", 10), at = b.reg("at", 11), full_at = b.reg("full_at", 12),
            column_at = b.reg("column_at", 13), number = b.reg("number", 14), boxes = b.reg("boxes", 15),
            out = b.reg("out", 16), ks = b.reg("ks", 17);
  gen::TilePipeline t{.tiles = rows * kChunks};
  t.prologue = [&](ProgramBuilder& p) {
    u32 argument = 0;
    for (const Reg r : in)
      p.ld_arg(r, argument++);
    if (op.number >= 0 || op.threshold) p.ld_arg(boxes, argument++);
    if (op.threshold) p.ld_arg(ks, argument++);
    p.ld_arg(out, argument++);
  };
  t.locate = [&](ProgramBuilder& p, Reg tile) {
    p.div(row, tile, kChunks);
    p.mul(full_at, tile, kPart);
    p.rem(column_at, tile, kChunks);
    p.mul(column_at, column_at, kPart);
    if (op.number >= 0) {
      p.mul(number, row, kBoxBytes);
      p.add(number, number, boxes);
      p.ld_dev(Type::b32, number, number, op.number * 4);
    }
    if (op.threshold) {  // the score of record k - 1
      p.mul(at, row, kTopBytes);
      p.add(at, at, boxes);
      p.mul(number, row, 32);
      p.add(number, number, ks);
      p.ld_dev(Type::b32, number, number);
      p.sub(number, number, 1);
      p.mul(number, number, kRecordBytes);
      p.add(at, at, number);
      p.ld_dev(Type::b32, number, at);
    }
  };
  t.load = [&](ProgramBuilder& p, u32 slot) {
    for (u32 i = 0; i < inputs; ++i) {
      p.add(at, in[i], i < op.columns ? column_at : full_at);
      p.copy_gm_to_ubuf(slot * slot_bytes + i * kPart, at, 0, 1, kPart / 32, 0, 0);
    }
  };
  t.compute = [&](ProgramBuilder& p, u32 slot) {
    std::vector<u64> operands;
    for (u32 i = 0; i < inputs; ++i)
      operands.push_back(slot * slot_bytes + i * kPart);
    op.compute(p, operands, slot * slot_bytes + inputs * kPart, number);
  };
  t.store = [&](ProgramBuilder& p, u32 slot) {
    p.add(at, out, full_at);
    p.copy_ubuf_to_gm(at, slot * slot_bytes + inputs * kPart, 0, 1, kPart / 32, 0, 0);
  };
  write_tile_pipeline(b, t);
  return b.finish();
}

// out = op(in), each behind the one before.
void binary(ProgramBuilder& p, std::string_view op, u64 out, u64 a, u64 b) {
  p.call(op, Type::f32, {out, a, b, kRepeats, 1, 1, 1, 8, 8, 8});
  p.pipe_barrier(PipeId::V);
}
void scalar(ProgramBuilder& p, std::string_view op, u64 out, u64 a, const isa::Value& by) {
  p.call(op, Type::f32, {out, a, by, kRepeats, 1, 1, 8, 8});
  p.pipe_barrier(PipeId::V);
}
void unary(ProgramBuilder& p, std::string_view op, u64 out, u64 a) {
  p.call(op, Type::f32, {out, a, kRepeats, 1, 1, 8, 8});
  p.pipe_barrier(PipeId::V);
}

// A corner of what a box and an anchor share.
ChunkOp corner(std::string_view op, i32 word) {
  return {.columns = 1,
          .number = word,
          .compute = [op](ProgramBuilder& p, const std::vector<u64>& in, u64 out, Reg number) {
            scalar(p, op, out, in[0], number);
          }};
}

// A block takes whole rows. Chunks are sorted one after the other, and the first records of each are merged at the end.
isa::BuiltProgram top_program(isa::Arch arch, u64 rows) {
  constexpr u64 kLists = 16, kIota = 0, kIndices = kIota + kPart, kScores = kIndices + kPart, kFirst = kScores + kPart,
                kSecond = kFirst + kSortTile * kRecordBytes, kBest = kSecond + kSortTile * kRecordBytes,
                kMerged = kBest + kLists * kTopBytes;
  ProgramBuilder p("top", arch);
  const Reg iou = p.arg("iou"), iota = p.arg("iota"), out = p.arg("out");
  const auto [row, step, chunk, at, best] = p.regs("row", "step", "chunk", "at", "best");
  p.copy_gm_to_ubuf(kIota, iota, 0, 1, kPart / 32, 0, 0);
  p.get_block_idx(row);
  p.get_block_num(step);
  p.loop(row, rows, step, [&] {
    p.vector_dup(Type::f32, kBest, isa::f32(-INFINITY), kLists * kTopBytes / 256, 1, 1, 8, 8);
    p.pipe_barrier(PipeId::V);
    p.mov(best, kBest);
    p.loop(chunk, 0, kChunks, 1, [&] {
      p.mul(at, row, kChunks);
      p.add(at, at, chunk);
      p.mul(at, at, kPart);
      p.add(at, at, iou);
      p.copy_gm_to_ubuf(kScores, at, 0, 1, kPart / 32, 0, 0);
      p.hand_over(PipeId::MTE2, PipeId::V, 0);
      p.mul(at, chunk, kSortTile);
      p.vadds(Type::s32, kIndices, kIota, at, kRepeats, 1, 1, 8, 8);
      p.pipe_barrier(PipeId::V);
      const u64 sorted = sort_tile(p, Type::f32, kScores, kIndices, kFirst, kSecond);
      p.vadds(Type::s32, best, sorted, 0, kTopBytes / 256, 1, 1, 8, 8);  // a copy of the first records
      p.pipe_barrier(PipeId::V);
      p.add(best, best, kTopBytes);
      p.hand_over(PipeId::V, PipeId::MTE2, 0);
    });
    const auto merge = [&](u64 to, u64 from, u64 repeat, u64 length) {
      const u64 bytes = length * kRecordBytes;
      p.vmrgsort4v2(Type::f32, to, from, from + bytes, from + 2 * bytes, from + 3 * bytes, repeat, length, length,
                    length, length, 0, 15);
      p.pipe_barrier(PipeId::V);
    };
    merge(kMerged, kBest, 4, kTopRecords);
    merge(kFirst, kMerged, 1, 4 * kTopRecords);
    p.hand_over(PipeId::V, PipeId::MTE3, 0);
    p.mul(at, row, kTopBytes);
    p.add(at, at, out);
    p.copy_ubuf_to_gm(at, kFirst, 0, 1, kTopBytes / 32, 0, 0);
    p.hand_over(PipeId::MTE3, PipeId::V, 0);
  });
  p.end_block();
  return p.finish();
}

// Scores are every other word of the records; ten of them are added by one reduction.
isa::BuiltProgram dynamic_k_program(isa::Arch arch, u64 rows) {
  constexpr u64 kRecords = 0, kWords = kTopBytes, kSum = 2 * kTopBytes;
  ProgramBuilder p("dynamic_k", arch);
  const Reg records = p.arg("records"), out = p.arg("out");
  const auto [row, step, at, k] = p.regs("row", "step", "at", "k");
  p.get_block_idx(row);
  p.get_block_num(step);
  p.loop(row, rows, step, [&] {
    p.mul(at, row, kTopBytes);
    p.add(at, at, records);
    p.copy_gm_to_ubuf(kRecords, at, 0, 1, kTopBytes / 32, 0, 0);
    p.hand_over(PipeId::MTE2, PipeId::V, 0);
    p.vreducev2(Type::u32, kWords, kRecords, kRecords, 1, 1, 1, 8, 0);
    p.pipe_barrier(PipeId::V);
    p.set_vector_mask(0, (1u << kTop) - 1);
    p.vcadd(Type::f32, kSum, kWords, 1, 1, 1, 8);
    p.set_vector_mask(-1, -1);
    p.hand_over(PipeId::V, PipeId::S, 0);
    p.ld_ubuf(Type::b32, k, kSum);
    p.conv_f322s32z(k, k);
    p.max(k, k, 1);
    p.mul(at, row, 32);
    p.add(at, at, out);
    p.st_dev(Type::b32, k, at);
    p.hand_over(PipeId::S, PipeId::V, 0);
    p.hand_over(PipeId::V, PipeId::MTE2, 0);
  });
  p.end_block();
  return p.finish();
}

// 1 where iou >= threshold: 1 - min(relu(threshold - iou) * 2^100, 1), because differences of f32 at most 1 are 0 or at
// least 2^-149, and what is not shared at all has no place among the largest.
ChunkOp matched() {
  return {
      .full = 1, .threshold = true, .compute = [](ProgramBuilder& p, const std::vector<u64>& in, u64 out, Reg number) {
        scalar(p, "vmuls", out, in[0], isa::f32(-1));
        scalar(p, "vadds", out, out, number);
        unary(p, "vrelu", out, out);
        scalar(p, "vmuls", out, out, isa::f32(0x1p100f));
        scalar(p, "vmins", out, out, isa::f32(1));
        scalar(p, "vmuls", out, out, isa::f32(-1));
        scalar(p, "vadds", out, out, isa::f32(1));
      }};
}

}  // namespace

isa::BuiltProgram assignment_kernel(isa::Arch arch, AssignOp op, u64 rows) {
  const auto program = [&](std::string_view name, const ChunkOp& chunk) {
    return chunk_program(arch, name, rows, chunk);
  };
  using In = const std::vector<u64>&;
  switch (op) {
    case AssignOp::x1: return program("x1", corner("vmaxs", 0));
    case AssignOp::y1: return program("y1", corner("vmaxs", 1));
    case AssignOp::x2: return program("x2", corner("vmins", 2));
    case AssignOp::y2: return program("y2", corner("vmins", 3));
    case AssignOp::intersection:
      return program("intersection", {.full = 4, .compute = [](ProgramBuilder& p, In in, u64 out, Reg) {
                                        binary(p, "vsub", in[0], in[2], in[0]);
                                        binary(p, "vsub", in[1], in[3], in[1]);
                                        unary(p, "vrelu", in[0], in[0]);
                                        unary(p, "vrelu", in[1], in[1]);
                                        binary(p, "vmul", out, in[0], in[1]);
                                      }});
    case AssignOp::union_area:
      return program(
          "union_area",
          {.columns = 1, .full = 1, .number = 4, .compute = [](ProgramBuilder& p, In in, u64 out, Reg number) {
             binary(p, "vsub", out, in[0], in[1]);
             scalar(p, "vadds", out, out, number);
           }});
    case AssignOp::iou:
      return program("iou", {.full = 2, .compute = [](ProgramBuilder& p, In in, u64 out, Reg) {
                               binary(p, "vdiv", out, in[0], in[1]);
                             }});
    case AssignOp::log_iou:
      return program("log_iou", {.full = 1, .compute = [](ProgramBuilder& p, In in, u64 out, Reg) {
                                   scalar(p, "vadds", out, in[0], isa::f32(1e-8f));
                                   unary(p, "vln", out, out);
                                 }});
    case AssignOp::cost:
      return program("cost", {.full = 2, .compute = [](ProgramBuilder& p, In in, u64 out, Reg) {
                                scalar(p, "vmuls", out, in[1], isa::f32(-3));
                                binary(p, "vadd", out, out, in[0]);
                              }});
    case AssignOp::top: return top_program(arch, rows);
    case AssignOp::dynamic_k: return dynamic_k_program(arch, rows);
    case AssignOp::matched: return program("matched", matched());
  }
  fail(Fault::Internal, "no such operation");
}

}  // namespace vinci::studies
