// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A convolution with 3 x 3 filters, stride 1 and a border of 1, as a matrix product: X is NC1HWC0 and its columns are
// made by load3d on the way to L0A, the filters are FRACTAL_Z, Y is NC1HWC0. Each core has an image and a part of the
// filters. After the published kernel of PTO-ISA (kernels/manual/a2a3/conv2d_forward), whose split, base blocks,
// buffers and flags this has: one block of 16 channels goes to L1 at a time, with its filters, in two places.
#include <algorithm>

#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

using isa::PipeId, isa::Reg, isa::Target, isa::Type, isa::Value;

constexpr u64 kC0 = 16, kTaps = 9;  // channels of a block, points of a filter

struct Conv {
  u64 batch, channels, height, width, filters;  // channels in blocks of 16
  u64 split_n;                                  // cores for the filters of an image
  u64 base_m, base_n, base_k;
  u64 rows() const { return height * width; }                    // of the matrix of an image
  u64 core_n() const { return filters / split_n; }               // columns of a core
  u64 steps() const { return kC0 * kTaps / base_k; }             // mads for each block of channels
  u64 filter_bytes() const { return kC0 * kTaps * base_n * 2; }  // of a block of channels in L1
};

class ConvWriter {
 public:
  ConvWriter(const Conv& conv, isa::Arch arch) : x_(conv), p_("conv2d", arch) {}

  isa::BuiltProgram program() {
    p_.ld_arg(x, 0);
    p_.ld_arg(k, 1);
    p_.ld_arg(y, 2);
    p_.get_block_idx(t);
    p_.rem(ni, t, x_.split_n);
    p_.div(t, t, x_.split_n);
    p_.mul(src, t, x_.channels * x_.rows() * kC0 * 2);
    p_.add(x, x, src);
    p_.mul(src, t, x_.filters * x_.rows() * 2);
    p_.add(y, y, src);
    for (u64 slot = 0; slot < 2; ++slot) {
      p_.set_flag(PipeId::MTE1, PipeId::MTE2, slot);
      p_.set_flag(PipeId::M, PipeId::MTE1, slot);
    }
    for (u64 m = 0; m < x_.rows(); m += x_.base_m)
      rows_of_tiles(m);
    for (u64 slot = 0; slot < 2; ++slot) {
      p_.wait_flag(PipeId::MTE1, PipeId::MTE2, slot);
      p_.wait_flag(PipeId::M, PipeId::MTE1, slot);
    }
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  // The tiles of base_m positions from `m` on, along the filters of the core.
  void rows_of_tiles(u64 m) {
    const u64 count = std::min(x_.base_m, x_.rows() - m);
    const u64 first = m / x_.width, last = (m + count - 1) / x_.width;  // rows of the image
    const u64 top = first == 0, bottom = last + 1 == x_.height;
    const u64 from = first - 1 + top, height = last + 2 - bottom - from;
    p_.mov(t, x_.width | height << 16 | u64{1} << 32 | u64{1} << 40 | top << 48 | bottom << 56);
    p_.set_fmatrix(t);
    p_.mul(n, ni, x_.core_n());
    p_.add(n_end, n, x_.core_n());
    const Target tile = p_.here("tile");
    p_.mov(c, 0);
    const Target channels = p_.here("channels");
    for (u64 slot = 0; slot < 2; ++slot)
      block_of_channels(slot, m % x_.width, count, from, height);
    p_.blt(c, x_.channels, channels);
    store(m, count);
    p_.add(n, n, x_.base_n);
    p_.blt(n, n_end, tile);
  }

  // Block c of the channels: the rows of X and the filters to place `slot` of L1, then their products.
  void block_of_channels(u64 slot, u64 column, u64 count, u64 from, u64 height) {
    const u64 filters_at = 0x20000;
    const u64 x_at = slot * kC0 * x_.width * (height + 2) * 2, w_at = filters_at + slot * x_.filter_bytes();
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, slot);
    p_.mul(src, c, x_.rows() * kC0 * 2);
    p_.add(src, src, from * x_.width * kC0 * 2);
    p_.add(src, src, x);
    p_.copy_gm_to_cbuf(x_at, src, 0, 1, height * x_.width, 0, 0);
    p_.set_flag(PipeId::MTE2, PipeId::MTE1, 2 * slot);
    p_.mul(w_src, c, kTaps * x_.filters * kC0 * 2);
    p_.mul(t, n, kC0 * 2);
    p_.add(w_src, w_src, t);
    p_.add(w_src, w_src, k);
    p_.copy_gm_to_cbuf(w_at, w_src, 0, kTaps, x_.base_n, x_.filters - x_.base_n, 0);
    p_.set_flag(PipeId::MTE2, PipeId::MTE1, 2 * slot + 1);
    for (u64 step = 0; step < x_.steps(); ++step) {
      const u64 l0 = (slot * x_.steps() + step) % 2, place = l0 * 0x8000;
      p_.wait_flag(PipeId::M, PipeId::MTE1, l0);
      if (step == 0) p_.wait_flag(PipeId::MTE2, PipeId::MTE1, 2 * slot);
      p_.img2colv2_cbuf_to_ca(Type::b16, place, x_at, x_.base_k, count, step * x_.base_k, column, 1, 1, 3, 3, 1, 1, 0,
                              0, 0, 0, kC0);
      if (step == 0) p_.wait_flag(PipeId::MTE2, PipeId::MTE1, 2 * slot + 1);
      const u64 fractals = x_.base_k / 16 * (x_.base_n / 16);
      p_.load_cbuf_to_cb(place, w_at, step * fractals, fractals, 1, 0, 0);
      if (step + 1 == x_.steps()) p_.set_flag(PipeId::MTE1, PipeId::MTE2, slot);
      p_.hand_over(PipeId::MTE1, PipeId::M, l0);
      const bool first = slot == 0 && step == 0;
      if (first) p_.cmp_eq(init, c, 0);
      p_.mad(Type::f162f32, 0, place, place, count, x_.base_k, x_.base_n, first ? Value(init) : Value(0));
      p_.set_flag(PipeId::M, PipeId::MTE1, l0);
    }
    p_.add(c, c, 1);
  }

  // As f16, block columns of Y.
  void store(u64 m, u64 count) {
    p_.hand_over(PipeId::M, PipeId::FIX, 0);
    p_.mul(src, n, x_.rows() * 2);
    p_.add(src, src, m * kC0 * 2);
    p_.add(src, src, y);
    p_.copy_matrix_cc_to_gm(src, 0, 0, x_.base_n, count, x_.rows(), align_up(count, u64{16}), 0, 1, 0, 0, 0);
    p_.hand_over(PipeId::FIX, PipeId::M, 0);
  }

  const Conv& x_;
  isa::ProgramBuilder p_;
  const Reg x = p_.reg("x"), k = p_.reg("k"), y = p_.reg("y"), ni = p_.reg("ni"), n = p_.reg("n"),
            n_end = p_.reg("n_end"), c = p_.reg("c"), src = p_.reg("src"), w_src = p_.reg("w_src"),
            init = p_.reg("init"), t = p_.reg("t");
};

KernelStream conv2d_kernel(const Params& p, const config::ChipConfig& chip) {
  const Conv x{.batch = p.whole("batch"),
               .channels = p.whole("channels"),
               .height = p.whole("height"),
               .width = p.whole("width"),
               .filters = p.whole("filters"),
               .split_n = p.whole("split_n"),
               .base_m = p.whole("base_m"),
               .base_n = p.whole("base_n"),
               .base_k = p.whole("base_k")};
  p.need(x.batch > 0 && x.height > 0 && x.width > 0 && x.channels > 0 && x.channels % 2 == 0,
         "sizes are not 0, and channels is even");
  p.need(x.base_n > 0 && x.split_n > 0 && x.base_n % 16 == 0 && x.filters % (x.split_n * x.base_n) == 0,
         "filters is a multiple of split_n * base_n, base_n of 16");
  p.need(x.base_m > 0 && x.base_m % 16 == 0, "base_m is a multiple of 16");
  p.need(x.base_k > 0 && x.base_k % 16 == 0 && kC0 * kTaps % x.base_k == 0, "base_k is 16, 48 or 144");
  return {.code = ConvWriter(x, chip.arch).program(),
          .cube = true,
          .blocks = static_cast<u32>(x.batch * x.split_n),
          .l2 = l2_state(p),
          .buffers = {{x.batch * x.channels * x.rows() * kC0 * 2},
                      {x.channels * kTaps * x.filters * kC0 * 2},
                      {x.batch * x.filters * x.rows() * 2}}};
}

}  // namespace

Family conv2d() {
  return {.name = "conv2d",
          .doc = "3 x 3 convolution of f16 with stride 1 and a border of 1, X and Y as NC1HWC0",
          .parameters = {{"batch", "", "", "images"},
                         {"channels", "16", "", "of X, in blocks of 16"},
                         {"height", "", "", "of an image"},
                         {"width", "", "", "of an image"},
                         {"filters", "", "", "channels of Y"},
                         {"split_n", "", "6", "cores for the filters of an image"},
                         {"base_m", "", "128", "positions of a tile of Y"},
                         {"base_n", "", "256", "filters of a tile of Y"},
                         {"base_k", "", "48", "of the 144 columns of a block of channels that one mad takes"},
                         l2_parameter("empty")},
          .metrics = kernel_metrics(),
          .kernel = conv2d_kernel,
          .measure = times_of(conv2d_kernel)};
}

}  // namespace vinci::validate
