// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/table/table.h"

#include <algorithm>

#include "isa/insns/align.h"
#include "isa/insns/cube.h"
#include "isa/insns/fill.h"
#include "isa/insns/fixpipe.h"
#include "isa/insns/img2col.h"
#include "isa/insns/l0c_ub.h"
#include "isa/insns/load2d.h"
#include "isa/insns/move.h"
#include "isa/insns/nd2nz.h"
#include "isa/insns/scalar.h"
#include "isa/insns/spr.h"
#include "isa/insns/sync.h"
#include "isa/insns/system.h"
#include "isa/insns/table_copy.h"
#include "isa/insns/vector_arith.h"
#include "isa/insns/vector_compare.h"
#include "isa/insns/vector_convert.h"
#include "isa/insns/vector_reduce.h"
#include "isa/insns/vlayout.h"
#include "isa/insns/vscatter.h"
#include "isa/insns/vsort.h"
#include "isa/program/program.h"

namespace vinci::isa {
namespace {

// THE list of instructions, in the order of the opcodes: adding one is its struct, and its name in the list at the end
// of its header.
using AllInsns =
    JoinInsns<insn::ScalarInsns, insn::SystemInsns, insn::SprInsns, insn::SyncInsns, insn::MoveInsns, insn::Nd2NzInsns,
              insn::TableCopyInsns, insn::Load2dInsns, insn::Img2colInsns, insn::AlignInsns, insn::FillInsns,
              insn::CubeInsns, insn::SparseLoadInsns, insn::L0cUbInsns, insn::FixpipeInsns, insn::VectorArithInsns,
              insn::VectorFusedInsns, insn::VectorConvertInsns, insn::VectorCompareInsns, insn::VectorReduceInsns,
              insn::LayoutInsns, insn::SortInsns, insn::ScatterInsns>;

template <class... I>
constexpr auto make_table(InsnList<I...>) {
  return std::array<Row, sizeof...(I)>{make_row<I>()...};
}

constexpr auto kTable = make_table(AllInsns{});

constexpr bool opcodes_ascend() {
  for (usize i = 1; i < kTable.size(); ++i) {
    if (kTable[i - 1].opcode >= kTable[i].opcode) return false;
  }
  return true;
}
static_assert(opcodes_ascend(), "two instructions share an opcode, or the list is not in the order of the opcodes");

constexpr bool operands_fit() {
  return std::ranges::all_of(kTable, [](const Row& r) { return r.fields.size() <= kMaxOperands; });
}
static_assert(operands_fit(), "an instruction has more operands than a program can state");

constexpr bool opcodes_fit() { return kTable.back().opcode < (1u << kOpcodeBits); }
static_assert(opcodes_fit(), "an opcode does not fit the instruction word");

static_assert(std::ranges::all_of(kTable, [](const Row& r) { return r.fields.size() <= kMaxOperands; }),
              "an instruction has more operands than kMaxOperands");

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
