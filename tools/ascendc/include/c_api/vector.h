// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>

#include "c_api/control.h"

// The C interface: copies to and from UB, and computation there. A function has up to three forms: repeats with
// strides, by the vector mask as it is; the first `count` elements; and with _sync the latter, after which all pipes
// have ended. The form with a count leaves the count in the mask, in normal mode: who goes on with strides sets it.

inline void asc_set_mask_count(VINCI_PLACE) { AscendC::SetMaskCount(place); }
inline void asc_set_mask_norm(VINCI_PLACE) { AscendC::SetMaskNorm(place); }
inline void asc_set_vector_mask(uint64_t mask1, uint64_t mask0, VINCI_PLACE) {
  AscendC::vinci_detail::IssueMask(mask1, mask0, place);
}

namespace AscendC::vinci_detail {
// Issues an instruction for the first `count` elements.
template <typename F>
void Counted(uint32_t count, ::vinci::ascendc::Place place, F&& issue) {
  if (!OnVector()) return;
  SetMaskCount(place);
  IssueMask(0, count, place);
  issue();
  SetMaskNorm(place);
}
// Blocks from repeat to repeat of elements T without gaps, where the widest elements are those of Others.
template <typename T, typename... Others>
inline constexpr uint8_t kRepeat = static_cast<uint8_t>(kBitsOf<T> * 8 / std::max({kBitsOf<T>, kBitsOf<Others>...}));
}  // namespace AscendC::vinci_detail

// ---------------------------------------------------------------------------------------------------------------------
// Copies: bytes in whole blocks of 32, bursts of blocks with gaps between them, or bursts of bytes.

#define VINCI_ASC_COPY(name, To, From, intrinsic)                                                                     \
  VINCI_ASC(, name,                                                                                                   \
            (To void* dst, From void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap), \
            OnVector, intrinsic(dst, src, 0, n_burst, len_burst, src_gap, dst_gap, place))                            \
  VINCI_ASC_BOTH(, name, (To void* dst, From void* src, uint32_t size), (dst, src, size), OnVector,                   \
                 name(dst, src, 1, size / 32, 0, 0, place))
VINCI_ASC_COPY(asc_copy_gm2ub, __ubuf__, __gm__, copy_gm_to_ubuf)
VINCI_ASC_COPY(asc_copy_ub2gm, __gm__, __ubuf__, copy_ubuf_to_gm)
VINCI_ASC_COPY(asc_copy_ub2ub, __ubuf__, __ubuf__, copy_ubuf_to_ubuf)
#undef VINCI_ASC_COPY

// Padding is counted in elements.
#define VINCI_ASC_ALIGN(name, To, From, stem)                                                                        \
  template <typename T>                                                                                              \
  void name(To T* dst, From T* src, uint16_t n_burst, uint32_t len_burst, uint8_t left_padding_num,                  \
            uint8_t right_padding_num, uint32_t src_gap, uint32_t dst_gap, VINCI_PLACE) {                            \
    if (!AscendC::vinci_detail::OnVector()) return;                                                                  \
    if constexpr (sizeof(T) == 1) {                                                                                  \
      stem##_b8(dst, src, 0, n_burst, len_burst, left_padding_num, right_padding_num, src_gap, dst_gap, place);      \
    } else if constexpr (sizeof(T) == 2) {                                                                           \
      stem##_b16(dst, src, 0, n_burst, len_burst, left_padding_num, right_padding_num, src_gap, dst_gap, place);     \
    } else {                                                                                                         \
      constexpr auto kWords = static_cast<uint32_t>(sizeof(T) / 4);                                                  \
      stem##_b32(dst, src, 0, n_burst, len_burst, left_padding_num* kWords, right_padding_num* kWords, src_gap,      \
                 dst_gap, place);                                                                                    \
    }                                                                                                                \
  }                                                                                                                  \
  VINCI_ASC_BOTH(template <typename T>, name, (To T * dst, From T * src, uint32_t size), (dst, src, size), OnVector, \
                 name(dst, src, 1, size, 0, 0, 0, 0, place))
VINCI_ASC_ALIGN(asc_copy_gm2ub_align, __ubuf__, __gm__, copy_gm_to_ubuf_align)
VINCI_ASC_ALIGN(asc_copy_ub2gm_align, __gm__, __ubuf__, copy_ubuf_to_gm_align)
#undef VINCI_ASC_ALIGN
VINCI_ASC(template <typename T>, asc_set_copy_pad_val, (T pad_value), OnVector,
          set_mov_pad_val(AscendC::vinci_detail::BitsOf(pad_value), place))

// ---------------------------------------------------------------------------------------------------------------------
// Two sources.

#define VINCI_ASC_SIX                                                                             \
  uint8_t repeat, uint8_t dst_block_stride, uint8_t src0_block_stride, uint8_t src1_block_stride, \
      uint8_t dst_repeat_stride, uint8_t src0_repeat_stride, uint8_t src1_repeat_stride
#define VINCI_ASC_SIX_ARGS                                                                               \
  repeat, dst_block_stride, src0_block_stride, src1_block_stride, dst_repeat_stride, src0_repeat_stride, \
      src1_repeat_stride
#define VINCI_ASC_2(Head, name, D, S, intrinsic, ...)                                                      \
  VINCI_ASC(Head, name, (__ubuf__ D * dst, __ubuf__ S * src0, __ubuf__ S * src1, VINCI_ASC_SIX), OnVector, \
            intrinsic(dst, src0, src1, VINCI_ASC_SIX_ARGS, __VA_ARGS__ place))                             \
  VINCI_ASC_BOTH(Head, name, (__ubuf__ D * dst, __ubuf__ S * src0, __ubuf__ S * src1, uint32_t count),     \
                 (dst, src0, src1, count), OnVector, AscendC::vinci_detail::Counted(count, place, [&] {    \
                   constexpr auto to = AscendC::vinci_detail::kRepeat<D, S>,                               \
                                  from = AscendC::vinci_detail::kRepeat<S, D>;                             \
                   intrinsic(dst, src0, src1, 1, 1, 1, 1, to, from, from, __VA_ARGS__ place);              \
                 }))
#define VINCI_ASC_2T(name, intrinsic) VINCI_ASC_2(template <typename T>, name, T, T, intrinsic, )
VINCI_ASC_2T(asc_add, vadd)
VINCI_ASC_2T(asc_sub, vsub)
VINCI_ASC_2T(asc_mul, vmul)
VINCI_ASC_2T(asc_div, vdiv)
VINCI_ASC_2T(asc_max, vmax)
VINCI_ASC_2T(asc_min, vmin)
VINCI_ASC_2T(asc_and, vand)
VINCI_ASC_2T(asc_or, vor)
VINCI_ASC_2T(asc_add_relu, vaddrelu)
VINCI_ASC_2T(asc_sub_relu, vsubrelu)
VINCI_ASC_2T(asc_mul_add, vmadd)
VINCI_ASC_2T(asc_mul_add_relu, vmaddrelu)
VINCI_ASC_2T(asc_fma, vmla)
VINCI_ASC_2(, asc_fma, float, half, vmla, )
VINCI_ASC_2(, asc_add_relu, int8_t, half, vaddreluconv_f162s8, 0, )
VINCI_ASC_2(, asc_add_relu, half, float, vaddreluconv_f322f16, 0, )
VINCI_ASC_2(, asc_add_relu, int8_t, int16_t, vaddreluconv_s162s8, 0, )
VINCI_ASC_2(, asc_sub_relu, int8_t, half, vsubreluconv_f162s8, 0, )
VINCI_ASC_2(, asc_sub_relu, half, float, vsubreluconv_f322f16, 0, )
VINCI_ASC_2(, asc_sub_relu, int8_t, int16_t, vsubreluconv_s162s8, 0, )
VINCI_ASC_2(, asc_mul_cast_half2int8, int8_t, half, vmulconv_f162s8, )
VINCI_ASC_2(, asc_mul_cast_half2uint8, uint8_t, half, vmulconv_f162u8, )
// By the mask of comparisons (asc_set_cmp_mask).
VINCI_ASC_2(template <typename T>, asc_select, T, T, vsel, 0, )
#undef VINCI_ASC_2T
#undef VINCI_ASC_2

// Comparisons: into the mask of comparisons, or a bit for each element into dst.
#define VINCI_ASC_COMPARE(word)                                                                                      \
  VINCI_ASC_BOTH(template <typename T>, asc_##word, (__ubuf__ T * src0, __ubuf__ T * src1, VINCI_ASC_SIX),           \
                 (src0, src1, VINCI_ASC_SIX_ARGS), OnVector, vcmp_##word(src0, src1, VINCI_ASC_SIX_ARGS, place))     \
  VINCI_ASC_BOTH(template <typename T>, asc_##word,                                                                  \
                 (__ubuf__ uint8_t * dst, __ubuf__ T * src0, __ubuf__ T * src1, VINCI_ASC_SIX),                      \
                 (dst, src0, src1, VINCI_ASC_SIX_ARGS), OnVector,                                                    \
                 vcmpv_##word(dst, src0, src1, VINCI_ASC_SIX_ARGS, place))                                           \
  VINCI_ASC_BOTH(template <typename T>, asc_##word##_scalar,                                                         \
                 (__ubuf__ uint8_t * dst, __ubuf__ T * src, AscendC::vinci_detail::Itself<T> value, VINCI_ASC_FOUR), \
                 (dst, src, value, VINCI_ASC_FOUR_ARGS), OnVector,                                                   \
                 vcmpvs_##word(dst, src, value, VINCI_ASC_FOUR_ARGS, place))
#define VINCI_ASC_FOUR                                                                              \
  uint8_t repeat, uint16_t dst_block_stride, uint16_t src_block_stride, uint16_t dst_repeat_stride, \
      uint16_t src_repeat_stride
#define VINCI_ASC_FOUR_ARGS repeat, dst_block_stride, src_block_stride, dst_repeat_stride, src_repeat_stride
VINCI_ASC_COMPARE(eq)
VINCI_ASC_COMPARE(ne)
VINCI_ASC_COMPARE(lt)
VINCI_ASC_COMPARE(le)
VINCI_ASC_COMPARE(gt)
VINCI_ASC_COMPARE(ge)
#undef VINCI_ASC_COMPARE
VINCI_ASC(, asc_get_cmp_mask, (__ubuf__ void* dst), OnVector, get_cmpmask(dst, place))
VINCI_ASC(, asc_set_cmp_mask, (__ubuf__ void* sel_mask), OnVector, set_cmpmask(sel_mask, place))

// ---------------------------------------------------------------------------------------------------------------------
// One source.

#define VINCI_ASC_1(Head, name, D, S, intrinsic)                                                                \
  VINCI_ASC(Head, name, (__ubuf__ D * dst, __ubuf__ S * src, VINCI_ASC_FOUR), OnVector,                         \
            intrinsic(dst, src, VINCI_ASC_FOUR_ARGS, place))                                                    \
  VINCI_ASC_BOTH(Head, name, (__ubuf__ D * dst, __ubuf__ S * src, uint32_t count), (dst, src, count), OnVector, \
                 AscendC::vinci_detail::Counted(count, place, [&] {                                             \
                   constexpr auto to = AscendC::vinci_detail::kRepeat<D, S>,                                    \
                                  from = AscendC::vinci_detail::kRepeat<S, D>;                                  \
                   intrinsic(dst, src, 1, 1, 1, to, from, place);                                               \
                 }))
#define VINCI_ASC_1T(name, intrinsic) VINCI_ASC_1(template <typename T>, name, T, T, intrinsic)
VINCI_ASC_1T(asc_abs, vabs)
VINCI_ASC_1T(asc_exp, vexp)
VINCI_ASC_1T(asc_log, vln)
VINCI_ASC_1T(asc_sqrt, vsqrt)
VINCI_ASC_1T(asc_rsqrt, vrsqrt)
VINCI_ASC_1T(asc_rcp, vrec)
VINCI_ASC_1T(asc_relu, vrelu)
VINCI_ASC_1T(asc_not, vnot)
VINCI_ASC_1T(asc_copy, vcopy)
#undef VINCI_ASC_1T

// With a number.
#define VINCI_ASC_SCALAR(Head, name, D, S, Number, intrinsic, ...)                                      \
  VINCI_ASC(Head, name, (__ubuf__ D * dst, __ubuf__ S * src, Number value, VINCI_ASC_FOUR), OnVector,   \
            intrinsic(dst, src, __VA_ARGS__, VINCI_ASC_FOUR_ARGS, place))                               \
  VINCI_ASC_BOTH(Head, name, (__ubuf__ D * dst, __ubuf__ S * src, Number value, uint32_t count),        \
                 (dst, src, value, count), OnVector, AscendC::vinci_detail::Counted(count, place, [&] { \
                   constexpr auto to = AscendC::vinci_detail::kRepeat<D, S>,                            \
                                  from = AscendC::vinci_detail::kRepeat<S, D>;                          \
                   intrinsic(dst, src, __VA_ARGS__, 1, 1, 1, to, from, place);                          \
                 }))
#define VINCI_ASC_SCALAR_T(name, intrinsic, ...) \
  VINCI_ASC_SCALAR(template <typename T>, name, T, T, AscendC::vinci_detail::Itself<T>, intrinsic, __VA_ARGS__)
VINCI_ASC_SCALAR_T(asc_add_scalar, vadds, value)
VINCI_ASC_SCALAR_T(asc_sub_scalar, vadds, static_cast<T>(-value))
VINCI_ASC_SCALAR_T(asc_mul_scalar, vmuls, value)
VINCI_ASC_SCALAR_T(asc_max_scalar, vmaxs, value)
VINCI_ASC_SCALAR_T(asc_min_scalar, vmins, value)
VINCI_ASC_SCALAR_T(asc_leakyrelu, vlrelu, value)
VINCI_ASC_SCALAR_T(asc_axpy, vaxpy, value)
VINCI_ASC_SCALAR(, asc_axpy, float, half, half, vaxpy, value)
VINCI_ASC_SCALAR(template <typename T>, asc_shiftleft, T, T, uint32_t, vshl, value)
#undef VINCI_ASC_SCALAR_T
#undef VINCI_ASC_SCALAR
#define VINCI_ASC_SHIFT(name, round)                                                                               \
  VINCI_ASC(template <typename T>, name, (__ubuf__ T * dst, __ubuf__ T * src, int32_t value, VINCI_ASC_FOUR),      \
            OnVector, vshr(dst, src, value, VINCI_ASC_FOUR_ARGS, round, place))                                    \
  VINCI_ASC_BOTH(template <typename T>, name, (__ubuf__ T * dst, __ubuf__ T * src, int32_t value, uint32_t count), \
                 (dst, src, value, count), OnVector, AscendC::vinci_detail::Counted(count, place, [&] {            \
                   vshr(dst, src, value, 1, 1, 1, 8, 8, round, place);                                             \
                 }))
VINCI_ASC_SHIFT(asc_shiftright, 0)
VINCI_ASC_SHIFT(asc_shiftright_round, 1)
#undef VINCI_ASC_SHIFT

VINCI_ASC(template <typename T>, asc_duplicate,
          (__ubuf__ T * dst, AscendC::vinci_detail::Itself<T> src, uint8_t repeat, uint16_t dst_block_stride,
           uint16_t dst_repeat_stride),
          OnVector, vector_dup(dst, src, repeat, dst_block_stride, 1, dst_repeat_stride, 0, place))
VINCI_ASC_BOTH(template <typename T>, asc_duplicate,
               (__ubuf__ T * dst, AscendC::vinci_detail::Itself<T> src, uint32_t count), (dst, src, count), OnVector,
               AscendC::vinci_detail::Counted(count, place, [&] { vector_dup(dst, src, 1, 1, 1, 8, 0, place); }))

// ---------------------------------------------------------------------------------------------------------------------
// Conversions; with a rounding mode: to nearest even, away from zero at ties, down, up, to zero, to odd.

#define VINCI_ASC_CONVERT(name, D, S, intrinsic) VINCI_ASC_1(, name, D, S, intrinsic)
#define VINCI_ASC_ROUNDED(name, D, S, intrinsic)    \
  VINCI_ASC_CONVERT(name##_rn, D, S, intrinsic##r)  \
  VINCI_ASC_CONVERT(name##_rna, D, S, intrinsic##a) \
  VINCI_ASC_CONVERT(name##_rd, D, S, intrinsic##f)  \
  VINCI_ASC_CONVERT(name##_ru, D, S, intrinsic##c)  \
  VINCI_ASC_CONVERT(name##_rz, D, S, intrinsic##z)
VINCI_ASC_CONVERT(asc_bfloat162float, float, bfloat16_t, vconv_bf162f32)
VINCI_ASC_ROUNDED(asc_bfloat162int32, int32_t, bfloat16_t, vconv_bf162s32)
VINCI_ASC_ROUNDED(asc_float2bfloat16, bfloat16_t, float, vconv_f322bf16)
VINCI_ASC_ROUNDED(asc_float2float, float, float, vconv_f322f32)
VINCI_ASC_CONVERT(asc_float2half, half, float, vconv_f322f16)
VINCI_ASC_CONVERT(asc_float2half_ro, half, float, vconv_f322f16o)
VINCI_ASC_ROUNDED(asc_float2half, half, float, vconv_f322f16)
VINCI_ASC_ROUNDED(asc_float2int16, int16_t, float, vconv_f322s16)
VINCI_ASC_ROUNDED(asc_float2int32, int32_t, float, vconv_f322s32)
VINCI_ASC_ROUNDED(asc_float2int64, int64_t, float, vconv_f322s64)
VINCI_ASC_CONVERT(asc_half2float, float, half, vconv_f162f32)
VINCI_ASC_ROUNDED(asc_half2int16, int16_t, half, vconv_f162s16)
VINCI_ASC_ROUNDED(asc_half2int32, int32_t, half, vconv_f162s32)
VINCI_ASC_CONVERT(asc_half2int4, AscendC::int4b_t, half, vconv_f162s4)
VINCI_ASC_ROUNDED(asc_half2int4, AscendC::int4b_t, half, vconv_f162s4)
VINCI_ASC_CONVERT(asc_half2int8, int8_t, half, vconv_f162s8)
VINCI_ASC_ROUNDED(asc_half2int8, int8_t, half, vconv_f162s8)
VINCI_ASC_CONVERT(asc_half2uint8, uint8_t, half, vconv_f162u8)
VINCI_ASC_ROUNDED(asc_half2uint8, uint8_t, half, vconv_f162u8)
VINCI_ASC_CONVERT(asc_int162float, float, int16_t, vconv_s162f32)
VINCI_ASC_CONVERT(asc_int162half, half, int16_t, vconv_s162f16)
VINCI_ASC_ROUNDED(asc_int162half, half, int16_t, vconv_s162f16)
VINCI_ASC_CONVERT(asc_int322float, float, int32_t, vconv_s322f32)
VINCI_ASC_ROUNDED(asc_int322float, float, int32_t, vconv_s322f32)
VINCI_ASC_CONVERT(asc_int322int16, int16_t, int32_t, vconv_s322s16)
VINCI_ASC_CONVERT(asc_int322int64, int64_t, int32_t, vconv_s322s64)
VINCI_ASC_CONVERT(asc_int42half, half, AscendC::int4b_t, vconv_s42f16)
VINCI_ASC_ROUNDED(asc_int642float, float, int64_t, vconv_s642f32)
VINCI_ASC_CONVERT(asc_int642int32, int32_t, int64_t, vconv_s642s32)
VINCI_ASC_CONVERT(asc_int82half, half, int8_t, vconv_s82f16)
VINCI_ASC_CONVERT(asc_uint82half, half, uint8_t, vconv_u82f16)
VINCI_ASC_CONVERT(asc_deq_int322half, half, int32_t, vconv_deq)
#undef VINCI_ASC_ROUNDED
#undef VINCI_ASC_CONVERT
#undef VINCI_ASC_1

// int16 to 8 bits by asc_set_deq_scale: into the upper or the lower half of each block of dst.
#define VINCI_ASC_DEQ(name, intrinsic)                                                                    \
  VINCI_ASC(template <typename T>, name,                                                                  \
            (__ubuf__ T * dst, __ubuf__ int16_t * src, uint8_t repeat, uint16_t dst_block_stride,         \
             uint16_t src_block_stride, uint8_t dst_repeat_stride, uint8_t src_repeat_stride),            \
            OnVector, intrinsic(dst, src, VINCI_ASC_FOUR_ARGS, place))                                    \
  VINCI_ASC_BOTH(template <typename T>, name, (__ubuf__ T * dst, __ubuf__ int16_t * src, uint32_t count), \
                 (dst, src, count), OnVector,                                                             \
                 AscendC::vinci_detail::Counted(count, place, [&] { intrinsic(dst, src, 1, 1, 1, 8, 8, place); }))
VINCI_ASC_DEQ(asc_deq_int162b8_h, vconv_deqs162b8h)
VINCI_ASC_DEQ(asc_deq_int162b8_l, vconv_deqs162b8l)
VINCI_ASC_DEQ(asc_vdeq_int162b8_h, vconv_vdeqs162b8h)
VINCI_ASC_DEQ(asc_vdeq_int162b8_l, vconv_vdeqs162b8l)
#undef VINCI_ASC_DEQ

constexpr uint8_t ASC_VDEQ_SIZE = 16;
namespace AscendC::vinci_detail {
inline uint64_t DeqScale(float scale, int16_t offset, bool sign_mode) {
  return AscendC::vinci_detail::BitsOf(scale) | (static_cast<uint64_t>(offset) & 0x1ff) << 37 |
         uint64_t{sign_mode} << 46;
}
}  // namespace AscendC::vinci_detail
VINCI_ASC(, asc_set_deq_scale, (half scale), OnVector, set_deqscale(scale, place))
VINCI_ASC(, asc_set_deq_scale, (float scale, int16_t offset, bool sign_mode), OnVector,
          set_deqscale(AscendC::vinci_detail::DeqScale(scale, offset, sign_mode), place))
// Factors of 16 elements each, in a table of 128 bytes in UB.
inline void asc_set_deq_scale(__ubuf__ uint64_t* tmp, float* scale_arr, int16_t* offset_arr, bool* sign_mode_arr,
                              VINCI_PLACE) {
  if (!AscendC::vinci_detail::OnVector()) return;
  const uint64_t address = reinterpret_cast<uintptr_t>(tmp);
  for (unsigned i = 0; i < ASC_VDEQ_SIZE; ++i) {
    const uint64_t scale = AscendC::vinci_detail::DeqScale(scale_arr[i], offset_arr[i], sign_mode_arr[i]);
    ::vinci::ascendc::store(::vinci::ascendc::Memory::ub, address + i * sizeof(scale), sizeof(scale), scale, place);
  }
  set_deqscale(address >> 5, place);
}

// ---------------------------------------------------------------------------------------------------------------------
// Reductions of repeats, of blocks of 32 bytes and of pairs.

#define VINCI_ASC_REDUCE(name, intrinsic, ...)                                                                        \
  VINCI_ASC(template <typename T>, name,                                                                              \
            (__ubuf__ T * dst, __ubuf__ T * src, uint8_t repeat, uint16_t dst_repeat_stride,                          \
             uint16_t src_block_stride, uint16_t src_repeat_stride),                                                  \
            OnVector,                                                                                                 \
            intrinsic(dst, src, repeat, dst_repeat_stride, src_block_stride, src_repeat_stride, __VA_ARGS__ place))   \
  VINCI_ASC_BOTH(                                                                                                     \
      template <typename T>, name, (__ubuf__ T * dst, __ubuf__ T * src, uint32_t count), (dst, src, count), OnVector, \
      AscendC::vinci_detail::Counted(count, place, [&] { intrinsic(dst, src, 1, 1, 1, 8, __VA_ARGS__ place); }))
VINCI_ASC_REDUCE(asc_repeat_reduce_sum, vcadd, 0, )
VINCI_ASC_REDUCE(asc_repeat_reduce_max_value_index, vcmax, VALUE_INDEX, )
VINCI_ASC_REDUCE(asc_repeat_reduce_max_index_value, vcmax, INDEX_VALUE, )
VINCI_ASC_REDUCE(asc_repeat_reduce_max_only_value, vcmax, ONLY_VALUE, )
VINCI_ASC_REDUCE(asc_repeat_reduce_max_only_index, vcmax, ONLY_INDEX, )
VINCI_ASC_REDUCE(asc_repeat_reduce_min_value_index, vcmin, VALUE_INDEX, )
VINCI_ASC_REDUCE(asc_repeat_reduce_min_index_value, vcmin, INDEX_VALUE, )
VINCI_ASC_REDUCE(asc_repeat_reduce_min_only_value, vcmin, ONLY_VALUE, )
VINCI_ASC_REDUCE(asc_repeat_reduce_min_only_index, vcmin, ONLY_INDEX, )
VINCI_ASC_REDUCE(asc_datablock_reduce_sum, vcgadd, )
VINCI_ASC_REDUCE(asc_datablock_reduce_max, vcgmax, )
VINCI_ASC_REDUCE(asc_datablock_reduce_min, vcgmin, )
VINCI_ASC_REDUCE(asc_pair_reduce_sum, vcpadd, )
#undef VINCI_ASC_REDUCE

// What the latest reductions and the latest compaction have left behind.
inline int64_t asc_get_rsvd_count(VINCI_PLACE) { return AscendC::AscendCUtils::GetRsvdCnt(place); }
inline int64_t asc_get_acc_val(VINCI_PLACE) { return get_acc_val(place); }
#define VINCI_ASC_EXTREMUM(name)                                     \
  inline void name(half& val, uint32_t& index, VINCI_PLACE) {        \
    const auto both = static_cast<uint64_t>(get_max_min_cnt(place)); \
    val = AscendC::vinci_detail::FromBits<half>(both & 0xffff);      \
    index = static_cast<uint32_t>(both >> 32);                       \
  }                                                                  \
  inline void name(float& val, uint32_t& index, VINCI_PLACE) {       \
    const auto both = static_cast<uint64_t>(get_max_min_cnt(place)); \
    val = AscendC::vinci_detail::FromBits<float>(both & 0xffffffff); \
    index = static_cast<uint32_t>(both >> 32);                       \
  }
VINCI_ASC_EXTREMUM(asc_get_reduce_max_cnt)
VINCI_ASC_EXTREMUM(asc_get_reduce_min_cnt)
#undef VINCI_ASC_EXTREMUM

// ---------------------------------------------------------------------------------------------------------------------
// Elements that change places.

VINCI_ASC(template <typename T>, asc_reduce,
          (__ubuf__ T * dst, __ubuf__ T* src0, __ubuf__ T* src1, uint16_t repeat, uint8_t src0_block_stride,
           uint8_t pattern_mode, uint16_t src0_repeat_stride, uint8_t src1_repeat_stride),
          OnVector,
          vreducev2(dst, src0, src1, repeat, src0_block_stride, pattern_mode, src0_repeat_stride, src1_repeat_stride,
                    place))
VINCI_ASC_BOTH(template <typename T>, asc_reduce,
               (__ubuf__ T * dst, __ubuf__ T* src0, __ubuf__ T* src1, uint32_t count), (dst, src0, src1, count),
               OnVector,
               AscendC::vinci_detail::Counted(count, place, [&] { vreducev2(dst, src0, src1, 1, 1, 0, 8, 8, place); }))
VINCI_ASC_BOTH(template <typename T>, asc_squeeze,
               (__ubuf__ T * dst, __ubuf__ T* src0, __ubuf__ T* src1, VINCI_ASC_SIX),
               (dst, src0, src1, VINCI_ASC_SIX_ARGS), OnVector,
               vreduce(dst, src0, src1, repeat, dst_block_stride, src0_block_stride, src1_block_stride,
                       dst_repeat_stride, src0_repeat_stride, src1_repeat_stride, place))
VINCI_ASC(template <typename T>, asc_gather,
          (__ubuf__ T * dst, __ubuf__ T* src, __ubuf__ uint32_t* src_offset, uint16_t dst_repeat_stride,
           uint8_t repeat),
          OnVector, vgather(dst, src_offset, reinterpret_cast<uintptr_t>(src), dst_repeat_stride, repeat, place))
VINCI_ASC_BOTH(template <typename T>, asc_gather,
               (__ubuf__ T * dst, __ubuf__ T* src, __ubuf__ uint32_t* src_offset, uint32_t count),
               (dst, src, src_offset, count), OnVector, AscendC::vinci_detail::Counted(count, place, [&] {
                 vgather(dst, src_offset, reinterpret_cast<uintptr_t>(src), 8, 1, place);
               }))
VINCI_ASC_BOTH(template <typename T>, asc_gather_datablock,
               (__ubuf__ T * dst, __ubuf__ T* src, __ubuf__ uint32_t* src_offset, uint16_t dst_repeat_stride,
                uint8_t dst_block_stride, uint8_t repeat),
               (dst, src, src_offset, dst_repeat_stride, dst_block_stride, repeat), OnVector,
               vgatherb(dst, src_offset, reinterpret_cast<uintptr_t>(src), dst_repeat_stride, dst_block_stride, repeat,
                        place))
VINCI_ASC_BOTH(template <typename T>, asc_brcb,
               (__ubuf__ T * dst, __ubuf__ T* src, uint16_t dst_block_stride, uint16_t dst_repeat_stride,
                uint8_t repeat),
               (dst, src, dst_block_stride, dst_repeat_stride, repeat), OnVector,
               vbrcb(dst, src, dst_block_stride, dst_repeat_stride, repeat, place))
VINCI_ASC_BOTH(template <typename T>, asc_transpose, (__ubuf__ T * dst, __ubuf__ T* src), (dst, src), OnVector,
               vtranspose(dst, src, place))
VINCI_ASC(template <typename T>, asc_set_va_reg, (ub_addr8_t addr, __ubuf__ T** src_array), OnVector,
          set_va_reg_sb(addr, src_array, place))
#define VINCI_ASC_TO5HD(bits)                                                                                \
  VINCI_ASC_BOTH(, asc_transto5hd_b##bits,                                                                   \
                 (ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dst_stride, uint16_t src_stride), \
                 (dst, src, repeat, dst_stride, src_stride), OnVector,                                       \
                 scatter_vnchwconv_b##bits(dst, src, repeat, dst_stride, src_stride, place))
VINCI_ASC_TO5HD(16)
VINCI_ASC_TO5HD(32)
#undef VINCI_ASC_TO5HD
VINCI_ASC_BOTH(, asc_transto5hd_b8,
               (ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dst_stride, uint16_t src_stride,
                bool dst_high_half, bool src_high_half),
               (dst, src, repeat, dst_stride, src_stride, dst_high_half, src_high_half), OnVector,
               scatter_vnchwconv_b8(dst, src, repeat, dst_stride, src_stride, dst_high_half, src_high_half, place))

// ---------------------------------------------------------------------------------------------------------------------
// Sorting.

constexpr uint8_t ASC_C_API_MRGSORT_ELEMENT_LEN = 4;
VINCI_ASC_BOTH(template <typename T>, asc_bitsort,
               (__ubuf__ T * dst, __ubuf__ T* src0, __ubuf__ uint32_t* src1, int32_t repeat), (dst, src0, src1, repeat),
               OnVector, vbitsort(dst, src0, src1, static_cast<uint64_t>(repeat), place))
VINCI_ASC_BOTH(template <typename T>, asc_mrgsort4,
               (__ubuf__ T * dst, __ubuf__ T* src[ASC_C_API_MRGSORT_ELEMENT_LEN], uint8_t repeat,
                uint16_t element_length_0, uint16_t element_length_1, uint16_t element_length_2,
                uint16_t element_length_3, bool if_exhausted_suspension, uint8_t valid_bit),
               (dst, src, repeat, element_length_0, element_length_1, element_length_2, element_length_3,
                if_exhausted_suspension, valid_bit),
               OnVector,
               vmrgsort4(dst, src, repeat, element_length_0, element_length_1, element_length_2, element_length_3,
                         if_exhausted_suspension, valid_bit, place))
inline void asc_get_vms4_sr(uint16_t sorted_num[ASC_C_API_MRGSORT_ELEMENT_LEN], VINCI_PLACE) {
  const auto counts = static_cast<uint64_t>(get_vms4_sr(place));
  for (unsigned i = 0; i < ASC_C_API_MRGSORT_ELEMENT_LEN; ++i)
    sorted_num[i] = static_cast<uint16_t>(counts >> 16 * i);
}
#undef VINCI_ASC_FOUR
#undef VINCI_ASC_FOUR_ARGS
#undef VINCI_ASC_SIX
#undef VINCI_ASC_SIX_ARGS
