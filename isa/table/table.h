// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "isa/table/insn.h"

namespace vinci::isa {

// All instructions, by opcode.
std::span<const Row> table();
// A number of its own for each row and type form, for tables of what is known of them.
inline u32 form_index(const Row& row, u8 type) { return static_cast<u32>((&row - table().data()) << kTypeBits) + type; }
// The row of an opcode, or null.
const Row* row_of(u16 opcode);
// The row of a mnemonic (without type suffix), or null.
const Row* row_of(std::string_view name);
// All mnemonics, for "did you mean".
std::vector<std::string_view> mnemonics();

}  // namespace vinci::isa
