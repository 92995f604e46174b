// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdlib>

#include "acl/acl.h"
#include "kernel_operator.h"

// Launches without <<<>>>, as of CPU debugging: ICPU_RUN_KF(kernel, blocks, args...). Memory of GmAlloc is device
// memory that the host reads and writes directly, too. Documentation: Ascend C, CPU debugging.
enum class KernelMode {
  MIX_MODE,
  AIC_MODE,
  AIV_MODE,
  MIX_AIC_1_1,
  MIX_VEC_MODE = AIV_MODE,
  MIX_VECTOR_MODE = AIV_MODE
};

namespace AscendC {

using ::KernelMode;

namespace vinci_detail {
inline ::vinci::ascendc::KernelType& LaunchType() {
  static auto type = ::vinci::ascendc::KernelType::vector;
  return type;
}
}  // namespace vinci_detail

// The kind of the kernels that are launched from now on; vector cores if it is not said.
inline void SetKernelMode(KernelMode mode) {
  using ::vinci::ascendc::KernelType;
  vinci_detail::LaunchType() = mode == KernelMode::AIC_MODE      ? KernelType::cube
                               : mode == KernelMode::MIX_MODE    ? KernelType::mix_1_2
                               : mode == KernelMode::MIX_AIC_1_1 ? KernelType::mix_1_1
                                                                 : KernelType::vector;
}
inline void* GmAlloc(size_t bytes) { return ::vinci::ascendc::allocate_shared(bytes); }
inline void GmFree(void* address) { ::vinci::ascendc::free_shared(address); }

}  // namespace AscendC

#define ICPU_RUN_KF(kernel, blocks, ...)                                                            \
  ::vinci::ascendc::launch(                                                                         \
      {#kernel, ::AscendC::vinci_detail::LaunchType(), static_cast<std::uint32_t>(blocks), nullptr, \
       ::vinci::ascendc::Place::here()},                                                            \
      [](auto... a) -> decltype(kernel(a...)) { return kernel(a...); }, ##__VA_ARGS__)
#define ICPU_SET_TILING_KEY(key) (g_tilingKey = (key))
