// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/chip_config.h"

// Chip files: reading, writing, documenting. The format is described in docs/chips.md.
namespace vinci::config {

// A chip by the name of a built-in one ("ascend-910b1"), or from a file (a path with '/', or ending in .yaml or .yml).
// `overrides` are "core.cube.startup=30", applied in order after the file. Throws Fault::Input that names every problem
// by file, line and column, or by override.
ChipConfig load_chip(const std::string& name_or_file, const std::vector<std::string>& overrides = {});

// The same from text; `extends` finds built-in parents only. `source` is the file name that messages show.
ChipConfig parse_chip(std::string_view text, const std::string& source, const std::vector<std::string>& overrides = {});

// One line about a built-in chip.
struct ChipSummary {
  std::string name;
  std::string product;
  isa::Arch arch = isa::Arch::c220;
  u32 ai_cores = 0;
  u32 vector_cores = 0;
  Hertz clock;
  double peak_fp16_tflops = 0;  // peak_operations()
  Bytes hbm_size;
  BytesPerSecond hbm_bandwidth;
  Bytes l2_size;
};

// Operations a second of all cubes, two for each multiply-accumulate of f16: ai_cores * 2 * m * n * k of core.rates *
// clock / per_step of the form of mad.
double peak_operations(const ChipConfig& chip, std::string_view form = "f162f32");
// Operations a second of all vector units, of instructions on two operands of 16 bits, without their starts.
double peak_vector_operations(const ChipConfig& chip);

ChipSummary summarize(const ChipConfig& chip);
// The built-in chips, by name.
std::vector<ChipSummary> builtin_chips();

// The complete effective chip as a chip file without parent; load_chip() of it gives an equal chip.
std::string write_chip(const ChipConfig& chip);

// Every key of a chip file with unit, default, range and meaning, as text.
std::string manual();

// How much of a chip rests on assumption. Lines of paths that the architecture does not have are not counted.
struct Assumptions {
  std::vector<std::string> assumed;  // groups whose `from` is assumed: "core.cube", "memory.hbm"
  // Groups that are assumed in part, as "memory.noc: document ...; latency assumed".
  std::vector<std::string> partly;
  usize total = 0;  // groups that have a `from`
};
Assumptions assumptions(const ChipConfig& chip);

}  // namespace vinci::config
