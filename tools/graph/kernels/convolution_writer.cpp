// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/convolution_writer.h"

#include <fmt/format.h>

namespace vinci::graph {

std::optional<isa::Type> conv_mad(DataType map, DataType weights, const config::ChipConfig& chip) {
  using enum DataType;
  if (weights == i8 && map == i8) return isa::Type::s8;
  if (weights == i8 && map == u8) return isa::Type::u8s8;
  if (map != weights) return std::nullopt;
  if (map == f16) return isa::Type::f162f32;
  if (is_joint(chip)) return std::nullopt;
  return map == bf16  ? std::optional(isa::Type::bf162f32)
         : map == f32 ? std::optional(isa::Type::f322f32)
                      : std::nullopt;
}

isa::BuiltProgram ConvWriter::program() {
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

void ConvWriter::prologue() {
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

void ConvWriter::load_table(u64 argument, u64 to, PipeId reader, u64 bytes, u32 event) {
  p_.ld_arg(t0_, argument);
  if (joint_) {
    p_.copy_gm_to_ubuf(to, t0_, 0, 1, bytes / 32, 0, 0);
  } else {
    p_.copy_gm_to_cbuf(to, t0_, 0, 1, bytes / 32, 0, 0);
  }
  p_.hand_over(PipeId::MTE2, reader, event);
}

void ConvWriter::first_tile(Reg block) {
  p_.mul(block, block, tiles());
  p_.get_block_num(t1_);
  p_.div(block, block, t1_);
}

void ConvWriter::place() {
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

void ConvWriter::set_map(Reg rows) {
  p_.shl(t0_, t0_, 48);
  p_.shl(t1_, t1_, 56);
  p_.or_(t0_, t0_, t1_);
  p_.shl(t1_, rows, 16);
  p_.or_(t0_, t0_, t1_);
  p_.mov(t1_, x_.width | static_cast<u64>(x_.window.pad_begin[1]) << 32 | static_cast<u64>(x_.window.pad_end[1]) << 40);
  p_.or_(t0_, t0_, t1_);
  p_.set_fmatrix(t0_);
}

void ConvWriter::place_in_row() {
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

void ConvWriter::count_fractals() {
  p_.comment("one row would be a vector in another layout");
  p_.max(m2_, m_, 2);
  p_.add(m1_, m_, 15);
  p_.shr(m1_, m1_, 4);
}

void ConvWriter::first_filter() {
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

void ConvWriter::products() {
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

void ConvWriter::begin_tile() {
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

void ConvWriter::multiply() {
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

void ConvWriter::load_bias() {
  p_.if_(first_ == 1, [&] {
    p_.mul(t0_, c_slot_, s_.n * 4);
    p_.mul(t1_, n0_, kC0 * 4);
    p_.add(t1_, t1_, bias_at());
    p_.copy_cbuf_to_bt(t0_, t1_, 0, 1, n1_, 0, 0);
  });
}

void ConvWriter::fence_short() {
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

}  // namespace vinci::graph
