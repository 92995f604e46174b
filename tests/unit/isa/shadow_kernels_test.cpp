// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "isa/census/lanes.h"
#include "isa/shadow/kernels.h"
#include "tests/unit/isa/each_target.h"

// The loops of shadow execution against plain ones, on every vector instruction set of this machine.
namespace vinci::isa::shadow_kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

u64 bits(double v) {
  u64 out;
  std::memcpy(&out, &v, sizeof out);
  return out;
}
bool same(double a, double b) { return bits(a) == bits(b) || (std::isnan(a) && std::isnan(b)); }

// Doubles of all sizes; `rare` of 256 are zeros, infinities or NaN.
DoubleLanes random_lanes(std::mt19937_64& random, u32 rare) {
  constexpr std::array kSpecial{0.0, -0.0, 1.0, -1.0, kInfinity, -kInfinity, kNaN, 0x1p-1074, -0x1p-24, 65504.0};
  DoubleLanes out;
  for (double& v : out.v) {
    v = random() % 256 < rare ? kSpecial[random() % kSpecial.size()]
                              : std::ldexp(static_cast<double>(static_cast<i64>(random())) * 0x1p-63,
                                           static_cast<int>(random() % 24) - 12);
  }
  return out;
}

// Values near others, as references are near results.
DoubleLanes near(std::mt19937_64& random, const DoubleLanes& of, u32 rare) {
  DoubleLanes out = random_lanes(random, rare);
  for (usize i = 0; i < out.v.size(); ++i) {
    if (random() % 256 >= rare) out.v[i] = of.v[i] * (1 + static_cast<double>(random() % 1000) * 1e-6);
  }
  return out;
}

constexpr std::array<LaneType, 3> kTypes{LaneType::f16, LaneType::bf16, LaneType::f32};

TEST(ShadowKernels, Planes) {
  each_target([] {
    std::mt19937_64 random(1);
    for (int turn = 0; turn < 400; ++turn) {
      const u32 each = turn % 2 == 0 ? 2 : 4, count = kRepeatBytes / each / (turn % 3 == 0 ? 2 : 1);
      const DoubleLanes values = random_lanes(random, 8), from = random_lanes(random, turn % 5 == 0 ? 0 : 64);
      PlaneLanes planes;
      for (LaneBuffer& p : planes)
        p.bytes.fill(std::byte{0xa5});
      encode(each, from.v.data(), places_of(planes), count);
      for (const LaneBuffer& p : planes) {
        for (usize i = usize{count} * each; i < kRepeatBytes; ++i)
          ASSERT_EQ(p.bytes[i], std::byte{0xa5}) << "behind the last lane";
      }
      // Some elements get no reference, an ended one, or what a move of halves leaves.
      std::array<u32, kShadowLanes> state{};
      u64 want = 0;
      for (u32 i = 0; i < count && turn % 4 != 0; ++i) {
        if (random() % 16 != 0) continue;
        state[i] = 1 + random() % 2;
        for (u32 p = 0; p < kPlanes; ++p) {
          const u16 mark = p == kPlanes - 1 && state[i] == 2 ? reference::kEnded : u16{0};
          for (u32 half = 0; half < each / 2; ++half)
            std::memcpy(&planes[p].bytes[usize{i} * each + usize{half} * 2], &mark, sizeof mark);
        }
        want += state[i] == 2 ? 1 : 0;
      }
      DoubleLanes to{};
      EXPECT_EQ(decode(each, read_only(places_of(planes)), values.v.data(), to.v.data(), count), want);
      for (u32 i = 0; i < count; ++i)
        ASSERT_TRUE(same(to.v[i], state[i] == 0 ? from.v[i] : values.v[i])) << "turn " << turn << ", lane " << i;
    }
  });
}

TEST(ShadowKernels, LaneDoubles) {
  each_target([] {
    LaneBuffer lanes;
    DoubleLanes to;
    for (u32 first = 0; first < 0x10000; first += 64) {
      for (const LaneType type : {LaneType::f16, LaneType::bf16, LaneType::f32, LaneType::s16}) {
        for (u32 i = 0; i < 64; ++i) {
          if (type == LaneType::f32) {
            const u32 word = (first + i) << 16 | 0x1234;
            std::memcpy(&lanes.bytes[usize{i} * 4], &word, sizeof word);
          } else {
            const u16 word = static_cast<u16>(first + i);
            std::memcpy(&lanes.bytes[usize{i} * 2], &word, sizeof word);
          }
        }
        lane_doubles(type, lanes, 64, to);
        for (u32 i = 0; i < 64; ++i)
          ASSERT_TRUE(same(to.v[i], lane_value(type, lanes, i))) << name(type) << ", word " << first + i;
      }
    }
  });
}

// One lane as docs/numerics.md has it.
void add_plain(FloatRange range, double value, double exact, double reference, Tally& to) {
  const double r = std::fabs(reference);
  const int exponent =
      std::isfinite(r) ? std::clamp(r == 0 ? range.least : std::ilogb(r), range.least, range.most) : range.most;
  const auto add = [&](usize kind, double difference) {
    const double error = std::fabs(difference);
    if (!std::isfinite(error)) return;
    const double ulp = std::ldexp(error, range.fraction - exponent);
    const double relative = r >= kLeastRelative && std::isfinite(r) ? error / r : 0;
    to.errors[kind].add(
        {.max_ulp = ulp, .squares_ulp = ulp * ulp, .max_relative = relative, .squares_relative = relative * relative});
  };
  to.wrong +=
      !std::isfinite(value - reference) && value != reference && !(std::isnan(value) && std::isnan(reference)) ? 1 : 0;
  add(0, value - reference);
  add(1, value - exact);
  add(2, exact - reference);
}

TEST(ShadowKernels, Tally) {
  each_target([] {
    std::mt19937_64 random(2);
    for (int turn = 0; turn < 600; ++turn) {
      const u32 rare = turn % 3 == 0 ? 16 : 0,
                count = turn % 4 == 0 ? 1 + static_cast<u32>(random() % kShadowLanes) : kShadowLanes;
      const FloatRange range = range_of(kTypes[random() % kTypes.size()]);
      DoubleLanes reference = random_lanes(random, rare);
      if (turn % 2 == 0) reference.v[0] = 0;
      const DoubleLanes exact = near(random, reference, rare), value = near(random, exact, rare);
      Tally got, want;
      tally(range, value.v.data(), exact.v.data(), reference.v.data(), count, got);
      for (u32 i = 0; i < count; ++i)
        add_plain(range, value.v[i], exact.v[i], reference.v[i], want);
      EXPECT_EQ(got.wrong, want.wrong);
      EXPECT_EQ(got.worst_ulp, want.errors[0].max_ulp);
      for (usize kind = 0; kind < 3; ++kind) {
        const ErrorSums &g = got.errors[kind], &w = want.errors[kind];
        EXPECT_EQ(g.max_ulp, w.max_ulp);
        EXPECT_NEAR(g.max_relative, w.max_relative, 1e-15 * w.max_relative);
        EXPECT_NEAR(g.squares_ulp, w.squares_ulp, 1e-13 * w.squares_ulp);
        EXPECT_NEAR(g.squares_relative, w.squares_relative, 1e-13 * w.squares_relative);
      }
    }
  });
}

TEST(ShadowKernels, Cancellations) {
  each_target([] {
    std::mt19937_64 random(3);
    u64 found = 0;
    for (int turn = 0; turn < 400; ++turn) {
      const FloatRange range = range_of(kTypes[random() % kTypes.size()]);
      const u32 count = turn % 4 == 0 ? 1 + static_cast<u32>(random() % kShadowLanes) : kShadowLanes;
      const DoubleLanes x = random_lanes(random, 8);
      DoubleLanes y = near(random, x, 8), exact, reference;
      for (usize i = 0; i < kShadowLanes; ++i) {
        if (random() % 2 == 0) y.v[i] = -y.v[i];
        exact.v[i] = x.v[i] + y.v[i];
        reference.v[i] = exact.v[i] + (random() % 2 == 0 ? std::ldexp(x.v[i], -range.fraction) : 0);
      }
      u64 want = 0;
      for (u32 i = 0; i < count; ++i) {
        const double most = std::max(std::fabs(x.v[i]), std::fabs(y.v[i])), e = std::fabs(exact.v[i]);
        if (!(e <= most * std::ldexp(1.0, -((range.fraction + 1) / 2))) || most == 0 || !std::isfinite(e)) continue;
        const int exponent = std::max(e == 0 ? range.least : std::ilogb(e), range.least);
        want += std::fabs(exact.v[i] - reference.v[i]) > std::ldexp(1.0, exponent - range.fraction) ? 1 : 0;
      }
      EXPECT_EQ(cancellations(range, {x.v.data(), y.v.data(), exact.v.data(), reference.v.data()}, count), want);
      found += want;
    }
    EXPECT_GT(found, 1000u);
  });
}

// Operands with equal ones, and references that decide otherwise now and then.
struct Operands {
  DoubleLanes a, b, ra, rb;

  explicit Operands(std::mt19937_64& random)
      : a(random_lanes(random, 32)), b(near(random, a, 64)), ra(near(random, a, 32)), rb(near(random, b, 32)) {
    for (usize i = 0; i < kShadowLanes; i += 3)
      b.v[i] = a.v[i];
  }
  Terms terms() const { return {a.v.data(), b.v.data(), ra.v.data(), rb.v.data()}; }
};

TEST(ShadowKernels, Choose) {
  each_target([] {
    std::mt19937_64 random(4);
    u64 found = 0;
    for (int turn = 0; turn < 400; ++turn) {
      const Operands o(random);
      const bool largest = turn % 2 == 0;
      const u32 count = turn % 4 == 0 ? 1 + static_cast<u32>(random() % kShadowLanes) : kShadowLanes;
      DoubleLanes exact, reference;
      u64 want = 0;
      const u64 got = choose(largest, o.terms(), exact.v.data(), reference.v.data(), count);
      for (u32 i = 0; i < count; ++i) {
        const double sign = largest ? 1 : -1;
        const double a = sign * o.a.v[i], b = sign * o.b.v[i], x = sign * o.ra.v[i], y = sign * o.rb.v[i];
        const auto chosen = [&](double first, double second) {
          if (a > b) return first;
          if (a < b) return second;
          return std::isnan(first) || std::isnan(second) ? kNaN : std::max(first, second);
        };
        want += (a > b && x < y) || (a < b && x > y) ? 1 : 0;
        ASSERT_TRUE(same(exact.v[i], sign * chosen(a, b))) << a << " and " << b;
        ASSERT_TRUE(same(reference.v[i], sign * chosen(x, y))) << x << " and " << y;
      }
      EXPECT_EQ(got, want);
      found += want;
    }
    EXPECT_GT(found, 100u);
  });
}

TEST(ShadowKernels, KeepPositiveAndScaleNegative) {
  each_target([] {
    std::mt19937_64 random(5);
    u64 found = 0;
    for (int turn = 0; turn < 400; ++turn) {
      const Operands o(random);
      const u32 count = turn % 4 == 0 ? 1 + static_cast<u32>(random() % kShadowLanes) : kShadowLanes;
      DoubleLanes exact = o.a, reference = o.ra, scaled, scaled_reference;
      const u64 kept = keep_positive(exact.v.data(), reference.v.data(), count);
      const u64 negative = scale_negative(o.terms(), scaled.v.data(), scaled_reference.v.data(), count);
      u64 want = 0;
      for (u32 i = 0; i < count; ++i) {
        const double a = o.a.v[i], r = o.ra.v[i];
        want += (a > 0 && r < 0) || (a < 0 && r > 0) ? 1 : 0;
        const bool below = a < 0 || (a == 0 && r < 0);
        ASSERT_TRUE(same(exact.v[i], a > 0 || std::isnan(a) ? a : 0)) << a;
        ASSERT_TRUE(same(reference.v[i], below ? 0 : r)) << a << ", reference " << r;
        ASSERT_TRUE(same(scaled.v[i], a < 0 ? a * o.b.v[i] : a)) << a;
        ASSERT_TRUE(same(scaled_reference.v[i], below ? r * o.rb.v[i] : r)) << a << ", reference " << r;
      }
      EXPECT_EQ(kept, want);
      EXPECT_EQ(negative, want);
      found += want;
    }
    EXPECT_GT(found, 100u);
  });
}

}  // namespace
}  // namespace vinci::isa::shadow_kernels
