// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/split_convolution.h"

#include <algorithm>

#include "isa/base/error.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;

constexpr u64 kBlock = ConvShape::kBlock;
constexpr u32 kImageDone = 0;  // flag between the cores of a block

class Convolution {
 public:
  Convolution(const ConvShape& shape, u64 images, SplitForm form, isa::Arch arch)
      : s_(shape), form_(form), p_("conv", arch), images_(p_.constant("IMAGES", static_cast<i64>(images))) {}

  isa::BuiltProgram program() {
    const u64 pad = s_.window / 2;
    p_.get_block_idx(image_);
    p_.get_block_num(step_);
    if (form_ == SplitForm::mix) p_.set_ffts_base_addr(1);
    p_.set_fmatrix(s_.edge | s_.edge << 16 | pad * 0x01010101ull << 32);
    p_.set_padding(0);
    p_.copy_gm_to_cbuf(0, weights_, 0, 1, s_.weight_bytes() / kBlock, 0, 0);
    if (form_ == SplitForm::fixpipe) load_bias();
    free(true);
    const isa::Target next = p_.here("image"), finish = p_.label("finish");
    p_.bge(image_, images_, finish);
    p_.mul(x_at_, image_, s_.in_bytes());
    p_.add(x_at_, x_at_, x_);
    p_.mul(y_at_, image_, s_.out_bytes());
    p_.add(y_at_, y_at_, y_);
    load_image();
    for (u64 tile = 0; tile < s_.tiles(); ++tile)
      compute_tile(tile);
    p_.set_flag(PipeId::MTE1, PipeId::MTE2, 0);
    if (form_ == SplitForm::mix) p_.ffts_cross_core_sync(PipeId::FIX, 0x1 | 2 << 4 | kImageDone << 8);
    p_.add(image_, image_, step_);
    p_.b(next);
    p_.bind(finish);
    free(false);
    p_.end_block();
    return p_.finish();
  }

 private:
  u64 image_at() const { return s_.weight_bytes(); }
  u64 bias_at() const { return image_at() + s_.in_bytes(); }

  // L1 of the image, both slots of L0 and both of L0C.
  void free(bool set) {
    const auto flag = [&](PipeId from, PipeId to, u64 event) {
      set ? p_.set_flag(from, to, event) : p_.wait_flag(from, to, event);
    };
    flag(PipeId::MTE1, PipeId::MTE2, 0);
    for (u64 slot = 0; slot < 2; ++slot) {
      flag(PipeId::M, PipeId::MTE1, slot);
      flag(PipeId::FIX, PipeId::M, slot);
    }
  }

  void load_bias() {
    p_.copy_gm_to_cbuf(bias_at(), bias_, 0, 1, s_.out * 4 / kBlock, 0, 0);
    p_.hand_over(PipeId::MTE2, PipeId::MTE1, 7);
    p_.copy_cbuf_to_bt(0, bias_at(), 0, 1, s_.out1(), 0, 0);
    p_.hand_over(PipeId::MTE1, PipeId::M, 7);
  }

  void load_image() {
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, 0);
    for (u64 piece = 0; piece < ConvShape::kPieces; ++piece) {
      const u64 blocks = s_.piece_rows() * s_.edge, from = piece * blocks;
      p_.add(gm_, x_at_, from * kBlock);
      p_.copy_gm_to_cbuf(image_at() + from * kBlock, gm_, 0, s_.in1(), blocks, s_.pixels() - blocks,
                         s_.pixels() - blocks);
      p_.set_flag(PipeId::MTE2, PipeId::MTE1, piece);
    }
  }

  void compute_tile(u64 tile) {
    const u64 slot_c = tile % 2;
    // The rows under the tile end as many rows below it as the image is padded.
    const auto piece_of = [&](u64 t) {
      return std::min(t * s_.tile_rows + s_.tile_rows - 1 + s_.window / 2, s_.edge - 1) / s_.piece_rows();
    };
    for (u64 piece = tile == 0 ? 0 : piece_of(tile - 1) + 1; piece <= piece_of(tile); ++piece)
      p_.wait_flag(PipeId::MTE2, PipeId::MTE1, piece);
    p_.wait_flag(PipeId::FIX, PipeId::M, slot_c);
    for (u64 part = 0; part < s_.in1(); ++part)
      add_part(tile, part, slot_c);
    p_.hand_over(PipeId::M, PipeId::FIX, slot_c);
    p_.add(gm_, y_at_, tile * s_.tile_pixels() * kBlock);
    p_.copy_matrix_cc_to_gm(gm_, slot_c * s_.tile_c(), 0, s_.out, s_.tile_pixels(), s_.pixels(), s_.tile_pixels(), 0, 1,
                            form_ == SplitForm::fixpipe ? 1 : 0, 0, 0);
    p_.set_flag(PipeId::FIX, PipeId::M, slot_c);
  }

  void add_part(u64 tile, u64 part, u64 slot_c) {
    const u64 slot = part % 2, a = slot * 32 * 1024, b = slot * 32 * 1024;
    p_.wait_flag(PipeId::M, PipeId::MTE1, slot);
    p_.img2colv2_cbuf_to_ca(Type::b16, a, image_at() + part * s_.pixels() * kBlock, s_.points() * ConvShape::kC0,
                            s_.tile_pixels(), 0, tile * s_.tile_pixels(), 1, 1, s_.window, s_.window, 1, 1, 0, 0, 0, 0,
                            ConvShape::kC0);
    p_.load_cbuf_to_cb(b, 0, part * s_.points() * s_.out1(), s_.points() * s_.out1(), 1, 0, 0);
    p_.hand_over(PipeId::MTE1, PipeId::M, slot);
    const u64 c = slot_c * s_.tile_c(), k = s_.points() * ConvShape::kC0;
    if (form_ == SplitForm::fixpipe && part == 0)
      p_.mad(Type::f162f32, c, a, b, s_.tile_pixels(), k, s_.out, 0, 0, 0, 1, 0);
    else
      p_.mad(Type::f162f32, c, a, b, s_.tile_pixels(), k, s_.out, part == 0 ? 1 : 0);
    p_.set_flag(PipeId::M, PipeId::MTE1, slot);
  }

  const ConvShape& s_;
  const SplitForm form_;
  ProgramBuilder p_;
  const isa::Const images_;
  const Reg x_ = p_.arg("x"), weights_ = p_.arg("weights"), y_ = p_.arg("y"), bias_ = p_.arg("bias");
  const Reg image_ = p_.reg("image"), step_ = p_.reg("step"), x_at_ = p_.reg("x_at"), y_at_ = p_.reg("y_at"),
            gm_ = p_.reg("gm");
};

}  // namespace

isa::BuiltProgram split_convolution(const ConvShape& shape, u64 images, SplitForm form, isa::Arch arch) {
  return Convolution(shape, images, form, arch).program();
}

isa::BuiltProgram mix_bn_relu(const ConvShape& shape, u64 images, isa::Arch arch) {
  ProgramBuilder p("bn_relu", arch);
  const Reg y = p.arg("y", 2), z = p.arg("z", 3), parameters = p.arg("parameters", 4);
  const auto [image, step, mine, gm, before, scale, offset] =
      p.regs("image", "step", "mine", "gm", "before", "scale", "offset");
  // Each of the two cores works on half of each plane of 16 channels, in parts of at most 255 repeats.
  const u64 half = shape.pixels() / 2;
  u64 parts = 1;
  while (half % (8 * parts) != 0 || half / parts > 255 * 8)
    ++parts;
  const u64 blocks = half / parts, bytes = blocks * kBlock;
  p.copy_gm_to_ubuf(0, parameters, 0, 1, 2 * shape.out * 2 / kBlock, 0, 0);
  p.hand_over(PipeId::MTE2, PipeId::V, 2);
  p.set_ffts_base_addr(1);
  p.get_subblockid(mine);
  p.mul(mine, mine, half * kBlock);
  for (u64 slot = 0; slot < 2; ++slot)
    p.set_flag(PipeId::MTE3, PipeId::MTE2, slot);
  p.get_block_idx(image);
  p.get_block_num(step);
  p.loop(image, images, step, [&] {
    p.wait_flag_dev(kImageDone);
    for (u64 piece = 0; piece < shape.out1() * parts; ++piece) {
      const u64 slot = piece % 2, plane = piece / parts, at = shape.ub_tiles() + slot * bytes, repeats = blocks / 8;
      p.mul(before, image, shape.out_bytes());
      p.add(before, before, mine);
      p.add(before, before, plane * shape.pixels() * kBlock + piece % parts * bytes);
      p.mov(scale, plane * kBlock);
      p.add(offset, scale, shape.out * 2);
      p.wait_flag(PipeId::MTE3, PipeId::MTE2, slot);
      p.add(gm, y, before);
      p.copy_gm_to_ubuf(at, gm, 0, 1, blocks, 0, 0);
      p.hand_over(PipeId::MTE2, PipeId::V, slot);
      p.vmul(Type::f16, at, at, scale, repeats, 1, 1, 0, 8, 8, 0);
      p.pipe_barrier(PipeId::V);
      p.vadd(Type::f16, at, at, offset, repeats, 1, 1, 0, 8, 8, 0);
      p.pipe_barrier(PipeId::V);
      p.vrelu(Type::f16, at, at, repeats, 1, 1, 8, 8);
      p.hand_over(PipeId::V, PipeId::MTE3, slot);
      p.add(gm, z, before);
      p.copy_ubuf_to_gm(gm, at, 0, 1, blocks, 0, 0);
      p.set_flag(PipeId::MTE3, PipeId::MTE2, slot);
    }
  });
  for (u64 slot = 0; slot < 2; ++slot)
    p.wait_flag(PipeId::MTE3, PipeId::MTE2, slot);
  p.end_block();
  return p.finish();
}

}  // namespace vinci::studies
