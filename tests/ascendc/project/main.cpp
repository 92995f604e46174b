// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "scale.h"

int main() {
  constexpr uint32_t kBlocks = 3, kCount = kBlocks * 256;
  std::vector<float> x(kCount), z(kCount);
  for (uint32_t i = 0; i < kCount; ++i)
    x[i] = static_cast<float>(i) - 100;
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  void *dx = nullptr, *dz = nullptr;
  const size_t bytes = kCount * sizeof(float);
  if (aclrtMalloc(&dx, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 2;
  if (aclrtMalloc(&dz, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 2;
  aclrtMemcpy(dx, bytes, x.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  scale(kBlocks, stream, static_cast<uint8_t*>(dx), static_cast<uint8_t*>(dz));
  aclrtSynchronizeStream(stream);
  aclrtMemcpy(z.data(), bytes, dz, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
  int wrong = 0;
  for (uint32_t i = 0; i < kCount; ++i)
    wrong += z[i] != 3 * x[i];
  std::printf("%d wrong\n", wrong);
  aclrtFree(dx);
  aclrtFree(dz);
  aclrtDestroyStream(stream);
  aclrtResetDevice(0);
  aclFinalize();
  return wrong == 0 ? 0 : 1;
}
