// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What AICPU functions do to memory, against plain loops of the test.
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "isa/base/random.h"
#include "isa/numeric/float16.h"
#include "models/runtime/element.h"
#include "models/runtime/philox.h"
#include "tests/unit/models/runtime_fixture.h"

namespace vinci::test {
namespace {

constexpr u64 kF32 = 0, kF16 = 1, kI8 = 2, kI32 = 3, kU8 = 4, kI64 = 9;

class Aicpu : public Runtime {
 protected:
  // Runs a function on x and y, whose initial contents are given; returns what is in y then, or in x.
  template <class X, class Y>
  std::pair<std::vector<X>, std::vector<Y>> call(std::string kernel, const std::vector<X>& x, const std::vector<Y>& y,
                                                 std::vector<u64> numbers) {
    stream_.buffers.clear();
    stream_.streams.clear();
    const u32 hx = host_values("hx", x), hy = host_values("hy", y);
    const u32 dx = device_buffer("dx", x.size() * sizeof(X)), dy = device_buffer("dy", y.size() * sizeof(Y));
    task::CpuKernelLaunch op{.kernel = std::move(kernel),
                             .args = {task::Slice{.buffer = dx}, task::Slice{.buffer = dy}}};
    op.args.insert(op.args.end(), numbers.begin(), numbers.end());
    add(copy(dx, hx, x.size() * sizeof(X)), copy(dy, hy, y.size() * sizeof(Y)), op, copy(hx, dx, x.size() * sizeof(X)),
        copy(hy, dy, y.size() * sizeof(Y)));
    run();
    EXPECT_EQ(functional(), host_);
    return {values<X>(host_, hx), values<Y>(host_, hy)};
  }
};

TEST_F(Aicpu, AssignAndAssignAdd) {
  EXPECT_EQ(call<i32>("Assign", {1, 2, 3}, std::vector<i32>{7, 8, 9}, {2, kI32}).first, (std::vector<i32>{7, 8, 3}));
  EXPECT_EQ(call<i64>("AssignAdd", {1, -2}, std::vector<i64>{41, 2}, {2, kI64}).first, (std::vector<i64>{42, 0}));
  EXPECT_EQ(call<i8>("AssignAdd", {127}, std::vector<i8>{1}, {1, kI8}).first, (std::vector<i8>{-128}));
  EXPECT_EQ(call<float>("AssignAdd", {16777216.f}, std::vector<float>{1.f}, {1, kF32}).first,
            (std::vector<float>{16777216.f}));
  // 2048 + 1 in f16 is a tie and goes to even.
  EXPECT_EQ(call<u16>("AssignAdd", {isa::f16_bits(2048)}, std::vector<u16>{isa::f16_bits(1)}, {1, kF16}).first,
            (std::vector<u16>{isa::f16_bits(2048)}));
}

TEST_F(Aicpu, MapIndexFindsTheRow) {
  const std::vector<i32> table{1, 4, 2, 8, 2, 4};
  const auto index = [&](const std::vector<i32>& key) {
    stream_.buffers.clear();
    stream_.streams.clear();
    const u32 hx = host_values("hx", key), ht = host_values("ht", table), hy = host_values("hy", std::vector<i32>{-1});
    const u32 dx = device_buffer("dx", 8), dt = device_buffer("dt", 24), dy = device_buffer("dy", 4);
    add(copy(dx, hx, 8), copy(dt, ht, 24),
        task::CpuKernelLaunch{
            .kernel = "MapIndex",
            .args = {task::Slice{.buffer = dx}, task::Slice{.buffer = dt}, task::Slice{.buffer = dy}, u64{2}, u64{3}}},
        copy(hy, dy, 4));
    run();
    return values<i32>(host_, hy).at(0);
  };
  EXPECT_EQ(index({1, 4}), 0);
  EXPECT_EQ(index({2, 4}), 2);
  EXPECT_EQ(index({4, 2}), 3) << "no row";
}

// What a function that selects has in its buffers behind x: zeros where it wrote nothing.
TEST_F(Aicpu, FunctionsThatSelect) {
  struct Case {
    std::string kernel;
    std::vector<std::vector<std::byte>> buffers;  // the first `inputs` of them with data
    std::vector<u64> numbers;
  };
  const auto bytes = []<class T>(std::vector<T> values) {
    const auto view = std::as_bytes(std::span(values));
    return std::vector<std::byte>(view.begin(), view.end());
  };
  // The buffers after a call, as int64.
  const auto call = [&](const Case& c) {
    stream_.buffers.clear();
    stream_.streams.clear();
    task::CpuKernelLaunch op{.kernel = c.kernel};
    std::vector<u32> hosts, devices;
    for (const auto& b : c.buffers) {
      const std::string name = std::to_string(hosts.size());
      hosts.push_back(host_values("h" + name, b));
      devices.push_back(device_buffer("d" + name, b.size()));
      op.args.emplace_back(task::Slice{.buffer = devices.back()});
    }
    op.args.insert(op.args.end(), c.numbers.begin(), c.numbers.end());
    const u32 stream = add();
    const auto then = [&](task::TaskOp task) {
      stream_.streams[stream].tasks.push_back({.name = "t", .op = std::move(task)});
    };
    for (usize i = 0; i < hosts.size(); ++i)
      then(copy(devices[i], hosts[i], c.buffers[i].size()));
    then(op);
    for (usize i = 0; i < hosts.size(); ++i)
      then(copy(hosts[i], devices[i], c.buffers[i].size()));
    run();
    EXPECT_EQ(functional(), host_);
    std::vector<std::vector<i64>> out;
    for (usize i = 0; i < hosts.size(); ++i)
      out.push_back(c.buffers[i].size() % 8 == 0 ? values<i64>(host_, hosts[i]) : std::vector<i64>());
    return out;
  };
  const auto numbers = [&](usize count) { return bytes(std::vector<i64>(count, -1)); };

  // Of [2, 3], three are not zero; room for four, then for two.
  const auto x = bytes(std::vector<float>{0, 1, 0, -2, 0, 3});
  const auto wide = call({"NonZero", {x, numbers(8), numbers(1)}, {kF32, 4, 2, 2, 3, 1, 1, 1, 1, 1, 1}});
  EXPECT_EQ(wide[1], (std::vector<i64>{0, 1, 1, 0, 1, 0, 2, 0}));
  EXPECT_EQ(wide[2], std::vector<i64>{3});
  const auto narrow = call({"NonZero", {x, numbers(4), numbers(1)}, {kF32, 2, 2, 2, 3, 1, 1, 1, 1, 1, 1}});
  EXPECT_EQ(narrow[1], (std::vector<i64>{0, 1, 1, 0}));
  EXPECT_EQ(narrow[2], std::vector<i64>{3});

  // Slices 0 and 2 of [2, 3, 1]; the condition is shorter than the axis.
  const auto rows = bytes(std::vector<i64>{1, 2, 3, 4, 5, 6});
  const auto chosen =
      call({"Compress", {rows, bytes(std::vector<u8>{1, 0, 1}), numbers(4), numbers(1)}, {2, 3, 8, 3, 2}});
  EXPECT_EQ(chosen[2], (std::vector<i64>{1, 3, 4, 6}));
  EXPECT_EQ(chosen[3], std::vector<i64>{2});

  // Box 1 overlaps most of box 0, which has the better score; box 2 is apart; box 3 has too small a score.
  const auto boxes = bytes(std::vector<float>{0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 2, 2, 1, 1, 5, 5, 6, 6});
  const auto scores = bytes(std::vector<float>{0.8f, 0.7f, 0.9f, 0.1f});
  const auto as_bits = [](float v) { return u64{std::bit_cast<u32>(v)}; };
  const auto kept = call({"NonMaxSuppression",
                          {boxes, scores, numbers(9), numbers(1)},
                          {1, 1, 4, 10, as_bits(0.5f), as_bits(0.2f), 0, kF32, 3}});
  EXPECT_EQ(kept[2], (std::vector<i64>{0, 0, 2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(kept[3], std::vector<i64>{2});

  const auto values = bytes(std::vector<i64>{7, -3, 7, 5});
  const auto sorted =
      call({"Unique", {values, numbers(3), numbers(3), numbers(4), numbers(3), numbers(1)}, {1, 4, 1, 1, kI64, 3}});
  EXPECT_EQ(sorted[1], (std::vector<i64>{-3, 5, 7}));
  EXPECT_EQ(sorted[2], (std::vector<i64>{1, 3, 0}));
  EXPECT_EQ(sorted[3], (std::vector<i64>{2, 0, 2, 1}));
  EXPECT_EQ(sorted[4], (std::vector<i64>{1, 1, 2}));
  EXPECT_EQ(sorted[5], std::vector<i64>{3});
  const auto as_met =
      call({"Unique", {values, numbers(3), numbers(3), numbers(4), numbers(3), numbers(1)}, {1, 4, 1, 0, kI64, 3}});
  EXPECT_EQ(as_met[1], (std::vector<i64>{7, -3, 5}));
  EXPECT_EQ(as_met[3], (std::vector<i64>{0, 1, 0, 2}));
}

TEST_F(Aicpu, CastTruncatesAndSaturates) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(call<float>("Cast", {1.9f, -1.9f, 300.f, -1e30f, nan}, std::vector<i8>(5), {5, kF32, kI8}).second,
            (std::vector<i8>{1, -1, 127, -128, 0}));
  EXPECT_EQ(call<float>("Cast", {9.3e18f, -9.3e18f, 2.5f}, std::vector<i64>(3), {3, kF32, kI64}).second,
            (std::vector<i64>{std::numeric_limits<i64>::max(), std::numeric_limits<i64>::min(), 2}));
  EXPECT_EQ(call<i32>("Cast", {16777217, -3}, std::vector<float>(2), {2, kI32, kF32}).second,
            (std::vector<float>{16777216.f, -3.f}));
  EXPECT_EQ(call<i32>("Cast", {0x1ff, -1}, std::vector<u8>(2), {2, kI32, kU8}).second, (std::vector<u8>{255, 255}));
  EXPECT_EQ(call<float>("Cast", {65520.f, 65519.f}, std::vector<u16>(2), {2, kF32, kF16}).second,
            (std::vector<u16>{0x7c00, 0x7bff}));
}

TEST_F(Aicpu, EveryTypeLoadsWhatItStores) {
  for (const u64 number : {0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 27}) {
    const auto type = models::element(number);
    ASSERT_TRUE(type);
    std::array<std::byte, 8> bytes{};
    models::store(*type, bytes.data(), models::Value::of(1));
    const models::Value back = models::load(*type, bytes.data());
    EXPECT_EQ(back.kind == models::Value::Kind::real ? back.real : static_cast<double>(back.bits), 1) << number;
  }
  for (const u64 number : {5, 13, 28, 1000})
    EXPECT_FALSE(models::element(number));
}

TEST_F(Aicpu, ExtractImagePatchesLikeTensorFlow) {
  struct Case {
    u64 n, h, w, c, kh, kw, sh, sw, rh, rw, padding;
  };
  for (const Case& p : {Case{1, 3, 3, 1, 2, 2, 1, 1, 1, 1, 0}, Case{2, 5, 7, 3, 3, 3, 2, 2, 1, 1, 1},
                        Case{1, 6, 5, 2, 3, 2, 1, 2, 2, 1, 1}, Case{1, 9, 9, 1, 3, 3, 3, 3, 2, 2, 0},
                        Case{1, 2, 2, 1, 3, 3, 1, 1, 1, 1, 0}}) {
    // The shape inference of TensorFlow, with its formulas.
    const auto out = [&](u64 size, u64 k, u64 s, u64 r) {
      const i64 reach = static_cast<i64>(k + (k - 1) * (r - 1));
      const i64 free = p.padding == 1 ? static_cast<i64>(size) : static_cast<i64>(size) - reach + 1;
      return free <= 0 ? i64{0} : (free + static_cast<i64>(s) - 1) / static_cast<i64>(s);
    };
    const i64 rows = out(p.h, p.kh, p.sh, p.rh), columns = out(p.w, p.kw, p.sw, p.rw);
    const auto before = [&](i64 n, u64 size, u64 k, u64 s, u64 r) {
      const i64 needs =
          (n - 1) * static_cast<i64>(s) + static_cast<i64>(k + (k - 1) * (r - 1)) - static_cast<i64>(size);
      return p.padding == 1 ? std::max<i64>(0, needs) / 2 : 0;
    };
    const i64 top = before(rows, p.h, p.kh, p.sh, p.rh), left = before(columns, p.w, p.kw, p.sw, p.rw);
    std::vector<float> x(p.n * p.h * p.w * p.c);
    for (usize i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i + 1);
    std::vector<float> expected;
    for (u64 n = 0; n < p.n; ++n) {
      for (i64 r = 0; r < rows; ++r) {
        for (i64 q = 0; q < columns; ++q) {
          for (u64 kh = 0; kh < p.kh; ++kh) {
            for (u64 kw = 0; kw < p.kw; ++kw) {
              for (u64 c = 0; c < p.c; ++c) {
                const i64 iy = r * static_cast<i64>(p.sh) - top + static_cast<i64>(kh * p.rh);
                const i64 ix = q * static_cast<i64>(p.sw) - left + static_cast<i64>(kw * p.rw);
                const bool inside = iy >= 0 && ix >= 0 && iy < static_cast<i64>(p.h) && ix < static_cast<i64>(p.w);
                expected.push_back(inside ? x[((n * p.h + static_cast<u64>(iy)) * p.w + static_cast<u64>(ix)) * p.c + c]
                                          : 0);
              }
            }
          }
        }
      }
    }
    std::vector<float> y(expected.size() + 1, -1);  // one more, which must stay
    expected.push_back(-1);
    EXPECT_EQ(
        call("ExtractImagePatches", x, y, {p.n, p.h, p.w, p.c, p.kh, p.kw, p.sh, p.sw, p.rh, p.rw, p.padding, kF32})
            .second,
        expected);
  }
}

TEST_F(Aicpu, ExtractImagePatchesOfNothingIsRefused) {
  const std::vector<float> x(1), y(1);
  EXPECT_THAT(fault_of([&] {
                call("ExtractImagePatches", x, y, {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, kF32});
              }),
              testing::HasSubstr("(n) must not be 0"));
  EXPECT_THAT(fault_of([&] {
                call("ExtractImagePatches", x, y, {u64{1} << 48, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, kF32});
              }),
              testing::HasSubstr("(c) must not be 0"));
}

TEST_F(Aicpu, DropoutIsPhilox) {
  constexpr u64 kCount = 4099, kSeed = 0x123456789abcdef;
  const std::vector<float> x(kCount, 3.0f);
  const auto y =
      call("Dropout", x, std::vector<float>(kCount), {kCount, std::bit_cast<u32>(0.75f), kSeed, kF32}).second;
  u64 kept = 0;
  for (u64 i = 0; i < kCount; ++i) {
    const bool keep = models::philox4x32(i / 4, kSeed)[i % 4] < 0xC0000000u;
    EXPECT_EQ(y[i], keep ? 4.0f : 0.0f) << i;
    kept += keep;
  }
  EXPECT_NEAR(static_cast<double>(kept) / kCount, 0.75, 0.03);
}

// Known answers of the Random123 library for philox4x32_10.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(models::philox4x32(0, 0), (models::PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_NE(models::philox4x32(1, 0), models::philox4x32(0, 1));
}

}  // namespace
}  // namespace vinci::test
