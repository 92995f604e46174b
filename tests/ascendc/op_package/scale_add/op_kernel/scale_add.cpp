// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "../kernel_common/blocks.h"
#include "kernel_operator.h"

using namespace AscendC;

template <class T>
__aicore__ inline void Run(GM_ADDR x, GM_ADDR bias, GM_ADDR y, const ScaleAddTilingData& data) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 2, data.length * sizeof(T));
  pipe.InitBuffer(out, 1, data.length * sizeof(T));
  LocalTensor<T> a = in.AllocTensor<T>();
  DataCopy(a, PartOfBlock<T>(x, data.length), data.length);
  in.EnQue(a);
  a = in.DeQue<T>();
  LocalTensor<T> result = out.AllocTensor<T>();
  Muls(result, a, static_cast<T>(data.alpha), data.length);
  in.FreeTensor(a);
  if (data.hasBias != 0) {
    LocalTensor<T> b = in.AllocTensor<T>();
    DataCopy(b, PartOfBlock<T>(bias, data.length), data.length);
    in.EnQue(b);
    b = in.DeQue<T>();
    PipeBarrier<PIPE_V>();
    Add(result, result, b, data.length);
    in.FreeTensor(b);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    PipeBarrier<PIPE_V>();
    Adds(result, result, static_cast<T>(static_cast<float>(data.limits[i])), data.length);
  }
  out.EnQue(result);
  result = out.DeQue<T>();
  DataCopy(PartOfBlock<T>(y, data.length), result, data.length);
  out.FreeTensor(result);
}

extern "C" __global__ __aicore__ void scale_add(GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  if (TILING_KEY_IS(1)) {
    Run<float>(x, bias, y, data);
  } else if (TILING_KEY_IS(2)) {
    Run<half>(x, bias, y, data);
  }
}
