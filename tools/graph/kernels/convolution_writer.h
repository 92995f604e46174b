// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "tools/graph/kernels/convolution_tiling.h"

// Convolution as a matrix product whose left matrix load3d makes from the feature map: NC1HWC0 in, weights FRACTAL_Z,
// NC1HWC0 out. A tile is `m` positions of an image by `n` output channels; `c1` blocks of channels go through L1 at a
// time, `k` columns through L0. Where the rows under a tile do not fit L1, they go through it as strips: those under
// one row of the window, and of long rows the columns under the tile. On the split core FIXPIPE rounds, applies Relu
// and stores; on the joint core the tile goes through UB, where the epilogue is any chain of element-wise nodes.
namespace vinci::graph {

// The form of mad for a map and weights of these types; none where the cube of the chip has none.
std::optional<isa::Type> conv_mad(DataType map, DataType weights, const config::ChipConfig& chip);

// Writes the program of a convolution.
class ConvWriter {
 public:
  ConvWriter(const Group& group, const config::ChipConfig& chip, const Tiling& tiling)
      : group_(group),
        x_(group),
        s_(tiling),
        joint_(is_joint(chip)),
        mad_(*conv_mad(group.resolve(group.nodes()[0]->input(0))->type, group.resolve(group.nodes()[0]->input(1))->type,
                       chip)),
        p_(group.node().name, chip.arch) {}

  isa::BuiltProgram program();

  u64 tiles() const { return x_.images * m_tiles_ * n_tiles_; }

 private:
  using PipeId = isa::PipeId;
  using Reg = isa::Reg;
  using Target = isa::Target;
  using Type = isa::Type;

  PipeId out_pipe() const { return joint_ ? PipeId::V : PipeId::FIX; }

  // Flags that are up while a slot is free.
  template <class Flag>
  void each_slot(const Flag& flag) {
    for (u32 slot = 0; slot < 2; ++slot) {
      flag(PipeId::MTE1, PipeId::MTE2, slot);
      flag(PipeId::M, PipeId::MTE1, slot);
      flag(out_pipe(), PipeId::M, slot);
      if (joint_) flag(PipeId::MTE3, PipeId::V, slot);
      if (joint_ && !residuals_.empty()) flag(PipeId::V, PipeId::MTE2, slot);
    }
  }

  void prologue();
  // A number for each filter, for `reader`.
  void load_table(u64 argument, u64 to, PipeId reader, u64 bytes, u32 event);
  // Of a block: its number becomes that of its first tile.
  void first_tile(Reg block);
  // Image, first position and filter of the tile; the rows of the map under it.
  void place();
  // The map in L1: rows of padding above in t0 and below in t1; both padded to the sides, of the width of the map.
  void set_map(Reg rows);
  // m0: number of the tile in the image, then its first position.
  void place_in_row();
  void count_fractals();
  // n0: number of the tile by filters, then its first block of filters; n1: its blocks.
  void first_filter();
  void products();
  // L0C is free for the products of the tile, and with a bias on the joint core filled with it.
  void begin_tile();
  void multiply();
  // The row of the tile to its half of the bias table; the tile before last is through with it.
  void load_bias();
  // A mad on few fractals may still be writing the accumulator when the next one reads it.
  void fence_short();

  // Into L1 and L0: convolution_loads.cpp
  // The products of a row of the window, with the rows of the map that it meets: in L1 they follow each other.
  void strip();
  // The columns of the map under the tile: t3 is the first one. The map in L1 has them alone.
  void set_columns();
  // Number of the block of channels c of the image, of all blocks.
  void first_block(Reg to);
  // Blocks c .. c + count of the map and their weights.
  void load_l1();
  // All weights of the filters of the tile, if they are not those of the tile before.
  void load_weights_that_stay();
  // To `l1` from the fractal `from` of the weights: `rows` of fractals, of each those of the filters of the tile.
  void load_weights(Reg l1, Reg from, Reg rows);
  // Version 1 of load3d makes 16 positions at a time: their fractals for k columns follow each other in L0A, at t0.
  void load_l0a_by_fractals();

  // Out of L0C: convolution_stores.cpp
  // Address of the tile in a tensor of the shape of the output.
  void tile_in(Reg to, usize argument);
  void store_by_fixpipe();
  // What FIXPIPE makes of the sums, as QuantMode_t numbers it.
  u32 quant_pre() const;
  void store_through_ub();
  // The tile between memory, at t0, and UB, at t1, with t2 rows of padding behind each block of channels in UB.
  void between(Reg gm, Reg ub, Reg gap, bool load);
  // Sums of 32 bits: rows of 16 in UB are two blocks of 8 channels in memory.
  void store_halves(Reg gm, Reg ub);
  // Nodes behind the convolution, in both slots of UB: addresses are numbers.
  void epilogue();

  u64 argument_of(const Value* v) const {
    return static_cast<u64>(std::ranges::find(group_.inputs(), v) - group_.inputs().begin());
  }
  bool conv_hf32() const { return group_.nodes()[0]->integer("enable_hf32") != 0; }
  usize first_behind() const { return conv_epilogue(group_); }
  bool has_epilogue() const { return group_.nodes().size() > first_behind(); }
  // Of the window over what is in L1.
  i64 step_h() const { return s_.strip ? 1 : x_.window.stride[0]; }
  i64 kernel_h() const { return s_.strip ? 1 : x_.window.kernel[0]; }
  u64 tile_bytes() const { return s_.m * s_.n * x_.out_bytes; }
  u64 l0a_slot() const { return s_.m * s_.k * x_.element(); }
  u64 c0_shift() const { return static_cast<u64>(std::countr_zero(x_.c0)); }
  // Places in L1 and UB.
  u64 weights_at() const { return 2 * s_.map_bytes(x_); }
  u64 bias_at() const { return joint_ ? 0 : weights_at() + s_.weight_bytes(x_); }
  u64 factors_at() const { return bias_at() + conv_bias_bytes(x_); }
  u64 out_at() const { return x_.table_bytes(); }
  u64 residual_at() const { return out_at() + 2 * tile_bytes(); }
  u64 between_at() const { return residual_at() + 2 * residuals_.size() * tile_bytes(); }

  const Group& group_;
  const ConvProblem x_;
  const ConvSizes s_;
  const bool joint_;
  const Type mad_;
  const std::vector<const Value*> residuals_ = conv_residuals(group_);
  const u64 m_tiles_ = s_.m_tiles(x_), n_tiles_ = x_.n_tiles(s_.n);
  isa::ProgramBuilder p_;
  const bool first_load3d_ = p_.arch() == isa::Arch::c100;  // has version 1 alone
  const Reg tile_ = p_.reg("tile"), image_ = p_.reg("image"), m0_ = p_.reg("m0"), n0_ = p_.reg("n0"), m_ = p_.reg("m"),
            m1_ = p_.reg("m1"), m2_ = p_.reg("m2"), n1_ = p_.reg("n1"), from_ = p_.reg("from"), rows_ = p_.reg("rows"),
            column_ = p_.reg("column"), c_ = p_.reg("c"), count_ = p_.reg("count"), k0_ = p_.reg("k0"),
            k_ = p_.reg("k"), slot_ = p_.reg("slot"), l0_ = p_.reg("l0"), c_slot_ = p_.reg("c_slot"),
            src_ = p_.reg("src"), w_src_ = p_.reg("w_src"), first_ = p_.reg("first"), t0_ = p_.reg("t0"),
            t1_ = p_.reg("t1"), t2_ = p_.reg("t2"), t3_ = p_.reg("t3"), bias_ = p_.reg("bias");
  Reg loaded_;  // first filter of the weights that stay in L1
  // Of strips: whether the tile has no product yet, the row of the window, columns of the map in L1.
  Reg fresh_, kernel_row_, columns_;
  // Of version 1 of load3d.
  Reg top_, channel_, point_h_, point_w_;
};

}  // namespace vinci::graph
