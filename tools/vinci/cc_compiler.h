// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The compiler that `vinci cc` and `vinci op` run, and where its headers and libraries are. docs/front-end.md
namespace vinci::cli {

// The one front end: address spaces, and the compiler plugin, are its own.
inline constexpr const char* kCompiler = "clang++-19";

// The folder that this program was installed into, with bin/vinci and lib/vinci in it.
std::filesystem::path vinci_prefix();

// The chips of an architecture as definitions of operators name them, the first that one has counts. `number` is that
// of
// __NPU_ARCH__. The Ascend 910_93 (A3) has the cores of the 910B.
std::vector<std::string> definition_chips(std::string_view number);
// The others without register vectors.
std::vector<std::string> other_definition_chips(std::string_view number);

// The options in a file of lib/vinci: compile.txt finds headers, link.txt the library of programs.
std::vector<std::string> compiler_options(const std::string& file);

// A step of a build. The compiler has said what is wrong with the source, so this program ends without a message of its
// own (CLI::RuntimeError). Throws Fault::Input where there is no compiler, Fault::Limit where a signal ended it.
void run_compiler(const std::vector<std::string>& words);

// The exit code of a program, and what it wrote to standard error, which goes through the file `log`.
std::pair<int, std::string> run_logged(const std::vector<std::string>& words, const std::string& log);

}  // namespace vinci::cli
