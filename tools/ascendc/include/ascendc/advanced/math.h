// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/elements.h"

// Mathematical functions of elements. Documentation: Ascend C API, high-level API, mathematics.
namespace AscendC {

// Below, d is the result, s (or a and b) the source, n are buffers.
namespace vinci_detail::formula {

using F = LocalTensor<float>;
constexpr float kPi = 3.14159265358979f;

// (1 - e) / (1 + e), e = exp(-2 s)
inline void Tanh(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  m.Clamp(d, s, -9.0f, 9.0f);  // beyond, the result is 1 in f32
  m.Muls(d, d, -2.0f);
  m.Exp(d, d);
  m.Adds(n[0], d, 1.0f);
  m.Muls(d, d, -1.0f);
  m.Adds(d, d, 1.0f);
  m.Div(d, d, n[0]);
}

inline void Exp(const vinci_detail::Elements& m, const F& d, const F& s, F*) { m.Exp(d, s); }
inline void Log2(const vinci_detail::Elements& m, const F& d, const F& s, F*) {
  m.Ln(d, s);
  m.Muls(d, d, 1.4426950408889634f);
}

inline void Floor(const vinci_detail::Elements& m, const F& d, const F& s, F*) { m.Round(d, s, RoundMode::CAST_FLOOR); }
inline void Ceil(const vinci_detail::Elements& m, const F& d, const F& s, F*) { m.Round(d, s, RoundMode::CAST_CEIL); }
inline void Round(const vinci_detail::Elements& m, const F& d, const F& s, F*) { m.Round(d, s, RoundMode::CAST_RINT); }
inline void Trunc(const vinci_detail::Elements& m, const F& d, const F& s, F*) { m.Round(d, s, RoundMode::CAST_TRUNC); }
inline void Frac(const vinci_detail::Elements& m, const F& d, const F& s, F*) {
  m.Round(d, s, RoundMode::CAST_TRUNC);
  m.Sub(d, s, d);
}
inline void Fmod(const vinci_detail::Elements& m, const F& d, const F& a, const F& b, F*) {
  m.Div(d, a, b);
  m.Round(d, d, RoundMode::CAST_TRUNC);
  m.Mul(d, d, b);
  m.Sub(d, a, d);
}
inline void Sign(const vinci_detail::Elements& m, const F& d, const F& s, F*) { m.Sign(d, s); }

// r = s - h * pi and h + shift = k, the integer next to s / pi + shift; d is used. Pi is in three parts whose products
// with h are exact for |s| below some 10^4.
inline void ReduceByPi(const vinci_detail::Elements& m, const F& r, const F& h, const F& d, const F& s, float shift) {
  m.Muls(h, s, 1 / kPi);
  m.Adds(h, h, shift);
  m.Round(h, h, RoundMode::CAST_RINT);
  m.Adds(h, h, -shift);
  const F* from = &s;
  for (const float part : {3.140625f, 9.67502593994140625e-4f, 1.509957990978376432e-7f}) {
    m.Muls(d, h, part);
    m.Sub(r, *from, d);
    from = &r;
  }
}
// p = sin(r), |r| up to pi / 2; x is used, and then r * r.
inline void SineNearZero(const vinci_detail::Elements& m, const F& p, const F& r, const F& x) {
  m.Mul(x, r, r);
  m.Polynomial(p, x,
               {-2.50521083854417188e-8f, 2.75573192239858907e-6f, -1.98412698412698413e-4f, 8.33333333333333333e-3f,
                -0.166666666666666667f});
  m.Mul(p, p, x);
  m.Mul(p, p, r);
  m.Add(p, p, r);
}
// sin(s + shift * pi) by (-1)^k sin(r)
inline void SineShifted(const vinci_detail::Elements& m, const F& d, const F& s, F* n, float shift) {
  ReduceByPi(m, n[0], n[1], d, s, shift);
  SineNearZero(m, n[2], n[0], d);
  m.Adds(n[1], n[1], shift);
  m.Muls(d, n[1], 0.5f);
  m.Round(d, d, RoundMode::CAST_FLOOR);
  m.Muls(d, d, -2.0f);
  m.Add(d, d, n[1]);
  m.Muls(d, d, -2.0f);
  m.Adds(d, d, 1.0f);
  m.Mul(d, d, n[2]);
}
inline void Sin(const vinci_detail::Elements& m, const F& d, const F& s, F* n) { SineShifted(m, d, s, n, 0.0f); }
inline void Cos(const vinci_detail::Elements& m, const F& d, const F& s, F* n) { SineShifted(m, d, s, n, 0.5f); }
inline void Tan(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  ReduceByPi(m, n[0], n[1], d, s, 0.0f);
  SineNearZero(m, n[1], n[0], d);
  m.Polynomial(n[2], d,
               {2.08767569878681e-9f, -2.75573192239858907e-7f, 2.48015873015873016e-5f, -1.38888888888888889e-3f,
                4.16666666666666667e-2f, -0.5f, 1.0f});
  m.Div(d, n[1], n[2]);
}

inline void Exponentials(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  m.Muls(n[0], s, -1.0f);
  m.Exp(n[0], n[0]);
  m.Exp(d, s);
}
inline void Sinh(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  Exponentials(m, d, s, n);
  m.Sub(d, d, n[0]);
  m.Muls(d, d, 0.5f);
}
inline void Cosh(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  Exponentials(m, d, s, n);
  m.Add(d, d, n[0]);
  m.Muls(d, d, 0.5f);
}
// By the sign, ln(|s| + sqrt(s^2 + 1))
inline void Asinh(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  m.Mul(d, s, s);
  m.Adds(d, d, 1.0f);
  m.Sqrt(d, d);
  m.Abs(n[0], s);
  m.Add(d, d, n[0]);
  m.Ln(d, d);
  m.Sign(n[0], s);
  m.Mul(d, d, n[0]);
}
inline void Acosh(const vinci_detail::Elements& m, const F& d, const F& s, F*) {
  m.Mul(d, s, s);
  m.Adds(d, d, -1.0f);
  m.Sqrt(d, d);
  m.Add(d, d, s);
  m.Ln(d, d);
}
inline void Atanh(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  m.Muls(n[0], s, -1.0f);
  m.Adds(n[0], n[0], 1.0f);
  m.Adds(d, s, 1.0f);
  m.Div(d, d, n[0]);
  m.Ln(d, d);
  m.Muls(d, d, 0.5f);
}

// t = min(|s|, 1 / |s|) is at most 1, and u = (t - c) / (1 + c t) with c = tan(pi / 8) at most c: atan(t) is pi / 8 +
// atan(u), and beyond 1 the result is pi / 2 less that.
inline void Atan(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  constexpr float kTan = 0.41421356237309505f;
  m.Abs(n[0], s);
  m.Set(d, 1.0f);
  m.Div(n[1], d, n[0]);
  m.Min(n[1], n[1], n[0]);
  m.Muls(n[2], n[1], kTan);
  m.Adds(n[2], n[2], 1.0f);
  m.Adds(n[1], n[1], -kTan);
  m.Div(n[1], n[1], n[2]);
  m.Mul(d, n[1], n[1]);
  m.Polynomial(n[2], d, {-1 / 15.0f, 1 / 13.0f, -1 / 11.0f, 1 / 9.0f, -1 / 7.0f, 1 / 5.0f, -1 / 3.0f});
  m.Mul(n[2], n[2], d);
  m.Mul(n[2], n[2], n[1]);
  m.Add(n[2], n[2], n[1]);
  m.Adds(n[2], n[2], kPi / 8);
  m.Adds(d, n[0], -1.0f);
  m.Step(d, d);
  m.Muls(n[1], n[2], -2.0f);
  m.Adds(n[1], n[1], kPi / 2);
  m.Mul(n[1], n[1], d);
  m.Add(n[1], n[1], n[2]);
  m.Sign(d, s);
  m.Mul(d, d, n[1]);
}
// atan(s / sqrt((1 - s) (1 + s)))
inline void Asin(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  m.Muls(d, s, -1.0f);
  m.Adds(d, d, 1.0f);
  m.Adds(n[3], s, 1.0f);
  m.Mul(d, d, n[3]);
  m.Sqrt(d, d);
  m.Div(n[3], s, d);
  Atan(m, d, n[3], n);
}
inline void Acos(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  Asin(m, d, s, n);
  m.Muls(d, d, -1.0f);
  m.Adds(d, d, kPi / 2);
}

// 1 - p(t) exp(-s^2), t = 1 / (1 + 0.3275911 |s|). Source: Abramowitz and Stegun, 7.1.26; error below 1.5e-7.
inline void Erf(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  m.Abs(n[0], s);
  m.Muls(n[1], n[0], 0.3275911f);
  m.Adds(n[1], n[1], 1.0f);
  m.Set(d, 1.0f);
  m.Div(n[1], d, n[1]);
  m.Polynomial(d, n[1], {1.061405429f, -1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f});
  m.Mul(d, d, n[1]);
  m.Mul(n[0], n[0], n[0]);
  m.Muls(n[0], n[0], -1.0f);
  m.Exp(n[0], n[0]);
  m.Mul(d, d, n[0]);
  m.Muls(d, d, -1.0f);
  m.Adds(d, d, 1.0f);
  m.Sign(n[0], s);
  m.Mul(d, d, n[0]);
}
inline void Erfc(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  Erf(m, d, s, n);
  m.Muls(d, d, -1.0f);
  m.Adds(d, d, 1.0f);
}

// t = s or 1 - s, whichever is larger, and where it is the latter: f(s) follows from f(1 - s). r = pi (s - the integer
// next to s), of which p is the sine; x is used, and then r * r.
inline void Reflect(const vinci_detail::Elements& m, const F& t, const F& below, const F& r, const F& p, const F& x,
                    const F& s) {
  m.Muls(t, s, -1.0f);
  m.Adds(below, t, 0.5f);
  m.Step(below, below);
  m.Adds(t, t, 1.0f);
  m.Mins(t, t, 1e7f);  // beyond, s is an integer
  m.Max(t, t, s);
  m.Clamp(r, s, -8388608.0f, 8388608.0f);  // beyond, all are integers
  m.Round(x, r, RoundMode::CAST_RINT);
  m.Sub(r, r, x);
  m.Muls(r, r, kPi);
  SineNearZero(m, p, r, x);
}
// y = t + 7 and u = 1 where t is below 8, else t and 0; q = the smaller of t and 8.
inline void MoveUp(const vinci_detail::Elements& m, const F& y, const F& u, const F& q, const F& t) {
  m.Muls(q, t, -1.0f);
  m.Adds(q, q, 8.0f);
  m.Step(u, q);
  m.Mins(q, t, 8.0f);
  m.Muls(y, u, 7.0f);
  m.Add(y, y, t);
}
// ln |gamma(s)|: below 1/2 ln(pi / |sin(pi s)|) less that of 1 - s; below 8 that of s + 7 less the logarithm of
// s (s + 1) .. (s + 6); else Stirling's series.
inline void Lgamma(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  Reflect(m, n[0], n[1], n[2], n[3], d, s);
  m.Abs(n[3], n[3]);
  m.Muls(n[2], n[1], -1.0f);
  m.Adds(n[2], n[2], 1.0f);
  m.Max(n[3], n[3], n[2]);  // 1 where it does not count
  m.Ln(n[3], n[3]);
  m.Muls(n[3], n[3], -1.0f);
  m.Adds(n[3], n[3], 1.14472988584940017f);
  m.Mul(n[3], n[3], n[1]);
  m.Muls(n[1], n[1], -2.0f);
  m.Adds(n[1], n[1], 1.0f);

  MoveUp(m, n[2], n[4], n[5], n[0]);
  m.Set(d, 1.0f);
  for (int k = 0; k < 7; ++k) {
    m.Adds(n[0], n[5], static_cast<float>(k - 1));
    m.Mul(n[0], n[0], n[4]);
    m.Adds(n[0], n[0], 1.0f);
    m.Mul(d, d, n[0]);
  }
  m.Ln(d, d);
  m.Ln(n[4], n[2]);
  m.Adds(n[4], n[4], -1.0f);
  m.Adds(n[5], n[2], -0.5f);
  m.Mul(n[4], n[4], n[5]);
  m.Sub(d, n[4], d);
  m.Adds(d, d, 0.418938533204672742f);  // (ln(2 pi) - 1) / 2
  m.Set(n[4], 1.0f);
  m.Div(n[4], n[4], n[2]);
  m.Mul(n[2], n[4], n[4]);
  m.Polynomial(n[5], n[2], {1 / 1260.0f, -1 / 360.0f, 1 / 12.0f});
  m.Mul(n[5], n[5], n[4]);
  m.Add(d, d, n[5]);

  m.Mul(d, d, n[1]);
  m.Add(d, d, n[3]);
}
// Its derivative: below 1/2 that of 1 - s less pi / tan(pi s); below 8 that of s + 7 less 1 / s .. 1 / (s + 6); else
// its asymptotic series.
inline void Digamma(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  Reflect(m, n[0], n[1], n[2], n[3], d, s);
  m.Polynomial(n[4], d,
               {2.08767569878681e-9f, -2.75573192239858907e-7f, 2.48015873015873016e-5f, -1.38888888888888889e-3f,
                4.16666666666666667e-2f, -0.5f, 1.0f});
  m.Muls(n[2], n[1], -1.0f);
  m.Adds(n[2], n[2], 1.0f);
  m.Mul(n[3], n[3], n[1]);
  m.Add(n[3], n[3], n[2]);  // 1 where it does not count
  m.Div(n[3], n[4], n[3]);
  m.Muls(n[3], n[3], -kPi);
  m.Mul(n[3], n[3], n[1]);

  MoveUp(m, n[2], n[4], n[5], n[0]);
  for (int k = 0; k < 7; ++k) {
    m.Adds(n[0], n[5], static_cast<float>(k));
    m.Div(n[0], n[4], n[0]);
    m.Sub(n[3], n[3], n[0]);
  }
  m.Ln(d, n[2]);
  m.Add(d, d, n[3]);
  m.Set(n[4], 1.0f);
  m.Div(n[4], n[4], n[2]);
  m.Muls(n[5], n[4], -0.5f);
  m.Add(d, d, n[5]);
  m.Mul(n[4], n[4], n[4]);
  m.Polynomial(n[5], n[4], {-1 / 252.0f, 1 / 120.0f, -1 / 12.0f});
  m.Mul(n[5], n[5], n[4]);
  m.Add(d, d, n[5]);
}

// exp(b ln |a|), negative where a is and b is odd, NaN where a is negative and b no integer.
inline void Power(const vinci_detail::Elements& m, const F& d, const F& a, const F& b, F* n) {
  m.Abs(n[0], a);
  m.Ln(n[0], n[0]);
  m.Maxs(n[0], n[0], -1e30f);  // of 0, so that 0 times it is 0
  m.Mul(n[0], n[0], b);
  m.Exp(n[0], n[0]);
  m.Muls(d, a, -1.0f);
  m.Step(d, d);
  m.Round(n[1], b, RoundMode::CAST_FLOOR);
  m.Sub(n[1], b, n[1]);
  m.Step(n[1], n[1]);
  m.Mul(n[1], n[1], d);
  m.Muls(n[1], n[1], -1.0f);
  m.Sqrt(n[1], n[1]);
  m.Add(n[0], n[0], n[1]);
  m.Muls(n[1], b, 0.5f);
  m.Round(n[1], n[1], RoundMode::CAST_FLOOR);
  m.Muls(n[1], n[1], -2.0f);
  m.Add(n[1], n[1], b);
  m.Mul(d, d, n[1]);
  m.Muls(d, d, -2.0f);
  m.Adds(d, d, 1.0f);
  m.Mul(d, d, n[0]);
}

}  // namespace vinci_detail::formula

VINCI_MAP_FORMS(Tanh, vinci_detail::formula::Tanh)
VINCI_MAP_FORMS(Log2, vinci_detail::formula::Log2)
VINCI_MAP_FORMS(Floor, vinci_detail::formula::Floor)
VINCI_MAP_FORMS(Ceil, vinci_detail::formula::Ceil)
VINCI_MAP_FORMS(Round, vinci_detail::formula::Round)
VINCI_MAP_FORMS(Rint, vinci_detail::formula::Round)
VINCI_MAP_FORMS(Trunc, vinci_detail::formula::Trunc)
VINCI_MAP_FORMS(Frac, vinci_detail::formula::Frac)
VINCI_MAP_FORMS(Sign, vinci_detail::formula::Sign)
VINCI_MAP_FORMS(Sin, vinci_detail::formula::Sin)
VINCI_MAP_FORMS(Cos, vinci_detail::formula::Cos)
VINCI_MAP_FORMS(Tan, vinci_detail::formula::Tan)
VINCI_MAP_FORMS(Sinh, vinci_detail::formula::Sinh)
VINCI_MAP_FORMS(Cosh, vinci_detail::formula::Cosh)
VINCI_MAP_FORMS(Asin, vinci_detail::formula::Asin)
VINCI_MAP_FORMS(Acos, vinci_detail::formula::Acos)
VINCI_MAP_FORMS(Atan, vinci_detail::formula::Atan)
VINCI_MAP_FORMS(Asinh, vinci_detail::formula::Asinh)
VINCI_MAP_FORMS(Acosh, vinci_detail::formula::Acosh)
VINCI_MAP_FORMS(Atanh, vinci_detail::formula::Atanh)
VINCI_MAP_FORMS(Erf, vinci_detail::formula::Erf)
VINCI_MAP_FORMS(Erfc, vinci_detail::formula::Erfc)
VINCI_MAP_FORMS(Lgamma, vinci_detail::formula::Lgamma)
VINCI_MAP_FORMS(Digamma, vinci_detail::formula::Digamma)
VINCI_MAP2_FORMS(Fmod, vinci_detail::formula::Fmod)
VINCI_MAP2_FORMS(Power, vinci_detail::formula::Power)

// Power with a scalar in place of a tensor, which fills a buffer.
#define VINCI_POWER_SCALAR(Parameters, tensor, call)                                                                  \
  template <typename T, bool isReuseSource = false>                                                                   \
  void Power(const LocalTensor<T>& dstTensor, Parameters, const LocalTensor<uint8_t>& sharedTmpBuffer,                \
             const uint32_t calCount, VINCI_PLACE) {                                                                  \
    vinci_detail::MapElements<vinci_detail::TmpNodes::Power>(                                                         \
        dstTensor, tensor, sharedTmpBuffer, calCount, place,                                                          \
        [&](const vinci_detail::Elements& m, const vinci_detail::formula::F& d, const vinci_detail::formula::F& s,    \
            vinci_detail::formula::F* n) { call; });                                                                  \
  }                                                                                                                   \
  template <typename T, bool isReuseSource = false>                                                                   \
  void Power(const LocalTensor<T>& dstTensor, Parameters, const LocalTensor<uint8_t>& sharedTmpBuffer, VINCI_PLACE) { \
    vinci_detail::MapElements<vinci_detail::TmpNodes::Power>(                                                         \
        dstTensor, tensor, sharedTmpBuffer, tensor.GetSize(), place,                                                  \
        [&](const vinci_detail::Elements& m, const vinci_detail::formula::F& d, const vinci_detail::formula::F& s,    \
            vinci_detail::formula::F* n) { call; });                                                                  \
  }                                                                                                                   \
  template <typename T, bool isReuseSource = false>                                                                   \
  void Power(const LocalTensor<T>& dstTensor, Parameters, const uint32_t calCount, VINCI_PLACE) {                     \
    vinci_detail::MapElements<vinci_detail::TmpNodes::Power>(                                                         \
        dstTensor, tensor, vinci_detail::StackBuffer(place), calCount, place,                                         \
        [&](const vinci_detail::Elements& m, const vinci_detail::formula::F& d, const vinci_detail::formula::F& s,    \
            vinci_detail::formula::F* n) { call; });                                                                  \
  }                                                                                                                   \
  template <typename T, bool isReuseSource = false>                                                                   \
  void Power(const LocalTensor<T>& dstTensor, Parameters, VINCI_PLACE) {                                              \
    vinci_detail::MapElements<vinci_detail::TmpNodes::Power>(                                                         \
        dstTensor, tensor, vinci_detail::StackBuffer(place), tensor.GetSize(), place,                                 \
        [&](const vinci_detail::Elements& m, const vinci_detail::formula::F& d, const vinci_detail::formula::F& s,    \
            vinci_detail::formula::F* n) { call; });                                                                  \
  }
#define VINCI_COMMA ,
VINCI_POWER_SCALAR(const LocalTensor<T>& base VINCI_COMMA const T& exponent, base,
                   (m.Set(n[2], static_cast<float>(exponent)), vinci_detail::formula::Power(m, d, s, n[2], n)))
VINCI_POWER_SCALAR(const T& base VINCI_COMMA const LocalTensor<T>& exponent, exponent,
                   (m.Set(n[2], static_cast<float>(base)), vinci_detail::formula::Power(m, d, n[2], s, n)))
#undef VINCI_COMMA
#undef VINCI_POWER_SCALAR

// The exponential, which Taylor terms of the vendor's library refine; ours is refined as numerics.precision says.
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<uint8_t>& sharedTmpBuffer,
         const uint32_t calCount, VINCI_PLACE) {
  vinci_detail::MapElements<vinci_detail::TmpNodes::Exp>(dstLocal, srcLocal, sharedTmpBuffer, calCount, place,
                                                         vinci_detail::formula::Exp);
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t calCount, VINCI_PLACE) {
  vinci_detail::MapElements<vinci_detail::TmpNodes::Exp>(dstLocal, srcLocal, vinci_detail::StackBuffer(place), calCount,
                                                         place, vinci_detail::formula::Exp);
}

// Those that need no temporary memory.
template <typename T, bool isReuseSource = false>
void Log(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, uint32_t calCount, VINCI_PLACE) {
  Ln(dstTensor, srcTensor, static_cast<int32_t>(calCount), place);
}
template <typename T, bool isReuseSource = false>
void Log(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, VINCI_PLACE) {
  Log(dstTensor, srcTensor, srcTensor.GetSize(), place);
}
template <typename T, bool isReuseSource = false>
void Log10(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, uint32_t calCount, VINCI_PLACE) {
  Ln(dstTensor, srcTensor, static_cast<int32_t>(calCount), place);
  vinci_detail::IssueBarrier(PIPE_V, place);
  Muls(dstTensor, dstTensor, static_cast<T>(0.4342944819032518f), static_cast<int32_t>(calCount), place);
}
template <typename T, bool isReuseSource = false>
void Log10(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, VINCI_PLACE) {
  Log10(dstTensor, srcTensor, srcTensor.GetSize(), place);
}
#define VINCI_CLAMP(Name, Limit)                                                                                       \
  template <typename T, bool isReuseSource = false>                                                                    \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                          \
            const LocalTensor<uint8_t>& /*sharedTmpBuffer*/, const T scalar, const uint32_t calCount, VINCI_PLACE) {   \
    Limit(dstTensor, srcTensor, scalar, static_cast<int32_t>(calCount), place);                                        \
  }                                                                                                                    \
  template <typename T, bool isReuseSource = false>                                                                    \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const T scalar, const uint32_t calCount, \
            VINCI_PLACE) {                                                                                             \
    Limit(dstTensor, srcTensor, scalar, static_cast<int32_t>(calCount), place);                                        \
  }
VINCI_CLAMP(ClampMax, Mins)
VINCI_CLAMP(ClampMin, Maxs)
#undef VINCI_CLAMP
template <typename T, typename U, bool isReuseSource = false>
void Axpy(const LocalTensor<T>& dstTensor, const LocalTensor<U>& srcTensor, const U scalarValue,
          const LocalTensor<uint8_t>& /*sharedTmpBuffer*/, const uint32_t calCount, VINCI_PLACE) {
  Axpy(dstTensor, srcTensor, scalarValue, static_cast<int32_t>(calCount), place);
}

// (a | b) & ~(a & b), on lanes of 16 bits.
template <typename T, bool isReuseSource = false>
void Xor(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
         const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount, VINCI_PLACE) {
  const LocalTensor<T> either = sharedTmpBuffer.template ReinterpretCast<T>();
  const uint32_t at_once = either.GetSize() / vinci_detail::kElementUnit * vinci_detail::kElementUnit;
  if (at_once == 0) ::vinci::ascendc::wrong("Xor: the temporary memory is too small", place);
  for (uint32_t first = 0; first < calCount; first += at_once) {
    const auto n = static_cast<int32_t>(calCount - first < at_once ? calCount - first : at_once);
    const LocalTensor<T> d = dstTensor[first];
    Or(either, src0Tensor[first], src1Tensor[first], n, place);
    And(d, src0Tensor[first], src1Tensor[first], n, place);
    vinci_detail::IssueBarrier(PIPE_V, place);
    Not(d, d, n, place);
    vinci_detail::IssueBarrier(PIPE_V, place);
    And(d, d, either, n, place);
    vinci_detail::IssueBarrier(PIPE_V, place);
  }
}
template <typename T, bool isReuseSource = false>
void Xor(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
         const LocalTensor<uint8_t>& sharedTmpBuffer, VINCI_PLACE) {
  Xor(dstTensor, src0Tensor, src1Tensor, sharedTmpBuffer, src0Tensor.GetSize(), place);
}
template <typename T, bool isReuseSource = false>
void Xor(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
         const uint32_t calCount, VINCI_PLACE) {
  Xor(dstTensor, src0Tensor, src1Tensor, vinci_detail::StackBuffer(place), calCount, place);
}
template <typename T, bool isReuseSource = false>
void Xor(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
         VINCI_PLACE) {
  Xor(dstTensor, src0Tensor, src1Tensor, vinci_detail::StackBuffer(place), src0Tensor.GetSize(), place);
}

}  // namespace AscendC
