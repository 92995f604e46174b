// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "isa/program/program.h"

// A program as a file of its own. The vendor's container and encoding are not public; this one is ours. All numbers are
// little endian:
//
//    0  8 bytes  "VNCPROG" and a zero byte
//    8  u32      format version: 1, or 2 where the program has loops
//   12  u32      architecture: position in kArchNames
//   16  u32      number of instructions
//   20  u32      number of labels
//   24  u32      bytes of all label names together
//   28  u32      bytes of the source name
//   32  u64      checksum: FNV-1a 64 of all other bytes of the file
//   40           instructions, 32 bytes each
//                source line of each instruction, u32, 0 = unknown
//                labels: u32 instruction index, u32 bytes of the name
//                label names, then the source name, in UTF-8
//
// Version 2 goes on: u32 number of loops, u32 number of strides; loops: u32 first instruction, u32 instructions, u32
// turns; strides: u32 instruction, u32 loop, u32 operand, u64.
namespace vinci::isa {

inline constexpr u32 kProgramFormatVersion = 2;  // the latest that is read

// The program must pass verify().
std::vector<std::byte> write_program(const Program& program);

// Checks everything, verify() included, before it believes anything; `name` is what messages call the file.
// Throws Fault::Input.
Program read_program(std::span<const std::byte> bytes, const std::string& name);

// The checksum that a file with these bytes must carry at offset 32; `bytes` must be at least a header long.
u64 program_checksum(std::span<const std::byte> bytes);

}  // namespace vinci::isa
