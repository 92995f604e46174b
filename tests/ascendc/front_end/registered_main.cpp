// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "runtime/rt.h"

namespace {
std::string read(const char* name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
int expect(const char* what, int64_t got, int64_t want) {
  if (got == want) return 0;
  std::printf("%s: %lld, not %lld (%s)\n", what, static_cast<long long>(got), static_cast<long long>(want),
              aclGetRecentErrMsg());
  return 1;
}
}  // namespace

int main(int, char** argv) {
  int wrong = 0;
  void *cells = nullptr, *vector = nullptr, *mix = nullptr;
  aclrtMalloc(&cells, 256, ACL_MEM_MALLOC_HUGE_FIRST);
  const std::string aiv = read(argv[1]), both = read(argv[2]);
  rtDevBinary_t binary{RT_DEV_BINARY_MAGIC_ELF, 0, aiv.data(), aiv.size()};
  wrong += expect("load", rtRegisterAllKernel(&binary, &vector), 0);
  struct {
    void* to;
    int32_t value;
  } simple{cells, 5};
  rtArgsEx_t arguments{};
  arguments.args = &simple;
  arguments.argsSize = sizeof(simple);
  const rtTaskCfgInfo_t config{};
  std::vector<int32_t> host(64);
  const auto back = [&] { aclrtMemcpy(host.data(), 256, cells, 256, ACL_MEMCPY_DEVICE_TO_HOST); };
  aclrtMemset(cells, 256, 0, 256);
  wrong += expect("launch", rtKernelLaunchWithHandleV2(vector, 7, 2, &arguments, nullptr, nullptr, &config), 0);
  back();
  wrong += expect("first block", host[0], 5) + expect("second block", host[15], 5) + expect("behind", host[16], 0);
  wrong +=
      expect("unknown key", rtKernelLaunchWithHandleV2(vector, 8, 1, &arguments, nullptr, nullptr, &config), 107000);

  wrong += expect("load both", rtBinaryLoadWithoutTilingKey(both.data(), both.size(), &mix), 0);
  struct {
    void* to;
    uint8_t small;
    int64_t large;
    aclFloat16 number;
  } several{cells, 200, 3000, aclFloatToFloat16(4)};
  arguments.args = &several;
  arguments.argsSize = sizeof(several);
  aclrtMemset(cells, 256, 0, 256);
  wrong += expect("launch both", rtKernelLaunchWithHandleV2(mix, 42, 1, &arguments, nullptr, nullptr, &config), 0);
  back();
  wrong += expect("one AIV of a block", host[8], 3204) + expect("no second AIV", host[16], 0);
  wrong += expect("no ELF file", rtBinaryLoadWithoutTilingKey("nothing", 7, &mix), 107000);
  wrong += expect("cut", rtBinaryLoadWithoutTilingKey(aiv.data(), 100, &mix), 107000);
  return wrong;
}
