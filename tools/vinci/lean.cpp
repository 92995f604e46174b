// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/base/error.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/gen_op.h"

// The commands that a lean build (VINCI_LEAN) leaves out. Each is there, and says so.
namespace vinci::cli {
namespace {

void leave_out(CLI::App& app, const char* name) {
  CLI::App* sub = app.add_subcommand(name, "Not in this build; `./dev build` makes the whole tool");
  sub->set_help_flag();
  sub->prefix_command();  // its arguments are not looked at
  sub->callback([sub] {
    fail(Fault::Unsupported,
         "`{} {}` is not in this build, which has little more than the demo needs; `./dev build` makes the whole tool",
         sub->get_parent()->get_name(), sub->get_name());
  });
}

}  // namespace

void add_cc(CLI::App& app) { leave_out(app, "cc"); }
void add_compile(CLI::App& app) { leave_out(app, "compile"); }
void add_gen_ops(CLI::App& gen) {
  for (const char* name :
       {"op", "conv", "matmul", "pool", "softmax", "layer_norm", "reduce", "transpose", "elementwise"})
    leave_out(gen, name);
}
void add_op(CLI::App& app) { leave_out(app, "op"); }
void add_study(CLI::App& app) { leave_out(app, "study"); }
void add_sweep(CLI::App& app) { leave_out(app, "sweep"); }
void add_validate(CLI::App& app) { leave_out(app, "validate"); }

}  // namespace vinci::cli
