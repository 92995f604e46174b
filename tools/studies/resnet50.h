// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "isa/base/types.h"

namespace vinci::studies {

// A layer of ResNet-50 for images of 224 x 224: a convolution with the batch normalisation behind it, or the
// classifier.
struct Resnet50Layer {
  u64 in = 0, out = 0;  // channels
  u64 window = 1;       // 1, 3 or 7
  u64 edge = 1;         // of the result
  bool classifier = false;

  u64 weights() const { return in * out * window * window; }
  u64 results() const { return out * edge * edge; }              // of an image
  u64 macs() const { return in * window * window * results(); }  // of an image, forward
  // Elements of the parameter tensors: weights, then scale and offset, or the bias.
  std::vector<u64> tensors() const {
    return classifier ? std::vector<u64>{weights(), out} : std::vector<u64>{weights(), out, out};
  }
};

// All of them in the order of the network: 53 convolutions and the classifier, 161 tensors, 25.56 M parameters. Source:
// He et al. 2016, table 1; a stage reduces the image in its first 1 x 1 convolution.
std::vector<Resnet50Layer> resnet50();

}  // namespace vinci::studies
