// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm_epilogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/gen/gemm_moves.h"

namespace vinci::gen {
namespace {

constexpr u64 kBytes = 2;  // FP16
constexpr u64 kColumns = 16, kLanes = 128, kMaxRepeats = 255;

}  // namespace

usize GemmEpilogue::whole_operands() const {
  return static_cast<usize>(std::ranges::count(operands, false, &Operand::row));
}

u64 epilogue_bytes(const GemmEpilogue& e, u64 tile_m, u64 chunk) {
  const u64 whole = e.whole_operands(), rows = e.operands.size() - whole;
  return kOperandSlots * chunk * kBytes * (whole * tile_m + rows) + e.operands.size() * tile_m * chunk * kBytes +
         e.room(tile_m * chunk);
}

u64 GemmMoves::operand_at(usize i) const {
  u64 at = operands_base_;
  for (usize o = 0; o < i; ++o)
    at += kOperandSlots * operand_bytes(o);
  return at;
}

u64 GemmMoves::operand_bytes(usize i) const {
  return u64{t_.chunk} * kBytes * (p_.epilogue->operands[i].row ? 1 : t_.tile_m);
}

// What an epilogue has computed with and no copy has written must be numbers.
void GemmMoves::clear_for_epilogue() {
  const auto clear = [&](u64 from, u64 to) {
    for (u64 at = from; at < to; at += kMaxRepeats * kLanes * kBytes)
      out_.vector_dup(isa::Type::f16, at, 0, std::min(kMaxRepeats, (to - at) / (kLanes * kBytes)), 1, 1, 8, 8);
  };
  const u64 tile_bytes = u64{t_.tile_m} * t_.tile_n * kBytes, results = u64{t_.stage_slots} * t_.stage_bytes;
  out_.comment("rows and columns behind the last ones of a tile are numbers");
  clear(results, results + t_.ub_slots * tile_bytes);
  // Behind the operands is room for the work.
  if (const usize all = p_.epilogue->operands.size(); all > 0)
    clear(operand_at(0), align_up<u64>(operand_at(all), kLanes * kBytes));
  out_.pipe_barrier(PipeId::ALL);
}

// The operands of the part of the tile before that c_at is the number of: rows as they are in memory.
void GemmMoves::load_operands() {
  const GemmEpilogue& e = *p_.epilogue;
  if (e.operands.empty()) return;
  out_.comment("what is computed with the results");
  out_.sub(j, tile, step);
  place(j);
  extent(rows, M, m0, TILE_M);
  out_.sub(t1, static_cast<i64>(chunks()), c_at);
  out_.mul(t1, t1, i64{t_.chunk});
  out_.add(n0, n0, t1);
  out_.and_(t1, c_at, 1);
  out_.wait_flag(PipeId::V, PipeId::MTE2, t1);
  for (usize i = 0; i < e.operands.size(); ++i) {
    const GemmEpilogue::Operand& operand = e.operands[i];
    if (operand.row) {
      out_.mov(src, n0);
    } else {
      out_.mul(src, m0, N);
      out_.add(src, src, n0);
    }
    out_.shl(src, src, 1);
    out_.ld_arg(t0, operand.argument);
    out_.add(src, src, t0);
    add_matrix(src, j, operand.batch, (operand.row ? 1 : p_.m) * p_.n * kBytes);
    out_.and_(dst, c_at, 1);
    out_.mul(dst, dst, operand_bytes(i));
    out_.add(dst, dst, operand_at(i));
    out_.sub(t1, N, n0);
    out_.min(t1, t1, i64{t_.chunk});
    out_.shr(t1, t1, 4);
    if (operand.row) {
      out_.copy_gm_to_ubuf(dst, src, 0, 1, t1, 0, 0);
      continue;
    }
    out_.sub(t0, N / 16, t1);
    out_.sub(gap, i64{t_.chunk} / 16, t1);
    out_.copy_gm_to_ubuf(dst, src, 0, rows, t1, t0, gap);
  }
  out_.and_(t1, c_at, 1);
  out_.set_flag(PipeId::MTE2, PipeId::V, t1);
}

// A part of the tile is some columns, the last ones first: an operand comes into the order of the tile, then the work
// is done.
void GemmMoves::work_on_tile() {
  const Target done = out_.label("worked"), next = out_.here("work");
  const auto all = static_cast<i64>(chunks());
  out_.comment("work on a part of the tile before");
  out_.bgt(c_at, all, done);
  load_operands();
  const auto write = [&](u64 slot) {
    const u64 tile_at = u64{t_.stage_slots} * t_.stage_bytes + slot * t_.tile_m * t_.tile_n * kBytes;
    const Target end = out_.label(fmt::format("worked_{}", slot));
    for (i64 part = 0; part < all; ++part) {
      const Target other = out_.label(fmt::format("part_{}_{}", slot, part + 1));
      if (part + 1 < all) out_.bne(c_at, part + 1, other);
      work_on_columns(static_cast<u64>(all - 1 - part) * t_.chunk, tile_at, static_cast<u64>(part + 1) % 2);
      if (part + 1 < all) out_.b(end);
      out_.bind(other);
    }
    out_.bind(end);
  };
  if (t_.ub_slots == 1) {
    write(0);
  } else {
    out_.if_(
        ub_slot == 0, [&] { write(0); }, [&] { write(1); });
  }
  out_.add(c_at, c_at, 1);
  const Target rest = out_.label("work_left");
  out_.ble(c_at, all, rest);
  out_.set_flag(PipeId::V, PipeId::MTE3, ub_slot);
  out_.bind(rest);
  out_.bge(0, left, next);
  out_.bind(done);
}

void GemmMoves::work_on_columns(u64 first, u64 tile_at, u64 operand_slot) {
  const GemmEpilogue& e = *p_.epilogue;
  const u64 elements = u64{t_.chunk} * t_.tile_m;
  GemmEpilogue::Place place{.results = tile_at + first * t_.tile_m * kBytes, .operands = {}, .room = 0};
  u64 at = operand_at(e.operands.size());
  if (!e.operands.empty()) out_.wait_flag(PipeId::MTE2, PipeId::V, operand_slot);
  for (usize i = 0; i < e.operands.size(); ++i) {
    const u64 far = e.operands[i].row ? 0 : t_.chunk / kColumns;  // blocks from row to row
    for (u64 c = 0; c < t_.chunk; c += kColumns) {
      const u64 from = operand_at(i) + operand_slot * operand_bytes(i) + c * kBytes;
      // Of a word and itself: bits stay as they are, where a product with 1 would change infinity.
      out_.vor(isa::Type::u16, at + c * t_.tile_m * kBytes, from, from, t_.tile_m * kColumns / kLanes, 1, far, far, 8,
               8 * far, 8 * far);
    }
    place.operands.push_back(at);
    at += elements * kBytes;
  }
  if (!e.operands.empty()) {
    out_.pipe_barrier(PipeId::V);
    out_.set_flag(PipeId::V, PipeId::MTE2, operand_slot);
  }
  place.room = at;
  e.write(out_, place, elements);
}

namespace {

u64 below(const std::vector<GemmLayout::Axis>& axes, usize axis) {
  u64 out = 1;
  for (usize a = axis + 1; a < axes.size(); ++a)
    out *= axes[a].extent;
  return out;
}

}  // namespace

// Adds to `to` the bytes that number `of` of the axes is away from number 0.
void GemmMoves::add_distance(Reg to, Reg of, const std::vector<GemmLayout::Axis>& axes) {
  for (usize a = 0; a < axes.size(); ++a) {
    const u64 smaller = below(axes, a);
    if (smaller == 1) {
      out_.mov(t0, of);
    } else {
      out_.div(t0, of, static_cast<i64>(smaller));
    }
    if (a > 0) out_.rem(t0, t0, static_cast<i64>(axes[a].extent));
    out_.mul(t0, t0, static_cast<i64>(axes[a].distance * kBytes));
    out_.add(to, to, t0);
  }
}

// The tile whose place is m0, n0, of the matrix of tile `j`, from `dst` in UB to where the layout has it: block columns
// of rows that follow each other.
void GemmMoves::store_transposed() {
  const GemmLayout& layout = p_.layout;
  const auto inner = static_cast<i64>(layout.rows.back().extent);
  out_.mov(c_at, c_gm);
  if (t_.matrices > 1) {
    out_.div(t1, j, static_cast<i64>(t_.tiles_of_matrix()));
    add_distance(c_at, t1, layout.matrices);
  }
  const bool pieces = layout.rows.size() > 1;
  const Target next_piece = out_.here("store_rows");
  if (pieces) {
    out_.rem(t1, m0, inner);
    out_.sub(t1, inner, t1);
    out_.min(t1, t1, rows);
  }
  const Reg row_at = j;  // address of the piece in column 0
  out_.mov(row_at, c_at);
  add_distance(row_at, m0, layout.rows);
  out_.mov(src, n0);
  const Target next_column = out_.here("store_columns");
  out_.mov(gap, row_at);
  add_distance(gap, src, layout.columns);
  out_.sub(t0, src, n0);
  out_.mul(t0, t0, static_cast<i64>(result_rows() * kBytes));
  out_.add(t0, t0, dst);
  out_.copy_ubuf_to_gm(gap, t0, 0, pieces ? Value(t1) : Value(rows), 1, 0,
                       static_cast<i64>(layout.rows.back().distance / kColumns - 1));
  out_.add(src, src, static_cast<i64>(kColumns));
  extent(t0, N, n0, TILE_N);
  out_.add(t0, t0, n0);
  out_.blt(src, t0, next_column);
  if (!pieces) return;
  out_.add(m0, m0, t1);
  out_.sub(rows, rows, t1);
  out_.shl(t1, t1, 5);
  out_.add(dst, dst, t1);
  out_.bgt(rows, 0, next_piece);
}

}  // namespace vinci::gen
