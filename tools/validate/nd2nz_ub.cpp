// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A row-major matrix of 16-bit elements to NZ, the blocks of each tile scattered by the vector unit in UB.
#include "isa/base/error.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

constexpr u64 kTileRows = 144, kTileColumns = 128;  // 8 blocks of 32 B a row

using isa::PipeId, isa::Reg, isa::Target;

class Nd2NzWriter {
 public:
  Nd2NzWriter(u64 size, u64 stride, u64 row_splits, u64 column_splits, isa::Arch arch)
      : stride_(stride),
        p_("nd2nz_ub", arch),
        SIZE(constant("SIZE", size)),
        ROW_TILES(constant("ROW_TILES", ceil_div(size, kTileRows))),
        ROW_SPLITS(constant("ROW_SPLITS", row_splits)),
        COLUMN_SPLITS(constant("COLUMN_SPLITS", column_splits)),
        COLUMN_TILES(constant("COLUMN_TILES", size / kTileColumns / column_splits)) {}

  isa::BuiltProgram program() {
    p_.ld_arg(x, 0);
    p_.ld_arg(z, 1);
    p_.get_block_idx(t);
    p_.div(row, t, COLUMN_SPLITS);
    p_.rem(column_begin, t, COLUMN_SPLITS);
    p_.mul(column_begin, column_begin, COLUMN_TILES);
    p_.add(column_end, column_begin, COLUMN_TILES);
    p_.add(row_end, row, 1);
    p_.mul(row, row, ROW_TILES);
    p_.div(row, row, ROW_SPLITS);
    p_.mul(row_end, row_end, ROW_TILES);
    p_.div(row_end, row_end, ROW_SPLITS);
    p_.mov(column, column_begin);
    for (u64 slot = 0; slot < 2; ++slot) {
      p_.set_flag(PipeId::V, PipeId::MTE2, slot);
      p_.set_flag(PipeId::MTE3, PipeId::V, slot);
    }
    const Target finish = p_.label("finish"), loop = p_.here("loop");
    for (u64 slot = 0; slot < 2; ++slot) {
      p_.bge(row, row_end, finish);
      tile(slot);
    }
    p_.b(loop);
    p_.bind(finish);
    for (u64 slot = 0; slot < 2; ++slot) {
      p_.wait_flag(PipeId::V, PipeId::MTE2, slot);
      p_.wait_flag(PipeId::MTE3, PipeId::V, slot);
    }
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  isa::Const constant(std::string_view name, u64 value) { return p_.constant(name, static_cast<i64>(value)); }

  // A tile through the buffers of a slot, and on to the next tile.
  void tile(u64 slot) {
    const u64 nd_bytes = kTileRows * kTileColumns * 2, nz_bytes = stride_ * kTileColumns * 2;
    const u64 nd = slot * nd_bytes, nz = 2 * nd_bytes + slot * nz_bytes;
    addresses();
    p_.wait_flag(PipeId::V, PipeId::MTE2, slot);
    p_.copy_gm_to_ubuf(nd, src, 0, rows, 8, (SIZE - static_cast<i64>(kTileColumns)) / 16, 0);
    p_.hand_over(PipeId::MTE2, PipeId::V, slot);
    p_.wait_flag(PipeId::MTE3, PipeId::V, slot);
    p_.vcopy(isa::Type::u16, nz, nd, rows, stride_, 1, 1, 8);
    p_.set_flag(PipeId::V, PipeId::MTE2, slot);
    p_.hand_over(PipeId::V, PipeId::MTE3, slot);
    p_.sub(gap, SIZE, rows);
    p_.sub(t, stride_, rows);
    p_.copy_ubuf_to_gm(dst, nz, 0, 8, rows, t, gap);
    p_.set_flag(PipeId::MTE3, PipeId::V, slot);
    p_.add(column, column, 1);
    p_.if_(column >= column_end, [&] {
      p_.mov(column, column_begin);
      p_.add(row, row, 1);
    });
  }
  // src, dst and the rows of the tile.
  void addresses() {
    p_.mul(t, row, kTileRows);
    p_.sub(rows, SIZE, t);
    p_.min(rows, rows, kTileRows);
    p_.mul(src, t, SIZE);
    p_.mul(dst, column, kTileColumns);
    p_.add(src, src, dst);
    p_.shl(src, src, 1);
    p_.add(src, src, x);
    p_.mul(dst, dst, SIZE);
    p_.shl(t, t, 4);
    p_.add(dst, dst, t);
    p_.shl(dst, dst, 1);
    p_.add(dst, dst, z);
  }

  const u64 stride_;
  isa::ProgramBuilder p_;
  const isa::Const SIZE, ROW_TILES, ROW_SPLITS, COLUMN_SPLITS, COLUMN_TILES;
  const Reg x = p_.reg("x"), z = p_.reg("z"), row = p_.reg("row"), row_end = p_.reg("row_end"),
            column = p_.reg("column"), column_end = p_.reg("column_end"), column_begin = p_.reg("column_begin"),
            rows = p_.reg("rows"), src = p_.reg("src"), dst = p_.reg("dst"), gap = p_.reg("gap"), t = p_.reg("t");
};

KernelStream nd2nz_ub_kernel(const Params& p, const config::ChipConfig& chip) {
  const u64 size = p.whole("size"), rows = p.whole("row_splits"), columns = p.whole("column_splits");
  if (rows == 0 || columns == 0 || size == 0 || size % (kTileColumns * columns) != 0)
    fail_at(Fault::Input, p.place(), "size is no multiple of {} columns", kTileColumns * columns);
  if (p.whole("stride") < kTileRows) fail_at(Fault::Input, p.place(), "stride: at least {}", kTileRows);
  return {.code = Nd2NzWriter(size, p.whole("stride"), rows, columns, chip.arch).program(),
          .blocks = static_cast<u32>(rows * columns),
          .l2 = l2_state(p),
          .buffers = {{size * size * 2}, {size * size * 2}}};
}

}  // namespace

Family nd2nz_ub() {
  return {.name = "nd2nz_ub",
          .doc = "a square matrix of 16-bit elements to NZ through UB, in tiles of 144 x 128",
          .parameters = {{"size", "element", "", "rows and columns"},
                         {"stride", "block", "144", "between block columns of a tile in UB"},
                         {"row_splits", "", "1", "cores along the rows"},
                         {"column_splits", "", "1", "cores along the columns"},
                         l2_parameter("empty")},
          .metrics = kernel_metrics(),
          .kernel = nd2nz_ub_kernel,
          .measure = times_of(nd2nz_ub_kernel)};
}

}  // namespace vinci::validate
