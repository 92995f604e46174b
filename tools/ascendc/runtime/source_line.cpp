// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/source_line.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <sstream>
#include <string_view>

#include "isa/base/types.h"
#include "sim/io/program.h"

namespace vinci::ascendc {
namespace {

// The headers of the API: a loop that calls them is in the code that includes them.
bool of_api(std::string_view file) {
  return file.find("/ascendc/include/") != std::string_view::npos ||
         file.find("/include/vinci-ascendc/") != std::string_view::npos;
}

// The source line of an offset in an executable or a library, from its debug information: "file:line", or nothing.
// Of functions that are inlined into each other, the innermost that is not of the API.
std::string line_at(const std::string& file_name, u64 offset) {
  std::istringstream lines(io::output_of({"addr2line", "-i", "-e", file_name, fmt::format("{:#x}", offset)}));
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find(" ("), line.size()));  // " (discriminator 2)"
    const std::string_view file = std::string_view(line).substr(0, line.rfind(':'));
    if (!found.empty() || file.starts_with('?') || line.ends_with('?') || of_api(file)) continue;
    found = line;
  }
  return found;
}

// The same of an address. That of a return is behind the call; that where a signal came in is its own, and what is in
// front of a loop may be padding without a line.
std::string source_line(const void* address) {
  Dl_info module{};
  if (::dladdr(address, &module) == 0 || module.dli_fname == nullptr) return {};
  const u64 offset = reinterpret_cast<u64>(address) - reinterpret_cast<u64>(module.dli_fbase);
  // The name of the main program is what it was started as; a link of /proc finds it from every folder.
  const bool library = std::string_view(module.dli_fname).find(".so") != std::string_view::npos;
  const std::string file = library ? module.dli_fname : fmt::format("/proc/{}/exe", ::getpid());
  std::string found = line_at(file, offset - 1);
  return found.empty() ? line_at(file, offset) : found;
}

// Where an address is in memory: the begin of its executable or library.
const void* module_of(const void* address) {
  Dl_info module{};
  return ::dladdr(address, &module) == 0 ? nullptr : module.dli_fbase;
}

}  // namespace

std::string place_of(const std::vector<void*>& frames) {
  const std::array others{module_of(reinterpret_cast<const void*>(&place_of)),         // this library
                          module_of(reinterpret_cast<const void*>(&::backtrace)),      // libc
                          module_of(reinterpret_cast<const void*>(&std::terminate))};  // libstdc++
  std::string symbol;
  for (const void* frame : frames) {
    Dl_info module{};
    if (::dladdr(frame, &module) == 0 || std::ranges::find(others, module.dli_fbase) != others.end()) continue;
    if (std::string line = source_line(frame); !line.empty()) return line;
    if (symbol.empty() && module.dli_sname != nullptr) symbol = module.dli_sname;
  }
  return symbol;
}

}  // namespace vinci::ascendc
