// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Any text is refused as wrong input or as unsupported, or assembles to a program that verifies and survives
// disassembly.
#include <string_view>

#include "isa/base/error.h"
#include "isa/table/codec.h"
#include "isa/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const vinci::u8* data, vinci::usize size) {
  using namespace vinci;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The first byte chooses the architecture argument; most corpus files start with '.', ';' or a space: none.
  std::optional<isa::Arch> arch;
  if (size > 0 && data[0] < isa::kArchNames.size()) arch = static_cast<isa::Arch>(data[0]);
  isa::Program program;
  try {
    program = isa::assemble(arch ? text.substr(1) : text, "fuzz.s", arch);
  } catch (const Error& e) {
    if (e.fault() != Fault::Input && e.fault() != Fault::Unsupported) throw;
    return 0;
  }
  isa::verify(program);
  const std::string printed = isa::disassemble(program);
  const isa::Program again = isa::assemble(printed, "again.s");
  VINCI_CHECK(again.code == program.code && again.arch == program.arch);
  VINCI_CHECK(isa::disassemble(again) == printed);
  return 0;
}
