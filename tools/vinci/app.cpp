// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/app.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "isa/base/error.h"
#include "sim/config/load.h"

namespace vinci::cli {
namespace {

// The built-in chip of a product name as the vendor's tools take it: Ascend910B1 is ascend-910b1.
std::string chip_of_soc(const std::string& soc) {
  std::string plain;
  for (const char c : soc) {
    if (c == '-' || c == '_' || c == ' ') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  std::string names;
  for (const config::ChipSummary& chip : config::builtin_chips()) {
    std::string candidate = chip.name;
    std::erase(candidate, '-');
    if (candidate == plain) return chip.name;
    names += (names.empty() ? "" : ", ") + chip.name;
  }
  fail(Fault::Input, "--soc-version={}: there is no such chip; there are {}", soc, names);
}

}  // namespace

void set_variable(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

void set_chip(const std::string& chip, const std::string& soc_version) {
  std::error_code error;
  set_variable("VINCI", std::filesystem::read_symlink("/proc/self/exe", error).string());
  if (!chip.empty()) set_variable("VINCI_CHIP", chip);
  if (!soc_version.empty()) set_variable("VINCI_CHIP", chip_of_soc(soc_version));
}

void become(std::vector<std::string> program) {
  std::vector<char*> argv;
  for (std::string& word : program)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  fail(Fault::Input, "cannot run {}", program[0]);
}

}  // namespace vinci::cli
