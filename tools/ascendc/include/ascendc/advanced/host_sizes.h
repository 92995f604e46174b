// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "ascendc/advanced/sizes.h"
#include "ascendc/graph_operator.h"

// Host functions that say how much temporary memory a function of the high-level API needs at least, and how much it
// can use. Documentation: Ascend C API, high-level API, the functions Get..TmpSize.
namespace AscendC {

using TensorShape = ge::Shape;
using TensorDataType = ge::DataType;

namespace vinci_detail {
// Of functions of elements: so many buffers of f32.
inline uint32_t BuffersSize(uint32_t buffers, uint64_t elements) {
  const uint64_t whole = (elements + kElementUnit - 1) / kElementUnit * kElementUnit;
  return static_cast<uint32_t>((whole == 0 ? kElementUnit : whole) * buffers * sizeof(float));
}
inline void GetNodesTmpSize(uint32_t nodes, const ge::Shape& shape, uint32_t& most, uint32_t& least) {
  most = BuffersSize(nodes + kOperandNodes, static_cast<uint64_t>(shape.GetShapeSize()));
  least = BuffersSize(nodes + kOperandNodes, 1);
}
}  // namespace vinci_detail

#define VINCI_TMP_SIZE(Name, nodes)                                                                              \
  inline bool Get##Name##MaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSize*/, bool /*isReuse*/, \
                                       uint32_t& maxValue, uint32_t& minValue) {                                 \
    vinci_detail::GetNodesTmpSize(vinci_detail::TmpNodes::Name, srcShape, maxValue, minValue);                   \
    return true;                                                                                                 \
  }                                                                                                              \
  inline void Get##Name##TmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount,                \
                                             uint32_t& extraBuf) {                                               \
    /* Live nodes are counted in buffers of the type of the operands. */                                         \
    maxLiveNodeCount = (vinci_detail::TmpNodes::Name + vinci_detail::kOperandNodes) *                            \
                       static_cast<uint32_t>(sizeof(float)) / typeSize;                                          \
    extraBuf = vinci_detail::BuffersSize(vinci_detail::TmpNodes::Name + vinci_detail::kOperandNodes, 1);         \
  }
VINCI_TMP_NODES(VINCI_TMP_SIZE)
#undef VINCI_TMP_SIZE

// Functions whose host functions have other names or parameters.
inline void GetGeluMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSize*/, uint32_t& maxValue,
                                 uint32_t& minValue) {
  vinci_detail::GetNodesTmpSize(vinci_detail::TmpNodes::FasterGeluV2, srcShape, maxValue,
                                minValue);  // serves all three kinds
}
inline uint32_t GetGeluMaxTmpSize(const ge::Shape& srcShape, const uint32_t typeSize) {
  uint32_t most = 0, least = 0;
  GetGeluMaxMinTmpSize(srcShape, typeSize, most, least);
  return most;
}
inline uint32_t GetGeluMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize) {
  uint32_t most = 0, least = 0;
  GetGeluMaxMinTmpSize(srcShape, typeSize, most, least);
  return least;
}
inline void GetSiluTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSize*/, const bool /*isReuseSource*/,
                           uint32_t& maxValue, uint32_t& minValue) {
  vinci_detail::GetNodesTmpSize(vinci_detail::TmpNodes::Silu, srcShape, maxValue, minValue);
}
inline void GetSwishTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                            uint32_t& maxValue, uint32_t& minValue) {
  GetSiluTmpSize(srcShape, typeSize, isReuseSource, maxValue, minValue);
}
inline void GetSwiGLUMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSize*/, uint32_t& maxValue,
                                   uint32_t& minValue, const bool /*isReuseSource*/) {
  vinci_detail::GetNodesTmpSize(vinci_detail::TmpNodes::SwiGLU, srcShape, maxValue, minValue);
}
inline void GetPowerMaxMinTmpSize(const ge::Shape& srcShape1, const ge::Shape& srcShape2, const bool /*typeIsInt*/,
                                  const uint32_t /*typeSize*/, const bool /*isReuseSource*/, uint32_t& maxValue,
                                  uint32_t& minValue) {
  vinci_detail::GetNodesTmpSize(vinci_detail::TmpNodes::Power,
                                srcShape1.GetShapeSize() > srcShape2.GetShapeSize() ? srcShape1 : srcShape2, maxValue,
                                minValue);
}
inline void GetXorMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool /*isReuseSource*/,
                                uint32_t& maxValue, uint32_t& minValue) {
  minValue = vinci_detail::kElementUnit * typeSize;
  maxValue = vinci_detail::BuffersSize(1, static_cast<uint64_t>(srcShape.GetShapeSize())) / sizeof(float) * typeSize;
}

inline void GetArangeMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) { maxValue = minValue = 0; }
inline void GetArithProgressionMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) { maxValue = minValue = 0; }

// Numbers of a mask and their bits, for whole repeats.
#define VINCI_SELECT_SIZE(Name)                                                                                 \
  inline uint32_t Get##Name##MinTmpSize(const ge::Shape&, const ge::Shape&, const uint32_t, const ge::Shape&,   \
                                        const uint32_t maskTypeSize, const bool) {                              \
    return (maskTypeSize == 4 ? 4 : 2) * 256 + 256 / 8;                                                         \
  }                                                                                                             \
  inline uint32_t Get##Name##MaxTmpSize(const ge::Shape& a, const ge::Shape& b, const uint32_t bytes,           \
                                        const ge::Shape& mask, const uint32_t maskTypeSize, const bool reuse) { \
    const auto units = static_cast<uint32_t>((mask.GetShapeSize() + 255) / 256);                                \
    return Get##Name##MinTmpSize(a, b, bytes, mask, maskTypeSize, reuse) * (units == 0 ? 1 : units);            \
  }                                                                                                             \
  inline void Get##Name##MaxMinTmpSize(const ge::Shape& a, const ge::Shape& b, const uint32_t bytes,            \
                                       const ge::Shape& mask, const uint32_t maskTypeSize, const bool reuse,    \
                                       uint32_t& maxValue, uint32_t& minValue) {                                \
    maxValue = Get##Name##MaxTmpSize(a, b, bytes, mask, maskTypeSize, reuse);                                   \
    minValue = Get##Name##MinTmpSize(a, b, bytes, mask, maskTypeSize, reuse);                                   \
  }
VINCI_SELECT_SIZE(Select)
VINCI_SELECT_SIZE(SelectWithBytesMask)
#undef VINCI_SELECT_SIZE

// Quantisation: buffers of f32 of a row.
#define VINCI_QUANT_SIZE(Name)                                                                                     \
  inline void Get##Name##MaxMinTmpSize(const ge::Shape& srcShape, const uint32_t /*typeSize*/, uint32_t& maxValue, \
                                       uint32_t& minValue) {                                                       \
    vinci_detail::GetNodesTmpSize(0, srcShape, maxValue, minValue);                                                \
  }
VINCI_QUANT_SIZE(AscendQuant)
VINCI_QUANT_SIZE(AscendDequant)
#undef VINCI_QUANT_SIZE
template <typename DataType>
void GetAscendAntiQuantMaxMinTmpSize(const ge::Shape& srcShape, const ge::Shape& /*scaleShape*/, bool /*isTranspose*/,
                                     DataType /*inputDataType*/, DataType /*outputDataType*/, uint32_t& maxValue,
                                     uint32_t& minValue) {
  vinci_detail::GetNodesTmpSize(0, srcShape, maxValue, minValue);
}

inline void GetClampMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                                  uint32_t& maxValue, uint32_t& minValue) {
  GetClampMaxMaxMinTmpSize(srcShape, typeSize, isReuseSource, maxValue, minValue);
}
inline void GetClampTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
  GetClampMaxTmpBufferFactorSize(typeSize, maxLiveNodeCount, extraBuf);
}
inline void GetMeanTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuffer) {
  GetTanhTmpBufferFactorSize(typeSize, maxLiveNodeCount, extraBuffer);
}
inline void GetAscendQuantTmpBufferFactorSize(uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
  GetTanhTmpBufferFactorSize(2, maxLiveNodeCount, extraBuf);
}
inline void GetAscendDequantTmpBufferFactorSize(const ge::Shape& /*srcShape*/, uint32_t& maxLiveNodeCount,
                                                uint32_t& extraBuf) {
  GetTanhTmpBufferFactorSize(sizeof(float), maxLiveNodeCount, extraBuf);
}

}  // namespace AscendC
