// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Any bytes are refused as wrong input, or are a program that is written as the same bytes. The checksum is put right
// first: it would keep the fuzzer from everything behind it.
#include <algorithm>
#include <vector>

#include "isa/base/error.h"
#include "isa/program/program_file.h"
#include "isa/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const vinci::u8* data, vinci::usize size) {
  using namespace vinci;
  std::vector<std::byte> bytes(size);
  std::ranges::transform(data, data + size, bytes.begin(), [](u8 b) { return std::byte{b}; });
  if (size >= 40) {
    const u64 checksum = isa::program_checksum(bytes);
    for (usize i = 0; i < 8; ++i)
      bytes[32 + i] = static_cast<std::byte>(checksum >> (8 * i));
  }
  isa::Program program;
  try {
    program = isa::read_program(bytes, "fuzz.bin");
  } catch (const Error& e) {
    if (e.fault() != Fault::Input) throw;
    return 0;
  }
  VINCI_CHECK(isa::write_program(program) == bytes);
  const isa::Program again = isa::assemble(isa::disassemble(program), "fuzz.s");
  VINCI_CHECK(again.code == program.code && again.loops == program.loops && again.strides == program.strides);
  return 0;
}
