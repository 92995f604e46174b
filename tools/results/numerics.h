// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "isa/census/census.h"
#include "sim/config/chip_config.h"
#include "sim/task/task.h"

// What --numerics writes: the census of a run, as text.
namespace vinci::results {

// What instruction sites are named by: the programs of the task stream.
struct ShadowOutput;  // tools/results/shadow.h

struct CensusReport {
  const config::ChipConfig& chip;
  const task::TaskStream& stream;
  const isa::Census& census;
  const std::vector<ShadowOutput>* outputs = nullptr;  // of a shadow; null: they are not known
};

// numerics.json: every line of the source and every instruction, with all their counts and first occurrences.
std::string numerics_json(const CensusReport& report);
// numerics.csv: the same counts, a row for each site.
std::string numerics_csv(const CensusReport& report);
// opdebug.json: the first overflow of the run in the shape of the vendor's parsed Opdebug dump.
std::string opdebug_json(const CensusReport& report);
// A table for people: each event with its count and its first occurrence, and the lines of the source with events, the
// worst first.
std::string numerics_summary(const CensusReport& report);

}  // namespace vinci::results
