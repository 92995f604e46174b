// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Reduction of the rows of an f32 matrix, as tile compilers make it: a program for each block of rows adds its tiles to
// an accumulator and reduces that at the end; or, where a row is shared by all programs, each combines its number with
// the result in global memory by an atomic write.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tools/validate/kernel_stream.h"
#include "tools/validate/row_reduce.h"

namespace vinci::validate {
namespace {

struct Reduction {
  u64 rows, columns, tile_rows, tile_columns, slots;
  bool shared;  // the programs have parts of one row
  std::string op;
  u64 width() const { return std::bit_ceil(tile_columns); }  // of a tile in UB
  u64 tile_bytes() const { return tile_rows * width() * 4; }
  u64 programs() const { return shared ? ceil_div(columns, tile_columns) : rows / tile_rows; }
  u64 tiles() const { return shared ? 1 : columns / tile_columns; }
  bool accumulates() const { return tiles() > 1; }
  u64 result() const { return (slots + accumulates()) * tile_bytes(); }  // in UB
  u64 work() const { return result() + align_up(tile_rows * 4, u64{32}) + 256; }
};

// Over all repeats of a tile.
std::string on_tile(const Reduction& x, std::string_view format, u64 dst, u64 src) {
  std::string s;
  for (u64 done = 0; done < x.tile_bytes() / 256; done += 128) {
    const u64 repeats = std::min<u64>(128, x.tile_bytes() / 256 - done);
    s += "  " + fmt::format(fmt::runtime(format), dst + done * 256, src + done * 256, repeats) + "\n";
  }
  return s + "  pipe_barrier PIPE_V\n";
}

std::string text(const Reduction& x) {
  const bool padded = x.width() != x.tile_columns;
  std::string s = ".alias x = X0\n.alias z = X1\n.alias id = X2\n.alias src = X3\n.alias t = X4\n.alias n = X5\n";
  s += "  ld_arg x, 0\n  ld_arg z, 1\n  get_block_idx id\n";
  const u64 step = x.shared ? x.tile_columns * 4 : x.tile_rows * x.columns * 4;
  s += fmt::format("  mul src, id, {}\n  add src, src, x\n", step);
  s += fmt::format("  mul n, id, {0}\n  sub n, {1}, n\n  min n, n, {0}\n  shl n, n, 2\n", x.tile_columns, x.columns);
  const std::string bytes = x.shared ? "n" : fmt::format("{}", x.tile_columns * 4);
  if (padded) {
    const float none = x.op == "add" ? 0.0f : x.op == "max" ? -INFINITY : INFINITY;
    s += on_tile(x, fmt::format("vector_dup.f32 {{0}}, {:#x}, {{2}}, 1, 1, 8, 8", std::bit_cast<u32>(none)), 0, 0);
    s += "  set_flag PIPE_V, PIPE_MTE2, 2\n  wait_flag PIPE_V, PIPE_MTE2, 2\n";
  }
  for (u64 tile = 0; tile < x.tiles(); ++tile) {
    const u64 slot = tile % x.slots, at = slot * x.tile_bytes();
    if (tile >= x.slots) s += fmt::format("  wait_flag PIPE_V, PIPE_MTE2, {}\n", slot);
    s += fmt::format("  copy_gm_to_ubuf_align_b32 {}, src, 0, {}, {}, 0, 0, {}, {}\n", at, x.tile_rows, bytes,
                     x.shared ? 0 : (x.columns - x.tile_columns) * 4, (x.width() - x.tile_columns) * 4 / 32);
    s += fmt::format("  add src, src, {}\n", x.tile_columns * 4);
    s += fmt::format("  set_flag PIPE_MTE2, PIPE_V, {0}\n  wait_flag PIPE_MTE2, PIPE_V, {0}\n", slot);
    if (!x.accumulates()) continue;
    const u64 sum = x.slots * x.tile_bytes();
    if (tile == 0)
      s += on_tile(x, "vcopy.f32 {0}, {1}, {2}, 1, 1, 8, 8", sum, at);
    else
      s += on_tile(x, fmt::format("v{}.f32 {{0}}, {{0}}, {{1}}, {{2}}, 1, 1, 1, 8, 8, 8", x.op), sum, at);
    if (tile + x.slots < x.tiles()) s += fmt::format("  set_flag PIPE_V, PIPE_MTE2, {}\n", slot);
  }
  const std::string from = fmt::format("{}", x.accumulates() ? x.slots * x.tile_bytes() : 0);
  s += row_reduce({.name = x.op,
                   .dst = fmt::format("{}", x.result()),
                   .src = from,
                   .rows = x.tile_rows,
                   .columns = x.width(),
                   .work = x.work()});
  s += "  set_flag PIPE_V, PIPE_MTE3, 0\n  wait_flag PIPE_V, PIPE_MTE3, 0\n";
  if (x.shared) {
    s += fmt::format("  set_atomic_f32\n  set_atomic_{}\n", x.op);
  } else {
    s += fmt::format("  mul t, id, {}\n  add z, z, t\n", x.tile_rows * 4);
  }
  s += fmt::format("  copy_ubuf_to_gm_align_b32 z, {}, 0, 1, {}, 0, 0, 0, 0\n", x.result(),
                   x.shared ? 4 : x.tile_rows * 4);
  return s + "  pipe_barrier PIPE_ALL\n  end\n";
}

KernelStream kernel(const Params& p, const config::ChipConfig& chip) {
  const Reduction x{.rows = p.whole("rows"),
                    .columns = p.whole("columns"),
                    .tile_rows = p.whole("tile_rows"),
                    .tile_columns = p.whole("tile_columns"),
                    .slots = p.whole("slots"),
                    .shared = p.flag("shared"),
                    .op = p.text("op")};
  p.need(x.op == "max" || x.op == "min" || x.op == "add", "op is max, min or add");
  p.need(x.tile_rows > 0 && x.tile_columns >= 8 && x.rows > 0 && x.rows % x.tile_rows == 0,
         "rows is a multiple of tile_rows, tile_columns is at least 8");
  p.need(x.slots == 1 || x.slots == 2, "slots: 1 or 2");
  p.need(!x.shared || (x.rows == 1 && x.tile_rows == 1), "shared is for one row");
  p.need(x.shared || x.columns % x.tile_columns == 0, "columns is a multiple of tile_columns");
  p.need(x.work() + row_reduce_work(x.tile_rows, x.width()) <= chip.core.buffers.ub, "a tile is too large for UB");
  return {.code = text(x),
          .blocks = static_cast<u32>(x.programs()),
          .l2 = l2_state(p),
          .buffers = {{x.rows * x.columns * 4}, {std::max<u64>(32, x.rows * 4)}}};
}

}  // namespace

Family reduction() {
  return {.name = "reduction",
          .doc = "each row of an f32 matrix to a number, a program for each block of rows or for each part of one row",
          .parameters = {{"rows", "", "1", "of the matrix"},
                         {"columns", "", "", "of the matrix"},
                         {"tile_rows", "", "1", "of a program"},
                         {"tile_columns", "", "", "that it loads at a time"},
                         {"slots", "", "1", "places in UB for tiles"},
                         {"shared", "", "0", "1: the programs have parts of one row and combine them atomically"},
                         {"op", "", "", "max, min or add"},
                         l2_parameter("own")},
          .metrics = kernel_metrics(),
          .kernel = kernel,
          .measure = times_of(kernel)};
}

}  // namespace vinci::validate
