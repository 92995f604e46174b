// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/block_transpose.h"
#include "tools/graph/kernels/exchange.h"
#include "tools/graph/kernels/launch_arguments.h"
#include "tools/graph/kernels/vector_ops.h"

// Exchanges of two axes on a joint core where one tensor is packed: its rows are short, follow each other and fill no
// blocks of 32 B, so that each would be one or two bursts. The other tensor is spread: it has an element of each packed
// row in each of its rows. A lane is a block of all spread rows (16 columns of f16), which are as many packed rows; a
// tile has up to 16 lanes. Its spread side is a burst for each row, its packed side a single one. Between them
// scatter_vnchwconv works twice: it makes a block of one element of each lane, at the place that the element has in the
// packed rows, and then a stream of each lane of these blocks.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg;

constexpr u64 kPackLanes = 16, kPackBlock = 32, kMostPackedRows = 255;  // rows: repeats of an instruction
constexpr u64 kSpreadPitch = kPackLanes * kPackBlock;                   // of the spread side in UB

struct Packed {
  u64 rows = 0;           // of the spread tensor: elements of a packed row
  u64 columns = 0;        // of the spread tensor: packed rows
  i64 apart = 0;          // from spread row to spread row, in elements
  bool to_packed = true;  // the result is the packed one
  u32 bytes = 2;          // of an element
  std::vector<Exchange::Axis> outer = {};

  u64 parts() const { return bytes / 2; }
  u64 lane_columns() const { return kPackBlock / bytes; }
  u64 lanes() const { return ceil_div(columns, lane_columns()); }  // of a matrix
  u64 last_columns() const { return columns - (lanes() - 1) * lane_columns(); }
  u64 lane_bytes() const { return rows * kPackBlock; }  // on the packed side
  u64 last_bytes() const { return rows * last_columns() * bytes; }
  bool ends() const { return last_bytes() % kPackBlock != 0; }
  u64 matrices() const {
    u64 out = 1;
    for (const Exchange::Axis& axis : outer)
      out *= axis.extent;
    return out;
  }
  u64 tiles(u64 lanes_of_tile) const { return ceil_div(matrices() * lanes(), lanes_of_tile); }
  u64 slot_bytes() const { return kPackLanes * lane_bytes(); }
  u64 ub(u64 slots) const { return (slots + 1) * slot_bytes() + (ends() ? slots * kSpreadPitch : 0); }
};

Packed packed_of(const Exchange& x, bool to_packed) {
  const Exchange::Axis &rows = to_packed ? x.rows : x.columns, &columns = to_packed ? x.columns : x.rows;
  return {.rows = rows.extent,
          .columns = columns.extent,
          .apart = to_packed ? rows.from : rows.to,
          .to_packed = to_packed,
          .bytes = x.bytes,
          .outer = x.outer};
}

// Bursts of a tile, as the scalar unit issues them.
u64 bursts_of(const Packed& x, u64 lanes) {
  const u64 segments = ceil_div(lanes, x.lanes()), bytes = static_cast<u64>(x.apart) * x.bytes;
  const bool strided = bytes % kPackBlock == 0 && bytes / kPackBlock <= kMaxCopyGap;
  return segments * (strided ? 2 : x.rows);
}

std::vector<Tiling> packed_tilings(const Packed& x, const config::ChipConfig& chip) {
  const u64 slots = x.ub(2) <= chip.core.buffers.ub ? 2 : 1;
  if (x.ub(slots) > chip.core.buffers.ub) return {};
  // Cycles: of both transposes, of a burst that the scalar unit issues, of a lane between UB and memory.
  constexpr double kOfTurns = 32, kOfBurst = 60, kOfLane = 2;
  std::vector<std::pair<double, u64>> costs;
  for (u64 lanes = kPackLanes; lanes > 0; --lanes) {
    const auto rounds = static_cast<double>(ceil_div(x.tiles(lanes), u64{vector_cores(chip)}));
    const auto rows = static_cast<double>(x.rows), count = static_cast<double>(lanes);
    costs.emplace_back(
        rounds * (rows * (kOfTurns + kOfLane * count) + kOfBurst * static_cast<double>(bursts_of(x, lanes))), lanes);
  }
  std::ranges::stable_sort(costs, {}, &std::pair<double, u64>::first);
  std::vector<Tiling> out;
  constexpr usize kSome = 3;
  for (const auto& [cost, lanes] : std::span(costs).first(kSome))
    out.push_back({{"lanes", static_cast<i64>(lanes)}, {"slots", static_cast<i64>(slots)}});
  return out;
}

// The side that is packed. None where the other kernel of exchanges is as fast: where copies are of whole blocks on
// both sides, and where few lanes share the bursts of a spread side whose rows are no strided copy.
std::optional<Packed> packed_side(const Group& group, const config::ChipConfig& chip) {
  const std::optional<Exchange> x = exchange_of(group);
  if (!x) return std::nullopt;
  const bool alone = !kTransposeKernel.refuses(group, chip).empty();
  const auto whole = [&](i64 elements) { return elements * x->bytes % kPackBlock == 0; };
  const auto short_rows = [](const Exchange::Axis& row, const Exchange::Axis& next, i64 Exchange::Axis::*distance) {
    return next.*distance == static_cast<i64>(row.extent) && row.extent <= kMostPackedRows;
  };
  const bool from = whole(x->rows.from), to = whole(x->columns.to);
  if ((alone || !to) && short_rows(x->rows, x->columns, &Exchange::Axis::to)) {
    constexpr u64 kSomeLanes = 3;
    const Packed result = packed_of(*x, true);
    if (alone || from || result.lanes() >= kSomeLanes) return result;
  }
  if ((alone || !from) && short_rows(x->columns, x->rows, &Exchange::Axis::from) &&
      whole(static_cast<i64>(x->rows.extent)))
    return packed_of(*x, false);
  return std::nullopt;
}

std::string transpose_packed_refuses(const Group& group, const config::ChipConfig& chip) {
  if (!is_joint(chip)) return "a split core copies bytes";
  const std::optional<Packed> x = packed_side(group, chip);
  if (!x) return "it is no exchange of two axes with short rows that follow each other and fill no blocks";
  if (x->bytes == 1) return "its elements have one byte";
  if (x->rows * x->bytes < kPackBlock || x->columns < x->lane_columns()) return "its rows fill not one block";
  if (packed_tilings(*x, chip).empty()) return "UB has no room for its rows";
  return "";
}

std::vector<Tiling> transpose_packed_tilings(const Group& group, const config::ChipConfig& chip) {
  return packed_tilings(*packed_side(group, chip), chip);
}

Footprint transpose_packed_footprint(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  return {.ub = packed_side(group, chip)->ub(static_cast<u64>(tiling.at("slots")))};
}

// Writes the program.
class PackedWriter {
 public:
  PackedWriter(const Group& group, const config::ChipConfig& chip, const Tiling& tiling)
      : exchange_(*exchange_of(group)),
        x_(*packed_side(group, chip)),
        tensors_(group.inputs().size() + 1),
        lanes_(static_cast<u64>(tiling.at("lanes"))),
        slots_(static_cast<u32>(tiling.at("slots"))),
        p_(group.node().name, chip.arch),
        addresses_(p_, tensors_) {}

  u64 tiles() const { return x_.tiles(lanes_); }

  isa::BuiltProgram program() {
    gen::TilePipeline pipeline{.tiles = tiles(), .slots = slots_, .in_place = true};
    pipeline.prologue = [&](isa::ProgramBuilder&) { prologue(); };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) { p_.mul(first_, tile, lanes_); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
      each_segment([&] { x_.to_packed ? copy_spread(slot, true) : copy_packed(slot, true); });
    };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) { turn(slot); };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
      each_segment([&] { x_.to_packed ? copy_packed(slot, false) : copy_spread(slot, false); });
    };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  u64 slot_at(u64 slot) const { return slot * x_.slot_bytes(); }
  u64 turned_at() const { return slots_ * x_.slot_bytes(); }
  u64 ends_at(u64 slot) const { return (slots_ + 1) * x_.slot_bytes() + slot * kSpreadPitch; }

  void prologue() {
    addresses_.load_all();
    for (Reg* const r : {&first_, &left_, &lane_, &matrix_, &pos_, &take_, &at_, &place_, &t_, &rest_, &size_})
      *r = p_.reg("packed");
    // What no copy writes is transposed, too.
    in_repeats(p_, false, turned_at() / 2,
               [&](u64 e, u64 n) { p_.vector_dup(isa::Type::f16, e * 2, 0, n, 1, 1, 8, 8); });
    p_.pipe_barrier(PipeId::ALL);
  }

  // body() for the lanes of each matrix that the tile has: take_ lanes of matrix_ from pos_ on, which are lane_ and
  // those behind it in the tile.
  void each_segment(const std::function<void()>& body) {
    const u64 lanes = x_.lanes(), all = x_.matrices() * lanes;
    p_.sub(left_, all, first_);
    p_.min(left_, left_, lanes_);
    p_.div(matrix_, first_, lanes);
    p_.rem(pos_, first_, lanes);
    p_.mov(lane_, 0);
    const isa::Target next = p_.here("matrix");
    p_.sub(take_, lanes, pos_);
    p_.min(take_, take_, left_);
    body();
    if (x_.matrices() == 1) return;
    p_.add(lane_, lane_, take_);
    p_.sub(left_, left_, take_);
    p_.add(matrix_, matrix_, 1);
    p_.mov(pos_, 0);
    p_.branch(isa::Value(left_) != 0, next);
  }

  // at_ = where the matrix begins in a tensor.
  void begin_of_matrix(bool operand) {
    const i64 bytes = x_.bytes;
    p_.add(at_, addresses_.of(operand ? exchange_.input : tensors_ - 1),
           (operand ? exchange_.from : exchange_.to) * bytes);
    if (x_.matrices() == 1) return;
    p_.mov(rest_, matrix_);
    for (usize a = x_.outer.size(); a-- > 0;) {
      const Exchange::Axis& axis = x_.outer[a];
      p_.rem(t_, rest_, axis.extent);
      p_.div(rest_, rest_, axis.extent);
      const i64 step = (operand ? axis.from : axis.to) * bytes;
      if (step == 0) continue;
      p_.mul(t_, t_, step);
      p_.add(at_, at_, t_);
    }
  }

  // A block of each row for each lane.
  void copy_spread(u32 slot, bool load) {
    begin_of_matrix(load);
    p_.shl(t_, pos_, 5);
    p_.add(at_, at_, t_);
    p_.shl(place_, lane_, 5);
    p_.add(place_, place_, slot_at(slot));
    const u64 apart = static_cast<u64>(x_.apart) * x_.bytes;
    if (apart % kPackBlock == 0 && apart / kPackBlock <= kMaxCopyGap) {
      p_.sub(t_, apart / kPackBlock, take_);
      p_.sub(rest_, kPackLanes, take_);
      if (load) return p_.copy_gm_to_ubuf(place_, at_, 0, x_.rows, take_, t_, rest_);
      return p_.copy_ubuf_to_gm(at_, place_, 0, x_.rows, take_, rest_, t_);
    }
    p_.loop(x_.rows, [&](Reg) {
      if (load) {
        p_.copy_gm_to_ubuf(place_, at_, 0, 1, take_, 0, 0);
      } else {
        p_.copy_ubuf_to_gm(at_, place_, 0, 1, take_, 0, 0);
      }
      p_.add(at_, at_, apart);
      p_.add(place_, place_, kSpreadPitch);
    });
  }

  // All rows of the lanes as one burst. Where the last ones of a matrix fill no blocks, their end goes over the last
  // whole block of them.
  void copy_packed(u32 slot, bool load) {
    begin_of_matrix(load);
    p_.mul(t_, pos_, x_.lane_bytes());
    p_.add(at_, at_, t_);
    p_.mul(place_, lane_, x_.lane_bytes());
    p_.add(place_, place_, slot_at(slot));
    p_.mul(size_, take_, x_.lane_bytes());
    if (x_.last_bytes() != x_.lane_bytes()) {
      p_.add(t_, pos_, take_);
      p_.if_(isa::Value(t_) == x_.lanes(), [&] { p_.sub(size_, size_, x_.lane_bytes() - x_.last_bytes()); });
    }
    p_.shr(t_, size_, 5);
    if (load) return p_.copy_gm_to_ubuf(place_, at_, 0, 1, t_, 0, 0);
    p_.copy_ubuf_to_gm(at_, place_, 0, 1, t_, 0, 0);
    if (!x_.ends()) return;
    p_.add(t_, pos_, take_);
    p_.if_(isa::Value(t_) == x_.lanes(), [&] {
      p_.add(at_, at_, size_);
      p_.sub(at_, at_, kPackBlock);
      p_.add(place_, lane_, take_);
      p_.shl(place_, place_, 5);
      p_.add(place_, place_, ends_at(slot) - kPackBlock);
      p_.pipe_barrier(PipeId::MTE3);
      p_.copy_ubuf_to_gm(at_, place_, 0, 1, 1, 0, 0);
    });
  }

  void turn(u32 slot) {
    const u64 rows = x_.rows, parts = x_.parts(), at = slot_at(slot), turned = turned_at();
    const BlockAt spread = [&](u64 lane) { return at + lane * kPackBlock; };
    // Columns of a lane begin as many rows apart.
    const BlockAt column = [&](u64 i) { return turned + (i / parts * rows * parts + i % parts) * kPackBlock; };
    const BlockAt blocks = [&](u64 i) { return turned + i * kPackBlock; };
    const BlockAt stream = [&](u64 lane) { return at + lane * x_.lane_bytes(); };
    if (x_.to_packed) {
      scatter_blocks(p_, spread, kPackLanes, column, parts, rows);
      p_.pipe_barrier(PipeId::V);
      scatter_blocks(p_, blocks, kPackLanes, stream, 1, rows);
      if (x_.ends()) {
        const u64 end = turned + (x_.last_bytes() / 2 - kPackLanes) * kPackBlock;
        scatter_blocks(
            p_, [&](u64 i) { return end + i * kPackBlock; }, 0,
            [&](u64 lane) { return ends_at(slot) + lane * kPackBlock; }, 0, 1);
      }
    } else {
      scatter_blocks(p_, stream, 1, blocks, kPackLanes, rows);
      p_.pipe_barrier(PipeId::V);
      scatter_blocks(p_, column, parts, spread, kPackLanes, rows);
    }
    p_.pipe_barrier(PipeId::V);
  }

  const Exchange exchange_;
  const Packed x_;
  const usize tensors_;
  const u64 lanes_;
  const u32 slots_;
  isa::ProgramBuilder p_;
  LaunchArguments addresses_;
  Reg first_, left_, lane_, matrix_, pos_, take_, at_, place_, t_, rest_, size_;
};

KernelProgram transpose_packed_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  PackedWriter writer(group, chip, tiling);
  return vector_program(writer.program(), writer.tiles(), chip);
}

}  // namespace

const Kernel kTransposePackedKernel{"transpose_packed",       transpose_packed_refuses,   present_formats,
                                    transpose_packed_tilings, transpose_packed_footprint, transpose_packed_build};

}  // namespace vinci::graph
