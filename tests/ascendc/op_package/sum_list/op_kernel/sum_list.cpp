// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "kernel_operator.h"
#include "sum_list_tiling_data.h"
#include "sum_list_tiling_key.h"

using namespace AscendC;

template <bool SQUARE, typename T>
__global__ __aicore__ void sum_list(GM_ADDR x, GM_ADDR times, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(SumListTilingData);
  GET_TILING_DATA_WITH_STRUCT(SumListTilingData, data, tiling);
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, data.length * sizeof(T));
  pipe.InitBuffer(out, 1, data.length * sizeof(T));
  ListTensorDesc list((__gm__ void*)x);
  GlobalTensor<T> to;
  to.SetGlobalBuffer((__gm__ T*)y + GetBlockIdx() * data.length, data.length);
  SetAtomicAdd<T>();
  for (uint32_t i = 0; i < list.GetSize(); ++i) {
    GlobalTensor<T> from;
    from.SetGlobalBuffer(list.GetDataPtr<__gm__ T>(i) + GetBlockIdx() * data.length, data.length);
    LocalTensor<T> a = in.AllocTensor<T>();
    DataCopy(a, from, data.length);
    in.EnQue(a);
    a = in.DeQue<T>();
    LocalTensor<T> b = out.AllocTensor<T>();
    Muls(b, a, static_cast<T>(static_cast<float>(data.times)), data.length);
    if constexpr (SQUARE) {
      PipeBarrier<PIPE_V>();
      Mul(b, b, a, data.length);
    }
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.DeQue<T>();
    DataCopy(to, b, data.length);
    out.FreeTensor(b);
  }
  SetAtomicNone();
}
