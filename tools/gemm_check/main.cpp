// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// vinci-gemm-check: is C the product of A and B? Recomputed by OpenBLAS. On purpose nothing of isa/numeric is used
// here, so that an error of ours cannot hide itself.
#include <cblas.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/types.h"
#include "sim/io/atomic_file.h"
#include "sim/io/npy.h"

namespace vinci::gemm_check {
namespace {

struct Matrix {
  std::string name;
  u64 rows = 0, columns = 0;
  bool f16 = false;
  std::vector<float> values;
};

// Exact: a subnormal counts units of 2^-24, anything else only moves its exponent.
float widen(u16 bits) {
  const u32 sign = u32{bits & 0x8000u} << 16, exponent = bits >> 10 & 31u, fraction = bits & 1023u;
  if (exponent == 0) return (sign != 0 ? -0x1p-24f : 0x1p-24f) * static_cast<float>(fraction);
  return std::bit_cast<float>(sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13);
}

Matrix read_matrix(const std::string& path, bool result) {
  const std::string file = io::read_file(path, u64{16} << 30);
  const auto bytes = std::as_bytes(std::span(file));
  const io::NpyHeader h = io::parse_npy_header(bytes, bytes.size(), path);
  if (h.shape.size() != 2) fail_at(Fault::Input, path, "a matrix has 2 dimensions, this array has {}", h.shape.size());
  if (h.dtype != "f2" && !(result && h.dtype == "f4")) {
    fail_at(Fault::Input, path, "the elements are {}, but {} must be {}", h.dtype, result ? "C" : "A and B",
            result ? "f2 or f4" : "f2");
  }
  Matrix m{.name = path, .rows = h.shape[0], .columns = h.shape[1], .f16 = h.dtype == "f2", .values = {}};
  if (m.rows == 0 || m.columns == 0) fail_at(Fault::Input, path, "the matrix is {} x {}", m.rows, m.columns);
  m.values.resize(m.rows * m.columns);
  const char* data = file.data() + h.data_offset;
  if (m.f16) {
    for (usize i = 0; i < m.values.size(); ++i) {
      u16 bits = 0;
      std::memcpy(&bits, data + 2 * i, 2);
      m.values[i] = widen(bits);
    }
  } else {
    std::memcpy(m.values.data(), data, m.values.size() * 4);
  }
  return m;
}

void check_finite(const Matrix& m) {
  const auto it = std::ranges::find_if(m.values, [](float v) { return !std::isfinite(v); });
  if (it == m.values.end()) return;
  const u64 at = static_cast<u64>(it - m.values.begin());
  fail_at(Fault::Input, m.name, "element [{}, {}] is {}; no error bound can be given", at / m.columns, at % m.columns,
          *it);
}

std::vector<float> multiply(const Matrix& a, const Matrix& b) {
  std::vector<float> c(a.rows * b.columns);
  const auto size = [](u64 n) { return static_cast<blasint>(n); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(a.rows), size(b.columns), size(a.columns), 1.0f,
              a.values.data(), size(a.columns), b.values.data(), size(b.columns), 0.0f, c.data(), size(b.columns));
  return c;
}

void make_absolute(Matrix& m) {
  for (float& v : m.values)
    v = std::fabs(v);
}

// Half a unit in the last place of FP16 at a magnitude, subnormals included.
double half_ulp_f16(double magnitude) {
  const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
  return std::ldexp(1.0, exponent - 11);
}

// Beyond this, to nearest even, FP16 has no finite value.
constexpr double kF16Overflow = 65520;

struct Verdict {
  double max_error = 0;  // largest |c - ref|
  double max_units = 0;  // largest |c - ref| / bound
  u64 failed = 0;
  u64 worst = 0;  // index of max_units
};

// The error of one element in units of its bound.
double error_units(float c, double ref, double bound, bool f16) {
  if (f16) {
    // FP16 saturates or becomes infinite by the mode of the chip; both are right out here.
    const bool at_limit = std::isinf(c) || std::fabs(c) == 65504.0f;
    if (std::fabs(ref) + bound >= kF16Overflow && at_limit && std::signbit(c) == std::signbit(ref)) return 0;
    bound += half_ulp_f16(std::fabs(ref) + bound);
  }
  const double error = std::fabs(c - ref);
  if (!std::isfinite(error)) return INFINITY;
  if (error == 0) return 0;
  return bound > 0 ? error / bound : INFINITY;
}

Verdict compare(const Matrix& c, const std::vector<float>& ref, const std::vector<float>& magnitude, u64 k) {
  Verdict v;
  for (usize i = 0; i < ref.size(); ++i) {
    const double bound = static_cast<double>(k + 2) * 0x1p-23 * magnitude[i];
    const double units = error_units(c.values[i], ref[i], bound, c.f16);
    const double error = std::fabs(double{c.values[i]} - ref[i]);
    if (!std::isnan(error)) v.max_error = std::max(v.max_error, error);
    if (units > 1) ++v.failed;
    if (units > v.max_units) {
      v.max_units = units;
      v.worst = i;
    }
  }
  return v;
}

struct Files {
  std::string a, b, c;
};

int check(const Files& files) {
  Matrix a = read_matrix(files.a, false);
  Matrix b = read_matrix(files.b, false);
  const Matrix c = read_matrix(files.c, true);
  if (a.columns != b.rows || c.rows != a.rows || c.columns != b.columns) {
    fail(Fault::Input, "the shapes do not fit: A {} x {}, B {} x {}, C {} x {}; needed are [m,k], [k,n] and [m,n]",
         a.rows, a.columns, b.rows, b.columns, c.rows, c.columns);
  }
  check_finite(a);
  check_finite(b);
  const std::vector<float> ref = multiply(a, b);
  make_absolute(a);
  make_absolute(b);
  const std::vector<float> magnitude = multiply(a, b);
  const Verdict v = compare(c, ref, magnitude, a.columns);
  fmt::print("elements            {} ({} x {}, k = {}, {})\n", ref.size(), c.rows, c.columns, a.columns,
             c.f16 ? "FP16" : "FP32");
  fmt::print("max absolute error  {:.6g}\n", v.max_error);
  fmt::print("max error / bound   {:.6g}\n", v.max_units);
  if (v.failed == 0) {
    fmt::print("PASS\n");
    return 0;
  }
  fmt::print("FAIL: {} elements are beyond the bound; worst is [{}, {}]: {:.9g}, reference {:.9g}\n", v.failed,
             v.worst / c.columns, v.worst % c.columns, c.values[v.worst], ref[v.worst]);
  return 1;
}

int run(int argc, char** argv) {
  CLI::App app{"Compare C with A * B as OpenBLAS computes it in FP32", "vinci-gemm-check"};
  Files files;
  app.add_option("A", files.a, "Matrix [m,k], .npy of f2")->required();
  app.add_option("B", files.b, "Matrix [k,n], .npy of f2")->required();
  app.add_option("C", files.c, "Matrix [m,n], .npy of f2 or f4")->required();
  app.footer(
      "Bound of an element: (k + 2) * 2^-23 * (|A| * |B|), which covers two orders of summation in FP32;\n"
      "for an FP16 result, half a unit in the last place of FP16 on top.\n"
      "Exit codes: 0 all elements are within their bounds, 1 some are not, 2 wrong input");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    fail(Fault::Input, "{}\nTry 'vinci-gemm-check --help'.", e.what());
  }
  openblas_set_num_threads(1);  // one order of summation, whatever the machine
  return check(files);
}

}  // namespace
}  // namespace vinci::gemm_check

int main(int argc, char** argv) {
  try {
    const int code = vinci::gemm_check::run(argc, argv);
    if (std::fflush(stdout) == 0) return code;
    fmt::print(stderr, "error: cannot write the standard output\n");
    return static_cast<int>(vinci::Fault::Limit);
  } catch (const vinci::Error& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return static_cast<int>(e.fault());
  } catch (const std::exception& e) {
    fmt::print(stderr, "internal error: {}\n", e.what());
    return static_cast<int>(vinci::Fault::Internal);
  }
}
