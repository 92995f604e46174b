// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once
#include "kernel_operator.h"

// The part of a tensor that belongs to this block.
template <class T>
__aicore__ inline AscendC::GlobalTensor<T> PartOfBlock(GM_ADDR address, uint32_t length) {
  AscendC::GlobalTensor<T> part;
  part.SetGlobalBuffer((__gm__ T*)address + AscendC::GetBlockIdx() * length, length);
  return part;
}
