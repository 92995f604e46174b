// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/elements.h"
#include "ascendc/copy.h"
#include "ascendc/load.h"

// Fills global memory. Documentation: Ascend C API, high-level API, Fill.
namespace AscendC {

namespace vinci_detail {
// From a cube core, through L1 behind what the TPipe has handed out. PIPE_FIX, which results come by, is to wait for
// it.
template <typename T>
void FillFromL1(GlobalTensor<T>& gm, const uint64_t size, const T value, Place place) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Fill on a cube core: elements of 16 or 32 bits");
  constexpr uint32_t kBytes = 16 * 1024, kBlock = ONE_BLK_SIZE / sizeof(T);
  TPipe* pipe = GetTPipePtr();
  const uint32_t top = pipe == nullptr ? 0 : pipe->GetBaseAddr(TPosition::A1);
  if (top + kBytes > ::vinci::ascendc::size_of(::vinci::ascendc::Memory::l1))
    ::vinci::ascendc::wrong("Fill: no room is left in L1", place);
  if (size % kBlock != 0) ::vinci::ascendc::unsupported("Fill of a part of a block of 32 bytes on a cube core", place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const LocalTensor<T> buffer(TPosition::A1, top, kBytes / sizeof(T));
  IssueBarrier(PIPE_ALL, place);
  Fill(buffer, InitConstValueParams<T>(1, kBytes / ONE_BLK_SIZE, 0, value), place);
  TPipe::Order(HardEvent::MTE2_MTE3, place);
  for (uint64_t first = 0; first < size; first += kBytes / sizeof(T)) {
    ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
    const uint64_t n = size - first < kBytes / sizeof(T) ? size - first : kBytes / sizeof(T);
    DataCopy(gm[first], buffer, DataCopyParams(1, static_cast<uint16_t>(n / kBlock), 0, 0), place);
  }
  IssueBarrier(PIPE_ALL, place);
}
}  // namespace vinci_detail

template <typename T>
void Fill(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value, VINCI_PLACE) {
  if (::vinci::ascendc::core().kind == ::vinci::ascendc::CoreKind::cube) {
    if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
      return vinci_detail::FillFromL1(gmWorkspaceAddr, size, value, place);
    } else {
      ::vinci::ascendc::unsupported("Fill of elements of 8 or 64 bits on a cube core", place);
    }
  }
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
// Older names of it.
template <typename T>
void InitOutput(GlobalTensor<T> gmWorkspaceAddr, uint32_t size, T value = 0, VINCI_PLACE) {
  Fill(gmWorkspaceAddr, size, value, place);
}
template <typename T>
void InitGlobalMemory(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value, VINCI_PLACE) {
  Fill(gmWorkspaceAddr, size, value, place);
}

}  // namespace AscendC
