// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/base/error.h"
#include "sim/config/load.h"
#include "sim/config/schema.h"
#include "tools/capi/handles.h"

namespace {

using vinci::capi::guarded;
using vinci::capi::need;

std::vector<std::string> texts(const char* const* items, size_t count) {
  std::vector<std::string> out;
  if (count > 0) need(items, "overrides");
  for (size_t i = 0; i < count; ++i)
    out.emplace_back(&need(items[i], "an override"));
  return out;
}

vinci_chip* made(vinci::config::ChipConfig config) {
  auto out = std::make_unique<vinci_chip>();
  out->text = vinci::config::write_chip(config);
  out->json = vinci::config::chip_json(config);
  out->config = std::make_shared<const vinci::config::ChipConfig>(std::move(config));
  return out.release();
}

}  // namespace

const char* vinci::capi::arch_text(isa::Arch arch) {
  static const std::vector<std::string> names(isa::kArchNames.begin(), isa::kArchNames.end());
  return names[static_cast<usize>(arch)].c_str();
}

extern "C" {

vinci_status vinci_chip_create(const char* name_or_file, const char* const* overrides, size_t count, vinci_chip** out) {
  return guarded([&] {
    const char* name = &need(name_or_file, "name_or_file");
    vinci_chip*& result = need(out, "out");
    result = made(vinci::config::load_chip(name, texts(overrides, count)));
  });
}

vinci_status vinci_chip_parse(const char* text, size_t bytes, const char* const* overrides, size_t count,
                              vinci_chip** out) {
  return guarded([&] {
    const std::string_view file(&need(text, "text"), bytes);
    vinci_chip*& result = need(out, "out");
    result = made(vinci::config::parse_chip(file, "chip", texts(overrides, count)));
  });
}

void vinci_chip_destroy(vinci_chip* chip) { delete chip; }
const char* vinci_chip_name(const vinci_chip* chip) { return chip == nullptr ? "" : chip->config->name.c_str(); }
const char* vinci_chip_arch(const vinci_chip* chip) {
  return chip == nullptr ? "" : vinci::capi::arch_text(chip->config->arch);
}
double vinci_chip_clock(const vinci_chip* chip) { return chip == nullptr ? 0 : chip->config->clock.value; }
uint32_t vinci_chip_ai_cores(const vinci_chip* chip) { return chip == nullptr ? 0 : chip->config->ai_cores; }
uint32_t vinci_chip_vector_cores(const vinci_chip* chip) { return chip == nullptr ? 0 : chip->config->vector_cores; }
const char* vinci_chip_json(const vinci_chip* chip) { return chip == nullptr ? "" : chip->json.c_str(); }
const char* vinci_chip_text(const vinci_chip* chip) { return chip == nullptr ? "" : chip->text.c_str(); }
}
