// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "isa/mem/format.h"

// Storage of the formats built as people describe it: pad, reshape, transpose. Nothing here knows the library's table.
namespace vinci::isa::test {

struct Array {
  std::vector<u64> shape;
  std::vector<u64> values;  // row-major

  // 1, 2, 3, ...
  static Array numbered(const std::vector<u64>& shape) {
    Array a{shape, {}};
    u64 size = 1;
    for (const u64 n : shape)
      size *= n;
    for (u64 i = 1; i <= size; ++i)
      a.values.push_back(i);
    return a;
  }

  // Axis `axis` becomes the two axes (x / split, x % split), with zeros behind its end.
  Array split(usize axis, u64 by) const {
    u64 outer = 1, inner = 1;
    for (usize i = 0; i < shape.size(); ++i)
      (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
    const u64 whole = (shape[axis] + by - 1) / by;
    Array a{shape, std::vector<u64>(outer * whole * by * inner)};
    a.shape[axis] = whole;
    a.shape.insert(a.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, by);
    for (u64 o = 0; o < outer; ++o) {
      for (u64 i = 0; i < shape[axis] * inner; ++i)
        a.values[o * whole * by * inner + i] = values[o * shape[axis] * inner + i];
    }
    return a;
  }

  // Axis i of the result is axis order[i] of this.
  Array transpose(const std::vector<usize>& order) const {
    std::vector<u64> stride(shape.size(), 1);
    for (usize i = shape.size() - 1; i-- > 0;)
      stride[i] = stride[i + 1] * shape[i + 1];
    Array a{{}, {}};
    for (const usize axis : order)
      a.shape.push_back(shape[axis]);
    std::vector<u64> at(order.size());
    for (usize n = 0; n < values.size(); ++n) {
      u64 from = 0;
      for (usize i = 0; i < order.size(); ++i)
        from += at[i] * stride[order[i]];
      a.values.push_back(values[from]);
      for (usize i = order.size(); i-- > 0 && ++at[i] == a.shape[i];)
        at[i] = 0;
    }
    return a;
  }

  // The last axis becomes the diagonal of two.
  Array diagonal() const {
    const u64 n = shape.back();
    Array a{shape, std::vector<u64>(values.size() * n)};
    a.shape.push_back(n);
    for (usize i = 0; i < values.size(); ++i)
      a.values[(i / n * n + i % n) * n + i % n] = values[i];
    return a;
  }
};

struct Split {
  usize axis;
  bool by_c0;  // else by 16
};

struct FormatCase {
  Format format;
  std::vector<u64> shape;     // as FormatInfo::axes
  std::vector<Split> splits;  // in this order; an axis counts as after the splits before
  std::vector<usize> order;   // then transposed
  bool diagonal = false;
};

inline Array stored(const FormatCase& c, Array a, u64 c0) {
  for (const Split& s : c.splits)
    a = a.split(s.axis, s.by_c0 ? c0 : 16);
  a = a.transpose(c.order);
  return c.diagonal ? a.diagonal() : a;
}

// Every format, on odd sizes.
inline std::vector<FormatCase> format_cases() {
  const std::vector<u64> matrix{3, 37, 41}, image{18, 35, 3, 5}, volume{17, 33, 2, 3, 5};
  const std::vector<Split> rows16{{1, false}, {3, true}}, rows_c0{{1, true}, {3, false}};  // B M1 M0 N1 N0
  std::vector<FormatCase> cases{
      {Format::ND, matrix, {}, {0, 1, 2}},
      {Format::FRACTAL_NZ, matrix, rows16, {0, 3, 1, 2, 4}},
      {Format::FRACTAL_ZZ, matrix, rows16, {0, 1, 3, 2, 4}},
      {Format::nZ, matrix, rows_c0, {0, 1, 3, 4, 2}},
      {Format::nN, matrix, rows_c0, {0, 3, 1, 4, 2}},
      {Format::NCHW, image, {}, {0, 1, 2, 3}},
      {Format::NHWC, image, {}, {0, 2, 3, 1}},
      {Format::HWCN, image, {}, {2, 3, 1, 0}},
      {Format::NC1HWC0, image, {{1, true}}, {0, 1, 3, 4, 2}},
      {Format::NC1HWC0_C04, image, {{1, true}}, {0, 1, 3, 4, 2}},
      {Format::FRACTAL_Z, image, {{0, false}, {2, true}}, {2, 4, 5, 0, 1, 3}},
      {Format::C1HWNCoC0, image, {{1, true}}, {1, 3, 4, 0, 2}, true},
      {Format::NCDHW, volume, {}, {0, 1, 2, 3, 4}},
      {Format::NDHWC, volume, {}, {0, 2, 3, 4, 1}},
      {Format::DHWCN, volume, {}, {2, 3, 4, 1, 0}},
      {Format::NDC1HWC0, volume, {{1, true}}, {0, 3, 1, 4, 5, 2}},
      {Format::FRACTAL_Z_3D, volume, {{0, false}, {2, true}}, {4, 2, 5, 6, 0, 1, 3}},
  };
  EXPECT_EQ(cases.size(), kFormats.size()) << "a format without a case";
  return cases;
}

}  // namespace vinci::isa::test
