// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <map>
#include <optional>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/strided_copy.h"
#include "tools/graph/kernels/vector_ops.h"

// Columns of rows that fill no blocks of 32 B, on a joint core, which copies whole blocks: pieces, slices and
// permutations of the last axis. 256 rows are 16 streams of 16 rows. Transposed, an element of all streams is a block,
// so that columns move as blocks; transposed back, the streams are rows again. Memory sees rows that follow each other.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

constexpr u64 kStreams = 16, kStreamRows = 16, kTileRows = kStreams * kStreamRows, kStreamBlock = 32,
              kMostRepeats = 255;

// `width` columns of an input, from one place in a row to another.
struct Columns {
  usize input = 0;
  u64 width = 0, from = 0, to = 0;
};
struct ColumnMove {
  u64 rows = 0, out_width = 0;
  std::map<usize, u64> in_width;  // by input
  std::vector<Columns> parts;
};

// The distance of rows, if they follow each other with the same one.
std::optional<u64> row_distance(std::span<const i64> dims, const StridedTensor& t) {
  std::optional<u64> distance;
  u64 rows = 1;
  for (usize a = dims.size() - 1; a-- > 0;) {
    if (dims[a] == 1) continue;
    if (!distance) distance = static_cast<u64>(t.strides[a]);
    if (t.strides[a] < 0 || static_cast<u64>(t.strides[a]) != *distance * rows) return std::nullopt;
    rows *= static_cast<u64>(dims[a]);
  }
  return distance;
}

std::optional<ColumnMove> column_move(const Group& group) {
  const auto copies = strided_copies(group);
  if (!copies || copies->empty() || group.outputs().size() != 1) return std::nullopt;
  ColumnMove out;
  u64 covered = 0;
  for (const StridedCopy& c : *copies) {
    if (c.dims.size() < 2 || c.input >= group.inputs().size() || c.from.bytes != 2 || c.from.base < 0 || c.to.base < 0)
      return std::nullopt;
    const auto width = static_cast<u64>(c.dims.back());
    if (width == 0 || (width != 1 && (c.from.strides.back() != 1 || c.to.strides.back() != 1))) return std::nullopt;
    const auto from = row_distance(c.dims, c.from), to = row_distance(c.dims, c.to);
    if (!from || !to) return std::nullopt;
    const u64 rows = element_count(c.dims) / width;
    const Value& in = *group.inputs()[c.input];
    if (out.rows == 0) {
      out.rows = rows;
      out.out_width = *to;
    }
    const auto [known, added] = out.in_width.emplace(c.input, *from);
    if (rows != out.rows || *to != out.out_width || known->second != *from) return std::nullopt;
    const Columns part{
        .input = c.input, .width = width, .from = static_cast<u64>(c.from.base), .to = static_cast<u64>(c.to.base)};
    if (part.from + width > *from || part.to + width > *to || stored_elements(in) != rows * *from) return std::nullopt;
    covered += width;
    out.parts.push_back(part);
  }
  if (covered != out.out_width || stored_elements(*group.outputs()[0]) != out.rows * out.out_width) return std::nullopt;
  return out;
}

// In UB: rows as they come and go, in slots, and both transposed.
u64 bytes_of(const ColumnMove& x, u64 slots) {
  u64 in = 0;
  for (const auto& [input, width] : x.in_width)
    in += width;
  return (slots + 1) * (in + x.out_width) * kTileRows * 2;
}

std::string columns_refuse(const Group& group, const config::ChipConfig& chip) {
  if (!is_joint(chip)) return "a split core copies bytes";
  if (group.nodes().size() != 1) return "it has several nodes";
  const auto x = column_move(group);
  if (!x) return "it moves no columns of rows of f16 that follow each other";
  const auto whole = [](u64 n) { return n % kC0 == 0; };
  const bool blocks =
      std::ranges::all_of(x->parts, [&](const Columns& c) { return whole(c.width) && whole(c.from) && whole(c.to); });
  if (blocks && whole(x->out_width)) return "its columns are whole blocks";
  if (x->rows < kTileRows) return "it has few rows";
  if (bytes_of(*x, 1) > chip.core.buffers.ub) return "256 rows do not fit UB";
  return "";
}

std::vector<Tiling> columns_tilings(const Group& group, const config::ChipConfig& chip) {
  const bool two = bytes_of(*column_move(group), 2) <= chip.core.buffers.ub;
  return {{{"slots", two ? 2 : 1}}};
}

Footprint columns_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = bytes_of(*column_move(group), static_cast<u64>(tiling.at("slots")))};
}

// Writes the program.
class ColumnsWriter {
 public:
  ColumnsWriter(const Group& group, const config::ChipConfig& chip, u32 slots)
      : group_(group), x_(*column_move(group)), slots_(slots), p_(group.node().name, chip.arch) {
    u64 end = 0;
    const auto take = [&](u64 width, u64 times) {
      const u64 at = end;
      end += times * width * kTileRows * 2;
      return at;
    };
    for (const auto& [input, width] : x_.in_width)
      in_[input] = take(width, slots_);
    clear_ = end;
    for (const auto& [input, width] : x_.in_width)
      turned_in_[input] = take(width, 1);
    turned_out_ = take(x_.out_width, 1);
    out_ = take(x_.out_width, slots_);
  }

  u64 tiles() const { return ceil_div(x_.rows, kTileRows); }

  isa::BuiltProgram program() {
    gen::TilePipeline pipeline{.tiles = tiles(), .slots = slots_};
    pipeline.prologue = [&](isa::ProgramBuilder&) {
      for (usize i = 0; i <= group_.inputs().size(); ++i)
        pointers_.push_back(p_.arg("tensor"));
      row_ = p_.reg("row");
      at_ = p_.reg("at");
      blocks_ = p_.reg("blocks");
      // Rows behind the last one are transposed, too.
      if (x_.rows % kTileRows != 0)
        in_repeats(p_, false, clear_ / 2, [&](u64 e, u64 n) { p_.vector_dup(Type::f16, e * 2, 0, n, 1, 1, 8, 8); });
      p_.pipe_barrier(PipeId::ALL);
    };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) { p_.mul(row_, tile, kTileRows); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
      for (const auto& [input, width] : x_.in_width) {
        place(width, pointers_[input]);
        p_.copy_gm_to_ubuf(in_at(input, slot), at_, 0, 1, blocks_, 0, 0);
      }
    };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) { compute(slot); };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
      place(x_.out_width, pointers_.back());
      p_.copy_ubuf_to_gm(at_, out_at(slot), 0, 1, blocks_, 0, 0);
    };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  u64 in_at(usize input, u32 slot) const { return in_.at(input) + slot * x_.in_width.at(input) * kTileRows * 2; }
  u64 out_at(u32 slot) const { return out_ + slot * x_.out_width * kTileRows * 2; }

  // Address and blocks of the rows of the tile in a tensor.
  void place(u64 width, Reg pointer) {
    p_.sub(blocks_, x_.rows, row_);
    p_.min(blocks_, blocks_, kTileRows);
    p_.mul(blocks_, blocks_, width * 2);
    p_.add(blocks_, blocks_, kStreamBlock - 1);
    p_.shr(blocks_, blocks_, 5);
    p_.mul(at_, row_, width * 2);
    p_.add(at_, at_, pointer);
  }

  // VA0, VA1: sources; VA2, VA3: results. Streams, and blocks of one element of each.
  void transpose(u64 streams, u64 turned, u64 width, bool back) {
    for (u64 done = 0; done < width; done += kMostRepeats) {
      const u64 repeats = std::min(kMostRepeats, width - done), streams_va = back ? 2 : 0;
      for (u64 half = 0; half < 2; ++half) {
        const auto stream = [&](u64 i) {
          return isa::Value(streams + (half * 8 + i) * kStreamRows * width * 2 + done * kStreamBlock);
        };
        const auto block = [&](u64 i) { return isa::Value(turned + (half * 8 + i + done * kC0) * kStreamBlock); };
        p_.set_va_reg_sb(streams_va + half, stream(0), stream(1), stream(2), stream(3), stream(4), stream(5), stream(6),
                         stream(7));
        p_.set_va_reg_sb(2 - streams_va + half, block(0), block(1), block(2), block(3), block(4), block(5), block(6),
                         block(7));
      }
      // A single repeat would begin one stride on.
      const u64 one = repeats == 1 ? 0 : 1, all = repeats == 1 ? 0 : kC0;
      p_.scatter_vnchwconv_b16(2, 0, repeats, back ? one : all, back ? all : one);
    }
    p_.pipe_barrier(PipeId::V);
  }

  void compute(u32 slot) {
    for (const auto& [input, width] : x_.in_width)
      transpose(in_at(input, slot), turned_in_.at(input), width, false);
    for (const Columns& c : x_.parts)
      p_.copy_ubuf_to_ubuf(turned_out_ + c.to * kStreamBlock, turned_in_.at(c.input) + c.from * kStreamBlock, 0,
                           kStreamRows, c.width, x_.in_width.at(c.input) - c.width, x_.out_width - c.width);
    p_.pipe_barrier(PipeId::V);
    transpose(out_at(slot), turned_out_, x_.out_width, true);
  }

  const Group& group_;
  const ColumnMove x_;
  const u32 slots_;
  isa::ProgramBuilder p_;
  std::map<usize, u64> in_, turned_in_;
  u64 clear_ = 0, turned_out_ = 0, out_ = 0;
  std::vector<Reg> pointers_;
  Reg row_, at_, blocks_;
};

KernelProgram columns_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  ColumnsWriter writer(group, chip, static_cast<u32>(tiling.at("slots")));
  const u64 tiles = writer.tiles();
  return vector_program(writer.program(), tiles, chip);
}

}  // namespace

const Kernel kMoveColumnsKernel{"move_columns",  columns_refuse,    present_formats,
                                columns_tilings, columns_footprint, columns_build};

}  // namespace vinci::graph
