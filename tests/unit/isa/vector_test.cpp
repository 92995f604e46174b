// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/insns/vector_arith.h"
#include "isa/insns/vector_convert.h"
#include "isa/table/table.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using Widen = insn::Vconv<LaneType::f16, LaneType::f32, insn::Rounding::none>;
template <insn::Rounding R>
using Narrow = insn::Vconv<LaneType::f32, LaneType::f16, R>;
using insn::VectorBinaryArgs;
using insn::VectorUnaryArgs;
using testing::HasSubstr;

constexpr u32 kUbBytes = 64 * 1024;
constexpr u32 kA = 0, kB = 0x2000, kC = 0x4000;

// A core with nothing but UB, and short names for what the tests do with it.
class Vector : public testing::Test {
 protected:
  ExecContext context() { return {mem_, spr_, arch_, overflow_, status_, results_}; }
  const View& ub() { return mem_[BufId::UB]; }

  void put16(u32 address, usize lane, double x) { ub().store<u16>(address + 2 * lane, f16_bits(x)); }
  void fill16(u32 address, usize lanes, double x) {
    for (usize i = 0; i < lanes; ++i)
      put16(address, i, x);
  }
  void fill32(u32 address, usize lanes, float x) {
    for (usize i = 0; i < lanes; ++i)
      ub().store<float>(address + 4 * i, x);
  }
  double get16(u32 address, usize lane) { return f16_value(ub().load<u16>(address + 2 * lane)); }
  float get32(u32 address, usize lane) { return ub().load<float>(address + 4 * lane); }

  template <class I, class Args>
  void run(const Args& x) {
    ExecContext c = context();
    I::execute(x, c);
  }
  template <class I, class Args>
  Footprint footprint(const Args& x) {
    return I::footprint(x, spr_, arch_);
  }

  GlobalMemory gm_;
  CoreMem mem_{BufSizes{0, 0, 0, 0, 0, kUbBytes}, gm_};
  Spr spr_;
  Arch arch_ = Arch::c220;
  OverflowMode overflow_ = OverflowMode::inf_nan;
  u64 status_ = 0;
  ResultRegisters results_;
};

// Index of a type form, by its suffix.
template <class I>
u8 type_of(std::string_view suffix) {
  for (usize i = 0; i < I::types.size(); ++i) {
    if (I::types[i].name == suffix) return static_cast<u8>(i);
  }
  ADD_FAILURE() << I::name << " has no type " << suffix;
  return 0;
}

VectorBinaryArgs binary(u32 dst, u32 src0, u32 src1, u8 repeat, u8 type = 0) {
  return {.dst = dst,
          .src0 = src0,
          .src1 = src1,
          .repeat = repeat,
          .dstBlkStride = 1,
          .src0BlkStride = 1,
          .src1BlkStride = 1,
          .dstRepStride = 8,
          .src0RepStride = 8,
          .src1RepStride = 8,
          .type = type};
}
VectorUnaryArgs unary(u32 dst, u32 src, u8 repeat, u8 type = 0, u64 scalar = 0) {
  return {.scalar = scalar,
          .dst = dst,
          .src = src,
          .dstBlkStride = 1,
          .srcBlkStride = 1,
          .repeat = repeat,
          .dstRepStride = 8,
          .srcRepStride = 8,
          .type = type};
}

TEST_F(Vector, AddsWholeRepeats) {
  for (usize i = 0; i < 256; ++i) {
    put16(kA, i, static_cast<double>(i));
    put16(kB, i, 0.5);
  }
  run<insn::Vadd>(binary(kC, kA, kB, 2));
  for (usize i = 0; i < 256; ++i)
    ASSERT_EQ(get16(kC, i), static_cast<double>(i) + 0.5);
  EXPECT_EQ(get16(kC, 256), 0);
  EXPECT_EQ(status_, 0u);
}

TEST_F(Vector, EveryBinaryOperationOnEveryFloatType) {
  fill16(kA, 128, 6);
  fill16(kB, 128, -1.5);
  fill32(kA + 0x1000, 64, 6);
  fill32(kB + 0x1000, 64, -1.5);
  const auto check = [&]<class I>(I, float want) {
    run<I>(binary(kC, kA, kB, 1, type_of<I>("f16")));
    EXPECT_EQ(get16(kC, 127), want) << I::name;
    run<I>(binary(kC, kA + 0x1000, kB + 0x1000, 1, type_of<I>("f32")));
    EXPECT_EQ(get32(kC, 63), want) << I::name;
  };
  check(insn::Vadd{}, 4.5f);
  check(insn::Vsub{}, 7.5f);
  check(insn::Vmul{}, -9.0f);
  check(insn::Vdiv{}, -4.0f);
  check(insn::Vmax{}, 6.0f);
  check(insn::Vmin{}, -1.5f);
}

TEST_F(Vector, IntegerFormsAndTheSaturationBitOfCtrl) {
  for (usize i = 0; i < 64; ++i) {
    ub().store<i32>(kA + 4 * i, 0x7fffffff);
    ub().store<i32>(kB + 4 * i, 2);
  }
  run<insn::Vadd>(binary(kC, kA, kB, 1, type_of<insn::Vadd>("s32")));
  EXPECT_EQ(ub().load<i32>(kC), -0x7fffffff);
  EXPECT_EQ(status_, status::kFloatOverflow);
  spr_.ctrl = u64{1} << 53;
  run<insn::Vadd>(binary(kC, kA, kB, 1, type_of<insn::Vadd>("s32")));
  EXPECT_EQ(ub().load<i32>(kC), 0x7fffffff);
  run<insn::Vadds>(unary(kC, kB, 1, type_of<insn::Vadds>("s16"), static_cast<u64>(-3)));
  EXPECT_EQ(ub().load<i16>(kC), -1);
  EXPECT_EQ(ub().load<i16>(kC + 2), -3);
}

TEST_F(Vector, MaskSelectsLanesAndTheOthersKeepTheirValue) {
  fill16(kA, 128, 1);
  fill16(kC, 128, 9);
  spr_.vector_mask = {0x8000000000000005, 0x2};
  run<insn::Vadds>(unary(kC, kA, 1, 0, f16_bits(1)));
  for (usize i = 0; i < 128; ++i) {
    const bool active = i == 0 || i == 2 || i == 63 || i == 65;
    ASSERT_EQ(get16(kC, i), active ? 2 : 9) << i;
  }
}

TEST_F(Vector, ThirtyTwoBitTypesUseTheLowMask) {
  fill32(kA, 64, 1);
  fill32(kC, 64, 9);
  spr_.vector_mask = {u64{1} << 40, ~u64{0}};
  run<insn::Vadd>(binary(kC, kA, kA, 1, type_of<insn::Vadd>("f32")));
  for (usize i = 0; i < 64; ++i)
    ASSERT_EQ(get32(kC, i), i == 40 ? 2 : 9) << i;
}

TEST_F(Vector, InactiveLanesRaiseNothing) {
  fill16(kA, 128, 65504);
  fill16(kB, 128, 0);
  put16(kA, 3, 1);
  put16(kB, 3, 2);
  spr_.vector_mask = {u64{1} << 3, 0};
  run<insn::Vadd>(binary(kC, kA, kA, 1));
  run<insn::Vdiv>(binary(kC, kA, kB, 1));
  run<insn::Vmuls>(unary(kC, kA, 1, 0, f16_bits(65504)));
  run<insn::Vadds>(unary(kC, kA, 1, 0, f16_bits(65472)));
  run<insn::Vexp>(unary(kC, kB, 1));
  EXPECT_EQ(status_, 0u);
  spr_.vector_mask = {u64{1} << 4, 0};
  run<insn::Vadd>(binary(kC, kA, kA, 1));
  EXPECT_EQ(status_, status::kFloatOverflow);
}

TEST_F(Vector, NothingHappensWithoutRepeatsOrLanes) {
  fill16(kA, 128, 65504);
  run<insn::Vadd>(binary(kC, kA, kA, 0));
  EXPECT_EQ(footprint<insn::Vadd>(binary(kC, kA, kA, 0)).size(), 0u);
  EXPECT_EQ(insn::Vadd::work(binary(kC, kA, kA, 0), spr_).steps, 0u);
  EXPECT_EQ(insn::Vadd::work(binary(kC, kA, kA, 255), spr_).steps, 255u);
  spr_.vector_mask = {0, 0};
  run<insn::Vadd>(binary(kC, kA, kA, 3));
  EXPECT_EQ(footprint<insn::Vadd>(binary(kC, kA, kA, 3)).size(), 0u);
  EXPECT_EQ(get16(kC, 0), 0);
  EXPECT_EQ(status_, 0u);
}

TEST_F(Vector, StridesCountBlocksOf32Bytes) {
  for (usize i = 0; i < 16 * 64; ++i)
    put16(kA, i, static_cast<double>(i));
  VectorUnaryArgs x = unary(kC, kA, 2);
  x.srcBlkStride = 3;
  x.srcRepStride = 2;
  x.dstBlkStride = 2;
  x.dstRepStride = 20;
  run<insn::Vabs>(x);
  for (usize r = 0; r < 2; ++r) {
    for (usize i = 0; i < 128; ++i) {
      const usize from = r * 2 * 16 + i / 16 * 3 * 16 + i % 16;
      const usize to = r * 20 * 16 + i / 16 * 2 * 16 + i % 16;
      ASSERT_EQ(get16(kC, to), static_cast<double>(from)) << r << ' ' << i;
    }
  }
  EXPECT_EQ(get16(kC, 16), 0);  // the block between two destination blocks
}

TEST_F(Vector, DestinationBlockStrideZeroIsOneOnlyOnC100) {
  for (usize i = 0; i < 128; ++i)
    put16(kA, i, static_cast<double>(i));
  VectorUnaryArgs x = unary(kC, kA, 1);
  x.dstBlkStride = 0;
  run<insn::Vabs>(x);
  EXPECT_EQ(get16(kC, 0), 112);  // the last block has the last word
  EXPECT_EQ(get16(kC, 16), 0);
  arch_ = Arch::c100;
  run<insn::Vabs>(x);
  EXPECT_EQ(get16(kC, 0), 0);
  EXPECT_EQ(get16(kC, 127), 127);
  EXPECT_EQ(footprint<insn::Vabs>(x).begin()[1].len, 256u);
}

TEST_F(Vector, WorksInPlaceAndReadsARepeatBeforeItWrites) {
  for (usize i = 0; i < 256; ++i)
    put16(kA, i, static_cast<double>(i));
  run<insn::Vadd>(binary(kA, kA, kA, 2));
  for (usize i = 0; i < 256; ++i)
    ASSERT_EQ(get16(kA, i), 2.0 * static_cast<double>(i));
  // Moved up by one block: every lane comes from before the write.
  run<insn::Vabs>(unary(kA + 32, kA, 1));
  for (usize i = 0; i < 128; ++i)
    ASSERT_EQ(get16(kA, i + 16), 2.0 * static_cast<double>(i));
}

// dst = src1 with repeat stride 0 sums the repeats of src0.
TEST_F(Vector, AccumulateIdiom) {
  for (usize r = 0; r < 5; ++r) {
    for (usize i = 0; i < 128; ++i)
      put16(kA, r * 128 + i, static_cast<double>(r + 1));
  }
  fill16(kC, 128, 100);
  VectorBinaryArgs x = binary(kC, kA, kC, 5);
  x.dstRepStride = 0;
  x.src1RepStride = 0;
  run<insn::Vadd>(x);
  for (usize i = 0; i < 128; ++i)
    ASSERT_EQ(get16(kC, i), 115);
}

TEST_F(Vector, SaturationAndInfNan) {
  fill16(kA, 128, 12);
  put16(kA, 1, -HUGE_VAL);
  put16(kA, 2, std::nan(""));
  overflow_ = OverflowMode::saturation;
  run<insn::Vexp>(unary(kC, kA, 1));
  EXPECT_EQ(get16(kC, 0), 65504);
  EXPECT_EQ(get16(kC, 1), 0);
  EXPECT_EQ(ub().load<u16>(kC + 4), 0);
  EXPECT_EQ(status_, status::kFloatOverflow | status::kVectorNanInf);
  overflow_ = OverflowMode::inf_nan;
  run<insn::Vexp>(unary(kC, kA, 1));
  EXPECT_EQ(get16(kC, 0), HUGE_VAL);
  EXPECT_EQ(ub().load<u16>(kC + 4), kF16Nan);
  run<insn::Vrelu>(unary(kC, kA, 1));
  EXPECT_EQ(get16(kC, 0), 12);
  EXPECT_EQ(ub().load<u16>(kC + 2), 0);        // relu(-inf) = 0
  EXPECT_EQ(ub().load<u16>(kC + 4), kF16Nan);  // relu(NaN) = NaN
}

// The narrow side of a conversion has four full blocks.
TEST_F(Vector, ConversionsUseFourNarrowBlocks) {
  for (usize i = 0; i < 256; ++i)
    put16(kA, i, static_cast<double>(i) / 8);
  VectorUnaryArgs wide = unary(kB, kA, 2);
  wide.srcRepStride = 4;
  run<Widen>(wide);
  for (usize i = 0; i < 128; ++i)
    ASSERT_EQ(get32(kB, i), static_cast<float>(i) / 8);
  VectorUnaryArgs narrow = unary(kC, kB, 2);
  narrow.dstRepStride = 4;
  run<Narrow<insn::Rounding::none>>(narrow);
  for (usize i = 0; i < 128; ++i)
    ASSERT_EQ(get16(kC, i), static_cast<double>(i) / 8);
  EXPECT_EQ(get16(kC, 128), 0);

  const Footprint f = footprint<Narrow<insn::Rounding::none>>(narrow);
  ASSERT_EQ(f.size(), 2u);
  EXPECT_EQ(f.begin()[0].bytes(), 512u);
  EXPECT_EQ(f.begin()[1].bytes(), 256u);
  EXPECT_TRUE(f.begin()[1].write);

  narrow.repeat = 1;
  narrow.dstBlkStride = 2;
  spr_.vector_mask = {u64{1} << 17, 0};
  fill16(kC, 256, 7);
  run<Narrow<insn::Rounding::none>>(narrow);
  EXPECT_EQ(get16(kC, 2 * 16 + 1), 17.0 / 8);  // lane 17: second narrow block
  EXPECT_EQ(get16(kC, 2 * 16), 7);
  EXPECT_EQ(footprint<Narrow<insn::Rounding::none>>(narrow).begin()[1].address, kC + 64u);
}

TEST_F(Vector, ConversionSuffixesRound) {
  fill32(kA, 64, 0.5f + 0x1p-12f);
  const auto check = [&]<class I>(I, u16 want) {
    run<I>(unary(kC, kA, 1));
    EXPECT_EQ(ub().load<u16>(kC + 2 * 63), want) << I::name;
  };
  check(Narrow<insn::Rounding::none>{}, 0x3800);
  check(Narrow<insn::Rounding::r>{}, 0x3800);
  check(Narrow<insn::Rounding::a>{}, 0x3801);
  check(Narrow<insn::Rounding::f>{}, 0x3800);
  check(Narrow<insn::Rounding::c>{}, 0x3801);
  check(Narrow<insn::Rounding::z>{}, 0x3800);
  check(Narrow<insn::Rounding::o>{}, 0x3801);
}

TEST_F(Vector, DupCopiesBits) {
  overflow_ = OverflowMode::saturation;
  run<insn::VectorDup>(unary(kC, 0, 2, type_of<insn::VectorDup>("f16"), 0x7c01));
  EXPECT_EQ(ub().load<u16>(kC + 2 * 255), 0x7c01);
  EXPECT_EQ(status_, 0u);
  run<insn::VectorDup>(unary(kC, 0, 1, type_of<insn::VectorDup>("s16"), static_cast<u64>(-2)));
  EXPECT_EQ(ub().load<i16>(kC + 2 * 127), -2);
  run<insn::VectorDup>(unary(kC, 0, 1, type_of<insn::VectorDup>("u32"), 0xdeadbeef));
  EXPECT_EQ(ub().load<u32>(kC + 4 * 63), 0xdeadbeefu);
  EXPECT_EQ(footprint<insn::VectorDup>(unary(kC, 0, 2)).size(), 1u);
}

TEST_F(Vector, RefusesAScalarWiderThanItsLane) {
  const u64 f32_bits = std::bit_cast<u32>(1.5f);
  EXPECT_EQ(error_of([&] { run<insn::Vadds>(unary(kC, kA, 1, type_of<insn::Vadds>("f16"), f32_bits)); }),
            "program: scalar 0x3fc00000 does not fit a lane of type f16 (16 bits)");
  EXPECT_THAT(error_of([&] { run<insn::Vadds>(unary(kC, kA, 1, type_of<insn::Vadds>("s16"), ~u64{0} << 16)); }),
              HasSubstr("does not fit"));
}

TEST_F(Vector, NeverLeavesTheBuffer) {
  EXPECT_THAT(error_of([&] { run<insn::Vabs>(unary(kUbBytes - 256, kA, 2)); }), HasSubstr("outside"));
  EXPECT_THAT(error_of([&] { run<insn::Vabs>(unary(kC, kUbBytes - 224, 1)); }), HasSubstr("outside"));
  // A mask that ends earlier makes the same addresses legal.
  spr_.vector_mask = {~u64{0}, 0x0000ffffffffffff};
  EXPECT_EQ(error_of([&] { run<insn::Vabs>(unary(kC, kUbBytes - 224, 1)); }), "");
}

// vcopy counts the elements of each repeat, and a repeat is a row of blocks at the block stride. Source: published
// documentation of Copy.
TEST_F(Vector, CounterModeOfVcopyCountsElementsOfEachRepeat) {
  spr_.ctrl = ctrl::kCounterMode;
  spr_.vector_mask = {150, 0};  // 10 blocks, 6 elements in the last
  for (u32 i = 0; i < 2048; ++i)
    fill16(kA + 2 * i, 1, static_cast<double>(i));
  fill16(kC, 512, -1);
  VectorUnaryArgs x = unary(kC, kA, 2, type_of<insn::Vcopy>("f16"));
  x.srcBlkStride = 4;
  x.srcRepStride = 3;
  x.dstRepStride = 12;
  EXPECT_EQ(insn::Vcopy::work(x, spr_).steps, 4u);
  run<insn::Vcopy>(x);
  for (u32 i = 0; i < 2 * 192; ++i) {
    const u32 repeat = i / 192, element = i % 192;
    const u32 source = element / 16 * 64 + element % 16 + repeat * 48;
    const double want = element < 150 ? static_cast<double>(source) : -1;
    ASSERT_EQ(get16(kC, i), want) << i;
  }
  const Footprint f = footprint<insn::Vcopy>(x);
  ASSERT_EQ(f.size(), 2u);
  EXPECT_EQ(f.begin()[0].bytes(), 2u * 10 * 32);
  EXPECT_EQ(f.begin()[1].bytes(), 2u * 10 * 32);
  x.repeat = 0;
  EXPECT_EQ(footprint<insn::Vcopy>(x).size(), 0u);
  EXPECT_EQ(insn::Vcopy::work(x, spr_).steps, 0u);
}

// 300 elements: two repeats of 128 lanes and 44 lanes of a third, whatever `repeat` says.
TEST_F(Vector, CounterModeCountsElements) {
  spr_.ctrl = ctrl::kCounterMode;
  spr_.vector_mask = {300, ~u64{0}};
  fill16(kA, 2048, 2);
  fill16(kB, 512, 3);
  fill16(kC, 512, -1);
  for (const u8 repeat : {u8{0}, u8{1}, u8{200}}) {
    const VectorBinaryArgs x = binary(kC, kA, kB, repeat);
    EXPECT_EQ(insn::Vadd::work(x, spr_).steps, 3u);
    run<insn::Vadd>(x);
    for (usize i = 0; i < 512; ++i)
      ASSERT_EQ(get16(kC, i), i < 300 ? 5 : -1) << i;
    fill16(kC, 512, -1);
    const Footprint f = footprint<insn::Vadd>(x);  // 600 bytes, in whole blocks
    ASSERT_EQ(f.size(), 3u);
    for (const Access& a : f)
      EXPECT_EQ(a.bytes(), 608u);
  }

  // Apart, the last repeat is an access of its own.
  VectorUnaryArgs apart = unary(kC, kA, 1);
  apart.dstRepStride = 9;
  apart.srcBlkStride = 2;
  apart.srcRepStride = 20;
  run<insn::Vabs>(apart);
  for (usize i = 0; i < 3 * 144; ++i)
    ASSERT_EQ(get16(kC, i), i % 144 < (i / 144 < 2 ? 128 : 44) ? 2 : -1) << i;
  const Footprint f = footprint<insn::Vabs>(apart);
  ASSERT_EQ(f.size(), 4u);
  EXPECT_EQ(f.begin()[1].address, kA + 2u * 640);
  EXPECT_EQ(f.begin()[1].bytes(), 3u * 32);
  EXPECT_EQ(f.begin()[3].address, kC + 2u * 288);

  spr_.vector_mask = {0, 0};
  EXPECT_EQ(insn::Vadd::work(binary(kC, kA, kB, 9), spr_).steps, 0u);
  EXPECT_EQ(footprint<insn::Vadd>(binary(kC, kA, kB, 9)).size(), 0u);
  arch_ = Arch::c100;
  EXPECT_THAT(error_of([&] { footprint<insn::Vabs>(unary(kC, kA, 1)); }), HasSubstr("c100 has no counter mode"));
}

TEST_F(Vector, FootprintMergesWhatIsContiguous) {
  const Footprint whole = footprint<insn::Vadd>(binary(kC, kA, kB, 7));
  ASSERT_EQ(whole.size(), 3u);
  for (const Access& a : whole) {
    EXPECT_EQ(a.pieces(), 1u);
    EXPECT_EQ(a.len, 7u * 256);
    EXPECT_EQ(a.align, 32);
  }
  EXPECT_EQ(whole.begin()[0].operand, "src0");
  EXPECT_EQ(whole.begin()[1].operand, "src1");
  EXPECT_EQ(whole.begin()[2].operand, "dst");
  EXPECT_TRUE(whole.begin()[2].write);

  VectorBinaryArgs x = binary(kC, kA, kB, 7);
  x.src0RepStride = 0;
  x.src1BlkStride = 4;
  x.src1RepStride = 40;
  x.dstRepStride = 16;
  spr_.vector_mask = {u64{1} << 20, u64{1} << 10};  // lanes 20 and 74: blocks 1 to 4
  const Footprint f = footprint<insn::Vadd>(x);
  const Access& src0 = f.begin()[0];
  EXPECT_EQ(src0.address, kA + 32u);
  EXPECT_EQ(src0.len, 128u);
  EXPECT_EQ(src0.pieces(), 1u);
  const Access& src1 = f.begin()[1];
  EXPECT_EQ(src1.address, kB + 128u);
  EXPECT_EQ(src1.len, 32u);
  EXPECT_EQ(src1.count, (std::array<u32, 3>{4, 7, 1}));
  EXPECT_EQ(src1.stride, (std::array<i64, 3>{128, 1280, 0}));
  const Access& dst = f.begin()[2];
  EXPECT_EQ(dst.address, kC + 32u);
  EXPECT_EQ(dst.len, 128u);
  EXPECT_EQ(dst.count, (std::array<u32, 3>{1, 7, 1}));
  EXPECT_EQ(dst.stride[1], 512);
}

// The bytes that an instruction touches are exactly those of its footprint: bytes outside may change without
// effect on the result, and keep their values.
TEST_F(Vector, TouchesOnlyItsFootprint) {
  VectorBinaryArgs x = binary(kC, kA, kB, 3);
  x.src0BlkStride = 2;
  x.src0RepStride = 17;
  x.dstBlkStride = 3;
  x.dstRepStride = 25;
  spr_.vector_mask = {0xffff0000fffffff0, 0x00000000000000ff};
  std::vector<bool> written(kUbBytes), read(kUbBytes);
  for (const Access& a : footprint<insn::Vmul>(x)) {
    for (u32 j = 0; j < a.count[1]; ++j) {
      for (u32 i = 0; i < a.count[0]; ++i) {
        const u64 at = a.address + static_cast<u64>(a.stride[0]) * i + static_cast<u64>(a.stride[1]) * j;
        for (u64 b = at; b < at + a.len; ++b)
          (a.write ? written : read)[b] = true;
      }
    }
  }
  std::vector<std::vector<u8>> after;
  for (const u8 outside : {u8{0x11}, u8{0x2a}}) {
    for (u32 i = 0; i < kUbBytes; ++i)
      ub().store<u8>(i, read[i] ? static_cast<u8>(i % 50) : outside);
    run<insn::Vmul>(x);
    auto& bytes = after.emplace_back();
    for (u32 i = 0; i < kUbBytes; ++i) {
      bytes.push_back(ub().load<u8>(i));
      if (!written[i]) {
        ASSERT_EQ(bytes.back(), read[i] ? i % 50 : outside) << i;
      }
    }
  }
  u32 changed = 0;
  for (u32 i = 0; i < kUbBytes; ++i) {
    if (!written[i]) continue;
    if (after[0][i] == 0x11 && after[1][i] == 0x2a) continue;  // an inactive lane of a block that is touched
    ASSERT_EQ(after[0][i], after[1][i]) << i;
    ++changed;
  }
  EXPECT_EQ(changed, 3u * 2 * (28 + 16 + 8));
}

TEST(VectorTable, TypesFollowTheArchitecture) {
  const auto has = [](std::string_view mnemonic, std::string_view type, Arch arch) {
    const Row* row = row_of(mnemonic);
    if (row == nullptr || !contains(row->archs, arch)) return false;
    if (type.empty()) return row->types.empty();
    for (const TypeForm& t : row->types) {
      if (t.name == type) return contains(t.archs, arch);
    }
    return false;
  };
  EXPECT_TRUE(has("vadd", "s32", Arch::c100));
  EXPECT_FALSE(has("vadd", "s16", Arch::c100));
  EXPECT_TRUE(has("vadd", "s16", Arch::c220));
  EXPECT_FALSE(has("vexp", "f32", Arch::m100));
  EXPECT_TRUE(has("vexp", "f32", Arch::c100));
  EXPECT_FALSE(has("vrelu", "f32", Arch::c100));
  EXPECT_TRUE(has("vrelu", "s32", Arch::m200));
  EXPECT_FALSE(has("vmaxs", "f16", Arch::c100));
  EXPECT_TRUE(has("vmins", "s16", Arch::m200));
  EXPECT_TRUE(has("vconv_f322f16o", "", Arch::m100));
  EXPECT_FALSE(has("vconv_f322f16r", "", Arch::m200));
  EXPECT_TRUE(has("vconv_f322f16z", "", Arch::c220));
  EXPECT_FALSE(has("vdiv", "s32", Arch::c220));
  EXPECT_EQ(row_of("vadd")->pipe(ArgsStorage{}, Arch::c220), PipeId::V);
  EXPECT_EQ(row_of("vconv_f162f32")->cost, "vector.convert"_cost);
}

}  // namespace
}  // namespace vinci::isa
