// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/sync.h"
#include "ascendc/tensor.h"

// Special registers: atomic writes, caches, CTRL, the system counter. Documentation: Ascend C API, atomic operations,
// cache control, special registers.
namespace AscendC {

namespace vinci_detail {
// Writes to global memory from now on combine with what is there.
template <typename T>
constexpr const char* AtomicTypeName() {
  if constexpr (std::is_same_v<T, float>)
    return "set_atomic_f32";
  else if constexpr (std::is_same_v<T, half>)
    return "set_atomic_f16";
  else if constexpr (std::is_same_v<T, bfloat16_t>)
    return "set_atomic_bf16";
  else if constexpr (std::is_same_v<T, int8_t>)
    return "set_atomic_s8";
  else if constexpr (std::is_same_v<T, int16_t>)
    return "set_atomic_s16";
  else if constexpr (std::is_same_v<T, int32_t>)
    return "set_atomic_s32";
  else
    return nullptr;  // no such register; kernels of several types name it in code that they do not reach
}
}  // namespace vinci_detail

template <typename T>
void SetAtomicType(VINCI_PLACE) {
  if constexpr (vinci_detail::AtomicTypeName<T>() != nullptr) {
    static ::vinci::ascendc::Insn insn(vinci_detail::AtomicTypeName<T>());
    ::vinci::ascendc::issue(insn, {}, place);
  } else {
    ::vinci::ascendc::wrong("atomic writes: float, half, bfloat16_t, int8_t, int16_t or int32_t", place);
  }
}
#define VINCI_ATOMIC(Name, mnemonic)              \
  template <typename T>                           \
  void Name(VINCI_PLACE) {                        \
    static ::vinci::ascendc::Insn insn(mnemonic); \
    SetAtomicType<T>(place);                      \
    ::vinci::ascendc::issue(insn, {}, place);     \
  }
VINCI_ATOMIC(SetAtomicAdd, "set_atomic_add")
VINCI_ATOMIC(SetAtomicMax, "set_atomic_max")
VINCI_ATOMIC(SetAtomicMin, "set_atomic_min")
#undef VINCI_ATOMIC
inline void SetAtomicNone(VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_atomic_none");
  ::vinci::ascendc::issue(insn, {}, place);
}
inline void DisableDmaAtomic(VINCI_PLACE) { SetAtomicNone(place); }

enum class AtomicDtype { ATOMIC_NONE = 0, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8, ATOMIC_BF16 };
enum class AtomicOp { ATOMIC_SUM = 0 };
template <AtomicDtype type, AtomicOp op>
void SetStoreAtomicConfig(VINCI_PLACE) {
  static_assert(op == AtomicOp::ATOMIC_SUM);
  if constexpr (type == AtomicDtype::ATOMIC_NONE) SetAtomicNone(place);
  if constexpr (type == AtomicDtype::ATOMIC_F32) SetAtomicAdd<float>(place);
  if constexpr (type == AtomicDtype::ATOMIC_F16) SetAtomicAdd<half>(place);
  if constexpr (type == AtomicDtype::ATOMIC_S16) SetAtomicAdd<int16_t>(place);
  if constexpr (type == AtomicDtype::ATOMIC_S32) SetAtomicAdd<int32_t>(place);
  if constexpr (type == AtomicDtype::ATOMIC_S8) SetAtomicAdd<int8_t>(place);
  if constexpr (type == AtomicDtype::ATOMIC_BF16) SetAtomicAdd<bfloat16_t>(place);
}

// Caches, which are not modelled: what these cost is their issue.
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
template <typename T, CacheLine entireType, DcciDst dcciDst = DcciDst::CACHELINE_ALL>
void DataCacheCleanAndInvalid(const GlobalTensor<T>& dst, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("dcci");
  ::vinci::ascendc::issue(insn, {dst.Address(), static_cast<uint64_t>(entireType), static_cast<uint64_t>(dcciDst)},
                          place);
}
template <typename T, CacheLine entireType, DcciDst dcciDst>
void DataCacheCleanAndInvalid(const LocalTensor<T>& dst, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("dcci");
  ::vinci::ascendc::issue(insn, {dst.Address(), static_cast<uint64_t>(entireType), static_cast<uint64_t>(dcciDst)},
                          place);
}
template <typename T>
void DataCachePreload(const GlobalTensor<uint64_t>& src, const T cacheOffset, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("dc_preload");
  ::vinci::ascendc::issue(insn, {src.Address(), static_cast<uint64_t>(cacheOffset)}, place);
}
inline void ICachePreLoad(const int64_t preFetchLen, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("preload");
  ::vinci::ascendc::issue(insn, {0, static_cast<uint64_t>(preFetchLen)}, place);
}
inline int64_t GetICachePreloadStatus() { return 0; }  // nothing is under way

enum class MemDsbT : uint64_t { ALL = 0, DDR, UB, SEQ };
template <MemDsbT arg0>
void DataSyncBarrier(VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("dsb");
  ::vinci::ascendc::issue(insn, {static_cast<uint64_t>(arg0)}, place);
}

// While a kernel is traced, the counter is that of a machine without time: scalar instructions so far.
inline int64_t GetSystemCycle(VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("get_sys_cnt");
  return static_cast<int64_t>(::vinci::ascendc::read(insn, place));
}
inline void Trap(VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("trap");
  ::vinci::ascendc::issue(insn, {0}, place);
}
template <int count = 1>
void Nop(VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("nop");
  ::vinci::ascendc::issue(insn, {static_cast<uint64_t>(count)}, place);
}

namespace vinci_detail {
// Bits of CTRL, whose positions the documentation gives.
inline uint64_t CtrlMask(int8_t first, int8_t last) {
  const unsigned bits = static_cast<unsigned>(last - first) + 1;
  return (bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1) << first;
}
inline uint64_t ReadCtrl(Place place) {
  static ::vinci::ascendc::Insn insn("get_ctrl");
  return ::vinci::ascendc::read(insn, place);
}
inline void WriteCtrl(uint64_t value, Place place) {
  static ::vinci::ascendc::Insn insn("set_ctrl");
  ::vinci::ascendc::issue(insn, {value}, place);
}
}  // namespace vinci_detail

template <int8_t startBit, int8_t endBit>
int64_t GetCtrlSpr(VINCI_PLACE) {
  static_assert(startBit >= 0 && startBit <= endBit && endBit <= 63);
  return static_cast<int64_t>((vinci_detail::ReadCtrl(place) & vinci_detail::CtrlMask(startBit, endBit)) >> startBit);
}
template <int8_t startBit, int8_t endBit>
void SetCtrlSpr(int64_t value, VINCI_PLACE) {
  static_assert(startBit >= 0 && startBit <= endBit && endBit <= 63);
  const uint64_t mask = vinci_detail::CtrlMask(startBit, endBit);
  vinci_detail::WriteCtrl((vinci_detail::ReadCtrl(place) & ~mask) | (static_cast<uint64_t>(value) << startBit & mask),
                          place);
}
template <int8_t startBit, int8_t endBit>
void ResetCtrlSpr(VINCI_PLACE) {
  SetCtrlSpr<startBit, endBit>(0, place);
}

// What results beyond the range of their type become: of floats of 16 bits, of integers, of casts to integers.
enum class SaturationMode : uint8_t { FLOAT, FLOAT8, INT, CAST };

namespace vinci_detail {
template <SaturationMode mode>
constexpr int8_t kSaturationBit = mode == SaturationMode::FLOAT ? 48
                                  : mode == SaturationMode::INT ? 53
                                                                : 59;
// Of integers 1 says that they stop at the limits, of the others 0.
template <SaturationMode mode>
constexpr bool kSaturationIsOne = mode == SaturationMode::INT;
}  // namespace vinci_detail

template <SaturationMode mode>
void SetSaturationFlag(bool enableSat, VINCI_PLACE) {
  constexpr int8_t bit = vinci_detail::kSaturationBit<mode>;
  SetCtrlSpr<bit, bit>(enableSat == vinci_detail::kSaturationIsOne<mode> ? 1 : 0, place);
}
template <SaturationMode mode>
bool GetSaturationFlag(VINCI_PLACE) {
  constexpr int8_t bit = vinci_detail::kSaturationBit<mode>;
  return (GetCtrlSpr<bit, bit>(place) != 0) == vinci_detail::kSaturationIsOne<mode>;
}

}  // namespace AscendC

// The instructions that follow, in units of 2 KiB.
#define PRELOAD(length) ::AscendC::ICachePreLoad(length)
inline void icache_preload(int64_t length,
                           ::AscendC::vinci_detail::Place place = ::AscendC::vinci_detail::Place::here()) {
  ::AscendC::ICachePreLoad(length, place);
}
