// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "isa/base/error.h"
#include "tools/gen/tile_pipeline.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;
constexpr u64 kC0 = ConvShape::kC0, kBlock = ConvShape::kBlock, kFractal = ConvShape::kFractal;

// y = relu(x * scale + offset) in place.
class Normalisation {
 public:
  // X19 to X23 are free for it, and those below are not.
  Normalisation(ProgramBuilder& p, u64 channels)
      : at(p.reg("at", 19)),
        first(p.reg("first", 23)),
        p_(p),
        channels_(channels),
        dst_(p.reg("dst", 20)),
        by_(p.reg("by", 21)),
        parameters_(p.reg("parameters", 22)) {}

  // Scale and offset of the channels, from an argument of the launch.
  void load_parameters(u32 argument) {
    p_.ld_arg(parameters_, argument);
    p_.copy_gm_to_ubuf(0, parameters_, 0, 1, 2 * channels_ * 2 / kBlock, 0, 0);
    p_.hand_over(PipeId::MTE2, PipeId::V, 2);
  }
  // For channel blocks [0, groups) of `blocks` pixels each at `at`. A block of scale and offset goes with all pixels:
  // strides of 0. `before` is added to their addresses.
  void write(u64 groups, u64 blocks, Reg before) {
    const u64 repeats = blocks / 8;
    for (const u64 from : {u64{0}, channels_ * 2}) {
      for (u64 g = 0; g < groups; ++g) {
        p_.add(dst_, at, g * blocks * kBlock);
        p_.add(by_, before, from + g * kBlock);
        p_.call(from == 0 ? "vmul" : "vadd", Type::f16, {dst_, dst_, by_, repeats, 1, 1, 0, 8, 8, 0});
      }
      p_.pipe_barrier(PipeId::V);
    }
    for (u64 g = 0; g < groups; ++g) {
      p_.add(dst_, at, g * blocks * kBlock);
      p_.vrelu(Type::f16, dst_, dst_, repeats, 1, 1, 8, 8);
    }
  }

  const Reg at, first;

 private:
  ProgramBuilder& p_;
  const u64 channels_;
  const Reg dst_, by_, parameters_;
};

// One block of the launch convolves every block_num-th image. Arguments: x, weights, y, and when fused the parameters
// of the normalisation. The loop over the tiles of an image is unrolled.
class Convolution {
 public:
  Convolution(const ConvShape& shape, u64 images, bool fused, u64 ub_buffers, isa::Arch arch)
      : s_(shape),
        fused_(fused),
        ub_buffers_(ub_buffers),
        p_(fused ? "conv_bn_relu" : "conv", arch),
        images_(p_.constant("IMAGES", static_cast<i64>(images))) {}

  isa::BuiltProgram program() {
    p_.get_block_idx(image);
    p_.get_block_num(step);
    p_.ld_arg(x, 0);
    p_.ld_arg(weights, 1);
    p_.ld_arg(y, 2);
    p_.set_fmatrix(s_.edge | s_.edge << 16 | pad() * 0x01010101ull << 32);
    p_.set_padding(0);
    p_.set_l1_3d_size(0);
    if (fused_) normalise_.load_parameters(3);
    p_.copy_gm_to_cbuf(0, weights, 0, 1, s_.weight_bytes() / kBlock, 0, 0);
    all_free(true);
    const isa::Target next = p_.here("image"), finish = p_.label("finish");
    p_.bge(image, images_, finish);
    p_.mul(offset, image, s_.in_bytes());
    p_.add(x_at, x, offset);
    if (s_.in != s_.out) p_.mul(offset, image, s_.out_bytes());
    p_.add(y_at, y, offset);
    load_image();
    for (u64 tile = 0; tile < s_.tiles(); ++tile)
      compute_tile(tile);
    p_.set_flag(PipeId::MTE1, PipeId::MTE2, 0);
    p_.add(image, image, step);
    p_.b(next);
    p_.bind(finish);
    all_free(false);
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  u64 pad() const { return s_.window / 2; }

  void all_free(bool set) {
    const auto flag = [&](PipeId from, PipeId to, u64 event) {
      set ? p_.set_flag(from, to, event) : p_.wait_flag(from, to, event);
    };
    flag(PipeId::MTE1, PipeId::MTE2, 0);
    for (u64 i = 0; i < 2; ++i) {
      flag(PipeId::M, PipeId::MTE1, i);
      flag(PipeId::V, PipeId::M, i);
    }
    for (u64 i = 0; i < ub_buffers_; ++i)
      flag(PipeId::MTE3, PipeId::V, i);
  }

  void load_image() {
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, 0);
    for (u64 piece = 0; piece < ConvShape::kPieces; ++piece) {
      const u64 from = piece * s_.piece_rows() * s_.edge, blocks = s_.piece_rows() * s_.edge;
      p_.add(gm, x_at, from * kBlock);
      p_.copy_gm_to_cbuf(s_.weight_bytes() + from * kBlock, gm, 0, s_.in1(), blocks, s_.pixels() - blocks,
                         s_.pixels() - blocks);
      p_.set_flag(PipeId::MTE2, PipeId::MTE1, piece);
    }
  }

  void compute_tile(u64 tile) {
    const u64 slot_c = tile % 2;
    // The rows under the tile end as many rows below it as the image is padded.
    const auto piece_of = [this](u64 t) {
      return std::min(t * s_.tile_rows + s_.tile_rows - 1 + pad(), s_.edge - 1) / s_.piece_rows();
    };
    for (u64 piece = tile == 0 ? 0 : piece_of(tile - 1) + 1; piece <= piece_of(tile); ++piece)
      p_.wait_flag(PipeId::MTE2, PipeId::MTE1, piece);
    p_.wait_flag(PipeId::V, PipeId::M, slot_c);
    for (u64 part = 0; part < s_.in1(); ++part)
      add_part(tile, part, slot_c);
    p_.hand_over(PipeId::M, PipeId::V, slot_c);
    store_tile(tile, slot_c);
  }
  // The products with the channels of one c1.
  void add_part(u64 tile, u64 part, u64 slot_c) {
    const u64 slot = part % 2;
    p_.wait_flag(PipeId::M, PipeId::MTE1, slot);
    for (u64 m1 = 0; m1 < s_.m1(); ++m1) {
      const u64 pixel = tile * s_.tile_pixels() + m1 * kC0;
      p_.img2col_cbuf_to_ca(Type::b16, slot * s_.part_a() + m1 * s_.points() * kFractal, s_.weight_bytes(), 0, 0,
                            static_cast<i64>(pixel % s_.edge) - static_cast<i64>(pad()),
                            static_cast<i64>(pixel / s_.edge) - static_cast<i64>(pad()), part, 1, 1, s_.window,
                            s_.window, 1, 1, 1, 0, s_.points(), 0);
    }
    p_.load_cbuf_to_cb(slot * s_.part_b(), 0, part * s_.points() * s_.out1(), s_.points() * s_.out1(), 1, 0, 0);
    p_.hand_over(PipeId::MTE1, PipeId::M, slot);
    p_.mad(Type::f162f32, slot_c * s_.tile_c(), slot * s_.part_a(), slot * s_.part_b(), s_.tile_pixels(),
           s_.points() * kC0, s_.out, part == 0 ? 1 : 0);
    p_.set_flag(PipeId::M, PipeId::MTE1, slot);
  }

  // L0C to UB as f16, what is fused, and to global memory.
  void store_tile(u64 tile, u64 slot_c) {
    const u64 slot = tile % ub_buffers_, at = s_.ub_tiles() + slot * s_.tile_ub();
    p_.wait_flag(PipeId::MTE3, PipeId::V, slot);
    p_.copy_matrix_cc_to_ubuf(Type::f32, at, slot_c * s_.tile_c(), 0, 1, s_.m1() * s_.out1(), 0, 0, 1);
    p_.set_flag(PipeId::V, PipeId::M, slot_c);
    if (fused_) {
      p_.pipe_barrier(PipeId::V);
      p_.mov(normalise_.at, at);
      p_.mov(normalise_.first, 0);
      normalise_.write(s_.out1(), s_.tile_pixels(), normalise_.first);
    }
    p_.hand_over(PipeId::V, PipeId::MTE3, slot);
    p_.add(gm, y_at, tile * s_.tile_pixels() * kBlock);
    p_.copy_ubuf_to_gm(gm, at, 0, s_.out1(), s_.tile_pixels(), 0, s_.pixels() - s_.tile_pixels());
    p_.set_flag(PipeId::MTE3, PipeId::V, slot);
  }

  const ConvShape& s_;
  const bool fused_;
  const u64 ub_buffers_;
  ProgramBuilder p_;
  const isa::Const images_;
  const Reg image = p_.reg("image"), step = p_.reg("step"), x = p_.reg("x"), weights = p_.reg("weights"),
            y = p_.reg("y"), offset = p_.reg("offset"), x_at = p_.reg("x_at"), y_at = p_.reg("y_at"), gm = p_.reg("gm");
  Normalisation normalise_{p_, s_.out};
};

}  // namespace

// A tile is a part of a plane of 16 channels, of at most 255 repeats.
isa::BuiltProgram bn_relu(const ConvShape& shape, u64 images, u32 ub_buffers, isa::Arch arch) {
  u64 parts = 1;
  while (shape.pixels() % (8 * parts) != 0 || shape.pixels() / parts > 255 * 8)
    ++parts;
  const u64 blocks = shape.pixels() / parts;
  ProgramBuilder b("bn_relu", arch);
  const Reg y = b.reg("y", 3), z = b.reg("z", 4);
  const Reg before = b.reg("before", 5);            // bytes before the tile
  const Reg of_channels = b.reg("of_channels", 6);  // bytes before the parameters of its channels
  const Reg gm = b.reg("gm", 7);
  Normalisation normalise(b, shape.out);
  gen::TilePipeline t{.tiles = images * shape.out1() * parts, .slots = ub_buffers, .in_place = true};
  const auto at = [&](u32 slot) { return shape.ub_tiles() + slot * blocks * kBlock; };
  t.prologue = [&](ProgramBuilder& p) {
    p.ld_arg(y, 0);
    p.ld_arg(z, 1);
    normalise.load_parameters(2);
  };
  t.locate = [&](ProgramBuilder& p, Reg tile) {
    p.mul(before, tile, blocks * kBlock);
    parts == 2 ? p.shr(of_channels, tile, 1) : p.div(of_channels, tile, parts);
    p.rem(of_channels, of_channels, shape.out1());
    p.mul(of_channels, of_channels, kBlock);
  };
  t.load = [&](ProgramBuilder& p, u32 slot) {
    p.add(gm, y, before);
    p.copy_gm_to_ubuf(at(slot), gm, 0, 1, blocks, 0, 0);
  };
  t.compute = [&](ProgramBuilder& p, u32 slot) {
    p.mov(normalise.at, at(slot));
    normalise.write(1, blocks, of_channels);
  };
  t.store = [&](ProgramBuilder& p, u32 slot) {
    p.add(gm, z, before);
    p.copy_ubuf_to_gm(gm, at(slot), 0, 1, blocks, 0, 0);
  };
  write_tile_pipeline(b, t);
  return b.finish();
}

ConvShape ConvShape::checked(bool split) const {
  constexpr u64 kKiB = 1024, kHalfL0 = 32 * kKiB;
  const u64 half_l0c = (split ? 64 : 128) * kKiB, ub = (split ? 192 : 240) * kKiB, l1 = (split ? 512 : 1024) * kKiB;
  const auto require = [&](bool holds, const std::string& why) {
    if (holds) return;
    fail(Fault::Input,
         "a convolution of {0} x {0} pixels, {1} to {2} channels, with a window of {3} x {3} does not fit {4}", edge,
         in, out, window, why);
  };
  const std::string core = split ? "the split core" : "the joint core";
  require(window % 2 == 1, "the kernel: the window must be odd");
  require(in % kC0 == 0 && out % kC0 == 0, "the kernel: channels must be multiples of 16");
  require(edge % kPieces == 0, "the kernel: the edge must be a multiple of 4");
  const u64 bytes = weight_bytes() + in_bytes() + out * 4;
  require(bytes <= l1,
          fmt::format("{}: all weights and an image take {} KiB of {} in L1; take fewer channels or pixels", core,
                      ceil_div(bytes, kKiB), l1 / kKiB));
  require(part_b() <= kHalfL0,
          fmt::format("{}: the weights of 16 channels take {} KiB of {} in L0B; take fewer channels "
                      "or a smaller window",
                      core, ceil_div(part_b(), kKiB), kHalfL0 / kKiB));
  ConvShape s = *this;
  s.tile_rows = 0;
  bool whole = false;
  for (u64 rows = 1; rows <= edge; ++rows) {
    ConvShape t = *this;
    t.tile_rows = rows;
    if (edge % rows != 0 || t.tile_pixels() % kC0 != 0) continue;
    whole = true;
    if (t.part_a() <= kHalfL0 && t.tile_c() <= half_l0c && t.ub_tiles() + 2 * t.tile_ub() <= ub) s = t;
  }
  require(whole, "the kernel: no rows of the image are whole fractals of 16 pixels");
  require(s.tile_rows != 0, core +
                                ": the fewest rows that are whole fractals of 16 pixels are too large for half of "
                                "L0A, L0C or UB; take fewer channels or a smaller window");
  return s;
}

isa::BuiltProgram convolution(const ConvShape& shape, u64 images, bool fused, u64 ub_buffers, isa::Arch arch) {
  return Convolution(shape, images, fused, ub_buffers, arch).program();
}

}  // namespace vinci::studies
