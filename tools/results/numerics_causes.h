// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/results/numerics_lines.h"

// Where special values were born, through what they went, and what they reached.
namespace vinci::results {

struct CensusCause {
  CensusSites::Name born{};
  u64 sequence = 0;                              // of its task
  isa::NumericEvents events = 0;                 // that bore it
  const isa::Occurrence* first = nullptr;        // of them
  std::vector<CensusSites::Name> through{};      // lines, in the order of their first execution
  std::vector<CensusSites::Name> to_the_host{};  // copies
};

// Those that reach the host first; of equal ones the earliest.
std::vector<CensusCause> census_causes(const CensusSites& sites, const isa::Census& census);

// Lines whose special values reach the host or a comparison.
std::set<std::string> reaching_lines(const std::vector<CensusCause>& causes);

nlohmann::ordered_json causes_json(const std::vector<CensusCause>& causes);
// The first of them, for people; "" where there is none.
std::string causes_text(const std::vector<CensusCause>& causes);

}  // namespace vinci::results
