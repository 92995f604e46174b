// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <vector>

#include "isa/machine/machine.h"
#include "isa/text/text.h"
#include "sim/task/reduce.h"
#include "tests/unit/isa/census_check.h"

// Random instances of what computes outside the pipes: the scalar unit, atomic writes to global memory, and reductions
// in memory, of SDMA and of collectives. The census and STATUS against the model.
namespace vinci {
namespace {

using isa::Arch;
using isa::LaneType;
using isa::NumericEvent;
using isa::OverflowMode;
using isa::model::decode;
using isa::model::draw;
using isa::model::Expected;
using isa::model::FloatCase;
using isa::model::Kind;
using isa::model::Switches;
using isa::model::Verdict;

std::vector<u64> draw_many(Random& random, LaneType type, usize count) {
  const u64 wild = std::array<u64, 3>{1, 2, 30}[random.next() % 3];
  std::vector<u64> out;
  for (usize i = 0; i < count; ++i)
    out.push_back(random.next() % wild == 0 ? draw(random, type) : isa::model::draw_moderate(random, type));
  return out;
}

// a + b, a * b, or the larger or smaller one, without STATUS.
enum class Combine : u8 { sum, product, largest, smallest };
Verdict combined(Combine op, LaneType type, long double a, long double b, const Switches& s) {
  const bool picks = op == Combine::largest || op == Combine::smallest;
  Verdict v;
  if (!is_float(type)) {
    if (picks) return {};
    const long double exact = op == Combine::sum ? a + b : a * b;
    const isa::model::Range range = isa::model::range_of(type);
    if (exact < range.low || exact > range.high)
      v.add(s.saturate_int ? NumericEvent::saturated : NumericEvent::wrapped);
    return v;
  }
  if (picks) {
    const bool any_nan = std::isnan(a) || std::isnan(b);
    const long double r = any_nan ? a + b : op == Combine::largest ? std::max(a, b) : std::min(a, b);
    v = isa::model::float_result({.kind = Kind::moved, .type = type, .operands = {r}, .r = r, .exact_zero = true}, s);
  } else {
    const bool adds = op == Combine::sum;
    FloatCase c{.kind = adds ? Kind::sum : Kind::product,
                .type = type,
                .operands = {a, b},
                .r = isa::model::rounded(type, adds ? a + b : a * b)};
    c.x = a, c.y = b;
    c.exact_zero = adds || a == 0 || b == 0;
    v = isa::model::float_result(c, s);
  }
  v.status = 0;
  return v;
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(CensusModel, AtomicWritesAreSums) {
  constexpr std::array kTypes{LaneType::f32, LaneType::f16, LaneType::s16, LaneType::s32, LaneType::s8, LaneType::bf16};
  isa::model::Instances instances(300);
  for (u64 n = 0; n < instances.count; ++n) {
    Random& random = instances.random;
    const u64 number = random.next() % kTypes.size();
    const LaneType type = kTypes[number];
    const u64 op = random.next() % 3;
    const bool saturation = random.next() % 2 == 0, stops = random.next() % 2 == 0;
    isa::TestCore core(Arch::c220, saturation ? OverflowMode::saturation : OverflowMode::inf_nan);
    const u64 dst = core.gm.allocate(4096, "out");
    const u32 blocks = 1 + random.next() % 4, bytes = isa::lane_bits(type) / 8, count = blocks * 32 / bytes;
    const std::vector<u64> old = draw_many(random, type, count), src = draw_many(random, type, count);
    const Switches s{.saturation = saturation, .saturate_int = stops};
    Expected expected;
    for (u32 i = 0; i < count; ++i) {
      std::memcpy(core.mem[isa::BufId::UB].bytes(i * bytes, bytes).data(), &src[i], bytes);
      core.gm.write(dst + i * bytes, std::as_bytes(std::span(&old[i], 1)).first(bytes));
      const auto how = op == 0 ? Combine::sum : op == 1 ? Combine::largest : Combine::smallest;
      expected.add(combined(how, type, decode(type, old[i]), decode(type, src[i]), s), i);
    }
    core.spr.ctrl = (number + 1) << 6 | op << 9 | (stops ? isa::ctrl::kSaturateInt : 0);
    isa::Census census;
    const isa::Row& row = *isa::row_of("copy_ubuf_to_gm");
    isa::model::run_counted(
        row, 0, isa::model::args_of(row, 0, {{"dst", dst}, {"src", 0}, {"nBurst", 1}, {"lenBurst", blocks}}), core,
        census);
    instances.check(fmt::format("atomic {} {}", op, name(type)),
                    fmt::format("saturation {} stops {}", saturation, stops), expected, census, core.status);
  }
}

TEST(CensusModel, ReductionsInMemoryAreSums) {
  struct Element {
    task::ElementType type;
    LaneType lane;
  };
  using task::ElementType;
  constexpr std::array kElements{
      Element{ElementType::int8, LaneType::s8},      Element{ElementType::int16, LaneType::s16},
      Element{ElementType::int32, LaneType::s32},    Element{ElementType::uint8, LaneType::u8},
      Element{ElementType::uint16, LaneType::u16},   Element{ElementType::uint32, LaneType::u32},
      Element{ElementType::float16, LaneType::f16},  Element{ElementType::float32, LaneType::f32},
      Element{ElementType::bfloat16, LaneType::bf16}};
  using task::Hccl;
  constexpr std::array kOps{std::pair{Hccl::Reduce::sum, Combine::sum}, std::pair{Hccl::Reduce::prod, Combine::product},
                            std::pair{Hccl::Reduce::max, Combine::largest},
                            std::pair{Hccl::Reduce::min, Combine::smallest}};
  isa::model::Instances instances(300);
  for (u64 n = 0; n < instances.count; ++n) {
    Random& random = instances.random;
    const Element& e = kElements[random.next() % kElements.size()];
    const auto& [reduce, how] = kOps[random.next() % kOps.size()];
    const u32 bytes = isa::lane_bits(e.lane) / 8, count = 1 + random.next() % 40;
    const std::vector<u64> old = draw_many(random, e.lane, count), src = draw_many(random, e.lane, count);
    std::vector<std::byte> to(count * bytes), from(count * bytes);
    Expected expected;
    const u64 first = random.next() % 100;
    for (u32 i = 0; i < count; ++i) {
      std::memcpy(&to[i * bytes], &old[i], bytes);
      std::memcpy(&from[i * bytes], &src[i], bytes);
      expected.add(combined(how, e.lane, decode(e.lane, old[i]), decode(e.lane, src[i]), {}), first + i);
    }
    isa::Census census;
    {
      isa::CensusPoint point(census.of(0), {isa::Site::kNoKernel, 0}, {0, 0}, "SDMA");
      isa::ReductionCensus counted{point, first};
      task::reduce(reduce, e.type, to, from, &counted);
    }
    instances.check(fmt::format("reduce {} {}", static_cast<int>(reduce), name(e.lane)), "", expected, census, 0);
  }
}

// ---------------------------------------------------------------------------------------------------------------------

constexpr u64 kOver = u64{1} << 5, kSpecial = u64{1} << 13;

struct ScalarForm {
  std::string_view name;
  Kind kind;
  LaneType to;
  char mode;
  bool binary;
};
constexpr std::array kScalars{ScalarForm{"add.f32", Kind::sum, LaneType::f32, 'r', true},
                              ScalarForm{"sub.f32", Kind::sub, LaneType::f32, 'r', true},
                              ScalarForm{"mul.f32", Kind::product, LaneType::f32, 'r', true},
                              ScalarForm{"div.f32", Kind::quotient, LaneType::f32, 'r', true},
                              ScalarForm{"sqrt.f32", Kind::function, LaneType::f32, 'r', false},
                              ScalarForm{"conv_f322f16", Kind::moved, LaneType::f16, 'r', false},
                              ScalarForm{"conv_f322f16o", Kind::moved, LaneType::f16, 'o', false},
                              ScalarForm{"conv_f322s32r", Kind::moved, LaneType::s32, 'r', false},
                              ScalarForm{"conv_f322s32a", Kind::moved, LaneType::s32, 'a', false},
                              ScalarForm{"conv_f322s32f", Kind::moved, LaneType::s32, 'f', false},
                              ScalarForm{"conv_f322s32c", Kind::moved, LaneType::s32, 'c', false},
                              ScalarForm{"conv_f322s32z", Kind::moved, LaneType::s32, 'z', false}};

Verdict scalar_verdict(const ScalarForm& f, long double a, long double b, const Switches& s) {
  using enum NumericEvent;
  const bool special = isa::model::special(a) || (f.binary && isa::model::special(b));
  Verdict v;
  if (f.to != LaneType::f32) {
    // The largest value replaces an infinity that a directed mode does not give.
    long double r = is_float(f.to) ? isa::model::rounded(f.to, a, f.mode) : 0;
    if (is_float(f.to) && f.mode == 'o' && std::isinf(r) && !std::isinf(a))
      r = std::copysign(static_cast<long double>(isa::model::largest(f.to)), a);
    v = isa::model::cast_result(LaneType::f32, f.to, a, r, f.mode, s);
  } else {
    long double r = f.kind == Kind::sum        ? a + b
                    : f.kind == Kind::sub      ? a - b
                    : f.kind == Kind::product  ? a * b
                    : f.kind == Kind::quotient ? a / b
                                               : std::sqrt(a);
    r = isa::model::rounded(f.to, r);
    FloatCase c{.kind = f.kind, .type = f.to, .operands = {a}, .r = r};
    if (f.binary) c.operands.push_back(b);
    c.x = a;
    c.y = f.kind == Kind::sub ? -b : b;
    c.exact_zero = f.kind == Kind::product    ? a == 0 || b == 0
                   : f.kind == Kind::quotient ? a == 0 || std::isinf(b)
                                              : true;
    v = isa::model::float_result(c, {});
  }
  const bool out_of_range = has(v.events, overflow) || has(v.events, nan) || has(v.events, saturated);
  v.status = special ? kSpecial : 0;
  if (out_of_range && (!special || f.to == LaneType::s32)) v.status |= kOver;
  return v;
}

TEST(CensusModel, TheScalarUnitAgreesWithTheTable) {
  isa::model::Instances instances(400);
  for (u64 n = 0; n < instances.count; ++n) {
    Random& random = instances.random;
    const ScalarForm& f = kScalars[random.next() % kScalars.size()];
    const u64 a = draw(random, LaneType::f32), b = draw(random, LaneType::f32);
    const bool saturation = random.next() % 2 == 0;
    Expected expected;
    expected.add(scalar_verdict(f, decode(LaneType::f32, a), decode(LaneType::f32, b), {.saturation = saturation}), 0);
    const isa::CoreSpec spec{.arch = Arch::c220,
                             .kind = isa::CoreKind::vector,
                             .sizes = {0, 0, 0, 0, 0, 0x2000},
                             .overflow = saturation ? OverflowMode::saturation : OverflowMode::inf_nan};
    isa::GlobalMemory gm;
    isa::Census census;
    isa::Machine machine(spec, gm, 0, &census);
    const isa::Code code(isa::assemble(
        fmt::format("mov X1, {:#x}\nmov X2, {:#x}\n{} X3, X1{}\nend", a, b, f.name, f.binary ? ", X2" : ""), "k.s",
        Arch::c220));
    u64 budget = 100;
    machine.run(code, {}, budget);
    // What bits of STATUS the unit raised is known of its overflows alone.
    instances.check(std::string(f.name), fmt::format("{:#x} {:#x} saturation {}", a, b, saturation), expected, census,
                    expected.status);
  }
}

}  // namespace
}  // namespace vinci
