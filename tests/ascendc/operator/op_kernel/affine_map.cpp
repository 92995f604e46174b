// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The kernel of an operator: its data type, tiling data and tiling key come from outside.
#include "kernel_operator.h"

using namespace AscendC;

#if ORIG_DTYPE_X != ORIG_DTYPE_Y || ORIG_DTYPE_X_REF != ORIG_DTYPE_X || FORMAT_X != FORMAT_ND
#error "the types of x and y differ"
#endif
#if ORIG_DTYPE_X == DT_INT32
constexpr int kTypeOfX = 2;
#elif ORIG_DTYPE_X == DT_FLOAT16
constexpr int kTypeOfX = 1;
#else
constexpr int kTypeOfX = 0;
#endif

extern "C" __global__ __aicore__ void affine_map(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
#if TILING_KEY_VAR == 7 || TILING_KEY_VAR == 9
  const float slope = 1, offset = 0;
  static_assert(sizeof(data) == 8, "the struct of keys 7 and 9");
#else
  const float slope = data.terms.slope, offset = data.terms.offset;
  static_assert(sizeof(data.counts) == 16, "8 counts");
#endif
  const uint32_t n = data.length;
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, n * sizeof(DTYPE_X));
  pipe.InitBuffer(out, 1, n * sizeof(DTYPE_Y));
  GlobalTensor<DTYPE_X> from;
  GlobalTensor<DTYPE_Y> to;
  from.SetGlobalBuffer((__gm__ DTYPE_X*)x + GetBlockIdx() * n, n);
  to.SetGlobalBuffer((__gm__ DTYPE_Y*)y + GetBlockIdx() * n, n);
  auto a = in.AllocTensor<DTYPE_X>();
  DataCopy(a, from, n);
  in.EnQue(a);
  a = in.DeQue<DTYPE_X>();
  auto b = out.AllocTensor<DTYPE_Y>();
  Muls(b, a, static_cast<DTYPE_X>(slope), n);
  PipeBarrier<PIPE_V>();
  Adds(b, b, static_cast<DTYPE_X>(offset + kTypeOfX), n);
  if (TILING_KEY_IS(3)) {
    PipeBarrier<PIPE_V>();
    Adds(b, b, static_cast<DTYPE_X>(100), n);
  }
  in.FreeTensor(a);
  out.EnQue(b);
  b = out.DeQue<DTYPE_Y>();
  DataCopy(to, b, n);
  out.FreeTensor(b);
}
