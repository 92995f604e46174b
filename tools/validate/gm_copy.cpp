// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Reads of a row-major matrix of 16-bit elements from global memory, tile by tile into the same place on chip, with no
// synchronisation: to UB by the vector cores, or to L1 by the cube cores, which make NZ of each tile.
#include "isa/base/error.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

using isa::Reg, isa::Target;

isa::BuiltProgram program(const Params& params, isa::Arch arch) {
  const u64 columns = params.whole("columns"), slices = params.whole("slices"), cores = params.whole("cores");
  const bool to_l1 = params.text("to") == "l1", read_all = params.text("order") != "own";
  isa::ProgramBuilder p("gm_copy", arch);
  const auto constant = [&](std::string_view name, u64 value) { return p.constant(name, static_cast<i64>(value)); };
  const isa::Const COLUMNS = constant("COLUMNS", columns), SLICE = constant("SLICE", columns / slices),
                   TILE_ROWS = constant("TILE_ROWS", params.whole("tile_rows")),
                   TILE_COLUMNS = constant("TILE_COLUMNS", params.whole("tile_columns")),
                   PIECE = constant("PIECE", params.whole("rows") / cores), CORES = constant("CORES", cores);
  const Reg base = p.reg("base"), idx = p.reg("idx"), slice = p.reg("slice"), repeat = p.reg("repeat"),
            piece = p.reg("piece"), row = p.reg("row"), last_row = p.reg("last_row"), column = p.reg("column"),
            end = p.reg("end"), src = p.reg("src"), n = p.reg("n"), gap = p.reg("gap");
  p.ld_arg(base, 0);
  p.get_block_idx(idx);
  p.mov(slice, 0);
  const Target next_slice = p.here("slices");
  p.mov(repeat, 0);
  const Target again = p.here("repeats");
  p.mov(piece, 0);
  const Target next_piece = p.here("pieces");
  if (!read_all) {
    p.mov(row, idx);
  } else if (params.text("order") == "rotated") {
    p.set(row, (piece + idx) % CORES);
  } else {
    p.mov(row, piece);
  }
  p.mul(row, row, PIECE);
  p.add(last_row, row, PIECE);
  const Target next_row = p.here("rows");
  p.mul(column, slice, SLICE);
  p.add(end, column, SLICE);
  p.set(src, ((row * COLUMNS + column) << 1) + base);
  const Target next_column = p.here("columns");
  p.sub(n, end, column);
  p.min(n, n, TILE_COLUMNS);
  if (to_l1) {
    p.copy_gm_to_cbuf_multi_nd2nz_b16(0, src, 0, 1, TILE_ROWS, n, 0, COLUMNS, (TILE_ROWS + 15) / 16 * 16, 1, 0);
  } else {
    p.shl(n, n, 1);
    p.sub(gap, COLUMNS * 2, n);
    p.copy_gm_to_ubuf_align_b16(0, src, 0, TILE_ROWS, n, 0, 0, gap, 0);
  }
  p.add(src, src, TILE_COLUMNS * 2);
  p.add(column, column, TILE_COLUMNS);
  p.blt(column, end, next_column);
  p.add(row, row, TILE_ROWS);
  p.blt(row, last_row, next_row);
  if (read_all) {
    p.add(piece, piece, 1);
    p.blt(piece, CORES, next_piece);
  }
  p.add(repeat, repeat, 1);
  p.blt(repeat, params.whole("repeats"), again);
  p.add(slice, slice, 1);
  p.blt(slice, slices, next_slice);
  p.pipe_barrier(isa::PipeId::ALL);
  p.end();
  return p.finish();
}

KernelStream gm_copy_kernel(const Params& p, const config::ChipConfig& chip) {
  const std::string &to = p.text("to"), &order = p.text("order");
  if (to != "ub" && to != "l1") fail_at(Fault::Input, p.place(), "to is ub or l1, not '{}'", to);
  if (order != "own" && order != "same" && order != "rotated")
    fail_at(Fault::Input, p.place(), "order is own, same or rotated, not '{}'", order);
  return {.code = program(p, chip.arch),
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
          .kernel = gm_copy_kernel,
          .measure = times_of(gm_copy_kernel)};
}

}  // namespace vinci::validate
