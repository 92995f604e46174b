// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A convolution with 3 x 3 filters, stride 1 and a border of 1, as a matrix product: X is NC1HWC0 and its columns are
// made by load3d on the way to L0A, the filters are FRACTAL_Z, Y is NC1HWC0. Each core has an image and a part of the
// filters. After the published kernel of PTO-ISA (kernels/manual/a2a3/conv2d_forward), whose split, base blocks,
// buffers and flags this has: one block of 16 channels goes to L1 at a time, with its filters, in two places.
#include <fmt/format.h>

#include <algorithm>

#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

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

class Writer {
 public:
  explicit Writer(const Conv& x) : x_(x) {}

  std::string text() {
    u64 reg = 0;
    for (const std::string_view name : {"x", "k", "y", "ni", "n", "n_end", "c", "src", "w_src", "init", "t"})
      s_ += fmt::format(".alias {} = X{}\n", name, reg++);
    for (const std::string_view name : {"x", "k", "y"})
      op("ld_arg {}, {}", name, arguments_++);
    op("get_block_idx t");
    op("rem ni, t, {}", x_.split_n);
    op("div t, t, {}", x_.split_n);
    op("mul src, t, {}", x_.channels * x_.rows() * kC0 * 2);
    op("add x, x, src");
    op("mul src, t, {}", x_.filters * x_.rows() * 2);
    op("add y, y, src");
    flags("set_flag");
    for (u64 m = 0; m < x_.rows(); m += x_.base_m)
      rows_of_tiles(m);
    flags("wait_flag");
    op("pipe_barrier PIPE_ALL");
    op("end");
    return std::move(s_);
  }

 private:
  template <class... Args>
  void op(fmt::format_string<Args...> format, Args&&... args) {
    s_ += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void flags(std::string_view what) {
    for (u64 slot = 0; slot < 2; ++slot) {
      op("{} PIPE_MTE1, PIPE_MTE2, {}", what, slot);
      op("{} PIPE_M, PIPE_MTE1, {}", what, slot);
    }
  }

  // The tiles of base_m positions from `m` on, along the filters of the core.
  void rows_of_tiles(u64 m) {
    const u64 count = std::min(x_.base_m, x_.rows() - m);
    const u64 first = m / x_.width, last = (m + count - 1) / x_.width;  // rows of the image
    const u64 top = first == 0, bottom = last + 1 == x_.height;
    const u64 from = first - 1 + top, height = last + 2 - bottom - from;
    op("mov t, {:#x}", x_.width | height << 16 | u64{1} << 32 | u64{1} << 40 | top << 48 | bottom << 56);
    op("set_fmatrix t");
    op("mul n, ni, {}", x_.core_n());
    op("add n_end, n, {}", x_.core_n());
    s_ += fmt::format("tile_{}:\n", m);
    op("mov c, 0");
    s_ += fmt::format("channels_{}:\n", m);
    for (u64 slot = 0; slot < 2; ++slot)
      block_of_channels(slot, m % x_.width, count, from, height);
    op("blt c, {}, channels_{}", x_.channels, m);
    store(m, count);
    op("add n, n, {}", x_.base_n);
    op("blt n, n_end, tile_{}", m);
  }

  // Block c of the channels: the rows of X and the filters to place `slot` of L1, then their products.
  void block_of_channels(u64 slot, u64 column, u64 count, u64 from, u64 height) {
    const u64 filters_at = 0x20000;
    const u64 x_at = slot * kC0 * x_.width * (height + 2) * 2, w_at = filters_at + slot * x_.filter_bytes();
    op("wait_flag PIPE_MTE1, PIPE_MTE2, {}", slot);
    op("mul src, c, {}", x_.rows() * kC0 * 2);
    op("add src, src, {}", from * x_.width * kC0 * 2);
    op("add src, src, x");
    op("copy_gm_to_cbuf {}, src, 0, 1, {}, 0, 0", x_at, height * x_.width);
    op("set_flag PIPE_MTE2, PIPE_MTE1, {}", 2 * slot);
    op("mul w_src, c, {}", kTaps * x_.filters * kC0 * 2);
    op("mul t, n, {}", kC0 * 2);
    op("add w_src, w_src, t");
    op("add w_src, w_src, k");
    op("copy_gm_to_cbuf {}, w_src, 0, {}, {}, {}, 0", w_at, kTaps, x_.base_n, x_.filters - x_.base_n);
    op("set_flag PIPE_MTE2, PIPE_MTE1, {}", 2 * slot + 1);
    for (u64 step = 0; step < x_.steps(); ++step) {
      const u64 l0 = (slot * x_.steps() + step) % 2, place = l0 * 0x8000;
      op("wait_flag PIPE_M, PIPE_MTE1, {}", l0);
      if (step == 0) op("wait_flag PIPE_MTE2, PIPE_MTE1, {}", 2 * slot);
      op("img2colv2_cbuf_to_ca.b16 {}, {}, {}, {}, {}, {}, 1, 1, 3, 3, 1, 1, 0, 0, 0, 0, {}", place, x_at, x_.base_k,
         count, step * x_.base_k, column, kC0);
      if (step == 0) op("wait_flag PIPE_MTE2, PIPE_MTE1, {}", 2 * slot + 1);
      const u64 fractals = x_.base_k / 16 * (x_.base_n / 16);
      op("load_cbuf_to_cb {}, {}, {}, {}, 1, 0, 0", place, w_at, step * fractals, fractals);
      if (step + 1 == x_.steps()) op("set_flag PIPE_MTE1, PIPE_MTE2, {}", slot);
      op("set_flag PIPE_MTE1, PIPE_M, {0}\n  wait_flag PIPE_MTE1, PIPE_M, {0}", l0);
      const bool first = slot == 0 && step == 0;
      if (first) op("cmp_eq init, c, 0");
      op("mad.f162f32 0, {}, {}, {}, {}, {}, {}", place, place, count, x_.base_k, x_.base_n, first ? "init" : "0");
      op("set_flag PIPE_M, PIPE_MTE1, {}", l0);
    }
    op("add c, c, 1");
  }

  // As f16, block columns of Y.
  void store(u64 m, u64 count) {
    op("set_flag PIPE_M, PIPE_FIX, 0\n  wait_flag PIPE_M, PIPE_FIX, 0");
    op("mul src, n, {}", x_.rows() * 2);
    op("add src, src, {}", m * kC0 * 2);
    op("add src, src, y");
    op("copy_matrix_cc_to_gm src, 0, 0, {}, {}, {}, {}, 0, 1, 0, 0, 0", x_.base_n, count, x_.rows(),
       align_up(count, u64{16}));
    op("set_flag PIPE_FIX, PIPE_M, 0\n  wait_flag PIPE_FIX, PIPE_M, 0");
  }

  const Conv& x_;
  std::string s_;
  u64 arguments_ = 0;
};

KernelStream kernel(const Params& p, const config::ChipConfig& /*chip*/) {
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
  return {.code = Writer(x).text(),
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
          .kernel = kernel,
          .measure = times_of(kernel)};
}

}  // namespace vinci::validate
