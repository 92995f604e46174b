// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/elementwise_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/rows.h"
#include "tools/graph/kernels/spread.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/kernels/vector_writer.h"

namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

constexpr u64 kRepeatBytes = 256;  // of a vector instruction

u64 element_bytes(const Value* v) { return info(v->type).bytes; }
bool is_bytes(const Value* v) { return is_byte(v->type); }
u64 as_f16_bytes(const Value* v) { return is_bytes(v) ? 2 : 0; }

// Rows of the inputs and, behind them, of the output.
Rows element_rows(const Group& group) {
  const Value& out = *group.outputs()[0];
  std::vector<StridedTensor> tensors;
  for (const Value* const v : group.inputs())
    tensors.push_back({.strides = broadcast_strides(v->shape.dims(), out.shape.dims()), .bytes = info(v->type).bytes});
  tensors.push_back({.strides = broadcast_strides(out.shape.dims(), out.shape.dims()), .bytes = info(out.type).bytes});
  return as_rows(out.shape.dims(), tensors);
}

// Places in UB, in bytes for an element and for a row of a tile.
struct RowRoom {
  u64 element = 0, row = 0, fixed = 0;
};
RowRoom row_room(const Group& group, const Rows& rows) {
  RowRoom out;
  for (usize i = 0; i < group.inputs().size(); ++i) {
    const bool one = rows.views[i].step == 0;
    out.element += (one ? 1 : 2) * element_bytes(group.inputs()[i]) + as_f16_bytes(group.inputs()[i]);
    out.row += one ? 64 : 0;
    out.fixed += one ? kRepeatBytes : 0;
  }
  out.element += 2 * element_bytes(group.outputs()[0]) + as_f16_bytes(group.outputs()[0]);
  out.element += 4 * temporaries(group, 0).count;
  out.element += (scratch_bytes(group, 0, 128) - scratch_bytes(group, 0, 0)) / 128;
  // Scratch is a multiple of 128 elements.
  out.fixed += scratch_bytes(group, 0, 0) + out.element * 128 + 16 * out.row + 1024 + RowTiles::kTailBytes;
  return out;
}

// Writes the program.
class RowElementwiseWriter {
 public:
  RowElementwiseWriter(const Group& group, const config::ChipConfig& chip, const Tiling& tiling)
      : group_(group),
        rows_(element_rows(group)),
        tiles_(rows_.space, chip,
               {.rows = static_cast<u64>(tiling.at("rows")), .columns = static_cast<u64>(tiling.at("columns"))}),
        p_(group.node().name, chip.arch),
        joint_(is_joint(chip)) {
    for (usize i = 0; i < group.inputs().size(); ++i) {
      const Value* const v = group.inputs()[i];
      const RowView& view = rows_.views[i];
      if (view.step == 0) ones_[v] = take(2 * ones_bytes());
      if (repeated(view) && !tiles_.repeats_always(view)) one_row_[v] = take(2 * row_bytes(v));
      place_[v] = take((in_slots(view) ? 2 : 1) * tile_bytes(v) + (view.step == 0 ? kRepeatBytes : 0));
    }
    place_[out()] = take(2 * tile_bytes(out()));
    for (const auto* const list : {&group.inputs(), &group.outputs()}) {
      for (const Value* const v : *list) {
        if (is_bytes(v)) as_f16_[v] = take(elements() * 2);
      }
    }
    between_at_ = take(between_.count * elements() * 4);
    numbers_at_ = take(512);
    trash_at_ = take(kTrashBytes);
    tiles_.use_tails(take(RowTiles::kTailBytes));
    scratch_at_ = end_;
  }

  const RowTiles& tiles() const { return tiles_; }
  const RowView& out_view() const { return rows_.views.back(); }

  isa::BuiltProgram program() {
    gen::TilePipeline pipeline{.tiles = tiles_.tiles()};
    pipeline.prologue = [&](isa::ProgramBuilder&) { prologue(); };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) { tiles_.locate(p_, tile); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
      for (usize i = 0; i < group_.inputs().size(); ++i) {
        const Value* const v = group_.inputs()[i];
        const RowView& view = rows_.views[i];
        if (tiles_.repeats_always(view)) continue;
        if (const auto row = one_row_.find(v); row != one_row_.end()) {
          tiles_.load_row(p_, view, pointers_[i], row->second + slot * row_bytes(v));
          continue;
        }
        const u64 at = view.step == 0 ? ones_.at(v) + slot * ones_bytes() : place_.at(v) + slot * tile_bytes(v);
        tiles_.load(p_, view, pointers_[i], at);
      }
    };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) { compute(slot); };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
      tiles_.store(p_, rows_.views.back(), pointers_.back(), place_.at(out()) + slot * tile_bytes(out()), slot);
    };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  const Value* out() const { return group_.outputs()[0]; }
  u64 elements() const { return tiles_.rows() * tiles_.pitch(); }
  u64 tile_bytes(const Value* v) const { return elements() * element_bytes(v); }
  u64 row_bytes(const Value* v) const { return tiles_.pitch() * element_bytes(v); }
  // Whether tiles have one row of the operand for all of theirs.
  bool repeated(const RowView& view) const {
    return tiles_.repeats_always(view) || (tiles_.repeats(view) && tiles_.rows() > 1);
  }
  // Whether the tile in UB is what a copy loads, while the one before is computed with.
  bool in_slots(const RowView& view) const { return view.step != 0 && !repeated(view); }
  u64 slot_bytes(const Value* v) const {
    const auto at = std::ranges::find(group_.inputs(), v);
    const bool slots =
        at == group_.inputs().end() || in_slots(rows_.views[static_cast<usize>(at - group_.inputs().begin())]);
    return slots ? tile_bytes(v) : 0;
  }
  u64 take(u64 bytes) {
    const u64 at = end_;
    end_ += align_up<u64>(bytes, 32);
    return at;
  }

  void prologue() {
    for (usize i = 0; i <= group_.inputs().size(); ++i)
      pointers_.push_back(p_.arg(i < group_.inputs().size() ? fmt::format("in{}", i) : "out"));
    tiles_.prepare(p_);
    if (joint_ && !ones_.empty()) {
      for (Reg* const r : {&from_, &to_, &number_})
        *r = p_.reg("number");
    }
    // Elements behind the last one of a row are computed with; they must be numbers.
    if (tiles_.padded() || tiles_.columns() != tiles_.space().width || !ones_.empty())
      in_repeats(p_, false, align_up<u64>(scratch_at_, 256) / 2,
                 [&](u64 e, u64 n) { p_.vector_dup(Type::f16, e * 2, 0, n, 1, 1, 8, 8); });
    load_repeated();
  }

  // Operands that are the same for all tiles, once: a row, and from it the rows of a tile.
  void load_repeated() {
    constexpr u32 kEvent = 2;  // the pipeline has those before
    bool any = false;
    for (usize i = 0; i < group_.inputs().size(); ++i) {
      if (!tiles_.repeats_always(rows_.views[i])) continue;
      if (!any) {
        p_.pipe_barrier(PipeId::ALL);
        tiles_.locate_first(p_);
      }
      any = true;
      tiles_.load_row(p_, rows_.views[i], pointers_[i], place_.at(group_.inputs()[i]));
    }
    if (!any) return;
    p_.hand_over(PipeId::MTE2, PipeId::V, kEvent);
    for (usize i = 0; i < group_.inputs().size(); ++i) {
      const Value* const v = group_.inputs()[i];
      if (tiles_.repeats_always(rows_.views[i]))
        repeat_row(p_, place_.at(v), place_.at(v), tiles_.rows(), row_bytes(v));
    }
  }

  void compute(u32 slot) {
    if (!ones_.empty()) spread(slot);
    for (const auto& [v, row] : one_row_)
      repeat_row(p_, place_.at(v), row + slot * row_bytes(v), tiles_.rows(), row_bytes(v));
    const Addresses where = [&](const Value* v) {
      const Value* const outer = group_.resolve(v);
      if (const auto wide = as_f16_.find(outer); wide != as_f16_.end()) return wide->second;
      const auto found = place_.find(outer);
      if (found == place_.end()) return between_at_ + between_.of.at(v) * elements() * 4;
      return found->second + slot * slot_bytes(outer);
    };
    const VectorPlace place{.at = where, .scratch = scratch_at_};
    const auto write = [&](u64 count) {
      for (const Value* const v : group_.inputs()) {
        if (is_bytes(v)) widen_bytes(p_, v->type, as_f16_.at(v), place_.at(v) + slot * slot_bytes(v), count);
      }
      write_vector_nodes(p_, group_, 0, place, count);
      if (is_bytes(out()))
        narrow_bytes(p_, out()->type, place_.at(out()) + slot * tile_bytes(out()), as_f16_.at(out()), count);
    };
    if (tiles_.last_rows() == tiles_.rows()) return write(elements());
    p_.if_(
        isa::Value(tiles_.row_count()) == tiles_.rows(), [&] { write(elements()); },
        [&] { write(tiles_.last_rows() * tiles_.pitch()); });
  }

  // Rows of one number. On the split core the copy has filled a block with it.
  void spread(u32 slot) {
    for (const auto& [v, all] : ones_) {
      const u64 blocks = all + slot * ones_bytes(), bytes = element_bytes(v), lanes = 256 / bytes;
      if (joint_ && bytes == 4) {
        spread_by_scalar(v, blocks, slot);
        continue;
      }
      if (joint_) {
        gather_numbers(p_, numbers_at_, blocks, 32, tiles_.rows(), trash_at_);
        spread_numbers(p_, blocks, numbers_at_, tiles_.rows());
      }
      const Type type = bytes == 4 ? Type::f32 : Type::f16;
      const isa::Value one = bytes == 4 ? isa::f32(1) : isa::f16(1);
      const u64 apart = tiles_.rows() == 1 ? 0 : tiles_.pitch() * bytes / 32;
      for (u64 e = 0; e < tiles_.pitch(); e += lanes) {
        const bool masked = tiles_.pitch() - e < lanes;
        if (masked) set_mask(p_, tiles_.pitch() - e);
        p_.vmuls(type, place_.at(v) + e * bytes, blocks, one, tiles_.rows(), 1, 0, apart, tiles_.rows() == 1 ? 0 : 1);
        if (masked) p_.set_vector_mask(~u64{0}, ~u64{0});
      }
      p_.pipe_barrier(PipeId::V);
    }
  }
  // A joint core has no instruction that repeats a number of f32 from UB: the scalar unit reads it. Whole repeats go
  // over the beginning of the next row, which is written later.
  void spread_by_scalar(const Value* v, u64 blocks, u32 slot) {
    p_.hand_over(PipeId::V, PipeId::S, slot);
    p_.mov(from_, blocks);
    p_.mov(to_, place_.at(v));
    p_.loop(tiles_.rows(), [&](Reg) {
      p_.ld_ubuf(Type::b32, number_, from_, 0);
      p_.vector_dup(Type::f32, to_, number_, ceil_div(row_bytes(v), kRepeatBytes), 1, 1, 8, 8);
      p_.pipe_barrier(PipeId::V);
      p_.add(from_, from_, 32);
      p_.add(to_, to_, row_bytes(v));
    });
    p_.hand_over(PipeId::S, PipeId::V, slot);  // which then lets the next numbers come
  }
  u64 ones_bytes() const { return 32 * align_up<u64>(tiles_.rows(), 16); }

  const Group& group_;
  const Rows rows_;
  RowTiles tiles_;
  isa::ProgramBuilder p_;
  const Temporaries between_ = temporaries(group_, 0);
  std::map<const Value*, u64> place_, ones_, one_row_, as_f16_;
  u64 end_ = 0, between_at_ = 0, numbers_at_ = 0, trash_at_ = 0, scratch_at_ = 0;
  const bool joint_;
  std::vector<Reg> pointers_;
  Reg from_, to_, number_;  // of numbers that the scalar unit reads
};

}  // namespace

u64 row_width(const Group& group) { return element_rows(group).space.width; }

bool in_rows(const Group& group) {
  const Value& out = *group.outputs()[0];
  return std::ranges::any_of(group.inputs(), [&](const Value* v) { return is_broadcast(group, *v, out); });
}

std::string rows_refuse(const Group& group) {
  for (const Node* const node : group.nodes()) {
    if (group.resolve(node->output())->shape != group.outputs()[0]->shape)
      return fmt::format("{} has another shape than the result", node->output()->name);
  }
  if (group.inputs().size() > 8) return "it reads more than 8 tensors";
  const Rows rows = element_rows(group);
  for (usize i = 0; i < group.inputs().size(); ++i) {
    if (rows.views[i].step != 0) continue;
    if (is_bytes(group.inputs()[i])) return "a byte is repeated over a row";
  }
  return "";
}

std::vector<Tiling> row_elementwise_tilings(const Group& group, const config::ChipConfig& chip) {
  const Rows rows = element_rows(group);
  const RowRoom room = row_room(group, rows);
  // An instruction cannot step over longer rows.
  const bool ones = std::ranges::any_of(rows.views, [](const RowView& v) { return v.step == 0; });
  const bool far = ones && rows.space.width > 2040;
  std::vector<Tiling> out;
  for (const RowTiling& t : row_tilings(rows.space, chip, chip.core.buffers.ub - room.fixed, room.element, room.row))
    out.push_back({{"rows", static_cast<i64>(far ? 1 : t.rows)}, {"columns", static_cast<i64>(t.columns)}});
  return out;
}

Footprint row_elementwise_footprint(const Group& group, const Tiling& tiling) {
  const Rows rows = element_rows(group);
  const RowRoom room = row_room(group, rows);
  const u64 count = static_cast<u64>(tiling.at("rows")),
            columns = align_up<u64>(static_cast<u64>(tiling.at("columns")), rows.space.grain);
  return {.ub = room.fixed + count * (columns * room.element + room.row)};
}

KernelProgram row_elementwise_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  RowElementwiseWriter writer(group, chip, tiling);
  isa::BuiltProgram program = writer.program();
  const u64 shared = writer.tiles().blocks(writer.out_view());
  const u64 blocks = std::min<u64>({writer.tiles().tiles(), vector_cores(chip), shared});
  return {.program = std::move(program), .type = vector_kernel_type(chip), .blocks = static_cast<u32>(blocks)};
}

}  // namespace vinci::graph
