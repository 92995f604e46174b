// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// numerics: multiply_add = twice: fused forms give the bits and the events of a product and a sum.
#include <gtest/gtest.h>

#include <random>

#include "isa/census/census.h"
#include "isa/insns/vector_arith.h"
#include "isa/numeric/convert.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

constexpr u32 kUbBytes = 64 * 1024;
constexpr u32 kX = 0, kY = 0x2000, kZ = 0x4000, kProduct = 0x6000, kSum = 0x8000;
constexpr u32 kRepeats = 4, kBytes = kRepeats * kRepeatBytes;

struct Case {
  std::string_view what;
  u8 type;  // of the forms: f16, f32
  OverflowMode overflow;
};

class Core {
 public:
  explicit Core(const Case& test, u64 mask) : case_(test) { spr_.vector_mask = {mask, mask}; }

  void fill(u32 address, std::mt19937_64& random) {
    for (u32 i = 0; i < kBytes; i += 4)
      mem_[BufId::UB].store<u32>(address + i, case_.type == 0 ? bits16(random) : bits32(random));
  }
  template <class I, class Args>
  void run(const Args& args, MultiplyAdd multiply_add) {
    CensusPoint point(census_, {0, pc_++}, {}, "core0.AIV");
    ExecContext c{.mem = mem_, .spr = spr_, .overflow = case_.overflow, .status = status_, .results = results_};
    c.numerics.multiply_add = multiply_add;
    c.census = &point;
    I::execute(args, c);
  }
  std::vector<u32> words(u32 address) {
    std::vector<u32> out;
    for (u32 i = 0; i < kBytes; i += 4)
      out.push_back(mem_[BufId::UB].load<u32>(address + i));
    return out;
  }
  void copy(u32 to, u32 from) {
    for (u32 i = 0; i < kBytes; i += 4)
      mem_[BufId::UB].store<u32>(to + i, mem_[BufId::UB].load<u32>(from + i));
  }
  u64 status() const { return status_; }
  u64 count(u32 pc, NumericEvent e) {
    const auto site = census_.sites.find({0, pc});
    return site == census_.sites.end() ? 0 : site->second.count(e);
  }

 private:
  // Values about 1, and now and then the largest, the smallest, an infinity or NaN.
  static u32 one16(std::mt19937_64& random) {
    constexpr std::array<u32, 8> kRare{0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0x0400, 0x8000};
    const u64 r = random();
    if (r % 16 == 0) return kRare[r / 16 % kRare.size()];
    return static_cast<u32>((r >> 8 & 0x83ff) | (10 + (r >> 40) % 12) << 10);
  }
  static u32 bits16(std::mt19937_64& random) { return one16(random) | one16(random) << 16; }
  static u32 bits32(std::mt19937_64& random) {
    constexpr std::array<u32, 8> kRare{0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                       0x7fc00000, 1,          0x00800000, 0x80000000};
    const u64 r = random();
    if (r % 16 == 0) return kRare[r / 16 % kRare.size()];
    return static_cast<u32>((r >> 8 & 0x807fffff) | (120 + (r >> 40) % 14) << 23);
  }

  const Case case_;
  GlobalMemory gm_;
  CoreMem mem_{BufSizes{0, 0, 0, 0, 0, kUbBytes}, gm_};
  Spr spr_;
  u64 status_ = 0;
  ResultRegisters results_;
  TaskCensus census_;
  u32 pc_ = 0;
};

insn::VectorBinaryArgs binary(u32 dst, u32 src0, u32 src1, u8 type) {
  return {.dst = dst,
          .src0 = src0,
          .src1 = src1,
          .repeat = kRepeats,
          .dstBlkStride = 1,
          .src0BlkStride = 1,
          .src1BlkStride = 1,
          .dstRepStride = 8,
          .src0RepStride = 8,
          .src1RepStride = 8,
          .type = type};
}

// Runs the form on one core, and the product and the sum on another.
void compare(const Case& test, u64 mask, u64 seed) {
  std::mt19937_64 random(seed);
  Core fused(test, mask), apart(test, mask);
  for (const u32 place : {kX, kY, kZ}) {
    std::mt19937_64 same = random;
    fused.fill(place, random);
    apart.fill(place, same);
  }
  const auto type_of = [&](const auto& types) {
    for (u8 i = 0; i < types.size(); ++i)
      if (types[i].name == (test.type == 0 ? "f16" : "f32")) return i;
    ADD_FAILURE() << test.what;
    return u8{0};
  };
  u32 result = kZ;
  // Lanes that are masked off keep what the destination of the fused form holds.
  const auto product_and_sum = [&](u32 x, u32 y, u32 z, u32 kept, bool relu) {
    apart.copy(kSum, kept);
    apart.run<insn::Vmul>(binary(kProduct, x, y, type_of(insn::Vmul::types)), MultiplyAdd::once);
    if (relu) {
      apart.run<insn::Vaddrelu>(binary(kSum, kProduct, z, type_of(insn::Vaddrelu::types)), MultiplyAdd::once);
    } else {
      apart.run<insn::Vadd>(binary(kSum, kProduct, z, type_of(insn::Vadd::types)), MultiplyAdd::once);
    }
  };
  if (test.what == "vmla") {
    fused.run<insn::Vmla>(binary(kZ, kX, kY, type_of(insn::Vmla::types)), MultiplyAdd::twice);
    product_and_sum(kX, kY, kZ, kZ, false);
  } else {
    result = kX;
    const bool relu = test.what == "vmaddrelu";
    if (relu) {
      fused.run<insn::Vmaddrelu>(binary(kX, kY, kZ, type_of(insn::Vmaddrelu::types)), MultiplyAdd::twice);
    } else {
      fused.run<insn::Vmadd>(binary(kX, kY, kZ, type_of(insn::Vmadd::types)), MultiplyAdd::twice);
    }
    product_and_sum(kX, kY, kZ, kX, relu);
  }
  EXPECT_EQ(fused.words(result), apart.words(kSum)) << test.what;
  // A lane may have an event in both.
  for (const NumericEvent e :
       {NumericEvent::overflow, NumericEvent::nan, NumericEvent::flushed, NumericEvent::absorbed}) {
    const u64 product = apart.count(0, e), sum = apart.count(1, e), both = fused.count(0, e);
    EXPECT_GE(both, std::max(product, sum)) << test.what << ' ' << static_cast<int>(e);
    EXPECT_LE(both, product + sum) << test.what << ' ' << static_cast<int>(e);
  }
  EXPECT_GT(fused.count(0, NumericEvent::overflow), 0u) << test.what;
}

TEST(MultiplyAdd, TwiceIsAProductAndASum) {
  u64 seed = 1;
  for (const std::string_view what : {"vmla", "vmadd", "vmaddrelu"})
    for (const u8 type : {u8{0}, u8{1}})
      for (const OverflowMode overflow : {OverflowMode::saturation, OverflowMode::inf_nan})
        for (const u64 mask : {~u64{0}, u64{0x0f0f'5555'3333'ffff}})
          compare({what, type, overflow}, mask, seed++);
}

// d31c * e100 + 953b is 7871 where the exact sum is rounded, 7872 by way of a product in f32.
TEST(MultiplyAdd, OnceRoundsTheExactSum) {
  const auto result = [](MultiplyAdd multiply_add, u16 x, u16 y, u16 z) {
    GlobalMemory gm;
    CoreMem mem(BufSizes{0, 0, 0, 0, 0, kUbBytes}, gm);
    Spr spr;
    u64 status = 0;
    ResultRegisters results;
    for (u32 i = 0; i < kBytes; i += 2) {
      mem[BufId::UB].store<u16>(kX + i, x);
      mem[BufId::UB].store<u16>(kY + i, y);
      mem[BufId::UB].store<u16>(kZ + i, z);
    }
    ExecContext c{.mem = mem, .spr = spr, .status = status, .results = results};
    c.numerics.multiply_add = multiply_add;
    insn::Vmla::execute(binary(kZ, kX, kY, 0), c);
    EXPECT_EQ(status, 0u);
    return mem[BufId::UB].load<u16>(kZ);
  };
  EXPECT_EQ(result(MultiplyAdd::once, 0xd31c, 0xe100, 0x953b), 0x7871);
  // 1.0009765625 squared is 1.001953125 + 2^-20, of which the sum keeps the last part alone.
  EXPECT_EQ(result(MultiplyAdd::once, 0x3c01, 0x3c01, 0xbc02), f32_to_f16(0x35800000));
  EXPECT_EQ(result(MultiplyAdd::twice, 0x3c01, 0x3c01, 0xbc02), 0);
}

}  // namespace
}  // namespace vinci::isa
