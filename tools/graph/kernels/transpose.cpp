// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <optional>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/exchange.h"
#include "tools/graph/kernels/launch_arguments.h"
#include "tools/graph/kernels/vector_ops.h"

// Moves that exchange two axes: neighbours in memory become a row apart, and the other way round. A tile is a matrix of
// both axes: its rows come as bursts of any length, scatter_vnchwconv transposes 16 rows by a block of 32 B each, and
// the columns go as bursts. A joint core stores whole blocks: where columns fill none, the last 16 rows of a tile come
// once more, so that the end of each column begins at a block of UB, and goes as a burst of its own.
namespace vinci::graph {
namespace {

using isa::Reg;

constexpr u64 kUnitRows = 16;    // that one instruction takes
constexpr u64 kMostUnits = 255;  // of one instruction

u64 unit_columns(const Exchange& x) { return 32 / x.bytes; }

Formats transpose_formats(const Group& group, const config::ChipConfig&) {
  return {.inputs = std::vector(group.inputs().size(), isa::Format::ND), .outputs = {isa::Format::ND}};
}

// Of a tile, in elements; whole units.
struct TileSize {
  u64 rows = 0, columns = 0;
  bool ends = false;  // of the rows, the last unit is the last one of the others

  u64 own_rows() const { return rows - (ends ? kUnitRows : 0); }
  u64 count(const Exchange& x) const {
    u64 out = ceil_div(x.rows.extent, own_rows()) * ceil_div(x.columns.extent, columns);
    for (const Exchange::Axis& axis : x.outer)
      out *= axis.extent;
    return out;
  }
  u64 elements() const { return rows * columns; }
};

// Whether the columns, on a joint core, fill no blocks.
bool has_ends(const Exchange& x, const config::ChipConfig& chip) {
  return is_joint(chip) && x.rows.extent % kUnitRows != 0;
}

// Rows of a tile, about as many as wanted, so that the last tile has the rows of an end; 0: none.
u64 rows_with_ends(u64 extent, u64 wanted, u64 most) {
  const auto enough = [&](u64 rows) { return rows >= extent || extent % rows >= kUnitRows; };
  for (u64 rows = wanted; rows > 0; rows -= kUnitRows) {
    if (enough(rows)) return rows;
  }
  u64 rows = wanted;
  while (rows < most && !enough(rows))
    rows += kUnitRows;
  return enough(rows) ? rows : 0;
}

// Tiles with so many columns, smaller ones where there would not be one for each core; nothing where UB has no room.
std::optional<TileSize> tile_with(const Exchange& x, const config::ChipConfig& chip, u64 columns) {
  const u64 unit = unit_columns(x), room = chip.core.buffers.ub / (4 * x.bytes);
  TileSize tile{.columns = std::min(align_up(x.columns.extent, unit), columns)};
  const bool ends = has_ends(x, chip);
  const u64 units = std::min(kMostUnits, room / tile.columns / kUnitRows), for_ends = ends ? 1 : 0;
  if (units <= for_ends) return std::nullopt;
  const u64 most = (units - for_ends) * kUnitRows;
  tile.rows = std::min(align_up(x.rows.extent, kUnitRows), most);
  while (tile.count(x) < vector_cores(chip)) {
    u64& larger = tile.rows * unit >= tile.columns * kUnitRows ? tile.rows : tile.columns;
    const u64 step = &larger == &tile.rows ? kUnitRows : unit;
    if (larger <= step) break;
    larger = align_up(larger / 2, step);
  }
  if (!ends) return tile;
  const u64 rows = rows_with_ends(x.rows.extent, tile.rows, most);
  if (rows == 0) return std::nullopt;
  return TileSize{.rows = rows + kUnitRows, .columns = tile.columns, .ends = true};
}

bool is_strided(i64 apart, u32 bytes) {
  constexpr i64 kMostApart = 65535 * 32;
  return apart * bytes % 32 == 0 && apart * bytes < kMostApart;
}

// Of the core with most tiles, on a joint core, in bursts: those that are no strided copy are issued one by one.
u64 cost_of_bursts(const Exchange& x, const config::ChipConfig& chip, const Tiling& tiling) {
  const TileSize tile = {.rows = static_cast<u64>(tiling.at("rows")),
                         .columns = static_cast<u64>(tiling.at("columns")),
                         .ends = has_ends(x, chip)};
  const u64 columns = std::min(tile.columns, x.columns.extent), rows = std::min(tile.rows, x.rows.extent);
  constexpr u64 kBytesOfBurst = 2048;  // that are moved in the time of a burst
  const u64 loads = is_strided(x.rows.from, x.bytes) ? 1 : rows,
            stores = is_strided(x.columns.to, x.bytes) ? 1 : (tile.ends ? 2 : 1) * columns;
  return ceil_div(tile.count(x), u64{vector_cores(chip)}) * (loads + stores + rows * columns * x.bytes / kBytesOfBurst);
}

std::vector<Tiling> transpose_tilings(const Group& group, const config::ChipConfig& chip) {
  const Exchange x = *exchange_of(group);
  std::vector<Tiling> out;
  for (const u64 columns : {128, 256, 64}) {
    const std::optional<TileSize> tile = tile_with(x, chip, columns);
    if (!tile) continue;
    Tiling t{{"columns", static_cast<i64>(tile->columns)}, {"rows", static_cast<i64>(tile->rows)}};
    if (std::ranges::find(out, t) == out.end()) out.push_back(std::move(t));
  }
  if (is_joint(chip)) std::ranges::stable_sort(out, {}, [&](const Tiling& t) { return cost_of_bursts(x, chip, t); });
  return out;
}

std::string transpose_refuses(const Group& group, const config::ChipConfig& chip) {
  const std::optional<Exchange> x = exchange_of(group);
  if (!x) return "it is no exchange of two axes in ND";
  if (x->bytes != 2 && x->bytes != 4) return "its elements have neither 2 nor 4 bytes";
  if (x->bytes == 4 && chip.arch == isa::Arch::c100) return "the chip transposes no blocks of 4 bytes";
  if (is_joint(chip) && x->rows.extent < kUnitRows)
    return "a joint core copies whole blocks, and its columns are shorter";
  if (transpose_tilings(group, chip).empty()) return "UB has no room for a tile";
  return "";
}

TileSize size_of(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  return {.rows = static_cast<u64>(tiling.at("rows")),
          .columns = static_cast<u64>(tiling.at("columns")),
          .ends = has_ends(*exchange_of(group), chip)};
}

Footprint transpose_footprint(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  return {.ub = 4 * size_of(group, chip, tiling).elements() * exchange_of(group)->bytes};
}

// Writes the program.
class TransposeWriter {
 public:
  TransposeWriter(const Group& group, const config::ChipConfig& chip, TileSize tile)
      : x_(*exchange_of(group)),
        tensors_(group.inputs().size() + 1),
        tile_(tile),
        joint_(is_joint(chip)),
        p_(group.node().name, chip.arch),
        addresses_(p_, tensors_) {}

  isa::BuiltProgram program() {
    gen::TilePipeline pipeline{.tiles = tile_.count(x_)};
    pipeline.prologue = [&](isa::ProgramBuilder&) { prologue(); };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg number) { locate(number); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) { load(in_at(slot)); };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) { transpose(in_at(slot), out_at(slot)); };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) { store(out_at(slot)); };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  u64 bytes() const { return x_.bytes; }
  u64 tile_bytes() const { return tile_.elements() * bytes(); }
  u64 in_at(u64 slot) const { return slot * tile_bytes(); }
  u64 out_at(u64 slot) const { return (2 + slot) * tile_bytes(); }

  void prologue() {
    addresses_.load_all();
    for (Reg* const r : {&from_, &to_, &rows_, &columns_, &rest_, &t_, &gap_, &place_})
      *r = p_.reg("t");
    // What is beyond the last row and column is transposed, too.
    if (x_.rows.extent % tile_.own_rows() == 0 && x_.columns.extent % tile_.columns == 0) return;
    in_repeats(p_, false, tile_bytes(), [&](u64 e, u64 n) { p_.vector_dup(isa::Type::f16, e * 2, 0, n, 1, 1, 8, 8); });
  }

  // rest_ counts tiles along what is left of the axes, the fastest of which is this one.
  void along(u64 tiles, Reg index) {
    p_.rem(index, rest_, tiles);
    p_.div(rest_, rest_, tiles);
  }
  // from_ and to_ move by `index` steps.
  void step(Reg index, i64 from, i64 to) {
    if (from != 0) {
      p_.mul(gap_, index, from);
      p_.add(from_, from_, gap_);
    }
    if (to == 0) return;
    p_.mul(gap_, index, to);
    p_.add(to_, to_, gap_);
  }
  // A part of an axis: how many elements the tile has of it.
  void part(const Exchange::Axis& axis, u64 size, Reg count) {
    along(ceil_div(axis.extent, size), t_);
    p_.mul(t_, t_, size);
    step(t_, axis.from, axis.to);
    p_.sub(count, axis.extent, t_);
    p_.min(count, count, size);
  }
  void locate(Reg number) {
    p_.mov(rest_, number);
    p_.mov(from_, x_.from);
    p_.mov(to_, x_.to);
    part(x_.columns, tile_.columns, columns_);
    part(x_.rows, tile_.own_rows(), rows_);
    for (usize a = x_.outer.size(); a-- > 0;) {
      along(x_.outer[a].extent, t_);
      step(t_, x_.outer[a].from, x_.outer[a].to);
    }
    const u64 shift = bytes() == 2 ? 1 : 2;
    p_.shl(from_, from_, shift);
    p_.add(from_, from_, addresses_.of(x_.input));
    p_.shl(to_, to_, shift);
    p_.add(to_, to_, addresses_.of(tensors_ - 1));
  }

  // t_ = the bytes of a burst of `count` elements; gap_ = the blocks of 32 B behind it in UB, where it has `most`;
  // rest_ = the bytes behind it in memory, where bursts are `apart` elements apart.
  void measure(Reg count, u64 most, i64 apart) {
    p_.shl(t_, count, bytes() == 2 ? 1 : 2);
    p_.add(gap_, t_, 31);
    p_.shr(gap_, gap_, 5);
    p_.sub(gap_, most * bytes() / 32, gap_);
    p_.sub(rest_, apart * static_cast<i64>(bytes()), t_);
  }
  void load(u64 at) {
    if (joint_) return load_blocks(at);
    measure(columns_, tile_.columns, x_.rows.from);
    p_.copy_gm_to_ubuf_align_b16(at, from_, 0, rows_, t_, 0, 0, rest_, gap_);
  }
  void store(u64 at) {
    if (joint_) return store_blocks(at);
    measure(rows_, tile_.rows, x_.columns.to);
    p_.copy_ubuf_to_gm_align_b16(to_, at, 0, columns_, t_, 0, 0, gap_, rest_);
  }

  // On a joint core. Bursts are strided where their distance in memory is whole blocks, else one each.
  struct Bursts {
    bool load;
    u64 at, pitch;  // in UB, bytes
    i64 apart;      // in memory, elements
  };
  // `count` of t_ blocks, from place_ on.
  void bursts(const Bursts& b, const isa::Value& count) {
    const i64 apart = b.apart * static_cast<i64>(bytes());
    if (is_strided(b.apart, x_.bytes)) {
      p_.sub(gap_, b.pitch / 32, t_);
      p_.sub(rest_, apart / 32, t_);
      if (b.load) return p_.copy_gm_to_ubuf(b.at, place_, 0, count, t_, rest_, gap_);
      return p_.copy_ubuf_to_gm(place_, b.at, 0, count, t_, gap_, rest_);
    }
    p_.mov(gap_, b.at);
    p_.loop(count, [&](Reg) {
      if (b.load) {
        p_.copy_gm_to_ubuf(gap_, place_, 0, 1, t_, 0, 0);
      } else {
        p_.copy_ubuf_to_gm(place_, gap_, 0, 1, t_, 0, 0);
      }
      p_.add(place_, place_, apart);
      p_.add(gap_, gap_, b.pitch);
    });
  }
  // place_ = begin + (rows_ - 16) * stride.
  void to_ends(Reg begin, i64 stride) {
    p_.sub(place_, rows_, kUnitRows);
    p_.mul(place_, place_, stride * static_cast<i64>(bytes()));
    p_.add(place_, place_, begin);
  }
  void load_blocks(u64 at) {
    const u64 pitch = tile_.columns * bytes();
    p_.mul(t_, columns_, bytes());
    p_.add(t_, t_, 31);
    p_.shr(t_, t_, 5);
    p_.mov(place_, from_);
    bursts({.load = true, .at = at, .pitch = pitch, .apart = x_.rows.from}, rows_);
    if (!tile_.ends) return;
    p_.if_(isa::Value(rows_) != tile_.own_rows(), [&] {
      to_ends(from_, x_.rows.from);
      bursts({.load = true, .at = at + tile_.own_rows() * pitch, .pitch = pitch, .apart = x_.rows.from}, kUnitRows);
    });
  }
  void store_blocks(u64 at) {
    const u64 pitch = tile_.rows * bytes(), parts = bytes() / 2;
    p_.shr(t_, rows_, 4);
    p_.mul(t_, t_, parts);
    p_.mov(place_, to_);
    bursts({.load = false, .at = at, .pitch = pitch, .apart = x_.columns.to}, columns_);
    if (!tile_.ends) return;
    p_.if_(isa::Value(rows_) != tile_.own_rows(), [&] {
      p_.pipe_barrier(isa::PipeId::MTE3);
      to_ends(to_, 1);
      p_.mov(t_, parts);
      bursts({.load = false, .at = at + tile_.own_rows() * bytes(), .pitch = pitch, .apart = x_.columns.to}, columns_);
    });
  }

  // VA0 and VA1 have the 16 rows of the first unit, VA2 and VA3 its columns; of 4 bytes a column takes two blocks.
  // Units follow each other along the axis that has more of them.
  void transpose(u64 from, u64 to) {
    const u64 in_pitch = tile_.columns * bytes(), out_pitch = tile_.rows * bytes(), unit = unit_columns(x_),
              parts = bytes() / 2;
    const u64 row_units = tile_.rows / kUnitRows, column_units = tile_.columns / unit;
    const bool down = row_units >= column_units;
    const u64 repeats = std::max(row_units, column_units);
    const u64 from_step = down ? kUnitRows * in_pitch : 32, to_step = down ? 32 * parts : unit * out_pitch;
    for (u64 i = 0; i < std::min(row_units, column_units); ++i) {
      const u64 first = from + i * (down ? 32 : kUnitRows * in_pitch),
                result = to + i * (down ? unit * out_pitch : 32 * parts);
      for (u64 half = 0; half < 2; ++half) {
        const auto row = [&](u64 k) { return isa::Value(first + (half * 8 + k) * in_pitch); };
        const auto column = [&](u64 k) {
          const u64 n = half * 8 + k;
          return isa::Value(result + n / parts * out_pitch + n % parts * 32);
        };
        p_.set_va_reg_sb(half, row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7));
        p_.set_va_reg_sb(2 + half, column(0), column(1), column(2), column(3), column(4), column(5), column(6),
                         column(7));
      }
      // A single repeat would begin one stride on.
      const u64 source = repeats == 1 ? 0 : from_step / 32, target = repeats == 1 ? 0 : to_step / 32;
      if (bytes() == 2) {
        p_.scatter_vnchwconv_b16(2, 0, repeats, target, source);
      } else {
        p_.scatter_vnchwconv_b32(2, 0, repeats, target, source);
      }
    }
    p_.pipe_barrier(isa::PipeId::V);
  }

  const Exchange x_;
  const usize tensors_;
  const TileSize tile_;
  const bool joint_;
  isa::ProgramBuilder p_;
  LaunchArguments addresses_;
  Reg from_, to_, rows_, columns_, rest_, t_, gap_, place_;
};

KernelProgram transpose_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const TileSize tile = size_of(group, chip, tiling);
  return vector_program(TransposeWriter(group, chip, tile).program(), tile.count(*exchange_of(group)), chip);
}

}  // namespace

const Kernel kTransposeKernel{"transpose",       transpose_refuses,   transpose_formats,
                              transpose_tilings, transpose_footprint, transpose_build};

}  // namespace vinci::graph
