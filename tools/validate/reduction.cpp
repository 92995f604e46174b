// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Reduction of the rows of an f32 matrix, as tile compilers make it: a program for each block of rows adds its tiles to
// an accumulator and reduces that at the end; or, where a row is shared by all programs, each combines its number with
// the result in global memory by an atomic write.
#include <algorithm>
#include <bit>
#include <cmath>

#include "tools/validate/kernel_stream.h"
#include "tools/validate/row_reduce.h"

namespace vinci::validate {
namespace {

using isa::PipeId, isa::Reg, isa::Type, isa::Value;

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

class ReductionWriter {
 public:
  ReductionWriter(const Reduction& reduction, isa::Arch arch) : x_(reduction), p_("reduction", arch) {}

  isa::BuiltProgram program() {
    p_.ld_arg(x, 0);
    p_.ld_arg(z, 1);
    p_.get_block_idx(id);
    p_.mul(src, id, x_.shared ? x_.tile_columns * 4 : x_.tile_rows * x_.columns * 4);
    p_.add(src, src, x);
    p_.mul(n, id, x_.tile_columns);
    p_.sub(n, x_.columns, n);
    p_.min(n, n, x_.tile_columns);
    p_.shl(n, n, 2);
    if (x_.width() != x_.tile_columns) fill_padding();
    for (u64 tile = 0; tile < x_.tiles(); ++tile)
      take(tile);
    row_reduce(p_, {.name = x_.op,
                    .dst = x_.result(),
                    .src = x_.accumulates() ? sum() : 0,
                    .rows = x_.tile_rows,
                    .columns = x_.width(),
                    .work = x_.work(),
                    .t = t});
    store();
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  // write(address in the tile, repeats) over all repeats of a tile.
  template <class Write>
  void on_tile(const Write& write) {
    for (u64 done = 0; done < x_.tile_bytes() / 256; done += 128)
      write(done * 256, std::min<u64>(128, x_.tile_bytes() / 256 - done));
    p_.pipe_barrier(PipeId::V);
  }
  u64 sum() const { return x_.slots * x_.tile_bytes(); }  // the accumulator

  void fill_padding() {
    const float none = x_.op == "add" ? 0.0f : x_.op == "max" ? -INFINITY : INFINITY;
    on_tile([&](u64 at, u64 repeats) { p_.vector_dup(Type::f32, at, isa::f32(none), repeats, 1, 1, 8, 8); });
    p_.hand_over(PipeId::V, PipeId::MTE2, 2);
  }

  // Loads a tile and adds it to the accumulator, where there is one.
  void take(u64 tile) {
    const u64 slot = tile % x_.slots, place = slot * x_.tile_bytes();
    if (tile >= x_.slots) p_.wait_flag(PipeId::V, PipeId::MTE2, slot);
    const Value bytes = x_.shared ? Value(n) : Value(x_.tile_columns * 4);
    p_.copy_gm_to_ubuf_align_b32(place, src, 0, x_.tile_rows, bytes, 0, 0,
                                 x_.shared ? 0 : (x_.columns - x_.tile_columns) * 4,
                                 (x_.width() - x_.tile_columns) * 4 / 32);
    p_.add(src, src, x_.tile_columns * 4);
    p_.hand_over(PipeId::MTE2, PipeId::V, slot);
    if (!x_.accumulates()) return;
    on_tile([&](u64 at, u64 repeats) {
      if (tile == 0) {
        p_.vcopy(Type::f32, sum() + at, place + at, repeats, 1, 1, 8, 8);
      } else {
        p_.call("v" + x_.op, Type::f32, {sum() + at, sum() + at, place + at, repeats, 1, 1, 1, 8, 8, 8});
      }
    });
    if (tile + x_.slots < x_.tiles()) p_.set_flag(PipeId::V, PipeId::MTE2, slot);
  }

  void store() {
    p_.hand_over(PipeId::V, PipeId::MTE3, 0);
    if (x_.shared) {
      p_.set_atomic_f32();
      p_.call("set_atomic_" + x_.op, {});
    } else {
      p_.mul(t, id, x_.tile_rows * 4);
      p_.add(z, z, t);
    }
    p_.copy_ubuf_to_gm_align_b32(z, x_.result(), 0, 1, x_.shared ? 4 : x_.tile_rows * 4, 0, 0, 0, 0);
  }

  const Reduction& x_;
  isa::ProgramBuilder p_;
  const Reg x = p_.reg("x"), z = p_.reg("z"), id = p_.reg("id"), src = p_.reg("src"), t = p_.reg("t"), n = p_.reg("n");
};

KernelStream reduction_kernel(const Params& p, const config::ChipConfig& chip) {
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
  return {.code = ReductionWriter(x, chip.arch).program(),
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
          .kernel = reduction_kernel,
          .measure = times_of(reduction_kernel)};
}

}  // namespace vinci::validate
