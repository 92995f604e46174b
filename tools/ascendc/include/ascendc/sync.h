// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/language.h"

// Flags and barriers within a core. Documentation: Ascend C API, synchronisation within a core.
namespace AscendC {

// From one pipe to another, in the order of the documentation.
enum class HardEvent : uint8_t {
  MTE2_MTE1,
  MTE1_MTE2,
  MTE1_M,
  M_MTE1,
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  M_V,
  V_M,
  V_V,
  MTE3_MTE1,
  MTE1_MTE3,
  MTE1_V,
  MTE2_M,
  M_MTE2,
  V_MTE1,
  M_FIX,
  FIX_M,
  MTE3_MTE2,
  MTE2_MTE3,
  S_V,
  V_S,
  S_MTE2,
  MTE2_S,
  S_MTE3,
  MTE3_S,
  MTE2_FIX,
  FIX_MTE2,
  FIX_S,
  M_S,
  FIX_MTE3,
  MTE1_FIX,
  FIX_MTE1,
  FIX_FIX,
  FIX_V,
  V_FIX,
  MTE3_FIX,
  S_M,
  S_FIX,
  MTE1_S,
  S_MTE1,
  MAX
};

namespace vinci_detail {
struct PipePair {
  pipe_t src, dst;
};
constexpr PipePair PipesOf(HardEvent event) {
  constexpr PipePair kPairs[] = {
      {PIPE_MTE2, PIPE_MTE1}, {PIPE_MTE1, PIPE_MTE2}, {PIPE_MTE1, PIPE_M},  {PIPE_M, PIPE_MTE1},
      {PIPE_MTE2, PIPE_V},    {PIPE_V, PIPE_MTE2},    {PIPE_MTE3, PIPE_V},  {PIPE_V, PIPE_MTE3},
      {PIPE_M, PIPE_V},       {PIPE_V, PIPE_M},       {PIPE_V, PIPE_V},     {PIPE_MTE3, PIPE_MTE1},
      {PIPE_MTE1, PIPE_MTE3}, {PIPE_MTE1, PIPE_V},    {PIPE_MTE2, PIPE_M},  {PIPE_M, PIPE_MTE2},
      {PIPE_V, PIPE_MTE1},    {PIPE_M, PIPE_FIX},     {PIPE_FIX, PIPE_M},   {PIPE_MTE3, PIPE_MTE2},
      {PIPE_MTE2, PIPE_MTE3}, {PIPE_S, PIPE_V},       {PIPE_V, PIPE_S},     {PIPE_S, PIPE_MTE2},
      {PIPE_MTE2, PIPE_S},    {PIPE_S, PIPE_MTE3},    {PIPE_MTE3, PIPE_S},  {PIPE_MTE2, PIPE_FIX},
      {PIPE_FIX, PIPE_MTE2},  {PIPE_FIX, PIPE_S},     {PIPE_M, PIPE_S},     {PIPE_FIX, PIPE_MTE3},
      {PIPE_MTE1, PIPE_FIX},  {PIPE_FIX, PIPE_MTE1},  {PIPE_FIX, PIPE_FIX}, {PIPE_FIX, PIPE_V},
      {PIPE_V, PIPE_FIX},     {PIPE_MTE3, PIPE_FIX},  {PIPE_S, PIPE_M},     {PIPE_S, PIPE_FIX},
      {PIPE_MTE1, PIPE_S},    {PIPE_S, PIPE_MTE1}};
  static_assert(sizeof(kPairs) / sizeof(kPairs[0]) == static_cast<unsigned>(HardEvent::MAX));
  return kPairs[static_cast<unsigned>(event)];
}

inline void IssueBarrier(pipe_t pipe, Place place) {
  static ::vinci::ascendc::Insn insn("pipe_barrier");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::flag);
  ::vinci::ascendc::issue(insn, {pipe}, place);
}
// The instructions alone; between a pipe and itself, a barrier is what orders.
inline void IssueSetFlag(PipePair pipes, uint64_t id, Place place) {
  static ::vinci::ascendc::Insn insn("set_flag");
  ::vinci::ascendc::issue(insn, {pipes.src, pipes.dst, id}, place);
}
inline void IssueWaitFlag(PipePair pipes, uint64_t id, Place place) {
  static ::vinci::ascendc::Insn insn("wait_flag");
  ::vinci::ascendc::issue(insn, {pipes.src, pipes.dst, id}, place);
}
inline void IssueSetFlag(HardEvent event, int32_t id, Place place) {
  const PipePair pipes = PipesOf(event);
  if (pipes.src == pipes.dst) return IssueBarrier(pipes.src, place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::flag);
  IssueSetFlag(pipes, static_cast<uint64_t>(id), place);
}
inline void IssueWaitFlag(HardEvent event, int32_t id, Place place) {
  const PipePair pipes = PipesOf(event);
  if (pipes.src == pipes.dst) return;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::flag);
  IssueWaitFlag(pipes, static_cast<uint64_t>(id), place);
}
}  // namespace vinci_detail

template <HardEvent event>
void SetFlag(int32_t id, VINCI_PLACE) {
  vinci_detail::IssueSetFlag(event, id, place);
}
template <HardEvent event>
void WaitFlag(int32_t id, VINCI_PLACE) {
  vinci_detail::IssueWaitFlag(event, id, place);
}
template <pipe_t pipe>
void PipeBarrier(VINCI_PLACE) {
  vinci_detail::IssueBarrier(pipe, place);
}

// TQueSync: flags between two pipes by name.
template <pipe_t src, pipe_t dst>
class TQueSync {
 public:
  void SetFlag(TEventID id, VINCI_PLACE) {
    vinci_detail::IssueSetFlag(vinci_detail::PipePair{src, dst}, static_cast<uint64_t>(id), place);
  }
  void WaitFlag(TEventID id, VINCI_PLACE) {
    vinci_detail::IssueWaitFlag(vinci_detail::PipePair{src, dst}, static_cast<uint64_t>(id), place);
  }
};

}  // namespace AscendC

// The same as intrinsics.
inline void set_flag(pipe_t src, pipe_t dst, uint64_t event,
                     AscendC::vinci_detail::Place place = AscendC::vinci_detail::Place::here()) {
  AscendC::vinci_detail::IssueSetFlag(AscendC::vinci_detail::PipePair{src, dst}, event, place);
}
inline void wait_flag(pipe_t src, pipe_t dst, uint64_t event,
                      AscendC::vinci_detail::Place place = AscendC::vinci_detail::Place::here()) {
  AscendC::vinci_detail::IssueWaitFlag(AscendC::vinci_detail::PipePair{src, dst}, event, place);
}
inline void pipe_barrier(pipe_t pipe, AscendC::vinci_detail::Place place = AscendC::vinci_detail::Place::here()) {
  AscendC::vinci_detail::IssueBarrier(pipe, place);
}
