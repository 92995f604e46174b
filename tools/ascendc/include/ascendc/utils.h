// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/constants.h"
#include "ascendc/mask.h"
#include "ascendc/special.h"
#include "ascendc/system.h"

// AscendCUtils: what operators call of the API's own helpers. Names are those of the published headers.
namespace AscendC {

class AscendCUtils {
 public:
  static int32_t GetBitSize(int32_t byteSize) { return byteSize * ONE_BYTE_BIT_SIZE; }
  static int32_t GetC0Size() { return DEFAULT_C0_SIZE; }
  static int32_t GetC0Count(int32_t dtypeSize) { return DEFAULT_C0_SIZE / dtypeSize; }
  static int32_t GetDefaultBlockNum() { return DEFAULT_BLK_NUM; }
  static int64_t GetRsvdCnt(VINCI_PLACE) {
    static ::vinci::ascendc::Insn insn("get_rsvd_cnt");
    return static_cast<int64_t>(::vinci::ascendc::read(insn, place));
  }

  // The vector mask. With isSetMask false nothing is set: the program has set it.
  template <typename T, bool isSetMask = true>
  static void SetMask(uint64_t maskHigh, uint64_t maskLow, VINCI_PLACE) {
    if constexpr (isSetMask) vinci_detail::IssueMask(maskHigh, maskLow, place);
  }
  // The first `len` lanes of a repeat of T.
  template <typename T, bool isSetMask = true>
  static void SetMask(int32_t len, VINCI_PLACE) {
    if constexpr (isSetMask) SetVectorMask<T>(len, place);
  }
  template <typename T>
  static void SetMaskCount(VINCI_PLACE) {
    ::AscendC::SetMaskCount(place);
  }
  template <typename T>
  static void SetMaskNorm(VINCI_PLACE) {
    ::AscendC::SetMaskNorm(place);
  }
  template <bool isSetMask = true>
  static void ResetMask(VINCI_PLACE) {
    if constexpr (isSetMask) ::AscendC::ResetMask(place);
  }
#if __NPU_ARCH__ == 2201
  // CTRL[48]: 1 for results that are inf and nan, 0 for the largest number in their place.
  static void SetOverflow(uint64_t ctrlValue, VINCI_PLACE) { SetCtrlSpr<48, 48>(ctrlValue == 1 ? 1 : 0, place); }
#endif
  static void InitSocStateImpl(VINCI_PLACE) { InitSocState(place); }
};

}  // namespace AscendC
