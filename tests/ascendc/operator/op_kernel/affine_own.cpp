// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A kernel with a struct of its own, which has the name of the one that host code registers, and with a name of the
// host.
#include "kernel_operator.h"

namespace own {
struct AffineTiling {
  uint32_t length;
  struct {
    float slope, offset;
  } terms;
  uint16_t counts[8];
};
}  // namespace own
using namespace own;
namespace NpuArch {
constexpr uint32_t kBlock = 32;
}
constexpr int32_t INT_MAX = 2147483647;
static const struct FunLevelMixCoreType meta __attribute__((used, section(".ascend.meta.affine_own"))) = {
    {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},
    {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 1}};

extern "C" __global__ __aicore__ void affine_own(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(AffineTiling);
  GET_TILING_DATA(data, tiling);
  static_assert(sizeof(data) == 28 && NpuArch::kBlock == 32 && INT_MAX > 0);
  AscendC::DataCopyParams copy;
  copy = {data.length, 1, 0, 0};  // a number that may not fit
}
