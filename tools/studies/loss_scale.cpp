// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S11: gradients of a loss in f16 under a loss scale, and the backward step of a convolution that gets them.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "isa/base/random.h"
#include "isa/mem/trans_data.h"
#include "isa/numeric/float16.h"
#include "tools/gen/studies/logits.h"
#include "tools/gen/studies/studies.h"
#include "tools/studies/census_of.h"
#include "tools/studies/convolution.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

constexpr std::array<u32, 8> kExponents{0, 4, 8, 12, 13, 16, 20, 24};

// The gradient of the loss, as the gradient of the output of a convolution with 16 channels out and 64 in.
constexpr ConvShape kBackward{.edge = 32, .in = 16, .out = 64, .window = 3};
constexpr u64 kImages = 25;  // 32 x 32 x 16 each: 640 x 640 elements

struct Gradients {
  gen::Logits logits;
  std::vector<double> exact;  // without scale
};

Gradients make_gradients() {
  Gradients g{.logits = gen::make_logits(gen::LossScaleStudy{}.elements, gen::LossScaleStudy{}.seed), .exact = {}};
  for (usize i = 0; i < g.logits.z.size(); ++i)
    g.exact.push_back((1 / (1 + std::exp(-double{g.logits.z[i]})) - double{g.logits.y[i]}) / gen::kGradientCount);
  return g;
}

// Weights [in][out][3][3] of the forward convolution, as the backward step reads them: turned by half a circle.
struct Weights {
  std::vector<u16> plain, fractal;
};
Weights make_weights(const ConvShape& s) {
  Weights w{.plain = std::vector<u16>(s.out * s.in * s.points()), .fractal = std::vector<u16>(s.weight_bytes() / 2)};
  Random random(11);
  for (u16& v : w.plain)
    v = isa::f32_to_f16(std::bit_cast<u32>(random.uniform() * 0.25f));
  const std::vector<u64> shape{s.out, s.in, s.window, s.window};
  isa::trans_data(isa::TensorLayout(isa::Format::NCHW, shape, ConvShape::kC0), std::as_bytes(std::span(w.plain)),
                  isa::TensorLayout(isa::Format::FRACTAL_Z, shape, ConvShape::kC0),
                  std::as_writable_bytes(std::span(w.fractal)), 2);
  return w;
}

// The gradient of the input of the convolution in double: dx = sum of dy * weights.
std::vector<double> exact_backward(const ConvShape& s, const std::vector<double>& dy, const Weights& w) {
  std::vector<double> weights(w.plain.size()), dx(kImages * s.out_bytes() / 2);
  for (usize i = 0; i < weights.size(); ++i)
    weights[i] = isa::f16_value(w.plain[i]);
  for (u64 image = 0; image < kImages; ++image)
    for (u64 h = 0; h < s.edge; ++h)
      for (u64 v = 0; v < s.edge; ++v)
        for (u64 i = 0; i < s.points(); ++i) {
          const u64 y = h + i / s.window - 1, x = v + i % s.window - 1;
          if (y >= s.edge || x >= s.edge) continue;
          for (u64 c = 0; c < s.in; ++c) {
            const double g = dy[((image * s.edge + y) * s.edge + x) * s.in + c];
            for (u64 n = 0; n < s.out; ++n)
              dx[((image * s.out1() + n / 16) * s.pixels() + h * s.edge + v) * 16 + n % 16] +=
                  g * weights[(n * s.in + c) * s.points() + i];
          }
        }
  return dx;
}

struct Loss {
  double zeros = 0, subnormal = 0, error = 0;  // %: gradients that are zero, subnormal; L1 error of all
  double flushed = 0;        // distance of what the census counts as flushed from what vanished, % of all
  double loss_overflow = 0;  // 1: the scaled loss does not fit
  double dx_zeros = 0, dx_error = 0, dx_lost = 0,
         dx_overflow = 0;  // behind the convolution; dx_lost: zero but not exactly
};

// Mean of |a - b| by mean of |b|, in percent.
class L1 {
 public:
  void add(double got, double exact) { error_ += std::fabs(got - exact), size_ += std::fabs(exact); }
  double percent() const { return 100 * error_ / size_; }

 private:
  double error_ = 0, size_ = 0;
};

double share(u64 part, usize whole) { return 100 * static_cast<double>(part) / static_cast<double>(whole); }

Loss loss_at(const Study& study, const Gradients& g, const Weights& w, const std::vector<double>& dx_exact,
             u32 exponent) {
  const config::ChipConfig& chip = study.chip();
  const ConvShape shape = kBackward.checked();
  gen::StreamFolder s = gen::db_loss_scale_stream({.log2_scale = exponent}, chip);
  s.input<u16>("weights", "f2", w.fractal);
  s.output("dx", "f2", kImages * shape.out_bytes() / 2);
  s.task("conv_backward", convolution(shape, kImages, false, 2, chip.arch),
         static_cast<u32>(std::min<u64>(chip.ai_cores, kImages)), {"gradient", "weights", "dx"});
  isa::Census census;
  const Run run = study.count(fmt::format("scale_2^{}", exponent), s.files(), census);
  const std::vector<u16> gradient = run.values<u16>("gradient"), dx = run.values<u16>("dx");
  const auto scaled = [&](double x) { return std::ldexp(x, static_cast<int>(exponent)); };
  Loss out;
  u64 zeros = 0, vanished = 0, subnormal = 0;
  L1 error;
  for (usize i = 0; i < gradient.size(); ++i) {
    const double got = isa::f16_value(gradient[i]);
    zeros += got == 0;
    vanished += got == 0 && g.exact[i] != 0;
    subnormal += got != 0 && std::fabs(got) < 0x1p-14;
    error.add(got, scaled(g.exact[i]));
  }
  out.zeros = share(zeros, gradient.size());
  out.subnormal = share(subnormal, gradient.size());
  out.error = error.percent();
  out.flushed = std::fabs(share(events_of(run, census, "store_gradient", isa::NumericEvent::flushed), gradient.size()) -
                          share(vanished, gradient.size()));
  out.loss_overflow = events_of(run, census, "store_loss", isa::NumericEvent::overflow) > 0;
  u64 dx_zeros = 0, dx_lost = 0;
  L1 dx_error;
  for (usize i = 0; i < dx.size(); ++i) {
    const double got = isa::f16_value(dx[i]);
    dx_zeros += got == 0;
    dx_lost += got == 0 && dx_exact[i] != 0;
    dx_error.add(got, scaled(dx_exact[i]));
  }
  out.dx_zeros = share(dx_zeros, dx.size());
  out.dx_lost = share(dx_lost, dx.size());
  out.dx_error = dx_error.percent();
  out.dx_overflow = events_of(run, census, "conv_backward", isa::NumericEvent::overflow) > 0;
  return out;
}

}  // namespace

void loss_scale(Study& study) {
  if (study.chip().vector_cores != 0) fail(Fault::Unsupported, "S11: the backward kernel is one of the joint core");
  const Gradients g = make_gradients();
  const ConvShape shape = kBackward.checked();
  const Weights w = make_weights(shape);
  const std::vector<double> dx = exact_backward(shape, g.exact, w);
  const auto found =
      study.variants(kExponents.size(), [&](usize i) { return loss_at(study, g, w, dx, kExponents[i]); });
  double falls = 0, flushed = 0, window_end = 0, dx_falls = 0;
  for (usize i = 0; i < found.size(); ++i) {
    const Loss& l = found[i];
    study.fact(fmt::format("scale 2^{}: gradients that are zero", kExponents[i]), l.zeros, "%");
    study.fact(fmt::format("scale 2^{}: subnormal", kExponents[i]), l.subnormal, "%");
    study.fact(fmt::format("scale 2^{}: L1 error", kExponents[i]), l.error, "%");
    study.fact(fmt::format("scale 2^{}: behind the convolution, zero", kExponents[i]), l.dx_lost, "%");
    study.fact(fmt::format("scale 2^{}: behind the convolution, L1 error", kExponents[i]), l.dx_error, "%");
    if (l.loss_overflow == 0) window_end = kExponents[i];
    flushed = std::max(flushed, l.flushed);
    if (i == 0) continue;
    falls += l.zeros > found[i - 1].zeros;
    dx_falls += l.dx_lost > found[i - 1].dx_lost;
  }
  study.measured("zeros_2_0", found[0].zeros);
  study.measured("zeros_2_4", found[1].zeros);
  study.measured("zeros_2_8", found[2].zeros);
  study.measured("zeros_2_12", found[3].zeros);
  study.measured("zeros_2_16", found[5].zeros);
  study.measured("error_2_0", found[0].error);
  study.measured("error_2_12", found[3].error);
  study.measured("rises", falls + dx_falls);
  study.measured("census", flushed);
  study.measured("window_end", window_end);
  study.measured("backward_error_2_12", found[3].dx_error);
  study.measured("backward_gain", found[0].dx_error / found[3].dx_error);
}

}  // namespace vinci::studies
