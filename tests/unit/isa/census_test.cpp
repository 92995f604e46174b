// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/census.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "isa/base/random.h"
#include "isa/insns/cube.h"
#include "isa/insns/fixpipe.h"
#include "isa/insns/l0c_ub.h"
#include "isa/insns/vector_arith.h"
#include "isa/insns/vector_convert.h"
#include "isa/insns/vector_reduce.h"
#include "isa/numeric/float16.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using enum NumericEvent;
using insn::VectorBinaryArgs;

// Products of two f16 have up to 80 bits below 2^32.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

// One instruction on a core whose census is looked at.
struct CountingCore : TestCore {
  explicit CountingCore(OverflowMode mode = OverflowMode::inf_nan) : TestCore(Arch::c220, mode) {}

  template <class I>
  const SiteCensus& count(const typename I::Args& args, Moment moment = {0, 0}) {
    CensusPoint point(task, {0, 7}, moment, "core0.AIV");
    context.census = &point;
    const u64 before = status;
    status = 0;
    I::execute(args, context);
    point.add_status(status);
    status |= before;
    context.census = nullptr;
    return task.sites.at({0, 7});
  }
  void put16(u32 address, std::initializer_list<double> values) {
    for (const double v : values) {
      mem[BufId::UB].store<u16>(address, f16_bits(v));
      address += 2;
    }
  }
  TaskCensus task;
};

constexpr u32 kA = 0, kB = 4096, kOut = 8192;
VectorBinaryArgs binary_args(u8 repeat) {
  return {.dst = kOut,
          .src0 = kA,
          .src1 = kB,
          .repeat = repeat,
          .dstBlkStride = 1,
          .src0BlkStride = 1,
          .src1BlkStride = 1,
          .dstRepStride = 8,
          .src0RepStride = 8,
          .src1RepStride = 8,
          .type = 0};
}

u64 total(const SiteCensus& s) {
  u64 sum = 0;
  for (const u64 n : s.counts)
    sum += n;
  return sum;
}

// f16 values as multiples of 2^-24, and what IEEE 754 makes of exact sums and products of them, in integers.
i64 units(u16 bits) { return static_cast<i64>(std::ldexp(f16_value(bits), 24)); }

struct Exact {
  Int128 value = 0;  // in units of 2^-unit
  int unit = 24;
};
// Rounds to nearest even at a multiple of 2^-24 or at 11 significant bits, whichever is coarser.
double round_to_f16(const Exact& e) {
  const bool negative = e.value < 0;
  UInt128 m = static_cast<UInt128>(negative ? -e.value : e.value);
  if (m == 0) return 0;
  int top = 0;
  for (UInt128 t = m; t > 1; t >>= 1)
    ++top;
  const int last = std::max(top - 10, e.unit - 24);
  if (last > 0) {
    const UInt128 half = static_cast<UInt128>(1) << (last - 1);
    const UInt128 rest = m & ((half << 1) - 1);
    m >>= last;
    if (rest > half || (rest == half && (m & 1) != 0)) ++m;
    m <<= last;
  }
  const double value = std::ldexp(static_cast<double>(m), -e.unit);
  return negative ? -value : value;
}

struct Counts {
  u64 overflow = 0, subnormal = 0, flushed = 0, absorbed = 0;

  void add(double a, double b, const Exact& exact, bool sum) {
    const double r = std::fabs(round_to_f16(exact));
    if (r > 65504) ++overflow;
    if (exact.value != 0 && r == 0) ++flushed;
    if (r > 0 && r < 0x1p-14) ++subnormal;
    const double signed_r = round_to_f16(exact);
    if (sum && r <= 65504 && a != 0 && b != 0 && (signed_r == a || signed_r == b)) ++absorbed;
  }
};

u16 finite_f16(Random& random) {
  for (;;) {
    const auto bits = static_cast<u16>(random.next());
    if (f16_finite(bits)) return bits;
  }
}

template <class I>
void random_pairs(bool product, double sign) {
  Random random(0xce5);
  Counts expected;
  u64 results = 0;
  CountingCore core;
  for (int round = 0; round < 400; ++round) {
    for (u32 i = 0; i < 128; ++i) {
      const u16 a = finite_f16(random);
      // Half of the pairs have exponents that can meet.
      const u16 b = random.next() % 2 == 0 ? finite_f16(random) : static_cast<u16>(a ^ (random.next() & 0x87ff));
      core.mem[BufId::UB].store<u16>(kA + 2 * i, a);
      const u16 second = f16_finite(b) ? b : u16{0x3c00};
      core.mem[BufId::UB].store<u16>(kB + 2 * i, second);
      const i64 ua = units(a), ub = units(second);
      const Exact exact = product ? Exact{static_cast<Int128>(ua) * ub, 48}
                                  : Exact{static_cast<Int128>(ua) + static_cast<i64>(sign) * ub, 24};
      expected.add(f16_value(a), sign * f16_value(second), exact, !product);
      ++results;
    }
    core.count<I>(binary_args(1), {0, static_cast<u64>(round)});
  }
  const SiteCensus& site = core.task.sites.at({0, 7});
  EXPECT_EQ(site.results, results);
  EXPECT_EQ(site.executions, 400u);
  EXPECT_EQ(site.count(overflow), expected.overflow);
  EXPECT_EQ(site.count(flushed), expected.flushed);
  EXPECT_EQ(site.count(subnormal), expected.subnormal);
  EXPECT_EQ(site.count(absorbed), expected.absorbed);
  EXPECT_EQ(site.count(nan), 0u);
  EXPECT_EQ(site.count(saturated), 0u);
  EXPECT_GT(expected.overflow, 0u);
  EXPECT_GT(product ? expected.flushed : expected.absorbed, 0u);
}

TEST(Census, RandomSumsAgreeWithIntegers) { random_pairs<insn::Vadd>(false, 1); }
TEST(Census, RandomDifferencesAgreeWithIntegers) { random_pairs<insn::Vsub>(false, -1); }
TEST(Census, RandomProductsAgreeWithIntegers) { random_pairs<insn::Vmul>(true, 1); }

// Where results replace one operand, both, or part of one, the census is that of the same operands elsewhere.
template <class I>
void same_in_place(u8 type, OverflowMode mode) {
  constexpr u8 kRepeats = 41;   // more than are kept at a time
  constexpr u32 kRoom = 16384;  // of an operand
  const auto fill = [](CountingCore& core, u32 address, u64 seed) {
    Random random(seed);
    for (u32 i = 0; i < kRoom; i += 2)
      core.mem[BufId::UB].store<u16>(address + i, static_cast<u16>(random.next()));
  };
  for (const u32 place : {0u, 1u, 2u, 3u}) {  // dst: apart, in place of src0, of src1, one block behind src0
    CountingCore core(mode), apart(mode);
    const u32 src0 = 0, src1 = kRoom, elsewhere = 2 * kRoom;
    for (CountingCore* c : {&core, &apart}) {
      fill(*c, src0, 11);
      fill(*c, src1, 12);
    }
    VectorBinaryArgs args = binary_args(kRepeats);
    args.type = type;
    args.src0 = src0;
    args.src1 = src1;
    args.dst = place == 1 ? src0 : place == 2 ? src1 : place == 3 ? src0 + 32 : elsewhere;
    const SiteCensus got = core.count<I>(args);
    const u32 dst = args.dst;
    SiteCensus want;
    if (place == 3) {  // a repeat reads what the one before has written: one after the other
      for (u32 r = 0; r < kRepeats; ++r) {
        VectorBinaryArgs one = args;
        one.repeat = 1;
        one.src0 += r * 256;
        one.src1 += r * 256;
        one.dst += r * 256;
        want = apart.count<I>(one, {0, r});
      }
    } else {
      args.dst = elsewhere;
      want = apart.count<I>(args);
    }
    EXPECT_EQ(got.counts, want.counts) << place;
    EXPECT_EQ(got.results, want.results) << place;
    EXPECT_EQ(core.status, apart.status) << place;
    for (usize e = 0; place != 3 && e < kNumericEvents; ++e) {
      if (got.counts[e] == 0) continue;
      EXPECT_EQ(got.first[e].element, want.first[e].element) << place << " " << e;
      EXPECT_EQ(got.first[e].operands[0].value, want.first[e].operands[0].value) << place << " " << e;
    }
    for (u32 i = 0; i < kRepeats * 256u; i += 2) {
      ASSERT_EQ(core.mem[BufId::UB].load<u16>(dst + i), apart.mem[BufId::UB].load<u16>(args.dst + i))
          << place << " " << i;
    }
  }
}

TEST(Census, ResultsInPlaceOfOperandsAreCountedAlike) {
  for (const OverflowMode mode : {OverflowMode::inf_nan, OverflowMode::saturation}) {
    for (const u8 type : {0, 1}) {
      same_in_place<insn::Vadd>(type, mode);
      same_in_place<insn::Vsub>(type, mode);
      same_in_place<insn::Vmul>(type, mode);
      same_in_place<insn::Vmax>(type, mode);
      same_in_place<insn::Vdiv>(type, mode);
    }
  }
}

TEST(Census, TheFirstOccurrenceHasItsOperands) {
  CountingCore core;
  core.put16(kA, {1, 1, 2048});
  core.put16(kB, {1, 0x1p-12, 1});
  const SiteCensus& site = core.count<insn::Vadd>(binary_args(1), {3, 20});
  EXPECT_EQ(site.count(absorbed), 2u);
  EXPECT_EQ(total(site), 2u);
  const Occurrence& first = site.first[static_cast<usize>(absorbed)];
  EXPECT_EQ(first.moment, (Moment{3, 20}));
  EXPECT_EQ(first.core, "core0.AIV");
  EXPECT_EQ(first.element, 1u);
  ASSERT_EQ(first.operand_count, 2);
  EXPECT_EQ(first.operands[0].name, "src0");
  EXPECT_EQ(first.operands[0].value, 1);
  EXPECT_EQ(first.operands[1].name, "src1");
  EXPECT_EQ(first.operands[1].value, 0x1p-12);
  EXPECT_EQ(first.result, 1);
  // An earlier block replaces it, a later one does not.
  core.count<insn::Vadd>(binary_args(1), {1, 90});
  core.count<insn::Vadd>(binary_args(1), {2, 0});
  EXPECT_EQ(site.first[static_cast<usize>(absorbed)].moment, (Moment{1, 90}));
  EXPECT_EQ(site.count(absorbed), 6u);
}

TEST(Census, SaturationIsSeenAsWhatItReplaced) {
  for (const OverflowMode mode : {OverflowMode::inf_nan, OverflowMode::saturation}) {
    CountingCore core(mode);
    core.put16(kA, {65504, 0, INFINITY, 1});
    core.put16(kB, {2, INFINITY, 2, 1});
    const SiteCensus& site = core.count<insn::Vmul>(binary_args(1));
    EXPECT_EQ(site.count(overflow), 1u);
    EXPECT_EQ(site.count(nan), 1u);
    EXPECT_EQ(site.count(saturated), mode == OverflowMode::saturation ? 3u : 0u);
    EXPECT_EQ(std::isinf(site.first[static_cast<usize>(overflow)].result), true);
    EXPECT_EQ(core.mem[BufId::UB].load<u16>(kOut), mode == OverflowMode::saturation ? kF16Max : kF16Inf);
    EXPECT_EQ(core.task.first_overflow.status, status::kFloatOverflow);
  }
}

TEST(Census, LanesThatAreMaskedOffDoNotCount) {
  CountingCore core;
  core.put16(kA, {65504, 65504});
  core.put16(kB, {65504, 65504});
  core.spr.vector_mask = {2, 0};
  const SiteCensus& site = core.count<insn::Vadd>(binary_args(1));
  EXPECT_EQ(site.results, 1u);
  EXPECT_EQ(site.count(overflow), 1u);
  EXPECT_EQ(site.first[static_cast<usize>(overflow)].element, 1u);
}

TEST(Census, ExponentialsAndCastsVanish) {
  CountingCore core;
  core.put16(kA, {-18, -16, 0});
  const SiteCensus& site = core.count<insn::Vexp>({.scalar = 0,
                                                   .dst = kOut,
                                                   .src = kA,
                                                   .dstBlkStride = 1,
                                                   .srcBlkStride = 1,
                                                   .repeat = 1,
                                                   .dstRepStride = 8,
                                                   .srcRepStride = 8,
                                                   .type = 0});
  EXPECT_EQ(site.count(flushed), 1u);
  EXPECT_EQ(site.count(subnormal), 1u);
  CountingCore cast;
  cast.mem[BufId::UB].store<float>(0, 1e-9f);
  cast.mem[BufId::UB].store<float>(4, 1e9f);
  cast.mem[BufId::UB].store<float>(8, 1e-6f);
  const SiteCensus& narrow =
      cast.count<insn::Vconv<LaneType::f32, LaneType::f16, insn::Rounding::none>>({.scalar = 0,
                                                                                   .dst = kOut,
                                                                                   .src = 0,
                                                                                   .dstBlkStride = 1,
                                                                                   .srcBlkStride = 1,
                                                                                   .repeat = 1,
                                                                                   .dstRepStride = 4,
                                                                                   .srcRepStride = 8,
                                                                                   .type = 0});
  EXPECT_EQ(narrow.results, 64u);
  EXPECT_EQ(narrow.count(flushed), 1u);
  EXPECT_EQ(narrow.count(overflow), 1u);
  EXPECT_EQ(narrow.count(subnormal), 1u);
}

// C = 1 or more, A * B around half an ulp of it: absorbed where it is below.
TEST(Census, TheCubeAbsorbsSmallSums) {
  for (const u8 type : {insn::Mad::f162f32, insn::Mad::f162f16}) {
    const bool f16 = type == insn::Mad::f162f16;
    CountingCore core;
    const u32 m = 17, k = 5, n = 18;
    std::vector<double> a(m * k), b(k * n), c(m * n);
    Random random(9);
    for (double& v : a)
      v = std::ldexp(1 + (random.next() % 4) / 4.0, -(static_cast<int>(random.next() % 14)));
    for (double& v : b)
      v = std::ldexp(1.0, -(static_cast<int>(random.next() % 14)));
    const auto c_offset = [&](u32 row, u32 column) {
      return ((column / 16 * 2 + row / 16) * 16 + row % 16) * 16 + column % 16;
    };
    for (u32 i = 0; i < m; ++i) {
      for (u32 j = 0; j < k; ++j)
        core.mem[BufId::L0A].store<u16>(2 * ((i / 16 * 16 + i % 16) * 16 + j), f16_bits(a[i * k + j]));
    }
    for (u32 j = 0; j < k; ++j) {
      for (u32 l = 0; l < n; ++l)
        core.mem[BufId::L0B].store<u16>(2 * ((l / 16 * 16 + l % 16) * 16 + j), f16_bits(b[j * n + l]));
    }
    u64 expected = 0;
    for (u32 i = 0; i < m; ++i) {
      for (u32 l = 0; l < n; ++l) {
        const double old = std::ldexp(1.0, static_cast<int>(random.next() % 12));
        double sum = 0;
        for (u32 j = 0; j < k; ++j)
          sum += a[i * k + j] * b[j * n + l];
        // In f32 each product is added by itself; these are so small that none is lost on the way to `old`.
        const double rounded =
            f16 ? round_to_f16({static_cast<Int128>(std::ldexp(old + sum, 60)), 60}) : static_cast<float>(old);
        if (f16 && rounded == old) ++expected;
        if (f16) {
          core.mem[BufId::L0C].store<u16>(2 * c_offset(i, l), f16_bits(old));
        } else {
          core.mem[BufId::L0C].store<float>(4 * c_offset(i, l), static_cast<float>(std::ldexp(old, 30)));
          expected += 1;
        }
      }
    }
    const SiteCensus& site =
        core.count<insn::Mad>({.c = 0, .a = 0, .b = 0, .m = 17, .k = 5, .n = 18, .init = 0, .type = type});
    EXPECT_EQ(site.results, m * n);
    EXPECT_EQ(site.count(absorbed), expected);
    EXPECT_GT(expected, 0u);
    EXPECT_EQ(total(site), expected);
  }
}

// The tree of adjacent pairs: 2048 + 1 loses the 1, 65504 + 65504 leaves the range.
TEST(Census, EveryNodeOfAReductionIsAResult) {
  CountingCore core(OverflowMode::saturation);
  for (u32 i = 0; i < 128; ++i)
    core.mem[BufId::UB].store<u16>(kA + 2 * i, 0);
  core.put16(kA, {2048, 1, 65504, 65504, 3, 4});
  insn::Vcadd::Args args{};
  args.dst = kOut;
  args.src = kA;
  args.repeat = 1;
  args.dstRepStride = args.srcBlkStride = 1;
  args.srcRepStride = 8;
  const SiteCensus& site = core.count<insn::Vcadd>(args);
  EXPECT_EQ(site.results, 127u);
  EXPECT_EQ(site.count(overflow), 2u);  // 65504 + 65504, then 2048 + 65504
  EXPECT_EQ(site.count(saturated), 2u);
  EXPECT_EQ(site.count(absorbed), 2u);  // 2048 + 1, at the end 65504 + 7
  EXPECT_EQ(site.first[static_cast<usize>(absorbed)].operands[1].value, 1);
}

// 16 x 16 values on their way out of L0C as f16, in each of the ways that exist.
template <class I>
void drain(const typename I::Args& args, Arch arch) {
  for (const OverflowMode mode : {OverflowMode::inf_nan, OverflowMode::saturation}) {
    CountingCore core(mode);
    core.context.arch = arch;
    core.gm.allocate(1 << 20, "out");
    for (u32 i = 0; i < 256; ++i)
      core.mem[BufId::L0C].store<float>(4 * i, 1);
    core.mem[BufId::L0C].store<float>(4 * 3, 65519);     // rounds to 65504
    core.mem[BufId::L0C].store<float>(4 * 4, 65520);     // does not
    core.mem[BufId::L0C].store<float>(4 * 5, 0x1p-25f);  // rounds to zero
    core.mem[BufId::L0C].store<float>(4 * 6, 0x1p-24f);
    core.mem[BufId::L0C].store<float>(4 * 7, NAN);
    const SiteCensus& site = core.count<I>(args);
    EXPECT_EQ(site.results, 256u);
    EXPECT_EQ(site.count(overflow), 1u);
    EXPECT_EQ(site.first[static_cast<usize>(overflow)].element, 4u);
    EXPECT_EQ(site.count(flushed), 1u);
    EXPECT_EQ(site.count(subnormal), 1u);
    EXPECT_EQ(site.count(saturated), mode == OverflowMode::saturation ? 2u : 0u);
    EXPECT_EQ(site.count(nan), 0u);
    EXPECT_EQ(core.task.first_overflow.status, status::kL0cToUbOverflow);
  }
}

TEST(Census, TheWayOutOfL0cCounts) {
  insn::CopyMatrixCcToGm::Args gm{};
  GlobalMemory first;
  gm.dst = first.allocate(1, "the first address");
  gm.nSize = gm.mSize = gm.srcStride = gm.dstStride = 16;
  gm.quantPre = 1;
  drain<insn::CopyMatrixCcToGm>(gm, Arch::c220);
  insn::CopyMatrixCcToUbuf::Args ub{};
  ub.nBurst = ub.lenBurst = ub.crmode = 1;
  drain<insn::CopyMatrixCcToUbuf>(ub, Arch::c100);
}

TEST(Census, BitsAreTheSameWithAndWithout) {
  for (const OverflowMode mode : {OverflowMode::inf_nan, OverflowMode::saturation}) {
    CountingCore with(mode);
    TestCore without(Arch::c220, mode);
    Random random(5);
    for (u32 i = 0; i < 1024; ++i) {
      for (const u32 base : {kA, kB}) {
        const auto bits = static_cast<u16>(random.next());
        with.mem[BufId::UB].store<u16>(base + 2 * i, bits);
        without.mem[BufId::UB].store<u16>(base + 2 * i, bits);
      }
    }
    with.count<insn::Vmul>(binary_args(8));
    without.run<insn::Vmul>(binary_args(8));
    for (u32 i = 0; i < 1024; ++i)
      EXPECT_EQ(with.mem[BufId::UB].load<u16>(kOut + 2 * i), without.mem[BufId::UB].load<u16>(kOut + 2 * i));
    EXPECT_EQ(with.status, without.status);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// One definition for the census and STATUS: each family where they could disagree.

u32 f32_bits(float v) { return std::bit_cast<u32>(v); }

TEST(CensusAndStatus, TwoStagesRaiseTheSameInBothModes) {
  for (const OverflowMode mode : {OverflowMode::inf_nan, OverflowMode::saturation}) {
    CountingCore core(mode);
    core.put16(kA, {300, 300, -300, 3});
    core.put16(kB, {300, 1, 300, 3});
    core.spr.vector_mask = {15, 0};
    VectorBinaryArgs args = binary_args(1);
    const SiteCensus& site = core.count<insn::VmulconvF162s8>(args);
    EXPECT_EQ(site.results, 4u);
    EXPECT_EQ(site.count(overflow), 2u);  // in f16
    EXPECT_EQ(core.status, status::kFloatOverflow);
    EXPECT_EQ(core.task.first_overflow.status, status::kFloatOverflow);
  }
}

TEST(CensusAndStatus, AnInfinityOfTheFirstStageIsNoOperand) {
  CountingCore core;
  for (u32 i = 0; i < 64; ++i) {
    core.mem[BufId::UB].store<float>(kA + 4 * i, 3e38f);
    core.mem[BufId::UB].store<float>(kB + 4 * i, 3e38f);
  }
  const SiteCensus& site = core.count<insn::VaddreluconvF322f16>(binary_args(1));
  EXPECT_EQ(site.count(overflow), 64u);
  EXPECT_EQ(core.status, status::kFloatOverflow);
}

TEST(CensusAndStatus, OneInfinityInTheCubeHidesItsRowAlone) {
  CountingCore core;
  for (u32 i = 0; i < 256; ++i) {
    core.mem[BufId::L0A].store<u16>(2 * i, f16_bits(250));
    core.mem[BufId::L0B].store<u16>(2 * i, f16_bits(250));
  }
  core.mem[BufId::L0A].store<u16>(2 * (15 * 16 + 3), kF16Inf);
  const SiteCensus& site =
      core.count<insn::Mad>({.c = 0, .a = 0, .b = 0, .m = 16, .k = 16, .n = 16, .init = 1, .type = insn::Mad::f162f16});
  EXPECT_EQ(site.results, 256u);
  EXPECT_EQ(site.count(overflow), 240u);
  EXPECT_EQ(core.status, status::kCubeOverflow | status::kCubeNanInf);
}

TEST(CensusAndStatus, IntegersOfTheCubeWrapOrStop) {
  for (const bool stops : {false, true}) {
    CountingCore core;
    for (u32 i = 0; i < 512; ++i) {
      core.mem[BufId::L0A].store<i8>(i, 1);
      core.mem[BufId::L0B].store<i8>(i, 1);
    }
    for (u32 i = 0; i < 256; ++i)
      core.mem[BufId::L0C].store<i32>(4 * i, i % 2 == 0 ? 0x7fffffff : 5);
    if (stops) core.spr.ctrl |= ctrl::kSaturateInt;
    const SiteCensus& site =
        core.count<insn::Mad>({.c = 0, .a = 0, .b = 0, .m = 16, .k = 32, .n = 16, .init = 0, .type = insn::Mad::s8});
    EXPECT_EQ(site.results, 256u);
    EXPECT_EQ(site.count(stops ? saturated : wrapped), 128u);
    EXPECT_EQ(core.status, status::kCubeOverflow);
  }
}

TEST(CensusAndStatus, ExactProductsOfAStepDoNotUnderflow) {
  CountingCore core;
  core.context.numerics.accumulation = Accumulation::fractal;
  for (u32 i = 0; i < 256; ++i) {
    core.mem[BufId::L0A].store<u32>(4 * (i % 128), f32_bits(i % 8 == 0 ? 1.0f : 0x1p-100f));
    core.mem[BufId::L0B].store<u32>(4 * (i % 128), f32_bits(i % 8 == 0 ? 1.0f : 0x1p-100f));
  }
  core.count<insn::Mad>({.c = 0, .a = 0, .b = 0, .m = 16, .k = 8, .n = 16, .init = 1, .type = insn::Mad::f322f32});
  EXPECT_EQ(core.status, 0u);
}

// Columns of L0C next to a matrix of 8 columns leave with it, but are not the program's.
TEST(CensusAndStatus, PaddingColumnsRaiseNothing) {
  for (const u8 mode : {1, 16}) {  // f32 to f16, f32 to bf16
    CountingCore core;
    core.gm.allocate(1 << 20, "out");
    for (u32 i = 0; i < 256; ++i)
      core.mem[BufId::L0C].store<float>(4 * i, i % 16 < 8 ? 1.0f : 3.4e38f);
    insn::CopyMatrixCcToGm::Args args{};
    GlobalMemory first;
    args.dst = first.allocate(1, "the first address");
    args.nSize = 8;
    args.mSize = args.srcStride = args.dstStride = 16;
    args.quantPre = mode;
    const SiteCensus& site = core.count<insn::CopyMatrixCcToGm>(args);
    EXPECT_EQ(site.results, 128u);
    EXPECT_EQ(total(site), 0u);
    EXPECT_EQ(core.status, 0u);
  }
}

// 1000 does not fit s8; a parameter that is NaN makes NaN of every value.
TEST(CensusAndStatus, RequantisationClipsAndNanParametersShow) {
  CountingCore core;
  core.gm.allocate(1 << 20, "out");
  for (u32 i = 0; i < 256; ++i)
    core.mem[BufId::L0C].store<i32>(4 * i, i % 4 == 0 ? 1000 : 7);
  insn::CopyMatrixCcToGm::Args args{};
  GlobalMemory first;
  args.dst = first.allocate(1, "the first address");
  args.nSize = args.mSize = args.srcStride = args.dstStride = 16;
  args.quantPre = 9;  // req8
  core.spr.parameters.write()[SprId::quant_pre] = f32_bits(1) | u64{1} << 46;
  const SiteCensus& site = core.count<insn::CopyMatrixCcToGm>(args);
  EXPECT_EQ(site.results, 256u);
  EXPECT_EQ(site.count(clipped), 64u);
  EXPECT_EQ(core.status, 0u);
  CountingCore scaled;
  scaled.gm.allocate(1 << 20, "out");
  for (u32 i = 0; i < 256; ++i)
    scaled.mem[BufId::L0C].store<i32>(4 * i, 7);
  args.quantPre = 11;  // deqf16
  scaled.spr.parameters.write()[SprId::quant_pre] = f32_bits(NAN);
  const SiteCensus& nans = scaled.count<insn::CopyMatrixCcToGm>(args);
  EXPECT_EQ(nans.count(nan), 256u);
  EXPECT_EQ(scaled.status, status::kL0cToUbOverflow);
}

TEST(CensusAndStatus, AnExtremumThatIsReplacedIsCounted) {
  CountingCore core(OverflowMode::saturation);
  core.put16(kA, {INFINITY, 1});
  core.spr.vector_mask = {3, 0};
  insn::Vcmax::Args args{};
  args.dst = kOut;
  args.src = kA;
  args.repeat = 1;
  args.dstRepStride = args.srcBlkStride = 1;
  args.srcRepStride = 8;
  const SiteCensus& site = core.count<insn::Vcmax>(args);
  EXPECT_EQ(site.results, 1u);
  EXPECT_EQ(site.count(saturated), 1u);
  EXPECT_EQ(core.status, status::kVectorNanInf);
}

TEST(CensusAndStatus, DequantisationToBytesClips) {
  CountingCore core;
  for (u32 i = 0; i < 128; ++i)
    core.mem[BufId::UB].store<i16>(kA + 2 * i, static_cast<i16>(i < 3 ? 1000 : 1));
  core.spr.parameters.write()[SprId::deqscale] = f32_bits(1) | u64{1} << 46;
  const SiteCensus& site = core.count<insn::VconvDeqs162b8>({.scalar = 0,
                                                             .dst = kOut,
                                                             .src = kA,
                                                             .dstBlkStride = 1,
                                                             .srcBlkStride = 1,
                                                             .repeat = 1,
                                                             .dstRepStride = 4,
                                                             .srcRepStride = 8,
                                                             .type = 0});
  EXPECT_EQ(site.results, 128u);
  EXPECT_EQ(site.count(clipped), 3u);
  EXPECT_EQ(core.status, status::kFloatOverflow);
}

}  // namespace
}  // namespace vinci::isa
