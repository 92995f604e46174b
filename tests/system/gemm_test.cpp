// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Generated matrix products of any shape: right to a stated bound, and the same in every mode.
#include "tools/gen/gemm.h"

#include <cblas.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/io/npy.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"
#include "tests/system/all_modes.h"
#include "tools/gen/gemm_tiling.h"

namespace vinci {
namespace {

namespace fs = std::filesystem;

struct Shape {
  u64 m, n, k;
};

// Exact, and on purpose not the conversion of isa/numeric.
double widen(u16 bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = std::ldexp(exponent == 0 ? fraction : fraction + 1024, std::max(exponent, 1) - 25);
  if (exponent == 31) magnitude = fraction == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::vector<double> widen(const std::vector<u16>& bits) {
  std::vector<double> out;
  out.reserve(bits.size());
  for (const u16 b : bits)
    out.push_back(widen(b));
  return out;
}

std::vector<double> multiply(const std::vector<double>& a, const std::vector<double>& b, const Shape& s) {
  std::vector<double> c(s.m * s.n);
  const auto m = static_cast<blasint>(s.m), n = static_cast<blasint>(s.n), k = static_cast<blasint>(s.k);
  openblas_set_num_threads(1);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n);
  return c;
}

std::vector<double> absolute(std::vector<double> v) {
  for (double& x : v)
    x = std::fabs(x);
  return v;
}

double half_ulp_f16(double magnitude) {
  return std::ldexp(1.0, (magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude)) - 11);
}

// A folder that goes away with the test.
class Gemm : public testing::Test {
 protected:
  Gemm() {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ranges::replace(name, '/', '_');
    folder_ = fs::temp_directory_path() / fmt::format("vinci_gemm_{}_{}", name, ::getpid());
    fs::remove_all(folder_);
  }
  ~Gemm() override { fs::remove_all(folder_); }

  task::TaskStream generate(const gen::GemmProblem& p, const config::ChipConfig& chip) {
    gen::write_gemm(p, chip, 7, folder_.string());
    return task::load_task_stream((folder_ / "gemm.yaml").string());
  }

  void write_matrix(const std::string& name, u64 rows, u64 columns, const std::vector<u16>& bits) {
    const std::vector<u64> shape{rows, columns};
    io::write_file_atomically((folder_ / name).string(), io::to_npy("f2", shape, std::as_bytes(std::span(bits))));
  }

  // FP32 sums of exact products, k of them in any order, are within k * 2^-24 * |A||B| of the exact sum (to first
  // order, hence k + 1); rounding to FP16 adds half a unit in the last place.
  void expect_right(const Shape& s, const gen::GemmProblem& p, const config::ChipConfig& chip) {
    const task::TaskStream stream = generate(p, chip);
    const test::Outcome out = test::run_all_modes(chip, stream);
    const std::vector<double> a = widen(out.values<u16>(stream, "a")), b = widen(out.values<u16>(stream, "b"));
    const std::vector<double> ref = multiply(a, b, s), magnitude = multiply(absolute(a), absolute(b), s);
    std::vector<double> c;
    if (p.out_f32) {
      const auto values = out.values<float>(stream, "c");
      c.assign(values.begin(), values.end());
    } else {
      c = widen(out.values<u16>(stream, "c"));
    }
    ASSERT_EQ(c.size(), ref.size());
    u64 wrong = 0;
    for (usize i = 0; i < c.size(); ++i) {
      double bound = static_cast<double>(s.k + 1) * 0x1p-24 * magnitude[i];
      if (!p.out_f32) bound += half_ulp_f16(std::fabs(ref[i]) + bound);
      if (std::fabs(c[i] - ref[i]) <= bound) continue;  // false for NaN and infinity
      if (++wrong <= 3) {
        ADD_FAILURE() << "c[" << i / s.n << "," << i % s.n << "] = " << c[i] << ", reference " << ref[i] << " +- "
                      << bound;
      }
    }
    EXPECT_EQ(wrong, 0u);
    // The split core computes a second row where there is one only.
    if (chip.vector_cores == 0) {
      EXPECT_EQ(out.result.cube_macs, s.m * s.n * s.k);
    } else {
      EXPECT_GE(out.result.cube_macs, s.m * s.n * s.k);
    }
  }

  fs::path folder_;
};

struct Case {
  std::string chip;
  Shape shape;
};

std::string text(const Case& c) { return fmt::format("{}_{}x{}x{}", c.chip, c.shape.m, c.shape.n, c.shape.k); }

void PrintTo(const Case& c, std::ostream* out) { *out << text(c); }

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = text(info.param);
  std::ranges::replace(name, '-', '_');
  return name;
}

std::vector<Case> on_each(const std::vector<std::string>& chips, const std::vector<Shape>& shapes) {
  std::vector<Case> out;
  for (const std::string& chip : chips) {
    for (const Shape& s : shapes)
      out.push_back({chip, s});
  }
  return out;
}

class AnyShape : public Gemm, public testing::WithParamInterface<Case> {};

// Both output types, with and without double buffering; which goes with which changes from chip to chip.
TEST_P(AnyShape, IsRightAndTheSameInAllModes) {
  const auto& [name, s] = GetParam();
  const config::ChipConfig chip = config::load_chip(name);
  const bool split = chip.vector_cores > 0;
  for (const bool out_f32 : {false, true}) {
    const bool double_buffer = out_f32 != split;
    SCOPED_TRACE(fmt::format("out {}, double buffer {}", out_f32 ? "f32" : "f16", double_buffer));
    expect_right(s, {.m = s.m, .n = s.n, .k = s.k, .out_f32 = out_f32, .double_buffer = double_buffer}, chip);
  }
}

// m, n, k
const std::vector<Shape> kShapes{
    {1, 1, 1},      {1, 1, 2},       {2, 1, 1},       {1, 2, 1},       {1, 1, 15},      {1, 1, 16},
    {1, 1, 17},     {15, 15, 15},    {16, 16, 16},    {17, 17, 17},    {16, 16, 1},     {17, 33, 65},
    {1, 16, 16},    {16, 1, 16},     {31, 32, 33},    {1, 1000, 16},   {1000, 1, 16},   {1, 257, 513},
    {257, 1, 513},  {255, 129, 1},   {127, 127, 127}, {128, 128, 128}, {129, 129, 129}, {255, 255, 63},
    {256, 256, 64}, {257, 257, 65},  {97, 101, 103},  {211, 223, 227}, {509, 7, 19},    {7, 521, 11},
    {3, 5, 1021},   {16, 16, 4096},  {16, 16, 4095},  {16, 16, 4097},  {32, 48, 511},   {32, 48, 512},
    {32, 48, 513},  {48, 160, 2047}, {300, 500, 100}, {640, 384, 96},  {513, 511, 257}, {1, 1, 70000},
    {3, 70001, 2},  {70001, 3, 2},   {2, 3, 65535},   {2, 3, 65536},   {5, 65537, 1},   {1000, 1000, 1000},
};
const std::vector<Shape> kFewShapes{{1, 1, 1},    {17, 33, 65}, {128, 127, 129},
                                    {1, 300, 40}, {300, 1, 40}, {16, 16, 4096}};

INSTANTIATE_TEST_SUITE_P(Large, AnyShape, testing::ValuesIn(on_each({"ascend-910a", "ascend-910b1"}, kShapes)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Small, AnyShape,
                         testing::ValuesIn(on_each({"ascend-310", "ascend-310p3", "tiny", "tiny-joint"}, kFewShapes)),
                         case_name);

using OnChip = Gemm;

// Integers whose sums are exact: here no bound is needed.
TEST_F(OnChip, SmallIntegersAreExact) {
  const Shape s{37, 53, 95};  // sums stay below 95 * 16 < 2048
  constexpr u16 kInteger[] = {0xc400, 0xc200, 0xc000, 0xbc00, 0x0000, 0x3c00, 0x4000, 0x4200, 0x4400};  // -4 .. 4
  std::vector<u16> a(s.m * s.k), b(s.k * s.n);
  std::vector<int> ia(a.size()), ib(b.size());
  for (usize i = 0; i < a.size(); ++i) {
    ia[i] = static_cast<int>(i * 7 % 9) - 4;
    a[i] = kInteger[ia[i] + 4];
  }
  for (usize i = 0; i < b.size(); ++i) {
    ib[i] = static_cast<int>((i * 5 + i / 53) % 9) - 4;
    b[i] = kInteger[ib[i] + 4];
  }
  for (const std::string name : {"ascend-910a", "ascend-910b1", "ascend-310p3", "ascend-310"}) {
    for (const bool out_f32 : {false, true}) {
      SCOPED_TRACE(fmt::format("{} f32 {}", name, out_f32));
      const config::ChipConfig chip = config::load_chip(name);
      generate({.m = s.m, .n = s.n, .k = s.k, .out_f32 = out_f32}, chip);
      write_matrix("a.npy", s.m, s.k, a);
      write_matrix("b.npy", s.k, s.n, b);
      const task::TaskStream stream = task::load_task_stream((folder_ / "gemm.yaml").string());
      const test::Outcome out = test::run_all_modes(chip, stream);
      const auto f32 = out_f32 ? out.values<float>(stream, "c") : std::vector<float>{};
      const auto f16 = out_f32 ? std::vector<double>{} : widen(out.values<u16>(stream, "c"));
      for (u64 i = 0; i < s.m; ++i) {
        for (u64 j = 0; j < s.n; ++j) {
          int sum = 0;
          for (u64 x = 0; x < s.k; ++x)
            sum += ia[i * s.k + x] * ib[x * s.n + j];
          ASSERT_EQ(out_f32 ? double{f32[i * s.n + j]} : f16[i * s.n + j], sum) << i << "," << j;
        }
      }
    }
  }
}

// Counts the flags of each core and pair of pipes.
class FlagCounter : public trace::Sink {
 public:
  trace::TrackId track(std::string_view group, std::string_view) override {
    groups_.emplace_back(group);
    return static_cast<trace::TrackId>(groups_.size() - 1);
  }
  void span(const trace::Span& s) override {
    const bool set = s.name == "set_flag";
    if (!set && s.name != "wait_flag") return;
    // "set_flag PIPE_M, PIPE_FIX, EVENT_ID0": the flag is what follows the name
    const std::string flag(s.detail.substr(s.name.size()));
    balance_[groups_[s.track] + flag] += set ? 1 : -1;
    ++flags_;
  }
  void flow(trace::TrackId, u64, trace::TrackId, u64, std::string_view) override {}

  const std::map<std::string, i64>& balance() const { return balance_; }
  u64 flags() const { return flags_; }

 private:
  std::vector<std::string> groups_;
  std::map<std::string, i64> balance_;
  u64 flags_ = 0;
};

TEST_F(OnChip, EveryFlagThatIsSetIsWaitedFor) {
  for (const std::string name : {"tiny", "tiny-joint"}) {
    for (const bool double_buffer : {false, true}) {
      const config::ChipConfig chip = config::load_chip(name);
      const task::TaskStream stream =
          generate({.m = 200, .n = 150, .k = 700, .out_f32 = false, .double_buffer = double_buffer}, chip);
      FlagCounter counter;
      test::run_all_modes(chip, stream, &counter);
      EXPECT_GT(counter.flags(), 20u);
      for (const auto& [flag, balance] : counter.balance())
        EXPECT_EQ(balance, 0) << name << ": " << flag;
    }
  }
}

// Of a chip with one event id for each pair of pipes there is one slot of each kind.
TEST_F(OnChip, OneEventIdIsEnough) {
  for (const std::string name : {"tiny", "tiny-joint"}) {
    config::ChipConfig chip = config::load_chip(name);
    chip.core.flags_per_pair = 1;
    FlagCounter counter;
    test::run_all_modes(chip, generate({.m = 200, .n = 150, .k = 700}, chip), &counter);
    EXPECT_GT(counter.flags(), 20u);
    for (const auto& [flag, balance] : counter.balance())
      EXPECT_TRUE(flag.ends_with("EVENT_ID0")) << name << ": " << flag;
  }
}

// Cycles of the kernel.
u64 kernel_cycles(const config::ChipConfig& chip, const task::TaskStream& stream) {
  task::RunMemory memory(stream, false);
  for (const models::TaskTime& t : models::simulate(chip, stream, memory, {}).tasks) {
    if (t.blocks > 0) return t.end - t.start;
  }
  return 0;
}

// The point of two slots: copies and the cube overlap.
TEST_F(OnChip, DoubleBufferingIsFaster) {
  for (const std::string name : {"ascend-910a", "ascend-910b1"}) {
    const config::ChipConfig chip = config::load_chip(name);
    std::array<u64, 2> cycles{};
    for (const bool double_buffer : {false, true}) {
      const task::TaskStream stream =
          generate({.m = 512, .n = 512, .k = 2048, .out_f32 = false, .double_buffer = double_buffer}, chip);
      cycles[double_buffer ? 1 : 0] = kernel_cycles(chip, stream);
    }
    EXPECT_LT(cycles[1], cycles[0]) << name;
  }
}

// What tiles are for: traffic stays below what memory gives. A cube does 4096 multiply-accumulates a cycle.
TEST_F(OnChip, LargeProductsKeepTheCubesBusy) {
  constexpr u64 kEdge = 2048;
  for (const std::string name : {"ascend-910b1", "ascend-910b4", "ascend-910a", "ascend-310p3"}) {
    config::ChipConfig chip = config::load_chip(name);
    chip.scheduler.first_start = chip.scheduler.first_start_per_core = config::Seconds(0);  // no matter of tiles
    const task::TaskStream stream = generate({.m = kEdge, .n = kEdge, .k = kEdge}, chip);
    const u64 least = kEdge * kEdge * kEdge / 4096 / chip.ai_cores;
    EXPECT_LT(kernel_cycles(chip, stream), least * 5 / 3) << name;
  }
}

// Whole lines of B and C, and no core without work where there is enough.
TEST_F(OnChip, TilesFitTheMemory) {
  const config::ChipConfig b1 = config::load_chip("ascend-910b1");
  const gen::GemmTiling large = gen::choose_tiling({.m = 8192, .n = 8192, .k = 8192}, b1);
  EXPECT_EQ(large.tile_m, 128u);
  EXPECT_EQ(large.tile_n, 256u);
  EXPECT_EQ(large.l1_k, 256u);
  EXPECT_EQ(large.l0_k, 64u);
  for (const u64 edge : {1024, 2048, 4096}) {
    for (const std::string name : {"ascend-910b1", "ascend-910b4", "ascend-910a", "ascend-310p3", "ascend-310"}) {
      const config::ChipConfig chip = config::load_chip(name);
      const gen::GemmTiling t = gen::choose_tiling({.m = edge, .n = edge, .k = edge}, chip);
      EXPECT_EQ(t.blocks, chip.ai_cores) << name << " " << edge;
      EXPECT_EQ(t.tile_n * 2 % 256, 0u) << name << " " << edge;
    }
  }
}

}  // namespace
}  // namespace vinci
