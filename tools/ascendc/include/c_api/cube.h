// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "c_api/control.h"

// The C interface: copies to and from the memories of the cube unit, products, and what FIXPIPE does to them. With
// _sync a function waits until all pipes have ended.

// ---------------------------------------------------------------------------------------------------------------------
// Global memory to L1, L0A and L0B. A plain size is in bytes, of which whole blocks of 32 are copied.

#define VINCI_ASC_BURSTS uint16_t n_burst, uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap
VINCI_ASC(, asc_copy_gm2l1, (__cbuf__ void* dst, __gm__ void* src, VINCI_ASC_BURSTS), OnCube,
          copy_gm_to_cbuf(dst, src, 0, n_burst, len_burst, src_gap, dst_gap, PAD_NONE, place))
VINCI_ASC_BOTH(, asc_copy_gm2l1, (__cbuf__ void* dst, __gm__ void* src, uint32_t size), (dst, src, size), OnCube,
               asc_copy_gm2l1(dst, src, 1, size / 32, 0, 0, place))
#define VINCI_ASC_PADDED(mode)                                                                                        \
  VINCI_ASC(, asc_copy_gm2l1_pad##mode, (__cbuf__ void*, __gm__ void*, uint16_t, uint16_t, uint16_t, uint16_t),       \
            OnCube, ::vinci::ascendc::unsupported("asc_copy_gm2l1_pad" #mode ": copies to L1 that pad", place))       \
  VINCI_ASC_BOTH(, asc_copy_gm2l1_pad##mode, (__cbuf__ void* dst, __gm__ void* src, uint32_t size), (dst, src, size), \
                 OnCube, asc_copy_gm2l1_pad##mode(dst, src, 1, size / 32, 0, 0, place))
VINCI_ASC_PADDED(1)
VINCI_ASC_PADDED(2)
VINCI_ASC_PADDED(3)
VINCI_ASC_PADDED(4)
VINCI_ASC_PADDED(5)
VINCI_ASC_PADDED(6)
VINCI_ASC_PADDED(7)
VINCI_ASC_PADDED(8)
#undef VINCI_ASC_PADDED

// Fractals.
#define VINCI_ASC_FRACTALS uint16_t base_idx, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap
#define VINCI_ASC_FRACTALS_ARGS base_idx, repeat, src_stride, dst_gap
VINCI_ASC_BOTH(template <typename T>, asc_copy_gm2l1, (__cbuf__ T * dst, __gm__ T* src, VINCI_ASC_FRACTALS),
               (dst, src, VINCI_ASC_FRACTALS_ARGS), OnCube,
               load_gm_to_cbuf(dst, src, VINCI_ASC_FRACTALS_ARGS, 0, 0, place))
#define VINCI_ASC_LOAD(to, To, letter)                                                                           \
  VINCI_ASC_BOTH(template <typename T>, asc_copy_gm2##to, (To T * dst, __gm__ T * src, VINCI_ASC_FRACTALS),      \
                 (dst, src, VINCI_ASC_FRACTALS_ARGS), OnCube,                                                    \
                 if constexpr (std::is_same_v<T, AscendC::int4b_t>)                                              \
                     load_gm_to_##letter##_s4(dst, src, VINCI_ASC_FRACTALS_ARGS, 0, 0, place);                   \
                 else load_gm_to_##letter(dst, src, VINCI_ASC_FRACTALS_ARGS, 0, 0, place))                       \
  VINCI_ASC_BOTH(template <typename T>, asc_copy_l12##to, (To T * dst, __cbuf__ T * src, VINCI_ASC_FRACTALS),    \
                 (dst, src, VINCI_ASC_FRACTALS_ARGS), OnCube,                                                    \
                 if constexpr (std::is_same_v<T, AscendC::int4b_t>)                                              \
                     load_cbuf_to_##letter##_s4(dst, src, VINCI_ASC_FRACTALS_ARGS, 0, false, 0, place);          \
                 else load_cbuf_to_##letter(dst, src, VINCI_ASC_FRACTALS_ARGS, 0, false, 0, place))              \
  VINCI_ASC_BOTH(template <typename T>, asc_copy_l12##to##_trans,                                                \
                 (To T * dst, __cbuf__ T * src, uint16_t index_id, uint8_t repeat, uint16_t src_stride,          \
                  uint16_t dst_gap, bool enable_addr_decrement, uint16_t dst_frac_gap),                          \
                 (dst, src, index_id, repeat, src_stride, dst_gap, enable_addr_decrement, dst_frac_gap), OnCube, \
                 load_cbuf_to_##letter##_transpose(dst, src, index_id, repeat, src_stride, dst_gap,              \
                                                   enable_addr_decrement, dst_frac_gap, place))
VINCI_ASC_LOAD(l0a, __ca__, ca)
VINCI_ASC_LOAD(l0b, __cb__, cb)
#undef VINCI_ASC_LOAD
#undef VINCI_ASC_FRACTALS
#undef VINCI_ASC_FRACTALS_ARGS

// Row-major matrices to NZ.
VINCI_ASC_BOTH(
    template <typename T>, asc_copy_gm2l1_nd2nz,
    (__cbuf__ T * dst, __gm__ T* src, uint16_t nd_num, uint16_t n_value, uint16_t d_value,
     uint16_t src_nd_matrix_stride, uint16_t src_d_value, uint16_t dst_nz_c0_stride, uint16_t dst_nz_n_stride,
     uint16_t dst_nz_matrix_stride),
    (dst, src, nd_num, n_value, d_value, src_nd_matrix_stride, src_d_value, dst_nz_c0_stride, dst_nz_n_stride,
     dst_nz_matrix_stride),
    OnCube,
    if constexpr (sizeof(T) == 1)
        copy_gm_to_cbuf_multi_nd2nz_b8(dst, src, 0, nd_num, n_value, d_value, src_nd_matrix_stride, src_d_value,
                                       dst_nz_c0_stride, dst_nz_n_stride, dst_nz_matrix_stride, place);
    else if constexpr (sizeof(T) == 2)
        copy_gm_to_cbuf_multi_nd2nz_b16(dst, src, 0, nd_num, n_value, d_value, src_nd_matrix_stride, src_d_value,
                                        dst_nz_c0_stride, dst_nz_n_stride, dst_nz_matrix_stride, place);
    else copy_gm_to_cbuf_multi_nd2nz_b32s(dst, src, 0, nd_num, n_value, d_value, src_nd_matrix_stride, src_d_value,
                                          dst_nz_c0_stride, dst_nz_n_stride, dst_nz_matrix_stride, place))

// ---------------------------------------------------------------------------------------------------------------------
// L1 to the other memories of the cube unit, and back.

// Image to columns.
#define VINCI_ASC_COLUMNS                                                                                         \
  uint16_t k_extension, uint16_t m_extension, uint16_t k_start_pt, uint16_t m_start_pt, uint8_t stride_w,         \
      uint8_t stride_h, uint8_t filter_w, uint8_t filter_h, uint8_t dilation_filter_w, uint8_t dilation_filter_h, \
      bool filter_size_w, bool filter_size_h, bool transpose, bool f_matrix_ctrl, uint16_t channel_size
#define VINCI_ASC_COLUMNS_ARGS                                                                                 \
  k_extension, m_extension, k_start_pt, m_start_pt, stride_w, stride_h, filter_w, filter_h, dilation_filter_w, \
      dilation_filter_h, filter_size_w, filter_size_h, transpose, f_matrix_ctrl, channel_size
VINCI_ASC_BOTH(template <typename T>, asc_copy_l12l0a, (__ca__ T * dst, __cbuf__ T* src, VINCI_ASC_COLUMNS),
               (dst, src, VINCI_ASC_COLUMNS_ARGS), OnCube,
               if constexpr (std::is_same_v<T, AscendC::int4b_t>)
                   img2colv2_cbuf_to_ca_s4(dst, src, VINCI_ASC_COLUMNS_ARGS, place);
               else img2colv2_cbuf_to_ca(dst, src, VINCI_ASC_COLUMNS_ARGS, place))
VINCI_ASC_BOTH(template <typename T>, asc_copy_l12l0b, (__cb__ T * dst, __cbuf__ T* src, VINCI_ASC_COLUMNS),
               (dst, src, VINCI_ASC_COLUMNS_ARGS), OnCube,
               img2colv2_cbuf_to_cb(dst, src, VINCI_ASC_COLUMNS_ARGS, place))
#undef VINCI_ASC_COLUMNS
#undef VINCI_ASC_COLUMNS_ARGS

union asc_l13d_fmatrix_config {
  uint64_t config = 0;
  struct {  // the lower half word is what set_fmatrix takes as the width
    uint16_t l1_height;
    uint16_t l1_width;
    uint8_t padding_left_size;
    uint8_t padding_right_size;
    uint8_t padding_top_size;
    uint8_t padding_bottom_size;
  };
};
union asc_load3d_v2_config {
  uint64_t config = 0x10000;
  struct {
    uint64_t rpt_stride : 16;
    uint64_t rpt_time : 8;
    uint64_t rpt_mode : 1;
    uint64_t reserved2 : 39;
  };
};
VINCI_ASC(, asc_set_l13d_fmatrix, (asc_l13d_fmatrix_config & config), OnCube, set_fmatrix(config.config, place))
VINCI_ASC(, asc_set_l13d_fmatrix_b, (asc_l13d_fmatrix_config & config), OnCube, set_fmatrix_b(config.config, place))
VINCI_ASC(, asc_set_l13d_rpt, (asc_load3d_v2_config & config), OnCube, set_l3d_rpt(config.config, place))
VINCI_ASC(, asc_set_l13d_size, (uint64_t value), OnCube, set_l1_3d_size(value, place))
VINCI_ASC(template <typename T>, asc_set_l13d_padding, (T config), OnCube,
          if constexpr (sizeof(T) == 8) set_padding(config << 8 | (config & 0xff), place);
          else set_padding(AscendC::vinci_detail::BitsOf(config), place))

// The pages count blocks of 32 bytes, the instructions 64 bytes of the bias table and 128 of the FIXPIPE buffer.
namespace AscendC::vinci_detail {
inline uint64_t InUnits(uint64_t blocks, uint64_t of_unit, ::vinci::ascendc::Place place) {
  if (blocks % of_unit != 0)
    ::vinci::ascendc::wrong("a copy to the bias table is of whole 64 bytes, one to the FIXPIPE buffer of whole 128",
                            place);
  return blocks / of_unit;
}
}  // namespace AscendC::vinci_detail
VINCI_ASC(, asc_copy_l12bt,
          (uint64_t dst, __cbuf__ void* src, uint16_t conv_control, uint16_t n_burst, uint16_t len_burst,
           uint16_t source_gap, uint16_t dst_gap),
          OnCube,
          copy_cbuf_to_bt(dst, src, conv_control, n_burst, AscendC::vinci_detail::InUnits(len_burst, 2, place),
                          source_gap, AscendC::vinci_detail::InUnits(dst_gap, 2, place), place))
VINCI_ASC_BOTH(, asc_copy_l12bt, (uint64_t dst, __cbuf__ void* src, uint32_t size), (dst, src, size), OnCube,
               copy_cbuf_to_bt(dst, src, 0, 1, (size + 63) / 64, 0, 0, place))
VINCI_ASC(, asc_copy_l12fb, (__fbuf__ void* dst, __cbuf__ void* src, VINCI_ASC_BURSTS), OnCube,
          copy_cbuf_to_fbuf(dst, src, n_burst, AscendC::vinci_detail::InUnits(len_burst, 4, place), src_gap,
                            AscendC::vinci_detail::InUnits(dst_gap, 4, place), place))
VINCI_ASC_BOTH(, asc_copy_l12fb, (__fbuf__ void* dst, __cbuf__ void* src, uint32_t size), (dst, src, size), OnCube,
               copy_cbuf_to_fbuf(dst, src, 1, (size + 127) / 128, 0, 0, place))
VINCI_ASC_BOTH(, asc_copy_l12gm, (__gm__ void* dst, __cbuf__ void* src, VINCI_ASC_BURSTS),
               (dst, src, n_burst, len_burst, src_gap, dst_gap), OnCube,
               copy_cbuf_to_gm(dst, src, 0, n_burst, len_burst, src_gap, dst_gap, place))
template <typename D, typename S>
void asc_copy_l12l0c(__cc__ D*, __cbuf__ S*, uint16_t, uint16_t, uint16_t, uint16_t, VINCI_PLACE) {
  ::vinci::ascendc::unsupported("asc_copy_l12l0c: copies from L1 to L0C", place);
}
template <typename D, typename S>
void asc_copy_l12l0c_sync(__cc__ D* dst, __cbuf__ S* src, VINCI_ASC_BURSTS, VINCI_PLACE) {
  asc_copy_l12l0c(dst, src, n_burst, len_burst, src_gap, dst_gap, place);
}
#undef VINCI_ASC_BURSTS
VINCI_ASC_BOTH(, asc_copy_l12l0b_sparse,
               (__cb__ int8_t * dst, __cbuf__ int8_t* src, __cbuf__ int8_t* index, uint16_t start_index,
                uint8_t repeat),
               (dst, src, index, start_index, repeat), OnCube,
               const uint64_t both = (reinterpret_cast<uintptr_t>(src) & 0xffffffff) |
                                     (reinterpret_cast<uintptr_t>(index) & 0xffffffff) << 32;
               load_cbuf_to_cb_sp(dst, (__cbuf__ int8_t*)both, start_index, repeat, place))
template <typename T>
void asc_load_image_to_cbuf(__cbuf__ T*, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t, uint8_t, uint8_t, uint16_t,
                            uint16_t, VINCI_PLACE) {
  ::vinci::ascendc::unsupported("asc_load_image_to_cbuf", place);
}
template <typename T>
void asc_load_image_to_cbuf_sync(__cbuf__ T*, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t, uint8_t, uint8_t,
                                 uint16_t, uint16_t, VINCI_PLACE) {
  ::vinci::ascendc::unsupported("asc_load_image_to_cbuf", place);
}

// One value everywhere.
union asc_fill_value_config {
  uint64_t config = 0;
  struct {
    uint64_t repeat : 15;
    uint64_t reserved1 : 1;
    uint64_t blk_num : 15;
    uint64_t reserved2 : 1;
    uint64_t dst_gap : 15;
    uint64_t reserved3 : 17;
  };
};
#define VINCI_ASC_FILL(to, To, letter)                                                                         \
  template <typename T, typename V>                                                                            \
  void asc_fill_##to(To T* dst, V value, const asc_fill_value_config& config, VINCI_PLACE) {                   \
    if (!AscendC::vinci_detail::OnCube()) return;                                                              \
    if constexpr (std::is_same_v<V, bfloat16_t>) {                                                             \
      create_##letter##_matrix_bf16(dst, static_cast<int64_t>(config.config), value, place);                   \
    } else if constexpr (std::is_same_v<V, half>) {                                                            \
      create_##letter##_matrix(dst, static_cast<int64_t>(config.config), value, place);                        \
    } else {                                                                                                   \
      create_##letter##_matrix(dst, static_cast<int64_t>(config.config), static_cast<uint32_t>(value), place); \
    }                                                                                                          \
  }                                                                                                            \
  template <typename T, typename V>                                                                            \
  void asc_fill_##to##_sync(To T* dst, V value, const asc_fill_value_config& config, VINCI_PLACE) {            \
    asc_fill_##to(dst, value, config, place);                                                                  \
    asc_sync(place);                                                                                           \
  }
VINCI_ASC_FILL(l0a, __ca__, ca)
VINCI_ASC_FILL(l0b, __cb__, cb)
VINCI_ASC_FILL(l1, __cbuf__, cbuf)
#undef VINCI_ASC_FILL

// ---------------------------------------------------------------------------------------------------------------------
// Products.

inline void asc_enable_hf32(VINCI_PLACE) { AscendC::SetHF32Mode(true, place); }
inline void asc_set_fp32_mode(VINCI_PLACE) { AscendC::SetHF32Mode(false, place); }
inline void asc_enable_hf32_trans(uint32_t mode, VINCI_PLACE) { AscendC::SetHF32TransMode(mode != 0, place); }
inline void asc_set_mmad_direction_m(VINCI_PLACE) { AscendC::SetMMLayoutTransform(false, place); }
inline void asc_set_mmad_direction_n(VINCI_PLACE) { AscendC::SetMMLayoutTransform(true, place); }

namespace AscendC::vinci_detail {
// What older cube units did with weights and feature maps.
inline void NoOffsets(uint8_t feat_offset, uint8_t smask_offset, bool is_weight_offset, ::vinci::ascendc::Place place) {
  if (feat_offset != 0 || smask_offset != 0 || is_weight_offset)
    ::vinci::ascendc::unsupported("asc_mmad with offsets of features, masks or weights", place);
}
}  // namespace AscendC::vinci_detail
#define VINCI_ASC_MMAD(name, Head, C, A, B)                                                                            \
  VINCI_ASC_BOTH(                                                                                                      \
      Head, name,                                                                                                      \
      (__cc__ C * c_matrix, __ca__ A * a_matrix, __cb__ B * b_matrix, uint16_t left_height, uint16_t n_dim,            \
       uint16_t right_width, uint8_t unit_flag, bool k_direction_align, bool c_matrix_source, bool c_matrix_init_val), \
      (c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width, unit_flag, k_direction_align, c_matrix_source,   \
       c_matrix_init_val),                                                                                             \
      OnCube,                                                                                                          \
      mad(c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width, unit_flag, k_direction_align,                 \
          c_matrix_source, c_matrix_init_val, place))                                                                  \
  VINCI_ASC_BOTH(Head, name,                                                                                           \
                 (__cc__ C * c_matrix, __ca__ A * a_matrix, __cb__ B * b_matrix, uint16_t left_height, uint16_t n_dim, \
                  uint16_t right_width, uint8_t feat_offset, uint8_t smask_offset, uint8_t unit_flag,                  \
                  bool k_direction_align, bool is_weight_offset, bool c_matrix_source, bool c_matrix_init_val),        \
                 (c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width, feat_offset, smask_offset, unit_flag, \
                  k_direction_align, is_weight_offset, c_matrix_source, c_matrix_init_val),                            \
                 OnCube, AscendC::vinci_detail::NoOffsets(feat_offset, smask_offset, is_weight_offset, place);         \
                 mad(c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width, unit_flag, k_direction_align,      \
                     c_matrix_source, c_matrix_init_val, place))
VINCI_ASC_MMAD(asc_mmad, , float, half, half)
VINCI_ASC_MMAD(asc_mmad, , float, float, float)
VINCI_ASC_MMAD(asc_mmad, , float, bfloat16_t, bfloat16_t)
VINCI_ASC_MMAD(asc_mmad, , int32_t, int8_t, int8_t)
VINCI_ASC_MMAD(asc_mmad_s4, , int32_t, AscendC::int4b_t, AscendC::int4b_t)
#undef VINCI_ASC_MMAD
VINCI_ASC_BOTH(, asc_mmad_sparse,
               (__cc__ int32_t * c, __ca__ int8_t* a, __cb__ int8_t* b, uint16_t m, uint16_t k, uint16_t n,
                uint8_t unit_flag, bool c_matrix_source, bool c_matrix_init_val),
               (c, a, b, m, k, n, unit_flag, c_matrix_source, c_matrix_init_val), OnCube,
               mad_sp(c, a, b, m, k, n, unit_flag, c_matrix_source, c_matrix_init_val, place))

// ---------------------------------------------------------------------------------------------------------------------
// L0C to global memory and L1 through FIXPIPE.

#define VINCI_ASC_FIXPIPE(name, To, intrinsic)                                                                    \
  template <typename D, typename S>                                                                               \
  void name(To D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size, uint32_t dst_stride, uint16_t src_stride, \
            uint8_t unit_flag_mode, uint64_t quant_pre, uint8_t relu_pre, bool channel_split, bool nz2nd_en,      \
            VINCI_PLACE) {                                                                                        \
    if (!AscendC::vinci_detail::OnCube()) return;                                                                 \
    intrinsic(dst, src, 0, n_size, m_size, dst_stride, src_stride, unit_flag_mode,                                \
              static_cast<QuantMode_t>(quant_pre), relu_pre, channel_split, nz2nd_en, place);                     \
  }                                                                                                               \
  template <typename D, typename S>                                                                               \
  void name##_sync(To D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size, uint32_t dst_stride,               \
                   uint16_t src_stride, uint8_t unit_flag_mode, uint64_t quant_pre, uint8_t relu_pre,             \
                   bool channel_split, bool nz2nd_en, VINCI_PLACE) {                                              \
    name(dst, src, n_size, m_size, dst_stride, src_stride, unit_flag_mode, quant_pre, relu_pre, channel_split,    \
         nz2nd_en, place);                                                                                        \
    asc_sync(place);                                                                                              \
  }
VINCI_ASC_FIXPIPE(asc_copy_l0c2gm, __gm__, copy_matrix_cc_to_gm)
VINCI_ASC_FIXPIPE(asc_copy_l0c2l1, __cbuf__, copy_matrix_cc_to_cbuf)
#undef VINCI_ASC_FIXPIPE

// Matrices that FIXPIPE copies as rows.
VINCI_ASC(, asc_set_l0c_copy_params, (uint16_t nd_num, uint16_t src_nd_stride, uint16_t dst_nd_stride), OnCube,
          set_nd_para(uint64_t{nd_num} | uint64_t{src_nd_stride} << 16 | uint64_t{dst_nd_stride} << 32, place))
VINCI_ASC(, asc_set_l0c_copy_prequant, (uint64_t config), OnCube, set_quant_pre(config, place))
VINCI_ASC(, asc_set_l0c2gm_lrelu_alpha, (float& config), OnCube, set_lrelu_alpha(config, place))
VINCI_ASC(, asc_set_l0c2gm_lrelu_alpha, (half & config), OnCube, set_lrelu_alpha(config, place))
namespace AscendC::vinci_detail {
// The register of the tables of FIXPIPE: no instruction reads it back.
inline uint64_t& TablesOfFixpipe() {
  static thread_local uint64_t config = 0;
  return config;
}
}  // namespace AscendC::vinci_detail
// Tables in the FIXPIPE buffer, in units of 64 bytes (relu) and 128 bytes (quantisation).
VINCI_ASC(, asc_set_l0c2gm_config, (uint64_t relu_pre, uint64_t quant_pre, bool enable_unit_flag), OnCube,
          uint64_t& config = AscendC::vinci_detail::TablesOfFixpipe();
          config = (relu_pre & 0xff) | (quant_pre & 0xff) << 8 | uint64_t{enable_unit_flag} << 63;
          set_fpc(config, place))
inline uint64_t asc_get_l0c2gm_relu() { return AscendC::vinci_detail::TablesOfFixpipe() & 0xff; }
inline uint64_t asc_get_l0c2gm_prequant() { return AscendC::vinci_detail::TablesOfFixpipe() >> 8 & 0xff; }
inline uint64_t asc_get_l0c2gm_unitflag() { return AscendC::vinci_detail::TablesOfFixpipe() >> 63; }
