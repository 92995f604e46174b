// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/unit/isa/census_check.h"

// Random instances of the vector instructions that are not lane by lane from one type to another: forms of two stages,
// dequantisations, and reductions. The census, STATUS and the first overflow against the model.
namespace vinci::isa {
namespace {

using model::args_of;
using model::draw;
using model::Expected;
using model::Kind;
using model::Switches;
using model::Verdict;

constexpr u32 kA = 0, kB = 8192, kOut = 16384, kFactors = 24576;
constexpr u32 kStride = 256;  // bytes of a repeat

struct Setting {
  u32 lanes = 0, repeat = 1;
  std::array<u64, 2> mask{};
  bool saturation = false;
  u64 ctrl = 0;
  std::vector<u64> a, b;

  bool active(u32 i) const { return (mask[i / 64] >> (i % 64) & 1) != 0; }
  Switches switches() const { return {.saturation = saturation, .saturate_int = (ctrl & ctrl::kSaturateInt) != 0}; }
  OverflowMode overflow() const { return saturation ? OverflowMode::saturation : OverflowMode::inf_nan; }
  std::string text() const {
    return fmt::format("ctrl {:x}, saturation {}, mask {:x} {:x}", ctrl, saturation, mask[0], mask[1]);
  }
};

Setting draw_setting(Random& random, LaneType src, u32 lanes) {
  Setting x;
  x.lanes = lanes;
  x.repeat = 1 + random.next() % 2;
  switch (random.next() % 3) {
    case 0: x.mask = {~u64{0}, ~u64{0}}; break;
    case 1: x.mask = {random.next() | 1, random.next()}; break;
    default: x.mask = {u64{1} << random.next() % (lanes < 64 ? 32 : 64), u64{1} << random.next() % 64};
  }
  x.saturation = random.next() % 2 == 0;
  if (random.next() % 2 == 0) x.ctrl |= ctrl::kSaturateInt;
  if (random.next() % 4 == 0) x.ctrl |= ctrl::kWrapCasts;
  const u64 wild = std::array<u64, 3>{2, 64, 1}[random.next() % 3];
  const u64 quiet =
      is_float(src) ? static_cast<u64>(model::format_of(src).most_exponent) << model::format_of(src).fraction : 3;
  for (std::vector<u64>* v : {&x.a, &x.b}) {
    for (u32 i = 0; i < lanes * x.repeat; ++i)
      v->push_back(random.next() % wild == 0 ? draw(random, src) : quiet);
  }
  return x;
}

void put(TestCore& core, u32 base, LaneType type, const std::vector<u64>& bits, u32 lanes) {
  const u32 bytes = lane_bits(type) / 8;
  for (u32 i = 0; i < bits.size(); ++i)
    std::memcpy(core.mem[BufId::UB].bytes(base + i / lanes * kStride + i % lanes * bytes, bytes).data(), &bits[i],
                bytes);
}
void prepare(TestCore& core, const Setting& x, LaneType src) {
  put(core, kA, src, x.a, x.lanes);
  put(core, kB, src, x.b, x.lanes);
  core.spr.vector_mask = x.mask;
  core.spr.ctrl = x.ctrl;
}

ArgsStorage vector_args(const Row& row, u8 type, const Setting& x, u32 dst, u32 option = 0) {
  return args_of(row, type,
                 {{"dst", dst},
                  {"src", kA},
                  {"src0", kA},
                  {"src1", kB},
                  {"repeat", x.repeat},
                  {"dstBlkStride", 1},
                  {"srcBlkStride", 1},
                  {"src0BlkStride", 1},
                  {"src1BlkStride", 1},
                  {"dstRepStride", 8},
                  {"srcRepStride", 8},
                  {"src0RepStride", 8},
                  {"src1RepStride", 8},
                  {"h", option}});
}

u8 type_index(const Row& row, LaneType type) {
  for (u8 t = 0; t < row.types.size(); ++t) {
    if (row.types[t].name == name(type)) return t;
  }
  return 0;
}

// What is computed first: a + b, a - b or a * b in one type, before relu, and the value that the second stage takes.
struct FirstStage {
  Verdict verdict{};
  long double middle = 0;
  bool special = false;  // an operand is infinite or NaN
};
FirstStage first_stage(Kind kind, LaneType type, bool relu, long double a, long double b, const Switches& s) {
  FirstStage out;
  const long double exact = kind == Kind::sum ? a + b : kind == Kind::sub ? a - b : a * b;
  if (!is_float(type)) {
    out.verdict = model::integer_result(type, exact, s);
    const model::Range range = model::range_of(type);
    const long double span = range.high - range.low + 1;
    out.middle = exact;
    if (exact < range.low || exact > range.high) {
      const bool above = exact > range.high;
      // One sum or difference leaves the range by less than once its width; a product of s16 does not occur here.
      out.middle = s.saturate_int ? (above ? range.high : range.low) : (above ? exact - span : exact + span);
    }
  } else {
    out.special = model::special(a) || model::special(b);
    const long double r = model::rounded(type, exact);
    model::FloatCase c{.kind = kind, .type = type, .operands = {a, b}, .r = r, .relu = relu};
    c.x = a;
    c.y = kind == Kind::sub ? -b : b;
    c.exact_zero = kind != Kind::product || a == 0 || b == 0;
    out.verdict = model::float_result(c, s);
    out.middle = s.saturation && type == LaneType::f16 ? model::saturated_value(type, r) : r;
  }
  if (relu && !(out.middle > 0)) out.middle = std::isnan(out.middle) ? out.middle : 0;
  return out;
}

Verdict both(const FirstStage& first, const Verdict& second, u64 second_status) {
  Verdict v = first.verdict;
  v.events |= second.events;
  v.status = first.special ? u64{1} << 14 : first.verdict.status | second_status;
  return v;
}

// ---------------------------------------------------------------------------------------------------------------------
// Forms that compute and convert

struct TwoStages {
  std::string_view name;
  Kind kind;
  LaneType src, dst;
  bool relu;
};
constexpr std::array kTwoStages{TwoStages{"vaddreluconv_f162s8", Kind::sum, LaneType::f16, LaneType::s8, true},
                                TwoStages{"vaddreluconv_s162s8", Kind::sum, LaneType::s16, LaneType::s8, true},
                                TwoStages{"vaddreluconv_f322f16", Kind::sum, LaneType::f32, LaneType::f16, true},
                                TwoStages{"vsubreluconv_f162s8", Kind::sub, LaneType::f16, LaneType::s8, true},
                                TwoStages{"vsubreluconv_s162s8", Kind::sub, LaneType::s16, LaneType::s8, true},
                                TwoStages{"vsubreluconv_f322f16", Kind::sub, LaneType::f32, LaneType::f16, true},
                                TwoStages{"vmulconv_f162s8", Kind::product, LaneType::f16, LaneType::s8, false},
                                TwoStages{"vmulconv_f162u8", Kind::product, LaneType::f16, LaneType::u8, false}};

TEST(CensusModel, FormsOfTwoStagesHaveTheEventsOfBoth) {
  model::Instances instances(1000);
  for (u64 n = 0; n < instances.count; ++n) {
    const TwoStages& f = kTwoStages[instances.random.next() % kTwoStages.size()];
    const Setting x = draw_setting(instances.random, f.src, 2048 / lane_bits(f.src));
    const Switches s = x.switches();
    Expected expected;
    for (u32 i = 0; i < x.a.size(); ++i) {
      if (!x.active(i % x.lanes)) continue;
      const FirstStage first =
          first_stage(f.kind, f.src, f.relu, model::decode(f.src, x.a[i]), model::decode(f.src, x.b[i]), s);
      const auto convert = [&](long double v) {
        const long double r = is_float(f.dst) ? model::rounded(f.dst, v) : 0;
        return model::cast_result(f.src, f.dst, v, r, 'r', s);
      };
      // An infinity that the first stage made raises what the largest value raises.
      const bool made = is_float(f.src) && std::isinf(first.middle) && !first.special;
      const u64 raised = convert(made ? model::saturated_value(f.src, first.middle) : first.middle).status;
      expected.add(both(first, convert(first.middle), raised), i);
    }
    TestCore core(Arch::c220, x.overflow());
    prepare(core, x, f.src);
    Census census;
    const Row& row = *row_of(f.name);
    model::run_counted(row, 0, vector_args(row, 0, x, kOut), core, census);
    instances.check(std::string(f.name), x.text(), expected, census, core.status);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Dequantisation

// s32 * f16 to f16.
Verdict scaled(long double value, long double scale, const Switches& s, bool relu) {
  const model::FloatCase c{.kind = Kind::product,
                           .type = LaneType::f16,
                           .operands = {value, scale},
                           .r = model::rounded(LaneType::f16, value * scale),
                           .exact_zero = value == 0 || scale == 0,
                           .relu = relu};
  return model::float_result(c, s);
}

TEST(CensusModel, DequantisationToHalfIsAProduct) {
  model::Instances instances(600);
  for (u64 n = 0; n < instances.count; ++n) {
    const bool adds = instances.random.next() % 2 == 0;
    const Setting x = draw_setting(instances.random, LaneType::s32, 64);
    const Switches s = x.switches();
    const u64 factor = draw(instances.random, LaneType::f16);
    const long double scale = model::decode(LaneType::f16, factor);
    Expected expected;
    for (u32 i = 0; i < x.a.size(); ++i) {
      if (!x.active(i % x.lanes)) continue;
      const long double a = model::decode(LaneType::s32, x.a[i]), b = model::decode(LaneType::s32, x.b[i]);
      FirstStage first{.middle = a};
      if (adds) first = first_stage(Kind::sum, LaneType::s32, false, a, b, s);
      const Verdict second = scaled(first.middle, scale, s, adds);
      expected.add(both(first, second, second.status), i);
    }
    TestCore core(Arch::c220, x.overflow());
    prepare(core, x, LaneType::s32);
    core.spr.parameters.write()[SprId::deqscale] = factor;
    Census census;
    const Row& row = *row_of(adds ? "vadddeqrelu" : "vconv_deq");
    model::run_counted(row, 0, vector_args(row, 0, x, kOut), core, census);
    instances.check(std::string(row.name), x.text() + fmt::format(", scale {}", static_cast<double>(scale)), expected,
                    census, core.status);
  }
}

// A parameter of a dequantisation to 8 bits.
struct Parameter {
  float scale = 1;
  int offset = 0;
  bool is_signed = false;

  u64 bits() const {
    return std::bit_cast<u32>(scale) | (static_cast<u64>(offset) & 0x1ff) << 37 | u64{is_signed} << 46;
  }
};
Parameter draw_parameter(Random& random, bool is_signed) {
  constexpr std::array kScales{1.0f, 0.5f, 0.0078125f, 100.0f, 0.0f, -1.0f, INFINITY, NAN, 1e30f};
  return {.scale = kScales[random.next() % (random.next() % 4 == 0 ? kScales.size() : 3)],
          .offset = static_cast<int>(random.next() % 512) - 256,
          .is_signed = is_signed};
}

Verdict to_byte(long double value, const Parameter& p) {
  Verdict v;
  const float product = static_cast<float>(value) * p.scale;
  const long double whole = model::special(product) ? product : model::round_whole(product, 'r');
  const long double nine = std::isnan(whole) ? 0 : std::clamp(whole, -256.0L, 255.0L);
  const long double low = p.is_signed ? -128 : 0, high = p.is_signed ? 127 : 255;
  if (nine != whole || nine + p.offset < low || nine + p.offset > high) v.add(NumericEvent::clipped);
  model::raise(v, model::special(p.scale));
  if (!p.is_signed && !model::special(p.scale) && nine + p.offset < 0) v.status |= u64{1} << 7;
  return v;
}

TEST(CensusModel, DequantisationToBytesClips) {
  struct Named {
    std::string_view name;
    bool vector;
    std::optional<Kind> kind;  // what is computed first, then relu
  };
  constexpr std::array kNames{Named{"vconv_deqs162b8", false, {}},
                              Named{"vconv_deqs162b8h", false, {}},
                              Named{"vconv_deqs162b8l", false, {}},
                              Named{"vconv_vdeqs162b8", true, {}},
                              Named{"vconv_vdeqs162b8h", true, {}},
                              Named{"vconv_vdeqs162b8l", true, {}},
                              Named{"vaddreluconv_vdeqs162b8", true, Kind::sum},
                              Named{"vsubreluconv_vdeqs162b8", true, Kind::sub}};
  model::Instances instances(1000);
  for (u64 n = 0; n < instances.count; ++n) {
    Random& random = instances.random;
    const Named& f = kNames[random.next() % kNames.size()];
    const Setting x = draw_setting(random, LaneType::s16, 128);
    const Switches s = x.switches();
    std::array<Parameter, 16> parameters;
    const bool is_signed = random.next() % 2 == 0;
    for (Parameter& p : parameters)
      p = draw_parameter(random, is_signed);
    if (!f.vector) parameters.fill(parameters[0]);
    Expected expected;
    for (u32 i = 0; i < x.a.size(); ++i) {
      if (!x.active(i % x.lanes)) continue;
      const long double a = model::decode(LaneType::s16, x.a[i]), b = model::decode(LaneType::s16, x.b[i]);
      FirstStage first{.middle = a};
      if (f.kind) first = first_stage(*f.kind, LaneType::s16, true, a, b, s);
      const Parameter& p = parameters[i % x.lanes % 16];
      const Verdict second = to_byte(first.middle, p);
      expected.add(both(first, second, second.status), i);
    }
    TestCore core(Arch::c220, x.overflow());
    prepare(core, x, LaneType::s16);
    for (u32 i = 0; i < 16; ++i)
      core.mem[BufId::UB].store<u64>(kFactors + 8 * i, parameters[i].bits());
    core.spr.parameters.write()[SprId::deqscale] = f.vector ? kFactors / 32 : parameters[0].bits();
    Census census;
    const Row& row = *row_of(f.name);
    model::run_counted(row, 0, vector_args(row, 0, x, kOut, random.next() % 2), core, census);
    instances.check(std::string(f.name), x.text(), expected, census, core.status);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Reductions

struct Reduction {
  std::string_view name;
  bool adds;
  u32 group;  // lanes; 0: all of a repeat
};
constexpr std::array kReductions{Reduction{"vcadd", true, 0},  Reduction{"vcgadd", true, 1},
                                 Reduction{"vcpadd", true, 2}, Reduction{"vcmax", false, 0},
                                 Reduction{"vcmin", false, 0}, Reduction{"vcgmax", false, 1},
                                 Reduction{"vcgmin", false, 1}};

// Every node of the trees of one repeat is a result.
void expect_sums(Expected& expected, const Setting& x, LaneType type, u32 repeat, u32 group, u64& node) {
  std::vector<std::optional<long double>> values(x.lanes);
  for (u32 i = 0; i < x.lanes; ++i) {
    if (!x.active(i)) continue;
    values[i] = model::decode(type, x.a[repeat * x.lanes + i]);
    if (model::special(*values[i])) expected.status |= u64{1} << 14;
  }
  for (u32 step = 1; step < group; step *= 2) {
    for (u32 i = 0; i + step < x.lanes; i += 2 * step) {
      auto &left = values[i], &right = values[i + step];
      if (!right) continue;
      if (!left) {
        left = right;
        continue;
      }
      const FirstStage sum = first_stage(Kind::sum, type, false, *left, *right, x.switches());
      Verdict v = sum.verdict;
      v.status &= ~(u64{1} << 14);  // of the lanes alone
      expected.add(v, node++);
      left = sum.middle;
    }
  }
}

void expect_extrema(Expected& expected, const Setting& x, LaneType type, bool largest, u32 repeat, u32 group,
                    u64& element) {
  for (u32 first = 0; first < x.lanes; first += group) {
    std::optional<long double> best;
    for (u32 i = first; i < first + group; ++i) {
      if (!x.active(i)) continue;
      const long double v = model::decode(type, x.a[repeat * x.lanes + i]);
      if (model::special(v)) expected.status |= u64{1} << 14;
      if (!best || std::isnan(v) || (!std::isnan(*best) && (largest ? v > *best : v < *best))) best = v;
    }
    if (!best) continue;
    Verdict v = model::float_result(
        {.kind = Kind::moved, .type = type, .operands = {*best}, .r = *best, .exact_zero = true}, x.switches());
    v.status = 0;
    expected.add(v, element++);
  }
}

TEST(CensusModel, EveryNodeOfAReductionIsCounted) {
  model::Instances instances(1000);
  for (u64 n = 0; n < instances.count; ++n) {
    const Reduction& f = kReductions[instances.random.next() % kReductions.size()];
    const LaneType type = instances.random.next() % 2 == 0 ? LaneType::f16 : LaneType::f32;
    const u32 lanes = 2048 / lane_bits(type);
    const Setting x = draw_setting(instances.random, type, lanes);
    const u32 group = f.group == 0 ? lanes : f.group == 1 ? 256 / lane_bits(type) : 2;
    Expected expected;
    u64 element = 0;
    for (u32 r = 0; r < x.repeat; ++r) {
      if (f.adds) {
        expect_sums(expected, x, type, r, group, element);
      } else {
        expect_extrema(expected, x, type, f.name.ends_with("max"), r, group, element);
      }
    }
    TestCore core(Arch::c220, x.overflow());
    prepare(core, x, type);
    Census census;
    const Row& row = *row_of(f.name);
    const u8 t = type_index(row, type);
    model::run_counted(row, t, vector_args(row, t, x, kOut), core, census);
    instances.check(std::string(f.name) + "." + std::string(name(type)), x.text(), expected, census, core.status);
  }
}

}  // namespace
}  // namespace vinci::isa
