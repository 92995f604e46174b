// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <bit>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/vector_ops.h"

// TransData between NCHW and NC1HWC0: a block of channels (16 of 2 bytes, 8 of 4 bytes) by 16 positions is transposed
// by one scatter_vnchwconv. A tile is a range of positions of one block of channels. In NC1HWC0, channels behind the
// last one are zero.
namespace vinci::graph {
namespace {

using isa::Reg, isa::Type;

constexpr u64 kMaxPositions = 1024;  // of a tile
constexpr u64 kStep = 16;            // positions that are transposed at a time

struct Map {
  explicit Map(const Group& group) {
    const Node& node = group.node();
    const Shape& s = node.input(0)->shape;
    images = static_cast<u64>(s[0]);
    channels = static_cast<u64>(s[1]);
    positions = static_cast<u64>(s[2] * s[3]);
    c0 = c0_of(node.input(0)->type);
    bytes = 32 / c0;
    c1 = ceil_div(channels, c0);
    to_planes = node.output()->format != isa::Format::NC1HWC0;
  }
  u64 images, channels, positions, c0, c1;
  u64 bytes;                                  // of an element
  bool to_planes;                             // to NCHW
  u64 rest() const { return channels % c0; }  // channels of the last block if it is not full
  // Planes begin at blocks of 32 B, a distance apart that one copy can step over.
  bool aligned() const { return positions % c0 == 0 && positions / c0 <= kMaxCopyGap; }
};

// A core without copies of bytes writes whole blocks. Where planes fill none, their last 16 positions come once more,
// behind the others of the last tile, so that the end of each plane begins at a block of UB, and goes as a burst of its
// own. Tiles are large, since each plane of a tile is a burst.
bool fills_no_blocks(const Map& x, const config::ChipConfig& chip) {
  return x.to_planes && !x.aligned() && is_joint(chip);
}
bool has_ends(const Map& x, const config::ChipConfig& chip) { return fills_no_blocks(x, chip) && x.positions >= kStep; }
// Shorter planes go over the beginning of the next one, which must be written later: one core writes all.
bool in_order(const Map& x, const config::ChipConfig& chip) { return fills_no_blocks(x, chip) && x.positions < kStep; }

// Two slots of the planes and of the positions, and a plane of zeros.
u64 tile_bytes(const Map& x, u64 tile) { return tile * (4 * 32 + x.bytes); }
u64 room(const Map& x, const config::ChipConfig& chip) {
  return (chip.core.buffers.ub - 64) / tile_bytes(x, 1) / kStep * kStep;
}

std::string trans_data_refuses(const Group& group, const config::ChipConfig& chip) {
  const Node& node = group.node();
  if (node.type != "TransData") return "it is no TransData";
  const Value &in = *node.input(0), &out = *node.output();
  const auto planes = [](const Value& v) { return v.format == isa::Format::ND || v.format == isa::Format::NCHW; };
  const bool known =
      (planes(in) && out.format == isa::Format::NC1HWC0) || (in.format == isa::Format::NC1HWC0 && planes(out));
  if (!known) return "its formats are not NCHW and NC1HWC0";
  const u32 bytes = info(in.type).bytes;
  if (!in.shape.known() || in.shape.rank() != 4 || (bytes != 2 && bytes != 4))
    return "its input is no map of four axes and elements of 16 or 32 bits";
  if (bytes == 4 && chip.arch == isa::Arch::c100) return "this chip transposes elements of 16 bits alone";
  return "";
}

Formats trans_data_formats(const Group& group, const config::ChipConfig&) {
  return {.inputs = {group.node().input(0)->format}, .outputs = {group.node().output()->format}};
}

// About as many positions as wanted, so that the last tile has those of an end.
u64 tile_with_ends(u64 positions, u64 wanted) {
  const auto enough = [&](u64 tile) { return tile >= positions || positions % tile == 0 || positions % tile >= kStep; };
  for (u64 tile = wanted; tile > kStep; tile -= kStep) {
    if (enough(tile)) return tile;
  }
  u64 tile = std::max(wanted, kStep);
  while (!enough(tile))
    tile += kStep;
  return tile;
}

std::vector<Tiling> trans_data_tilings(const Group& group, const config::ChipConfig& chip) {
  const Map x(group);
  // So that each core has a tile, if there is enough.
  const u64 each = ceil_div(x.images * x.c1 * x.positions, u64{vector_cores(chip)});
  const u64 most = has_ends(x, chip) ? room(x, chip) : std::min(kMaxPositions, room(x, chip));
  u64 tile = in_order(x, chip) ? kStep : std::clamp(align_up(each, kStep), kStep, most);
  if (has_ends(x, chip)) tile = tile_with_ends(x.positions, std::min(tile, most - kStep)) + kStep;
  return {{{"tile", static_cast<i64>(tile)}}};
}

Footprint trans_data_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = tile_bytes(Map(group), static_cast<u64>(tiling.at("tile")))};
}

// Writes the program of a TransData.
class TransDataWriter {
 public:
  TransDataWriter(const Group& group, const config::ChipConfig& chip, u64 tile)
      : x_(group), joint_(is_joint(chip)), ends_(has_ends(x_, chip)), tile_(tile), p_(group.node().name, chip.arch) {}

  u64 tiles() const { return x_.images * x_.c1 * ranges(); }

  isa::BuiltProgram program() {
    gen::TilePipeline pipeline{.tiles = tiles()};
    pipeline.prologue = [&](isa::ProgramBuilder&) { prologue(); };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg number) { locate(number); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
      if (!x_.to_planes) return copy_planes(in_at(slot), true);
      p_.copy_gm_to_ubuf(in_at(slot), rows_, 0, 1, count_, 0, 0);
      if (!ends_) return;
      p_.sub(t_, count_, kStep);
      p_.shl(t_, t_, 5);
      p_.add(t_, t_, rows_);
      p_.copy_gm_to_ubuf(in_at(slot) + own() * 32, t_, 0, 1, kStep, 0, 0);
    };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) { transpose(slot); };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
      if (ends_) return store_with_ends(out_at(slot));
      if (x_.to_planes) return copy_planes(out_at(slot), false);
      p_.copy_ubuf_to_gm(rows_, out_at(slot), 0, 1, count_, 0, 0);
    };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  u64 own() const { return tile_ - (ends_ ? kStep : 0); }  // positions of a tile
  u64 ranges() const { return ceil_div(x_.positions, own()); }
  u64 last() const { return x_.positions - (ranges() - 1) * own(); }
  u64 in_at(u64 slot) const { return slot * tile_ * 32; }
  u64 out_at(u64 slot) const { return (2 + slot) * tile_ * 32; }
  u64 zeros_at() const { return 4 * tile_ * 32; }
  u64 c0_shift() const { return static_cast<u64>(std::countr_zero(x_.c0)); }
  u64 byte_shift() const { return 5 - c0_shift(); }

  void prologue() {
    in_ = p_.arg("in");
    out_ = p_.arg("out");
    for (Reg* const r : {&rows_, &planes_, &count_, &block_, &range_, &t_, &channels_, &gap_})
      *r = p_.reg("t");
    // Positions behind the last one are transposed, too; of 2 bytes, planes are loaded in blocks of as many.
    if (ends_ || (x_.positions % kStep != 0 && (x_.to_planes || x_.bytes == 4)))
      in_repeats(p_, false, 2 * tile_ * 16,
                 [&](u64 e, u64 n) { p_.vector_dup(Type::f16, in_at(0) + e * 2, 0, n, 1, 1, 8, 8); });
    if (x_.rest() == 0 || x_.to_planes) return;
    in_repeats(p_, false, tile_ * x_.bytes / 2,
               [&](u64 e, u64 n) { p_.vector_dup(Type::f16, zeros_at() + e * 2, 0, n, 1, 1, 8, 8); });
  }

  // Image and block (as one number), range of positions.
  void locate(Reg number) {
    p_.rem(range_, number, ranges());
    p_.div(block_, number, ranges());
    p_.mul(t_, range_, own());
    p_.sub(count_, x_.positions, t_);
    p_.min(count_, count_, own());
    p_.mul(rows_, block_, x_.positions);
    p_.add(rows_, rows_, t_);
    p_.shl(rows_, rows_, 5);
    p_.add(rows_, rows_, x_.to_planes ? in_ : out_);
    // First plane of the block: image * channels + c1 * c0.
    p_.div(planes_, block_, x_.c1);
    p_.rem(block_, block_, x_.c1);
    p_.mul(planes_, planes_, x_.channels);
    p_.shl(channels_, block_, c0_shift());
    p_.add(planes_, planes_, channels_);
    p_.sub(channels_, x_.channels, channels_);
    p_.min(channels_, channels_, x_.c0);
    p_.mul(planes_, planes_, x_.positions);
    p_.add(planes_, planes_, t_);
    p_.shl(planes_, planes_, byte_shift());
    p_.add(planes_, planes_, x_.to_planes ? out_ : in_);
  }

  // The planes of the tile between memory and UB.
  void copy_planes(u64 at, bool load) {
    p_.add(t_, count_, x_.c0 - 1);
    p_.shr(t_, t_, c0_shift());
    if (x_.aligned()) {
      p_.sub(range_, x_.positions / x_.c0, t_);
      p_.sub(gap_, tile_ / x_.c0, t_);
      if (load) return p_.copy_gm_to_ubuf(at, planes_, 0, channels_, t_, range_, gap_);
      return p_.copy_ubuf_to_gm(planes_, at, 0, channels_, t_, gap_, range_);
    }
    p_.shl(gap_, count_, byte_shift());
    for (u64 c = 0; c < x_.c0; ++c) {
      p_.if_(isa::Value(channels_) > c, [&] {
        const u64 plane = at + c * tile_ * x_.bytes;
        if (load && joint_) {
          p_.copy_gm_to_ubuf(plane, planes_, 0, 1, t_, 0, 0);
        } else if (load) {
          p_.copy_gm_to_ubuf_align_b16(plane, planes_, 0, 1, gap_, 0, 0, 0, 0);
        } else if (joint_) {
          p_.pipe_barrier(isa::PipeId::MTE3);  // it goes over the end of the plane before
          p_.copy_ubuf_to_gm(planes_, plane, 0, 1, t_, 0, 0);
        } else {
          p_.copy_ubuf_to_gm_align_b16(planes_, plane, 0, 1, gap_, 0, 0, 0, 0);
        }
        p_.add(planes_, planes_, x_.positions * x_.bytes);
      });
    }
  }

  // The whole blocks of all planes, then the ends of planes that end here, which go over the last of these.
  void store_with_ends(u64 at) {
    p_.shl(gap_, count_, byte_shift());
    p_.shr(t_, gap_, 5);
    const auto each_plane = [&](u64 first, const isa::Value& blocks) {
      for (u64 c = 0; c < x_.c0; ++c) {
        p_.if_(isa::Value(channels_) > c, [&] {
          p_.copy_ubuf_to_gm(planes_, at + first + c * tile_ * x_.bytes, 0, 1, blocks, 0, 0);
          p_.add(planes_, planes_, x_.positions * x_.bytes);
        });
      }
    };
    each_plane(0, t_);
    p_.pipe_barrier(isa::PipeId::MTE3);
    p_.if_(isa::Value(range_) == ranges() - 1, [&] {
      // Back to the first plane, and to the end of it.
      p_.mul(t_, channels_, x_.positions * x_.bytes);
      p_.sub(planes_, planes_, t_);
      p_.add(planes_, planes_, gap_);
      p_.sub(planes_, planes_, kStep * x_.bytes);
      each_plane(own() * x_.bytes, x_.bytes / 2);
    });
  }

  // VA0, VA1: sources; VA2, VA3: results. Channels that do not exist are read from zeros. Of 4 bytes, a plane has two
  // blocks of 8 positions: as sources the first ones of all planes come first, as results they alternate, as do
  // positions 0, 8, 1, 9 and so on.
  void set_addresses(u64 planes_at, u64 rows_at, u64 channels) {
    const u64 planes_va = x_.to_planes ? 2 : 0;
    for (u64 half = 0; half < 2; ++half) {
      const auto block_of = [&](u64 c, u64 block) {
        return isa::Value(c < channels ? planes_at + c * tile_ * x_.bytes + block * 32 : zeros_at());
      };
      const auto plane = [&](u64 i) {
        const u64 k = half * 8 + i;
        if (x_.bytes == 2) return block_of(k, 0);
        return x_.to_planes ? block_of(k / 2, k % 2) : block_of(k % 8, k / 8);
      };
      const auto row = [&](u64 i) {
        const u64 k = half * 8 + i;
        const u64 position = x_.bytes == 4 && !x_.to_planes ? k % 2 * 8 + k / 2 : k;
        return isa::Value(rows_at + position * 32);
      };
      p_.set_va_reg_sb(planes_va + half, plane(0), plane(1), plane(2), plane(3), plane(4), plane(5), plane(6),
                       plane(7));
      p_.set_va_reg_sb(2 - planes_va + half, row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7));
    }
  }

  // `block_` is still the block of channels.
  void transpose(u64 slot) {
    if (x_.to_planes) {
      set_addresses(out_at(slot), in_at(slot), x_.c0);
    } else if (x_.rest() == 0) {
      set_addresses(in_at(slot), out_at(slot), x_.c0);
    } else {
      p_.if_(
          isa::Value(block_) == x_.c1 - 1, [&] { set_addresses(in_at(slot), out_at(slot), x_.rest()); },
          [&] { set_addresses(in_at(slot), out_at(slot), x_.c0); });
    }
    const auto write = [&](u64 positions) {
      const u64 repeats = ceil_div(positions, kStep), rows = kStep, planes = x_.bytes / 2;
      // A single repeat would begin one stride on.
      const auto stride = [&](u64 blocks) { return repeats == 1 ? 0 : blocks; };
      const u64 to = stride(x_.to_planes ? planes : rows), from = stride(x_.to_planes ? rows : planes);
      if (x_.bytes == 2) {
        p_.scatter_vnchwconv_b16(2, 0, repeats, to, from);
      } else {
        p_.scatter_vnchwconv_b32(2, 0, repeats, to, from);
      }
    };
    if (ends_ || last() == tile_) {
      write(tile_);
    } else {
      p_.if_(
          isa::Value(count_) == tile_, [&] { write(tile_); }, [&] { write(last()); });
    }
    p_.pipe_barrier(isa::PipeId::V);
  }

  const Map x_;
  const bool joint_, ends_;
  const u64 tile_;
  isa::ProgramBuilder p_;
  Reg in_, out_, rows_, planes_, count_, block_, range_, t_, channels_, gap_;
};

KernelProgram trans_data_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  TransDataWriter writer(group, chip, static_cast<u64>(tiling.at("tile")));
  const u64 tiles = in_order(Map(group), chip) ? 1 : writer.tiles();
  return vector_program(writer.program(), tiles, chip);
}

}  // namespace

const Kernel kTransDataKernel{"trans_data",       trans_data_refuses,   trans_data_formats,
                              trans_data_tilings, trans_data_footprint, trans_data_build};

}  // namespace vinci::graph
