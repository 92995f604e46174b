// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Reads of a row-major matrix of 16-bit elements from global memory, tile by tile into the same place on chip, with no
// synchronisation: to UB by the vector cores, or to L1 by the cube cores, which make NZ of each tile.
#include <fmt/format.h>

#include "isa/base/error.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

std::string text(const Params& p) {
  const u64 columns = p.whole("columns"), slices = p.whole("slices"), cores = p.whole("cores");
  const bool to_l1 = p.text("to") == "l1", read_all = p.text("order") != "own";
  std::string s = fmt::format(
      ".const COLUMNS = {}\n.const SLICE = {}\n.const TILE_ROWS = {}\n.const TILE_COLUMNS = {}\n"
      ".const PIECE = {}\n.const CORES = {}\n",
      columns, columns / slices, p.whole("tile_rows"), p.whole("tile_columns"), p.whole("rows") / cores, cores);
  s += R"(.alias base = X0
.alias idx = X1
.alias slice = X2
.alias repeat = X3
.alias piece = X4
.alias row = X5
.alias last_row = X6
.alias column = X7
.alias end = X8
.alias src = X9
.alias n = X10
.alias gap = X11
  ld_arg base, 0
  get_block_idx idx
  mov slice, 0
slices:
  mov repeat, 0
repeats:
  mov piece, 0
pieces:
)";
  if (!read_all) {
    s += "  mov row, idx\n";
  } else if (p.text("order") == "rotated") {
    s += "  add row, piece, idx\n  rem row, row, CORES\n";
  } else {
    s += "  mov row, piece\n";
  }
  s += R"(  mul row, row, PIECE
  add last_row, row, PIECE
rows:
  mul column, slice, SLICE
  add end, column, SLICE
  mul src, row, COLUMNS
  add src, src, column
  shl src, src, 1
  add src, src, base
columns:
  sub n, end, column
  min n, n, TILE_COLUMNS
)";
  if (to_l1) {
    s += "  copy_gm_to_cbuf_multi_nd2nz_b16 0, src, 0, 1, TILE_ROWS, n, 0, COLUMNS, (TILE_ROWS+15)/16*16, 1, 0\n";
  } else {
    s += "  shl n, n, 1\n  sub gap, COLUMNS*2, n\n  copy_gm_to_ubuf_align_b16 0, src, 0, TILE_ROWS, n, 0, 0, gap, 0\n";
  }
  s += R"(  add src, src, TILE_COLUMNS*2
  add column, column, TILE_COLUMNS
  blt column, end, columns
  add row, row, TILE_ROWS
  blt row, last_row, rows
)";
  if (read_all) s += "  add piece, piece, 1\n  blt piece, CORES, pieces\n";
  s += fmt::format("  add repeat, repeat, 1\n  blt repeat, {}, repeats\n", p.whole("repeats"));
  s += fmt::format("  add slice, slice, 1\n  blt slice, {}, slices\n", slices);
  s += "  pipe_barrier PIPE_ALL\n  end\n";
  return s;
}

KernelStream kernel(const Params& p, const config::ChipConfig& /*chip*/) {
  const std::string &to = p.text("to"), &order = p.text("order");
  if (to != "ub" && to != "l1") fail_at(Fault::Input, p.place(), "to is ub or l1, not '{}'", to);
  if (order != "own" && order != "same" && order != "rotated")
    fail_at(Fault::Input, p.place(), "order is own, same or rotated, not '{}'", order);
  return {.code = text(p),
          .cube = to == "l1",
          .blocks = static_cast<u32>(p.whole("cores")),
          .buffers = {{p.whole("rows") * p.whole("columns") * 2, p.flag("bypass_l2")}}};
}

}  // namespace

Family gm_copy() {
  return {.name = "gm_copy",
          .doc = "a matrix of 16-bit elements from global memory, tile by tile, without synchronisation",
          .parameters = {{"to", "", "ub", "ub, or l1 as NZ"},
                         {"rows", "", "", "of the matrix"},
                         {"columns", "element", "", "of the matrix"},
                         {"tile_rows", "", "", "of what one copy moves"},
                         {"tile_columns", "element", "", "of what one copy moves"},
                         {"cores", "", "", "each has rows / cores rows"},
                         {"slices", "", "1", "of the columns, one after the other"},
                         {"repeats", "", "1", "of each slice"},
                         {"order", "", "own",
                          "own: each core its rows; same, rotated: all read all, from the first or their own rows on"},
                         {"bypass_l2", "", "0", "1: past L2"}},
          .metrics = kernel_metrics(),
          .kernel = kernel,
          .measure = times_of(kernel)};
}

}  // namespace vinci::validate
