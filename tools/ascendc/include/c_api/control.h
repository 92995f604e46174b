// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "kernel_operator.h"

// The C interface: state of the core, synchronisation, atomic stores, scalar functions, caches. Documentation: Ascend C
// API, C-API; what a function does where a page is silent: asc-devkit 82b89a15, the library for NPU architecture 2201.

// `Head void name(params)`, which does `body` on cores of one kind and nothing on the others, and name_sync() that
// waits until all pipes have ended. `params` and `args` are lists in brackets.
#define VINCI_ASC_LIST(...) __VA_ARGS__
#define VINCI_ASC(Head, name, params, On, body)               \
  Head inline void name(VINCI_ASC_LIST params, VINCI_PLACE) { \
    if (!AscendC::vinci_detail::On()) return;                 \
    body;                                                     \
  }
#define VINCI_ASC_SYNCED(Head, name, params, args)                   \
  Head inline void name##_sync(VINCI_ASC_LIST params, VINCI_PLACE) { \
    name(VINCI_ASC_LIST args, place);                                \
    asc_sync(place);                                                 \
  }
#define VINCI_ASC_BOTH(Head, name, params, args, On, body) \
  VINCI_ASC(Head, name, params, On, body)                  \
  VINCI_ASC_SYNCED(Head, name, params, args)

namespace AscendC::vinci_detail {
inline bool OnVector() { return ::vinci::ascendc::core().kind != ::vinci::ascendc::CoreKind::cube; }
inline bool OnCube() { return ::vinci::ascendc::core().kind != ::vinci::ascendc::CoreKind::vector; }
// T, without being deduced from it.
template <typename T>
struct ItselfOf {
  using type = T;
};
template <typename T>
using Itself = typename ItselfOf<T>::type;
}  // namespace AscendC::vinci_detail

// ---------------------------------------------------------------------------------------------------------------------
// The state of the core, and what it is.

inline void asc_init(VINCI_PLACE) { AscendC::InitSocState(place); }
inline int64_t asc_get_block_idx() { return get_block_idx(); }
inline int64_t asc_get_block_num() { return get_block_num(); }
inline int64_t asc_get_sub_block_id() { return get_subblockid(); }
inline int64_t asc_get_sub_block_num() { return get_subblockdim(); }
inline int64_t asc_get_core_id(VINCI_PLACE) { return get_coreid(place); }
inline int64_t asc_get_status(VINCI_PLACE) { return get_status(place); }
inline uint64_t asc_get_overflow_status(VINCI_PLACE) { return static_cast<uint64_t>(get_overflow_status(place)); }
inline int64_t asc_get_program_counter(VINCI_PLACE) { return get_pc(place); }
inline int64_t asc_get_system_cycle(VINCI_PLACE) { return AscendC::GetSystemCycle(place); }
inline int64_t asc_get_ctrl(VINCI_PLACE) { return AscendC::GetCtrlSpr<0, 63>(place); }
inline void asc_set_ctrl(uint64_t config, VINCI_PLACE) {
  AscendC::SetCtrlSpr<0, 63>(static_cast<int64_t>(config), place);
}
inline void asc_set_ffts_base_addr(uint64_t config, VINCI_PLACE) { set_ffts_base_addr(config, place); }
inline int64_t asc_get_ffts_base_addr() { return static_cast<int64_t>(::vinci::ascendc::core().sync_base); }
// What the simulator has no value for.
#define VINCI_ASC_UNKNOWN(Type, name, params)    \
  inline Type name(VINCI_ASC_LIST params) {      \
    ::vinci::ascendc::unsupported(#name, place); \
    return Type();                               \
  }
VINCI_ASC_UNKNOWN(void, asc_get_arch_ver, (uint32_t&, VINCI_PLACE))
VINCI_ASC_UNKNOWN(uint64_t, asc_get_phy_buf_addr, (uint64_t, VINCI_PLACE))
VINCI_ASC_UNKNOWN(int64_t, asc_get_phy_stack_base, (VINCI_PLACE))
VINCI_ASC_UNKNOWN(int64_t, asc_get_smmu_tag_version, (VINCI_PLACE))
VINCI_ASC_UNKNOWN(int64_t, asc_get_sys_virtual_base, (VINCI_PLACE))

// ---------------------------------------------------------------------------------------------------------------------
// Synchronisation.

inline void asc_sync(VINCI_PLACE) { pipe_barrier(PIPE_ALL, place); }
inline void asc_sync_pipe(pipe_t pipe, VINCI_PLACE) { pipe_barrier(pipe, place); }
inline void asc_sync_vec(VINCI_PLACE) { pipe_barrier(PIPE_ALL, place); }
inline void asc_sync_notify(pipe_t pipe, pipe_t tpipe, event_t id, VINCI_PLACE) { set_flag(pipe, tpipe, id, place); }
inline void asc_sync_wait(pipe_t pipe, pipe_t tpipe, event_t id, VINCI_PLACE) { wait_flag(pipe, tpipe, id, place); }
namespace AscendC::vinci_detail {
// `from` comes before the other pipe of copies and before PIPE_V.
inline void SyncCopies(pipe_t from, pipe_t to, int id, ::vinci::ascendc::Place place) {
  const auto event = static_cast<event_t>(id);
  for (const pipe_t pipe : {to, PIPE_V})
    set_flag(from, pipe, event, place);
  for (const pipe_t pipe : {to, PIPE_V})
    wait_flag(from, pipe, event, place);
  pipe_barrier(from, place);
}
// Modes of flags between cores: all cores of a kind, the vector cores of a block, a block.
inline void Arrive(pipe_t pipe, int64_t flag, unsigned mode, ::vinci::ascendc::Place place) {
  ffts_cross_core_sync(pipe, 1 | mode << 4 | (static_cast<uint64_t>(flag) & 15) << 8, place);
}
}  // namespace AscendC::vinci_detail
inline void asc_sync_mte2(int id, VINCI_PLACE) { AscendC::vinci_detail::SyncCopies(PIPE_MTE2, PIPE_MTE3, id, place); }
inline void asc_sync_mte3(int id, VINCI_PLACE) { AscendC::vinci_detail::SyncCopies(PIPE_MTE3, PIPE_MTE2, id, place); }
inline void asc_sync_inter_arrive(pipe_t pipe, int64_t flag_id, VINCI_PLACE) {
  AscendC::vinci_detail::Arrive(pipe, flag_id, 0, place);
}
inline void asc_sync_subblock_arrive(pipe_t pipe, int64_t flag_id, VINCI_PLACE) {
  AscendC::vinci_detail::Arrive(pipe, flag_id, 1, place);
}
inline void asc_sync_block_arrive(pipe_t pipe, int64_t flag_id, VINCI_PLACE) {
  AscendC::vinci_detail::Arrive(pipe, flag_id, 2, place);
}
inline void asc_sync_inter_wait(pipe_t, int64_t flag_id, VINCI_PLACE) { wait_flag_dev(flag_id, place); }
inline void asc_sync_subblock_wait(pipe_t, int64_t flag_id, VINCI_PLACE) { wait_flag_dev(flag_id, place); }
inline void asc_sync_block_wait(pipe_t, int64_t flag_id, VINCI_PLACE) { wait_flag_dev(flag_id, place); }
inline void asc_sync_data_barrier(mem_dsb_t arg, VINCI_PLACE) { dsb(arg, place); }

// ---------------------------------------------------------------------------------------------------------------------
// Stores to global memory that add up, or keep the larger or the smaller value.

#define VINCI_ASC_ATOMIC(op)                                                                                \
  inline void asc_set_atomic_##op##_float(VINCI_PLACE) { set_atomic_##op(place), set_atomic_f32(place); }   \
  inline void asc_set_atomic_##op##_float16(VINCI_PLACE) { set_atomic_##op(place), set_atomic_f16(place); } \
  inline void asc_set_atomic_##op##_bfloat(VINCI_PLACE) { set_atomic_##op(place), set_atomic_bf16(place); } \
  inline void asc_set_atomic_##op##_int(VINCI_PLACE) { set_atomic_##op(place), set_atomic_s32(place); }     \
  inline void asc_set_atomic_##op##_int16(VINCI_PLACE) { set_atomic_##op(place), set_atomic_s16(place); }   \
  inline void asc_set_atomic_##op##_int8(VINCI_PLACE) { set_atomic_##op(place), set_atomic_s8(place); }
VINCI_ASC_ATOMIC(add)
VINCI_ASC_ATOMIC(max)
VINCI_ASC_ATOMIC(min)
#undef VINCI_ASC_ATOMIC
inline void asc_set_atomic_none(VINCI_PLACE) { set_atomic_none(place); }

union asc_store_atomic_config {
  uint64_t config = 0;
  struct {
    uint64_t atomic_type : 3;
    uint64_t atomic_op : 2;
    uint64_t reserved1 : 59;
  };
};
VINCI_ASC_UNKNOWN(void, asc_get_store_atomic_config, (asc_store_atomic_config&, VINCI_PLACE))
VINCI_ASC_UNKNOWN(void, asc_set_store_atomic_config_v1, (uint16_t, uint16_t, VINCI_PLACE))
#undef VINCI_ASC_UNKNOWN

// ---------------------------------------------------------------------------------------------------------------------
// Bits of a word.

inline uint64_t asc_set_nthbit(uint64_t bits, int64_t idx) {
  return static_cast<uint64_t>(sbitset1(static_cast<int64_t>(bits), idx));
}
inline uint64_t asc_clear_nthbit(uint64_t bits, int64_t idx) {
  return static_cast<uint64_t>(sbitset0(static_cast<int64_t>(bits), idx));
}
inline int64_t asc_clz(uint64_t value_in) { return clz(value_in); }
inline int64_t asc_ffs(uint64_t value) { return sff1(value); }
inline int64_t asc_ffz(uint64_t value) { return sff0(value); }
inline int64_t asc_popc(uint64_t value) { return bcnt1(value); }
inline int64_t asc_zero_bits_cnt(uint64_t value) { return bcnt0(value); }
inline int64_t asc_sflbits(int64_t value) { return sflbits(value); }

// ---------------------------------------------------------------------------------------------------------------------
// Caches of the scalar unit.

inline void asc_dcci_single(__gm__ void* dst, VINCI_PLACE) { dcci(dst, SINGLE_CACHE_LINE, CACHELINE_ALL, place); }
inline void asc_ub_dcci_single(__ubuf__ void*) {}  // UB is not cached
inline void asc_dcci_entire_all(VINCI_PLACE) {
  dcci(static_cast<__gm__ void*>(nullptr), ENTIRE_DATA_CACHE, CACHELINE_ALL, place);
}
inline void asc_dcci_entire_ub(VINCI_PLACE) {
  dcci(static_cast<__gm__ void*>(nullptr), ENTIRE_DATA_CACHE, CACHELINE_UB, place);
}
inline void asc_dcci_entire_out(VINCI_PLACE) {
  dcci(static_cast<__gm__ void*>(nullptr), ENTIRE_DATA_CACHE, CACHELINE_OUT, place);
}
inline void asc_dcci_entire_atomic(VINCI_PLACE) {
  dcci(static_cast<__gm__ void*>(nullptr), ENTIRE_DATA_CACHE, CACHELINE_ATOMIC, place);
}
inline void asc_datacache_preload(__gm__ uint64_t* address, int64_t offset, VINCI_PLACE) {
  dc_preload(address, offset, place);
}
inline void asc_icache_preload(const void* addr, int64_t prefetch_len, VINCI_PLACE) {
  preload((const __gm__ void*)addr, prefetch_len, place);
}
inline int64_t asc_get_icache_preload_status() { return get_icache_prl_st(); }
