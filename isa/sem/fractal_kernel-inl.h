// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors

// Building blocks of the vector kernels, compiled once for each instruction set of the host (Highway's per-target
// include guard). Lengths of vectors are fixed at compile time: kernels keep arrays of vectors, which scalable targets
// (SVE, RVV) do not have.
#if defined(VINCI_ISA_SEM_FRACTAL_KERNEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VINCI_ISA_SEM_FRACTAL_KERNEL_INL_H
#undef VINCI_ISA_SEM_FRACTAL_KERNEL_INL_H
#else
#define VINCI_ISA_SEM_FRACTAL_KERNEL_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace vinci::isa {
namespace {  // of this file: other kernels may use the same names
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Instructions that convert between f16 and f32 as IEEE 754 asks for exist from AVX2 on and on Arm; Highway's
// replacement elsewhere treats infinities as numbers and truncates.
#undef VINCI_HWY_F16
#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C))
#define VINCI_HWY_F16 1
#else
#define VINCI_HWY_F16 0
#endif

// Lanes(d) f16 values to f32, exact.
template <class D>
HWY_INLINE hn::Vec<D> widen_lanes(D d, const std::byte* from) {
#if VINCI_HWY_F16
  const hn::Rebind<hwy::float16_t, D> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
#else
  const hn::Rebind<std::uint16_t, D> d16;
  const hn::RebindToUnsigned<D> du;
  const auto h = hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(from)));
  const auto sign = hn::ShiftLeft<16>(hn::And(h, hn::Set(du, 0x8000u)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(h, hn::Set(du, 0x7fffu)));
  const auto exponent = hn::And(magnitude, hn::Set(du, 0x0f800000u));
  const auto normal = hn::Add(magnitude, hn::Set(du, (127u - 15u) << 23));
  // Inf and NaN: the exponent goes on to all ones.
  const auto special = hn::Add(normal, hn::Set(du, (128u - 16u) << 23));
  // Subnormal: with the exponent of 2^-14 and its hidden bit, then the hidden bit subtracted, which is exact.
  const auto small =
      hn::Sub(hn::BitCast(d, hn::Add(normal, hn::Set(du, 1u << 23))), hn::BitCast(d, hn::Set(du, 113u << 23)));
  auto bits = hn::IfThenElse(hn::Eq(exponent, hn::Set(du, 0x0f800000u)), special, normal);
  bits = hn::IfThenElse(hn::Eq(exponent, hn::Zero(du)), hn::BitCast(du, small), bits);
  return hn::BitCast(d, hn::Or(bits, sign));
#endif
}

// f32 to f16 to nearest even; too large becomes Inf, every NaN 0x7e00.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<std::uint16_t, D>> narrow_lanes(D d, hn::Vec<D> v) {
  const hn::Rebind<std::uint16_t, D> d16;
#if VINCI_HWY_F16
  const hn::RebindToUnsigned<D> du;
  const auto numbers = hn::IfThenElse(hn::IsNaN(v), hn::BitCast(d, hn::Set(du, 0x7fc00000u)), v);
  return hn::BitCast(d16, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), numbers));
#else
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(du, v);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffu));
  const auto sign = hn::ShiftRight<16>(hn::Sub(bits, magnitude));
  const auto below = [&](std::uint32_t limit) HWY_ATTR {
    return hn::RebindMask(du, hn::Lt(hn::BitCast(di, magnitude), hn::BitCast(di, hn::Set(du, limit))));
  };
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, odd), hn::Set(du, 0xfffu - ((127u - 15u) << 23))));
  // Below 2^-14 the last bit is 2^-24, that of 0.5 in f32: the addition rounds as it should.
  const auto half = hn::Set(du, 0x3f000000u);
  const auto small = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), hn::BitCast(d, half))), half);
  auto out = hn::IfThenElse(below(0x38800000u), small, normal);
  out = hn::IfThenElse(below(0x477ff000u), out, hn::Set(du, 0x7c00u));  // from 65520 on: Inf
  out = hn::Or(out, sign);
  out = hn::IfThenElse(below(0x7f800001u), out, hn::Set(du, 0x7e00u));
  return hn::TruncateTo(d16, out);
#endif
}

#if HWY_TARGET != HWY_SCALAR

// 8 x 8 blocks of 16-bit elements, one in each 128-bit block of rows[0..7], rows and columns exchanged: three perfect
// shuffles of 8 rows rotate the 6 address bits by three.
template <class D>
HWY_INLINE void transpose_8x8(D d, hn::Vec<D>* HWY_RESTRICT rows) {
  hn::Vec<D> other[8];
  const auto shuffle = [&](const hn::Vec<D>* in, hn::Vec<D>* out) HWY_ATTR {
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) {
      out[2 * i] = hn::InterleaveLower(d, in[i], in[i + 4]);
      out[2 * i + 1] = hn::InterleaveUpper(d, in[i], in[i + 4]);
    }
  };
  shuffle(rows, other);
  shuffle(other, rows);
  shuffle(rows, other);
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < 8; ++i)
    rows[i] = other[i];
}

#endif  // HWY_TARGET != HWY_SCALAR

// 16 rows of 16 elements of 16 bits, exchanged.
HWY_INLINE void transpose_fractal(const std::byte* HWY_RESTRICT from, std::byte* HWY_RESTRICT into) {
  constexpr std::size_t row = 32;  // bytes
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t r = 0; r < 16; ++r) {
    for (std::size_t c = 0; c < 16; ++c)
      std::memcpy(into + c * row + r * 2, from + r * row + c * 2, 2);
  }
#elif HWY_MAX_BYTES == 64
  const hn::Full512<std::uint16_t> d;
  const hn::Full256<std::uint16_t> dh;
  const hn::RebindToUnsigned<hn::Full512<double>> d64;
  const auto in = [&](std::size_t r)
                      HWY_ATTR { return hn::LoadU(dh, reinterpret_cast<const std::uint16_t*>(from + r * row)); };
  hn::Vec<decltype(d)> v[8];
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < 8; ++i)
    v[i] = hn::Combine(d, in(i + 8), in(i));
  transpose_8x8(d, v);
  // Blocks: rows 0..7 of columns i and 8 + i, then rows 8..15 of the same columns.
  alignas(64) static constexpr std::uint64_t kOrder[8] = {0, 1, 4, 5, 2, 3, 6, 7};
  const auto order = hn::SetTableIndices(d64, kOrder);
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < 8; ++i) {
    const auto columns = hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(d64, v[i]), order));
    hn::StoreU(hn::LowerHalf(dh, columns), dh, reinterpret_cast<std::uint16_t*>(into + i * row));
    hn::StoreU(hn::UpperHalf(dh, columns), dh, reinterpret_cast<std::uint16_t*>(into + (i + 8) * row));
  }
#else
  const hn::Full128<std::uint16_t> d;
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t c = 0; c < 2; ++c) {
      hn::Vec<decltype(d)> v[8];
      HWY_UNROLL(8)
      for (std::size_t i = 0; i < 8; ++i) {
        v[i] = hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(from + (r * 8 + i) * row + c * 16));
      }
      transpose_8x8(d, v);
      HWY_UNROLL(8)
      for (std::size_t i = 0; i < 8; ++i) {
        hn::StoreU(v[i], d, reinterpret_cast<std::uint16_t*>(into + (c * 8 + i) * row + r * 16));
      }
    }
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace vinci::isa
HWY_AFTER_NAMESPACE();

#endif
