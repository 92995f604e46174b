// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/elements.h"

// Activation functions of elements. Documentation: Ascend C API, high-level API, activation functions.
namespace AscendC {

namespace vinci_detail::formula {

using F = LocalTensor<float>;

// d = 1 + exp(d)
inline void OnePlusExp(const vinci_detail::Elements& m, const F& d) {
  m.Exp(d, d);
  m.Adds(d, d, 1.0f);
}
inline void Sigmoid(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  m.Muls(d, s, -1.0f);
  OnePlusExp(m, d);
  m.Set(n[0], 1.0f);
  m.Div(d, n[0], d);
}
// s / (1 + exp(-beta s))
inline void Swish(const vinci_detail::Elements& m, const F& d, const F& s, float beta) {
  m.Muls(d, s, -beta);
  OnePlusExp(m, d);
  m.Div(d, s, d);
}
inline void Silu(const vinci_detail::Elements& m, const F& d, const F& s, F*) { Swish(m, d, s, 1.0f); }
// s / (1 + exp(-sqrt(8 / pi) (s + 0.044715 s^3)))
inline void Gelu(const vinci_detail::Elements& m, const F& d, const F& s, F*) {
  m.Mul(d, s, s);
  m.Muls(d, d, -0.0713548162726f);
  m.Adds(d, d, -1.595769121605731f);
  m.Mul(d, d, s);
  OnePlusExp(m, d);
  m.Div(d, s, d);
}
inline void FasterGelu(const vinci_detail::Elements& m, const F& d, const F& s, F*) { Swish(m, d, s, 1.702f); }
// s (sign(s) (-0.1444 (min(|s| / sqrt(2), 1.769) - 1.769)^2 + 0.5) + 0.5)
inline void FasterGeluV2(const vinci_detail::Elements& m, const F& d, const F& s, F* n) {
  m.Abs(d, s);
  m.Muls(d, d, 0.7071f);
  m.Mins(d, d, 1.769f);
  m.Adds(d, d, -1.769f);
  m.Mul(d, d, d);
  m.Muls(d, d, -0.1444f);
  m.Adds(d, d, 0.5f);
  m.Sign(n[0], s);
  m.Mul(d, d, n[0]);
  m.Adds(d, d, 0.5f);
  m.Mul(d, d, s);
}
// Gated: the first source times a function of the second.
inline void GeGLU(const vinci_detail::Elements& m, const F& d, const F& a, const F& b, F* n) {
  Gelu(m, d, b, n);
  m.Mul(d, d, a);
}
inline void ReGlu(const vinci_detail::Elements& m, const F& d, const F& a, const F& b, F*) {
  m.Relu(d, b);
  m.Mul(d, d, a);
}

}  // namespace vinci_detail::formula

VINCI_MAP_FORMS(Sigmoid, vinci_detail::formula::Sigmoid)
VINCI_MAP2_FORMS(GeGLU, vinci_detail::formula::GeGLU)
VINCI_MAP2_FORMS(ReGlu, vinci_detail::formula::ReGlu)

// What highPrecision and highPerformance choose between is one function here.
#define VINCI_GELU(Name)                                                                                            \
  template <typename T, bool highPrecision = false, bool highPerformance = false>                                   \
  void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                                         \
            const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t dataSize, VINCI_PLACE) {                    \
    vinci_detail::MapElements<vinci_detail::TmpNodes::Name>(dstLocal, srcLocal, sharedTmpBuffer, dataSize, place,   \
                                                            vinci_detail::formula::Name);                           \
  }                                                                                                                 \
  template <typename T, bool highPrecision = false, bool highPerformance = false>                                   \
  void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dataSize, VINCI_PLACE) { \
    vinci_detail::MapElements<vinci_detail::TmpNodes::Name>(dstLocal, srcLocal, vinci_detail::StackBuffer(place),   \
                                                            dataSize, place, vinci_detail::formula::Name);          \
  }
VINCI_GELU(Gelu)
VINCI_GELU(FasterGelu)
VINCI_GELU(FasterGeluV2)
#undef VINCI_GELU

template <typename T, bool isReuseSource = false>
void Silu(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize, VINCI_PLACE) {
  vinci_detail::MapElements<vinci_detail::TmpNodes::Silu>(dstLocal, srcLocal, vinci_detail::StackBuffer(place),
                                                          dataSize, place, vinci_detail::formula::Silu);
}
template <typename T, bool isReuseSource = false>
void Swish(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize, const T scalarValue,
           VINCI_PLACE) {
  const auto beta = static_cast<float>(scalarValue);
  vinci_detail::MapElements<vinci_detail::TmpNodes::Swish>(
      dstLocal, srcLocal, vinci_detail::StackBuffer(place), dataSize, place,
      [beta](const vinci_detail::Elements& m, const vinci_detail::formula::F& d, const vinci_detail::formula::F& s,
             vinci_detail::formula::F*) { vinci_detail::formula::Swish(m, d, s, beta); });
}

template <typename T, bool isReuseSource = false>
void SwiGLU(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
            const float& scalarValue, const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount,
            VINCI_PLACE) {
  const float beta = scalarValue;
  vinci_detail::MapElements<vinci_detail::TmpNodes::SwiGLU>(
      dstTensor, srcTensor0, srcTensor1, sharedTmpBuffer, calCount, place,
      [beta](const vinci_detail::Elements& m, const vinci_detail::formula::F& d, const vinci_detail::formula::F& a,
             const vinci_detail::formula::F& b, vinci_detail::formula::F*) {
        vinci_detail::formula::Swish(m, d, b, beta);
        m.Mul(d, d, a);
      });
}
template <typename T, bool isReuseSource = false>
void SwiGLU(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
            const float& scalarValue, const LocalTensor<uint8_t>& sharedTmpBuffer, VINCI_PLACE) {
  SwiGLU(dstTensor, srcTensor0, srcTensor1, scalarValue, sharedTmpBuffer, srcTensor0.GetSize(), place);
}
template <typename T, bool isReuseSource = false>
void SwiGLU(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
            const float& scalarValue, const uint32_t calCount, VINCI_PLACE) {
  SwiGLU(dstTensor, srcTensor0, srcTensor1, scalarValue, vinci_detail::StackBuffer(place), calCount, place);
}
template <typename T, bool isReuseSource = false>
void SwiGLU(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
            const float& scalarValue, VINCI_PLACE) {
  SwiGLU(dstTensor, srcTensor0, srcTensor1, scalarValue, vinci_detail::StackBuffer(place), srcTensor0.GetSize(), place);
}

}  // namespace AscendC
