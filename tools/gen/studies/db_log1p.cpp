// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <bit>

#include "isa/numeric/float16.h"
#include "tools/gen/stream_folder.h"
#include "tools/gen/studies/logits.h"
#include "tools/gen/studies/studies.h"

namespace vinci::gen {
namespace {

std::vector<u16> to_f16(const std::vector<float>& values) {
  std::vector<u16> out;
  for (const float v : values)
    out.push_back(isa::f32_to_f16(std::bit_cast<u32>(v)));
  return out;
}

Elementwise unary16(std::string instruction) { return {.input_bytes = {2}, .body = {std::move(instruction)}}; }
Elementwise binary16(std::string_view mnemonic) {
  return {.input_bytes = {2, 2}, .body = {std::string(mnemonic) + " out, in0, in1, r16, 1, 1, 1, 8, 8, 8"}};
}
Elementwise unary32(std::string instruction) {
  return {.input_bytes = {4}, .output_bytes = 4, .body = {std::move(instruction)}};
}

// x (2 p(q)) / (2 + x) with q = (x / (2 + x))^2 and p(q) = 1 + q / 3 + q^2 / 5 + q^3 / 7; what is left out of p is
// below 2e-5 for x <= 1.
Elementwise log1p16() {
  return {.input_bytes = {2},
          .temporaries = 2,
          .body = {"vadds.f16 t0, in0, 2.0h, r16, 1, 1, 8, 8", "vdiv.f16 t1, in0, t0, r16, 1, 1, 1, 8, 8, 8",
                   "vmul.f16 t1, t1, t1, r16, 1, 1, 1, 8, 8, 8", "vmuls.f16 out, t1, 0.142857h, r16, 1, 1, 8, 8",
                   "vadds.f16 out, out, 0.2h, r16, 1, 1, 8, 8", "vmul.f16 out, out, t1, r16, 1, 1, 1, 8, 8, 8",
                   "vadds.f16 out, out, 0.333333h, r16, 1, 1, 8, 8", "vmul.f16 out, out, t1, r16, 1, 1, 1, 8, 8, 8",
                   "vadds.f16 out, out, 1.0h, r16, 1, 1, 8, 8", "vmuls.f16 out, out, 2.0h, r16, 1, 1, 8, 8",
                   "vmul.f16 out, out, in0, r16, 1, 1, 1, 8, 8, 8", "vdiv.f16 out, out, t0, r16, 1, 1, 1, 8, 8, 8"}};
}

}  // namespace

std::string write_db_log1p(const Log1pStudy& study, const config::ChipConfig& chip, const std::string& folder) {
  const u64 n = study.elements;
  const Logits logits = make_logits(n, study.seed);
  StreamFolder s("db-log1p", chip, "Binary cross entropy with logits: where does log(1 + e^-|z|) vanish?");
  s.input<u16>("z", "f2", to_f16(logits.z));
  s.input<u16>("y", "f2", to_f16(logits.y));
  for (const char* name : {"abs_z", "minus_abs", "relu_z", "z_times_y", "difference"})
    s.intermediate(name, "f2", n);
  s.output("log1p", "f2", n);
  s.output("loss", "f2", n);
  s.task("abs", unary16("vabs.f16 out, in0, r16, 1, 1, 8, 8"), n, {"z", "abs_z"});
  s.task("negate", unary16("vmuls.f16 out, in0, -1.0h, r16, 1, 1, 8, 8"), n, {"abs_z", "minus_abs"});
  if (study.variant == Log1pVariant::fp32) {
    for (const char* name : {"wide", "exp32", "sum32", "ln32"})
      s.intermediate(name, "f4", n);
    s.task("widen", {.input_bytes = {2}, .output_bytes = 4, .body = {"vconv_f162f32 out, in0, r32, 1, 1, 8, 4"}}, n,
           {"minus_abs", "wide"});
    s.task("exp", unary32("vexp.f32 out, in0, r32, 1, 1, 8, 8"), n, {"wide", "exp32"});
    s.task("add_1", unary32("vadds.f32 out, in0, 1.0f, r32, 1, 1, 8, 8"), n, {"exp32", "sum32"});
    s.task("ln", unary32("vln.f32 out, in0, r32, 1, 1, 8, 8"), n, {"sum32", "ln32"});
    s.task("narrow", {.input_bytes = {4}, .body = {"vconv_f322f16 out, in0, r32, 1, 1, 4, 8"}}, n, {"ln32", "log1p"});
  } else {
    s.intermediate("exp16", "f2", n);
    s.task("exp", unary16("vexp.f16 out, in0, r16, 1, 1, 8, 8"), n, {"minus_abs", "exp16"});
    if (study.variant == Log1pVariant::naive) {
      s.intermediate("sum16", "f2", n);
      s.task("add_1", unary16("vadds.f16 out, in0, 1.0h, r16, 1, 1, 8, 8"), n, {"exp16", "sum16"});
      s.task("ln", unary16("vln.f16 out, in0, r16, 1, 1, 8, 8"), n, {"sum16", "log1p"});
    } else {
      s.task("log1p", log1p16(), n, {"exp16", "log1p"});
    }
  }
  s.task("relu", unary16("vrelu.f16 out, in0, r16, 1, 1, 8, 8"), n, {"z", "relu_z"});
  s.task("mul", binary16("vmul.f16"), n, {"z", "y", "z_times_y"});
  s.task("sub", binary16("vsub.f16"), n, {"relu_z", "z_times_y", "difference"});
  s.task("loss", binary16("vadd.f16"), n, {"difference", "log1p", "loss"});
  return s.write(folder);
}

}  // namespace vinci::gen
