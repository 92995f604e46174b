// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S09: TransData between NC1HWC0 and NCHW or NHWC, element by element through the scalar unit, and with 16 x 16
// transposes of the vector unit between long bursts.
#include "tools/studies/transdata.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "isa/base/random.h"
#include "isa/mem/trans_data.h"
#include "isa/numeric/float16.h"
#include "tools/gen/tile_pipeline.h"
#include "tools/studies/entries.h"

namespace vinci::studies {
namespace {

constexpr u64 kC0 = 16, kBlock = 32;  // channels and bytes of a block of f16
constexpr u64 kHeight = 64, kWidth = 64;
constexpr u64 kPixels = kHeight * kWidth;  // of an image
constexpr u64 kFewChannels = 3;

struct Case {
  isa::Format plain = isa::Format::NCHW;
  bool to_5hd = true;
  u64 channels = 64;
  u64 images = 1;

  u64 c1() const { return ceil_div(channels, kC0); }
  u64 plain_bytes() const { return images * channels * kPixels * 2; }
  u64 blocked_bytes() const { return images * c1() * kPixels * kBlock; }
  std::string name() const {
    const std::string_view format = plain == isa::Format::NCHW ? "NCHW" : "NHWC";
    return to_5hd ? fmt::format("{}_to_NC1HWC0_C{}", format, channels)
                  : fmt::format("NC1HWC0_to_{}_C{}", format, channels);
  }
};

// How a tile lies in UB on both sides, and the copies that bring it there and away. A tile is a range of pixels of an
// image: in NCHW of 16 channels at most, in NHWC of all.
class Tiling {
 public:
  explicit Tiling(const Case& c) : c_(c), nchw_(c.plain == isa::Format::NCHW) {
    const u64 most = 48 * 1024;  // of a slot: two on each side fit UB beside what few channels need
    const u64 block_bytes = (nchw_ ? 1 : c.c1()) * kBlock;  // of a pixel of the blocked side
    pixels = std::bit_floor(most / block_bytes);
    groups = nchw_ ? c.c1() : 1;
    plain_slot = align_up<u64>(pixels * (nchw_ ? kC0 : c.channels) * 2, kBlock);
    blocked_slot = pixels * block_bytes;
  }

  u64 pixels = 0;  // of a tile; a power of two
  u64 groups = 0;  // tiles that share a range of pixels
  u64 plain_slot = 0, blocked_slot = 0;

  u64 tiles() const { return c_.images * groups * (kPixels / pixels); }
  u64 plain_at(u32 slot) const { return slot * plain_slot; }
  u64 blocked_at(u32 slot) const { return 2 * plain_slot + slot * blocked_slot; }
  u64 scratch() const { return 2 * (plain_slot + blocked_slot); }

  // X10, X11: where the tile X0 begins in plain and in blocked memory; X3, X4 are the tensors.
  std::string locate() const {
    const u64 ranges = kPixels / pixels;
    // image, group, range of the tile: X5, X6, X7
    std::string s = fmt::format("  rem X7, X0, {0}\n  div X6, X0, {0}\n  rem X6, X6, {1}\n  div X5, X0, {0} * {1}\n",
                                ranges, groups);
    const u64 image = c_.channels * kPixels * 2;
    const u64 group = nchw_ ? kC0 * kPixels * 2 : 0, range = nchw_ ? pixels * 2 : pixels * c_.channels * 2;
    s += sum("X10", "X3", image, group, range);
    return s + sum("X11", "X4", c_.c1() * kPixels * kBlock, kPixels * kBlock, pixels * kBlock);
  }

  // Copies between global memory and a slot, in long bursts.
  std::string copy_plain(bool in, u32 slot) const {
    if (!nchw_) return copy(in, "X10", plain_at(slot), 1, pixels * c_.channels * 2 / kBlock, 0);
    return copy(in, "X10", plain_at(slot), std::min(c_.channels, kC0), pixels / kC0, (kPixels - pixels) / kC0);
  }
  std::string copy_blocked(bool in, u32 slot) const {
    const u64 bursts = nchw_ ? 1 : c_.c1();
    return copy(in, "X11", blocked_at(slot), bursts, pixels, bursts == 1 ? 0 : kPixels - pixels);
  }

 private:
  static std::string sum(std::string_view to, std::string_view base, u64 image, u64 group, u64 range) {
    return fmt::format(
        "  mul {0}, X5, {2}\n  add {0}, {0}, {1}\n  mul X8, X6, {3}\n  add {0}, {0}, X8\n"
        "  mul X8, X7, {4}\n  add {0}, {0}, X8\n",
        to, base, image, group, range);
  }
  static std::string copy(bool in, std::string_view gm, u64 ub, u64 bursts, u64 blocks, u64 gap) {
    return in ? fmt::format("  copy_gm_to_ubuf {}, {}, 0, {}, {}, {}, 0\n", ub, gm, bursts, blocks, gap)
              : fmt::format("  copy_ubuf_to_gm {}, {}, 0, {}, {}, 0, {}\n", gm, ub, bursts, blocks, gap);
  }

  const Case& c_;
  bool nchw_;
};

// dst[e][k] = src[k][e] for blocks at src[k] and dst[e], `repeats` times, the strides in blocks.
std::string transpose(const std::vector<u64>& dst, const std::vector<u64>& src, u64 repeats, u64 dst_stride,
                      u64 src_stride) {
  const auto half = [](const std::vector<u64>& list, usize begin) {
    return fmt::join(list.begin() + static_cast<std::ptrdiff_t>(begin),
                     list.begin() + static_cast<std::ptrdiff_t>(begin + 8), ", ");
  };
  std::string s;
  for (u32 va = 0; va < 2; ++va) {
    s += fmt::format("  set_va_reg_sb {}, {}\n", va, half(dst, va * 8));
    s += fmt::format("  set_va_reg_sb {}, {}\n", va + 2, half(src, va * 8));
  }
  return s + fmt::format("  scatter_vnchwconv_b16 0, 2, {}, {}, {}\n", repeats, dst_stride, src_stride);
}

std::vector<u64> blocks_from(u64 first, u64 stride) {
  std::vector<u64> out(kC0);
  for (u64 i = 0; i < kC0; ++i)
    out[i] = first + i * stride;
  return out;
}

// NCHW: squares of 16 channels x 16 pixels are transposed.
std::string vector_nchw(const Case& c, const Tiling& t, u32 slot) {
  const std::vector<u64> rows = blocks_from(t.plain_at(slot), t.pixels * 2);  // of channels
  const std::vector<u64> pixels = blocks_from(t.blocked_at(slot), kBlock);
  const u64 squares = t.pixels / kC0;
  return c.to_5hd ? transpose(pixels, rows, squares, kC0, 1) : transpose(rows, pixels, squares, 1, kC0);
}

// NHWC, whole blocks of channels: blocks change their order.
std::string vector_nhwc(const Case& c, const Tiling& t, u32 slot) {
  std::string s;
  for (u64 c1 = 0; c1 < c.c1(); ++c1) {
    const u64 plain = t.plain_at(slot) + c1 * kBlock, blocked = t.blocked_at(slot) + c1 * t.pixels * kBlock;
    s += c.to_5hd ? fmt::format("  copy_ubuf_to_ubuf {}, {}, 0, {}, 1, {}, 0\n", blocked, plain, t.pixels, c.c1() - 1)
                  : fmt::format("  copy_ubuf_to_ubuf {}, {}, 0, {}, 1, 0, {}\n", plain, blocked, t.pixels, c.c1() - 1);
  }
  return s;
}

// NHWC, less than a block of channels: a tile is 16 rows of Q pixels. One transpose brings element e of all rows into
// block e; the blocks of the channels of a pixel, filled up with zeros, are transposed into the pixel of all rows.
std::string vector_few(const Case& c, const Tiling& t, u32 slot) {
  const u64 q = t.pixels / kC0, elements = q * c.channels;
  const u64 by_element = t.scratch(), other = by_element + elements * kBlock;  // zeros, or what nobody needs
  const std::vector<u64> rows = blocks_from(t.plain_at(slot), elements * 2);
  const std::vector<u64> pixels = blocks_from(t.blocked_at(slot), q * kBlock);
  const std::vector<u64> middle = blocks_from(by_element, kBlock);
  std::vector<u64> channels(kC0, other);
  for (u64 i = 0; i < c.channels; ++i)
    channels[i] = middle[i];
  const std::string fence = "  pipe_barrier PIPE_V\n";
  return c.to_5hd ? transpose(middle, rows, elements / kC0, kC0, 1) + fence +
                        transpose(pixels, channels, q, 1, c.channels) + fence
                  : transpose(channels, pixels, q, c.channels, 1) + fence +
                        transpose(rows, middle, elements / kC0, 1, kC0) + fence;
}

// Every element is loaded and stored by the scalar unit. The loop over pixels is unrolled over the channels of a block.
std::string scalar_elements(const Case& c, const Tiling& t, u32 slot) {
  const bool nchw = c.plain == isa::Format::NCHW;
  const u64 channels = std::min(c.channels, kC0);
  std::string s;
  for (u64 c1 = 0; c1 < (nchw ? 1 : c.c1()); ++c1) {
    const u64 plain = t.plain_at(slot) + (nchw ? 0 : c1 * kBlock);
    const u64 blocked = t.blocked_at(slot) + c1 * t.pixels * kBlock;
    s += fmt::format("  mov X12, {}\n  mov X13, {}\n  mov X14, 0\npixel_{}_{}:\n", plain, blocked, slot, c1);
    for (u64 i = 0; i < channels; ++i) {
      const std::string at_plain = fmt::format("X12, {}", nchw ? i * t.pixels * 2 : i * 2);
      const std::string at_blocked = fmt::format("X13, {}", i * 2);
      s += fmt::format("  ld_ubuf.b16 X15, {}\n  st_ubuf.b16 X15, {}\n", c.to_5hd ? at_plain : at_blocked,
                       c.to_5hd ? at_blocked : at_plain);
    }
    s += fmt::format("  add X12, X12, {}\n  add X13, X13, {}\n  add X14, X14, 1\n  blt X14, {}, pixel_{}_{}\n",
                     nchw ? 2 : c.channels * 2, kBlock, t.pixels, slot, c1);
  }
  return s;
}

// Zeros where the blocked side pads, and where vector_few reads zeros.
std::string clear(const Case& c, const Tiling& t) {
  if (c.channels % kC0 == 0) return {};
  const u64 end = t.scratch() + 2 * (t.pixels / kC0) * c.channels * kBlock;
  std::string s;
  constexpr u64 kMostRepeats = 255, kRepeat = 256;
  for (u64 at = 0; at < end; at += kMostRepeats * kRepeat) {
    const u64 repeats = std::min(kMostRepeats, ceil_div(end - at, kRepeat));
    s += fmt::format("  vector_dup.f16 {}, 0, {}, 1, 1, 8, 8\n", at, repeats);
  }
  return s + "  pipe_barrier PIPE_ALL\n";
}

std::string kernel(const Case& c, bool scalar) {
  const Tiling t(c);
  const bool nchw = c.plain == isa::Format::NCHW;
  gen::TilePipeline p{.tiles = t.tiles(),
                      .compute_pipe = scalar ? "PIPE_S" : "PIPE_V",
                      .prologue = "  ld_arg X3, 0\n  ld_arg X4, 1\n" + clear(c, t),
                      .locate = t.locate()};
  p.load = [&](u32 slot) { return c.to_5hd ? t.copy_plain(true, slot) : t.copy_blocked(true, slot); };
  p.store = [&](u32 slot) { return c.to_5hd ? t.copy_blocked(false, slot) : t.copy_plain(false, slot); };
  p.compute = [&](u32 slot) {
    if (scalar) return scalar_elements(c, t, slot);
    if (nchw) return vector_nchw(c, t, slot);
    return c.channels % kC0 == 0 ? vector_nhwc(c, t, slot) : vector_few(c, t, slot);
  };
  return gen::tile_pipeline_assembly(p);
}

// The tensor on both sides, from the conversion of the host.
struct Data {
  std::vector<u16> plain, blocked;
};

Data make_data(const Case& c, u64 seed) {
  Data d{.plain = std::vector<u16>(c.plain_bytes() / 2), .blocked = std::vector<u16>(c.blocked_bytes() / 2)};
  Random random(seed);
  for (u16& v : d.plain)
    v = isa::f32_to_f16(std::bit_cast<u32>(random.uniform()));
  const std::vector<u64> shape{c.images, c.channels, kHeight, kWidth};
  isa::trans_data(isa::TensorLayout(c.plain, shape, kC0), std::as_bytes(std::span(d.plain)),
                  isa::TensorLayout(isa::Format::NC1HWC0, shape, kC0), std::as_writable_bytes(std::span(d.blocked)), 2);
  return d;
}

// Both implementations of a case take the plain tensor first.
Run convert(const Study& study, const Case& c, const Data& data, bool scalar) {
  const auto& chip = study.chip();
  const std::string name = fmt::format("{}_{}", c.name(), scalar ? "scalar" : "vector");
  gen::StreamFolder s("transdata", chip, name);
  if (c.to_5hd) {
    s.input<u16>("plain", "f2", data.plain);
    s.output("blocked", "f2", data.blocked.size());
  } else {
    s.output("plain", "f2", data.plain.size());
    s.input<u16>("blocked", "f2", data.blocked);
  }
  const u64 cores = chip.vector_cores > 0 ? chip.vector_cores : chip.ai_cores;
  s.task("transdata", kernel(c, scalar), static_cast<u32>(std::min(cores, Tiling(c).tiles())), {"plain", "blocked"});
  return study.run(name, s.files());
}

bool same(const Case& c, const Data& d, const Run& run) {
  return c.to_5hd ? run.values<u16>("blocked") == d.blocked : run.values<u16>("plain") == d.plain;
}

}  // namespace

double transdata_speedup(const Study& study, u64 mebibytes) {
  constexpr u64 kChannels = 64;
  double slow = 0, fast = 0;
  for (const bool to_5hd : {true, false}) {
    const Case c{isa::Format::NHWC, to_5hd, kChannels, ceil_div<u64>(mebibytes << 20, kChannels * kPixels * 2)};
    const Data data = make_data(c, 1);
    slow += convert(study, c, data, true).kernel_us();
    fast += convert(study, c, data, false).kernel_us();
  }
  return slow / fast;
}

void transdata(Study& study) {
  const auto images = [&](std::string_view knob, u64 channels) {
    return ceil_div<u64>(study.whole(knob) << 20, channels * kPixels * 2);
  };
  double least_speedup = std::numeric_limits<double>::infinity(), least_efficiency = least_speedup;
  u64 wrong = 0, other_bytes = 0;
  for (const u64 channels : {kFewChannels, u64{64}, u64{256}}) {
    for (const isa::Format plain : {isa::Format::NCHW, isa::Format::NHWC}) {
      for (const bool to_5hd : {true, false}) {
        const Case c{plain, to_5hd, channels, images("mebibytes", channels)};
        const Data data = make_data(c, 1);
        const Run slow = convert(study, c, data, true), fast = convert(study, c, data, false);
        wrong += !same(c, data, slow) + !same(c, data, fast);
        other_bytes += slow.gm_read_bytes() != fast.gm_read_bytes() || slow.gm_write_bytes() != fast.gm_write_bytes();
        const double speedup = slow.kernel_us() / fast.kernel_us();
        study.fact(c.name() + ": faster by", speedup, "x");
        least_speedup = std::min(least_speedup, speedup);
        if (channels < 64) continue;
        // The larger tensor makes the start of the kernel small beside the stream.
        const Case large{plain, to_5hd, channels, images("stream_mebibytes", channels)};
        const Data large_data = make_data(large, 2);
        const Run stream = convert(study, large, large_data, false);
        wrong += !same(large, large_data, stream);
        const auto& hbm = stream.result.stats["hbm"];
        const double bytes = hbm["read_bytes"].get<double>() + hbm["write_bytes"].get<double>();
        const double efficiency = 100 * bytes / (stream.kernel_us() * 1e-6) / study.chip().memory.hbm.bandwidth;
        study.fact(c.name() + ": use of global memory", efficiency, "%");
        least_efficiency = std::min(least_efficiency, efficiency);
      }
    }
  }
  study.measured("different_results", static_cast<double>(wrong));
  study.measured("different_bytes", static_cast<double>(other_bytes));
  study.measured("least_speedup", least_speedup);
  study.measured("least_memory_use", least_efficiency);
}

}  // namespace vinci::studies
