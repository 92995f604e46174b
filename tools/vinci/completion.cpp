// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <memory>
#include <string>

#include "sim/config/load.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

// For each command the words that may follow it: "vinci gen" has "gemm db-log1p ...".
struct Words {
  std::string commands, options;
};

void add_words(const CLI::App& app, const std::string& path, Words& out) {
  std::string commands, options;
  for (const CLI::App* sub : app.get_subcommands({})) {
    commands += (commands.empty() ? "" : " ") + sub->get_name();
    add_words(*sub, path + " " + sub->get_name(), out);
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // not for users
    for (const std::string& name : option->get_lnames())
      options += (options.empty() ? "--" : " --") + name;
  }
  if (!commands.empty()) out.commands += fmt::format("  ['{}']='{}'\n", path, commands);
  out.options += fmt::format("  ['{}']='{}'\n", path, options);
}

std::string bash(const CLI::App& app) {
  Words words;
  add_words(app, "vinci", words);
  std::string chips;
  for (const config::ChipSummary& chip : config::builtin_chips())
    chips += (chips.empty() ? "" : " ") + chip.name;
  return fmt::format(R"(# Completion of vinci for bash; written by `vinci completion`.
declare -A _vinci_commands=(
{})
declare -A _vinci_options=(
{})
_vinci() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} path=vinci i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case " ${{_vinci_commands[$path]-}} " in *" ${{COMP_WORDS[i]}} "*) path+=" ${{COMP_WORDS[i]}}" ;; esac
  done
  COMPREPLY=()
  if [[ $before == --chip || $before == --soc_version ]]; then
    COMPREPLY=($(compgen -W '{}' -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "${{_vinci_options[$path]-}}" -- "$word"))
  else
    COMPREPLY=($(compgen -W "${{_vinci_commands[$path]-}}" -- "$word"))
  fi
}}
complete -o default -F _vinci vinci
)",
                     words.commands, words.options, chips);
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("completion", "Print what bash needs to complete commands, options and chips");
  sub->footer("Example: source <(vinci completion)\nAn installation has it where bash looks for it.");
  sub->callback([&app] { print_out(bash(app)); });
}

}  // namespace vinci::cli
