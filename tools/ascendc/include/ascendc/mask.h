// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/remark.h"
#include "ascendc/tensor.h"

// Which lanes vector instructions write: the vector mask, as bits or as a number of elements. Documentation: Ascend C
// API, masks.
namespace AscendC {

enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };

inline void SetMaskCount(VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_mask_count");
  ::vinci::ascendc::issue(insn, {}, place);
}
inline void SetMaskNorm(VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_mask_norm");
  ::vinci::ascendc::issue(insn, {}, place);
}
namespace vinci_detail {
inline void IssueMask(uint64_t high, uint64_t low, Place place) {
  static ::vinci::ascendc::Insn insn("set_vector_mask");
  ::vinci::ascendc::issue(insn, {high, low}, place);
}
}  // namespace vinci_detail

template <typename T = half, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(uint64_t high, uint64_t low, VINCI_PLACE) {
  vinci_detail::IssueMask(high, low, place);
}
namespace vinci_detail {
constexpr uint64_t LowBits(uint64_t count) { return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }
}  // namespace vinci_detail

// The first so many lanes of a repeat, in counter mode so many elements.
template <typename T = half, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(int32_t count, VINCI_PLACE) {
  const auto n = static_cast<uint64_t>(count);
  if constexpr (mode == MaskMode::COUNTER) {
    vinci_detail::IssueMask(0, n, place);
  } else {
    constexpr uint64_t kMost = sizeof(T) == 8 ? 32 : sizeof(T) == 4 ? 64 : 128;  // lanes of a repeat
    if (n > kMost) vinci_detail::NoteMisuse(vinci_detail::Misuse::mask, n, kMost, place);
    vinci_detail::IssueMask(n > 64 ? vinci_detail::LowBits(n - 64) : 0, vinci_detail::LowBits(n), place);
  }
}
inline void ResetMask(VINCI_PLACE) { vinci_detail::IssueMask(~uint64_t{0}, ~uint64_t{0}, place); }

namespace vinci_detail {
// A mask for the calls that follow in its scope: a number of elements for one instruction.
class CountedMask {
 public:
  CountedMask(uint64_t count, Place place) : place_(place) {
#if __NPU_ARCH__ == 1001
    ::vinci::ascendc::count_elements(count);
#else
    SetMaskCount(place);
    IssueMask(0, count, place);
#endif
  }
  CountedMask(const CountedMask&) = delete;
  CountedMask& operator=(const CountedMask&) = delete;
  // What an error leaves behind does not matter: it ends the core.
  void Reset() {
#if __NPU_ARCH__ == 1001
    ::vinci::ascendc::count_elements(::vinci::ascendc::kNoCount);
#else
    SetMaskNorm(place_);
#endif
    ResetMask(place_);
  }

 private:
  Place place_;
};
}  // namespace vinci_detail

}  // namespace AscendC
