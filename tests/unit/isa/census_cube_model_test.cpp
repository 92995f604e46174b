// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <vector>

#include "isa/insns/cube.h"
#include "tests/unit/isa/census_check.h"

// Random instances of the cube and of FIXPIPE: the census, STATUS and the first overflow against the model.
namespace vinci::isa {
namespace {

using insn::Mad;
using model::args_of;
using model::draw;
using model::draw_moderate;
using model::Expected;
using model::Verdict;

constexpr u64 kCubeOver = u64{1} << 10, kCubeUnder = u64{1} << 11, kCubeSpecial = u64{1} << 15;

constexpr u32 round_up(u32 v, u32 to) { return (v + to - 1) / to * to; }

// ---------------------------------------------------------------------------------------------------------------------
// mad

struct MadForm {
  u8 type;
  LaneType a, b, c;
  Arch arch;
};
constexpr std::array kMadForms{MadForm{Mad::f162f32, LaneType::f16, LaneType::f16, LaneType::f32, Arch::c220},
                               MadForm{Mad::f162f16, LaneType::f16, LaneType::f16, LaneType::f16, Arch::c100},
                               MadForm{Mad::bf162f32, LaneType::bf16, LaneType::bf16, LaneType::f32, Arch::c220},
                               MadForm{Mad::f322f32, LaneType::f32, LaneType::f32, LaneType::f32, Arch::c220},
                               MadForm{Mad::s8, LaneType::s8, LaneType::s8, LaneType::s32, Arch::c220},
                               MadForm{Mad::u8u8, LaneType::u8, LaneType::u8, LaneType::u32, Arch::c220},
                               MadForm{Mad::u8s8, LaneType::u8, LaneType::s8, LaneType::s32, Arch::c100}};

struct MadCase {
  MadForm form;
  u32 m = 0, k = 0, n = 0;
  bool init = false, saturation = false;
  u64 ctrl = 0;
  std::vector<u64> a{}, b{}, c{};  // plain matrices

  u64 at_a(u32 i, u32 j) const { return a[i * k + j]; }
  u64 at_b(u32 j, u32 l) const { return b[j * n + l]; }
  u64 at_c(u32 i, u32 l) const { return c[i * n + l]; }
};

MadCase draw_mad(Random& random) {
  MadCase x{.form = kMadForms[random.next() % kMadForms.size()]};
  x.m = 2 + random.next() % 19;
  x.k = 1 + random.next() % 36;
  x.n = 1 + random.next() % 20;
  x.init = random.next() % 3 == 0;
  x.saturation = random.next() % 2 == 0;
  if (random.next() % 2 == 0) x.ctrl |= ctrl::kSaturateInt;
  // Special elements hide all that they meet: mostly none, else a few.
  const u64 wild = std::array<u64, 3>{0, 400, 60}[random.next() % 3];
  const auto fill = [&](std::vector<u64>& to, u32 count, LaneType type) {
    const bool often = !is_float(type) || wild != 0;
    for (u32 i = 0; i < count; ++i)
      to.push_back(often && random.next() % (is_float(type) ? wild : 3) == 0 ? draw(random, type)
                                                                             : draw_moderate(random, type));
  };
  fill(x.a, x.m * x.k, x.form.a);
  fill(x.b, x.k * x.n, x.form.b);
  for (u32 i = 0; i < x.m * x.n; ++i)
    x.c.push_back(random.next() % 4 == 0 ? draw(random, x.form.c) : draw_moderate(random, x.form.c));
  if (wild == 0 && is_float(x.form.c)) {
    for (u64& v : x.c) {
      if (model::special(model::decode(x.form.c, v))) v = 0;
    }
  }
  return x;
}

u32 c_index(const MadCase& x, u32 row, u32 column) {
  return (column / 16 * round_up(x.m, 16) + row) * 16 + column % 16;
}

void store(TestCore& core, BufId buffer, u32 index, LaneType type, u64 bits) {
  const u32 bytes = lane_bits(type) / 8;
  std::memcpy(core.mem[buffer].bytes(u64{index} * bytes, bytes).data(), &bits, bytes);
}
u64 load(const TestCore& core, BufId buffer, u32 index, LaneType type) {
  const u32 bytes = lane_bits(type) / 8;
  u64 v = 0;
  std::memcpy(&v, core.mem[buffer].bytes(u64{index} * bytes, bytes).data(), bytes);
  return v;
}

void prepare(TestCore& core, const MadCase& x) {
  const u32 k0 = 256 / lane_bits(x.form.a), k1 = (x.k + k0 - 1) / k0, n1 = (x.n + 15) / 16;
  for (u32 i = 0; i < x.m; ++i) {
    for (u32 j = 0; j < x.k; ++j)
      store(core, BufId::L0A, ((i / 16 * k1 + j / k0) * 16 + i % 16) * k0 + j % k0, x.form.a, x.at_a(i, j));
  }
  for (u32 j = 0; j < x.k; ++j) {
    for (u32 l = 0; l < x.n; ++l)
      store(core, BufId::L0B, ((j / k0 * n1 + l / 16) * 16 + l % 16) * k0 + j % k0, x.form.b, x.at_b(j, l));
  }
  for (u32 i = 0; i < x.m; ++i) {
    for (u32 l = 0; l < x.n; ++l)
      store(core, BufId::L0C, c_index(x, i, l), x.form.c, x.at_c(i, l));
  }
  core.spr.ctrl = x.ctrl;
}

ArgsStorage mad_args(const MadCase& x, u8 type, bool init) {
  return args_of(*row_of("mad"), type,
                 {{"c", 0}, {"a", 0}, {"b", 0}, {"m", x.m}, {"k", x.k}, {"n", x.n}, {"init", init}});
}

// The IEEE 754 sums of a case in f32 or integers: the order of sums is that of the instruction, which other tests fix.
std::vector<long double> sums(const MadCase& x, bool init) {
  MadCase wide = x;
  const bool half = x.form.c == LaneType::f16;
  if (half) {
    wide.form.c = LaneType::f32;
    for (u64& c : wide.c)
      c = std::bit_cast<u32>(static_cast<float>(model::decode(LaneType::f16, c)));
  }
  TestCore core(x.form.arch, OverflowMode::inf_nan);
  prepare(core, wide);
  const u8 type = half ? u8{Mad::f162f32} : x.form.type;
  row_of("mad")->execute(mad_args(x, type, init), core.context);
  std::vector<long double> out;
  for (u32 i = 0; i < x.m; ++i) {
    for (u32 l = 0; l < x.n; ++l)
      out.push_back(model::decode(wide.form.c, load(core, BufId::L0C, c_index(x, i, l), wide.form.c)));
  }
  return out;
}

bool any_special(const MadCase& x, u32 i, u32 l) {
  bool found = !x.init && model::special(model::decode(x.form.c, x.at_c(i, l)));
  for (u32 j = 0; j < x.k; ++j)
    found |=
        model::special(model::decode(x.form.a, x.at_a(i, j))) || model::special(model::decode(x.form.b, x.at_b(j, l)));
  return found;
}

bool product_vanishes(const MadCase& x, u32 i, u32 l) {
  for (u32 j = 0; j < x.k; ++j) {
    const long double a = model::decode(x.form.a, x.at_a(i, j)), b = model::decode(x.form.b, x.at_b(j, l));
    if (a != 0 && b != 0 && model::rounded(LaneType::f32, a * b) == 0) return true;
  }
  return false;
}

Verdict float_verdict(const MadCase& x, u32 i, u32 l, long double products, long double sum) {
  using enum NumericEvent;
  Verdict v;
  const LaneType type = x.form.c;
  const long double r = type == LaneType::f16 ? model::rounded(type, sum) : sum;
  const long double old = x.init ? 0 : model::decode(type, x.at_c(i, l));
  const bool hidden = any_special(x, i, l);
  if (type == LaneType::f16 && x.saturation && model::special(r)) v.add(saturated);
  if (!hidden) {
    if (std::isinf(r)) v.add(overflow);
    if (std::isnan(r)) v.add(nan);
    if (r != 0 && std::fabs(r) < model::smallest_normal(type)) v.add(subnormal);
    if (type == LaneType::f16 && r == 0 && sum != 0) v.add(flushed);
    if (old != 0 && products != 0 && r == old) v.add(absorbed);
    if (model::special(r)) v.status |= kCubeOver;
    if (type == LaneType::f16 && has(v.events, flushed)) v.status |= kCubeUnder;
  } else {
    v.status |= kCubeSpecial;
  }
  if (x.form.a != LaneType::f16 && product_vanishes(x, i, l)) v.status |= kCubeUnder;
  return v;
}

Verdict integer_verdict(const MadCase& x, u32 i, u32 l) {
  Verdict v;
  long double exact = x.init ? 0 : model::decode(x.form.c, x.at_c(i, l));
  for (u32 j = 0; j < x.k; ++j)
    exact += model::decode(x.form.a, x.at_a(i, j)) * model::decode(x.form.b, x.at_b(j, l));
  const model::Range range = model::range_of(x.form.c);
  if (exact < range.low || exact > range.high) {
    v.add((x.ctrl & ctrl::kSaturateInt) != 0 ? NumericEvent::saturated : NumericEvent::wrapped);
    v.status = kCubeOver;
  }
  return v;
}

TEST(CensusModel, EveryMadAgreesWithTheTable) {
  model::Instances instances(400);
  for (u64 n = 0; n < instances.count; ++n) {
    const MadCase x = draw_mad(instances.random);
    const bool floats = is_float(x.form.c);
    const std::vector<long double> products = floats ? sums(x, true) : std::vector<long double>{};
    const std::vector<long double> all = floats ? sums(x, x.init) : std::vector<long double>{};
    Expected expected;
    for (u32 i = 0; i < x.m; ++i) {
      for (u32 l = 0; l < x.n; ++l) {
        const u32 e = i * x.n + l;
        expected.add(floats ? float_verdict(x, i, l, products[e], all[e]) : integer_verdict(x, i, l), e);
      }
    }
    TestCore core(x.form.arch, x.saturation ? OverflowMode::saturation : OverflowMode::inf_nan);
    prepare(core, x);
    Census census;
    const Row& row = *row_of("mad");
    model::run_counted(row, x.form.type, mad_args(x, x.form.type, x.init), core, census);
    instances.check(
        "mad." + std::string(row.types[x.form.type].name),
        fmt::format("m {} k {} n {} init {} saturation {} ctrl {:x}", x.m, x.k, x.n, x.init, x.saturation, x.ctrl),
        expected, census, core.status);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// FIXPIPE

struct Way {
  u8 mode;  // QuantPRE
  LaneType from, to;
  bool vector, scales;
};
constexpr std::array kWays{
    Way{1, LaneType::f32, LaneType::f16, false, false}, Way{16, LaneType::f32, LaneType::bf16, false, false},
    Way{10, LaneType::s32, LaneType::f16, true, true},  Way{11, LaneType::s32, LaneType::f16, false, true},
    Way{12, LaneType::s32, LaneType::s16, true, false}, Way{13, LaneType::s32, LaneType::s16, false, false},
    Way{8, LaneType::s32, LaneType::s8, true, true},    Way{9, LaneType::s32, LaneType::s8, false, true},
    Way{23, LaneType::f32, LaneType::s8, true, true},   Way{24, LaneType::f32, LaneType::s8, false, true},
    Way{21, LaneType::s32, LaneType::s4, true, true},   Way{22, LaneType::s32, LaneType::s4, false, true},
    Way{25, LaneType::f32, LaneType::s4, true, true},   Way{26, LaneType::f32, LaneType::s4, false, true}};

// A quantisation parameter, as docs and sources of software pack it.
struct Parameter {
  u32 scale = 0;  // bits of f32
  u32 shift = 1;
  bool shift_first = false, is_signed = false;
  int offset = 0;

  u64 bits() const {
    return scale | u64{shift - 1} << 32 | u64{shift_first} << 36 | (static_cast<u64>(offset) & 0x1ff) << 37 |
           u64{is_signed} << 46;
  }
};
Parameter draw_parameter(Random& random, const Way& way) {
  constexpr std::array kScales{1.0f, 0.5f, 0x1p-7f, 0x1p-30f, 100.0f, 0.0f, -1.0f, INFINITY, NAN, 1e30f};
  Parameter p;
  p.scale = std::bit_cast<u32>(kScales[random.next() % (random.next() % 4 == 0 ? kScales.size() : 4)]);
  p.shift = 1 + random.next() % 16;
  p.shift_first = way.from == LaneType::s32 && random.next() % 2 == 0;
  p.is_signed = random.next() % 2 == 0;
  p.offset = static_cast<int>(random.next() % 512) - 256;
  return p;
}

struct FixpipeCase {
  Way way;
  u32 m = 0, n = 0;
  u8 relu = 0;  // ReLUPRE
  bool rows = false, saturation = false;
  std::vector<u64> values{};            // contents of L0C
  std::vector<Parameter> parameters{};  // by column
  std::vector<u32> alphas{};            // by column
  u32 src_stride() const { return round_up(m, 16); }
};

FixpipeCase draw_fixpipe(Random& random) {
  FixpipeCase x{.way = kWays[random.next() % kWays.size()]};
  const bool s4 = x.way.to == LaneType::s4;
  x.m = 1 + random.next() % 20;
  x.rows = random.next() % 2 == 0;
  x.n = s4 ? (x.rows ? 2 * (1 + random.next() % 20) : 64) : 1 + random.next() % 40;
  x.saturation = random.next() % 2 == 0;
  const bool half = x.way.to == LaneType::f16;
  x.relu = static_cast<u8>(random.next() % (half || x.way.to == LaneType::s8 || s4 ? 4 : 2));
  const u32 count = round_up(x.n, 16) * x.src_stride();
  const u64 wild = std::array<u64, 3>{2, 40, 1000}[random.next() % 3];
  for (u32 i = 0; i < count; ++i)
    x.values.push_back(random.next() % wild == 0
                           ? draw(random, x.way.from)
                           : draw_moderate(random, x.way.from) & (x.way.from == LaneType::s32 ? 0xff : ~u64{0}));
  const Parameter one = draw_parameter(random, x.way);
  constexpr std::array kAlphas{0.5f, 0.0f, 1.0f, -2.0f, 0x1p-20f};
  const u32 alpha = std::bit_cast<u32>(kAlphas[random.next() % kAlphas.size()]);
  for (u32 i = 0; i < x.n; ++i) {
    x.parameters.push_back(x.way.vector ? draw_parameter(random, x.way) : one);
    x.alphas.push_back(x.relu == 3 ? std::bit_cast<u32>(kAlphas[random.next() % kAlphas.size()]) : alpha);
  }
  return x;
}

// What FIXPIPE keeps of a factor.
float factor_of(u32 bits) { return std::bit_cast<float>(bits & 0xffffe000u); }

struct ScaledValue {
  long double src = 0;
  float shifted = 0, factor = 1, product = 0;
  bool shift_clips = false;
};
ScaledValue scaled(const FixpipeCase& x, u64 bits, u32 column) {
  const Parameter& p = x.parameters[column];
  ScaledValue out{.src = model::decode(x.way.from, bits)};
  long double v = out.src;
  if (x.way.scales && p.shift_first) {
    const long double shifted = std::floor(v / std::ldexp(1.0L, static_cast<int>(p.shift)));
    v = std::clamp(shifted, -32768.0L, 32767.0L);
    out.shift_clips = v != shifted;
  }
  out.shifted = static_cast<float>(v);
  const float positive = x.way.scales ? factor_of(p.scale) : 1;
  float negative = positive;
  if (x.relu == 1) negative = 0;
  if (x.relu >= 2) negative = factor_of(x.alphas[column]);
  if (x.relu == 1 && out.shifted <= 0) return {out.src, out.shifted, 0, 0, out.shift_clips};
  out.factor = out.shifted < 0 ? negative : positive;
  out.product = out.shifted * out.factor;
  return out;
}

Verdict to_float(const FixpipeCase& x, const ScaledValue& v) {
  using enum NumericEvent;
  Verdict out;
  const LaneType to = x.way.to;
  const long double r = model::rounded(to, v.product);
  const bool special = model::special(v.src);
  if (std::isinf(r) && !special) out.add(overflow);
  if (std::isnan(r) && !std::isnan(v.src)) out.add(nan);
  // Dequantisation always saturates.
  if (model::special(r) && (x.way.scales || x.saturation)) out.add(saturated);
  if (r != 0 && std::fabs(r) < model::smallest_normal(to)) out.add(subnormal);
  if (r == 0 && v.shifted != 0 && v.factor != 0) out.add(flushed);
  if (to != LaneType::f16) return out;
  if (!special && model::special(r)) out.status |= u64{1} << 8;
  if (has(out.events, flushed)) out.status |= u64{1} << 9;
  return out;
}

Verdict to_integer(const FixpipeCase& x, const ScaledValue& v, u32 column) {
  Verdict out;
  const Parameter& p = x.parameters[column];
  const bool is_signed = x.way.to == LaneType::s4 || p.is_signed;
  const model::Range range = model::range_of(x.way.to == LaneType::s4 ? LaneType::s4
                                             : is_signed              ? LaneType::s8
                                                                      : LaneType::u8);
  const long double whole = model::special(v.product) ? v.product : model::round_whole(v.product, 'r');
  const bool fits = whole >= -256 && whole <= 255 && whole + p.offset >= range.low && whole + p.offset <= range.high;
  if (!fits || v.shift_clips) out.add(NumericEvent::clipped);
  return out;
}

Verdict to_s16(const FixpipeCase& x, u64 bits, u32 column) {
  Verdict out;
  long double v = model::decode(LaneType::s32, bits);
  if (x.relu == 1 && v < 0) v = 0;
  const long double shifted = std::floor(v / std::ldexp(1.0L, static_cast<int>(x.parameters[column].shift)));
  if (shifted < -32768 || shifted > 32767) out.add(NumericEvent::clipped);
  return out;
}

TEST(CensusModel, EveryWayOutOfL0cAgreesWithTheTable) {
  model::Instances instances(600);
  for (u64 n = 0; n < instances.count; ++n) {
    const FixpipeCase x = draw_fixpipe(instances.random);
    TestCore core(Arch::c220, x.saturation ? OverflowMode::saturation : OverflowMode::inf_nan);
    const u64 dst = core.gm.allocate(1 << 20, "out");
    for (u32 i = 0; i < x.values.size(); ++i)
      store(core, BufId::L0C, i, x.way.from, x.values[i]);
    for (u32 i = 0; i < x.n; ++i) {
      core.mem[BufId::FB].store<u64>(8 * i, x.parameters[i].bits());
      core.mem[BufId::FB].store<u32>(2048 + 4 * i, x.alphas[i]);
    }
    auto& spr = core.spr.parameters.write();
    spr[SprId::quant_pre] = x.parameters[0].bits();
    spr[SprId::lrelu_alpha] = x.alphas[0];
    spr[SprId::fpc] = 2048 / 64;
    Expected expected;
    const u32 columns = x.rows ? x.n : round_up(x.n, 16);
    const u32 block = x.rows ? columns : std::max(16u, 256 / (x.way.to == LaneType::s4 ? 4 : lane_bits(x.way.to)));
    for (u32 first = 0; first < columns; first += block) {
      const u32 width = std::min(block, columns - first);
      for (u32 row = 0; row < x.m; ++row) {
        for (u32 i = 0; i < width; ++i) {
          const u32 column = first + i;
          if (column >= x.n) continue;
          const u64 bits = x.values[(column / 16 * x.src_stride() + row) * 16 + column % 16];
          const ScaledValue v = scaled(x, bits, column);
          expected.add(is_float(x.way.to)          ? to_float(x, v)
                       : x.way.to == LaneType::s16 ? to_s16(x, bits, column)
                                                   : to_integer(x, v, column),
                       u64{first} * x.m + row * width + i);
        }
      }
    }
    Census census;
    const Row& row = *row_of("copy_matrix_cc_to_gm");
    model::run_counted(row, 0,
                       args_of(row, 0,
                               {{"dst", dst},
                                {"src", 0},
                                {"NSize", x.n},
                                {"MSize", x.m},
                                {"dstStride", x.rows ? round_up(x.n, 64) : 256},
                                {"srcStride", x.src_stride()},
                                {"QuantPRE", x.way.mode},
                                {"ReLUPRE", x.relu},
                                {"NZ2ND_EN", x.rows}}),
                       core, census);
    instances.check(fmt::format("QuantPRE {}", x.way.mode),
                    fmt::format("m {} n {} relu {} row-major {} saturation {}", x.m, x.n, x.relu, x.rows, x.saturation),
                    expected, census, core.status);
  }
}

}  // namespace
}  // namespace vinci::isa
