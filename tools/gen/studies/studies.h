// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "isa/base/enums.h"
#include "sim/config/chip_config.h"
#include "tools/gen/stream_folder.h"

// Task streams of FP16 phenomena that users met in training: which addend is absorbed, which gradients vanish, which
// operator overflows first. Source of the cases: a published retrospective of DB_ResNet training on the Ascend 910.
// Each function with `write` writes a folder that `vinci run --numerics` runs, and returns the path of its task stream.
namespace vinci::gen {

// Binary cross entropy with logits, max(z, 0) - z * y + log(1 + e^-|z|), each operation a task of its own. Logits are
// N(-5, 2) where the label is 0 and N(3, 2) in the 5 % where it is 1. Output log1p.npy is the last term.
enum class Log1pVariant : u8 {
  naive,  // exp, adds 1, ln in f16: 1 + x is 1 for x <= 2^-11
  log1p,  // f16, as 2 atanh(x / (2 + x)): no sum that can absorb x
  fp32,   // exp, adds 1, ln in f32, then a cast
};
inline constexpr auto kLog1pVariantNames = enum_names<Log1pVariant>;
struct Log1pStudy {
  u64 elements = 640 * 640;
  Log1pVariant variant = Log1pVariant::naive;
  u64 seed = 1;
};
StreamFolder db_log1p_stream(const Log1pStudy& study, const config::ChipConfig& chip);
std::string write_db_log1p(const Log1pStudy& study, const config::ChipConfig& chip, const std::string& folder);

// The gradient of the same loss, (sigmoid(z) - y) / N with N = 1.31 million, times a loss scale, stored in f16; and the
// loss itself, 10 times the scale, in f16. Outputs gradient.npy, loss.npy; inputs z.npy, y.npy (f32).
struct LossScaleStudy {
  u64 elements = 640 * 640;
  u32 log2_scale = 0;
  u64 seed = 1;
};
inline constexpr double kGradientCount = 1310720;  // N: the positives of a batch and three times as many negatives
StreamFolder db_loss_scale_stream(const LossScaleStudy& study, const config::ChipConfig& chip);
std::string write_db_loss_scale(const LossScaleStudy& study, const config::ChipConfig& chip, const std::string& folder);

// MaxPool of 3 x 3 with stride 2 and its gradient in f16: windows overlap, so that up to four gradients meet in a cell.
// Tasks: LossScale (dy * scale, f32 to f16), MaxPool, MaxPoolGrad. Layout of x, y, dy: [plane][row][column][16].
inline constexpr u32 kPoolOut = 16;               // rows and columns of y and dy
inline constexpr u32 kPoolIn = 2 * kPoolOut + 1;  // of x and dx
struct MaxPoolGradStudy {
  u32 planes = 4;
  double scale = 65536;
  u64 seed = 1;
};
StreamFolder db_maxpoolgrad_stream(const MaxPoolGradStudy& study, const config::ChipConfig& chip);
std::string write_db_maxpoolgrad(const MaxPoolGradStudy& study, const config::ChipConfig& chip,
                                 const std::string& folder);

}  // namespace vinci::gen
