// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/row_math.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/spread.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/kernels/vector_writer.h"

namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

constexpr u64 kMaxStride = 255;  // 32 B blocks from repeat to repeat
constexpr u64 kMaxRepeat = 255;

}  // namespace

// Rows by many, a slab of each with an instruction; or row by row, where rows are too far apart for that or few.
void RowMath::slabs(u64 rows, const std::function<void(const Slabs&)>& body) {
  const u64 lanes = kLanes32, whole = width_ / lanes, rest = width_ % lanes, apart = pitch_ / 8;
  if (apart > kMaxStride || rows < whole) {
    for (u64 row = 0; row < rows; ++row) {
      for (u64 slab = 0; slab < whole; slab += kMaxRepeat)
        body({.first = row * pitch_ + slab * lanes,
              .row = row,
              .column = slab * lanes,
              .count = std::min(kMaxRepeat, whole - slab),
              .along = true});
    }
  } else {
    for (u64 slab = 0; slab < whole; ++slab)
      body({.first = slab * lanes, .row = 0, .column = slab * lanes, .count = rows, .along = false});
  }
  if (rest != 0) {
    set_mask(p_, rest);
    if (apart > kMaxStride) {
      for (u64 row = 0; row < rows; ++row)
        body({.first = row * pitch_ + whole * lanes, .row = row, .column = whole * lanes, .count = 1, .along = true});
    } else {
      body({.first = whole * lanes, .row = 0, .column = whole * lanes, .count = rows, .along = false});
    }
    p_.set_vector_mask(~u64{0}, ~u64{0});
  }
  p_.pipe_barrier(PipeId::V);
}

// lanes = the first slab, then lanes <each> slab for the others of each row: an instruction whose repeats add to the
// same lanes, as documented for a dst that is src1.
void RowMath::gather_lanes(std::string_view each, bool wide, u64 src, u64 lanes_at, u64 rows) {
  const Type type = wide ? Type::f32 : Type::f16;
  const u64 bytes = wide ? 4 : 2, lanes = wide ? kLanes32 : kLanes16, row_bytes = pitch_ * bytes;
  const bool far = row_bytes / 32 > kMaxStride;
  const auto each_row = [&](const auto& body) {  // body(row, rows, from row to row in blocks)
    if (!far) return body(u64{0}, rows, rows == 1 ? 0 : row_bytes / 32);
    for (u64 row = 0; row < rows; ++row)
      body(row, u64{1}, u64{0});
  };
  each_row([&](u64 row, u64 count, u64 apart) {
    p_.call(
        "vmuls", type,
        {lanes_at + row * kLaneBytes, src + row * row_bytes, wide ? isa::f32(1) : isa::f16(1), count, 1, 1, 8, apart});
  });
  p_.pipe_barrier(PipeId::V);
  const u64 slabs = width_ / lanes, rest = width_ % lanes;
  for (u64 slab = 1; slab < slabs; slab += kMaxRepeat) {
    for (u64 row = 0; row < rows; ++row) {
      const u64 to = lanes_at + row * kLaneBytes;
      p_.call(
          each, type,
          {to, src + row * row_bytes + slab * lanes * bytes, to, std::min(kMaxRepeat, slabs - slab), 1, 1, 1, 0, 8, 0});
    }
    p_.pipe_barrier(PipeId::V);
  }
  if (rest == 0) return;
  set_mask(p_, rest);
  each_row([&](u64 row, u64 count, u64 apart) {
    const u64 to = lanes_at + row * kLaneBytes;
    p_.call(each, type, {to, to, src + row * row_bytes + slabs * lanes * bytes, count, 1, 1, 1, 8, 8, apart});
  });
  p_.pipe_barrier(PipeId::V);
  p_.set_vector_mask(~u64{0}, ~u64{0});
}

void RowMath::combine(std::string_view each, bool wide, u64 dst, u64 src, u64 lanes_at, u64 rows) {
  const u64 bytes = wide ? 4 : 2, lanes = wide ? kLanes32 : kLanes16;
  if (width_ > lanes) {
    gather_lanes(each, wide, src, lanes_at, rows);
    return across_lanes(each, wide, dst, lanes_at, rows);
  }
  across(each, wide, dst, src, rows == 1 ? 0 : pitch_ * bytes / 32, width_, rows);
}

void RowMath::across_lanes(std::string_view each, bool wide, u64 dst, u64 lanes_at, u64 rows) {
  across(each, wide, dst, lanes_at, kLaneBytes / 32, wide ? kLanes32 : kLanes16, rows);
}

// Of `active` lanes of each row.
void RowMath::across(std::string_view each, bool wide, u64 dst, u64 at, u64 step, u64 active, u64 rows) {
  const Type type = wide ? Type::f32 : Type::f16;
  const u64 lanes = wide ? kLanes32 : kLanes16;
  if (active < lanes) set_mask(p_, active);
  const std::string across = fmt::format("vc{}", each.substr(1));
  if (each == "vadd" || p_.arch() == isa::Arch::c100) {
    p_.call(across, type, {dst, at, rows, 1, 1, step});
  } else {
    constexpr u64 kValuesAlone = 2;
    p_.call(across, type, {dst, at, rows, 1, 1, step, kValuesAlone});
  }
  p_.pipe_barrier(PipeId::V);
  if (active < lanes) p_.set_vector_mask(~u64{0}, ~u64{0});
}

void RowMath::to_f32(u64 dst, u64 src, u64 elements) {
  in_repeats(p_, true, elements, [&](u64 e, u64 n) { p_.vconv_f162f32(dst + e * 4, src + e * 2, n, 1, 1, 8, 4); });
}
void RowMath::to_f16(u64 dst, u64 src, u64 elements) {
  in_repeats(p_, true, elements, [&](u64 e, u64 n) { p_.vconv_f322f16(dst + e * 2, src + e * 4, n, 1, 1, 4, 8); });
}

RowMath::Blocks RowMath::spread(u64 numbers, bool wide, u64 step, u64 rows, u64 room) {
  const u64 all = align_up<u64>(rows * step, 16);
  if (wide && p_.arch() == isa::Arch::c220) {
    p_.vbrcb(Type::f32, room, numbers, 1, 8, ceil_div<u64>(rows, 8));
    p_.pipe_barrier(PipeId::V);
    return {.at = room, .apart = 1};
  }
  // Blocks of 16 numbers: two of f32.
  const u64 narrow = room, blocks = narrow + all * 32, low_blocks = blocks + all * 64;
  if (!wide) {
    spread_numbers(p_, narrow, numbers, rows * step);
    to_f32(blocks, narrow, all * 16);
    return {.at = blocks, .apart = 2 * step};
  }
  // A number of f32 is the sum of two of f16, as far as transposes of 16 bits can take it.
  const u64 high = low_blocks + all * 64, high_wide = high + all * 2, low = high_wide + all * 4;
  to_f16(high, numbers, all);
  to_f32(high_wide, high, all);
  in_repeats(p_, true, all, [&](u64 e, u64 n) {
    p_.vsub(Type::f32, high_wide + e * 4, numbers + e * 4, high_wide + e * 4, n, 1, 1, 1, 8, 8, 8);
  });
  to_f16(low, high_wide, all);
  spread_numbers(p_, narrow, high, rows);
  to_f32(blocks, narrow, rows * 16);
  spread_numbers(p_, narrow, low, rows);
  to_f32(low_blocks, narrow, rows * 16);
  in_repeats(p_, true, rows * 16, [&](u64 e, u64 n) {
    p_.vadd(Type::f32, blocks + e * 4, blocks + e * 4, low_blocks + e * 4, n, 1, 1, 1, 8, 8, 8);
  });
  return {.at = blocks, .apart = 2};
}

RowMath::Blocks RowMath::spread_by_scalar(u64 numbers, u64 rows, u64 room, const ScalarRegisters& r, u32 event) {
  constexpr u64 kBlockLanes = 8;
  p_.hand_over(PipeId::V, PipeId::S, event);
  set_mask(p_, kBlockLanes);
  p_.mov(r.from, numbers);
  p_.mov(r.to, room);
  p_.loop(rows, [&](Reg) {
    p_.ld_ubuf(Type::b32, r.number, r.from, 0);
    p_.vector_dup(Type::f32, r.to, r.number, 1, 1, 1, 8, 8);
    p_.add(r.from, r.from, 4);
    p_.add(r.to, r.to, 32);
  });
  p_.set_vector_mask(~u64{0}, ~u64{0});
  p_.hand_over(PipeId::S, PipeId::V, event);
  p_.pipe_barrier(PipeId::V);
  return {.at = room, .apart = 1};
}

void RowMath::with_numbers(std::string_view name, u64 src, const Blocks& numbers, u64 rows) {
  slabs(rows, [&](const Slabs& s) {
    const u64 at = src + s.first * 4, apart = from_slab(s), number = s.along || s.count == 1 ? 0 : numbers.apart;
    p_.call(name, Type::f32, {at, at, numbers.at + s.row * numbers.apart * 32, s.count, 1, 1, 0, apart, apart, number});
  });
}

void RowMath::with_row(std::string_view name, u64 dst, u64 src, u64 row, u64 rows) {
  slabs(rows, [&](const Slabs& s) {
    const u64 apart = from_slab(s);
    p_.call(name, Type::f32,
            {dst + s.first * 4, src + s.first * 4, row + s.column * 4, s.count, 1, 1, 1, apart, apart,
             s.along ? apart : 0});
  });
}

RowKernel::RowKernel(const Group& group, const config::ChipConfig& chip, Rows rows, RowTiling tiling, u32 slots)
    : group_(group),
      chip_(chip),
      slots_(slots),
      rows_(std::move(rows)),
      tiles_(rows_.space, chip, tiling),
      p_(group.node().name, chip.arch),
      math_(p_, rows_.space.width, tiles_.pitch()) {
  in_ = take(slots_ * elements() * rows_.views[0].bytes);
  numbers_ = take(spread_rows() * 8);
  tiles_.use_tails(take(RowTiles::kTailBytes));
}

u64 RowKernel::take(u64 bytes) {
  const u64 at = end_;
  end_ += align_up<u64>(bytes, 32);
  return at;
}

KernelProgram RowKernel::build() {
  gen::TilePipeline pipeline{.tiles = tiles_.tiles(), .slots = slots_};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    for (usize i = 0; i < group_.inputs().size() + group_.outputs().size(); ++i)
      pointers_.push_back(p_.arg(i < group_.inputs().size() ? fmt::format("in{}", i) : "out"));
    tiles_.prepare(p_);
    // Elements behind the last one of a row are computed with; they must be numbers.
    if (tiles_.padded())
      in_repeats(p_, false, slots_ * elements() * rows_.views[0].bytes / 2,
                 [&](u64 e, u64 n) { p_.vector_dup(Type::f16, in_ + e * 2, 0, n, 1, 1, 8, 8); });
    // Numbers are spread by 16.
    in_repeats(p_, false, spread_rows() * 4,
               [&](u64 e, u64 n) { p_.vector_dup(Type::f16, numbers_ + e * 2, 0, n, 1, 1, 8, 8); });
    prologue();
  };
  pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) { tiles_.locate(p_, tile); };
  pipeline.load = [&](isa::ProgramBuilder&, u32 slot) { tiles_.load(p_, rows_.views[0], pointers_[0], in_at(slot)); };
  pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) {
    if (tiles_.last_rows() == tiles_.rows()) return compute(slot, tiles_.rows());
    p_.if_(
        isa::Value(tiles_.row_count()) == tiles_.rows(), [&] { compute(slot, tiles_.rows()); },
        [&] { compute(slot, tiles_.last_rows()); });
  };
  pipeline.store = [&](isa::ProgramBuilder&, u32 slot) { store(slot); };
  gen::write_tile_pipeline(p_, pipeline);
  const u64 blocks = std::min<u64>({tiles_.tiles(), vector_cores(chip_), most_blocks()});
  return {.program = p_.finish(), .type = vector_kernel_type(chip_), .blocks = static_cast<u32>(blocks)};
}

Rows last_axes_as_rows(const Value& in, const Value& out, usize axes) {
  const Dims& dims = in.shape.dims();
  const std::vector<i64> strides = broadcast_strides(dims, dims);
  const std::vector<StridedTensor> tensors{{.strides = strides, .bytes = info(in.type).bytes},
                                           {.strides = strides, .bytes = info(out.type).bytes}};
  return as_rows(dims, tensors, axes);
}

std::string not_rows(const Group& group) {
  if (group.nodes().size() != 1) return "it has several nodes";
  if (group.outputs().size() != 1) return "it has more than one output";
  if (group.inputs().empty()) return "it reads no tensor";
  const Value& in = *group.node().input(0);
  if (!in.shape.known() || in.shape.rank() == 0 || in.shape.elements() == 0) return "its input has no known extents";
  if (in.format != isa::Format::ND) return "its input is not in ND";
  if (in.type != DataType::f16 && in.type != DataType::f32)
    return fmt::format("{} is of type {}", in.name, info(in.type).name);
  return "";
}

std::vector<Tiling> whole_row_tilings(const RowSpace& space, const config::ChipConfig& chip, u64 fixed, u64 bytes,
                                      u64 row_bytes) {
  const u64 pitch = align_up<u64>(space.width, 16);
  std::vector<Tiling> out;
  if (fixed + pitch * bytes + row_bytes > chip.core.buffers.ub) return out;
  for (const RowTiling& t : row_tilings(space, chip, chip.core.buffers.ub - fixed, bytes, row_bytes, true)) {
    out.push_back({{"rows", static_cast<i64>(t.rows)}});
  }
  return out;
}

RowTiling row_tiling(const RowSpace& space, const Tiling& tiling) {
  return {.rows = static_cast<u64>(tiling.at("rows")), .columns = space.width};
}

}  // namespace vinci::graph
