// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// vinci-gemm-check: it accepts what is right, and one wrong unit is enough for it to refuse.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <span>
#include <string>
#include <vector>

#include "sim/io/atomic_file.h"
#include "sim/io/npy.h"
#include "tests/support/shell.h"

namespace vinci {
namespace {

class GemmCheck : public testing::Test {
 protected:
  template <class T>
  void write(const std::string& name, std::string_view dtype, const std::vector<u64>& shape,
             const std::vector<T>& values) {
    io::write_file_atomically(folder_ / name, io::to_npy(dtype, shape, std::as_bytes(std::span(values))));
  }
  void write_inputs() {
    write<u16>("a.npy", "f2", {1, 2}, {0x3c00, 0x4000});                        // 1 2
    write<u16>("b.npy", "f2", {2, 3}, {0x3c00, 0, 0x0001, 0x3800, 0, 0x8001});  // 1 0 2^-24; 0.5 0 -2^-24
  }
  test::ShellResult check() { return test::shell(folder_.path(), "'" VINCI_GEMM_CHECK "' a.npy b.npy c.npy 2>&1"); }
  void expect(int exit_code, const std::string& output) {
    const auto r = check();
    EXPECT_EQ(r.exit_code, exit_code);
    EXPECT_EQ(r.output, output);
  }

  test::TempFolder folder_{
      fmt::format("vinci_check_{}", testing::UnitTest::GetInstance()->current_test_info()->name())};
};

TEST_F(GemmCheck, AcceptsTheExactResult) {
  write_inputs();
  write<float>("c.npy", "f4", {1, 3}, {2, 0, -0x1p-24f});
  expect(0, "elements            3 (1 x 3, k = 2, FP32)\nmax absolute error  0\nmax error / bound   0\nPASS\n");
  write<u16>("c.npy", "f2", {1, 3}, {0x4000, 0x8000, 0x8001});  // -0 is a zero
  EXPECT_EQ(check().exit_code, 0);
}

TEST_F(GemmCheck, RefusesWhatIsBeyondTheBound) {
  write_inputs();
  // The bound of the first element is 4 * 2^-23 * 2 = 2^-20.
  write<float>("c.npy", "f4", {1, 3}, {2 + 0x1p-20f, 0, -0x1p-24f});
  EXPECT_EQ(check().exit_code, 0);
  write<float>("c.npy", "f4", {1, 3}, {2 + 0x1.8p-20f, 0, -0x1p-24f});
  expect(1,
         "elements            3 (1 x 3, k = 2, FP32)\nmax absolute error  1.43051e-06\nmax error / bound   1.5\n"
         "FAIL: 1 elements are beyond the bound; worst is [0, 0]: 2.00000143, reference 2\n");
  // Nothing is added up in the second column: it must be zero.
  write<float>("c.npy", "f4", {1, 3}, {2, 0x1p-149f, -0x1p-24f});
  EXPECT_EQ(check().exit_code, 1);
  // One unit of FP16 at 2 is 2^-9, four hundred times the bound.
  write<u16>("c.npy", "f2", {1, 3}, {0x4001, 0, 0x8001});
  EXPECT_EQ(check().exit_code, 1);
  write<float>("c.npy", "f4", {1, 3}, {std::bit_cast<float>(0x7fc00000u), 0, -0x1p-24f});
  EXPECT_EQ(check().exit_code, 1);
}

TEST_F(GemmCheck, OverflowOfFp16MaySaturate) {
  write<u16>("a.npy", "f2", {1, 1}, {0x7bff});
  write<u16>("b.npy", "f2", {1, 1}, {0x4000});
  for (const u16 right : {u16{0x7bff}, u16{0x7c00}}) {
    write<u16>("c.npy", "f2", {1, 1}, {right});
    EXPECT_EQ(check().exit_code, 0) << right;
  }
  for (const u16 wrong : {u16{0x7bfe}, u16{0xfc00}, u16{0x7e00}, u16{0xfbff}}) {
    write<u16>("c.npy", "f2", {1, 1}, {wrong});
    EXPECT_EQ(check().exit_code, 1) << wrong;
  }
}

TEST_F(GemmCheck, WrongInput) {
  write_inputs();
  expect(2, "error: cannot read 'c.npy': No such file or directory\n");
  write<u16>("c.npy", "f2", {3, 1}, {0, 0, 0});
  expect(2, "error: the shapes do not fit: A 1 x 2, B 2 x 3, C 3 x 1; needed are [m,k], [k,n] and [m,n]\n");
  write<u16>("c.npy", "f2", {3}, {0, 0, 0});
  expect(2, "error: c.npy: a matrix has 2 dimensions, this array has 1\n");
  write<i32>("c.npy", "i4", {1, 3}, {0, 0, 0});
  expect(2, "error: c.npy: the elements are i4, but C must be f2 or f4\n");
  write<float>("c.npy", "f4", {1, 3}, {2, 0, 0});
  write<u16>("a.npy", "f2", {1, 2}, {0x3c00, 0x7c00});
  expect(2, "error: a.npy: element [0, 1] is inf; no error bound can be given\n");
  write<float>("a.npy", "f4", {1, 2}, {1, 2});
  expect(2, "error: a.npy: the elements are f4, but A and B must be f2\n");
  const auto r = test::shell(folder_.path(), "'" VINCI_GEMM_CHECK "' a.npy b.npy 2>&1");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.output, "error: C is required\nTry 'vinci-gemm-check --help'.\n");
}

TEST_F(GemmCheck, JudgesARun) {
  const auto run = test::shell(folder_.path(), "'" VINCI_BINARY
                                               "' gen gemm --m 70 --n 90 --k 333 --chip tiny -o . && "
                                               "'" VINCI_BINARY "' run gemm.yaml --chip tiny -q --out . 2>&1");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto good = check();
  EXPECT_EQ(good.exit_code, 0) << good.output;
  // One element becomes a NaN.
  EXPECT_EQ(test::shell(folder_.path(), "printf '\\377\\377' | dd of=c.npy bs=1 seek=5000 conv=notrunc 2>&1").exit_code,
            0);
  EXPECT_EQ(check().exit_code, 1);
}

}  // namespace
}  // namespace vinci
