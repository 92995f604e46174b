// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors

// Inputs of a matrix product in 32-bit elements (MatmulInputs), for the types that are worth vector code. Compiled once
// for each instruction set of the host.
#if defined(VINCI_ISA_SEM_MATMUL_WIDEN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VINCI_ISA_SEM_MATMUL_WIDEN_INL_H
#undef VINCI_ISA_SEM_MATMUL_WIDEN_INL_H
#else
#define VINCI_ISA_SEM_MATMUL_WIDEN_INL_H
#endif

#include <cstring>

#include "isa/sem/fractal_kernel-inl.h"
#include "isa/sem/matmul_inputs.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa {
namespace {  // of this file: other kernels may use the same names
namespace HWY_NAMESPACE {

// Widening of the frequent types: one fractal of A is already in order, one of B is turned.
struct F16Input {
  using T = float;
  using D = hn::CappedTag<T, kEdge>;

  static void widen_a(const std::byte* from, T* into, usize count) {
    const D d;
    for (usize i = 0; i < count; i += hn::Lanes(d))
      hn::Store(widen_lanes(d, from + 2 * i), d, into + i);
  }
  static HWY_INLINE void widen_b(const std::byte* turned, T* into) { widen_a(turned, into, kEdge * 16); }
};

struct S8Input {
  using T = std::int32_t;
  using D = hn::CappedTag<T, kEdge>;

  static void widen_a(const std::byte* from, T* into, usize count) {
    const D d;
    const hn::Rebind<std::int8_t, D> d8;
    for (usize i = 0; i < count; i += hn::Lanes(d)) {
      hn::Store(hn::PromoteTo(d, hn::LoadU(d8, reinterpret_cast<const std::int8_t*>(from + i))), d, into + i);
    }
  }
  // The fractal was turned in pairs of k: low byte even k, high byte odd k.
  static HWY_INLINE void widen_b(const std::byte* turned, T* into) {
    const D d;
    const hn::Rebind<std::int16_t, D> d16;
    for (usize pair = 0; pair < 16; ++pair) {
      for (usize i = 0; i < kEdge; i += hn::Lanes(d)) {
        const auto both = hn::LoadU(d16, reinterpret_cast<const std::int16_t*>(turned + 2 * (pair * kEdge + i)));
        const auto even = hn::ShiftRight<8>(hn::ShiftLeft<8>(both));
        const auto odd = hn::ShiftRight<8>(both);
        hn::Store(hn::PromoteTo(d, even), d, into + 2 * pair * kEdge + i);
        hn::Store(hn::PromoteTo(d, odd), d, into + (2 * pair + 1) * kEdge + i);
      }
    }
  }
};

template <class Input>
void widen_rows(const MatmulTile& t, const MatmulInputs& in) {
  const usize rows = t.gemv ? 1 : align_up<usize>(t.m, kEdge);
  Input::widen_a(t.a, reinterpret_cast<typename Input::T*>(in.a), in.chunks * in.chunk * rows);
}

// Columns of fractals j .. j + count - 1, to panels at `into`.
template <class Input>
void widen_columns(const MatmulTile& t, const MatmulInputs& in, usize j, usize count, typename Input::T* into) {
  const usize n1 = ceil_div<usize>(t.n, kEdge);
  const usize tail = t.n % kEdge;  // columns of the last fractal, 0: all
  for (usize i = 0; i < in.chunks; ++i) {
    for (usize f = 0; f < count; ++f) {
      alignas(64) std::byte copy[512];
      const usize fractal = i * n1 + j + f;
      const std::byte* turned = t.b + fractal * sizeof copy;
      if (t.b_turned == nullptr || t.b_turned[fractal] == 0) {
        transpose_fractal(turned, copy);
        turned = copy;
      }
      if (tail != 0 && j + f == n1 - 1) {  // what pads B may be anything, and must not be seen as an infinity
        if (turned != copy) std::memcpy(copy, turned, sizeof copy);
        for (usize row = 0; row < kEdge; ++row)
          std::memset(copy + (row * kEdge + tail) * 2, 0, (kEdge - tail) * 2);
        turned = copy;
      }
      Input::widen_b(turned, into + f * in.b_panel() + i * in.chunk * kEdge);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace vinci::isa
HWY_AFTER_NAMESPACE();

#endif
