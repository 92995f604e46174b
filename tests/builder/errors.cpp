// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Errors of the installed library arrive as vinci::Error, with their fault and their place.
#include <vinci/builder.h>

#include <cstdio>

using namespace vinci;

int main() {
  isa::ProgramBuilder p("k", isa::Arch::c220);
  const isa::Reg a = p.reg("a");
  p.mov(a, 0);
  try {
    p.vadd(isa::Type::f16, a, a, a, 256, 1, 1, 1, 8, 8, 8);
  } catch (const Error& e) {
    std::printf("%s\n", e.what());
    return e.fault() == Fault::Input && e.location() == "k.s: instruction 1" ? 0 : 1;
  }
  return 2;
}
