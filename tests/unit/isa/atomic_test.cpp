// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/sem/atomic.h"

#include <cmath>
#include <random>
#include <vector>

#include "isa/census/census.h"
#include "isa/insns/move.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

// A binary format by its numbers; values are found with libm's exact functions, not with bit operations on the host's.
struct FloatFormat {
  int digits, exponent_bits;  // digits after the point

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  u64 infinity() const { return ((u64{1} << exponent_bits) - 1) << digits; }
  u64 sign() const { return u64{1} << (digits + exponent_bits); }
  u64 nan() const { return infinity() | u64{1} << (digits - 1); }
  bool is_nan(u64 b) const { return (b & (sign() - 1)) > infinity(); }
  bool is_inf(u64 b) const { return (b & (sign() - 1)) == infinity(); }

  double value(u64 b) const {  // of a number or an infinity
    const double s = (b & sign()) != 0 ? -1 : 1;
    if (is_inf(b)) return s * INFINITY;
    const auto field = static_cast<int>((b & infinity()) >> digits);
    const auto fraction = static_cast<double>(b & ((u64{1} << digits) - 1));
    if (field == 0) return s * std::ldexp(fraction, 1 - bias() - digits);
    return s * std::ldexp(fraction + std::ldexp(1, digits), field - bias() - digits);
  }
  u64 bits(double v) const {  // to nearest even
    const u64 s = std::signbit(v) ? sign() : 0;
    if (std::isinf(v)) return s | infinity();
    if (v == 0) return s;
    const int e = std::max(std::ilogb(v), 1 - bias());
    const double q = std::nearbyint(std::ldexp(std::fabs(v), digits - e));  // in units of the last digit
    const double rounded = std::ldexp(q, e - digits);
    if (rounded >= std::ldexp(1, bias() + 1)) return s | infinity();
    if (q < std::ldexp(1, digits)) return s | static_cast<u64>(q);
    const int field = std::ilogb(rounded) + bias();
    return s | static_cast<u64>(field) << digits |
           static_cast<u64>(std::ldexp(rounded, digits - std::ilogb(rounded)) - std::ldexp(1, digits));
  }
};

struct TypeCase {
  AtomicType type;
  u32 bytes;
  FloatFormat format;  // digits 0: an integer
};
constexpr TypeCase kTypes[] = {{AtomicType::f32, 4, {23, 8}}, {AtomicType::f16, 2, {10, 5}},
                               {AtomicType::bf16, 2, {7, 8}}, {AtomicType::s16, 2, {}},
                               {AtomicType::s32, 4, {}},      {AtomicType::s8, 1, {}}};

struct Expected {
  u64 bits;
  u64 code;
};

Expected naive_float(const FloatFormat& f, AtomicOp op, u64 d, u64 s, bool saturate) {
  u64 r = f.nan(), code = 0;
  if (f.is_nan(d) || f.is_nan(s)) {
    code = !f.is_nan(d) ? 3 : !f.is_nan(s) ? 4 : 5;
  } else {
    const double x = f.value(d), y = f.value(s);
    if (op == AtomicOp::add) {
      // The sum of two f32 in double is rounded once more at most, which does no harm with 53 >= 2 * 24 + 2 digits.
      if (!std::isnan(x + y)) r = f.bits(x + y);
      if (!f.is_inf(d) && !f.is_inf(s) && f.is_inf(r)) code = x + y > 0 ? 1 : 2;
    } else if (x == y) {  // also +0 and -0
      r = op == AtomicOp::max ? d & s : d | s;
    } else {
      r = (op == AtomicOp::max) == (x > y) ? d : s;
    }
  }
  if (saturate && f.digits != 23) r = f.is_nan(r) ? 0 : f.is_inf(r) ? r - 1 : r;
  return {r, code};
}

Expected naive_int(u32 bytes, AtomicOp op, u64 d, u64 s, bool saturate) {
  const unsigned shift = 64 - 8 * bytes;
  const i64 x = static_cast<i64>(d << shift) >> shift, y = static_cast<i64>(s << shift) >> shift;
  const i64 high = (i64{1} << (8 * bytes - 1)) - 1, low = -high - 1;
  i64 r = op == AtomicOp::add ? x + y : op == AtomicOp::max ? std::max(x, y) : std::min(x, y);
  const u64 code = r > high ? 1 : r < low ? 2 : 0;
  if (saturate) r = std::clamp(r, low, high);
  return {static_cast<u64>(r) << shift >> shift, code};
}

u64 ctrl_of(AtomicType type, AtomicOp op, bool saturate_int = false) {
  return static_cast<u64>(type) << 6 | static_cast<u64>(op) << 9 | (saturate_int ? ctrl::kSaturateInt : 0);
}

// Every type and operation in both overflow modes, on edge values against each other and on random bits.
TEST(Atomic, ElementsAgainstANaiveModel) {
  std::mt19937_64 random(7);
  for (const TypeCase& t : kTypes) {
    const u64 mask = (u64{1} << (8 * t.bytes)) - 1, top = u64{1} << (8 * t.bytes - 1);
    std::vector<u64> edges{0, 1, top - 1, top, top + 1, mask, mask - 1};
    if (t.format.digits != 0) {
      const u64 inf = t.format.infinity();
      for (const u64 e : {inf, inf - 1, inf + 1, t.format.nan(), u64{1} << t.format.digits, inf / 2, inf - 2})
        edges.insert(edges.end(), {e, e | top});
    }
    std::vector<std::pair<u64, u64>> pairs;
    for (const u64 a : edges) {
      for (const u64 b : edges)
        pairs.emplace_back(a, b);
    }
    for (int i = 0; i < 3000; ++i) {
      const u64 a = random() & mask;
      const u64 near = a ^ (random() & mask) >> (random() % (8 * t.bytes));
      pairs.emplace_back(a, i % 2 == 0 ? random() & mask : (near & mask) ^ (i % 4 == 1 ? top : 0));
    }
    for (const AtomicOp op : {AtomicOp::add, AtomicOp::max, AtomicOp::min}) {
      for (const bool saturate : {false, true}) {
        TestCore core(Arch::c220, saturate ? OverflowMode::saturation : OverflowMode::inf_nan);
        core.spr.ctrl = ctrl_of(t.type, op, saturate);
        const u64 gm = core.gm.allocate(8, "x");
        for (const auto& [d, s] : pairs) {
          core.results.l2_atomic = 0;
          gm_store<u64>(core.gm, gm, d);
          write_gm(gm, std::as_bytes(std::span(&s, 1)).first(t.bytes), core.context);
          const Expected e =
              t.format.digits != 0 ? naive_float(t.format, op, d, s, saturate) : naive_int(t.bytes, op, d, s, saturate);
          ASSERT_EQ(gm_load<u64>(core.gm, gm), e.bits)
              << "type " << int(t.type) << " op " << int(op) << std::hex << " " << d << " " << s;
          ASSERT_EQ(core.results.l2_atomic, e.code) << "type " << int(t.type) << std::hex << " " << d << " " << s;
        }
      }
    }
  }
}

TEST(Atomic, TheFirstCodeOfALongWriteStays) {
  TestCore core;
  core.spr.ctrl = ctrl_of(AtomicType::s16, AtomicOp::add);
  const u64 gm = core.gm.allocate(20000, "x");
  std::vector<i16> add(10000, 3);
  for (u64 i = 0; i < add.size(); ++i)
    gm_store<i16>(core.gm, gm + 2 * i, static_cast<i16>(i));
  gm_store<i16>(core.gm, gm + 2 * 5000, -32767);
  add[5000] = -2;
  gm_store<i16>(core.gm, gm + 2 * 9999, 32766);
  write_gm(gm, std::as_bytes(std::span(add)), core.context);
  EXPECT_EQ(gm_load<i16>(core.gm, gm + 2 * 4999), 5002);
  EXPECT_EQ(gm_load<i16>(core.gm, gm + 2 * 5000), 32767);
  EXPECT_EQ(gm_load<i16>(core.gm, gm + 2 * 9999), -32767);
  EXPECT_EQ(core.results.l2_atomic, static_cast<u64>(AtomicOverflow::below));
}

TEST(Atomic, TheCensusHearsOfElements) {
  TestCore core(Arch::c220, OverflowMode::saturation);
  TaskCensus task;
  CensusPoint point(task, {0, 4}, {0, 1}, "core0");
  core.context.census = &point;
  core.spr.ctrl = ctrl_of(AtomicType::f16, AtomicOp::add);
  const u64 gm = core.gm.allocate(64, "x");
  const auto ub = core.mem[BufId::UB];
  for (u64 i = 0; i < 32; ++i) {
    ub.store<u16>(2 * i, 0x3c00);                              // 1
    gm_store<u16>(core.gm, gm + 2 * i, i == 17 ? 0x6c00 : 0);  // 4096, which swallows 1 and ties to even
  }
  ub.store<u16>(2 * 20, 0x7bff);
  gm_store<u16>(core.gm, gm + 2 * 20, 0x7bff);
  core.run<insn::CopyUbufToGm>({.dst = gm, .src = 0, .sid = 0, .nBurst = 2, .lenBurst = 1, .srcGap = 0, .dstGap = 0});
  const SiteCensus& site = task.sites.at({0, 4});
  EXPECT_EQ(site.results, 32u);
  EXPECT_EQ(site.count(NumericEvent::absorbed), 1u);
  EXPECT_EQ(site.first[static_cast<usize>(NumericEvent::absorbed)].element, 17u);
  EXPECT_EQ(site.count(NumericEvent::overflow), 1u);
  EXPECT_EQ(site.count(NumericEvent::saturated), 1u);
  const Occurrence& overflow = site.first[static_cast<usize>(NumericEvent::saturated)];
  EXPECT_EQ(overflow.element, 20u);
  EXPECT_EQ(overflow.operands[1].value, 65504);
  EXPECT_EQ(overflow.result, 65504);
}

TEST(Atomic, CopiesObeyCtrl) {
  TestCore core;
  core.spr.ctrl = ctrl_of(AtomicType::s32, AtomicOp::max);
  const u64 gm = core.gm.allocate(128, "x");
  for (u64 i = 0; i < 32; ++i) {
    gm_store<i32>(core.gm, gm + 4 * i, 10);
    core.mem[BufId::L1].store<i32>(4 * i, static_cast<i32>(i));
  }
  // Blocks 0 and 2 of L1 to blocks 0 and 1 of global memory.
  core.run<insn::CopyCbufToGm>({.dst = gm, .src = 0, .sid = 0, .nBurst = 2, .lenBurst = 1, .srcGap = 1, .dstGap = 0});
  for (i32 i = 0; i < 16; ++i)
    EXPECT_EQ(gm_load<i32>(core.gm, gm + 4 * static_cast<u64>(i)), std::max(10, i < 8 ? i : i + 8)) << i;
  EXPECT_EQ(gm_load<i32>(core.gm, gm + 64), 10);
  // Copies into UB and L1 do not care.
  core.run<insn::CopyGmToUbuf>({.dst = 0, .src = gm, .sid = 0, .nBurst = 1, .lenBurst = 1, .srcGap = 0, .dstGap = 0});
  EXPECT_EQ(core.mem[BufId::UB].load<i32>(0), 10);
}

TEST(Atomic, FootprintsSayWhatItTakes) {
  Spr spr;
  const insn::BurstArgs args{.dst = 64, .src = 0, .sid = 0, .nBurst = 2, .lenBurst = 1, .srcGap = 0, .dstGap = 0};
  const auto dst = [&](Arch arch) { return insn::CopyUbufToGm::footprint(args, spr, arch).begin()[1]; };
  EXPECT_FALSE(dst(Arch::c220).atomic);
  EXPECT_EQ(dst(Arch::c220).align, 1);
  spr.ctrl = ctrl_of(AtomicType::f32, AtomicOp::add);
  EXPECT_TRUE(dst(Arch::c100).atomic);
  EXPECT_TRUE(dst(Arch::c100).write);
  EXPECT_EQ(dst(Arch::c100).align, 4);
  spr.ctrl = ctrl_of(AtomicType::f16, AtomicOp::add);
  EXPECT_EQ(error_of([&] { dst(Arch::c100); }), "program: CTRL asks for atomic add.f16, which c100 does not have");
  EXPECT_EQ(dst(Arch::m200).align, 2);
  spr.ctrl = ctrl_of(AtomicType::f32, AtomicOp::max);
  EXPECT_EQ(error_of([&] { dst(Arch::m200); }), "program: CTRL asks for atomic max.f32, which m200 does not have");
  spr.ctrl = u64{7} << 6;
  EXPECT_EQ(error_of([&] { dst(Arch::c220); }),
            "program: CTRL has atomic type 7 and operation 0; types are 1 (f32) to 6 (bf16), operations 0 to 2");
}

TEST(Atomic, EveryArchitectureHasItsTypes) {
  const std::string has[] = {"", "f32", "f32", "f32 f16 s16", "f32 f16 s16 s32 s8 bf16"};
  const char* names[] = {"f32", "f16", "s16", "s32", "s8", "bf16"};
  const Access plain{.buffer = BufId::GM, .write = true, .len = 32};
  for (const Arch arch : {Arch::m100, Arch::c100, Arch::m200, Arch::c220}) {
    std::string legal;
    for (u64 type = 1; type <= 6; ++type) {
      Spr spr;
      spr.ctrl = type << 6;
      if (error_of([&] { gm_write_access(plain, spr, arch); }).empty())
        legal += (legal.empty() ? "" : " ") + std::string(names[type - 1]);
    }
    EXPECT_EQ(legal, has[1 + static_cast<usize>(arch)]) << name(arch);
  }
}

TEST(Atomic, PiecesAreWholeElements) {
  Spr spr;
  spr.ctrl = ctrl_of(AtomicType::f32, AtomicOp::add);
  const std::string expected =
      "program: unaligned access: an atomic f32 write takes pieces and distances that are multiples of 4 bytes";
  const auto refused = [&](const Access& a) { return error_of([&] { gm_write_access(a, spr, Arch::c220); }); };
  EXPECT_EQ(refused({.buffer = BufId::GM, .write = true, .len = 34}), expected);
  EXPECT_EQ(refused({.buffer = BufId::GM, .write = true, .len = 32, .count = {2, 1, 1}, .stride = {33, 0, 0}}),
            expected);
  EXPECT_EQ(refused({.buffer = BufId::GM, .write = true, .len = 32, .count = {1, 1, 1}, .stride = {33, 0, 0}}), "");
}

}  // namespace
}  // namespace vinci::isa
