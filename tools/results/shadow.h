// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "isa/shadow/shadow.h"
#include "sim/task/run_memory.h"
#include "tools/results/numerics.h"

// What --numerics=shadow says: errors by line and task, and those of the outputs.
namespace vinci::results {

// How far the elements of a host buffer are from their references.
struct OutputError {
  std::string buffer;
  std::string dtype;
  u64 elements = 0;
  u64 wrong = 0;  // infinite or NaN where the reference is not, or the other way round
  double max_ulp = 0, rms_ulp = 0, max_relative = 0, rms_relative = 0;
};
struct ShadowOutput {
  OutputError as_it_is;
  std::optional<OutputError> what_if;  // the same of the program that the what-if describes
};
// The host buffers that a copy from the device has filled with floats. Without data, or where the run does not hold
// host buffers, none.
std::vector<ShadowOutput> shadow_outputs(const isa::Census& census, const task::TaskStream& stream,
                                         const task::RunMemory& memory);

// The value of the key "shadow" of numerics.json.
nlohmann::ordered_json shadow_json(const CensusReport& report, const std::vector<ShadowOutput>& outputs);
// Tables for people: the outputs, and the lines with the largest relative errors.
std::string shadow_summary(const CensusReport& report, const std::vector<ShadowOutput>& outputs);

// What `--what-if` asks for: "WHAT=FORMAT", "WHAT=FORMAT*2^S", and either with "@ORDER" of sums behind it, where WHAT
// is `all`, the name of a task, or a line as reports name it, and FORMAT f16, bf16, f32, f64 or own. Throws
// Fault::Input.
isa::WhatIf parse_what_if(const std::string& text, const task::TaskStream& stream);

}  // namespace vinci::results
