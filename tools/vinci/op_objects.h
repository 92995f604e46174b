// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tools/vinci/op_headers.h"

// Objects of an operator's host code.
namespace vinci::cli {

// Sources are compiled side by side, one command for all; objects are kept in a folder until a file that they are made
// of is newer.
class Objects {
 public:
  Objects(std::vector<std::string> command, const HeaderSearch& search, std::filesystem::path folder);

  std::filesystem::path object(const std::filesystem::path& source) const;
  // The files that an object is made of; none before it is compiled.
  std::vector<std::filesystem::path> files(const std::filesystem::path& source) const;

  // The sources that compile; `failed` gets the others with the first error of each. Throws Fault::Input where there is
  // no compiler.
  std::vector<std::filesystem::path> compile(const std::vector<std::filesystem::path>& sources,
                                             std::map<std::filesystem::path, std::string>& failed) const;

 private:
  std::string stem(const std::filesystem::path& source) const;
  bool is_fresh(const std::filesystem::path& source) const;
  // "" where it compiles, else the first error.
  std::string compile(const std::filesystem::path& source) const;

  std::vector<std::string> command_;
  const HeaderSearch& search_;
  std::filesystem::path folder_;
};

}  // namespace vinci::cli
