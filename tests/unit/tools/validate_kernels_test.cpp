// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The kernels that repeat published ones compute what those do: small cases in mode full against loops in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "isa/base/random.h"
#include "isa/numeric/float16.h"
#include "models/soc/simulate.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

using Parameters = std::map<std::string, std::string>;
using Doubles = std::vector<double>;

struct Halves {
  std::vector<u16> bits;
  Doubles values;
};
Halves random_halves(usize n, u64 seed) {
  Random random(seed);
  Halves out;
  for (usize i = 0; i < n; ++i) {
    out.bits.push_back(isa::f32_to_f16(std::bit_cast<u32>(random.uniform())));
    out.values.push_back(isa::f16_value(out.bits.back()));
  }
  return out;
}

// A kernel on data: its device buffers before and after.
class KernelRun {
 public:
  KernelRun(std::string_view name, const Parameters& given) : chip_(config::load_chip("ascend-910b2")) {
    const Family& f = family(name);
    Params params("test:1");
    for (const Parameter& p : f.parameters)
      params.set(p.name, std::string(p.fallback));
    for (const auto& [key, value] : given)
      params.set(key, value);
    params.set("l2", "empty");
    stream_ = kernel_stream(f.kernel(params, chip_), chip_).stream();
    memory_.emplace(stream_, true);
  }
  template <class T>
  void put(u32 buffer, const std::vector<T>& values) {
    memory_->write({.buffer = buffer}, std::as_bytes(std::span(values)), "test");
  }
  // The cycles that it takes.
  u64 simulate() { return models::simulate(chip_, stream_, *memory_, {}).cycles; }
  template <class T>
  std::vector<T> get(u32 buffer, usize n) {
    std::vector<T> values(n);
    memory_->read({.buffer = buffer}, std::as_writable_bytes(std::span(values)), "test");
    return values;
  }

 private:
  config::ChipConfig chip_;
  task::TaskStream stream_;
  std::optional<task::RunMemory> memory_;
};

double largest_error(const Doubles& got, const Doubles& expected) {
  double error = 0;
  for (usize i = 0; i < expected.size(); ++i)
    error = std::max(error, std::fabs(got.at(i) - expected[i]));
  return error;
}
template <class T>
Doubles doubles(const std::vector<T>& values) {
  if constexpr (std::is_same_v<T, u16>) {
    Doubles out;
    for (const u16 v : values)
      out.push_back(isa::f16_value(v));
    return out;
  } else {
    return {values.begin(), values.end()};
  }
}

class FlashAttention : public ::testing::TestWithParam<u64> {};
TEST_P(FlashAttention, IsSoftmaxOfTheWhole) {
  constexpr usize kQ = 128, kHead = 128;
  const usize k_length = 2 * GetParam() + 512;
  const Halves q = random_halves(kQ * kHead, 1), k = random_halves(k_length * kHead, 2),
               v = random_halves(k_length * kHead, 3);
  KernelRun run("flash_attention", {{"q_length", "128"},
                                    {"k_length", std::to_string(k_length / GetParam() * GetParam())},
                                    {"tile", std::to_string(GetParam())},
                                    {"preload", "2"},
                                    {"fifo", "4"},
                                    {"period", "2"}});
  const usize used = k_length / GetParam() * GetParam();
  run.put(0, q.bits);
  run.put(1, std::vector<u16>(k.bits.begin(), k.bits.begin() + static_cast<std::ptrdiff_t>(used * kHead)));
  run.put(2, std::vector<u16>(v.bits.begin(), v.bits.begin() + static_cast<std::ptrdiff_t>(used * kHead)));
  run.simulate();
  Doubles expected(kQ * kHead);
  for (usize i = 0; i < kQ; ++i) {
    Doubles weight(used);
    double sum = 0;
    for (usize j = 0; j < used; ++j) {
      double dot = 0;
      for (usize h = 0; h < kHead; ++h)
        dot += q.values[i * kHead + h] * k.values[j * kHead + h];
      weight[j] = std::exp(dot / std::sqrt(128.0));
      sum += weight[j];
    }
    for (usize j = 0; j < used; ++j)
      for (usize h = 0; h < kHead; ++h)
        expected[i * kHead + h] += weight[j] / sum * v.values[j * kHead + h];
  }
  EXPECT_LT(largest_error(doubles(run.get<float>(6, kQ * kHead)), expected), 2e-4);
}
INSTANTIATE_TEST_SUITE_P(Tiles, FlashAttention, ::testing::Values(128u, 256u, 512u, 1024u));

TEST(GroupedMatmul, ScalesAndActivatesEachGroup) {
  constexpr usize kM = 256, kN = 1024, kK = 1024, kGroups = 2;
  Random random(4);
  const auto small = [&](usize n) {
    std::vector<std::int8_t> out(n);
    for (std::int8_t& x : out)
      x = static_cast<std::int8_t>(random.uniform() * 9);
    return out;
  };
  const auto scales = [&](usize n, float factor) {
    std::vector<float> out(n);
    for (float& x : out)
      x = (random.uniform() * 0.4f + 1) * factor;
    return out;
  };
  const std::vector<std::int8_t> x = small(kM * kK), w = small(kGroups * kN / 32 * kK * 32);
  const std::vector<float> scale = scales(kGroups * kN, 1e-3f), row_scale = scales(kM, 1);
  Doubles expected(kM * kN);
  for (usize i = 0; i < kM; ++i) {
    const usize g = i / (kM / kGroups);
    for (usize j = 0; j < kN; ++j) {
      int sum = 0;
      for (usize h = 0; h < kK; ++h)  // block columns of 32
        sum += x[i * kK + h] * w[((g * kN / 32 + j / 32) * kK + h) * 32 + j % 32];
      const double y = sum * double{scale[g * kN + j]} * double{row_scale[i]};
      expected[i * kN + j] = y / (1 + std::exp(-1.702 * y));
    }
  }
  for (const auto& [aivs, depth] : {std::pair{"1", "1"}, std::pair{"2", "1"}, std::pair{"2", "4"}}) {
    KernelRun run("grouped_matmul",
                  {{"m", "256"}, {"n", "1024"}, {"groups", "2"}, {"cores", "2"}, {"aivs", aivs}, {"depth", depth}});
    run.put(0, x);
    run.put(1, w);
    run.put(2, scale);
    run.put(3, row_scale);
    run.simulate();
    EXPECT_LT(largest_error(doubles(run.get<u16>(4, kM * kN)), expected), 5e-3) << aivs << ' ' << depth;
  }
}

TEST(Conv2d, IsTheSumOverTheFilter) {
  constexpr usize kC = 2, kH = 6, kW = 40, kF = 256;
  const Halves x = random_halves(kC * kH * kW * 16, 5), k = random_halves(kC * 9 * kF * 16, 6);
  KernelRun run(
      "conv2d",
      {{"batch", "1"}, {"channels", "2"}, {"height", "6"}, {"width", "40"}, {"filters", "256"}, {"split_n", "1"}});
  run.put(0, x.bits);
  run.put(1, k.bits);
  run.simulate();
  Doubles expected(kF * kH * kW);
  for (usize f = 0; f < kF; ++f)
    for (usize h = 0; h < kH; ++h)
      for (usize w = 0; w < kW; ++w)
        for (usize c = 0; c < kC; ++c)
          for (usize tap = 0; tap < 9; ++tap) {
            const usize row = h + tap / 3, column = w + tap % 3;  // one further, for the border
            if (row == 0 || row > kH || column == 0 || column > kW) continue;
            for (usize c0 = 0; c0 < 16; ++c0)
              expected[((f / 16 * kH + h) * kW + w) * 16 + f % 16] +=
                  x.values[((c * kH + row - 1) * kW + column - 1) * 16 + c0] *
                  k.values[((c * 9 + tap) * kF + f) * 16 + c0];
          }
  EXPECT_LT(largest_error(doubles(run.get<u16>(2, kF * kH * kW)), expected), 2e-2);
}

// C[200,304] of f32 for B in each layout, with what `more` says of the kernel.
void expect_products(usize k, const Parameters& more) {
  constexpr usize kM = 200, kN = 304;
  const Halves a = random_halves(kM * k, 7), b = random_halves(k * kN, 8);
  Doubles expected(kM * kN);
  for (usize i = 0; i < kM; ++i)
    for (usize h = 0; h < k; ++h)
      for (usize j = 0; j < kN; ++j)
        expected[i * kN + j] += a.values[i * k + h] * b.values[h * kN + j];
  for (const std::string layout : {"rows", "b_transposed", "b_nz"}) {
    Parameters p{{"m", "200"},       {"n", "304"},      {"k", std::to_string(k)},
                 {"out_bytes", "4"}, {"base_n", "128"}, {"split_m", "2"}};
    p.insert(more.begin(), more.end());
    std::vector<u16> stored = b.bits;
    for (usize h = 0; h < k; ++h)
      for (usize j = 0; j < kN; ++j) {
        if (layout == "b_transposed") stored[j * k + h] = b.bits[h * kN + j];
        if (layout == "b_nz") stored[(j / 16 * k + h) * 16 + j % 16] = b.bits[h * kN + j];
      }
    if (layout != "rows") p[layout] = "1";
    KernelRun run("matmul", p);
    run.put(0, a.bits);
    run.put(1, stored);
    run.simulate();
    EXPECT_LT(largest_error(doubles(run.get<float>(2, kM * kN)), expected), 1e-3) << layout;
  }
}

// Tiles dealt to cores, a rest of k.
TEST(Matmul, IsTheProductInEveryLayout) {
  expect_products(208, {{"step_ka", "2"}});
  expect_products(208, {{"step_ka", "2"}, {"swizzle", "2"}, {"unit_flag", "1"}});
  for (const usize k : {208, 256})  // with a rest, and without
    for (const char* apart : {"0", "1"})
      expect_products(k, {{"step_ka", "2"}, {"l1_slots", "1"}, {"release_apart", apart}});
}

// With one slot of A the next copy to it goes on while B is loaded to L0.
TEST(Matmul, FreesASlotOfL1BeforeTheOtherOperandIsLoaded) {
  for (const char* k : {"512", "528"}) {
    const Parameters p{{"m", "128"}, {"n", "256"}, {"k", k}, {"l1_slots", "1"}, {"b_transposed", "1"}};
    Parameters apart = p;
    apart["release_apart"] = "1";
    EXPECT_LT(KernelRun("matmul", apart).simulate() + 500, KernelRun("matmul", p).simulate()) << k;
  }
}

TEST(Matmul, IsTheProductWhereverCoresBegin) { expect_products(256, {{"swizzle", "2"}, {"shuffle_k", "1"}}); }

TEST(Reduction, IsOneNumberForEachRow) {
  Random random(9);
  std::vector<float> x(32 * 256);
  for (float& v : x)
    v = random.uniform();
  KernelRun sums("reduction",
                 {{"rows", "32"}, {"columns", "256"}, {"tile_rows", "16"}, {"tile_columns", "64"}, {"op", "add"}});
  sums.put(0, x);
  sums.simulate();
  Doubles expected(32);
  for (usize i = 0; i < x.size(); ++i)
    expected[i / 256] += x[i];
  EXPECT_LT(largest_error(doubles(sums.get<float>(1, 32)), expected), 1e-4);
  KernelRun smallest("reduction", {{"columns", "8000"}, {"tile_columns", "1639"}, {"shared", "1"}, {"op", "min"}});
  x.resize(8000);
  smallest.put(0, x);
  smallest.put(1, std::vector<float>{7});
  smallest.simulate();
  EXPECT_EQ(smallest.get<float>(1, 1)[0], std::ranges::min(x));
}

}  // namespace
}  // namespace vinci::validate
