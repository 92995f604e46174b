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

// Instruction queues of a core; ALL only occurs as an operand. Stored programs hold these numbers: append a new pipe at
// the end, behind ALL, and add its row to kPipes.
enum class PipeId : u8 { S, V, M, MTE1, MTE2, MTE3, FIX, ALL };
inline constexpr auto kPipeNames = enum_names<PipeId>;
constexpr std::string_view name(PipeId p) { return kPipeNames[static_cast<usize>(p)]; }
constexpr usize index(PipeId p) { return static_cast<usize>(p); }
static_assert(index(PipeId::ALL) == 7, "stored programs have PIPE_ALL as 7: append a new pipe behind ALL");

// Size of an array by pipe, without ALL where that is the last.
inline constexpr usize kPipeCount = enum_count<PipeId> - (index(PipeId::ALL) + 1 == enum_count<PipeId> ? 1 : 0);

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

// What the instructions of a pipe do to a tile: copy it in from global memory, compute, or move results on.
enum class PipeUse : u8 { none, load, compute, move };

// A set of kinds of cores, as a bit mask over CoreKind.
using CoreKinds = u8;
template <class... K>
constexpr CoreKinds core_kinds(K... k) {
  return static_cast<CoreKinds>(((1u << static_cast<unsigned>(k)) | ... | 0u));
}

struct PipeRow {
  CoreKinds cores;         // that have the pipe
  PipeUse use;             // none: the scalar unit, ALL
  std::string_view queue;  // key of its depth in `core.queues` of a chip file; empty: it has no queue
  std::string_view doc;    // of that key
  std::string_view cost;   // the models::CostKind that its time is charged to
  std::string_view lane;   // its name in the timeline of the vendor's profiler
};

// The facts of each pipe. Chip files, cores, critical paths, advice, the profiler's files and inserted synchronisation
// read them from here.
inline constexpr auto kPipes = [] {
  constexpr CoreKind joint = CoreKind::joint, cube = CoreKind::cube, vector = CoreKind::vector;
  return enum_table<PipeId, PipeRow>({
      {PipeId::S, {core_kinds(joint, cube, vector), PipeUse::none, "", "", "scalar", "SCALAR"}},
      {PipeId::V, {core_kinds(joint, vector), PipeUse::compute, "v", "vector unit", "vector", "VECTOR"}},
      {PipeId::M, {core_kinds(joint, cube), PipeUse::compute, "m", "cube", "cube", "CUBE"}},
      {PipeId::MTE1, {core_kinds(joint, cube), PipeUse::move, "mte1", "out of L1", "mte1", "MTE1"}},
      {PipeId::MTE2, {core_kinds(joint, cube, vector), PipeUse::load, "mte2", "out of global memory", "mte2", "MTE2"}},
      {PipeId::MTE3, {core_kinds(joint, cube, vector), PipeUse::move, "mte3", "out of UB", "mte3", "MTE3"}},
      {PipeId::FIX, {core_kinds(cube), PipeUse::move, "fix", "FIXPIPE", "fixpipe", "FIXP"}},
      {PipeId::ALL, {core_kinds(), PipeUse::none, "", "", "scalar", ""}},
  });
}();
constexpr const PipeRow& row_of(PipeId p) { return kPipes[index(p)]; }

// Pipes that a core of this kind has.
constexpr u32 pipes_of(CoreKind k) {
  u32 out = 0;
  for (usize p = 0; p < kPipes.size(); ++p) {
    if ((kPipes[p].cores & core_kinds(k)) != 0) out |= bit(static_cast<PipeId>(p));
  }
  return out;
}

}  // namespace vinci::isa
