// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/launch_arguments.h"
#include "tools/graph/kernels/spread.h"
#include "tools/graph/kernels/strided_copy.h"
#include "tools/graph/kernels/vector_ops.h"

// Moves element by element: for what no copy of rows can do. A tile is a range of one result as stored in memory: each
// element comes as a block of 32 B, and transposes of 16 x 16 bring the first ones together. Wider elements are several
// of 16 bits.
namespace vinci::graph {
namespace {

using isa::Reg, isa::Type;

constexpr u64 kElements = 512;  // of 16 bits of a tile, at most

std::string elements_refuse(const Group& group, const config::ChipConfig&) {
  if (group.nodes().size() != 1) return "it has several nodes";
  if (group.outputs().size() != 1) return "it has more than one output";
  const auto in_blocks = [](const Value* v) { return v->format != isa::Format::ND; };
  if (std::ranges::any_of(group.inputs(), in_blocks) || std::ranges::any_of(group.outputs(), in_blocks))
    return "blocks of a map move as they are";
  const auto copies = strided_copies(group);
  if (!copies) return "it is no move with known positions";
  if (copies->empty()) return "it moves nothing";
  if (copies->size() > kMostPieces) return fmt::format("it has more than {} pieces", kMostPieces);
  if (copies->size() > 1 && group.node().type != "ConcatD") return "it has several pieces";
  for (const StridedCopy& copy : *copies) {
    if (copy.input >= group.inputs().size()) return "an operand is a number";
    if (group.inputs()[copy.input]->type != group.outputs()[0]->type) return "its types differ";
    if (copy.from.bytes % 2 != 0) return "its elements have one byte";
  }
  return "";
}

Formats elements_formats(const Group& group, const config::ChipConfig&) {
  return {.inputs = std::vector(group.inputs().size(), isa::Format::ND), .outputs = {isa::Format::ND}};
}

// Of an element of 16 bits in both slots: its block, and what is stored of it.
constexpr u64 kElementBytes = u64{2} * (32 + 2);

std::vector<Tiling> elements_tilings(const Group& group, const config::ChipConfig& chip) {
  constexpr u64 kGrain = 32;
  const Value& out = *group.outputs()[0];
  const u64 share = ceil_div<u64>(out.shape.elements() * info(out.type).bytes / 2, vector_cores(chip));
  const u64 ub = chip.core.buffers.ub;
  const u64 room = ub < kTrashBytes ? 0 : (ub - kTrashBytes) / kElementBytes / kGrain * kGrain;
  return {
      {{"elements", static_cast<i64>(std::min({align_up<u64>(share, kGrain), kElements, std::max(room, kGrain)}))}}};
}

Footprint elements_footprint(const Group&, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = static_cast<u64>(tiling.at("elements")) * kElementBytes + kTrashBytes};
}

// With elements of 16 bits.
std::vector<StridedCopy> narrow_copies(const Group& group) {
  std::vector<StridedCopy> out = *strided_copies(group);
  for (StridedCopy& copy : out) {
    const i64 parts = copy.from.bytes / 2;
    if (parts == 1) continue;
    copy.from.base *= parts;
    for (i64& stride : copy.from.strides)
      stride *= parts;
    copy.from.strides.push_back(1);
    copy.dims.push_back(parts);
  }
  return out;
}

// Writes the program.
class ElementMover {
 public:
  ElementMover(const Group& group, const config::ChipConfig& chip, u64 tile)
      : group_(group),
        copies_(narrow_copies(group)),
        parts_(info(group.outputs()[0]->type).bytes / 2),
        all_(group.outputs()[0]->shape.elements() * parts_),
        tile_(tile),
        joint_(is_joint(chip)),
        p_(group.node().name, chip.arch),
        addresses_(p_, group.inputs().size() + 1) {}

  u64 tiles() const { return ceil_div(all_, tile_); }

  isa::BuiltProgram program() {
    gen::TilePipeline pipeline{.tiles = tiles()};
    pipeline.prologue = [&](isa::ProgramBuilder&) {
      addresses_.load_all();
      for (Reg* const r : {&first_, &end_, &element_, &to_, &from_, &t_})
        *r = p_.reg("element");
      // Of the last tile all blocks are brought together, too.
      in_repeats(p_, false, 2 * tile_ * 16, [&](u64 e, u64 n) { p_.vector_dup(Type::f16, e * 2, 0, n, 1, 1, 8, 8); });
    };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) {
      p_.mul(first_, tile, tile_);
      p_.add(end_, first_, tile_);
      p_.min(end_, end_, all_);
    };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) { load_blocks(slot * tile_ * 32); };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) {
      gather_numbers(p_, out_at(slot), slot * tile_ * 32, 32, tile_, out_at(2));
    };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) { store(out_at(slot)); };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  u64 out_at(u64 slot) const { return 2 * tile_ * 32 + slot * tile_ * 2; }

  void load_blocks(u64 at) {
    p_.mov(to_, at);
    p_.loop(element_, first_, end_, 1, [&] {
      if (copies_.size() == 1) {
        read(copies_[0]);
      } else {
        choose_piece();
      }
      p_.add(to_, to_, 32);
    });
  }

  // from_ = the element of the piece whose index follows from the place in the result.
  void read(const StridedCopy& copy) {
    p_.mov(from_, copy.from.base);
    u64 below = 1;
    for (usize a = copy.dims.size(); a-- > 0;) {
      const u64 extent = static_cast<u64>(copy.dims[a]);
      if (copy.from.strides[a] != 0 && extent > 1) {
        index(below, extent, below * extent < elements(copy));
        p_.mul(t_, t_, copy.from.strides[a]);
        p_.add(from_, from_, t_);
      }
      below *= extent;
    }
    load(copy);
  }

  // Pieces along one axis: their strides in the result are those of the result.
  void choose_piece() {
    const isa::Target done = p_.label("done");
    const Shape& out = group_.outputs()[0]->shape;
    const Node& node = group_.node();
    const i64 axis = node.integer("axis") < 0 ? node.integer("axis") + std::ssize(out.dims()) : node.integer("axis");
    u64 inner = parts_;
    for (usize a = static_cast<usize>(axis) + 1; a < out.rank(); ++a)
      inner *= static_cast<u64>(out[a]);
    const u64 extent = static_cast<u64>(out[static_cast<usize>(axis)]);
    i64 end = 0;
    for (const StridedCopy& copy : copies_) {
      const i64 own = copy.dims[static_cast<usize>(axis)], begin = end;
      end += own;
      const isa::Target other = p_.label("other");
      index(inner, extent, true);
      p_.bge(t_, end, other);
      // outer * own * inner + (index - begin) * inner + rest
      p_.sub(from_, t_, begin);
      p_.div(t_, element_, inner * extent);
      p_.mul(t_, t_, own);
      p_.add(from_, from_, t_);
      p_.mul(from_, from_, inner);
      p_.rem(t_, element_, inner);
      p_.add(from_, from_, t_);
      load(copy);
      p_.b(done);
      p_.bind(other);
    }
    p_.bind(done);
  }

  // t_ = element_ / below % extent
  void index(u64 below, u64 extent, bool outer) {
    p_.div(t_, element_, below);
    if (outer) p_.rem(t_, t_, extent);
  }
  void load(const StridedCopy& copy) {
    p_.shl(from_, from_, 1);
    p_.add(from_, from_, addresses_.of(copy.input));
    if (joint_) return p_.copy_gm_to_ubuf(to_, from_, 0, 1, 1, 0, 0);
    p_.copy_gm_to_ubuf_align_b16(to_, from_, 0, 1, 2, 0, 0, 0, 0);
  }
  static u64 elements(const StridedCopy& copy) { return element_count(copy.dims); }

  void store(u64 at) {
    p_.sub(t_, end_, first_);
    p_.shl(t_, t_, 1);
    p_.shl(from_, first_, 1);
    p_.add(from_, from_, addresses_.of(group_.inputs().size()));
    if (!joint_) return p_.copy_ubuf_to_gm_align_b16(from_, at, 0, 1, t_, 0, 0, 0, 0);
    p_.add(t_, t_, 31);
    p_.shr(t_, t_, 5);
    p_.copy_ubuf_to_gm(from_, at, 0, 1, t_, 0, 0);
  }

  const Group& group_;
  const std::vector<StridedCopy> copies_;
  const u32 parts_;  // of 16 bits of an element
  const u64 all_, tile_;
  const bool joint_;
  isa::ProgramBuilder p_;
  LaunchArguments addresses_;
  Reg first_, end_, element_, to_, from_, t_;
};

KernelProgram elements_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  ElementMover mover(group, chip, static_cast<u64>(tiling.at("elements")));
  const u64 tiles = mover.tiles();
  return vector_program(mover.program(), tiles, chip);
}

}  // namespace

const Kernel kMoveElementsKernel{"move_elements",  elements_refuse,    elements_formats,
                                 elements_tilings, elements_footprint, elements_build};

}  // namespace vinci::graph
