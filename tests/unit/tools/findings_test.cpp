// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What a reader sees of findings: one entry for each pair of lines, however many instructions a recording has of them.
#include "tools/results/findings.h"

#include <gmock/gmock.h>

#include "isa/check/checker.h"

namespace vinci::results {
namespace {

using isa::check::FaultId;
using isa::check::Finding;
using isa::check::Findings;
using testing::HasSubstr;

void add(Findings& findings, FaultId id, u64 instruction, std::string_view line, u64 times = 1) {
  for (u64 i = 0; i < times; ++i) {
    findings.add({.id = id, .at = instruction, .other = instruction + 1}, {0, 0, static_cast<u32>(instruction)}, [&] {
      Finding f{.id = id, .at = {.block = 0u, .place = std::string(line)}, .message = "m"};
      f.other = f.at;
      return f;
    });
  }
}

TEST(FindingsText, HasOneEntryForThoseOfOnePairOfLines) {
  Findings findings;
  add(findings, FaultId::raw_hazard, 10, "k.asc:5", 2);
  add(findings, FaultId::raw_hazard, 20, "k.asc:5", 3);
  add(findings, FaultId::raw_hazard, 30, "k.asc:6");
  add(findings, FaultId::war_hazard, 40, "k.asc:5");
  const std::string text = findings_text(findings, 10, nullptr);
  EXPECT_THAT(text, HasSubstr("3 findings, 7 occurrences"));
  EXPECT_THAT(text, HasSubstr("1. raw-hazard (5 times, 2 pairs of instructions)\n"));
  EXPECT_THAT(text, HasSubstr("2. raw-hazard\n"));
  EXPECT_THAT(text, HasSubstr("3. war-hazard\n"));
  EXPECT_THAT(findings_json(findings, nullptr), HasSubstr("\"count\": 3"));  // each of them
}

TEST(FindingsText, KeepsThoseApartWhoseLinesAreUnknown) {
  Findings findings;
  add(findings, FaultId::raw_hazard, 10, "");
  add(findings, FaultId::raw_hazard, 20, "");
  EXPECT_THAT(findings_text(findings, 1, nullptr), HasSubstr("... and 1 more in findings.json"));
}

}  // namespace
}  // namespace vinci::results
