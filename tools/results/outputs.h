// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/error.h"
#include "isa/census/census.h"
#include "isa/check/finding.h"
#include "models/soc/simulate.h"
#include "sim/task/run_memory.h"
#include "tools/results/numerics.h"
#include "tools/results/shadow.h"

// The files that follow from a run. `vinci run` writes them into its folder, the C API and Python give them by name
// (vinci_run_file, Run.file). docs/outputs.md says what is in them.
namespace vinci::results {

// A run that has come to its end, or was cut short by an error.
struct EndedRun {
  const config::ChipConfig& chip;
  const task::TaskStream& stream;
  const models::Result* result = nullptr;          // of a run with time that came to its end
  const isa::check::Findings* findings = nullptr;  // with a checker
  const isa::Census* census = nullptr;             // where results were counted
  std::vector<ShadowOutput> shadow = {};           // with a shadow: the errors of host buffers
  const Error* cut_short = nullptr;                // null: the run came to its end

  CensusReport census_report() const { return {chip, stream, *census, &shadow}; }
};

// The errors of host buffers of a run; none without a shadow.
std::vector<ShadowOutput> shadow_of(const isa::Census* census, const task::TaskStream& stream,
                                    const task::RunMemory& memory);

struct OutputFile {
  std::string_view name;
  bool (*exists)(const EndedRun&);  // whether the run has it
  std::string (*contents)(const EndedRun&);
  bool early = false;  // follows from the chip and the task stream alone: written before the run begins
};

// All files, in the order in which they are written. To add one, write a line here and its OutputFile in a source of
// this folder; CMake finds the source.
#define VINCI_OUTPUT_FILES(X) \
  X(chip_yaml)                \
  X(stats_json)               \
  X(numerics_json)            \
  X(numerics_csv)             \
  X(opdebug_json)             \
  X(findings_json)

namespace files {
#define VINCI_OUTPUT_FILE(name) extern const OutputFile name;
VINCI_OUTPUT_FILES(VINCI_OUTPUT_FILE)
#undef VINCI_OUTPUT_FILE
}  // namespace files

inline constexpr std::array kOutputFiles{
#define VINCI_OUTPUT_FILE(name) &files::name,
    VINCI_OUTPUT_FILES(VINCI_OUTPUT_FILE)
#undef VINCI_OUTPUT_FILE
};

// Calls write(name, contents) for each file that the run has and that is not early.
template <class Write>
void for_each_output(const EndedRun& run, Write&& write) {
  for (const OutputFile* file : kOutputFiles) {
    if (!file->early && file->exists(run)) write(file->name, file->contents(run));
  }
}

}  // namespace vinci::results
