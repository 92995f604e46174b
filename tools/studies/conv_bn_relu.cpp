// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S22: a convolution of ResNet-50 with batch normalisation and ReLU, as two kernels and as one whose vector work
// follows the cube through UB.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "isa/base/random.h"
#include "isa/mem/trans_data.h"
#include "isa/numeric/float16.h"
#include "tools/gen/tile_pipeline.h"
#include "tools/studies/study.h"
#include "tools/studies/overlap.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;

// 3 x 3, stride 1, padding 1, 64 channels in and out, 56 x 56: conv2_x of ResNet-50.
constexpr u64 kEdge = 56, kPixels = kEdge * kEdge, kChannels = 64, kC0 = 16, kC1 = kChannels / kC0, kPoints = 9;
constexpr u64 kBlock = 32, kFractal = 512;
constexpr u64 kImageBytes = kC1 * kPixels * kBlock;

// A tile is two rows of the output: 7 rows of fractals. The sum over k runs in 4 parts, one for each c1.
constexpr u64 kTileRows = 2, kTilePixels = kTileRows * kEdge, kM1 = kTilePixels / kC0, kTiles = kEdge / kTileRows;
constexpr u64 kPartA = kM1 * kPoints * kFractal, kPartB = kPoints * kC1 * kFractal;
constexpr u64 kTileC = kM1 * kC1 * 1024, kTileUb = kC1 * kTilePixels * kBlock;
// The image arrives in L1 in pieces of 14 rows, behind the weights.
constexpr u64 kWeightBytes = kC1 * kPartB, kPieces = 4, kPieceRows = kEdge / kPieces;
static_assert(kTilePixels % kC0 == 0 && 2 * kPartA <= 64 * 1024 && 2 * kPartB <= 64 * 1024);

// Scale and offset of the channels stand in UB from 0 on, then tiles.
constexpr u64 kScale = 0, kOffset = kChannels * 2, kUbTiles = 512;

// y = relu(x * scale + offset) in place.
class Normalisation {
 public:
  // X19 to X23 are free for it, and those below are not.
  explicit Normalisation(ProgramBuilder& p)
      : at(p.reg("at", 19)),
        first(p.reg("first", 23)),
        p_(p),
        dst_(p.reg("dst", 20)),
        by_(p.reg("by", 21)),
        parameters_(p.reg("parameters", 22)) {}

  // Scale and offset of the channels, from an argument of the launch.
  void load_parameters(u32 argument) {
    p_.ld_arg(parameters_, argument);
    p_.copy_gm_to_ubuf(kScale, parameters_, 0, 1, 2 * kChannels * 2 / kBlock, 0, 0);
    p_.hand_over(PipeId::MTE2, PipeId::V, 2);
  }
  // For channel blocks [0, groups) of `blocks` pixels each at `at`. A block of scale and offset goes with all pixels:
  // strides of 0. `before` is added to their addresses.
  void write(u64 groups, u64 blocks, Reg before) {
    const u64 repeats = blocks / 8;
    for (const u64 from : {kScale, kOffset}) {
      for (u64 g = 0; g < groups; ++g) {
        p_.add(dst_, at, g * blocks * kBlock);
        p_.add(by_, before, from + g * kBlock);
        p_.call(from == kScale ? "vmul" : "vadd", Type::f16, {dst_, dst_, by_, repeats, 1, 1, 0, 8, 8, 0});
      }
      p_.pipe_barrier(PipeId::V);
    }
    for (u64 g = 0; g < groups; ++g) {
      p_.add(dst_, at, g * blocks * kBlock);
      p_.vrelu(Type::f16, dst_, dst_, repeats, 1, 1, 8, 8);
    }
  }

  const Reg at, first;

 private:
  ProgramBuilder& p_;
  const Reg dst_, by_, parameters_;
};

// One block of the launch convolves every block_num-th image. Arguments: x, weights, y, and when fused the parameters
// of the normalisation. The loop over the tiles of an image is unrolled.
class Convolution {
 public:
  Convolution(u64 images, bool fused, u64 ub_buffers, isa::Arch arch)
      : fused_(fused),
        ub_buffers_(ub_buffers),
        p_(fused ? "conv_bn_relu" : "conv", arch),
        images_(p_.constant("IMAGES", static_cast<i64>(images))) {}

  isa::BuiltProgram program() {
    p_.get_block_idx(image);
    p_.get_block_num(step);
    p_.ld_arg(x, 0);
    p_.ld_arg(weights, 1);
    p_.ld_arg(y, 2);
    p_.set_fmatrix(kEdge | kEdge << 16 | 0x01010101ull << 32);
    p_.set_padding(0);
    p_.set_l1_3d_size(0);
    if (fused_) normalise_.load_parameters(3);
    p_.copy_gm_to_cbuf(0, weights, 0, 1, kWeightBytes / kBlock, 0, 0);
    all_free(true);
    const isa::Target next = p_.here("image"), finish = p_.label("finish");
    p_.bge(image, images_, finish);
    p_.mul(offset, image, kImageBytes);
    p_.add(x_at, x, offset);
    p_.add(y_at, y, offset);
    load_image();
    for (u64 tile = 0; tile < kTiles; ++tile)
      compute_tile(tile);
    p_.set_flag(PipeId::MTE1, PipeId::MTE2, 0);
    p_.add(image, image, step);
    p_.b(next);
    p_.bind(finish);
    all_free(false);
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  void all_free(bool set) {
    const auto flag = [&](PipeId from, PipeId to, u64 event) {
      set ? p_.set_flag(from, to, event) : p_.wait_flag(from, to, event);
    };
    flag(PipeId::MTE1, PipeId::MTE2, 0);
    for (u64 i = 0; i < 2; ++i) {
      flag(PipeId::M, PipeId::MTE1, i);
      flag(PipeId::V, PipeId::M, i);
    }
    for (u64 i = 0; i < ub_buffers_; ++i)
      flag(PipeId::MTE3, PipeId::V, i);
  }

  void load_image() {
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, 0);
    for (u64 piece = 0; piece < kPieces; ++piece) {
      const u64 from = piece * kPieceRows * kEdge, blocks = kPieceRows * kEdge;
      p_.add(gm, x_at, from * kBlock);
      p_.copy_gm_to_cbuf(kWeightBytes + from * kBlock, gm, 0, kC1, blocks, kPixels - blocks, kPixels - blocks);
      p_.set_flag(PipeId::MTE2, PipeId::MTE1, piece);
    }
  }

  void compute_tile(u64 tile) {
    const u64 slot_c = tile % 2;
    // The rows under the tile end one row below it.
    const auto piece_of = [](u64 t) { return std::min(t * kTileRows + kTileRows, kEdge - 1) / kPieceRows; };
    if (tile == 0 || piece_of(tile) != piece_of(tile - 1)) p_.wait_flag(PipeId::MTE2, PipeId::MTE1, piece_of(tile));
    p_.wait_flag(PipeId::V, PipeId::M, slot_c);
    for (u64 part = 0; part < kC1; ++part)
      add_part(tile, part, slot_c);
    p_.hand_over(PipeId::M, PipeId::V, slot_c);
    store_tile(tile, slot_c);
  }
  // The products with the channels of one c1.
  void add_part(u64 tile, u64 part, u64 slot_c) {
    const u64 slot = part % 2;
    p_.wait_flag(PipeId::M, PipeId::MTE1, slot);
    for (u64 m1 = 0; m1 < kM1; ++m1) {
      const u64 pixel = tile * kTilePixels + m1 * kC0;
      p_.img2col_cbuf_to_ca(Type::b16, slot * kPartA + m1 * kPoints * kFractal, kWeightBytes, 0, 0,
                            static_cast<i64>(pixel % kEdge) - 1, static_cast<i64>(pixel / kEdge) - 1, part, 1, 1, 3, 3,
                            1, 1, 1, 0, kPoints, 0);
    }
    p_.load_cbuf_to_cb(slot * kPartB, 0, part * kPoints * kC1, kPoints * kC1, 1, 0, 0);
    p_.hand_over(PipeId::MTE1, PipeId::M, slot);
    p_.mad(Type::f162f32, slot_c * kTileC, slot * kPartA, slot * kPartB, kTilePixels, kPoints * kC0, kChannels,
           part == 0 ? 1 : 0);
    p_.set_flag(PipeId::M, PipeId::MTE1, slot);
  }

  // L0C to UB as f16, what is fused, and to global memory.
  void store_tile(u64 tile, u64 slot_c) {
    const u64 slot = tile % ub_buffers_, at = kUbTiles + slot * kTileUb;
    p_.wait_flag(PipeId::MTE3, PipeId::V, slot);
    p_.copy_matrix_cc_to_ubuf(Type::f32, at, slot_c * kTileC, 0, 1, kM1 * kC1, 0, 0, 1);
    p_.set_flag(PipeId::V, PipeId::M, slot_c);
    if (fused_) {
      p_.pipe_barrier(PipeId::V);
      p_.mov(normalise_.at, at);
      p_.mov(normalise_.first, 0);
      normalise_.write(kC1, kTilePixels, normalise_.first);
    }
    p_.hand_over(PipeId::V, PipeId::MTE3, slot);
    p_.add(gm, y_at, tile * kTilePixels * kBlock);
    p_.copy_ubuf_to_gm(gm, at, 0, kC1, kTilePixels, 0, kPixels - kTilePixels);
    p_.set_flag(PipeId::MTE3, PipeId::V, slot);
  }

  const bool fused_;
  const u64 ub_buffers_;
  ProgramBuilder p_;
  const isa::Const images_;
  const Reg image = p_.reg("image"), step = p_.reg("step"), x = p_.reg("x"), weights = p_.reg("weights"),
            y = p_.reg("y"), offset = p_.reg("offset"), x_at = p_.reg("x_at"), y_at = p_.reg("y_at"), gm = p_.reg("gm");
  Normalisation normalise_{p_};
};

// Normalisation and ReLU as a kernel of their own. Arguments: y, z, parameters. A tile is half a plane of 16 channels.
isa::BuiltProgram bn_relu(u64 images, u32 ub_buffers, isa::Arch arch) {
  constexpr u64 kBlocks = kPixels / 2;
  ProgramBuilder b("bn_relu", arch);
  const Reg y = b.reg("y", 3), z = b.reg("z", 4);
  const Reg before = b.reg("before", 5);            // bytes before the tile
  const Reg of_channels = b.reg("of_channels", 6);  // bytes before the parameters of its channels
  const Reg gm = b.reg("gm", 7);
  Normalisation normalise(b);
  gen::TilePipeline t{.tiles = images * kC1 * 2, .slots = ub_buffers, .in_place = true};
  const auto at = [](u32 slot) { return kUbTiles + slot * kBlocks * kBlock; };
  t.prologue = [&](ProgramBuilder& p) {
    p.ld_arg(y, 0);
    p.ld_arg(z, 1);
    normalise.load_parameters(2);
  };
  t.locate = [&](ProgramBuilder& p, Reg tile) {
    p.mul(before, tile, kBlocks * kBlock);
    p.shr(of_channels, tile, 1);
    p.rem(of_channels, of_channels, kC1);
    p.mul(of_channels, of_channels, kBlock);
  };
  t.load = [&](ProgramBuilder& p, u32 slot) {
    p.add(gm, y, before);
    p.copy_gm_to_ubuf(at(slot), gm, 0, 1, kBlocks, 0, 0);
  };
  t.compute = [&](ProgramBuilder& p, u32 slot) {
    p.mov(normalise.at, at(slot));
    normalise.write(1, kBlocks, of_channels);
  };
  t.store = [&](ProgramBuilder& p, u32 slot) {
    p.add(gm, z, before);
    p.copy_ubuf_to_gm(gm, at(slot), 0, 1, kBlocks, 0, 0);
  };
  write_tile_pipeline(b, t);
  return b.finish();
}

struct Data {
  std::vector<u16> x, weights, weights_z, parameters;
};

double f16(u16 v) { return isa::f16_value(v); }

Data make_data(u64 images) {
  Random random(1);
  const auto values = [&](u64 n, float scale, float shift) {
    std::vector<u16> out(n);
    for (u16& v : out)
      v = isa::f32_to_f16(std::bit_cast<u32>(random.uniform() * scale + shift));
    return out;
  };
  Data d{.x = values(images * kImageBytes / 2, 1, 0),
         .weights = values(kChannels * kChannels * kPoints, 0.0625f, 0),
         .weights_z = std::vector<u16>(kWeightBytes / 2),
         .parameters = values(kChannels, 0.5f, 1)};
  const std::vector<u16> offsets = values(kChannels, 0.5f, 0);
  d.parameters.insert(d.parameters.end(), offsets.begin(), offsets.end());
  const std::vector<u64> shape{kChannels, kChannels, 3, 3};
  isa::trans_data(isa::TensorLayout(isa::Format::NCHW, shape, kC0), std::as_bytes(std::span(d.weights)),
                  isa::TensorLayout(isa::Format::FRACTAL_Z, shape, kC0), std::as_writable_bytes(std::span(d.weights_z)),
                  2);
  return d;
}

// The largest error of the last image against FP64, in ulps of f16 at the size of scale * sum and offset.
double largest_error(const Data& d, const std::vector<u16>& z) {
  const usize image = d.x.size() - kImageBytes / 2;
  const auto at = [](u64 c, u64 h, u64 w) { return ((c / kC0 * kEdge + h) * kEdge + w) * kC0 + c % kC0; };
  std::vector<double> x(kImageBytes / 2), weights(d.weights.size());
  std::ranges::transform(d.x.begin() + static_cast<std::ptrdiff_t>(image), d.x.end(), x.begin(), f16);
  std::ranges::transform(d.weights, weights.begin(), f16);
  double largest = 0;
  for (u64 n = 0; n < kChannels; n += 7) {
    for (u64 h = 0; h < kEdge; ++h) {
      for (u64 w = 0; w < kEdge; ++w) {
        double sum = 0;
        for (u64 c = 0; c < kChannels; ++c) {
          for (u64 i = 0; i < kPoints; ++i) {
            const u64 y = h + i / 3, v = w + i % 3;  // one more than in the image
            if (y >= 1 && y <= kEdge && v >= 1 && v <= kEdge)
              sum += x[at(c, y - 1, v - 1)] * weights[(n * kChannels + c) * kPoints + i];
          }
        }
        const double scaled = f16(d.parameters[n]) * sum, offset = f16(d.parameters[kChannels + n]);
        const double error = std::fabs(f16(z[image + at(n, h, w)]) - std::max(scaled + offset, 0.0));
        largest = std::max(largest, error / (std::fabs(scaled) + std::fabs(offset)));
      }
    }
  }
  return largest * 0x1p10;
}

struct Measured {
  Run run;
  Overlap overlap;
};

Measured convolve(const Study& study, const Data& d, bool fused, u32 ub_buffers) {
  const config::ChipConfig& chip = study.chip();
  const u64 images = d.x.size() * 2 / kImageBytes;
  const std::string variant = fmt::format("{}-{}", fused ? "fused" : "unfused", ub_buffers);
  gen::StreamFolder s(variant, chip, "Convolution, batch normalisation and ReLU");
  s.input<u16>("x", "f2", d.x);
  s.input<u16>("weights", "f2", d.weights_z);
  s.input<u16>("parameters", "f2", d.parameters);
  if (!fused) s.intermediate("y", "f2", d.x.size());
  s.output("z", "f2", d.x.size());
  const auto blocks = static_cast<u32>(std::min<u64>(chip.ai_cores, images));
  if (fused) {
    s.task("conv_bn_relu", Convolution(images, true, ub_buffers, chip.arch).program(), blocks,
           {"x", "weights", "z", "parameters"});
  } else {
    s.task("conv", Convolution(images, false, ub_buffers, chip.arch).program(), blocks, {"x", "weights", "y"});
    s.task("bn_relu", bn_relu(images, ub_buffers, chip.arch), blocks, {"y", "z", "parameters"});
  }
  Measured out;
  out.run = study.run(variant, s.files(), chip, &out.overlap);
  return out;
}

}  // namespace

void conv_bn_relu(Study& study) {
  if (study.chip().vector_cores != 0) {
    fail(Fault::Unsupported, "S22 needs a joint core, whose cube results reach UB; {} has a split one",
         study.chip().name);
  }
  const Data d = make_data(study.whole("batch"));
  const auto buffers = static_cast<u32>(study.whole("ub_buffers"));
  const Measured unfused = convolve(study, d, false, buffers), fused = convolve(study, d, true, buffers);
  const Measured single = convolve(study, d, false, 1), several = convolve(study, d, false, 2);
  const double cores = std::min<double>(study.chip().ai_cores, static_cast<double>(study.whole("batch")));
  const auto share = [&](const Run& run, u64 cycles) { return 100 * run.us(cycles) / cores / run.kernel_us(); };
  const auto cube = [&](const Measured& m) { return share(m.run, m.run.busy_cycles(isa::PipeId::M)); };
  for (const auto& [name, m] : {std::pair<std::string, const Measured&>{"unfused", unfused},
                                {"fused", fused},
                                {"unfused, 1 buffer", single},
                                {"unfused, 2 buffers", several}}) {
    study.fact(name + ": kernels", m.run.kernel_us(), "us");
    study.fact(name + ": cube", cube(m), "%");
    study.fact(name + ": vector unit", share(m.run, m.run.busy_cycles(isa::PipeId::V)), "%");
    study.fact(name + ": cube and vector unit", share(m.run, m.overlap.cycles("M", "V")), "%");
    study.fact(name + ": vector unit and stores", share(m.run, m.overlap.cycles("V", "MTE3")), "%");
  }
  const auto activation = static_cast<double>(d.x.size() * 2);
  const auto less = [&](u64 before, u64 after) {
    return (static_cast<double>(before) - static_cast<double>(after)) / activation;
  };
  study.measured("writes_removed", less(unfused.run.gm_write_bytes(), fused.run.gm_write_bytes()));
  study.measured("reads_removed", less(unfused.run.gm_read_bytes(), fused.run.gm_read_bytes()));
  study.measured("different_results", unfused.run.host == fused.run.host && fused.run.host == single.run.host ? 0 : 1);
  study.measured("error", largest_error(d, fused.run.values<u16>("z")));
  study.measured("cube_utilisation_gain", cube(fused) / cube(unfused));
  study.measured("overlap_1_buffer", share(single.run, single.overlap.cycles("V", "MTE3")));
  study.measured("overlap_2_buffers", share(several.run, several.overlap.cycles("V", "MTE3")));
}

}  // namespace vinci::studies
