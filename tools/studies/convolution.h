// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/builder/program_builder.h"

// Convolutions of the joint core, whose results leave L0C through UB.
namespace vinci::studies {

// Stride 1, padded so that the image keeps its size; f16 in NC1HWC0, weights in FRACTAL_Z. The defaults are conv2_x of
// ResNet-50.
struct ConvShape {
  u64 edge = 56, in = 64, out = 64, window = 3;

  static constexpr u64 kC0 = 16, kBlock = 32, kFractal = 512;
  u64 pixels() const { return edge * edge; }
  u64 in1() const { return in / kC0; }
  u64 out1() const { return out / kC0; }
  u64 points() const { return window * window; }
  u64 in_bytes() const { return in1() * pixels() * kBlock; }    // of an image
  u64 out_bytes() const { return out1() * pixels() * kBlock; }  // of its result
  u64 weight_bytes() const { return in1() * part_b(); }

  // A tile is some rows of the output, whole rows of fractals. The sum over k runs in parts, one for each c1.
  u64 tile_rows = 2;  // from check()
  u64 tile_pixels() const { return tile_rows * edge; }
  u64 m1() const { return tile_pixels() / kC0; }
  u64 tiles() const { return edge / tile_rows; }
  u64 part_a() const { return m1() * points() * kFractal; }
  u64 part_b() const { return points() * out1() * kFractal; }
  u64 tile_c() const { return m1() * out1() * 1024; }
  u64 tile_ub() const { return out1() * tile_pixels() * kBlock; }
  // The image arrives in L1 in pieces, behind the weights.
  static constexpr u64 kPieces = 4;
  u64 piece_rows() const { return edge / kPieces; }
  // Scale and offset of the channels are in UB from 0 on, then tiles.
  u64 ub_tiles() const { return align_up<u64>(4 * out, 512); }

  // The shape with the largest tile that fits the joint or the split core twice; Fault::Input where none does.
  ConvShape checked(bool split = false) const;
};

// A block of the launch convolves every block_num-th image. Arguments: x, weights, y, and when fused the parameters of
// the normalisation, with which y = relu(scale * y + offset).
isa::BuiltProgram convolution(const ConvShape& shape, u64 images, bool fused, u64 ub_buffers, isa::Arch arch);

// Normalisation and ReLU as a kernel of their own. Arguments: y, z, parameters.
isa::BuiltProgram bn_relu(const ConvShape& shape, u64 images, u32 ub_buffers, isa::Arch arch);

}  // namespace vinci::studies
