// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <cstdio>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclrtlaunch_offset_custom.h"
#include "aclrtlaunch_scale.h"
#include "offset.h"

int main() {
  constexpr uint32_t kBlocks = 3, kCount = kBlocks * 256;
  std::vector<float> x(kCount), z(kCount);
  for (uint32_t i = 0; i < kCount; ++i)
    x[i] = static_cast<float>(i) - 100;
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  uint8_t *dx = nullptr, *dz = nullptr;
  const size_t bytes = kCount * sizeof(float);
  if (aclrtMalloc((void**)&dx, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 2;
  if (aclrtMalloc((void**)&dz, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 2;
  aclrtMemcpy(dx, bytes, x.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  OffsetTiling tiling{7};
  ACLRT_LAUNCH_KERNEL(scale)(kBlocks, stream, dx, dz);
  ACLRT_LAUNCH_KERNEL(offset_custom)(kBlocks, stream, dz, dz, &tiling);
  aclrtSynchronizeStream(stream);
  aclrtMemcpy(z.data(), bytes, dz, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
  const float more = std::strcmp(aclrtGetSocName(), "Ascend310P3") == 0 ? 100 : 0;
  int wrong = 0;
  for (uint32_t i = 0; i < kCount; ++i)
    wrong += z[i] != 3 * x[i] + 7 + more;
  std::printf("%s: %d wrong\n", aclrtGetSocName(), wrong);
  aclrtFree(dx);
  aclrtFree(dz);
  aclrtDestroyStream(stream);
  aclrtResetDevice(0);
  aclFinalize();
  return wrong == 0 ? 0 : 1;
}
