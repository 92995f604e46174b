// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string_view>

#include "isa/program/program.h"
#include "isa/text/expression.h"

// What an instruction may be called, on which architectures it exists and which values its operands take: one set of
// rules and messages for the assembler and ProgramBuilder. All throw Error without a location.
namespace vinci::isa::text {

// The row of a mnemonic without its type. Fault::Unsupported for a public name that is refused.
const Row& find_row(std::string_view mnemonic);
// Fault::Input where the architecture lacks the instruction.
void check_arch(const Row& row, Arch arch);
// The index of a type form; nullopt means that the text gives none.
u8 find_type(const Row& row, std::optional<std::string_view> name, Arch arch);
// The bits of a number as an operand.
u64 in_range(const Row& row, const FieldInfo& field, Wide number);
// The names of a set of architectures: "c100, m200".
std::string arch_names(ArchSet set);
// Whether a definition would hide a name of the language.
bool is_reserved(std::string_view name);

}  // namespace vinci::isa::text
