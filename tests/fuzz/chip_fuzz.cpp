// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Any bytes are a chip or a vinci::Error; what is accepted survives writing and reading.
#include <cstdlib>
#include <string>
#include <string_view>

#include "isa/base/error.h"
#include "sim/config/load.h"

extern "C" int LLVMFuzzerTestOneInput(const vinci::u8* data, vinci::usize size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  vinci::config::ChipConfig chip;
  try {
    // What follows the last zero byte is an override.
    const auto cut = text.rfind('\0');
    std::vector<std::string> overrides;
    if (cut != std::string_view::npos) overrides.emplace_back(text.substr(cut + 1));
    chip = vinci::config::parse_chip(text.substr(0, cut), "fuzz.yaml", overrides);
  } catch (const vinci::Error& e) {
    if (e.fault() != vinci::Fault::Input) std::abort();
    return 0;
  }
  const std::string written = vinci::config::write_chip(chip);
  if (!(vinci::config::parse_chip(written, "fuzz.yaml") == chip)) std::abort();
  if (vinci::config::assumptions(chip).total == 0) std::abort();
  return 0;
}
