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

}  // namespace vinci::isa
