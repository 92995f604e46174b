// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S22: a convolution of ResNet-50 with batch normalisation and ReLU, as two kernels and as one whose vector work
// follows the cube through UB.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "isa/base/enums.h"
#include "isa/base/random.h"
#include "isa/mem/trans_data.h"
#include "isa/numeric/float16.h"
#include "sim/config/load.h"
#include "tools/gen/stream_folder.h"
#include "tools/studies/convolution.h"
#include "tools/studies/overlap.h"
#include "tools/studies/split_convolution.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using isa::PipeId;

struct Data {
  std::vector<u16> x, weights, weights_z, parameters;
};

double f16(u16 v) { return isa::f16_value(v); }

Data make_data(const ConvShape& shape, u64 images) {
  Random random(1);
  const auto values = [&](u64 n, float scale, float shift) {
    std::vector<u16> out(n);
    for (u16& v : out)
      v = isa::f32_to_f16(std::bit_cast<u32>(random.uniform() * scale + shift));
    return out;
  };
  Data d{.x = values(images * shape.in_bytes() / 2, 1, 0),
         .weights = values(shape.out * shape.in * shape.points(), 0.0625f, 0),
         .weights_z = std::vector<u16>(shape.weight_bytes() / 2),
         .parameters = values(shape.out, 0.5f, 1)};
  const std::vector<u16> offsets = values(shape.out, 0.5f, 0);
  d.parameters.insert(d.parameters.end(), offsets.begin(), offsets.end());
  const std::vector<u64> of_weights{shape.out, shape.in, shape.window, shape.window};
  isa::trans_data(isa::TensorLayout(isa::Format::NCHW, of_weights, ConvShape::kC0), std::as_bytes(std::span(d.weights)),
                  isa::TensorLayout(isa::Format::FRACTAL_Z, of_weights, ConvShape::kC0),
                  std::as_writable_bytes(std::span(d.weights_z)), 2);
  return d;
}

// The largest error of the last image against FP64, in ulps of f16 at the size of scale * sum and offset.
double largest_error(const ConvShape& s, const Data& d, const std::vector<u16>& z) {
  const usize x_from = d.x.size() - s.in_bytes() / 2, z_from = z.size() - s.out_bytes() / 2;
  constexpr u64 kC0 = ConvShape::kC0;
  const auto at = [&](u64 c, u64 h, u64 w) { return ((c / kC0 * s.edge + h) * s.edge + w) * kC0 + c % kC0; };
  std::vector<double> x(s.in_bytes() / 2), weights(d.weights.size());
  std::ranges::transform(d.x.begin() + static_cast<std::ptrdiff_t>(x_from), d.x.end(), x.begin(), f16);
  std::ranges::transform(d.weights, weights.begin(), f16);
  const u64 pad = s.window / 2;
  double largest = 0;
  for (u64 n = 0; n < s.out; n += 7) {
    for (u64 h = 0; h < s.edge; ++h) {
      for (u64 w = 0; w < s.edge; ++w) {
        double sum = 0;
        for (u64 c = 0; c < s.in; ++c) {
          for (u64 i = 0; i < s.points(); ++i) {
            const u64 y = h + i / s.window - pad, v = w + i % s.window - pad;  // beyond the image where below 0
            if (y < s.edge && v < s.edge) sum += x[at(c, y, v)] * weights[(n * s.in + c) * s.points() + i];
          }
        }
        const double scaled = f16(d.parameters[n]) * sum, offset = f16(d.parameters[s.out + n]);
        const double error = std::fabs(f16(z[z_from + at(n, h, w)]) - std::max(scaled + offset, 0.0));
        largest = std::max(largest, error / (std::fabs(scaled) + std::fabs(offset)));
      }
    }
  }
  return largest * 0x1p10;
}

// Of a variant: figures of its run, which live in a process of their own.
struct Measured {
  double kernel_us = 0, cube = 0, vector = 0, cube_and_vector = 0, vector_and_stores = 0;  // shares in percent
  u64 read = 0, written = 0;
  u64 hash = 0;      // of the bits of the result
  double error = 0;  // against FP64, ulp
};

Measured convolve(const Study& study, const ConvShape& shape, const Data& d, bool fused, u32 ub_buffers) {
  const config::ChipConfig& chip = study.chip();
  const u64 images = d.x.size() * 2 / shape.in_bytes(), results = images * shape.out_bytes() / 2;
  const std::string variant = fmt::format("{}-{}", fused ? "fused" : "unfused", ub_buffers);
  gen::StreamFolder s(variant, chip, "Convolution, batch normalisation and ReLU");
  s.input<u16>("x", "f2", d.x);
  s.input<u16>("weights", "f2", d.weights_z);
  s.input<u16>("parameters", "f2", d.parameters);
  if (!fused) s.intermediate("y", "f2", results);
  s.output("z", "f2", results);
  const auto blocks = static_cast<u32>(std::min<u64>(chip.ai_cores, images));
  if (fused) {
    s.task("conv_bn_relu", convolution(shape, images, true, ub_buffers, chip.arch), blocks,
           {"x", "weights", "z", "parameters"});
  } else {
    s.task("conv", convolution(shape, images, false, ub_buffers, chip.arch), blocks, {"x", "weights", "y"});
    s.task("bn_relu", bn_relu(shape, images, ub_buffers, chip.arch), blocks, {"y", "z", "parameters"});
  }
  Overlap overlap;
  const Run run = study.run(variant, s.files(), chip, &overlap);
  const auto share = [&](u64 cycles) { return 100 * run.us(cycles) / blocks / run.kernel_us(); };
  const std::vector<u16> z = run.values<u16>("z");
  Measured out{.kernel_us = run.kernel_us(),
               .cube = share(run.busy_cycles(PipeId::M)),
               .vector = share(run.busy_cycles(PipeId::V)),
               .cube_and_vector = share(overlap.cycles("M", "V")),
               .vector_and_stores = share(overlap.cycles("V", "MTE3")),
               .read = run.gm_read_bytes(),
               .written = run.gm_write_bytes(),
               .error = fused ? largest_error(shape, d, z) : 0};
  for (const u16 v : z)
    out.hash = (out.hash ^ v) * 0x100000001b3;
  return out;
}

// The split core: two kernels, one whose normalisation is in weights, bias and FIXPIPE, and a MIX task.
enum class SplitWay : u8 { kernels, fixpipe, mix };
constexpr auto kSplitWayNames = enum_names<SplitWay>;

// Weights times the scale of their channel, and the offsets as bias: what a compiler folds. Scales are powers of two
// here, so that the weights stay what they are.
Data folded(const ConvShape& s, Data d) {
  const u64 per_channel = s.in * s.points();
  for (u64 n = 0; n < s.out; ++n)
    for (u64 i = 0; i < per_channel; ++i) {
      u16& w = d.weights[n * per_channel + i];
      w = isa::f32_to_f16(std::bit_cast<u32>(static_cast<float>(f16(w) * f16(d.parameters[n]))));
    }
  const std::vector<u64> shape{s.out, s.in, s.window, s.window};
  isa::trans_data(isa::TensorLayout(isa::Format::NCHW, shape, ConvShape::kC0), std::as_bytes(std::span(d.weights)),
                  isa::TensorLayout(isa::Format::FRACTAL_Z, shape, ConvShape::kC0),
                  std::as_writable_bytes(std::span(d.weights_z)), 2);
  return d;
}

Measured convolve_split(const Study& study, const config::ChipConfig& chip, const ConvShape& shape, const Data& d,
                        SplitWay way) {
  const u64 images = d.x.size() * 2 / shape.in_bytes(), out_bytes = images * shape.out_bytes();
  const auto blocks = static_cast<u32>(std::min<u64>(chip.ai_cores, images));
  const std::string variant = fmt::format("split-{}", kSplitWayNames[usize(way)]);
  task::StreamBuilder s(variant, chip.arch);
  using enum task::KernelType;
  const Data fold = way == SplitWay::fixpipe ? folded(shape, d) : Data{};
  const auto in = [&](const char* name, const std::vector<u16>& values) {
    return s.host_data<u16>(name, "f2", values);
  };
  const task::BufferRef x = s.device("x_dev", d.x.size() * 2), weights = s.device("weights_dev", shape.weight_bytes()),
                        parameters = s.device("parameters_dev", shape.out * 4), z = s.device("z_dev", out_bytes);
  task::StreamRef main = s.stream("main");
  main.memcpy(x, in("x", d.x)).memcpy(weights, in("weights", way == SplitWay::fixpipe ? fold.weights_z : d.weights_z));
  if (way == SplitWay::fixpipe) {
    std::vector<float> bias;
    for (u64 n = 0; n < shape.out; ++n)
      bias.push_back(static_cast<float>(f16(d.parameters[shape.out + n])));
    main.memcpy(parameters, s.host_data<float>("bias", "f4", bias));
    main.launch(s.kernel("conv", AIC_ONLY, split_convolution(shape, images, SplitForm::fixpipe, chip.arch)), blocks,
                {x, weights, z, parameters});
  } else {
    const task::BufferRef y = s.device("y_dev", out_bytes);
    main.memcpy(parameters, in("parameters", d.parameters));
    if (way == SplitWay::kernels) {
      main.launch(s.kernel("conv", AIC_ONLY, split_convolution(shape, images, SplitForm::plain, chip.arch)), blocks,
                  {x, weights, y, y});
      main.launch(s.kernel("bn_relu", AIV_ONLY, bn_relu(shape, images, 2, chip.arch)), chip.vector_cores,
                  {y, z, parameters});
    } else {
      main.launch_mix(s.kernel("conv", AIC_ONLY, split_convolution(shape, images, SplitForm::mix, chip.arch)),
                      s.kernel("bn_relu", AIV_ONLY, mix_bn_relu(shape, images, chip.arch)), 2, blocks,
                      {x, weights, y, z, parameters});
    }
  }
  main.memcpy(s.host({.name = "z", .output = "z.npy", .dtype = "f2", .shape = {out_bytes / 2}}), z);
  s.thread("main").enqueue(main);
  const Run run = study.run(variant, s.finish(), chip);
  const std::vector<u16> result = run.values<u16>("z");
  Measured out{.kernel_us = run.kernel_span_us(),
               .read = run.gm_read_bytes(),
               .written = run.gm_write_bytes(),
               .error = largest_error(shape, d, result)};
  out.cube = 100 * run.us(run.busy_cycles(PipeId::M)) / blocks / out.kernel_us;
  for (const u16 v : result)
    out.hash = (out.hash ^ v) * 0x100000001b3;
  return out;
}

void split_core(Study& study, const ConvShape& shape) {
  const config::ChipConfig chip = config::load_chip(study.choice("split_chip"));
  Data d = make_data(shape, study.whole("batch"));
  for (u64 n = 0; n < shape.out; ++n)
    d.parameters[n] = isa::f32_to_f16(std::bit_cast<u32>(n % 2 == 0 ? 1.0f : 0.5f));
  const auto found = study.variants(kSplitWayNames.size(),
                                    [&](usize i) { return convolve_split(study, chip, shape, d, SplitWay(i)); });
  for (usize i = 0; i < found.size(); ++i) {
    study.fact(fmt::format("split core, {}: time", kSplitWayNames[i]), found[i].kernel_us, "us");
    study.fact(fmt::format("split core, {}: cube", kSplitWayNames[i]), found[i].cube, "%");
  }
  const Measured &kernels = found[0], &fixpipe = found[1], &mix = found[2];
  const auto activation = static_cast<double>(study.whole("batch") * shape.out_bytes());
  // Every vector core reads the parameters, every cube core a bias in f32 of the same size.
  const double parameters = static_cast<double>(shape.out * 4);
  const double cubes = static_cast<double>(std::min<u64>(chip.ai_cores, study.whole("batch"))),
               vectors = chip.vector_cores;
  const auto removed = [&](u64 before, u64 after, double more) {
    return (static_cast<double>(before) - static_cast<double>(after) - more) / activation;
  };
  study.measured("fixpipe_writes_removed", removed(kernels.written, fixpipe.written, 0));
  study.measured("fixpipe_reads_removed", removed(kernels.read, fixpipe.read, (vectors - cubes) * parameters));
  study.measured("fixpipe_error", fixpipe.error);
  study.measured("mix_different_results", mix.hash == kernels.hash ? 0 : 1);
  study.measured("fixpipe_gain", kernels.kernel_us / fixpipe.kernel_us);
  study.measured("mix_gain", kernels.kernel_us / mix.kernel_us);
}

}  // namespace

void conv_bn_relu(Study& study) {
  if (study.chip().vector_cores != 0) {
    fail(Fault::Unsupported, "S22 needs a joint core, whose cube results reach UB; {} has a split one",
         study.chip().name);
  }
  const ConvShape given{.edge = study.whole("edge"),
                        .in = study.whole("channels"),
                        .out = study.whole("channels"),
                        .window = study.whole("window")};
  const ConvShape shape = given.checked(), split_shape = given.checked(true);
  const Data d = make_data(shape, study.whole("batch"));
  const auto buffers = static_cast<u32>(study.whole("ub_buffers"));
  struct Variant {
    std::string name;
    bool fused;
    u32 buffers;
  };
  const std::vector<Variant> variants{{"unfused", false, buffers},
                                      {"fused", true, buffers},
                                      {"unfused, 1 buffer", false, 1},
                                      {"unfused, 2 buffers", false, 2}};
  const auto found = study.variants(
      variants.size(), [&](usize i) { return convolve(study, shape, d, variants[i].fused, variants[i].buffers); });
  for (usize i = 0; i < found.size(); ++i) {
    study.fact(variants[i].name + ": kernels", found[i].kernel_us, "us");
    study.fact(variants[i].name + ": cube", found[i].cube, "%");
    study.fact(variants[i].name + ": vector unit", found[i].vector, "%");
    study.fact(variants[i].name + ": cube and vector unit", found[i].cube_and_vector, "%");
    study.fact(variants[i].name + ": vector unit and stores", found[i].vector_and_stores, "%");
  }
  const Measured &unfused = found[0], &fused = found[1], &single = found[2], &several = found[3];
  const auto activation = static_cast<double>(study.whole("batch") * shape.out_bytes());
  const auto less = [&](u64 before, u64 after) {
    return (static_cast<double>(before) - static_cast<double>(after)) / activation;
  };
  study.measured("writes_removed", less(unfused.written, fused.written));
  study.measured("reads_removed", less(unfused.read, fused.read));
  study.measured("different_results", unfused.hash == fused.hash && fused.hash == single.hash ? 0 : 1);
  study.measured("error", fused.error);
  study.measured("cube_utilisation_gain", fused.cube / unfused.cube);
  study.measured("overlap_1_buffer", single.vector_and_stores);
  study.measured("overlap_2_buffers", several.vector_and_stores);
  split_core(study, split_shape);
}

}  // namespace vinci::studies
