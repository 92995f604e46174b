// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/language.h"

// Collectives that a kernel starts by itself. Here they are tasks of the stream (docs/links.md), and a kernel has no
// communicator: these functions compile, so that a kernel that also has other paths does, and end the program under
// their name when they are called. Documentation: Ascend C API, HCCL.
namespace AscendC {

using HcclHandle = int8_t;
inline constexpr HcclHandle INVALID_HANDLE_ID = -1;
inline constexpr uint32_t HCCL_GROUP_ID_0 = 0, HCCL_GROUP_ID_1 = 1, HCCL_MAX_RANK_NUM = 32;
inline constexpr int32_t HCCL_SUCCESS = 0, HCCL_FAILED = -1;

enum HcclServerType { HCCL_SERVER_TYPE_AICPU = 0, HCCL_SERVER_TYPE_CCU = 5, HCCL_SERVER_TYPE_END };
enum HcclReduceOp {
  HCCL_REDUCE_SUM = 0,
  HCCL_REDUCE_PROD = 1,
  HCCL_REDUCE_MAX = 2,
  HCCL_REDUCE_MIN = 3,
  HCCL_REDUCE_RESERVED
};
enum HcclDataType {
  HCCL_DATA_TYPE_INT8 = 0,
  HCCL_DATA_TYPE_INT16 = 1,
  HCCL_DATA_TYPE_INT32 = 2,
  HCCL_DATA_TYPE_FP16 = 3,
  HCCL_DATA_TYPE_FP32 = 4,
  HCCL_DATA_TYPE_INT64 = 5,
  HCCL_DATA_TYPE_UINT64 = 6,
  HCCL_DATA_TYPE_UINT8 = 7,
  HCCL_DATA_TYPE_UINT16 = 8,
  HCCL_DATA_TYPE_UINT32 = 9,
  HCCL_DATA_TYPE_FP64 = 10,
  HCCL_DATA_TYPE_BFP16 = 11,
  HCCL_DATA_TYPE_INT128 = 12,
  HCCL_DATA_TYPE_HIF8 = 14,
  HCCL_DATA_TYPE_FP8E4M3 = 15,
  HCCL_DATA_TYPE_FP8E5M2 = 16,
  HCCL_DATA_TYPE_FP8E8M0 = 17,
  HCCL_DATA_TYPE_MXFP8 = 18,
  HCCL_DATA_TYPE_RESERVED = 255
};
enum class CoreType : uint8_t { DEFAULT, ON_AIV, ON_AIC };
enum class ScopeType : uint8_t { ALL, QUEUE, BLOCK, INVALID_TYPE };
struct HcclServerConfig {
  CoreType type;
  int64_t blockId;
};
inline constexpr HcclServerConfig DEFAULT_CFG = {CoreType::DEFAULT, 0};

// Windows of two ranks, in the resources of a communicator.
struct MemDetails {
  uint64_t size;
  uint64_t addr;
  uint32_t key;
};
struct IbVerbsData {
  MemDetails remoteInput, remoteOutput, localInput, localOutput;
  uint8_t res[24];
};
// What the address of GetHcclContext names: the ranks of a communicator and the windows of memory that each can write.
struct HcclCombineOpParam {
  uint64_t workSpace;
  uint64_t workSpaceSize;
  uint32_t rankId, rankNum;
  uint64_t winSize;
  uint64_t windowsIn[HCCL_MAX_RANK_NUM], windowsOut[HCCL_MAX_RANK_NUM];  // addresses, by rank
  uint8_t res[8328];
  uint8_t multiFlag;
  __gm__ IbVerbsData* data;
};
// The form for more ranks: those of the others are found by `rWinStart`, the bytes from here to an array of
// RemoteResPtr.
namespace HcclContextDef {
struct HcclRankRelationResV2 {
  uint32_t remoteUsrRankId = 0, remoteWorldRank = 0;
  uint64_t windowsIn = 0, windowsOut = 0, windowsExp = 0;
};
struct RemoteResPtr {
  HcclRankRelationResV2* nextHostPtr;
  HcclRankRelationResV2* nextDevicePtr;
};
struct HcclOpResParam {
  uint64_t workSpace, workSpaceSize;
  uint32_t rankId, rankNum;
  uint64_t winSize, localWindowsIn, localWindowsOut;
  char hcomId[128];
  uint64_t winExpSize, localWindowsExp;
  uint32_t rWinStart;
};
}  // namespace HcclContextDef

namespace tiling {
// What the host says of a kernel's collectives; its fields are the vendor's.
struct Mc2InitTiling {
  uint8_t reserved[64] = {};
};
struct Mc2CcTiling {
  uint8_t reserved[280] = {};
};
}  // namespace tiling

// The communicator of a group, whose address the vendor's runtime gives a kernel.
template <uint32_t index>
GM_ADDR GetHcclContext(VINCI_PLACE) {
  ::vinci::ascendc::unsupported("GetHcclContext", place);
}

template <HcclServerType serverType = HCCL_SERVER_TYPE_AICPU, const auto& config = DEFAULT_CFG>
class Hccl {
 public:
#define VINCI_HCCL(Result, Name, ...)                                    \
  Result Name(__VA_ARGS__ __VA_OPT__(, ) VINCI_PLACE) {                  \
    ::vinci::ascendc::unsupported("Hccl::" #Name " in a kernel", place); \
  }
#define VINCI_HCCL_PREPARE(Name, ...) \
  template <bool commit = false>      \
  VINCI_HCCL(HcclHandle, Name, __VA_ARGS__)
  VINCI_HCCL(void, Init, GM_ADDR, __gm__ void* = nullptr)
  VINCI_HCCL(void, InitV2, GM_ADDR, const void*)
  VINCI_HCCL(int32_t, SetCcTiling, __gm__ void*)
  VINCI_HCCL(int32_t, SetCcTilingV2, uint64_t)
  VINCI_HCCL_PREPARE(AllReduce, GM_ADDR, GM_ADDR, uint64_t, HcclDataType, HcclReduceOp, uint8_t = 1)
  VINCI_HCCL_PREPARE(AllGather, GM_ADDR, GM_ADDR, uint64_t, HcclDataType, uint64_t, uint8_t = 1)
  VINCI_HCCL_PREPARE(ReduceScatter, GM_ADDR, GM_ADDR, uint64_t, HcclDataType, HcclReduceOp, uint64_t, uint8_t = 1)
  VINCI_HCCL_PREPARE(AlltoAll, GM_ADDR, GM_ADDR, uint64_t, HcclDataType, uint64_t = 0, uint8_t = 1)
  VINCI_HCCL_PREPARE(AlltoAllV, GM_ADDR, void*, void*, HcclDataType, GM_ADDR, void*, void*, HcclDataType, uint8_t = 1)
  VINCI_HCCL_PREPARE(BatchWrite, GM_ADDR, uint32_t, uint16_t = 0)
  VINCI_HCCL_PREPARE(AlltoAllvWrite, GM_ADDR, GM_ADDR, GM_ADDR, uint64_t, uint64_t)
  VINCI_HCCL(void, Commit, HcclHandle)
  VINCI_HCCL(int32_t, Wait, HcclHandle)
  VINCI_HCCL(int32_t, Query, HcclHandle)
  VINCI_HCCL(void, InterHcclGroupSync, int8_t, HcclHandle)
  template <bool sync = true>
  VINCI_HCCL(int32_t, Iterate, HcclHandle, uint16_t*, uint16_t)
  template <bool sync = true>
  VINCI_HCCL(void, Finalize)
  template <ScopeType type = ScopeType::ALL>
  VINCI_HCCL(void, QueueBarrier, uint16_t)
  VINCI_HCCL(uint16_t, GetQueueNum) VINCI_HCCL(GM_ADDR, GetWindowsInAddr, uint32_t)
      VINCI_HCCL(GM_ADDR, GetWindowsOutAddr, uint32_t) VINCI_HCCL(uint32_t, GetRankId) VINCI_HCCL(uint32_t, GetRankDim)
          VINCI_HCCL(bool, SetReduceDataTypeAbility, HcclReduceOp, HcclDataType, HcclDataType)
#undef VINCI_HCCL_PREPARE
#undef VINCI_HCCL
};

}  // namespace AscendC

using AscendC::tiling::Mc2CcTiling;    // NOLINT(google-global-names-in-headers): kernels name them so
using AscendC::tiling::Mc2InitTiling;  // NOLINT(google-global-names-in-headers)
