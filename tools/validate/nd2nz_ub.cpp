// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A row-major matrix of 16-bit elements to NZ, the blocks of each tile scattered by the vector unit in UB.
#include <fmt/format.h>

#include "isa/base/error.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

constexpr u64 kTileRows = 144, kTileColumns = 128;  // 8 blocks of 32 B a row

std::string text(u64 size, u64 stride, u64 row_splits, u64 column_splits) {
  std::string s = fmt::format(
      ".const SIZE = {}\n.const ROW_TILES = {}\n.const ROW_SPLITS = {}\n.const COLUMN_SPLITS = {}\n.const COLUMN_TILES "
      "= "
      "{}\n",
      size, ceil_div(size, kTileRows), row_splits, column_splits, size / kTileColumns / column_splits);
  s += R"(.alias x = X0
.alias z = X1
.alias row = X2
.alias row_end = X3
.alias column = X4
.alias column_end = X5
.alias column_begin = X6
.alias rows = X7
.alias src = X8
.alias dst = X9
.alias gap = X10
.alias t = X11
  ld_arg x, 0
  ld_arg z, 1
  get_block_idx t
  div row, t, COLUMN_SPLITS
  rem column_begin, t, COLUMN_SPLITS
  mul column_begin, column_begin, COLUMN_TILES
  add column_end, column_begin, COLUMN_TILES
  add row_end, row, 1
  mul row, row, ROW_TILES
  div row, row, ROW_SPLITS
  mul row_end, row_end, ROW_TILES
  div row_end, row_end, ROW_SPLITS
  mov column, column_begin
)";
  const auto flags = [&](std::string_view what) {
    for (u64 slot = 0; slot < 2; ++slot)
      s += fmt::format("  {0} PIPE_V, PIPE_MTE2, {1}\n  {0} PIPE_MTE3, PIPE_V, {1}\n", what, slot);
  };
  flags("set_flag");
  s += "loop:\n";
  const u64 nd_bytes = kTileRows * kTileColumns * 2, nz_bytes = stride * kTileColumns * 2;
  for (u64 slot = 0; slot < 2; ++slot) {
    const u64 nd = slot * nd_bytes, nz = 2 * nd_bytes + slot * nz_bytes;
    s += fmt::format("  bge row, row_end, finish\n  mul t, row, {0}\n  sub rows, SIZE, t\n  min rows, rows, {0}\n",
                     kTileRows);
    s += fmt::format("  mul src, t, SIZE\n  mul dst, column, {0}\n  add src, src, dst\n  shl src, src, 1\n",
                     kTileColumns);
    s += "  add src, src, x\n  mul dst, dst, SIZE\n  shl t, t, 4\n  add dst, dst, t\n  shl dst, dst, 1\n  add dst, "
         "dst, z\n";
    s += fmt::format("  wait_flag PIPE_V, PIPE_MTE2, {}\n", slot);
    s += fmt::format("  copy_gm_to_ubuf {}, src, 0, rows, 8, (SIZE-{})/16, 0\n", nd, kTileColumns);
    s += fmt::format("  set_flag PIPE_MTE2, PIPE_V, {0}\n  wait_flag PIPE_MTE2, PIPE_V, {0}\n", slot);
    s += fmt::format("  wait_flag PIPE_MTE3, PIPE_V, {}\n", slot);
    s += fmt::format("  vcopy.u16 {}, {}, rows, {}, 1, 1, 8\n", nz, nd, stride);
    s += fmt::format("  set_flag PIPE_V, PIPE_MTE2, {0}\n  set_flag PIPE_V, PIPE_MTE3, {0}\n", slot);
    s += fmt::format("  wait_flag PIPE_V, PIPE_MTE3, {}\n  sub gap, SIZE, rows\n  sub t, {}, rows\n", slot, stride);
    s += fmt::format("  copy_ubuf_to_gm dst, {}, 0, 8, rows, t, gap\n  set_flag PIPE_MTE3, PIPE_V, {}\n", nz, slot);
    s += fmt::format("  add column, column, 1\n  blt column, column_end, next_{0}\n  mov column, column_begin\n", slot);
    s += fmt::format("  add row, row, 1\nnext_{}:\n", slot);
  }
  s += "  b loop\nfinish:\n";
  flags("wait_flag");
  return s + "  pipe_barrier PIPE_ALL\n  end\n";
}

KernelStream kernel(const Params& p, const config::ChipConfig& /*chip*/) {
  const u64 size = p.whole("size"), rows = p.whole("row_splits"), columns = p.whole("column_splits");
  if (rows == 0 || columns == 0 || size == 0 || size % (kTileColumns * columns) != 0)
    fail_at(Fault::Input, p.place(), "size is no multiple of {} columns", kTileColumns * columns);
  if (p.whole("stride") < kTileRows) fail_at(Fault::Input, p.place(), "stride: at least {}", kTileRows);
  return {.code = text(size, p.whole("stride"), rows, columns),
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
          .kernel = kernel,
          .measure = times_of(kernel)};
}

}  // namespace vinci::validate
