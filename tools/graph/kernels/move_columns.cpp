// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/block_transpose.h"
#include "tools/graph/kernels/strided_copy.h"
#include "tools/graph/kernels/vector_ops.h"

// Columns of rows that fill no blocks of 32 B: pieces, slices, repetitions and permutations of the last axes, forwards
// or backwards. A tile is 16 streams of some rows. Transposed, an element of all streams is a block, so that columns
// move as blocks; transposed back, the streams are rows again. Streams of whole blocks, as those of 16 rows are, come
// and go as one burst. Others, of wide or few rows, have a burst each, and what is stored has the last 16 elements once
// more, so that they begin at a block, and are a burst, too.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

constexpr u64 kColumnStreams = 16, kStreamBlock = 32;
constexpr usize kMostParts = 1024;

// `width` columns of an input, from one place in a row to another; elements of 32 bits are two columns.
struct Columns {
  usize input = 0;
  u64 width = 0, from = 0, to = 0;
};
struct ColumnMove {
  u64 rows = 0, out_width = 0;
  std::map<usize, u64> in_width;  // by input
  std::vector<Columns> parts;
};

// The distance of rows along the first `axes` axes, if they follow each other with the same one.
std::optional<u64> row_distance(std::span<const i64> dims, const StridedTensor& t, usize axes) {
  std::optional<u64> distance;
  u64 rows = 1;
  for (usize a = axes; a-- > 0;) {
    if (dims[a] == 1) continue;
    if (!distance) distance = static_cast<u64>(t.strides[a]);
    if (t.strides[a] < 0 || static_cast<u64>(t.strides[a]) != *distance * rows) return std::nullopt;
    rows *= static_cast<u64>(dims[a]);
  }
  return distance;
}

// The columns that the axes from `axes` on name, each element by itself unless neighbours stay neighbours.
std::vector<Columns> columns_of(const StridedCopy& c, usize axes) {
  std::vector<Columns> out{
      {.input = c.input, .width = 1, .from = static_cast<u64>(c.from.base), .to = static_cast<u64>(c.to.base)}};
  for (usize a = c.dims.size(); a-- > axes;) {
    const i64 extent = c.dims[a], from = c.from.strides[a], to = c.to.strides[a];
    if (extent == 1) continue;
    const auto width = static_cast<i64>(out[0].width);
    if (out.size() == 1 && from == width && to == width) {
      out[0].width *= static_cast<u64>(extent);
      continue;
    }
    const usize before = out.size();
    for (i64 i = 1; i < extent && out.size() <= kMostParts; ++i) {
      for (usize k = 0; k < before; ++k) {
        Columns part = out[k];
        part.from += static_cast<u64>(i * from);
        part.to += static_cast<u64>(i * to);
        out.push_back(part);
      }
    }
  }
  return out;
}

// The move with the first `axes` axes of each copy as rows.
std::optional<ColumnMove> column_move(const Group& group, std::span<const StridedCopy> copies, usize axes) {
  ColumnMove out;
  u64 covered = 0;
  for (const StridedCopy& c : copies) {
    if (c.dims.size() <= axes) return std::nullopt;
    const auto from = row_distance(c.dims, c.from, axes), to = row_distance(c.dims, c.to, axes);
    if (!from || !to) return std::nullopt;
    const u64 rows = element_count(std::vector(c.dims.begin(), c.dims.begin() + static_cast<i64>(axes)));
    if (out.rows == 0) {
      out.rows = rows;
      out.out_width = *to;
    }
    const auto [known, added] = out.in_width.emplace(c.input, *from);
    if (rows != out.rows || *to != out.out_width || known->second != *from ||
        stored_elements(*group.inputs()[c.input]) != rows * *from)
      return std::nullopt;
    for (const Columns& part : columns_of(c, axes)) {
      if (part.from + part.width > *from || part.to + part.width > *to || out.parts.size() == kMostParts)
        return std::nullopt;
      covered += part.width;
      out.parts.push_back(part);
    }
  }
  if (covered != out.out_width || stored_elements(*group.outputs()[0]) != out.rows * out.out_width) return std::nullopt;
  return out;
}

std::optional<ColumnMove> column_move(const Group& group) {
  const auto copies = strided_copies(group);
  if (!copies || copies->empty() || group.outputs().size() != 1) return std::nullopt;
  const u32 bytes = copies->front().from.bytes;
  if (bytes == 1) return std::nullopt;
  for (const StridedCopy& c : *copies) {
    if (c.dims.empty() || c.input >= group.inputs().size() || c.from.bytes != bytes || c.from.base < 0 || c.to.base < 0)
      return std::nullopt;
  }
  std::optional<ColumnMove> out;
  for (usize axes = copies->front().dims.size(); !out && axes-- > 1;)
    out = column_move(group, *copies, axes);
  if (!out) return std::nullopt;
  const u64 parts = bytes / 2;
  out->out_width *= parts;
  for (auto& [input, width] : out->in_width)
    width *= parts;
  for (Columns& c : out->parts)
    c = {.input = c.input, .width = c.width * parts, .from = c.from * parts, .to = c.to * parts};
  return out;
}

// Streams of a tensor: so many rows of each, and what is behind them in UB.
struct ColumnStream {
  u64 elements = 0;  // of a stream
  bool ends = false;

  ColumnStream(u64 rows, u64 width, bool stored) : elements(rows * width), ends(stored && elements % kC0 != 0) {}
  bool one_burst() const { return elements % kC0 == 0; }
  u64 end_at() const { return align_up(elements, kC0); }
  u64 pitch() const { return end_at() + (ends ? kC0 : 0); }
};

// In UB: rows as they come and go, in slots, and both transposed. With one slot, the result is transposed where the
// rows came, and goes from where they were transposed.
u64 bytes_of(const ColumnMove& x, u64 rows, u64 slots) {
  const u64 out = ColumnStream(rows, x.out_width, true).pitch();
  u64 in = 0;
  for (const auto& [input, width] : x.in_width)
    in += ColumnStream(rows, width, false).pitch();
  return (slots == 1 ? 2 * std::max(in, out) : (slots + 1) * (in + out)) * kColumnStreams * 2;
}

// About the cycles of the core with most tiles: bursts, as the scalar unit issues them, and elements of a stream.
u64 columns_cost(const ColumnMove& x, u64 rows, const config::ChipConfig& chip) {
  constexpr u64 kOfBurst = 100, kOfElement = 1;
  const u64 tiles = ceil_div(x.rows, rows * kColumnStreams), streams = std::min(kColumnStreams, ceil_div(x.rows, rows));
  const ColumnStream stored(rows, x.out_width, true);
  u64 bursts = stored.one_burst() ? 1 : 2 * streams, elements = stored.pitch();
  for (const auto& [input, width] : x.in_width) {
    const ColumnStream loaded(rows, width, false);
    bursts += loaded.one_burst() ? 1 : streams;
    elements += loaded.pitch();
  }
  return ceil_div(tiles, u64{vector_cores(chip)}) * (bursts * kOfBurst + elements * kOfElement);
}

std::vector<Tiling> tilings_of(const ColumnMove& x, const config::ChipConfig& chip) {
  std::vector<std::pair<u64, Tiling>> costs;
  for (const u64 rows : {16, 8, 4, 2, 1}) {
    if (rows * x.out_width < kC0) continue;
    for (const u64 slots : {2, 1}) {
      if (bytes_of(x, rows, slots) > chip.core.buffers.ub) continue;
      costs.emplace_back(columns_cost(x, rows, chip),
                         Tiling{{"rows", static_cast<i64>(rows)}, {"slots", static_cast<i64>(slots)}});
      break;
    }
  }
  std::ranges::stable_sort(costs, {}, &std::pair<u64, Tiling>::first);
  std::vector<Tiling> out;
  for (auto& [cost, tiling] : costs)
    out.push_back(std::move(tiling));
  return out;
}

std::string columns_refuse(const Group& group, const config::ChipConfig& chip) {
  if (group.nodes().size() != 1) return "it has several nodes";
  const auto x = column_move(group);
  if (!x) return "it moves no columns of rows of f16 that follow each other";
  const auto whole = [](u64 n) { return n % kC0 == 0; };
  const bool blocks =
      std::ranges::all_of(x->parts, [&](const Columns& c) { return whole(c.width) && whole(c.from) && whole(c.to); });
  if (blocks && whole(x->out_width)) return "its columns are whole blocks";
  // A split core copies pieces of any length, which is worth less than a stream where there are many short ones.
  constexpr u64 kManyRows = 256, kManyPieces = 8192;
  const bool many = is_joint(chip) ? x->rows >= kManyRows
                                   : x->rows * x->parts.size() >= kManyPieces &&
                                         std::ranges::any_of(x->parts, [](const Columns& c) { return c.width < kC0; });
  if (!many && kMoveKernel.refuses(group, chip).empty()) return "its pieces go as they are";
  if (tilings_of(*x, chip).empty()) return "16 rows do not fit UB";
  return "";
}

std::vector<Tiling> columns_tilings(const Group& group, const config::ChipConfig& chip) {
  return tilings_of(*column_move(group), chip);
}

Footprint columns_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub =
              bytes_of(*column_move(group), static_cast<u64>(tiling.at("rows")), static_cast<u64>(tiling.at("slots")))};
}

// Writes the program.
class ColumnsWriter {
 public:
  ColumnsWriter(const Group& group, const config::ChipConfig& chip, const Tiling& tiling)
      : group_(group),
        x_(*column_move(group)),
        rows_(static_cast<u64>(tiling.at("rows"))),
        slots_(static_cast<u32>(tiling.at("slots"))),
        stored_(rows_, x_.out_width, true),
        p_(group.node().name, chip.arch) {
    u64 end = 0;
    const auto take = [&](const ColumnStream& stream, u64 times) {
      const u64 at = end;
      end += times * bytes(stream);
      return at;
    };
    for (const auto& [input, width] : x_.in_width)
      in_[input] = take(loaded(input), slots_);
    if (slots_ > 1) turned_out_ = take(stored_, 1);
    clear_ = end = std::max(end, bytes(stored_));
    out_ = end;
    for (const auto& [input, width] : x_.in_width)
      turned_in_[input] = take(loaded(input), 1);
    if (slots_ > 1) out_ = end;
  }

  u64 tiles() const { return ceil_div(x_.rows, tile_rows()); }

  isa::BuiltProgram program() {
    gen::TilePipeline pipeline{.tiles = tiles(), .slots = slots_};
    pipeline.prologue = [&](isa::ProgramBuilder&) {
      for (usize i = 0; i <= group_.inputs().size(); ++i)
        pointers_.push_back(p_.arg("tensor"));
      for (Reg* const r : {&row_, &at_, &blocks_, &place_, &left_})
        *r = p_.reg("columns");
      if (!writes_all())
        in_repeats(p_, false, clear_ / 2, [&](u64 e, u64 n) { p_.vector_dup(Type::f16, e * 2, 0, n, 1, 1, 8, 8); });
      p_.pipe_barrier(PipeId::ALL);
    };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) { p_.mul(row_, tile, tile_rows()); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
      for (const auto& [input, width] : x_.in_width)
        load(loaded(input), width, pointers_[input], in_at(input, slot));
    };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) { compute(slot); };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) { store(out_at(slot)); };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  static u64 bytes(const ColumnStream& stream) { return stream.pitch() * kColumnStreams * 2; }
  u64 tile_rows() const { return kColumnStreams * rows_; }
  // Else rows behind the last one, or what is behind a stream, are transposed, too, and need to be some number.
  bool writes_all() const {
    const auto whole = [&](const auto& input) { return loaded(input.first).one_burst(); };
    return x_.rows % tile_rows() == 0 && stored_.one_burst() && std::ranges::all_of(x_.in_width, whole);
  }
  ColumnStream loaded(usize input) const { return {rows_, x_.in_width.at(input), false}; }
  u64 in_at(usize input, u32 slot) const { return in_.at(input) + slot * bytes(loaded(input)); }
  u64 out_at(u32 slot) const { return out_ + slot * bytes(stored_); }

  // left_ = the rows of the tile; at_ = their address in a tensor.
  void begin(u64 width, Reg pointer) {
    p_.sub(left_, x_.rows, row_);
    p_.min(left_, left_, tile_rows());
    p_.mul(at_, row_, width * 2);
    p_.add(at_, at_, pointer);
  }
  // blocks_ = those of so many rows, the last of which may have elements behind them.
  void count_blocks(Reg rows, u64 width) {
    p_.mul(blocks_, rows, width * 2);
    p_.add(blocks_, blocks_, kStreamBlock - 1);
    p_.shr(blocks_, blocks_, 5);
  }
  // body() for each stream: at_ in memory, place_ in UB, left_ rows from it on.
  void each_stream(const ColumnStream& stream, const std::function<void()>& body) {
    const isa::Target next = p_.here("stream");
    body();
    p_.add(at_, at_, stream.elements * 2);
    p_.add(place_, place_, stream.pitch() * 2);
    p_.sub(left_, left_, rows_);
    p_.branch(isa::Value(left_) > 0, next);
  }

  void load(const ColumnStream& stream, u64 width, Reg pointer, u64 ub) {
    begin(width, pointer);
    if (stream.one_burst()) {
      count_blocks(left_, width);
      return p_.copy_gm_to_ubuf(ub, at_, 0, 1, blocks_, 0, 0);
    }
    p_.mov(place_, ub);
    each_stream(stream, [&] {
      p_.min(blocks_, left_, rows_);
      count_blocks(blocks_, width);
      p_.copy_gm_to_ubuf(place_, at_, 0, 1, blocks_, 0, 0);
    });
  }

  void store(u64 ub) {
    begin(x_.out_width, pointers_.back());
    if (stored_.one_burst()) {
      count_blocks(left_, x_.out_width);
      return p_.copy_ubuf_to_gm(at_, ub, 0, 1, blocks_, 0, 0);
    }
    p_.mov(place_, ub);
    each_stream(stored_, [&] {
      // Behind the last rows, nothing of the tensor follows that the end of a block could overwrite.
      const isa::Target more = p_.label("more"), done = p_.label("done");
      p_.add(blocks_, row_, tile_rows());
      p_.branch(isa::Value(blocks_) < x_.rows, more);
      p_.branch(isa::Value(left_) > rows_, more);
      count_blocks(left_, x_.out_width);
      p_.copy_ubuf_to_gm(at_, place_, 0, 1, blocks_, 0, 0);
      p_.branch(isa::Value(left_) > 0, done);
      p_.bind(more);
      p_.copy_ubuf_to_gm(at_, place_, 0, 1, stored_.elements / kC0, 0, 0);
      p_.pipe_barrier(PipeId::MTE3);
      p_.add(at_, at_, (stored_.elements - kC0) * 2);
      p_.add(place_, place_, stored_.end_at() * 2);
      p_.copy_ubuf_to_gm(at_, place_, 0, 1, 1, 0, 0);
      p_.sub(at_, at_, (stored_.elements - kC0) * 2);
      p_.sub(place_, place_, stored_.end_at() * 2);
      p_.bind(done);
    });
  }

  void compute(u32 slot) {
    for (const auto& [input, width] : x_.in_width)
      turn_streams(p_, in_at(input, slot), turned_in_.at(input), loaded(input).pitch(), false);
    for (const Columns& c : x_.parts) {
      const bool one = rows_ == 1;
      p_.copy_ubuf_to_ubuf(turned_out_ + c.to * kStreamBlock, turned_in_.at(c.input) + c.from * kStreamBlock, 0, rows_,
                           c.width, one ? 0 : x_.in_width.at(c.input) - c.width, one ? 0 : x_.out_width - c.width);
    }
    p_.pipe_barrier(PipeId::V);
    if (stored_.ends) {
      p_.copy_ubuf_to_ubuf(turned_out_ + stored_.end_at() * kStreamBlock,
                           turned_out_ + (stored_.elements - kC0) * kStreamBlock, 0, 1, kC0, 0, 0);
      p_.pipe_barrier(PipeId::V);
    }
    turn_streams(p_, out_at(slot), turned_out_, stored_.pitch(), true);
  }

  const Group& group_;
  const ColumnMove x_;
  const u64 rows_;  // of a stream
  const u32 slots_;
  const ColumnStream stored_;
  isa::ProgramBuilder p_;
  std::map<usize, u64> in_, turned_in_;
  u64 clear_ = 0, turned_out_ = 0, out_ = 0;
  std::vector<Reg> pointers_;
  Reg row_, at_, blocks_, place_, left_;
};

KernelProgram columns_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  ColumnsWriter writer(group, chip, tiling);
  const u64 tiles = writer.tiles();
  return vector_program(writer.program(), tiles, chip);
}

}  // namespace

const Kernel kMoveColumnsKernel{"move_columns",  columns_refuse,    present_formats,
                                columns_tilings, columns_footprint, columns_build};

}  // namespace vinci::graph
