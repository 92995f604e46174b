// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/cce_types.h"
#include "ascendc/copy.h"

// DataCopy between L0C and UB with conversion on the way, and rows of UB to L0C: architectures before 220x, whose
// vector and cube units are one core. Documentation: Ascend C API, DataCopy with DataCopyEnhancedParams,
// BroadCastVecToMM.
namespace AscendC {

enum class BlockMode : uint8_t {
  BLOCK_MODE_NORMAL = 0,
  BLOCK_MODE_MATRIX,  // units of 16 x 16 elements
  BLOCK_MODE_VECTOR,  // of 1 x 16
  BLOCK_MODE_SMALL_CHANNEL,
  BLOCK_MODE_DEPTHWISE
};
// With a V parameters for each of 16 columns, from UB; else one for all.
enum class DeqScale : uint8_t { DEQ_NONE = 0, DEQ, VDEQ, DEQ8, VDEQ8, DEQ16, VDEQ16 };

struct DataCopyEnhancedParams {
  DataCopyEnhancedParams() = default;
  constexpr DataCopyEnhancedParams(BlockMode mode, DeqScale scale, uint64_t value, uint8_t store_mode, bool relu)
      : blockMode(mode), deqScale(scale), deqValue(value), sidStoreMode(store_mode), isRelu(relu) {}
  constexpr DataCopyEnhancedParams(BlockMode mode, DeqScale scale, uint64_t value, uint8_t store_mode, bool relu,
                                   pad_t pad, uint64_t pad_value)
      : DataCopyEnhancedParams(mode, scale, value, store_mode, relu) {
    padMode = pad;
    padValue = pad_value;
  }
  BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
  DeqScale deqScale = DeqScale::DEQ_NONE;
  uint64_t deqValue = 0;
  uint64_t deqTensorAddr = 0;
  uint8_t sidStoreMode = 0;
  bool isRelu = false;
  pad_t padMode = pad_t::PAD_NONE;  // of L1 and GM, which pad as their other parameters say
  uint64_t padValue = 0;
};

namespace vinci_detail {
// The conversion by CRMODE for results U that become T; see isa/insns/l0c_ub.h.
template <typename T, typename U>
uint8_t ConversionOf(const DataCopyEnhancedParams& p, Place place) {
  const DeqScale s = p.deqScale;
  if constexpr (std::is_same_v<T, U>) {
    if (s == DeqScale::DEQ_NONE) return p.isRelu ? 5 : 0;
    if (s == DeqScale::DEQ && std::is_same_v<T, half>) return 6;
  } else if constexpr (std::is_same_v<T, half> && std::is_same_v<U, float>) {
    if (s == DeqScale::DEQ_NONE) return p.isRelu ? 2 : 1;
  } else if constexpr (std::is_same_v<T, float> && std::is_same_v<U, half>) {
    if (s == DeqScale::DEQ_NONE && !p.isRelu) return 4;
  } else if constexpr (std::is_same_v<T, half> && std::is_same_v<U, int32_t>) {
    if (s == DeqScale::DEQ) return 3;
    if (s == DeqScale::VDEQ) return 7;
    if (s == DeqScale::DEQ16) return 11;
    if (s == DeqScale::VDEQ16) return 10;
  } else if constexpr (sizeof(T) == 1 && std::is_same_v<U, int32_t>) {
    if (s == DeqScale::DEQ8) return 9;
    if (s == DeqScale::VDEQ8) return 8;
  } else if constexpr (std::is_same_v<T, int16_t> && std::is_same_v<U, int32_t>) {
    if (s == DeqScale::DEQ16) return 13;
    if (s == DeqScale::VDEQ16) return 12;
  }
  ::vinci::ascendc::unsupported("this conversion of DataCopy between L0C and UB", place);
}

inline void IssueDeqscale(const DataCopyEnhancedParams& p, Place place) {
  static ::vinci::ascendc::Insn insn("set_deqscale");
  switch (p.deqScale) {
    case DeqScale::DEQ_NONE: return;
    case DeqScale::DEQ: ::vinci::ascendc::issue(insn, {p.deqValue}, place); return;
    case DeqScale::DEQ8:
    case DeqScale::DEQ16: ::vinci::ascendc::issue(insn, {p.deqValue | uint64_t{p.isRelu} << 47}, place); return;
    default:
      ::vinci::ascendc::issue(insn, {(p.deqTensorAddr / ONE_BLK_SIZE & 0x7fff) | uint64_t{p.isRelu} << 15}, place);
  }
}

template <typename T>
constexpr const char* L0cType() {
  return sizeof(T) == 2 ? "f16" : std::is_same_v<T, float> ? "f32" : "s32";
}
}  // namespace vinci_detail

template <typename T, typename U>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& intriParams,
              const DataCopyEnhancedParams& enhancedParams, VINCI_PLACE) {
  using ::vinci::ascendc::Memory;
  const Memory from = vinci_detail::MemoryOf(src.GetPosition()), to = vinci_detail::MemoryOf(dst.GetPosition());
  const bool out = from == Memory::l0c && to == Memory::ub,
             matrix = enhancedParams.blockMode == BlockMode::BLOCK_MODE_MATRIX;
  if (!out && !(from == Memory::ub && to == Memory::l0c)) {
    if constexpr (std::is_same_v<T, U>) return DataCopy(dst, src, intriParams, place);
    ::vinci::ascendc::unsupported("DataCopy with DataCopyEnhancedParams between these two positions", place);
  }
  if (!matrix && enhancedParams.blockMode != BlockMode::BLOCK_MODE_VECTOR)
    ::vinci::ascendc::unsupported("a blockMode other than BLOCK_MODE_MATRIX and BLOCK_MODE_VECTOR", place);
  static ::vinci::ascendc::Insn matrix_out("copy_matrix_cc_to_ubuf", vinci_detail::L0cType<U>()),
      vector_out("copy_vector_cc_to_ubuf", vinci_detail::L0cType<U>()),
      matrix_in("copy_matrix_ubuf_to_cc", vinci_detail::L0cType<T>()),
      vector_in("copy_vector_ubuf_to_cc", vinci_detail::L0cType<T>());
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::IssueDeqscale(enhancedParams, place);
  ::vinci::ascendc::issue(
      out ? (matrix ? matrix_out : vector_out) : (matrix ? matrix_in : vector_in),
      {dst.Address(), src.Address(), enhancedParams.sidStoreMode, intriParams.blockCount, intriParams.blockLen,
       intriParams.srcStride, intriParams.dstStride, vinci_detail::ConversionOf<T, U>(enhancedParams, place)},
      place);
}

// blockCount pieces of blockLen rows of 16 elements, each to the 16 rows of a fractal.
template <typename T, typename U>
void BroadCastVecToMM(const LocalTensor<T>& dst, const LocalTensor<U>& src, const int32_t blockCount,
                      const uint8_t blockLen, const uint8_t srcGap, const uint8_t dstGap, VINCI_PLACE) {
  static_assert(std::is_same_v<T, U> || (std::is_same_v<T, float> && std::is_same_v<U, half>),
                "BroadCastVecToMM: the same type, or half to float");
  static ::vinci::ascendc::Insn insn("broadcast_ub_to_cc",
                                     std::is_same_v<T, U> ? vinci_detail::L0cType<T>() : "f162f32");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(
      insn, {dst.Address(), src.Address(), static_cast<uint64_t>(blockCount), blockLen, srcGap, dstGap}, place);
}

}  // namespace AscendC
