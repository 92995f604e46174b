// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string_view>

#include "isa/arch.h"
#include "isa/base/enums.h"
#include "isa/table/insn.h"

namespace vinci::models {

// What a stretch of a critical path is spent on.
enum class CostKind : u8 {
  launch,
  other_kernel,
  cold_start,
  program_start,
  scalar,
  scalar_load,
  issue,
  cube,
  vector,
  mte1,
  mte2,
  mte3,
  fixpipe,
  l2,
  l2_busy,
  hbm_latency,
  hbm_busy,
  port,
  flag,
  cross_core_flag,
  opaque,
  other,
};

inline constexpr auto kCostKindNames =
    enum_table<CostKind, std::string_view>({{CostKind::launch, "launch"},
                                            {CostKind::other_kernel, "other kernels"},
                                            {CostKind::cold_start, "cold start"},
                                            {CostKind::program_start, "program start"},
                                            {CostKind::scalar, "scalar code"},
                                            {CostKind::scalar_load, "scalar loads"},
                                            {CostKind::issue, "instruction issue"},
                                            {CostKind::cube, "cube"},
                                            {CostKind::vector, "vector"},
                                            {CostKind::mte1, "MTE1"},
                                            {CostKind::mte2, "MTE2"},
                                            {CostKind::mte3, "MTE3"},
                                            {CostKind::fixpipe, "FIXPIPE"},
                                            {CostKind::l2, "L2 latency"},
                                            {CostKind::l2_busy, "L2 busy"},
                                            {CostKind::hbm_latency, "HBM latency"},
                                            {CostKind::hbm_busy, "HBM busy"},
                                            {CostKind::port, "port"},
                                            {CostKind::flag, "flags"},
                                            {CostKind::cross_core_flag, "cross-core flags"},
                                            {CostKind::opaque, "opaque kernel"},
                                            {CostKind::other, "other"}});

inline constexpr auto kCostKindDocs = enum_table<CostKind, std::string_view>(
    {{CostKind::launch, "the task scheduler starts and completes the task and gives out its blocks"},
     {CostKind::other_kernel, "the cores run blocks of another kernel"},
     {CostKind::cold_start, "a core runs this program for the first time and fetches its code"},
     {CostKind::program_start, "from the start of a block to its first instruction"},
     {CostKind::scalar, "the scalar unit computes"},
     {CostKind::scalar_load, "the scalar unit reads or writes a buffer or global memory"},
     {CostKind::issue, "the scalar unit hands instructions to the pipes"},
     {CostKind::cube, "mad instructions"},
     {CostKind::vector, "instructions of the vector unit"},
     {CostKind::mte1, "copies from L1 to L0A, L0B and UB"},
     {CostKind::mte2, "copies from global memory, at the rate of the core"},
     {CostKind::mte3, "copies from UB, at the rate of the core"},
     {CostKind::fixpipe, "FIXPIPE empties L0C"},
     {CostKind::l2, "latency of the network and of L2"},
     {CostKind::l2_busy, "queues of L2 slices and atomic writes to one line"},
     {CostKind::hbm_latency, "latency of device memory for lines that L2 does not hold"},
     {CostKind::hbm_busy, "queues of L2 misses and of device memory"},
     {CostKind::port, "the port between the core and the network is busy"},
     {CostKind::flag, "from set_flag to the instruction that waits for it"},
     {CostKind::cross_core_flag, "from a flag of another core to the program that waits for it"},
     {CostKind::opaque, "a kernel that states its time"},
     {CostKind::other, "not explained"}});

// What an instruction that executes in a pipe is charged to, as the table of pipes says.
inline constexpr auto kCostKindOfPipe = [] {
  std::array<CostKind, isa::kPipes.size()> out{};
  for (usize p = 0; p < out.size(); ++p)
    out[p] = parse_enum<CostKind>(enum_names<CostKind>, isa::kPipes[p].cost).value();
  return out;
}();
constexpr CostKind cost_kind(isa::PipeId pipe) { return kCostKindOfPipe[isa::index(pipe)]; }

}  // namespace vinci::models
