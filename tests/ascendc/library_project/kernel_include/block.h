// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "kernel_operator.h"

// z = x * factor + offset for the 256 elements of this block.
__aicore__ inline void block(GM_ADDR x, GM_ADDR z, float factor, float offset) {
  using namespace AscendC;
  constexpr uint32_t kCount = 256;
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, kCount * sizeof(float));
  pipe.InitBuffer(out, 1, kCount * sizeof(float));
  GlobalTensor<float> gx, gz;
  gx.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x) + GetBlockIdx() * kCount, kCount);
  gz.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(z) + GetBlockIdx() * kCount, kCount);
  LocalTensor<float> a = in.AllocTensor<float>();
  DataCopy(a, gx, kCount);
  in.EnQue(a);
  a = in.DeQue<float>();
  LocalTensor<float> b = out.AllocTensor<float>();
  Muls(b, a, factor, kCount);
  Adds(b, b, offset, kCount);
  out.EnQue(b);
  in.FreeTensor(a);
  b = out.DeQue<float>();
  DataCopy(gz, b, kCount);
  out.FreeTensor(b);
}
