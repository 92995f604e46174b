// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/options.h"

#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>

#include "isa/base/enums.h"
#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/io/atomic_file.h"

namespace vinci::cli {
void prepare_output(const std::string& input, const std::string& output) {
  std::error_code none;  // what does not exist is no source
  if (std::filesystem::equivalent(input, output, none))
    fail(Fault::Input, "the output would replace its source '{}'; choose another name", input);
  io::remove_abandoned_beside(output);
}

std::string counted(u64 n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::optional<isa::Arch> parse_arch(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto arch = parse_enum<isa::Arch>(isa::kArchNames, text);
  if (!arch) {
    fail_at(Fault::Input, "--arch", "no architecture is called '{}'{} (there are {})", text,
            did_you_mean(text, isa::kArchNames), fmt::join(isa::kArchNames, ", "));
  }
  return arch;
}

void print_out(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void write_or_print(const std::string& path, std::string_view text) {
  if (path.empty()) {
    print_out(text);
  } else {
    io::write_file_atomically(path, text);
  }
}

}  // namespace vinci::cli
