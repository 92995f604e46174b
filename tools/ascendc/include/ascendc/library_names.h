// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/convert.h"
#include "ascendc/cross_core.h"
#include "ascendc/fixpipe.h"
#include "ascendc/mask.h"
#include "ascendc/reduce.h"
#include "ascendc/scalar.h"
#include "ascendc/vector.h"

// Functions below the documented ones that kernels of public operator packages call: with addresses in UB in place of
// tensors, and under the names of the vendor's library. Parameters are those of the calls in these packages.
namespace AscendC {

namespace vinci_detail {
template <typename T>
LocalTensor<Element<T>> TensorAt(T* address) {
  return LocalTensor<Element<T>>(TPosition::VECCALC, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)), 0);
}
}  // namespace vinci_detail

// One instruction, with the mask as it is. Strides between blocks and between repeats, in blocks of 32 bytes.
template <typename T, typename U>
void DuplicateIntrinsicsImpl(T* dst, U value, uint8_t repeatTime, uint16_t dstBlkStride, uint8_t dstRepStride,
                             VINCI_PLACE) {
  using Value = vinci_detail::Element<T>;
  vinci_detail::IssueDuplicate(vinci_detail::TensorAt(dst), static_cast<Value>(value), repeatTime, dstBlkStride,
                               dstRepStride, place);
}
#define VINCI_BLOCK_REDUCE(Name)                                                                                   \
  template <typename T>                                                                                            \
  void Name##IntrinsicsImpl(T* dst, T* src, int32_t repeatTime, int32_t dstRepStride, int32_t srcBlkStride,        \
                            int32_t srcRepStride, VINCI_PLACE) {                                                   \
    using Value = vinci_detail::Element<T>;                                                                        \
    vinci_detail::IssueReduce(vinci_detail::Name##Insn<Value>(), vinci_detail::TensorAt(dst),                      \
                              vinci_detail::TensorAt(src), repeatTime, dstRepStride, srcBlkStride, srcRepStride,   \
                              place);                                                                              \
  }
VINCI_BLOCK_REDUCE(BlockReduceSum)
VINCI_BLOCK_REDUCE(BlockReduceMax)
VINCI_BLOCK_REDUCE(BlockReduceMin)
#undef VINCI_BLOCK_REDUCE

// The first `calCount` elements.
template <typename T, typename U>
void CastImpl(T* dst, U* src, const RoundMode& roundMode, const uint32_t calCount, VINCI_PLACE) {
  Cast(vinci_detail::TensorAt(dst), vinci_detail::TensorAt(src), roundMode, calCount, place);
}
template <typename T>
void DuplicateImpl(T* dst, vinci_detail::Element<T> value, const int32_t& calCount, VINCI_PLACE) {
  Duplicate(vinci_detail::TensorAt(dst), value, calCount, place);
}
#define VINCI_BINARY(Name)                                                                    \
  template <typename T>                                                                       \
  void Name##Impl(T* dst, T* src0, T* src1, const int32_t& calCount, VINCI_PLACE) {           \
    Name(vinci_detail::TensorAt(dst), vinci_detail::TensorAt(src0), vinci_detail::TensorAt(src1), calCount, place); \
  }
#define VINCI_SCALAR(Name)                                                                                         \
  template <typename T>                                                                                            \
  void Name##Impl(T* dst, T* src, vinci_detail::Element<T> scalar, const int32_t& calCount, VINCI_PLACE) {         \
    Name(vinci_detail::TensorAt(dst), vinci_detail::TensorAt(src), scalar, calCount, place);                       \
  }
#define VINCI_UNARY(Name)                                                                     \
  template <typename T>                                                                       \
  void Name##Impl(T* dst, T* src, const int32_t& calCount, VINCI_PLACE) {                     \
    Name(vinci_detail::TensorAt(dst), vinci_detail::TensorAt(src), calCount, place);          \
  }
VINCI_BINARY(Add)
VINCI_BINARY(Sub)
VINCI_BINARY(Mul)
VINCI_BINARY(Div)
VINCI_BINARY(Max)
VINCI_BINARY(Min)
VINCI_SCALAR(Adds)
VINCI_SCALAR(Muls)
VINCI_SCALAR(Maxs)
VINCI_SCALAR(Mins)
VINCI_UNARY(Abs)
VINCI_UNARY(Exp)
VINCI_UNARY(Ln)
VINCI_UNARY(Relu)
VINCI_UNARY(Sqrt)
VINCI_UNARY(Reciprocal)
#undef VINCI_BINARY
#undef VINCI_SCALAR
#undef VINCI_UNARY

inline int64_t GetSubBlockIdxImpl() { return GetSubBlockIdx(); }
inline void SetMaskNormImpl(VINCI_PLACE) { SetMaskNorm(place); }
inline void SetMaskCountImpl(VINCI_PLACE) { SetMaskCount(place); }
template <typename T, bool setRelu = false>
void SetFixPipeConfigImpl(const LocalTensor<T>& preData, bool isUnitFlag = false, VINCI_PLACE) {
  SetFixPipeConfig<T, setRelu>(preData, isUnitFlag, place);
}

// The bits of a number, as registers take them.
template <typename T>
uint64_t GetScalarBitcodeValue(T value) {
  return vinci_detail::BitsOf(value);
}

// Rows and columns of a reduction along the last axis, and of the tensors that they are in.
struct ReduceLastND {
  uint32_t originalSrcM = 0, originalSrcK = 0, srcM = 0, srcK = 0, dstM = 0, dstK = 0;
};

// Names the range that a kernel uses beyond its arguments, for the vendor's check of addresses. Here allocations are known.
template <typename T>
void OOMCheckAddrRange(__gm__ T* /*address*/, const uint64_t /*bytes*/) {}

// Where the vendor's library writes what DumpTensor and printf say. Here both write to the standard output.
inline void InitDump(bool /*mix*/, GM_ADDR /*area*/, uint32_t /*bytes*/) {}
inline void InitDump(bool /*mix*/, uint32_t /*bytes*/) {}

}  // namespace AscendC
