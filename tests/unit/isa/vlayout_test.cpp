// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vlayout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "isa/sem/va_blocks.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

// A core whose UB holds random bytes, and a copy of them that a test changes by hand.
class Layout : public testing::Test {
 protected:
  static constexpr u32 kUbBytes = 64 << 10;

  explicit Layout(Arch arch = Arch::c220) : core_(arch) { randomise(); }
  void randomise() {
    for (u32 i = 0; i < kUbBytes; i += 4)
      ub().store<u32>(i, static_cast<u32>(random_()));
    remember();
  }
  void remember() { want_.assign(ub().bytes(0, kUbBytes).begin(), ub().bytes(0, kUbBytes).end()); }
  const View& ub() { return core_.mem[BufId::UB]; }
  // want[to] = bytes that UB had at `from` before.
  void expect(u64 to, u64 from, u64 bytes) {
    for (u64 i = 0; i < bytes; ++i)
      want_.at(to + i) = before_.at(from + i);
  }
  template <class I>
  void run(const typename I::Args& x) {
    core_.run<I>(x);
  }
  void compare(const std::string& what = "") {
    const auto now = ub().bytes(0, kUbBytes);
    for (u32 i = 0; i < kUbBytes; ++i)
      ASSERT_EQ(static_cast<int>(now[i]), static_cast<int>(want_[i])) << what << " byte " << i;
    before_ = want_;
  }
  void set_va(u8 index, const std::array<u32, 8>& addresses) {
    for (usize i = 0; i < 8; ++i)
      core_.spr.parameters.write().va[index][i] = static_cast<u16>(addresses[i] / 32);
  }
  void count_mode(u32 elements) {
    core_.spr.ctrl |= ctrl::kCounterMode;
    core_.spr.vector_mask = {elements, 0};
  }
  // Offsets of elements of `bytes`, as byte offsets below `limit`, at `address`.
  std::vector<u32> put_offsets(u32 address, u32 count, u32 bytes, u32 limit) {
    std::vector<u32> offsets(count);
    for (u32 i = 0; i < count; ++i) {
      offsets[i] = static_cast<u32>(random_() % (limit / bytes)) * bytes;
      ub().store<u32>(address + 4 * i, offsets[i]);
    }
    remember();
    before_ = want_;
    return offsets;
  }

  TestCore core_;
  std::mt19937 random_{5};
  std::vector<std::byte> want_, before_;
};

// The index of a type form by its name.
template <class I>
u8 type_of(std::string_view suffix) {
  for (usize i = 0; i < I::types.size(); ++i) {
    if (I::types[i].name == suffix) return static_cast<u8>(i);
  }
  ADD_FAILURE() << suffix;
  return 0;
}

TEST_F(Layout, TransposeOf16x16AlsoInPlace) {
  before_ = want_;
  for (const u32 dst : {0x2000u, 0x1000u}) {
    run<insn::Vtranspose>({.dst = dst, .src = 0x1000});
    for (u32 i = 0; i < 16; ++i) {
      for (u32 j = 0; j < 16; ++j)
        expect(dst + (j * 16 + i) * 2, 0x1000 + (i * 16 + j) * 2, 2);
    }
    compare();
  }
}

TEST_F(Layout, ImagesBetweenPlanesAndPixels) {
  before_ = want_;
  using I = insn::V4dtrans;
  for (const auto& [type, bytes] : {std::pair{"u8", 1u}, {"f16", 2u}, {"s32", 4u}}) {
    for (const u8 mode : {u8{0}, u8{1}}) {
      constexpr u32 kSrc = 0x4000, kDst = 0x8000, kPixels = 96, kChannels = 5;
      run<I>({.dst = kDst,
              .src = kSrc,
              .imageSize = kPixels,
              .nChannel = kChannels,
              .mode = mode,
              .type = type_of<I>(type)});
      for (u32 ch = 0; ch < kChannels; ++ch) {
        for (u32 p = 0; p < kPixels; ++p) {
          const u32 planes = (ch * kPixels + p) * bytes, pixels = (p * kChannels + ch) * bytes;
          expect(kDst + (mode == 0 ? pixels : planes), kSrc + (mode == 0 ? planes : pixels), bytes);
        }
      }
      compare(type);
    }
  }
}

// scatter_vnchwconv with addresses in any order; the formulas are those of the published reference.
class Vnchwconv : public Layout {
 protected:
  std::array<u32, 16> src_{}, dst_{};
  void SetUp() override {
    before_ = want_;
    for (u32 i = 0; i < 16; ++i) {
      src_[i] = 0x1000 + (i * 7 % 16) * 0x200;
      dst_[i] = 0x8000 + (15 - i) * 0x300;
    }
    for (u8 half = 0; half < 2; ++half) {
      std::array<u32, 8> s{}, d{};
      std::copy_n(src_.begin() + 8 * half, 8, s.begin());
      std::copy_n(dst_.begin() + 8 * half, 8, d.begin());
      set_va(static_cast<u8>(2 + half), s);
      set_va(static_cast<u8>(6 + half), d);
    }
    core_.spr.vector_mask = {0, 0};  // is ignored
  }
  // Offset of repeat r in bytes: a single repeat starts one stride on.
  static u32 offset(u8 repeat, u32 r, u32 stride) { return (repeat == 1 ? 1 : r) * stride * 32; }
};

TEST_F(Vnchwconv, B16) {
  for (const u8 repeat : {u8{0}, u8{1}, u8{3}}) {
    run<insn::ScatterVnchwconvB16>({.dstStride = 5, .srcStride = 2, .dst = 6, .src = 2, .repeat = repeat});
    for (u32 r = 0; r < repeat; ++r) {
      for (u32 e = 0; e < 16; ++e) {
        for (u32 k = 0; k < 16; ++k)
          expect(dst_[e] + offset(repeat, r, 5) + 2 * k, src_[k] + offset(repeat, r, 2) + 2 * e, 2);
      }
    }
    compare();
  }
}

TEST_F(Vnchwconv, B32) {
  run<insn::ScatterVnchwconvB32>({.dstStride = 1, .srcStride = 8, .dst = 6, .src = 2, .repeat = 2});
  for (u32 r = 0; r < 2; ++r) {
    for (u32 e = 0; e < 16; e += 2) {
      for (u32 k = 0; k < 8; ++k) {
        expect(dst_[e] + r * 32 + 4 * k, src_[k] + r * 256 + 4 * (e / 2), 4);
        expect(dst_[e + 1] + r * 32 + 4 * k, src_[k + 8] + r * 256 + 4 * (e / 2), 4);
      }
    }
  }
  compare();
}

TEST_F(Vnchwconv, B8InHalvesOfBlocks) {
  for (const u8 dst_half : {u8{0}, u8{1}}) {
    for (const u8 src_half : {u8{0}, u8{1}}) {
      run<insn::ScatterVnchwconvB8>({.dstStride = 0,
                                     .srcStride = 0,
                                     .dst = 6,
                                     .src = 2,
                                     .repeat = 1,
                                     .dstHighHalf = dst_half,
                                     .srcHighHalf = src_half});
      for (u32 e = 0; e < 16; ++e) {
        for (u32 k = 0; k < 16; ++k)
          expect(dst_[e] + k + 16 * dst_half, src_[k] + e + 16 * src_half, 1);
      }
      compare();
    }
  }
}

TEST_F(Vnchwconv, FootprintCoversTheBlocks) {
  const auto covered = [](const Footprint& f, bool write) {
    u64 bytes = 0;
    for (const Access& a : f)
      bytes += a.write == write ? a.bytes() : 0;
    return bytes;
  };
  insn::VnchwconvArgs x{.dstStride = 1, .srcStride = 1, .dst = 6, .src = 2, .repeat = 2};
  EXPECT_EQ(covered(insn::vnchwconv_footprint(x, core_.spr), false), 16u * 32 * 2);  // regular, though shuffled
  EXPECT_EQ(covered(insn::vnchwconv_footprint(x, core_.spr), true), 16u * 32 * 2);
  set_va(2, {0, 32, 0x100, 0x140, 0x500, 0x520, 0x900, 0x940});  // six regular sets with the eight of VA3
  set_va(3, {0x2000, 0x2020, 0x2040, 0x2060, 0x2080, 0x20a0, 0x20c0, 0x2e00});
  // Four ranges: from 0, 0x900, 0x2000 and 0x2e00 on.
  EXPECT_EQ(covered(insn::vnchwconv_footprint(x, core_.spr), false), 2u * (0x540 + 0x60 + 0xe0 + 0x20));
  x.src = 7;
  EXPECT_THAT(error_of([&] { insn::vnchwconv_footprint(x, core_.spr); }), HasSubstr("VA7: 2 registers"));
}

TEST_F(Layout, MergeOfChannelsKeepsFourElementsOfEachBlock) {
  before_ = want_;
  using I = insn::Vmergech;
  for (const auto& [type, bytes] : {std::pair{"f16", 2u}, {"u8", 1u}}) {
    run<I>({.dst = 0x4000, .src = 0x1000, .repeat = 9, .type = type_of<I>(type)});
    for (u32 r = 0; r < 9; ++r)
      expect(0x4000 + r * 4 * bytes, 0x1000 + r * 32, 4 * bytes);
    compare(type);
  }
}

class Padding : public Layout {
 protected:
  Padding() : Layout(Arch::m200) { before_ = want_; }
};

TEST_F(Padding, RepeatsTheEdgeOrMirrorsTheBlock) {
  using I = insn::Vpadding;
  constexpr u32 kSrc = 0x1000, kDst = 0x8000;
  for (const auto& [type, n] : {std::pair{"f16", 16}, {"u32", 8}}) {
    const u32 bytes = 32 / static_cast<u32>(n);
    for (u8 mode = 0; mode < 3; ++mode) {
      for (u8 side = 0; side < 2; ++side) {
        run<I>({.dst = kDst,
                .src = kSrc,
                .dstBlkStride = 2,
                .srcBlkStride = 1,
                .repeat = 2,
                .dstRepStride = 16,
                .srcRepStride = 8,
                .padMode = mode,
                .padSide = side,
                .type = type_of<I>(type)});
        for (u32 block = 0; block < 16; ++block) {
          for (int i = 0; i < n; ++i) {
            // Position of the padding element outside of the block, and of the element inside that it shows.
            const int outside = side == 0 ? i - n : n + i;
            const int edge = side == 0 ? 0 : n - 1;
            const int inside = mode == 0 ? edge : 2 * edge - outside + (mode == 2 ? 0 : side == 0 ? -1 : 1);
            const u32 to = kDst + block * 64 + static_cast<u32>(i) * bytes;
            if (inside >= 0 && inside < n) {
              expect(to, kSrc + block * 32 + static_cast<u32>(inside) * bytes, bytes);
            } else {
              for (u32 b = 0; b < bytes; ++b)
                want_[to + b] = std::byte{0};
            }
          }
        }
        compare(std::string(type) + std::to_string(mode) + std::to_string(side));
      }
    }
  }
}

TEST_F(Padding, MaskChoosesWhatIsWrittenNotWhatIsRead) {
  count_mode(131);  // of f16: a repeat and three elements
  run<insn::Vpadding>({.dst = 0x8000,
                       .src = 0x1000,
                       .dstBlkStride = 1,
                       .srcBlkStride = 1,
                       .repeat = 1,
                       .dstRepStride = 8,
                       .srcRepStride = 8,
                       .padMode = 0,
                       .padSide = 1,
                       .type = type_of<insn::Vpadding>("f16")});
  for (u32 i = 0; i < 131; ++i)
    expect(0x8000 + 2 * i, 0x1000 + i / 16 * 32 + 30, 2);
  compare();
  const auto error = [&](insn::PaddingArgs x) {
    return error_of([&] { insn::padding_footprint(x, LaneType::f16, core_.spr, Arch::m200); });
  };
  EXPECT_THAT(error({.padMode = 3}), HasSubstr("padMode = 3"));
  EXPECT_THAT(error({.strideSizeMode = 1}), HasSubstr("not public"));
}

struct GatherCase {
  Arch arch;
  const char* type;
  u32 bytes;
};
class Gather : public Layout, public testing::WithParamInterface<GatherCase> {
 protected:
  Gather() : Layout(GetParam().arch) {}
  u32 lanes() const { return 256 / GetParam().bytes; }
  static constexpr u32 kOffsets = 0x2000, kTable = 0x6000, kTableBytes = 0x2000, kOther = 0xa000;
};

TEST_P(Gather, GathersActiveElements) {
  using I = insn::Vgather;
  const u32 bytes = GetParam().bytes;
  const u8 type = type_of<I>(GetParam().type);
  const auto offsets = put_offsets(kOffsets, 3 * lanes(), bytes, kTableBytes);
  for (const bool masked : {false, true}) {
    core_.spr.vector_mask = masked ? LaneBits{0x8000'0000'0001'00f0, 0x11} : LaneBits{~u64{0}, ~u64{0}};
    run<I>({.dst = kOther, .src = kOffsets, .base = kTable, .dstRepStride = 9, .repeat = 3, .type = type});
    for (u32 i = 0; i < offsets.size(); ++i) {
      const u32 lane = i % lanes();
      if ((core_.spr.vector_mask[lane / 64] >> (lane % 64) & 1) == 0) continue;
      expect(kOther + i / lanes() * 9 * 32 + lane * bytes, kTable + offsets[i], bytes);
    }
    compare();
  }
  count_mode(lanes() + 5);
  run<I>({.dst = kOther, .src = kOffsets, .base = kTable + bytes, .dstRepStride = 8, .repeat = 0, .type = type});
  for (u32 i = 0; i < lanes() + 5; ++i)
    expect(kOther + i * bytes, kTable + bytes + offsets[i], bytes);
  compare();
}

TEST_P(Gather, ComputedAddressesAreChecked) {
  using I = insn::Vgather;
  const u8 type = type_of<I>(GetParam().type);
  put_offsets(kOffsets, lanes(), GetParam().bytes, kTableBytes);
  ub().store<u32>(kOffsets + 4 * 5, kUbBytes);
  const insn::GatherArgs x{.dst = kOther, .src = kOffsets, .base = 0, .dstRepStride = 8, .repeat = 1, .type = type};
  EXPECT_THAT(error_of([&] { run<I>(x); }),
              HasSubstr("the ub address out of bounds: gathered element 5 is at 0x10000"));
  core_.spr.vector_mask = {~(u64{1} << 5), ~u64{0}};
  EXPECT_EQ(error_of([&] { run<I>(x); }), "") << "an element that is masked off";
  ub().store<u32>(kOffsets + 4 * 6, 1);
  EXPECT_THAT(error_of([&] { run<I>(x); }), HasSubstr("unaligned access: gathered element 6"));
  ub().store<u32>(kOffsets + 4 * 6, static_cast<u32>(-16));  // a negative offset
  insn::GatherArgs y = x;
  y.base = 0x100;
  before_.assign(ub().bytes(0, kUbBytes).begin(), ub().bytes(0, kUbBytes).end());
  ub().store<u32>(kOffsets + 4 * 5, 0);
  run<I>(y);
  EXPECT_EQ(ub().load<u16>(kOther + 6 * GetParam().bytes), ub().load<u16>(0xf0));
}

TEST_P(Gather, FootprintHasTheOffsetsAndTheRegularSide) {
  using I = insn::Vgather;
  const LaneType type = insn::GatherTypes::lane(type_of<I>(GetParam().type));
  const insn::GatherArgs x{.dst = kOther, .src = kOffsets, .dstRepStride = 8, .repeat = 2};
  const Footprint f = insn::gather_footprint(x, type, core_.spr, GetParam().arch);
  ASSERT_EQ(f.size(), 2u);
  EXPECT_EQ(f.begin()[0].bytes(), 2u * lanes() * 4);
  EXPECT_EQ(f.begin()[1].bytes(), 512u);
  count_mode(9);
  EXPECT_EQ(insn::gather_footprint(x, type, core_.spr, GetParam().arch).begin()[0].bytes(), 64u);
}
INSTANTIATE_TEST_SUITE_P(, Gather,
                         testing::Values(GatherCase{Arch::c220, "bf16", 2}, GatherCase{Arch::m200, "f16", 2},
                                         GatherCase{Arch::c220, "u32", 4}, GatherCase{Arch::m200, "f32", 4}));

TEST_F(Layout, GathersBlocksWhateverTheMask) {
  constexpr u32 kOffsets = 0x2000, kDst = 0xa000;
  const auto offsets = put_offsets(kOffsets, 24, 32, 0x2000);
  core_.spr.vector_mask = {0, 0};
  run<insn::Vgatherb>(
      {.dst = kDst, .src = kOffsets, .base = 0x6000, .dstRepStride = 20, .dstBlkStride = 2, .repeat = 3});
  for (u32 i = 0; i < offsets.size(); ++i)
    expect(kDst + i / 8 * 640 + i % 8 * 64, 0x6000 + offsets[i], 32);
  compare();
  EXPECT_THAT(error_of([&] { run<insn::Vgatherb>({.dst = kDst, .src = kOffsets, .base = 16, .repeat = 1}); }),
              HasSubstr("gathered block 0"));
}

class Scatter : public Layout {
 protected:
  Scatter() : Layout(Arch::m200) {}
};
TEST_F(Scatter, WritesInOrderSoThatTheLastOneStays) {
  using I = insn::Vscatter;
  constexpr u32 kOffsets = 0x2000, kSrc = 0x6000, kTo = 0xa000;
  for (const auto& [type, bytes] : {std::pair{"f16", 2u}, {"s32", 4u}}) {
    const u32 lanes = 256 / bytes;
    const auto offsets = put_offsets(kOffsets, 2 * lanes, bytes, 64);  // few places: many collisions
    core_.spr.vector_mask = {0xff00ff00ff00ff0f, 0x123456789abcdef};
    run<I>({.dst = kOffsets, .src = kSrc, .base = kTo, .srcRepStride = 11, .repeat = 2, .type = type_of<I>(type)});
    for (u32 i = 0; i < offsets.size(); ++i) {
      const u32 lane = i % lanes;
      if ((core_.spr.vector_mask[lane / 64] >> (lane % 64) & 1) == 0) continue;
      expect(kTo + offsets[i], kSrc + i / lanes * 11 * 32 + lane * bytes, bytes);
    }
    compare(type);
  }
}

// Compaction against a loop over elements.
class Reduce : public Layout, public testing::WithParamInterface<std::pair<const char*, u32>> {
 protected:
  static constexpr u32 kSrc = 0x4000, kPattern = 0x1000, kDst = 0xa000;
  struct Form {
    u32 repeats, elements;  // in each repeat; the last may have fewer
    u64 total;
    u32 block_stride, repeat_stride, pattern_stride;
  };
  void check(u8 mode, const Form& f) {
    const u32 bytes = GetParam().second, in_block = 32 / bytes;
    u64 kept = 0, seen = 0;
    for (u32 r = 0; r < f.repeats; ++r) {
      for (u32 i = 0; i < f.elements && seen < f.total; ++i, ++seen) {
        const auto pattern = static_cast<u32>(before_[kPattern + r * f.pattern_stride * 32 + i / 8]);
        constexpr std::array kStrings{"", "10", "01", "1000", "0100", "0010", "0001", "1"};
        const std::string_view s = kStrings[mode];
        if (mode == 0 ? (pattern >> (i % 8) & 1) == 0 : s[i % s.size()] == '0') continue;
        expect(kDst + kept * bytes,
               kSrc + r * f.repeat_stride * 32 + i / in_block * f.block_stride * 32 + i % in_block * bytes, bytes);
        ++kept;
      }
    }
    compare("mode " + std::to_string(mode));
    EXPECT_EQ(core_.results.rsvd_cnt, kept);
  }
};

TEST_P(Reduce, EveryPatternInNormalAndCounterMode) {
  const u8 type = type_of<insn::Vreduce>(GetParam().first);
  const u32 lanes = 256 / GetParam().second;
  for (u8 mode = 0; mode < 8; ++mode) {
    core_.spr.ctrl = 0;
    core_.spr.vector_mask = {0, 0};  // is ignored
    before_ = want_;
    run<insn::Vreducev2>({.dst = kDst,
                          .src0 = kSrc,
                          .src1 = kPattern,
                          .repeat = 3,
                          .src0RepStride = 20,
                          .src0BlkStride = 2,
                          .patternMode = mode,
                          .src1RepStride = 1,
                          .type = type});
    check(mode, {3, lanes, 3 * lanes, 2, 20, 1});
    run<insn::Vreduce>({.dst = kDst,
                        .src0 = kSrc,
                        .src1 = kPattern,
                        .repeat = 2,
                        .src0RepStride = 8,
                        .dstBlkStride = 1,
                        .src0BlkStride = 1,
                        .patternMode = mode,
                        .dstRepStride = 8,
                        .src1RepStride = 0,
                        .type = type});
    check(mode, {2, lanes, 2 * lanes, 1, 8, 0});
    count_mode(70);
    run<insn::Vreducev2>({.dst = kDst,
                          .src0 = kSrc,
                          .src1 = kPattern,
                          .repeat = 2,
                          .src0RepStride = 4,
                          .src0BlkStride = 1,
                          .patternMode = mode,
                          .src1RepStride = 0,
                          .type = type});
    check(mode, {2, 70, 140, 1, 4, 0});
    run<insn::Vreduce>({.dst = kDst,
                        .src0 = kSrc,
                        .src1 = kPattern,
                        .repeat = 9,
                        .src0RepStride = 4,
                        .dstBlkStride = 1,
                        .src0BlkStride = 1,
                        .patternMode = mode,
                        .dstRepStride = 8,
                        .src1RepStride = 1,
                        .type = type});
    check(mode, {ceil_div(70u, lanes), lanes, 70, 1, 4, 1});
  }
}

TEST_P(Reduce, FootprintIsWhatCanBeTouched) {
  const LaneType type = insn::GatherTypes::lane(type_of<insn::Vreduce>(GetParam().first));
  const u32 bytes = GetParam().second, lanes = 256 / bytes;
  const auto sums = [&](u8 mode, u16 repeat) {
    const insn::ReduceArgs x{
        .repeat = repeat, .src0RepStride = 8, .src0BlkStride = 1, .patternMode = mode, .src1RepStride = 1};
    std::array<u64, 2> s{};
    for (const Access& a : insn::reduce_footprint(x, type, true, core_.spr, Arch::c220))
      s[a.write] += a.bytes();
    return s;
  };
  EXPECT_EQ(sums(7, 3), (std::array<u64, 2>{768, 768}));
  EXPECT_EQ(sums(1, 3), (std::array<u64, 2>{768, 384}));
  EXPECT_EQ(sums(4, 3), (std::array<u64, 2>{768, 192}));
  EXPECT_EQ(sums(0, 3), (std::array<u64, 2>{768 + 96, 768}));
  EXPECT_EQ(sums(0, 0), (std::array<u64, 2>{0, 0}));
  count_mode(lanes + 1);
  EXPECT_EQ(sums(7, 1), (std::array<u64, 2>{288, 288}));
}
INSTANTIATE_TEST_SUITE_P(, Reduce, testing::Values(std::pair{"u16", 2u}, std::pair{"f32", 4u}));

TEST(ReduceLegality, ModesAndStrides) {
  const Spr spr;
  const auto error = [&](const insn::ReduceArgs& x, bool v2, Arch arch) {
    return error_of([&] { insn::reduce_footprint(x, LaneType::f16, v2, spr, arch); });
  };
  EXPECT_THAT(error({.dstBlkStride = 1, .patternMode = 7, .dstRepStride = 8}, false, Arch::m200), HasSubstr("0 to 6"));
  EXPECT_EQ(error({.dstBlkStride = 1, .patternMode = 7, .dstRepStride = 8}, false, Arch::c220), "");
  EXPECT_THAT(error({.dstBlkStride = 2, .dstRepStride = 8}, false, Arch::c220), HasSubstr("not public"));
}

class Bilinear : public Layout {
 protected:
  Bilinear() : Layout(Arch::m200) {}
};
// The numbers of the published example of BilinearInterpolation: src0 1 .. 512, src1 2 .. 17, blocks in order.
TEST_F(Bilinear, PublishedExample) {
  constexpr u32 kBlocks = 0x1000, kAddresses = 0x2000, kFactors = 0x3000, kDst = 0x4000;
  for (u32 i = 0; i < 512; ++i)
    ub().store<u16>(kBlocks + 2 * i, f16_bits(i + 1));
  for (u32 i = 0; i < 16; ++i)
    ub().store<u16>(kFactors + 2 * i, f16_bits(i + 2));
  for (u32 i = 0; i < 32; ++i)
    ub().store<u32>(kAddresses + 4 * i, kBlocks + 32 * i);
  const insn::BilinearArgs x{.dst = kDst,
                             .src0 = kAddresses,
                             .src1 = kFactors,
                             .dstBlkStride = 1,
                             .vROffset = 128,
                             .hRepeat = 2,
                             .repeatMode = 0,
                             .vRepeat = 2};
  run<insn::Vbi>(x);
  const auto at = [&](u32 i) { return f16_value(ub().load<u16>(kDst + 2 * i)); };
  EXPECT_EQ(at(0), 389);
  EXPECT_EQ(at(1), 394);
  EXPECT_EQ(at(2), 399);
  EXPECT_EQ(at(3), 404);
  EXPECT_EQ(at(255), 4096);
  // A factor for each block: every sum takes two times eight of them.
  insn::BilinearArgs y = x;
  y.repeatMode = 1;
  y.vRepeat = 1;
  run<insn::Vbi>(y);
  const auto rounded = [](double value) -> double { return f16_value(f16_bits(value)); };
  for (u32 b = 0; b < 8; ++b)
    EXPECT_EQ(at(16 * b), rounded(rounded((16 * b + 1) * (b + 2)) + rounded((16 * b + 129) * (b + 10)))) << b;
  y.vROffset = 130;
  EXPECT_THAT(error_of([&] { insn::bilinear_footprint(y, core_.spr, Arch::m200); }), HasSubstr("vROffset = 130"));
}

// col2img is the reverse of img2col: of every filter point, in both repeat modes, against a loop over windows.
class Col2Img : public Layout {
 protected:
  Col2Img() : Layout(Arch::c100) {}
  static constexpr int kW = 9, kH = 7, kPad = 1, kFilter = 3, kStride = 2;
  static constexpr int kWo = (kW + 2 * kPad - kFilter) / kStride + 1, kHo = (kH + 2 * kPad - kFilter) / kStride + 1;
  static constexpr u32 kDst = 0x8000, kSrc = 0;
};
TEST_F(Col2Img, AddsEveryFilterPointToTheMap) {
  core_.spr.parameters.write()[SprId::fcol2img] =
      kW | u64{kH} << 16 | u64{kPad} << 32 | u64{kPad} << 40 | u64{kPad} << 48 | u64{kPad} << 56;
  static_assert(kWo * kHo == 20);  // positions of a filter point: two fractals, the second with 4
  constexpr u32 kFractals = 2;
  std::vector<int> want(kW * kH * 16);
  for (u32 i = 0; i < want.size(); ++i)
    ub().store<u16>(kDst + 2 * i, 0);
  const auto value = [](int point, u32 position, u32 channel) {
    return static_cast<int>(point * 31 + position * 7 + channel) % 64;
  };
  for (int point = 0; point < kFilter * kFilter; ++point) {
    for (u32 p = 0; p < 16 * kFractals; ++p) {
      for (u32 ch = 0; ch < 16; ++ch) {
        const bool exists = p < kWo * kHo;
        ub().store<u16>(kSrc + (p * 16 + ch) * 2, f16_bits(exists ? value(point, p, ch) : 0));
        if (!exists) continue;
        const int row = static_cast<int>(p) / kWo * kStride - kPad + point / kFilter;
        const int column = static_cast<int>(p) % kWo * kStride - kPad + point % kFilter;
        if (row < 0 || row >= kH || column < 0 || column >= kW) continue;
        want[static_cast<usize>((row * kW + column) * 16) + ch] += value(point, p, ch);
      }
    }
    run<insn::Col2img>({.dst = kDst,
                        .src = kSrc,
                        .leftTopW = -kPad,
                        .leftTopH = -kPad,
                        .c1Index = 0,
                        .fetchFilterW = static_cast<u8>(point % kFilter),
                        .fetchFilterH = static_cast<u8>(point / kFilter),
                        .strideW = kStride,
                        .strideH = kStride,
                        .filterW = kFilter,
                        .filterH = kFilter,
                        .dilationW = 1,
                        .dilationH = 1,
                        .repeatMode = 1,
                        .repeat = kFractals});
  }
  for (u32 i = 0; i < want.size(); ++i)
    ASSERT_EQ(f16_value(ub().load<u16>(kDst + 2 * i)), want[i]) << i;
}

TEST_F(Col2Img, RepeatsOverFilterPointsAndChannelGroups) {
  core_.spr.parameters.write()[SprId::fcol2img] = 17 | u64{2} << 16;  // 17 x 2, no padding: one row of 16 windows
  constexpr u32 kGroups = 2, kPlane = 17 * 2 * 16 * 4;
  for (u32 i = 0; i < kGroups * kPlane; i += 4)
    ub().store<float>(kDst + i, 0);
  for (u32 i = 0; i < 8 * 256; ++i) {
    const u32 fractal = i / 256;
    ub().store<float>(kSrc + 4 * i, static_cast<float>(fractal + 1));
  }
  const insn::Col2ImgArgs x{.dst = kDst,
                            .src = kSrc,
                            .strideW = 1,
                            .strideH = 1,
                            .filterW = 2,
                            .filterH = 2,
                            .dilationW = 1,
                            .dilationH = 1,
                            .repeatMode = 0,
                            .repeat = 8,
                            .type = 1};
  run<insn::Col2img>(x);
  for (u32 group = 0; group < kGroups; ++group) {
    for (u32 row = 0; row < 2; ++row) {
      for (u32 column = 0; column < 17; ++column) {
        const float left = static_cast<float>(group * 4 + row * 2 + 1);  // filter point 0 of the row, then point 1
        const float sum = (column < 16 ? left : 0) + (column > 0 ? left + 1 : 0);
        ASSERT_EQ(ub().load<float>(kDst + group * kPlane + (row * 17 + column) * 64), sum) << row << ' ' << column;
      }
    }
  }
  const Footprint f = insn::col2img_footprint(x, LaneType::f32, core_.spr);
  EXPECT_EQ(f.begin()[2].bytes(), kGroups * kPlane);
  insn::Col2ImgArgs bad = x;
  bad.strideW = 0;
  EXPECT_THAT(error_of([&] { insn::col2img_footprint(bad, LaneType::f32, core_.spr); }), HasSubstr("must not be 0"));
  bad = x;
  bad.fetchFilterH = 2;
  EXPECT_THAT(error_of([&] { insn::col2img_footprint(bad, LaneType::f32, core_.spr); }), HasSubstr("outside"));
}

}  // namespace
}  // namespace vinci::isa
