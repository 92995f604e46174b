// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Launches the kernel `tell` of launch_header.asc by its name in a binary.
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "launch_header.h"
#include "support.h"

int main(int, char** argv) {
  aclInit(nullptr);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  std::vector<float> z(8);
  auto* dz = support::device_of(z);
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle function = nullptr;
  aclrtArgsHandle arguments = nullptr;
  aclrtParamHandle parameter = nullptr;
  if (aclrtBinaryLoadFromFile("missing.o", nullptr, &binary) == ACL_SUCCESS) return 1;
  if (aclrtBinaryLoadFromFile(argv[0], nullptr, &binary) != ACL_SUCCESS) return 2;
  if (aclrtBinaryGetFunction(binary, "unknown", &function) == ACL_SUCCESS) return 3;
  if (std::strstr(aclGetRecentErrMsg(), "link it") == nullptr) return 4;
  if (aclrtBinaryGetFunction(binary, "tell", &function) != ACL_SUCCESS) return 5;
  aclrtKernelArgsInit(function, &arguments);
  Tiling tiling{1, 8, 0.25f, {}};
  uint16_t factor = 0x4000;  // 2 as half
  Pair pair{3, 7};
  aclrtKernelArgsAppend(arguments, &dz, sizeof(dz), nullptr);
  aclrtKernelArgsAppend(arguments, &tiling, sizeof(tiling), &parameter);
  aclrtKernelArgsAppend(arguments, &factor, sizeof(factor), nullptr);
  aclrtKernelArgsFinalize(arguments);
  if (aclrtLaunchKernelWithConfig(function, 1, stream, nullptr, arguments, nullptr) == ACL_SUCCESS) return 6;
  aclrtKernelArgsInit(function, &arguments);
  aclrtKernelArgsAppend(arguments, &dz, sizeof(dz), nullptr);
  aclrtKernelArgsAppend(arguments, &tiling, sizeof(tiling), &parameter);
  aclrtKernelArgsAppend(arguments, &factor, sizeof(factor), nullptr);
  aclrtKernelArgsAppend(arguments, &pair, sizeof(pair), nullptr);
  tiling.length = 4096;
  aclrtKernelArgsParaUpdate(arguments, parameter, &tiling, sizeof(tiling));
  aclrtKernelArgsFinalize(arguments);
  if (aclrtLaunchKernelWithConfig(function, 1, stream, nullptr, arguments, nullptr) != ACL_SUCCESS) return 7;
  aclrtSynchronizeStream(stream);
  aclrtBinaryUnLoad(binary);
  support::to_host(z, dz);
  const float want[] = {4096, 0.25f, 2, 7};
  support::expect("tell", z.data(), 4, [&](uint32_t i) { return want[i]; });
  return support::result();
}
