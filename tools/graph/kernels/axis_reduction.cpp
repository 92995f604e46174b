// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <optional>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/row_reduction.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/ops/op.h"

// Reductions over axes that are not the last ones: a tile has some columns of all rows that become one. Rows are
// combined by halves, sums in f32.
namespace vinci::graph {
namespace {

using isa::Reg, isa::Type;

constexpr u64 kColumnGrain = 16;  // columns of a tile are a multiple

// The tensor as [outer, rows, inner], of which the rows become one.
struct ReducedAxis {
  u64 outer = 1, rows = 1, inner = 1;
  u64 bytes = 2;      // of an element
  bool wide = false;  // elements are f32
  const RowReduction* how = nullptr;

  bool sums() const { return how->each == "vadd"; }
  // Elements are combined in f32, in a copy of the tile.
  bool copied() const { return sums() && !wide; }
  u64 tile_bytes() const { return 2 * bytes + (copied() ? 4 : 0); }
};

// None where the axes are the last ones, or do not follow each other.
std::optional<ReducedAxis> reduced_axis(const Node& node) {
  const Value& in = *node.input(0);
  const RowReduction* const how = row_reduction(node.type);
  if (how == nullptr || !in.shape.known() || node.input(1) == nullptr || !node.input(1)->constant) return std::nullopt;
  std::vector<bool> reduced(in.shape.rank());
  for (const i64 a : node.input(1)->constant->array().integers())
    reduced[axis_of(node, a, in.shape.rank())] = true;
  ReducedAxis out;
  out.bytes = info(in.type).bytes;
  out.wide = in.type == DataType::f32;
  out.how = how;
  enum class Where : u8 { outer, rows, inner } where = Where::outer;
  for (usize a = 0; a < reduced.size(); ++a) {
    const u64 extent = static_cast<u64>(in.shape[a]);
    if (extent == 1) continue;
    if (reduced[a] && where == Where::inner) return std::nullopt;
    if (reduced[a]) where = Where::rows;
    if (!reduced[a] && where == Where::rows) where = Where::inner;
    (where == Where::outer ? out.outer : where == Where::rows ? out.rows : out.inner) *= extent;
  }
  return out.rows > 1 && out.inner > 1 ? std::optional(out) : std::nullopt;
}

// Columns of a tile that fit UB; 0 where none do.
u64 most_columns(const ReducedAxis& x, const config::ChipConfig& chip) {
  const u64 fixed = 2 * 4 * kColumnGrain;
  const u64 room = chip.core.buffers.ub - fixed;
  // Of a column: its elements, and results in two slots.
  return room / (x.rows * x.tile_bytes() + 2 * 4) / kColumnGrain * kColumnGrain;
}

std::string axis_reduction_refuses(const Group& group, const config::ChipConfig& chip) {
  if (group.nodes().size() != 1 || group.outputs().size() != 1) return "it is no node with one result";
  const Node& node = group.node();
  if (row_reduction(node.type) == nullptr) return "it is no reduction";
  const std::optional<ReducedAxis> x = reduced_axis(node);
  if (!x) return "its axes are the last ones, or do not follow each other";
  const Value& in = *node.input(0);
  if (in.type != DataType::f16 && in.type != DataType::f32) return "its elements are no floats of 16 or 32 bits";
  if (in.format != isa::Format::ND || node.output()->format != isa::Format::ND) return "it is in blocks of channels";
  if (is_joint(chip) && (x->inner * x->bytes % 32 != 0 || x->inner * x->bytes / 32 > kMaxCopyGap))
    return "a joint core copies whole blocks";
  if (x->inner < kColumnGrain || most_columns(*x, chip) == 0) return "its rows are too short, or too many";
  return "";
}

Formats axis_reduction_formats(const Group&, const config::ChipConfig&) {
  return {.inputs = {isa::Format::ND}, .outputs = {isa::Format::ND}};
}

std::vector<Tiling> axis_reduction_tilings(const Group& group, const config::ChipConfig& chip) {
  const ReducedAxis x = *reduced_axis(group.node());
  constexpr u64 kLine = 128;  // columns below it waste lines of memory
  const u64 share = align_up(ceil_div(x.outer * x.inner, u64{vector_cores(chip)}), kLine);
  const u64 columns = std::min({align_up(x.inner, kColumnGrain), most_columns(x, chip), share});
  return {{{"columns", static_cast<i64>(columns)}}};
}

Footprint axis_reduction_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  const ReducedAxis x = *reduced_axis(group.node());
  return {.ub = static_cast<u64>(tiling.at("columns")) * (x.rows * x.tile_bytes() + 2 * 4) + 2 * 4 * kColumnGrain};
}

// Writes the program.
class AxisReductionWriter {
 public:
  AxisReductionWriter(const Group& group, const config::ChipConfig& chip, u64 columns)
      : x_(*reduced_axis(group.node())), joint_(is_joint(chip)), columns_(columns), p_(group.node().name, chip.arch) {}

  u64 tiles() const { return x_.outer * parts(); }

  isa::BuiltProgram program() {
    gen::TilePipeline pipeline{.tiles = tiles()};
    pipeline.prologue = [&](isa::ProgramBuilder&) { prologue(); };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) { locate(tile); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) { load(in_at(slot)); };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) { compute(in_at(slot), out_at(slot)); };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) { store(out_at(slot)); };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  u64 parts() const { return ceil_div(x_.inner, columns_); }
  u64 elements() const { return x_.rows * columns_; }
  u64 in_at(u64 slot) const { return slot * elements() * x_.bytes; }
  u64 work_at() const { return 2 * elements() * x_.bytes; }
  u64 out_at(u64 slot) const { return work_at() + (x_.copied() ? elements() * 4 : 0) + slot * columns_ * 4; }
  u64 shift() const { return x_.bytes == 4 ? 2 : 1; }

  void prologue() {
    in_ = p_.arg("in");
    out_ = p_.arg("out");
    for (Reg* const r : {&from_, &to_, &count_, &t_, &gap_})
      *r = p_.reg("t");
    // Columns behind the last one are combined, too.
    if (x_.inner % columns_ != 0)
      in_repeats(p_, false, work_at() / 2, [&](u64 e, u64 n) { p_.vector_dup(Type::f16, e * 2, 0, n, 1, 1, 8, 8); });
  }

  void locate(Reg tile) {
    p_.rem(t_, tile, parts());
    p_.div(to_, tile, parts());
    p_.mul(t_, t_, columns_);
    p_.sub(count_, x_.inner, t_);
    p_.min(count_, count_, columns_);
    p_.mul(from_, to_, x_.rows * x_.inner);
    p_.mul(to_, to_, x_.inner);
    for (const Reg r : {from_, to_}) {
      p_.add(r, r, t_);
      p_.shl(r, r, shift());
    }
    p_.add(from_, from_, in_);
    p_.add(to_, to_, out_);
    p_.shl(t_, count_, shift());  // bytes of a row
  }

  void load(u64 at) {
    p_.add(gap_, t_, 31);
    p_.shr(gap_, gap_, 5);  // blocks of a row
    if (joint_) {
      p_.sub(count_, x_.inner * x_.bytes / 32, gap_);
      p_.mov(t_, gap_);
      p_.sub(gap_, columns_ * x_.bytes / 32, gap_);
      return p_.copy_gm_to_ubuf(at, from_, 0, x_.rows, t_, count_, gap_);
    }
    p_.sub(count_, x_.inner * x_.bytes, t_);
    p_.sub(gap_, columns_ * x_.bytes / 32, gap_);
    x_.wide ? p_.copy_gm_to_ubuf_align_b32(at, from_, 0, x_.rows, t_, 0, 0, count_, gap_)
            : p_.copy_gm_to_ubuf_align_b16(at, from_, 0, x_.rows, t_, 0, 0, count_, gap_);
  }

  void compute(u64 in, u64 out) {
    const bool f32 = x_.wide || x_.sums();
    const u64 work = x_.copied() ? work_at() : in, bytes = f32 ? 4 : 2;
    const Type type = f32 ? Type::f32 : Type::f16;
    if (x_.copied())
      in_repeats(p_, true, elements(),
                 [&](u64 e, u64 n) { p_.vconv_f162f32(work + e * 4, in + e * 2, n, 1, 1, 8, 4); });
    if (x_.how->before == "vmul") {
      in_repeats(p_, f32, elements(), [&](u64 e, u64 n) {
        p_.vmul(type, work + e * bytes, work + e * bytes, work + e * bytes, n, 1, 1, 1, 8, 8, 8);
      });
    } else if (!x_.how->before.empty()) {
      in_repeats(p_, f32, elements(), [&](u64 e, u64 n) {
        p_.call(x_.how->before, type, {work + e * bytes, work + e * bytes, n, 1, 1, 8, 8});
      });
    }
    for (u64 rows = x_.rows; rows > 1;) {
      const u64 half = rows / 2, later = work + (rows - half) * columns_ * bytes;
      in_repeats(p_, f32, half * columns_, [&](u64 e, u64 n) {
        const u64 at = work + e * bytes;
        p_.call(x_.how->each, type, {at, at, later + e * bytes, n, 1, 1, 1, 8, 8, 8});
      });
      rows -= half;
    }
    const float share = x_.how->mean ? static_cast<float>(1 / static_cast<double>(x_.rows)) : 1;
    if (x_.how->mean)
      in_repeats(p_, true, columns_, [&](u64 e, u64 n) {
        p_.vmuls(Type::f32, work + e * 4, work + e * 4, isa::f32(share), n, 1, 1, 8, 8);
      });
    if (!x_.how->after.empty())
      in_repeats(p_, true, columns_, [&](u64 e, u64 n) {
        p_.call(x_.how->after, Type::f32, {work + e * 4, work + e * 4, n, 1, 1, 8, 8});
      });
    in_repeats(p_, f32, columns_, [&](u64 e, u64 n) {
      if (x_.copied()) return p_.vconv_f322f16(out + e * 2, work + e * 4, n, 1, 1, 4, 8);
      const isa::Value one = f32 ? isa::f32(1) : isa::f16(1);
      p_.vmuls(type, out + e * bytes, work + e * bytes, one, n, 1, 1, 8, 8);
    });
  }

  // t_ has the bytes of a row, or on a joint core its blocks.
  void store(u64 at) {
    if (joint_) return p_.copy_ubuf_to_gm(to_, at, 0, 1, t_, 0, 0);
    x_.wide ? p_.copy_ubuf_to_gm_align_b32(to_, at, 0, 1, t_, 0, 0, 0, 0)
            : p_.copy_ubuf_to_gm_align_b16(to_, at, 0, 1, t_, 0, 0, 0, 0);
  }

  const ReducedAxis x_;
  const bool joint_;
  const u64 columns_;
  isa::ProgramBuilder p_;
  Reg in_, out_, from_, to_, count_, t_, gap_;
};

KernelProgram axis_reduction_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  AxisReductionWriter writer(group, chip, static_cast<u64>(tiling.at("columns")));
  const u64 tiles = writer.tiles();
  return vector_program(writer.program(), tiles, chip);
}

}  // namespace

const Kernel kAxisReductionKernel{"axis_reduction",       axis_reduction_refuses,   axis_reduction_formats,
                                  axis_reduction_tilings, axis_reduction_footprint, axis_reduction_build};

}  // namespace vinci::graph
