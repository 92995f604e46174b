// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void increment(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, data.length * sizeof(float));
  pipe.InitBuffer(out, 1, data.length * sizeof(float));
  GlobalTensor<float> all;
  all.SetGlobalBuffer((__gm__ float*)x);
  LocalTensor<float> a = in.AllocTensor<float>();
  DataCopy(a, all[-data.back], data.length);
  if (data.back != 0) {
    PipeBarrier<PIPE_MTE2>();
    DataCopy(a, all, data.length);
  }
  in.EnQue(a);
  a = in.DeQue<float>();
  LocalTensor<float> b = out.AllocTensor<float>();
  Adds(b, a, 1.0f, data.length);
  out.EnQue(b);
  b = out.DeQue<float>();
  DataCopy(all, b, data.length);
}
