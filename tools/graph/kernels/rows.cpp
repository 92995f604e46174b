// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/rows.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "isa/base/error.h"
#include "tools/graph/kernels/vector_writer.h"

namespace vinci::graph {
namespace {

using isa::ProgramBuilder;
using isa::Reg;

constexpr u64 kCopyBlock = 32;  // bytes that a copy of a joint core moves

}  // namespace

u64 RowSpace::rows() const { return std::accumulate(outer.begin(), outer.end(), u64{1}, std::multiplies<>()); }

Rows as_rows(std::span<const i64> dims, std::span<const StridedTensor> tensors, usize row_axes) {
  struct Axis {
    u64 extent;
    std::vector<i64> strides;
  };
  const auto axis = [&](usize a) {
    Axis out{.extent = static_cast<u64>(dims[a]), .strides = {}};
    for (const StridedTensor& t : tensors)
      out.strides.push_back(t.strides[a]);
    return out;
  };
  const auto follows = [&](const Axis& outer, const Axis& inner) {
    for (usize i = 0; i < tensors.size(); ++i) {
      if (outer.strides[i] != inner.strides[i] * static_cast<i64>(inner.extent)) return false;
    }
    return true;
  };
  // From the last axis to the first; an axis joins the one behind it where all tensors go on there.
  std::vector<Axis> row, outer;
  for (usize a = dims.size(); a-- > 0;) {
    std::vector<Axis>& axes = a + row_axes >= dims.size() ? row : outer;
    if (dims[a] == 1) continue;
    if (!axes.empty() && follows(axis(a), axes.back())) {
      axes.back().extent *= static_cast<u64>(dims[a]);
    } else {
      axes.push_back(axis(a));
    }
  }
  if (row_axes == 0 && !outer.empty()) {
    row.push_back(outer.front());
    outer.erase(outer.begin());
  }
  VINCI_CHECK(row.size() <= 1);
  if (row.empty()) row.push_back({1, std::vector<i64>(tensors.size(), 1)});
  if (outer.empty()) outer.push_back({1, std::vector<i64>(tensors.size(), 0)});
  Rows out;
  out.space.width = row[0].extent;
  constexpr u64 kByteGrain = 32;
  if (std::ranges::any_of(tensors, [](const StridedTensor& t) { return t.bytes == 1; })) out.space.grain = kByteGrain;
  for (usize a = outer.size(); a-- > 0;)
    out.space.outer.push_back(outer[a].extent);
  for (usize i = 0; i < tensors.size(); ++i) {
    RowView& view = out.views.emplace_back();
    view = {.base = tensors[i].base, .strides = {}, .step = row[0].strides[i], .bytes = tensors[i].bytes};
    for (usize a = outer.size(); a-- > 0;)
      view.strides.push_back(outer[a].strides[i]);
  }
  return out;
}

std::vector<i64> broadcast_strides(std::span<const i64> from, std::span<const i64> to) {
  std::vector<i64> out(to.size());
  const usize shift = to.size() - from.size();
  i64 stride = 1;
  for (usize a = from.size(); a-- > 0;) {
    out[a + shift] = from[a] == 1 ? 0 : stride;
    stride *= from[a];
  }
  return out;
}

std::vector<RowTiling> row_tilings(const RowSpace& space, const config::ChipConfig& chip, u64 room, u64 bytes,
                                   u64 row_bytes, bool whole_rows) {
  const u64 pitch = align_up(space.width, space.grain);
  if (!whole_rows && pitch * bytes + row_bytes > room) {
    constexpr u64 kGrain = 128;
    u64 columns = (room - row_bytes) / bytes / kGrain * kGrain;
    // On a joint core the last part of a row must be a block, so that it has a tail.
    const auto enough = [&] { return (space.width - 1) % columns + 1 >= kCopyBlock / 2; };
    if (is_joint(chip) && columns > kGrain && !enough()) columns -= kGrain;
    return {{.rows = 1, .columns = columns}};
  }
  const u64 fit = std::min({room / (pitch * bytes + row_bytes), RowTiling::kMostRows, space.outer.back()});
  const u64 share = ceil_div<u64>(space.rows(), vector_cores(chip));
  std::vector<RowTiling> out;
  // On a joint core the last tile of a group must be a block, too, so that each tile has a tail.
  const auto with_tails = [&](u64 rows) {
    if (!is_joint(chip) || pitch == space.width) return rows;
    const auto enough = [&](u64 r) {
      const u64 last = space.outer.back() - (ceil_div(space.outer.back(), r) - 1) * r;
      return last * space.width >= kCopyBlock / 2;
    };
    for (u64 fewer = rows; fewer > 0; --fewer) {
      if (enough(fewer)) return fewer;
    }
    return rows;
  };
  for (const u64 parts : {u64{1}, u64{2}, u64{4}}) {
    const u64 rows = with_tails(std::clamp<u64>(ceil_div(share, parts), 1, fit));
    if (out.empty() || out.back().rows != rows) out.push_back({.rows = rows, .columns = space.width});
  }
  return out;
}

RowTiles::RowTiles(RowSpace space, const config::ChipConfig& chip, RowTiling tiling)
    : space_(std::move(space)), joint_(is_joint(chip)), tiling_(tiling) {
  tiling_.rows = std::min(tiling_.rows, group());
  VINCI_CHECK(tiling_.columns == space_.width || tiling_.rows == 1);
}

u64 RowTiles::pitch() const { return align_up(std::min(tiling_.columns, space_.width), space_.grain); }

u64 RowTiles::tiles() const { return space_.rows() / group() * in_group() * chunks(); }

u32 RowTiles::blocks(const RowView& view) const {
  return joint_ && space_.width * view.bytes % kCopyBlock != 0 && !has_tail(view) ? 1 : ~u32{0};
}

// Rows of a tile follow each other in memory, and are at least a block; so is the last part of a row.
bool RowTiles::has_tail(const RowView& view) const {
  const u64 block = kCopyBlock / view.bytes;
  if (!joint_ || !tail_ || view.bytes == 1 || space_.width % block == 0 || view.step != 1) return false;
  if (in_parts()) return last_columns() >= block;
  return (tiling_.rows == 1 || view.strides.back() == static_cast<i64>(space_.width)) &&
         std::min(tiling_.rows, last_rows()) * space_.width >= block;
}

void RowTiles::prepare(ProgramBuilder& p) {
  for (Reg* const r : {&row_, &count_, &column_, &columns_, &at_, &t_, &length_, &gap_, &place_})
    *r = p.reg("row");
}

void RowTiles::share(const RowTiles& other) {
  row_ = other.row_;
  count_ = other.count_;
  column_ = other.column_;
  columns_ = other.columns_;
  at_ = other.at_;
  t_ = other.t_;
  length_ = other.length_;
  gap_ = other.gap_;
  place_ = other.place_;
}

void RowTiles::locate(ProgramBuilder& p, const isa::Value& tile) {
  p.rem(column_, tile, chunks());
  p.div(t_, tile, chunks());
  p.rem(count_, t_, in_group());
  p.div(row_, t_, in_group());
  p.mul(count_, count_, tiling_.rows);
  p.mul(row_, row_, group());
  p.add(row_, row_, count_);
  p.sub(count_, group(), count_);
  p.min(count_, count_, tiling_.rows);
  p.mul(column_, column_, tiling_.columns);
  p.sub(columns_, space_.width, column_);
  p.min(columns_, columns_, tiling_.columns);
}

// Of the tile's first element.
void RowTiles::address(ProgramBuilder& p, Reg to, const RowView& view, Reg pointer) {
  p.mov(to, view.base);
  u64 below = 1;
  for (usize a = space_.outer.size(); a-- > 0;) {
    if (view.strides[a] != 0) {
      p.div(t_, row_, below);
      if (a > 0) p.rem(t_, t_, space_.outer[a]);
      p.mul(t_, t_, view.strides[a]);
      p.add(to, to, t_);
    }
    below *= space_.outer[a];
  }
  if (view.step == 1) p.add(to, to, column_);
  p.mul(to, to, view.bytes);
  p.add(to, to, pointer);
}

// Rows at `pitch` in UB, from place_ on, and in memory, from at_ on.
struct RowTiles::Copy {
  bool load;
  const RowView& view;
  Reg pointer;
  u64 at, pitch;     // in UB, bytes
  bool one = false;  // the first row of the tile alone
};

void RowTiles::copy(ProgramBuilder& p, const Copy& c) {
  const u64 bytes = c.view.bytes;
  const i64 apart = c.view.strides.back() * static_cast<i64>(bytes);  // from row to row
  // length_: bytes of a row, on the joint core blocks.
  if (c.view.step == 0) {
    p.mov(length_, joint_ ? 1 : bytes);
  } else {
    p.mul(length_, columns_, bytes);
    if (joint_) {
      p.add(length_, length_, 31);
      p.shr(length_, length_, 5);
    }
  }
  const auto rows = [&](const isa::Value& ub, const isa::Value& count, const isa::Value& far, const isa::Value& near) {
    if (joint_) {
      if (c.load) return p.copy_gm_to_ubuf(ub, at_, 0, count, length_, far, near);
      return p.copy_ubuf_to_gm(at_, ub, 0, count, length_, near, far);
    }
    if (bytes == 4) {
      if (c.load) return p.copy_gm_to_ubuf_align_b32(ub, at_, 0, count, length_, 0, 0, far, near);
      return p.copy_ubuf_to_gm_align_b32(at_, ub, 0, count, length_, 0, 0, near, far);
    }
    if (bytes == 1) {
      if (c.load) return p.copy_gm_to_ubuf_align_b8(ub, at_, 0, count, length_, 0, 0, far, near);
      return p.copy_ubuf_to_gm_align_b8(at_, ub, 0, count, length_, 0, 0, near, far);
    }
    if (c.load) return p.copy_gm_to_ubuf_align_b16(ub, at_, 0, count, length_, 0, 0, far, near);
    p.copy_ubuf_to_gm_align_b16(at_, ub, 0, count, length_, 0, 0, near, far);
  };
  const i64 row_bytes = static_cast<i64>((c.view.step == 0 ? 1 : space_.width) * bytes);
  const bool blocks = row_bytes % 32 == 0 && apart % 32 == 0 && apart / 32 <= static_cast<i64>(kMaxCopyGap);
  address(p, at_, c.view, c.pointer);
  // Whole blocks of a row go over the beginning of the next one, which must be stored later.
  const bool over = joint_ && !c.load && !blocks;
  if (tiling_.rows == 1 || c.one) {
    if (over) p.pipe_barrier(isa::PipeId::MTE3);
    return rows(c.at, 1, 0, 0);
  }
  if (apart == row_bytes && row_bytes == static_cast<i64>(c.pitch)) {
    p.mul(length_, count_, row_bytes / (joint_ ? 32 : 1));
    return rows(c.at, 1, 0, 0);
  }
  if (apart >= row_bytes && (blocks || !joint_)) {
    if (joint_) {
      p.sub(t_, apart / 32, length_);
      p.sub(gap_, c.pitch / 32, length_);
    } else {
      p.sub(t_, apart, length_);
      p.add(gap_, length_, 31);
      p.shr(gap_, gap_, 5);
      p.sub(gap_, c.pitch / 32, gap_);
    }
    return rows(c.at, count_, t_, gap_);
  }
  p.mov(place_, c.at);
  p.loop(count_, [&](Reg) {
    if (over) p.pipe_barrier(isa::PipeId::MTE3);
    rows(place_, 1, 0, 0);
    p.add(at_, at_, apart);
    p.add(place_, place_, c.pitch);
  });
}

void RowTiles::load(ProgramBuilder& p, const RowView& view, Reg pointer, u64 at) {
  copy(p,
       {.load = true, .view = view, .pointer = pointer, .at = at, .pitch = view.step == 0 ? 32 : pitch() * view.bytes});
}

void RowTiles::load_row(ProgramBuilder& p, const RowView& view, Reg pointer, u64 at) {
  copy(p, {.load = true, .view = view, .pointer = pointer, .at = at, .pitch = 32, .one = true});
}

void RowTiles::locate_first(ProgramBuilder& p) {
  p.mov(row_, 0);
  p.mov(column_, 0);
  p.mov(count_, tiling_.rows);
  p.mov(columns_, space_.width);
}

void repeat_row(ProgramBuilder& p, u64 to, u64 from, u64 count, u64 row_bytes) {
  constexpr u64 kRepeat = 256, kMostFar = 255;
  const u64 blocks = row_bytes / kCopyBlock;
  if (to == from) {
    to += row_bytes;
    --count;
  }
  if (blocks > kMostFar) {
    for (u64 row = 0; row < count; ++row)
      p.copy_ubuf_to_ubuf(to + row * row_bytes, from, 0, 1, blocks, 0, 0);
    return p.pipe_barrier(isa::PipeId::V);
  }
  if (count == 0) return;
  // Of a word and itself: bits stay as they are, where a product with 1 would change infinity.
  for (u64 at = 0; at < row_bytes; at += kRepeat) {
    const bool masked = row_bytes - at < kRepeat;
    if (masked) set_mask(p, (row_bytes - at) / 2);
    p.vor(isa::Type::u16, to + at, from + at, from + at, count, 1, 1, 1, blocks, 0, 0);
    if (masked) p.set_vector_mask(~u64{0}, ~u64{0});
  }
  p.pipe_barrier(isa::PipeId::V);
}

// The last block of so many rows, or parts of rows, by the scalar unit.
void RowTiles::write_tail(ProgramBuilder& p, const RowView& view, u64 at, u64 tail, u64 rows) const {
  const u64 width = in_parts() ? last_columns() : space_.width;
  const u64 elements = kCopyBlock / view.bytes, all = rows * width;
  const isa::Type type = view.bytes == 4 ? isa::Type::b32 : isa::Type::b16;
  for (u64 i = 0; i < elements; ++i) {
    const u64 element = all - elements + i;
    const u64 from = element / width * pitch() + element % width;
    p.mov(place_, at + from * view.bytes);
    p.ld_ubuf(type, length_, place_, 0);
    p.mov(place_, tail + i * view.bytes);
    p.st_ubuf(type, length_, place_, 0);
  }
}

// The last part of a row comes as the blocks inside, and the tail; others are whole blocks.
void RowTiles::store_part_with_tail(ProgramBuilder& p, const RowView& view, Reg pointer, u64 at, u32 slot) {
  const u64 tail = *tail_ + slot * kCopyBlock, last = last_columns() * view.bytes;
  address(p, at_, view, pointer);
  p.if_(
      isa::Value(columns_) == tiling_.columns,
      [&] { p.copy_ubuf_to_gm(at_, at, 0, 1, tiling_.columns * view.bytes / kCopyBlock, 0, 0); },
      [&] {
        p.hand_over(isa::PipeId::V, isa::PipeId::S, slot);
        write_tail(p, view, at, tail, 1);
        p.hand_over(isa::PipeId::S, isa::PipeId::MTE3, slot);
        p.copy_ubuf_to_gm(at_, at, 0, 1, last / kCopyBlock, 0, 0);
        p.pipe_barrier(isa::PipeId::MTE3);
        p.add(at_, at_, last - kCopyBlock);
        p.copy_ubuf_to_gm(at_, tail, 0, 1, 1, 0, 0);
      });
}

// Whole blocks of a row go over the beginning of the next one, which is stored later. Of the last rows, whose blocks
// would go beyond the tile, come the blocks inside, and the tail.
void RowTiles::store_with_tail(ProgramBuilder& p, const RowView& view, Reg pointer, u64 at, u32 slot) {
  const u64 tail = *tail_ + slot * kCopyBlock;
  const u64 elements = kCopyBlock / view.bytes, beyond = align_up(space_.width, elements) - space_.width;
  const u64 last = ceil_div(beyond, space_.width), row_bytes = space_.width * view.bytes;
  p.hand_over(isa::PipeId::V, isa::PipeId::S, slot);
  if (last_rows() == tiling_.rows) {
    write_tail(p, view, at, tail, tiling_.rows);
  } else {
    p.if_(
        isa::Value(count_) == tiling_.rows, [&] { write_tail(p, view, at, tail, tiling_.rows); },
        [&] { write_tail(p, view, at, tail, last_rows()); });
  }
  p.hand_over(isa::PipeId::S, isa::PipeId::MTE3, slot);
  address(p, at_, view, pointer);
  p.mov(place_, at);
  p.sub(gap_, count_, last);
  p.loop(gap_, [&](Reg) {
    p.pipe_barrier(isa::PipeId::MTE3);
    p.copy_ubuf_to_gm(at_, place_, 0, 1, ceil_div(row_bytes, kCopyBlock), 0, 0);
    p.add(at_, at_, row_bytes);
    p.add(place_, place_, pitch() * view.bytes);
  });
  p.pipe_barrier(isa::PipeId::MTE3);
  if (row_bytes >= kCopyBlock) {
    p.copy_ubuf_to_gm(at_, place_, 0, 1, row_bytes / kCopyBlock, 0, 0);
    p.pipe_barrier(isa::PipeId::MTE3);
  }
  p.add(at_, at_, last * row_bytes - kCopyBlock);
  p.copy_ubuf_to_gm(at_, tail, 0, 1, 1, 0, 0);
}

// at_ = the last block of the first row of the tile, place_ = where UB has it.
void RowTiles::locate_ends(ProgramBuilder& p, const RowView& view, Reg pointer, u32 slot) {
  address(p, at_, view, pointer);
  p.mul(t_, columns_, view.bytes);
  p.add(at_, at_, t_);
  p.sub(at_, at_, kEndBytes);
  p.mov(place_, ends_ + slot * ends_apart_);
}

void RowTiles::load_ends(ProgramBuilder& p, const RowView& view, Reg pointer, u32 slot) {
  locate_ends(p, view, pointer, slot);
  p.loop(count_, [&](Reg) {
    p.copy_gm_to_ubuf(place_, at_, 0, 1, 1, 0, 0);
    p.add(at_, at_, view.strides.back() * static_cast<i64>(view.bytes));
    p.add(place_, place_, kEndBytes);
  });
}

// The whole blocks of all rows, then their ends, which go over the last of these.
void RowTiles::store_with_ends(ProgramBuilder& p, const RowView& view, Reg pointer, u64 at, u32 slot) {
  const i64 apart = view.strides.back() * static_cast<i64>(view.bytes);
  address(p, at_, view, pointer);
  p.mov(place_, at);
  p.mul(length_, columns_, view.bytes);
  p.shr(length_, length_, 5);
  p.loop(count_, [&](Reg) {
    p.copy_ubuf_to_gm(at_, place_, 0, 1, length_, 0, 0);
    p.add(at_, at_, apart);
    p.add(place_, place_, pitch() * view.bytes);
  });
  p.pipe_barrier(isa::PipeId::MTE3);
  locate_ends(p, view, pointer, slot);
  p.loop(count_, [&](Reg) {
    p.copy_ubuf_to_gm(at_, place_, 0, 1, 1, 0, 0);
    p.add(at_, at_, apart);
    p.add(place_, place_, kEndBytes);
  });
}

void RowTiles::store(ProgramBuilder& p, const RowView& view, Reg pointer, u64 at, u32 slot) {
  if (has_tail(view) && in_parts()) return store_part_with_tail(p, view, pointer, at, slot);
  if (has_tail(view)) return store_with_tail(p, view, pointer, at, slot);
  copy(p, {.load = false, .view = view, .pointer = pointer, .at = at, .pitch = pitch() * view.bytes});
}

}  // namespace vinci::graph
