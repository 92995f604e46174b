// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "kernel_operator.h"

// The C interface to vector kernels: functions asc_* of pointers to memories. Each has up to three forms: `count`
// elements; repeats with strides, by the vector mask as it is; and with _sync the first, after which all pipes have
// ended. Documentation: Ascend C API, C-API.
namespace AscendC::vinci_detail {
template <typename T>
LocalTensor<T> AtPointer(__ubuf__ T* pointer) {
  return LocalTensor<T>(TPosition::VECCALC, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pointer)), 0);
}
inline uint64_t AddressOf(__ubuf__ const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
inline uint64_t AddressOf(__gm__ const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Copies of `size` bytes: in blocks of 32 bytes, or what is behind the last whole block as well.
inline void CopyToUb(__ubuf__ void* dst, __gm__ void* src, uint32_t size, ::vinci::ascendc::Place place) {
  GlobalTensor<uint8_t> gm;
  gm.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(src));
  const LocalTensor<uint8_t> ub = AtPointer(reinterpret_cast<__ubuf__ uint8_t*>(dst));
  if (size % ONE_BLK_SIZE == 0) {
    DataCopy(ub, gm, size, place);
  } else {
    DataCopyPad(ub, gm, DataCopyExtParams(1, size, 0, 0, 0), DataCopyPadExtParams<uint8_t>(), place);
  }
}
inline void CopyToGm(__gm__ void* dst, __ubuf__ void* src, uint32_t size, ::vinci::ascendc::Place place) {
  GlobalTensor<uint8_t> gm;
  gm.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(dst));
  const LocalTensor<uint8_t> ub = AtPointer(reinterpret_cast<__ubuf__ uint8_t*>(src));
  if (size % ONE_BLK_SIZE == 0) {
    DataCopy(gm, ub, size, place);
  } else {
    DataCopyPad(gm, ub, DataCopyExtParams(1, size, 0, 0, 0), place);
  }
}
}  // namespace AscendC::vinci_detail

// ---------------------------------------------------------------------------------------------------------------------
// The state of the core, and what it is.

inline void asc_init(VINCI_PLACE) { AscendC::InitSocState(place); }
inline int64_t asc_get_block_idx() { return get_block_idx(); }
inline int64_t asc_get_block_num() { return get_block_num(); }
inline int64_t asc_get_sub_block_id() { return get_subblockid(); }
inline int64_t asc_get_sub_block_num() { return get_subblockdim(); }
inline int64_t asc_get_system_cycle(VINCI_PLACE) { return AscendC::GetSystemCycle(place); }
inline int64_t asc_get_ctrl(VINCI_PLACE) { return AscendC::GetCtrlSpr<0, 63>(place); }
inline void asc_set_ctrl(uint64_t config, VINCI_PLACE) {
  AscendC::SetCtrlSpr<0, 63>(static_cast<int64_t>(config), place);
}
inline void asc_set_mask_count(VINCI_PLACE) { AscendC::SetMaskCount(place); }
inline void asc_set_mask_norm(VINCI_PLACE) { AscendC::SetMaskNorm(place); }
inline void asc_set_vector_mask(uint64_t mask1, uint64_t mask0, VINCI_PLACE) {
  AscendC::vinci_detail::IssueMask(mask1, mask0, place);
}
inline int64_t asc_get_rsvd_count(VINCI_PLACE) { return AscendC::AscendCUtils::GetRsvdCnt(place); }

// ---------------------------------------------------------------------------------------------------------------------
// Synchronisation.

inline void asc_sync(VINCI_PLACE) { pipe_barrier(PIPE_ALL, place); }
inline void asc_sync_pipe(pipe_t pipe, VINCI_PLACE) { pipe_barrier(pipe, place); }
inline void asc_sync_vec(VINCI_PLACE) { pipe_barrier(PIPE_V, place); }
inline void asc_sync_mte2(VINCI_PLACE) { pipe_barrier(PIPE_MTE2, place); }
inline void asc_sync_mte3(VINCI_PLACE) { pipe_barrier(PIPE_MTE3, place); }
inline void asc_sync_notify(pipe_t pipe, pipe_t tpipe, event_t id, VINCI_PLACE) { set_flag(pipe, tpipe, id, place); }
inline void asc_sync_wait(pipe_t pipe, pipe_t tpipe, event_t id, VINCI_PLACE) { wait_flag(pipe, tpipe, id, place); }

// ---------------------------------------------------------------------------------------------------------------------
// Copies: bytes, or bursts of blocks of 32 bytes with gaps between them.

#define VINCI_ASC_COPY(name, To, From, copy)                                                                  \
  inline void name(To void* dst, From void* src, uint32_t size, VINCI_PLACE) { copy(dst, src, size, place); } \
  inline void name##_sync(To void* dst, From void* src, uint32_t size, VINCI_PLACE) {                         \
    name(dst, src, size, place);                                                                              \
    asc_sync(place);                                                                                          \
  }
VINCI_ASC_COPY(asc_copy_gm2ub, __ubuf__, __gm__, AscendC::vinci_detail::CopyToUb)
VINCI_ASC_COPY(asc_copy_ub2gm, __gm__, __ubuf__, AscendC::vinci_detail::CopyToGm)
#undef VINCI_ASC_COPY
inline void asc_copy_gm2ub(__ubuf__ void* dst, __gm__ void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap,
                           uint16_t dst_gap, VINCI_PLACE) {
  AscendC::GlobalTensor<uint8_t> gm;
  gm.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(src));
  AscendC::DataCopy(AscendC::vinci_detail::AtPointer(reinterpret_cast<__ubuf__ uint8_t*>(dst)), gm,
                    AscendC::DataCopyParams(n_burst, len_burst, src_gap, dst_gap), place);
}
inline void asc_copy_ub2gm(__gm__ void* dst, __ubuf__ void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap,
                           uint16_t dst_gap, VINCI_PLACE) {
  AscendC::GlobalTensor<uint8_t> gm;
  gm.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(dst));
  AscendC::DataCopy(gm, AscendC::vinci_detail::AtPointer(reinterpret_cast<__ubuf__ uint8_t*>(src)),
                    AscendC::DataCopyParams(n_burst, len_burst, src_gap, dst_gap), place);
}
inline void asc_copy_ub2ub(__ubuf__ void* dst, __ubuf__ void* src, uint16_t n_burst, uint16_t len_burst,
                           uint16_t src_gap, uint16_t dst_gap, VINCI_PLACE) {
  AscendC::DataCopy(AscendC::vinci_detail::AtPointer(reinterpret_cast<__ubuf__ uint8_t*>(dst)),
                    AscendC::vinci_detail::AtPointer(reinterpret_cast<__ubuf__ uint8_t*>(src)),
                    AscendC::DataCopyParams(n_burst, len_burst, src_gap, dst_gap), place);
}

// ---------------------------------------------------------------------------------------------------------------------
// Vector computation.

#define VINCI_ASC_BINARY(name, Function)                                                                             \
  template <typename T>                                                                                              \
  void name(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint32_t count, VINCI_PLACE) {                      \
    using AscendC::vinci_detail::AtPointer;                                                                          \
    AscendC::Function(AtPointer(dst), AtPointer(src0), AtPointer(src1), static_cast<int32_t>(count), place);         \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  void name(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint8_t repeat, uint8_t dst_block_stride,           \
            uint8_t src0_block_stride, uint8_t src1_block_stride, uint8_t dst_repeat_stride,                         \
            uint8_t src0_repeat_stride, uint8_t src1_repeat_stride, VINCI_PLACE) {                                   \
    using AscendC::vinci_detail::AtPointer;                                                                          \
    AscendC::Function<T, false>(AtPointer(dst), AtPointer(src0), AtPointer(src1), AscendC::MASK_PLACEHOLDER, repeat, \
                                {dst_block_stride, src0_block_stride, src1_block_stride, dst_repeat_stride,          \
                                 src0_repeat_stride, src1_repeat_stride},                                            \
                                place);                                                                              \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  void name##_sync(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint32_t count, VINCI_PLACE) {               \
    name(dst, src0, src1, count, place);                                                                             \
    asc_sync(place);                                                                                                 \
  }
VINCI_ASC_BINARY(asc_add, Add)
VINCI_ASC_BINARY(asc_sub, Sub)
VINCI_ASC_BINARY(asc_mul, Mul)
VINCI_ASC_BINARY(asc_div, Div)
VINCI_ASC_BINARY(asc_max, Max)
VINCI_ASC_BINARY(asc_min, Min)
VINCI_ASC_BINARY(asc_and, And)
VINCI_ASC_BINARY(asc_or, Or)
VINCI_ASC_BINARY(asc_add_relu, AddRelu)
VINCI_ASC_BINARY(asc_sub_relu, SubRelu)
VINCI_ASC_BINARY(asc_mul_add, FusedMulAdd)
VINCI_ASC_BINARY(asc_mul_add_relu, FusedMulAddRelu)
#undef VINCI_ASC_BINARY

#define VINCI_ASC_UNARY(name, Function)                                                                             \
  template <typename T>                                                                                             \
  void name(__ubuf__ T* dst, __ubuf__ T* src, uint32_t count, VINCI_PLACE) {                                        \
    using AscendC::vinci_detail::AtPointer;                                                                         \
    AscendC::Function(AtPointer(dst), AtPointer(src), static_cast<int32_t>(count), place);                          \
  }                                                                                                                 \
  template <typename T>                                                                                             \
  void name(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dst_block_stride, uint16_t src_block_stride, \
            uint16_t dst_repeat_stride, uint16_t src_repeat_stride, VINCI_PLACE) {                                  \
    using AscendC::vinci_detail::AtPointer;                                                                         \
    AscendC::Function<T, false>(AtPointer(dst), AtPointer(src), AscendC::MASK_PLACEHOLDER, repeat,                  \
                                {dst_block_stride, src_block_stride, static_cast<uint8_t>(dst_repeat_stride),       \
                                 static_cast<uint8_t>(src_repeat_stride)},                                          \
                                place);                                                                             \
  }                                                                                                                 \
  template <typename T>                                                                                             \
  void name##_sync(__ubuf__ T* dst, __ubuf__ T* src, uint32_t count, VINCI_PLACE) {                                 \
    name(dst, src, count, place);                                                                                   \
    asc_sync(place);                                                                                                \
  }
VINCI_ASC_UNARY(asc_abs, Abs)
VINCI_ASC_UNARY(asc_exp, Exp)
VINCI_ASC_UNARY(asc_log, Ln)
VINCI_ASC_UNARY(asc_sqrt, Sqrt)
VINCI_ASC_UNARY(asc_rsqrt, Rsqrt)
VINCI_ASC_UNARY(asc_rcp, Reciprocal)
VINCI_ASC_UNARY(asc_relu, Relu)
VINCI_ASC_UNARY(asc_not, Not)
#undef VINCI_ASC_UNARY

#define VINCI_ASC_SCALAR(name, Function, number)                                                                     \
  template <typename T>                                                                                              \
  void name(__ubuf__ T* dst, __ubuf__ T* src, AscendC::vinci_detail::Itself<T> value, uint32_t count, VINCI_PLACE) { \
    using AscendC::vinci_detail::AtPointer;                                                                          \
    AscendC::Function(AtPointer(dst), AtPointer(src), static_cast<T>(number), static_cast<int32_t>(count), place);   \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  void name(__ubuf__ T* dst, __ubuf__ T* src, AscendC::vinci_detail::Itself<T> value, uint8_t repeat,                \
            uint16_t dst_block_stride, uint16_t src_block_stride, uint16_t dst_repeat_stride,                        \
            uint16_t src_repeat_stride, VINCI_PLACE) {                                                               \
    using AscendC::vinci_detail::AtPointer;                                                                          \
    AscendC::Function<T, false>(AtPointer(dst), AtPointer(src), static_cast<T>(number), AscendC::MASK_PLACEHOLDER,   \
                                repeat,                                                                              \
                                {dst_block_stride, src_block_stride, static_cast<uint8_t>(dst_repeat_stride),        \
                                 static_cast<uint8_t>(src_repeat_stride)},                                           \
                                place);                                                                              \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  void name##_sync(__ubuf__ T* dst, __ubuf__ T* src, AscendC::vinci_detail::Itself<T> value, uint32_t count,         \
                   VINCI_PLACE) {                                                                                    \
    name(dst, src, value, count, place);                                                                             \
    asc_sync(place);                                                                                                 \
  }
namespace AscendC::vinci_detail {
// T, without being deduced from it.
template <typename T>
struct ItselfOf {
  using type = T;
};
template <typename T>
using Itself = typename ItselfOf<T>::type;
}  // namespace AscendC::vinci_detail
VINCI_ASC_SCALAR(asc_add_scalar, Adds, value)
VINCI_ASC_SCALAR(asc_sub_scalar, Adds, -value)
VINCI_ASC_SCALAR(asc_mul_scalar, Muls, value)
VINCI_ASC_SCALAR(asc_max_scalar, Maxs, value)
VINCI_ASC_SCALAR(asc_min_scalar, Mins, value)
VINCI_ASC_SCALAR(asc_leakyrelu, LeakyRelu, value)
#undef VINCI_ASC_SCALAR

template <typename T>
void asc_duplicate(__ubuf__ T* dst, AscendC::vinci_detail::Itself<T> src, uint32_t count, VINCI_PLACE) {
  AscendC::Duplicate(AscendC::vinci_detail::AtPointer(dst), src, static_cast<int32_t>(count), place);
}
template <typename T>
void asc_duplicate(__ubuf__ T* dst, AscendC::vinci_detail::Itself<T> src, uint8_t repeat, uint16_t dst_block_stride,
                   uint16_t dst_repeat_stride, VINCI_PLACE) {
  AscendC::vinci_detail::IssueDuplicate(AscendC::vinci_detail::AtPointer(dst), src, repeat, dst_block_stride,
                                        static_cast<uint8_t>(dst_repeat_stride), place);
}
template <typename T>
void asc_duplicate_sync(__ubuf__ T* dst, AscendC::vinci_detail::Itself<T> src, uint32_t count, VINCI_PLACE) {
  asc_duplicate(dst, src, count, place);
  asc_sync(place);
}
