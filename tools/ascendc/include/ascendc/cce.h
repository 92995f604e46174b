// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/sync.h"

// CCE intrinsics of the vector unit, of copies and of special registers under their own names, for kernels that call
// them directly. Pointers to memories of the core are addresses in them. Operands are in the order of `vinci isa`.
enum cache_line_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum mem_dsb_t { DSB_ALL = 0, DSB_DDR, DSB_UB, DSB_SEQ };

namespace vinci::ascendc::cce {

template <typename T>
uint64_t at(T* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}
// The bits of a scalar operand, which is a number of the lanes' type.
template <typename T, typename S>
uint64_t scalar_of(S value) {
  return AscendC::vinci_detail::BitsOf(static_cast<AscendC::vinci_detail::Element<T>>(value));
}
// The type of lanes; of two types, that of an instruction whose destination is wider.
template <typename T>
const char* lanes() {
  return AscendC::vinci_detail::TypeName<AscendC::vinci_detail::Element<T>>();
}
template <typename D, typename S>
const char* lanes2() {
  using AscendC::vinci_detail::Element;
  return std::is_same_v<Element<D>, Element<S>> ? lanes<D>() : "fmix";
}

}  // namespace vinci::ascendc::cce

#define VINCI_CCE_BINARY(name)                                                                                   \
  template <typename D, typename S>                                                                              \
  void name(D* dst, S* src0, S* src1, uint64_t repeat, uint64_t dstBlk, uint64_t src0Blk, uint64_t src1Blk,      \
            uint64_t dstRep, uint64_t src0Rep, uint64_t src1Rep, VINCI_PLACE) {                                  \
    static ::vinci::ascendc::Insn insn(#name, ::vinci::ascendc::cce::lanes2<D, S>());                            \
    using ::vinci::ascendc::cce::at;                                                                             \
    ::vinci::ascendc::issue(                                                                                     \
        insn, {at(dst), at(src0), at(src1), repeat, dstBlk, src0Blk, src1Blk, dstRep, src0Rep, src1Rep}, place); \
  }
VINCI_CCE_BINARY(vadd)
VINCI_CCE_BINARY(vsub)
VINCI_CCE_BINARY(vmul)
VINCI_CCE_BINARY(vdiv)
VINCI_CCE_BINARY(vmax)
VINCI_CCE_BINARY(vmin)
VINCI_CCE_BINARY(vand)
VINCI_CCE_BINARY(vor)
VINCI_CCE_BINARY(vaddrelu)
VINCI_CCE_BINARY(vsubrelu)
VINCI_CCE_BINARY(vmadd)
VINCI_CCE_BINARY(vmaddrelu)
VINCI_CCE_BINARY(vmla)
#undef VINCI_CCE_BINARY

#define VINCI_CCE_UNARY(name, type)                                                                              \
  template <typename D, typename S>                                                                              \
  void name(D* dst, S* src, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep, uint64_t srcRep, \
            VINCI_PLACE) {                                                                                       \
    static ::vinci::ascendc::Insn insn(#name, type);                                                             \
    using ::vinci::ascendc::cce::at;                                                                             \
    ::vinci::ascendc::issue(insn, {at(dst), at(src), repeat, dstBlk, srcBlk, dstRep, srcRep}, place);            \
  }
#define VINCI_CCE_OF_LANES(name) VINCI_CCE_UNARY(name, ::vinci::ascendc::cce::lanes<D>())
VINCI_CCE_OF_LANES(vexp)
VINCI_CCE_OF_LANES(vln)
VINCI_CCE_OF_LANES(vabs)
VINCI_CCE_OF_LANES(vrec)
VINCI_CCE_OF_LANES(vsqrt)
VINCI_CCE_OF_LANES(vrsqrt)
VINCI_CCE_OF_LANES(vrelu)
VINCI_CCE_OF_LANES(vnot)
VINCI_CCE_OF_LANES(vcopy)
#undef VINCI_CCE_OF_LANES
#define VINCI_CCE_CAST(name) VINCI_CCE_UNARY(name, nullptr)
#define VINCI_CCE_ROUNDED(name) \
  VINCI_CCE_CAST(name##r)       \
  VINCI_CCE_CAST(name##a)       \
  VINCI_CCE_CAST(name##f)       \
  VINCI_CCE_CAST(name##c)       \
  VINCI_CCE_CAST(name##z)
VINCI_CCE_CAST(vconv_f162f32)
VINCI_CCE_CAST(vconv_f322f16)
VINCI_CCE_CAST(vconv_f322f16o)
VINCI_CCE_ROUNDED(vconv_f322f16)
VINCI_CCE_CAST(vconv_bf162f32)
VINCI_CCE_ROUNDED(vconv_f322bf16)
VINCI_CCE_ROUNDED(vconv_bf162s32)
VINCI_CCE_ROUNDED(vconv_f162s32)
VINCI_CCE_ROUNDED(vconv_f322s32)
VINCI_CCE_ROUNDED(vconv_f162s16)
VINCI_CCE_ROUNDED(vconv_f322s16)
VINCI_CCE_CAST(vconv_f162s8)
VINCI_CCE_ROUNDED(vconv_f162s8)
VINCI_CCE_CAST(vconv_f162u8)
VINCI_CCE_ROUNDED(vconv_f162u8)
VINCI_CCE_ROUNDED(vconv_f322f32)
VINCI_CCE_ROUNDED(vconv_f322s64)
VINCI_CCE_ROUNDED(vconv_s642f32)
VINCI_CCE_CAST(vconv_s642s32)
VINCI_CCE_CAST(vconv_s322f32)
VINCI_CCE_ROUNDED(vconv_s322f32)
VINCI_CCE_CAST(vconv_s322s64)
VINCI_CCE_CAST(vconv_s322s16)
VINCI_CCE_CAST(vconv_s162f32)
VINCI_CCE_CAST(vconv_s162f16)
VINCI_CCE_CAST(vconv_s82f16)
VINCI_CCE_CAST(vconv_u82f16)
VINCI_CCE_CAST(vconv_deq)
#undef VINCI_CCE_ROUNDED
#undef VINCI_CCE_CAST
#undef VINCI_CCE_UNARY

#define VINCI_CCE_SCALAR(name)                                                                                         \
  template <typename D, typename S, typename N>                                                                        \
  void name(D* dst, S* src, N scalar, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,              \
            uint64_t srcRep, VINCI_PLACE) {                                                                            \
    static ::vinci::ascendc::Insn insn(#name, ::vinci::ascendc::cce::lanes2<D, S>());                                  \
    using ::vinci::ascendc::cce::at;                                                                                   \
    ::vinci::ascendc::issue(                                                                                           \
        insn, {at(dst), at(src), ::vinci::ascendc::cce::scalar_of<S>(scalar), repeat, dstBlk, srcBlk, dstRep, srcRep}, \
        place);                                                                                                        \
  }
VINCI_CCE_SCALAR(vadds)
VINCI_CCE_SCALAR(vmuls)
VINCI_CCE_SCALAR(vmaxs)
VINCI_CCE_SCALAR(vmins)
VINCI_CCE_SCALAR(vlrelu)
VINCI_CCE_SCALAR(vaxpy)
#undef VINCI_CCE_SCALAR
template <typename T, typename N>
void vector_dup(T* dst, N scalar, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep, uint64_t srcRep,
                VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("vector_dup", ::vinci::ascendc::cce::lanes<T>());
  ::vinci::ascendc::issue(insn,
                          {::vinci::ascendc::cce::at(dst), ::vinci::ascendc::cce::scalar_of<T>(scalar), repeat, dstBlk,
                           srcBlk, dstRep, srcRep},
                          place);
}
template <typename T>
void vshl(T* dst, T* src, uint64_t distance, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
          uint64_t srcRep, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("vshl", ::vinci::ascendc::cce::lanes<T>());
  using ::vinci::ascendc::cce::at;
  ::vinci::ascendc::issue(insn, {at(dst), at(src), distance, repeat, dstBlk, srcBlk, dstRep, srcRep}, place);
}
template <typename T>
void vshr(T* dst, T* src, uint64_t distance, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
          uint64_t srcRep, bool round, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("vshr", ::vinci::ascendc::cce::lanes<T>());
  using ::vinci::ascendc::cce::at;
  ::vinci::ascendc::issue(insn, {at(dst), at(src), distance, repeat, dstBlk, srcBlk, dstRep, srcRep, round}, place);
}
template <typename T>
void vbrcb(T* dst, T* src, uint64_t dstBlk, uint64_t dstRep, uint64_t repeat, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("vbrcb", ::vinci::ascendc::cce::lanes<T>());
  using ::vinci::ascendc::cce::at;
  ::vinci::ascendc::issue(insn, {at(dst), at(src), dstBlk, dstRep, repeat}, place);
}
template <typename T>
void vsel(T* dst, T* src0, T* src1, uint64_t repeat, uint64_t dstBlk, uint64_t src0Blk, uint64_t src1Blk,
          uint64_t dstRep, uint64_t src0Rep, uint64_t src1Rep, uint64_t mode = 0, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("vsel", ::vinci::ascendc::cce::lanes<T>());
  using ::vinci::ascendc::cce::at;
  ::vinci::ascendc::issue(
      insn, {at(dst), at(src0), at(src1), repeat, dstBlk, src0Blk, src1Blk, dstRep, src0Rep, src1Rep, mode}, place);
}

// The last operand is the mode of vcadd, and the order of the extrema.
#define VINCI_CCE_REDUCE(name)                                                                                 \
  template <typename T>                                                                                        \
  void name(T* dst, T* src, uint64_t repeat, uint64_t dstRep, uint64_t srcBlk, uint64_t srcRep, VINCI_PLACE) { \
    static ::vinci::ascendc::Insn insn(#name, ::vinci::ascendc::cce::lanes<T>());                              \
    using ::vinci::ascendc::cce::at;                                                                           \
    ::vinci::ascendc::issue(insn, {at(dst), at(src), repeat, dstRep, srcBlk, srcRep}, place);                  \
  }
#define VINCI_CCE_REDUCE_OPTION(name)                                                                                \
  VINCI_CCE_REDUCE(name)                                                                                             \
  template <typename T, typename O, typename = std::enable_if_t<std::is_integral_v<O> || std::is_enum_v<O>>>         \
  void name(T* dst, T* src, uint64_t repeat, uint64_t dstRep, uint64_t srcBlk, uint64_t srcRep, O option,            \
            VINCI_PLACE) {                                                                                           \
    static ::vinci::ascendc::Insn insn(#name, ::vinci::ascendc::cce::lanes<T>());                                    \
    using ::vinci::ascendc::cce::at;                                                                                 \
    ::vinci::ascendc::issue(insn, {at(dst), at(src), repeat, dstRep, srcBlk, srcRep, static_cast<uint64_t>(option)}, \
                            place);                                                                                  \
  }
VINCI_CCE_REDUCE_OPTION(vcadd)
VINCI_CCE_REDUCE_OPTION(vcmax)
VINCI_CCE_REDUCE_OPTION(vcmin)
VINCI_CCE_REDUCE(vcgadd)
VINCI_CCE_REDUCE(vcgmax)
VINCI_CCE_REDUCE(vcgmin)
VINCI_CCE_REDUCE(vcpadd)
#undef VINCI_CCE_REDUCE_OPTION
#undef VINCI_CCE_REDUCE

#define VINCI_CCE_COMPARE(mode)                                                                                        \
  template <typename T>                                                                                                \
  void vcmpv_##mode(__ubuf__ uint8_t* dst, T* src0, T* src1, uint64_t repeat, uint64_t dstBlk, uint64_t src0Blk,       \
                    uint64_t src1Blk, uint64_t dstRep, uint64_t src0Rep, uint64_t src1Rep, VINCI_PLACE) {              \
    static ::vinci::ascendc::Insn insn("vcmpv_" #mode, ::vinci::ascendc::cce::lanes<T>());                             \
    using ::vinci::ascendc::cce::at;                                                                                   \
    ::vinci::ascendc::issue(                                                                                           \
        insn, {at(dst), at(src0), at(src1), repeat, dstBlk, src0Blk, src1Blk, dstRep, src0Rep, src1Rep}, place);       \
  }                                                                                                                    \
  template <typename T, typename N>                                                                                    \
  void vcmpvs_##mode(__ubuf__ uint8_t* dst, T* src, N scalar, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk,       \
                     uint64_t dstRep, uint64_t srcRep, VINCI_PLACE) {                                                  \
    static ::vinci::ascendc::Insn insn("vcmpvs_" #mode, ::vinci::ascendc::cce::lanes<T>());                            \
    using ::vinci::ascendc::cce::at;                                                                                   \
    ::vinci::ascendc::issue(                                                                                           \
        insn, {at(dst), at(src), ::vinci::ascendc::cce::scalar_of<T>(scalar), repeat, dstBlk, srcBlk, dstRep, srcRep}, \
        place);                                                                                                        \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  void vcmp_##mode(T* src0, T* src1, uint64_t repeat, uint64_t dstBlk, uint64_t src0Blk, uint64_t src1Blk,             \
                   uint64_t dstRep, uint64_t src0Rep, uint64_t src1Rep, VINCI_PLACE) {                                 \
    static ::vinci::ascendc::Insn insn("vcmp_" #mode, ::vinci::ascendc::cce::lanes<T>());                              \
    using ::vinci::ascendc::cce::at;                                                                                   \
    ::vinci::ascendc::issue(insn, {at(src0), at(src1), repeat, dstBlk, src0Blk, src1Blk, dstRep, src0Rep, src1Rep},    \
                            place);                                                                                    \
  }
VINCI_CCE_COMPARE(eq)
VINCI_CCE_COMPARE(ne)
VINCI_CCE_COMPARE(lt)
VINCI_CCE_COMPARE(le)
VINCI_CCE_COMPARE(gt)
VINCI_CCE_COMPARE(ge)
#undef VINCI_CCE_COMPARE

#define VINCI_CCE_COPY(name)                                                                                    \
  template <typename D, typename S>                                                                             \
  void name(D* dst, S* src, uint64_t sid, uint64_t nBurst, uint64_t lenBurst, uint64_t srcGap, uint64_t dstGap, \
            VINCI_PLACE) {                                                                                      \
    static ::vinci::ascendc::Insn insn(#name);                                                                  \
    using ::vinci::ascendc::cce::at;                                                                            \
    ::vinci::ascendc::issue(insn, {at(dst), at(src), sid, nBurst, lenBurst, srcGap, dstGap}, place);            \
  }
VINCI_CCE_COPY(copy_gm_to_ubuf)
VINCI_CCE_COPY(copy_ubuf_to_gm)
VINCI_CCE_COPY(copy_ubuf_to_ubuf)
VINCI_CCE_COPY(copy_gm_to_cbuf)
VINCI_CCE_COPY(copy_cbuf_to_gm)
#undef VINCI_CCE_COPY
#define VINCI_CCE_ALIGN(name)                                                                                     \
  template <typename D, typename S>                                                                               \
  void name(D* dst, S* src, uint64_t sid, uint64_t nBurst, uint64_t lenBurst, uint64_t left, uint64_t right,      \
            uint64_t srcGap, uint64_t dstGap, VINCI_PLACE) {                                                      \
    static ::vinci::ascendc::Insn insn(#name);                                                                    \
    using ::vinci::ascendc::cce::at;                                                                              \
    ::vinci::ascendc::issue(insn, {at(dst), at(src), sid, nBurst, lenBurst, left, right, srcGap, dstGap}, place); \
  }
VINCI_CCE_ALIGN(copy_gm_to_ubuf_align_b8)
VINCI_CCE_ALIGN(copy_gm_to_ubuf_align_b16)
VINCI_CCE_ALIGN(copy_gm_to_ubuf_align_b32)
VINCI_CCE_ALIGN(copy_ubuf_to_gm_align_b8)
VINCI_CCE_ALIGN(copy_ubuf_to_gm_align_b16)
VINCI_CCE_ALIGN(copy_ubuf_to_gm_align_b32)
#undef VINCI_CCE_ALIGN

#define VINCI_CCE_NONE(name)                   \
  inline void name(VINCI_PLACE) {              \
    static ::vinci::ascendc::Insn insn(#name); \
    ::vinci::ascendc::issue(insn, {}, place);  \
  }
VINCI_CCE_NONE(set_mask_norm)
VINCI_CCE_NONE(set_mask_count)
VINCI_CCE_NONE(set_atomic_none)
VINCI_CCE_NONE(set_atomic_add)
VINCI_CCE_NONE(set_atomic_max)
VINCI_CCE_NONE(set_atomic_min)
VINCI_CCE_NONE(set_atomic_f32)
VINCI_CCE_NONE(set_atomic_f16)
VINCI_CCE_NONE(set_atomic_bf16)
VINCI_CCE_NONE(set_atomic_s32)
VINCI_CCE_NONE(set_atomic_s16)
VINCI_CCE_NONE(set_atomic_s8)
#undef VINCI_CCE_NONE
#define VINCI_CCE_GET(name)                                           \
  inline int64_t name(VINCI_PLACE) {                                  \
    static ::vinci::ascendc::Insn insn(#name);                        \
    return static_cast<int64_t>(::vinci::ascendc::read(insn, place)); \
  }
VINCI_CCE_GET(get_ctrl)
VINCI_CCE_GET(get_status)
VINCI_CCE_GET(get_sys_cnt)
VINCI_CCE_GET(get_rsvd_cnt)
VINCI_CCE_GET(get_acc_val)
VINCI_CCE_GET(get_max_min_cnt)
VINCI_CCE_GET(get_vms4_sr)
#undef VINCI_CCE_GET
inline void set_vector_mask(uint64_t high, uint64_t low, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_vector_mask");
  ::vinci::ascendc::issue(insn, {high, low}, place);
}
inline void set_ctrl(uint64_t value, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_ctrl");
  ::vinci::ascendc::issue(insn, {value}, place);
}
template <typename T>
void set_deqscale(T scale, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_deqscale");
  ::vinci::ascendc::issue(insn, {AscendC::vinci_detail::BitsOf(scale)}, place);
}
template <typename T>
void set_cmpmask(T* src, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_cmpmask");
  ::vinci::ascendc::issue(insn, {::vinci::ascendc::cce::at(src)}, place);
}
template <typename T>
void get_cmpmask(T* dst, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("get_cmpmask");
  ::vinci::ascendc::issue(insn, {::vinci::ascendc::cce::at(dst)}, place);
}
template <typename T>
void dcci(T* address, uint64_t entire, uint64_t dst = CACHELINE_ALL, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("dcci");
  ::vinci::ascendc::issue(insn, {::vinci::ascendc::cce::at(address), entire, dst}, place);
}
inline void dsb(mem_dsb_t mode, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("dsb");
  ::vinci::ascendc::issue(insn, {static_cast<uint64_t>(mode)}, place);
}
inline void trap(VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("trap");
  ::vinci::ascendc::issue(insn, {0}, place);
}
inline int64_t sbitset0(int64_t value, int64_t bit) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) & ~(uint64_t{1} << bit));
}
inline int64_t sbitset1(int64_t value, int64_t bit) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) | uint64_t{1} << bit);
}
