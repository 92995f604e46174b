// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/studies/convolution.h"

// Convolutions of the split core (c220), whose results leave L0C through FIXPIPE.
namespace vinci::studies {

// plain: y = conv(x). fixpipe: y = relu(conv(x) + bias), with a bias from the table and the relu of FIXPIPE. mix: as
// plain, and the vector cores of the block are told of each image.
enum class SplitForm : u8 { plain, fixpipe, mix };

// A block convolves every block_num-th image. Arguments: x, weights, y, and for fixpipe the bias in f32.
isa::BuiltProgram split_convolution(const ConvShape& shape, u64 images, SplitForm form, isa::Arch arch);
// The vector cores of a block of the MIX task: normalisation and ReLU of y in place of memory, z = relu(scale * y +
// offset), half of the channels each. Arguments: x, weights, y, z, parameters.
isa::BuiltProgram mix_bn_relu(const ConvShape& shape, u64 images, isa::Arch arch);

}  // namespace vinci::studies
