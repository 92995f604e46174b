// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "isa/base/error.h"

namespace vinci::io {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::byte> bytes_of(std::string_view s) {
  std::vector<std::byte> out(s.size());
  std::memcpy(out.data(), s.data(), s.size());
  return out;
}

// A file with this dictionary, in format version `major`.0, and `payload` zero bytes.
std::vector<std::byte> file_with(std::string_view dictionary, usize payload, int major = 1) {
  std::string s = "\x93NUMPY";
  s += static_cast<char>(major);
  s += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    s += static_cast<char>(dictionary.size() >> (8 * i));
  s += dictionary;
  s.append(payload, '\0');
  return bytes_of(s);
}

NpyHeader parse(const std::vector<std::byte>& file) { return parse_npy_header(file, file.size(), "x.npy"); }

std::string refusal(const std::vector<std::byte>& file) {
  try {
    parse(file);
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Input);
    return e.what();
  }
  return "accepted";
}

TEST(Npy, HeaderIsWhatNumpyWrites) {
  const auto file = to_npy("f2", std::vector<u64>{2, 3}, std::vector<std::byte>(12));
  ASSERT_EQ(file.size(), 128u + 12u);
  EXPECT_EQ(std::memcmp(file.data(), "\x93NUMPY\x01\x00\x76\x00", 10), 0);
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + 10, 118);
  EXPECT_TRUE(text.starts_with("{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }   "));
  EXPECT_EQ(text.back(), '\n');
}

TEST(Npy, RoundTripsEveryTypeAndRank) {
  for (const std::string_view dtype : kNpyTypes) {
    for (const std::vector<u64>& shape : std::vector<std::vector<u64>>{{}, {5}, {2, 3}, {4, 0, 7}, {1, 1, 1, 1}}) {
      std::vector<std::byte> data(npy_bytes(dtype, shape));
      for (usize i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::byte>(i * 7);
      const auto file = to_npy(dtype, shape, data);
      const NpyHeader h = parse(file);
      EXPECT_EQ(h.dtype, dtype);
      EXPECT_EQ(h.shape, shape);
      EXPECT_EQ(h.data_offset % 64, 0u);
      EXPECT_EQ(std::vector<std::byte>(file.begin() + static_cast<std::ptrdiff_t>(h.data_offset), file.end()), data);
    }
  }
}

TEST(Npy, ReadsVersion2AnyKeyOrderAndDoubleQuotes) {
  const NpyHeader h = parse(file_with("{\"shape\":(3,),'fortran_order':False,'descr':'|i1'}\n", 3, 2));
  EXPECT_EQ(h.dtype, "i1");
  EXPECT_THAT(h.shape, ElementsAre(3));
  EXPECT_EQ(h.data_bytes, 3u);
  EXPECT_THAT(parse(file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 8)).shape, IsEmpty());
}

TEST(Npy, RefusesWithTheReason) {
  const auto with = [](std::string_view descr, std::string_view order, std::string_view shape, usize payload) {
    return refusal(file_with("{'descr': " + std::string(descr) + ", 'fortran_order': " + std::string(order) +
                                 ", 'shape': " + std::string(shape) + ", }",
                             payload));
  };
  EXPECT_EQ(with("'<f2'", "True", "(2,)", 4),
            "x.npy: bad .npy header: the array is in Fortran order; save it with numpy.ascontiguousarray");
  EXPECT_EQ(with("'>f4'", "False", "(2,)", 8), "x.npy: bad .npy header: type '>f4' is big endian; save it as '<f4'");
  EXPECT_EQ(with("'<c8'", "False", "(2,)", 16),
            "x.npy: bad .npy header: type '<c8' is not one of <f2 <f4 <f8 <i1 <i2 <i4 <i8 <u1 <u2 <u4 <u8 <b1");
  EXPECT_EQ(with("[('a', '<f2')]", "False", "(2,)", 4), "x.npy: bad .npy header: structured types are not supported");
  EXPECT_EQ(with("'<f2'", "False", "(2, 3)", 10),
            "x.npy: shape (2, 3) of f2 does not fit the 10 bytes that follow the .npy header");
  EXPECT_EQ(with("'<f2'", "False", "(9223372036854775808, 4)", 8),
            "x.npy: shape (9223372036854775808, 4) of f2 does not fit the 8 bytes that follow the .npy header");
  EXPECT_EQ(with("'<f2'", "False", "(3)", 6), "x.npy: bad .npy header: a tuple of one size needs a comma");
  EXPECT_EQ(with("'<f2'", "False", "(-3,)", 6), "x.npy: bad .npy header: expected a size at byte 51");
  EXPECT_EQ(with("'<f2'", "0", "(3,)", 6), "x.npy: bad .npy header: expected True or False at byte 34");
  EXPECT_EQ(refusal(bytes_of("PK\x03\x04 zipped")), "x.npy: not a .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(refusal(file_with("{}", 0)), "x.npy: bad .npy header: 'descr', 'fortran_order' and 'shape' are all needed");
  EXPECT_EQ(refusal(file_with("{'a': 1}", 0)),
            "x.npy: bad .npy header: key 'a' is repeated or not one of 'descr', 'fortran_order', 'shape'");
  auto version3 = file_with("{}", 0);
  version3[6] = std::byte{3};
  EXPECT_EQ(refusal(version3), "x.npy: .npy version 3.0 is not supported; 1.0 and 2.0 are");
}

TEST(Npy, EveryTruncationIsRefused) {
  const auto file = to_npy("f4", std::vector<u64>{2, 2}, std::vector<std::byte>(16));
  for (usize n = 0; n < file.size(); ++n) {
    EXPECT_NE(refusal({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n)}), "accepted") << n;
  }
}

TEST(Npy, HeaderLengthIsBoundedBeforeAnythingIsRead) {
  const auto file = bytes_of({"\x93NUMPY\x02\x00\xff\xff\xff\xff", 12});
  EXPECT_EQ(refusal(file), "x.npy: the .npy header says it has 4294967295 bytes; at most 65524 are read");
}

TEST(Npy, SizesAreChecked) {
  EXPECT_EQ(npy_bytes("f8", std::vector<u64>{0, ~u64{0}, ~u64{0}}), 0u);
  EXPECT_THROW(npy_bytes("f8", std::vector<u64>{u64{1} << 61}), Error);
  EXPECT_THROW(npy_bytes("f3", std::vector<u64>{1}), Error);
  EXPECT_THROW(to_npy("f2", std::vector<u64>{2}, std::vector<std::byte>(5)), Error);
}

}  // namespace
}  // namespace vinci::io
