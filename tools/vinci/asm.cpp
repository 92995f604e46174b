// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "isa/base/error.h"
#include "isa/program/program_file.h"
#include "isa/table/codec.h"
#include "isa/text/text.h"
#include "sim/io/atomic_file.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

struct AsmOptions {
  std::string file, output, arch;
};

void assemble_file(const AsmOptions& o) {
  const std::string text = io::read_file(o.file, isa::kMaxAssemblyBytes);
  const isa::Program program = isa::assemble(text, o.file, parse_arch(o.arch));
  if (isa::runs_past_end(program)) {
    fail_at(Fault::Input, fmt::format("{}:{}", o.file, program.lines.back()),
            "the program runs past its last instruction; `end` is missing");
  }
  const std::string output =
      o.output.empty() ? std::filesystem::path(o.file).replace_extension(".bin").string() : o.output;
  prepare_output(o.file, output);
  io::write_file_atomically(output, isa::write_program(program));
}

}  // namespace

void add_asm(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("asm", "Assemble a program");
  const auto o = std::make_shared<AsmOptions>();
  sub->add_option("FILE", o->file, "Assembly text")->required();
  sub->add_option("-o,--output", o->output, "Program file; FILE with the extension .bin if not given");
  sub->add_option("--arch", o->arch, "Architecture (m100, c100, m200, c220), if the text has no .arch");
  sub->footer("Example: vinci asm gemm.s -o gemm.bin");
  sub->callback([o] { assemble_file(*o); });
}

}  // namespace vinci::cli
