// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "isa/numeric/float16.h"
#include "tools/studies/study.h"
#include "tools/studies/swin_kernels.h"

// Window attention as task streams on random data, for the studies about it.
namespace vinci::studies::swin {

inline constexpr u64 kTasks = 10;

// Inputs as stored in memory.
struct Data {
  Shape shape;
  std::vector<u16> qkv, table,
      mask;  // [token][q, k, v][head][channel], [dy + 6][dx + 6][16], of a window of an image S

  double q(u64 token, u64 part, u64 head, u64 channel) const {
    return isa::f16_value(qkv[token * kRowBytes / 2 + (part * kHeads + head) * kDepth + channel]);
  }
};

// The position of key j and query i of a pair in S.
inline u64 score_at(u64 i, u64 j) { return (i / 16 * kPadded + j) * 16 + i % 16; }

// 1 / sqrt(32) as f16: what q is scaled by.
u16 factor();

// Random values in -1 .. 1, biases half of it, and the mask of shifted windows, -100 between regions.
Data make_data(u64 images);

// Fault::Unsupported on a chip whose cube and vector unit are apart.
void require_joint_core(const Study& study);

// The ten kernels, and the one.
gen::StreamFolder unfused(const config::ChipConfig& chip, const Data& d);
gen::StreamFolder fused(const config::ChipConfig& chip, const Data& d);

// The host's time of a launch, in us, such that the ten kernels of `run` take as long as published from the first to
// the last: nine launches and the last kernel.
double calibrated_launch_us(const Run& run, double published_us);

}  // namespace vinci::studies::swin
