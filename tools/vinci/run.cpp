// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/run.h"

#include <memory>

#include "sim/task/load.h"
#include "tools/vinci/commands.h"

namespace vinci::cli {

void add_run(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("run", "Run a task stream on a simulated chip");
  const auto o = std::make_shared<run::Options>();
  sub->add_option("TASKS", o->file, "Task stream (.yaml or .vts)")->required();
  run::add_options(*sub, *o);
  sub->footer(
      "Writes summary.txt, stats.json, run-info.json, chip.yaml and the outputs of the task stream into the folder.\n"
      "Example: vinci run gemm/gemm.yaml --chip ascend-910b1 --trace --out out/gemm");
  sub->callback([o] {
    run::check(*o);
    const task::TaskStream stream = task::load_task_stream(o->file);
    run::Run(*o, stream).finish();
  });
}

}  // namespace vinci::cli
