// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/elementwise_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/rows.h"
#include "tools/graph/kernels/vector_ops.h"

namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

u64 element_bytes(const Value* v) { return info(v->type).bytes; }

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
    out.element += (one ? 1 : 2) * element_bytes(group.inputs()[i]);
    out.row += one ? 64 : 0;
  }
  out.element += 2 * element_bytes(group.outputs()[0]) + 4 * temporaries(group, 0).count;
  out.element += (scratch_bytes(group, 0, 128) - scratch_bytes(group, 0, 0)) / 128;
  // Scratch is a multiple of 128 elements.
  out.fixed = scratch_bytes(group, 0, 0) + out.element * 128;
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
        p_(group.node().name, chip.arch) {
    for (usize i = 0; i < group.inputs().size(); ++i) {
      const Value* const v = group.inputs()[i];
      if (rows_.views[i].step == 0) ones_[v] = take(2 * 32 * tiles_.rows());
      place_[v] = take((rows_.views[i].step == 0 ? 1 : 2) * tile_bytes(v));
    }
    place_[out()] = take(2 * tile_bytes(out()));
    between_at_ = take(between_.count * elements() * 4);
    scratch_at_ = end_;
  }

  const RowTiles& tiles() const { return tiles_; }

  isa::BuiltProgram program() {
    gen::TilePipeline pipeline{.tiles = tiles_.tiles()};
    pipeline.prologue = [&](isa::ProgramBuilder&) { prologue(); };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) { tiles_.locate(p_, tile); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
      for (usize i = 0; i < group_.inputs().size(); ++i) {
        const Value* const v = group_.inputs()[i];
        const u64 at = rows_.views[i].step == 0 ? ones_.at(v) + slot * 32 * tiles_.rows()
                                                : place_.at(v) + slot * tile_bytes(v);
        tiles_.load(p_, rows_.views[i], pointers_[i], at);
      }
    };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) { compute(slot); };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
      tiles_.store(p_, rows_.views.back(), pointers_.back(), place_.at(out()) + slot * tile_bytes(out()));
    };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  const Value* out() const { return group_.outputs()[0]; }
  u64 elements() const { return tiles_.rows() * tiles_.pitch(); }
  u64 tile_bytes(const Value* v) const { return elements() * element_bytes(v); }
  u64 take(u64 bytes) {
    const u64 at = end_;
    end_ += align_up<u64>(bytes, 32);
    return at;
  }

  void prologue() {
    for (usize i = 0; i <= group_.inputs().size(); ++i)
      pointers_.push_back(p_.arg(i < group_.inputs().size() ? fmt::format("in{}", i) : "out"));
    tiles_.prepare(p_);
    if (!ones_.empty()) {
      value_ = p_.reg("value");
      from_ = p_.reg("from");
      to_ = p_.reg("to");
      offset_ = p_.reg("offset");
    }
    // Elements behind the last one of a row are computed with; they must be numbers.
    if (tiles_.padded() || tiles_.columns() != tiles_.space().width)
      in_repeats(p_, false, align_up<u64>(scratch_at_, 256) / 2,
                 [&](u64 e, u64 n) { p_.vector_dup(Type::f16, e * 2, 0, n, 1, 1, 8, 8); });
  }

  void compute(u32 slot) {
    if (!ones_.empty()) spread(slot);
    const Addresses where = [&](const Value* v) {
      const Value* const outer = group_.resolve(v);
      const auto found = place_.find(outer);
      if (found == place_.end()) return between_at_ + between_.of.at(v) * elements() * 4;
      return found->second + (ones_.contains(outer) ? 0 : slot * tile_bytes(outer));
    };
    const VectorPlace place{.at = where, .scratch = scratch_at_};
    if (tiles_.last_rows() == tiles_.rows()) return write_vector_nodes(p_, group_, 0, place, elements());
    p_.if_(
        isa::Value(tiles_.row_count()) == tiles_.rows(),
        [&] { write_vector_nodes(p_, group_, 0, place, elements()); },
        [&] { write_vector_nodes(p_, group_, 0, place, tiles_.last_rows() * tiles_.pitch()); });
  }

  // Rows of one number, which the scalar unit reads.
  void spread(u32 slot) {
    p_.hand_over(PipeId::V, PipeId::S, 0);
    for (const auto& [v, at] : ones_) {
      const bool wide = element_bytes(v) == 4;
      p_.mov(from_, at + slot * 32 * tiles_.rows());
      p_.mov(to_, place_.at(v));
      p_.loop(tiles_.row_count(), [&](Reg) {
        p_.ld_ubuf(wide ? Type::b32 : Type::b16, value_, from_);
        in_repeats(p_, wide, tiles_.pitch(), [&](u64 e, u64 n) {
          if (e != 0) p_.add(offset_, to_, e * element_bytes(v));
          p_.vector_dup(wide ? Type::f32 : Type::f16, e == 0 ? to_ : offset_, value_, n, 1, 1, 8, 8);
        });
        p_.add(from_, from_, 32);
        p_.add(to_, to_, tiles_.pitch() * element_bytes(v));
      });
    }
    p_.hand_over(PipeId::S, PipeId::V, 0);  // and with it to MTE2
  }

  const Group& group_;
  const Rows rows_;
  RowTiles tiles_;
  isa::ProgramBuilder p_;
  const Temporaries between_ = temporaries(group_, 0);
  std::map<const Value*, u64> place_, ones_;
  u64 end_ = 0, between_at_ = 0, scratch_at_ = 0;
  std::vector<Reg> pointers_;
  Reg value_, from_, to_;
  Reg offset_;
};

}  // namespace

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
  return "";
}

std::vector<Tiling> row_elementwise_tilings(const Group& group, const config::ChipConfig& chip) {
  const Rows rows = element_rows(group);
  const RowRoom room = row_room(group, rows);
  std::vector<Tiling> out;
  for (const RowTiling& t : row_tilings(rows.space, chip, chip.core.buffers.ub - room.fixed, room.element, room.row))
    out.push_back({{"rows", static_cast<i64>(t.rows)}, {"columns", static_cast<i64>(t.columns)}});
  return out;
}

Footprint row_elementwise_footprint(const Group& group, const Tiling& tiling) {
  const Rows rows = element_rows(group);
  const RowRoom room = row_room(group, rows);
  const u64 count = static_cast<u64>(tiling.at("rows")),
            columns = align_up<u64>(static_cast<u64>(tiling.at("columns")), 16);
  return {.ub = room.fixed + count * (columns * room.element + room.row)};
}

KernelProgram row_elementwise_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  RowElementwiseWriter writer(group, chip, tiling);
  isa::BuiltProgram program = writer.program();
  const u64 blocks = std::min<u64>({writer.tiles().tiles(), vector_cores(chip), writer.tiles().blocks()});
  return {.program = std::move(program), .type = vector_kernel_type(chip), .blocks = static_cast<u32>(blocks)};
}

}  // namespace vinci::graph
