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
// 1 / (1 + e^-z)
Elementwise sigmoid() {
  return {.input_bytes = {4}, .output_bytes = 4, .temporaries = 1, .body = [](const ElementwiseTile& x) {
            x.scalar("vmuls.f32", x.out, x.in[0], isa::f32(-1));
            x.unary("vexp.f32", x.out, x.out);
            x.scalar("vadds.f32", x.out, x.out, isa::f32(1));
            x.p.vector_dup(isa::Type::f32, x.t[0], isa::f32(1), x.r32, 1, 1, 8, 8);
            x.fence();
            x.binary("vdiv.f32", x.out, x.t[0], x.out);
          }};
}

Elementwise difference() {
  return {.input_bytes = {4, 4}, .output_bytes = 4, .body = [](const ElementwiseTile& x) {
            x.binary("vsub.f32", x.out, x.in[0], x.in[1]);
          }};
}

}  // namespace

StreamFolder db_loss_scale_stream(const LossScaleStudy& study, const config::ChipConfig& chip) {
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
  s.task("sigmoid", sigmoid(), n, {"z", "sigmoid"});
  s.task("difference", difference(), n, {"sigmoid", "y", "difference"});
  s.task("store_gradient", scaled_store(), n, {"difference", "gradient"}, {bits(scale / kGradientCount)});
  s.task("store_loss", scaled_store(), kLosses, {"raw_loss", "loss"}, {bits(scale)});
  return s;
}

std::string write_db_loss_scale(const LossScaleStudy& study, const config::ChipConfig& chip,
                                const std::string& folder) {
  return db_loss_scale_stream(study, chip).write(folder);
}

}  // namespace vinci::gen
