// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "vinci/ascendc.h"

// What the host asks of the platform: the chip that the program runs on. Documentation: platform information.
namespace platform_ascendc {

enum class NpuArch : uint32_t {
  DAV_1001 = 1001,
  DAV_2002 = 2002,
  DAV_2201 = 2201,
  DAV_3002 = 3002,
  DAV_3003 = 3003,
  DAV_3102 = 3102,
  DAV_3113 = 3113,
  DAV_3510 = 3510,
  DAV_5102 = 5102,
  DAV_RESV = 0xffff
};

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED };
enum class SocVersion {
  ASCEND910 = 0,
  ASCEND910B,
  ASCEND310P,
  ASCEND310B,
  ASCEND910_93,
  ASCEND950,
  ASCEND910_95 = ASCEND950,
  ASCEND910_55,
  ASCEND910E,
  ASCEND310,
  ASCEND310C,
  ASCEND610LITE,
  ASCEND350,
  KIRINX90,
  KIRIN9030,
  RESERVED_VERSION = 99999
};

class PlatformAscendC {
 public:
  explicit PlatformAscendC(const void* = nullptr) {}

  // Of split cores those that blocks are given to: the vector cores, or the AI Cores for an operator with products.
  uint32_t GetCoreNum() const { return ::vinci::ascendc::core_count(CountedCores()); }
  uint32_t GetCoreNumAic() const { return ::vinci::ascendc::core_count(::vinci::ascendc::CoreKind::cube); }
  uint32_t GetCoreNumAiv() const { return ::vinci::ascendc::core_count(::vinci::ascendc::CoreKind::vector); }
  uint32_t GetCoreNumVector() const { return 0; }
  void GetCoreMemSize(const CoreMemType& memType, uint64_t& size) const {
    using ::vinci::ascendc::Memory;
    constexpr Memory kMemories[] = {Memory::l0a, Memory::l0b, Memory::l0c, Memory::l1, Memory::none,
                                    Memory::ub,  Memory::gm,  Memory::fb,  Memory::bt};
    const auto i = static_cast<unsigned>(memType);
    size = i < sizeof(kMemories) / sizeof(kMemories[0]) ? ::vinci::ascendc::size_on_chip(kMemories[i]) : 0;
    // What messages between the cores of a block take. Source: chunk_cat of ops-math adds the 256 bytes again; L1 of
    // 524032 bytes for Ascend C in convolution_util of ops-nn; the same in ascend-transformer-boost, for the 910B only.
    if ((memType == CoreMemType::UB || memType == CoreMemType::L1) && IsSplit() && size > kReserved) size -= kReserved;
  }
  SocVersion GetSocVersion() const {
    return GetCurNpuArch() == NpuArch::DAV_2201   ? SocVersion::ASCEND910B
           : GetCurNpuArch() == NpuArch::DAV_2002 ? SocVersion::ASCEND310P
                                                  : SocVersion::ASCEND910;
  }
  NpuArch GetCurNpuArch() const { return IsSplit() ? NpuArch::DAV_2201 : NpuArch::DAV_2002; }
  uint32_t GetLibApiWorkSpaceSize() const { return (GetCurNpuArch() == NpuArch::DAV_2201 ? 16u : 2u) * 1024 * 1024; }
  // The number of blocks for so many pieces of work: of AIVs, where vector cores work; AICs come with two of them.
  uint32_t CalcTschNumBlocks(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) const {
    if (aicCoreNum == 0 || aivCoreNum == 0 || aicCoreNum > aivCoreNum) return sliceNum;
    const uint32_t ratio = aivCoreNum / aicCoreNum;
    return (sliceNum + ratio - 1) / ratio;
  }
  uint32_t CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) const {
    return CalcTschNumBlocks(sliceNum, aicCoreNum, aivCoreNum);
  }

  // What GetCoreNum counts; `vinci op` sets it. A framework tells the host code by the kind of the operator's kernel.
  static ::vinci::ascendc::CoreKind& CountedCores() {
    static ::vinci::ascendc::CoreKind kind = ::vinci::ascendc::CoreKind::vector;
    return kind;
  }

 private:
  static constexpr uint64_t kReserved = 256;
  // Split cores have a bias table, too.
  bool IsSplit() const {
    return GetCoreNumAiv() != GetCoreNumAic() || ::vinci::ascendc::size_on_chip(::vinci::ascendc::Memory::bt) != 0;
  }
};

// The version that a program names does not matter: the chip is that of the simulation.
class PlatformAscendCManager {
 public:
  static PlatformAscendC* GetInstance(const char* = nullptr) {
    static PlatformAscendC one;
    return &one;
  }
};

}  // namespace platform_ascendc

#ifndef VINCI_KERNEL_OF_OPERATOR  // such kernels may have the name for something else
using platform_ascendc::NpuArch;  // NOLINT(google-global-names-in-headers): as published
#endif
