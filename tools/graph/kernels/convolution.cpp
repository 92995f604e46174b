// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "isa/insns/fixpipe.h"
#include "tools/graph/kernels/convolution_tiling.h"
#include "tools/graph/kernels/vector_ops.h"

// Convolution as a matrix product whose left matrix load3d makes from the feature map: NC1HWC0 in, weights FRACTAL_Z,
// NC1HWC0 out. A tile is `m` positions of an image by `n` output channels; `c1` blocks of channels go through L1 at a
// time, `k` columns through L0. Where the rows under a tile do not fit L1, they go through it as strips: those under
// one row of the window, and of long rows the columns under the tile. On the split core FIXPIPE rounds, applies Relu
// and stores; on the joint core the tile goes through UB, where the epilogue is any chain of element-wise nodes.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Target, isa::Type;

// The form of mad for a map and weights of these types; none where the cube of the chip has none.
std::optional<Type> mad_of(DataType map, DataType weights, const config::ChipConfig& chip) {
  using enum DataType;
  if (weights == i8 && map == i8) return Type::s8;
  if (weights == i8 && map == u8) return Type::u8s8;
  if (map != weights) return std::nullopt;
  if (map == f16) return Type::f162f32;
  if (is_joint(chip)) return std::nullopt;
  return map == bf16 ? std::optional(Type::bf162f32) : map == f32 ? std::optional(Type::f322f32) : std::nullopt;
}

std::string conv_refuses(const Group& group, const config::ChipConfig& chip) {
  const Node& conv = *group.nodes()[0];
  if (conv.type != "Conv2D") return "it does not begin with Conv2D";
  const auto& in = *group.resolve(conv.input(0));
  const auto& weights = *group.resolve(conv.input(1));
  if (!in.shape.known() || in.shape.rank() != 4) return "its input has no known shape of four axes";
  if (!mad_of(in.type, weights.type, chip)) return "the cube has no product of its types";
  const bool whole = weights.type == DataType::i8;
  const DataType sums = whole ? DataType::i32 : in.type, result = group.outputs()[0]->type;
  const i64 groups = conv.integer("group", 1);
  const auto fill = [](i64 channels, DataType type) { return channels % static_cast<i64>(c0_of(type)) == 0; };
  if (groups != 1 && (!fill(weights.shape[1], in.type) || weights.shape[0] / groups % static_cast<i64>(kC0) != 0 ||
                      !fill(weights.shape[0] / groups, result)))
    return "its groups are no whole blocks of channels";
  const Node* const scaling = conv_scaling(group);
  const usize used = conv_epilogue(group);
  if (scaling == nullptr && group.resolve(conv.output())->type != sums) return "its result has another type";
  if (scaling != nullptr) {
    const Value* const factors = group.resolve(scaling->input(1));
    if (!whole || factors->type != DataType::u64 || !factors->constant ||
        factors->shape.elements() != static_cast<u64>(weights.shape[0]) || weights.shape[0] == 1)
      return "it has no quantisation parameter for each filter";
    const DataType scaled = group.resolve(scaling->output())->type;
    if (scaled != DataType::f16 && is_joint(chip)) return "a joint core stores f16 of scaled sums alone";
    // FIXPIPE stores pairs of blocks of 16 channels as one of 32 bytes.
    if (scaled != DataType::f16 && (ceil_div<i64>(weights.shape[0], 16) % 2 != 0 || group.nodes().size() > used))
      return "its blocks of 16 filters are no pairs";
  }
  const ConvProblem x(group);
  const Window& w = x.window;
  for (usize a = 0; a < 2; ++a) {
    if (w.kernel[a] > 255 || w.stride[a] > 63 || w.dilation[a] > 255 || w.pad_begin[a] > 255 || w.pad_end[a] > 255 ||
        w.pad_begin[a] < 0 || w.pad_end[a] < 0)
      return "its window is beyond the operands of load3d";
    if (w.pad_begin[a] >= w.span(a) || w.pad_end[a] >= w.span(a)) return "a window may lie in the padding alone";
  }
  for (const auto* const v : group.inputs()) {
    if (v->shape.rank() == 4 && v != &weights && v != &in && v->type != DataType::f16) return "a tensor is not f16";
  }
  if (x.biased && group.resolve(conv.input(2))->type != (whole ? DataType::i32 : DataType::f32))
    return "its bias is not of the type of the sums";
  if (conv.output()->shape != group.outputs()[0]->shape) return "its epilogue repeats the result";
  if (!is_joint(chip)) {
    const bool relu = group.nodes().size() == used + 1 && group.nodes().back()->type == "Relu";
    if (group.nodes().size() != used && !relu) return "FIXPIPE applies no epilogue but Relu";
  } else if (group.nodes().size() > used) {
    if (std::string reason = vector_refuses(group, used, chip); !reason.empty()) return reason;
    for (usize i = used; i < group.nodes().size(); ++i) {
      if (group.resolve(group.nodes()[i]->output())->type != DataType::f16) return "its epilogue is not f16 alone";
    }
    for (const Value* const v : conv_residuals(group)) {
      if (v->shape != group.outputs()[0]->shape) return "its epilogue has an operand of another shape";
    }
  }
  return "";
}

Formats conv_formats(const Group& group, const config::ChipConfig&) {
  using enum isa::Format;
  Formats out{.inputs = {}, .outputs = {NC1HWC0}};
  const Node* const scaling = conv_scaling(group);
  for (usize i = 0; i < group.inputs().size(); ++i) {
    const bool table = (i == 2 && group.nodes()[0]->input(2) != nullptr) ||
                       (scaling != nullptr && group.resolve(scaling->input(1)) == group.inputs()[i]);
    out.inputs.push_back(i == 1 ? FRACTAL_Z : table ? ND : NC1HWC0);
  }
  return out;
}

// Writes the program of a convolution.
class ConvWriter {
 public:
  ConvWriter(const Group& group, const config::ChipConfig& chip, const Tiling& tiling)
      : group_(group),
        x_(group),
        s_(tiling),
        joint_(is_joint(chip)),
        mad_(*mad_of(group.resolve(group.nodes()[0]->input(0))->type, group.resolve(group.nodes()[0]->input(1))->type,
                     chip)),
        p_(group.node().name, chip.arch) {}

  isa::BuiltProgram program() {
    prologue();
    const Target next = p_.here("tile"), finish = p_.label("finish");
    p_.get_block_idx(t0_);
    p_.add(t0_, t0_, 1);
    first_tile(t0_);
    p_.bge(tile_, t0_, finish);
    place();
    if (s_.resident) load_weights_that_stay();
    products();
    if (joint_) {
      store_through_ub();
    } else {
      store_by_fixpipe();
    }
    p_.xor_(c_slot_, c_slot_, 1);
    p_.add(tile_, tile_, 1);
    p_.b(next);
    p_.bind(finish);
    each_slot([&](PipeId from, PipeId to, u32 slot) { p_.wait_flag(from, to, slot); });
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

  u64 tiles() const { return x_.images * m_tiles_ * n_tiles_; }

 private:
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

  void prologue() {
    p_.comment(fmt::format("{} images of {} x {} x {}, {} filters of {} x {}; tiles of {} positions and {} filters",
                           x_.images, x_.groups * x_.c1 * x_.c0, x_.height, x_.width, x_.n1 * kC0, x_.window.kernel[0],
                           x_.window.kernel[1], s_.m, s_.n));
    p_.comment("arguments: the inputs, then the output");
    if (s_.strip) {
      fresh_ = p_.reg("fresh");
      kernel_row_ = p_.alias("kernel_row", from_);
      columns_ = p_.alias("columns", rows_);
    }
    if (s_.resident) loaded_ = p_.reg("loaded");
    if (first_load3d_) {
      top_ = p_.reg("top");
      channel_ = p_.reg("channel");
      if (!s_.strip) point_h_ = p_.reg("point_h");
      point_w_ = p_.reg("point_w");
    }
    p_.comment("each block has tiles that follow each other");
    p_.get_block_idx(tile_);
    first_tile(tile_);
    if (s_.resident) p_.mov(loaded_, x_.n1);
    for (const Reg r : {slot_, l0_, c_slot_})
      p_.mov(r, 0);
    each_slot([&](PipeId from, PipeId to, u32 slot) { p_.set_flag(from, to, slot); });
    if (x_.biased) load_table(2, bias_at(), joint_ ? PipeId::V : PipeId::MTE1, conv_bias_bytes(x_), 2);
    if (x_.scaling != nullptr) {
      const Value* const factors = group_.resolve(x_.scaling->input(1));
      load_table(argument_of(factors), factors_at(), joint_ ? PipeId::V : PipeId::FIX, x_.factor_bytes(), 3);
    }
    if (conv_hf32()) {
      p_.get_ctrl(t0_);
      p_.or_(t0_, t0_, isa::ctrl::kHf32);
      p_.set_ctrl(t0_);
    }
    if (has_epilogue() && joint_) {
      // Rows behind the last position of a tile are computed with; they must be numbers.
      const u64 bytes = between_at() - out_at();
      for (u64 done = 0; done < bytes; done += kMaxRepeat * 256)
        p_.vector_dup(Type::f16, out_at() + done, 0, std::min(kMaxRepeat, (bytes - done) / 256), 1, 1, 8, 8);
      p_.pipe_barrier(PipeId::ALL);
    }
    // In both bytes of a pair, as positions outside the map are zero before an offset is added.
    p_.set_padding(static_cast<u64>(group_.nodes()[0]->integer("offset_x") & 0xff) * 0x0101);
  }

  // A number for each filter, for `reader`.
  void load_table(u64 argument, u64 to, PipeId reader, u64 bytes, u32 event) {
    p_.ld_arg(t0_, argument);
    if (joint_) {
      p_.copy_gm_to_ubuf(to, t0_, 0, 1, bytes / 32, 0, 0);
    } else {
      p_.copy_gm_to_cbuf(to, t0_, 0, 1, bytes / 32, 0, 0);
    }
    p_.hand_over(PipeId::MTE2, reader, event);
  }
  u64 argument_of(const Value* v) const {
    return static_cast<u64>(std::ranges::find(group_.inputs(), v) - group_.inputs().begin());
  }
  bool conv_hf32() const { return group_.nodes()[0]->integer("enable_hf32") != 0; }
  usize first_behind() const { return conv_epilogue(group_); }
  bool has_epilogue() const { return group_.nodes().size() > first_behind(); }

  // Of a block: its number becomes that of its first tile.
  void first_tile(Reg block) {
    p_.mul(block, block, tiles());
    p_.get_block_num(t1_);
    p_.div(block, block, t1_);
  }

  // Image, first position and filter of the tile; the rows of the map under it.
  void place() {
    const Window& w = x_.window;
    p_.comment("the tile, and the rows of the map that it needs");
    if (s_.resident) {
      p_.div(n0_, tile_, x_.images * m_tiles_);
      p_.rem(t0_, tile_, x_.images * m_tiles_);
    } else {
      p_.rem(n0_, tile_, n_tiles_);
      p_.div(t0_, tile_, n_tiles_);
    }
    p_.rem(m0_, t0_, m_tiles_);
    p_.div(image_, t0_, m_tiles_);
    first_filter();
    if (s_.row) return place_in_row();
    p_.mul(m0_, m0_, s_.m);
    p_.sub(m_, x_.positions, m0_);
    p_.min(m_, m_, s_.m);
    if (s_.strip) {
      p_.rem(column_, m0_, x_.out_width);
      return count_fractals();
    }
    // t0: first row of the output, t1: row of the map behind the last one that is read.
    p_.div(t0_, m0_, x_.out_width);
    p_.mul(column_, t0_, x_.out_width);
    p_.sub(column_, m0_, column_);
    p_.set(t1_, m0_ + m_ - 1);
    p_.div(t1_, t1_, x_.out_width);
    p_.mul(t1_, t1_, w.stride[0]);
    p_.add(t1_, t1_, w.span(0));
    p_.sub(t1_, t1_, w.pad_begin[0]);
    p_.mul(t0_, t0_, w.stride[0]);
    p_.sub(t0_, t0_, w.pad_begin[0]);
    p_.max(from_, t0_, 0);
    if (first_load3d_) p_.sub(top_, from_, t0_);
    p_.sub(t0_, from_, t0_);  // rows of padding above
    p_.min(rows_, t1_, x_.height);
    p_.sub(t1_, t1_, rows_);  // and below
    p_.sub(rows_, rows_, from_);
    set_map(rows_);
    count_fractals();
  }

  // The map in L1: rows of padding above in t0 and below in t1; both padded to the sides, of the width of the map.
  void set_map(Reg rows) {
    p_.shl(t0_, t0_, 48);
    p_.shl(t1_, t1_, 56);
    p_.or_(t0_, t0_, t1_);
    p_.shl(t1_, rows, 16);
    p_.or_(t0_, t0_, t1_);
    p_.mov(t1_,
           x_.width | static_cast<u64>(x_.window.pad_begin[1]) << 32 | static_cast<u64>(x_.window.pad_end[1]) << 40);
    p_.or_(t0_, t0_, t1_);
    p_.set_fmatrix(t0_);
  }

  // m0: number of the tile in the image, then its first position.
  void place_in_row() {
    p_.rem(m_, m0_, s_.row_tiles(x_));
    p_.div(m0_, m0_, s_.row_tiles(x_));
    p_.mul(m_, m_, s_.m);
    p_.mul(m0_, m0_, x_.out_width);
    p_.add(m0_, m0_, m_);
    p_.sub(m_, x_.out_width, m_);
    p_.min(m_, m_, s_.m);
    p_.mov(column_, 0);
    count_fractals();
  }

  void count_fractals() {
    p_.comment("one row would be a vector in another layout");
    p_.max(m2_, m_, 2);
    p_.add(m1_, m_, 15);
    p_.shr(m1_, m1_, 4);
  }

  // n0: number of the tile by filters, then its first block of filters; n1: its blocks.
  void first_filter() {
    if (x_.groups == 1) {
      p_.mul(n0_, n0_, s_.n / kC0);
      p_.sub(n1_, x_.n1, n0_);
      p_.min(n1_, n1_, s_.n / kC0);
      return;
    }
    const u64 in_group = n_tiles_ / x_.groups;
    p_.div(t0_, n0_, in_group);
    p_.rem(n1_, n0_, in_group);
    p_.mul(t0_, t0_, x_.group_n1());
    p_.mul(n1_, n1_, s_.n / kC0);
    p_.add(n0_, t0_, n1_);
    p_.sub(n1_, x_.group_n1(), n1_);
    p_.min(n1_, n1_, s_.n / kC0);
  }

  void products() {
    begin_tile();
    p_.mov(c_, 0);
    if (s_.strip) p_.mov(fresh_, 1);
    const Target channels = p_.here("channels");
    if (s_.strip) {
      p_.mov(count_, 1);
      p_.loop(kernel_row_, 0, x_.window.kernel[0], 1, [&] { strip(); });
    } else {
      p_.sub(count_, x_.c1, c_);
      p_.min(count_, count_, s_.c1);
      load_l1();
      multiply();
      p_.xor_(slot_, slot_, 1);
    }
    p_.add(c_, c_, s_.c1);
    p_.blt(c_, x_.c1, channels);
    p_.set_flag(PipeId::M, out_pipe(), c_slot_);
  }

  // L0C is free for the products of the tile, and with a bias on the joint core filled with it.
  void begin_tile() {
    if (!joint_ || !x_.biased) return p_.wait_flag(out_pipe(), PipeId::M, c_slot_);
    p_.comment("L0C begins with the bias");
    p_.wait_flag(PipeId::V, PipeId::M, c_slot_);
    p_.set_flag(PipeId::M, PipeId::V, 2);
    p_.wait_flag(PipeId::M, PipeId::V, 2);
    p_.mul(t0_, c_slot_, s_.m * s_.n * 4);
    p_.mul(t1_, n0_, kC0 * 4);
    p_.sub(t2_, m1_, 1);
    p_.loop(m1_, [&](Reg) {
      p_.broadcast_ub_to_cc(Type::f32, t0_, t1_, n1_, 1, 0, t2_);
      p_.add(t0_, t0_, 1024);
    });
    p_.hand_over(PipeId::V, PipeId::M, 2);
  }

  // The products of a row of the window, with the rows of the map that it meets: in L1 they follow each other.
  void strip() {
    const Window& w = x_.window;
    const Reg first = k0_, rows = k_, gm = first_, l1 = bias_;  // multiply() sets these
    const Target done = p_.label("padding");
    // The first row of the output whose row of the map is there, and how many there are.
    p_.mul(t2_, kernel_row_, w.dilation[0]);
    p_.sub(t2_, t2_, w.pad_begin[0]);  // row of the map under row 0 of the output
    p_.div(t0_, m0_, x_.out_width);
    p_.set(t1_, m0_ + m_ - 1);
    p_.div(t1_, t1_, x_.out_width);
    p_.add(t1_, t1_, 1);
    p_.sub(first, w.stride[0] - 1, t2_);
    p_.max(first, first, 0);
    p_.div(first, first, w.stride[0]);
    p_.max(first, first, t0_);
    p_.sub(rows, x_.height + static_cast<u64>(w.stride[0]) - 1, t2_);
    p_.max(rows, rows, 0);
    p_.div(rows, rows, w.stride[0]);
    p_.min(rows, rows, t1_);
    p_.sub(t0_, first, t0_);  // rows of padding above
    p_.sub(t1_, t1_, rows);   // and below
    p_.sub(rows, rows, first);
    p_.ble(rows, 0, done);
    if (first_load3d_) p_.mov(top_, t0_);
    p_.mul(first, first, w.stride[0]);
    p_.add(first, first, t2_);
    if (s_.row) {
      set_columns();
    } else {
      set_map(rows);
    }
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, slot_);
    p_.comment("rows of the map to L1");
    first_block(gm);
    p_.mul(gm, gm, x_.height);
    p_.add(gm, gm, first);
    p_.mul(gm, gm, x_.width);
    if (s_.row) p_.add(gm, gm, t3_);
    p_.shl(gm, gm, 5);
    p_.ld_arg(t1_, 0);
    p_.add(gm, gm, t1_);
    p_.mul(l1, slot_, s_.map_bytes(x_));
    const u64 apart = x_.width * static_cast<u64>(w.stride[0]);
    if (s_.row) {
      p_.copy_gm_to_cbuf(l1, gm, 0, 1, columns_, 0, 0);
    } else if (apart - x_.width <= kMaxCopyGap) {
      p_.copy_gm_to_cbuf(l1, gm, 0, rows, x_.width, apart - x_.width, 0);
    } else {
      p_.loop(rows, [&](Reg) {
        p_.copy_gm_to_cbuf(l1, gm, 0, 1, x_.width, 0, 0);
        p_.add(gm, gm, apart * 32);
        p_.add(l1, l1, x_.width * 32);
      });
    }
    if (!s_.resident) {
      p_.comment("weights to L1");
      p_.mul(t0_, c_, x_.window.kernel[0]);
      p_.add(t0_, t0_, kernel_row_);
      p_.mul(t0_, t0_, x_.kernel_width() * x_.n1);
      p_.add(t0_, t0_, n0_);
      p_.mul(t1_, slot_, s_.weight_bytes(x_) / 2);
      p_.add(t1_, t1_, weights_at());
      p_.mov(t2_, x_.kernel_width());
      load_weights(t1_, t0_, t2_);
    }
    p_.set_flag(PipeId::MTE2, PipeId::MTE1, slot_);
    multiply();
    p_.mov(fresh_, 0);
    p_.xor_(slot_, slot_, 1);
    p_.bind(done);
  }

  // The columns of the map under the tile: t3 is the first one. The map in L1 has them alone.
  void set_columns() {
    const Window& w = x_.window;
    p_.rem(t0_, m0_, x_.out_width);
    p_.mul(t0_, t0_, w.stride[1]);
    p_.sub(t0_, t0_, w.pad_begin[1]);  // column under the first point
    p_.sub(t1_, m_, 1);
    p_.mul(t1_, t1_, w.stride[1]);
    p_.add(t1_, t1_, t0_);
    p_.add(t1_, t1_, w.span(1));  // behind the last one
    p_.max(t3_, t0_, 0);
    p_.min(columns_, t1_, x_.width);
    p_.sub(t0_, t3_, t0_);       // padding to the left
    p_.sub(t1_, t1_, columns_);  // and to the right
    p_.sub(columns_, columns_, t3_);
    if (first_load3d_) p_.neg(column_, t0_);
    p_.shl(t0_, t0_, 32);
    p_.shl(t1_, t1_, 40);
    p_.or_(t0_, t0_, t1_);
    p_.or_(t0_, t0_, columns_);
    p_.or_(t0_, t0_, u64{1} << 16);
    p_.set_fmatrix(t0_);
  }

  // Number of the block of channels c of the image, of all blocks.
  void first_block(Reg to) {
    p_.mul(to, image_, x_.groups * x_.c1);
    p_.add(to, to, c_);
    if (x_.groups == 1) return;
    p_.div(t1_, n0_, x_.group_n1());
    p_.mul(t1_, t1_, x_.c1);
    p_.add(to, to, t1_);
  }

  // Blocks c .. c + count of the map and their weights.
  void load_l1() {
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, slot_);
    p_.comment("rows of the map to L1");
    first_block(t0_);
    p_.mul(t0_, t0_, x_.height);
    p_.add(t0_, t0_, from_);
    p_.mul(t0_, t0_, x_.width * 32);
    p_.ld_arg(t1_, 0);
    p_.add(t0_, t0_, t1_);
    p_.mul(t1_, slot_, s_.map_bytes(x_));
    p_.mul(t2_, rows_, x_.width);
    const u64 plane = x_.height * x_.width;
    if (plane <= kMaxCopyGap) {
      p_.sub(t3_, plane, t2_);
      p_.copy_gm_to_cbuf(t1_, t0_, 0, count_, t2_, t3_, 0);
    } else {
      p_.shl(t3_, t2_, 5);
      p_.loop(count_, [&](Reg) {
        p_.copy_gm_to_cbuf(t1_, t0_, 0, 1, t2_, 0, 0);
        p_.add(t0_, t0_, plane * 32);
        p_.add(t1_, t1_, t3_);
      });
    }
    if (!s_.resident) {
      p_.comment("weights to L1");
      p_.mul(t0_, c_, x_.points * x_.n1);
      p_.add(t0_, t0_, n0_);
      p_.mul(t1_, slot_, s_.weight_bytes(x_) / 2);
      p_.add(t1_, t1_, weights_at());
      p_.mul(t2_, count_, x_.points);
      load_weights(t1_, t0_, t2_);
    }
    p_.set_flag(PipeId::MTE2, PipeId::MTE1, slot_);
  }

  // All weights of the filters of the tile, if they are not those of the tile before.
  void load_weights_that_stay() {
    p_.if_(loaded_ != n0_, [&] {
      p_.comment("the weights of these filters to L1, when those before have been read");
      for (u32 slot = 0; slot < 2; ++slot)
        p_.wait_flag(PipeId::MTE1, PipeId::MTE2, slot);
      p_.mov(t0_, n0_);
      p_.mov(t1_, weights_at());
      p_.mov(t2_, x_.c1 * x_.points);
      load_weights(t1_, t0_, t2_);
      p_.hand_over(PipeId::MTE2, PipeId::MTE1, 3);
      for (u32 slot = 0; slot < 2; ++slot)
        p_.set_flag(PipeId::MTE1, PipeId::MTE2, slot);
      p_.mov(loaded_, n0_);
    });
  }

  // To `l1` from the fractal `from` of the weights: `rows` of fractals, of each those of the filters of the tile.
  void load_weights(Reg l1, Reg from, Reg rows) {
    p_.shl(from, from, 9);
    p_.ld_arg(src_, 1);
    p_.add(from, from, src_);
    p_.sub(t3_, x_.n1, n1_);
    p_.shl(t3_, t3_, 4);
    p_.shl(src_, n1_, 4);
    p_.copy_gm_to_cbuf(l1, from, 0, rows, src_, t3_, 0);
  }

  void multiply() {
    p_.wait_flag(PipeId::MTE2, PipeId::MTE1, slot_);
    p_.comment("products of what is in L1");
    p_.mul(src_, slot_, s_.map_bytes(x_));
    if (s_.resident) {
      p_.mul(w_src_, c_, x_.points);
      if (s_.strip) {
        p_.mul(t0_, kernel_row_, x_.kernel_width());
        p_.add(w_src_, w_src_, t0_);
      }
      p_.mul(w_src_, w_src_, n1_);
      p_.shl(w_src_, w_src_, 9);
    } else {
      p_.mul(w_src_, slot_, s_.weight_bytes(x_) / 2);
    }
    p_.add(w_src_, w_src_, weights_at());
    p_.mov(k0_, 0);
    const Target step = p_.here("depth");
    const u64 points = s_.points(x_);
    p_.mul(t0_, count_, points * x_.c0);
    p_.sub(k_, t0_, k0_);
    p_.min(k_, k_, s_.k);
    p_.wait_flag(PipeId::M, PipeId::MTE1, l0_);
    if (s_.strip) {
      p_.cmp_eq(first_, k0_, 0);
      p_.and_(first_, first_, fresh_);
    } else {
      p_.or_(t0_, c_, k0_);
      p_.cmp_eq(first_, t0_, 0);
    }
    if (x_.biased && !joint_) load_bias();
    const Window& w = x_.window;
    p_.mul(t0_, l0_, l0a_slot());
    p_.shl(t1_, count_, c0_shift());
    if (first_load3d_) {
      load_l0a_by_fractals();
    } else {
      p_.img2colv2_cbuf_to_ca(x_.c0 == 32  ? Type::b8
                              : x_.c0 == 8 ? Type::b32
                                           : Type::b16,
                              t0_, src_, k_, m2_, k0_, column_, w.stride[1], step_h(), w.kernel[1], kernel_h(),
                              w.dilation[1], s_.strip ? 1 : w.dilation[0], 0, 0, 0, 0, t1_);
    }
    p_.mul(t1_, l0_, s_.n * s_.k * x_.element());
    p_.shr(t2_, k_, c0_shift());
    p_.mul(t2_, t2_, n1_);
    p_.load_cbuf_to_cb(t1_, w_src_, 0, t2_, 1, 0, 0);
    p_.shl(t2_, t2_, 9);
    p_.add(w_src_, w_src_, t2_);
    p_.hand_over(PipeId::MTE1, PipeId::M, l0_);
    p_.mul(t2_, c_slot_, s_.m * s_.n * 4);
    p_.shl(t3_, n1_, 4);
    if (joint_) {
      const isa::Value init = x_.biased ? isa::Value(0) : isa::Value(first_);
      p_.mad(mad_, t2_, t0_, t1_, m2_, k_, t3_, init);
    } else if (x_.biased) {
      p_.mul(bias_, c_slot_, s_.n * 4);
      p_.mad(mad_, t2_, t0_, t1_, m2_, k_, t3_, 0, 0, 0, first_, bias_);
    } else {
      p_.mad(mad_, t2_, t0_, t1_, m2_, k_, t3_, first_);
    }
    fence_short();
    p_.set_flag(PipeId::M, PipeId::MTE1, l0_);
    p_.xor_(l0_, l0_, 1);
    p_.add(k0_, k0_, s_.k);
    p_.mul(t0_, count_, points * x_.c0);
    p_.blt(k0_, t0_, step);
    p_.set_flag(PipeId::MTE1, PipeId::MTE2, slot_);
  }

  // Version 1 of load3d makes 16 positions at a time: their fractals for k columns follow each other in L0A, at t0.
  void load_l0a_by_fractals() {
    const Window& w = x_.window;
    p_.comment("load3d by rows of fractals: point of the window and block of channels, then 16 positions each");
    p_.shr(t1_, k0_, c0_shift());
    if (s_.strip) {
      p_.mov(channel_, 0);
      p_.mov(point_w_, t1_);
    } else {
      p_.div(channel_, t1_, x_.points);
      p_.rem(t1_, t1_, x_.points);
      p_.div(point_h_, t1_, w.kernel[1]);
      p_.rem(point_w_, t1_, w.kernel[1]);
    }
    const isa::Value point_h = s_.strip ? isa::Value(0) : isa::Value(point_h_);
    p_.mov(t3_, column_);
    p_.loop(m1_, [&](Reg) {
      if (s_.row) {
        // t3: column of the map in L1
        p_.mov(t1_, t3_);
        p_.mov(t2_, 0);
      } else {
        p_.div(t2_, t3_, x_.out_width);
        p_.mul(t1_, t2_, x_.out_width);
        p_.sub(t1_, t3_, t1_);
        p_.mul(t1_, t1_, w.stride[1]);
        p_.sub(t1_, t1_, w.pad_begin[1]);
        p_.mul(t2_, t2_, step_h());
        p_.sub(t2_, t2_, top_);
      }
      p_.shr(bias_, k_, c0_shift());
      p_.img2col_cbuf_to_ca(x_.c0 == 32 ? Type::b8 : Type::b16, t0_, src_, point_w_, point_h, t1_, t2_, channel_,
                            w.stride[1], step_h(), w.kernel[1], kernel_h(), w.dilation[1], s_.strip ? 1 : w.dilation[0],
                            1, 0, bias_, 0);
      p_.shl(bias_, bias_, 9);
      p_.add(t0_, t0_, bias_);
      p_.add(t3_, t3_, s_.row ? static_cast<i64>(kC0) * w.stride[1] : static_cast<i64>(kC0));
    });
    p_.mul(t0_, l0_, l0a_slot());
  }

  // The row of the tile to its half of the bias table; the tile before last is through with it.
  void load_bias() {
    p_.if_(first_ == 1, [&] {
      p_.mul(t0_, c_slot_, s_.n * 4);
      p_.mul(t1_, n0_, kC0 * 4);
      p_.add(t1_, t1_, bias_at());
      p_.copy_cbuf_to_bt(t0_, t1_, 0, 1, n1_, 0, 0);
    });
  }

  // A mad on few fractals may still be writing the accumulator when the next one reads it.
  void fence_short() {
    const Target done = p_.label("long");
    p_.mul(t0_, m1_, n1_);
    if (joint_) {
      const Target fence = p_.label("short");
      p_.ble(n1_, 1, fence);
      p_.ble(m1_, 2, fence);
      p_.bge(t0_, 10, done);
      p_.bind(fence);
    } else {
      p_.bge(t0_, 10, done);
    }
    p_.pipe_barrier(PipeId::M);
    p_.bind(done);
  }

  // Address of the tile in a tensor of the shape of the output.
  void tile_in(Reg to, usize argument) {
    p_.mul(to, image_, x_.out_c1);
    if (x_.out_c0 == kC0) {
      p_.add(to, to, n0_);
    } else {
      p_.mul(t3_, n0_, kC0);
      p_.div(t3_, t3_, x_.out_c0);
      p_.add(to, to, t3_);
    }
    p_.mul(to, to, x_.positions);
    p_.add(to, to, m0_);
    p_.shl(to, to, 5);
    p_.ld_arg(t3_, argument);
    p_.add(to, to, t3_);
  }

  void store_by_fixpipe() {
    const bool relu = has_epilogue() || (x_.scaling != nullptr && x_.scaling->integer("relu_flag") != 0);
    p_.comment("the tile is complete");
    p_.wait_flag(PipeId::M, PipeId::FIX, c_slot_);
    if (x_.scaling != nullptr) {
      p_.comment("the parameters of the filters, when FIXPIPE is through with those before");
      p_.mul(t0_, n0_, kC0 * 8);
      p_.add(t0_, t0_, factors_at());
      p_.pipe_barrier(PipeId::FIX);
      p_.copy_cbuf_to_fbuf(0, t0_, 1, n1_, 0, 0);
      p_.pipe_barrier(PipeId::FIX);
    }
    tile_in(t0_, group_.inputs().size());
    p_.mul(t1_, c_slot_, s_.m * s_.n * 4);
    p_.shl(t2_, n1_, 4);
    if (x_.out_bytes == 4) {  // blocks of 8 channels, of which the last one of 16 may have one
      p_.mul(t3_, n0_, kC0);
      p_.sub(t3_, x_.out_c1 * x_.out_c0, t3_);
      p_.min(t2_, t2_, t3_);
    }
    p_.shl(t3_, m1_, 4);
    p_.copy_matrix_cc_to_gm(t0_, t1_, 0, t2_, m_, x_.positions, t3_, 0, quant_pre(), relu ? 1 : 0,
                            x_.out_bytes == 4 ? 1 : 0, 0);
    p_.set_flag(PipeId::FIX, PipeId::M, c_slot_);
  }

  // What FIXPIPE makes of the sums, as QuantMode_t numbers it.
  u32 quant_pre() const {
    using isa::insn::QuantPre;
    if (x_.scaling != nullptr) return static_cast<u32>(x_.out_bytes == 1 ? QuantPre::vreq8 : QuantPre::vdeqf16);
    if (x_.out_bytes == 4) return static_cast<u32>(QuantPre::none);
    return static_cast<u32>(mad_ == Type::bf162f32 ? QuantPre::f32_to_bf16 : QuantPre::f32_to_f16);
  }

  void store_through_ub() {
    const usize extra = residuals_.size();
    p_.comment("the tile is complete");
    for (usize i = 0; i < extra; ++i) {
      if (i == 0) p_.wait_flag(PipeId::V, PipeId::MTE2, c_slot_);
      tile_in(t0_, static_cast<usize>(std::ranges::find(group_.inputs(), residuals_[i]) - group_.inputs().begin()));
      p_.mul(t1_, c_slot_, tile_bytes());
      p_.add(t1_, t1_, residual_at() + i * 2 * tile_bytes());
      p_.shl(t2_, m1_, 4);
      p_.sub(t2_, t2_, m_);
      between(t0_, t1_, t2_, true);
    }
    if (extra > 0) p_.hand_over(PipeId::MTE2, PipeId::V, c_slot_);
    p_.wait_flag(PipeId::M, PipeId::V, c_slot_);
    p_.wait_flag(PipeId::MTE3, PipeId::V, c_slot_);
    p_.mul(t0_, c_slot_, s_.m * s_.n * 4);
    p_.mul(t1_, c_slot_, tile_bytes());
    p_.add(t1_, t1_, out_at());
    if (x_.scaling != nullptr) {   // a piece for each 16 filters, which have parameters of their own
      constexpr u64 kVdeq16 = 10;  // CRMODE
      p_.shl(t2_, n0_, 2);
      p_.add(t2_, t2_, factors_at() / 32);
      p_.set_deqscale(t2_);
      p_.copy_matrix_cc_to_ubuf(Type::s32, t1_, t0_, 0, n1_, m1_, 0, 0, kVdeq16);
    } else {
      p_.mul(t2_, m1_, n1_);
      p_.copy_matrix_cc_to_ubuf(x_.out_bytes == 4 ? Type::s32 : Type::f32, t1_, t0_, 0, 1, t2_, 0, 0,
                                x_.out_bytes == 4 ? 0 : 1);
    }
    p_.set_flag(PipeId::V, PipeId::M, c_slot_);
    epilogue();
    if (extra > 0) p_.set_flag(PipeId::V, PipeId::MTE2, c_slot_);
    p_.hand_over(PipeId::V, PipeId::MTE3, c_slot_);
    tile_in(t0_, group_.inputs().size());
    p_.mul(t1_, c_slot_, tile_bytes());
    p_.add(t1_, t1_, out_at());
    p_.shl(t2_, m1_, 4);
    p_.sub(t2_, t2_, m_);
    between(t0_, t1_, t2_, false);
    p_.set_flag(PipeId::MTE3, PipeId::V, c_slot_);
  }

  // The tile between memory, at t0, and UB, at t1, with t2 rows of padding behind each block of channels in UB.
  void between(Reg gm, Reg ub, Reg gap, bool load) {
    if (x_.out_bytes == 4) return store_halves(gm, ub);
    const auto copy = [&](const isa::Value& count, const isa::Value& far, const isa::Value& near) {
      if (load) return p_.copy_gm_to_ubuf(ub, gm, 0, count, m_, far, near);
      p_.copy_ubuf_to_gm(gm, ub, 0, count, m_, near, far);
    };
    if (x_.positions <= kMaxCopyGap) {
      p_.sub(t3_, x_.positions, m_);
      return copy(n1_, t3_, gap);
    }
    p_.shl(t3_, m1_, 9);
    p_.loop(n1_, [&](Reg) {
      copy(1, 0, 0);
      p_.add(gm, gm, x_.positions * 32);
      p_.add(ub, ub, t3_);
    });
  }

  // Sums of 32 bits: rows of 16 in UB are two blocks of 8 channels in memory.
  void store_halves(Reg gm, Reg ub) {
    const Target next = p_.label("halves"), done = p_.label("halves_done");
    p_.mul(t2_, n0_, kC0 / x_.out_c0);
    p_.sub(t2_, x_.out_c1, t2_);  // blocks of 8 from the tile on
    p_.shl(k_, n1_, 1);
    p_.min(t2_, t2_, k_);
    p_.mov(k_, 0);
    p_.shl(t3_, m1_, 10);
    p_.bind(next);
    p_.bge(k_, t2_, done);
    p_.copy_ubuf_to_gm(gm, ub, 0, m_, 1, 1, 0);
    p_.add(gm, gm, x_.positions * 32);
    p_.and_(first_, k_, 1);
    p_.if_(
        first_ == 0, [&] { p_.add(ub, ub, 32); },
        [&] {
          p_.add(ub, ub, t3_);
          p_.sub(ub, ub, 32);
        });
    p_.add(k_, k_, 1);
    p_.b(next);
    p_.bind(done);
  }

  // Nodes behind the convolution, in both slots of UB: addresses are numbers.
  void epilogue() {
    if (!has_epilogue()) return;
    p_.pipe_barrier(PipeId::V);
    const usize first = first_behind();
    const Temporaries inner = temporaries(group_, first);
    const auto write = [&](u64 slot) {
      const Addresses where = [&](const Value* v) {
        const Value* const outer = group_.resolve(v);
        if (v == group_.nodes()[first - 1]->output() || outer == group_.outputs()[0])
          return out_at() + slot * tile_bytes();
        for (usize i = 0; i < residuals_.size(); ++i) {
          if (outer == residuals_[i]) return residual_at() + (i * 2 + slot) * tile_bytes();
        }
        return between_at() + inner.of.at(v) * tile_bytes();
      };
      write_vector_nodes(p_, group_, first, {.at = where, .scratch = between_at() + inner.count * tile_bytes()},
                         s_.m * s_.n);
    };
    p_.if_(
        c_slot_ == 0, [&] { write(0); }, [&] { write(1); });
  }

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

KernelProgram conv_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  ConvWriter writer(group, chip, tiling);
  const u64 tiles = writer.tiles();
  return {.program = writer.program(),
          .type = is_joint(chip) ? task::KernelType::AI_CORE : task::KernelType::AIC_ONLY,
          .blocks = static_cast<u32>(std::min<u64>(tiles, chip.ai_cores))};
}

}  // namespace

const Kernel kConvolutionKernel{"convolution", conv_refuses, conv_formats, conv_tilings, conv_footprint, conv_build};

}  // namespace vinci::graph
