// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "isa/table/insn.h"

namespace vinci::isa {

// A name that public sources give an intrinsic, and what this project makes of it. Sources: the names of CANN's CPU
// twin (tikicpulib, 8.1.RC1; names only) and the tables of data types of the runtime's platform files
// (Ascend910A, 310P3, 910B1).
struct PublicName {
  std::string_view name;
  ArchSet archs = 0;         // those of the instruction; of a refused name, where a source has it, all where none says,
                             // and none if it belongs to other architectures
  const Row* row = nullptr;  // null: refused
  std::string spelling;      // how assembly writes it: "mad.bf162f32" for mad_bf162f32
  std::string_view reason;   // why it is refused
};

// In the order of the alphabet.
std::span<const PublicName> public_names();
// Null if no public source has this name.
const PublicName* public_name(std::string_view name);

// How many instructions public sources give an architecture, and how many of those are implemented. Names that only
// differ in a type (scatter_vadd, scatter_vadd_f16) count once.
struct PublicCount {
  usize implemented = 0;
  usize total = 0;
};
PublicCount count_public(Arch arch);

}  // namespace vinci::isa
