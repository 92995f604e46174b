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
#include "tools/studies/entries.h"
#include "tools/studies/overlap.h"

namespace vinci::studies {
namespace {

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

std::string flag(std::string_view what, std::string_view from, std::string_view to, u64 event) {
  return fmt::format("  {} {}, {}, EVENT_ID{}\n", what, from, to, event);
}

// Scale and offset of the channels stand in UB from 0 on, then tiles.
constexpr u64 kScale = 0, kOffset = kChannels * 2, kUbTiles = 512;

// y = relu(x * scale + offset) in place, for channel blocks [0, groups) of `blocks` pixels each at `at`. A block of
// scale and offset goes with all pixels: strides of 0. `first` is added to their addresses.
std::string normalise(std::string_view at, u64 groups, u64 blocks, std::string_view first) {
  const u64 repeats = blocks / 8;
  std::string s;
  for (const auto& [name, from] : {std::pair<std::string_view, u64>{"vmul", kScale}, {"vadd", kOffset}}) {
    for (u64 g = 0; g < groups; ++g) {
      s += fmt::format("  add X20, {}, {}\n  add X21, {}, {}\n", at, g * blocks * kBlock, first, from + g * kBlock);
      s += fmt::format("  {}.f16 X20, X20, X21, {}, 1, 1, 0, 8, 8, 0\n", name, repeats);
    }
    s += "  pipe_barrier PIPE_V\n";
  }
  for (u64 g = 0; g < groups; ++g)
    s += fmt::format("  add X20, {0}, {1}\n  vrelu.f16 X20, X20, {2}, 1, 1, 8, 8\n", at, g * blocks * kBlock, repeats);
  return s;
}

std::string load_parameters(u32 argument) {
  return fmt::format(
      "  ld_arg X22, {}\n  copy_gm_to_ubuf {}, X22, 0, 1, {}, 0, 0\n"
      "  set_flag PIPE_MTE2, PIPE_V, EVENT_ID2\n  wait_flag PIPE_MTE2, PIPE_V, EVENT_ID2\n",
      argument, kScale, 2 * kChannels * 2 / kBlock);
}

// One block of the launch convolves every block_num-th image. Arguments: x, weights, y, and when fused the parameters
// of the normalisation. The loop over the tiles of an image is unrolled.
class Convolution {
 public:
  Convolution(u64 images, bool fused, u64 ub_buffers) : images_(images), fused_(fused), ub_buffers_(ub_buffers) {}

  std::string assembly() {
    s_ = fmt::format(
        ".const IMAGES = {}\n  get_block_idx X0\n  get_block_num X1\n  ld_arg X2, 0\n  ld_arg X3, 1\n  ld_arg X4, 2\n"
        "  set_fmatrix {:#x}\n  set_padding 0\n  set_l1_3d_size 0\n",
        images_, kEdge | kEdge << 16 | 0x01010101ull << 32);
    if (fused_) s_ += load_parameters(3);
    s_ += fmt::format("  copy_gm_to_cbuf 0, X3, 0, 1, {}, 0, 0\n", kWeightBytes / kBlock);
    all_free("set_flag");
    s_ += fmt::format("image:\n  bge X0, IMAGES, finish\n  mul X5, X0, {}\n  add X6, X2, X5\n  add X7, X4, X5\n",
                      kImageBytes);
    load_image();
    for (u64 tile = 0; tile < kTiles; ++tile)
      compute_tile(tile);
    s_ += flag("set_flag", "PIPE_MTE1", "PIPE_MTE2", 0) + "  add X0, X0, X1\n  b image\nfinish:\n";
    all_free("wait_flag");
    return s_ + "  pipe_barrier PIPE_ALL\n  end\n";
  }

 private:
  void all_free(std::string_view what) {
    s_ += flag(what, "PIPE_MTE1", "PIPE_MTE2", 0);
    for (u64 i = 0; i < 2; ++i)
      s_ += flag(what, "PIPE_M", "PIPE_MTE1", i) + flag(what, "PIPE_V", "PIPE_M", i);
    for (u64 i = 0; i < ub_buffers_; ++i)
      s_ += flag(what, "PIPE_MTE3", "PIPE_V", i);
  }

  void load_image() {
    s_ += flag("wait_flag", "PIPE_MTE1", "PIPE_MTE2", 0);
    for (u64 piece = 0; piece < kPieces; ++piece) {
      const u64 from = piece * kPieceRows * kEdge, blocks = kPieceRows * kEdge;
      s_ += fmt::format("  add X8, X6, {}\n  copy_gm_to_cbuf {}, X8, 0, {}, {}, {}, {}\n", from * kBlock,
                        kWeightBytes + from * kBlock, kC1, blocks, kPixels - blocks, kPixels - blocks);
      s_ += flag("set_flag", "PIPE_MTE2", "PIPE_MTE1", piece);
    }
  }

  void compute_tile(u64 tile) {
    const u64 slot_c = tile % 2;
    // The rows under the tile end one row below it.
    const auto piece_of = [](u64 t) { return std::min(t * kTileRows + kTileRows, kEdge - 1) / kPieceRows; };
    if (tile == 0 || piece_of(tile) != piece_of(tile - 1))
      s_ += flag("wait_flag", "PIPE_MTE2", "PIPE_MTE1", piece_of(tile));
    s_ += flag("wait_flag", "PIPE_V", "PIPE_M", slot_c);
    for (u64 part = 0; part < kC1; ++part) {
      const u64 slot = part % 2;
      s_ += flag("wait_flag", "PIPE_M", "PIPE_MTE1", slot);
      for (u64 m1 = 0; m1 < kM1; ++m1) {
        const u64 p = tile * kTilePixels + m1 * kC0;
        s_ += fmt::format("  img2col_cbuf_to_ca.b16 {}, {}, 0, 0, {}, {}, {}, 1, 1, 3, 3, 1, 1, 1, 0, {}, 0\n",
                          slot * kPartA + m1 * kPoints * kFractal, kWeightBytes, static_cast<i64>(p % kEdge) - 1,
                          static_cast<i64>(p / kEdge) - 1, part, kPoints);
      }
      s_ +=
          fmt::format("  load_cbuf_to_cb {}, 0, {}, {}, 1, 0, 0\n", slot * kPartB, part * kPoints * kC1, kPoints * kC1);
      s_ += flag("set_flag", "PIPE_MTE1", "PIPE_M", slot) + flag("wait_flag", "PIPE_MTE1", "PIPE_M", slot);
      s_ += fmt::format("  mad.f162f32 {}, {}, {}, {}, {}, {}, {}\n", slot_c * kTileC, slot * kPartA, slot * kPartB,
                        kTilePixels, kPoints * kC0, kChannels, part == 0 ? 1 : 0);
      s_ += flag("set_flag", "PIPE_M", "PIPE_MTE1", slot);
    }
    s_ += flag("set_flag", "PIPE_M", "PIPE_V", slot_c) + flag("wait_flag", "PIPE_M", "PIPE_V", slot_c);
    store_tile(tile, slot_c);
  }

  // L0C to UB as f16, what is fused, and to global memory.
  void store_tile(u64 tile, u64 slot_c) {
    const u64 slot = tile % ub_buffers_, at = kUbTiles + slot * kTileUb;
    s_ += flag("wait_flag", "PIPE_MTE3", "PIPE_V", slot);
    s_ += fmt::format("  copy_matrix_cc_to_ubuf.f32 {}, {}, 0, 1, {}, 0, 0, 1\n", at, slot_c * kTileC, kM1 * kC1);
    s_ += flag("set_flag", "PIPE_V", "PIPE_M", slot_c);
    if (fused_)
      s_ += fmt::format("  pipe_barrier PIPE_V\n  mov X19, {}\n  mov X23, 0\n", at) +
            normalise("X19", kC1, kTilePixels, "X23");
    s_ += flag("set_flag", "PIPE_V", "PIPE_MTE3", slot) + flag("wait_flag", "PIPE_V", "PIPE_MTE3", slot);
    s_ += fmt::format("  add X8, X7, {}\n  copy_ubuf_to_gm X8, {}, 0, {}, {}, 0, {}\n", tile * kTilePixels * kBlock, at,
                      kC1, kTilePixels, kPixels - kTilePixels);
    s_ += flag("set_flag", "PIPE_MTE3", "PIPE_V", slot);
  }

  u64 images_;
  bool fused_;
  u64 ub_buffers_;
  std::string s_;
};

// Normalisation and ReLU as a kernel of their own. Arguments: y, z, parameters. A tile is half a plane of 16 channels.
std::string bn_relu(u64 images, u32 ub_buffers) {
  constexpr u64 kBlocks = kPixels / 2;
  gen::TilePipeline p{.tiles = images * kC1 * 2,
                      .slots = ub_buffers,
                      .in_place = true,
                      .prologue = "  ld_arg X3, 0\n  ld_arg X4, 1\n" + load_parameters(2),
                      // X5: bytes before the tile, X6: bytes before the parameters of its channels
                      .locate = fmt::format("  mul X5, X0, {}\n  shr X6, X0, 1\n  rem X6, X6, {}\n  mul X6, X6, {}\n",
                                            kBlocks * kBlock, kC1, kBlock)};
  const auto at = [](u32 slot) { return kUbTiles + slot * kBlocks * kBlock; };
  p.load = [=](u32 slot) {
    return fmt::format("  add X7, X3, X5\n  copy_gm_to_ubuf {}, X7, 0, 1, {}, 0, 0\n", at(slot), kBlocks);
  };
  p.compute = [=](u32 slot) { return fmt::format("  mov X19, {}\n", at(slot)) + normalise("X19", 1, kBlocks, "X6"); };
  p.store = [=](u32 slot) {
    return fmt::format("  add X7, X4, X5\n  copy_ubuf_to_gm X7, {}, 0, 1, {}, 0, 0\n", at(slot), kBlocks);
  };
  return gen::tile_pipeline_assembly(p);
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
    s.task("conv_bn_relu", Convolution(images, true, ub_buffers).assembly(), blocks,
           {"x", "weights", "z", "parameters"});
  } else {
    s.task("conv", Convolution(images, false, ub_buffers).assembly(), blocks, {"x", "weights", "y"});
    s.task("bn_relu", bn_relu(images, ub_buffers), blocks, {"y", "z", "parameters"});
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
