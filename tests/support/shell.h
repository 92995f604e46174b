// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "sim/io/temp_folder.h"

namespace vinci::test {

struct ShellResult {
  int exit_code = -1;
  std::string output;  // standard output; add 2>&1 for both
};

// Runs a command of /bin/sh in a folder.
inline ShellResult shell(const std::filesystem::path& folder, const std::string& command) {
  ShellResult r;
  std::FILE* pipe = popen(("cd '" + folder.string() + "' && { " + command + "\n}").c_str(), "r");
  if (pipe == nullptr) return r;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    r.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  r.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return r;
}

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A new folder that goes away with this object. Names of tests may have slashes.
class TempFolder : public io::TempFolder {
 public:
  explicit TempFolder(std::string name) : io::TempFolder((std::ranges::replace(name, '/', '_'), name)) {}
};

}  // namespace vinci::test
