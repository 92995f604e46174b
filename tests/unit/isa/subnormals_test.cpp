// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// numerics: subnormals = flushed: subnormal results of vexp are zeros, which count as flushed.
#include <vector>

#include "isa/census/census.h"
#include "isa/insns/vector_arith.h"
#include "isa/numeric/float16.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

constexpr u32 kOut = 0x4000;

struct Exponentials {
  std::vector<u32> bits;
  u64 status = 0;
  u64 subnormal = 0, flushed = 0;
};

// Of -20 to 4 in f16, of -110 to 10 in f32: two repeats.
Exponentials exponentials(u8 type, SubnormalResults option, u64 mask, bool census) {
  TestCore core;
  const bool half = type == 0;
  const u32 lanes = half ? 128 : 64, bytes = half ? 2 : 4;
  for (u32 i = 0; i < 2 * lanes; ++i) {
    const float x = half ? -20 + 24.0f * static_cast<float>(i) / 256 : -110 + 120.0f * static_cast<float>(i) / 128;
    if (half) {
      core.mem[BufId::UB].store<u16>(2 * i, f16_bits(x));
    } else {
      core.mem[BufId::UB].store<float>(4 * i, x);
    }
  }
  TaskCensus counted;
  CensusPoint point(counted, {0, 0}, {}, "core0.AIV");
  core.spr.vector_mask = {mask, mask};
  core.context.numerics.subnormals = option;
  if (census) core.context.census = &point;
  insn::VectorUnaryArgs args{};
  args.dst = kOut;
  args.repeat = 2;
  args.dstBlkStride = args.srcBlkStride = 1;
  args.dstRepStride = args.srcRepStride = 8;
  args.type = type;
  core.run<insn::Vexp>(args);
  Exponentials out;
  out.status = core.status;
  for (u32 i = 0; i < 2 * lanes; ++i) {
    const u64 at = kOut + u64{i} * bytes;
    out.bits.push_back(half ? core.mem[BufId::UB].load<u16>(at) : core.mem[BufId::UB].load<u32>(at));
  }
  if (const auto site = counted.sites.find({0, 0}); site != counted.sites.end()) {
    out.subnormal = site->second.count(NumericEvent::subnormal);
    out.flushed = site->second.count(NumericEvent::flushed);
  }
  return out;
}

TEST(Subnormals, ExponentialsKeepThemOrAreZero) {
  for (const u8 type : {0, 1}) {
    for (const u64 mask : {~u64{0}, u64{0x5555555555555555}}) {
      const auto kept = exponentials(type, SubnormalResults::kept, mask, true);
      const auto flushed = exponentials(type, SubnormalResults::flushed, mask, true);
      const u32 normal = type == 0 ? 0x400 : 0x800000;
      u64 subnormals = 0;
      for (usize i = 0; i < kept.bits.size(); ++i) {
        const bool is_subnormal = kept.bits[i] != 0 && kept.bits[i] < normal;
        subnormals += is_subnormal ? 1 : 0;
        ASSERT_EQ(flushed.bits[i], is_subnormal ? 0 : kept.bits[i]) << i;
      }
      EXPECT_GT(subnormals, 2u);
      EXPECT_EQ(kept.subnormal, subnormals);
      EXPECT_EQ(flushed.subnormal, 0u);
      EXPECT_EQ(flushed.flushed, kept.flushed + subnormals);
      EXPECT_EQ(flushed.status, status::kFloatUnderflow);
      EXPECT_EQ(exponentials(type, SubnormalResults::flushed, mask, false).bits, flushed.bits);
    }
  }
}

}  // namespace
}  // namespace vinci::isa
