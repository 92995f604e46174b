// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/table.h"

#include <algorithm>

#include "isa/insns/cube.h"
#include "isa/insns/fixpipe.h"
#include "isa/insns/move.h"
#include "isa/insns/scalar.h"
#include "isa/insns/sync.h"
#include "isa/insns/vector.h"

namespace vinci::isa {
namespace {

template <class... I>
struct List {};

// THE list of instructions: adding one is its struct and its name here, in the order of the opcodes.
using AllInsns = List<
    // scalar
    insn::Mov, insn::Add, insn::Sub, insn::Mul, insn::Div, insn::Rem, insn::Min, insn::Max, insn::And, insn::Or,
    insn::Xor, insn::Shl, insn::Shr, insn::Sar, insn::CmpEq, insn::CmpNe, insn::CmpLt, insn::CmpLe, insn::Sbitset0,
    insn::Sbitset1, insn::Bcnt0, insn::Bcnt1, insn::Clz, insn::Beq, insn::Bne, insn::Blt, insn::Ble, insn::Bgt,
    insn::Bge, insn::Jump, insn::End, insn::GetBlockIdx, insn::GetBlockNum, insn::GetCoreid, insn::GetPc, insn::GetCtrl,
    insn::GetStatus, insn::LdArg, insn::SetVectorMask, insn::SetCtrl, insn::LdDev, insn::StDev, insn::LdUbuf,
    insn::StUbuf,
    // synchronisation
    insn::SetFlag, insn::WaitFlag, insn::PipeBarrier,
    // data movement
    insn::CopyGmToUbuf, insn::CopyGmToCbuf, insn::CopyUbufToGm, insn::CopyUbufToUbuf, insn::CopyUbufToCbuf,
    insn::CopyCbufToUbuf, insn::CopyGmToCbufMultiNd2NzB8, insn::CopyGmToCbufMultiNd2NzB16,
    insn::CopyGmToCbufMultiNd2NzB32s, insn::LoadCbufToCa, insn::LoadCbufToCb,
    // cube and its way out
    insn::Mad, insn::CopyMatrixCcToUbuf, insn::CopyMatrixCcToGm,
    // vector
    insn::VectorDup, insn::Vadd, insn::Vsub, insn::Vmul, insn::Vdiv, insn::Vmax, insn::Vmin, insn::Vrelu, insn::Vabs,
    insn::Vexp, insn::Vadds, insn::Vmuls, insn::Vmaxs, insn::Vmins, insn::VconvF162F32, insn::VconvF322F16,
    insn::VconvF322F16R, insn::VconvF322F16A, insn::VconvF322F16F, insn::VconvF322F16C, insn::VconvF322F16Z,
    insn::VconvF322F16O>;

template <class... I>
constexpr auto make_table(List<I...>) {
  return std::array{make_row<I>()...};
}

constexpr auto kTable = make_table(AllInsns{});

constexpr bool opcodes_ascend() {
  for (usize i = 1; i < kTable.size(); ++i) {
    if (kTable[i - 1].opcode >= kTable[i].opcode) return false;
  }
  return true;
}
static_assert(opcodes_ascend(), "two instructions share an opcode, or the list is not in the order of the opcodes");

constexpr bool opcodes_fit() { return kTable.back().opcode < (1u << kOpcodeBits); }
static_assert(opcodes_fit(), "an opcode does not fit the instruction word");

}  // namespace

std::span<const Row> table() { return kTable; }

const Row* row_of(u16 opcode) {
  const auto it = std::ranges::lower_bound(kTable, opcode, {}, &Row::opcode);
  return it != kTable.end() && it->opcode == opcode ? &*it : nullptr;
}

const Row* row_of(std::string_view name) {
  const auto it = std::ranges::find(kTable, name, &Row::name);
  return it != kTable.end() ? &*it : nullptr;
}

std::vector<std::string_view> mnemonics() {
  std::vector<std::string_view> names;
  for (const Row& r : kTable)
    names.push_back(r.name);
  return names;
}

}  // namespace vinci::isa
