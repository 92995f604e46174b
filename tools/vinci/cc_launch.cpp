// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/cc_launch.h"

#include <fmt/format.h>

#include <filesystem>
#include <regex>

#include "sim/io/atomic_file.h"
#include "sim/io/input_file.h"

namespace vinci::cli {
namespace {

std::string launch_header(const std::string& kernel) {
  return fmt::format("#pragma once\n#include \"vinci/launch_header.h\"\nVINCI_LAUNCH_HEADER({})\n", kernel);
}

}  // namespace

std::string write_launch_headers(const std::string& source, const io::TempFolder& scratch) {
  static const std::regex kInclude(R"(#\s*include\s*["<]aclrtlaunch_(\w+)\.h[">])");
  if (!std::filesystem::is_regular_file(source)) return "";  // the compiler says so
  const std::string text = io::read_file(source);
  std::string folder;
  for (std::sregex_iterator at(text.begin(), text.end(), kInclude), end; at != end; ++at) {
    folder = scratch / "launch";
    std::filesystem::create_directories(folder);
    const std::string kernel = (*at)[1];
    io::write_file_atomically(fmt::format("{}/aclrtlaunch_{}.h", folder, kernel), launch_header(kernel));
  }
  return folder;
}

}  // namespace vinci::cli
