// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program/program.h"

// Assembly text and back. The language is described in docs/assembly.md.
namespace vinci::isa {

inline constexpr usize kMaxAssemblyBytes = usize{64} << 20;
inline constexpr usize kMaxNameLength = 255;      // labels, constants, aliases
inline constexpr usize kMaxReportedErrors = 20;   // of one text, in one Error
inline constexpr usize kMaxExpressionDepth = 64;  // nested parentheses and signs

// Text to program. `source_name` is what messages and Program::source call the text. The architecture comes from
// `arch` or from the text's .arch directive; one of them must say it, and they must not differ.
// Throws Fault::Input at "source_name:line:column"; further problems, up to kMaxReportedErrors in all, follow in the
// message as lines of their own. Fault::Unsupported if all of them are public names that are refused
// (isa/table/public_names.h).
Program assemble(std::string_view text, std::string source_name, std::optional<Arch> arch = std::nullopt);

// Program to text that assembles to the same architecture and code. The program must pass verify().
std::string disassemble(const Program& program);

// What the author of a program calls its parts, beyond its words and labels.
struct ProgramNames {
  struct Symbol {
    std::string name;  // unique, is_name(), no name of the language
    bool is_reg = false;
    u64 value = 0;  // of a constant; the number of a register
    bool negative = false;
  };
  struct Use {  // an operand that is written with a symbol
    u32 inst = 0;
    u8 field = 0;
    u32 symbol = 0;
  };
  struct Comment {  // a line before an instruction and its labels
    u32 inst = 0;
    std::string text;  // without line breaks
  };
  std::vector<Symbol> symbols = {};
  std::vector<Use> uses = {};          // in the order of instructions and fields
  std::vector<Comment> comments = {};  // in the order of instructions
};

// A text and the line of each instruction in it.
struct Listing {
  std::string text;
  std::vector<u32> lines = {};
};

// disassemble() with the names that the program was written with: symbols that are used are defined at its head.
Listing list(const Program& program, const ProgramNames& names);

// One instruction with positional operands, as assemble() reads it: "mad.f162f32 X1, X2, X3, 128, 64, 256, 1".
// Branch targets are label names where `program` has them, else instruction indices.
std::string print(const Inst& inst, const Program* program = nullptr);

// One instruction with operand names and the values that it executes with, addresses in hexadecimal, without optional
// operands that have their fallback value:
// "load_cbuf_to_ca dst=0x0 src=0x4000 baseIdx=0 repeat=8 srcStride=1 sid=0 transpose=0".
std::string print_resolved(const Row& row, u8 type, const ArgsStorage& args);

// Whether `name` can be a label, a constant or an alias: a letter, '_', '.' or '$', then those and digits.
bool is_name(std::string_view name);

}  // namespace vinci::isa
