// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void racy(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  GlobalTensor<float> from, to;
  from.SetGlobalBuffer((__gm__ float*)x);
  to.SetGlobalBuffer((__gm__ float*)y);
  const LocalTensor<float> a(TPosition::VECCALC, 0, data.length);
  DataCopy(a, from, data.length);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(a, a, 1.0f, data.length);
  DataCopy(to, a, data.length);
}
