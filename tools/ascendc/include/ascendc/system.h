// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/pipe.h"

// What a kernel knows of its core and of the launch, and small helpers. Documentation: Ascend C API, system variables,
// utilities.
namespace AscendC {

enum : int { AIC = 1, AIV = 2, MIX = 3 };

namespace vinci_detail {
inline bool IsAic() { return ::vinci::ascendc::core().kind != ::vinci::ascendc::CoreKind::vector; }
inline bool IsAiv() { return ::vinci::ascendc::core().kind != ::vinci::ascendc::CoreKind::cube; }
}  // namespace vinci_detail

// The kind of the core that the text is compiled for, a constant that `vinci cc` puts in front of it; of a core that is
// both, MIX. `if ASCEND_IS_AIC` is an `if constexpr`. The headers themselves are compiled once: they ask IsAic().
#define g_coreType vinci_core_type
#define ASCEND_IS_AIC (vinci_core_type != 2)
#define ASCEND_IS_AIV (vinci_core_type != 1)
#define ASCEND_IS_NOT_AIC (vinci_core_type == 2)
#define ASCEND_IS_NOT_AIV (vinci_core_type == 1)

// The blocks of a launch; AIVs of a MIX task are counted one by one.
inline int64_t GetBlockIdx() {
  const auto& c = ::vinci::ascendc::core();
  return static_cast<int64_t>(c.block_idx) * c.subblock_num + c.subblock_idx;
}
inline int64_t GetBlockNum() { return ::vinci::ascendc::core().block_num; }
inline int64_t GetSubBlockIdx() { return ::vinci::ascendc::core().subblock_idx; }
inline int64_t GetSubBlockNum() { return ::vinci::ascendc::core().subblock_num; }
inline int64_t GetTaskRatio() { return ::vinci::ascendc::core().subblock_num; }
inline int64_t GetTaskRation() { return GetTaskRatio(); }

// The state that a kernel without TPipe begins in.
inline void InitSocState(VINCI_PLACE) {
  static ::vinci::ascendc::Insn no_atomic("set_atomic_none"), norm("set_mask_norm"), mask("set_vector_mask");
  ::vinci::ascendc::issue(no_atomic, {}, place);
  if (!vinci_detail::IsAiv()) return;
  ::vinci::ascendc::issue(norm, {}, place);
  ::vinci::ascendc::issue(mask, {~uint64_t{0}, ~uint64_t{0}}, place);
}

template <typename A, typename B>
constexpr auto DivCeil(A a, B b) -> decltype(a / b) {
  return b == 0 ? 0 : (a + b - 1) / b;
}
template <typename A, typename B>
constexpr auto Ceil(A a, B b) -> decltype(a / b) {
  return DivCeil(a, b);
}
template <typename A, typename B>
constexpr auto CeilDivision(A a, B b) -> decltype(a / b) {
  return DivCeil(a, b);
}
template <typename A, typename B>
constexpr auto AlignUp(A a, B b) -> decltype(a / b) {
  return DivCeil(a, b) * b;
}

// What the chip is.
inline constexpr int16_t GetDataBlockSizeInBytes() { return ONE_BLK_SIZE; }
inline constexpr uint32_t GetVecLen() { return ONE_REPEAT_BYTE_SIZE; }
inline uint32_t GetUBSizeInBytes() {
  return static_cast<uint32_t>(::vinci::ascendc::size_of(::vinci::ascendc::Memory::ub));
}
inline uint32_t GetRuntimeUBSize() { return GetUBSizeInBytes(); }

}  // namespace AscendC
