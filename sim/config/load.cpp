// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/config/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "configs/embedded.h"
#include "isa/base/suggest.h"
#include "sim/config/problems.h"
#include "sim/config/read_chip.h"
#include "sim/io/atomic_file.h"

namespace vinci::config {
namespace {

namespace fs = std::filesystem;

constexpr u64 kLargestFile = 1u << 20;
constexpr usize kLongestChain = 16;
constexpr std::string_view kChipFolder = "chips/", kPartFolder = "cores/";

std::string_view stem(std::string_view path) {
  path.remove_prefix(path.find_last_of('/') + 1);  // npos + 1 is 0
  return path.substr(0, path.find_last_of('.'));
}

const EmbeddedFile* find_builtin(std::string_view name) {
  const auto files = embedded_files();
  const auto file = std::ranges::find_if(files, [&](const EmbeddedFile& f) {
    return stem(f.path) == name && (f.path.starts_with(kChipFolder) || f.path.starts_with(kPartFolder));
  });
  return file == files.end() ? nullptr : &*file;
}

std::vector<std::string_view> builtin_names(bool with_parts) {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& f : embedded_files()) {
    if (f.path.starts_with(kChipFolder) || (with_parts && f.path.starts_with(kPartFolder))) {
      names.push_back(stem(f.path));
    }
  }
  std::ranges::sort(names);
  return names;
}

// Reads a chip file with its parents and the overrides.
class Loader {
 public:
  // `folder` is where parents are looked up first; nothing: built-in ones only.
  void read(std::string_view text, const std::string& source, const std::optional<fs::path>& folder) {
    if (std::ranges::find(chain_, source) != chain_.end()) {
      problems_.add(extends_at_, fmt::format("chip.extends: {} extends itself: {} -> {}", source,
                                             fmt::join(chain_, " -> "), source));
      return;
    }
    if (chain_.size() == kLongestChain) {
      problems_.add(extends_at_, fmt::format("chip.extends: the chain is longer than {} files", kLongestChain));
      return;
    }
    chain_.push_back(source);
    reader_.read_file(text, source, [&](const std::string& parent, const std::string& location) {
      extends_at_ = location;
      if (folder) {
        const fs::path beside = *folder / (parent + ".yaml");
        if (std::error_code ignored; fs::exists(beside, ignored)) {
          read(io::read_file(beside.string(), kLargestFile), beside.string(), folder);
          return derive(parent);
        }
      }
      const EmbeddedFile* builtin = find_builtin(parent);
      if (builtin == nullptr) {
        return problems_.add(location,
                             fmt::format("chip.extends: there is no {}.yaml in the folder of this file, and no "
                                         "built-in '{}'{}",
                                         parent, parent, did_you_mean(parent, builtin_names(true))));
      }
      read(builtin->text, fmt::format("configs/{}", builtin->path), std::nullopt);
      derive(parent);
    });
    chain_.pop_back();
  }

  ChipConfig finish(const std::string& source, const std::vector<std::string>& overrides) {
    if (chip_.name.empty()) chip_.name = stem(source);
    for (const std::string& text : overrides)
      reader_.read_override(text);
    if (!problems_.any()) reader_.check(source);
    problems_.throw_if_any();
    return chip_;
  }

 private:
  // A chip that extends another one is sold as that only where it says so.
  void derive(const std::string& parent) {
    if (!chip_.product.empty()) chip_.product = fmt::format("based on {}", parent);
  }

  ChipConfig chip_;
  Problems problems_;
  ChipReader reader_{chip_, problems_};
  std::vector<std::string> chain_;  // files from the chip to the parent that is being read
  std::string extends_at_;
};

ChipConfig load_text(std::string_view text, const std::string& source, const std::optional<fs::path>& folder,
                     const std::vector<std::string>& overrides) {
  Loader loader;
  loader.read(text, source, folder);
  return loader.finish(source, overrides);
}

}  // namespace

ChipConfig parse_chip(std::string_view text, const std::string& source, const std::vector<std::string>& overrides) {
  return load_text(text, source, std::nullopt, overrides);
}

ChipConfig load_chip(const std::string& name_or_file, const std::vector<std::string>& overrides) {
  if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".yaml") ||
      name_or_file.ends_with(".yml")) {
    return load_text(io::read_file(name_or_file, kLargestFile), name_or_file, fs::path(name_or_file).parent_path(),
                     overrides);
  }
  const EmbeddedFile* builtin = find_builtin(name_or_file);
  if (builtin == nullptr || !builtin->path.starts_with(kChipFolder)) {
    const auto names = builtin_names(false);
    fail(Fault::Input, "there is no built-in chip '{}' (there are {}; a chip of your own needs its path, with .yaml){}",
         name_or_file, fmt::join(names, ", "), did_you_mean(name_or_file, names));
  }
  return load_text(builtin->text, fmt::format("configs/{}", builtin->path), std::nullopt, overrides);
}

constexpr double kLeastStep = 1e-9;  // a step that takes no time has no peak

double peak_operations(const ChipConfig& chip, std::string_view form) {
  const CoreRates& r = chip.core.rates;
  const double per_step = cost_line(chip.core, "cube"_cost, "mad", form).per_step();
  const double cubes = chip.ai_cores * chip.core.units.cube;
  return cubes * 2.0 * r.m * r.n * r.k / std::max(kLeastStep, per_step) * chip.clock;
}

double peak_vector_operations(const ChipConfig& chip) {
  const double per_step = chip.core.line("vector.binary"_cost).per_step();
  const double units = std::max(chip.ai_cores, chip.vector_cores) * chip.core.units.vector;
  return units * chip.core.rates.lanes / std::max(kLeastStep, per_step) * chip.clock;
}

ChipSummary summarize(const ChipConfig& chip) {
  return {.name = chip.name,
          .product = chip.product,
          .arch = chip.arch,
          .ai_cores = chip.ai_cores,
          .vector_cores = chip.vector_cores,
          .clock = chip.clock,
          .peak_fp16_tflops = peak_operations(chip) / 1e12,
          .hbm_size = chip.memory.hbm.size,
          .hbm_bandwidth = chip.memory.hbm.bandwidth,
          .l2_size = chip.memory.l2.size};
}

std::vector<ChipSummary> builtin_chips() {
  std::vector<ChipSummary> chips;
  for (const std::string_view name : builtin_names(false))
    chips.push_back(summarize(load_chip(std::string(name))));
  return chips;
}

}  // namespace vinci::config
