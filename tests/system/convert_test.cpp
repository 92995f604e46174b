// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// `vinci convert` on files: what it writes, what it reads back, what it leaves alone.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "sim/io/atomic_file.h"
#include "sim/io/npy.h"
#include "tests/support/shell.h"

namespace vinci {
namespace {

using Shape = std::vector<u64>;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::vector<int>& values) {
  Bytes out;
  for (const int v : values)
    out.push_back(static_cast<std::byte>(v));
  return out;
}

class Convert : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view dtype, const Shape& shape, const Bytes& data) const {
    io::write_file_atomically(folder_ / name, io::to_npy(dtype, shape, data));
  }
  // Bytes that differ from each other as long as they can.
  void write_counting(const std::string& name, std::string_view dtype, const Shape& shape) const {
    Bytes data(io::npy_bytes(dtype, shape));
    for (usize i = 0; i < data.size(); ++i)
      data[i] = static_cast<std::byte>(i % 255 + 1);
    write(name, dtype, shape, data);
  }
  std::string read(const std::string& name) const { return test::slurp(folder_ / name); }
  std::string npy(std::string_view dtype, const Shape& shape, const Bytes& data) const {
    const Bytes file = io::to_npy(dtype, shape, data);
    return {reinterpret_cast<const char*>(file.data()), file.size()};
  }
  // What it printed; it must succeed.
  std::string convert(const std::string& arguments) const {
    const auto r = test::shell(folder_.path(), "'" VINCI_BINARY "' convert " + arguments + " 2>&1");
    EXPECT_EQ(r.exit_code, 0) << arguments << "\n" << r.output;
    return r.output;
  }

  test::TempFolder folder_{fmt::format("vinci_{}", testing::UnitTest::GetInstance()->current_test_info()->name())};
};

TEST_F(Convert, ThereAndBackGivesTheSameFile) {
  struct Case {
    std::string plain;
    Shape shape;
    std::vector<std::string> formats;
    std::string options;
  };
  const std::vector<Case> cases{
      {"ND", {2, 19, 35}, {"NZ", "zZ", "nZ", "nN", "ND"}, ""},
      {"NCHW", {5, 19, 3, 2}, {"NHWC", "HWCN", "NC1HWC0", "NC1HWC0_C04", "FRACTAL_Z", "C1HWNCoC0"}, ""},
      {"NCHW", {6, 2, 3, 2}, {"FRACTAL_Z", "HWCN"}, "--groups 3 "},
      {"NCDHW", {2, 17, 2, 3, 2}, {"NDHWC", "DHWCN", "NDC1HWC0", "FRACTAL_Z_3D"}, ""},
  };
  for (const Case& c : cases) {
    for (const std::string dtype : {"f2", "i1"}) {
      write_counting("in.npy", dtype, c.shape);
      for (const std::string& format : c.formats) {
        if (format == "HWCN" && !c.options.empty()) continue;
        convert(fmt::format("{}in.npy mid.npy --from {} --to {}", c.options, c.plain, format));
        convert(fmt::format("{}mid.npy out.npy --from {} --to {} --shape {}", c.options, format, c.plain,
                            fmt::join(c.shape, ",")));
        EXPECT_EQ(read("out.npy"), read("in.npy")) << format << " " << dtype;
      }
    }
  }
}

TEST_F(Convert, EveryTypeOfElement) {
  for (const std::string_view dtype : io::kNpyTypes) {
    write_counting("in.npy", dtype, {3, 5});
    convert("in.npy nz.npy --from ND --to NZ");
    const u64 bytes = io::npy_element_bytes(dtype), c0 = 32 / bytes, n1 = (5 + c0 - 1) / c0;
    Bytes want(n1 * 16 * 32);
    for (u64 i = 0; i < 15 * bytes; ++i) {
      const u64 row = i / bytes / 5, col = i / bytes % 5;
      want[(col / c0 * 16 + row) * 32 + col % c0 * bytes + i % bytes] = static_cast<std::byte>(i + 1);
    }
    EXPECT_EQ(read("nz.npy"), npy(dtype, {n1, 1, 16, c0}, want)) << dtype;
  }
}

// Pairs, the first element in the low half: 2 channels of 2 x 2 are four bytes; storage has 64 channels in 32 bytes.
TEST_F(Convert, Int4LiesInPairs) {
  write("in.npy", "u1", {1, 2, 2, 1}, bytes_of({0x21, 0x43, 0x65, 0x87}));
  EXPECT_EQ(convert("in.npy out.npy --from NCHW --to NC1HWC0 --dtype int4"),
            "out.npy: NC1HWC0 (1, 1, 2, 2, 64) of int4, 248 elements of padding\n");
  Bytes want(4 * 32);
  want[0] = std::byte{0x51};
  want[32] = std::byte{0x62};
  want[64] = std::byte{0x73};
  want[96] = std::byte{0x84};
  EXPECT_EQ(read("out.npy"), npy("u1", {1, 1, 2, 2, 32}, want));
  convert("out.npy back.npy --from NC1HWC0 --to NCHW --dtype int4 --shape 1,2,2,2");
  EXPECT_EQ(read("back.npy"), read("in.npy"));
}

TEST_F(Convert, Bf16IsSixteenBits) {
  write_counting("in.npy", "u2", {3, 5});
  EXPECT_EQ(convert("in.npy out.npy --from ND --to zZ --dtype bf16"),
            "out.npy: FRACTAL_ZZ (1, 1, 16, 16) of bf16, 241 elements of padding\n");
  EXPECT_EQ(read("out.npy").substr(128, 10), read("in.npy").substr(128, 10));
}

// A run writes buffers without a shape as one dimension; that is the storage too. Accumulators have C0 = 16.
TEST_F(Convert, TakesFlatStorageAndTheC0OfAccumulators) {
  write_counting("in.npy", "f4", {20, 20});
  convert("in.npy nz.npy --from ND --to NZ --c0 16");
  const std::string nz = read("nz.npy");
  ASSERT_EQ(nz.size(), 128u + 32 * 32 * 4);
  Bytes flat(32 * 32 * 4);
  std::memcpy(flat.data(), nz.data() + 128, flat.size());
  write("flat.npy", "f4", {32 * 32}, flat);
  convert("flat.npy out.npy --from NZ --to ND --shape 20,20 --c0 16");
  EXPECT_EQ(read("out.npy"), read("in.npy"));
}

TEST_F(Convert, TellsOfPaddingThatIsNotZero) {
  write("nz.npy", "u1", {1, 1, 16, 32}, Bytes(512, std::byte{7}));
  EXPECT_EQ(convert("nz.npy out.npy --from NZ --to ND --shape 2,31"),
            "note: nz.npy: 450 of 450 elements of padding are not zero, the first at (0, 0, 0, 31); they are left out\n"
            "out.npy: ND (2, 31) of u1, 0 elements of padding\n");
  EXPECT_EQ(read("out.npy"), npy("u1", {2, 31}, Bytes(62, std::byte{7})));
}

TEST_F(Convert, FailureLeavesTheOldFile) {
  write("nz.npy", "u1", {1, 1, 16, 32}, Bytes(512, std::byte{7}));
  std::ofstream(folder_ / "out.npy") << "precious";
  const auto r = test::shell(folder_.path(),
                             "'" VINCI_BINARY "' convert nz.npy out.npy --from NZ --to ND --shape 2,31 --strict 2>&1");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(read("out.npy"), "precious");
}

TEST_F(Convert, TheManualHasTheListOfFormats) {
  const std::string list = convert("--list");
  EXPECT_NE(list.find("\nFRACTAL_NZ NZ Nz zN     29 "), std::string::npos) << list;
  EXPECT_NE(test::slurp(FORMATS_DOC).find("```\n" + list + "```\n"), std::string::npos)
      << "docs/formats.md does not hold what `vinci convert --list` prints";
}

}  // namespace
}  // namespace vinci
