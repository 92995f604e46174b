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

// The kernel is in another source, which has its signature where `vinci cc` compiled it.
std::string launch_header(const std::string& kernel) {
  return fmt::format(
      "#pragma once\n"
      "#include \"acl/acl.h\"\n"
      "#include \"vinci/signature.h\"\n"
      "#ifndef ACLRT_LAUNCH_KERNEL\n"
      "#define ACLRT_LAUNCH_KERNEL(kernel) aclrtlaunch_##kernel\n"
      "#endif\n"
      "extern \"C\" void {0}();\n"
      "extern \"C\" __attribute__((weak)) ::vinci::ascendc::Signature vinci_signature_{0};\n"
      "template <class... A>\n"
      "uint32_t aclrtlaunch_{0}(::vinci::ascendc::Blocks blocks, aclrtStream stream, A... arguments) {{\n"
      "  ::vinci::ascendc::launch_by_signature({{\"{0}\", ::vinci::ascendc::KernelType::declared, blocks.count,\n"
      "                                         (void*)stream, blocks.place}},\n"
      "                                        {0}, &vinci_signature_{0}, arguments...);\n"
      "  return ACL_SUCCESS;\n"
      "}}\n",
      kernel);
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
