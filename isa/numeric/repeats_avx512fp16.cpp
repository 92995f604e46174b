// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
//
// The kernels of isa/numeric/repeats_simd.cpp for hosts that compute in f16, with subnormals, whatever the modes for
// binary32 are, and that classify a vector with one instruction. This file is compiled for such hosts, so that nothing
// in it may be shared with others: no inline functions of headers but the intrinsics.
#include "isa/numeric/lanes.h"

// Without optimisation, fpclass of GCC 12 is a macro that looks at the first 8 lanes only.
#if defined(__AVX512FP16__) && (defined(__OPTIMIZE__) || defined(__clang__))
// The headers of GCC make undefined vectors on purpose.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

namespace vinci::isa {
namespace {

// Classes of numbers, as fpclass instructions take them.
constexpr int kNonfinite = 0x01 | 0x08 | 0x10 | 0x80, kZero = 0x02 | 0x04;

void store(std::byte* to, __m512h v) { _mm512_storeu_ph(to, v); }
void store(std::byte* to, __m512 v) { _mm512_storeu_ps(to, v); }
void store(std::byte* to, __m512i v) { _mm512_storeu_si512(to, v); }
void store(std::byte* to, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v); }

__m512h load_f16(const std::byte* repeat, usize i) { return _mm512_loadu_ph(repeat + i * sizeof(__m512h)); }
__m512 load_f32(const std::byte* repeat, usize i) { return _mm512_loadu_ps(repeat + i * sizeof(__m512)); }

// As in repeats_simd.cpp, but `Vector` is a vector of results.
template <class K>
u64 repeats(const Repeats& job) {
  const std::byte* a = job.a.first;
  const std::byte* b = job.b.first;
  std::byte* out = job.out;
  u64 raised = 0;
  for (usize n = 0; n < job.count; ++n, a += job.a.stride, b += job.b.stride, out += job.out_stride) {
    typename K::Vector result[K::kVectors];
    if (!K::compute(a, b, out, result)) [[unlikely]] {
      raised |= K::careful(job, n);
      continue;
    }
    for (usize i = 0; i < K::kVectors; ++i)
      store(out + i * sizeof result[i], result[i]);
  }
  return raised;
}

constexpr usize kVectorsF16 = kRepeatBytes / sizeof(__m512h);

// Whether no result is infinite, NaN, or zero though neither x nor y, the factors of its product, is.
bool plain_products(const std::byte* x, const std::byte* y, const __m512h* result) {
  __mmask32 special = 0;
  for (usize i = 0; i < kVectorsF16; ++i) {
    const __mmask32 exact =
        _mm512_fpclass_ph_mask(load_f16(x, i), kZero) | _mm512_fpclass_ph_mask(load_f16(y, i), kZero);
    special |= _mm512_fpclass_ph_mask(result[i], kNonfinite) | (_mm512_fpclass_ph_mask(result[i], kZero) & ~exact);
  }
  return special == 0;
}

template <BinaryOp Op>
struct Binary {
  using Vector = __m512h;
  static constexpr usize kVectors = kVectorsF16;

  static __m512h apply(__m512h x, __m512h y) {
    switch (Op) {
      case BinaryOp::add: return _mm512_add_ph(x, y);
      case BinaryOp::sub: return _mm512_sub_ph(x, y);
      default: return _mm512_mul_ph(x, y);
    }
  }
  static bool compute(const std::byte* a, const std::byte* b, const std::byte*, Vector* result) {
    __mmask32 special = 0;
    for (usize i = 0; i < kVectors; ++i) {
      result[i] = apply(load_f16(a, i), load_f16(b, i));
      special |= _mm512_fpclass_ph_mask(result[i], Op == BinaryOp::mul ? kNonfinite | kZero : kNonfinite);
    }
    return special == 0 || (Op == BinaryOp::mul && plain_products(a, b, result));
  }
  static u64 careful(const Repeats& job, usize n) {
    return detail::binary_repeat(binary_kernel(Op, LaneType::f16), job, n);
  }
};

// out * a + b or out + a * b, rounded once.
template <TernaryOp Op>
struct Ternary {
  using Vector = __m512h;
  static constexpr usize kVectors = kVectorsF16;

  static bool compute(const std::byte* a, const std::byte* b, const std::byte* out, Vector* result) {
    const std::byte* factor = Op == TernaryOp::mla ? b : out;
    const std::byte* addend = Op == TernaryOp::mla ? out : b;
    __mmask32 special = 0;
    for (usize i = 0; i < kVectors; ++i) {
      result[i] = _mm512_fmadd_ph(load_f16(a, i), load_f16(factor, i), load_f16(addend, i));
      special |= _mm512_fpclass_ph_mask(result[i], kNonfinite | kZero);
    }
    return special == 0 || plain_products(a, factor, result);
  }
  static u64 careful(const Repeats& job, usize n) {
    constexpr LaneType kType = LaneType::f16;
    return detail::ternary_repeat(ternary_kernel(Op, kType, kType), job, n, kType, kType);
  }
};

// relu and abs, on the bits.
template <UnaryOp Op, LaneType Type>
struct Sign {
  using Vector = __m512i;
  static constexpr usize kVectors = kRepeatBytes / sizeof(Vector);
  static constexpr bool kF16 = Type == LaneType::f16;

  static bool compute(const std::byte* a, const std::byte*, const std::byte*, Vector* result) {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i magnitude = kF16 ? _mm512_set1_epi16(0x7fff) : _mm512_set1_epi32(0x7fffffff);
    __mmask32 special = 0;
    for (usize i = 0; i < kVectors; ++i) {
      const __m512i x = _mm512_loadu_si512(a + i * sizeof(Vector));
      if (kF16) {
        special |= _mm512_fpclass_ph_mask(_mm512_castsi512_ph(x), kNonfinite);
      } else {
        special |= _mm512_fpclass_ps_mask(_mm512_castsi512_ps(x), kNonfinite);
      }
      result[i] = Op == UnaryOp::abs ? _mm512_and_si512(x, magnitude)
                  : kF16             ? _mm512_max_epi16(x, zero)
                                     : _mm512_max_epi32(x, zero);
    }
    return special == 0;
  }
  static u64 careful(const Repeats& job, usize n) {
    return detail::unary_repeat(unary_kernel(Op, Type), job, n, Type, Type);
  }
};

struct Widen {
  using Vector = __m512;
  static constexpr usize kVectors = kRepeatBytes / sizeof(Vector);

  static bool compute(const std::byte* a, const std::byte*, const std::byte*, Vector* result) {
    __mmask32 special = 0;
    for (usize i = 0; i < kVectors / 2; ++i)
      special |= _mm512_fpclass_ph_mask(load_f16(a, i), kNonfinite);
    for (usize i = 0; i < kVectors; ++i)
      result[i] = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a) + i));
    return special == 0;
  }
  static u64 careful(const Repeats& job, usize n) {
    constexpr LaneType kFrom = LaneType::f16, kTo = LaneType::f32;
    return detail::unary_repeat(convert_kernel(kFrom, kTo, RoundMode::rint), job, n, kFrom, kTo);
  }
};

struct Narrow {
  using Vector = __m256i;
  static constexpr usize kVectors = kRepeatBytes / 2 / sizeof(Vector);

  static bool compute(const std::byte* a, const std::byte*, const std::byte*, Vector* result) {
    __mmask16 special = 0;
    for (usize i = 0; i < kVectors; ++i) {
      result[i] = _mm512_cvtps_ph(load_f32(a, i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      special |= _mm256_fpclass_ph_mask(_mm256_castsi256_ph(result[i]), kNonfinite | kZero);
    }
    return special == 0 || plain_results(a, result);
  }
  // Whether no result is infinite, NaN, or zero where the operand is not.
  static bool plain_results(const std::byte* a, const Vector* result) {
    __mmask16 special = 0;
    for (usize i = 0; i < kVectors; ++i) {
      const __m256h r = _mm256_castsi256_ph(result[i]);
      special |= _mm256_fpclass_ph_mask(r, kNonfinite) |
                 (_mm256_fpclass_ph_mask(r, kZero) & ~_mm512_fpclass_ps_mask(load_f32(a, i), kZero));
    }
    return special == 0;
  }
  static u64 careful(const Repeats& job, usize n) {
    constexpr LaneType kFrom = LaneType::f32, kTo = LaneType::f16;
    return detail::unary_repeat(convert_kernel(kFrom, kTo, RoundMode::rint), job, n, kFrom, kTo);
  }
};

template <UnaryOp Op>
RepeatsKernel sign(LaneType type) {
  switch (type) {
    case LaneType::f16: return repeats<Sign<Op, LaneType::f16>>;
    case LaneType::f32: return repeats<Sign<Op, LaneType::f32>>;
    default: return nullptr;
  }
}

}  // namespace

RepeatsKernel detail::avx512fp16_unary_repeats(UnaryOp op, LaneType type) {
  switch (op) {
    case UnaryOp::relu: return sign<UnaryOp::relu>(type);
    case UnaryOp::abs: return sign<UnaryOp::abs>(type);
    default: return nullptr;
  }
}

RepeatsKernel detail::avx512fp16_binary_repeats(BinaryOp op, LaneType type) {
  if (type != LaneType::f16) return nullptr;
  switch (op) {
    case BinaryOp::add: return repeats<Binary<BinaryOp::add>>;
    case BinaryOp::sub: return repeats<Binary<BinaryOp::sub>>;
    case BinaryOp::mul: return repeats<Binary<BinaryOp::mul>>;
    default: return nullptr;
  }
}

RepeatsKernel detail::avx512fp16_ternary_repeats(TernaryOp op, LaneType dst, LaneType src) {
  if (dst != LaneType::f16 || src != LaneType::f16) return nullptr;
  switch (op) {
    case TernaryOp::madd: return repeats<Ternary<TernaryOp::madd>>;
    case TernaryOp::mla: return repeats<Ternary<TernaryOp::mla>>;
    default: return nullptr;
  }
}

RepeatsKernel detail::avx512fp16_convert_repeats(LaneType from, LaneType to, RoundMode round) {
  if (from == LaneType::f16 && to == LaneType::f32) return repeats<Widen>;
  if (from == LaneType::f32 && to == LaneType::f16 && round == RoundMode::rint) return repeats<Narrow>;
  return nullptr;
}

}  // namespace vinci::isa

#else

namespace vinci::isa::detail {

RepeatsKernel avx512fp16_unary_repeats(UnaryOp, LaneType) { return nullptr; }
RepeatsKernel avx512fp16_binary_repeats(BinaryOp, LaneType) { return nullptr; }
RepeatsKernel avx512fp16_ternary_repeats(TernaryOp, LaneType, LaneType) { return nullptr; }
RepeatsKernel avx512fp16_convert_repeats(LaneType, LaneType, RoundMode) { return nullptr; }

}  // namespace vinci::isa::detail

#endif
