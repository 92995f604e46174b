// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>

#include "isa/base/enums.h"
#include "isa/base/types.h"

namespace vinci::isa {

// Architecture versions by their compiler names (dav-<name>). Products: m100 Ascend 310, c100 Ascend 910 (910A),
// m200 Ascend 310P, c220 Ascend 910B. Source: mindspore-ai/akg, Ascend/AscendNPU-IR (both Apache-2.0).
enum class Arch : u8 { m100, c100, m200, c220 };
inline constexpr auto kArchNames = enum_names<Arch>;
constexpr std::string_view name(Arch a) { return kArchNames[static_cast<usize>(a)]; }

// A set of architectures, as a bit mask over Arch.
using ArchSet = u8;
constexpr ArchSet only(Arch a) { return static_cast<ArchSet>(1u << static_cast<unsigned>(a)); }
template <class... A>
constexpr ArchSet archs(A... a) {
  return static_cast<ArchSet>((only(a) | ...));
}
constexpr bool contains(ArchSet set, Arch a) { return (set & only(a)) != 0; }
inline constexpr ArchSet kAllArchs = archs(Arch::m100, Arch::c100, Arch::m200, Arch::c220);
inline constexpr ArchSet kJointArchs = archs(Arch::m100, Arch::c100, Arch::m200);  // cube and vector in one core
inline constexpr ArchSet kSplitArchs = archs(Arch::c220);                          // cube cores and vector cores

// Instruction queues of a core, in the order of the public pipe_t where it is dense. ALL only occurs as an operand.
enum class PipeId : u8 { S, V, M, MTE1, MTE2, MTE3, FIX, ALL };
inline constexpr usize kPipeCount = static_cast<usize>(PipeId::ALL);
static_assert(kPipeCount + 1 == enum_count<PipeId>);
inline constexpr auto kPipeNames = enum_names<PipeId>;
constexpr std::string_view name(PipeId p) { return kPipeNames[static_cast<usize>(p)]; }
constexpr usize index(PipeId p) { return static_cast<usize>(p); }

// Memories that an instruction can address: global memory, and the buffers of a core.
// BT: bias table, FB: parameters of FIXPIPE, IDX: indices of the sparse weights in L0B.
enum class BufId : u8 { GM, L1, L0A, L0B, L0C, UB, BT, FB, IDX };
inline constexpr u32 kWeightsPerIndexByte = 4;  // so IDX has a quarter of the bytes of L0B
inline constexpr usize kBufCount = enum_count<BufId>;
inline constexpr auto kBufNames = enum_names<BufId>;
constexpr std::string_view name(BufId b) { return kBufNames[static_cast<usize>(b)]; }
constexpr usize index(BufId b) { return static_cast<usize>(b); }

// What a core is made of: the joint core has cube and vector units, the split core is one cube core (AIC) and two
// vector cores (AIV).
enum class CoreKind : u8 { joint, cube, vector };
inline constexpr auto kCoreKindNames = enum_table<CoreKind, std::string_view>(
    {{CoreKind::joint, "AI_CORE"}, {CoreKind::cube, "AIC"}, {CoreKind::vector, "AIV"}});
constexpr std::string_view name(CoreKind k) { return kCoreKindNames[static_cast<usize>(k)]; }

constexpr u32 bit(PipeId p) { return 1u << static_cast<unsigned>(p); }

// Pipes that a core of this kind has.
constexpr u32 pipes_of(CoreKind k) {
  switch (k) {
    case CoreKind::joint:
      return bit(PipeId::S) | bit(PipeId::V) | bit(PipeId::M) | bit(PipeId::MTE1) | bit(PipeId::MTE2) |
             bit(PipeId::MTE3);
    case CoreKind::cube:
      return bit(PipeId::S) | bit(PipeId::M) | bit(PipeId::MTE1) | bit(PipeId::MTE2) | bit(PipeId::MTE3) |
             bit(PipeId::FIX);
    case CoreKind::vector: return bit(PipeId::S) | bit(PipeId::V) | bit(PipeId::MTE2) | bit(PipeId::MTE3);
  }
  return 0;
}

// How the cost of an instruction grows. A chip file gives a cost line for each class, and may give a more specific one
// for an instruction ("vexp") or one of its types ("vexp.f16").
enum class CostClass : u8 {
  scalar,
  scalar_load,
  scalar_store,
  sync,
  cross_core,
  cube,
  vector_unary,
  vector_binary,
  vector_scalar,
  vector_dup,
  vector_convert,
  vector_compare,
  vector_select,
  vector_reduce,
  vector_transpose,
  vector_gather,
  vector_sort,
  gm_to_ub,
  gm_to_l1,
  gm_to_l1_nd2nz,
  ub_to_gm,
  ub_to_ub,
  ub_to_l1,
  l1_to_ub,
  l1_to_l0a,
  l1_to_l0b,
  l0c_to_ub,
  ub_to_l0c,
  l0c_to_gm,
  l0c_to_gm_nz2nd,
  l0c_to_l1,
  gm_to_l0a,
  gm_to_l0b,
  l1_to_gm,
  l1_to_bt,
  l1_to_fb,
  fill_l0,
  fill_l1,
};
inline constexpr auto kCostClassNames = enum_names<CostClass>;
constexpr std::string_view name(CostClass c) { return kCostClassNames[static_cast<usize>(c)]; }

}  // namespace vinci::isa
