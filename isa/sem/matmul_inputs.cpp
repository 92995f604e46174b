// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/sem/matmul_inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "isa/numeric/float16.h"
#include "isa/numeric/hf32.h"

namespace vinci::isa {
namespace {

template <class T>
T load(const std::byte* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

// Element `i` of a row of packed elements, as bits of a 32-bit element.
struct Bf16 {
  u32 operator()(const std::byte* row, usize i) const { return u32{load<u16>(row + 2 * i)} << 16; }
};
struct ReadF32 {
  Hf32 mode;
  u32 operator()(const std::byte* row, usize i) const {
    const u32 bits = load<u32>(row + 4 * i);
    return round_to_hf32(bits, mode);
  }
};
struct U8 {
  u32 operator()(const std::byte* row, usize i) const { return load<u8>(row + i); }
};
struct S8 {
  u32 operator()(const std::byte* row, usize i) const { return static_cast<u32>(i32{load<i8>(row + i)}); }
};
struct S4 {
  u32 operator()(const std::byte* row, usize i) const {
    const u32 nibble = u32{load<u8>(row + i / 2)} >> (i % 2 * 4);
    return static_cast<u32>(static_cast<i32>(nibble << 28) >> 28);
  }
};

constexpr usize kRowBytes = 32;  // of a fractal

template <class Element>
void widen_a(const MatmulTile& t, usize k0, Element element, const MatmulInputs& into) {
  const usize rows = t.gemv ? 1 : kEdge;
  const usize m1 = t.gemv ? 1 : ceil_div<usize>(t.m, kEdge);
  const usize k1 = ceil_div<usize>(t.k, k0);
  for (usize i = 0; i < m1; ++i) {
    for (usize j = 0; j < k1; ++j) {
      for (usize r = 0; r < rows; ++r) {
        const std::byte* from = t.a + ((i * t.a_k1 + j) * rows + r) * kRowBytes;
        for (usize kk = 0; kk < k0; ++kk) {
          const usize k = j * k0 + kk;
          const usize at = ((i * into.chunks + k / into.chunk) * rows + r) * into.chunk + k % into.chunk;
          const u32 bits = element(from, kk);
          std::memcpy(into.a + 4 * at, &bits, sizeof bits);
        }
      }
    }
  }
}

template <class Element>
void widen_b(const MatmulTile& t, usize k0, Element element, const MatmulInputs& into) {
  const usize n1 = ceil_div<usize>(t.n, kEdge), k1 = ceil_div<usize>(t.k, k0);
  for (usize i = 0; i < k1; ++i) {
    for (usize j = 0; j < n1; ++j) {
      const usize columns = std::min<usize>(kEdge, t.n - j * kEdge);
      const std::byte* from = t.b + (i * n1 + j) * kEdge * kRowBytes;
      std::byte* panel = into.b + 4 * (j * into.b_panel() + i * k0 * kEdge);
      for (usize kk = 0; kk < k0; ++kk) {
        for (usize c = 0; c < kEdge; ++c) {
          const u32 bits = c < columns ? element(from + c * kRowBytes, kk) : 0;
          std::memcpy(panel + 4 * (kk * kEdge + c), &bits, sizeof bits);
        }
      }
    }
  }
}

float f32_at(const std::byte* from, usize element) { return load<float>(from + 4 * element); }

usize c_at(const MatmulTile& t, usize row, usize column) {
  return (column / kEdge * align_up<usize>(t.m, kEdge) + row) * kEdge + column % kEdge;
}

}  // namespace

void widen_portable(const MatmulTile& t, MatmulType type, Hf32 hf32, const MatmulInputs& into) {
  const usize k0 = matmul_k0(type);
  const auto both = [&](auto a, auto b) {
    widen_a(t, k0, a, into);
    widen_b(t, k0, b, into);
  };
  switch (type) {
    case MatmulType::bf16: return both(Bf16{}, Bf16{});
    case MatmulType::f32: return both(ReadF32{hf32}, ReadF32{hf32});
    case MatmulType::u8: return both(U8{}, U8{});
    case MatmulType::u8s8: return both(U8{}, S8{});
    case MatmulType::s4: return both(S4{}, S4{});
    case MatmulType::f16:
    case MatmulType::s8: break;
  }
  VINCI_CHECK(false);
}

RangeWatch::RangeWatch(const MatmulTile& t, const MatmulInputs& in) : row_(t.m), column_(t.n) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  std::vector<float> least_a(t.k, kNone), least_b(t.k, kNone);  // of the magnitudes other than zero
  const auto look = [&](float v, std::vector<bool>& where, usize index, float& least) {
    const float magnitude = std::fabs(v);
    if (!(magnitude < kNone)) {
      where[index] = true;
      non_finite_ = true;
    } else if (magnitude != 0) {
      least = std::min(least, magnitude);
    }
  };
  for (usize row = 0; row < t.m; ++row) {
    for (usize k = 0; k < t.k; ++k) {
      look(f32_at(in.a, in.a_row(row) + k / in.chunk * in.a_step() + k % in.chunk), row_, row, least_a[k]);
    }
  }
  for (usize column = 0; column < t.n; ++column) {
    const usize panel = column / kEdge * in.b_panel() + column % kEdge;
    for (usize k = 0; k < t.k; ++k)
      look(f32_at(in.b, panel + k * kEdge), column_, column, least_b[k]);
  }
  // Some product becomes zero if, and only if, that of the least magnitudes of one k does.
  constexpr double kLargestThatVanishes = 0x1p-150;
  for (usize k = 0; k < t.k; ++k)
    underflow_ |= double{least_a[k]} * double{least_b[k]} <= kLargestThatVanishes;
  if (t.init) return;
  for (usize row = 0; row < t.m; ++row) {
    for (usize column = 0; column < t.n; ++column) {
      if (std::isfinite(f32_at(t.c, c_at(t, row, column)))) continue;
      if (c_.empty()) c_.resize(usize{t.m} * t.n);
      c_[row * t.n + column] = true;
      non_finite_ = true;
    }
  }
}

MatmulResult RangeWatch::result(const MatmulTile& t, bool special) const {
  MatmulResult r{.underflow = underflow_, .non_finite = non_finite_};
  for (usize row = 0; special && row < t.m; ++row) {
    for (usize column = 0; column < t.n && !row_[row]; ++column) {
      if (this->special(row, column)) continue;
      r.overflow |= !std::isfinite(f32_at(t.c, c_at(t, row, column)));
    }
  }
  return r;
}

// ---------------------------------------------------------------------------------------------------------------------

namespace {

constexpr usize kMostProducts = 16;  // of a step

// The exact sum of products of two f32: multiples of 2^-298 below 2^256.
class ExactSum {
 public:
  void add(double v) {
    if (v == 0) return;
    int exponent = 0;
    auto magnitude = static_cast<u64>(std::ldexp(std::frexp(std::fabs(v), &exponent), 53));
    exponent -= 53;
    const int zeros = std::countr_zero(magnitude);
    magnitude >>= zeros;
    const auto position = static_cast<usize>(exponent + zeros - kLeast);
    const i64 sign = v < 0 ? -1 : 1;
    const u64 low = (magnitude & kLimb) << (position % 32), high = (magnitude >> 32) << (position % 32);
    i64* at = limbs_ + position / 32;
    at[0] += sign * static_cast<i64>(low & kLimb);
    at[1] += sign * static_cast<i64>((low >> 32) + (high & kLimb));
    at[2] += sign * static_cast<i64>(high >> 32);
  }

  // Rounded once, to nearest even.
  float value() {
    carry();
    const bool negative = limbs_[kLimbs - 1] < 0;
    if (negative) {
      for (i64& limb : limbs_)
        limb = -limb;
      carry();
    }
    usize top = kLimbs;
    while (top > 0 && limbs_[top - 1] == 0)
      --top;
    if (top == 0) return 0;
    // The leading 53 bits, the last of them odd where more follow: rounding that to f32 is rounding the sum.
    const int bits = static_cast<int>(32 * (top - 1)) + std::bit_width(static_cast<u64>(limbs_[top - 1]));
    u64 kept = 0;
    bool more = false;
    for (int i = static_cast<int>(32 * top) - 1; i >= 0; --i) {
      const u64 bit = static_cast<u64>(limbs_[i / 32]) >> (i % 32) & 1;
      if (i >= bits - 53) {
        kept = kept << 1 | bit;
      } else {
        more |= bit != 0;
      }
    }
    kept |= more ? 1 : 0;
    const double magnitude = std::ldexp(static_cast<double>(kept), std::max(bits - 53, 0) + kLeast);
    return static_cast<float>(negative ? -magnitude : magnitude);
  }

 private:
  static constexpr int kLeast = -298;  // exponent of bit 0
  static constexpr u64 kLimb = 0xffffffff;
  static constexpr usize kLimbs = 20;  // of 32 bits: 298 + 256 + what 16 products carry, and room for add()

  // Every limb but the last one between 0 and 2^32.
  void carry() {
    for (usize i = 0; i + 1 < kLimbs; ++i) {
      limbs_[i + 1] += limbs_[i] >> 32;
      limbs_[i] &= static_cast<i64>(kLimb);
    }
  }

  i64 limbs_[kLimbs] = {};
};

// The sum of the products, exact and then rounded to f32. Products of f32 are exact in f64, and mostly so are their
// sums.
float fractal_step(const float* a, const float* b, usize count) {
  double products[kMostProducts] = {};
  for (usize i = 0; i < count; ++i)
    products[i] = double{a[i]} * double{b[i * kEdge]};
  double sum = products[0];
  bool exact = true;
  for (usize i = 1; i < count; ++i) {
    const double next = sum + products[i];
    const double added = next - sum;
    exact &= (sum - (next - added)) + (products[i] - added) == 0;
    sum = next;
  }
  if (exact || !std::isfinite(sum)) return static_cast<float>(sum);
  ExactSum all;
  for (usize i = 0; i < count; ++i)
    all.add(products[i]);
  return all.value();
}

// A tree of adjacent pairs; products beyond `count` are zero.
float pairwise_step(const float* a, const float* b, usize count, usize k0) {
  float sums[kMostProducts] = {};
  for (usize i = 0; i < count; ++i)
    sums[i] = a[i] * b[i * kEdge];
  for (usize left = k0 / 2; left > 0; left /= 2) {
    for (usize i = 0; i < left; ++i)
      sums[i] = sums[2 * i] + sums[2 * i + 1];
  }
  return sums[0];
}

}  // namespace

bool multiply_in_steps(const MatmulTile& t, const MatmulInputs& in, u32 k0, Accumulation order) {
  const float* a = reinterpret_cast<const float*>(in.a);
  const float* b = reinterpret_cast<const float*>(in.b);
  bool special = false;
  for (usize column = 0; column < t.n; ++column) {
    const float* b_column = b + column / kEdge * in.b_panel() + column % kEdge;
    for (usize row = 0; row < t.m; ++row) {
      std::byte* at = t.c + 4 * c_at(t, row, column);
      float sum = t.init ? 0 : load<float>(at);
      for (usize k = 0; k < t.k; k += k0) {
        const float* a_step = a + in.a_row(row) + k / in.chunk * in.a_step() + k % in.chunk;
        const float* b_step = b_column + k * kEdge;
        const usize count = std::min<usize>(k0, t.k - k);
        if (order == Accumulation::fused) {
          for (usize i = 0; i < count; ++i)
            sum = std::fma(a_step[i], b_step[i * kEdge], sum);
        } else {
          sum += order == Accumulation::fractal ? fractal_step(a_step, b_step, count)
                                                : pairwise_step(a_step, b_step, count, k0);
        }
      }
      special |= !std::isfinite(sum);
      sum = canonical_f32(sum);
      std::memcpy(at, &sum, sizeof sum);
    }
  }
  return special;
}

}  // namespace vinci::isa
