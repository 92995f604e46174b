// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <filesystem>
#include <memory>
#include <optional>

#include "isa/base/error.h"
#include "tools/vinci/app.h"
#include "tools/vinci/commands.h"

namespace vinci::cli {
namespace {

// When a file was written last; nothing where there is none.
std::optional<std::filesystem::file_time_type> written(const std::string& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  return error ? std::nullopt : std::optional(time);
}

}  // namespace

void add_record(CLI::App& app) {
  struct Options {
    std::string soc, chip, output;
    bool no_data = false;
  };
  CLI::App* sub = app.add_subcommand("record", "Run a program of `vinci cc` and keep its task stream as a file");
  take_command_line(*sub, "PROGRAM [ARGUMENT...]");
  const auto o = std::make_shared<Options>();
  sub->add_option("-o,--output", o->output, "The task stream, a .vts file")->required();
  sub->add_option("--soc-version", o->soc, "The chip that the program runs on, such as Ascend910B1");
  sub->add_option("--chip", o->chip, "The same as a built-in chip or a chip file");
  sub->add_flag("--no-data", o->no_data, "Without the contents of buffers: for runs in mode timing alone");
  add_native_timeout(*sub);
  add_auto_sync(*sub);
  add_scalar_code(*sub);
  add_allocation(*sub);
  sub->footer(
      "The file needs no source: `vinci run app.vts --chip CHIP` runs it again, on any chip of the architecture.\n"
      "Example: vinci record -o add.vts ./add && vinci run add.vts --chip ascend-910b4");
  sub->callback([o, sub] {
    const std::vector<std::string> program = command_line_of(*sub);
    if (program.empty()) fail(Fault::Input, "no program; Example: vinci record -o add.vts ./add");
    if (!o->output.ends_with(".vts")) fail(Fault::Input, "'{}' does not end in .vts", o->output);
    set_chip(o->chip, o->soc);
    set_variable("VINCI_RECORD", o->output);
    set_variable("VINCI_RECORD_DATA", o->no_data ? "0" : "1");
    set_variable("VINCI_MODE", "functional");
    const auto before = written(o->output);
    run_to_end(program);
    if (written(o->output) == before) {
      fail(Fault::Input, "{} has recorded nothing: it is no program of `vinci cc`, or uses no device", program[0]);
    }
  });
}

}  // namespace vinci::cli
