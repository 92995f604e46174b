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

using isa::f16;
using isa::f32;

// Of f16 lanes: one instruction on one or two inputs.
Elementwise unary16(std::string_view instruction) {
  return {.input_bytes = {2}, .body = [=](const ElementwiseTile& x) { x.unary(instruction, x.out, x.in[0]); }};
}
Elementwise scalar16(std::string_view instruction, float by) {
  return {.input_bytes = {2},
          .body = [=](const ElementwiseTile& x) { x.scalar(instruction, x.out, x.in[0], f16(by)); }};
}
Elementwise binary16(std::string_view instruction) {
  return {.input_bytes = {2, 2},
          .body = [=](const ElementwiseTile& x) { x.binary(instruction, x.out, x.in[0], x.in[1]); }};
}
Elementwise unary32(std::string_view instruction) {
  return {.input_bytes = {4}, .output_bytes = 4, .body = [=](const ElementwiseTile& x) {
            x.unary(instruction, x.out, x.in[0]);
          }};
}
Elementwise add32(float by) {
  return {.input_bytes = {4}, .output_bytes = 4, .body = [=](const ElementwiseTile& x) {
            x.scalar("vadds.f32", x.out, x.in[0], f32(by));
          }};
}
Elementwise widen() {
  return {.input_bytes = {2}, .output_bytes = 4, .body = [](const ElementwiseTile& x) {
            x.p.vconv_f162f32(x.out, x.in[0], x.r32, 1, 1, 8, 4);
            x.fence();
          }};
}
Elementwise narrow() {
  return {.input_bytes = {4}, .body = [](const ElementwiseTile& x) {
            x.p.vconv_f322f16(x.out, x.in[0], x.r32, 1, 1, 4, 8);
            x.fence();
          }};
}

// 2 atanh(r) with r = x / (2 + x), as its series.
Elementwise log1p16() {
  return {.input_bytes = {2}, .temporaries = 2, .body = [](const ElementwiseTile& x) {
            const isa::Reg in = x.in[0], out = x.out, sum = x.t[0], square = x.t[1];
            x.scalar("vadds.f16", sum, in, f16(2));
            x.binary("vdiv.f16", square, in, sum);
            x.binary("vmul.f16", square, square, square);
            x.scalar("vmuls.f16", out, square, f16(0.142857f));
            x.scalar("vadds.f16", out, out, f16(0.2f));
            x.binary("vmul.f16", out, out, square);
            x.scalar("vadds.f16", out, out, f16(0.333333f));
            x.binary("vmul.f16", out, out, square);
            x.scalar("vadds.f16", out, out, f16(1));
            x.scalar("vmuls.f16", out, out, f16(2));
            x.binary("vmul.f16", out, out, in);
            x.binary("vdiv.f16", out, out, sum);
          }};
}

}  // namespace

StreamFolder db_log1p_stream(const Log1pStudy& study, const config::ChipConfig& chip) {
  const u64 n = study.elements;
  const Logits logits = make_logits(n, study.seed);
  StreamFolder s("db-log1p", chip, "Binary cross entropy with logits: where does log(1 + e^-|z|) vanish?");
  s.input<u16>("z", "f2", to_f16(logits.z));
  s.input<u16>("y", "f2", to_f16(logits.y));
  for (const char* name : {"abs_z", "minus_abs", "relu_z", "z_times_y", "difference"})
    s.intermediate(name, "f2", n);
  s.output("log1p", "f2", n);
  s.output("loss", "f2", n);
  s.task("abs", unary16("vabs.f16"), n, {"z", "abs_z"});
  s.task("negate", scalar16("vmuls.f16", -1), n, {"abs_z", "minus_abs"});
  if (study.variant == Log1pVariant::fp32) {
    for (const char* name : {"wide", "exp32", "sum32", "ln32"})
      s.intermediate(name, "f4", n);
    s.task("widen", widen(), n, {"minus_abs", "wide"});
    s.task("exp", unary32("vexp.f32"), n, {"wide", "exp32"});
    s.task("add_1", add32(1), n, {"exp32", "sum32"});
    s.task("ln", unary32("vln.f32"), n, {"sum32", "ln32"});
    s.task("narrow", narrow(), n, {"ln32", "log1p"});
  } else {
    s.intermediate("exp16", "f2", n);
    s.task("exp", unary16("vexp.f16"), n, {"minus_abs", "exp16"});
    if (study.variant == Log1pVariant::naive) {
      s.intermediate("sum16", "f2", n);
      s.task("add_1", scalar16("vadds.f16", 1), n, {"exp16", "sum16"});
      s.task("ln", unary16("vln.f16"), n, {"sum16", "log1p"});
    } else {
      s.task("log1p", log1p16(), n, {"exp16", "log1p"});
    }
  }
  s.task("relu", unary16("vrelu.f16"), n, {"z", "relu_z"});
  s.task("mul", binary16("vmul.f16"), n, {"z", "y", "z_times_y"});
  s.task("sub", binary16("vsub.f16"), n, {"relu_z", "z_times_y", "difference"});
  s.task("loss", binary16("vadd.f16"), n, {"difference", "log1p", "loss"});
  return s;
}

std::string write_db_log1p(const Log1pStudy& study, const config::ChipConfig& chip, const std::string& folder) {
  return db_log1p_stream(study, chip).write(folder);
}

}  // namespace vinci::gen
