// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The commands that a lean build leaves out.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "isa/base/error.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/gen_op.h"

namespace vinci::cli {
namespace {

// The message of a command line of a tool that has these commands.
std::string refusal_of(std::vector<std::string> arguments) {
  CLI::App app("", "vinci");
  CLI::App* gen = app.add_subcommand("gen", "");
  add_gen_ops(*gen);
  add_cc(app);
  add_compile(app);
  add_op(app);
  add_study(app);
  add_sweep(app);
  add_validate(app);
  std::ranges::reverse(arguments);
  try {
    app.parse(arguments);
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Unsupported);
    return e.what();
  }
  return "not refused";
}

TEST(Lean, EachCommandSaysThatItIsLeftOutAndHowToGetIt) {
  for (const char* name : {"cc", "compile", "op", "study", "sweep", "validate"}) {
    EXPECT_EQ(refusal_of({name}), "`vinci " + std::string(name) +
                                      "` is not in this build, which has little more than the demo needs; `./dev "
                                      "build` makes the whole tool");
  }
  EXPECT_TRUE(refusal_of({"gen", "op"}).starts_with("`gen op` is not in this build")) << refusal_of({"gen", "op"});
  EXPECT_TRUE(refusal_of({"gen", "conv"}).starts_with("`gen conv` is not in this build"));
}

TEST(Lean, ArgumentsAndHelpMakeNoDifference) {
  for (const char* argument : {"model.onnx", "--help", "--soc_version=Ascend910B1"})
    EXPECT_EQ(refusal_of({"compile", argument}), refusal_of({"compile"})) << argument;
}

}  // namespace
}  // namespace vinci::cli
