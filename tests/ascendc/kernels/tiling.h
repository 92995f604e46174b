// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "lib/matmul/bmm_tiling.h"
#include "support.h"

// What tests of Matmul share: the tiling of a product of halves by the host's functions, and its way to the kernel.
namespace support {

__aicore__ inline void CopyTiling(TCubeTiling* tiling, GM_ADDR from) {
  auto* words = reinterpret_cast<int32_t*>(tiling);
  for (uint32_t i = 0; i < sizeof(TCubeTiling) / sizeof(int32_t); ++i)
    words[i] = reinterpret_cast<__gm__ int32_t*>(from)[i];
}

inline optiling::TCubeTiling tile(int32_t cores, int32_t m, int32_t n, int32_t k, bool bias, int32_t base = -1) {
  matmul_tiling::MultiCoreMatmulTiling host;
  host.SetDim(cores);
  host.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
  host.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
  host.SetShape(m, n, k);
  host.SetOrgShape(m, n, k);
  host.EnableBias(bias);
  host.SetFixSplit(base, base, -1);
  optiling::TCubeTiling out;
  if (host.GetTiling(out) != 0) report("tiling", 0, -1, 0);
  return out;
}
inline uint8_t* on_device(const optiling::TCubeTiling& tiling) {
  std::vector<int32_t> words(50);
  tiling.SaveToBuffer(words.data(), sizeof(tiling));
  return reinterpret_cast<uint8_t*>(device_of(words));
}

}  // namespace support
