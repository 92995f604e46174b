// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>

#include "ascendc/cce_intrinsics.h"
#include "ascendc/cross_core.h"
#include "ascendc/mmad.h"
#include "ascendc/sync.h"

// CCE intrinsics under their own names, for kernels that call them directly: here those whose public forms differ from
// the operands of the instruction, as packed registers or arrays of addresses; ascendc/cce_intrinsics.h has the others.
// Sources: asc-devkit impl/c_api (orders of operands), the packed registers of hicann and PTO's headers.

template <typename T>
void dcci(__gm__ T* address, uint64_t entire, uint64_t dst = CACHELINE_ALL, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("dcci");
  ::vinci::ascendc::issue(insn, {::vinci::ascendc::cce::at(address), entire, dst}, place);
}
// The scalar unit writes to UB at once, so there is nothing to clean.
template <typename T>
void dcci(__ubuf__ T*, uint64_t, uint64_t = CACHELINE_ALL) {}
inline void dsb(mem_dsb_t mode, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("dsb");
  ::vinci::ascendc::issue(insn, {static_cast<uint64_t>(mode)}, place);
}

// The scalar unit.
inline int64_t sbitset0(int64_t value, int64_t bit) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) & ~(uint64_t{1} << (bit & 63)));
}
inline int64_t sbitset1(int64_t value, int64_t bit) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) | uint64_t{1} << (bit & 63));
}
inline int64_t bcnt0(uint64_t value) { return 64 - __builtin_popcountll(value); }
inline int64_t bcnt1(uint64_t value) { return __builtin_popcountll(value); }
inline int64_t clz(uint64_t value) { return value == 0 ? 64 : __builtin_clzll(value); }
inline int64_t sff0(uint64_t value) { return ~value == 0 ? -1 : __builtin_ctzll(~value); }
inline int64_t sff1(uint64_t value) { return value == 0 ? -1 : __builtin_ctzll(value); }
inline int64_t sflbits(int64_t value) {
  const auto differing = static_cast<uint64_t>(value ^ value >> 63);
  return differing == 0 ? -1 : __builtin_clzll(differing) - 1;
}
template <typename T>
T get_imm(T value) {
  return value;
}
// Of any two types, so that those of <algorithm> and of programs are preferred; packs, so that templates of programs
// are.
template <typename A, typename... B, typename = std::enable_if_t<sizeof...(B) == 1>>
auto max(A a, B... b) {
  return a < (b, ...) ? (b, ...) : a;
}
template <typename A, typename... B, typename = std::enable_if_t<sizeof...(B) == 1>>
auto min(A a, B... b) {
  return (b, ...) < a ? (b, ...) : a;
}

// The sum stays in its register with mode 1, so programs give no address.
template <typename T>
void vcadd(std::nullptr_t, __ubuf__ T* src, ::vinci::ascendc::cce::Number repeat,
           ::vinci::ascendc::cce::Number dstRepStride, ::vinci::ascendc::cce::Number srcBlkStride,
           ::vinci::ascendc::cce::Number srcRepStride, ::vinci::ascendc::cce::Number mode, VINCI_PLACE) {
  vcadd(static_cast<__ubuf__ T*>(nullptr), src, repeat, dstRepStride, srcBlkStride, srcRepStride, mode, place);
}

// Global memory past the data cache; the offset is in bytes. What is stored at the base address of the cross-core flags
// sets a flag, as ffts_cross_core_sync does; here by a pipe, since the scalar unit has no instruction for it.
template <typename T>
AscendC::vinci_detail::Element<T> ld_dev(__gm__ T* address, int64_t offset, VINCI_PLACE) {
  using Value = AscendC::vinci_detail::Element<T>;
  return AscendC::vinci_detail::FromBits<Value>(
      ::vinci::ascendc::load(::vinci::ascendc::Memory::gm,
                             ::vinci::ascendc::cce::at(address) + static_cast<uint64_t>(offset), sizeof(Value), place));
}
template <typename V, typename T>
void st_dev(V value, __gm__ T* address, int64_t offset, VINCI_PLACE) {
  using Value = AscendC::vinci_detail::Element<T>;
  const uint64_t at = ::vinci::ascendc::cce::at(address) + static_cast<uint64_t>(offset);
  if (at == ::vinci::ascendc::core().sync_base) {
    const bool cube = ::vinci::ascendc::core().kind == ::vinci::ascendc::CoreKind::cube;
    ffts_cross_core_sync(cube ? PIPE_FIX : PIPE_MTE3, static_cast<uint64_t>(value), place);
    return;
  }
  ::vinci::ascendc::store(::vinci::ascendc::Memory::gm, at, sizeof(Value),
                          AscendC::vinci_detail::BitsOf(static_cast<Value>(value)), place);
}
inline void set_st_atomic_cfg(uint64_t, uint64_t = 0, VINCI_PLACE) {
  ::vinci::ascendc::unsupported("set_st_atomic_cfg: atomic stores of the scalar unit", place);
}
template <typename T>
void st_atomic(T, __gm__ T*, VINCI_PLACE) {
  ::vinci::ascendc::unsupported("st_atomic: atomic stores of the scalar unit", place);
}

// The instruction cache is not modelled, so no prefetch is under way.
inline int64_t get_icache_prl_st() { return 0; }

// Block addresses, of an array in the stack of the kernel.
template <typename T>
void set_va_reg_sb(ub_addr8_t index, T* addresses, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_va_reg_sb");
  uint64_t a[8];
  for (int i = 0; i < 8; ++i) {
    if constexpr (std::is_pointer_v<T>) {
      a[i] = ::vinci::ascendc::cce::at(addresses[i]);
    } else {
      a[i] = static_cast<uint64_t>(addresses[i]);
    }
  }
  ::vinci::ascendc::issue(insn, {static_cast<uint64_t>(index), a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]}, place);
}

// The bias table by its address, as older libraries have it.
inline void copy_cbuf_to_bt(uint64_t dst, const volatile __cbuf__ void* src, ::vinci::ascendc::cce::Number convControl,
                            ::vinci::ascendc::cce::Number nBurst, ::vinci::ascendc::cce::Number lenBurst,
                            ::vinci::ascendc::cce::Number srcGap, ::vinci::ascendc::cce::Number dstGap, VINCI_PLACE) {
  copy_cbuf_to_bt((const volatile __biasbuf__ void*)dst, src, convControl, nBurst, lenBurst, srcGap, dstGap, place);
}

// Fractals from L1. With and without what the first architecture lacks.
#define VINCI_CCE_LOAD2D(name, to)                                                                                    \
  inline void name(const volatile to void* dst, const volatile __cbuf__ void* src, uint64_t baseIdx, uint64_t repeat, \
                   uint64_t srcStride, uint64_t dstGap, uint64_t sid, bool transpose, uint64_t addrmode,              \
                   VINCI_PLACE) {                                                                                     \
    static ::vinci::ascendc::Insn insn(#name);                                                                        \
    using ::vinci::ascendc::cce::at;                                                                                  \
    ::vinci::ascendc::issue(insn, {at(dst), at(src), baseIdx, repeat, srcStride, sid, transpose, dstGap, addrmode},   \
                            place);                                                                                   \
  }                                                                                                                   \
  inline void name(const volatile to void* dst, const volatile __cbuf__ void* src, uint64_t baseIdx, uint64_t repeat, \
                   uint64_t srcStride, uint64_t sid, bool transpose, VINCI_PLACE) {                                   \
    static ::vinci::ascendc::Insn insn(#name);                                                                        \
    using ::vinci::ascendc::cce::at;                                                                                  \
    ::vinci::ascendc::issue(insn, {at(dst), at(src), baseIdx, repeat, srcStride, sid, transpose}, place);             \
  }
VINCI_CCE_LOAD2D(load_cbuf_to_ca, __ca__)
VINCI_CCE_LOAD2D(load_cbuf_to_cb, __cb__)
VINCI_CCE_LOAD2D(load_cbuf_to_ca_s4, __ca__)
VINCI_CCE_LOAD2D(load_cbuf_to_cb_s4, __cb__)
#undef VINCI_CCE_LOAD2D
#define VINCI_CCE_LOAD2D_GM(name, to)                                                                               \
  inline void name(const volatile to void* dst, const volatile __gm__ void* src, uint64_t baseIdx, uint64_t repeat, \
                   uint64_t srcStride, uint64_t dstGap, uint64_t sid, uint64_t addrmode, VINCI_PLACE) {             \
    static ::vinci::ascendc::Insn insn(#name);                                                                      \
    using ::vinci::ascendc::cce::at;                                                                                \
    ::vinci::ascendc::issue(insn, {at(dst), at(src), baseIdx, repeat, srcStride, sid, dstGap, addrmode}, place);    \
  }
VINCI_CCE_LOAD2D_GM(load_gm_to_ca, __ca__)
VINCI_CCE_LOAD2D_GM(load_gm_to_cb, __cb__)
VINCI_CCE_LOAD2D_GM(load_gm_to_cbuf, __cbuf__)
VINCI_CCE_LOAD2D_GM(load_gm_to_ca_s4, __ca__)
VINCI_CCE_LOAD2D_GM(load_gm_to_cb_s4, __cb__)
#undef VINCI_CCE_LOAD2D_GM

// Memory filled with a value: runs [14:0], units of a run [30:16] where there is more than one, units skipped after a
// run [46:32]. A whole number is the bits of an element.
namespace vinci::ascendc::cce {
template <typename T, typename V>
void fill(Insn& insn, T* dst, int64_t config, V value, Place place) {
  constexpr uint64_t kMask = sizeof(T) == 2 ? 0xffff : 0xffffffff;
  const auto part = [config](unsigned shift) { return static_cast<uint64_t>(config) >> shift & 0x7fff; };
  issue(insn, {at(dst), part(0), register_of(value) & kMask, part(16) == 0 ? 1 : part(16), part(32)}, place);
}
}  // namespace vinci::ascendc::cce
#define VINCI_CCE_FILL(name, to, forms)                                               \
  template <typename T, typename V>                                                   \
  void name(to T* dst, int64_t config, V value, VINCI_PLACE) {                        \
    constexpr const char* form = ::vinci::ascendc::cce::form_of<T>(forms);            \
    static_assert(form != nullptr, #name " has no form for elements of these types"); \
    static ::vinci::ascendc::Insn insn(#name, form);                                  \
    ::vinci::ascendc::cce::fill(insn, dst, config, value, place);                     \
  }
VINCI_CCE_FILL(create_ca_matrix, __ca__, "b16 b32")
VINCI_CCE_FILL(create_cb_matrix, __cb__, "b16 b32")
VINCI_CCE_FILL(create_cbuf_matrix, __cbuf__, "b16 b32")
VINCI_CCE_FILL(create_ca_matrix_bf16, __ca__, "bf16")
VINCI_CCE_FILL(create_cb_matrix_bf16, __cb__, "bf16")
VINCI_CCE_FILL(create_cbuf_matrix_bf16, __cbuf__, "bf16")
#undef VINCI_CCE_FILL

// The cube unit. Since the second form, C can begin from the bias table, whose address is in the upper half of c.
namespace vinci::ascendc::cce {
template <typename C, typename A, typename B>
Insn& mad_insn() {
  using AscendC::vinci_detail::Element;
  constexpr const char* form = AscendC::vinci_detail::MadForm<Element<C>, Element<A>, Element<B>>();
  static_assert(form != nullptr, "mad: no cube unit multiplies these types");
  static Insn insn("mad", form);
  return insn;
}
}  // namespace vinci::ascendc::cce
template <typename C, typename A, typename B>
void mad(__cc__ C* c, __ca__ A* a, __cb__ B* b, uint64_t m, uint64_t k, uint64_t n, bool init, VINCI_PLACE) {
  using ::vinci::ascendc::cce::at;
  ::vinci::ascendc::issue(::vinci::ascendc::cce::mad_insn<C, A, B>(), {at(c), at(a), at(b), m, k, n, init}, place);
}
template <typename C, typename A, typename B>
void mad(__cc__ C* c, __ca__ A* a, __cb__ B* b, uint64_t m, uint64_t k, uint64_t n, uint64_t unitFlag,
         bool kDirectionAlign, bool cmatrixSource, bool cmatrixInitVal, VINCI_PLACE) {
  using ::vinci::ascendc::cce::at;
  ::vinci::ascendc::issue(::vinci::ascendc::cce::mad_insn<C, A, B>(),
                          {at(c) & 0xffffffff, at(a), at(b), m, k, n, cmatrixInitVal, unitFlag, kDirectionAlign,
                           cmatrixSource, at(c) >> 32},
                          place);
}

inline void mad_sp(__cc__ int32_t* c, __ca__ int8_t* a, __cb__ int8_t* b, uint64_t m, uint64_t k, uint64_t n,
                   uint64_t unitFlag, bool cmatrixSource, bool cmatrixInitVal, VINCI_PLACE) {
  using ::vinci::ascendc::cce::at;
  static ::vinci::ascendc::Insn insn("mad_sp");
  ::vinci::ascendc::issue(
      insn, {at(c) & 0xffffffff, at(a), at(b), m, k, n, unitFlag, cmatrixSource, cmatrixInitVal, at(c) >> 32}, place);
}
// Sparse weights: the address of the indices is in the upper half of the source.
inline void load_cbuf_to_cb_sp(__cb__ int8_t* dst, __cbuf__ int8_t* src, uint64_t startIndex, uint64_t repeat,
                               VINCI_PLACE) {
  using ::vinci::ascendc::cce::at;
  static ::vinci::ascendc::Insn insn("load_cbuf_to_cb_sp");
  ::vinci::ascendc::issue(insn, {at(dst), at(src) & 0xffffffff, at(src) >> 32, startIndex, repeat}, place);
}

// FIXPIPE with packed registers. Xm: columns [15:4], rows [31:16], distance in the destination [63:32]; Xt: distance in
// L0C [15:0], unit flag [33:32], quantisation [38:34], relu [41:39], channel split [42], NZ to rows [43].
#define VINCI_CCE_FIXPIPE(name, to)                                                                                  \
  inline void name(const volatile to void* dst, const volatile __cc__ void* src, uint64_t xm, uint64_t xt,           \
                   VINCI_PLACE) {                                                                                    \
    name(dst, src, xm & 0xf, xm >> 4 & 0xfff, xm >> 16 & 0xffff, xm >> 32, xt & 0xffff, xt >> 32 & 3, xt >> 34 & 31, \
         xt >> 39 & 7, xt >> 42 & 1, xt >> 43 & 1, place);                                                           \
  }
VINCI_CCE_FIXPIPE(copy_matrix_cc_to_gm, __gm__)
VINCI_CCE_FIXPIPE(copy_matrix_cc_to_cbuf, __cbuf__)
#undef VINCI_CCE_FIXPIPE

// Sorting: scores and indices to records; and records of up to four lists, whose addresses are an array. Lengths are
// 16 bits each; config: repeats [7:0], lists that take part [11:8], end where one is exhausted [12].
template <typename T>
void vbitsort(__ubuf__ T* dst, __ubuf__ T* src0, const volatile __ubuf__ void* src1, uint64_t repeat, VINCI_PLACE) {
  vbitsort32(dst, src0, src1, repeat, place);
}
template <typename T, typename S>
void vmrgsort4(__ubuf__ T* dst, S* addresses, uint64_t repeat, uint64_t len0, uint64_t len1, uint64_t len2,
               uint64_t len3, bool ifExhaustedSuspension, uint64_t validBit, VINCI_PLACE) {
  constexpr const char* form = ::vinci::ascendc::cce::form_of<T>("f16 f32");
  static_assert(form != nullptr, "vmrgsort4 has no form for elements of these types");
#if __NPU_ARCH__ == 2201
  static ::vinci::ascendc::Insn insn("vmrgsort4v2", form);
#else
  static ::vinci::ascendc::Insn insn("vmrgsort4", form);
#endif
  uint64_t a[4]{};
  for (int i = 0; i < 4 && (validBit >> i & 1) != 0; ++i) {
    if constexpr (std::is_pointer_v<S>) {
      a[i] = ::vinci::ascendc::cce::at(addresses[i]);
    } else {
      a[i] = static_cast<uint64_t>(addresses[i]);
    }
  }
  ::vinci::ascendc::issue(insn,
                          {::vinci::ascendc::cce::at(dst), a[0], a[1], a[2], a[3], repeat, len0, len1, len2, len3,
                           ifExhaustedSuspension, validBit},
                          place);
}
template <typename T, typename S>
void vmrgsort4(__ubuf__ T* dst, S* addresses, uint64_t lengths, uint64_t config, VINCI_PLACE) {
  vmrgsort4(dst, addresses, config & 0xff, lengths & 0xffff, lengths >> 16 & 0xffff, lengths >> 32 & 0xffff,
            lengths >> 48, (config >> 12 & 1) != 0, config >> 8 & 0xf, place);
}
