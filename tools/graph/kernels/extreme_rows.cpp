// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/block_transpose.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/kernels/vector_writer.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"

// ArgMaxV2 and ArgMin along an axis that is not the last one, such as the classes of a map: rows of all other elements
// are compared one after the other, element by element, with the best so far and its number.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

constexpr u64 kMostColumns = 2048;  // of a tile

struct Extremes {
  explicit Extremes(const Node& node)
      : around(
            around_axis(node.input(0)->shape.dims(), axis_of(node, node.integer("axis"), node.input(0)->shape.rank()))),
        bytes(info(node.input(0)->type).bytes),
        largest(node.type == "ArgMaxV2"),
        last(node.integer("select_last_index") != 0) {}

  bool wide() const { return bytes == 4; }
  // UB for tiles of so many columns, a multiple of 128.
  u64 ub_bytes(u64 columns, u64 slots) const {
    return columns * (slots * (around.extent * bytes + 12) + 2 * bytes + 4) + kNumberBytes + kWidenBytes;
  }

  AroundAxis around;
  u64 bytes;
  bool largest, last;
};

std::string extreme_refuses(const Group& group, const config::ChipConfig& chip) {
  if (group.nodes().size() != 1) return "it has several nodes";
  const Node& node = group.node();
  if (node.type != "ArgMaxV2" && node.type != "ArgMin") return "it is no ArgMax or ArgMin";
  const Value* const in = node.input(0);
  for (const Value* const v : {in, static_cast<const Value*>(node.output())}) {
    if (!v->shape.known()) return fmt::format("the extents of {} are not known", v->name);
    if (v->format != isa::Format::ND) return fmt::format("{} is not in ND", v->name);
  }
  if (in->type != DataType::f16 && in->type != DataType::f32) return "it is neither f16 nor f32";
  if (in->shape.rank() == 0 || in->shape.elements() == 0) return "it has no elements";
  const Extremes x(node);
  if (x.around.inner == 1) return "its axis is the last one";
  if (x.around.extent > kMostExtremeRows) return fmt::format("its axis has more than {} elements", kMostExtremeRows);
  if (x.ub_bytes(kLanes16, 1) > chip.core.buffers.ub) return "a tile does not fit UB";
  return "";
}

// Two slots where they fit, and as many columns as fit or as give each core some.
std::vector<Tiling> extreme_tilings(const Group& group, const config::ChipConfig& chip) {
  const Extremes x(group.node());
  const u64 slots = x.ub_bytes(kLanes16, 2) <= chip.core.buffers.ub ? 2 : 1;
  const u64 share = ceil_div(x.around.outer * x.around.inner, u64{vector_cores(chip)});
  u64 columns = std::min({align_up(share, kLanes16), align_up(x.around.inner, kLanes16), kMostColumns});
  while (x.ub_bytes(columns, slots) > chip.core.buffers.ub)
    columns -= kLanes16;
  return {{{"columns", static_cast<i64>(columns)}, {"slots", static_cast<i64>(slots)}}};
}

Footprint extreme_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = Extremes(group.node())
                    .ub_bytes(static_cast<u64>(tiling.at("columns")), static_cast<u64>(tiling.at("slots")))};
}

class ExtremeWriter {
 public:
  ExtremeWriter(const Node& node, const config::ChipConfig& chip, const Tiling& tiling)
      : x_(node),
        joint_(is_joint(chip)),
        saturates_(chip.numerics.overflow_mode == isa::OverflowMode::saturation && !x_.wide()),
        columns_(static_cast<u64>(tiling.at("columns"))),
        slots_(static_cast<u32>(tiling.at("slots"))),
        chunks_(ceil_div(x_.around.inner, columns_)),
        p_(node.name, chip.arch) {
    u64 end = 0;
    const auto take = [&](u64 bytes) { return std::exchange(end, end + bytes); };
    rows_ = take(slots_ * row_bytes() * x_.around.extent);
    numbers_ = take(slots_ * columns_ * 4);
    results_ = take(slots_ * columns_ * 8);
    best_ = take(row_bytes());
    which_ = take(row_bytes());
    scratch_ = take(kNumberBytes + columns_ * 4);
    room_ = take(kWidenBytes);
  }

  u64 tiles() const { return x_.around.outer * chunks_; }

  isa::BuiltProgram write() {
    gen::TilePipeline pipeline{.tiles = tiles(), .slots = slots_};
    pipeline.prologue = [&](isa::ProgramBuilder&) { prologue(); };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) { locate(tile); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) { load(slot); };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) { compute(slot); };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) { store(slot); };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  u64 row_bytes() const { return columns_ * x_.bytes; }
  u64 row(u32 slot, u64 r) const { return rows_ + (slot * x_.around.extent + r) * row_bytes(); }

  void prologue() {
    in_ = p_.arg("in");
    out_ = p_.arg("out");
    for (Reg* const r : {&count_, &from_, &to_, &t_, &gap_, &place_})
      *r = p_.reg("t");
    // The columns behind the last one are computed with, too.
    in_repeats(p_, true, slots_ * row_bytes() * x_.around.extent / 4, [&](u64 first, u64 repeats) {
      p_.vector_dup(Type::f32, rows_ + first * 4, isa::f32(0), repeats, 1, 1, 8, 8);
    });
  }

  void locate(Reg tile) {
    p_.rem(t_, tile, chunks_);
    p_.mul(t_, t_, columns_);
    p_.sub(count_, x_.around.inner, t_);
    p_.min(count_, count_, columns_);
    p_.div(from_, tile, chunks_);
    p_.mul(to_, from_, x_.around.inner);
    p_.add(to_, to_, t_);
    p_.mul(to_, to_, 8);
    p_.add(to_, to_, out_);
    p_.mul(from_, from_, x_.around.extent * x_.around.inner);
    p_.add(from_, from_, t_);
    p_.mul(from_, from_, x_.bytes);
    p_.add(from_, from_, in_);
  }

  void load(u32 slot) {
    p_.mul(t_, count_, x_.bytes);
    if (!joint_) {
      p_.add(gap_, t_, 31);
      p_.shr(gap_, gap_, 5);
      p_.sub(gap_, row_bytes() / 32, gap_);
      p_.sub(place_, x_.around.inner * x_.bytes, t_);
      if (x_.wide()) {
        p_.copy_gm_to_ubuf_align_b32(row(slot, 0), from_, 0, x_.around.extent, t_, 0, 0, place_, gap_);
      } else {
        p_.copy_gm_to_ubuf_align_b16(row(slot, 0), from_, 0, x_.around.extent, t_, 0, 0, place_, gap_);
      }
      return;
    }
    p_.add(t_, t_, 31);
    p_.shr(t_, t_, 5);
    p_.mov(place_, row(slot, 0));
    p_.loop(x_.around.extent, [&](Reg) {
      p_.copy_gm_to_ubuf(place_, from_, 0, 1, t_, 0, 0);
      p_.add(place_, place_, row_bytes());
      p_.add(from_, from_, x_.around.inner * x_.bytes);
    });
  }

  void compute(u32 slot) {
    const u64 lanes = x_.wide() ? kLanes32 : kLanes16;
    VectorWriter w(p_, {.wide = x_.wide(), .first = 0, .repeats = columns_ / lanes}, scratch_, columns_ * 4);
    p_.copy_ubuf_to_ubuf(best_, row(slot, 0), 0, 1, row_bytes() / 32, 0,
                         0);  // infinity stays, in each mode of overflow
    w.fill(which_, 0);
    const std::string_view op = x_.largest ? (x_.last ? "ge" : "gt") : (x_.last ? "le" : "lt");
    for (u64 r = 1; r < x_.around.extent; ++r) {
      const u64 number = w.number_block(static_cast<double>(r));
      w.choose(which_, {.op = op, .a = {row(slot, r)}, .b = {best_}, .x = {number, true}, .y = {which_}}, w.scratch(0));
      if (saturates_) {
        w.choose(best_, {.op = op, .a = {row(slot, r)}, .b = {best_}, .x = {row(slot, r)}, .y = {best_}}, w.scratch(0));
      } else {
        w.binary(x_.largest ? "vmax" : "vmin", best_, best_, row(slot, r));
      }
    }
    const u64 numbers = numbers_ + slot * columns_ * 4;
    if (x_.wide()) {
      p_.vconv_f322s32r(numbers, which_, columns_ / kLanes32, 1, 1, 8, 8);
    } else {
      p_.vconv_f162s32r(numbers, which_, columns_ / kLanes32, 1, 1, 8, 4);
    }
    p_.pipe_barrier(PipeId::V);
    const u64 results = results_ + slot * columns_ * 8;
    if (joint_) return widen_to_s64(p_, results, numbers, columns_, room_);
    p_.vconv_s322s64(results, numbers, columns_ / 32, 1, 1, 8, 4);
  }

  void store(u32 slot) {
    const u64 results = results_ + slot * columns_ * 8;
    p_.mul(t_, count_, 8);
    if (!joint_) return p_.copy_ubuf_to_gm_align_b8(to_, results, 0, 1, t_, 0, 0, 0, 0);
    // Whole blocks of 4 numbers, and what is left by the scalar unit.
    p_.shr(gap_, count_, 2);
    p_.if_(isa::Value(gap_) != 0, [&] { p_.copy_ubuf_to_gm(to_, results, 0, 1, gap_, 0, 0); });
    p_.and_(count_, count_, 3);
    p_.if_(isa::Value(count_) != 0, [&] {
      p_.shl(gap_, gap_, 5);
      p_.add(to_, to_, gap_);
      p_.add(gap_, gap_, results);
      p_.hand_over(PipeId::V, PipeId::S, 0);
      p_.loop(count_, [&](Reg) {
        p_.ld_ubuf(Type::b64, t_, gap_, 0);
        p_.st_dev(Type::b64, t_, to_);
        p_.add(gap_, gap_, 8);
        p_.add(to_, to_, 8);
      });
      p_.hand_over(PipeId::S, PipeId::V, 0);
    });
  }

  const Extremes x_;
  const bool joint_;
  const bool
      saturates_;  // vmax and vmin make the largest number of infinity, which would then be less than the next one
  const u64 columns_;
  const u32 slots_;
  const u64 chunks_;
  isa::ProgramBuilder p_;
  Reg in_, out_, count_, from_, to_, t_, gap_, place_;
  u64 rows_ = 0, numbers_ = 0, results_ = 0, best_ = 0, which_ = 0, scratch_ = 0, room_ = 0;
};

KernelProgram extreme_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  ExtremeWriter writer(group.node(), chip, tiling);
  return vector_program(writer.write(), writer.tiles(), chip);
}

}  // namespace

const Kernel kExtremeRowsKernel{"extreme_rows",  extreme_refuses,   present_formats,
                                extreme_tilings, extreme_footprint, extreme_build};

}  // namespace vinci::graph
