// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/copy.h"
#include "ascendc/remark.h"
#include "ascendc/special.h"
#include "ascendc/sync.h"
#include "ascendc/system.h"

// Flags and barriers between cores, in hardware and through global memory; and the workspace. Documentation: Ascend C
// API, synchronisation between cores, workspace.

// The flags as intrinsics. Their base address is set where the program does not do it.
inline void set_ffts_base_addr(uint64_t address,
                               AscendC::vinci_detail::Place place = AscendC::vinci_detail::Place::here()) {
  static ::vinci::ascendc::Insn insn("set_ffts_base_addr");
  ::vinci::ascendc::core().sync_base = address;
  ::vinci::ascendc::issue(insn, {address}, place);
}
namespace vinci::ascendc {
inline void NeedSyncBase(Place place) {
  if (core().sync_base == 0) set_ffts_base_addr(1, place);
}
}  // namespace vinci::ascendc
inline void ffts_cross_core_sync(pipe_t pipe, uint64_t config,
                                 AscendC::vinci_detail::Place place = AscendC::vinci_detail::Place::here()) {
  static ::vinci::ascendc::Insn insn("ffts_cross_core_sync");
  ::vinci::ascendc::NeedSyncBase(place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::flag);
  ::vinci::ascendc::issue(insn, {pipe, config}, place);
}
inline void wait_flag_dev(int64_t flag, AscendC::vinci_detail::Place place = AscendC::vinci_detail::Place::here()) {
  static ::vinci::ascendc::Insn insn("wait_flag_dev");
  ::vinci::ascendc::NeedSyncBase(place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::flag);
  ::vinci::ascendc::issue(insn, {static_cast<uint64_t>(flag)}, place);
}

namespace AscendC {

inline void SetSyncBaseAddr(uint64_t address, VINCI_PLACE) { set_ffts_base_addr(address, place); }

// Mode 0: all AICs or all AIVs; 1: the AIVs of a block; 2: the AIC of a block to its AIVs, or these to it.
namespace vinci_detail {
template <uint8_t mode, pipe_t pipe>
void SetCrossCoreFlag(uint16_t flag, Place place) {
  ffts_cross_core_sync(pipe, 1 | uint64_t{mode} << 4 | uint64_t{flag} << 8, place);
}
}  // namespace vinci_detail
template <uint8_t modeId, pipe_t pipe>
void CrossCoreSetFlag(uint16_t flagId, VINCI_PLACE) {
  static_assert(modeId <= 2, "CrossCoreSetFlag: modes 0, 1 and 2");
  static_assert(pipe != PIPE_S && pipe != PIPE_ALL, "CrossCoreSetFlag: neither PIPE_S nor PIPE_ALL");
  constexpr uint16_t kMost = 10;
  if (flagId > kMost) vinci_detail::NoteMisuse(vinci_detail::Misuse::cross_core_flag, flagId, kMost, place);
  vinci_detail::SetCrossCoreFlag<modeId, pipe>(flagId, place);
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
void CrossCoreWaitFlag(uint16_t flagId, VINCI_PLACE) {
  wait_flag_dev(flagId, place);
}

// The older names: the AIC of a block to its AIVs, or these to it.
template <pipe_t pipe>
void NotifyEvent(uint16_t flagId, VINCI_PLACE) {
  CrossCoreSetFlag<2, pipe>(flagId, place);
}
inline void WaitEvent(uint16_t flagId, VINCI_PLACE) { CrossCoreWaitFlag(flagId, place); }

// Runs a function on cores of one kind alone.
enum class EngineType : int32_t { AIC = 1, AIV = 2 };
template <EngineType engine, auto funPtr, class... Args>
void Async(Args... args) {
  if (engine == EngineType::AIC ? vinci_detail::IsAic() : vinci_detail::IsAiv()) funPtr(args...);
}

// About kernels that are put together to one; in a kernel by itself without effect.
template <bool aicSafe = true>
void SetNextTaskStart() {}
template <bool force = false>
void WaitPreTaskEnd() {}

// What SyncAll takes of the flags.
constexpr uint16_t SYNC_AIC_FLAG = 11, SYNC_AIV_FLAG = 12, SYNC_AIC_AIV_FLAG = 13, SYNC_AIV_ONLY_ALL = 14;

struct SyncAllConfig {
  pipe_t triggerPipe, waitPipe;
};
inline constexpr SyncAllConfig DEFAULT_SYNC_ALL_CONFIG = {PIPE_ALL, PIPE_ALL};

// All cores of one kind, or (isAIVOnly = false) of a MIX task: each AIC waits for its AIVs, all AICs for each other,
// and the AIVs for their AIC.
template <bool isAIVOnly = true, const SyncAllConfig& config = DEFAULT_SYNC_ALL_CONFIG>
void SyncAll(VINCI_PLACE) {
  if constexpr (isAIVOnly) {
    constexpr pipe_t trigger = config.triggerPipe == PIPE_ALL ? PIPE_MTE3 : config.triggerPipe;
    if constexpr (config.triggerPipe == PIPE_ALL) vinci_detail::IssueBarrier(PIPE_ALL, place);
    vinci_detail::SetCrossCoreFlag<0, trigger>(SYNC_AIV_ONLY_ALL, place);
    CrossCoreWaitFlag(SYNC_AIV_ONLY_ALL, place);
    return;
  }
  vinci_detail::IssueBarrier(PIPE_ALL, place);
  if (vinci_detail::IsAic()) {
    CrossCoreWaitFlag(SYNC_AIV_FLAG, place);
    vinci_detail::SetCrossCoreFlag<0, PIPE_FIX>(SYNC_AIC_FLAG, place);
    CrossCoreWaitFlag(SYNC_AIC_FLAG, place);
    vinci_detail::SetCrossCoreFlag<2, PIPE_MTE3>(SYNC_AIC_AIV_FLAG, place);
  } else {
    vinci_detail::SetCrossCoreFlag<2, PIPE_MTE3>(SYNC_AIV_FLAG, place);
    CrossCoreWaitFlag(SYNC_AIC_AIV_FLAG, place);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Through global memory: a slot of 32 bytes for each state that a core can wait for.

namespace vinci_detail::sync_memory {

constexpr uint32_t kSlot = ONE_BLK_SIZE / sizeof(int32_t);  // numbers

inline int32_t Read(const GlobalTensor<int32_t>& gm, const LocalTensor<int32_t>& ub, uint32_t slot,
                    vinci_detail::Place place) {
  TPipe::Order(HardEvent::S_MTE2, place);
  DataCopy(ub, gm[slot * kSlot], kSlot, place);
  TPipe::Order(HardEvent::MTE2_S, place);
  return ub.GetValue(0, place);
}
inline void Write(const GlobalTensor<int32_t>& gm, const LocalTensor<int32_t>& ub, uint32_t slot, int32_t value,
                  vinci_detail::Place place) {
  ub.SetValue(0, value, place);
  TPipe::Order(HardEvent::S_MTE3, place);
  DataCopy(gm[slot * kSlot], ub, kSlot, place);
  TPipe::Order(HardEvent::MTE3_S, place);
}
inline void Await(const GlobalTensor<int32_t>& gm, const LocalTensor<int32_t>& ub, uint32_t slot, int32_t value,
                  vinci_detail::Place place) {
  const uint32_t from = ::vinci::ascendc::await(gm[slot * kSlot].Address(), value, place);
  Read(gm, ub, slot, place);
  ::vinci::ascendc::repeat(from, value, place);
}
// AIVs of the task, or cores where they are not split.
inline int32_t Cores() { return static_cast<int32_t>(GetBlockNum() * GetSubBlockNum()); }

}  // namespace vinci_detail::sync_memory

// Each core counts its calls in its slot of gmWorkspace, which begins as 0, and waits until the others have come as
// far.
template <bool isAIVOnly = true>
void SyncAll(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace,
             const int32_t usedCores = 0, VINCI_PLACE) {
  if (!vinci_detail::IsAiv()) return;
  const auto self = static_cast<uint32_t>(GetBlockIdx());
  const auto cores = static_cast<uint32_t>(usedCores == 0 ? vinci_detail::sync_memory::Cores() : usedCores);
  vinci_detail::IssueBarrier(PIPE_ALL, place);
  const int32_t round = vinci_detail::sync_memory::Read(gmWorkspace, ubWorkspace, self, place) + 1;
  vinci_detail::sync_memory::Write(gmWorkspace, ubWorkspace, self, round, place);
  for (uint32_t i = 0; i < cores; ++i)
    vinci_detail::sync_memory::Await(gmWorkspace, ubWorkspace, i, round, place);
  vinci_detail::IssueBarrier(PIPE_ALL, place);
}

// Tells a core that waits for (blockIdx, eventID) to go on, once.
template <bool isAIVOnly = true>
void IBSet(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx,
           int32_t eventID, VINCI_PLACE) {
  if (!vinci_detail::IsAiv()) return;
  const auto slot = static_cast<uint32_t>(vinci_detail::sync_memory::Cores() * eventID + blockIdx);
  vinci_detail::IssueBarrier(PIPE_ALL, place);
  vinci_detail::sync_memory::Write(gmWorkspace, ubWorkspace, slot, 1, place);
}
template <bool isAIVOnly = true>
void IBWait(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx,
            int32_t eventID, VINCI_PLACE) {
  if (!vinci_detail::IsAiv()) return;
  const auto slot = static_cast<uint32_t>(vinci_detail::sync_memory::Cores() * eventID + blockIdx);
  vinci_detail::IssueBarrier(PIPE_ALL, place);
  vinci_detail::sync_memory::Await(gmWorkspace, ubWorkspace, slot, 1, place);
  vinci_detail::sync_memory::Write(gmWorkspace, ubWorkspace, slot, 0, place);
  vinci_detail::IssueBarrier(PIPE_ALL, place);
}

// Blocks one after the other, in the order of their index, round by round: the slot of a block counts how often it was
// told to go on. The first block sets up the slots of all; that the others wait for it is assumed, and only where there
// are flags between cores.
inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace,
                                          VINCI_PLACE) {
  if (!vinci_detail::IsAiv()) return;
  ::vinci::ascendc::core().rounds = 0;
  vinci_detail::IssueBarrier(PIPE_ALL, place);
  for (int32_t i = 0; GetBlockIdx() == 0 && i < vinci_detail::sync_memory::Cores(); ++i)
    vinci_detail::sync_memory::Write(gmWorkspace, ubWorkspace, static_cast<uint32_t>(i), i == 0 ? 1 : 0, place);
#if __NPU_ARCH__ == 2201
  SyncAll<true>(place);
#endif
}
inline void WaitPreBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace, VINCI_PLACE) {
  if (!vinci_detail::IsAiv()) return;
  vinci_detail::IssueBarrier(PIPE_ALL, place);
  vinci_detail::sync_memory::Await(gmWorkspace, ubWorkspace, static_cast<uint32_t>(GetBlockIdx()),
                                   ++::vinci::ascendc::core().rounds, place);
  vinci_detail::IssueBarrier(PIPE_ALL, place);
}
inline void NotifyNextBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace, VINCI_PLACE) {
  if (!vinci_detail::IsAiv()) return;
  const auto next = static_cast<uint32_t>((GetBlockIdx() + 1) % vinci_detail::sync_memory::Cores());
  vinci_detail::IssueBarrier(PIPE_ALL, place);
  // The first block begins a round when the last one has ended the one before.
  vinci_detail::sync_memory::Write(gmWorkspace, ubWorkspace, next,
                                   ::vinci::ascendc::core().rounds + (next == 0 ? 1 : 0), place);
  vinci_detail::IssueBarrier(PIPE_ALL, place);
}

// AIVs of one group wait until those of another have come. Global memory has a line of 512 bytes for each that waits,
// which begins as 0 and counts how often each of the others has come; the last 1600 bytes of UB are the barrier's.
enum class PipeMode : uint8_t { SCALAR_MODE = 0, MTE3_MODE = 1, MAX };
template <PipeMode pipeMode = PipeMode::MTE3_MODE>
class GroupBarrier {
 public:
  static_assert(pipeMode == PipeMode::MTE3_MODE, "GroupBarrier: only MTE3_MODE is there");
  GroupBarrier(GM_ADDR groupWorkspace, uint32_t arriveSizeIn, uint32_t waitSizeIn)
      : arrive_size_(arriveSizeIn), wait_size_(waitSizeIn) {
    gm_.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(groupWorkspace));
  }
  void Arrive(uint32_t arriveIndex, VINCI_PLACE) {
    if (arriveIndex >= arrive_size_ || arriveIndex >= kLine)
      ::vinci::ascendc::wrong("GroupBarrier: the index is not below the size of the group, or 128", place);
    const LocalTensor<int32_t> ub = Ub();
    vinci_detail::IssueBarrier(PIPE_ALL, place);
    for (uint32_t i = 0; i < kBlock; ++i)
      ub.SetValue(i, i == arriveIndex % kBlock ? 1 : 0, place);
    TPipe::Order(HardEvent::S_MTE3, place);
    SetAtomicAdd<int32_t>(place);
    for (uint32_t i = 0; i < wait_size_; ++i)
      DataCopy(gm_[i * kLine + arriveIndex / kBlock * kBlock], ub, kBlock, place);
    SetAtomicNone(place);
    TPipe::Order(HardEvent::MTE3_S, place);
  }
  void Wait(uint32_t waitIndex, VINCI_PLACE) {
    vinci_detail::IssueBarrier(PIPE_ALL, place);
    ++round_;
    for (uint32_t i = 0; i < arrive_size_; ++i)
      AwaitOne(waitIndex * kLine + i, place);
    vinci_detail::IssueBarrier(PIPE_ALL, place);
  }
  uint64_t GetWorkspaceLen() const { return uint64_t{wait_size_} * 512; }

 private:
  static constexpr uint32_t kLine = 512 / sizeof(int32_t), kBlock = ONE_BLK_SIZE / sizeof(int32_t);  // numbers
  static LocalTensor<int32_t> Ub() { return {TPosition::VECCALC, GetUBSizeInBytes() - 1600, kBlock}; }
  void AwaitOne(uint32_t at, vinci_detail::Place place) {
    const uint32_t from = ::vinci::ascendc::await(gm_[at].Address(), round_, place);
    TPipe::Order(HardEvent::S_MTE2, place);
    DataCopy(Ub(), gm_[at / kBlock * kBlock], kBlock, place);
    TPipe::Order(HardEvent::MTE2_S, place);
    Ub().GetValue(at % kBlock, place);
    ::vinci::ascendc::repeat(from, round_, place);
  }

  GlobalTensor<int32_t> gm_;
  uint32_t arrive_size_, wait_size_;
  int32_t round_ = 0;
};

// ---------------------------------------------------------------------------------------------------------------------
// What the workspace of a launch begins with belongs to the system.

constexpr uint64_t RESERVED_WORKSPACE = __NPU_ARCH__ == 2201 ? 16 * 1024 * 1024 : 2 * 1024 * 1024;
inline void SetSysWorkspace(GM_ADDR workspace) { ::vinci::ascendc::core().workspace = (void*)workspace; }
inline void SetSysWorkspaceForce(GM_ADDR workspace) { SetSysWorkspace(workspace); }
inline GM_ADDR GetSysWorkSpacePtr() { return (GM_ADDR)::vinci::ascendc::core().workspace; }
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) {
  GM_ADDR const system = GetSysWorkSpacePtr();
  return (system != nullptr ? system : workspace) + RESERVED_WORKSPACE;
}

}  // namespace AscendC

// Samples name them both ways.
using AscendC::GetSysWorkSpacePtr;    // NOLINT(google-global-names-in-headers)
using AscendC::GetUserWorkspace;      // NOLINT(google-global-names-in-headers)
using AscendC::SetSysWorkspace;       // NOLINT(google-global-names-in-headers)
using AscendC::SetSysWorkspaceForce;  // NOLINT(google-global-names-in-headers)
