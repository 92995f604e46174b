// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/convolution_writer.h"

namespace vinci::graph {

void ConvWriter::strip() {
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

void ConvWriter::set_columns() {
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

void ConvWriter::first_block(Reg to) {
  p_.mul(to, image_, x_.groups * x_.c1);
  p_.add(to, to, c_);
  if (x_.groups == 1) return;
  p_.div(t1_, n0_, x_.group_n1());
  p_.mul(t1_, t1_, x_.c1);
  p_.add(to, to, t1_);
}

void ConvWriter::load_l1() {
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

void ConvWriter::load_weights_that_stay() {
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

void ConvWriter::load_weights(Reg l1, Reg from, Reg rows) {
  p_.shl(from, from, 9);
  p_.ld_arg(src_, 1);
  p_.add(from, from, src_);
  p_.sub(t3_, x_.n1, n1_);
  p_.shl(t3_, t3_, 4);
  p_.shl(src_, n1_, 4);
  p_.copy_gm_to_cbuf(l1, from, 0, rows, src_, t3_, 0);
}

void ConvWriter::load_l0a_by_fractals() {
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

}  // namespace vinci::graph
