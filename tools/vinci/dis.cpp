// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <memory>
#include <string>

#include "isa/program/program_file.h"
#include "isa/text/text.h"
#include "sim/io/atomic_file.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {

void add_dis(CLI::App& app) {
  struct Options {
    std::string file, output;
  };
  CLI::App* sub = app.add_subcommand("dis", "Disassemble a program file");
  const auto o = std::make_shared<Options>();
  sub->add_option("FILE", o->file, "Program file, as 'vinci asm' writes it")->required();
  sub->add_option("-o,--output", o->output, "Assembly text; standard output if not given");
  sub->footer("Example: vinci dis gemm.bin");
  sub->callback([o] {
    prepare_output(o->file, o->output);
    const std::string bytes = io::read_file(o->file);
    write_or_print(o->output, isa::disassemble(isa::read_program(io::as_bytes(bytes), o->file)));
  });
}

}  // namespace vinci::cli
