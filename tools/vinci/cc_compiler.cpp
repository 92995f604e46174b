// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/cc_compiler.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "isa/base/error.h"
#include "sim/io/input_file.h"
#include "sim/io/program.h"

namespace vinci::cli {

namespace fs = std::filesystem;

fs::path vinci_prefix() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
}

std::vector<std::string> definition_chips(std::string_view number) {
  if (number == "2201") return {"ascend910b", "ascend910_93"};
  return {number == "2002" ? "ascend310p" : "ascend910"};
}

std::vector<std::string> other_definition_chips(std::string_view number) {
  std::vector<std::string> out{"ascend910b", "ascend910_93", "ascend310p", "ascend310b", "ascend910", "ascend310"};
  const std::vector<std::string> own = definition_chips(number);
  std::erase_if(out, [&](const std::string& chip) { return std::ranges::find(own, chip) != own.end(); });
  return out;
}

std::vector<std::string> compiler_options(const std::string& file) {
  const fs::path prefix = vinci_prefix();
  std::istringstream text(io::read_file((prefix / "lib/vinci" / file).string()));
  std::vector<std::string> out;
  for (std::string line; std::getline(text, line);) {
    constexpr std::string_view kPrefix = "@PREFIX@";
    const usize at = line.find(kPrefix);
    if (at != std::string::npos) line.replace(at, kPrefix.size(), prefix.string());
    if (!line.empty()) out.push_back(line);
  }
  return out;
}

void run_compiler(const std::vector<std::string>& words) {
  constexpr const char* kPackage = "clang-19";
  constexpr int kMissing = 127, kSignal = 128;
  const int code = io::run_program(words);
  if (code == kMissing)
    fail(Fault::Input, "cannot run {}: install the package {} (Debian 12, or apt.llvm.org)", words[0], kPackage);
  if (code == kSignal) fail(Fault::Limit, "{} was ended by a signal", words[0]);
  if (code != 0) throw CLI::RuntimeError(static_cast<int>(Fault::Input));
}

std::pair<int, std::string> run_logged(const std::vector<std::string>& words, const std::string& log) {
  std::vector<std::string> logged{"sh", "-c", "exec \"$@\" 2> \"$0\"", log};
  logged.insert(logged.end(), words.begin(), words.end());
  const int code = io::run_program(logged);
  std::string text = fs::exists(log) ? io::read_file(log) : "";
  std::error_code error;
  fs::remove(log, error);
  return {code, std::move(text)};
}

}  // namespace vinci::cli
