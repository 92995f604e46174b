// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/stream_text.h"

#include <fmt/format.h>

#include <cmath>

#include "isa/arch.h"

namespace vinci::studies {

gen::StreamFiles stream_text(std::string_view name, const config::ChipConfig& chip, std::string_view body) {
  gen::StreamFiles out{.main = fmt::format("{}.yaml", name), .files = {}};
  const std::string text = fmt::format("vinci: 1\nname: {}\narch: {}\n{}", name, isa::name(chip.arch), body);
  const auto bytes = std::as_bytes(std::span(text));
  out.files[out.main] = {bytes.begin(), bytes.end()};
  return out;
}

std::string opaque_kernel(std::string_view name, const config::ChipConfig& chip, double seconds) {
  return fmt::format("  {}: {{type: {}, time: {}}}\n", name, chip.vector_cores > 0 ? "AIC_ONLY" : "AI_CORE",
                     time_text(seconds));
}

std::string opaque_launch(std::string_view name, const config::ChipConfig& chip) {
  return fmt::format("kernel_launch: {{kernel: {}, block_dim: {}}}", name, chip.ai_cores);
}

std::string time_text(double seconds) { return fmt::format("{}ns", std::llround(seconds * 1e9)); }

std::string hex_text(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte b : bytes)
    out += fmt::format("{:02x}", static_cast<unsigned>(b));
  return out;
}

}  // namespace vinci::studies
