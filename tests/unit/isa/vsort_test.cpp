// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vsort.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using insn::MergeArgs;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Scores with many equal ones, both zeros, infinities, subnormals and NaN.
double random_score(std::mt19937& random) {
  constexpr std::array kSpecial{0.0, -0.0, 1.0, -1.0, 0x1p-24, -0x1p-24, 65504.0, -65504.0, kInf, -kInf, kNan};
  if (random() % 2 == 0) return kSpecial[random() % kSpecial.size()];
  return static_cast<double>(static_cast<int>(random() % 9) - 4) / 2;
}

// What the sort rules say, on doubles: NaN first, then descending; the comparison of a stable sort.
bool before(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return a > b;
}

// Numbers of one type in UB.
struct Numbers {
  const View& ub;
  bool half;

  u32 bytes() const { return half ? 2 : 4; }
  void put(u64 address, u64 index, double value) const {
    if (half) {
      ub.store<u16>(address + 2 * index, std::isnan(value) ? kF16Nan : f16_bits(value));
    } else {
      ub.store<float>(address + 4 * index, static_cast<float>(value));
    }
  }
  double get(u64 address, u64 index) const {
    return half ? f16_value(ub.load<u16>(address + 2 * index)) : ub.load<float>(address + 4 * index);
  }
};

struct Type {
  Arch arch;
  u8 type;
};
class SortByType : public testing::TestWithParam<Type> {
 protected:
  TestCore core_{GetParam().arch};
  Numbers numbers_{core_.mem[BufId::UB], GetParam().type == 0};
  std::mt19937 random_{7};
};

using SortProposals = SortByType;
TEST_P(SortProposals, DescendingAndStableInGroupsOf16) {
  constexpr u32 kSrc = 0x100, kDst = 0x6000;
  for (const u8 repeat : {u8{1}, u8{5}, u8{40}}) {
    std::vector<double> scores(16u * repeat);
    for (u32 p = 0; p < scores.size(); ++p) {
      scores[p] = random_score(random_);
      for (u32 f = 0; f < 8; ++f)
        numbers_.put(kSrc, u64{p} * 8 + f, f == 4 ? scores[p] : f == 7 ? -1 : static_cast<double>(p % 512));
    }
    core_.run<insn::Vbitsort>({.dst = kDst, .src = kSrc, .repeat = repeat, .type = GetParam().type});
    for (u32 g = 0; g < repeat; ++g) {
      std::vector<u32> order(16);
      for (u32 i = 0; i < 16; ++i)
        order[i] = 16 * g + i;
      std::ranges::stable_sort(order, [&](u32 a, u32 b) { return before(scores[a], scores[b]); });
      for (u32 i = 0; i < 16; ++i) {
        const u64 at = (16u * g + i) * u64{8};
        ASSERT_EQ(numbers_.get(kDst, at), order[i] % 512) << g << ' ' << i;
        ASSERT_EQ(std::signbit(numbers_.get(kDst, at + 4)), std::signbit(scores[order[i]]));
        ASSERT_EQ(numbers_.get(kDst, at + 7), -1);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, SortProposals, testing::Values(Type{Arch::c100, 0}, Type{Arch::m200, 1}));

using SortRecords = SortByType;
TEST_P(SortRecords, ScoresAndIndicesBecomeRecords) {
  constexpr u32 kScores = 0, kIndices = 0x4000, kDst = 0x8000;
  for (const u8 repeat : {u8{0}, u8{1}, u8{60}}) {
    std::vector<double> scores(32u * repeat);
    for (u32 i = 0; i < scores.size(); ++i) {
      scores[i] = random_score(random_);
      numbers_.put(kScores, i, scores[i]);
      numbers_.ub.store<u32>(kIndices + 4 * i, 1000 + i);
    }
    numbers_.ub.store<u64>(kDst, ~u64{0});
    core_.run<insn::Vbitsort32>(
        {.dst = kDst, .src = kScores, .src1 = kIndices, .repeat = repeat, .type = GetParam().type});
    if (repeat == 0) {
      EXPECT_EQ(numbers_.ub.load<u64>(kDst), ~u64{0});
    }
    for (u32 g = 0; g < repeat; ++g) {
      std::vector<u32> order(32);
      for (u32 i = 0; i < 32; ++i)
        order[i] = 32 * g + i;
      std::ranges::stable_sort(order, [&](u32 a, u32 b) { return before(scores[a], scores[b]); });
      for (u32 i = 0; i < 32; ++i) {
        const u64 record = kDst + (32u * g + i) * u64{8};
        ASSERT_EQ(numbers_.ub.load<u32>(record + 4), 1000 + order[i]) << g << ' ' << i;
        const double score = numbers_.get(record, 0);
        ASSERT_TRUE(score == scores[order[i]] || (std::isnan(score) && std::isnan(scores[order[i]]))) << score;
        if (numbers_.half) {
          ASSERT_EQ(numbers_.ub.load<u16>(record + 2), 0);
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, SortRecords, testing::Values(Type{Arch::c220, 0}, Type{Arch::c220, 1}));

// Merging: lists of records with unique tags, against a naive merge.
struct MergeCase {
  Arch arch;
  u8 type;
  u32 record, score, tag;  // bytes of a record, and where its score and its tag are
  unsigned count_bits;
};
class Merge : public testing::TestWithParam<MergeCase> {
 protected:
  void run(const MergeArgs& x) {
    if (GetParam().arch == Arch::c220) {
      core_.run<insn::Vmrgsort4v2>(x);
    } else {
      core_.run<insn::Vmrgsort4>(x);
    }
  }
  std::string error(const MergeArgs& x) {
    return error_of([&] { insn::merge_footprint(x, insn::SortTypes::lane(GetParam().type), GetParam().arch); });
  }
  // A sorted list at `address`.
  std::vector<double> make_list(u32 address, u32 len, u16 tag) {
    std::vector<double> scores(len);
    for (double& s : scores)
      s = random_score(random_);
    std::ranges::stable_sort(scores, before);
    for (u32 i = 0; i < len; ++i) {
      numbers_.put(address + u64{i} * GetParam().record + GetParam().score, 0, scores[i]);
      numbers_.ub.store<u16>(address + u64{i} * GetParam().record + GetParam().tag, static_cast<u16>(tag + i));
    }
    return scores;
  }
  u16 tag_at(u32 dst, usize i) { return numbers_.ub.load<u16>(dst + i * GetParam().record + GetParam().tag); }
  u64 counts(const std::array<u64, 4>& taken) const {
    u64 sr = 0;
    for (usize i = 0; i < 4; ++i)
      sr |= taken[i] << (i * GetParam().count_bits);
    return sr;
  }

  TestCore core_{GetParam().arch};
  Numbers numbers_{core_.mem[BufId::UB], GetParam().type == 0};
  std::mt19937 random_{11};
};

TEST_P(Merge, ListsOfAnyLengthWithAndWithoutSuspension) {
  constexpr u32 kDst = 0x8000;
  for (int round = 0; round < 60; ++round) {
    const u8 valid = std::array<u8, 3>{3, 7, 15}[random_() % 3];
    const bool suspend = random_() % 2 == 0;
    std::array<u32, 4> src{0x3000, 0x1000, 0x2000, 0};  // lists need not be in the order of their addresses
    std::array<u16, 4> len{};
    std::array<std::vector<double>, 4> lists;
    for (usize l = 0; l < 4; ++l) {
      len[l] = static_cast<u16>(random_() % 40 + (suspend ? 1 : 0));
      lists[l] = make_list(src[l], len[l], static_cast<u16>(1000 * (l + 1)));
    }
    run({.dst = kDst,
         .src0 = src[0],
         .src1 = src[1],
         .src2 = src[2],
         .src3 = src[3],
         .len0 = len[0],
         .len1 = len[1],
         .len2 = len[2],
         .len3 = len[3],
         .repeat = 1,
         .suspend = suspend,
         .valid = valid,
         .type = GetParam().type});
    std::array<u64, 4> taken{};
    for (usize i = 0;; ++i) {
      int best = -1;
      for (int l = 0; l < 4; ++l) {
        if ((valid >> l & 1) == 0 || taken[l] == lists[l].size()) continue;
        if (best < 0 || before(lists[l][taken[l]], lists[best][taken[best]])) best = l;
      }
      if (best < 0) break;
      ASSERT_EQ(tag_at(kDst, i), 1000u * (best + 1) + taken[best]) << round << ' ' << i;
      ++taken[best];
      if (suspend && taken[best] == lists[best].size()) break;
    }
    ASSERT_EQ(core_.results.vms4_sr, counts(taken)) << round;
  }
}

TEST_P(Merge, RepeatsTakeFourAdjacentLists) {
  constexpr u16 kLen = 6;
  constexpr u32 kDst = 0x8000, kRepeats = 3;
  const u32 bytes = kLen * GetParam().record;
  std::array<std::vector<double>, 12> lists;
  for (u32 l = 0; l < lists.size(); ++l)
    lists[l] = make_list(l * bytes, kLen, static_cast<u16>(100 * l));
  MergeArgs x{.dst = kDst,
              .src0 = 0,
              .src1 = bytes,
              .src2 = 2 * bytes,
              .src3 = 3 * bytes,
              .len0 = kLen,
              .len1 = kLen,
              .len2 = kLen,
              .len3 = kLen,
              .repeat = kRepeats,
              .suspend = 0,
              .valid = 15,
              .type = GetParam().type};
  EXPECT_EQ(error(x), "");
  run(x);
  for (u32 r = 0; r < kRepeats; ++r) {
    std::vector<std::pair<double, u16>> all;
    for (u32 l = 4 * r; l < 4 * r + 4; ++l) {
      for (u32 i = 0; i < kLen; ++i)
        all.emplace_back(lists[l][i], static_cast<u16>(100 * l + i));
    }
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return before(a.first, b.first); });
    for (u32 i = 0; i < all.size(); ++i)
      ASSERT_EQ(tag_at(kDst + r * 4 * bytes, i), all[i].second) << r << ' ' << i;
  }
  const auto wrong = [&](auto change) {
    MergeArgs y = x;
    change(y);
    EXPECT_THAT(error(y), HasSubstr("must be equally long and adjacent"));
  };
  wrong([](MergeArgs& y) { y.len2 = 5; });
  wrong([](MergeArgs& y) { y.src3 += 32; });
  wrong([](MergeArgs& y) { y.suspend = 1; });
  wrong([](MergeArgs& y) { y.valid = 7; });
  x.repeat = 1;
  x.valid = 5;
  EXPECT_THAT(error(x), HasSubstr("validBit = 5"));
}
INSTANTIATE_TEST_SUITE_P(, Merge,
                         testing::Values(MergeCase{Arch::c100, 0, 16, 8, 0, 13},
                                         MergeCase{Arch::m200, 1, 32, 16, 0, 13}, MergeCase{Arch::c220, 0, 8, 0, 4, 16},
                                         MergeCase{Arch::c220, 1, 8, 0, 4, 16}));

TEST(ProposalFields, ConcatWritesOneFieldAndExtractReadsIt) {
  TestCore core(Arch::c100);
  const View& ub = core.mem[BufId::UB];
  constexpr u32 kElements = 0, kProposals = 0x1000, kBack = 0x4000;
  constexpr u32 kCount = 48;
  for (u32 i = 0; i < kCount * 8; ++i)
    ub.store<u16>(kProposals + 2 * i, 0xeeee);
  for (u8 mode = 0; mode < 6; ++mode) {
    for (u32 i = 0; i < kCount; ++i)
      ub.store<u16>(kElements + 2 * i, static_cast<u16>(1000 * mode + i));
    core.run<insn::Vconcat>({.dst = kProposals, .src = kElements, .repeat = 3, .mode = mode});
  }
  for (u32 p = 0; p < kCount; ++p) {
    for (u32 f = 0; f < 8; ++f)
      ASSERT_EQ(ub.load<u16>(kProposals + (p * 8 + f) * 2), f < 6 ? 1000 * f + p : 0xeeee) << p << ' ' << f;
  }
  core.run<insn::Vextract>({.dst = kBack, .src = kProposals, .repeat = 3, .mode = 5});
  for (u32 p = 0; p < kCount; ++p)
    ASSERT_EQ(ub.load<u16>(kBack + 2 * p), 5000 + p);

  const auto error = [&](u8 mode, bool concat, Arch arch) {
    return error_of([&] { insn::proposal_field_footprint({.mode = mode}, LaneType::f16, concat, arch); });
  };
  EXPECT_THAT(error(6, true, Arch::c100), HasSubstr("mode = 6"));
  EXPECT_THAT(error(4, false, Arch::m100), HasSubstr("0 to 3"));
  EXPECT_EQ(error(4, true, Arch::m100), "");
  EXPECT_EQ(error(4, false, Arch::c100), "");
}

// Areas and intersections of boxes with small integers are exact in f16, so plain arithmetic is the oracle.
class Boxes : public testing::TestWithParam<Type> {
 protected:
  static constexpr u32 kBoxes = 0, kAreas = 0x4000, kOut = 0x6000;
  std::array<int, 4> box(u32 p) const {
    const int x = static_cast<int>(p * 7 % 23), y = static_cast<int>(p * 5 % 19);
    return {x, y, x + 3 + static_cast<int>(p % 11), y + 2 + static_cast<int>(p % 7)};
  }
  void SetUp() override {
    for (u32 p = 0; p < 48; ++p) {
      const auto b = box(p);
      for (u32 f = 0; f < 4; ++f)
        numbers_.put(kBoxes, p * 8 + f, b[f]);
    }
    if (GetParam().arch != Arch::m100) core_.spr.parameters.write()[SprId::rpn_offset] = f16_bits(1);
  }
  TestCore core_{GetParam().arch};
  Numbers numbers_{core_.mem[BufId::UB], GetParam().type == 0};
};

TEST_P(Boxes, AreasSumsAndIntersections) {
  const u8 type = GetParam().type;
  const auto area = [&](u32 p) { return (box(p)[2] - box(p)[0] + 1) * (box(p)[3] - box(p)[1] + 1); };
  core_.run<insn::Vrpac>({.dst = kAreas, .src = kBoxes, .repeat = 3, .type = type});
  for (u32 p = 0; p < 48; ++p)
    ASSERT_EQ(numbers_.get(kAreas, p), area(p)) << p;

  const u32 second = kAreas + 16 * numbers_.bytes();  // areas 16 to 31
  core_.run<insn::Vaadd>({.dst = kOut, .src = kAreas, .src1 = second, .repeat = 3, .type = type});
  for (u32 i = 0; i < 48; ++i) {
    for (u32 j = 0; j < 16; ++j)
      ASSERT_EQ(numbers_.get(kOut, i * 16 + j), area(i) + area(16 + j)) << i << ' ' << j;
  }

  const u32 others = kBoxes + 16 * 8 * numbers_.bytes();
  core_.run<insn::Viou>({.dst = kOut, .src = kBoxes, .src1 = others, .repeat = 3, .type = type});
  int empty = 0, shared = 0;
  for (u32 i = 0; i < 48; ++i) {
    for (u32 j = 0; j < 16; ++j) {
      const auto a = box(i), b = box(16 + j);
      const int w = std::max(0, std::min(a[2], b[2]) - std::max(a[0], b[0]) + 1);
      const int h = std::max(0, std::min(a[3], b[3]) - std::max(a[1], b[1]) + 1);
      ASSERT_EQ(numbers_.get(kOut, i * 16 + j), w * h) << i << ' ' << j;
      (w * h == 0 ? empty : shared) += 1;
    }
  }
  EXPECT_GT(empty, 100);
  EXPECT_GT(shared, 100);
}
INSTANTIATE_TEST_SUITE_P(, Boxes, testing::Values(Type{Arch::m100, 0}, Type{Arch::c100, 0}, Type{Arch::m200, 1}));

TEST(ProposalAreas, AnAreaThatIsTooLargeSaturatesAndIsReported) {
  TestCore core(Arch::c100, OverflowMode::saturation);
  const Numbers numbers{core.mem[BufId::UB], true};
  for (u32 f : {2, 3})
    numbers.put(0, f, 300);
  core.run<insn::Vrpac>({.dst = 0x1000, .src = 0, .repeat = 1});
  EXPECT_EQ(numbers.get(0x1000, 0), 65504);
  EXPECT_EQ(core.status, status::kFloatOverflow);
}

// The whole suppression, group by group as kernels do it, against the definition.
TEST(RpnCor, SuppressesWhatOverlapsAKeptProposal) {
  TestCore core(Arch::c100);
  const View& ub = core.mem[BufId::UB];
  constexpr u32 kGroups = 5, kCount = 16 * kGroups, kMatrix = 0x1000, kVector = 0x2000;
  std::mt19937 random(3);
  std::array<std::array<bool, kCount>, kCount> overlap{};  // [earlier][later]
  for (u32 i = 0; i < kCount; ++i) {
    for (u32 j = 0; j < kCount; ++j)
      overlap[i][j] = i == j || random() % 12 == 0;
  }
  std::array<bool, kCount> suppressed{};
  for (u32 j = 0; j < kCount; ++j) {
    for (u32 k = 0; k < j; ++k)
      suppressed[j] = suppressed[j] || (overlap[k][j] && !suppressed[k]);
  }
  for (u32 g = 0; g < kGroups; ++g) {
    for (u32 k = 0; k < 16 * (g + 1); ++k) {
      u16 row = 0;
      for (u32 j = 0; j < 16; ++j)
        row |= static_cast<u16>(overlap[k][16 * g + j] ? 1u << j : 0);
      ub.store<u16>(kMatrix + 2 * k, row);
    }
    core.run<insn::SetRpnCorIr>({.value = 0});
    core.run<insn::RpnCor>(
        {.src0 = kMatrix, .src1 = kVector, .src0RepStride = 1, .src1RepStride = 1, .repeat = static_cast<u8>(g)});
    core.run<insn::RpnCorDiag>({.dst = kVector + 32 * g, .src = kMatrix + 32 * g});
  }
  for (u32 j = 0; j < kCount; ++j)
    EXPECT_EQ(ub.load<u16>(kVector + 2 * j), suppressed[j] ? 1 : 0) << j;
  EXPECT_GT(std::ranges::count(suppressed, true), 10);
  EXPECT_GT(std::ranges::count(suppressed, false), 10);
}

TEST(SortFootprints, AreWholeBlocksAndNothingForNoRepeat) {
  const auto bytes = [](const Footprint& f) {
    std::array<u64, 2> sums{};
    for (const Access& a : f)
      sums[a.write] += a.bytes();
    return sums;
  };
  EXPECT_EQ(bytes(insn::sort_proposals_footprint({.repeat = 3}, LaneType::f16)), (std::array<u64, 2>{768, 768}));
  EXPECT_EQ(bytes(insn::sort_records_footprint({.repeat = 3}, LaneType::f16)), (std::array<u64, 2>{192 + 384, 768}));
  EXPECT_EQ(bytes(insn::area_footprint({.repeat = 1}, LaneType::f16)), (std::array<u64, 2>{256, 32}));
  EXPECT_EQ(bytes(insn::pair_footprint({.repeat = 2}, LaneType::f16, 8)), (std::array<u64, 2>{512 + 256, 1024}));
  EXPECT_EQ(bytes(insn::pair_footprint({.repeat = 0}, LaneType::f16, 8)), (std::array<u64, 2>{0, 0}));
  EXPECT_EQ(bytes(insn::rpn_cor_footprint({.src0RepStride = 2, .src1RepStride = 0, .repeat = 4})),
            (std::array<u64, 2>{160, 0}));
  EXPECT_EQ(bytes(insn::merge_footprint({.len0 = 5, .len1 = 4, .len2 = 9, .repeat = 1, .valid = 3}, LaneType::f32,
                                        Arch::c220)),
            (std::array<u64, 2>{72, 72}));
}

}  // namespace
}  // namespace vinci::isa
