// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <bit>
#include <cmath>

#include "tools/gen/stream_folder.h"
#include "tools/gen/studies/logits.h"
#include "tools/gen/studies/studies.h"

namespace vinci::gen {
namespace {

u64 bits(double value) { return std::bit_cast<u32>(static_cast<float>(value)); }

// f32 in, f16 out: in0 * s0, rounded once to f32 and once to f16.
Elementwise scaled_store() {
  return {.input_bytes = {4},
          .scalars = 1,
          .temporaries = 1,
          .body = {"vmuls.f32 t0, in0, s0, r32, 1, 1, 8, 8", "vconv_f322f16 out, t0, r32, 1, 1, 4, 8"}};
}

}  // namespace

std::string write_db_loss_scale(const LossScaleStudy& study, const config::ChipConfig& chip,
                                const std::string& folder) {
  const u64 n = study.elements;
  const Logits logits = make_logits(n, study.seed);
  const double scale = std::ldexp(1.0, static_cast<int>(study.log2_scale));
  StreamFolder s("db-loss-scale", chip, "Which gradients survive in f16, for a loss scale?");
  s.input<float>("z", "f4", logits.z);
  s.input<float>("y", "f4", logits.y);
  constexpr u64 kLosses = 128;  // a repeat
  s.input<float>("raw_loss", "f4", std::vector<float>(kLosses, 10.0f));
  s.intermediate("sigmoid", "f4", n);
  s.intermediate("difference", "f4", n);
  s.output("gradient", "f2", n);
  s.output("loss", "f2", kLosses);
  s.task("sigmoid",
         {.input_bytes = {4},
          .output_bytes = 4,
          .temporaries = 1,
          .body = {"vmuls.f32 out, in0, -1.0f, r32, 1, 1, 8, 8", "vexp.f32 out, out, r32, 1, 1, 8, 8",
                   "vadds.f32 out, out, 1.0f, r32, 1, 1, 8, 8", "vector_dup.f32 t0, 1.0f, r32, 1, 1, 8, 8",
                   "vdiv.f32 out, t0, out, r32, 1, 1, 1, 8, 8, 8"}},
         n, {"z", "sigmoid"});
  s.task("difference",
         {.input_bytes = {4, 4}, .output_bytes = 4, .body = {"vsub.f32 out, in0, in1, r32, 1, 1, 1, 8, 8, 8"}}, n,
         {"sigmoid", "y", "difference"});
  s.task("store_gradient", scaled_store(), n, {"difference", "gradient"}, {bits(scale / kGradientCount)});
  s.task("store_loss", scaled_store(), kLosses, {"raw_loss", "loss"}, {bits(scale)});
  return s.write(folder);
}

}  // namespace vinci::gen
