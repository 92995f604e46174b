// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Launches a kernel of another source by the header that builds make for it.
#include <vector>

#include "acl/acl.h"
#include "aclrtlaunch_scale_add.h"
#include "aclrtlaunch_tell.h"
#include "launch_header.h"
#include "support.h"

int main() {
  aclInit(nullptr);
  constexpr uint32_t kBlocks = 4;
  std::vector<float> x(64 * kBlocks), y(x.size()), z(x.size());
  for (uint32_t i = 0; i < x.size(); ++i)
    x[i] = 0.25f * static_cast<float>(i);
  auto* const dx = support::device_of(x);
  auto *const dy = support::device_of(y), *const dz = support::device_of(z);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  const int32_t b = -3;
  if (ACLRT_LAUNCH_KERNEL(scale_add)(kBlocks, stream, dx, dy, 2.0f, b) != ACL_SUCCESS) return 1;
  if (aclrtlaunch_scale_add(kBlocks, stream, dy, dz, 0.5f, 1) != ACL_SUCCESS) return 1;
  aclrtSynchronizeStream(stream);
  support::to_host(z, dz);
  support::expect("z", z.data(), 64 * kBlocks,
                  [](uint32_t i) { return 0.5f * (0.5f * static_cast<float>(i) - 3) + 1; });
  Tiling tiling{4096, 8, 0.25f, {}};
  const Pair pair{3, 7};
#ifdef WRONG
  ACLRT_LAUNCH_KERNEL(tell)(1, stream, WRONG);
#endif
  ACLRT_LAUNCH_KERNEL(tell)(1, stream, dz, &tiling, 2, pair);
  aclrtSynchronizeStream(stream);
  support::to_host(z, dz);
  const float want[] = {4096, 0.25f, 2, 7};
  support::expect("tell", z.data(), 4, [&](uint32_t i) { return want[i]; });
  return support::result();
}
