// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <nlohmann/json.hpp>

#include "sim/config/chip_config.h"

namespace vinci::report {

using Json = nlohmann::ordered_json;

// What a run has left in its folder (docs/outputs.md). A null document: the run did not write that file.
struct RunFiles {
  config::ChipConfig chip;  // chip.yaml
  Json stats = {};          // stats.json
  Json numerics = {};       // numerics.json
  Json findings = {};       // findings.json
  Json explanation = {};    // explain.json
  Json range = {};          // range.json
};

// What a page can hold and stay usable; what is beyond is counted in the totals, and the page says how much it shows.
inline constexpr usize kTasksShown = 50'000;
inline constexpr usize kOperatorsShown = 2'000;
inline constexpr usize kCoresShown = 128;
inline constexpr usize kSitesShown = 2'000;
inline constexpr usize kFindingsShown = 500;
inline constexpr usize kKernelsExplained = 20;
inline constexpr usize kLinesExplained = 200;  // of one kernel
inline constexpr usize kNameBytes = 128;       // longer names of tasks are cut

// Everything that the page shows, as one object; times are cycles, rates bytes or operations per second, shares 0..1.
// The page only formats. Keys without a value in this run are absent: `run` and what follows from time in mode
// functional, `numerics` and `findings` unless they were asked for.
Json report_data(const RunFiles& files);

}  // namespace vinci::report
