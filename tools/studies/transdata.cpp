// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S09: TransData between NC1HWC0 and NCHW or NHWC, element by element through the scalar unit, and with 16 x 16
// transposes of the vector unit between long bursts.
#include "tools/studies/transdata.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "isa/base/random.h"
#include "isa/mem/trans_data.h"
#include "tools/gen/tile_pipeline.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;

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

// The program and its registers. X0 to X2 belong to the pipeline.
struct Kernel {
  ProgramBuilder p;
  const Reg plain = p.reg("plain", 3), blocked = p.reg("blocked", 4);  // the tensors
  const Reg image = p.reg("image", 5), group = p.reg("group", 6), range = p.reg("range", 7), t = p.reg("t", 8);
  const Reg plain_at = p.reg("plain_at", 10), blocked_at = p.reg("blocked_at", 11);
  const Reg from_plain = p.reg("from_plain", 12), from_blocked = p.reg("from_blocked", 13), pixel = p.reg("pixel", 14),
            element = p.reg("element", 15);
};

// The layout of a tile in UB on both sides, and the copies that bring it there and away. A tile is a range of pixels of
// an image: in NCHW of 16 channels at most, in NHWC of all.
class Tiling {
 public:
  explicit Tiling(const Case& c) : c_(c), nchw_(c.plain == isa::Format::NCHW) {
    const u64 most = 48 * 1024;  // of a slot: two on each side fit UB with what few channels need
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

  // Writes where a tile begins in plain and in blocked memory.
  void locate(Kernel& k, Reg tile) const {
    const u64 ranges = kPixels / pixels;
    k.p.rem(k.range, tile, ranges);
    k.p.div(k.group, tile, ranges);
    k.p.rem(k.group, k.group, groups);
    k.p.div(k.image, tile, ranges * groups);
    const u64 image = c_.channels * kPixels * 2;
    const u64 group = nchw_ ? kC0 * kPixels * 2 : 0, range = nchw_ ? pixels * 2 : pixels * c_.channels * 2;
    sum(k, k.plain_at, k.plain, image, group, range);
    sum(k, k.blocked_at, k.blocked, c_.c1() * kPixels * kBlock, kPixels * kBlock, pixels * kBlock);
  }

  // Copies between global memory and a slot, in long bursts.
  void copy_plain(Kernel& k, bool in, u32 slot) const {
    if (!nchw_) return copy(k, in, k.plain_at, plain_at(slot), 1, pixels * c_.channels * 2 / kBlock, 0);
    copy(k, in, k.plain_at, plain_at(slot), std::min(c_.channels, kC0), pixels / kC0, (kPixels - pixels) / kC0);
  }
  void copy_blocked(Kernel& k, bool in, u32 slot) const {
    const u64 bursts = nchw_ ? 1 : c_.c1();
    copy(k, in, k.blocked_at, blocked_at(slot), bursts, pixels, bursts == 1 ? 0 : kPixels - pixels);
  }

 private:
  static void sum(Kernel& k, Reg to, Reg base, u64 image, u64 group, u64 range) {
    k.p.mul(to, k.image, image);
    k.p.add(to, to, base);
    k.p.mul(k.t, k.group, group);
    k.p.add(to, to, k.t);
    k.p.mul(k.t, k.range, range);
    k.p.add(to, to, k.t);
  }
  static void copy(Kernel& k, bool in, Reg gm, u64 ub, u64 bursts, u64 blocks, u64 gap) {
    in ? k.p.copy_gm_to_ubuf(ub, gm, 0, bursts, blocks, gap, 0)
       : k.p.copy_ubuf_to_gm(gm, ub, 0, bursts, blocks, 0, gap);
  }

  const Case& c_;
  bool nchw_;
};

// dst[e][k] = src[k][e] for blocks at src[k] and dst[e], `repeats` times, the strides in blocks.
void transpose(ProgramBuilder& p, const std::vector<u64>& dst, const std::vector<u64>& src, u64 repeats, u64 dst_stride,
               u64 src_stride) {
  const auto registers = [&](u64 index, const std::vector<u64>& l, usize i) {
    p.set_va_reg_sb(index, l[i], l[i + 1], l[i + 2], l[i + 3], l[i + 4], l[i + 5], l[i + 6], l[i + 7]);
  };
  for (u32 va = 0; va < 2; ++va) {
    registers(va, dst, va * 8);
    registers(va + 2, src, va * 8);
  }
  p.scatter_vnchwconv_b16(0, 2, repeats, dst_stride, src_stride);
}

std::vector<u64> blocks_from(u64 first, u64 stride) {
  std::vector<u64> out(kC0);
  for (u64 i = 0; i < kC0; ++i)
    out[i] = first + i * stride;
  return out;
}

// NCHW: squares of 16 channels x 16 pixels are transposed.
void vector_nchw(ProgramBuilder& p, const Case& c, const Tiling& t, u32 slot) {
  const std::vector<u64> rows = blocks_from(t.plain_at(slot), t.pixels * 2);  // of channels
  const std::vector<u64> pixels = blocks_from(t.blocked_at(slot), kBlock);
  const u64 squares = t.pixels / kC0;
  c.to_5hd ? transpose(p, pixels, rows, squares, kC0, 1) : transpose(p, rows, pixels, squares, 1, kC0);
}

// NHWC, whole blocks of channels: blocks change their order.
void vector_nhwc(ProgramBuilder& p, const Case& c, const Tiling& t, u32 slot) {
  for (u64 c1 = 0; c1 < c.c1(); ++c1) {
    const u64 plain = t.plain_at(slot) + c1 * kBlock, blocked = t.blocked_at(slot) + c1 * t.pixels * kBlock;
    c.to_5hd ? p.copy_ubuf_to_ubuf(blocked, plain, 0, t.pixels, 1, c.c1() - 1, 0)
             : p.copy_ubuf_to_ubuf(plain, blocked, 0, t.pixels, 1, 0, c.c1() - 1);
  }
}

// NHWC, less than a block of channels: a tile is 16 rows of Q pixels. One transpose brings element e of all rows into
// block e; the blocks of the channels of a pixel, filled up with zeros, are transposed into the pixel of all rows.
void vector_few(ProgramBuilder& p, const Case& c, const Tiling& t, u32 slot) {
  const u64 q = t.pixels / kC0, elements = q * c.channels;
  const u64 by_element = t.scratch(), other = by_element + elements * kBlock;  // zeros, or what no pixel needs
  const std::vector<u64> rows = blocks_from(t.plain_at(slot), elements * 2);
  const std::vector<u64> pixels = blocks_from(t.blocked_at(slot), q * kBlock);
  const std::vector<u64> middle = blocks_from(by_element, kBlock);
  std::vector<u64> channels(kC0, other);
  for (u64 i = 0; i < c.channels; ++i)
    channels[i] = middle[i];
  c.to_5hd ? transpose(p, middle, rows, elements / kC0, kC0, 1) : transpose(p, channels, pixels, q, c.channels, 1);
  p.pipe_barrier(PipeId::V);
  c.to_5hd ? transpose(p, pixels, channels, q, 1, c.channels) : transpose(p, rows, middle, elements / kC0, 1, kC0);
  p.pipe_barrier(PipeId::V);
}

// Every element is loaded and stored by the scalar unit. The loop over pixels is unrolled over the channels of a block.
void scalar_elements(Kernel& k, const Case& c, const Tiling& t, u32 slot) {
  const bool nchw = c.plain == isa::Format::NCHW;
  const u64 channels = std::min(c.channels, kC0);
  for (u64 c1 = 0; c1 < (nchw ? 1 : c.c1()); ++c1) {
    k.p.mov(k.from_plain, t.plain_at(slot) + (nchw ? 0 : c1 * kBlock));
    k.p.mov(k.from_blocked, t.blocked_at(slot) + c1 * t.pixels * kBlock);
    k.p.loop(k.pixel, 0, t.pixels, 1, [&] {
      for (u64 i = 0; i < channels; ++i) {
        const u64 in_plain = nchw ? i * t.pixels * 2 : i * 2, in_blocked = i * 2;
        const Reg from = c.to_5hd ? k.from_plain : k.from_blocked, to = c.to_5hd ? k.from_blocked : k.from_plain;
        k.p.ld_ubuf(Type::b16, k.element, from, c.to_5hd ? in_plain : in_blocked);
        k.p.st_ubuf(Type::b16, k.element, to, c.to_5hd ? in_blocked : in_plain);
      }
      k.p.add(k.from_plain, k.from_plain, nchw ? 2 : c.channels * 2);
      k.p.add(k.from_blocked, k.from_blocked, kBlock);
    });
  }
}

// Zeros where the blocked side pads, and where vector_few reads zeros.
void clear(ProgramBuilder& p, const Case& c, const Tiling& t) {
  if (c.channels % kC0 == 0) return;
  const u64 end = t.scratch() + 2 * (t.pixels / kC0) * c.channels * kBlock;
  constexpr u64 kMostRepeats = 255, kRepeat = 256;
  for (u64 at = 0; at < end; at += kMostRepeats * kRepeat)
    p.vector_dup(Type::f16, at, 0, std::min(kMostRepeats, ceil_div(end - at, kRepeat)), 1, 1, 8, 8);
  p.pipe_barrier(PipeId::ALL);
}

isa::BuiltProgram kernel(const Case& c, bool scalar, isa::Arch arch) {
  const Tiling t(c);
  const bool nchw = c.plain == isa::Format::NCHW;
  Kernel k{ProgramBuilder("transdata", arch)};
  gen::TilePipeline pipeline{.tiles = t.tiles(), .compute_pipe = scalar ? PipeId::S : PipeId::V};
  pipeline.prologue = [&](ProgramBuilder& p) {
    p.ld_arg(k.plain, 0);
    p.ld_arg(k.blocked, 1);
    clear(p, c, t);
  };
  pipeline.locate = [&](ProgramBuilder&, Reg tile) { t.locate(k, tile); };
  pipeline.load = [&](ProgramBuilder&, u32 slot) {
    c.to_5hd ? t.copy_plain(k, true, slot) : t.copy_blocked(k, true, slot);
  };
  pipeline.store = [&](ProgramBuilder&, u32 slot) {
    c.to_5hd ? t.copy_blocked(k, false, slot) : t.copy_plain(k, false, slot);
  };
  pipeline.compute = [&](ProgramBuilder& p, u32 slot) {
    if (scalar) return scalar_elements(k, c, t, slot);
    if (nchw) return vector_nchw(p, c, t, slot);
    c.channels % kC0 == 0 ? vector_nhwc(p, c, t, slot) : vector_few(p, c, t, slot);
  };
  write_tile_pipeline(k.p, pipeline);
  return k.p.finish();
}

// The tensor on both sides, from the conversion of the host.
struct Data {
  std::vector<u16> plain, blocked;
};

Data make_data(const Case& c, u64 seed) {
  Data d{.plain = std::vector<u16>(c.plain_bytes() / 2), .blocked = std::vector<u16>(c.blocked_bytes() / 2)};
  Random random(seed);
  for (usize i = 0; i < d.plain.size(); i += 4) {  // any bits: a conversion moves them, whatever number they are
    const u64 bits = random.next();
    std::memcpy(&d.plain[i], &bits, std::min<usize>(4, d.plain.size() - i) * 2);
  }
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
  s.task("transdata", kernel(c, scalar, chip.arch), static_cast<u32>(std::min(cores, Tiling(c).tiles())),
         {"plain", "blocked"});
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

namespace {

// Of a case: figures of its runs.
struct Found {
  u64 wrong = 0, other_bytes = 0;
  double speedup = 0, efficiency = 0;  // x; of the bandwidth of global memory in percent, 0 for few channels
};

Found compare(const Study& study, const Case& c, const Case& large) {
  Found out;
  {
    const Data data = make_data(c, 1);
    const Run slow = convert(study, c, data, true), fast = convert(study, c, data, false);
    out.wrong = u64{!same(c, data, slow)} + u64{!same(c, data, fast)};
    out.other_bytes = slow.gm_read_bytes() != fast.gm_read_bytes() || slow.gm_write_bytes() != fast.gm_write_bytes();
    out.speedup = slow.kernel_us() / fast.kernel_us();
  }
  if (c.channels < 64) return out;
  // The larger tensor makes the start of the kernel small compared with the stream.
  const Data data = make_data(large, 2);
  const Run stream = convert(study, large, data, false);
  out.wrong += !same(large, data, stream);
  const auto& hbm = stream.result.stats["hbm"];
  const double bytes = hbm["read_bytes"].get<double>() + hbm["write_bytes"].get<double>();
  out.efficiency = 100 * bytes / (stream.kernel_us() * 1e-6) / study.chip().memory.hbm.bandwidth;
  return out;
}

}  // namespace

void transdata(Study& study) {
  std::vector<Case> cases, larger;
  for (const u64 channels : {kFewChannels, u64{64}, u64{256}}) {
    const auto images = [&](std::string_view knob) {
      return ceil_div<u64>(study.whole(knob) << 20, channels * kPixels * 2);
    };
    for (const isa::Format plain : {isa::Format::NCHW, isa::Format::NHWC}) {
      for (const bool to_5hd : {true, false}) {
        cases.push_back({plain, to_5hd, channels, images("mebibytes")});
        larger.push_back({plain, to_5hd, channels, images("stream_mebibytes")});
      }
    }
  }
  const auto found = study.variants(cases.size(), [&](usize i) { return compare(study, cases[i], larger[i]); });
  double least_speedup = std::numeric_limits<double>::infinity(), least_efficiency = least_speedup;
  u64 wrong = 0, other_bytes = 0;
  for (usize i = 0; i < cases.size(); ++i) {
    const Found& f = found[i];
    wrong += f.wrong;
    other_bytes += f.other_bytes;
    study.fact(cases[i].name() + ": faster by", f.speedup, "x");
    least_speedup = std::min(least_speedup, f.speedup);
    if (cases[i].channels < 64) continue;
    study.fact(cases[i].name() + ": use of global memory", f.efficiency, "%");
    least_efficiency = std::min(least_efficiency, f.efficiency);
  }
  study.measured("different_results", static_cast<double>(wrong));
  study.measured("different_bytes", static_cast<double>(other_bytes));
  study.measured("least_speedup", least_speedup);
  study.measured("least_memory_use", least_efficiency);
}

}  // namespace vinci::studies
