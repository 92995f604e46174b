// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/report.h"

#include <fmt/format.h>

#include <memory>

#include "sim/io/atomic_file.h"
#include "sim/io/folder_lock.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {

void add_report(CLI::App& app) {
  struct Options {
    std::string folder;
    std::string output;
  };
  CLI::App* sub = app.add_subcommand("report", "Make a page with charts and tables from the output folder of a run");
  const auto o = std::make_shared<Options>();
  sub->add_option("FOLDER", o->folder, "Output folder of a run")->required();
  sub->add_option("-o,--output", o->output, "The page; FOLDER/report.html if not given");
  sub->footer(
      "The page needs no network and no other file. `vinci run --report` makes it with the run.\n"
      "Example: vinci report out/gemm");
  sub->callback([o] {
    const io::FolderLock lock(o->folder, io::FolderLock::Use::read);  // all files are of one run
    if (!o->output.empty()) io::remove_abandoned_beside(o->output);
    print_out(fmt::format("{}\n", run::write_report(o->folder, o->output)));
  });
}

}  // namespace vinci::cli
