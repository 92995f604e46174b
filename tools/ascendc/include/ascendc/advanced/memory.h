// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/elements.h"
#include "ascendc/copy.h"

// Fills global memory. Documentation: Ascend C API, high-level API, Fill.
namespace AscendC {

template <typename T>
void Fill(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value, VINCI_PLACE) {
  constexpr uint32_t kMost = 16 * 1024;
  const LocalTensor<T> buffer = vinci_detail::StackBuffer(place).ReinterpretCast<T>();
  const uint32_t at_once =
      (buffer.GetLength() < kMost ? buffer.GetLength() : kMost) / ONE_BLK_SIZE * (ONE_BLK_SIZE / sizeof(T));
  if (at_once == 0) ::vinci::ascendc::wrong("Fill: no room is left in UB", place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  TPipe::Order(HardEvent::MTE3_V, place);
  Duplicate(buffer, value, static_cast<int32_t>(size < at_once ? size : at_once), place);
  TPipe::Order(HardEvent::V_MTE3, place);
  for (uint64_t first = 0; first < size; first += at_once) {
    ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
    const uint64_t n = size - first < at_once ? size - first : at_once;
    DataCopyPad(gmWorkspaceAddr[first], buffer, DataCopyExtParams(1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0),
                place);
  }
  TPipe::Order(HardEvent::MTE3_V, place);
}
template <typename T>
void InitGlobalMemory(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value, VINCI_PLACE) {
  Fill(gmWorkspaceAddr, size, value, place);
}

}  // namespace AscendC
